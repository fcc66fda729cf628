//! The path register in SSA form, still without LLVM: where a φ is needed, and what every edge
//! brings to it.
//!
//! The register never flows over a retreating edge (a back edge ends a path and begins another
//! with a constant), so one pass in topological order of the DAG settles it.
