//! Weights from an earlier profile.

use super::Weights;
use crate::base::index::PathId;
use crate::paths::dag::Dag;
use crate::paths::numbering::Numbering;

/// How often each DAG edge ran, from counts of whole paths by Ball–Larus id, ascending. Ids that `numbering` does not
/// have (a profile of another build) count nothing. O(total length of the paths), where what paths begin alike with is
/// decoded once.
pub(crate) fn measured_weights(
    dag: &Dag,
    numbering: &Numbering,
    counts: &[(PathId, u64)],
) -> Weights {
    let mut weights = dag.by_edge(0f64);
    // The paths with a prefix, which leads to a vertex, have ids next to each other.
    let mut prefixes = vec![(dag.entry(), PathId(0), counts)];
    while let Some((v, first, ran)) = prefixes.pop() {
        let before = |end: PathId| ran.partition_point(|&(id, _)| id < end);
        for e in dag.out_edges(v) {
            let to = dag.edge(e).dst;
            let from = first.plus(numbering.labels[e]);
            let ran = &ran[before(from)..before(from.plus(numbering.paths[to]))];
            weights[e] += ran.iter().map(|&(_, n)| n as f64).sum::<f64>();
            if !ran.is_empty() {
                prefixes.push((to, from, ran));
            }
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::numbering::ball_larus;
    use crate::paths::random_cfg::{any_cfg, cfg};
    use proptest::prelude::*;

    /// A diamond: 3 times left, 4 times right, and once by an id that it does not have.
    #[test]
    fn edges_run_as_often_as_their_paths() {
        let dag = Dag::from_cfg(&cfg(&[&[1, 2], &[3], &[3], &[]]), &[]);
        let numbering = ball_larus(&dag).unwrap();
        let weights = measured_weights(
            &dag,
            &numbering,
            &[(PathId(0), 3), (PathId(1), 4), (PathId(2), 1)],
        );
        // ENTRY→0, 0→1, 0→2, 2→3, 1→3, 3→EXIT
        assert_eq!(weights.raw, [7.0, 3.0, 4.0, 4.0, 3.0, 7.0]);
    }

    proptest! {
        #[test]
        fn of_any_paths(cfg in any_cfg(10), step in 1u64..9, counts in proptest::collection::vec(1u64..9, 1..60)) {
            let dag = Dag::from_cfg(&cfg, &[]);
            let numbering = ball_larus(&dag).unwrap();
            // Also some that there are not.
            let counts: Vec<(PathId, u64)> = (0..).step_by(step as usize).map(PathId).zip(counts).collect();
            let mut by_decoding = dag.by_edge(0f64);
            for &(id, count) in &counts {
                for e in numbering.decode(&dag, id.0).into_iter().flatten() {
                    by_decoding[e] += count as f64;
                }
            }
            prop_assert_eq!(measured_weights(&dag, &numbering, &counts), by_decoding);
        }
    }
}
