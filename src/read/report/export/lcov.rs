//! lcov's tracefile: executions of functions, lines and branches by source file, as [`crate::read::analysis::lines`]
//! has them.
//!
//! lcov 2 wants the line that a function ends at, and derives a wrong one where there is none: that of a function ends
//! before the first lambda in it. lcov 1 takes that number for the function's name. So there are two formats.

use super::{Asked, Counts, Export};
use crate::base::error::Result;
use crate::base::names::{escape_also, escape_unprintable, printed_name};
use crate::profile::left::Range;
use crate::read::analysis::counted::CountedFunction;
use crate::read::analysis::lines::{SourceFile, lambda_name};
use crate::read::report::coverage::{LineRecords, Mcdc, Scope};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Of lcov 2: see [`Export::ABOUT`].
pub(super) struct Lcov;

impl Export for Lcov {
    const NAME: &'static str = "lcov";
    const ABOUT: &'static str = "genhtml 2 (Debian 13): executions of lines and branches";
    const OWN: bool = true;
    const BY_LINE: bool = true;
    const UNFIT: Option<&'static str> = Some(NO_SAMPLES);
    type View<'a> = Counts<'a>;

    fn write(counts: &Counts, asked: Asked) -> Result<Vec<u8>> {
        render(counts, asked, true)
    }
}

/// Of lcov 1: see [`Export::ABOUT`].
pub(super) struct Lcov1;

impl Export for Lcov1 {
    const NAME: &'static str = "lcov-1";
    const ABOUT: &'static str =
        "genhtml 1 (Debian 12): the same, without the lines that functions end at";
    const OWN: bool = true;
    const BY_LINE: bool = true;
    const UNFIT: Option<&'static str> = Some(NO_SAMPLES);
    type View<'a> = Counts<'a>;

    fn write(counts: &Counts, asked: Asked) -> Result<Vec<u8>> {
        render(counts, asked, false)
    }
}

const NO_SAMPLES: &str = "what is in no sample may have run all the same";

fn render(counts: &Counts, asked: Asked, ends: bool) -> Result<Vec<u8>> {
    // A comment: how `export -o` knows its own files.
    let mut out = "# p3-prof\n".to_string();
    let verdict = &counts.profile.verdict;
    for reason in verdict.reasons_incomplete() {
        let _ = writeln!(
            out,
            "# {}: {}",
            verdict.status(),
            escape_unprintable(reason)
        );
    }
    out += &uncertain_comments(counts);
    let conditions = list_conditions(counts, asked)?;
    for (name, source) in &counts.own_by_line(asked)? {
        out += &file_record(name, source, ends, conditions.get(*name));
    }
    Ok(out.into())
}

/// Comments on the functions whose counts are not certain, as `show --edges` marks them: the format has no place for
/// that.
fn uncertain_comments(counts: &Counts) -> String {
    let comment = |f: &CountedFunction| {
        let why = if f.executed.again && f.flow.entry > 0 {
            "setjmp may return to it again: counts are not certain"
        } else {
            let is_open = |range: &Range| !range.is_exact();
            let after_calls = f.executed.came_back.values();
            let are_lines = f.executed.blocks.iter().chain(after_calls).any(is_open);
            let are_branches = f.edges.iter().any(|(_, range)| is_open(range));
            match (are_lines, are_branches, f.executed.forked) {
                (true, _, 0) => "control left it before its end: counts are not certain",
                (true, _, _) => "a process may have forked in it: counts are not certain",
                (_, true, 1..) => "a process forked in it: some branches are not certain",
                _ => return None,
            }
        };
        Some(format!("# {}: {why}\n", printed_name(&f.entry.name)))
    };
    counts.functions.iter().filter_map(comment).collect()
}

/// By file and line the decisions, if they are asked for.
fn list_conditions(counts: &Counts, asked: Asked) -> Result<BTreeMap<String, LineRecords>> {
    let Some(rule) = asked.mcdc else {
        return Ok(BTreeMap::new());
    };
    let scope = Scope {
        all: asked.all,
        markers: counts.sources.markers(),
        ..Scope::default()
    };
    let (paths, functions) = (
        counts.profile.paths()?,
        counts.functions.iter().map(|f| f.f),
    );
    let found = Mcdc::find(
        paths,
        &counts.sources,
        functions.collect(),
        &scope,
        rule,
        false,
    )?;
    Ok(found.list_by_line(counts.profile))
}

/// Records of conditions, each with two senses. lcov tells the groups of a line apart by their sizes, so decisions of
/// one line and size become one group.
fn write_conditions(out: &mut String, lines: &LineRecords) {
    let (mut all, mut hit) = (0, 0);
    for (line, decisions) in lines {
        let mut sizes: Vec<usize> = decisions.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        let are_told_apart = sizes.windows(2).all(|pair| pair[0] != pair[1]);
        let groups = if are_told_apart {
            decisions.clone()
        } else {
            vec![decisions.concat()]
        };
        for group in &groups {
            for (i, (text, is_shown)) in group.iter().enumerate() {
                let (n, text) = (u8::from(*is_shown), escape_unprintable(text));
                for sense in ['t', 'f'] {
                    let _ = writeln!(out, "MCDC:{line},{},{sense},{n},{i},{text}", group.len());
                }
                all += 2;
                hit += 2 * u32::from(n);
            }
        }
    }
    if all > 0 {
        let _ = writeln!(out, "MCF:{all}\nMCH:{hit}");
    }
}

fn file_record(
    name: &str,
    source: &SourceFile,
    ends: bool,
    conditions: Option<&LineRecords>,
) -> String {
    let mut out = format!("TN:\nSF:{}\n", escape_unprintable(name));
    // Symbols, as gcov writes them: genhtml demangles. Commas end fields, and nothing quotes them. genhtml 2 allows for
    // lambdas that never ran on lines that did, if it knows them by their names.
    let name = |symbol: &str| {
        let lambda = ends.then(|| lambda_name(symbol)).flatten();
        escape_also(lambda.as_deref().unwrap_or(symbol), &[','])
    };
    let functions = source.functions_in_order();
    for (symbol, f) in &functions {
        let end = if ends {
            format!("{},", f.end)
        } else {
            String::new()
        };
        let _ = writeln!(out, "FN:{},{end}{}", f.line, name(symbol));
    }
    for (symbol, f) in &functions {
        let _ = writeln!(out, "FNDA:{},{}", f.entered, name(symbol));
    }
    write_totals(&mut out, "FN", functions.iter().map(|(_, f)| f.entered));
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
    write_totals(&mut out, "BR", all.into_iter());
    if let Some(lines) = conditions {
        write_conditions(&mut out, lines);
    }
    for (line, n) in source.lines() {
        let _ = writeln!(out, "DA:{line},{n}");
    }
    write_totals(&mut out, "L", source.lines().map(|(_, n)| n));
    out + "end_of_record\n"
}

/// How many there are, and how many ran.
fn write_totals(out: &mut String, what: &str, counts: impl Iterator<Item = u64> + Clone) {
    let (all, ran) = (counts.clone().count(), counts.filter(|&n| n > 0).count());
    let _ = writeln!(out, "{what}F:{all}\n{what}H:{ran}");
}
