//! Our control-flow view of a program, free of any loader and of LLVM.
//!
//! [`lower`] turns what a loader shows of a module into this view; llvm-ir's loader is part of it, the one on LLVM
//! itself hands in the same plain data. Nothing after [`lower::view`] may know which loader ran.

mod cfg;
mod inlined;
mod program;

pub mod callgraph;
pub mod eligibility;
pub mod lower;
pub mod processes;
pub mod threads;

pub use cfg::{Block, Call, Callee, Cfg, Decided, FORK, Loc, Site, Span, Terminator};
#[cfg(feature = "llvm")]
pub(crate) use eligibility::FORBIDDING_ATTRIBUTES;
pub use eligibility::SkipReason;
pub(crate) use inlined::inlined_functions;
pub use program::{Body, FunctionBody, Linkage, Module, ProgFunction, Program};
