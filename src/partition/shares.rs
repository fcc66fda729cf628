//! Tasks → shares: what every copy profiles of every function, and who owns a path.

use super::{FunctionInput, FunctionPaths, Scheme, distribute, find_partition};
use crate::dag::reduced::Reduced;
use crate::index::{CopyId, EdgeId, FuncId};
use crate::numbering::pspp;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;

/// A function whose tasks would take more than this many edge visits stays whole. (The paper's
/// analysis is quadratic here: each of up to out-degree(ENTRY) tasks is labelled by itself.)
const MAX_PARTITION_WORK: usize = 1 << 26;

/// Something that one copy will profile.
#[derive(Clone, Debug)]
pub struct Task {
    /// The function, or the first of several that must stay together.
    pub unit: FuncId,
    /// The edges of its paths; `None` is the whole unit.
    pub edges: Option<FixedBitSet>,
    /// The number of edges with a non-zero label that profiling it takes.
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
    let tasks = all_tasks(functions, paths, scheme, copies);
    let costs: Vec<u64> = tasks.iter().map(|t| t.cost).collect();
    let targets = if scheme == Scheme::Sbl { 1 } else { copies };
    let mut distribution = distribute(&costs, targets);
    distribution.load.resize(copies as usize, 0);
    let mut by_unit = vec![Vec::new(); functions.len()];
    for (t, &c) in tasks.iter().zip(&distribution.copy) {
        by_unit[t.unit.index()].push((c, t));
    }
    let shares = functions
        .iter()
        .map(|f| share(f, &by_unit[f.unit.index()]))
        .collect();
    let tasks = functions
        .iter()
        .map(|f| by_unit[f.unit.index()].len() as u32)
        .collect();
    Assignment {
        shares,
        load: distribution.load,
        tasks,
    }
}

/// Every unit's tasks, by ascending unit.
fn all_tasks(
    functions: &[FunctionInput],
    paths: &[Option<FunctionPaths>],
    scheme: Scheme,
    copies: u32,
) -> Vec<Task> {
    let mut members = vec![0u32; functions.len()];
    let mut cost = vec![0u64; functions.len()];
    for (f, p) in functions.iter().zip(paths) {
        if let Some(p) = p {
            members[f.unit.index()] += 1;
            cost[f.unit.index()] += p.numbering.label_count() as u64;
        }
    }
    let tasks = (0..functions.len()).into_par_iter().flat_map_iter(|i| {
        let unit = FuncId::new(i);
        let split = scheme == Scheme::P3 && members[i] == 1 && functions[i].call_sites <= 1;
        let parts = match &paths[i] {
            Some(p) if split => split_tasks(unit, p, copies),
            _ => Vec::new(),
        };
        match (parts.len(), members[i]) {
            (_, 0) => Vec::new(),
            (0 | 1, _) => vec![Task {
                unit,
                edges: None,
                cost: cost[i],
            }],
            _ => parts,
        }
    });
    tasks.collect()
}

/// The tasks of a function that may be split: P3 paper, Algorithm 2, `find_partition`.
fn split_tasks(unit: FuncId, paths: &FunctionPaths, copies: u32) -> Vec<Task> {
    let dag = &paths.dag;
    let threshold = dag.out_degree(dag.entry()).max(copies as usize);
    if threshold.saturating_mul(dag.edges().len()) > MAX_PARTITION_WORK {
        return Vec::new();
    }
    let parts = find_partition(dag, &Reduced::new(dag), threshold);
    let task = |edges: FixedBitSet| {
        let numbering = (!edges.is_full()).then(|| pspp(dag, &edges));
        let cost = numbering.as_ref().unwrap_or(&paths.numbering).label_count() as u64;
        Task {
            unit,
            edges: Some(edges),
            cost,
        }
    };
    parts.into_iter().map(task).collect()
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
