//! What a manifest that was read has to satisfy, so that nothing that uses it can panic.

use super::{FunctionEntry, Manifest, OutOfRange, ShareEntry};
use crate::base::index::{BlockId, CfgEdge, CopyId, FuncId};
use crate::copies::strategy::Measure;
use crate::input::ir::{Loc, Terminator};
use crate::input::load::positions::{Compared, Inlined};
use crate::paths::dag::Order;
use crate::paths::versions::can_be_copied;

impl Manifest {
    pub(crate) fn check(&self) -> Result<(), OutOfRange> {
        self.check_program().map_err(OutOfRange::Program)?;
        self.functions.iter().try_for_each(|entry| {
            let check = FunctionCheck {
                manifest: self,
                entry,
            };
            check.check_all().map_err(|what| OutOfRange::Function {
                function: entry.name.clone(),
                what,
            })
        })
    }

    fn check_program(&self) -> Result<(), &'static str> {
        let is_id = self.program.len() == 32 && self.program.bytes().all(|b| b.is_ascii_hexdigit());
        ensure(is_id, "program id")?;
        ensure((1..=1024).contains(&self.copies), "number of copies")?;
        let checksums = [0, self.files.len()].contains(&self.checksums.len());
        ensure(checksums, "checksums")?;
        // An inlined call is after the one around it, so that following `within` ends.
        let is_sound = |(i, call): (usize, &Inlined)| {
            self.has_file(call.file) && call.within.is_none_or(|n| (n as usize) < i)
        };
        let are_sound = self.inlined.iter().enumerate().all(is_sound);
        ensure(are_sound, "inlined call")
    }

    fn has_file(&self, file: u32) -> bool {
        (file as usize) < self.files.len()
    }
}

/// The check of one function's entry, part by part. What is wrong is named by the first field that is.
struct FunctionCheck<'a> {
    manifest: &'a Manifest,
    entry: &'a FunctionEntry,
}

impl FunctionCheck<'_> {
    fn check_all(&self) -> Result<(), &'static str> {
        // The length of every list by block first: what follows looks blocks up in them.
        self.check_body()?;
        self.check_lists_of_blocks()?;
        self.check_positions()?;
        self.check_calls()?;
        self.check_choices()?;
        self.check_share()
    }

    fn check_body(&self) -> Result<(), &'static str> {
        let f = self.entry;
        let blocks = f.succs.len();
        ensure(blocks > 0 && !f.bodies.is_empty(), "no body")?;
        let modules = self.manifest.modules.len();
        let has_module = f.bodies.iter().all(|b| b.module.index() < modules);
        ensure(has_module, "module")?;
        ensure(self.has_function(f.unit), "unit")?;
        let has_columns = f.terminators.len() == blocks
            && f.instructions.len() == blocks
            && [0, blocks].contains(&f.lines.len());
        ensure(has_columns, "columns")?;
        let mut targets = f.succs.iter().flatten();
        ensure(targets.all(|b| self.has_block(*b)), "successor")
    }

    /// Fields that list blocks and edges: all are ascending, since readers search them by halves.
    fn check_lists_of_blocks(&self) -> Result<(), &'static str> {
        let f = self.entry;
        for (list, name) in [
            (&f.may_leave, "may_leave"),
            (&f.single, "single"),
            (&f.left_at_end, "call in tail position"),
            (&f.known_labels, "known labels"),
            (&f.apart, "header"),
            (&f.split_loops, "split loop"),
        ] {
            let are_blocks = list.iter().all(|b| self.has_block(*b));
            ensure(are_blocks && list.is_sorted(), name)?;
        }
        let mut jumps = f.known_labels.iter().map(|b| f.terminators[*b]);
        let are_jumps = jumps.all(|terminator| terminator == Terminator::IndirectBr);
        ensure(are_jumps, "known labels")?;
        self.check_keys(&f.pressure, |p| p.0, "register pressure")?;
        let is_edge = |c: &CfgEdge| {
            let succs = f.succs.get(c.block);
            succs.is_some_and(|succs| (c.succ as usize) < succs.len())
        };
        let are_edges = f.cuts.iter().all(is_edge) && f.cuts.is_sorted();
        ensure(are_edges, "cut edge")
    }

    fn check_positions(&self) -> Result<(), &'static str> {
        let f = self.entry;
        let has_file = f.loc.is_none_or(|loc| self.manifest.has_file(loc.file));
        ensure(has_file, "file")?;
        self.check_keys(&f.loops, |l| l.0, "loop")?;
        let spans = f.lines.iter().flat_map(|l| &l.0);
        let choices = f.choices.iter().filter_map(|c| c.site.as_ref());
        let sites = choices.chain(&f.branchless);
        let sites = sites.chain(f.loops.iter().map(|(_, site)| site));
        let places = sites.map(|s| (s.loc, s.inlined));
        let mut places = places.chain(spans.map(|s| (s.loc, s.inlined)));
        let calls = self.manifest.inlined.len();
        let is_known = |(loc, inlined): (Loc, Option<u32>)| {
            self.manifest.has_file(loc.file) && inlined.is_none_or(|call| (call as usize) < calls)
        };
        ensure(places.all(is_known), "position")
    }

    fn check_calls(&self) -> Result<(), &'static str> {
        let f = self.entry;
        let spans = |b: BlockId| f.lines.get(b).map_or(0, |l| l.0.len());
        let left = f.left_outside.as_deref().unwrap_or_default();
        let position = "position of a call that may not return";
        self.check_keys(left, |l| l.0, position)?;
        let mut ranges = left.iter().map(|(b, [first, last])| (b, first, last));
        let are_ranges =
            ranges.all(|(b, first, last)| first <= last && (*last as usize) < spans(*b));
        ensure(are_ranges, position)?;
        self.check_keys(&f.calls, |c| c.0, "call site")?;
        for (b, calls) in &f.calls {
            let are_functions = calls.iter().all(|(callee, _)| self.has_function(*callee));
            ensure(are_functions, "callee")?;
            // A block without positions has calls at 0.
            let mut places = calls.iter().map(|(_, span)| *span as usize);
            let are_places = places.all(|span| span == 0 || span < spans(*b));
            ensure(are_places, "place of a call")?;
        }
        let outside = "call of a function outside";
        self.check_keys(&f.outside, |o| o.0, outside)?;
        let symbols = self.manifest.outside.as_ref().map_or(0, Vec::len);
        let mut calls = f.outside.iter().flat_map(|(_, calls)| calls);
        ensure(calls.all(|call| *call as usize <= symbols), outside)
    }

    fn check_choices(&self) -> Result<(), &'static str> {
        let choices = &self.entry.choices;
        self.check_keys(choices, |c| c.block, "choice")?;
        let compared = choices.iter().filter_map(|c| c.by.compared.as_ref());
        let is_block = |b: &u32| self.has_block(BlockId(*b));
        for variable in compared.flat_map(Compared::variables) {
            let stores = &variable.stores;
            ensure(stores.is_sorted_by(|a, b| a < b), "store")?;
            let constants = variable.constants.iter();
            let at = constants.flat_map(|c| c.from.iter().chain([&c.block]));
            ensure(stores.iter().chain(at).all(is_block), "store")?;
        }
        Ok(())
    }

    fn check_share(&self) -> Result<(), &'static str> {
        let (manifest, f) = (self.manifest, self.entry);
        let is_profiled = !f.status.is_skipped();
        let counts_edges = manifest.scheme.strategy().measure == Measure::Edges;
        let has_counted = f.counted.is_some() == (counts_edges && is_profiled);
        ensure(has_counted, "counted edges")?;
        ensure(f.known.is_sorted_by(|a, b| a < b), "known path")?;
        let part = f.at_least.is_sorted_by(|a, b| a < b);
        ensure(part, "path counted in part")?;
        let is_copy = |c: &CopyId| c.0 < manifest.copies;
        let are_copies = |sets: &[(CopyId, String)]| {
            sets.iter().all(|(c, _)| is_copy(c)) && sets.is_sorted_by(|a, b| a.0 < b.0)
        };
        // O(blocks), so it is asked only where a share needs it.
        let may_have_versions = || {
            let cfg = f.cfg();
            !counts_edges && can_be_copied(&cfg, &Order::new(&cfg))
        };
        let is_possible = match &f.share {
            ShareEntry::Nothing => !is_profiled || !manifest.paths.is_empty(),
            ShareEntry::Whole(c) => is_profiled && is_copy(c),
            ShareEntry::Split(s) => is_profiled && are_copies(s),
            ShareEntry::Inside(s) => is_profiled && are_copies(s) && may_have_versions(),
            ShareEntry::Outside(c, _) => is_profiled && is_copy(c) && may_have_versions(),
            ShareEntry::Ranges(ranges) => {
                is_profiled && may_have_versions() && ranges.are_sound(manifest.copies)
            }
        };
        ensure(is_possible, "share")
    }

    /// Whether each entry of a list is of a block of its own, in ascending order.
    fn check_keys<T>(
        &self,
        list: &[T],
        block: impl Fn(&T) -> BlockId,
        name: &'static str,
    ) -> Result<(), &'static str> {
        let are_blocks = list.iter().all(|entry| self.has_block(block(entry)));
        let is_ascending = list.is_sorted_by(|a, b| block(a) < block(b));
        ensure(are_blocks && is_ascending, name)
    }

    fn has_block(&self, block: BlockId) -> bool {
        block.index() < self.entry.succs.len()
    }

    fn has_function(&self, f: FuncId) -> bool {
        f.index() < self.manifest.functions.len()
    }
}

fn ensure(is_right: bool, what: &'static str) -> Result<(), &'static str> {
    if is_right { Ok(()) } else { Err(what) }
}
