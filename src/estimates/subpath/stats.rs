//! The table of `--stats` where functions are sampled.

use super::plan::SampledFunction;
use crate::base::names::printed_name;
use crate::base::table::{Align, Columns, group_all_digits};
use crate::input::ir::Program;
use crate::profile::manifest::{Manifest, Status};
use crate::write::stats::{cells, describe_callers, status};

/// The table of how the functions that `selects` admits are sampled, which is the same in all copies; and of all blocks
/// of the sampled ones, how many there are in each version.
pub(crate) fn table(
    program: &Program,
    manifest: &Manifest,
    sampled: &[SampledFunction],
    selects: impl Fn(&str) -> bool,
) -> Columns {
    let mut table = Columns::new([vec![Align::Left; 2], vec![Align::Right; 9]].concat());
    table.row(SAMPLED.map(String::from));
    let mut sums = [0; 6];
    for (id, f) in program
        .functions
        .iter_enumerated()
        .filter(|(_, f)| selects(&f.name))
    {
        let blocks = program.body(id).cfg.len();
        let sampled_at = sampled.binary_search_by_key(&id, |f| f.func);
        let status = match manifest.functions[id].status {
            Status::Exact | Status::Cut => "sampled".into(),
            Status::Skipped(_) => status(manifest, id),
        };
        let about = [
            printed_name(&f.name),
            status,
            describe_callers(f),
            blocks.to_string(),
        ];
        let Ok(plan) = sampled_at.map(|i| sampled[i].plan().figures()) else {
            table.row(cells(about, (0..7).map(|_| "-".to_string())));
            continue;
        };
        let figures = [
            blocks,
            plan.boundaries,
            plan.tests,
            plan.skipping,
            plan.resumed,
            plan.sampling,
        ];
        for (sum, figure) in sums.iter_mut().zip(figures) {
            *sum += figure;
        }
        let apart = if plan.apart { "yes" } else { "no" }.to_string();
        let [_, boundaries, tests, versions @ ..] = figures.map(|n| n.to_string());
        let before = [boundaries, plan.slots.to_string(), tests];
        table.row(cells(
            about,
            before.into_iter().chain(versions).chain([apart]),
        ));
    }
    let [blocks, boundaries, tests, versions @ ..] = sums.map(|n| group_all_digits(n as u64));
    let about = [
        "all sampled".to_string(),
        String::new(),
        String::new(),
        blocks,
    ];
    let before = [boundaries, String::new(), tests];
    table.row(cells(
        about,
        before.into_iter().chain(versions).chain([String::new()]),
    ));
    table
}

const SAMPLED: [&str; 11] = [
    "function",
    "status",
    "callers",
    "blocks",
    "boundaries",
    "slots",
    "tests",
    "skipping",
    "resumed",
    "sampling",
    "apart",
];
