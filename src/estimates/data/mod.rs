//! Estimates, as profiles hold them: which kinds there are, and what each says. How they are taken and shown is in
//! rooms of their own, `sampling` and `shadow`.
//!
//! Exact rooms use what this module names, and nothing inside `subpaths` or `bursts`. Without the feature `estimates`
//! there is no kind, and `none` has the same names.

#[cfg(feature = "estimates")]
pub mod bursts;
mod interface;
#[cfg_attr(feature = "estimates", path = "kinds.rs")]
#[cfg_attr(not(feature = "estimates"), path = "none.rs")]
mod kinds;
#[cfg(feature = "estimates")]
mod number;
#[cfg(feature = "estimates")]
pub mod subpaths;

pub(crate) use interface::{EstimatedProgram, Place, Refused, SamplingRequest};
pub use interface::{Kind, Size};
pub use kinds::{Estimated, InRaw, SavedBursts, SavedSample, Settings};
pub(crate) use kinds::{Gathered, Saved};
#[cfg(feature = "estimates")]
pub use number::{Estimate, Z95};
