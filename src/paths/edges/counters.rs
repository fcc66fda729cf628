//! Which edges to count.

use super::{edge_ends, edges};
use crate::base::index::{CounterId, EdgeId, IdSet, TiSlice, TiVec};
use crate::paths::dag::{Dag, EdgeKind};
use crate::paths::spantree::{heaviest_first, maximum_tree};

/// The edges to count: the complement of a maximum spanning tree under `weights`, ties by edge id.
/// With `may_be_left` all edges to EXIT are among them. O(E log E).
pub(crate) fn counted_edges(
    dag: &Dag,
    weights: &TiSlice<EdgeId, f64>,
    may_be_left: bool,
) -> IdSet<EdgeId> {
    let mut counted = all_edges(dag);
    let kept = |e: &EdgeId| may_be_left && dag.edge(*e).kind == EdgeKind::Leave;
    let candidates = counted.iter().filter(|e| !kept(e));
    // EXIT → entry cannot be counted, so it is in the tree.
    let root = edge_ends(dag, dag.entry_edge());
    let order = heaviest_first(candidates, weights);
    let tree = maximum_tree(dag, order, root, |e| edge_ends(dag, e));
    counted.difference_with(&tree);
    counted
}

/// All edges but EXIT → entry: where a call may return twice, control comes out of a block more often than
/// it went in, and no law holds.
pub(crate) fn all_edges(dag: &Dag) -> IdSet<EdgeId> {
    let mut counted = dag.edge_set();
    let countable = edges(dag).filter(|&e| dag.edge(e).kind != EdgeKind::Enter);
    counted.extend(countable);
    counted
}

/// The edge that each counter counts.
pub(crate) fn edges_by_counter(counted: &IdSet<EdgeId>) -> TiVec<CounterId, EdgeId> {
    counted.iter().collect()
}
