//! The hottest paths of a profile: those on which most instructions were executed.

use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::profile::measurement::PathProfile;
use crate::read::report::rank_by_instructions;
use std::collections::{BTreeMap, BTreeSet};

/// How many paths are hot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Most {
    /// So many.
    Paths(usize),
    /// As many as ran this share of all instructions, from 0 to 1.
    Share(f64),
}

/// The hottest paths, by function. O(executed paths · log, and their length).
pub(super) fn find_hottest(
    profile: PathProfile,
    most: Most,
) -> Result<BTreeMap<FuncId, BTreeSet<PathId>>> {
    let functions: Vec<FuncId> = profile.functions().collect();
    let ranked = rank_by_instructions(profile, &functions)?;
    let number = match most {
        Most::Paths(n) => n,
        Most::Share(share) => {
            let all: u128 = ranked.iter().map(|(_, work)| work).sum();
            let mut sum = 0;
            let is_before = |(_, work): &&(_, u128)| {
                let wanted = (sum as f64) < all as f64 * share;
                sum += work;
                wanted
            };
            ranked.iter().take_while(is_before).count()
        }
    };
    let mut by_function: BTreeMap<FuncId, BTreeSet<PathId>> = BTreeMap::new();
    for ((f, id, _), _) in ranked.into_iter().take(number) {
        by_function.entry(f).or_default().insert(id);
    }
    Ok(by_function)
}
