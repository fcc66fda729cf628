//! Files that users give → [`ir::Program`], plain data without LLVM.
//!
//! In: paths of files and folders. [`load`] finds bitcode in them by content, [`engine`] chooses the program that can
//! read it (each is linked with one LLVM), and [`ir`] lowers what a loader shows into control flow, call sites, linkage
//! and lines.
//!
//! Out: [`load::Input`] and [`ir::Program`]. LLVM's types are seen in `ir::lower` alone.

pub mod engine;
pub mod ir;
pub mod load;
