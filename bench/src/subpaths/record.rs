//! How an executable samples, which is a record of its data: the code is the same whatever that says, so that it is
//! translated once for all of them.

use anyhow::{Result, bail};
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

/// Flags, of `struct p3_sampling` in `runtime-c/core/p3_abi.h`, whose first members are period, seed, memory, flags,
/// number of lengths, lengths.
const SEEDED: u32 = 2;
const COUNTING: u32 = 4;
const FLAGS: usize = 24;
const BEFORE_NUMBER: usize = 28;

/// Copies the executable `exe`, which samples subpaths of these lengths, to `to`, with these knobs.
pub(crate) fn with(exe: &Path, knobs: Knobs, lengths: &[usize], to: &Path) -> Result<()> {
    let mut bytes = std::fs::read(exe)?;
    let [at] = records(&bytes, lengths)[..] else {
        bail!("{}: it has not one record of how it samples", exe.display());
    };
    write(&mut bytes[at..at + BEFORE_NUMBER], knobs);
    // What runs already stays as it is.
    let _ = std::fs::remove_file(to);
    std::fs::copy(exe, to)?;
    Ok(std::fs::write(to, bytes)?)
}

/// Where records begin: their lengths tell.
fn records(bytes: &[u8], lengths: &[usize]) -> Vec<usize> {
    let mut known = (lengths.len() as u32).to_ne_bytes().to_vec();
    known.extend(lengths.iter().flat_map(|l| (*l as u64).to_ne_bytes()));
    let found = bytes.windows(known.len()).enumerate();
    let found = found.filter(|(_, w)| *w == known);
    found
        .filter_map(|(at, _)| at.checked_sub(BEFORE_NUMBER))
        .collect()
}

/// Writes what the knobs say over what a record begins with.
fn write(record: &mut [u8], knobs: Knobs) {
    let words = [knobs.period, knobs.seed, knobs.memory];
    for (word, place) in words.into_iter().zip(record.chunks_exact_mut(8)) {
        if let Some(word) = word {
            place.copy_from_slice(&word.to_ne_bytes());
        }
    }
    let flags = &mut record[FLAGS..BEFORE_NUMBER];
    let mut set = u32::from_ne_bytes((&*flags).try_into().expect("four bytes"));
    if knobs.seed.is_some() {
        set |= SEEDED;
    }
    if let List::Counting = knobs.list {
        set |= COUNTING;
    }
    flags.copy_from_slice(&set.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(words: [u64; 3], flags: u32) -> Vec<u8> {
        let words = words.iter().flat_map(|w| w.to_ne_bytes());
        words.chain(flags.to_ne_bytes()).collect()
    }

    #[test]
    fn written_over() {
        let lengths = [2u64, 4, 8].iter().flat_map(|l| l.to_ne_bytes());
        let behind: Vec<u8> = 3u32.to_ne_bytes().into_iter().chain(lengths).collect();
        let mut bytes = [vec![7; 5], record([10_000, 0, 65_536], 1), behind.clone()].concat();
        assert_eq!(records(&bytes, &[2, 4, 8]), [5]);
        assert!(records(&bytes, &[2, 4]).is_empty());
        write(&mut bytes[5..5 + BEFORE_NUMBER], Knobs::default());
        assert_eq!(bytes[5..33], record([10_000, 0, 65_536], 1));
        let knobs = Knobs {
            period: Some(100),
            memory: None,
            seed: Some(3),
            list: List::Counting,
        };
        write(&mut bytes[5..5 + BEFORE_NUMBER], knobs);
        assert_eq!(
            bytes[5..33],
            record([100, 3, 65_536], 1 | SEEDED | COUNTING)
        );
        assert_eq!(bytes[33..], behind);
    }
}
