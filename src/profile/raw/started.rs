//! How the processes were started that counted in a file.

use super::{Problem, Raw, Window, damaged};
use crate::runtime::format::{self, Started as Record};
use zerocopy::FromBytes;
use zerocopy::byteorder::{ByteOrder, LE};

/// The size of a record without its text.
const SIZE: usize = size_of::<Record<LE>>();

/// Processes that were started alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// The arguments, the program's name first; a forked child has those of its parent. Empty where the
    /// system did not tell.
    pub arguments: Vec<Vec<u8>>,
    /// Whether there were more arguments than are kept (32 KiB, in a pool 4 KiB).
    pub cut: bool,
    /// The working folder in which they, or their parents, began. Empty: not known.
    pub folder: Vec<u8>,
    /// How many were started.
    pub runs: u64,
    /// How many forked children there were.
    pub children: u64,
    /// How many of both ended normally.
    pub ended: u64,
}

/// The `n` strings of `text`, each ended by a zero; `None` if it is otherwise.
pub(super) fn split_strings(text: &[u8], n: u64) -> Option<Vec<Vec<u8>>> {
    let mut strings: Vec<Vec<u8>> = text.split(|&b| b == 0).map(<[u8]>::to_vec).collect();
    (strings.pop() == Some(Vec::new()) && strings.len() as u64 == n).then_some(strings)
}

/// Adds the records of a block, whose inside is from `at` to `end`.
pub(super) fn read<O: ByteOrder>(
    window: &mut Window<O>,
    mut at: u64,
    end: u64,
    raw: &mut Raw,
) -> Result<(), Problem> {
    while end - at >= SIZE as u64 {
        let bytes = window.bytes(at, SIZE)?;
        let record = Record::<O>::read_from_bytes(bytes).expect("of its size");
        if record.key.get() == 0 {
            return Ok(());
        }
        let wrong = || damaged(format!("the record of processes at {at}"));
        let size = u64::from(record.text_size.get());
        if size > u64::from(format::STARTED_TEXT_MAX).min(end - at - SIZE as u64) {
            return Err(wrong());
        }
        let checked = [record.arguments, record.text_size, record.process];
        let text = window.bytes(at + SIZE as u64, size as usize)?.to_vec();
        if record.key.get() != hash_start(&text, &checked.map(|w| w.to_bytes())) {
            return Err(wrong());
        }
        let started = parse_start(&record, &text).ok_or_else(wrong)?;
        raw.started.push(started);
        at = (at + SIZE as u64 + size).next_multiple_of(8);
    }
    Ok(())
}

fn parse_start<O: ByteOrder>(record: &Record<O>, text: &[u8]) -> Option<Started> {
    let mut arguments = split_strings(text, u64::from(record.arguments.get()) + 1)?;
    let folder = arguments.pop()?;
    Some(Started {
        arguments,
        cut: record.process.get() & format::ARGUMENTS_CUT != 0,
        folder,
        runs: record.runs.get(),
        children: record.children.get(),
        ended: record.ended.get(),
    })
}

/// FNV-1a, never 0.
pub(in crate::profile) fn hash_start(text: &[u8], fields: &[[u8; 4]]) -> u64 {
    let bytes = text.iter().chain(fields.as_flattened());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, b| {
        (hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3)
    });
    hash.max(1)
}
