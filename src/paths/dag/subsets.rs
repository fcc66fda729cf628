//! Sets of edges as sets of paths: a path is inside a set when all its edges are.

use super::Dag;
use crate::base::index::{EdgeId, IdSet, TiVec, VertexId};

/// The number of paths whose edges are all in `set`. O(V + E).
pub(crate) fn paths_inside(dag: &Dag, set: &IdSet<EdgeId>) -> u64 {
    rests_inside(dag, set)[dag.entry()]
}

/// By vertex: the number of ways from it to the exit whose edges are all in `set`. O(V + E).
pub(crate) fn rests_inside(dag: &Dag, set: &IdSet<EdgeId>) -> TiVec<VertexId, u64> {
    let mut paths = dag.by_vertex(0u64);
    paths[dag.exit()] = 1;
    for e in dag.edge_ids().rev().filter(|e| set.contains(*e)) {
        let edge = dag.edge(e);
        paths[edge.src] += paths[edge.dst];
    }
    paths
}

/// The edges of `set` that lie on a path inside it. O(V + E).
pub(crate) fn useful_edges(dag: &Dag, set: &IdSet<EdgeId>) -> IdSet<EdgeId> {
    let ends = |from| {
        let mut vertices = dag.vertex_set();
        vertices.insert(from);
        vertices
    };
    let (mut reached, mut leads_on) = (ends(dag.entry()), ends(dag.exit()));
    let inside = |e: &EdgeId| set.contains(*e);
    for edge in dag.edge_ids().filter(inside).map(|e| dag.edge(e)) {
        if reached.contains(edge.src) {
            reached.insert(edge.dst);
        }
    }
    for edge in dag.edge_ids().rev().filter(inside).map(|e| dag.edge(e)) {
        if leads_on.contains(edge.dst) {
            leads_on.insert(edge.src);
        }
    }
    let mut useful = dag.edge_set();
    let on_a_path = |e: &EdgeId| {
        let edge = dag.edge(*e);
        reached.contains(edge.src) && leads_on.contains(edge.dst)
    };
    useful.extend(dag.edge_ids().filter(inside).filter(on_a_path));
    useful
}

/// The edges of all paths through one of `edges`: what a selection of lines comes to. O(V + E).
pub(crate) fn edges_through(dag: &Dag, edges: &IdSet<EdgeId>) -> IdSet<EdgeId> {
    let (mut behind, mut before) = (dag.vertex_set(), dag.vertex_set());
    for e in dag.edge_ids() {
        if edges.contains(e) || behind.contains(dag.edge(e).src) {
            behind.insert(dag.edge(e).dst);
        }
    }
    for e in dag.edge_ids().rev() {
        if edges.contains(e) || before.contains(dag.edge(e).dst) {
            before.insert(dag.edge(e).src);
        }
    }
    let mut through = edges.clone();
    let on_the_way = |e: &EdgeId| {
        let edge = dag.edge(*e);
        behind.contains(edge.src) || before.contains(edge.dst)
    };
    through.extend(dag.edge_ids().filter(on_the_way));
    through
}
