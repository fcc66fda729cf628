//! The `--stats` table: what every copy does to every function.

use crate::index::{FuncId, TiSlice};
use crate::ir::Program;
use crate::manifest::{Manifest, Status};
use crate::names::shown;
use crate::partition::Assignment;
use crate::paths::FunctionPaths;
use crate::plan::CopyPlan;
use crate::table::{Align, Columns, exactly, grouped};

/// The table of all functions that `selects` admits, with a closing line of each copy's
/// expected load (the cost of its tasks) and probes.
pub fn table(
    program: &Program,
    manifest: &Manifest,
    paths: &TiSlice<FuncId, Option<FunctionPaths>>,
    assignment: &Assignment,
    plans: &[CopyPlan],
    selects: impl Fn(&str) -> bool,
) -> String {
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
        let total = |p: &FunctionPaths| grouped(p.numbering.total());
        let about = [
            shown(&f.name),
            status(manifest, id),
            paths[id].as_ref().map_or("-".into(), total),
            format!("{}{}", f.call_sites, if f.recursive { " rec" } else { "" }),
            assignment.tasks[id.index()].to_string(),
        ];
        table.row(cells(about, plans.iter().map(|p| probes(p, id))));
    }
    let load = assignment.load.iter().map(|&l| exactly(l));
    table.row(cells(["load", "", "", "", ""], load));
    let probes = plans.iter().map(|p| exactly(total_probes(p) as u64));
    table.row(cells(["probes", "", "", "", ""], probes));
    table.to_string()
}

/// What is said of a function, and of it in each copy.
fn cells(about: [impl Into<String>; 5], copies: impl Iterator<Item = String>) -> Vec<String> {
    about.into_iter().map(Into::into).chain(copies).collect()
}

fn status(manifest: &Manifest, id: FuncId) -> String {
    let entry = &manifest.functions[id];
    match entry.status {
        Status::Exact => "exact".into(),
        Status::Cut => format!("cut ({} edges)", entry.cuts.len()),
        Status::Skipped(reason) => format!("skipped ({reason})"),
    }
}

fn probes(plan: &CopyPlan, id: FuncId) -> String {
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
