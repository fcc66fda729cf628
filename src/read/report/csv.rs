//! `show --format csv`: a table of paths.

use super::positions::join_positions;
use super::steps::{Steps, join_steps};
use super::{Line, Report, function_columns};
use crate::base::rows::Cell;
use crate::paths::dag::{PathEnd, PathStart};

/// One record for each selected path, hottest first, after a heading.
pub fn render(report: &Report) -> String {
    let profile = report.profile;
    let steps = Steps::new(profile, &report.sources, true);
    let decisions = |l: &Line| steps.decision_rows(l.func, &report.words().decisions(l));
    let blocks = |l: &Line| {
        let blocks = l.path.blocks.iter().map(ToString::to_string);
        blocks.collect::<Vec<_>>().join(" ")
    };
    let mut table = function_columns(|l: &Line| (profile, l.func))
        .csv("id", |l| l.id.to_string())
        .csv("count", |l| l.count)
        .csv("path_share", |l| Cell::Share(report.path_share(l)))
        .csv("instruction_share", |l| {
            Cell::Share(report.instruction_share(l))
        })
        .csv("instructions", |l| l.instructions)
        .csv("blocks", |l| l.path.blocks.len())
        .csv("starts", |l| match l.path.start {
            PathStart::Entry => "entry",
            PathStart::Loop => "loop",
        })
        .csv("ends", |l| match l.path.end {
            PathEnd::Exit => "exit",
            PathEnd::Back(..) => "back",
        })
        .csv("back_to", |l| match l.path.end {
            PathEnd::Exit => None,
            PathEnd::Back(_, to) => Some(to.to_string()),
        })
        .csv("block_list", blocks)
        .csv("lines", |l| {
            join_positions(&profile.manifest.files, &l.locs)
        })
        .csv("decisions", |l| join_steps(&decisions(l)));
    if report.time.is_some() {
        let time = |l: &Line| report.expected_time(l).map(Cell::Share);
        table = table.csv("expected_time_share", time);
    }
    if profile.is_selective() {
        table = table
            .csv("state", |l| {
                let is_least = profile.runs_at_least(l.func, l.id);
                if is_least { "ran-at-least" } else { "ran" }
            })
            .csv("known", |l| profile.is_known(l.func, l.id).to_string());
    }
    table.to_csv(&report.lines)
}
