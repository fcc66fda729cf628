//! CFG → DAG (Ball & Larus 1996, §3; `docs/ALGORITHMS.md` §1).

use super::order::Order;
use super::{Dag, Edge, EdgeKind};
use crate::base::index::{BlockId, CfgEdge, TiVec, VertexId};
use crate::input::ir::Cfg;

impl Dag {
    /// The DAG of `cfg`, where the edges in `cuts` (sorted) end paths as back edges do. O(V + E).
    ///
    /// ENTRY's out-edges: first the entry block, then the phony edges to loop headers in
    /// topological order. A block's out-edges: in successor order, each back edge's phony edge
    /// in the place of the back edge.
    pub fn from_cfg(cfg: &Cfg, cuts: &[CfgEdge]) -> Dag {
        Dag::in_order(cfg, &Order::new(cfg), cuts)
    }

    /// The DAG of `cfg` with vertices in a given order of the blocks: edges that go against `order` and those in `ends`
    /// (sorted) end paths. O(V + E).
    pub fn in_order(cfg: &Cfg, order: &Order, ends: &[CfgEdge]) -> Dag {
        let builder = Builder {
            cfg,
            cuts: ends,
            order,
        };
        builder.build()
    }
}

struct Builder<'a> {
    cfg: &'a Cfg,
    cuts: &'a [CfgEdge],
    order: &'a Order,
}

impl Builder<'_> {
    fn build(self) -> Dag {
        let exit = VertexId::new(self.order.rpo.len() + 1);
        let mut starts = vec![false; self.order.rpo.len()];
        let mut body = Vec::with_capacity(self.cfg.len() * 2);
        let mut targets = Vec::with_capacity(self.cfg.len() * 2);
        for &b in &self.order.rpo {
            self.block_edges(b, exit, &mut starts, &mut body, &mut targets);
        }
        let mut edges = vec![self.entry_edge(EdgeKind::Enter, BlockId(0))];
        let headers = self.order.rpo.iter().zip(&starts).filter(|(_, s)| **s);
        edges.extend(headers.map(|(&b, _)| self.entry_edge(EdgeKind::LoopStart, b)));
        let mut back_target = vec![None; edges.len()];
        back_target.append(&mut targets);
        edges.append(&mut body);
        Dag::assemble(
            edges.into(),
            self.blocks(),
            self.vertices(),
            back_target.into(),
        )
    }

    fn block_edges(
        &self,
        b: BlockId,
        exit: VertexId,
        starts: &mut [bool],
        edges: &mut Vec<Edge>,
        targets: &mut Vec<Option<BlockId>>,
    ) {
        let src = self.vertex(b);
        if self.cfg.block(b).succs.is_empty() {
            edges.push(Edge {
                src,
                dst: exit,
                kind: EdgeKind::Leave,
            });
            targets.push(None);
        }
        for (cfg_edge, to) in self.cfg.taken_edges(b) {
            if self.ends_path(cfg_edge, to) {
                starts[self.vertex(to).index() - 1] = true;
                edges.push(Edge {
                    src,
                    dst: exit,
                    kind: EdgeKind::BackEdge(cfg_edge),
                });
                targets.push(Some(to));
            } else {
                edges.push(Edge {
                    src,
                    dst: self.vertex(to),
                    kind: EdgeKind::Real(cfg_edge),
                });
                targets.push(None);
            }
        }
    }

    fn ends_path(&self, edge: CfgEdge, to: BlockId) -> bool {
        self.order.ends_path(self.cuts, edge, to)
    }

    fn entry_edge(&self, kind: EdgeKind, to: BlockId) -> Edge {
        Edge {
            src: VertexId(0),
            dst: self.vertex(to),
            kind,
        }
    }

    fn vertex(&self, b: BlockId) -> VertexId {
        VertexId(self.order.position[b].expect("reachable") + 1)
    }

    fn blocks(&self) -> TiVec<VertexId, Option<BlockId>> {
        let inner = self.order.rpo.iter().map(|&b| Some(b));
        std::iter::once(None)
            .chain(inner)
            .chain(std::iter::once(None))
            .collect()
    }

    fn vertices(&self) -> TiVec<BlockId, Option<VertexId>> {
        self.order
            .position
            .iter()
            .map(|p| p.map(|p| VertexId(p + 1)))
            .collect()
    }
}
