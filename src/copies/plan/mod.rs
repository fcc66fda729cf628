//! What to insert where: the instrumentation plan of one copy, as data.
//!
//! A plan names blocks and successor ordinals only. It can be printed
//! ([`text`]), proved ([`check`]), interpreted along a walk (`interp`, in tests) and applied by `emit`; it knows
//! nothing of LLVM.
//!
//! The path register `r` is a 64-bit integer with wrapping arithmetic. It is local to one
//! activation of the function and holds the label sum since the path began.
#![cfg_attr(
    not(feature = "llvm"),
    allow(dead_code, reason = "only engines use all of it")
)]

use crate::base::index::{BlockId, CfgEdge, CopyId, FuncId, IdSet};
use crate::paths::dag::Order;
use crate::paths::versions::Versions;
use std::sync::Arc;

mod branches;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod double;
pub(crate) mod forks;
mod how;
pub(crate) mod ids;
#[cfg(test)]
pub(crate) mod interp;
pub(crate) mod keys;
pub(crate) mod place;
pub(crate) mod register;
pub(crate) mod text;

pub(crate) use branches::Branch;
#[cfg_attr(
    not(feature = "llvm"),
    allow(unreachable_pub, reason = "who links LLVM gives them")
)]
pub use how::{Counters, Names, Update};

/// What a count in a hash table is taken to cost: eight or nine instructions where the cache names its slot (measured
/// in bzip2), and some 250 where it does not, which this allows for one count in 45. Over native functions, 805,000
/// counts of `sbl` in bzip2 took 12.2 instructions where they stand and 0.5 in the runtime; 17,700 in a function of
/// zstd, on a short run, 10.3 and 3.9.
const HASH_INSTRUCTIONS: u64 = 14;

/// Everything one copy inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyPlan {
    /// Which copy.
    pub copy: CopyId,
    /// The functions with probes in this copy, by ascending id.
    pub functions: Vec<FunctionPlan>,
}

/// What one copy inserts into one function (the same in each of its bodies).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FunctionPlan {
    /// The function.
    pub func: FuncId,
    /// The order of the function's own blocks.
    pub own_order: Arc<Order>,
    /// Its blocks in versions, which the sites then name; `None`: as they are.
    pub versions: Option<Arc<Versions>>,
    /// Where its counts are kept.
    pub table: Table,
    /// Where some counts go to an array and others to a hash table: the blocks, of versions if there are any, behind
    /// which more of them are expected in the array.
    pub mostly_in_window: IdSet<BlockId>,
    /// Whether this copy also counts how often the function is entered: one copy does, where
    /// activations may end without completing their path.
    pub entries: bool,
    /// How many counters say what forked children did ([`forks`]); 0 if the function calls no `fork`.
    pub forks: u64,
    /// The code to insert, sorted by site, each site once, no list empty.
    pub probes: Vec<SiteCode>,
    /// What an earlier run says of branches, for the layout of the code: see [`Branch`].
    pub branches: Vec<Branch>,
}

/// Where the counts of a function are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// An array of 64-bit counters, ids `0 .. slots`.
    Array {
        /// The number of counters.
        slots: u64,
    },
    /// A growing hash table that the runtime keeps; ids `0 .. ids`.
    Hash {
        /// One more than the largest id.
        ids: u64,
    },
    /// An array for the ids `0 .. slots`, a hash table for those up to `ids`. Of every count it is known where it goes.
    Window {
        /// The number of counters.
        slots: u64,
        /// One more than the largest id.
        ids: u64,
    },
}

/// A place for code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Site {
    /// On the way into the function, before the first instruction of the entry block.
    Entry,
    /// On a control-flow edge.
    Edge(CfgEdge),
    /// At the end of a block without successors: before its terminator; in a block that ends in
    /// `unreachable`, before its last call (which does not return); before a `musttail` call.
    Exit(BlockId),
}

/// The code of one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SiteCode {
    /// Where.
    pub site: Site,
    /// The statements, in execution order.
    pub ops: Vec<Op>,
}

/// One inserted statement: a probe (`docs/ALGORITHMS.md` §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `r = value`
    Set(i64),
    /// `r += value`
    Add(i64),
    /// `count[r + offset]++`; in [`Table::Window`] in the hash table
    Count(i64),
    /// `count[r + offset]++` in the array of [`Table::Window`], for an id below its slots
    CountInWindow(i64),
    /// `count[id]++`, where the id is known: `r` is not read.
    CountConst(u64),
}

impl Op {
    /// Whether it counts a path.
    pub(crate) fn counts(self) -> bool {
        matches!(
            self,
            Op::Count(_) | Op::CountInWindow(_) | Op::CountConst(_)
        )
    }

    /// Whether any of `ops` does.
    pub(crate) fn any_counts(ops: &[Op]) -> bool {
        ops.iter().any(|op| op.counts())
    }
}

impl Table {
    /// The ids `0 ..` this are counted in an array.
    pub(crate) fn slots(self) -> u64 {
        match self {
            Table::Array { slots } | Table::Window { slots, .. } => slots,
            Table::Hash { .. } => 0,
        }
    }

    /// Whether there is a hash table.
    pub(crate) fn hashes(self) -> bool {
        !matches!(self, Table::Array { .. })
    }

    /// Whether `op` counts in the hash table.
    pub(crate) fn hashes_op(self, op: Op) -> bool {
        match op {
            Op::Set(_) | Op::Add(_) | Op::CountInWindow(_) => false,
            Op::Count(_) => self.hashes(),
            Op::CountConst(id) => self.hashes() && id >= self.slots(),
        }
    }

    /// Whether any of `ops` counts in the hash table.
    pub(crate) fn hashes_any(self, ops: &[Op]) -> bool {
        ops.iter().any(|&op| self.hashes_op(op))
    }

    /// One more than the largest id that can be counted.
    pub(crate) fn ids(self) -> u64 {
        match self {
            Table::Array { slots } => slots,
            Table::Hash { ids } | Table::Window { ids, .. } => ids,
        }
    }
}

impl FunctionPlan {
    /// The order of the blocks, in versions if there are any, against which only edges go that end paths.
    pub(crate) fn order(&self) -> &Order {
        match &self.versions {
            Some(versions) => &versions.order,
            None => &self.own_order,
        }
    }

    /// The code at `site`, empty when there is none.
    pub(crate) fn ops(&self, site: Site) -> &[Op] {
        match self.probes.binary_search_by_key(&site, |c| c.site) {
            Ok(i) => &self.probes[i].ops,
            Err(_) => &[],
        }
    }
}

#[cfg(test)]
pub(crate) mod made;

#[cfg(test)]
mod tests;
