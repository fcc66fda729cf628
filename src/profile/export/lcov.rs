//! lcov's tracefile: executions of functions, lines and branches by source file.
//!
//! A line ran as often as the block on it that ran most, in every function that has code on it added up. Of a
//! branch all ways out of its block are listed. Functions without debug information are not in it.
//!
//! A line ran at least as often as it says: what activations ran before they were left by `exit`, `longjmp` or an
//! exception counts as far as it is known (`profile::left`). A line that only such an activation may have run is
//! left out, as is a branch one way of which only such an activation may have taken: nobody knows whether it is covered.

use super::{CountedFunction, Counts, Export, Weigh};
use crate::error::{Error, Result};
use crate::names::{escaped, printable};
use crate::profile::Profile;
use crate::profile::flow::EdgeCount;
use crate::profile::left::Range;
use std::collections::BTreeMap;
use std::fmt::Write;

/// See [`Export::ABOUT`].
pub(super) struct Lcov;

impl Export for Lcov {
    const NAME: &'static str = "lcov";
    const ABOUT: &'static str = "genhtml: executions of lines and branches";
    type View<'a> = Counts<'a>;

    fn write(counts: &Counts, _: Weigh) -> Result<Vec<u8>> {
        Ok(render(counts.profile, &counts.functions)?.into())
    }
}

/// What is known of one source file.
#[derive(Default)]
struct SourceFile {
    /// Line and name, executions.
    functions: BTreeMap<(u32, String), u64>,
    lines: BTreeMap<u32, Range>,
    /// By line: each branch on it, with the executions of its ways; `None` where it was never reached.
    branches: BTreeMap<u32, Vec<Vec<Option<u64>>>>,
}

/// The tracefile.
///
/// # Errors
/// A profile without debug information: there are no lines to tell of.
fn render(profile: &Profile, functions: &[CountedFunction]) -> Result<String> {
    let mut sources: BTreeMap<&str, SourceFile> = BTreeMap::new();
    let name = |file: u32| profile.manifest.files[file as usize].as_str();
    for f in functions {
        if let Some(loc) = f.begins() {
            let source = sources.entry(name(loc.file)).or_default();
            // Symbols, as gcov writes them: genhtml demangles. Commas end fields, and nothing quotes them.
            let key = (loc.line, escaped(&f.entry.name, &[',']));
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
    let sources = sources.iter().map(|(name, source)| record(name, source));
    Ok(sources.collect())
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
        let reached = f.executed.blocks[block.index()].count > 0;
        let ways = ways.iter().map(|(w, _)| reached.then_some(w.count));
        found(span.loc.file, span.loc.line, ways.collect());
    }
}

fn record(name: &str, source: &SourceFile) -> String {
    let mut out = format!("TN:\nSF:{}\n", printable(name));
    for (line, function) in source.functions.keys() {
        let _ = writeln!(out, "FN:{line},{function}");
    }
    for ((_, function), n) in &source.functions {
        let _ = writeln!(out, "FNDA:{n},{function}");
    }
    found(&mut out, "FN", source.functions.values().copied());
    let mut all = Vec::new();
    for (line, branches) in &source.branches {
        for (i, ways) in branches.iter().enumerate() {
            for (way, n) in ways.iter().enumerate() {
                let taken = n.map_or("-".to_string(), |n| n.to_string());
                let _ = writeln!(out, "BRDA:{line},{i},{way},{taken}");
                all.push(n.unwrap_or(0));
            }
        }
    }
    found(&mut out, "BR", all.into_iter());
    let known = source.lines.iter().filter(|(_, r)| !r.may_have_run());
    let known: Vec<(&u32, u64)> = known.map(|(line, r)| (line, r.count)).collect();
    for (line, n) in &known {
        let _ = writeln!(out, "DA:{line},{n}");
    }
    found(&mut out, "L", known.iter().map(|(_, n)| *n));
    out + "end_of_record\n"
}

/// How many there are, and how many ran.
fn found(out: &mut String, what: &str, counts: impl Iterator<Item = u64> + Clone) {
    let (all, ran) = (counts.clone().count(), counts.filter(|&n| n > 0).count());
    let _ = writeln!(out, "{what}F:{all}\n{what}H:{ran}");
}
