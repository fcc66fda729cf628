//! Tasks → shares: what every copy profiles of every function, and who owns a path.

use super::{Distribution, FunctionInput, FunctionPaths, Scheme, distribute, find_partition};
use crate::dag::reduced::Reduced;
use crate::index::{CopyId, EdgeId, FuncId};
use crate::numbering::{Numbering, pspp};
use crate::weights::{Caller, call_frequencies};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use std::cmp::Reverse;

/// A function whose tasks would take more than this many edge visits stays whole. (The paper's
/// analysis is quadratic here: each of up to out-degree(ENTRY) tasks is labelled by itself.)
const MAX_PARTITION_WORK: usize = 1 << 26;

/// At most this many functions are split because they keep the load uneven.
const MAX_SPLITS: usize = 16;

/// Something that one copy will profile.
#[derive(Clone, Debug)]
pub struct Task {
    /// The function, or the first of several that must stay together.
    pub unit: FuncId,
    /// The edges of its paths; `None` is the whole unit.
    pub edges: Option<FixedBitSet>,
    /// What profiling it costs, in a unit that the scheme chooses.
    pub cost: u64,
}

/// What the copies profile of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// It is skipped.
    Nothing,
    /// One copy profiles all paths, under Ball–Larus ids.
    Whole(CopyId),
    /// Each of these copies (ascending) profiles the paths inside its edge set, under the ids of
    /// PSPP, or of Ball–Larus when the set holds all edges.
    Split(Vec<(CopyId, FixedBitSet)>),
}

impl Share {
    /// The lowest copy that profiles some of it.
    pub fn first(&self) -> Option<CopyId> {
        match self {
            Share::Nothing => None,
            Share::Whole(copy) => Some(*copy),
            Share::Split(sets) => sets.first().map(|&(copy, _)| copy),
        }
    }
}

/// The outcome of partitioning and distribution.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// By function.
    pub shares: Vec<Share>,
    /// Cost of what each copy was given.
    pub load: Vec<u64>,
    /// By function: the number of tasks; two or more: profitable.
    pub tasks: Vec<u32>,
}

/// Partitions and distributes. `paths` is [`super::all_paths`] of `functions`.
///
/// Under [`Scheme::Sbl`] copy 0 gets everything, however many copies there are.
pub fn assign(
    functions: &[FunctionInput],
    paths: &[Option<FunctionPaths>],
    scheme: Scheme,
    copies: u32,
) -> Assignment {
    let targets = if scheme == Scheme::Sbl { 1 } else { copies };
    let units = Units::new(functions, paths, scheme, targets);
    let mut assignment = match scheme {
        Scheme::Sbl | Scheme::Pbl | Scheme::Edge => units.assign(&|_| false),
        Scheme::P3 => units.assign(&|i| functions[i].call_sites <= 1),
        Scheme::P3Weighted => units.assign_evenly(),
    };
    assignment.load.resize(copies as usize, 0);
    assignment
}

/// What is to be distributed: units, whole or split.
struct Units<'a> {
    functions: &'a [FunctionInput<'a>],
    paths: &'a [Option<FunctionPaths>],
    copies: u32,
    costs: Costs,
    /// By unit: its functions that are profiled, and what they cost together.
    members: Vec<u32>,
    cost: Vec<u64>,
}

impl<'a> Units<'a> {
    fn new(
        functions: &'a [FunctionInput<'a>],
        paths: &'a [Option<FunctionPaths>],
        scheme: Scheme,
        copies: u32,
    ) -> Self {
        let costs = match scheme {
            Scheme::P3Weighted => Costs::hits(functions, paths),
            _ => Costs::Labels,
        };
        let mut units = Units {
            functions,
            paths,
            copies,
            costs,
            members: vec![0; functions.len()],
            cost: vec![0; functions.len()],
        };
        for (i, (f, p)) in functions.iter().zip(paths).enumerate() {
            if let Some(p) = p {
                units.members[f.unit.index()] += 1;
                units.cost[f.unit.index()] += units.costs.of(i, p, &p.numbering, None);
            }
        }
        units
    }

    /// Splits the functions that `may_split`, and distributes.
    fn assign(&self, may_split: &(dyn Fn(usize) -> bool + Sync)) -> Assignment {
        let tasks = self.tasks(may_split);
        let costs: Vec<u64> = tasks.iter().map(|t| t.cost).collect();
        let Distribution { copy, load } = distribute(&costs, self.copies);
        let mut by_unit = vec![Vec::new(); self.functions.len()];
        for (t, c) in tasks.iter().zip(copy) {
            by_unit[t.unit.index()].push((c, t));
        }
        let of_unit = |f: &FunctionInput| &by_unit[f.unit.index()];
        let functions = self.functions.iter();
        Assignment {
            shares: functions.clone().map(|f| share(f, of_unit(f))).collect(),
            tasks: functions.map(|f| of_unit(f).len() as u32).collect(),
            load,
        }
    }

    /// Splits as many of the functions that keep the load uneven, the costliest first, as makes the
    /// slowest copy cheapest: what is split costs more in all, and on all its copies.
    fn assign_evenly(&self) -> Assignment {
        let even = self.cost.iter().sum::<u64>() / u64::from(self.copies);
        let mut large: Vec<usize> = (0..self.cost.len())
            .filter(|&i| self.cost[i] > even)
            .collect();
        large.sort_by_key(|&i| Reverse(self.cost[i]));
        large.truncate(MAX_SPLITS);
        (0..=large.len())
            .map(|n| self.assign(&|i| large[..n].contains(&i)))
            .chain([self.assign_by_labels()])
            .map(|assignment| Assignment {
                load: self.union_load(&assignment.shares),
                ..assignment
            })
            .min_by_key(|a| a.load.iter().copied().max())
            .expect("nothing split is one of them")
    }

    /// What pbl makes of it. Longest first is no optimum, and by other costs it may by luck come out
    /// evener: so that this scheme is never worse than pbl by its own costs, that is tried too.
    fn assign_by_labels(&self) -> Assignment {
        let labels = Units::new(self.functions, self.paths, Scheme::Pbl, self.copies);
        labels.assign(&|_| false)
    }

    /// The cost of what each copy has: less than that of its tasks where they overlap.
    fn union_load(&self, shares: &[Share]) -> Vec<u64> {
        let costs = shares.par_iter().enumerate().flat_map_iter(|(i, share)| {
            let paths = self.paths[i].as_ref();
            let cost = |edges: Option<&FixedBitSet>| {
                let paths = paths.expect("only what is profiled has a share");
                self.part_cost(i, paths, edges)
            };
            match share {
                Share::Nothing => Vec::new(),
                Share::Whole(c) => vec![(*c, cost(None))],
                Share::Split(sets) => sets.iter().map(|(c, s)| (*c, cost(Some(s)))).collect(),
            }
        });
        let mut load = vec![0; self.copies as usize];
        for (copy, cost) in costs.collect::<Vec<_>>() {
            load[copy.index()] += cost;
        }
        load
    }

    fn part_cost(&self, f: usize, paths: &FunctionPaths, edges: Option<&FixedBitSet>) -> u64 {
        let subset = edges.filter(|set| !set.is_full());
        let numbering = subset.map(|set| pspp(&paths.dag, set));
        let numbering = numbering.as_ref().unwrap_or(&paths.numbering);
        self.costs.of(f, paths, numbering, subset)
    }

    /// Every unit's tasks, by ascending unit.
    fn tasks(&self, may_split: &(dyn Fn(usize) -> bool + Sync)) -> Vec<Task> {
        let tasks = (0..self.functions.len())
            .into_par_iter()
            .flat_map_iter(|i| {
                let split = self.members[i] == 1 && may_split(i);
                let parts = match &self.paths[i] {
                    Some(p) if split => self.split(i, p),
                    _ => Vec::new(),
                };
                match (parts.len(), self.members[i]) {
                    (_, 0) => Vec::new(),
                    (0 | 1, _) => vec![Task {
                        unit: FuncId::new(i),
                        edges: None,
                        cost: self.cost[i],
                    }],
                    _ => parts,
                }
            });
        tasks.collect()
    }

    /// The tasks of a function that may be split: P3 paper, Algorithm 2, `find_partition`.
    fn split(&self, f: usize, paths: &FunctionPaths) -> Vec<Task> {
        let dag = &paths.dag;
        let threshold = dag.out_degree(dag.entry()).max(self.copies as usize);
        if threshold.saturating_mul(dag.edges().len()) > MAX_PARTITION_WORK {
            return Vec::new();
        }
        let parts = find_partition(dag, &Reduced::new(dag), threshold);
        let task = |edges: FixedBitSet| Task {
            unit: FuncId::new(f),
            cost: self.part_cost(f, paths, Some(&edges)),
            edges: Some(edges),
        };
        parts.into_iter().map(task).collect()
    }
}

/// What profiling some paths of a function costs.
enum Costs {
    /// The number of edges with a non-zero label: *overhead(P)* of the P3 paper, §2.1.
    Labels,
    /// Expected executions of these edges and of the counts at the ends of paths.
    Hits {
        /// By function: what its weights are multiplied by.
        scales: Vec<f64>,
        /// See [`GUESS`]; 1 for measured weights.
        power: f64,
    },
}

/// Static frequencies are right about which function is hotter more often than about how much: they
/// grow tenfold with every loop and call. Costs are this power of expected hits. (Chosen on the
/// programs of `docs/RESULTS.md`; from 0.1 to 0.4 there is little between.)
const GUESS: f64 = 0.3;

/// The expected hits of a whole program come to this in the unit of costs.
const HITS: f64 = (1u64 << 50) as f64;

impl Costs {
    /// Expected hits, in shares of all the program's.
    fn hits(functions: &[FunctionInput], paths: &[Option<FunctionPaths>]) -> Costs {
        let measured = paths.iter().flatten().filter(|p| p.measured);
        let known: Vec<f64> = measured.map(|p| hits(p, &p.numbering, None)).collect();
        let (scales, power) = match known.len() {
            0 => (static_scales(functions, paths), GUESS),
            n => (
                measured_scales(paths, known.iter().sum::<f64>() / n as f64),
                1.0,
            ),
        };
        let whole = |(s, p): (&f64, &Option<FunctionPaths>)| {
            p.as_ref().map_or(0.0, |p| s * hits(p, &p.numbering, None))
        };
        let total: f64 = scales.iter().zip(paths).map(whole).sum();
        let unit = HITS / total.max(f64::MIN_POSITIVE);
        let scales = scales.into_iter().map(|s| s * unit).collect();
        Costs::Hits { scales, power }
    }

    /// The cost of the paths inside `edges` (`None`: all) of function `f` under `numbering`.
    fn of(
        &self,
        f: usize,
        paths: &FunctionPaths,
        numbering: &Numbering,
        edges: Option<&FixedBitSet>,
    ) -> u64 {
        if let Some(counted) = &paths.counted {
            return counted.count_ones(..) as u64;
        }
        let labels = numbering.label_count() as u64;
        match self {
            Costs::Labels => labels,
            // What is not expected to run at all is spread as well.
            Costs::Hits { scales, power } => {
                labels + (scales[f] * hits(paths, numbering, edges)).powf(*power) as u64
            }
        }
    }
}

/// How often each function is expected to be entered.
fn static_scales(functions: &[FunctionInput], paths: &[Option<FunctionPaths>]) -> Vec<f64> {
    let callers = functions.iter().zip(paths).map(|(f, p)| Caller {
        cfg: f.cfg,
        paths: p.as_ref().map(|p| (&p.dag, &p.weights)),
        call_sites: f.call_sites,
    });
    call_frequencies(&callers.collect::<Vec<_>>())
}

/// Measured weights count executions. A function that was not measured is taken for an average one.
fn measured_scales(paths: &[Option<FunctionPaths>], mean: f64) -> Vec<f64> {
    let scale = |p: &Option<FunctionPaths>| match p {
        Some(p) if !p.measured => mean / hits(p, &p.numbering, None).max(f64::MIN_POSITIVE),
        _ => 1.0,
    };
    paths.iter().map(scale).collect()
}

/// Executions, by the function's own weights, of labelled edges and of counts.
fn hits(paths: &FunctionPaths, numbering: &Numbering, edges: Option<&FixedBitSet>) -> f64 {
    let dag = &paths.dag;
    let weight = |e: EdgeId| paths.weights[e.index()];
    let labelled = dag.edge_ids().filter(|e| numbering.labels[e.index()] != 0);
    let wanted = |e: &EdgeId| edges.is_none_or(|set| set.contains(e.index()));
    let counted = dag.ins(dag.exit()).iter().copied().filter(wanted);
    labelled.chain(counted).map(weight).sum()
}

/// What the copies profile of `f`, given its unit's tasks and their copies.
fn share(f: &FunctionInput, tasks: &[(CopyId, &Task)]) -> Share {
    if f.skip.is_some() {
        return Share::Nothing;
    }
    let mut sets: Vec<(CopyId, FixedBitSet)> = Vec::new();
    for (copy, task) in tasks {
        let Some(edges) = &task.edges else {
            return Share::Whole(*copy);
        };
        match sets.iter_mut().find(|(c, _)| c == copy) {
            Some((_, set)) => set.union_with(edges),
            None => sets.push((*copy, edges.clone())),
        }
    }
    sets.sort_by_key(|&(c, _)| c);
    match sets.as_slice() {
        [(copy, _)] => Share::Whole(*copy),
        _ => Share::Split(sets),
    }
}

/// Which copy owns a path.
///
/// The union of two tasks on one copy can close over a path of a third, so copies may count a
/// path twice. The owner is the lowest copy that counts it; merging takes the owner's count and
/// checks the others against it.
pub struct Owners<'a>(pub &'a Share);

impl Owners<'_> {
    /// The copies that count the path along `edges`, ascending: the first is its owner.
    pub fn of(&self, edges: &[EdgeId]) -> impl Iterator<Item = CopyId> {
        let (whole, split) = match self.0 {
            Share::Nothing => (None, &[][..]),
            Share::Whole(c) => (Some(*c), &[][..]),
            Share::Split(sets) => (None, &sets[..]),
        };
        let holds = |set: &FixedBitSet| edges.iter().all(|e| set.contains(e.index()));
        whole
            .into_iter()
            .chain(split.iter().filter(move |(_, s)| holds(s)).map(|&(c, _)| c))
    }
}

#[cfg(test)]
mod tests;
