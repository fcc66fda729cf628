//! PSPP: precise selective path profiling (Afraz, Saha & Kanade, *P3*, FSE 2015, Algorithm 1;
//! `docs/ALGORITHMS.md` §4).
//!
//! A path is interesting when all its edges are. The labelling is *valid*: ids of interesting
//! paths are unique and no other path has one of them; others may share ids among themselves.

use super::{Decoding, Numbering};
use crate::base::index::{EdgeId, IdSet, TiSlice, TiVec, VertexId};
use crate::paths::dag::Dag;

/// Labels `dag` for the paths inside `interesting`. O(V + E log out-degree).
///
/// When all edges are interesting the ids are dense, as Ball–Larus ids are, but may be assigned
/// in another order.
pub fn pspp(dag: &Dag, interesting: &IdSet<EdgeId>) -> Numbering {
    let (mut labels, paths) = initial_labels(dag, interesting);
    let decoding = Some(Decoding::Selective {
        labels: labels.clone(),
        interesting: interesting.clone(),
    });
    propagate(dag, &mut labels);
    for e in dag.edge_ids().filter(|e| !interesting.contains(*e)) {
        labels[e] = 0; // line 22, absorption
    }
    Numbering {
        labels,
        paths,
        decoding,
    }
}

/// The first loop of Algorithm 1: uninteresting edges first, then interesting ones by decreasing
/// `min` of their target; ties by edge order.
fn initial_labels(
    dag: &Dag,
    interesting: &IdSet<EdgeId>,
) -> (TiVec<EdgeId, u64>, TiVec<VertexId, u64>) {
    let mut labels = dag.by_edge(0u64);
    let mut paths = dag.by_vertex(0u64);
    let mut min = dag.by_vertex(u64::MAX);
    paths[dag.exit()] = 1;
    min[dag.exit()] = 0;
    let target = |e: EdgeId| dag.edge(e).dst;
    let mut order: Vec<EdgeId> = Vec::new();
    for v in dag.order_from_exit() {
        let mut n = 0u64;
        let (yes, no) = split(dag, v, interesting);
        for e in no {
            n += paths[target(e)]; // lines 6–9; the label is 0 already
        }
        order.clear();
        order.extend(yes);
        // Line 10. In any other order (SPP), an uninteresting path over a later edge could lose its label by absorption
        // and end with the id of an interesting path over an earlier one.
        order.sort_by_key(|&e| std::cmp::Reverse(min[target(e)]));
        for &e in &order {
            // Lines 11–13.
            labels[e] = n;
            n += paths[target(e)];
            min[v] = min[v].min(min[target(e)].saturating_add(labels[e]));
        }
        paths[v] = n;
    }
    (labels, paths)
}

/// The interesting and the uninteresting out-edges of `v`.
fn split<'a>(
    dag: &'a Dag,
    v: VertexId,
    interesting: &'a IdSet<EdgeId>,
) -> (
    impl Iterator<Item = EdgeId> + 'a,
    impl Iterator<Item = EdgeId> + 'a,
) {
    let is = |e: &EdgeId| interesting.contains(*e);
    (
        dag.out_edges(v).filter(is),
        dag.out_edges(v).filter(move |e| !is(e)),
    )
}

/// The second loop: the label of a vertex's only in-edge moves to its out-edges.
fn propagate(dag: &Dag, labels: &mut TiSlice<EdgeId, u64>) {
    for v in dag.order().filter(|&v| v != dag.exit()) {
        // Lines 17–21: every path through `v` uses its only in-edge, so the label may as well be paid behind it.
        if let &[only] = dag.ins(v) {
            let label = std::mem::take(&mut labels[only]);
            for e in dag.out_edges(v) {
                labels[e] += label;
            }
        }
    }
}
