//! Counts that were set aside (`runtime-c/core/p3_past.c`): what counters held when the present epoch began. What they
//! hold above that is what the file counts.

use super::{Problem, Reader, Window, damaged, with_shift};
use crate::runtime::format::{self, Block};
use zerocopy::byteorder::ByteOrder;

/// What a block held, byte by byte: where that is in the file.
#[derive(Clone, Copy)]
pub(super) struct Area {
    start: u64,
    size: u64,
}

/// What counters from `first` on held.
pub(super) struct Aside<'a, O> {
    /// Reads beside the counters themselves.
    then: Option<(Area, Window<'a, O>)>,
    first: u64,
}

impl<'a, O: ByteOrder> Reader<'a, O> {
    /// Finds the areas in force in this epoch, in the blocks from `at` on.
    pub(super) fn find_aside(&mut self, mut at: u64, page: u64, epoch: u32) -> Result<(), Problem> {
        while let Some((found, block, crc)) = self.next_block(at, page)? {
            at = found + block.size.get();
            if block.kind.get() != format::PAST {
                continue;
            }
            let size = block.n_counters.get().checked_mul(8);
            let first = block.counters_offset.get();
            let end = size.and_then(|n| n.checked_mul(2)?.checked_add(first));
            let inside = end.is_some_and(|e| e <= block.size.get());
            let kind = u32::try_from(block.n_functions.get());
            let (Some(size), Ok(kind), true) = (size, kind, inside) else {
                return Err(damaged(format!("the block at {found}")));
            };
            if with_shift(crc, &block.shift) != block.crc.get() {
                return Err(damaged("the checksum of a block is wrong"));
            }
            let start = found + first + u64::from(epoch & 1) * size;
            let area = Area { start, size };
            let key = (kind, block.module.get(), block.shift.get());
            self.aside.insert(key, area);
        }
        Ok(())
    }

    /// What a block like this one held from `first` on.
    pub(super) fn baseline_from(&self, block: &Block<O>, first: u64) -> Aside<'a, O> {
        let key = (block.kind.get(), block.module.get(), block.shift.get());
        let area = self.aside.get(&key).copied();
        let window = || self.window.again();
        Aside {
            then: area.map(|a| (a, window())),
            first,
        }
    }
}

impl<O: ByteOrder> Aside<'_, O> {
    /// What a counter at `at` counted since, that holds `count` now.
    pub(super) fn count_since_baseline(&mut self, at: u64, count: u64) -> Result<u64, Problem> {
        let Some((area, window)) = &mut self.then else {
            return Ok(count);
        };
        let offset = at - self.first;
        if offset >= area.size {
            return Ok(count);
        }
        let then = window.word(area.start + offset)?;
        // Threads that do not count atomically may have lost some.
        Ok(count.saturating_sub(then))
    }
}
