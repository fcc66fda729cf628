//! Static weights against examples computed by hand, and against the rules on random graphs.

use super::*;
use crate::base::index::{BlockId, CfgEdge};
use crate::input::ir::Cfg;
use crate::paths::dag::Shape;
use crate::paths::random_cfg::{any_cfg, cfg, find_retreating_edges};
use proptest::prelude::*;

/// The weights of CFG edges given as (block, successor ordinal), of `dag` under `weights`.
fn of_edges(dag: &Dag, weights: &Weights, edges: &[(u32, u32)]) -> Vec<f64> {
    let weight = |&(block, succ): &(u32, u32)| {
        let edge = CfgEdge {
            block: BlockId(block),
            succ,
        };
        weights[dag.edge_of(edge).expect("an edge of the graph")]
    };
    edges.iter().map(weight).collect()
}

/// The weight of the edge from `block`, which has no successors, to EXIT.
fn of_exit(dag: &Dag, weights: &Weights, block: u32) -> f64 {
    let v = dag.vertex(BlockId(block)).expect("a block of the graph");
    weights[dag.out_edges(v).next().expect("one way out")]
}

/// The weight of the phony edge to the loop at `header`.
fn of_loop(dag: &Dag, weights: &Weights, header: u32) -> f64 {
    weights[dag.loop_start(BlockId(header)).expect("a loop")]
}

/// The rules of Ball & Larus 1994, §4.1 (`docs/ALGORITHMS.md` §7), by hand: weights beside the edges, what arrives at
/// loops and other blocks in brackets.
///
/// ```text
///            EXIT ← fixed
///              | 1
///              0 [1]
///              | 1
///      +-----> 1 [W = 1] × 10 = 10, one exit: 1/1
///      |      / \
///      |   9 /   \ 1
///      |    2 [9] 7 [1] return
///      | 4.5| \ 4.5
///      |    3  |            (rule 3: no loop, no exit: halves)
///      | 4.5|  |
///      |    4 [W = 9] × 10 = 90, two exits: 9/2 each <--+
///      |   / \                                          |
///    9 |  /   \ (90 − 4.5)/1 = 85.5                     |
///      | /4.5  5 [85.5] --------------------------------+ 85.5 − 4.5 = 81
///      |/     /
///      6 <---+ 4.5
///     [9]
/// ```
#[test]
fn nested_loops_as_by_hand() {
    let graph = cfg(&[&[1], &[2, 7], &[3, 4], &[4], &[5, 6], &[4, 6], &[1], &[]]);
    let dag = Dag::from_cfg(&graph, &[]);
    let weights = static_weights(&dag, &Shape::new(&graph).loops);
    let edges = [
        ((0, 0), 1.0),
        ((1, 0), 9.0),
        ((1, 1), 1.0),
        ((2, 0), 4.5),
        ((2, 1), 4.5),
        ((3, 0), 4.5),
        ((4, 0), 85.5),
        ((4, 1), 4.5),
        ((5, 0), 81.0),
        ((5, 1), 4.5),
        ((6, 0), 9.0),
    ];
    let (edges, expected): (Vec<_>, Vec<_>) = edges.into_iter().unzip();
    assert_eq!(of_edges(&dag, &weights, &edges), expected);
    assert_eq!(weights[dag.entry_edge()], 1.0);
    assert_eq!(of_exit(&dag, &weights, 7), 1.0);
    assert_eq!(of_loop(&dag, &weights, 1), 9.0);
    assert_eq!(of_loop(&dag, &weights, 4), 81.0);
}

/// An edge that leaves two loops at once, `3 → 5`, is an exit of both, and gets the inner one's share.
///
/// ```text
///          0
///          | 1
///   +----> 1 [W = 1] × 10 = 10, exits 1→5 and 3→5: 1/2 each
///   | 9.5 / \ 0.5
///   |    2   +------> 5 [0.5 + 4.75] return
///   |   [W = 9.5] × 10 = 95, exits 2→4 and 3→5: 4.75 each
///   |  / \ 90.25      ^
///   4 <   3 ----------+ 4.75
///  4.75   |
///         +--> 2: 85.5
/// ```
#[test]
fn an_exit_of_two_loops_as_by_hand() {
    let graph = cfg(&[&[1], &[2, 5], &[3, 4], &[2, 5], &[1], &[]]);
    let dag = Dag::from_cfg(&graph, &[]);
    let weights = static_weights(&dag, &Shape::new(&graph).loops);
    let edges = [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0)];
    assert_eq!(
        of_edges(&dag, &weights, &edges),
        [9.5, 0.5, 90.25, 4.75, 85.5, 4.75, 4.75]
    );
    assert_eq!(of_exit(&dag, &weights, 5), 5.25);
    assert_eq!(of_loop(&dag, &weights, 1), 4.75);
    assert_eq!(of_loop(&dag, &weights, 2), 85.5);
}

/// A loop header that returns, and one all of whose edges leave: nothing is divided by zero, nothing is
/// below zero.
///
/// ```text
///  0 → 1 ⇄ 1, 1 → {2, 3, 3}: three exits of 1/3; the self loop gets the rest, 9
/// ```
#[test]
fn parallel_exits_share_alike() {
    let graph = cfg(&[&[1], &[1, 2, 3, 3], &[], &[]]);
    let dag = Dag::from_cfg(&graph, &[]);
    let weights = static_weights(&dag, &Shape::new(&graph).loops);
    let third = 1.0 / 3.0;
    assert_eq!(
        of_edges(&dag, &weights, &[(1, 1), (1, 2), (1, 3)]),
        [third; 3]
    );
    assert_eq!(of_edges(&dag, &weights, &[(1, 0)]), [10.0 - 3.0 * third]);
    assert_eq!(of_exit(&dag, &weights, 3), 2.0 * third);
}

/// A cut edge ends a path, and what it leads to is executed all the same: weights are as without it.
#[test]
fn cut_edges_carry_weight() {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[4, 5], &[], &[]]);
    let whole = Dag::from_cfg(&graph, &[]);
    let cut_edge = CfgEdge {
        block: BlockId(1),
        succ: 0,
    };
    let cut = Dag::from_cfg(&graph, &[cut_edge]);
    let edges = [(0, 0), (0, 1), (1, 0), (2, 0), (3, 0), (3, 1)];
    let expected = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
    for dag in [whole, cut.clone()] {
        let weights = static_weights(&dag, &Shape::new(&graph).loops);
        assert_eq!(of_edges(&dag, &weights, &edges), expected);
    }
    assert_eq!(
        of_loop(&cut, &static_weights(&cut, &Shape::new(&graph).loops), 3),
        0.5
    );
}

/// A thousand nested loops: weights stay finite, and inner loops never weigh less.
#[test]
fn deep_nests_stay_finite() {
    let depth = 1000u32;
    // Header i goes into header i + 1 or to the latch of the loop around it.
    let mut blocks: Vec<Vec<u32>> = vec![vec![1]];
    for i in 1..=depth {
        let latch = depth + 1 + (depth - i);
        blocks.push(vec![if i == depth { latch } else { i + 1 }]);
    }
    for i in (1..=depth).rev() {
        blocks.push(vec![i, 2 * depth + 2 - i]);
    }
    blocks.push(vec![]);
    let last = blocks.len() as u32 - 1;
    let slices: Vec<&[u32]> = blocks.iter().map(Vec::as_slice).collect();
    let graph = cfg(&slices);
    assert_eq!(
        graph.blocks[BlockId::new(2 * depth as usize)].succs[1].0,
        last
    );
    let dag = Dag::from_cfg(&graph, &[]);
    let weights = static_weights(&dag, &Shape::new(&graph).loops);
    assert!(weights.iter().all(|w| w.is_finite() && *w >= 0.0));
    let into: Vec<f64> = of_edges(
        &dag,
        &weights,
        &(0..depth).map(|b| (b, 0)).collect::<Vec<_>>(),
    );
    assert!(into.is_sorted(), "{into:?}");
    assert_eq!(into[..3], [1.0, 10.0, 100.0]);
}

proptest! {
    /// Rule 3: what goes out of a block is what comes in, ten times that in a loop header, wherever the
    /// exits of loops do not take more than the block has.
    #[test]
    fn weights_are_sent_on(graph in any_cfg(20)) {
        let dag = Dag::from_cfg(&graph, &[]);
        let weights = static_weights(&dag, &Shape::new(&graph).loops);
        prop_assert_eq!(weights[dag.entry_edge()], 1.0);
        let back = find_retreating_edges(&graph);
        for v in dag.order().filter(|&v| dag.block(v).is_some()) {
            let forward = dag.ins(v).iter().filter(|&&e| dag.edge(e).kind != EdgeKind::LoopStart);
            let mut into: f64 = forward.map(|e| weights[*e]).sum();
            let target = |e: &CfgEdge| graph.target(*e);
            if back.iter().any(|e| Some(target(e)) == dag.block(v)) {
                into *= 10.0;
            }
            let out: f64 = dag.out_edges(v).map(|e| weights[e]).sum();
            prop_assert!(out >= into * (1.0 - 1e-9) - 1e-9 || no_rest(&graph, &dag, v), "{v}: {into} in, {out} out");
        }
    }
}

/// Whether all edges out of the block leave loops: no edge takes what exits leave over.
fn no_rest(graph: &Cfg, dag: &Dag, v: VertexId) -> bool {
    let forest = Shape::new(graph).loops;
    dag.out_edges(v)
        .all(|e| left_loops(dag, &forest, e).next().is_some())
}
