//! The versions of a function in a copy that counts the paths inside a set of edges, or those outside one: what is
//! known of the path that control is on.
//!
//! ```text
//!   within     it has taken edges of the set alone
//!   beyond     it has taken another
//! ```
//!
//! Every block has a version for each side, in which control can reach it, so what belongs to one side needs no
//! statement on the other. A copy that counts *inside* (PSPP's paths of interest) counts paths that end within; beyond,
//! no statement runs. A copy that counts *outside* counts paths that end beyond. Those that end within are known, and
//! run statements only as far as a path that leaves the set must have told its prefix.

use super::iterations::Iterations;
use super::selected::Selected;
use crate::base::index::{CfgEdge, EdgeId, IdSet};
use crate::input::ir::Cfg;
use crate::paths::dag::{Dag, Edge, EdgeKind, useful_edges};
use crate::paths::function::Measuring;
use crate::paths::versions::apart::Apart;
use crate::paths::versions::{Product, Versions};

/// Which paths are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side<'a> {
    /// Those whose edges are all in this set of the function's DAG.
    Inside(&'a IdSet<EdgeId>),
    /// The others; this set is one of [`Iterations`].
    Outside(&'a IdSet<EdgeId>),
}

/// What is known of the path that control is on. `version` is that of iterations apart, 0 where nothing is counted any
/// more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SideState {
    within: bool,
    version: u32,
}

/// What decides.
struct Automaton<'a> {
    paths: &'a Measuring,
    iterations: Iterations,
    apart: Option<Apart<'a>>,
    side: Side<'a>,
}

impl Selected {
    /// The versions of the function with control flow `cfg` in a copy that counts on `side`. O(V + E) of the result ·
    /// out-degree.
    pub(super) fn of_side(cfg: &Cfg, paths: &Measuring, side: Side) -> Selected {
        let automaton = Automaton {
            paths,
            iterations: Iterations::new(cfg, paths),
            apart: (!paths.apart.is_empty())
                .then(|| Apart::new(cfg, &paths.shape, &paths.cuts, &paths.apart))
                .flatten(),
            side,
        };
        let order = &paths.shape.order;
        let first = automaton.entry_state();
        let Product { versions, states } =
            Versions::product(cfg, order, first, |s, e| automaton.state_behind(s, e));
        let all = versions.dag(order, &paths.cuts);
        let own_edges = versions.dag_origins(&all, &paths.dag);
        let state = |v| all.block(v).and_then(|b| states[b]);
        let mut candidates = all.edge_set();
        candidates.extend(all.edge_ids().filter(|&e| {
            let Edge { src, dst, .. } = all.edge(e);
            match state(src) {
                Some(from) if dst == all.exit() => automaton.counts(from, &versions, &all, e),
                _ => dst == all.exit() || automaton.may_count(state(dst)),
            }
        }));
        let own = useful_edges(&all, &candidates);
        let ids: Vec<EdgeId> = own.iter().collect();
        let dag = all.restrict_to(&ids);
        let mut open = dag.vertex_set();
        let mut foreign_ends = Vec::new();
        for e in all.edge_ids().filter(|e| !own.contains(*e)) {
            let edge = all.edge(e);
            open.extend(all.block(edge.src).and_then(|b| dag.vertex(b)));
            if let EdgeKind::BackEdge(c) = edge.kind {
                foreign_ends.push((c, all.back_target(e)));
            }
        }
        let preferred = dag.find_vertices(|b| states[b].is_some_and(|state| state.version != 0));
        Selected {
            origins: ids.iter().map(|e| own_edges[*e]).collect(),
            preferred,
            versions,
            dag,
            open,
            foreign_ends,
        }
    }
}

impl Automaton<'_> {
    /// At the entry.
    fn entry_state(&self) -> SideState {
        self.start_state(Some(self.iterations.dag(self.paths).entry_edge()), 0)
    }

    /// Where a path begins by `start`, an edge of the iterations' DAG from ENTRY.
    fn start_state(&self, start: Option<EdgeId>, version: u32) -> SideState {
        self.state(start.is_some_and(|e| self.contains_edge(e)), version)
    }

    /// Beyond the set of a copy that counts inside, versions would be equal.
    fn state(&self, within: bool, version: u32) -> SideState {
        let counted = within || matches!(self.side, Side::Outside(_));
        SideState {
            within,
            version: if counted { version } else { 0 },
        }
    }

    /// Whether the set has edge `e` of the iterations' DAG.
    fn contains_edge(&self, e: EdgeId) -> bool {
        match self.side {
            Side::Inside(set) => set.contains(self.iterations.origin(e)),
            Side::Outside(set) => set.contains(e),
        }
    }

    /// Behind `edge`, taken in state `from`.
    fn state_behind(&self, from: SideState, edge: CfgEdge) -> SideState {
        let own = self.paths.dag.edge_of(edge).expect("edges are taken");
        let version = self
            .apart
            .as_ref()
            .map_or(0, |a| a.state_behind(from.version, edge));
        if let EdgeKind::BackEdge(_) = self.paths.dag.edge(own).kind {
            let to = self.paths.dag.back_target(own);
            return self.start_state(self.iterations.start(self.paths, to, version), version);
        }
        let local = self.iterations.edge(self.paths, edge, from.version);
        self.state(
            from.within && local.is_some_and(|e| self.contains_edge(e)),
            version,
        )
    }

    /// Whether a path that gets to this state may yet be counted.
    fn may_count(&self, state: Option<SideState>) -> bool {
        match self.side {
            Side::Inside(_) => state.is_some_and(|s| s.within),
            Side::Outside(_) => true,
        }
    }

    /// Whether a path is counted that ends by edge `e` of `all`, the DAG of `versions`, in state `from`.
    fn counts(&self, from: SideState, versions: &Versions, all: &Dag, e: EdgeId) -> bool {
        let within = from.within
            && match all.edge(e).kind {
                EdgeKind::BackEdge(c) => {
                    let own = versions.origin_of(c);
                    let local = self.iterations.edge(self.paths, own, from.version);
                    local.is_some_and(|e| self.contains_edge(e))
                }
                _ => {
                    let block = versions.origin[all.block(all.edge(e).src).expect("an exit")];
                    let local = self.iterations.end_edge(self.paths, block, from.version);
                    local.is_some_and(|e| self.contains_edge(e))
                }
            };
        match self.side {
            Side::Inside(_) => within,
            Side::Outside(_) => !within,
        }
    }
}
