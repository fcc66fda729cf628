//! Exact path profiling of compiled programs.
//!
//! The pipeline, in the order in which data flows:
//!
//! ```text
//! names     symbols and file names as people and formats take them
//! load      files, folders, magic numbers -> bytes, kind, content hash
//! ir        control-flow view of all modules, lowered from what a loader shows (llvm-ir, or LLVM itself)
//! dag       Ball–Larus DAG of each function: back edges, cuts, reduced graph
//! weights   how often each edge is expected to run
//! spantree  maximum spanning tree, event counting
//! versions  control flow with blocks several times: iterations of loops apart
//! numbering Ball–Larus and PSPP labels, decoding
//! edges     Knuth's edge counters and propagation
//! partition sbl, pbl, p3: tasks, LPT distribution, owners
//! plan      what to insert on which edge of which copy
//! emit      the only place that writes LLVM
//! output    the folder that people run: copies, runtime, Makefile, manifest
//! manifest  what decode, merge, verify and simulate need
//! profile   raw files -> merged profile -> reports
//! pgo       profiles for LLVM: annotated modules, proftext
//! rewrite   all of p3-rewrite: inputs -> output folder
//! ```
//!
//! A module imports only from those above it. `docs/ARCHITECTURE.md` is the map.

pub mod error;
pub mod index;

pub mod names;

pub mod load;

pub mod ir;

pub mod dag;

pub mod weights;

pub mod spantree;

pub mod versions;

pub mod numbering;

pub mod edges;

pub mod partition;

pub mod plan;

pub mod emit;

pub mod manifest;

pub mod output;

pub mod stats;

pub mod profile;

pub mod dump;

pub mod cli;

pub mod pgo;

mod rewrite;

#[cfg(test)]
mod random_cfg;

pub use error::{Error, Result};
pub use rewrite::{Summary, rewrite};
