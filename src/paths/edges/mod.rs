//! Edge profiling with the fewest counters (Knuth & Stevenson 1973; Ball & Larus, *Optimally Profiling
//! and Tracing Programs*, TOPLAS 1994; `docs/ALGORITHMS.md` §6).
//!
//! Vertices are the blocks and EXIT; edges are those of the control flow, one from each block without
//! successors to EXIT, and EXIT → entry. The edges outside a maximum spanning tree are counted:
//! |E| − (|V| − 1) of them, the minimum. All others follow from Kirchhoff's law.
//!
//! Edges go by the [`EdgeId`] of the DAG: a back edge by its phony edge to EXIT, EXIT → entry by ENTRY →
//! entry. Phony edges from ENTRY are no edges here.
//!
//! The law holds of activations that reach an exit. Where some may be left in the middle of a block (a
//! call that does not return), every edge to EXIT is counted, which takes no more counters; entries are
//! counted beside them, and as many activations were left as entries exceed exits.

mod counters;
mod propagate;

#[cfg(test)]
mod tests;

pub(crate) use counters::{all_edges, counted_edges, edges_by_counter};
pub(crate) use propagate::{Propagated, propagate};

use crate::base::index::EdgeId;
use crate::paths::dag::{Dag, EdgeKind};

/// The edges of the graph, by ascending id.
pub(crate) fn edges(dag: &Dag) -> impl Iterator<Item = EdgeId> + '_ {
    dag.edge_ids()
        .filter(|&e| dag.edge(e).kind != EdgeKind::LoopStart)
}

/// Source and target of an edge, as vertices of the DAG without ENTRY.
fn edge_ends(dag: &Dag, e: EdgeId) -> (u32, u32) {
    let edge = dag.edge(e);
    match edge.kind {
        EdgeKind::Enter => (dag.exit().0, edge.dst.0),
        EdgeKind::BackEdge(_) => {
            let to = dag
                .vertex(dag.back_target(e))
                .expect("targets are reachable");
            (edge.src.0, to.0)
        }
        EdgeKind::Real(_) | EdgeKind::Leave => (edge.src.0, edge.dst.0),
        EdgeKind::LoopStart => unreachable!("no edge of this graph"),
    }
}
