//! How often subpaths ran, counted in a log of all blocks.
//!
//! The log is not kept. Of a first run, subpaths are drawn, one in [`DRAWN`]; those that were drawn most often, and all
//! that are asked for, are counted in a second one. So the counts are exact, and so are the ranks of what ran often: a
//! subpath that ran more often than the last of the ten hottest is drawn hundreds of times.

use super::Row;
use super::log::Event;
use anyhow::Result;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// How often the hottest subpaths of some lengths ran, and those that were asked for.
pub(crate) struct Truth {
    /// By subpath, as its hash.
    counts: HashMap<u64, u64, Hashed>,
    /// By count: how many subpaths have it.
    histogram: BTreeMap<u64, u64>,
    /// Executed blocks.
    pub blocks: u64,
}

type Hashed = BuildHasherDefault<Known>;

/// Keys are hashes already.
#[derive(Default)]
struct Known(u64);

impl Hasher for Known {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
}

/// One block in so many ends subpaths that are drawn; a power of two.
const DRAWN: u64 = 128;
/// Of the drawn ones, how many are counted.
const COUNTED: usize = 1 << 14;

/// A factor for the polynomial of blocks; any odd one does.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's finish.
fn mixed(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn next(hash: u64, block: u64) -> u64 {
    hash.wrapping_mul(FACTOR).wrapping_add(block)
}

fn key(hash: u64, length: usize) -> u64 {
    mixed(hash ^ (length as u64) << 48)
}

fn key_of(blocks: &[u32]) -> u64 {
    let hash = blocks
        .iter()
        .fold(0, |hash, &b| next(hash, mixed(u64::from(b) + 1)));
    key(hash, blocks.len())
}

/// The subpaths that end with the block that was executed last. One is known by a hash of 64 bits.
struct Ends {
    lengths: Vec<Length>,
    /// Of all blocks so far, as many of the last ones as matter.
    hashes: Vec<u64>,
    at: usize,
    /// Blocks of this process.
    executed: usize,
    mixed: Vec<u64>,
}

struct Length {
    blocks: usize,
    /// The factor to this power.
    power: u64,
}

impl Ends {
    fn new(lengths: &[usize]) -> Ends {
        let power = |n| (0..n).fold(1u64, |power, _| power.wrapping_mul(FACTOR));
        let most = lengths.iter().max().expect("a length");
        let length = |&blocks| Length {
            blocks,
            power: power(blocks),
        };
        Ends {
            lengths: lengths.iter().map(length).collect(),
            hashes: vec![0; (most + 1).next_power_of_two()],
            at: 0,
            executed: 0,
            mixed: Vec::new(),
        }
    }

    fn add(&mut self, event: Event) {
        let Event::Block(block) = event else {
            self.executed = 0;
            return;
        };
        let block = block as usize;
        for known in self.mixed.len()..=block {
            self.mixed.push(mixed(known as u64 + 1));
        }
        let hash = next(self.hashes[self.at], self.mixed[block]);
        self.at = (self.at + 1) & (self.hashes.len() - 1);
        self.hashes[self.at] = hash;
        self.executed += 1;
    }

    fn keys(&self) -> impl Iterator<Item = u64> {
        let mask = self.hashes.len() - 1;
        let complete = self.lengths.iter().filter(|l| l.blocks <= self.executed);
        complete.map(move |l| {
            let before = self.hashes[self.at.wrapping_sub(l.blocks) & mask];
            let hash = self.hashes[self.at].wrapping_sub(before.wrapping_mul(l.power));
            key(hash, l.blocks)
        })
    }
}

/// Counts of known keys. Most are of none of them, and a bit tells that.
struct Counter {
    bits: Vec<u64>,
    slots: Vec<(u64, u64)>,
}

impl Counter {
    const BITS: usize = 1 << 18;

    /// A key of 0 is that of no subpath, as far as hashes are not.
    fn new(keys: &[u64]) -> Counter {
        let mut counter = Counter {
            bits: vec![0; Counter::BITS / 64],
            slots: vec![(0, 0); (2 * keys.len()).next_power_of_two().max(2)],
        };
        for &key in keys {
            let bit = Counter::bit(key);
            counter.bits[bit / 64] |= 1 << (bit % 64);
            let slot = counter.slot(key);
            counter.slots[slot].0 = key;
        }
        counter
    }

    fn bit(key: u64) -> usize {
        key as usize & (Counter::BITS - 1)
    }

    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (key >> 32) as usize & mask;
        while self.slots[at].0 != key && self.slots[at].0 != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    fn count(&mut self, key: u64) {
        let bit = Counter::bit(key);
        if self.bits[bit / 64] >> (bit % 64) & 1 == 0 {
            return;
        }
        let slot = self.slot(key);
        if self.slots[slot].0 == key {
            self.slots[slot].1 += 1;
        }
    }
}

impl Truth {
    /// Of a program that `run` runs, the same each time: the hottest subpaths of these lengths, and those in `asked`.
    /// O(lengths · blocks), twice.
    pub(crate) fn of_runs(
        run: impl Fn(&mut dyn FnMut(Event)) -> Result<()>,
        asked: &[&Row],
        lengths: &[usize],
    ) -> Result<Truth> {
        let mut drawn: HashMap<u64, u32, Hashed> = HashMap::default();
        let (mut ends, mut blocks) = (Ends::new(lengths), 0);
        run(&mut |event| {
            ends.add(event);
            blocks += u64::from(event != Event::Begins);
            if mixed(blocks) & (DRAWN - 1) == 0 {
                for key in ends.keys() {
                    *drawn.entry(key).or_default() += 1;
                }
            }
        })?;
        let mut drawn: Vec<(u32, u64)> = drawn.into_iter().map(|(key, n)| (n, key)).collect();
        drawn.sort_unstable_by(|a, b| b.cmp(a));
        let drawn = drawn.iter().take(COUNTED).map(|(_, key)| *key);
        let asked = asked.iter().map(|row| key_of(&row.blocks));
        let mut keys: Vec<u64> = drawn.chain(asked).collect();
        keys.sort_unstable();
        keys.dedup();
        let (mut ends, mut counter) = (Ends::new(lengths), Counter::new(&keys));
        run(&mut |event| {
            ends.add(event);
            ends.keys().for_each(|key| counter.count(key));
        })?;
        let mut truth = Truth {
            counts: HashMap::default(),
            histogram: BTreeMap::new(),
            blocks,
        };
        for (key, count) in counter.slots.into_iter().filter(|(key, _)| *key != 0) {
            truth.counts.insert(key, count);
            *truth.histogram.entry(count).or_default() += 1;
        }
        Ok(truth)
    }

    /// How often a subpath ran; at most once where it is not known.
    pub(crate) fn count(&self, blocks: &[u32]) -> u64 {
        let count = self.counts.get(&key_of(blocks));
        count.copied().unwrap_or(0).max(1)
    }

    /// The rank of a subpath that ran so often: 1, and one more for each that ran more often.
    pub(crate) fn rank(&self, count: u64) -> u64 {
        1 + self
            .histogram
            .range(count + 1..)
            .map(|(_, n)| n)
            .sum::<u64>()
    }

    /// How often the subpath of a rank ran.
    pub(crate) fn count_of_rank(&self, rank: u64) -> u64 {
        let mut above = 0;
        for (count, n) in self.histogram.iter().rev() {
            above += n;
            if above >= rank {
                return *count;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks 0 to 9 by a generator that prefers small ones, in two processes.
    fn events() -> Vec<Event> {
        let block = |i: u64| Event::Block((mixed(i) % (1 + mixed(i + 1) % 10)) as u32);
        let process =
            |from: u64| std::iter::once(Event::Begins).chain((from..from + 20_000).map(block));
        process(0).chain(process(1 << 40)).collect()
    }

    fn counted(events: &[Event], blocks: &[u32]) -> u64 {
        let wanted: Vec<Event> = blocks.iter().map(|b| Event::Block(*b)).collect();
        events
            .windows(blocks.len())
            .filter(|w| *w == wanted)
            .count() as u64
    }

    #[test]
    fn counts_and_ranks() {
        let events = events();
        let run = |each: &mut dyn FnMut(Event)| {
            events.iter().for_each(|e| each(*e));
            Ok(())
        };
        let row = |blocks: &[u32]| Row {
            blocks: blocks.to_vec(),
            count: 0.0,
            half_width: 0.0,
        };
        let rare = row(&[9, 9, 9, 1]);
        let truth = Truth::of_runs(run, &[&rare], &[2, 4]).unwrap();
        assert_eq!(truth.blocks, 40_000);
        for blocks in [&[0, 0][..], &[0, 1], &[3, 2], &[0, 0, 0, 0], &[9, 9, 9, 1]] {
            let count = counted(&events, blocks);
            assert_eq!(truth.count(blocks), count.max(1), "{blocks:?}");
        }
        let mut pairs: Vec<u64> = (0..100)
            .map(|n| counted(&events, &[n / 10, n % 10]))
            .collect();
        pairs.sort_by(|a, b| b.cmp(a));
        // Pairs are more frequent than what is longer, but for zeros.
        assert_eq!(truth.count_of_rank(1), pairs[0]);
        assert_eq!(truth.rank(pairs[0]), 1);
        let above = |n: u64| truth.rank(n) - 1;
        assert_eq!(above(truth.count_of_rank(7)), 6);
        assert_eq!(truth.count(&[99, 99]), 1);
    }
}
