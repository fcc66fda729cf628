//! `show --format csv`: a table of paths.

use super::positions::join_positions;
use super::steps::{Steps, in_a_line};
use super::{Line, Report};
use crate::base::table;
use crate::paths::dag::{PathEnd, PathStart};

/// One record for each selected path, hottest first, after a heading.
pub fn render(report: &Report) -> String {
    let mut heading = vec![
        "module",
        "function",
        "id",
        "count",
        "path_share",
        "instruction_share",
        "instructions",
        "blocks",
        "starts",
        "ends",
        "back_to",
        "block_list",
        "lines",
        "decisions",
    ];
    if report.time.is_some() {
        heading.push("expected_time_share");
    }
    if report.profile.is_selective() {
        heading.extend(["state", "known"]);
    }
    let steps = Steps::new(report.profile, &report.sources, true);
    let records = report.lines.iter().map(|l| record(report, &steps, l));
    table::csv(&heading, records)
}

fn record(report: &Report, steps: &Steps, line: &Line) -> Vec<String> {
    let (profile, path) = (report.profile, &line.path);
    let (ends, back_to) = match path.end {
        PathEnd::Exit => ("exit", String::new()),
        PathEnd::Back(_, to) => ("back", to.to_string()),
    };
    let starts = if path.start == PathStart::Entry {
        "entry"
    } else {
        "loop"
    };
    let blocks: Vec<String> = path.blocks.iter().map(|b| b.to_string()).collect();
    let time = report.expected_time(line).map(|t| format!("{t:.6}"));
    let record = vec![
        profile.module(line.func).to_string(),
        profile.entry(line.func).name.clone(),
        line.id.to_string(),
        line.count.to_string(),
        format!("{:.6}", report.path_share(line)),
        format!("{:.6}", report.instruction_share(line)),
        line.instructions.to_string(),
        path.blocks.len().to_string(),
        starts.to_string(),
        ends.to_string(),
        back_to,
        blocks.join(" "),
        join_positions(&profile.manifest.files, &line.locs),
        in_a_line(&steps.decision_rows(line.func, &report.words().decisions(line))),
    ];
    let mut record: Vec<String> = record.into_iter().chain(time).collect();
    if profile.is_selective() {
        let is_least = profile.runs_at_least(line.func, line.id);
        let state = if is_least { "ran-at-least" } else { "ran" };
        let known = profile.is_known(line.func, line.id);
        record.extend([state.to_string(), known.to_string()]);
    }
    record
}
