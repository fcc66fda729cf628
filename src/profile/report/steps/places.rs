//! Where paths and loops begin, as who reads the project's own code sees it.

use super::super::Line;
use super::super::text::short;
use super::Steps;
use crate::dag::PathStart;
use crate::index::{BlockId, FuncId};
use crate::load::positions::Inlined;
use crate::manifest::Manifest;
use crate::names::is_closure;
use crate::source::is_of_the_system;
use std::collections::HashMap;

impl Steps<'_> {
    /// Where a path begins, if that is not the function's entry: ` · loop at demo.c:61`, ` · loop in sort at demo.c:61` if `sort`
    /// was inlined.
    pub fn start(&self, line: &Line) -> String {
        match line.path.start {
            PathStart::Entry => String::new(),
            PathStart::Loop => format!(" · {}", self.loop_at(line.func, line.path.blocks[0])),
        }
    }

    /// The same without the inlined function.
    pub fn start_in_short(&self, line: &Line) -> String {
        match line.path.start {
            PathStart::Entry => String::new(),
            PathStart::Loop => format!(
                " · loop at {}",
                self.place_of(line.func, line.path.blocks[0])
            ),
        }
    }

    /// A loop by its header: `loop at demo.c:61`.
    pub fn loop_at(&self, f: FuncId, header: BlockId) -> String {
        let (within, place) = self.seen(f, header);
        match within {
            Some(call) => format!("loop in {} at {place}", self.name_of(&call.function)),
            None => format!("loop at {place}"),
        }
    }

    /// File and line of a block; its number without debug information.
    pub fn place_of(&self, f: FuncId, block: BlockId) -> String {
        self.seen(f, block).1
    }

    /// The inlined function that a block is in, unless it is the block's own, and file and line there. Of library code that was
    /// inlined it is the function that calls the library.
    fn seen(&self, f: FuncId, block: BlockId) -> (Option<&Inlined>, String) {
        let manifest = &self.words.profile().manifest;
        let entry = self.words.profile().entry(f);
        let first = entry.spans(block).next();
        let Some(span) = entry.spans(block).find(|s| s.loc.line > 0).or(first) else {
            return (None, format!("b{block}"));
        };
        let calls = std::iter::successors(span.inlined, |&n| manifest.inlined[n as usize].within);
        let calls: Vec<&Inlined> = calls.map(|n| &manifest.inlined[n as usize]).collect();
        let name = |file: u32| manifest.files[file as usize].as_str();
        // From the inside out: a place, and the call that brought the code there.
        let own = (span.loc.file, span.loc.line, calls.first().copied());
        let callers = calls.iter().enumerate();
        let callers = callers.map(|(i, c)| (c.file, c.line, calls.get(i + 1).copied()));
        let sites: Vec<_> = std::iter::once(own).chain(callers).collect();
        // A call without a line of its own is where its callee's code is.
        let known = || sites.iter().filter(|(_, line, _)| *line > 0);
        let outside = known().find(|(file, ..)| !is_of_the_system(name(*file)));
        let &(file, line, within) = outside.or(known().next_back()).unwrap_or(&sites[0]);
        let within = within.filter(|_| outside.is_some());
        (within, format!("{}:{line}", short(name(file))))
    }
}

/// The first line with code of each closure that was inlined. O(code).
pub(super) fn closure_lines(manifest: &Manifest) -> HashMap<&str, u32> {
    let is_closure = |c: &Inlined| is_closure(&c.function);
    let closures: Vec<bool> = manifest.inlined.iter().map(is_closure).collect();
    let mut lines: HashMap<&str, u32> = HashMap::new();
    if !closures.contains(&true) {
        return lines;
    }
    for entry in &manifest.functions {
        let spans = (0..entry.succs.len()).flat_map(|b| entry.spans(BlockId::new(b)));
        for span in spans.filter(|s| s.loc.line > 0) {
            if let Some(n) = span.inlined.filter(|n| closures[*n as usize]) {
                let function = manifest.inlined[n as usize].function.as_str();
                let first = lines.entry(function).or_insert(u32::MAX);
                *first = span.loc.line.min(*first);
            }
        }
    }
    lines
}
