//! Subpaths, sampled: plans, the code that they become, what profiles hold of them, reports. Only schemes whose numbers
//! are estimates need any of it.

#[cfg(feature = "llvm")]
pub(crate) mod emit;
pub(crate) mod export;
pub(crate) mod join;
pub mod plan;
pub mod profile;
pub mod report;
#[cfg(feature = "llvm")]
pub(crate) mod stats;
