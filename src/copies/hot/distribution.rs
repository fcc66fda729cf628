//! Distributions of tasks over copies, and which is the best.

use super::costs::ProgramCosts;
use super::room::Room;
use super::selection::make_hot;
use super::tasks::Tasks;
use crate::base::index::{CopyId, PathId, TiVec, ti_vec};
use crate::copies::partition::{Assignment, Costs, Ranges, Share, Units, assign_longest_first};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A distribution and what it costs each copy.
struct Candidate {
    shares: Vec<Share>,
    tasks: Vec<u32>,
    load: TiVec<CopyId, f64>,
}

impl Candidate {
    fn slowest_load(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f64::max)
    }
}

impl ProgramCosts<'_> {
    /// The best distribution for `copies`, or fewer.
    pub(super) fn assign(&self, copies: u32) -> Assignment {
        let mut best = self.best_for(copies);
        // Code that is split takes more in all, so the slowest of more copies may be slower. Fewer are tried only
        // where even the counting alone, spread evenly, would leave them faster.
        for fewer in (1..copies).rev() {
            if self.least_load() / f64::from(fewer) < best.slowest_load() {
                let other = self.best_for(fewer);
                if other.slowest_load() < best.slowest_load() {
                    best = other;
                }
            }
        }
        let mut load: TiVec<CopyId, u64> = best.load.iter().map(|&l| l as u64).collect();
        load.resize(copies as usize, 0);
        Assignment {
            shares: best.shares,
            tasks: best.tasks,
            load,
        }
    }

    /// Every path that is executed is counted by some copy: at least this.
    fn least_load(&self) -> f64 {
        let facts = self.facts.iter().flatten();
        facts.map(|f| f.cost_of(f.flow.total())).sum()
    }

    /// The best of what splits, of whole functions by expected instructions, and of pbl's.
    fn best_for(&self, copies: u32) -> Candidate {
        let mut room = Room::new(self.size(), copies);
        let mut tasks = Tasks::new(self, copies);
        // Before tasks are split: with room for hot paths that splitting would take.
        let whole_functions = self.try_distribution(&tasks, &mut room.clone(), copies);
        let split = tasks.split(self, &mut room);
        let split = split.then(|| self.try_distribution(&tasks, &mut room, copies));
        let pbl = Units::new(self.functions, self.paths, Costs::labels, copies);
        let pbl = assign_longest_first(&pbl);
        let pbl = self.candidate(pbl.shares, pbl.tasks, copies);
        let candidates = split.into_iter().chain([whole_functions, pbl]);
        let best = candidates.min_by(|a, b| a.slowest_load().total_cmp(&b.slowest_load()));
        best.expect("there are two at least")
    }

    fn candidate(&self, shares: Vec<Share>, tasks: Vec<u32>, copies: u32) -> Candidate {
        let costs = shares.par_iter().enumerate().flat_map_iter(|(i, share)| {
            let cost = move |(c, part)| (c, self.part_cost(i, part));
            share.parts().into_iter().map(cost)
        });
        let mut load = ti_vec![0.0; copies as usize];
        for (copy, cost) in costs.collect::<Vec<(CopyId, f64)>>() {
            load[copy] += cost;
        }
        Candidate {
            shares,
            tasks,
            load,
        }
    }

    /// Distributes tasks, and makes paths hot.
    fn try_distribution(&self, tasks: &Tasks, room: &mut Room, copies: u32) -> Candidate {
        let copy_of = tasks.distribute(copies);
        let mut owners: BTreeMap<usize, Vec<(PathId, CopyId)>> = BTreeMap::new();
        let mut numbers = vec![0; self.functions.len()];
        for (task, copy) in tasks.all.iter().zip(&copy_of) {
            owners
                .entry(task.function)
                .or_default()
                .push((task.id, *copy));
            numbers[task.function] += 1;
        }
        let shares = (0..self.functions.len()).map(|i| {
            let of_unit = tasks.representative(self, i).and_then(|r| owners.get(&r));
            match of_unit {
                Some(owners) if self.facts[i].is_some() => {
                    share(Ranges::new(owners.clone(), Vec::new()))
                }
                _ => Share::Nothing,
            }
        });
        let mut shares: Vec<Share> = shares.collect();
        let hot = self.hot_paths(&shares, room);
        make_hot(&mut shares, hot);
        let shares = self.with_warm_edges(shares, room);
        self.candidate(shares, numbers, copies)
    }
}

fn share(ranges: Ranges) -> Share {
    match ranges.owners[..] {
        [(_, copy)] => Share::Whole(copy),
        _ => Share::Ranges(ranges),
    }
}
