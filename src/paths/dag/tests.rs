//! Unit and property tests of DAG construction.

use super::cuts::cuts_by_block;
use super::reduced::Reduced;
use super::*;
use crate::base::index::BlockId;
use crate::input::ir::{Block, Cfg, Terminator};
use crate::paths::random_cfg::{any_cfg, cfg, find_retreating_edges, paths_of, walk};
use proptest::prelude::*;

fn kinds(dag: &Dag) -> Vec<(u32, u32, EdgeKind)> {
    dag.edges()
        .iter()
        .map(|e| (e.src.0, e.dst.0, e.kind))
        .collect()
}

fn edge(block: u32, succ: u32) -> CfgEdge {
    CfgEdge {
        block: BlockId(block),
        succ,
    }
}

/// ```text
/// 0 → 1 ⇄ 2      1 → 3 (exit)
/// ```
#[test]
fn a_loop_becomes_a_phony_pair() {
    use EdgeKind::*;
    let dag = Dag::from_cfg(&cfg(&[&[1], &[2, 3], &[1], &[]]), &[]);
    // Reverse postorder is 0 1 3 2: the search reaches 3 last.
    let expected = vec![
        (0, 1, Enter),
        (0, 2, LoopStart),
        (1, 2, Real(edge(0, 0))),
        (2, 4, Real(edge(1, 0))),
        (2, 3, Real(edge(1, 1))),
        (3, 5, Leave),
        (4, 5, BackEdge(edge(2, 0))),
    ];
    assert_eq!(kinds(&dag), expected);
    assert_eq!(dag.back_target(EdgeId(6)), BlockId(1));
}

#[test]
fn parallel_edges_stay_apart_and_unreachable_blocks_stay_out() {
    let dag = Dag::from_cfg(&cfg(&[&[2, 2, 2], &[2], &[]]), &[]);
    assert_eq!(dag.vertices(), 4);
    assert_eq!(dag.vertex(BlockId(1)), None);
    assert_eq!(dag.out_degree(VertexId(1)), 3);
}

#[test]
fn repeated_indirectbr_targets_are_one_edge() {
    let mut graph = cfg(&[&[1, 1, 2], &[2], &[]]);
    graph.blocks[BlockId(0)].terminator = crate::input::ir::Terminator::IndirectBr;
    let dag = Dag::from_cfg(&graph, &[]);
    assert_eq!(dag.out_degree(VertexId(1)), 2);
    assert_eq!(dag.edge_of(edge(0, 1)), None);
}

/// Two diamonds in a row and a nested one:
/// ```text
/// 0 → {1,2} → 3 → {4,5} → 6 → {7,8}; 7 → {9,10} → 11 → 12; 8 → 12
/// ```
#[test]
fn runs_of_diamonds_collapse_nested_ones_do_not() {
    let graph = cfg(&[
        &[1, 2],
        &[3],
        &[3],
        &[4, 5],
        &[6],
        &[6],
        &[7, 8],
        &[9, 10],
        &[12],
        &[11],
        &[11],
        &[12],
        &[],
    ]);
    let dag = Dag::from_cfg(&graph, &[]);
    let reduced = Reduced::new(&dag);
    let blocks: Vec<_> = reduced
        .vertices()
        .filter_map(|v| dag.block(v))
        .map(|b| b.0)
        .collect();
    assert_eq!(blocks, [0, 8, 7, 12]);
    assert_eq!(
        reduced.edges_inside(dag.vertex(BlockId(0)).unwrap()).len(),
        8
    );
    assert_eq!(
        reduced.edges_inside(dag.vertex(BlockId(7)).unwrap()).len(),
        4
    );
}

#[test]
fn a_triangle_collapses() {
    for branch in [[1, 2], [2, 1]] {
        let dag = Dag::from_cfg(&cfg(&[&branch, &[2], &[]]), &[]);
        let reduced = Reduced::new(&dag);
        assert_eq!(reduced.vertices().count(), 3);
        assert_eq!(reduced.edges_inside(VertexId(1)).len(), 3);
    }
}

/// `n` diamonds in a row have 2^n paths: a few cuts make them countable.
#[test]
fn long_rows_of_branches_need_few_cuts() {
    let n = 2000u32;
    let mut blocks: Vec<Vec<u32>> = Vec::new();
    for i in 0..n {
        let at = i * 3;
        blocks.extend([vec![at + 1, at + 2], vec![at + 3], vec![at + 3]]);
    }
    blocks.push(vec![]);
    let slices: Vec<&[u32]> = blocks.iter().map(|b| b.as_slice()).collect();
    let graph = cfg(&slices);
    let cuts = choose_cuts(&graph, &Shape::new(&graph), MAX_PATHS);
    assert!(
        (1..=3 * n as usize / 45).contains(&cuts.len()),
        "{} cuts",
        cuts.len()
    );
    let numbering = crate::paths::numbering::ball_larus(&Dag::from_cfg(&graph, &cuts));
    assert!(numbering.is_some());
    assert!(crate::paths::numbering::ball_larus(&Dag::from_cfg(&graph, &[])).is_none());
}

/// A CFG of these blocks' successors.
fn graph(blocks: &[Vec<u32>]) -> crate::input::ir::Cfg {
    cfg(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// `n` diamonds in a row with a waist below each: blocks `4i → {4i + 1, 4i + 2} → 4i + 3 → 4i + 4`. What the
/// last waist leads to comes after them.
fn diamonds_with_waists(n: u32) -> Vec<Vec<u32>> {
    let arms = |i: u32| {
        let at = 4 * i;
        let to = [vec![at + 1, at + 2], vec![at + 3], vec![at + 3]];
        to.into_iter().chain([vec![at + 4]])
    };
    (0..n).flat_map(arms).collect()
}

/// As many paths as the limit are not cut, one more is: of all paths of the DAG, whose numbering counts them.
#[test]
fn functions_within_the_limit_are_not_cut() {
    let mut blocks = diamonds_with_waists(20);
    blocks.push(vec![]);
    let graph = graph(&blocks);
    let max = 1u64 << 20;
    assert_eq!(choose_cuts(&graph, &Shape::new(&graph), max), []);
    let cuts = choose_cuts(&graph, &Shape::new(&graph), max - 1);
    assert!(!cuts.is_empty());
    assert!(cuts.iter().all(|c| c.block.0 % 4 == 3), "{cuts:?}");
}

/// One cut at a waist is cheaper than two at a branch, outside loops and in them.
#[test]
fn waists_are_cut_first() {
    for end in [vec![], vec![1, 0]] {
        let mut blocks = vec![vec![1]];
        let shift = |succs: Vec<u32>| succs.into_iter().map(|b| b + 1).collect();
        blocks.extend(diamonds_with_waists(300).into_iter().map(shift));
        // The exit, or the end of a loop around all diamonds.
        let last = blocks.len() as u32;
        let in_loop = !end.is_empty();
        blocks.push(if in_loop { vec![1, last + 1] } else { vec![] });
        blocks.push(vec![]);
        let cuts = choose_cuts(&graph(&blocks), &Shape::new(&graph(&blocks)), MAX_PATHS);
        assert!((6..=9).contains(&cuts.len()), "{cuts:?}");
        assert!(cuts.iter().all(|c| c.block.0 % 4 == 0), "{cuts:?}");
    }
}

/// Without waists only a block over the limit is cut, and there only edges that are heavy: with more paths
/// than the 2^20th part of the limit, shared by the block's edges.
///
/// ```text
/// 0 → { 1, 35 }    1 → { 2, 3 }    2 → { 3, 4 }    …    33 → 34 (exit): 5702887 paths from 1
///                 35 → { 36, 36, … }    36 (exit)
/// ```
#[test]
fn heavy_edges_are_cut() {
    for (light, cut) in [(2, 1), (3, 2)] {
        let mut blocks = vec![vec![1, 35]];
        blocks.extend((1..33).map(|i| vec![i + 1, i + 2]));
        blocks.extend([vec![34], vec![], vec![36; light], vec![]]);
        let graph = graph(&blocks);
        let (paths, limit) = (5_702_887 + light as u64, 5_702_887);
        let numbering = crate::paths::numbering::ball_larus(&Dag::from_cfg(&graph, &[]));
        assert_eq!(numbering.unwrap().total(), paths);
        let cuts = cuts_by_block(&graph, &Shape::new(&graph), limit);
        assert_eq!(cuts, [edge(0, 0), edge(0, 1)][..cut]);
    }
}

proptest! {
    #[test]
    fn retreating_edges_are_those_of_the_definition(graph in any_cfg(24)) {
        let dag = Dag::from_cfg(&graph, &[]);
        let mut found: Vec<CfgEdge> = dag.edges().iter().filter_map(|e| match e.kind {
            EdgeKind::BackEdge(c) => Some(c),
            _ => None,
        }).collect();
        found.sort_unstable();
        prop_assert_eq!(found, find_retreating_edges(&graph));
    }

    #[test]
    fn every_vertex_lies_on_a_path(graph in any_cfg(40)) {
        let dag = Dag::from_cfg(&graph, &[]);
        for v in dag.order() {
            prop_assert!(v == dag.entry() || !dag.ins(v).is_empty());
            prop_assert!(v == dag.exit() || dag.out_degree(v) > 0);
        }
        let enter = dag.edge(dag.entry_edge());
        prop_assert_eq!((enter.src, enter.kind), (dag.entry(), EdgeKind::Enter));
    }

    #[test]
    fn paths_of_walks_are_paths_of_the_dag(
        graph in any_cfg(24),
        choices in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let dag = Dag::from_cfg(&graph, &[]);
        let walks = walk(&graph, &choices);
        for path in walks.iter().flat_map(|w| paths_of(&graph, w, &find_retreating_edges(&graph))) {
            let edges = dag.path_edges(&path).expect("a path of the DAG");
            prop_assert_eq!(dag.path(&edges), path);
        }
    }

    /// Whatever the limit, cutting keeps to it (no function is skipped for its paths).
    #[test]
    fn cuts_keep_to_the_limit(graph in any_cfg(60), bits in 11..30u32) {
        let cuts = choose_cuts(&graph, &Shape::new(&graph), 1 << bits);
        let numbering = crate::paths::numbering::ball_larus(&Dag::from_cfg(&graph, &cuts)).unwrap();
        prop_assert!(numbering.total() <= 1 << bits, "{} > 2^{bits}", numbering.total());
    }

    #[test]
    fn loops_hold_their_back_edges(graph in any_cfg(40)) {
        let order = Order::new(&graph);
        let forest = LoopForest::new(&graph, &order);
        for e in find_retreating_edges(&graph) {
            let at = |b: BlockId| order.position[b].unwrap();
            let header = at(graph.target(e));
            prop_assert!(forest.is_header[header as usize]);
            prop_assert!(forest.loop_contains(header, at(e.block)));
        }
    }
}

/// The blocks that can be reached from the entry without passing `removed`.
fn reached_without(cfg: &Cfg, removed: Option<BlockId>) -> TiVec<BlockId, bool> {
    let mut seen = cfg.by_block(false);
    let mut work = vec![BlockId(0)];
    while let Some(b) = work.pop() {
        if Some(b) != removed && !std::mem::replace(&mut seen[b], true) {
            work.extend(&cfg.block(b).succs);
        }
    }
    seen
}

/// So many that steps from each of them to the entry would take minutes.
#[test]
fn block_that_many_lead_to_has_entry_above() {
    let last = 200_000;
    let block = |b: u32| match b {
        _ if b == last => Block::with_terminator(Terminator::Return, vec![]),
        _ => Block::with_terminator(Terminator::Branch, vec![BlockId(b + 1), BlockId(last)]),
    };
    let graph = Cfg {
        blocks: (0..=last).map(block).collect(),
    };
    let dominators = Dominators::new(&graph);
    assert_eq!(dominators.find_dominator(BlockId(last)), Some(BlockId(0)));
    assert_eq!(
        dominators.find_dominator(BlockId(last - 1)),
        Some(BlockId(last - 2))
    );
}

proptest! {
    /// A block dominates those that cannot be reached without it; the one above is the last of them.
    #[test]
    fn dominators_cut_blocks_off(graph in any_cfg(14)) {
        let dominators = Dominators::new(&graph);
        let reachable = reached_without(&graph, None);
        for a in graph.ids() {
            prop_assert_eq!(dominators.is_reachable(a), reachable[a]);
            let without = reached_without(&graph, Some(a));
            for b in graph.ids() {
                let cut_off = reachable[a] && reachable[b] && !without[b];
                prop_assert_eq!(dominators.dominates(a, b), cut_off, "{:?} {:?}", a, b);
            }
        }
        for b in graph.ids().filter(|b| reachable[*b]) {
            let above = dominators.find_dominator(b);
            prop_assert_eq!(above.is_none(), b == BlockId(0));
            for a in graph.ids().filter(|&a| a != b && dominators.dominates(a, b)) {
                prop_assert!(dominators.dominates(a, above.unwrap()));
            }
        }
    }
}
