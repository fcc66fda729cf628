//! Labels on DAG edges → the fewest statements that have their effect (Ball & Larus 1996, §3.3–3.5; `docs/ALGORITHMS.md` §3).
//!
//! Which edges get increments is up to a spanning tree: [`Ends::free`] says where they cost nothing.
//! Along every path the increments sum to its id and the last edge counts it. From that:
//! - counts move up over blocks with one way out, into the edges where the last increments are;
//! - what is known of `r` as a constant is not computed: `r` is set where constants meet, and a
//!   count whose id is known does not read it;
//! - nothing is left on edges from which no count is reached any more.

use super::{Op, Site, SiteCode};
use crate::dag::{Dag, EdgeKind};
use crate::index::{EdgeId, VertexId};
use crate::numbering::Numbering;
use fixedbitset::FixedBitSet;
use std::collections::BTreeMap;

/// The statement on each DAG edge, if any: at most one is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// By [`EdgeId`].
    pub code: Vec<Option<Op>>,
}

/// Where paths are counted, whatever their ids.
#[derive(Clone, Debug)]
pub struct Ends {
    /// The edges into EXIT whose paths are to be counted; afterwards, the edges on which they are.
    pub counted: FixedBitSet,
    /// The vertices that control may leave before their end: no count moves above them, or it
    /// would count a path that is never completed.
    pub may_leave: FixedBitSet,
}

impl Ends {
    /// The only way out of `v`, if a count on it can as well happen on the ways in.
    fn liftable(&self, dag: &Dag, v: VertexId) -> Option<EdgeId> {
        let mut outs = dag.outs(v);
        let only = outs.next().filter(|_| outs.next().is_none())?;
        let counted = self.counted.contains(only.index());
        (counted && v != dag.entry() && !self.may_leave.contains(v.index())).then_some(only)
    }

    /// Moves the count on `only`, the way out of `v`, to the ways in.
    fn lift(&mut self, dag: &Dag, v: VertexId, only: EdgeId) {
        self.counted.set(only.index(), false);
        self.counted.extend(dag.ins(v).iter().map(|e| e.index()));
    }

    /// The edges on which an increment costs nothing, because a statement is there anyway or none is needed:
    /// - edges into EXIT, and those to which their counts can be lifted: `count[r + c]++`;
    /// - edges out of vertices that one way leads to from ENTRY, where `r` is known: `r = c`.
    ///
    /// Ball & Larus weigh these edges as all others, so the hottest of them (a loop's back edge is two of them)
    /// stay in the tree, and colder ones inside the loop become chords that cost an addition. O(V + E).
    pub fn free(&self, dag: &Dag) -> FixedBitSet {
        let mut lifted = self.clone();
        let mut free = FixedBitSet::with_capacity(dag.edges().len());
        free.extend(dag.ins(dag.exit()).iter().map(|e| e.index()));
        for v in dag.order().rev().skip(1) {
            if let Some(only) = lifted.liftable(dag, v) {
                lifted.lift(dag, v, only);
            }
        }
        free.union_with(&lifted.counted);
        let mut known = FixedBitSet::with_capacity(dag.vertices());
        known.insert(dag.entry().index());
        for v in dag.order() {
            if let &[only] = dag.ins(v)
                && known.contains(dag.edge(only).src.index())
            {
                known.insert(v.index());
            }
            if known.contains(v.index()) {
                free.extend(dag.outs(v).map(|e| e.index()));
            }
        }
        free
    }
}

/// What is to be computed along the edges of a DAG.
pub struct Increments<'a> {
    /// The DAG.
    pub dag: &'a Dag,
    /// What each edge adds to the path register, which is 0 at ENTRY; by [`EdgeId`].
    pub inc: Vec<i64>,
    /// Where paths are counted.
    pub ends: Ends,
    /// The ids of the paths.
    pub numbering: &'a Numbering,
}

/// What is known of `r` at a vertex, in every path that gets there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Const(i64),
    Varies,
}

impl Increments<'_> {
    /// Places the statements. O(V + E).
    pub fn place(mut self) -> Placement {
        let known = self.known();
        self.lift_counts(&known);
        let needed = self.needed();
        let code = self
            .dag
            .edge_ids()
            .map(|e| self.statement(e, &known, &needed))
            .collect();
        Placement { code }
    }

    fn known(&self) -> Vec<Known> {
        let mut known = vec![Known::Const(0); self.dag.vertices()];
        for v in self.dag.order().skip(1) {
            let mut values = self.dag.ins(v).iter().map(|&e| self.after(e, &known));
            let first = values.next().expect("every vertex is reachable");
            known[v.index()] = if values.all(|k| k == first) {
                first
            } else {
                Known::Varies
            };
        }
        known
    }

    /// What is known of `r` behind edge `e`.
    fn after(&self, e: EdgeId, known: &[Known]) -> Known {
        match known[self.dag.edge(e).src.index()] {
            Known::Const(c) => Known::Const(c.wrapping_add(self.inc[e.index()])),
            Known::Varies => Known::Varies,
        }
    }

    fn lift_counts(&mut self, known: &[Known]) {
        for v in self.dag.order().rev().skip(1) {
            let Some(only) = self.ends.liftable(self.dag, v) else {
                continue;
            };
            if self.pays(v, known) {
                let inc = std::mem::take(&mut self.inc[only.index()]);
                self.ends.lift(self.dag, v, only);
                for &e in self.dag.ins(v) {
                    self.inc[e.index()] = self.inc[e.index()].wrapping_add(inc);
                }
            }
        }
    }

    /// Whether an edge into `v` has a statement that the count would swallow; a single edge in
    /// costs nothing and may lead on.
    fn pays(&self, v: VertexId, known: &[Known]) -> bool {
        let ins = self.dag.ins(v);
        let constant = |e: EdgeId| matches!(known[self.dag.edge(e).src.index()], Known::Const(_));
        let varies = known[v.index()] == Known::Varies;
        ins.len() == 1 || varies && ins.iter().any(|&e| self.inc[e.index()] != 0 || constant(e))
    }

    /// The vertices from which a count that is still to come can be reached.
    fn needed(&self) -> FixedBitSet {
        let mut needed = FixedBitSet::with_capacity(self.dag.vertices());
        for v in self.dag.order().rev().skip(1) {
            let mut outs = self.dag.outs(v);
            let dst = |e: EdgeId| self.dag.edge(e).dst.index();
            if outs.any(|e| self.ends.counted.contains(e.index()) || needed.contains(dst(e))) {
                needed.insert(v.index());
            }
        }
        needed
    }

    fn statement(&self, e: EdgeId, known: &[Known], needed: &FixedBitSet) -> Option<Op> {
        let inc = self.inc[e.index()];
        let after = self.after(e, known);
        if self.ends.counted.contains(e.index()) {
            return Some(match after {
                Known::Const(id) => Op::CountConst(id as u64),
                Known::Varies if self.numbering.counts_in_window(self.dag, e) => {
                    Op::CountInWindow(inc)
                }
                Known::Varies => Op::Count(inc),
            });
        }
        let dst = self.dag.edge(e).dst.index();
        match (after, known[dst]) {
            _ if !needed.contains(dst) => None,
            (Known::Const(c), Known::Varies) => Some(Op::Set(c)),
            (Known::Varies, Known::Varies) if inc != 0 => Some(Op::Add(inc)),
            _ => None,
        }
    }
}

impl Placement {
    /// The statements that run along the path `edges`.
    pub fn hits(&self, edges: &[EdgeId]) -> u64 {
        edges
            .iter()
            .filter(|e| self.code[e.index()].is_some())
            .count() as u64
    }

    /// Expected executions of all statements under `weights`.
    pub fn cost(&self, weights: &[f64]) -> f64 {
        self.code
            .iter()
            .zip(weights)
            .filter(|(op, _)| op.is_some())
            .map(|(_, w)| w)
            .sum()
    }

    /// The number of statements.
    pub fn probes(&self) -> usize {
        self.code.iter().flatten().count()
    }

    /// The code by site. The phony pair of a back edge becomes one piece of code: what ends the
    /// old path, then what starts the new one.
    pub fn sites(&self, dag: &Dag) -> Vec<SiteCode> {
        let mut sites: BTreeMap<Site, Vec<Op>> = BTreeMap::new();
        for e in dag.edge_ids() {
            let code = |e: EdgeId| self.code[e.index()];
            let (site, then) = match dag.edge(e).kind {
                EdgeKind::Enter => (Site::Entry, None),
                EdgeKind::LoopStart => continue,
                EdgeKind::Real(c) => (Site::Edge(c), None),
                EdgeKind::Leave => (Site::Exit(dag.block(dag.edge(e).src).expect("block")), None),
                EdgeKind::BackEdge(c) => {
                    let start = dag.loop_start(dag.back_target(e)).expect("phony edge");
                    (Site::Edge(c), code(start))
                }
            };
            let ops: Vec<Op> = code(e).into_iter().chain(then).collect();
            if !ops.is_empty() {
                sites.insert(site, ops);
            }
        }
        sites
            .into_iter()
            .map(|(site, ops)| SiteCode { site, ops })
            .collect()
    }
}
