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
    let mut weights = dag.by_edge(0f64);
    for (id, count) in counts {
        for e in numbering.decode(dag, id.0).into_iter().flatten() {
            weights[e] += count as f64;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbering::ball_larus;
    use crate::random_cfg::cfg;

    /// A diamond: 3 times left, 4 times right, and once by an id that it does not have.
    #[test]
    fn edges_run_as_often_as_their_paths() {
        let dag = Dag::from_cfg(&cfg(&[&[1, 2], &[3], &[3], &[]]), &[]);
        let numbering = ball_larus(&dag).unwrap();
        let weights = measured_weights(
            &dag,
            &numbering,
            [(PathId(0), 3), (PathId(1), 4), (PathId(2), 1)],
        );
        // ENTRY→0, 0→1, 0→2, 2→3, 1→3, 3→EXIT
        assert_eq!(weights.raw, [7.0, 3.0, 4.0, 4.0, 3.0, 7.0]);
    }
}
