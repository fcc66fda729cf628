//! Profiles for other people's tools: one file for each format.

mod callgrind;
mod dot;
mod folded;
mod lcov;
mod pprof;
mod speedscope;
mod stacks;

use super::flow::{EdgeCount, Flow, flow};
use super::left::{Executed, Range};
use super::report::{Report, Selection, csv, json};
use super::{Profile, Structure};
use crate::error::Result;
use crate::index::FuncId;
use crate::ir::Loc;
use crate::manifest::FunctionEntry;
use rayon::prelude::*;

/// The formats, and what reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// llvm-profdata merge, clang -fprofile-use: edge counts by LLVM's own instrumentation
    Proftext,
    /// genhtml: executions of lines and branches
    Lcov,
    /// callgrind_annotate, KCachegrind: LLVM instructions by line, calls
    Callgrind,
    /// flamegraph.pl, inferno: a path as a stack of its blocks
    Folded,
    /// pprof: paths and instructions by line, the path as a label
    Pprof,
    /// speedscope: a path as a stack of its blocks
    Speedscope,
    /// Graphviz: control flow with counts, the hottest path drawn thick
    Dot,
    /// A table of all paths, as show --format csv
    Csv,
    /// All paths, as show --format json
    Json,
}

/// What a path weighs in a format that knows one number for each stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weigh {
    /// How often it ran
    Paths,
    /// The LLVM instructions that were executed on it
    Instructions,
}

/// The selected functions of `profile` in `format`, which is not [`Format::Proftext`]: that takes LLVM
/// (`crate::pgo`). `weigh` is of concern to stacks. Near-linear in the total length of the paths.
///
/// # Errors
/// A profile of edges, where the format is about paths.
pub fn export(
    profile: &Profile,
    selection: &Selection,
    format: Format,
    weigh: Weigh,
) -> Result<Vec<u8>> {
    let report = || Report::new(profile, selection);
    Ok(match format {
        Format::Proftext => unreachable!("it takes LLVM"),
        Format::Lcov => lcov::render(profile, &functions(profile, selection)?)?.into(),
        Format::Callgrind => callgrind::render(profile, &functions(profile, selection)?).into(),
        Format::Dot => dot::render(profile, &functions(profile, selection)?)?.into(),
        Format::Folded => folded::render(&report()?, weigh).into(),
        Format::Speedscope => speedscope::render(&report()?).into(),
        Format::Pprof => pprof::render(&report()?),
        Format::Csv => csv::render(&report()?).into(),
        Format::Json => json::render(&report()?).into(),
    })
}

/// The selected functions that are not profiled and so not in what is exported, each with the reason.
pub fn left_out<'a>(
    profile: &'a Profile,
    selection: &Selection,
) -> impl Iterator<Item = String> + use<'a> {
    let functions = selection.functions(profile).into_iter();
    let skipped = functions.filter(|f| profile.entry(*f).status.is_skipped());
    skipped.map(|f| format!("{}: {}", profile.name(f), profile.entry(f).status))
}

/// A function and the executions of everything in it.
struct Counted<'a> {
    f: FuncId,
    entry: &'a FunctionEntry,
    structure: Structure,
    /// What completed paths add up to.
    flow: Flow,
    /// The same with what was left before its end.
    executed: Executed,
    edges: Vec<(EdgeCount, Range)>,
}

impl Counted<'_> {
    /// Where it begins: what debug information says, or the first of its positions.
    fn begins(&self) -> Option<Loc> {
        let mut spans = self.structure.cfg.blocks.iter().flat_map(|b| &b.lines);
        self.entry.loc.or_else(|| spans.next().map(|s| s.loc))
    }
}

/// The counts of the selected functions that are profiled, those that never ran too.
fn functions<'a>(profile: &'a Profile, selection: &Selection) -> Result<Vec<Counted<'a>>> {
    let wanted = selection.profiled(profile).into_par_iter();
    let counted = wanted.map(|f| {
        let structure = profile.structure(f)?;
        let flow = flow(profile, f, &structure)?;
        let executed = Executed::new(profile, f, &structure, &flow);
        Ok(Counted {
            f,
            entry: profile.entry(f),
            edges: executed.edges(&structure),
            structure,
            flow,
            executed,
        })
    });
    counted.collect()
}
