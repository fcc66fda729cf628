//! The counts of all edges from those of some.

use super::{edge_ends, edges};
use crate::base::index::{EdgeId, IdSet, TiSlice, TiVec};
use crate::paths::dag::{Dag, EdgeKind};

/// What Kirchhoff's law makes of the counted edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Propagated {
    /// That of a phony edge from ENTRY is how often its loop was repeated.
    pub counts: TiVec<EdgeId, u64>,
    /// Whether some count came out below zero and was taken for zero: then the law did not hold.
    pub negative: bool,
}

/// The counts of all edges from those of `counted` (others are ignored). Each vertex with
/// one unknown edge settles it, from the leaves of the tree inwards. O(V + E).
///
/// `None` when a count overflows, or when the edges left out are no spanning tree.
pub(crate) fn propagate(
    dag: &Dag,
    counted: &IdSet<EdgeId>,
    counts: &TiSlice<EdgeId, u64>,
) -> Option<Propagated> {
    let mut flow = Propagation::new(dag, counted, counts)?;
    // Edges that are not counted are a tree, and a tree has a leaf until nothing is left of it: no search is needed.
    let mut leaves: Vec<u32> = (0..dag.vertices() as u32)
        .filter(|&v| flow.unknown[v as usize].edges == 1)
        .collect();
    while let Some(v) = leaves.pop() {
        // Its edge may have been settled from the other end.
        if flow.unknown[v as usize].edges == 0 {
            continue;
        }
        let w = flow.settle_edge(v, EdgeId(flow.unknown[v as usize].xor))?;
        if flow.unknown[w as usize].edges == 1 {
            leaves.push(w);
        }
    }
    flow.finish()
}

/// Edges of a vertex whose counts are not known yet: how many, and their numbers combined by exclusive or, which
/// is the number of the last one.
#[derive(Clone, Copy, Default)]
struct Unknown {
    edges: u32,
    xor: u32,
}

impl Unknown {
    fn add(&mut self, e: EdgeId) {
        self.edges += 1;
        self.xor ^= e.0;
    }

    fn remove(&mut self, e: EdgeId) {
        self.edges -= 1;
        self.xor ^= e.0;
    }
}

struct Propagation<'a> {
    dag: &'a Dag,
    counts: TiVec<EdgeId, Option<i128>>,
    /// By vertex.
    unknown: Vec<Unknown>,
    /// By vertex: what is known to come in less what is known to go out.
    surplus: Vec<i128>,
}

impl<'a> Propagation<'a> {
    fn new(dag: &'a Dag, counted: &IdSet<EdgeId>, counts: &TiSlice<EdgeId, u64>) -> Option<Self> {
        let mut flow = Propagation {
            dag,
            counts: dag.by_edge(None),
            unknown: vec![Unknown::default(); dag.vertices()],
            surplus: vec![0; dag.vertices()],
        };
        for e in edges(dag) {
            let (from, to) = edge_ends(dag, e);
            if counted.contains(e) {
                flow.set_count(e, i128::from(counts[e]))?;
            } else if from == to {
                return None; // a loop of one block is in no tree
            } else {
                flow.unknown[from as usize].add(e);
                flow.unknown[to as usize].add(e);
            }
        }
        Some(flow)
    }

    fn set_count(&mut self, e: EdgeId, count: i128) -> Option<()> {
        let (from, to) = edge_ends(self.dag, e);
        self.counts[e] = Some(count);
        self.surplus[from as usize] = self.surplus[from as usize].checked_sub(count)?;
        self.surplus[to as usize] = self.surplus[to as usize].checked_add(count)?;
        Some(())
    }

    /// Settles the only unknown edge `e` of `v`; the vertex at its other end.
    fn settle_edge(&mut self, v: u32, e: EdgeId) -> Option<u32> {
        let (from, to) = edge_ends(self.dag, e);
        let (count, w) = if from == v {
            (self.surplus[v as usize], to)
        } else {
            (self.surplus[v as usize].checked_neg()?, from)
        };
        self.set_count(e, count)?;
        for end in [v, w] {
            self.unknown[end as usize].remove(e);
        }
        Some(w)
    }

    fn finish(self) -> Option<Propagated> {
        let mut counts = self.dag.by_edge(0u64);
        let mut negative = false;
        for e in edges(self.dag) {
            let count = self.counts[e]?;
            negative |= count < 0;
            counts[e] = u64::try_from(count.max(0)).ok()?;
            if let EdgeKind::BackEdge(_) = self.dag.edge(e).kind {
                let start = self.dag.loop_start(self.dag.back_target(e))?;
                counts[start] = counts[start].checked_add(counts[e])?;
            }
        }
        Some(Propagated { counts, negative })
    }
}
