//! The Ball–Larus DAG of a function: what every later stage speaks about.
//!
//! Source: Ball & Larus, *Efficient Path Profiling*, MICRO 1996, §3 (`docs/ALGORITHMS.md` §1). Vertices are the
//! reachable blocks between a virtual ENTRY and a virtual EXIT. A back edge `v → w` is replaced
//! by two phony edges, `v → EXIT` (one for each back edge) and `ENTRY → w` (one for each loop
//! header), so a path runs from the function's entry or a loop header to an exit or a back edge.
//! Cut edges are treated exactly as back edges.

mod cuts;
mod dominators;
mod from_cfg;
mod order;
pub(crate) mod reduced;
mod subsets;

#[cfg(test)]
mod tests;

pub(crate) use cuts::{MAX_PATHS, choose_cuts};
pub(crate) use dominators::Dominators;
pub(crate) use order::{LoopForest, Order, Shape};
pub(crate) use subsets::{edges_through, paths_inside, rests_inside, useful_edges};

use crate::base::index::{BlockId, CfgEdge, EdgeId, IdSet, TiSlice, TiVec, VertexId, ti_vec};

/// What a DAG edge stands for in the CFG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// ENTRY → entry block.
    Enter,
    /// Phony, ENTRY → target of back edges (or cut edges).
    LoopStart,
    /// An edge of the CFG.
    Real(CfgEdge),
    /// Block without successors → EXIT.
    Leave,
    /// Phony, source of this back edge (or cut edge) → EXIT.
    BackEdge(CfgEdge),
}

/// An edge of the DAG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Source vertex.
    pub src: VertexId,
    /// Target vertex; always a larger number than `src`.
    pub dst: VertexId,
    /// What it stands for.
    pub kind: EdgeKind,
}

/// A directed acyclic graph with one source and one sink.
///
/// Vertex 0 is ENTRY, the last vertex is EXIT, and the numbers are a topological order. Edges
/// are numbered by source vertex, then out-edge order. Every vertex lies on some path.
#[derive(Clone, Debug)]
pub struct Dag {
    edges: TiVec<EdgeId, Edge>,
    out_first: Vec<u32>,
    in_first: Vec<u32>,
    in_edges: Vec<EdgeId>,
    block_of: TiVec<VertexId, Option<BlockId>>,
    vertex_of: TiVec<BlockId, Option<VertexId>>,
    back_target: TiVec<EdgeId, Option<BlockId>>,
}

/// How a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStart {
    /// At the function's entry.
    Entry,
    /// Just after a back edge (or a cut edge).
    Loop,
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// In a block without successors.
    Exit,
    /// By taking this back edge (or cut edge) to that block.
    Back(CfgEdge, BlockId),
}

/// A path in terms of the CFG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// How it begins.
    pub start: PathStart,
    /// The blocks it runs through, at least one.
    pub blocks: Vec<BlockId>,
    /// The successor ordinals taken between them: one fewer than blocks.
    pub succs: Vec<u32>,
    /// How it ends.
    pub end: PathEnd,
}

impl Dag {
    /// A DAG from its edges, which must be grouped by ascending source, with `src < dst`, vertex
    /// 0 the only source and `vertices - 1` the only sink. All edges are [`EdgeKind::Enter`]
    /// or `Real` stand-ins: for graphs that come from no CFG. O(V + E).
    pub fn from_edges(vertices: usize, edges: &[(u32, u32)]) -> Dag {
        let edges = edges
            .iter()
            .enumerate()
            .map(|(i, &(src, dst))| Edge {
                src: VertexId(src),
                dst: VertexId(dst),
                kind: EdgeKind::Real(CfgEdge {
                    block: BlockId(src),
                    succ: i as u32,
                }),
            })
            .collect();
        let block_of = ti_vec![None; vertices];
        Dag::assemble(edges, block_of, TiVec::new(), TiVec::new())
    }

    fn assemble(
        edges: TiVec<EdgeId, Edge>,
        block_of: TiVec<VertexId, Option<BlockId>>,
        vertex_of: TiVec<BlockId, Option<VertexId>>,
        back_target: TiVec<EdgeId, Option<BlockId>>,
    ) -> Dag {
        let vertices = block_of.len();
        assert!(
            edges.iter().is_sorted_by_key(|e| e.src),
            "edges must be grouped by source"
        );
        assert!(
            edges.iter().all(|e| e.src < e.dst),
            "vertex numbers must be topological"
        );
        let out_first = prefix_sums(vertices, edges.iter().map(|e| e.src));
        let in_first = prefix_sums(vertices, edges.iter().map(|e| e.dst));
        let mut next = in_first.clone();
        let mut in_edges = vec![EdgeId(0); edges.len()];
        for (id, e) in edges.iter_enumerated() {
            let slot = &mut next[e.dst.index()];
            in_edges[*slot as usize] = id;
            *slot += 1;
        }
        Dag {
            edges,
            out_first,
            in_first,
            in_edges,
            block_of,
            vertex_of,
            back_target,
        }
    }

    /// The paths whose edges are all among `ids`, which ascend; each of those must lie on such a path. O(V + E).
    pub fn restrict_to(&self, ids: &[EdgeId]) -> Dag {
        let mut used = self.vertex_set();
        used.extend(ids.iter().map(|e| self.edge(*e).src));
        used.insert(self.exit());
        let kept: Vec<VertexId> = used.iter().collect();
        let mut number = self.by_vertex(None);
        for (i, v) in kept.iter().enumerate() {
            number[*v] = Some(VertexId::new(i));
        }
        let end = |v: VertexId| number[v].expect("kept edges go on with kept ones");
        let edge = |e: &EdgeId| {
            let Edge { src, dst, kind } = self.edge(*e);
            let (src, dst) = (end(src), end(dst));
            Edge { src, dst, kind }
        };
        let edges = ids.iter().map(edge).collect();
        let block_of = kept.iter().map(|v| self.block_of[*v]).collect();
        let vertex_of = self.vertex_of.iter().map(|v| number[(*v)?]);
        let back_target = ids.iter().map(|e| self.back_target[*e]).collect();
        Dag::assemble(edges, block_of, vertex_of.collect(), back_target)
    }

    /// ENTRY.
    pub fn entry(&self) -> VertexId {
        VertexId(0)
    }

    /// The edge from ENTRY to the block where functions begin: the first edge.
    pub fn entry_edge(&self) -> EdgeId {
        EdgeId(0)
    }

    /// EXIT.
    pub fn exit(&self) -> VertexId {
        VertexId::new(self.vertices() - 1)
    }

    /// The number of vertices, ENTRY and EXIT included.
    pub fn vertices(&self) -> usize {
        self.block_of.len()
    }

    /// All edges.
    pub fn edges(&self) -> &TiSlice<EdgeId, Edge> {
        &self.edges
    }

    /// The edge with id `e`.
    pub fn edge(&self, e: EdgeId) -> Edge {
        self.edges[e]
    }

    /// All edge ids in order.
    pub fn edge_ids(&self) -> impl DoubleEndedIterator<Item = EdgeId> + use<> {
        self.edges.keys()
    }

    /// One of these for each edge.
    pub fn by_edge<T: Clone>(&self, value: T) -> TiVec<EdgeId, T> {
        ti_vec![value; self.edges.len()]
    }

    /// One of these for each vertex.
    pub fn by_vertex<T: Clone>(&self, value: T) -> TiVec<VertexId, T> {
        ti_vec![value; self.vertices()]
    }

    /// An empty set of edges.
    pub fn edge_set(&self) -> IdSet<EdgeId> {
        IdSet::with_capacity(self.edges.len())
    }

    /// An empty set of vertices.
    pub fn vertex_set(&self) -> IdSet<VertexId> {
        IdSet::with_capacity(self.vertices())
    }

    /// All vertices in topological order.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = VertexId> + use<> {
        self.block_of.keys()
    }

    /// All vertices but EXIT, each behind those that its edges lead to.
    pub fn order_from_exit(&self) -> impl Iterator<Item = VertexId> + use<> {
        self.order().rev().skip(1)
    }

    /// A value for each vertex: `at_exit` for EXIT, for others what `value` makes of those that
    /// their edges lead to, which are known then. O(V), and what `value` takes.
    pub fn fold_from_exit<T: Clone>(
        &self,
        at_exit: T,
        mut value: impl FnMut(VertexId, &TiSlice<VertexId, T>) -> T,
    ) -> TiVec<VertexId, T> {
        let mut values = self.by_vertex(at_exit);
        for v in self.order_from_exit() {
            values[v] = value(v, &values);
        }
        values
    }

    /// The vertices of the blocks that `is_one` accepts. O(V).
    pub fn find_vertices(&self, is_one: impl Fn(BlockId) -> bool) -> IdSet<VertexId> {
        let mut vertices = self.vertex_set();
        let found = self.order().filter(|&v| self.block(v).is_some_and(&is_one));
        vertices.extend(found);
        vertices
    }

    /// The out-edges of `v`, in order.
    pub fn out_edges(&self, v: VertexId) -> impl DoubleEndedIterator<Item = EdgeId> + use<> {
        (self.out_first[v.index()]..self.out_first[v.index() + 1]).map(EdgeId)
    }

    /// The in-edges of `v`, by ascending id.
    pub fn ins(&self, v: VertexId) -> &[EdgeId] {
        &self.in_edges[self.in_first[v.index()] as usize..self.in_first[v.index() + 1] as usize]
    }

    /// The number of out-edges of `v`.
    pub fn out_degree(&self, v: VertexId) -> usize {
        (self.out_first[v.index() + 1] - self.out_first[v.index()]) as usize
    }

    /// The block that vertex `v` stands for; `None` for ENTRY, EXIT and in graphs of no CFG.
    pub fn block(&self, v: VertexId) -> Option<BlockId> {
        self.block_of[v]
    }

    /// The vertex of block `b`; `None` when the block is unreachable.
    pub fn vertex(&self, b: BlockId) -> Option<VertexId> {
        self.vertex_of[b]
    }

    /// The edge ENTRY → target that a path starts with after a back edge to block `b`.
    pub fn loop_start(&self, b: BlockId) -> Option<EdgeId> {
        let v = self.vertex(b)?;
        self.ins(v)
            .iter()
            .copied()
            .take_while(|&e| self.edge(e).src == self.entry())
            .find(|&e| self.edge(e).kind == EdgeKind::LoopStart)
    }

    /// The DAG edge of a CFG edge out of a reachable block: the real edge, or the phony edge to
    /// EXIT of a back edge. O(out-degree); `None` for edges that are never taken (repeats of an
    /// `indirectbr` target, unreachable blocks).
    pub fn edge_of(&self, cfg: CfgEdge) -> Option<EdgeId> {
        let v = self.vertex(cfg.block)?;
        self.out_edges(v).find(|&e| match self.edge(e).kind {
            EdgeKind::Real(c) | EdgeKind::BackEdge(c) => c == cfg,
            _ => false,
        })
    }

    /// The path along `edges` (ENTRY to EXIT) in terms of the CFG.
    ///
    /// # Panics
    /// When `edges` is not an ENTRY → EXIT path of a DAG made from a CFG.
    pub fn path(&self, edges: &[EdgeId]) -> Path {
        let (&first, &last) = (
            edges.first().expect("empty path"),
            edges.last().expect("empty"),
        );
        let start = match self.edge(first).kind {
            EdgeKind::Enter => PathStart::Entry,
            EdgeKind::LoopStart => PathStart::Loop,
            other => panic!("path starts with {other:?}"),
        };
        let end = match self.edge(last).kind {
            EdgeKind::Leave => PathEnd::Exit,
            EdgeKind::BackEdge(c) => PathEnd::Back(c, self.back_target(last)),
            other => panic!("path ends with {other:?}"),
        };
        let inner = &edges[..edges.len() - 1];
        let blocks = inner
            .iter()
            .map(|&e| self.block(self.edge(e).dst).expect("inner vertex"));
        let succs = inner[1..].iter().map(|&e| match self.edge(e).kind {
            EdgeKind::Real(c) => c.succ,
            other => panic!("{other:?} inside a path"),
        });
        Path {
            start,
            blocks: blocks.collect(),
            succs: succs.collect(),
            end,
        }
    }

    /// Where the back edge (or cut edge) behind phony edge `e` leads.
    ///
    /// # Panics
    /// When `e` is not of kind [`EdgeKind::BackEdge`].
    pub fn back_target(&self, e: EdgeId) -> BlockId {
        self.back_target[e].expect("not a back edge")
    }

    /// The edges of the path that `path` describes: the inverse of [`Dag::path`]. `None` when
    /// it is not a path of this DAG.
    pub fn path_edges(&self, path: &Path) -> Option<Vec<EdgeId>> {
        let first = match path.start {
            PathStart::Entry => self.entry_edge(),
            PathStart::Loop => self.loop_start(*path.blocks.first()?)?,
        };
        let mut edges = vec![first];
        for (i, &block) in path.blocks.iter().enumerate() {
            if self.block(self.edge(*edges.last()?).dst) != Some(block) {
                return None;
            }
            let succ = path.succs.get(i).copied();
            let next = match (succ, path.end) {
                (Some(succ), _) => self.edge_of(CfgEdge { block, succ })?,
                (None, PathEnd::Back(c, _)) => self.edge_of(c)?,
                (None, PathEnd::Exit) => self.out_edges(self.vertex(block)?).next()?,
            };
            edges.push(next);
        }
        (self.edge(*edges.last()?).dst == self.exit()).then_some(edges)
    }
}

/// `out[i]` is the number of keys below `i`: offsets of a counting sort. O(n + keys).
fn prefix_sums(n: usize, keys: impl Iterator<Item = VertexId>) -> Vec<u32> {
    let mut first = vec![0u32; n + 1];
    for k in keys {
        first[k.index() + 1] += 1;
    }
    for i in 0..n {
        first[i + 1] += first[i];
    }
    first
}
