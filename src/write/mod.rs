//! Rewrites modules: plans → bitcode, an output folder, and all of `p3-rewrite` in [`rewrite`](mod@rewrite).
//!
//! In: [`crate::input::ir::Program`], plans of all copies, and the options. [`emit`] is the only place that writes
//! LLVM; `output` lays out the folder that people run; `pgo` annotates modules with merged counts; `stats` and `dump`
//! show every stage. `judge` answers which paths of a module cannot run.
//!
//! Out: rewritten modules, the manifest, the runtime's sources and the Makefile.

pub(crate) mod dump;
#[cfg(feature = "llvm")]
pub mod emit;
#[cfg(feature = "llvm")]
pub mod judge;
pub(crate) mod options;
pub(crate) mod output;
#[cfg(feature = "llvm")]
pub(crate) mod pgo;
#[cfg(feature = "llvm")]
pub(crate) mod rewrite;
#[cfg(feature = "llvm")]
pub(crate) mod stats;
