//! Shadows, which count paths in bursts: the functions that they run, what profiles hold of them, the report. Only
//! schemes whose numbers are estimates need any of it.

pub(crate) mod against;
#[cfg(feature = "llvm")]
pub(crate) mod emit;
pub(crate) mod profile;
pub(crate) mod report;
