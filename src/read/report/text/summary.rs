//! What was profiled, and whether all of it: the head of the report.

use crate::base::index::{CfgEdge, FuncId};
use crate::base::names::{NAMED_FUNCTIONS, escape_unprintable};
use crate::base::style::{BOLD, WARN};
use crate::base::table::{
    Layout, exact_number_of, group_all_digits, group_digits, number_of, percent, wrap_words,
};
use crate::copies::strategy::Scheme;
use crate::input::ir::{Loc, SkipReason};
use crate::profile::Profile;
use crate::profile::manifest::Status;
use crate::read::report::Report;
use crate::read::report::positions::{join_positions, name_positions};
use crate::read::report::steps::Steps;
use std::cmp::Reverse;
use std::fmt::Write;
/// The report names at most this many places of a function's cut edges.
const MAX_CUTS: usize = 5;
/// What was profiled, and whether all of it.
pub(super) fn summarise(report: &Report, steps: &Steps, layout: Layout) -> String {
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
    let ran = functions.filter(|f| profile.measured.count_known_to_run(**f) > 0);
    let (paths, _) = report.sum_selected();
    let is_least = |f: &FuncId| !profile.entry(*f).at_least.is_empty();
    let bound = if report.functions.iter().any(is_least) {
        "at least "
    } else {
        ""
    };
    let first = format!(
        "{bound}{} executed, {} distinct",
        exact_number_of(paths, "path"),
        group_all_digits(report.distinct as u64),
    );
    let how = if manifest.united.is_empty() {
        let copies = number_of(manifest.copies, "copy");
        format!("{}, {copies}", manifest.scheme)
    } else {
        let united = manifest.united.iter().map(Scheme::to_string);
        format!("union of {}", united.collect::<Vec<_>>().join(", "))
    };
    // Of a part of the paths, "all exact" would be read as a statement about the whole function.
    let status = if profile.is_partial() {
        String::new()
    } else if cut + skipped == 0 {
        let verdict = &profile.verdict;
        let how = match (verdict.has_contradictions(), verdict.is_ok()) {
            (true, _) => "not exact",
            (_, true) => "all exact",
            _ => "incomplete",
        };
        format!(", {how}")
    } else {
        let some = [(exact, "exact"), (cut, "cut"), (skipped, "skipped")].into_iter();
        let some = some.filter(|(n, _)| *n > 0);
        let some: Vec<String> = some
            .map(|(n, status)| format!("{} {status}", group_all_digits(n as u64)))
            .collect();
        format!(": {}", some.join(", "))
    };
    let unselected = profile.unselected_functions();
    let unselected = unselected.filter(|f| report.functions.binary_search(f).is_ok());
    let (all, known) = match unselected.count() {
        0 => (report.functions.len(), ""),
        n => (report.functions.len() - n, " with selected paths"),
    };
    let behind = format!(
        ", in {} of {}{known}{status} ({how})",
        group_digits(ran.count() as u64),
        number_of(all as u64, "function"),
    );
    let lines = wrap_words(&format!("{first}{behind}"), layout.width, 0);
    let mut out = lines.replacen(&first, &format!("{BOLD}{first}{BOLD:#}"), 1) + "\n";
    if report.functions.len() < manifest.functions.len() {
        let of_program = wrap_words(&describe_program(report), layout.width, 0);
        let _ = writeln!(out, "{of_program}");
    }
    let mut warnings = list_inexact(report, steps, layout.full);
    warnings.extend(list_abandoned(report, steps, layout.full));
    warnings.extend(branchless(report));
    warnings.extend(without_lines(report));
    warnings.extend(
        profile
            .said_selection()
            .map(|said| escape_unprintable(&said).into_owned()),
    );
    warnings.extend(
        profile
            .problem_line()
            .map(|said| escape_unprintable(&said).into_owned()),
    );
    for warning in warnings {
        for line in wrap_words(&warning, layout.width, 0).lines() {
            let _ = writeln!(out, "{WARN}{line}{WARN:#}");
        }
    }
    out
}

/// What the selected functions are of the program.
fn describe_program(report: &Report) -> String {
    let (paths, instructions) = report.sum_selected();
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
        group_all_digits(report.total_distinct as u64),
        share(instructions, report.total_instructions),
    )
}

/// That nothing has a line in the source, if that is so.
fn without_lines(report: &Report) -> Option<String> {
    let known = |f: &FuncId| report.profile.entry(*f).find_start().is_some();
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
    let mut places = name_positions(&report.profile.manifest.files, &locs);
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
        let mut functions = report.functions.iter();
        let is_optimised = functions.any(|f| report.profile.entry(*f).optimised.is_optimised());
        let remedy = if is_optimised {
            " (-O0 has fewest)"
        } else {
            ""
        };
        format!(
            "{} {became}, so paths do not show {its}{remedy}: {}{more}",
            number_of(n as u64, "condition"),
            places.join(", ")
        )
    })
}

/// Which functions are not exact and why: one line for those that the user excluded, one for each of the first
/// [`NAMED_FUNCTIONS`] others, and the number of the rest. `full`: a line for each of all.
fn list_inexact(report: &Report, steps: &Steps, full: bool) -> Vec<String> {
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
            let place = entry
                .loc
                .map(|loc| format!(" ({})", join_positions(files, &[loc])));
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
    let mut places = name_positions(&profile.manifest.files, &locs);
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
    let name = |(f, n): &(FuncId, u64)| format!("{} {}", steps.name(*f), group_digits(*n));
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
