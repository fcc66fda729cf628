//! Executions of functions, lines and branches by source file.
//!
//! A line ran as often as the block on it that ran most, in every function that has code on it added up. Of a
//! branch all ways out of its block are listed. Functions without debug information are not in it.
//!
//! A line ran at least as often as it says: what activations ran before they were left by `exit`, `longjmp` or an
//! exception counts as far as it is known (`profile::left`). A line that only such an activation may have run is
//! left out, as is a branch one way of which only such an activation may have taken: nobody knows whether it is covered.

use super::{CountedFunction, Counts};
use crate::error::{Error, Result};
use crate::profile::flow::EdgeCount;
use crate::profile::left::Range;
use std::collections::BTreeMap;

/// What is known of one source file.
#[derive(Default)]
pub(super) struct SourceFile {
    /// Line and symbol, executions.
    pub(super) functions: BTreeMap<(u32, String), u64>,
    lines: BTreeMap<u32, Range>,
    /// By line: each branch on it, with the executions of its ways; `None` where it was never reached.
    pub(super) branches: BTreeMap<u32, Vec<Vec<Option<u64>>>>,
}

impl SourceFile {
    /// The lines of which it is known whether they ran, and how often they did.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u32, u64)> + Clone + '_ {
        let known = self.lines.iter().filter(|(_, r)| !r.may_have_run());
        known.map(|(line, r)| (*line, r.count))
    }
}

/// The source files that functions have code of, by name. O(positions).
///
/// # Errors
/// A profile without debug information: there are no lines to tell of.
pub(super) fn by_line<'a>(counts: &Counts<'a>) -> Result<BTreeMap<&'a str, SourceFile>> {
    let (profile, functions) = (counts.profile, &counts.functions);
    let mut sources: BTreeMap<&str, SourceFile> = BTreeMap::new();
    let name = |file: u32| profile.manifest.files[file as usize].as_str();
    for f in functions {
        if let Some(loc) = f.entry.begins() {
            let source = sources.entry(name(loc.file)).or_default();
            let key = (loc.line, f.entry.name.clone());
            let entered = source.functions.entry(key).or_default();
            *entered = entered.saturating_add(f.flow.entry);
        }
        let mut lines: BTreeMap<(u32, u32), Range> = BTreeMap::new();
        for (block, &range) in f.structure.cfg.blocks.iter().zip(&f.executed.blocks) {
            for span in &block.lines {
                let most = lines.entry((span.loc.file, span.loc.line)).or_default();
                *most = most.larger(range);
            }
        }
        for ((file, line), range) in lines {
            let lines = &mut sources.entry(name(file)).or_default().lines;
            let sum = lines.entry(line).or_default();
            *sum = sum.plus(range);
        }
        branches(f, &mut |file, line, ways| {
            let branches = &mut sources.entry(name(file)).or_default().branches;
            branches.entry(line).or_default().push(ways);
        });
    }
    if sources.is_empty() {
        let problem = "it knows no source lines";
        let remedy = "profile a program that was compiled with -g";
        return Err(Error::profile(&profile.path, problem, remedy));
    }
    Ok(sources)
}

fn branches(f: &CountedFunction, found: &mut impl FnMut(u32, u32, Vec<Option<u64>>)) {
    let ways = f
        .edges
        .chunk_by(|(a, _), (b, _)| a.edge.block == b.edge.block);
    let known = |ways: &&[(EdgeCount, Range)]| !ways.iter().any(|(_, r)| r.may_have_run());
    for ways in ways.filter(|w| w.len() > 1).filter(known) {
        let block = ways[0].0.edge.block;
        let Some(span) = f.structure.cfg.block(block).lines.last() else {
            continue;
        };
        let reached = f.executed.blocks[block].count > 0;
        let ways = ways.iter().map(|(w, _)| reached.then_some(w.count));
        found(span.loc.file, span.loc.line, ways.collect());
    }
}
