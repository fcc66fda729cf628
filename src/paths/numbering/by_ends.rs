//! Ids by where paths end (`docs/ALGORITHMS.md` §9).
//!
//! Ball & Larus number the ways on from each vertex: labels are on the edges out of it, and the ids of all paths that
//! begin alike are neighbours. Here it is the ways *to* each vertex: labels are on the edges into it, and the ids of
//! all paths that end alike are neighbours, so each place where paths are counted has a range of its own. An *end* is
//! an edge behind which only one way leads on to EXIT. An end that few ways lead to (a loop's back edge behind one case
//! of a `switch`, a return in a test of arguments) has few ids, whatever the number of the function's paths. Such ends
//! come first, so that an array can count their paths:
//!
//! ```text
//! id(p) = first id of the end of p + the number of the way to that end
//! ```
//!
//! Unique: every path has one end, the first edge on it behind which nothing is to be decided; the ids of an end are as
//! many as the ways to it, and those are told apart by the labels before it.

use super::{Decoding, Numbering, largest_rests};
use crate::base::index::{EdgeId, IdSet, TiSlice, TiVec, VertexId};
use crate::paths::dag::{Dag, MAX_PATHS};

/// What decoding and placing take beside the labels.
#[derive(Clone, Debug)]
pub(super) struct ByEnds {
    /// The ends with their first ids, ascending.
    ends: Vec<(u64, EdgeId)>,
    /// By edge: the largest id of a path along it.
    most: TiVec<EdgeId, u64>,
    /// The ids `0 ..` this are those of the ends that come first.
    window: u64,
}

/// Numbers all paths of `dag`: ids are dense in `0 .. total()`. The first are those of ends with few ways to them, at
/// `preferred` vertices before others, as many as have `limit` ids in all. `may_leave` are the vertices that control
/// may leave in their middle: no path is counted ahead of them. O(V + E log E).
///
/// `None` when there are more than [`MAX_PATHS`], or when all ends have too many ids for that.
pub fn number_by_ends(
    dag: &Dag,
    preferred: &IdSet<VertexId>,
    may_leave: &IdSet<VertexId>,
    limit: u64,
) -> Option<Numbering> {
    let decided = find_decided_vertices(dag, may_leave);
    let mut labels = dag.by_edge(0u64);
    let ways = number_ways(dag, &decided, &mut labels)?;
    let ways_to = |e: &EdgeId| ways[dag.edge(*e).src];
    let is_preferred = |e: &EdgeId| preferred.contains(dag.edge(*e).src);
    let mut order: Vec<EdgeId> = dag
        .edge_ids()
        .filter(|&e| is_end(dag, &decided, e))
        .collect();
    order.sort_by_key(|e| (!is_preferred(e), ways_to(e)));
    let mut room = limit;
    let (few, many): (Vec<_>, Vec<_>) = order.into_iter().partition(|e| {
        let left = room.checked_sub(ways_to(e));
        room = left.unwrap_or(room);
        left.is_some()
    });
    let window = few.iter().map(ways_to).sum();
    if window == 0 {
        return None;
    }
    let mut next = 0u64;
    let mut ends = Vec::with_capacity(few.len() + many.len());
    for e in few.into_iter().chain(many) {
        ends.push((next, e));
        labels[e] = next;
        next = check_bound(next.checked_add(ways_to(&e)))?;
    }
    // A fold from EXIT counts the ways on: all of them add up to no more than the paths.
    let paths = dag.fold_from_exit(1u64, |v, paths| {
        dag.out_edges(v).map(|e| paths[dag.edge(e).dst]).sum()
    });
    Some(Numbering {
        paths,
        decoding: Some(Decoding::ByEnds(ByEnds {
            ends,
            most: largest_ids(dag, &labels),
            window,
        })),
        labels,
    })
}

/// A number of ids, if it is not above [`MAX_PATHS`].
fn check_bound(ids: Option<u64>) -> Option<u64> {
    ids.filter(|&n| n <= MAX_PATHS)
}

/// The vertices from which one way leads on to EXIT, and EXIT. O(V).
fn find_decided_vertices(dag: &Dag, may_leave: &IdSet<VertexId>) -> IdSet<VertexId> {
    let mut decided = dag.vertex_set();
    decided.insert(dag.exit());
    for v in dag.order_from_exit().filter(|&v| v != dag.entry()) {
        let mut outs = dag.out_edges(v).map(|e| dag.edge(e).dst);
        if let (Some(only), None) = (outs.next(), outs.next())
            && decided.contains(only)
            && !may_leave.contains(v)
        {
            decided.insert(v);
        }
    }
    decided
}

fn is_end(dag: &Dag, decided: &IdSet<VertexId>, e: EdgeId) -> bool {
    let edge = dag.edge(e);
    decided.contains(edge.dst) && !decided.contains(edge.src)
}

/// Labels the edges before ends, and counts the ways from ENTRY to each vertex before them. `None` when there are more
/// than [`MAX_PATHS`]. O(V + E).
fn number_ways(
    dag: &Dag,
    decided: &IdSet<VertexId>,
    labels: &mut TiVec<EdgeId, u64>,
) -> Option<TiVec<VertexId, u64>> {
    let mut ways = dag.by_vertex(0u64);
    ways[dag.entry()] = 1;
    for v in dag.order().skip(1).filter(|&v| !decided.contains(v)) {
        let mut n = 0u64;
        for &e in dag.ins(v) {
            labels[e] = n;
            n = check_bound(n.checked_add(ways[dag.edge(e).src]))?;
        }
        ways[v] = n;
    }
    Some(ways)
}

/// By edge: the largest sum of labels of a path along it. O(V + E).
fn largest_ids(dag: &Dag, labels: &TiSlice<EdgeId, u64>) -> TiVec<EdgeId, u64> {
    let mut before = dag.by_vertex(0u64);
    for v in dag.order().skip(1) {
        let through = |e: &EdgeId| before[dag.edge(*e).src] + labels[*e];
        before[v] = dag.ins(v).iter().map(through).max().unwrap_or(0);
    }
    let behind = largest_rests(dag, labels);
    let most = |e: EdgeId| before[dag.edge(e).src] + labels[e] + behind[dag.edge(e).dst];
    dag.edge_ids().map(most).collect()
}

impl ByEnds {
    /// One more than the largest id of the paths along `e`, if an array may count all of them.
    pub(super) fn window_up_to(&self, e: EdgeId) -> Option<u64> {
        Some(self.most[e] + 1).filter(|&ids| ids <= self.window)
    }

    /// The path with this id: its end, the way back from there, and the only way on. O(log ends + edges at its
    /// vertices).
    pub(super) fn decode(
        &self,
        dag: &Dag,
        labels: &TiSlice<EdgeId, u64>,
        id: u64,
    ) -> Option<Vec<EdgeId>> {
        let at = self.ends.partition_point(|&(first, _)| first <= id);
        let &(first, end) = self.ends.get(at.checked_sub(1)?)?;
        let mut rest = id - first;
        let mut edges = vec![end];
        let mut v = dag.edge(end).src;
        while v != dag.entry() {
            let fits = dag.ins(v).iter().filter(|e| labels[**e] <= rest);
            // Ways lead from ENTRY to every vertex, so no two labels are equal here.
            let &e = fits.max_by_key(|e| labels[**e])?;
            rest -= labels[e];
            edges.push(e);
            v = dag.edge(e).src;
        }
        edges.reverse();
        let mut v = dag.edge(end).dst;
        while v != dag.exit() {
            let only = dag.out_edges(v).next().expect("one way leads on");
            edges.push(only);
            v = dag.edge(only).dst;
        }
        (rest == 0).then_some(edges)
    }
}
