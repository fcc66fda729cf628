//! Longest processing time first (Graham 1969): a 4/3-approximation of the even load. And a
//! distribution whose copies are parts of those of one over half as many, for costs that cannot be
//! relied on.

use crate::base::index::{CopyId, TiVec, ti_vec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::AddAssign;

/// Spreads tasks of these costs over so many copies.
pub type Spread = fn(&[u64], u32) -> Distribution;

/// Which copy gets each task, and what every copy then has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution<C = u64> {
    /// The copy of each task, in the order of the costs given.
    pub copy: Vec<CopyId>,
    /// The sum of its tasks' costs, by copy.
    pub load: TiVec<CopyId, C>,
}

/// Gives each task, by decreasing cost (ties in the order given), to the copy with the least
/// load (ties to the lowest copy). O(n log n + n log k).
pub fn distribute<C>(costs: &[C], copies: u32) -> Distribution<C>
where
    C: Copy + Default + Ord + AddAssign,
{
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&t| Reverse(costs[t]));
    let empty = (0..copies).map(|c| Reverse((C::default(), CopyId(c))));
    let mut heap: BinaryHeap<Reverse<(C, CopyId)>> = empty.collect();
    let mut copy = vec![CopyId(0); costs.len()];
    for t in order {
        let mut least = heap.peek_mut().expect("at least one copy");
        copy[t] = least.0.1;
        least.0.0 += costs[t];
    }
    let mut load = ti_vec![C::default(); copies as usize];
    for (t, c) in copy.iter().enumerate() {
        load[*c] += costs[t];
    }
    Distribution { copy, load }
}

/// Distributes tasks over copies. An odd number of copies gets them as by [`distribute`]. For an even number, the tasks
/// of each of half as many copies are spread over one or more of these, longest first, so that the slowest copy has the
/// least to do. Twice as many copies then never make the slowest one slower, whatever tasks really cost: each does part
/// of what one of them did. O(copies · (n log n)) at worst, O(n log n log k) where loads are even.
pub fn distribute_by_halves(costs: &[u64], copies: u32) -> Distribution {
    if !copies.is_multiple_of(2) {
        return distribute(costs, copies);
    }
    let half = copies / 2;
    let mut tasks_of = ti_vec![Vec::new(); half as usize];
    for (t, c) in distribute_by_halves(costs, half).copy.iter().enumerate() {
        tasks_of[*c].push(t);
    }
    let groups = tasks_of.into_iter().map(|tasks| Group::new(tasks, costs));
    let mut groups: Vec<Group> = groups.collect();
    let mut next: BinaryHeap<_> = (0..).zip(&groups).filter_map(Group::key).collect();
    // Half of the copies have tasks already; each of the other half goes where it relieves the slowest most.
    for _ in 0..half {
        let Some((.., Reverse(g))) = next.pop() else {
            break; // no group has more tasks than copies
        };
        groups[g].take_a_copy();
        next.extend(Group::key((g, &groups[g])));
    }
    let mut all = Distribution {
        copy: vec![CopyId(0); costs.len()],
        load: ti_vec![0; copies as usize],
    };
    // The first copy of a group is the one that it was of.
    let mut free = half..copies;
    for (first, Group { tasks, parts, .. }) in (0..half).zip(groups) {
        let more = free.by_ref().take(parts.load.len() - 1);
        let numbers: TiVec<CopyId, CopyId> =
            std::iter::once(first).chain(more).map(CopyId).collect();
        for (t, part) in tasks.into_iter().zip(parts.copy) {
            all.copy[t] = numbers[part];
        }
        for (copy, load) in numbers.into_iter().zip(parts.load) {
            all.load[copy] = load;
        }
    }
    all
}

/// The tasks of one copy, and how they are spread over one or more.
#[derive(Debug)]
struct Group {
    tasks: Vec<usize>,
    costs: Vec<u64>,
    parts: Distribution,
}

impl Group {
    fn new(tasks: Vec<usize>, costs: &[u64]) -> Group {
        let costs: Vec<u64> = tasks.iter().map(|t| costs[*t]).collect();
        let parts = distribute(&costs, 1);
        Group {
            tasks,
            costs,
            parts,
        }
    }

    fn take_a_copy(&mut self) {
        self.parts = distribute(&self.costs, self.parts.load.len() as u32 + 1);
    }

    /// Of two groups, the larger key needs another copy more: one whose slowest copy has several
    /// tasks, then what that has to do. `None` where another one would have nothing to do.
    fn key((number, group): (usize, &Group)) -> Option<(bool, u64, Reverse<usize>)> {
        if group.parts.load.len() >= group.tasks.len() {
            return None;
        }
        let slowest = *group.parts.load.iter().max()?;
        let longest = *group.costs.iter().max()?;
        Some((slowest > longest, slowest, Reverse(number)))
    }
}
