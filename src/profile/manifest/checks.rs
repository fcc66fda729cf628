//! Checks that Rust's compiler adds: whether an integer overflows, a divisor is 0, an index is out of bounds.

use super::{FunctionEntry, Manifest};
use crate::base::index::{BlockId, FuncId};
use crate::input::ir::{Site, Span, Terminator};

/// What symbols of functions have in them that report a check that failed.
const REPORTS: [&str; 3] = [
    "panicking11panic_const",
    "panicking18panic_bounds_check",
    "panic_misaligned_pointer_dereference",
];

impl FunctionEntry {
    /// Whether the code of block `to` is at the place of a branch to it, and never returns.
    pub(crate) fn fails(&self, to: BlockId, site: Site) -> bool {
        let is_here = |span: Span| {
            (span.loc, span.column, span.inlined) == (site.loc, site.column, site.inlined)
        };
        let end = match self.terminators[to] {
            // A call that may throw, but does not return.
            Terminator::Invoke => self.succs[to][0],
            _ => to,
        };
        self.terminators[end] == Terminator::Unreachable && self.spans(to).any(is_here)
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
        let fails = |to| entry.fails(to, site) && self.reports_check(entry, to);
        match (fails(first), fails(second)) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    }

    /// Whether a block calls a function that reports a check that failed.
    fn reports_check(&self, entry: &FunctionEntry, block: BlockId) -> bool {
        let reports = |symbol: &str| REPORTS.iter().any(|part| symbol.contains(part));
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
