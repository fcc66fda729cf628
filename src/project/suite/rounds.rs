//! Rounds of a suite that ran other processes than the rest: those are repeated.
//!
//! The first round of many suites builds something by running a program that is profiled (gzip's makes a compressed
//! manual), and tests that depend on time start a process more or less. Copies compare only where they ran alike.

use crate::base::error::Result;
use crate::base::index::CopyId;
use crate::profile::manifest::Manifest;
use crate::profile::merge::{Starts, count_starts};
use crate::profile::verdict::copies_needed;
use crate::project::record::Record;
use std::collections::BTreeMap;

/// The copies whose rounds ran otherwise than most rounds did, and one program that shows it. `order` is the order in
/// which the rounds ran: of groups of equal size the one that ran last is the rule, since what the first round built is
/// there now.
///
/// # Errors
/// A manifest cannot be read.
pub(crate) fn find_odd_rounds(programs: &[Record], order: &[u32]) -> Result<BTreeMap<u32, String>> {
    let mut odd = BTreeMap::new();
    for program in programs {
        let path = program.manifest();
        let mut starts = count_starts(&path, &program.raw())?;
        if starts.is_empty() {
            continue;
        }
        for copy in copies_needed(&Manifest::read(&path)?) {
            starts.entry(copy).or_default();
        }
        let name = program.program.file_name().unwrap_or_default();
        for (copy, difference) in find_odd_copies(&starts, order) {
            let line = || format!("{}: {difference}", name.to_string_lossy());
            odd.entry(copy.0).or_insert_with(line);
        }
    }
    Ok(odd)
}

/// The copies of one program that were not started like most.
fn find_odd_copies(starts: &BTreeMap<CopyId, Starts>, order: &[u32]) -> Vec<(CopyId, String)> {
    let mut groups: Vec<Vec<CopyId>> = Vec::new();
    for (copy, here) in starts {
        match groups.iter_mut().find(|g| starts[&g[0]].is_like(here)) {
            Some(group) => group.push(*copy),
            None => groups.push(vec![*copy]),
        }
    }
    let last_turn = |group: &Vec<CopyId>| {
        let turn = |c: &CopyId| order.iter().rposition(|o| *o == c.0);
        group.iter().map(turn).max()
    };
    let rule = groups.iter().max_by_key(|g| (g.len(), last_turn(g)));
    let Some(rule) = rule.map(|g| g[0]) else {
        return Vec::new();
    };
    let odd = groups.iter().filter(|g| g[0] != rule).flatten();
    odd.map(|c| (*c, starts[c].difference(&starts[&rule])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The odd copies of these numbers of runs, when rounds ran in this order.
    fn odd_copies(runs: &[u32], order: &[u32]) -> Vec<u32> {
        let starts = runs.iter().enumerate();
        let starts = starts.map(|(c, n)| (CopyId(c as u32), Starts::of_runs(*n)));
        let odd = find_odd_copies(&starts.collect(), order);
        odd.into_iter().map(|(c, _)| c.0).collect()
    }

    #[test]
    fn odd_rounds_are_those_unlike_the_largest_group() {
        assert_eq!(odd_copies(&[3, 3, 3], &[0, 1, 2]), [0u32; 0]);
        assert_eq!(odd_copies(&[4, 3, 3], &[0, 1, 2]), [0]);
        assert_eq!(odd_copies(&[3, 3, 4, 5], &[0, 1, 2, 3]), [2, 3]);
    }

    #[test]
    fn last_of_equal_groups_is_the_rule() {
        assert_eq!(odd_copies(&[346, 345], &[0, 1]), [0]);
        // Copy 0 was repeated and differs still: the other may be the odd one.
        assert_eq!(odd_copies(&[346, 345], &[0, 1, 0]), [1]);
    }

    #[test]
    fn odd_copies_are_described() {
        let starts = [
            (CopyId(0), Starts::of_runs(4)),
            (CopyId(1), Starts::of_runs(3)),
        ];
        let odd = find_odd_copies(&starts.into(), &[0, 1]);
        assert_eq!(odd, [(CopyId(0), "4 instead of 3 runs".to_string())]);
    }
}
