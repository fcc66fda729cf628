//! The `--stats` table: what every copy does to every function.

use crate::index::FuncId;
use crate::ir::Program;
use crate::manifest::{Manifest, Status};
use crate::names::shown;
use crate::partition::Assignment;
use crate::paths::FunctionPaths;
use crate::plan::CopyPlan;

/// One line of the table.
struct Row {
    name: String,
    status: String,
    paths: String,
    call_sites: String,
    tasks: String,
    probes: Vec<String>,
}

/// The table of all functions that `selects` admits, with a closing line of each copy's
/// expected load (the cost of its tasks) and probes.
pub fn table(
    program: &Program,
    manifest: &Manifest,
    paths: &[Option<FunctionPaths>],
    assignment: &Assignment,
    plans: &[CopyPlan],
    selects: impl Fn(&str) -> bool,
) -> String {
    let mut rows = vec![heading(plans.len())];
    for (i, f) in program
        .functions
        .iter()
        .enumerate()
        .filter(|(_, f)| selects(&f.name))
    {
        let id = FuncId::new(i);
        rows.push(Row {
            name: shown(&f.name),
            status: status(manifest, id),
            paths: paths[i]
                .as_ref()
                .map_or("-".into(), |p| p.numbering.total().to_string()),
            call_sites: format!("{}{}", f.call_sites, if f.recursive { " rec" } else { "" }),
            tasks: assignment.tasks[i].to_string(),
            probes: plans.iter().map(|p| probes(p, id)).collect(),
        });
    }
    rows.push(totals(
        "load",
        assignment.load.iter().map(|l| l.to_string()),
    ));
    rows.push(totals(
        "probes",
        plans.iter().map(|p| total_probes(p).to_string()),
    ));
    render(&rows)
}

fn heading(copies: usize) -> Row {
    Row {
        name: "function".into(),
        status: "status".into(),
        paths: "paths".into(),
        call_sites: "callers".into(),
        tasks: "tasks".into(),
        probes: (0..copies).map(|c| format!("copy {c}")).collect(),
    }
}

fn totals(what: &str, values: impl Iterator<Item = String>) -> Row {
    let empty = String::new;
    Row {
        name: what.into(),
        status: empty(),
        paths: empty(),
        call_sites: empty(),
        tasks: empty(),
        probes: values.collect(),
    }
}

fn status(manifest: &Manifest, id: FuncId) -> String {
    let entry = &manifest.functions[id.index()];
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

fn render(rows: &[Row]) -> String {
    let cells: Vec<Vec<&str>> = rows
        .iter()
        .map(|r| {
            let fixed = [&r.name, &r.status, &r.paths, &r.call_sites, &r.tasks];
            fixed
                .into_iter()
                .chain(&r.probes)
                .map(String::as_str)
                .collect()
        })
        .collect();
    let width = |i: usize| {
        cells
            .iter()
            .map(|r| r[i].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..cells[0].len()).map(width).collect();
    let cell = |(i, text): (usize, &&str)| match i {
        0 | 1 => format!("{text:<0$}", widths[i]),
        _ => format!("{text:>0$}", widths[i]),
    };
    let line = |r: &Vec<&str>| {
        r.iter()
            .enumerate()
            .map(cell)
            .collect::<Vec<_>>()
            .join("  ")
    };
    cells
        .iter()
        .map(|r| line(r).trim_end().to_string() + "\n")
        .collect()
}
