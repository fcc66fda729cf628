//! `show --format json`: a contract with other programs.

use super::{ProgramBlock, Report, SubpathRow, decisions, locs};
use crate::base::index::BlockId;
use crate::estimates::data::subpaths::Sampling;
use crate::read::report::json::{About, profile_json};
use crate::read::report::words::Said;
use serde::Serialize;

#[derive(Serialize)]
struct Shown<'a> {
    program: SampleTotals<'a>,
    subpaths: Vec<Subpath<'a>>,
}

/// The whole profile, whatever was selected.
#[derive(Serialize)]
struct SampleTotals<'a> {
    /// Estimated.
    blocks: f64,
    /// Half of the interval that holds their number in 95 % of all cases.
    blocks_half_width: f64,
    points: u64,
    distinct: usize,
    sampling: &'a Option<Sampling>,
    doublings: u32,
    /// Samples that are in no count.
    too_long: u64,
    #[serde(flatten)]
    about: About<'a>,
}

#[derive(Serialize)]
struct Subpath<'a> {
    count: f64,
    /// Half of the interval that holds the count in 95 % of all cases.
    half_width: f64,
    share: f64,
    share_half_width: f64,
    points: u64,
    /// In counting samples: how many more are expected to have come before the first that was counted.
    missed: u64,
    length: usize,
    /// Of how many it was joined, where it was.
    #[serde(skip_serializing_if = "is_one")]
    joined: usize,
    blocks: Vec<Block<'a>>,
    /// File and line in turn.
    lines: Vec<(&'a str, u32)>,
    decisions: Vec<Decision<'a>>,
}

#[derive(Serialize)]
struct Block<'a> {
    module: &'a str,
    name: &'a str,
    block: BlockId,
}

#[derive(Serialize)]
struct Decision<'a> {
    function: &'a str,
    #[serde(flatten)]
    said: Said,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_one(n: &usize) -> bool {
    *n == 1
}

/// The selected subpaths, hottest first.
pub fn render(report: &Report) -> String {
    let (sampled, profile) = (report.profile, report.profile.profile);
    let shown = Shown {
        program: SampleTotals {
            blocks: sampled.blocks(),
            blocks_half_width: sampled.estimate_executed().half_width,
            points: report.points,
            distinct: report.distinct,
            sampling: &sampled.sample.sampling,
            doublings: sampled.sample.doublings,
            too_long: sampled.sample.too_long,
            about: profile_json(profile),
        },
        subpaths: report.rows.iter().map(|r| subpath(report, r)).collect(),
    };
    serde_json::to_string(&shown).expect("it serialises") + "\n"
}

fn subpath<'a>(report: &'a Report, row: &SubpathRow) -> Subpath<'a> {
    let profile = report.profile.profile;
    let block = |p: &ProgramBlock| Block {
        module: profile.module(p.func),
        name: &profile.entry(p.func).name,
        block: p.block,
    };
    let files = &profile.manifest.files;
    let locs = locs(profile, &row.places).into_iter();
    let decisions = decisions(profile, &report.sources, &row.places).into_iter();
    Subpath {
        count: row.estimate.count,
        half_width: row.estimate.half_width,
        share: row.share,
        share_half_width: row.share_half_width,
        points: row.points.counted,
        missed: row.points.missed,
        length: row.places.len(),
        joined: row.joined,
        blocks: row.places.iter().map(block).collect(),
        lines: locs.map(|l| (&*files[l.file as usize], l.line)).collect(),
        decisions: decisions
            .map(|(f, said)| Decision {
                function: &profile.entry(f).name,
                said,
            })
            .collect(),
    }
}
