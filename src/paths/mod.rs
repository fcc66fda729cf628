//! The paths of one function: what they are, which ids they have, and how often their edges should run.
//!
//! In: a control-flow graph ([`crate::input::ir::Cfg`]). `dag` replaces back edges, [`numbering`] gives ids
//! (Ball–Larus, PSPP, ids by ends), `weights` guesses frequencies, `spantree` chooses where increments go, `versions`
//! copies blocks, `edges` counts edges instead (Knuth). [`function`] computes all of it once.
//!
//! Out: [`function::Paths`], which does not change, and [`function::Measuring`], how the paths are counted.

pub(crate) mod dag;
pub(crate) mod edges;
pub mod function;
pub mod numbering;
pub(crate) mod spantree;
pub(crate) mod versions;
pub(crate) mod weights;

#[cfg(test)]
pub(crate) mod random_cfg;
