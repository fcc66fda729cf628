//! Depth-first orders of a CFG: retreating edges and the loop nesting forest.

use crate::base::index::{BlockId, CfgEdge, TiVec, ti_vec};
use crate::input::ir::Cfg;
use std::sync::Arc;

/// What a depth-first search tells of a control flow. [`crate::paths::function::Measuring`] has that of its function:
/// whoever asks for an order or for loops takes a reference to it.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The order of the blocks. The plans of all copies share it.
    pub order: Arc<Order>,
    /// The loops.
    pub loops: LoopForest,
}

impl Shape {
    /// Searches `cfg`. Near-linear.
    pub fn new(cfg: &Cfg) -> Shape {
        let order = Order::new(cfg);
        let loops = LoopForest::new(cfg, &order);
        let order = Arc::new(order);
        Shape { order, loops }
    }
}

/// A depth-first search of a CFG from its entry that visits successors in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The reachable blocks in reverse postorder: a topological order of the non-retreating edges.
    pub rpo: Vec<BlockId>,
    /// Position in `rpo` by block; `None` for unreachable blocks.
    pub position: TiVec<BlockId, Option<u32>>,
}

impl Order {
    /// Runs the search. O(V + E), no recursion.
    pub fn new(cfg: &Cfg) -> Order {
        let mut seen = cfg.by_block(false);
        let mut postorder = Vec::with_capacity(cfg.len());
        let mut stack = vec![(BlockId(0), 0usize)];
        seen[BlockId(0)] = true;
        while let Some((b, next)) = stack.last_mut() {
            match cfg.block(*b).succs.get(*next) {
                Some(&s) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[s], true) {
                        stack.push((s, 0));
                    }
                }
                None => {
                    postorder.push(*b);
                    stack.pop();
                }
            }
        }
        postorder.reverse();
        Order::from_topological(postorder, cfg.len())
    }

    /// The blocks in an order that something else knows to be topological: edges that go against it end paths.
    pub fn from_topological(rpo: Vec<BlockId>, blocks: usize) -> Order {
        let mut position: TiVec<BlockId, Option<u32>> = ti_vec![None; blocks];
        for (i, b) in rpo.iter().enumerate() {
            position[*b] = Some(i as u32);
        }
        Order { rpo, position }
    }

    /// Whether the edge `from → to` is retreating in this search: its target is `from` itself or
    /// an ancestor on the depth-first tree. Both blocks must be reachable.
    ///
    /// An edge goes against reverse postorder exactly when it is retreating.
    pub fn is_retreating(&self, from: BlockId, to: BlockId) -> bool {
        self.position[to] <= self.position[from]
    }

    /// The retreating edges of `cfg`, whose order this is, and where they lead; by their blocks in this order.
    /// O(V + E).
    pub fn back_edges<'a>(&'a self, cfg: &'a Cfg) -> impl Iterator<Item = (CfgEdge, BlockId)> + 'a {
        self.rpo.iter().flat_map(move |&block| {
            let succs = (0..).zip(&cfg.block(block).succs);
            let edges = succs.map(move |(succ, &to)| (CfgEdge { block, succ }, to));
            edges.filter(|(e, to)| self.is_retreating(e.block, *to))
        })
    }

    /// Whether paths end at `edge`, which leads to `to`: where it is retreating or one of `cuts`, which are sorted.
    pub fn ends_path(&self, cuts: &[CfgEdge], edge: CfgEdge, to: BlockId) -> bool {
        self.is_retreating(edge.block, to) || cuts.binary_search(&edge).is_ok()
    }
}

/// The innermost loop header of every block: the loop nesting forest of the search's retreating
/// edges (Havlak's generalisation of natural loops to irreducible graphs; Tarjan 1974).
///
/// A block that is itself a header maps to the header of the loop around it, so following the
/// links climbs the nest. Everything is by position in reverse postorder.
#[derive(Clone, Debug)]
pub struct LoopForest {
    /// The header of the innermost loop around a block (not the loop it heads itself).
    pub parent: Vec<Option<u32>>,
    /// Whether a retreating edge leads to the block.
    pub is_header: Vec<bool>,
}

impl LoopForest {
    /// Near-linear: union-find over inner loops.
    pub fn new(cfg: &Cfg, order: &Order) -> LoopForest {
        let preds = predecessors(cfg, order);
        let n = order.rpo.len();
        let mut parent: Vec<Option<u32>> = vec![None; n];
        let mut is_header = vec![false; n];
        let mut collapsed: Vec<u32> = (0..n as u32).collect();
        for h in (0..n as u32).rev() {
            let mut work: Vec<u32> = Vec::new();
            for &p in preds[h as usize].iter().filter(|&&p| p >= h) {
                is_header[h as usize] = true;
                work.push(find(&mut collapsed, p));
            }
            while let Some(x) = work.pop() {
                if x == h || collapsed[x as usize] == h {
                    continue;
                }
                parent[x as usize] = Some(h);
                collapsed[x as usize] = h;
                // Edges into the body from before the header (irreducible entries) stay outside.
                for &p in &preds[x as usize] {
                    let p = find(&mut collapsed, p);
                    if p > h {
                        work.push(p);
                    }
                }
            }
        }
        LoopForest { parent, is_header }
    }

    /// The innermost loop that holds block `x`: its own when it is a header.
    pub fn loop_of(&self, x: u32) -> Option<u32> {
        if self.is_header[x as usize] {
            Some(x)
        } else {
            self.parent[x as usize]
        }
    }

    /// The loops that hold block `x`, from the innermost one on: their headers.
    pub fn find_loops_around(&self, x: u32) -> impl Iterator<Item = u32> {
        let up = |&h: &u32| self.parent[h as usize];
        std::iter::successors(self.loop_of(x), up)
    }

    /// Whether block `x` lies in the loop of `header`. O(depth): headers precede their bodies.
    pub fn loop_contains(&self, header: u32, x: u32) -> bool {
        self.find_loops_around(x)
            .take_while(|&h| h >= header)
            .any(|h| h == header)
    }
}

/// By position in reverse postorder: the positions of the predecessors, one an edge.
pub(super) fn predecessors(cfg: &Cfg, order: &Order) -> Vec<Vec<u32>> {
    let mut preds = vec![Vec::new(); order.rpo.len()];
    for (i, &b) in order.rpo.iter().enumerate() {
        for &s in &cfg.block(b).succs {
            let to = order.position[s].expect("successor of a reachable block");
            preds[to as usize].push(i as u32);
        }
    }
    preds
}

/// The outermost collapsed loop around `x`, with path halving.
fn find(collapsed: &mut [u32], mut x: u32) -> u32 {
    while collapsed[x as usize] != x {
        let up = collapsed[x as usize];
        collapsed[x as usize] = collapsed[up as usize];
        x = collapsed[x as usize];
    }
    x
}
