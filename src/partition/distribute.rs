//! Longest processing time first (Graham 1969): a 4/3-approximation of the even load. And halves of it, for costs that
//! cannot be relied on.

use crate::index::CopyId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Spreads tasks of these costs over so many copies.
pub type Spread = fn(&[u64], u32) -> Distribution;

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

/// The same for an odd number of copies; an even number halves each of half as many. Twice as many copies then never make the
/// slowest one slower, whatever tasks really cost: each does part of what one of them did. O(n log n log k).
pub fn halved(costs: &[u64], copies: u32) -> Distribution {
    if !copies.is_multiple_of(2) {
        return distribute(costs, copies);
    }
    let half = copies / 2;
    let mut halves = halved(costs, half);
    halves.load.resize(copies as usize, 0);
    let mut tasks_of = vec![Vec::new(); half as usize];
    for (t, c) in halves.copy.iter().enumerate() {
        tasks_of[c.index()].push(t);
    }
    for (c, tasks) in (0..half).map(CopyId).zip(tasks_of) {
        let of: Vec<u64> = tasks.iter().map(|t| costs[*t]).collect();
        let parts = distribute(&of, 2);
        let pair = [c, CopyId(c.0 + half)];
        for (t, part) in tasks.into_iter().zip(parts.copy) {
            halves.copy[t] = pair[part.index()];
        }
        for (copy, load) in pair.into_iter().zip(parts.load) {
            halves.load[copy.index()] = load;
        }
    }
    halves
}
