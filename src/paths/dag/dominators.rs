//! The dominator tree of a CFG.
#![cfg_attr(
    not(feature = "llvm"),
    allow(dead_code, reason = "only engines use all of it")
)]

use super::Order;
use super::order::predecessors;
use crate::base::index::BlockId;
use crate::input::ir::Cfg;

/// Which blocks control passes on every way from the entry to a block.
pub(crate) struct Dominators {
    /// The blocks in preorder of a depth-first search: what dominates a block precedes it.
    order: Order,
    /// By position: that of the immediate dominator; the entry's is its own.
    above: Vec<u32>,
    /// By position: the numbers that a walk of the tree gives the block and the last block below it.
    span: Vec<(u32, u32)>,
}

impl Dominators {
    /// The tree of `cfg`. O(E log V) (Lengauer, Tarjan, *A Fast Algorithm for Finding Dominators in
    /// a Flowgraph*, TOPLAS 1979, the simple version).
    ///
    /// The iteration of Cooper, Harvey and Kennedy is shorter, but climbs from each edge to where
    /// the ways to it part: quadratic where each of many blocks may leave for one far away.
    pub(crate) fn new(cfg: &Cfg) -> Dominators {
        let (order, parent) = search(cfg);
        let mut tree = Tree::new(&order, &parent);
        let above = tree.find_immediate(&predecessors(cfg, &order));
        let span = spans(&above);
        Dominators { order, above, span }
    }

    /// The last block that control passes on every way to reachable block `b`, itself excepted; `None` for the entry.
    pub(crate) fn find_dominator(&self, b: BlockId) -> Option<BlockId> {
        let at = self.order.position[b].expect("a reachable block");
        (at > 0).then(|| self.order.rpo[self.above[at as usize] as usize])
    }

    /// Whether a block can be reached.
    pub(crate) fn is_reachable(&self, b: BlockId) -> bool {
        self.order.position[b].is_some()
    }

    /// Whether every way to `b` leads over `a`. Not where one of them cannot be reached.
    pub(crate) fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let span = |b: BlockId| Some(self.span[self.order.position[b]? as usize]);
        let (Some((first, last)), Some((number, _))) = (span(a), span(b)) else {
            return false;
        };
        (first..=last).contains(&number)
    }
}

/// The blocks in preorder, and by position that of the block from which the search came.
fn search(cfg: &Cfg) -> (Order, Vec<u32>) {
    let mut position = cfg.by_block(None);
    let (mut preorder, mut parent) = (Vec::new(), Vec::new());
    // A block, and the place of the one that leads there.
    let mut work = vec![(BlockId(0), 0)];
    while let Some((b, from)) = work.pop() {
        if position[b].is_some() {
            continue;
        }
        let at = preorder.len() as u32;
        position[b] = Some(at);
        preorder.push(b);
        parent.push(from);
        work.extend(cfg.block(b).succs.iter().rev().map(|to| (*to, at)));
    }
    (Order::from_topological(preorder, cfg.len()), parent)
}

/// A depth-first tree whose blocks are linked to their parents one after the other, from the last
/// one on. Everything is by position.
struct Tree<'a> {
    parent: &'a [u32],
    /// The semidominator: the first block from which a way leads here over later ones alone.
    semi: Vec<u32>,
    /// The parent, or an ancestor if paths were compressed; `None`: not linked.
    ancestor: Vec<Option<u32>>,
    /// The block with the first semidominator between here and that ancestor.
    label: Vec<u32>,
}

impl<'a> Tree<'a> {
    fn new(order: &Order, parent: &'a [u32]) -> Self {
        let n = order.rpo.len();
        Tree {
            parent,
            semi: (0..n as u32).collect(),
            ancestor: vec![None; n],
            label: (0..n as u32).collect(),
        }
    }

    fn find_immediate(&mut self, preds: &[Vec<u32>]) -> Vec<u32> {
        let n = preds.len();
        let mut above = vec![0; n];
        // By semidominator: the blocks that wait until all before it are linked.
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); n];
        // Lengauer & Tarjan 1979: in reverse preorder everything below `w` in the tree is linked, so the first
        // semidominator on the way to each predecessor is known.
        for w in (1..n).rev() {
            for &from in &preds[w] {
                let first = self.first_semi(from);
                self.semi[w] = self.semi[w].min(self.semi[first as usize]);
            }
            // Its dominator is known when all between it and its semidominator is linked.
            waiting[self.semi[w] as usize].push(w as u32);
            let parent = self.parent[w];
            self.ancestor[w] = Some(parent);
            for v in std::mem::take(&mut waiting[parent as usize]) {
                let first = self.first_semi(v);
                let is_before = self.semi[first as usize] < self.semi[v as usize];
                above[v as usize] = if is_before { first } else { parent };
            }
        }
        for w in 1..n {
            // Implicit until now: that of an earlier block, which is final since blocks are visited in preorder.
            if above[w] != self.semi[w] {
                above[w] = above[above[w] as usize];
            }
        }
        above
    }

    /// The block with the first semidominator among `v` and what is linked above it, the last one
    /// excepted.
    fn first_semi(&mut self, v: u32) -> u32 {
        let mut path = Vec::new();
        let mut at = v;
        while let Some(up) = self.ancestor[at as usize] {
            path.push((at, up));
            at = up;
        }
        // The topmost one that is linked leads to one that is not: there is nothing to compress.
        path.pop();
        for (at, up) in path.into_iter().rev() {
            let (own, other) = (self.label[at as usize], self.label[up as usize]);
            if self.semi[other as usize] < self.semi[own as usize] {
                self.label[at as usize] = other;
            }
            self.ancestor[at as usize] = self.ancestor[up as usize];
        }
        self.label[v as usize]
    }
}

/// Numbers the tree such that those below a block follow it.
fn spans(above: &[u32]) -> Vec<(u32, u32)> {
    let n = above.len();
    let mut size = vec![1; n];
    for b in (1..n).rev() {
        size[above[b] as usize] += size[b];
    }
    // Dominators precede what they dominate: the next free number below each block is known in time.
    let mut free = vec![1; n];
    let mut span = vec![(0, n as u32 - 1); n];
    for b in 1..n {
        let number = free[above[b] as usize];
        free[above[b] as usize] += size[b];
        free[b] = number + 1;
        span[b] = (number, number + size[b] - 1);
    }
    span
}
