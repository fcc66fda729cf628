//! Which edges are warm: those that nearly all executions take, as long as the paths that take no
//! others fit an array.
//!
//! A function with more paths than an array has room for counts them in a hash table, at a dozen
//! instructions each. Most of its executions keep to a small part of its edges. The paths inside
//! that part are few; with blocks of their own, which they leave by the first edge that is not
//! warm, few ways lead to their ends, so their ids are the lowest ([`crate::paths::numbering::number_by_ends`]):
//!
//! ```text
//! warm ──warm edge──▶ warm        rest ──any edge──▶ rest
//! warm ──any other──▶ rest
//! ```
//!
//! At a path's end, both go to the warm version of the block where the next path starts.
//!
//! Bond & McKinley (*Practical Path Profiling for Dynamic Optimizers*, CGO 2005) leave cold edges
//! out so that hot paths fit an array, and count no path by a cold one; here such paths are counted
//! in the table, as before.

use crate::base::index::{BlockId, EdgeId, IdSet, VertexId};
use crate::input::ir::Cfg;
use crate::paths::dag::{Dag, EdgeKind};
use crate::paths::function::Measuring;
use crate::paths::numbering::MAX_ARRAY_SLOTS;
use crate::paths::versions::{apart::Apart, weight};

/// An edge that is taken less often than once in `2^RARELY` paths is not warm.
const RARELY: u32 = 16;

/// The warm edges by expected executions: as many as give at most [`MAX_ARRAY_SLOTS`] paths and
/// lead to blocks of at most `room` instructions, which are counted too. `None` where even the
/// hottest are too many. O(V + E).
pub(super) fn warm_edges(cfg: &Cfg, paths: &Measuring, room: u64) -> Option<(Vec<EdgeId>, u64)> {
    let dag = &paths.dag;
    let total: f64 = dag.out_edges(dag.entry()).map(|e| paths.weights[e]).sum();
    let mut best = None;
    for halvings in 0..=RARELY {
        let inside = Inside::new(dag, paths, total / f64::from(1u32 << halvings));
        let size = inside.size(cfg, dag);
        if inside.paths(dag) > MAX_ARRAY_SLOTS || size > room {
            break;
        }
        best = Some((inside.edges, size));
    }
    let (edges, size) = best?;
    let edges = dag.edge_ids().filter(|e| edges.contains(*e)).collect();
    Some((edges, size))
}

/// How many paths run that begin in iterations that are apart, given how often each edge does: they
/// have small ids as they are.
pub(super) fn flow_apart(cfg: &Cfg, paths: &Measuring, ran: impl Fn(EdgeId) -> f64) -> f64 {
    let dag = &paths.dag;
    let Some(apart) = Apart::new(cfg, &paths.shape, &paths.cuts, &paths.apart) else {
        return 0.0;
    };
    let begins_apart = |e: &EdgeId| {
        let to = dag.block(dag.edge(*e).dst);
        dag.edge(*e).kind == EdgeKind::LoopStart && to.is_some_and(|b| apart.contains_block(b))
    };
    let starts = dag.out_edges(dag.entry()).filter(begins_apart);
    starts.map(ran).sum()
}

/// A part of a DAG.
struct Inside {
    edges: IdSet<EdgeId>,
    reached: IdSet<VertexId>,
}

impl Inside {
    /// What edges of at least this weight reach from ENTRY, and beyond that the heaviest edge out
    /// of each vertex: paths inside end.
    fn new(dag: &Dag, paths: &Measuring, least: f64) -> Inside {
        let weights = &paths.weights;
        let mut edges = dag.edge_set();
        let mut reached = dag.vertex_set();
        reached.insert(dag.entry());
        for v in dag.order().filter(|&v| v != dag.exit()) {
            if !reached.contains(v) {
                continue;
            }
            let by_weight =
                |a: &EdgeId, b: &EdgeId| weights[*a].total_cmp(&weights[*b]).then(b.cmp(a));
            let heaviest = dag.out_edges(v).max_by(by_weight);
            for e in dag.out_edges(v) {
                if weights[e] >= least || v != dag.entry() && Some(e) == heaviest {
                    edges.insert(e);
                    reached.insert(dag.edge(e).dst);
                }
            }
        }
        Inside { edges, reached }
    }

    /// The number of its paths; saturates.
    fn paths(&self, dag: &Dag) -> u64 {
        let paths = dag.fold_from_exit(1, |v, paths| {
            let inside = dag.out_edges(v).filter(|e| self.edges.contains(*e));
            inside.fold(0u64, |n, e| n.saturating_add(paths[dag.edge(e).dst]))
        });
        paths[dag.entry()]
    }

    /// The instructions of its blocks.
    fn size(&self, cfg: &Cfg, dag: &Dag) -> u64 {
        let blocks = self.reached.iter().filter_map(|v| dag.block(v));
        blocks
            .map(|b: BlockId| u64::from(weight(cfg.block(b))))
            .sum()
    }
}
