//! Which copy counts which paths, and by which statements.
//!
//! In: [`crate::paths::function::Paths`] of every function. [`partition`] divides paths into tasks and shares, `hot`
//! splits hot functions by what plans cost, `selection` leaves out paths that nobody asked for, and [`strategy`] is the
//! table of schemes that combines them. `copy_count` is the number of copies.
//!
//! Out: [`partition::Share`], and for each copy and function a `plan::CopyPlan`, proved by `plan::check`. There is no
//! LLVM here.

pub mod copy_count;
pub(crate) mod hot;
pub mod partition;
pub(crate) mod plan;
pub(crate) mod selection;
pub mod strategy;

#[cfg(test)]
pub(crate) mod papers;
