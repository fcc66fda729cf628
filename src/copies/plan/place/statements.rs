//! Increments on edges → one statement on each edge at most.

use super::{Ends, Placement};
use crate::base::index::{EdgeId, IdSet, TiSlice, TiVec, VertexId};
use crate::copies::plan::Op;
use crate::paths::dag::Dag;
use crate::paths::numbering::Numbering;

/// What is to be computed along the edges of a DAG.
pub(crate) struct Increments<'a> {
    /// The DAG.
    pub dag: &'a Dag,
    /// What each edge adds to the path register, which is 0 at ENTRY.
    pub inc: TiVec<EdgeId, i64>,
    /// Where paths are counted.
    pub ends: Ends,
    /// The ids of the paths.
    pub numbering: &'a Numbering,
}

/// What is known of `r` at a vertex, in every path that gets there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownRegister {
    Const(i64),
    Varies,
}

impl Increments<'_> {
    /// Places the statements. O(V + E).
    pub(crate) fn place(mut self) -> Placement {
        let known = self.find_known();
        self.lift_counts(&known);
        let needed = self.find_needed();
        let edges = self.dag.edge_ids();
        let code = edges.map(|e| self.statement(e, &known, &needed));
        Placement {
            code: code.collect(),
        }
    }

    fn find_known(&self) -> TiVec<VertexId, KnownRegister> {
        let mut known = self.dag.by_vertex(KnownRegister::Const(0));
        for v in self.dag.order().skip(1) {
            let mut values = self
                .dag
                .ins(v)
                .iter()
                .map(|&e| self.register_after(e, &known));
            let first = values.next().expect("every vertex is reachable");
            known[v] = if values.all(|k| k == first) {
                first
            } else {
                KnownRegister::Varies
            };
        }
        known
    }

    /// What is known of `r` behind edge `e`.
    fn register_after(&self, e: EdgeId, known: &TiSlice<VertexId, KnownRegister>) -> KnownRegister {
        match known[self.dag.edge(e).src] {
            KnownRegister::Const(c) => KnownRegister::Const(c.wrapping_add(self.inc[e])),
            KnownRegister::Varies => KnownRegister::Varies,
        }
    }

    fn lift_counts(&mut self, known: &TiSlice<VertexId, KnownRegister>) {
        for v in self.dag.order_from_exit() {
            let Some(only) = self.ends.find_liftable(self.dag, v) else {
                continue;
            };
            if self.lifting_pays(v, only, known) {
                let inc = std::mem::take(&mut self.inc[only]);
                self.ends.lift_count(self.dag, v, only);
                for &e in self.dag.ins(v) {
                    self.inc[e] = self.inc[e].wrapping_add(inc);
                }
            }
        }
    }

    /// Whether a count on `only`, the way out of `v`, had better be on the ways in: an edge into `v` has a statement
    /// that the count would swallow, or an array may count what comes along it. A single edge in costs nothing and may
    /// lead on.
    fn lifting_pays(
        &self,
        v: VertexId,
        only: EdgeId,
        known: &TiSlice<VertexId, KnownRegister>,
    ) -> bool {
        let ins = self.dag.ins(v);
        let constant = |e: EdgeId| matches!(known[self.dag.edge(e).src], KnownRegister::Const(_));
        let in_window = |e: EdgeId| self.numbering.window_up_to(e).is_some();
        let varies = known[v] == KnownRegister::Varies;
        ins.len() == 1
            || varies && ins.iter().any(|&e| self.inc[e] != 0 || constant(e))
            || !in_window(only) && ins.iter().any(|&e| in_window(e))
    }

    /// The vertices from which a count that is still to come can be reached.
    fn find_needed(&self) -> IdSet<VertexId> {
        let mut needed = self.dag.vertex_set();
        for v in self.dag.order_from_exit() {
            let mut outs = self.dag.out_edges(v);
            let dst = |e: EdgeId| self.dag.edge(e).dst;
            if outs.any(|e| self.ends.counted.contains(e) || needed.contains(dst(e))) {
                needed.insert(v);
            }
        }
        needed
    }

    fn statement(
        &self,
        e: EdgeId,
        known: &TiSlice<VertexId, KnownRegister>,
        needed: &IdSet<VertexId>,
    ) -> Option<Op> {
        let inc = self.inc[e];
        let after = self.register_after(e, known);
        if self.ends.counted.contains(e) {
            return Some(match after {
                KnownRegister::Const(id) => Op::CountConst(id as u64),
                KnownRegister::Varies if self.numbering.window_up_to(e).is_some() => {
                    Op::CountInWindow(inc)
                }
                KnownRegister::Varies => Op::Count(inc),
            });
        }
        let dst = self.dag.edge(e).dst;
        match (after, known[dst]) {
            _ if !needed.contains(dst) => None,
            (KnownRegister::Const(c), KnownRegister::Varies) => Some(Op::Set(c)),
            (KnownRegister::Varies, KnownRegister::Varies) if inc != 0 => Some(Op::Add(inc)),
            _ => None,
        }
    }
}
