//! How often subpaths ran: counted in a log of all blocks, or known from a sample that is a hundred times as large.

use super::Row;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{BufReader, Read};
use std::path::Path;

/// How often all subpaths of some lengths ran.
pub(crate) struct Truth {
    /// By subpath, as its hash; of a sample all that are listed.
    counts: HashMap<u64, u64, BuildHasherDefault<Known>>,
    /// By count: how many subpaths have it.
    histogram: BTreeMap<u64, u64>,
    /// Executed blocks.
    pub blocks: u64,
}

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

/// A factor for the polynomial of blocks; any odd one does.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's finish.
fn mixed(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn next(hash: u64, block: u32) -> u64 {
    let block = mixed(u64::from(block) + 1);
    hash.wrapping_mul(FACTOR).wrapping_add(block)
}

fn key(hash: u64, length: usize) -> u64 {
    mixed(hash ^ (length as u64) << 48)
}

impl Truth {
    /// Of all subpaths of these lengths in a log that has its blocks in one sequence. A subpath is known by a hash of 64 bits. O(lengths · blocks).
    pub(crate) fn of_log(log: &Path, manifest: &Value, lengths: &[usize]) -> Result<Truth> {
        let sequence = sequence(log, manifest)?;
        let mut prefix = vec![0u64];
        for &block in &sequence {
            prefix.push(next(prefix[prefix.len() - 1], block));
        }
        let mut truth = Truth::new(sequence.len() as u64);
        for &length in lengths {
            let shift = (0..length).fold(1u64, |power, _| power.wrapping_mul(FACTOR));
            let mut counts: HashMap<u64, u64, BuildHasherDefault<Known>> = HashMap::default();
            for (begin, end) in prefix.iter().zip(&prefix[length.min(prefix.len())..]) {
                let hash = end.wrapping_sub(begin.wrapping_mul(shift));
                *counts.entry(key(hash, length)).or_default() += 1;
            }
            // Who ran once is in no list's head: only how many there are matters.
            for (key, count) in counts {
                *truth.histogram.entry(count).or_default() += 1;
                if count > 1 {
                    truth.counts.insert(key, count);
                }
            }
        }
        Ok(truth)
    }

    /// As a large sample says.
    pub(crate) fn of_sample(rows: &[Row], blocks: f64) -> Truth {
        let mut truth = Truth::new(blocks as u64);
        for row in rows {
            let hash = row.blocks.iter().fold(0, |hash, &b| next(hash, b));
            let count = row.count.round() as u64;
            truth.counts.insert(key(hash, row.blocks.len()), count);
            *truth.histogram.entry(count).or_default() += 1;
        }
        truth
    }

    fn new(blocks: u64) -> Truth {
        Truth {
            counts: HashMap::default(),
            histogram: BTreeMap::new(),
            blocks,
        }
    }

    /// How often a subpath ran; at most once where it is not known.
    pub(crate) fn count(&self, blocks: &[u32]) -> u64 {
        let hash = blocks.iter().fold(0, |hash, &b| next(hash, b));
        let count = self.counts.get(&key(hash, blocks.len()));
        count.copied().unwrap_or(1)
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

/// Numbers of the first blocks of functions, by name; `None`: it is skipped.
pub(crate) fn first_blocks(manifest: &Value) -> Result<Vec<(String, Option<u32>)>> {
    let functions = manifest["functions"].as_array().context("functions")?;
    let mut next = 0;
    let mut first = Vec::new();
    for f in functions {
        let name = f["name"].as_str().context("a name")?.to_string();
        let profiled =
            f["status"] == "exact" || f["status"].get("cut").is_some() || f["status"] == "cut";
        first.push((name, profiled.then_some(next)));
        next += f["succs"].as_array().context("blocks")?.len() as u32;
    }
    Ok(first)
}

/// The blocks of a log, numbered over all functions (`tests/it/support/tracer.c`).
fn sequence(log: &Path, manifest: &Value) -> Result<Vec<u32>> {
    let first = first_blocks(manifest)?;
    let mut file = BufReader::with_capacity(1 << 20, File::open(log)?);
    let mut record = [0; 16];
    let mut read = || -> Result<(u64, u32, u32)> {
        file.read_exact(&mut record)?;
        let word =
            |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().expect("four bytes"));
        let frame = u64::from(word(0)) | u64::from(word(4)) << 32;
        Ok((frame, word(8), word(12)))
    };
    let (records, ..) = read()?;
    let (mut functions, mut sequence) = (vec![0], Vec::new());
    for _ in 0..records {
        let (frame, kind, value) = read()?;
        match kind {
            0 => {
                ensure!(
                    frame as usize == functions.len(),
                    "frames are numbered in turn"
                );
                functions.push(value);
            }
            1 => {
                let (_, first) = &first[functions[frame as usize] as usize];
                sequence.extend(first.map(|f| f + value));
            }
            _ => {}
        }
    }
    Ok(sequence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks() {
        let row = |block, count| Row {
            blocks: vec![block, 1],
            count,
            half_width: 0.0,
        };
        let truth = Truth::of_sample(&[row(1, 5.0), row(2, 9.0), row(3, 5.0), row(4, 2.0)], 21.0);
        assert_eq!([9, 5, 2].map(|n| truth.rank(n)), [1, 2, 4]);
        assert_eq!(
            [1, 2, 3, 4, 5].map(|n| truth.count_of_rank(n)),
            [9, 5, 5, 2, 0]
        );
        assert_eq!(truth.count(&[2, 1]), 9);
        assert_eq!(truth.count(&[2, 1, 1]), 1);
    }
}
