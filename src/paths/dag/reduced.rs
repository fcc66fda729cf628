//! The reduced DAG: runs of diamonds and triangles as single dummy vertices (P3 paper, §3.2,
//! `reduced_graph`; `docs/ALGORITHMS.md` §5).
//!
//! A diamond is `a→b, a→c, b→d, c→d`, a triangle `a→b, a→d, b→d`; the arms have no other edges,
//! `a` has no other out-edge and `d` no other in-edge, so the whole has the in-edges of `a` and
//! the out-edges of `d`. Where `d` begins another one, the run collapses further, step by step.
//! ENTRY and EXIT never collapse.

use super::Dag;
use crate::base::index::{EdgeId, TiVec, VertexId};

/// A view of a [`Dag`] in which each run of diamonds and triangles is one vertex.
///
/// The reduced vertices are those `v` with `head(v) == v`; a dummy goes by the number of its
/// begin vertex. The reduced edges are the edges of the DAG that are inside no dummy: an edge
/// enters a dummy only at its begin vertex, so targets need no translation.
#[derive(Clone, Debug)]
pub struct Reduced<'a> {
    dag: &'a Dag,
    head: TiVec<VertexId, VertexId>,
    /// By begin vertex: the end vertex of the run (the vertex itself where there is none).
    tail: TiVec<VertexId, VertexId>,
    inside: TiVec<VertexId, Vec<EdgeId>>,
}

impl<'a> Reduced<'a> {
    /// Collapses all runs. O(V + E).
    pub fn new(dag: &'a Dag) -> Self {
        let mut reduced = Self::from_unreduced(dag);
        for v in dag.order().skip(1) {
            if reduced.head[v] == v {
                reduced.collapse(v);
            }
        }
        reduced
    }

    /// The DAG as it is, every vertex by itself.
    pub fn from_unreduced(dag: &'a Dag) -> Self {
        let own: TiVec<VertexId, VertexId> = dag.order().collect();
        Reduced {
            dag,
            head: own.clone(),
            tail: own,
            inside: dag.by_vertex(Vec::new()),
        }
    }

    fn collapse(&mut self, begin: VertexId) {
        let mut end = begin;
        while let Some((arms, next)) = hammock(self.dag, end) {
            self.inside[begin].extend(self.dag.out_edges(end));
            for arm in arms.into_iter().flatten() {
                self.inside[begin].extend(self.dag.out_edges(arm));
                self.head[arm] = begin;
            }
            self.head[next] = begin;
            end = next;
        }
        self.tail[begin] = end;
    }

    /// The reduced vertices in topological order.
    pub fn vertices(&self) -> impl Iterator<Item = VertexId> + '_ {
        self.dag.order().filter(|&v| self.head[v] == v)
    }

    /// The out-edges of reduced vertex `v`.
    pub fn out_edges(&self, v: VertexId) -> impl Iterator<Item = EdgeId> + use<> {
        self.dag.out_edges(self.tail[v])
    }

    /// The DAG edges inside reduced vertex `v`; empty unless it is a dummy.
    pub fn edges_inside(&self, v: VertexId) -> &[EdgeId] {
        &self.inside[v]
    }
}

/// The arms and the end of the diamond or triangle that begins at `a`.
fn hammock(dag: &Dag, a: VertexId) -> Option<([Option<VertexId>; 2], VertexId)> {
    let mut outs = dag.out_edges(a).map(|e| dag.edge(e).dst);
    let (Some(x), Some(y), None) = (outs.next(), outs.next(), outs.next()) else {
        return None;
    };
    let (arms, end) = match (arm_end(dag, x), arm_end(dag, y)) {
        (Some(p), Some(q)) if p == q => ([Some(x), Some(y)], p),
        (Some(p), _) if p == y => ([Some(x), None], y),
        (_, Some(q)) if q == x => ([Some(y), None], x),
        _ => return None,
    };
    (end != dag.exit() && dag.ins(end).len() == 2).then_some((arms, end))
}

/// Where `v` leads if it has one in-edge and one out-edge.
fn arm_end(dag: &Dag, v: VertexId) -> Option<VertexId> {
    if v == dag.exit() || dag.ins(v).len() != 1 || dag.out_degree(v) != 1 {
        return None;
    }
    dag.out_edges(v).next().map(|e| dag.edge(e).dst)
}
