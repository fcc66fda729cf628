//! Functions in versions: some blocks several times, between which control passes on chosen edges.
//!
//! The versioned control flow is a [`Cfg`] of its own, with its own DAG; numbering, placement and emission need
//! not know that some of its blocks are copies. [`Versions::origin`] leads back: a walk through the versioned
//! blocks, each replaced by its origin, is a walk through the function, and the only one of the versioned walks
//! from the entry that is (successors keep their ordinals).
//!
//! [`apart`] makes the versions that take a loop's iterations apart.

pub mod apart;

#[cfg(test)]
mod tests;

use crate::dag::{Dag, EdgeKind, Order};
use crate::index::{BlockId, CfgEdge, EdgeId, VertexId};
use crate::ir::Cfg;
use std::collections::HashMap;

/// A control-flow graph in which some blocks of another one exist several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The versioned control flow: first all blocks of the function in their order, then their further versions.
    pub cfg: Cfg,
    /// By block of `cfg`: the function's block that it is a version of.
    pub origin: Vec<BlockId>,
}

impl Versions {
    /// The product of `cfg` and the versions that `next` chooses: edge `e`, taken in a version, leads to its
    /// target in version `next(e, version)`. Control is in version 0 at the entry. Versions of blocks that no
    /// edge leads to are not made, but for version 0. O(V + E) of the result.
    pub fn new(cfg: &Cfg, next: impl Fn(CfgEdge, u32) -> u32) -> Versions {
        let mut builder = Builder {
            cfg,
            ids: HashMap::new(),
            made: cfg.ids().map(|b| (b, 0)).collect(),
        };
        let mut blocks = Vec::with_capacity(cfg.len());
        while let Some(&(origin, version)) = builder.made.get(blocks.len()) {
            let mut block = cfg.block(origin).clone();
            for (i, to) in block.succs.iter_mut().enumerate() {
                let succ = i as u32;
                let edge = CfgEdge {
                    block: origin,
                    succ,
                };
                *to = builder.id(*to, next(edge, version));
            }
            blocks.push(block);
        }
        Versions {
            cfg: Cfg { blocks },
            origin: builder.made.into_iter().map(|(b, _)| b).collect(),
        }
    }

    /// The edge of the function that versioned edge `e` is a version of.
    pub fn origin_of(&self, e: CfgEdge) -> CfgEdge {
        CfgEdge {
            block: self.origin[e.block.index()],
            succ: e.succ,
        }
    }

    /// The versions of the edges that end paths in `cfg`, the function's own control flow: its retreating edges and
    /// `cuts` (sorted). Sorted, as [`Dag::from_cfg`] takes cuts: between versions they need not retreat. `None` when others do
    /// (a depth-first search of an irreducible graph may find them), and so paths would not be the same. O(V + E).
    pub fn path_ends(&self, cfg: &Cfg, cuts: &[CfgEdge]) -> Option<Vec<CfgEdge>> {
        let (own, order) = (Order::new(cfg), Order::new(&self.cfg));
        let mut ends = Vec::new();
        for &block in &order.rpo {
            let from = self.origin[block.index()];
            for (i, &to) in self.cfg.block(block).succs.iter().enumerate() {
                let succ = i as u32;
                let is_cut = cuts.binary_search(&CfgEdge { block: from, succ }).is_ok();
                if is_cut || own.is_retreating(from, self.origin[to.index()]) {
                    ends.push(CfgEdge { block, succ });
                } else if order.is_retreating(block, to) {
                    return None;
                }
            }
        }
        ends.sort_unstable();
        Some(ends)
    }

    /// By edge of `dag`, the DAG of the versioned control flow: the edge of the function's own DAG. O(V + E · degree).
    ///
    /// # Panics
    /// When the two do not end paths at the same edges.
    pub fn dag_origins(&self, dag: &Dag, own: &Dag) -> Vec<EdgeId> {
        let origin = |e: EdgeId| {
            let edge = dag.edge(e);
            match edge.kind {
                EdgeKind::Enter => own.outs(own.entry()).next(),
                EdgeKind::LoopStart => {
                    let header = dag.block(edge.dst).expect("a header is a block");
                    own.loop_start(self.origin[header.index()])
                }
                EdgeKind::Real(c) | EdgeKind::BackEdge(c) => own.edge_of(self.origin_of(c)),
                EdgeKind::Leave => {
                    let block = dag.block(edge.src).expect("an exit is a block");
                    let own_block = own.vertex(self.origin[block.index()]);
                    own_block.and_then(|v| own.outs(v).next())
                }
            }
        };
        dag.edge_ids()
            .map(|e| origin(e).expect("paths end at the same edges"))
            .collect()
    }
}

impl Versions {
    /// By vertex of `dag`, the DAG of the versioned control flow: the first vertex of the part that it belongs to, of
    /// those that are entered from ENTRY alone and lie in further versions ([`crate::numbering::dense`] takes them
    /// as regions). O(V + E).
    pub fn regions(&self, dag: &Dag, blocks: usize) -> Vec<Option<VertexId>> {
        let mut region = vec![None; dag.vertices()];
        for v in dag.order() {
            if dag.block(v).is_some_and(|b| b.index() >= blocks) {
                let sources = dag.ins(v).iter().map(|&e| dag.edge(e).src);
                let home = sources.map(|s| region[s.index()]).next().flatten();
                region[v.index()] = home.or(Some(v));
            }
        }
        region
    }
}

struct Builder<'a> {
    cfg: &'a Cfg,
    /// The number of each version beyond 0.
    ids: HashMap<(BlockId, u32), BlockId>,
    made: Vec<(BlockId, u32)>,
}

impl Builder<'_> {
    fn id(&mut self, block: BlockId, version: u32) -> BlockId {
        assert!(block.index() < self.cfg.len());
        if version == 0 {
            return block;
        }
        let made = &mut self.made;
        *self.ids.entry((block, version)).or_insert_with(|| {
            made.push((block, version));
            BlockId::new(made.len() - 1)
        })
    }
}
