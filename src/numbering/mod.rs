//! Path numbering: labels on DAG edges whose sum along a path is its id.
//!
//! [`ball_larus`] numbers all paths densely; [`pspp`] gives a chosen subset ids that no other
//! path shares. Decoding ([`Numbering::decode`]) is the same walk for both.

mod ball_larus;
mod pspp;

#[cfg(test)]
pub(crate) mod tests;

pub use ball_larus::ball_larus;
pub use pspp::pspp;
#[cfg(test)]
pub(crate) use tests::enumerate;

use crate::dag::Dag;
use crate::index::{EdgeId, PathId, VertexId};
use fixedbitset::FixedBitSet;

/// Labels on the edges of a DAG.
#[derive(Clone, Debug)]
pub struct Numbering {
    /// The label of each edge: what a probe adds.
    pub labels: Vec<u64>,
    /// The number of paths from each vertex to EXIT; `paths[ENTRY]` bounds the ids.
    pub paths: Vec<u64>,
    /// What to walk by when decoding; `None` where `labels` serves (Ball–Larus).
    decoding: Option<Decoding>,
}

/// PSPP's labels before propagation, and the edges that interesting paths may use.
#[derive(Clone, Debug)]
struct Decoding {
    labels: Vec<u64>,
    interesting: FixedBitSet,
}

impl Numbering {
    /// The number of paths: ids are in `0 .. total()`.
    pub fn total(&self) -> u64 {
        self.paths[0]
    }

    /// The number of edges with a non-zero label: *overhead(P)* of the P3 paper, §2.1.
    pub fn label_count(&self) -> usize {
        self.labels.iter().filter(|&&l| l != 0).count()
    }

    /// The id of the path along `edges`.
    pub fn id(&self, edges: &[EdgeId]) -> PathId {
        edges.iter().map(|e| self.labels[e.index()]).sum()
    }

    /// The (interesting) path with this id, from ENTRY to EXIT; `None` when there is none.
    ///
    /// Ball & Larus 1996, §3.2 (regeneration): at each vertex the out-edge with the largest label
    /// not above the rest. O(edges at the vertices of the path).
    pub fn decode(&self, dag: &Dag, id: PathId) -> Option<Vec<EdgeId>> {
        let (mut v, mut rest) = (dag.entry(), id);
        let mut edges = Vec::new();
        while v != dag.exit() {
            let (e, label) = self.step(dag, v, rest)?;
            rest -= label;
            edges.push(e);
            v = dag.edge(e).dst;
        }
        (rest == 0).then_some(edges)
    }

    fn step(&self, dag: &Dag, v: VertexId, rest: u64) -> Option<(EdgeId, u64)> {
        let labelled = dag
            .outs(v)
            .filter_map(|e| Some((e, self.decoding_label(e)?)));
        labelled
            .filter(|&(_, label)| label <= rest)
            .max_by_key(|&(_, label)| label)
    }

    fn decoding_label(&self, e: EdgeId) -> Option<u64> {
        match &self.decoding {
            None => Some(self.labels[e.index()]),
            Some(d) => d
                .interesting
                .contains(e.index())
                .then(|| d.labels[e.index()]),
        }
    }
}
