//! `show` for people.

use super::{Decision, Line, Report};
use crate::dag::{PathEnd, PathStart};
use crate::index::{CfgEdge, FuncId};
use crate::ir::Loc;
use crate::manifest::Status;
use crate::names::printable;
use crate::profile::Profile;
use crate::table::{Align, Columns};
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt::Write;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const NAME: Style = AnsiColor::Cyan.on_default();
const WARN: Style = AnsiColor::Yellow.on_default();
/// The report names at most this many functions that were left before their end.
const MAX_LEFT: usize = 5;
/// The report names at most this many places of a function's cut edges.
const MAX_CUTS: usize = 5;
/// A path shows at most this many source lines and decisions.
const MAX_ITEMS: usize = 40;

/// The report; styled, for a stream that drops styles where they are not wanted.
pub fn render(report: &Report) -> String {
    let mut out = summary(report);
    if !report.lines.is_empty() {
        let _ = write!(out, "\n{}", paths(report));
    }
    if report.lines.len() < report.distinct {
        let rest = report.distinct - report.lines.len();
        let _ = writeln!(
            out,
            "{DIM}… and {rest} more (--top {}){DIM:#}",
            report.distinct
        );
    }
    out
}

/// The table of paths, with details below each.
fn paths(report: &Report) -> Columns {
    use Align::{Left, Right};
    let mut table = Columns::new([Right, Right, Right, Right, Right, Left]);
    let way_of = "function, id and way";
    table.heading(
        BOLD,
        &["count", "paths", "instrs", "length", "blocks", way_of],
    );
    for line in &report.lines {
        let name = report.profile.name(line.func);
        table.row([
            grouped(line.count),
            percent(report.path_share(line)),
            percent(report.instruction_share(line)),
            line.instructions.to_string(),
            line.path.blocks.len().to_string(),
            format!("{NAME}{name}{NAME:#} #{} {}", line.id, way(line)),
        ]);
        for detail in details(report, line) {
            table.styled(DIM, [String::new(), detail]);
        }
    }
    table
}

/// What was profiled, and whether all of it.
fn summary(report: &Report) -> String {
    let (profile, manifest) = (report.profile, &report.profile.manifest);
    let mut by_status = [0usize; 3];
    for f in &report.functions {
        by_status[match profile.entry(*f).status {
            Status::Exact => 0,
            Status::Cut => 1,
            Status::Skipped(_) => 2,
        }] += 1;
    }
    let [exact, cut, skipped] = by_status;
    let ran = report
        .functions
        .iter()
        .filter(|f| profile.measured.distinct(**f) > 0)
        .count();
    let mut out = format!(
        "{BOLD}{} paths executed, {} distinct{BOLD:#}, in {ran} of {} functions: \
         {exact} exact, {cut} cut, {skipped} skipped ({}, {} copies)\n",
        grouped128(report.total_paths),
        grouped(report.distinct as u64),
        report.functions.len(),
        manifest.scheme,
        manifest.copies,
    );
    for f in &report.functions {
        if let Some(why) = why_not_exact(profile, *f) {
            let name = profile.name(*f);
            let _ = writeln!(out, "{WARN}{name}{why}{WARN:#}");
        }
    }
    if let Some(left) = left(report) {
        let _ = writeln!(out, "{WARN}{left}{WARN:#}");
    }
    if let Some(said) = profile.said() {
        let _ = writeln!(out, "{WARN}{}{WARN:#}", printable(&said));
    }
    out
}

/// Why and where function `f` is not exact, if it is not.
fn why_not_exact(profile: &Profile, f: FuncId) -> Option<String> {
    let entry = profile.entry(f);
    let files = &profile.manifest.files;
    match entry.status {
        Status::Exact => None,
        Status::Skipped(reason) => {
            let place = entry.loc.map(|loc| format!(" ({})", lines(files, &[loc])));
            let place = place.unwrap_or_default();
            Some(format!("{place}: skipped: {reason}"))
        }
        Status::Cut => {
            let cuts = cuts(profile, f);
            Some(format!(": more than 2^62 paths: they also end at {cuts}"))
        }
    }
}

/// How many edges are cut, and which places they leave: few of these, each once.
fn cuts(profile: &Profile, f: FuncId) -> String {
    let entry = profile.entry(f);
    let last = |edge: &CfgEdge| entry.spans(edge.block).next_back().map(|s| s.loc);
    let mut locs: Vec<Loc> = entry.cuts.iter().filter_map(last).collect();
    locs.sort_by_key(|loc| (loc.file, loc.line));
    locs.dedup();
    let mut places = items(&profile.manifest.files, &locs);
    let unknown = entry.cuts.iter().filter(|edge| last(edge).is_none());
    places.extend(unknown.map(|edge| format!("b{}", edge.block)));
    places.dedup();
    let more = places.len().saturating_sub(MAX_CUTS);
    places.truncate(MAX_CUTS);
    let (n, places) = (entry.cuts.len(), places.join(", "));
    let edges = if n == 1 { "edge" } else { "edges" };
    match more {
        0 => format!("{n} cut {edges}: {places}"),
        _ => format!("{n} cut {edges}: {places} and {more} more places"),
    }
}

/// The functions that were left before their end, those most often first.
fn left(report: &Report) -> Option<String> {
    let mut left = report.left.clone();
    left.sort_by_key(|&(f, n)| (Reverse(n), f));
    let name = |(f, n): &(FuncId, u64)| format!("{} {}", report.profile.name(*f), grouped(*n));
    let named: Vec<String> = left.iter().take(MAX_LEFT).map(name).collect();
    let more = match left.len() {
        0 => return None,
        1..=MAX_LEFT => String::new(),
        n => format!(" and {} more functions", n - MAX_LEFT),
    };
    Some(format!(
        "left before its end (exit, longjmp, an exception), on paths that are not counted: {}{more}",
        named.join(", ")
    ))
}

/// How a path begins and ends.
fn way(line: &Line) -> String {
    let from = match line.path.start {
        PathStart::Entry => "entry".to_string(),
        PathStart::Loop => format!("loop b{}", line.path.blocks[0]),
    };
    match line.path.end {
        PathEnd::Exit => format!("{from} → exit"),
        PathEnd::Back(_, to) => format!("{from} → back to b{to}"),
    }
}

fn details(report: &Report, line: &Line) -> Vec<String> {
    let blocks: Vec<String> = line.path.blocks.iter().map(|b| format!("b{b}")).collect();
    let mut details = vec![if line.locs.is_empty() {
        shortened(&blocks, "→")
    } else {
        lines(&report.profile.manifest.files, &line.locs)
    }];
    if !line.decisions.is_empty() {
        details.push(decisions(line, place));
    }
    details
}

/// The name of a source file without its folders, as it is printed.
pub fn short(file: &str) -> Cow<'_, str> {
    printable(file.rsplit('/').next().unwrap_or(file))
}

/// Source positions as `file.c:12→14→20`; where the file changes it is named again.
pub fn lines(files: &[String], locs: &[Loc]) -> String {
    shortened(&items(files, locs), "→")
}

/// Each source position with its file's name, unless the one before has the same.
fn items(files: &[String], locs: &[Loc]) -> Vec<String> {
    let mut items = Vec::new();
    let mut current = None;
    for loc in locs {
        if current == Some(loc.file) {
            items.push(loc.line.to_string());
        } else {
            current = Some(loc.file);
            items.push(format!("{}:{}", short(&files[loc.file as usize]), loc.line));
        }
    }
    items
}

/// The decisions as `13 true, 18 false`.
pub fn decisions(line: &Line, place: impl Fn(&Decision) -> String) -> String {
    let item = |d: &Decision| format!("{} {}", place(d), d.taken);
    shortened(&line.decisions.iter().map(item).collect::<Vec<_>>(), ", ")
}

/// Where a decision is: its line, or its block.
pub fn place(decision: &Decision) -> String {
    match decision.line {
        Some(line) => line.to_string(),
        None => format!("b{}", decision.block),
    }
}

/// Joins items with `separator`; of very many the middle is left out, and said so.
pub fn shortened(items: &[String], separator: &str) -> String {
    if items.len() <= MAX_ITEMS {
        return items.join(separator);
    }
    let half = MAX_ITEMS / 2;
    let middle = format!("…({} more)…", items.len() - 2 * half);
    let (first, last) = (&items[..half], &items[items.len() - half..]);
    [first.join(separator), middle, last.join(separator)].join(separator)
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// A number with its digits in groups of three.
pub fn grouped(n: u64) -> String {
    grouped128(u128::from(n))
}

/// The same for larger ones.
pub fn grouped128(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_very_many() {
        let items: Vec<String> = (1..=43).map(|n| n.to_string()).collect();
        assert!(!shortened(&items[..40], " ").contains('…'));
        let shown = shortened(&items, " ");
        assert!(shown.ends_with(
            " 19 20 …(3 more)… 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43"
        ));
        assert!(shown.starts_with("1 2 3 "), "{shown}");
    }
}
