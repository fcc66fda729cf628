//! Schemes whose numbers are estimates: sampled subpaths, and shadows that count in bursts.
//!
//! In: what exact rooms know of functions. [`data`] is what profiles store of estimates, and all that exact rooms see;
//! `outlined` makes functions beside others, in which activations go on; [`subpath`] and `shadow` hold plan, emission
//! and reports of each kind together.
//!
//! Out: rewritten functions and reports, through the four doors that `tests/it/rooms.rs` lists. Without the feature
//! `estimates` only [`data`] is compiled.

pub mod data;
#[cfg(feature = "estimates")]
pub(crate) mod outlined;
#[cfg(feature = "estimates")]
pub(crate) mod shadow;
#[cfg(feature = "estimates")]
pub mod subpath;
