//! Weights from an earlier profile.

use super::Weights;
use crate::dag::Dag;
use crate::index::PathId;
use crate::numbering::Numbering;

/// How often each DAG edge ran, from counts of whole paths by Ball–Larus id. Ids that `numbering`
/// does not have (a profile of another build) count nothing. O(total length of the paths).
pub fn measured_weights(
    dag: &Dag,
    numbering: &Numbering,
    counts: impl IntoIterator<Item = (PathId, u64)>,
) -> Weights {
    let mut weights = vec![0f64; dag.edges().len()];
    for (id, count) in counts {
        for e in numbering.decode(dag, id).into_iter().flatten() {
            weights[e.index()] += count as f64;
        }
    }
    weights
}
