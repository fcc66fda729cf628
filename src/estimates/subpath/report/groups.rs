//! What people read first: short subpaths apart from long ones, and the rotations of one loop in one row.
//!
//! A loop of n blocks that is run again and again is sampled at each of its blocks: n subpaths of one length that are
//! rotations of each other tell the same. A long subpath has few points, and covers much of a run by each; so long ones
//! have an order of their own.

use super::{ProgramBlock, SubpathRow};
use crate::estimates::data::subpaths::Sampling;
use std::collections::HashMap;

/// A row, and how many others are rotations of it.
pub(super) struct Folded<'a> {
    pub row: &'a SubpathRow,
    pub rotations: usize,
}

/// Rows in their order, each without the rotations of one before it. Joined ones stay. O(total length).
pub(super) fn fold_rotations<'a>(rows: impl Iterator<Item = &'a SubpathRow>) -> Vec<Folded<'a>> {
    let mut known: HashMap<Vec<ProgramBlock>, usize> = HashMap::new();
    let mut folded: Vec<Folded> = Vec::new();
    for row in rows {
        if row.joined == 1 {
            let next = folded.len();
            let at = *known.entry(least_rotation(&row.places)).or_insert(next);
            if at < next {
                folded[at].rotations += 1;
                continue;
            }
        }
        folded.push(Folded { row, rotations: 0 });
    }
    folded
}

/// The number of blocks up to which a subpath is a short one: half of the lengths are.
pub(super) fn longest_short(sampling: &Sampling) -> usize {
    let lengths = &sampling.lengths;
    let middle = lengths.len().div_ceil(2);
    middle
        .checked_sub(1)
        .map_or(0, |at| lengths[at].blocks as usize)
}

/// The least of all rotations: equal where two sequences are rotations of each other. O(n).
fn least_rotation<T: Ord + Clone>(items: &[T]) -> Vec<T> {
    let n = items.len();
    let (mut i, mut j, mut same) = (0, 1, 0);
    while i < n && j < n && same < n {
        let (a, b) = (&items[(i + same) % n], &items[(j + same) % n]);
        if a == b {
            same += 1;
            continue;
        }
        // No rotation that begins in what was compared is less than the other one.
        if a > b {
            i += same + 1;
        } else {
            j += same + 1;
        }
        if i == j {
            j += 1;
        }
        same = 0;
    }
    let at = i.min(j);
    [&items[at..], &items[..at]].concat()
}

#[cfg(test)]
mod tests {
    use super::least_rotation;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn least_rotation_is_the_least(items in prop::collection::vec(0u8..4, 1..20)) {
            let rotations = (0..items.len()).map(|at| [&items[at..], &items[..at]].concat());
            prop_assert_eq!(Some(least_rotation(&items)), rotations.min());
        }
    }
}
