//! How often each DAG edge is expected to run: what spanning trees and placement minimise.

mod frequency;
mod measured;
mod static_weights;

pub use frequency::{Caller, call_frequencies};
pub use measured::measured_weights;
pub use static_weights::static_weights;

/// Expected executions by [`crate::index::EdgeId`]; only their ratios matter.
pub type Weights = Vec<f64>;
