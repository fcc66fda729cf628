//! Longest processing time first (Graham 1969): a 4/3-approximation of the even load.

use crate::index::CopyId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which copy gets each task, and what every copy then has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// The copy of each task, in the order of the costs given.
    pub copy: Vec<CopyId>,
    /// The sum of its tasks' costs, by copy.
    pub load: Vec<u64>,
}

/// Gives each task, by decreasing cost (ties in the order given), to the copy with the least
/// load (ties to the lowest copy). O(n log n + n log k).
pub fn distribute(costs: &[u64], copies: u32) -> Distribution {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&t| Reverse(costs[t]));
    let mut heap: BinaryHeap<Reverse<(u64, CopyId)>> =
        (0..copies).map(|c| Reverse((0, CopyId(c)))).collect();
    let mut copy = vec![CopyId(0); costs.len()];
    for t in order {
        let mut least = heap.peek_mut().expect("at least one copy");
        copy[t] = least.0.1;
        least.0.0 += costs[t];
    }
    let mut load = vec![0; copies as usize];
    for (t, c) in copy.iter().enumerate() {
        load[c.index()] += costs[t];
    }
    Distribution { copy, load }
}
