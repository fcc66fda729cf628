//! The dominator tree of a CFG.

use super::Order;
use super::order::predecessors;
use crate::index::BlockId;
use crate::ir::Cfg;

/// Which blocks control passes on every way from the entry to a block.
pub struct Dominators {
    order: Order,
    /// By position in reverse postorder: that of the immediate dominator; the entry's is its own.
    above: Vec<u32>,
    /// By position: the numbers that a walk of the tree gives the block and the last block below it.
    span: Vec<(u32, u32)>,
}

impl Dominators {
    /// The tree of `cfg`. O(E) for reducible graphs, O(V · E) at worst (Cooper, Harvey, Kennedy, *A Simple, Fast
    /// Dominance Algorithm*, 2001, figure 3).
    pub fn new(cfg: &Cfg) -> Dominators {
        // Versions have an order already, by which a header may come before all that leads to it: a search of its own.
        let order = Order::new(cfg);
        let preds = predecessors(cfg, &order);
        let n = order.rpo.len();
        let mut above: Vec<Option<u32>> = vec![None; n];
        above[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for b in 1..n {
                let known = preds[b]
                    .iter()
                    .copied()
                    .filter(|&p| above[p as usize].is_some());
                let new = known.reduce(|x, y| meet(&above, x, y));
                changed |= above[b] != new;
                above[b] = new;
            }
        }
        let above: Vec<u32> = above.into_iter().map(|a| a.expect("reachable")).collect();
        let span = spans(&above);
        Dominators { order, above, span }
    }

    /// The last block that control passes on every way to reachable block `b`, itself excepted; `None` for the entry.
    pub fn above(&self, b: BlockId) -> Option<BlockId> {
        let at = self.order.position[b].expect("a reachable block");
        (at > 0).then(|| self.order.rpo[self.above[at as usize] as usize])
    }

    /// Whether a block can be reached.
    pub fn reaches(&self, b: BlockId) -> bool {
        self.order.position[b].is_some()
    }

    /// Whether every way to `b` leads over `a`. Not where one of them cannot be reached.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let span = |b: BlockId| Some(self.span[self.order.position[b]? as usize]);
        let (Some((first, last)), Some((number, _))) = (span(a), span(b)) else {
            return false;
        };
        (first..=last).contains(&number)
    }
}

/// Where the chains of dominators of two blocks meet.
fn meet(above: &[Option<u32>], mut x: u32, mut y: u32) -> u32 {
    while x != y {
        let deeper = if x > y { &mut x } else { &mut y };
        *deeper = above[*deeper as usize].expect("dominators are known from above");
    }
    x
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
