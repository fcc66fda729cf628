//! Path counts → counts of edges, blocks, entries and calls.

use super::{Profile, Structure};
use crate::dag::{Dag, EdgeKind};
use crate::error::Result;
use crate::index::{BlockId, CfgEdge, EdgeId, FuncId};

/// What the paths of one function add up to. Paths that were begun and not completed (left by
/// `exit`, `longjmp` or an exception) are not in it.
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
}

/// Adds up the paths of `f`. O(total path length).
pub fn flow(profile: &Profile, f: FuncId, structure: &Structure) -> Result<Flow> {
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
        dag: counts,
    })
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
            let outs = dag.outs(v).map(|e| counts[e.index()]);
            blocks[b.index()] = outs.fold(0, u64::saturating_add);
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
