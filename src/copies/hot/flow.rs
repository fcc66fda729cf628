//! How often paths are expected to run that begin alike.

use crate::base::index::{EdgeId, PathId, VertexId};
use crate::paths::dag::Dag;
use crate::paths::function::Measuring;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::AddAssign;

/// A search for the hottest paths by weights of edges looks at this many prefixes.
const MAX_PREFIXES: usize = 4096;

/// The flow through prefixes of the paths of one function: of paths that ran where that is known, and what weights of
/// edges expect beside them.
pub(super) struct PrefixFlow<'a> {
    paths: &'a Measuring,
    /// Of the paths that ran, before the i-th one by id.
    sums: Vec<f64>,
}

/// Paths that begin alike: up to a vertex, by labels that sum up to `id`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prefix {
    pub vertex: VertexId,
    /// The lowest id of its paths.
    pub id: PathId,
    /// How often they run.
    pub flow: f64,
    /// The part of `flow` that weights of edges expect, and not counts of paths.
    guessed: f64,
}

impl<'a> PrefixFlow<'a> {
    /// From counts of paths as far as they are known, else from weights of edges.
    pub(super) fn new(paths: &'a Measuring) -> Self {
        let counts = paths.ran.iter().scan(0.0, |sum, r| {
            *sum += r.count as f64;
            Some(*sum)
        });
        PrefixFlow {
            paths,
            sums: std::iter::once(0.0).chain(counts).collect(),
        }
    }

    /// All paths.
    pub(super) fn all_paths(&self) -> Prefix {
        let all = self.flow_out(self.dag().entry());
        let guessed = all * self.paths.guessed_part();
        let ran = self.flow_between(PathId(0), PathId(self.paths.numbering.total()));
        Prefix {
            vertex: self.dag().entry(),
            id: PathId(0),
            flow: ran + guessed,
            guessed,
        }
    }

    /// How many paths are executed.
    pub(super) fn total(&self) -> f64 {
        self.all_paths().flow
    }

    /// The vertices from that of `prefix` on to where its paths part, and how they go on there;
    /// `None` when it is one path. O(out-degrees).
    pub(super) fn parts(&self, prefix: &Prefix) -> Option<(Vec<VertexId>, Vec<Prefix>)> {
        let mut at = *prefix;
        let mut passed = Vec::new();
        while at.vertex != self.dag().exit() {
            passed.push(at.vertex);
            let parts = self.extend_prefix(&at);
            match parts[..] {
                [only] => at = only,
                _ => return Some((passed, parts)),
            }
        }
        None
    }

    /// `prefix` with each edge that leads on.
    fn extend_prefix(&self, prefix: &Prefix) -> Vec<Prefix> {
        let (dag, labels) = (self.dag(), &self.paths.numbering.labels);
        let leaving = self.flow_out(prefix.vertex).max(f64::MIN_POSITIVE);
        let behind = |e: EdgeId| {
            let (vertex, id) = (dag.edge(e).dst, prefix.id.plus(labels[e]));
            let guessed = prefix.guessed * self.paths.weights[e] / leaving;
            let ran = self.flow_between(id, id.plus(self.paths.numbering.paths[vertex]));
            Prefix {
                vertex,
                id,
                flow: ran + guessed,
                guessed,
            }
        };
        dag.out_edges(prefix.vertex).map(behind).collect()
    }

    /// The hottest paths of each start that run, at most `n` each, and how often they run.
    pub(super) fn find_hottest(&self, n: usize) -> Vec<(PathId, f64)> {
        let starts = self.extend_prefix(&self.all_paths()).into_iter();
        starts.flat_map(|start| self.hottest_of(start, n)).collect()
    }

    fn hottest_of(&self, start: Prefix, n: usize) -> Vec<(PathId, f64)> {
        if self.paths.ran.is_empty() {
            return self.find_likeliest(start, n);
        }
        let end = start.id.plus(self.paths.numbering.paths[start.vertex]);
        let ran = &self.paths.ran[self.count_before(start.id)..self.count_before(end)];
        let mut ran: Vec<(PathId, f64)> = ran.iter().map(|r| (r.id, r.count as f64)).collect();
        ran.sort_by(|a, b| b.1.total_cmp(&a.1));
        ran.truncate(n);
        ran
    }

    /// Best first: prefixes never gain flow.
    fn find_likeliest(&self, start: Prefix, n: usize) -> Vec<(PathId, f64)> {
        let mut found = Vec::new();
        let mut heap = BinaryHeap::from([(Ordered(start.flow), Reverse(0))]);
        let mut prefixes = vec![start];
        while let Some((_, Reverse(i))) = heap.pop() {
            let prefix = prefixes[i];
            if prefix.vertex == self.dag().exit() {
                found.push((prefix.id, prefix.flow));
                if found.len() == n {
                    break;
                }
            } else if prefixes.len() < MAX_PREFIXES {
                for longer in self
                    .extend_prefix(&prefix)
                    .into_iter()
                    .filter(|p| p.flow > 0.0)
                {
                    heap.push((Ordered(longer.flow), Reverse(prefixes.len())));
                    prefixes.push(longer);
                }
            }
        }
        found
    }

    fn dag(&self) -> &'a Dag {
        &self.paths.dag
    }

    /// The vertices of path `id`, ENTRY and EXIT excepted, each with the id of the prefix up to it.
    pub(super) fn prefixes_of(&self, id: PathId) -> Vec<(VertexId, PathId)> {
        let (dag, labels) = (self.dag(), &self.paths.numbering.labels);
        let edges = self.paths.decode(id).expect("a path");
        let ends = edges.iter().scan(PathId(0), |sum, e| {
            *sum = sum.plus(labels[*e]);
            Some((dag.edge(*e).dst, *sum))
        });
        ends.filter(|&(v, _)| v != dag.exit()).collect()
    }

    pub(super) fn block(&self, v: VertexId) -> Option<crate::base::index::BlockId> {
        self.dag().block(v)
    }

    fn flow_out(&self, v: VertexId) -> f64 {
        let outs = self.dag().out_edges(v);
        outs.map(|e| self.paths.weights[e]).sum()
    }

    /// How often paths `from .. to` ran.
    fn flow_between(&self, from: PathId, to: PathId) -> f64 {
        self.sums[self.count_before(to)] - self.sums[self.count_before(from)]
    }

    fn count_before(&self, id: PathId) -> usize {
        self.paths.ran.partition_point(|r| r.id < id)
    }
}

/// A number that is not NaN.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Ordered(pub f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl AddAssign for Ordered {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
