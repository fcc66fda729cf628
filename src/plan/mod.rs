//! What to insert where: the instrumentation plan of one copy, as data.
//!
//! A plan names blocks and successor ordinals only. It can be serialised, printed
//! ([`text`]), interpreted along a block sequence ([`interp`]) and applied by `emit`; it knows
//! nothing of LLVM.
//!
//! The path register `r` is a 64-bit integer with wrapping arithmetic. It is local to one
//! activation of the function and holds the label sum since the path began.

use crate::index::{BlockId, CfgEdge, CopyId, FuncId};
use serde::{Deserialize, Serialize};

pub mod build;
pub mod interp;
pub mod place;
pub mod register;
pub mod text;

/// Everything one copy inserts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyPlan {
    /// Which copy.
    pub copy: CopyId,
    /// The functions with probes in this copy, by ascending id.
    pub functions: Vec<FunctionPlan>,
}

/// What one copy inserts into one function (the same in each of its bodies).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionPlan {
    /// The function.
    pub func: FuncId,
    /// Where its counts are kept.
    pub table: Table,
    /// Whether this copy also counts how often the function is entered: one copy does, where
    /// activations may end without completing their path.
    pub entries: bool,
    /// The code to insert, sorted by site, each site once, no list empty.
    pub probes: Vec<SiteCode>,
}

/// Where the counts of a function are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
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
}

/// A place for code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Site {
    /// On the way into the function, before the first instruction of the entry block.
    Entry,
    /// On a control-flow edge.
    Edge(CfgEdge),
    /// At the end of a block without successors: before its terminator; in a block that ends in
    /// `unreachable`, before its last call (which does not return); before a `musttail` call.
    Exit(BlockId),
}

/// The code of one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCode {
    /// Where.
    pub site: Site,
    /// The statements, in execution order.
    pub ops: Vec<Op>,
}

/// One inserted statement: a probe, spec §3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// `r = value`
    Set(i64),
    /// `r += value`
    Add(i64),
    /// `count[r + offset]++`
    Count(i64),
    /// `count[id]++`, where the id is known: `r` is not read.
    CountConst(u64),
}

impl Op {
    /// Whether it counts a path.
    pub fn counts(self) -> bool {
        matches!(self, Op::Count(_) | Op::CountConst(_))
    }

    /// Whether any of `ops` does.
    pub fn any_counts(ops: &[Op]) -> bool {
        ops.iter().any(|op| op.counts())
    }
}

impl Table {
    /// One more than the largest id that can be counted.
    pub fn ids(self) -> u64 {
        match self {
            Table::Array { slots } => slots,
            Table::Hash { ids } => ids,
        }
    }
}

impl FunctionPlan {
    /// The code at `site`, empty when there is none.
    pub fn ops(&self, site: Site) -> &[Op] {
        match self.probes.binary_search_by_key(&site, |c| c.site) {
            Ok(i) => &self.probes[i].ops,
            Err(_) => &[],
        }
    }
}

#[cfg(test)]
mod tests;
