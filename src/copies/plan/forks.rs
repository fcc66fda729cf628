//! Counters of functions that call `fork`: what children did that went on with an activation of their parents.
//!
//! A child's first path began in its parent, so paths alone do not tell what the child did on it. These counters are
//! increased by nobody but children: when `fork` returns in a child, when a child ends that first path, when it leaves
//! the activation, and at each block on the first path behind the `fork`.

use crate::base::index::{BlockId, IdSet};
use crate::input::ir::Cfg;
use crate::paths::dag::Order;

/// The counter of children in which `fork` returned.
pub(crate) const FORKED: u64 = 0;
/// The counter of children that came to a `return` of an activation that they did not enter.
pub(crate) const RETURNED: u64 = 1;
/// The counter of children that completed the path on which they were forked.
pub(crate) const COMPLETED: u64 = 2;
/// The first of the counters of blocks: how often children entered them on the path on which they were forked.
pub(crate) const FIRST_BLOCK: u64 = 3;

/// The number of counters of a function; 0 if it calls no `fork`, or if paths are not what a child goes on with: edges
/// are cut (`has_cuts`), or a call may return twice. O(V).
pub(crate) fn count_counters(cfg: &Cfg, has_cuts: bool) -> u64 {
    let forks = cfg.blocks.iter().any(|b| b.calls_fork());
    let twice = cfg.blocks.iter().any(|b| b.returns_twice);
    if !forks || twice || has_cuts {
        return 0;
    }
    FIRST_BLOCK + cfg.len() as u64
}

/// Where a child may be on the path on which it was forked.
pub(crate) struct FirstPath {
    /// The blocks that it may enter.
    pub blocks: IdSet<BlockId>,
    /// The headers at which it may end that path.
    pub ends: IdSet<BlockId>,
}

impl FirstPath {
    /// Of a function with this control flow and order. O(V + E).
    pub(crate) fn new(cfg: &Cfg, order: &Order) -> FirstPath {
        let mut first = FirstPath {
            blocks: IdSet::with_capacity(cfg.len()),
            ends: IdSet::with_capacity(cfg.len()),
        };
        // Every edge that ends no path leads on in this order.
        for &b in &order.rpo {
            if !cfg.block(b).calls_fork() && !first.blocks.contains(b) {
                continue;
            }
            for &to in &cfg.block(b).succs {
                if order.is_retreating(b, to) {
                    first.ends.insert(to);
                } else {
                    first.blocks.insert(to);
                }
            }
        }
        first
    }
}
