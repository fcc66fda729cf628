//! The `--stats` table: what every copy does to every function.

use crate::base::index::{FuncId, TiSlice};
use crate::base::names::printed_name;
use crate::base::table::{Align, Columns, group_all_digits, group_digits, number_of};
use crate::copies::partition::Assignment;
use crate::copies::plan::CopyPlan;
use crate::input::ir::{ProgFunction, Program, SkipReason};
use crate::paths::function::Measuring;
use crate::profile::manifest::{Manifest, Status};

/// The table of all functions that `selects` admits, with a closing line of each copy's
/// expected load (the cost of its tasks) and probes.
pub(crate) fn stats_table(
    program: &Program,
    manifest: &Manifest,
    paths: &TiSlice<FuncId, Option<Measuring>>,
    assignment: &Assignment,
    plans: &[CopyPlan],
    selects: impl Fn(&str) -> bool,
) -> Columns {
    let mut table =
        Columns::new([vec![Align::Left; 2], vec![Align::Right; 3 + plans.len()]].concat());
    let copies = (0..plans.len()).map(|c| format!("copy {c}"));
    table.row(cells(
        ["function", "status", "paths", "callers", "tasks"],
        copies,
    ));
    for (id, f) in program.functions.iter_enumerated() {
        if !selects(&f.name) {
            continue;
        }
        let total = |p: &Measuring| group_digits(p.numbering.total());
        let about = [
            printed_name(&f.name),
            status(manifest, id),
            paths[id].as_ref().map_or("-".into(), total),
            describe_callers(f),
            assignment.tasks[id.index()].to_string(),
        ];
        table.row(cells(about, plans.iter().map(|p| count_probes(p, id))));
    }
    // A copy that traces has no plan.
    let load = assignment.load.iter().take(plans.len());
    let load = load.map(|&l| group_all_digits(l));
    table.row(cells(["load", "", "", "", ""], load));
    let probes = plans
        .iter()
        .map(|p| group_all_digits(total_probes(p) as u64));
    table.row(cells(["probes", "", "", "", ""], probes));
    table
}

/// What is said of a function, and then of its plan, or of it in each copy.
pub(crate) fn cells<const N: usize>(
    about: [impl Into<String>; N],
    more: impl IntoIterator<Item = String>,
) -> Vec<String> {
    about.into_iter().map(Into::into).chain(more).collect()
}

/// How many call sites a function has, and whether it is recursive.
pub(crate) fn describe_callers(f: &ProgFunction) -> String {
    format!("{}{}", f.call_sites, if f.recursive { " rec" } else { "" })
}

/// How a function is profiled, or why not.
pub(crate) fn status(manifest: &Manifest, id: FuncId) -> String {
    let entry = &manifest.functions[id];
    match entry.status {
        Status::Exact => "exact".into(),
        Status::Cut => format!("cut ({})", number_of(entry.cuts.len() as u64, "edge")),
        Status::Skipped(SkipReason::Excluded) => "skipped (excluded)".into(),
        Status::Skipped(reason) => format!("skipped ({reason})"),
    }
}

fn count_probes(plan: &CopyPlan, id: FuncId) -> String {
    match plan.functions.binary_search_by_key(&id, |f| f.func) {
        Ok(i) => plan.functions[i]
            .probes
            .iter()
            .map(|c| c.ops.len())
            .sum::<usize>()
            .to_string(),
        Err(_) => "-".into(),
    }
}

fn total_probes(plan: &CopyPlan) -> usize {
    plan.functions
        .iter()
        .flat_map(|f| &f.probes)
        .map(|c| c.ops.len())
        .sum()
}
