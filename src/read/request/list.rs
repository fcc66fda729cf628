//! The selected paths of a profile's program, listed: what `p3-prof paths` prints.

use super::Target;
use crate::base::error::Result;
use crate::base::index::{BlockId, EdgeId, FuncId, PathId};
use crate::base::names::readable_name;
use crate::base::style::BOLD;
use crate::base::table::{Layout, group_all_digits, number_of};
use crate::copies::selection::{Asked, Selection};
use crate::paths::function::Paths;
use crate::profile::Profile;
use crate::profile::measurement::PathProfile;
use crate::read::report::steps::Steps;
use crate::read::report::text::headline_and_steps;
use crate::read::report::{Line, function_columns, lines};
use crate::read::source::Sources;
use serde::Serialize;
use std::fmt::Write;

/// The selected paths of one function.
struct FunctionRow {
    f: FuncId,
    /// How many are selected, and how many there are.
    number: u64,
    total: u64,
    /// As many as are shown, by ascending id.
    lines: Vec<Shown>,
}

/// A selected path.
struct Shown {
    line: Line,
    state: KnownState,
}

/// What a profile knows of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum KnownState {
    Ran,
    /// It ran, and not every run counted it.
    RanAtLeast,
    DidNotRun,
    NotSelected,
}

/// What was asked for, and what the profile knows of it.
pub(crate) struct Listed<'a> {
    profile: &'a Profile,
    rows: Vec<FunctionRow>,
}

/// Lists what is `asked` for of `profile`, whose functions are `target`; of each function at most `top` paths.
/// Linear in the functions, and the length of what is listed.
///
/// # Errors
/// A damaged profile.
pub(crate) fn list<'a>(
    profile: PathProfile<'a>,
    target: &Target,
    asked: &Asked,
    top: usize,
) -> Result<Listed<'a>> {
    let mut rows = Vec::new();
    for (f, selection) in asked.selections.iter_enumerated() {
        let Some(paths) = target.functions[f].paths.as_deref() else {
            continue;
        };
        let number = selection.number(paths);
        if number > 0 {
            let ids = first_ids(selection, paths, top);
            rows.push(FunctionRow {
                f,
                number,
                total: paths.numbering.total(),
                lines: look_up_paths(profile, f, &ids)?,
            });
        }
    }
    Ok(Listed {
        profile: profile.profile(),
        rows,
    })
}

/// The first selected paths, ascending. O(top · length of a path), and those that are known.
fn first_ids(selection: &Selection, paths: &Paths, top: usize) -> Vec<PathId> {
    match selection {
        Selection::Nothing => Vec::new(),
        Selection::Paths(ids) => ids.iter().copied().take(top).collect(),
        Selection::All | Selection::Known(_) => {
            let is_selected = |id: &PathId| selection.selects_path(*id, &[]);
            paths.ids().filter(is_selected).take(top).collect()
        }
        Selection::Edges(set) => {
            let mut found = first_paths_inside(paths, set, top);
            found.sort_unstable();
            found
        }
    }
}

/// At most `top` of the paths inside a set of edges.
fn first_paths_inside(
    paths: &Paths,
    set: &crate::base::index::IdSet<EdgeId>,
    top: usize,
) -> Vec<PathId> {
    let dag = &paths.dag;
    let useful = crate::paths::dag::useful_edges(dag, set);
    let mut found = Vec::new();
    let mut open = vec![(dag.entry(), 0u64)];
    while let Some((v, sum)) = open.pop() {
        if found.len() == top {
            break;
        }
        if v == dag.exit() {
            found.push(PathId(sum));
            continue;
        }
        for e in dag.out_edges(v).rev().filter(|e| useful.contains(*e)) {
            open.push((dag.edge(e).dst, sum + paths.numbering.labels[e]));
        }
    }
    found
}

fn look_up_paths(profile: PathProfile, f: FuncId, ids: &[PathId]) -> Result<Vec<Shown>> {
    let structure = profile.structure(f)?;
    let counted = profile.counted_paths(f, &structure)?;
    let count = |id: &PathId| {
        let counts = profile.counts(f);
        let found = counts.binary_search_by_key(id, |c| c.0);
        found.map_or(0, |i| counts[i].1)
    };
    let wanted: Vec<_> = ids.iter().map(|id| (f, *id, count(id))).collect();
    let state = |line: &Line| {
        let is_least = || profile.entry(f).at_least.binary_search(&line.id).is_ok();
        match line.count {
            0 if counted.contain_id(&structure.paths, line.id) => KnownState::DidNotRun,
            0 => KnownState::NotSelected,
            _ if is_least() => KnownState::RanAtLeast,
            _ => KnownState::Ran,
        }
    };
    let lines = lines(&profile, &wanted)?.into_iter();
    let shown = lines.map(|line| Shown {
        state: state(&line),
        line,
    });
    Ok(shown.collect())
}

impl Listed<'_> {
    fn number(&self) -> u128 {
        self.rows.iter().map(|r| u128::from(r.number)).sum()
    }
}

/// For people.
pub(crate) fn text(listed: &Listed, sources: &Sources, layout: Layout) -> String {
    let steps = Steps::new(listed.profile, sources, layout.full);
    let all = number_of(listed.rows.len() as u64, "function");
    let paths = number_of(listed.number(), "path");
    let mut out = format!("{BOLD}{paths} selected{BOLD:#}, in {all}\n");
    for row in &listed.rows {
        let (name, number) = (steps.name(row.f), group_all_digits(row.number));
        let of = group_all_digits(row.total);
        let _ = writeln!(out, "\n{BOLD}{name}{BOLD:#}: {number} of {of}");
        for Shown { line, state } in &row.lines {
            let numbers = match state {
                KnownState::Ran => format!("  {} ×  ", group_all_digits(line.count)),
                KnownState::RanAtLeast => format!("  ≥ {} ×  ", group_all_digits(line.count)),
                KnownState::DidNotRun => "  did not run  ".to_string(),
                KnownState::NotSelected => "  not selected before  ".to_string(),
            };
            out += &headline_and_steps(&numbers, &steps, line, layout);
        }
        let rest = row.number - row.lines.len() as u64;
        if rest > 0 {
            let _ = writeln!(out, "  … and {} more (--top)", group_all_digits(rest));
        }
    }
    out
}

#[derive(Serialize)]
struct SelectionJson<'a> {
    /// Exceeds what JSON numbers hold exactly in many readers.
    paths: String,
    functions: Vec<JsonFunction<'a>>,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    module: &'a str,
    name: &'a str,
    readable: String,
    selected: String,
    of: String,
    paths: Vec<SelectedPathJson<'a>>,
}

#[derive(Serialize)]
struct SelectedPathJson<'a> {
    id: String,
    count: u64,
    state: KnownState,
    blocks: &'a [BlockId],
}

fn json_path(shown: &Shown) -> SelectedPathJson<'_> {
    let Shown { line, state } = shown;
    SelectedPathJson {
        id: line.id.to_string(),
        count: line.count,
        state: *state,
        blocks: &line.path.blocks,
    }
}

/// For other programs.
pub(crate) fn json(listed: &Listed) -> String {
    let function = |row| {
        let FunctionRow {
            f,
            number,
            total,
            lines,
        }: &FunctionRow = row;
        let name = &listed.profile.entry(*f).name;
        JsonFunction {
            module: listed.profile.module(*f),
            name,
            readable: readable_name(name).into_owned(),
            selected: number.to_string(),
            of: total.to_string(),
            paths: lines.iter().map(json_path).collect(),
        }
    };
    let json = SelectionJson {
        paths: listed.number().to_string(),
        functions: listed.rows.iter().map(function).collect(),
    };
    serde_json::to_string(&json).expect("a report serialises") + "\n"
}

/// One record for each path that is listed, after a heading.
pub(crate) fn csv(listed: &Listed) -> String {
    let rows = listed.rows.iter().flat_map(|row| &row.lines);
    function_columns(|r: &Shown| (listed.profile, r.line.func))
        .csv("id", |r| r.line.id.to_string())
        .csv("count", |r| r.line.count)
        .csv("state", |r| match r.state {
            KnownState::Ran => "ran",
            KnownState::RanAtLeast => "ran-at-least",
            KnownState::DidNotRun => "did-not-run",
            KnownState::NotSelected => "not-selected",
        })
        .to_csv(rows)
}
