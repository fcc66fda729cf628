//! Tasks → shares.

use super::share::share;
use super::{
    Assignment, Cost, Costs, Distribution, Part, Share, Spread, Task, distribute,
    distribute_by_halves, find_partition,
};
use crate::base::index::{CopyId, EdgeId, FuncId, IdSet, TiVec, ti_vec};
use crate::paths::dag::reduced::Reduced;
use crate::paths::function::{FunctionInput, Measuring};
use crate::paths::numbering::pspp;
use rayon::prelude::*;

/// A function whose tasks would take more than this many edge visits stays whole. (The paper's
/// analysis is quadratic here: each of up to out-degree(ENTRY) tasks is labelled by itself.)
const MAX_PARTITION_WORK: usize = 1 << 26;

/// Makes tasks and gives them to copies.
pub type Distribute = fn(&Units) -> Assignment;

/// Whole functions, longest first.
pub fn assign_longest_first(units: &Units) -> Assignment {
    units.assign(&|_| false, distribute)
}

/// Whole functions, so that twice as many copies never make the slowest one slower ([`distribute_by_halves`]).
pub fn assign_by_halves(units: &Units) -> Assignment {
    units.assign(&|_| false, distribute_by_halves)
}

/// Whole functions, longest first, but those with at most one call site are split: P3 paper, §3.2.
pub fn split_where_called_once(units: &Units) -> Assignment {
    units.assign(&|f| units.functions[f.index()].call_sites <= 1, distribute)
}

/// Everything to the first copy, as far as it matters who has what: others do the same.
pub fn to_the_first(units: &Units) -> Assignment {
    Units::new(units.functions, units.paths, Costs::labels, 1).assign(&|_| false, distribute)
}

/// What is to be distributed: units, whole or split.
pub struct Units<'a> {
    /// All functions.
    pub functions: &'a [FunctionInput<'a>],
    /// Their paths.
    pub paths: &'a [Option<Measuring>],
    /// The number of copies.
    pub copies: u32,
    /// What profiling is taken to cost.
    pub costs: Costs,
    /// By unit: its functions that are profiled, and what they cost together.
    members: TiVec<FuncId, u32>,
    pub(super) cost: TiVec<FuncId, u64>,
}

impl<'a> Units<'a> {
    /// For so many copies. `paths` is [`crate::paths::function::all_paths`] of `functions`. Linear.
    pub fn new(
        functions: &'a [FunctionInput<'a>],
        paths: &'a [Option<Measuring>],
        cost: Cost,
        copies: u32,
    ) -> Self {
        let costs = cost(functions, paths);
        let mut units = Units {
            functions,
            paths,
            copies,
            costs,
            members: ti_vec![0; functions.len()],
            cost: ti_vec![0; functions.len()],
        };
        for (i, (f, p)) in functions.iter().zip(paths).enumerate() {
            if let Some(p) = p {
                units.members[f.unit] += 1;
                units.cost[f.unit] += units.costs.price_paths(i, p, &p.numbering, None);
            }
        }
        units
    }

    /// Whether no other function that is profiled must stay with `f`.
    pub fn is_alone(&self, f: &FunctionInput) -> bool {
        self.members[f.unit] == 1
    }

    /// Splits the functions that `may_split`, and distributes.
    pub(super) fn assign(
        &self,
        may_split: &(dyn Fn(FuncId) -> bool + Sync),
        spread: Spread,
    ) -> Assignment {
        let tasks = self.tasks(may_split);
        let costs: Vec<u64> = tasks.iter().map(|t| t.cost).collect();
        let Distribution { copy, load } = spread(&costs, self.copies);
        let mut by_unit: TiVec<FuncId, Vec<_>> = ti_vec![Vec::new(); self.functions.len()];
        for (t, c) in tasks.iter().zip(copy) {
            by_unit[t.unit].push((c, t));
        }
        let of_unit = |f: &FunctionInput| &by_unit[f.unit];
        let functions = self.functions.iter();
        Assignment {
            shares: functions.clone().map(|f| share(f, of_unit(f))).collect(),
            tasks: functions.map(|f| of_unit(f).len() as u32).collect(),
            load,
        }
    }

    /// The cost of what each copy has: less than that of its tasks where they overlap.
    pub(super) fn union_load(&self, shares: &[Share]) -> TiVec<CopyId, u64> {
        let costs = shares.par_iter().enumerate().flat_map_iter(|(i, share)| {
            let paths = self.paths[i].as_ref();
            let cost = move |(c, part)| {
                let paths = paths.expect("only what is profiled has a share");
                match part {
                    Part::Edges(set) => (c, self.part_cost(i, paths, Some(set))),
                    _ => (c, self.part_cost(i, paths, None)),
                }
            };
            share.parts().into_iter().map(cost)
        });
        let mut load = ti_vec![0; self.copies as usize];
        for (copy, cost) in costs.collect::<Vec<_>>() {
            load[copy] += cost;
        }
        load
    }

    fn part_cost(&self, f: usize, paths: &Measuring, edges: Option<&IdSet<EdgeId>>) -> u64 {
        let subset = edges.filter(|set| !set.is_full());
        let numbering = subset.map(|set| pspp(&paths.dag, set));
        let numbering = numbering.as_ref().unwrap_or(&paths.numbering);
        self.costs.price_paths(f, paths, numbering, subset)
    }

    /// Every unit's tasks, by ascending unit.
    fn tasks(&self, may_split: &(dyn Fn(FuncId) -> bool + Sync)) -> Vec<Task> {
        let tasks = (0..self.functions.len())
            .into_par_iter()
            .flat_map_iter(|i| {
                let unit = FuncId::new(i);
                let split = self.members[unit] == 1 && may_split(unit);
                let parts = match &self.paths[i] {
                    Some(p) if split => self.split(i, p),
                    _ => Vec::new(),
                };
                match (parts.len(), self.members[unit]) {
                    (_, 0) => Vec::new(),
                    (0 | 1, _) => vec![Task {
                        unit,
                        edges: None,
                        cost: self.cost[unit],
                    }],
                    _ => parts,
                }
            });
        tasks.collect()
    }

    /// The tasks of a function that may be split: P3 paper, Algorithm 2, `find_partition`.
    fn split(&self, f: usize, paths: &Measuring) -> Vec<Task> {
        let dag = &paths.dag;
        let threshold = dag.out_degree(dag.entry()).max(self.copies as usize);
        if threshold.saturating_mul(dag.edges().len()) > MAX_PARTITION_WORK {
            return Vec::new();
        }
        let parts = find_partition(dag, &Reduced::new(dag), threshold);
        let task = |edges: IdSet<EdgeId>| Task {
            unit: FuncId::new(f),
            cost: self.part_cost(f, paths, Some(&edges)),
            edges: Some(edges),
        };
        parts.into_iter().map(task).collect()
    }
}
