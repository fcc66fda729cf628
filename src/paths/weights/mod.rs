//! How often each DAG edge is expected to run: what spanning trees and placement minimise.

use crate::base::index::{EdgeId, TiVec};

mod frequency;
mod measured;
mod static_weights;

pub(crate) use frequency::{Caller, call_frequencies};
pub(crate) use measured::measured_weights;
pub(crate) use static_weights::static_weights;

/// Expected executions; only their ratios matter.
pub(crate) type Weights = TiVec<EdgeId, f64>;
