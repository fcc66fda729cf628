//! Estimates on the screen: the paths that ran in bursts, and sampled subpaths.

mod subpaths;

use super::data::{BrowsedFunction, Evidence, Told};
use super::paths::Shares;
use crate::base::error::Result;
use crate::base::index::{FuncId, PathId, TiVec};
use crate::base::table::number_of;
use crate::estimates::data::Estimated;
use crate::estimates::shadow::profile::BurstProfile;
use crate::profile::Profile;
use crate::read::report::lines;
use crate::read::report::steps::Steps;
use std::rc::Rc;

/// The functions that ran, as far as `estimated` tells of it.
///
/// # Errors
/// A profile that is damaged.
pub(super) fn list_functions<'a>(
    profile: &'a Profile,
    estimated: &Estimated,
    steps: &Steps,
) -> Result<Told<'a>> {
    match estimated {
        Estimated::Sampled(_) => Ok(subpaths::list_functions(profile.as_sampled()?, steps)),
        Estimated::Bursts(_) => tell_bursts(profile.bursts()?, steps),
    }
}

/// Bursts, and how often each path is expected to have run.
struct InBursts<'a> {
    profile: BurstProfile<'a>,
    expected: TiVec<FuncId, Vec<(PathId, u64)>>,
}

impl<'a> Evidence<'a> for InBursts<'a> {
    fn title(&self, functions: &str, total: u128, distinct: &str) -> String {
        format!(
            "{functions} ran in {}, {}, {distinct} distinct; shares are estimates",
            number_of(self.profile.bursts.number(), "burst"),
            number_of(total as u64, "path")
        )
    }

    fn counts(&self, f: FuncId) -> Vec<(PathId, u64)> {
        self.expected[f].clone()
    }

    fn shares(&self) -> Option<Shares<'a>> {
        Some(Rc::new(self.profile.bursts.shares()))
    }
}

fn tell_bursts<'a>(bursts: BurstProfile<'a>, steps: &Steps) -> Result<Told<'a>> {
    let profile = bursts.profile;
    let expected = bursts.bursts.expected_counts();
    let mut functions = Vec::new();
    for f in profile.executed_functions() {
        let all: Vec<_> = expected[f].iter().map(|&(id, n)| (f, id, n)).collect();
        let weights = lines(profile, &all)?;
        functions.push(BrowsedFunction {
            f,
            name: steps.name(f),
            count: all.iter().map(|p| u128::from(p.2)).sum(),
            weight: weights
                .iter()
                .map(|l| u128::from(l.count) * u128::from(l.instructions))
                .sum(),
            distinct: all.len(),
        });
    }
    let bursts = InBursts {
        profile: bursts,
        expected,
    };
    Ok((Box::new(bursts), functions))
}
