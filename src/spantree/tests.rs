//! Properties of spanning trees and event counting.

use super::*;
use crate::numbering::{ball_larus, enumerate};
use crate::random_cfg::any_cfg;
use proptest::prelude::*;

proptest! {
    #[test]
    fn chords_keep_every_id(
        graph in any_cfg(14),
        weights in proptest::collection::vec(0.0..100.0f64, 200),
    ) {
        let dag = Dag::from_cfg(&graph, &[]);
        let numbering = ball_larus(&dag).unwrap();
        prop_assume!(numbering.total() <= 3000);
        let tree = SpanningTree::maximum(&dag, &weights);
        // |E| + 1 edges with EXIT → ENTRY, |V| - 1 of them in the tree.
        prop_assert_eq!(tree.tree.count_ones(..), dag.vertices() - 2);
        let inc = tree.increments(&dag, &numbering.labels);
        for path in enumerate(&dag) {
            let sum = path.iter().fold(0i64, |s, e| s.wrapping_add(inc[e.index()]));
            prop_assert_eq!(sum as u64, numbering.id(&path));
        }
    }
}
