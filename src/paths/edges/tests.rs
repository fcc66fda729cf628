//! Counters are as few as can be, and give back every count.

use super::*;
use crate::base::index::{IdSet, TiVec, ti_vec};
use crate::paths::dag::Shape;
use crate::paths::random_cfg::{any_cfg, cfg, walk};
use crate::paths::weights::static_weights;
use proptest::prelude::*;

/// Executions of each edge over complete walks, by brute force.
fn counts_of(dag: &Dag, graph: &crate::input::ir::Cfg, choices: &[Vec<u8>]) -> TiVec<EdgeId, u64> {
    let mut counts = dag.by_edge(0);
    for choice in choices {
        let Some(w) = walk(graph, choice) else {
            continue;
        };
        for e in edges(dag) {
            counts[e] += match dag.edge(e).kind {
                EdgeKind::Enter => 1,
                EdgeKind::Leave => {
                    u64::from(w.exit.is_some() && dag.block(dag.edge(e).src) == w.exit)
                }
                EdgeKind::Real(c) | EdgeKind::BackEdge(c) => {
                    w.edges.iter().filter(|&&taken| taken == c).count() as u64
                }
                EdgeKind::LoopStart => 0,
            };
        }
    }
    for e in dag.edge_ids() {
        if let EdgeKind::BackEdge(_) = dag.edge(e).kind {
            let start = dag.loop_start(dag.back_target(e)).unwrap();
            counts[start] += counts[e];
        }
    }
    counts
}

proptest! {
    #[test]
    fn few_counters_give_back_every_count(
        graph in any_cfg(20),
        choices in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 60), 1..20),
        may_be_left in any::<bool>(),
    ) {
        let complete = |c: &Vec<u8>| walk(&graph, c).is_some_and(|w| w.exit.is_some());
        let choices: Vec<Vec<u8>> = choices.into_iter().filter(complete).collect();
        let dag = Dag::from_cfg(&graph, &[]);
        let counted = counted_edges(&dag, &static_weights(&dag, &Shape::new(&graph).loops), may_be_left);
        // Blocks and EXIT; ENTRY is no vertex.
        let (vertices, all) = (dag.vertices() - 1, edges(&dag).count());
        prop_assert_eq!(counted.len(), all - (vertices - 1));
        let wanted = counts_of(&dag, &graph, &choices);
        let mut given = wanted.clone();
        for e in dag.edge_ids() {
            if !counted.contains(e) {
                given[e] = 77; // must not be read
            }
        }
        let propagated = propagate(&dag, &counted, &given).unwrap();
        prop_assert_eq!(propagated.counts, wanted);
        prop_assert!(!propagated.negative);
    }

    /// What is abandoned shows: entries come out as exits, so those counted exceed them by as many.
    #[test]
    fn entries_equal_exits(
        graph in any_cfg(20),
        choices in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 30), 1..20),
    ) {
        let dag = Dag::from_cfg(&graph, &[]);
        let counted = counted_edges(&dag, &static_weights(&dag, &Shape::new(&graph).loops), true);
        let counts = counts_of(&dag, &graph, &choices);
        let exits = choices.iter().filter_map(|c| walk(&graph, c)?.exit).count();
        if let Some(propagated) = propagate(&dag, &counted, &counts) {
            prop_assert_eq!(propagated.counts[dag.entry_edge()], exits as u64);
        }
    }

    /// Every tree edge gone makes some count unknowable: no smaller set of counters would do.
    #[test]
    fn no_counter_is_spare(graph in any_cfg(12)) {
        let dag = Dag::from_cfg(&graph, &[]);
        let counted = counted_edges(&dag, &static_weights(&dag, &Shape::new(&graph).loops), false);
        let zeros = dag.by_edge(0);
        for e in counted.iter() {
            let mut fewer = counted.clone();
            fewer.set(e, false);
            prop_assert_eq!(propagate(&dag, &fewer, &zeros), None);
        }
    }
}

/// Four blocks and EXIT; four edges, one exit and EXIT → entry: two counters.
#[test]
fn a_loop() {
    let graph = cfg(&[&[1], &[2, 3], &[1], &[]]);
    let dag = Dag::from_cfg(&graph, &[]);
    let counted = counted_edges(
        &dag,
        &static_weights(&dag, &Shape::new(&graph).loops),
        false,
    );
    assert_eq!(counted.len(), 2);
}

/// A diamond whose right arm ran more often than its exit: the left arm would have run less than never.
#[test]
fn impossible_counts_are_negative() {
    let dag = Dag::from_cfg(&cfg(&[&[1, 2], &[3], &[3], &[]]), &[]);
    // ENTRY→0, 0→1, 0→2, 2→3, 1→3, 3→EXIT
    let mut counted = IdSet::with_capacity(6);
    counted.extend([3, 5].map(EdgeId::new));
    let propagated = |right| propagate(&dag, &counted, &ti_vec![0, 0, 0, right, 0, 5]).unwrap();
    assert_eq!(propagated(2).counts.raw, [5, 3, 2, 2, 3, 5]);
    assert!(!propagated(2).negative);
    assert_eq!(propagated(7).counts.raw, [5, 0, 7, 7, 0, 5]);
    assert!(propagated(7).negative);
    // Counts that were left out take no part.
    assert_eq!(
        propagate(&dag, &counted, &dag.by_edge(9))
            .unwrap()
            .counts
            .raw,
        [9, 0, 9, 9, 0, 9]
    );
}

/// The entries are the sum of the exits, and must fit.
#[test]
fn sums_that_overflow_are_refused() {
    let dag = Dag::from_cfg(&cfg(&[&[1, 2], &[], &[]]), &[]);
    let mut exits = dag.edge_set();
    exits.extend(dag.ins(dag.exit()).iter().copied());
    let entries = |n| propagate(&dag, &exits, &dag.by_edge(n)).map(|p| p.counts[dag.entry_edge()]);
    assert_eq!(entries(u64::MAX / 2), Some(u64::MAX - 1));
    assert_eq!(entries(u64::MAX), None);
}
