//! Path numbering: labels on DAG edges whose sum along a path is its id.
//!
//! [`ball_larus`] numbers all paths densely; [`pspp`] gives a chosen subset ids that no other
//! path shares; [`number_by_ends`] numbers all paths by where they end. [`Numbering::decode`] leads back.

mod ball_larus;
mod by_ends;
mod pspp;

#[cfg(test)]
pub(crate) mod tests;

pub use ball_larus::ball_larus;
pub use by_ends::number_by_ends;
pub use pspp::pspp;
#[cfg(test)]
pub(crate) use tests::enumerate;

use crate::base::index::{EdgeId, IdSet, TiSlice, TiVec, VertexId};
use crate::paths::dag::Dag;

/// Functions with at most this many path ids count in an array, most others in a hash table.
pub const MAX_ARRAY_SLOTS: u64 = 1 << 14;

/// Larger arrays have so many slots in all: 2 MB of a profile's file, which are written to only where something is
/// counted.
pub const WIDE_SLOTS: u64 = 1 << 18;

/// Labels on the edges of a DAG.
#[derive(Clone, Debug)]
pub struct Numbering {
    /// The label of each edge: what a probe adds.
    pub labels: TiVec<EdgeId, u64>,
    /// The number of paths from each vertex to EXIT; `paths[ENTRY]` bounds the ids.
    pub paths: TiVec<VertexId, u64>,
    /// What to walk by when decoding; `None` where `labels` serves (Ball–Larus).
    decoding: Option<Decoding>,
}

/// What decoding takes beyond `labels`.
#[derive(Clone, Debug)]
enum Decoding {
    /// PSPP's labels before propagation, and the edges that interesting paths may use.
    Selective {
        labels: TiVec<EdgeId, u64>,
        interesting: IdSet<EdgeId>,
    },
    /// Back from EXIT.
    ByEnds(by_ends::ByEnds),
}

impl Numbering {
    /// The number of paths: ids are in `0 .. total()`.
    pub fn total(&self) -> u64 {
        self.paths[VertexId(0)]
    }

    /// The number of edges with a non-zero label: *overhead(P)* of the P3 paper, §2.1.
    pub fn label_count(&self) -> usize {
        self.labels.iter().filter(|&&l| l != 0).count()
    }

    /// The id of the path along `edges`: the sum of its labels. In the canonical numbering it is a
    /// [`PathId`](crate::base::index::PathId), in a copy's own a [`LocalId`](crate::base::index::LocalId).
    pub fn id(&self, edges: &[EdgeId]) -> u64 {
        edges.iter().map(|e| self.labels[*e]).sum()
    }

    /// The (interesting) path with this id, from ENTRY to EXIT; `None` when there is none.
    ///
    /// Ball & Larus 1996, §3.2 (regeneration): at each vertex the out-edge with the largest label
    /// not above the rest. O(path length · log edges at a vertex); for a subset, O(edges at the vertices of the path).
    pub fn decode(&self, dag: &Dag, id: u64) -> Option<Vec<EdgeId>> {
        if let Some(Decoding::ByEnds(ends)) = &self.decoding {
            return ends.decode(dag, &self.labels, id);
        }
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
        if self.decoding.is_none() {
            // Ball–Larus labels ascend over the out-edges, whose ids are consecutive.
            let first = dag.out_edges(v).next()?.index();
            let labels = &self.labels.raw[first..first + dag.out_degree(v)];
            let at = labels
                .partition_point(|label| *label <= rest)
                .checked_sub(1)?;
            return Some((EdgeId((first + at) as u32), labels[at]));
        }
        let labelled = dag
            .out_edges(v)
            .filter_map(|e| Some((e, self.decoding_label(e)?)));
        labelled
            .filter(|&(_, label)| label <= rest)
            .max_by_key(|&(_, label)| label)
    }

    fn decoding_label(&self, e: EdgeId) -> Option<u64> {
        match &self.decoding {
            Some(Decoding::Selective {
                labels,
                interesting,
            }) => interesting.contains(e).then(|| labels[e]),
            _ => Some(self.labels[e]),
        }
    }

    /// Where all paths along `e` have ids that an array may count: one more than the largest of them.
    pub fn window_up_to(&self, e: EdgeId) -> Option<u64> {
        match &self.decoding {
            Some(Decoding::ByEnds(by_ends)) => by_ends.window_up_to(e),
            _ => None,
        }
    }

    /// Whether an array may count some of the paths.
    pub fn has_window(&self) -> bool {
        matches!(self.decoding, Some(Decoding::ByEnds(_)))
    }
}

/// By vertex: the largest sum of labels on the way from it to EXIT. O(V + E).
pub(crate) fn largest_rests(dag: &Dag, labels: &TiSlice<EdgeId, u64>) -> TiVec<VertexId, u64> {
    dag.fold_from_exit(0u64, |v, rests| {
        let through = |e: EdgeId| labels[e] + rests[dag.edge(e).dst];
        dag.out_edges(v).map(through).max().unwrap_or(0)
    })
}
