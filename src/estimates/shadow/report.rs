//! Bursts for people and programs.

use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::base::names::escape_unprintable;
use crate::base::style::{BOLD, DIM, WARN};
use crate::base::table::{
    self, Align, Columns, Layout, group_digits, number_of, percent, wrap_words,
};
use crate::estimates::data::Estimate;
use crate::estimates::data::bursts::Bursts;
use crate::estimates::shadow::calls::{call_name, describe_treatment};
use crate::estimates::shadow::profile::BurstProfile;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::measurement::{Exact, Measurement};
use crate::read::report::Report;
use crate::read::report::steps::Steps;
use crate::read::source::Sources;
use crate::runtime::format;
use serde_json::json;
use std::fmt::Write;

/// Steps stand behind the column of shares.
const NARROWER: usize = 10;

/// Why a burst ended, in words; those with a number of their own are in [`describe_end`].
const ENDS: [(u32, &str); 10] = [
    (format::END_BURST, "it was over"),
    (format::END_TIME, "it took too long"),
    (format::END_LOCK, "it waited for a lock"),
    (format::END_EXIT, "the thread or program ended in it"),
    (format::END_PARENT, "the program ended"),
    (format::END_SHARED, "shared memory that cannot be copied"),
    (format::END_MEMORY, "no memory"),
    (format::END_TEXT, "the code cannot be written"),
    (format::END_FILTER, "system calls cannot be filtered"),
    (
        format::END_JUMP,
        "it jumped to an address that several blocks have",
    ),
];

/// Why a burst ended, in words: `why` is one of `format::END_*`, and `detail` its signal or system call.
pub(crate) fn describe_end(why: u32, detail: u32) -> String {
    match why {
        format::END_CALL => format!("system call {}", call_name(detail)),
        format::END_SIGNAL => format!("signal {detail}"),
        _ => {
            let known = ENDS.iter().find(|(end, _)| *end == why);
            known.map_or(ENDS[ENDS.len() - 1], |end| *end).1.into()
        }
    }
}

/// A profile of as many executions as were counted in bursts, as if that were all that ran: what reports are made from.
fn counted_profile(of: BurstProfile) -> Profile {
    Profile {
        measured: Measurement::Exact(Exact::Paths(of.bursts.expected_counts())),
        ..of.profile.clone()
    }
}

/// The paths with the largest shares, with conditions quoted from `sources`.
///
/// # Errors
/// A damaged profile.
pub(crate) fn text(
    of: BurstProfile,
    selection: &Selection,
    sources: Sources,
    layout: Layout,
) -> Result<String> {
    let counted = counted_profile(of);
    let report = Report::new(counted.paths()?, selection)?.with_sources(sources);
    let lines = summary(of, report.distinct);
    let lines = lines.lines().map(|l| wrap_words(l, layout.width, 0) + "\n");
    let mut out: String = lines.collect();
    let mut table = Columns::new([
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Left,
    ]);
    table.heading(
        BOLD,
        &["share", "±", "count", "bursts", "function, start and id"],
    );
    let steps = Steps::new(report.profile, &report.sources, layout.full);
    let inner = Layout {
        width: layout.width.saturating_sub(NARROWER),
        ..layout
    };
    for line in &report.lines {
        let path = of.bursts.find_path(line.func, line.id);
        let share = of.bursts.share(path);
        let cells = [
            percent(share.count),
            percent(share.half_width),
            group_digits(path.count),
            group_digits(path.bursts),
        ];
        let rest = format!("{} #{}", steps.start(line), line.id);
        table.add_named_row(cells, steps.name(line.func), rest);
        for step in steps.lines(line, inner, 0) {
            table.add_text(1, DIM, step);
        }
    }
    if !report.lines.is_empty() {
        let _ = write!(out, "\n{}", table.render(layout));
    }
    Ok(out)
}

fn summary(of: BurstProfile, distinct: usize) -> String {
    let b = of.bursts;
    let mut out = format!(
        "{BOLD}{} of {}, {}, {} distinct{BOLD:#}, {} ({}); shares are estimates, ± holds 95 %\n",
        number_of(b.number(), "burst"),
        number_of(b.shadows.started, "shadow"),
        number_of(b.paths, "path"),
        group_digits(distinct as u64),
        number_of(b.instructions, "instruction"),
        of.profile.manifest.scheme,
    );
    if b.counting < 2 {
        let _ = writeln!(
            out,
            "{WARN}too few bursts to say anything: run longer, or more often{WARN:#}"
        );
    }
    for said in describe_unsampled(b) {
        let _ = writeln!(out, "{WARN}{said}{WARN:#}");
    }
    if let Some(said) = of.profile.problem_line() {
        let _ = writeln!(out, "{WARN}{}{WARN:#}", escape_unprintable(&said));
    }
    out
}

/// What of the program had no shadows, and why.
fn describe_unsampled(b: &Bursts) -> Vec<String> {
    let processes = |n| number_of(n, "process");
    let mut all = Vec::new();
    if b.filtered > 0 {
        all.push(format!(
            "nothing is known of what ran behind a filter of system calls (seccomp): shadows of {} ended there",
            processes(b.filtered)
        ));
    }
    if b.signal_taken > 0 {
        all.push(format!(
            "shadows of {} ended where the program came to use the signal of their timer: choose another signal, like \
             P3_SHADOW=signal=40",
            processes(b.signal_taken)
        ));
    }
    if b.shadows.started == 0 && b.shadows.not_forked > 0 {
        all.push(format!(
            "no shadow could be forked ({} failed): there are limits of processes, or filters of system calls",
            number_of(b.shadows.not_forked, "fork")
        ));
    }
    all
}

/// What became of shadows, why bursts ended, and which system calls they met.
pub(crate) fn bursts_text(of: BurstProfile, layout: Layout) -> String {
    let b = of.bursts;
    let mut out = summary(of, b.counts.iter().map(Vec::len).sum());
    let mean = |n: u64| n as f64 / b.number().max(1) as f64;
    let _ = writeln!(
        out,
        "a burst: {} instructions, {:.2} ms on average, of which the program takes {:.2} ms itself{}",
        group_digits(mean(b.instructions) as u64),
        mean(b.nanoseconds) / 1e6,
        mean(b.native) / 1e6,
        if b.shadows.length > 0 {
            format!("; asked for: {}", group_digits(b.shadows.length))
        } else {
            String::new()
        },
    );
    let _ = writeln!(out, "{}", costs(b));
    for (n, what) in list_fates(b) {
        if n > 0 {
            let _ = writeln!(out, "{}: {what}", group_digits(n));
        }
    }
    let lines = out.lines().map(|l| wrap_words(l, layout.width, 0) + "\n");
    let mut out: String = lines.collect();
    let mut ends = Columns::new([Align::Right, Align::Left]);
    ends.heading(BOLD, &["bursts", "ended because"]);
    for &(why, detail, n) in &b.ended {
        ends.row([group_digits(n), describe_end(why, detail)]);
    }
    let mut calls = Columns::new([Align::Right, Align::Left, Align::Left]);
    calls.heading(BOLD, &["calls", "treatment", "system call"]);
    for &(number, what, n) in &b.calls {
        calls.row([
            group_digits(n),
            describe_treatment(what).into(),
            call_name(number),
        ]);
    }
    let _ = write!(out, "\n{}", ends.render(layout));
    if !b.calls.is_empty() {
        let _ = write!(out, "\n{}", calls.render(layout));
    }
    out
}

/// What shadows cost the program, and how many lived at a time, beside what was asked for.
fn costs(b: &Bursts) -> String {
    let of = |n: u64| n as f64 / b.shadows.time.max(1) as f64;
    let at_most = |n: u64, said: String| match n {
        0 => String::new(),
        _ => format!(" (at most {said})"),
    };
    format!(
        "shadows cost the program {} of its processor time{}, and in that time {:.2} lived at once{}",
        percent(of(b.shadows.spent)),
        at_most(b.shadows.cost, percent(b.shadows.cost as f64 / 1e6)),
        of(b.shadows.lived),
        at_most(b.shadows.load, format!("{}", b.shadows.load as f64 / 1e3)),
    )
}

/// What shadows became that left no burst, and those that were not forked.
fn list_fates(b: &Bursts) -> [(u64, &'static str); 7] {
    let lost = b
        .shadows
        .started
        .saturating_sub(b.number() + b.shadows.not_written);
    let empty = b.number() - b.counting;
    [
        (
            lost,
            "shadows without a record: killed, or forked when the program ended",
        ),
        (b.shadows.not_written, "without room for their record"),
        (empty, "bursts in which nothing was counted"),
        (
            b.untimed,
            "bursts that no twin timed: they stand for as much of what counting took as others did",
        ),
        (b.shadows.not_forked, "forks that failed"),
        (
            b.shadows.busy,
            "forks left out because enough shadows were there",
        ),
        (
            b.shadows.short_of_memory,
            "forks left out because memory was short",
        ),
    ]
}

fn path_json(of: BurstProfile, f: FuncId, id: PathId) -> serde_json::Value {
    let path = of.bursts.find_path(f, id);
    let Estimate { count, half_width } = of.bursts.share(path);
    json!({
        "module": of.profile.module(f),
        "function": of.profile.entry(f).name,
        "id": id.to_string(),
        "share": count,
        "half_width": half_width,
        "count": path.count,
        "bursts": path.bursts,
    })
}

/// Everything, for programs.
///
/// # Errors
/// A damaged profile.
pub(crate) fn json(of: BurstProfile, selection: &Selection) -> Result<String> {
    let counted = counted_profile(of);
    let report = Report::new(counted.paths()?, selection)?;
    let b = of.bursts;
    let paths: Vec<_> = report
        .lines
        .iter()
        .map(|line| path_json(of, line.func, line.id))
        .collect();
    let ended = b.ended.iter();
    let ended: Vec<_> = ended
        .map(|&(why, detail, n)| json!({"reason": describe_end(why, detail), "bursts": n}))
        .collect();
    let calls = b.calls.iter();
    let calls: Vec<_> = calls
        .map(|&(number, what, n)| json!({"call": call_name(number), "treatment": describe_treatment(what), "count": n}))
        .collect();
    let shadows = b.shadows;
    let all = json!({
        "bursts": b.number(), "counting": b.counting, "shadows": shadows.started, "paths_counted": b.paths,
        "instructions": b.instructions, "nanoseconds": b.nanoseconds, "native": b.native, "untimed": b.untimed,
        "not_written": shadows.not_written, "not_forked": shadows.not_forked, "filtered": b.filtered,
        "signal_taken": b.signal_taken, "busy": shadows.busy, "short_of_memory": shadows.short_of_memory,
        "load": shadows.load as f64 / 1e3, "cost": shadows.cost as f64 / 1e6, "spent": shadows.spent,
        "processor_time": shadows.time, "lived": shadows.lived,
        "ends": ended, "calls": calls, "paths": paths,
    });
    Ok(format!("{all}\n"))
}

/// The paths, for tables.
///
/// # Errors
/// A damaged profile.
pub(crate) fn csv(of: BurstProfile, selection: &Selection) -> Result<String> {
    let counted = counted_profile(of);
    let report = Report::new(counted.paths()?, selection)?;
    let rows = report.lines.iter().map(|line| {
        let path = of.bursts.find_path(line.func, line.id);
        let Estimate { count, half_width } = of.bursts.share(path);
        [
            of.profile.entry(line.func).name.clone(),
            line.id.to_string(),
            count.to_string(),
            half_width.to_string(),
            path.count.to_string(),
            path.bursts.to_string(),
        ]
    });
    let heads = ["function", "id", "share", "half_width", "count", "bursts"];
    Ok(table::csv(&heads, rows))
}
