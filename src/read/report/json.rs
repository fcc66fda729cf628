//! `show --format json`: a contract with other programs.

use super::figures::function_table;
use super::loops;
use super::threads;
use super::words::Said;
use super::{Line, Report};
use crate::base::index::{BlockId, CfgEdge, FuncId};
use crate::base::names::readable_name;
use crate::base::rows::{Cell, Record, Table};
use crate::copies::strategy::Scheme;
use crate::paths::dag::{PathEnd, PathStart};
use crate::profile::Profile;
use crate::profile::known::KnownAgain;
use crate::profile::verdict::Violation;
use crate::read::analysis::samples::Amount;
use crate::read::analysis::samples::time::Time;
use serde::Serialize;
use std::collections::HashMap;

#[derive(Serialize)]
struct Shown<'a> {
    program: TotalsJson<'a>,
    /// Source files that `lines` refer to.
    files: &'a [String],
    functions: Vec<FunctionJson<'a>>,
    /// With --by loop: those that went round, those with most instructions first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loops: Vec<Record>,
    /// Where threads are told apart: those with most instructions first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    threads: Vec<Record>,
    /// With --perf: what was sampled, and code that is not in the profile, by image.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Timed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outside: Option<Vec<Record>>,
}

/// The samples of a profiler.
#[derive(Serialize)]
struct Timed<'a> {
    event: &'a str,
    samples: u64,
}

/// The whole profile, whatever was selected.
#[derive(Serialize)]
struct TotalsJson<'a> {
    paths: u128,
    distinct: usize,
    /// Executed instructions, of completed paths.
    instructions: u128,
    /// How many functions there are, and in how many of them something ran.
    functions: usize,
    executed_functions: usize,
    /// What was selected, where that is not all paths: whether others ran is not known.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    selection: &'a [String],
    #[serde(flatten)]
    about: About<'a>,
}

/// What a profile is of, and the verdict on it.
#[derive(Serialize)]
pub struct About<'a> {
    scheme: Scheme,
    copies: u32,
    /// Of a union, the schemes of its programs.
    #[serde(skip_serializing_if = "<[Scheme]>::is_empty")]
    united: &'a [Scheme],
    verdict: &'static str,
    /// Counts that are missing or may be lost by threads, and processes that began or ended in the middle.
    incomplete: Vec<&'a str>,
    /// What is known and no reason to doubt the counts.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    /// Copies that were run otherwise than others.
    #[serde(rename = "differing_copies")]
    unlike: &'a [String],
    /// Counts that contradict each other, those that are off by most first.
    violations: Vec<Contradiction<'a>>,
}

#[derive(Serialize)]
struct Contradiction<'a> {
    module: &'a str,
    name: &'a str,
    #[serde(rename = "difference")]
    off: u64,
    #[serde(rename = "problem")]
    what: &'a str,
}

#[derive(Serialize)]
struct FunctionJson<'a> {
    module: &'a str,
    name: &'a str,
    /// Its name as the source has it.
    readable: String,
    status: String,
    /// Where some paths only are selected: how many of it are counted; of all others it is not known whether they ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_paths: Option<String>,
    /// In a run against earlier ones: what became of the paths that these have seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    known_paths: Option<KnownAgain>,
    /// Where it begins: number of the file, and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "position")]
    begins: Option<(u32, u32)>,
    #[serde(flatten)]
    totals: Record,
    /// Conditions that have no branch: number of the file, line, column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    branchless: Vec<(u32, u32, u32)>,
    /// Names the control flow that ids and blocks belong to, in other builds too.
    cfg: String,
    /// Activations that were left before their end: their last paths are not counted.
    #[serde(rename = "abandoned")]
    left: u64,
    /// With --perf: its samples, their share of all time, and those of its lines: number of the file, line, samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_share: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sampled_lines: Vec<(u32, u32, u64)>,
    /// The edges at which paths end as at back edges, since there are too many paths.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    cuts: &'a [CfgEdge],
    paths: Vec<Path>,
}

#[derive(Serialize)]
struct Path {
    /// Ids exceed what JSON numbers hold exactly in many readers.
    id: String,
    count: u64,
    /// Whether some joined run did not count it, so that it ran at least so often.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_least: bool,
    /// Whether an earlier run has seen it, in a run against earlier ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    known: bool,
    blocks: Vec<BlockId>,
    starts: &'static str,
    ends: &'static str,
    back_to: Option<BlockId>,
    /// Instructions of its blocks.
    instructions: u64,
    /// Its share of all executed paths, and of all executed instructions of the program.
    path_share: f64,
    instruction_share: f64,
    /// With --perf: the share of all time that is expected of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_time_share: Option<f64>,
    /// Source positions along it: number of the file, and line.
    lines: Vec<(u32, u32)>,
    /// Where threads are told apart: places of those that ran it in `threads`, and how often.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    threads: Vec<(usize, u64)>,
    decisions: Vec<Said>,
}

/// The selected functions, each with its selected paths, hottest first.
pub fn render(report: &Report) -> String {
    let mut paths: HashMap<FuncId, Vec<Path>> = HashMap::new();
    for line in &report.lines {
        paths.entry(line.func).or_default().push(path(report, line));
    }
    let profile = report.profile;
    let left: HashMap<FuncId, u64> = report.left.iter().copied().collect();
    let table = function_table(report, 0);
    let function = |&f: &FuncId| FunctionJson {
        module: profile.module(f),
        name: &profile.entry(f).name,
        readable: readable_name(&profile.entry(f).name).into_owned(),
        begins: profile.entry(f).loc.map(|l| (l.file, l.line)),
        totals: table.record(&f),
        branchless: branchless(profile, f),
        status: profile.entry(f).status.to_string(),
        counted_paths: profile.number_of_counted(f).map(|n| n.to_string()),
        known_paths: profile.known_again(f),
        cfg: profile.entry(f).cfg_hash(),
        left: left.get(&f).copied().unwrap_or(0),
        samples: report.time.as_ref().map(|t| t.amount_in(f).samples),
        time_share: report
            .time
            .as_ref()
            .map(|t| round_share(t.share(t.amount_in(f)))),
        sampled_lines: report.time.as_ref().map_or(vec![], |t| sampled_lines(t, f)),
        cuts: &profile.entry(f).cuts,
        paths: paths.remove(&f).unwrap_or_default(),
    };
    let functions = report.functions.iter().map(function).collect();
    let program = program(report);
    let files = &profile.manifest.files;
    let shown = Shown {
        program,
        files,
        functions,
        loops: loops::records(report),
        threads: threads::records(report),
        time: report.time.as_ref().map(time_json),
        outside: report.time.as_ref().map(outside_records),
    };
    serde_json::to_string(&shown).expect("a report serialises") + "\n"
}

fn time_json(time: &Time) -> Timed<'_> {
    Timed {
        event: &time.event,
        samples: time.total.samples,
    }
}

/// Code that is not in the profile.
fn outside_records(time: &Time) -> Vec<Record> {
    let table = Table::new()
        .json("name", |r: &(String, Amount)| r.0.clone())
        .json("samples", |r| r.1.samples)
        .json("time_share", |r| Cell::Share(time.share(r.1)));
    time.outside.iter().map(|r| table.record(r)).collect()
}

fn sampled_lines(time: &Time, f: FuncId) -> Vec<(u32, u32, u64)> {
    let lines = time.lines.get(&f).into_iter().flatten();
    lines.map(|(l, a)| (l.file, l.line, a.samples)).collect()
}

fn branchless(profile: &Profile, f: FuncId) -> Vec<(u32, u32, u32)> {
    let sites = profile.entry(f).branchless_sites();
    sites.map(|s| (s.loc.file, s.loc.line, s.column)).collect()
}

fn program<'a>(report: &Report<'a>) -> TotalsJson<'a> {
    TotalsJson {
        paths: report.total_paths,
        distinct: report.total_distinct,
        instructions: report.total_instructions,
        functions: report.profile.manifest.functions.len(),
        executed_functions: report.by_function.len(),
        selection: &report.profile.manifest.paths,
        about: profile_json(report.profile),
    }
}

/// What every view of `profile` tells programs.
pub fn profile_json(profile: &Profile) -> About<'_> {
    let verdict = &profile.verdict;
    let violation = |v| contradiction(profile, v);
    About {
        scheme: profile.manifest.scheme,
        copies: profile.manifest.copies,
        united: &profile.manifest.united,
        verdict: verdict.status(),
        incomplete: verdict.reasons_incomplete().map(String::as_str).collect(),
        notes: &verdict.notes,
        unlike: &verdict.unlike,
        violations: verdict.violations.iter().map(violation).collect(),
    }
}

fn contradiction<'a>(profile: &'a Profile, v: &'a Violation) -> Contradiction<'a> {
    Contradiction {
        module: profile.module(v.function),
        name: &profile.entry(v.function).name,
        off: v.off,
        what: &v.what,
    }
}

fn path(report: &Report, line: &Line) -> Path {
    let (ends, back_to) = match line.path.end {
        PathEnd::Exit => ("exit", None),
        PathEnd::Back(_, to) => ("back", Some(to)),
    };
    Path {
        id: line.id.to_string(),
        count: line.count,
        at_least: report.profile.runs_at_least(line.func, line.id),
        known: report.profile.is_known(line.func, line.id),
        blocks: line.path.blocks.clone(),
        starts: match line.path.start {
            PathStart::Entry => "entry",
            PathStart::Loop => "loop",
        },
        ends,
        back_to,
        instructions: line.instructions,
        path_share: round_share(report.path_share(line)),
        instruction_share: round_share(report.instruction_share(line)),
        expected_time_share: report.expected_time(line).map(round_share),
        lines: lines(line),
        threads: threads::split_of_path(report, line),
        decisions: report.words().decisions(line),
    }
}

/// The lines of a path, each once where it stands several times in turn.
fn lines(line: &Line) -> Vec<(u32, u32)> {
    let mut lines: Vec<(u32, u32)> = line.locs.iter().map(|l| (l.file, l.line)).collect();
    lines.dedup();
    lines
}

/// A share to six digits, as the table has it.
fn round_share(share: f64) -> f64 {
    (share * 1e6).round() / 1e6
}
