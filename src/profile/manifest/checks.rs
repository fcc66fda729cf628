//! What Rust's compiler adds: checks whether an integer overflows, a divisor is 0, an index is out of bounds, a pointer
//! may be read through; and the early return of `?`.

use super::{FunctionEntry, Manifest};
use crate::base::index::{BlockId, FuncId};
use crate::input::ir::{Site, Terminator};

/// What symbols of functions have in them that report a check that failed.
const REPORTS: [&str; 5] = [
    "panicking11panic_const",
    "panicking18panic_bounds_check",
    "panic_misaligned_pointer_dereference",
    "panic_null_pointer_dereference",
    "panic_invalid_enum_construction",
];

/// What symbols of the function have in them that makes the result with which `?` returns early.
const EARLY_RESULT: [&str; 1] = ["13from_residual"];

impl FunctionEntry {
    /// Whether the code of block `to` is at the place of a branch to it, and never returns.
    pub(crate) fn fails_at(&self, to: BlockId, site: Site) -> bool {
        let end = match self.terminators[to] {
            // A call that may throw, but does not return.
            Terminator::Invoke => self.succs[to][0],
            _ => to,
        };
        self.terminators[end] == Terminator::Unreachable
            && self.spans(to).any(|span| span.is_at(site))
    }
}

impl Manifest {
    /// If the branch at the end of a block is a check that Rust's compiler added: the successor that it takes if that
    /// fails. O(log blocks + calls).
    pub(crate) fn failing_check(&self, f: FuncId, block: BlockId) -> Option<u32> {
        let entry = &self.functions[f];
        let [first, second] = entry.succs[block][..] else {
            return None;
        };
        let is_branch = entry.terminators[block] == Terminator::Branch;
        let site = entry.choice(block).filter(|_| is_branch)?.site?;
        let fails = |to| entry.fails_at(to, site) && self.calls_any(entry, to, &REPORTS);
        match (fails(first), fails(second)) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    }

    /// If the end of a block decides a `?` of Rust: whether its successor `succ` returns early. O(positions of the
    /// blocks behind it × depth of inlining).
    pub(crate) fn returns_early(&self, f: FuncId, block: BlockId, succ: u32) -> Option<bool> {
        let entry = &self.functions[f];
        let decides = matches!(
            entry.terminators[block],
            Terminator::Branch | Terminator::Switch
        );
        let site = entry.choice(block).filter(|_| decides)?.site?;
        if !self.files[site.loc.file as usize].ends_with(".rs") {
            return None;
        }
        let ends = |to: BlockId| {
            let mut spans = entry.spans(to);
            let has_call = self.calls_any(entry, to, &EARLY_RESULT);
            spans.any(|span| {
                has_call && span.is_at(site)
                    || self.is_inlined_at(span.inlined, site, &EARLY_RESULT)
            })
        };
        let ends: Vec<bool> = entry.succs[block].iter().map(|to| ends(*to)).collect();
        let is_known = ends.contains(&true) && ends.contains(&false);
        is_known.then(|| ends[succ as usize])
    }

    /// Whether code in the inlined call `inlined` is of a call at `site` to a function whose symbol has one of `parts`
    /// in it.
    fn is_inlined_at(&self, inlined: Option<u32>, site: Site, parts: &[&str]) -> bool {
        let mut calls = self.calls_around(inlined);
        calls.any(|n| {
            let call = &self.inlined[n as usize];
            let at = (call.file, call.line, call.column, call.within);
            at == (site.loc.file, site.loc.line, site.column, site.inlined)
                && parts.iter().any(|part| call.function.contains(part))
        })
    }

    /// Whether a block calls a function whose symbol has one of `parts` in it.
    fn calls_any(&self, entry: &FunctionEntry, block: BlockId, parts: &[&str]) -> bool {
        let reports = |symbol: &str| parts.iter().any(|part| symbol.contains(part));
        let outside = entry.outside.binary_search_by_key(&block, |o| o.0);
        let outside = outside.map_or(&[][..], |i| &entry.outside[i].1);
        let mut outside = outside.iter().filter_map(|n| {
            let symbols = self.outside.as_ref()?;
            Some(&symbols[n.checked_sub(1)? as usize])
        });
        let calls = entry.calls.binary_search_by_key(&block, |c| c.0);
        let mut calls = calls.map_or(&[][..], |i| &entry.calls[i].1).iter();
        outside.any(|symbol| reports(symbol))
            || calls.any(|(f, _)| reports(&self.functions[*f].name))
    }
}
