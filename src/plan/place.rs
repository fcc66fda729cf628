//! Increments on DAG edges → the fewest statements that have their effect (Ball & Larus 1996,
//! §3.5; spec §3).
//!
//! Along every path the increments sum to its id and the last edge counts it. From that:
//! - counts move up over blocks with one way out, into the edges where the last increments are;
//! - what is known of `r` as a constant is not computed: `r` is set where constants meet, and a
//!   count whose id is known does not read it;
//! - nothing is left on edges from which no count is reached any more.

use super::{Op, Site, SiteCode};
use crate::dag::{Dag, EdgeKind};
use crate::index::{EdgeId, VertexId};
use fixedbitset::FixedBitSet;
use std::collections::BTreeMap;

/// The statement on each DAG edge, if any: at most one is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// By [`EdgeId`].
    pub code: Vec<Option<Op>>,
}

/// What is to be computed along the edges of a DAG.
pub struct Increments<'a> {
    /// The DAG.
    pub dag: &'a Dag,
    /// What each edge adds to the path register, which is 0 at ENTRY; by [`EdgeId`].
    pub inc: Vec<i64>,
    /// The edges into EXIT whose paths are to be counted.
    pub counted: FixedBitSet,
    /// The vertices that control may leave before their end: no count moves above them, or it
    /// would count a path that is never completed.
    pub may_leave: FixedBitSet,
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
            if self.can_lift(v) && self.pays(v, known) {
                let out = self.dag.outs(v).next().expect("one way out").index();
                let inc = std::mem::take(&mut self.inc[out]);
                self.counted.set(out, false);
                for &e in self.dag.ins(v) {
                    self.counted.insert(e.index());
                    self.inc[e.index()] = self.inc[e.index()].wrapping_add(inc);
                }
            }
        }
    }

    /// Whether the count on the only way out of `v` can as well happen on the way in.
    fn can_lift(&self, v: VertexId) -> bool {
        let mut outs = self.dag.outs(v);
        let only = outs.next().filter(|_| outs.next().is_none());
        let counted = only.is_some_and(|e| self.counted.contains(e.index()));
        counted && v != self.dag.entry() && !self.may_leave.contains(v.index())
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
            if outs.any(|e| self.counted.contains(e.index()) || needed.contains(dst(e))) {
                needed.insert(v.index());
            }
        }
        needed
    }

    fn statement(&self, e: EdgeId, known: &[Known], needed: &FixedBitSet) -> Option<Op> {
        let inc = self.inc[e.index()];
        let after = self.after(e, known);
        if self.counted.contains(e.index()) {
            return Some(match after {
                Known::Const(id) => Op::CountConst(id as u64),
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
