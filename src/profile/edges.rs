//! Counts of paths, or of some edges → counts of all edges, blocks, entries and calls.

use super::{Profile, Ran, Structure};
use crate::dag::{Dag, EdgeKind};
use crate::edges::{Propagated, propagate};
use crate::error::Result;
use crate::index::{BlockId, CfgEdge, EdgeId, FuncId};
use fixedbitset::FixedBitSet;
use std::cmp::Reverse;

/// The executions of everything in one function. Paths that were begun and not completed (left by
/// `exit`, `longjmp` or an exception) are not in what paths add up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Executions of each DAG edge.
    pub dag: Vec<u64>,
    /// How often the function was entered: counted, or as often as completed paths begin there.
    pub entry: u64,
    /// Activations that reached an exit.
    pub exits: u64,
    /// Executions of each block.
    pub blocks: Vec<u64>,
    /// By how much counts may be off: activations that were left in the middle of a block, in a profile
    /// of edges whose other counts follow from the law that what goes into a block comes out.
    pub uncertain: u64,
    /// Whether counts break that law although nothing was left.
    pub impossible: bool,
}

/// The counts of the edges of `f`, added up from its paths or propagated from the counted ones.
/// O(total path length), or O(E).
pub fn flow(profile: &Profile, f: FuncId, structure: &Structure) -> Result<Flow> {
    match &structure.paths.counted {
        Some(counted) => propagated(profile, f, structure, counted),
        None => summed(profile, f, structure),
    }
}

fn propagated(
    profile: &Profile,
    f: FuncId,
    structure: &Structure,
    counted: &FixedBitSet,
) -> Result<Flow> {
    let dag = &structure.paths.dag;
    let mut given = vec![0u64; dag.edges().len()];
    for &(id, n) in &profile.counts[f.index()] {
        let edge = usize::try_from(id).ok().filter(|&e| counted.contains(e));
        let edge = edge.ok_or_else(|| profile.damaged(format!("edge {id} is not counted")))?;
        given[edge] = n;
    }
    let result = propagate(dag, counted, &given);
    let Propagated {
        mut counts,
        negative,
    } = result.ok_or_else(|| profile.damaged("its counters do not determine all counts"))?;
    let exits = exits(dag, &counts);
    let entry = profile.entries[f.index()].unwrap_or(counts[0]);
    counts[0] = entry;
    let all = counted.count_ones(..) + 1 == crate::edges::edges(dag).count();
    Ok(Flow {
        entry,
        exits,
        blocks: blocks(dag, &counts, structure.cfg.len()),
        uncertain: if all { 0 } else { entry.saturating_sub(exits) },
        impossible: negative && entry <= exits,
        dag: counts,
    })
}

fn summed(profile: &Profile, f: FuncId, structure: &Structure) -> Result<Flow> {
    let dag = &structure.paths.dag;
    let mut counts = vec![0u64; dag.edges().len()];
    for &(id, n) in &profile.counts[f.index()] {
        for e in profile.decode(f, structure, id)? {
            let sum = counts[e.index()].checked_add(n);
            counts[e.index()] = sum.ok_or_else(|| profile.damaged("a count overflows"))?;
        }
    }
    Ok(Flow {
        entry: profile.entries[f.index()].unwrap_or(counts[0]),
        exits: exits(dag, &counts),
        blocks: blocks(dag, &counts, structure.cfg.len()),
        uncertain: 0,
        impossible: false,
        dag: counts,
    })
}

/// The executions of each edge on these paths; the largest number instead of larger ones.
pub fn add_up(dag: &Dag, paths: &[Ran]) -> Vec<u64> {
    let mut counts = vec![0u64; dag.edges().len()];
    for path in paths {
        for e in &path.edges {
            counts[e.index()] = counts[e.index()].saturating_add(path.count);
        }
    }
    counts
}

/// The edge that ran most, the first of equals.
pub fn hottest(among: impl Iterator<Item = EdgeId>, counts: &[u64]) -> Option<EdgeId> {
    among.min_by_key(|e| (Reverse(counts[e.index()]), *e))
}

fn exits(dag: &Dag, counts: &[u64]) -> u64 {
    let leave = |e: &&EdgeId| dag.edge(**e).kind == EdgeKind::Leave;
    dag.ins(dag.exit())
        .iter()
        .filter(leave)
        .map(|e| counts[e.index()])
        .sum()
}

fn blocks(dag: &Dag, counts: &[u64], n: usize) -> Vec<u64> {
    let mut blocks = vec![0u64; n];
    for v in dag.order() {
        if let Some(b) = dag.block(v) {
            let ins = dag.ins(v).iter().map(|e| counts[e.index()]);
            blocks[b.index()] = ins.fold(0, u64::saturating_add);
        }
    }
    blocks
}

/// An edge of the control-flow graph and how often it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeCount {
    /// The edge.
    pub edge: CfgEdge,
    /// Its target.
    pub dst: BlockId,
    /// How often.
    pub count: u64,
}

impl Flow {
    /// Every edge of the CFG in order, those never taken and those of unreachable blocks too.
    pub fn edges(&self, structure: &Structure) -> Vec<EdgeCount> {
        let taken = taken(&structure.paths.dag, &self.dag);
        let mut taken = taken.into_iter().peekable();
        let mut edges = Vec::new();
        for b in structure.cfg.ids() {
            for (i, &dst) in structure.cfg.block(b).succs.iter().enumerate() {
                let edge = CfgEdge {
                    block: b,
                    succ: i as u32,
                };
                let count = taken.next_if(|t| t.0 == edge).map_or(0, |t| t.1);
                edges.push(EdgeCount { edge, dst, count });
            }
        }
        edges
    }
}

/// The CFG edges of the DAG's edges and their counts, by edge.
fn taken(dag: &Dag, counts: &[u64]) -> Vec<(CfgEdge, u64)> {
    let real = |e| match dag.edge(e).kind {
        EdgeKind::Real(c) | EdgeKind::BackEdge(c) => Some((c, counts[e.index()])),
        _ => None,
    };
    let mut taken: Vec<_> = dag.edge_ids().filter_map(real).collect();
    taken.sort_unstable();
    taken
}
