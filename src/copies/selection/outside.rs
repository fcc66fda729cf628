//! The paths that a residual run counts: all but those that one of two descriptions names, a known sub-DAG or ranges of
//! ids.

use crate::base::index::{EdgeId, IdSet, PathId, VertexId};
use crate::copies::partition::{Held, Iterations, NOBODY, Ranges};
use crate::input::ir::Cfg;
use crate::paths::dag::{Dag, edges_through, paths_inside, useful_edges};
use crate::paths::function::Measuring;
use crate::paths::numbering::Numbering;

/// All paths of a function but known ones.
#[derive(Clone, Debug)]
pub struct Outside {
    known: KnownPaths,
    /// The number of paths of the function.
    total: u64,
}

#[derive(Clone, Debug)]
enum KnownPaths {
    /// The paths inside a set of edges. These are edges of the function with iterations of loops apart, so that what is
    /// known of iterations does not mix with what is known of the paths that enter the loop.
    SubDag {
        iterations: Iterations,
        set: IdSet<EdgeId>,
    },
    /// The paths in the ranges of [`NOBODY`].
    Ranges {
        ranges: Ranges,
        numbering: Numbering,
    },
}

impl Outside {
    /// All paths of the function with control flow `cfg` but those inside `set`.
    pub(super) fn of_set(cfg: &Cfg, paths: &Measuring, set: &IdSet<EdgeId>) -> Outside {
        Outside {
            known: KnownPaths::SubDag {
                iterations: Iterations::new(cfg, paths),
                set: set.clone(),
            },
            total: paths.numbering.total(),
        }
    }

    /// All paths of the function but those that nobody counts.
    pub(super) fn of_ranges(paths: &Measuring, ranges: &Ranges) -> Outside {
        Outside {
            known: KnownPaths::Ranges {
                ranges: ranges.clone(),
                numbering: paths.numbering.clone(),
            },
            total: paths.numbering.total(),
        }
    }

    /// Whether the path along `edges`, of the function's DAG, is not counted.
    pub(super) fn is_known(&self, edges: &[EdgeId]) -> bool {
        match &self.known {
            KnownPaths::SubDag { iterations, set } => {
                let local = iterations.path(edges);
                local.is_some_and(|local| local.iter().all(|e| set.contains(*e)))
            }
            KnownPaths::Ranges { ranges, numbering } => {
                ranges.owner(PathId(numbering.id(edges))) == NOBODY
            }
        }
    }

    /// The number of counted paths.
    pub(super) fn number(&self, paths: &Measuring) -> u64 {
        let known = match &self.known {
            KnownPaths::SubDag { iterations, set } => paths_inside(iterations.dag(paths), set),
            KnownPaths::Ranges { ranges, .. } => ranges.number(NOBODY, self.total),
        };
        self.total - known
    }

    /// The edges of the function's DAG on counted paths. With a sub-DAG an edge is among them if it is outside the set,
    /// or if a path through it takes such an edge before or behind it.
    pub(super) fn counted_edges(&self, paths: &Measuring) -> IdSet<EdgeId> {
        let (iterations, set) = match &self.known {
            KnownPaths::Ranges { ranges, .. } => return edges_of_ranges(paths, ranges, false),
            KnownPaths::SubDag { iterations, set } => (iterations, set),
        };
        let dag = iterations.dag(paths);
        let mut unknown = dag.edge_set();
        unknown.extend(dag.edge_ids().filter(|e| !set.contains(*e)));
        let local = edges_through(dag, &unknown);
        let mut own = paths.dag.edge_set();
        own.extend(local.iter().map(|e| iterations.origin(e)));
        own
    }

    /// The edges of the function's DAG on paths that are not counted.
    pub(super) fn known_edges(&self, paths: &Measuring) -> IdSet<EdgeId> {
        let (iterations, set) = match &self.known {
            KnownPaths::Ranges { ranges, .. } => return edges_of_ranges(paths, ranges, true),
            KnownPaths::SubDag { iterations, set } => (iterations, set),
        };
        let mut own = paths.dag.edge_set();
        let inside = useful_edges(iterations.dag(paths), set);
        own.extend(inside.iter().map(|e| iterations.origin(e)));
        own
    }
}

/// The edges of the paths that nobody counts, or of all others. O(ranges · length · out-degree + E).
fn edges_of_ranges(paths: &Measuring, ranges: &Ranges, nobodys: bool) -> IdSet<EdgeId> {
    let dag: &Dag = &paths.dag;
    let (numbers, labels) = (&paths.numbering.paths, &paths.numbering.labels);
    let mut edges = dag.edge_set();
    // The vertices of which all continuations are meant.
    let mut all = dag.vertex_set();
    let mut some: Vec<(VertexId, PathId)> = vec![(dag.entry(), PathId(0))];
    while let Some((v, id)) = some.pop() {
        for e in dag.out_edges(v) {
            let (to, from) = (dag.edge(e).dst, id.plus(labels[e]));
            match ranges.ownership(NOBODY, from, from.plus(numbers[to])) {
                Held::Some => some.push((to, from)),
                held if (held == Held::All) == nobodys => all.insert(to),
                _ => continue,
            }
            edges.insert(e);
        }
    }
    for v in dag.order() {
        if all.contains(v) {
            for e in dag.out_edges(v) {
                edges.insert(e);
                all.insert(dag.edge(e).dst);
            }
        }
    }
    edges
}
