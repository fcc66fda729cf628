//! Areas: blocks with the counters of several modules, which are side by side (`runtime-c/core/p3_area.c`).

use super::{BLOCK_MAGIC, BLOCK_SIZE, Block, Crc, Function, Problem, Reader, damaged};
use crate::runtime::format;
use zerocopy::IntoBytes;
use zerocopy::byteorder::ByteOrder;

/// What a block says of a module.
pub(super) struct Described<O: ByteOrder> {
    /// Its records, in order.
    pub records: Vec<Function<O>>,
    /// Where its first counter is, in bytes from the beginning of the block.
    pub counters: u64,
    /// How many it has.
    pub n_counters: u64,
}

/// No link has more modules: the file is damaged.
const MOST_MODULES: u64 = 1 << 20;

impl<O: ByteOrder> Reader<'_, O> {
    /// The modules of an area that is from `at` to `end`, whose checksums go into that of the area. Each is checked.
    /// O(records).
    pub(super) fn read_modules(
        &mut self,
        area: &Block<O>,
        at: u64,
        end: u64,
        crc: &mut Crc,
    ) -> Result<Vec<Described<O>>, Problem> {
        let wrong = || damaged("modules lie outside their area");
        let (start, n) = (area.counters_offset.get(), area.n_functions.get());
        let size = area.n_counters.get().checked_mul(8);
        let full = size.and_then(|s| s.checked_add(start));
        if full.is_none_or(|f| f > end - at) || n > MOST_MODULES {
            return Err(wrong());
        }
        let (mut next, mut free) = (at + BLOCK_SIZE as u64, 0);
        let mut modules = Vec::new();
        for _ in 0..n {
            if next + BLOCK_SIZE as u64 > at + start {
                return Err(wrong());
            }
            let (block, mut own) = self
                .window
                .checked::<Block<O>>(next, format::BLOCK_CHECKED)?;
            crc.update(block.crc.as_bytes());
            if block.magic.get() != BLOCK_MAGIC || block.kind.get() != format::MODULE {
                return Err(damaged(format!("no module at {next}")));
            }
            let records = self.read_records(&block, next, at + start, &mut own)?;
            if own.finalize() != block.crc.get() {
                return Err(damaged("the checksum of a module is wrong"));
            }
            next += (BLOCK_SIZE + size_of_val(&*records)) as u64;
            modules.push(Described {
                records,
                counters: start + free * 8,
                n_counters: block.n_counters.get(),
            });
            let taken = block.n_counters.get().checked_add(free);
            free = taken
                .filter(|f| *f <= area.n_counters.get())
                .ok_or_else(wrong)?;
        }
        Ok(modules)
    }
}
