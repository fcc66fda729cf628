//! Dense ids for the paths of hot starts, whatever the number of paths of the function (`docs/ALGORITHMS.md` §9).
//!
//! Under Ball–Larus labels the ids of the iterations of a loop `do { … } while (c)` are as far apart as there are
//! ways to go on behind it: each must leave room for the paths that leave the loop. Where a start (the header of a
//! loop's second version, [`crate::versions::apart`]) has vertices of its own, its *region*, or several have some in common
//! (those of warm paths, [`crate::partition::Ranges`]), ids can instead be numbers of two digits:
//!
//! ```text
//! id(p) = low + (window + 1) · high
//!
//!   a path from start i that stays in its region    low = firstᵢ + its Ball–Larus id inside the region,   high = 0
//!   a path from start i that leaves its region      low = firstᵢ + the id of its part inside the region,  high ≥ 1
//!   a path that is in no region                     low = window
//! ```
//!
//! `firstᵢ` are the first of `window = Σ (paths from start i inside its region)` ids, so the iterations have the ids `0 .. window`
//! and fit a small array. Labels remain sums over edges: inside a region those of Ball & Larus for the region
//! alone, elsewhere multiples of `window + 1`.
//!
//! Unique: `low` tells the start and the id inside; a path that leaves its region at edge `x` is told by the part inside
//! (at most one such part with a given id leads to the source of `x`, since ids inside are those of whole paths
//! that go on along edges of label 0), by the range of `high` that `x` owns, and by the Ball–Larus id of what
//! follows.

use super::{Decoding, Numbering};
use crate::dag::{Dag, MAX_PATHS};
use crate::index::{EdgeId, IdSet, TiSlice, TiVec, VertexId};
use std::collections::BTreeMap;

/// What decoding needs beside the labels.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    window: u64,
    /// The vertices of regions.
    inside: IdSet<VertexId>,
    /// First id of each start, an edge from ENTRY into a region; ascending.
    starts: Vec<(u64, EdgeId)>,
}

/// Numbers all paths of `dag` so that those inside regions have the ids below the window, which is at most `limit`.
/// `region` gives, by vertex, the first vertex of its region, which only edges from ENTRY lead into; from
/// every vertex of a region a way must lead to EXIT inside it. Regions with few paths are taken first. O(V + E).
///
/// `None` when no region fits, or when ids would exceed [`MAX_PATHS`].
pub fn dense(
    dag: &Dag,
    region: &TiSlice<VertexId, Option<VertexId>>,
    limit: u64,
) -> Option<Numbering> {
    let starts = starts(dag, region, limit);
    let &(last, edge) = starts.last()?;
    let inside = inside(dag, region, &starts);
    let window = last + inner_paths(dag, region)[dag.edge(edge).dst];
    let mut builder = Builder {
        dag,
        labels: dag.by_edge(0),
        paths: dag.by_vertex(0),
        stride: window + 1,
        dense: Dense {
            window,
            inside,
            starts,
        },
    };
    builder.number()?;
    Some(Numbering {
        labels: builder.labels,
        paths: builder.paths,
        decoding: Some(Decoding::Dense(builder.dense)),
    })
}

/// By vertex of a region: its ways to EXIT that stay inside. Saturates.
fn inner_paths(dag: &Dag, region: &TiSlice<VertexId, Option<VertexId>>) -> TiVec<VertexId, u64> {
    dag.fold_from_exit(1, |v, paths| {
        let home = region[v];
        if home.is_none() {
            return 0;
        }
        let stays = |d: &VertexId| *d == dag.exit() || region[*d] == home;
        let ways = dag.outs(v).map(|e| dag.edge(e).dst).filter(stays);
        ways.fold(0u64, |n, d| n.saturating_add(paths[d]))
    })
}

/// The starts of the regions that fit, with their first ids.
fn starts(
    dag: &Dag,
    region: &TiSlice<VertexId, Option<VertexId>>,
    limit: u64,
) -> Vec<(u64, EdgeId)> {
    let paths = inner_paths(dag, region);
    let mut regions: BTreeMap<VertexId, Vec<EdgeId>> = BTreeMap::new();
    for e in dag.outs(dag.entry()) {
        if let Some(home) = region[dag.edge(e).dst] {
            regions.entry(home).or_default().push(e);
        }
    }
    let within = |e: &EdgeId| paths[dag.edge(*e).dst];
    let total = |edges: &[EdgeId]| edges.iter().map(within).fold(0, u64::saturating_add);
    let mut regions: Vec<(u64, Vec<EdgeId>)> = regions
        .into_values()
        .map(|edges| (total(&edges), edges))
        .collect();
    regions.sort();
    let (mut starts, mut next) = (Vec::new(), 0u64);
    for (paths, edges) in regions {
        if next.saturating_add(paths) > limit {
            break;
        }
        for e in edges {
            starts.push((next, e));
            next += within(&e);
        }
    }
    starts
}

fn inside(
    dag: &Dag,
    region: &TiSlice<VertexId, Option<VertexId>>,
    starts: &[(u64, EdgeId)],
) -> IdSet<VertexId> {
    let mut headers = dag.vertex_set();
    headers.extend(starts.iter().map(|&(_, e)| dag.edge(e).dst));
    let mut inside = dag.vertex_set();
    let taken = |v: &VertexId| region[*v].is_some_and(|h| headers.contains(h));
    inside.extend(dag.order().filter(taken));
    inside
}

struct Builder<'a> {
    dag: &'a Dag,
    labels: TiVec<EdgeId, u64>,
    /// By vertex: paths to EXIT, inside a region those that stay in it.
    paths: TiVec<VertexId, u64>,
    stride: u64,
    dense: Dense,
}

impl Builder<'_> {
    fn number(&mut self) -> Option<()> {
        let dag = self.dag;
        self.paths[dag.exit()] = 1;
        for v in dag.order_from_exit().filter(|&v| v != dag.entry()) {
            if self.dense.inside.contains(v) {
                self.number_inside(v);
            } else {
                self.paths[v] = self.number_outside(v, 0)?;
            }
        }
        let leaving = self.number_exits()?;
        let window = self.dense.window;
        for &(first, e) in &self.dense.starts {
            self.labels[e] = first;
        }
        let own = self.number_outside(dag.entry(), window)?;
        let ids = own.max(leaving).checked_mul(self.stride)?;
        self.paths[dag.entry()] = ids;
        (ids <= MAX_PATHS).then_some(())
    }

    /// Ball & Larus inside a region.
    fn number_inside(&mut self, v: VertexId) {
        let mut n = 0;
        for e in self.dag.outs(v) {
            let dst = self.dag.edge(e).dst;
            if self.dense.stays(self.dag, e) {
                self.labels[e] = n;
                n += self.paths[dst];
            }
        }
        assert!(n > 0, "from every vertex of a region a way leads on inside");
        self.paths[v] = n;
    }

    /// Ball & Larus outside regions, for the high digit; the number of paths.
    fn number_outside(&mut self, v: VertexId, low: u64) -> Option<u64> {
        let mut n = 0u64;
        for e in self.dag.outs(v) {
            let dst = self.dag.edge(e).dst;
            if self.dense.inside.contains(dst) {
                continue; // the start of a region
            }
            self.labels[e] = n.checked_mul(self.stride)?.checked_add(low)?;
            n = n.checked_add(self.paths[dst])?;
        }
        Some(n)
    }

    /// The ways out of regions: each owns a range of the high digit, from 1. One more than the largest.
    fn number_exits(&mut self) -> Option<u64> {
        let mut next = 1u64;
        for e in self.dense.exits(self.dag) {
            self.labels[e] = next.checked_mul(self.stride)?;
            let dst = self.dag.edge(e).dst;
            next = next.checked_add(self.paths[dst])?;
        }
        Some(next)
    }
}

impl Dense {
    /// The ids `0 ..` this are those of paths inside regions.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Whether an edge out of a vertex of a region stays in it (or ends the path).
    fn stays(&self, dag: &Dag, e: EdgeId) -> bool {
        let dst = dag.edge(e).dst;
        dst == dag.exit() || self.inside.contains(dst)
    }

    /// Whether all paths along `e` have ids below the window when they end here: it lies inside a region.
    pub(super) fn is_inside(&self, dag: &Dag, e: EdgeId) -> bool {
        self.inside.contains(dag.edge(e).src) && self.stays(dag, e)
    }

    /// The ways out of regions, by ascending label.
    fn exits<'a>(&'a self, dag: &'a Dag) -> impl DoubleEndedIterator<Item = EdgeId> + 'a {
        let vertices = self.inside.iter();
        vertices
            .flat_map(|v| dag.outs(v))
            .filter(|&e| !self.stays(dag, e))
    }

    /// The path with this id. O(edges at its vertices + edges out of regions).
    pub(super) fn decode(
        &self,
        dag: &Dag,
        labels: &TiSlice<EdgeId, u64>,
        id: u64,
    ) -> Option<Vec<EdgeId>> {
        let stride = self.window + 1;
        let (low, high) = (id % stride, id / stride);
        if low == self.window {
            return self.outside(dag, labels, dag.entry(), id, Vec::new());
        }
        let i = self.starts.partition_point(|&(first, _)| first <= low) - 1;
        let (first, start) = self.starts[i];
        let label = |e: &EdgeId| labels[*e] / stride;
        let exit = match high {
            0 => None,
            _ => Some(self.exits(dag).take_while(|e| label(e) <= high).last()?),
        };
        let mut edges = vec![start];
        let mut rest = low - first;
        let mut v = dag.edge(start).dst;
        while v != dag.exit() {
            if let Some(x) = exit.filter(|&x| dag.edge(x).src == v) {
                edges.push(x);
                let after = (high - label(&x)) * stride;
                let to = dag.edge(x).dst;
                return (rest == 0).then(|| self.outside(dag, labels, to, after, edges))?;
            }
            let inside = dag.outs(v).filter(|&e| self.stays(dag, e));
            let e = largest(inside, labels, rest)?;
            rest -= labels[e];
            edges.push(e);
            v = dag.edge(e).dst;
        }
        (rest == 0 && exit.is_none()).then_some(edges)
    }

    /// From `v`, outside regions, to EXIT.
    fn outside(
        &self,
        dag: &Dag,
        labels: &TiSlice<EdgeId, u64>,
        mut v: VertexId,
        mut rest: u64,
        mut edges: Vec<EdgeId>,
    ) -> Option<Vec<EdgeId>> {
        while v != dag.exit() {
            let outs = dag.outs(v);
            let outside = outs.filter(|&e| !self.inside.contains(dag.edge(e).dst));
            let e = largest(outside, labels, rest)?;
            rest -= labels[e];
            edges.push(e);
            v = dag.edge(e).dst;
        }
        (rest == 0).then_some(edges)
    }
}

/// The edge with the largest label that is not above `rest` (Ball & Larus 1996, §3.2, regeneration).
fn largest(
    edges: impl Iterator<Item = EdgeId>,
    labels: &TiSlice<EdgeId, u64>,
    rest: u64,
) -> Option<EdgeId> {
    let fits = edges.filter(|e| labels[*e] <= rest);
    fits.max_by_key(|e| labels[*e])
}
