//! The load made even by splitting what keeps it uneven.

use super::{Assignment, Costs, Units, assign_longest_first, distribute};
use crate::base::index::FuncId;
use std::cmp::Reverse;

/// At most this many functions are split because they keep the load uneven.
const MAX_SPLITS: usize = 16;

/// Splits as many of the functions that keep the load uneven, the costliest first, as makes the
/// slowest copy cheapest: what is split costs more in all, and on all its copies.
pub fn split_evenly(units: &Units) -> Assignment {
    let even = units.cost.iter().sum::<u64>() / u64::from(units.copies);
    let mut large: Vec<FuncId> = units.cost.keys().collect();
    large.retain(|&f| units.cost[f] > even);
    large.sort_by_key(|&f| Reverse(units.cost[f]));
    large.truncate(MAX_SPLITS);
    (0..=large.len())
        .map(|n| units.assign(&|f| large[..n].contains(&f), distribute))
        .chain([by_labels(units)])
        .map(|assignment| Assignment {
            load: units.union_load(&assignment.shares),
            ..assignment
        })
        .min_by_key(|a| a.load.iter().copied().max())
        .expect("nothing split is one of them")
}

/// What pbl makes of it. Longest first is no optimum, and by other costs it may by luck come out
/// evener: so that this is never worse than pbl by its own costs, that is tried too.
fn by_labels(units: &Units) -> Assignment {
    assign_longest_first(&Units::new(
        units.functions,
        units.paths,
        Costs::labels,
        units.copies,
    ))
}

#[cfg(test)]
mod tests;
