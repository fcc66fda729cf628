//! `show --format csv`: a table of subpaths.

use super::{Report, SubpathRow, decisions, locs, phrase_decisions};
use crate::base::table;
use crate::read::report::positions::join_positions;
use crate::read::report::steps::Steps;

/// One record for each selected subpath, hottest first, after a heading.
pub fn render(report: &Report) -> String {
    let heading = [
        "count",
        "half_width",
        "share",
        "share_half_width",
        "points",
        "missed",
        "length",
        "joined",
        "block_list",
        "lines",
        "decisions",
    ];
    let steps = Steps::new(report.profile.profile, &report.sources, true);
    let records = report.rows.iter().map(|r| row_record(report, &steps, r));
    table::csv(&heading, records)
}

fn row_record(report: &Report, steps: &Steps, row: &SubpathRow) -> Vec<String> {
    let profile = report.profile.profile;
    let block = |p: &super::ProgramBlock| format!("{}:{}", profile.entry(p.func).name, p.block);
    let blocks: Vec<String> = row.places.iter().map(block).collect();
    let taken = phrase_decisions(
        steps,
        &row.places,
        &decisions(profile, &report.sources, &row.places),
    );
    vec![
        format!("{:.1}", row.estimate.count),
        format!("{:.1}", row.estimate.half_width),
        format!("{:.6}", row.share),
        format!("{:.6}", row.share_half_width),
        row.points.counted.to_string(),
        row.points.missed.to_string(),
        row.places.len().to_string(),
        row.joined.to_string(),
        blocks.join(" "),
        join_positions(&profile.manifest.files, &locs(profile, &row.places)),
        taken.join(" · "),
    ]
}
