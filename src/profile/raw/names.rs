//! What a process noted of threads that had counters of their own.

use super::{BLOCK_SIZE, Problem, Window, damaged};
use crate::runtime::format::{self, Name as Record};
use std::collections::BTreeMap;
use zerocopy::FromBytes;
use zerocopy::byteorder::{ByteOrder, LE};

/// The threads that counted at one shift, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadName {
    /// How many were started to count there.
    pub threads: u32,
    /// Whether the first thread of a process counted there.
    pub is_first: bool,
    /// The first name that one of them took: at most 16 bytes, none of them zero. Empty: none took one.
    pub name: Vec<u8>,
    /// Whether some of them took another name, or none.
    pub has_others: bool,
}

/// Adds the records of the block `number` of its kind, whose inside is from `at` to `end`, to those of other shifts.
/// Records of shifts at which nothing counted are left out.
pub(super) fn read<O: ByteOrder>(
    window: &mut Window<O>,
    number: u32,
    at: u64,
    end: u64,
    names: &mut BTreeMap<u32, ThreadName>,
) -> Result<(), Problem> {
    const SIZE: usize = size_of::<Record<LE>>();
    const LAST: usize = BLOCK_SIZE + format::NAMES_IN_BLOCK as usize * SIZE;
    let first = number.checked_mul(format::NAMES_IN_BLOCK);
    let fits = end - at >= (LAST - BLOCK_SIZE) as u64;
    let first = first.filter(|_| fits);
    let first = first.ok_or_else(|| damaged("a block with names of threads"))?;
    for i in 0..format::NAMES_IN_BLOCK {
        let bytes = window.bytes(at + u64::from(i) * SIZE as u64, SIZE)?;
        let record = Record::<O>::read_from_bytes(bytes).expect("of its size");
        let is_first = record.flags.get() & format::NAME_FIRST != 0;
        let threads = record.threads.get();
        if threads == 0 && !is_first {
            continue;
        }
        let text = record.name.split(|b| *b == 0).next().unwrap_or_default();
        let name = ThreadName {
            threads,
            is_first,
            name: text.to_vec(),
            has_others: record.others.get() > 0
                || (!text.is_empty() && record.named.get() < threads),
        };
        names.insert(first.saturating_add(i), name);
    }
    Ok(())
}
