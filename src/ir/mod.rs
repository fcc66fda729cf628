//! Our control-flow view of a program, free of any loader and of LLVM.
//!
//! [`lower`] is the one module that turns llvm-ir's data into this view; a second loader would
//! sit beside it. Nothing after `ir` may know which loader ran.

mod cfg;
mod program;

pub mod callgraph;
pub mod eligibility;
pub mod lower;

pub use cfg::{Block, Call, Callee, Cfg, Loc, Span, Terminator};
pub use eligibility::SkipReason;
pub use program::{Body, FunctionBody, Linkage, Module, ProgFunction, Program};
