//! How an executable samples, which is a record of its data: the code is the same whatever that says, so that it is
//! translated once for all of them.

use anyhow::{Result, ensure};
use std::path::Path;

/// What the record is to say; `None`: what it says already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Knobs {
    /// Blocks from one beginning to the next.
    pub period: Option<u64>,
    /// Bytes of the list.
    pub memory: Option<u64>,
    pub seed: Option<u64>,
    pub list: List,
}

/// How the list is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum List {
    #[default]
    Concise,
    Counting,
}

/// Flags, of `struct p3_sampling` in `runtime-c/p3_abi.h`, whose first members are period, seed, memory, flags, number of lengths, lengths.
const SEEDED: u32 = 2;
const COUNTING: u32 = 4;
const BEFORE_NUMBER: usize = 28;

/// Copies the executable `exe`, which samples subpaths of these lengths, to `to`, with these knobs. Where the record is, its lengths tell.
pub(crate) fn with(exe: &Path, knobs: Knobs, lengths: &[usize], to: &Path) -> Result<()> {
    let mut bytes = std::fs::read(exe)?;
    let number = (lengths.len() as u32).to_ne_bytes().to_vec();
    let known: Vec<u8> = lengths.iter().fold(number, |mut known, &l| {
        known.extend((l as u64).to_ne_bytes());
        known
    });
    let found = bytes.windows(known.len()).enumerate();
    let found: Vec<usize> = found
        .filter_map(|(at, w)| (w == known).then_some(at))
        .collect();
    ensure!(
        found.len() == 1 && found[0] >= BEFORE_NUMBER,
        "{}: {} records of how it samples",
        exe.display(),
        found.len()
    );
    let record = &mut bytes[found[0] - BEFORE_NUMBER..found[0]];
    let words = [knobs.period, knobs.seed, knobs.memory];
    for (at, word) in words.into_iter().enumerate() {
        if let Some(word) = word {
            record[8 * at..8 * at + 8].copy_from_slice(&word.to_ne_bytes());
        }
    }
    let mut flags = u32::from_ne_bytes(record[24..28].try_into().expect("four bytes"));
    if knobs.seed.is_some() {
        flags |= SEEDED;
    }
    if let List::Counting = knobs.list {
        flags |= COUNTING;
    }
    record[24..28].copy_from_slice(&flags.to_ne_bytes());
    // What runs already stays as it is.
    let _ = std::fs::remove_file(to);
    std::fs::copy(exe, to)?;
    Ok(std::fs::write(to, bytes)?)
}
