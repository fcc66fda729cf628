//! The coverage report as text, JSON and CSV.

use super::by_file::by_file;
use super::columns::Sums;
use super::details::{Details, FileDetails};
use super::headline::{SourceSums, headline, verdict_note, wrapped_note};
use super::unasked::Unasked;
use super::vectors::{McdcJson, list_decisions, summarise};
use super::{Coverage, FunctionCoverage, Near, PatchLines, Paths, Uncovered, file, never_ran};
use crate::base::index::{BlockId, FuncId};
use crate::base::names::{NAMED_FUNCTIONS, escape_unprintable, readable_name};
use crate::base::rows::{Record, Table};
use crate::base::style::WARN;
use crate::base::table::{Layout, group_all_digits, number_of, times, wrap_words};
use crate::input::ir::Loc;
use crate::paths::dag::PathStart;
use crate::possible::example::Example;
use crate::profile::Profile;
use crate::read::report::positions::base_name;
use crate::read::report::steps::{StepRow, Steps, text as text_of_rows};
use crate::read::report::words::{Said, Words};
use crate::read::report::{BlockStep, Line};
use crate::read::report::{function_columns, is_zero};
use crate::read::source::Sources;
use anstyle::Style;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Where paths stand below their function.
const INDENT: usize = 4;

impl Paths {
    /// The executed share; all of nothing.
    pub fn share(&self) -> f64 {
        if self.feasible == 0 {
            return 1.0;
        }
        self.executed as f64 / self.feasible as f64
    }
}

/// For people, with decisions told by `sources`.
pub fn text(coverage: &Coverage, sources: &Sources, layout: Layout) -> String {
    let steps = Steps::new(coverage.profile, sources, layout.full);
    let unasked = coverage.lines.unasked.resolve(steps.words());
    let notes = notes(coverage, &unasked, &steps, layout);
    if coverage.lists_never_ran {
        return never_ran::list_never_ran(coverage, &steps, layout) + &notes;
    }
    if coverage.rows.is_empty() {
        return notes;
    }
    let by_file = match coverage.patch {
        None => {
            let headline = wrap_words(headline(coverage).trim_end(), layout.width, 0);
            headline + "\n\n" + &by_file(coverage, &unasked, layout)
        }
        Some(_) => by_file(coverage, &unasked, layout),
    };
    let summary = coverage.mcdc.as_ref().map(summarise).unwrap_or_default();
    let by_file = wrapped_note(&summary, layout) + &by_file;
    let mut of_functions: BTreeMap<FuncId, Vec<&Unasked>> = BTreeMap::new();
    for condition in unasked.values().flatten() {
        of_functions.entry(condition.f).or_default().push(condition);
    }
    let by_file = wrapped_note(&verdict_note(coverage.profile), layout)
        + &wrapped_note(&coverage.optimised, layout)
        + &by_file;
    let columns = coverage.columns();
    let mut table = columns.begin_columns("function: missing");
    let inner = Layout {
        width: layout.width.saturating_sub(INDENT),
        ..layout
    };
    for row in &coverage.rows {
        let name = steps.name(row.f);
        let own = coverage.lines.functions.get(&row.f);
        // A child may have run one up to where it ended.
        let is_open = own.is_some_and(|own| !own.unknown.is_empty());
        let note = match (row.ran, &coverage.patch) {
            (true, _) => "",
            (false, _) if is_open => " (none was completed)",
            (false, None) => " (no path ran)",
            (false, Some(_)) => " (none of them ran)",
        };
        let unasked = of_functions.get(&row.f).into_iter().flatten().copied();
        let missing = own
            .filter(|_| row.ran || is_open)
            .map(|own| own.missing_text(unasked));
        let home = own.map(|_| format!("  {}", base_name(&file(coverage.profile, row.f))));
        let note = home.unwrap_or_default() + note + &missing.unwrap_or_default();
        let cells = columns.cells(&coverage.sums(row));
        table.named_over_list(cells, name, INDENT, note);
        for text in describe_contradictory(row)
            .into_iter()
            .chain(describe_refuted(row))
            .chain(describe_aborting(row))
        {
            table.add_text(0, Style::new(), wrap_words(&text, layout.width, INDENT));
        }
        let shown = row.uncovered.iter().map(|u| (&u.path, u.shown));
        let rows = steps.rows_of_each(shown);
        for (uncovered, rows) in row.uncovered.iter().zip(&rows) {
            for line in explain_uncovered(&steps, uncovered, rows, inner) {
                let text = line.trim_start();
                let indent = INDENT + line.len() - text.len();
                table.add_text(0, Style::new(), wrap_words(text, layout.width, indent));
            }
        }
        if row.more_uncovered > 0 {
            table.add_text(
                0,
                Style::new(),
                wrap_words(&describe_left_out(row), layout.width, INDENT),
            );
        }
    }
    let decisions = match &coverage.mcdc {
        Some(mcdc) if mcdc.lists_decisions => list_decisions(coverage, mcdc, layout),
        _ => String::new(),
    };
    by_file + "\n" + &table.render(layout) + &notes + &decisions
}

/// How many paths near those that ran are not explained, and what explains them.
fn describe_left_out(row: &FunctionCoverage) -> String {
    let more = number_of(row.more_uncovered as u64, "more path");
    let all = row.uncovered.len() + row.more_uncovered;
    format!("… and {more} one decision away from paths that ran (--nearest {all})")
}

/// How many paths are left out since they cannot run, if some cannot: of all, or of those near executed ones where
/// there are too many to look at each. Why is told once, below all functions.
fn describe_contradictory(row: &FunctionCoverage) -> Option<String> {
    let (n, near) = match (row.contradictory, row.contradictory_near) {
        (0, 0) => return None,
        (0, near) => (near, " one decision away from paths that ran"),
        (all, _) => (all, ""),
    };
    let paths = number_of(n, "path");
    Some(format!("left out: {paths}{near}, which cannot run"))
}

/// How many paths were left out since their code shows that they cannot run, if there are any.
fn describe_refuted(row: &FunctionCoverage) -> Option<String> {
    let paths = number_of(row.refuted as u64, "path");
    let they = if row.refuted == 1 { "it" } else { "they" };
    (row.refuted > 0).then(|| format!("left out: {paths} whose code shows that {they} cannot run"))
}

/// How many paths were left out since they abort, if there are any.
fn describe_aborting(row: &FunctionCoverage) -> Option<String> {
    let paths = number_of(row.aborting as u64, "path");
    let verb = if row.aborting == 1 { "ends" } else { "end" };
    (row.aborting > 0)
        .then(|| format!("left out: {paths} that {verb} in abort or a failed assertion"))
}

/// What the table does not show, and of which functions it does not know all.
fn notes(
    coverage: &Coverage,
    unasked: &BTreeMap<String, Vec<Unasked>>,
    steps: &Steps,
    layout: Layout,
) -> String {
    let mut out = String::new();
    if coverage.rows.len() < coverage.functions {
        let more = (coverage.functions - coverage.rows.len()) as u64;
        let more = number_of(more, "more function");
        let _ = writeln!(out, "… and {more} (--top {})", coverage.functions);
    }
    if coverage
        .rows
        .iter()
        .any(|row| describe_contradictory(row).is_some())
    {
        out += "a path cannot run if the outcomes on it contradict each other\n";
    }
    if coverage.never_ran > 0 && !coverage.lists_never_ran && coverage.patch.is_none() {
        let n = number_of(coverage.never_ran as u64, "function");
        let _ = writeln!(out, "{n} never ran (--never-ran lists them)");
    }
    if coverage.patch.is_none() {
        out += &describe_unknown(coverage);
    }
    if coverage.excluded > 0 {
        out += &describe_excluded(coverage.excluded);
    }
    if !coverage.selection.is_empty() {
        out += &describe_selection(coverage);
    }
    if let Some(patch) = &coverage.patch {
        out += &describe_patch(patch, unasked);
    } else {
        out += &coverage.out_of_scope.describe();
    }
    let mut out: String = out
        .lines()
        .map(|line| wrap_words(line, layout.width, 0) + "\n")
        .collect();
    let most = if layout.full {
        usize::MAX
    } else {
        NAMED_FUNCTIONS
    };
    for &f in coverage.incomplete.iter().take(most) {
        let (name, status) = (steps.name(f), coverage.profile.entry(f).status);
        let _ = writeln!(out, "{WARN}{name}: {status}{WARN:#}");
    }
    let more = coverage.incomplete.len().saturating_sub(most);
    if more > 0 {
        let more = number_of(more as u64, "more function");
        let _ = writeln!(
            out,
            "{WARN}… and {more} cut or skipped (--full lists all){WARN:#}"
        );
    }
    out
}

/// That all numbers are of selected paths, and how many functions have none.
pub(super) fn describe_selection(coverage: &Coverage) -> String {
    let said = coverage.profile.said_selection().unwrap_or_default();
    let mut out = format!("{}\n", escape_unprintable(&said));
    if coverage.unselected > 0 {
        let functions = number_of(coverage.unselected as u64, "function");
        let verb = if coverage.unselected == 1 {
            "has"
        } else {
            "have"
        };
        let _ = writeln!(out, "{functions} {verb} no selected path");
    }
    out
}

/// How many lines and branches no number here counts, since nobody knows whether they ran; empty if there are none.
pub(super) fn describe_unknown(coverage: &Coverage) -> String {
    let (lines, ways) = (
        coverage.lines.count_unknown(),
        coverage.lines.count_unknown_ways(),
    );
    let lines = (lines > 0).then(|| number_of(lines, "more line"));
    let ways = (ways > 0).then(|| format!("{} of branches", number_of(ways, "more outcome")));
    let parts: Vec<String> = lines.into_iter().chain(ways).collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(
        "{} may have run, in activations that were forked or left: no number here counts them\n",
        parts.join(" and ")
    )
}

/// How many paths markers leave out.
pub(super) fn describe_excluded(paths: u128) -> String {
    format!("{} excluded by markers\n", number_of(paths, "path"))
}

/// Which lines these paths run through.
pub(super) fn describe_patch(
    patch: &PatchLines,
    unasked: &BTreeMap<String, Vec<Unasked>>,
) -> String {
    let n = |n: usize| group_all_digits(n as u64);
    let names = || {
        let names: Vec<_> = patch
            .elsewhere
            .iter()
            .map(|f| escape_unprintable(f))
            .collect();
        names.join(", ")
    };
    if patch.lines == 0 && !patch.elsewhere.is_empty() {
        return format!(
            "the profile has no file of the patch: {} (if it has them by other names, see --path-map)\n",
            names()
        );
    }
    let unknown = match patch.unknown {
        0 => String::new(),
        unknown => format!(" and {} may have run", n(unknown)),
    };
    let mut out = format!(
        "the patch adds or changes {}: {} with code, of which {} ran{unknown}; other paths are left out here\n",
        number_of(patch.lines as u64, "line"),
        n(patch.code),
        n(patch.ran)
    );
    if patch.removals > 0 {
        let removals = n(patch.removals);
        let _ = writeln!(
            out,
            "hunks that only remove lines, through which no path runs now: {removals}"
        );
    }
    if !patch.elsewhere.is_empty() {
        let _ = writeln!(out, "files that the program has no code of: {}", names());
    }
    let unasked = unasked.iter().flat_map(|(file, all)| {
        let said = |u: &Unasked| {
            format!(
                "{}:{} {}",
                base_name(file),
                u.line,
                escape_unprintable(&u.condition)
            )
        };
        all.iter().map(said)
    });
    let unasked: Vec<String> = unasked.collect();
    if !unasked.is_empty() {
        let _ = writeln!(
            out,
            "conditions never evaluated on lines that ran: {}",
            unasked.join(", ")
        );
    }
    if !patch.branchless.is_empty() {
        let _ = writeln!(
            out,
            "conditions on these lines that became values and not branches, so no number here shows their outcomes \
            (-O0 has fewest): {}",
            patch.branchless.join(", ")
        );
    }
    out
}

/// Which path did not run, in steps; and which executed one is next to it, and where they part.
pub(super) fn explain_uncovered(
    steps: &Steps,
    uncovered: &Uncovered,
    rows: &[StepRow],
    layout: Layout,
) -> Vec<String> {
    let line = &uncovered.path;
    let mut told = vec![format!("#{} not covered{}", line.id, steps.start(line))];
    told.extend(text_of_rows(rows, layout, 2));
    if let Some(near) = &uncovered.near {
        let each = match uncovered.new_edges {
            0 => "; each step ran on some path",
            _ => "",
        };
        told.push(format!("  {}{each}", next_to(steps, near, line)));
    }
    if let Some(example) = &uncovered.example {
        let text = example.text(line.path.start == PathStart::Loop);
        told.push(format!("  e.g. {}", escape_unprintable(&text)));
    }
    told
}

/// The executed path next to one that did not run, and what went another way there.
fn next_to(steps: &Steps, near: &Near, line: &Line) -> String {
    let ran = format!("nearest: #{} ran {}", near.id, times(near.count));
    if near.common == 0 {
        return format!("{ran} and starts elsewhere");
    }
    place_beside(steps, near, line, &ran)
}

/// `said` of a path, and what went another way where `line` parts from it, behind its start.
pub(super) fn place_beside(steps: &Steps, near: &Near, line: &Line, said: &str) -> String {
    let ran = said;
    let last = near.common - 1;
    let block = line.path.blocks[last];
    let other = near
        .parts
        .as_ref()
        .map(|d| steps.words().describe_decision(line.func, d));
    match other {
        Some(other) => format!("{ran}, with {}", steps.phrase(line.func, &other)),
        None => format!("{ran} and parts from it at b{block}"),
    }
}

/// By block: its last line (or the block), and the way taken where there is a choice.
fn places(profile: &Profile, uncovered: &Uncovered) -> Vec<String> {
    let line = &uncovered.path;
    let entry = profile.entry(line.func);
    let home = entry.find_start();
    let place = |step: BlockStep| place(profile, home, &step);
    line.steps(profile).map(place).collect()
}

/// Where a step is, and the way taken; the file is named where it is not that of `home`.
fn place(profile: &Profile, home: Option<Loc>, step: &BlockStep) -> String {
    let place = match step.loc {
        None => format!("b{}", step.block),
        Some(loc) if home.is_none_or(|h| h.file == loc.file) => loc.line.to_string(),
        Some(loc) => {
            let file = base_name(&profile.manifest.files[loc.file as usize]);
            format!("{file}:{}", loc.line)
        }
    };
    match &step.taken {
        Some(taken) => format!("{place} ({taken})"),
        None => place,
    }
}

#[derive(Serialize)]
struct CoverageJson<'a> {
    functions: Vec<JsonFunction<'a>>,
    files: Vec<JsonFile<'a>>,
    total: Record,
    /// Lines, branches, and paths at most one decision away from one that ran: those that ran, and all.
    headline: Headline,
    /// The verdict on the profile: `ok`, `incomplete` or `violations`.
    verdict: &'static str,
    /// What may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    incomplete: Vec<&'a str>,
    /// Paths that markers leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded: Option<String>,
    /// What was asked for, where that is not all paths: all numbers are of selected paths.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    selection: &'a [String],
    /// Functions without a selected path.
    #[serde(skip_serializing_if = "Option::is_none")]
    unselected: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<&'a PatchLines>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solver: Option<JsonSolver<'a>>,
    /// Decisions, if these are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    mcdc: Option<McdcJson<'a>>,
}

#[derive(Serialize)]
struct Headline {
    lines: [u64; 2],
    branches: [u64; 2],
    near: [u64; 2],
}

impl Headline {
    fn new(coverage: &Coverage) -> Headline {
        let both = |n: Paths| [n.executed as u64, n.feasible as u64];
        Headline {
            lines: both(coverage.lines.lines()),
            branches: both(coverage.lines.branches()),
            near: both(coverage.near),
        }
    }
}

/// What judged paths that did not run, besides p3-rewrite itself.
#[derive(Serialize)]
struct JsonSolver<'a> {
    name: &'static str,
    version: &'a str,
}

#[derive(Serialize)]
struct JsonFile<'a> {
    file: &'a str,
    #[serde(flatten)]
    sums: Record,
    #[serde(flatten)]
    own: Option<JsonLines<'a>>,
    /// Conditions that were never evaluated, on lines that ran.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    never_evaluated: &'a [Unasked],
    #[serde(flatten)]
    details: Option<&'a FileDetails>,
}

/// The lines that are missing, and those with a way out that is.
#[derive(Serialize)]
struct JsonLines<'a> {
    missing_lines: &'a [u32],
    missing_branches: &'a [u32],
    /// Other lines with code: those of which it is not known whether they ran.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unknown_lines: &'a [u32],
}

impl JsonLines<'_> {
    fn new(sums: &SourceSums) -> JsonLines<'_> {
        JsonLines {
            missing_lines: &sums.missing,
            missing_branches: &sums.missing_branches,
            unknown_lines: &sums.unknown,
        }
    }
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    module: &'a str,
    name: &'a str,
    readable: String,
    file: String,
    status: String,
    #[serde(flatten)]
    sums: Record,
    #[serde(flatten)]
    own: Option<JsonLines<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    contradictory: u64,
    /// How many of these are near those that ran; of functions with more than 4,096 paths, only these are found.
    #[serde(skip_serializing_if = "is_zero")]
    contradictory_near: u64,
    uncovered: Vec<UncoveredJson<'a>>,
    /// How many paths near those that ran are not among these, where some are asked for.
    #[serde(skip_serializing_if = "is_zero")]
    more_uncovered: u64,
    /// How many paths are not among these since their code shows that they cannot run.
    #[serde(skip_serializing_if = "is_zero")]
    refuted: u64,
    /// How many paths are not among these since they end in abort, a failed assertion or the like.
    #[serde(skip_serializing_if = "is_zero")]
    aborting: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    never_ran: bool,
    /// Whether the compiler optimised it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    optimised: bool,
}

#[derive(Serialize)]
struct UncoveredJson<'a> {
    id: String,
    blocks: &'a [BlockId],
    /// Of each block the file and the line of its last code, where these are known.
    positions: Vec<Option<(&'a str, u32)>>,
    starts: &'static str,
    not_covered: Vec<String>,
    decisions: Vec<Said>,
    near: Option<JsonNear>,
    new_edges: u32,
    /// Values with which the path runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<&'a Example>,
}

#[derive(Serialize)]
struct JsonNear {
    id: String,
    count: u64,
    common_blocks: usize,
}

/// For other programs.
pub fn json(coverage: &Coverage, details: &Details, sources: &Sources) -> String {
    let words = Words::new(coverage.profile, sources);
    let columns = coverage.columns();
    let function = |row| json_function(words, row, coverage, &columns);
    let unasked = coverage.lines.unasked.resolve(words);
    let files = coverage.files.iter().map(|(file, paths)| JsonFile {
        never_evaluated: unasked.get(file).map_or(&[][..], Vec::as_slice),
        file,
        sums: columns.record(&coverage.sums_of_file(file, paths)),
        own: coverage.lines.files.get(file).map(JsonLines::new),
        details: details.find_file(file),
    });
    let json = CoverageJson {
        functions: coverage.rows.iter().map(function).collect(),
        files: files.collect(),
        total: columns.record(&Sums::new(&coverage.total, &coverage.total_pairs, None)),
        headline: Headline::new(coverage),
        verdict: coverage.profile.verdict.status(),
        incomplete: coverage
            .profile
            .verdict
            .reasons_incomplete()
            .map(String::as_str)
            .collect(),
        excluded: (coverage.excluded > 0).then(|| coverage.excluded.to_string()),
        selection: coverage.selection,
        unselected: (!coverage.selection.is_empty()).then_some(coverage.unselected),
        patch: coverage.patch.as_ref(),
        solver: coverage.solver.as_ref().map(|solver| JsonSolver {
            name: solver.name(),
            version: &solver.version,
        }),
        mcdc: coverage
            .mcdc
            .as_ref()
            .map(|m| McdcJson::new(coverage.profile, m)),
    };
    serde_json::to_string(&json).expect("a report serialises") + "\n"
}

fn json_function<'a>(
    words: Words<'a>,
    row: &'a FunctionCoverage,
    coverage: &'a Coverage,
    columns: &Table<Sums>,
) -> JsonFunction<'a> {
    let profile = words.profile();
    let path = |uncovered| json_path(words, uncovered);
    JsonFunction {
        module: profile.module(row.f),
        name: &profile.entry(row.f).name,
        readable: readable_name(&profile.entry(row.f).name).into_owned(),
        file: file(profile, row.f),
        status: profile.entry(row.f).status.to_string(),
        sums: columns.record(&coverage.sums(row)),
        own: coverage.lines.functions.get(&row.f).map(JsonLines::new),
        contradictory: row.contradictory,
        contradictory_near: row.contradictory_near,
        uncovered: row.uncovered.iter().map(path).collect(),
        more_uncovered: row.more_uncovered as u64,
        refuted: row.refuted as u64,
        aborting: row.aborting as u64,
        never_ran: row.never_ran,
        optimised: profile.entry(row.f).optimised.is_optimised(),
    }
}

fn json_path<'a>(words: Words<'a>, uncovered: &'a Uncovered) -> UncoveredJson<'a> {
    let path = &uncovered.path.path;
    let profile = words.profile();
    let position = |step: BlockStep| {
        let loc = step.loc?;
        Some((profile.manifest.files[loc.file as usize].as_str(), loc.line))
    };
    UncoveredJson {
        id: uncovered.path.id.to_string(),
        blocks: &path.blocks,
        positions: uncovered.path.steps(profile).map(position).collect(),
        starts: match path.start {
            PathStart::Entry => "entry",
            PathStart::Loop => "loop",
        },
        not_covered: places(profile, uncovered),
        decisions: words.decisions(&uncovered.path),
        near: uncovered.near.as_ref().map(|near| JsonNear {
            id: near.id.to_string(),
            count: near.count,
            common_blocks: near.common,
        }),
        new_edges: uncovered.new_edges,
        example: uncovered.example.as_ref(),
    }
}

/// One record for each function, after a heading.
pub fn csv(coverage: &Coverage) -> String {
    let profile = coverage.profile;
    function_columns(|row: &FunctionCoverage| (profile, row.f))
        .csv("file", |row| file(profile, row.f))
        .csv("status", |row| profile.entry(row.f).status.to_string())
        .add_columns(coverage.columns(), |row| coverage.sums(row))
        .to_csv(&coverage.rows)
}
