//! Index newtypes: every stage names things by one of these, never by a bare integer.
//!
//! All are dense, start at 0 and serialise as plain numbers.

mod set;

pub use set::IdSet;

use serde::{Deserialize, Serialize};
use std::fmt;

pub use typed_index_collections::{TiSlice, TiVec, ti_vec};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub struct $name(pub u32);

        impl $name {
            /// The index as a `usize`, for subscripting.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Makes an index from a position in a list.
            ///
            /// # Panics
            /// When `i` does not fit 32 bits: no input comes near that size.
            #[inline]
            pub fn new(i: usize) -> Self {
                Self(u32::try_from(i).expect("index exceeds 32 bits"))
            }
        }

        impl From<usize> for $name {
            #[inline]
            fn from(i: usize) -> Self {
                Self::new(i)
            }
        }

        impl From<$name> for usize {
            #[inline]
            fn from(i: $name) -> usize {
                i.index()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index!(
    /// An input module: its position in the sorted list of inputs.
    ModuleId
);
index!(
    /// A function of the program (several bodies may share one, see [`crate::input::ir::Program`]).
    FuncId
);
index!(
    /// A basic block: its ordinal in the input module's function. The entry block is 0.
    BlockId
);
index!(
    /// A vertex of a Ball–Larus DAG: 0 is ENTRY, the last one is EXIT, numbers are a topological order.
    VertexId
);
index!(
    /// An edge of a Ball–Larus DAG: grouped by source vertex, in out-edge order.
    EdgeId
);
index!(
    /// One of the `k` copies of the program.
    CopyId
);

index!(
    /// The counter of an edge, under the scheme edge: its position among the counted edges.
    CounterId
);

/// The canonical id of a path: the sum of the labels of its edges in the Ball–Larus numbering of the function's DAG,
/// `0 .. N(ENTRY)`.
///
/// Paths that begin alike have consecutive ids. Sums on the way to one, and the numbers of paths from a vertex, are
/// plain integers. A copy may count under ids of its own, with which these must not be confused: those are
/// [`LocalId`]s.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathId(pub u64);

impl PathId {
    /// That of what comes `labels` behind it: a path's id is the sum of its labels, in whatever order they are met.
    #[inline]
    pub fn plus(self, labels: u64) -> PathId {
        PathId(self.0 + labels)
    }
}

impl fmt::Display for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id under which one copy counts a path: the sum of the labels of that copy. [`crate::copies::plan::ids::Ids`]
/// translates it. Sums on the way, increments and labels are plain integers, which wrap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocalId(pub u64);

impl fmt::Display for LocalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A control-flow edge: a block and the ordinal of the successor in its terminator.
///
/// Parallel edges (two `switch` cases with one target) differ in `succ`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CfgEdge {
    /// The source block.
    pub block: BlockId,
    /// The successor's ordinal in the terminator of `block`.
    pub succ: u32,
}

impl fmt::Display for CfgEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}.{}", self.block, self.succ)
    }
}
