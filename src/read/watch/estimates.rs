//! What is looked at where it is estimated: paths in bursts, or sampled subpaths.

use super::counts::{Count, CountKey, Counted, Counts, count_noun};
use crate::base::error::Result;
use crate::base::index::{BlockId, FuncId};
use crate::base::table::exact_number_of;
use crate::estimates::data::Estimated;
use crate::estimates::subpath::report::{ProgramBlock, Report, SubpathRow, Texts};
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::read::report::steps::Steps;
use crate::read::source::Sources;

/// What `profile` counts, which is estimated.
pub(super) fn count<'a>(profile: &Profile, estimated: &'a Estimated) -> Result<Counted<'a>> {
    match estimated {
        Estimated::Sampled(_) => Ok(Counted::Subpaths(count_sampled(profile)?)),
        Estimated::Bursts(bursts) => Ok(Counted::Paths(
            bursts.expected_counts(),
            Box::new(bursts.shares()),
        )),
    }
}

fn count_sampled(profile: &Profile) -> Result<Counts> {
    let sampled = profile.as_sampled()?;
    let report = Report::new(sampled, &Selection::default());
    let count = |row: SubpathRow| Count {
        sure: row.sure_share(),
        count: row.estimate.count,
        error: Some(row.estimate.half_width),
        share: row.share,
        blocks: row.places.len(),
        key: CountKey::Subpath(row.places.iter().map(|p| (p.func, p.block)).collect()),
        rate: None,
    };
    Ok(Counts {
        all: report.rows.into_iter().map(count).collect(),
        total: sampled.blocks(),
        rate: None,
    })
}

/// What was counted, in one line; so many rows are `distinct`.
pub(super) fn totals(estimated: &Estimated, counts: &Counts, distinct: &str) -> String {
    match estimated {
        Estimated::Sampled(sample) => format!(
            "about {} executed{}; {} sampled, {distinct} distinct, one in {}",
            count_noun(counts.total, "block"),
            counts.rate_of("blocks"),
            exact_number_of(sample.count_points(), "subpath"),
            exact_number_of(sample.period(), "block")
        ),
        Estimated::Bursts(bursts) => format!(
            "{} in {}, {distinct} distinct; shares are estimates",
            count_noun(counts.total, "path"),
            exact_number_of(bursts.number(), "burst")
        ),
    }
}

/// A subpath, with its lines and decisions.
pub(super) fn words(
    steps: &Steps,
    sources: &Sources,
    blocks: &[(FuncId, BlockId)],
) -> (String, Vec<String>) {
    let places = blocks.iter();
    let places = places.map(|&(func, block)| ProgramBlock { func, block });
    let text = Texts::new(steps, sources, &places.collect::<Vec<_>>());
    let details = text.details().cloned().collect();
    (text.blocks, details)
}
