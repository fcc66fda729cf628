//! `show` for people.

use super::words::{Place, Said, Words, chain, phrases};
use super::{Line, Report};
use crate::dag::{PathEnd, PathStart};
use crate::index::{CfgEdge, FuncId};
use crate::ir::Loc;
use crate::manifest::Status;
use crate::names::{printable, readable};
use crate::profile::Profile;
use crate::table::{Align, Columns, Layout, exactly, glued, grouped, percent, wrapped};
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt::Write;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const WARN: Style = AnsiColor::Yellow.on_default();
/// The report names at most this many functions that were left before their end.
const MAX_LEFT: usize = 5;
/// The report names at most this many places of a function's cut edges.
const MAX_CUTS: usize = 5;
/// A path shows at most this many source lines and decisions.
const MAX_ITEMS: usize = 40;

/// The report; styled, for a stream that drops styles where they are not wanted.
pub fn render(report: &Report, layout: Layout) -> String {
    let mut out = summary(report, layout);
    if !report.lines.is_empty() {
        let _ = write!(out, "\n{}", paths(report).render(layout));
    }
    if report.lines.len() < report.distinct {
        let rest = exactly((report.distinct - report.lines.len()) as u64);
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
    let some = report.functions.len() < report.profile.manifest.functions.len();
    let mut aligns = vec![Right; 5 + usize::from(some)];
    aligns.push(Left);
    let mut table = Columns::new(aligns);
    let mut heading = vec!["count", "paths", "instrs", "length", "blocks"];
    if some {
        heading.insert(1, "of it");
    }
    heading.push("function, id and way");
    table.heading(BOLD, &heading);
    for line in &report.lines {
        let mut cells = vec![
            grouped(line.count),
            percent(report.path_share(line)),
            percent(report.instruction_share(line)),
            exactly(line.instructions),
            exactly(line.path.blocks.len() as u64),
        ];
        if some {
            cells.insert(1, percent(report.share_of_function(line)));
        }
        let way = format!(" #{} {}", line.id, way(line));
        table.named(cells, report.profile.name(line.func), way);
        for detail in details(report.words(), line) {
            table.note(1, DIM, detail);
        }
    }
    table
}

/// What was profiled, and whether all of it.
fn summary(report: &Report, layout: Layout) -> String {
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
    let functions = report.functions.iter();
    let ran = functions.filter(|f| profile.measured.distinct(**f) > 0);
    let (paths, _) = report.selected();
    let mut out = format!(
        "{BOLD}{} paths executed, {} distinct{BOLD:#}, in {} of {} functions: \
         {exact} exact, {cut} cut, {skipped} skipped ({}, {} copies)\n",
        exactly(paths),
        exactly(report.distinct as u64),
        ran.count(),
        report.functions.len(),
        manifest.scheme,
        manifest.copies,
    );
    if report.functions.len() < manifest.functions.len() {
        out += &of_program(report);
    }
    let mut warnings = Vec::new();
    for f in &report.functions {
        let why = why_not_exact(profile, *f);
        warnings.extend(why.map(|why| format!("{}{why}", profile.name(*f))));
    }
    warnings.extend(left(report));
    warnings.extend(branchless(report));
    warnings.extend(profile.said().map(|said| printable(&said).into_owned()));
    for warning in warnings {
        for line in wrapped(&warning, layout.width, 0).lines() {
            let _ = writeln!(out, "{WARN}{line}{WARN:#}");
        }
    }
    out
}

/// What the selected functions are of the program.
fn of_program(report: &Report) -> String {
    let (paths, instructions) = report.selected();
    let share = |part: u128, all: u128| percent(part as f64 / all.max(1) as f64);
    format!(
        "{} of the program's {} paths ({} distinct), {} of its instructions\n",
        share(paths, report.total_paths),
        exactly(report.total_paths),
        exactly(report.total_distinct as u64),
        share(instructions, report.total_instructions),
    )
}

/// Of a few functions that are asked for: which conditions have no branch, so that no path tells their outcome.
fn branchless(report: &Report) -> Option<String> {
    if report.functions.len() == report.profile.manifest.functions.len() {
        return None;
    }
    let sites = |f: &FuncId| report.profile.entry(*f).branchless_sites().map(|s| s.loc);
    let mut locs: Vec<Loc> = report.functions.iter().flat_map(sites).collect();
    let n = locs.len();
    locs.sort();
    locs.dedup();
    let mut places = items(&report.profile.manifest.files, &locs);
    let more = places.len().saturating_sub(MAX_CUTS);
    places.truncate(MAX_CUTS);
    let more = if more > 0 {
        format!(" and {more} more lines")
    } else {
        String::new()
    };
    (n > 0).then(|| {
        format!(
            "{} without a branch, so in no path (select, or joined conditions; fewer at -O1, none at -O0): {}{more}",
            if n == 1 { "1 condition".into() } else { format!("{n} conditions") },
            places.join(", ")
        )
    })
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
pub fn way(line: &Line) -> String {
    let from = match line.path.start {
        PathStart::Entry => "entry".to_string(),
        PathStart::Loop => format!("loop b{}", line.path.blocks[0]),
    };
    match line.path.end {
        PathEnd::Exit => format!("{from} → exit"),
        PathEnd::Back(_, to) => format!("{from} → back to b{to}"),
    }
}

/// Where a path runs, and what is decided on it, if anything is.
pub fn details(words: Words, line: &Line) -> Vec<String> {
    let mut details = vec![trail(words, line)];
    let told = phrases_of(words.profile(), line, &words.of(line));
    if !told.is_empty() {
        details.push(together(&told));
    }
    details
}

/// Decisions in a list that is broken between them.
pub fn together(phrases: &[String]) -> String {
    let glued: Vec<String> = phrases.iter().map(|p| glued(p)).collect();
    shortened(&glued, ", ")
}

/// The decisions of a path in a text.
pub fn phrases_of(profile: &Profile, line: &Line, said: &[Said]) -> Vec<String> {
    let name = readable(&profile.entry(line.func).name);
    phrases(said, &name, Place::of(profile, line.func))
}

/// The lines that a path runs through, those of inlined functions in braces: `f.c:12→{g ← f 3→4}→13`. Without debug information
/// its blocks.
pub fn trail(words: Words, line: &Line) -> String {
    if line.locs.is_empty() {
        let blocks: Vec<String> = line.path.blocks.iter().map(|b| format!("b{b}")).collect();
        return shortened(&blocks, "→");
    }
    let files = &words.profile().manifest.files;
    let own = readable(&words.profile().entry(line.func).name).into_owned();
    let mut items = items(files, &line.locs);
    let ids = line.inlined.iter().copied();
    let mut before = None;
    for (i, inlined) in ids.enumerate() {
        if inlined != before {
            if before.is_some() {
                items[i - 1].push('}');
            }
            if inlined.is_some() {
                let names = chain(&words.inlined(inlined), &own);
                items[i] = format!("{{{names} {}", items[i]);
            }
        }
        before = inlined;
    }
    if before.is_some() {
        items.last_mut().expect("there are lines").push('}');
    }
    shortened(&items, "→")
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
