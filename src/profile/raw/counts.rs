//! Counters of modules, and hash tables in arenas.

use super::{Aside, CHUNK_MAGIC, Described, Problem, Raw, RawFunction, Reader};
use super::{add_count, damaged, sum_or_overflow, with_shift};
use crate::base::index::FuncId;
use crate::copies::plan::keys::Keys;
use crate::runtime::abi;
use crate::runtime::format::{self, Chunk, Function, Slot};
use std::collections::BTreeMap;
use zerocopy::FromBytes;
use zerocopy::byteorder::{ByteOrder, LE};

impl<O: ByteOrder> Reader<'_, O> {
    /// Adds the counts of a module, whose block begins at `at`, to those of its functions.
    pub(super) fn read_module(
        &mut self,
        module: &Described<O>,
        at: u64,
        aside: &mut Aside<O>,
        functions: &mut BTreeMap<FuncId, RawFunction>,
    ) -> Result<(), Problem> {
        let counters = at + module.counters;
        // In order and disjoint: no counter is read twice.
        let mut free = 0;
        for record in &module.records {
            let func = FuncId(record.func.get());
            let function = functions.entry(func).or_default();
            let (kind, first) = (record.kind.get(), record.first.get());
            if kind == abi::HASH {
                continue; // its counts are in chunks
            }
            let last = first.checked_add(record.size.get());
            let inside = last.is_some_and(|l| l <= module.n_counters);
            if kind > abi::FORKS || first < free || !inside {
                let problem = "overlap, or lie outside its block";
                return Err(damaged(format!("the counts of function {func} {problem}")));
            }
            self.read_function(record, counters, aside, function)?;
            free = first + record.size.get();
        }
        Ok(())
    }

    fn read_function(
        &mut self,
        record: &Function<O>,
        counters: u64,
        aside: &mut Aside<O>,
        to: &mut RawFunction,
    ) -> Result<(), Problem> {
        let first = counters + record.first.get() * 8;
        let (mut at, end) = (first, first + record.size.get() * 8);
        match record.kind.get() {
            abi::ENTRIES => to.entries = to.entries.or(Some(0)),
            abi::HITS => to.hits = to.hits.or(Some(0)),
            _ => {}
        }
        while let Some((found, count)) = self.window.find(at, end, 8)? {
            let count = aside.count_since_baseline(found, count)?;
            match record.kind.get() {
                abi::ARRAY => add_count(&mut to.counts, (found - first) / 8, count)?,
                abi::ENTRIES => to.entries = Some(sum_or_overflow(to.entries.unwrap_or(0), count)?),
                abi::FORKS => add_count(&mut to.forks, (found - first) / 8, count)?,
                _ => to.hits = Some(sum_or_overflow(to.hits.unwrap_or(0), count)?),
            }
            at = found + 8;
        }
        Ok(())
    }

    /// Walks the chunks of an arena; between them, what was reserved and never used is zero.
    pub(super) fn read_arena(
        &mut self,
        mut at: u64,
        end: u64,
        mut aside: Aside<O>,
        raw: &mut Raw,
    ) -> Result<(), Problem> {
        const UNIT: u64 = format::CHUNK_ALIGN as u64;
        while let Some((found, magic)) = self.window.find(at, end, UNIT)? {
            if magic != CHUNK_MAGIC || end - found < size_of::<Chunk<O>>() as u64 {
                return Err(damaged(format!("no table at {found}")));
            }
            let (chunk, crc) = self
                .window
                .checked::<Chunk<O>>(found, format::CHUNK_CHECKED)?;
            if with_shift(crc, &chunk.shift) != chunk.crc.get() {
                return Err(damaged(format!(
                    "the checksum of the table at {found} is wrong"
                )));
            }
            let func = FuncId(chunk.func.get());
            let first = found + size_of::<Chunk<O>>() as u64;
            let size = chunk.slots.get().checked_mul(size_of::<Slot<O>>() as u64);
            let Some(size) = size.filter(|&s| s <= end - first) else {
                return Err(damaged(format!("the table at {found} is too long")));
            };
            let functions = raw.shifts.entry(chunk.shift.get()).or_default();
            let counts = &mut functions.entry(func).or_default().counts;
            self.read_slots(first, first + size, &mut aside, counts, chunk.size.get())
                .map_err(|problem| locate_in_function(problem, func))?;
            at = (first + size).next_multiple_of(UNIT);
        }
        Ok(())
    }

    /// The slots of a table whose ids are below `ids`.
    fn read_slots(
        &mut self,
        mut at: u64,
        end: u64,
        aside: &mut Aside<O>,
        counts: &mut BTreeMap<u64, u64>,
        ids: u64,
    ) -> Result<(), Problem> {
        const SIZE: u64 = size_of::<Slot<LE>>() as u64;
        let keys = Keys::for_ids(ids);
        while let Some((found, key)) = self.window.find(at, end, SIZE)? {
            let id = keys.id(key).filter(|&id| id < ids);
            let id = id.ok_or_else(|| damaged(format!("no id has the key {key}")))?;
            // A key without count: the process ended between the two.
            let slot = Slot::<O>::read_from_bytes(self.window.bytes(found, SIZE as usize)?);
            let count = slot.expect("of its size").count.get();
            add_count(counts, id, aside.count_since_baseline(found + 8, count)?)?;
            at = found + SIZE;
        }
        Ok(())
    }
}

fn locate_in_function(problem: Problem, func: FuncId) -> Problem {
    match problem {
        Problem::Damaged(what) => damaged(format!("{what} in function {func}")),
        other => other,
    }
}
