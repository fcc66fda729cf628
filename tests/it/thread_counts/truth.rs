//! The file in which threads count themselves, as `testdata/threads/truth.h` has it.

use super::Counts;
use std::path::Path;

const SLOTS: usize = 2048;
const TABLES: usize = 16;
const IDS: usize = 8192;
/// Of the head, and of a slot.
const HEAD: usize = 4096;
const SLOT: usize = 128;

/// What one thread counted, or several of them one after the other.
#[derive(Debug, Default)]
struct Slot {
    process: u64,
    /// By `n & 1` and `n % 3 == 0`.
    step: [u64; 4],
    /// By whether the iteration is the first, odd, and followed by another.
    walk: [u64; 8],
}

pub(super) struct Truth {
    own: Vec<Slot>,
    library: Vec<Slot>,
    many: Vec<u64>,
}

impl Truth {
    /// What is in the file now: its threads may go on.
    pub(super) fn read(file: &Path) -> Truth {
        let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let word = |at: usize| {
            let word = bytes.get(at..at + 8);
            word.map_or(0, |w| u64::from_ne_bytes(w.try_into().unwrap()))
        };
        let slot = |i: usize| {
            let at = HEAD + SLOT * i;
            Slot {
                process: word(at),
                step: std::array::from_fn(|k| word(at + 8 + 8 * k)),
                walk: std::array::from_fn(|k| word(at + 40 + 8 * k)),
            }
        };
        let used = word(0) as usize;
        assert!(used <= SLOTS, "{used} slots");
        let tables = HEAD + SLOT * SLOTS;
        let of_id = |id: usize| (0..TABLES).map(|t| word(tables + 8 * (t * IDS + id))).sum();
        Truth {
            own: (0..used).map(slot).collect(),
            library: (SLOTS / 2..SLOTS / 2 + 128).map(slot).collect(),
            many: (0..IDS).map(of_id).collect(),
        }
    }

    /// What the program is to have counted.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = sum(self.own.iter());
        counts.extend(rows_of_many(self.many.iter().copied()));
        counts
    }

    /// What one of its processes is to have counted.
    pub(super) fn counts_of(&self, process: u64) -> Counts {
        sum(self.own.iter().filter(|s| s.process == process))
    }

    /// What the library is to have counted.
    pub(super) fn counts_of_library(&self) -> Counts {
        sum(self.library.iter())
    }

    /// The processes that counted, each once.
    pub(super) fn processes(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.own.iter().map(|s| s.process).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// How many threads had a slot.
    pub(super) fn threads(&self) -> u64 {
        self.own.len() as u64
    }
}

fn sum<'a>(slots: impl Iterator<Item = &'a Slot>) -> Counts {
    let mut counts = Counts::new();
    let mut add = |key: String, n: u64| {
        if n > 0 {
            *counts.entry(key).or_default() += n;
        }
    };
    for slot in slots {
        for (k, n) in slot.step.iter().enumerate() {
            add(format!("step entry {},{} exit", k & 1 > 0, k & 2 > 0), *n);
        }
        for (k, n) in slot.walk.iter().enumerate() {
            let starts = if k & 4 > 0 { "entry" } else { "loop" };
            let ends = if k & 1 > 0 { "back" } else { "exit" };
            add(
                format!("walk {starts} {},{} {ends}", k & 2 > 0, k & 1 > 0),
                *n,
            );
        }
    }
    counts
}

/// Counts above zero by their size, and their sum.
pub(super) fn rows_of_many(counts: impl Iterator<Item = u64>) -> Counts {
    let mut sorted: Vec<u64> = counts.filter(|n| *n > 0).collect();
    if sorted.is_empty() {
        return Counts::new();
    }
    sorted.sort_unstable();
    let total = ("many".to_string(), sorted.iter().sum());
    let rows = sorted.iter().enumerate();
    let rows = rows.map(|(i, n)| (format!("many #{i}"), *n));
    rows.chain([total]).collect()
}
