//! Versioned control flow against the control flow it is made from.

use super::apart::Apart;
use super::*;
use crate::paths::dag::Shape;
use crate::paths::random_cfg::{any_cfg, cfg};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// More ids than any of these graphs has.
const IDS: u64 = 1 << 40;

/// The headers of the nests, with at most so many paths inside.
fn headers(graph: &Cfg, ids: u64) -> Vec<BlockId> {
    apart::choose(graph, &Shape::new(graph), &[], ids, false)
}

/// The graph with the iterations of all nests apart.
fn taken_apart(graph: &Cfg) -> Product<u32> {
    let shape = Shape::new(graph);
    let apart = Apart::new(graph, &shape, &[], &headers(graph, IDS));
    apart.expect("headers of nests").product()
}

/// ```text
/// 0 → 1 ⇄ 2, 1 → 3      the loop of 1: a second version of 1 and 2
/// ```
#[test]
fn a_loop_in_two_versions() {
    let graph = cfg(&[&[1], &[2, 3], &[1], &[]]);
    assert_eq!(headers(&graph, IDS), [BlockId(1)]);
    let product = taken_apart(&graph);
    let v = &product.versions;
    let succs: Vec<Vec<u32>> = v
        .cfg
        .blocks
        .iter()
        .map(|b| b.succs.iter().map(|s| s.0).collect())
        .collect();
    assert_eq!(
        succs,
        [vec![1], vec![2, 3], vec![4], vec![], vec![5, 3], vec![4]]
    );
    assert_eq!(v.origin.raw, [0, 1, 2, 3, 1, 2].map(BlockId));
}

/// ```text
/// 0 → 1 → 2 → 3 → 1, 2 → 2, 1 → 4      the nest of 1: paths that come in, that begin at 1, and at 2
/// ```
#[test]
fn nests() {
    let nest = cfg(&[&[1], &[2, 4], &[2, 3], &[1], &[]]);
    assert_eq!(headers(&nest, IDS), [BlockId(1)]);
    // Two paths begin at 1 and stay, two at 2; of those one stays in the loop of 2.
    assert_eq!(headers(&nest, 3), [BlockId(2)]);
    assert_eq!(headers(&nest, 4), [BlockId(1)]);
    let product = taken_apart(&nest);
    let mut versions: Vec<(u32, Option<u32>)> = product
        .versions
        .origin
        .iter()
        .map(|b| b.0)
        .zip(product.states)
        .collect();
    versions.sort_unstable();
    let all = [
        (0, 0),
        (1, 0),
        (1, 2),
        (2, 0),
        (2, 2),
        (2, 4),
        (3, 0),
        (3, 2),
        (3, 4),
        (4, 0),
    ];
    assert_eq!(versions, all.map(|(block, state)| (block, Some(state))));
    let irreducible = cfg(&[&[1, 2], &[2, 3], &[1, 3], &[]]);
    assert_eq!(headers(&irreducible, IDS), [BlockId(1)]);
}

/// A graph with so many instructions in each block.
fn sized(succs: &[&[u32]], instructions: &[u32]) -> Cfg {
    let mut graph = cfg(succs);
    for (block, &n) in graph.blocks.iter_mut().zip(instructions) {
        block.instructions = n;
    }
    graph
}

/// A function grows by half, or by what a small loop takes: here by two loops of 300 instructions, or by the smaller
/// one.
#[test]
fn as_much_code_as_there_is_room_for() {
    let nests = |rest| {
        let two = sized(&[&[1], &[1, 2], &[2, 3], &[]], &[1, 200, 100, rest]);
        headers(&two, IDS)
    };
    assert_eq!(nests(299), [BlockId(1), BlockId(2)]);
    assert_eq!(nests(298), [BlockId(2)]);
    // Blocks without instructions take one.
    let empty = sized(&[&[1], &[1, 2], &[2, 3], &[]], &[0, 200, 100, 298]);
    assert_eq!(headers(&empty, IDS), nests(298));
}

/// It doubles where other paths are counted in a hash table, but for functions with landing pads.
#[test]
fn more_code_where_paths_hash() {
    let mut graph = sized(&[&[1], &[1, 2], &[2, 3], &[]], &[1, 200, 100, 1]);
    let nests = |graph: &Cfg, hashes| apart::choose(graph, &Shape::new(graph), &[], IDS, hashes);
    assert_eq!(nests(&graph, false), [BlockId(2)]);
    assert_eq!(nests(&graph, true), [BlockId(1), BlockId(2)]);
    graph.blocks[BlockId(1)].terminator = Terminator::Invoke;
    assert_eq!(nests(&graph, true), [BlockId(2)]);
}

/// What loops inside a nest would take is not taken twice: further versions of 1, 2 and 3, and of 2 and 3.
#[test]
fn nests_replace_what_is_inside() {
    let nests = |first| {
        let succs: &[&[u32]] = &[&[1], &[2, 4], &[2, 3], &[1], &[]];
        headers(&sized(succs, &[1, first, 100, 27, 1]), IDS)
    };
    assert_eq!(nests(2), [BlockId(1)]);
    assert_eq!(nests(3), [BlockId(2)]);
}

/// Inner loops run most, so they are worth more code than a loop by itself.
#[test]
fn inner_loops_come_first() {
    let succs: &[&[u32]] = &[&[1], &[1, 2], &[3], &[3, 4], &[2, 5], &[]];
    let graph = sized(succs, &[1, 100, 200, 200, 1, 1]);
    assert_eq!(headers(&graph, IDS), [BlockId(3)]);
}

#[test]
fn large_loops_are_no_nests() {
    let nests = |latch| {
        let graph = sized(&[&[1], &[2], &[3], &[1, 4], &[]], &[1, 250, 5, latch, 1]);
        headers(&graph, IDS)
    };
    assert_eq!(nests(1), [BlockId(1)]);
    assert_eq!(nests(2), []);
    // The rest of a loop that is too large counts as well.
    let longer = sized(
        &[&[1], &[2], &[3], &[4], &[1, 5], &[]],
        &[1, 250, 5, 1, 1, 1],
    );
    assert_eq!(headers(&longer, IDS), []);
}

/// Four paths begin at the header and end at the back edge.
#[test]
fn paths_inside() {
    let succs: &[&[u32]] = &[&[1], &[2, 3], &[4], &[4], &[5, 6], &[7], &[7], &[1, 8], &[]];
    assert_eq!(headers(&cfg(succs), 4), [BlockId(1)]);
    assert_eq!(headers(&cfg(succs), 3), []);
}

fn projected(v: &Versions, own: &Dag, dag: &Dag) -> Vec<Vec<EdgeId>> {
    let origins = v.dag_origins(dag, own);
    let paths = crate::paths::numbering::enumerate(dag).into_iter();
    paths
        .map(|p| p.iter().map(|e| origins[*e]).collect())
        .collect()
}

fn few_paths(dag: &Dag) -> bool {
    crate::paths::numbering::ball_larus(dag).is_some_and(|n| n.total() <= 2000)
}

#[test]
fn repeated_targets_of_jump_have_one_version() {
    let mut graph = cfg(&[&[1, 2, 1], &[2], &[]]);
    graph.blocks[BlockId(0)].terminator = Terminator::IndirectBr;
    let next = |_, e: CfgEdge| e.succ;
    let versions = Versions::product(&graph, &Order::new(&graph), 0, next).versions;
    let succs = &versions.cfg.block(BlockId(0)).succs;
    assert_eq!(succs[0], succs[2]);
    let edges: Vec<u32> = graph
        .distinct_edges(BlockId(0))
        .map(|(e, _)| e.succ)
        .collect();
    assert_eq!(edges, [0, 1, 0]);
}

#[test]
fn jump_is_copied_if_its_labels_are_known() {
    let mut graph = cfg(&[&[1], &[1, 2], &[]]);
    graph.blocks[BlockId(1)].terminator = Terminator::IndirectBr;
    let (order, may_be) = (Order::new(&graph), |g: &Cfg, o: &Order| {
        (can_be_copied(g, o), may_meet(g, o))
    });
    assert_eq!(may_be(&graph, &order), (false, false));
    graph.blocks[BlockId(1)].known_labels = true;
    assert_eq!(may_be(&graph, &order), (true, false));
    graph.blocks[BlockId(1)].terminator = Terminator::Branch;
    assert_eq!(may_be(&graph, &order), (true, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    /// The paths of the versions are those of the function, each once.
    #[test]
    fn paths_are_the_same(graph in any_cfg(14)) {
        let own = Dag::from_cfg(&graph, &[]);
        prop_assume!(few_paths(&own));
        let v = taken_apart(&graph).versions;
        let dag = v.dag(&Order::new(&graph), &[]);
        let mut found = projected(&v, &own, &dag);
        found.sort();
        let mut wanted = crate::paths::numbering::enumerate(&own);
        wanted.sort();
        prop_assert_eq!(found, wanted);
    }

    /// In further versions all paths begin at one header.
    #[test]
    fn second_versions_hold_paths_of_one_start(graph in any_cfg(20)) {
        let product = taken_apart(&graph);
        let v = &product.versions;
        let dag = v.dag(&Order::new(&graph), &[]);
        let mut starts = dag.by_vertex(BTreeSet::new());
        for vertex in dag.order().skip(1) {
            for &e in dag.ins(vertex) {
                let src = dag.edge(e).src;
                let above = if src == dag.entry() { BTreeSet::from([vertex]) } else { starts[src].clone() };
                starts[vertex].extend(above);
            }
            let is_further = dag.block(vertex).is_some_and(|b| product.states[b] != Some(0));
            prop_assert!(!is_further || starts[vertex].len() == 1);
        }
    }

    /// Any switching between versions keeps walks: where the same edges retreat, paths are the same.
    #[test]
    fn any_versions_keep_walks(graph in any_cfg(12), seed in any::<u64>()) {
        let random = |version: u32, e: CfgEdge| {
            let x = (u64::from(e.block.0) << 40 | u64::from(e.succ) << 20 | u64::from(version)) ^ seed;
            (x.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62) as u32
        };
        let Product { versions: v, states } = Versions::product(&graph, &Order::new(&graph), 0, random);
        for b in v.cfg.ids() {
            let (own, block) = (graph.block(v.origin[b]), v.cfg.block(b));
            let origins: Vec<BlockId> = block.succs.iter().map(|s| v.origin[*s]).collect();
            prop_assert_eq!(&origins, &own.succs);
            for (i, to) in block.succs.iter().enumerate() {
                let edge = v.origin_of(CfgEdge { block: b, succ: i as u32 });
                let behind = states[b].map(|s| random(s, edge));
                prop_assert!(behind.is_none() || states[*to] == behind);
            }
        }
        let distinct: BTreeSet<_> = v.origin.iter().zip(&states).collect();
        prop_assert_eq!(distinct.len(), v.cfg.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 500 } else { 5000 }))]

    /// Ids by ends are dense, and decode. Those in the window are of preferred ends and then of others, those
    /// with the fewest ways, as far as there is room; and nothing else is in it.
    #[test]
    fn ids_by_ends_are_dense_and_decode(graph in any_cfg(16), limit in prop_oneof![0..8u64, 1..200u64], leaves: u64) {
        let product = taken_apart(&graph);
        let v = &product.versions;
        let dag = v.dag(&Order::new(&graph), &[]);
        prop_assume!(few_paths(&dag));
        let preferred = dag.find_vertices(|b| product.states[b].is_some_and(|s| s != 0));
        let may_leave = dag.find_vertices(|b| leaves >> (b.0 % 64) & 1 == 1);
        // Behind the end of a path, each vertex has one way out and is not left in its middle.
        let end = |path: &[EdgeId]| {
            let src = |e: EdgeId| dag.edge(e).src;
            let goes_on = |e: EdgeId| dag.out_degree(src(e)) == 1 && !may_leave.contains(src(e));
            let behind = path[1..].iter().rev().take_while(|e| goes_on(**e)).count();
            path[path.len() - 1 - behind]
        };
        let mut ways: BTreeMap<EdgeId, u64> = BTreeMap::new();
        for path in crate::paths::numbering::enumerate(&dag) {
            *ways.entry(end(&path)).or_default() += 1;
        }
        let is_preferred = |e: &EdgeId| preferred.contains(dag.edge(*e).src);
        let mut sizes: Vec<(bool, u64)> = ways.iter().map(|(e, n)| (!is_preferred(e), *n)).collect();
        sizes.sort_unstable();
        let mut window = 0;
        for (_, n) in sizes {
            window += if window + n <= limit { n } else { 0 };
        }
        let numbering = crate::paths::numbering::number_by_ends(&dag, &preferred, &may_leave, limit);
        prop_assert_eq!(numbering.is_none(), window == 0);
        let Some(numbering) = numbering else { return Ok(()) };
        let in_window = ways.iter().filter(|(e, _)| numbering.window_up_to(**e).is_some());
        prop_assert_eq!(in_window.map(|(_, n)| n).sum::<u64>(), window);
        let mut ids = BTreeSet::new();
        let mut largest = dag.by_edge(0u64);
        for path in crate::paths::numbering::enumerate(&dag) {
            let id = numbering.id(&path);
            prop_assert!(ids.insert(id));
            prop_assert_eq!(numbering.window_up_to(end(&path)).is_some(), id < window);
            for &e in &path {
                largest[e] = largest[e].max(id);
            }
            prop_assert_eq!(numbering.decode(&dag, id), Some(path));
        }
        prop_assert!(ids.iter().copied().eq(0..numbering.total()));
        for id in numbering.total()..numbering.total() + 9 {
            prop_assert_eq!(numbering.decode(&dag, id), None);
        }
        for e in dag.edge_ids() {
            let slots = Some(largest[e] + 1).filter(|slots| *slots <= window);
            prop_assert_eq!(numbering.window_up_to(e), slots);
        }
    }
}
