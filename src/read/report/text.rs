//! `show` for people.

use super::loops;
use super::outside;
use super::steps::{self, Steps};
use super::time;
use super::{Line, Report};
use crate::base::index::{CfgEdge, FuncId};
use crate::base::names::{Beside, NAMED_FUNCTIONS, fitted_among, printable};
use crate::base::table::{
    Align, Columns, Layout, cut, display_width, exact_number_of, exactly, grouped, number_of,
    percent, plural, roughly, wrapped,
};
use crate::copies::strategy::Scheme;
use crate::input::ir::{Loc, SkipReason};
use crate::profile::Profile;
use crate::profile::manifest::Status;
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

pub(super) const BOLD: Style = Style::new().bold();
const NAME: Style = AnsiColor::Cyan.on_default();
pub(super) const DIM: Style = Style::new().dimmed();
const WARN: Style = AnsiColor::Yellow.on_default();
/// The report names at most this many places of a function's cut edges.
const MAX_CUTS: usize = 5;
/// A path shows at most this many source lines and decisions.
const MAX_ITEMS: usize = 40;

/// Without other wishes, so many functions come before the paths.
const FUNCTIONS: usize = 5;
/// The name in a headline is not made narrower.
pub(super) const NARROWEST_NAME: usize = 8;
/// Where steps stand below the headline of a path.
const INDENT: usize = 8;
/// Narrower tables have a column less, and still narrower ones two.
pub(super) const WIDE: usize = 80;
const NARROW: usize = 56;

/// What the report is made up of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Functions, then paths.
    #[default]
    Both,
    /// Functions alone.
    Function,
    /// Source files.
    File,
    /// Loops.
    Loop,
    /// Paths alone.
    Path,
}

/// The report; styled, for a stream that drops styles where they are not wanted.
pub fn render(report: &Report, by: By, layout: Layout) -> String {
    let steps = Steps::new(report.profile, &report.sources, layout.full);
    let mut out = summary(report, &steps, layout);
    let top = report.lines.len();
    match by {
        By::Both => {
            out += &functions(report, &steps, FUNCTIONS, by, layout);
            out += &paths(report, &steps, layout);
        }
        By::Function => out += &functions(report, &steps, top, by, layout),
        By::File => out += &files(report, top, layout),
        By::Loop => out += &loops::text(report, &steps, top, layout),
        By::Path => out += &paths(report, &steps, layout),
    }
    out
}

/// The hottest paths, each with its steps below.
fn paths(report: &Report, steps: &Steps, layout: Layout) -> String {
    if report.lines.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{BOLD}hottest paths, by share of instructions{BOLD:#}\n");
    let count = |l: &Line| display_width(&grouped(l.count));
    let counts = report.lines.iter().map(count).max().unwrap_or(0);
    let length = |l: &Line| display_width(&grouped(l.instructions));
    let lengths = report.lines.iter().map(length).max().unwrap_or(0);
    let runs_at_least = |l: &Line| report.profile.runs_at_least(l.func, l.id);
    let is_any_least = report.lines.iter().any(runs_at_least);
    let numbers = |i: usize, line: &Line, time: &str| {
        let least = match (is_any_least, runs_at_least(line)) {
            (false, _) => "",
            (true, false) => "  ",
            (true, true) => "≥ ",
        };
        format!(
            "{:>2} {:>7}{time}  {least}{:>counts$} ×  {:>lengths$} {:<6}  ",
            i + 1,
            percent(report.instruction_share(line)),
            grouped(line.count),
            grouped(line.instructions),
            plural(line.instructions, "instr"),
        )
    };
    let times = time::expected(report, layout);
    let fits = |(i, line): (usize, &Line)| {
        time::least(&numbers(i, line, &times[i]), steps, line) <= layout.width
    };
    let times_fit = report.lines.iter().enumerate().all(fits);
    let rows = steps.rows_of_each(report.lines.iter().map(|line| (line, None)));
    for (i, line) in report.lines.iter().enumerate() {
        let time = if times_fit { &times[i] } else { "" };
        out += &headline(&numbers(i, line, time), steps, line, layout);
        if !times_fit && !times[i].is_empty() {
            let share = times[i].trim().trim_end_matches(" of time");
            let _ = writeln!(out, "{:INDENT$}{share} of time", "");
        }
        for step in steps::text(&rows[i], layout, INDENT) {
            let _ = writeln!(out, "{DIM}{step}{DIM:#}");
        }
    }
    if report.lines.len() < report.distinct {
        let rest = exactly((report.distinct - report.lines.len()) as u64);
        let all = report.distinct;
        let _ = writeln!(out, "{DIM}… and {rest} more (--top {all}){DIM:#}");
    }
    out
}

/// Numbers, the function's name, where the path begins, and its id at the right margin. Where that is too much for a
/// line, the function stands on one of its own below.
pub fn headline(numbers: &str, steps: &Steps, line: &Line, layout: Layout) -> String {
    let profile = steps.words().profile();
    let is_known = profile.is_known(line.func, line.id);
    let known = if is_known { "known " } else { "" };
    let (name, id) = (steps.name(line.func), format!("{known}#{}", line.id));
    let starts = [steps.start(line), steps.start_in_short(line)];
    let width = |start: &str, name: usize| name + display_width(start) + display_width(&id) + 1;
    let least = display_width(&name).min(NARROWEST_NAME);
    let room = layout.width.saturating_sub(display_width(numbers));
    let whole = [display_width(&name), least];
    let fitting = |room: usize| {
        let all = whole
            .iter()
            .flat_map(|n| starts.iter().map(move |start| (n, start)));
        let mut all = all.filter(|(n, start)| width(start, **n) <= room);
        all.next().map(|(_, start)| start)
    };
    if layout.full {
        return in_a_row(numbers, &name, steps, &starts[0], &id, layout);
    }
    if let Some(start) = fitting(room) {
        return in_a_row(numbers, &name, steps, start, &id, layout);
    }
    let numbers = cut(numbers.trim_end(), layout.width);
    let room = layout.width.saturating_sub(INDENT);
    let shortest = cut(&starts[1], room.saturating_sub(width("", least)));
    let start = fitting(room).unwrap_or(&shortest);
    let below = in_a_row(&" ".repeat(INDENT), &name, steps, start, &id, layout);
    format!("{numbers}\n{below}")
}

/// Names of functions, one a line, of which the first `top` are shown; none is wider than the layout.
pub fn name_lines(names: &[String], top: usize, layout: Layout) -> String {
    let room = layout.width.saturating_sub(2);
    let beside = Beside::new(names.to_vec());
    let line = |name: &String| {
        let fit = if layout.full {
            name.clone()
        } else {
            beside.fit(name, room)
        };
        format!("  {fit}\n")
    };
    names.iter().take(top).map(line).collect()
}

fn in_a_row(
    numbers: &str,
    name: &str,
    steps: &Steps,
    start: &str,
    id: &str,
    layout: Layout,
) -> String {
    let taken: usize = [numbers, start, id].into_iter().map(display_width).sum();
    let room = layout.width.saturating_sub(taken + 1);
    let name = if layout.full {
        name.to_string()
    } else {
        let others = steps.function_names();
        fitted_among(name, others.iter().map(String::as_str), room)
    };
    let gap = " ".repeat(room.saturating_sub(display_width(&name)) + 1);
    format!("{numbers}{NAME}{name}{NAME:#}{start}{gap}{DIM}{id}{DIM:#}\n")
}

/// How many of `all` columns of numbers there is room for.
pub(super) fn columns_for(layout: Layout, all: usize) -> usize {
    match layout.width {
        0..NARROW => all - 2,
        NARROW..WIDE => all - 1,
        _ => all,
    }
}

/// Functions by the instructions that were executed in them.
fn functions(report: &Report, steps: &Steps, top: usize, by: By, layout: Layout) -> String {
    use Align::{Left, Right};
    if let Some(time) = &report.time {
        return time::functions(report, time, steps, top, by, layout);
    }
    let ran = |f: &&FuncId| report.by_function.contains_key(f);
    let mut functions: Vec<FuncId> = report.functions.iter().filter(ran).copied().collect();
    functions.sort_by_key(|f| (Reverse(report.by_function[f].instructions), *f));
    if functions.is_empty() {
        return String::new();
    }
    let kept = columns_for(layout, 4);
    let aligns = [Right].repeat(kept).into_iter().chain([Left]);
    let mut table = Columns::new(aligns.collect::<Vec<_>>());
    let heading = ["share", "calls", "paths", "possible"];
    let heading = heading[..kept].iter().copied().chain(["function"]);
    table.heading(BOLD, &heading.collect::<Vec<_>>());
    for &f in functions.iter().take(top) {
        let cells = figures(report, f)[..kept].to_vec();
        table.named(cells, steps.name(f), place(report, f));
    }
    if functions.len() > top {
        let more = number_of((functions.len() - top) as u64, "more function");
        let how = option_for_all(by, functions.len());
        table.note(0, DIM, format!("… and {more} ({how})"));
    }
    if let Some(left) = outside::sentence(report, steps) {
        table.note(0, DIM, left);
    }
    format!("\n{}", table.render(layout))
}

/// The option that lists all `number` functions.
pub(super) fn option_for_all(by: By, number: usize) -> String {
    match by {
        By::Function => format!("--top {number}"),
        _ => "--by function".into(),
    }
}

/// What a row of the table has of function `f`: its share of instructions, calls, paths, possible paths.
pub(super) fn figures(report: &Report, f: FuncId) -> [String; 4] {
    let totals = report.by_function.get(&f).copied().unwrap_or_default();
    let at_least = if totals.is_partial { "≥" } else { "" };
    [
        percent(totals.instructions as f64 / report.total_instructions.max(1) as f64),
        format!("{at_least}{}", grouped(totals.calls)),
        grouped(totals.distinct as u64),
        roughly(totals.possible),
    ]
}

/// Where a function begins.
pub(super) fn place(report: &Report, f: FuncId) -> String {
    let place = report.profile.entry(f).begins();
    let place = place.map(|loc| format!("  {}", lines(&report.profile.manifest.files, &[loc])));
    place.unwrap_or_default()
}

/// Source files by the instructions that were executed in functions that begin there.
fn files(report: &Report, top: usize, layout: Layout) -> String {
    use Align::{Left, Right};
    let mut files: BTreeMap<&str, (u128, usize)> = BTreeMap::new();
    for (f, totals) in &report.by_function {
        if !report.functions.contains(f) {
            continue;
        }
        let begins = report.profile.entry(*f).begins();
        let file = begins.map(|l| report.profile.manifest.files[l.file as usize].as_str());
        let of = files
            .entry(file.unwrap_or("(no line numbers)"))
            .or_default();
        *of = (of.0 + totals.instructions, of.1 + 1);
    }
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|&(name, (instructions, _))| (Reverse(instructions), name));
    let mut table = Columns::new([Right, Right, Left]);
    table.heading(BOLD, &["share", "functions", "file"]);
    for (name, (instructions, functions)) in files.iter().take(top) {
        let share = *instructions as f64 / report.total_instructions.max(1) as f64;
        let cells = [percent(share), exactly(*functions as u64)];
        table.file_list(cells, printable(name).into_owned(), String::new());
    }
    format!("\n{}", table.render(layout))
}

/// What was profiled, and whether all of it.
fn summary(report: &Report, steps: &Steps, layout: Layout) -> String {
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
    let is_least = |f: &FuncId| !profile.entry(*f).at_least.is_empty();
    let bound = if report.functions.iter().any(is_least) {
        "at least "
    } else {
        ""
    };
    let first = format!(
        "{bound}{} executed, {} distinct",
        exact_number_of(paths, "path"),
        exactly(report.distinct as u64),
    );
    let how = if manifest.united.is_empty() {
        let copies = number_of(manifest.copies, "copy");
        format!("{}, {copies}", manifest.scheme)
    } else {
        let united = manifest.united.iter().map(Scheme::to_string);
        format!("union of {}", united.collect::<Vec<_>>().join(", "))
    };
    let status = if profile.is_partial() {
        String::new()
    } else if cut + skipped == 0 {
        let verdict = &profile.verdict;
        let how = match (verdict.found(), verdict.is_ok()) {
            (true, _) => "not exact",
            (_, true) => "all exact",
            _ => "incomplete",
        };
        format!(", {how}")
    } else {
        let some = [(exact, "exact"), (cut, "cut"), (skipped, "skipped")].into_iter();
        let some = some.filter(|(n, _)| *n > 0);
        let some: Vec<String> = some
            .map(|(n, status)| format!("{} {status}", exactly(n as u64)))
            .collect();
        format!(": {}", some.join(", "))
    };
    let unselected = profile.unselected();
    let unselected = unselected.filter(|f| report.functions.binary_search(f).is_ok());
    let (all, known) = match unselected.count() {
        0 => (report.functions.len(), ""),
        n => (report.functions.len() - n, " with selected paths"),
    };
    let behind = format!(
        ", in {} of {}{known}{status} ({how})",
        grouped(ran.count() as u64),
        number_of(all as u64, "function"),
    );
    let lines = wrapped(&format!("{first}{behind}"), layout.width, 0);
    let mut out = lines.replacen(&first, &format!("{BOLD}{first}{BOLD:#}"), 1) + "\n";
    if report.functions.len() < manifest.functions.len() {
        let of_program = wrapped(&of_program(report), layout.width, 0);
        let _ = writeln!(out, "{of_program}");
    }
    let mut warnings = inexact(report, steps, layout.full);
    warnings.extend(list_abandoned(report, steps, layout.full));
    warnings.extend(branchless(report));
    warnings.extend(without_lines(report));
    warnings.extend(
        profile
            .said_selection()
            .map(|said| printable(&said).into_owned()),
    );
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
    // Of a selection, the program ran other paths besides, which nobody counted.
    let all = |noun| exact_number_of(report.total_paths, noun);
    let (paths_of, instructions_of) = if report.profile.is_partial() {
        (
            format!("the {}", all("counted path")),
            "of the instructions on them",
        )
    } else {
        (
            format!("the program's {}", all("path")),
            "of its instructions",
        )
    };
    format!(
        "{} of {paths_of} ({} distinct), {} {instructions_of}",
        share(paths, report.total_paths),
        exactly(report.total_distinct as u64),
        share(instructions, report.total_instructions),
    )
}

/// That nothing has a line in the source, if that is so.
fn without_lines(report: &Report) -> Option<String> {
    let known = |f: &FuncId| report.profile.entry(*f).begins().is_some();
    let ran = || report.by_function.keys();
    (ran().next().is_some() && !ran().any(known)).then(|| {
        "no line numbers: steps name blocks (b0, b1, …); compile with -g or -gline-tables-only"
            .into()
    })
}

/// Of a few functions that are asked for: which conditions have no branch, so that no path tells their outcome.
fn branchless(report: &Report) -> Option<String> {
    if !report.are_asked_for {
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
    let more = match more {
        0 => String::new(),
        n => format!(" and {}", number_of(n as u64, "more line")),
    };
    (n > 0).then(|| {
        let (became, its) = match n {
            1 => ("became a value and not a branch", "its outcome"),
            _ => ("became values and not branches", "their outcomes"),
        };
        format!(
            "{} {became}, so paths do not show {its} (-O0 has fewest): {}{more}",
            number_of(n as u64, "condition"),
            places.join(", ")
        )
    })
}

/// Which functions are not exact and why: one line for those that the user excluded, one for each of the first
/// [`NAMED_FUNCTIONS`] others, and the number of the rest. `full`: a line for each of all.
fn inexact(report: &Report, steps: &Steps, full: bool) -> Vec<String> {
    let profile = report.profile;
    let is_excluded =
        |f: &FuncId| profile.entry(*f).status == Status::Skipped(SkipReason::Excluded);
    let excluded = report.functions.iter().filter(|f| is_excluded(f)).count();
    let summed_up = excluded > 1 && !full;
    let functions = report.functions.iter();
    let functions = functions.filter(|f| !(summed_up && is_excluded(f)));
    let line = |f: &FuncId| Some(format!("{}{}", steps.name(*f), why_not_exact(profile, *f)?));
    let mut lines: Vec<String> = functions.filter_map(line).collect();
    let more = lines.len().saturating_sub(NAMED_FUNCTIONS);
    if more > 0 && !full {
        lines.truncate(NAMED_FUNCTIONS);
        let more = number_of(more as u64, "more function");
        lines.push(format!("… and {more} cut or skipped (--full lists all)"));
    }
    if summed_up {
        lines.push(format!(
            "{} are skipped: {} (--full lists them)",
            number_of(excluded as u64, "function"),
            SkipReason::Excluded
        ));
    }
    lines
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
            Some(format!(
                ": more than 2^62 paths, so they also end at {cuts}"
            ))
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
    let edges = number_of(entry.cuts.len() as u64, "cut edge");
    let places = places.join(", ");
    match more {
        0 => format!("{edges}: {places}"),
        n => format!(
            "{edges}: {places} and {}",
            number_of(n as u64, "more place")
        ),
    }
}

/// The functions that were left before their end, those most often first; `full`: all.
fn list_abandoned(report: &Report, steps: &Steps, full: bool) -> Option<String> {
    let mut left = report.left.clone();
    left.sort_by_key(|&(f, n)| (Reverse(n), f));
    let name = |(f, n): &(FuncId, u64)| format!("{} {}", steps.name(*f), grouped(*n));
    let most = if full { left.len() } else { NAMED_FUNCTIONS };
    let named: Vec<String> = left.iter().take(most).map(name).collect();
    let more = match left.len().saturating_sub(most) {
        _ if left.is_empty() => return None,
        0 => String::new(),
        n => {
            let more = number_of(n as u64, "more function");
            format!(" and {more} (--full lists all)")
        }
    };
    Some(format!(
        "left before its end (exit, longjmp, an exception), on paths that are not counted: {}{more}",
        named.join(", ")
    ))
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
