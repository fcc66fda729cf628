//! PSPP: precise selective path profiling (Afraz, Saha & Kanade, *P3*, FSE 2015, Algorithm 1;
//! `docs/ALGORITHMS.md` §4).
//!
//! A path is interesting when all its edges are. The labelling is *valid*: ids of interesting
//! paths are unique and no other path has one of them; others may share ids among themselves.

use super::{Decoding, Numbering};
use crate::dag::Dag;
use crate::index::{EdgeId, VertexId};
use fixedbitset::FixedBitSet;

/// Labels `dag` for the paths inside `interesting`. O(V + E log out-degree).
///
/// When all edges are interesting the ids are dense, as Ball–Larus ids are, but may be assigned
/// in another order.
pub fn pspp(dag: &Dag, interesting: &FixedBitSet) -> Numbering {
    let (mut labels, paths) = initial(dag, interesting);
    let decoding = Some(Decoding::Selective {
        labels: labels.clone(),
        interesting: interesting.clone(),
    });
    propagate(dag, &mut labels);
    for e in dag.edge_ids().filter(|e| !interesting.contains(e.index())) {
        labels[e.index()] = 0; // line 22, absorption
    }
    Numbering {
        labels,
        paths,
        decoding,
    }
}

/// The first loop of Algorithm 1: uninteresting edges first, then interesting ones by decreasing
/// `min` of their target; ties by edge order.
fn initial(dag: &Dag, interesting: &FixedBitSet) -> (Vec<u64>, Vec<u64>) {
    let mut labels = vec![0u64; dag.edges().len()];
    let mut paths = vec![0u64; dag.vertices()];
    let mut min = vec![u64::MAX; dag.vertices()];
    paths[dag.exit().index()] = 1;
    min[dag.exit().index()] = 0;
    let target = |e: EdgeId| dag.edge(e).dst.index();
    let mut order: Vec<EdgeId> = Vec::new();
    for v in dag.order().rev().skip(1) {
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
            labels[e.index()] = n;
            n += paths[target(e)];
            min[v.index()] = min[v.index()].min(min[target(e)].saturating_add(labels[e.index()]));
        }
        paths[v.index()] = n;
    }
    (labels, paths)
}

/// The interesting and the uninteresting out-edges of `v`.
fn split<'a>(
    dag: &'a Dag,
    v: VertexId,
    interesting: &'a FixedBitSet,
) -> (
    impl Iterator<Item = EdgeId> + 'a,
    impl Iterator<Item = EdgeId> + 'a,
) {
    let is = |e: &EdgeId| interesting.contains(e.index());
    (dag.outs(v).filter(is), dag.outs(v).filter(move |e| !is(e)))
}

/// The second loop: the label of a vertex's only in-edge moves to its out-edges.
fn propagate(dag: &Dag, labels: &mut [u64]) {
    for v in dag.order().filter(|&v| v != dag.exit()) {
        // Lines 17–21: every path through `v` uses its only in-edge, so the label may as well be paid behind it.
        if let &[only] = dag.ins(v) {
            let label = std::mem::take(&mut labels[only.index()]);
            for e in dag.outs(v) {
                labels[e.index()] += label;
            }
        }
    }
}
