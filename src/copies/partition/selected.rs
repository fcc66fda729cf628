//! The versions of a function in a copy that profiles ranges of its paths: what is known of the path that control is
//! on.
//!
//! ```text
//!   Foreign   the path is another copy's: nothing is counted until the next one begins
//!   Warm      it is this copy's, whatever it does from here on, and has taken nothing but warm edges
//!   Own       it is this copy's, whatever it does from here on
//!   Prefix    more edges must tell whose it is, or whether it is a hot one
//! ```
//!
//! A prefix is known by the sum of its labels: paths that begin alike have consecutive canonical ids. Every prefix has
//! blocks of its own, so the register is known there and costs nothing; a hot path stays a prefix to its end, and its
//! id is a constant. Own paths go on in blocks that they share, foreign ones in blocks without a statement. Where all
//! paths that begin at a block are the copy's they begin as warm ones: those that stay so are few, and their ids fit an
//! array.

use super::ranges::{Held, Ranges};
use crate::base::index::{BlockId, CfgEdge, CopyId, EdgeId, IdSet, PathId, TiVec, VertexId};
use crate::input::ir::Cfg;
use crate::paths::dag::{Dag, Edge, EdgeKind};
use crate::paths::function::Measuring;
use crate::paths::versions::apart::Apart;
use crate::paths::versions::{Product, Versions};

/// What is known of the path that control is on. `version` is that of iterations apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PathState {
    Foreign,
    Warm,
    Own { version: u32 },
    Prefix { id: PathId, version: u32 },
}

/// What tells the states.
struct Selection<'a> {
    paths: &'a Measuring,
    ranges: &'a Ranges,
    copy: CopyId,
    apart: Option<Apart<'a>>,
}

/// The versions in one copy that counts some paths: those of its ranges, or those on its side of a set of edges.
pub(super) struct Selected {
    /// All versions.
    pub versions: Versions,
    /// The DAG of the copy's own paths.
    pub dag: Dag,
    /// By edge of `dag`: the edge of the function's DAG.
    pub origins: TiVec<EdgeId, EdgeId>,
    /// The vertices of `dag` from which an edge leads to where nothing is counted.
    pub open: IdSet<VertexId>,
    /// The edges that end paths which are not counted, and where the next one begins.
    pub foreign_ends: Vec<(CfgEdge, BlockId)>,
    /// The vertices of `dag` whose ends come first ([`crate::paths::numbering::number_by_ends`]).
    pub preferred: IdSet<VertexId>,
}

impl Selected {
    /// The versions of the function with control flow `cfg` in `copy`, which has some of `ranges`. O(V + E) of the
    /// result · out-degree, and a factor log n for n ranges.
    pub(super) fn new(cfg: &Cfg, paths: &Measuring, ranges: &Ranges, copy: CopyId) -> Selected {
        let selection = Selection {
            paths,
            ranges,
            copy,
            apart: Apart::new(cfg, &paths.shape, &paths.cuts, &paths.apart),
        };
        let order = &paths.shape.order;
        let Product { versions, states } =
            Versions::product(cfg, order, selection.entry_state(), |s, e| {
                selection.state_behind(s, e)
            });
        let all = versions.dag(order, &paths.cuts);
        let state = |v| all.block(v).and_then(|b| states[b]);
        let own_edges = versions.dag_origins(&all, &paths.dag);
        let is_own = |e: &EdgeId| {
            let Edge { src, dst, .. } = all.edge(*e);
            match state(src) {
                Some(from) if dst == all.exit() => selection.counts(from, own_edges[*e]),
                _ => state(dst) != Some(PathState::Foreign),
            }
        };
        let (own, foreign): (Vec<EdgeId>, Vec<EdgeId>) = all.edge_ids().partition(is_own);
        let dag = all.restrict_to(&own);
        let mut open = dag.vertex_set();
        let mut foreign_ends = Vec::new();
        for e in foreign {
            let edge = all.edge(e);
            let from = all.block(edge.src).and_then(|b| dag.vertex(b));
            open.extend(from);
            if let EdgeKind::BackEdge(c) = edge.kind {
                foreign_ends.push((c, all.back_target(e)));
            }
        }
        let is_likely = |state, b| selection.is_likely(versions.origin[b], state);
        let preferred = dag.find_vertices(|b| states[b].is_some_and(|state| is_likely(state, b)));
        Selected {
            origins: own.iter().map(|e| own_edges[*e]).collect(),
            preferred,
            versions,
            dag,
            open,
            foreign_ends,
        }
    }
}

impl Selection<'_> {
    /// At the entry.
    fn entry_state(&self) -> PathState {
        let dag = &self.paths.dag;
        self.start_state(dag.entry_edge(), 0)
    }

    /// Where a path begins by `start`, an edge from ENTRY.
    fn start_state(&self, start: EdgeId, version: u32) -> PathState {
        let (dag, labels) = (&self.paths.dag, &self.paths.numbering.labels);
        match self.state_at(dag.edge(start).dst, PathId(labels[start]), version) {
            // Iterations that are apart have small ids as they are.
            PathState::Own { version: 0 } if self.ranges.is_warm(start) => PathState::Warm,
            state => state,
        }
    }

    /// Behind `edge`, taken in `state`.
    fn state_behind(&self, state: PathState, edge: CfgEdge) -> PathState {
        let (dag, labels) = (&self.paths.dag, &self.paths.numbering.labels);
        let e = dag.edge_of(edge).expect("edges are taken");
        let apart = |version| {
            self.apart
                .as_ref()
                .map_or(0, |a| a.state_behind(version, edge))
        };
        if let EdgeKind::BackEdge(_) = dag.edge(e).kind {
            let start = dag.loop_start(dag.back_target(e)).expect("a phony edge");
            return self.start_state(start, apart(0));
        }
        match state {
            PathState::Foreign => PathState::Foreign,
            PathState::Warm if self.ranges.is_warm(e) => PathState::Warm,
            PathState::Warm => PathState::Own { version: 0 },
            PathState::Own { version } => PathState::Own {
                version: apart(version),
            },
            PathState::Prefix { id, version } => {
                let id = id.plus(labels[e]);
                self.state_at(dag.edge(e).dst, id, apart(version))
            }
        }
    }

    /// At vertex `v`, on a path whose labels so far add up to `id`: all its continuations have the next ids.
    fn state_at(&self, v: VertexId, id: PathId, version: u32) -> PathState {
        let end = id.plus(self.paths.numbering.paths[v]);
        match self.ranges.ownership(self.copy, id, end) {
            Held::Nothing => PathState::Foreign,
            Held::All if !self.ranges.has_hot(id, end) => PathState::Own { version },
            _ => PathState::Prefix { id, version },
        }
    }

    /// Whether a path that ends in `state` by edge `e` of the function is counted.
    fn counts(&self, state: PathState, e: EdgeId) -> bool {
        match state {
            PathState::Foreign => false,
            PathState::Own { .. } | PathState::Warm => true,
            PathState::Prefix { id, .. } => {
                self.ranges.owner(id.plus(self.paths.numbering.labels[e])) == self.copy
            }
        }
    }

    /// Whether paths in this state are likely: those that began at the header of the loop they are in, hot ones, and
    /// warm ones.
    fn is_likely(&self, block: BlockId, state: PathState) -> bool {
        match state {
            PathState::Foreign => false,
            PathState::Warm => true,
            PathState::Own { version } => version != 0,
            PathState::Prefix { id, version } => {
                let v = self.paths.dag.vertex(block).expect("it is reached");
                let end = id.plus(self.paths.numbering.paths[v]);
                version != 0 || self.ranges.has_hot(id, end)
            }
        }
    }
}
