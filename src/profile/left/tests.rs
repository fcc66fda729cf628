//! Bounds against what walks did, those that were left before their end too.

use super::*;
use crate::base::index::{BlockId, CfgEdge, FuncId, IdSet, TiVec};
use crate::copies::strategy::Scheme;
use crate::input::ir::Cfg;
use crate::paths::dag::EdgeKind;
use crate::paths::edges::{counted_edges, propagate};
use crate::paths::function::Measuring;
use crate::paths::random_cfg::{Walk, any_cfg, cfg, paths_of, walk};
use crate::profile::flow::count_blocks;
use crate::profile::forks::Forked;
use crate::profile::made;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn structure(graph: &Cfg) -> Structure {
    Structure {
        cfg: graph.clone(),
        paths: Measuring::from_cfg(graph),
    }
}

/// The edges of the control flow behind which a path ends and the next one begins, ascending.
fn back_edges(dag: &Dag) -> Vec<CfgEdge> {
    let ends = dag.edge_ids().filter_map(|e| match dag.edge(e).kind {
        EdgeKind::BackEdge(c) => Some(c),
        _ => None,
    });
    let mut ends: Vec<CfgEdge> = ends.collect();
    ends.sort_unstable();
    ends
}

/// What a profile of paths holds of these walks.
fn flow_of_paths(s: &Structure, walks: &[Walk]) -> Flow {
    let dag = &s.paths.dag;
    let ends = back_edges(dag);
    let mut counts = dag.by_edge(0);
    for path in walks.iter().flat_map(|w| paths_of(&s.cfg, w, &ends)) {
        for e in dag.path_edges(&path).unwrap() {
            counts[e] += 1;
        }
    }
    flow(s, walks, counts)
}

/// What a profile of edges holds of them.
fn of_edges(s: &Structure, walks: &[Walk], counted: &IdSet<EdgeId>) -> Flow {
    let dag = &s.paths.dag;
    let (taken, _) = count_walks(walks);
    let given = dag.edge_ids().map(|e| match dag.edge(e).kind {
        EdgeKind::Real(c) | EdgeKind::BackEdge(c) => taken.get(&c).copied().unwrap_or(0),
        EdgeKind::Leave => {
            let left = |w: &&Walk| w.exit.is_some() && w.exit == dag.block(dag.edge(e).src);
            walks.iter().filter(left).count() as u64
        }
        _ => 0,
    });
    let given: TiVec<EdgeId, u64> = given.collect();
    let mut counts = propagate(dag, counted, &given).unwrap().counts;
    counts[dag.entry_edge()] = walks.len() as u64;
    let flow = flow(s, walks, counts);
    Flow {
        uncertain: flow.entry - flow.exits,
        evidence: Evidence::Edges(counted.clone()),
        ..flow
    }
}

fn flow(s: &Structure, walks: &[Walk], dag: TiVec<EdgeId, u64>) -> Flow {
    Flow {
        entry: walks.len() as u64,
        exits: walks.iter().filter(|w| w.exit.is_some()).count() as u64,
        blocks: count_blocks(&s.paths.dag, &dag, s.cfg.len()),
        uncertain: 0,
        impossible: false,
        evidence: Evidence::Paths,
        dag,
    }
}

/// How often each edge was taken, and each block entered.
fn count_walks(walks: &[Walk]) -> (BTreeMap<CfgEdge, u64>, impl Fn(&Cfg, BlockId) -> u64) {
    let mut taken: BTreeMap<CfgEdge, u64> = BTreeMap::new();
    for e in walks.iter().flat_map(|w| &w.edges) {
        *taken.entry(*e).or_default() += 1;
    }
    let (edges, walks) = (taken.clone(), walks.len() as u64);
    let entered = move |cfg: &Cfg, b: BlockId| {
        let to = |e: &CfgEdge| cfg.target(*e) == b;
        let over: u64 = edges.iter().filter(|(e, _)| to(e)).map(|(_, n)| n).sum();
        over + if b.0 == 0 { walks } else { 0 }
    };
    (taken, entered)
}

fn check_bounds(s: &Structure, executed: &Executed, walks: &[Walk]) -> Result<(), TestCaseError> {
    let (taken, entered) = count_walks(walks);
    let all = executed.edges(s);
    let known = s.cfg.ids().flat_map(|block| {
        let succs = (0..).zip(&s.cfg.block(block).succs);
        succs.map(move |(succ, &dst)| (CfgEdge { block, succ }, dst))
    });
    let named = all.iter().map(|(e, _)| (e.edge, e.dst));
    prop_assert!(named.eq(known), "every edge, in order");
    for (e, range) in all {
        let n = taken.get(&e.edge).copied().unwrap_or(0);
        prop_assert!(
            (range.least..=range.most).contains(&n),
            "edge {}: {n}, {range:?}",
            e.edge
        );
    }
    for (b, range) in s.cfg.ids().zip(&executed.blocks) {
        let n = entered(&s.cfg, b);
        prop_assert!(
            (range.least..=range.most).contains(&n),
            "block {b}: {n}, {range:?}"
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn counts_are_within_bounds(
        graph in any_cfg(16),
        choices in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..30), 1..12),
    ) {
        let walks: Vec<Walk> = choices.iter().filter_map(|c| walk(&graph, c)).collect();
        let s = structure(&graph);
        let flow = flow_of_paths(&s, &walks);
        let mut executed = Executed::from_exact(&flow);
        executed.add_left(&s, &flow, Processes::default());
        check_bounds(&s, &executed, &walks)?;
        let total: u64 = flow.entry - flow.exits;
        prop_assert!(executed.blocks.iter().all(|r| r.count == r.least && r.most - r.least <= total));

        let counted = counted_edges(&s.paths.dag, &s.paths.weights, true);
        let flow = of_edges(&s, &walks, &counted);
        let mut executed = Executed::from_exact(&flow);
        executed.loosen_uncounted(&s, &flow, &counted);
        check_bounds(&s, &executed, &walks)?;
        prop_assert!(counted.iter().all(|e| executed.edges[e].is_exact()));
    }
}

/// 0 → 1 → 2 or 3 → 4; only `ends` may be left.
fn diamond(ends: &[u32]) -> Cfg {
    let mut graph = cfg(&[&[1], &[2, 3], &[4], &[4], &[]]);
    for &b in ends {
        graph.blocks[BlockId::new(b as usize)].may_leave = true;
    }
    graph
}

/// What is told of the diamond's blocks when it was entered seven times and left as often.
fn bounds_of_diamond(ends: &[u32]) -> Vec<(u64, u64)> {
    let s = structure(&diamond(ends));
    let mut flow = flow(&s, &[], s.paths.dag.by_edge(0));
    flow.entry = 7;
    let mut executed = Executed::from_exact(&flow);
    executed.add_left(&s, &flow, Processes::default());
    executed.blocks.iter().map(|r| (r.least, r.most)).collect()
}

#[test]
fn what_lies_on_every_way_ran() {
    let (ran, may, not) = ((7, 7), (0, 7), (0, 0));
    assert_eq!(bounds_of_diamond(&[4]), [ran, ran, may, may, ran]);
    assert_eq!(bounds_of_diamond(&[3]), [ran, ran, not, ran, not]);
    assert_eq!(bounds_of_diamond(&[2, 3]), [ran, ran, may, may, not]);
    assert_eq!(bounds_of_diamond(&[1]), [ran, ran, not, not, not]);
    assert_eq!(bounds_of_diamond(&[0, 3]), [ran, may, not, may, not]);
}

/// A loop of one block after the other, each left `left(i)` times and nowhere but in the last block: the least and the
/// most of that one.
fn bounds_of_loops(n: u32, left: impl Fn(u32) -> u64) -> (u64, u64) {
    let succs: Vec<Vec<u32>> = (0..=n).map(|i| vec![i.max(1), i + 1]).collect();
    let mut succs: Vec<&[u32]> = succs.iter().map(|s| &s[..]).collect();
    (succs[0], succs[n as usize]) = (&[1], &[]);
    let mut graph = cfg(&succs);
    graph.blocks[BlockId::new(n as usize)].may_leave = true;
    let s = structure(&graph);
    let mut flow = flow(&s, &[], s.paths.dag.by_edge(0));
    for i in 1..n {
        let back = CfgEdge {
            block: BlockId(i),
            succ: 0,
        };
        flow.dag[s.paths.dag.edge_of(back).unwrap()] = left(i);
    }
    let mut executed = Executed::from_exact(&flow);
    executed.add_left(&s, &flow, Processes::default());
    let last = executed.blocks[BlockId::new(n as usize)];
    (last.least, last.most)
}

/// What is certain is found for `EACH` starts at which something was left; of others only that it may have been.
#[test]
fn more_starts_than_are_looked_at() {
    let each = EACH as u32;
    assert_eq!(bounds_of_loops(each + 1, |_| 3), (3 * 64, 3 * 64));
    assert_eq!(bounds_of_loops(each + 4, |_| 3), (3 * 64, 3 * 67));
    assert_eq!(bounds_of_loops(each + 4, |i| u64::from(i > each)), (3, 3));
}

#[test]
fn ranges() {
    let range = |count, least, most| Range { count, least, most };
    assert!(Range::exact(3).is_exact() && !range(3, 3, 4).is_exact());
    assert!(range(0, 0, 1).may_have_run());
    assert!(range(1, 0, 2).may_have_run());
    assert!(!Range::exact(0).may_have_run() && !range(1, 1, 2).may_have_run());
    let (a, b) = (range(4, 2, 6), range(5, 1, u64::MAX));
    assert_eq!(a.larger_bounds(b), range(5, 2, u64::MAX));
    assert_eq!(a.plus(b), range(9, 3, u64::MAX));
    for (other, meets) in [(1, false), (2, true), (6, true), (7, false)] {
        let other = Range::exact(other);
        assert_eq!((a.overlaps(other), other.overlaps(a)), (meets, meets));
    }
}

/// Paths that hold what ran before `setjmp` twice bound nothing.
#[test]
fn where_setjmp_returns_again() {
    let mut graph = diamond(&[]);
    graph.blocks[BlockId(1)].returns_twice = true;
    let mut p = made::profile(&made::program([made::body(graph)]), Scheme::Sbl, 1);
    made::path_counts(&mut p)[FuncId(0)] = made::counts(&[(0, 5)]);
    let s = p.structure(FuncId(0)).unwrap();
    let flow = crate::profile::flow::flow(&p, FuncId(0), &s).unwrap();
    let executed = Executed::new(&p, FuncId(0), &s, &flow);
    assert!(executed.again);
    let bounds = |r: &Range| (r.least, r.most);
    let any = (0, u64::MAX);
    assert!(executed.blocks.iter().all(|r| bounds(r) == any));
    assert!(executed.edges.iter().all(|r| bounds(r) == any));
    assert_eq!(executed.blocks[BlockId(0)].count, 5);
}

/// An activation that was forked: what parent and child did, and the number of edges that the child did not take
/// itself.
struct ForkedWalk {
    parent: Walk,
    child: Walk,
    shared: usize,
}

/// An activation by `choices` that was forked behind `at` edges, from where the child chooses by `others`.
fn forked_walk(graph: &Cfg, choices: &[u8], at: usize, others: &[u8]) -> Option<ForkedWalk> {
    let shared = at.min(choices.len());
    let child = [&choices[..shared], others].concat();
    let (parent, child) = (walk(graph, choices)?, walk(graph, &child)?);
    let is_long = parent.edges.len().min(child.edges.len()) >= shared;
    is_long.then_some(ForkedWalk {
        parent,
        child,
        shared,
    })
}

/// Where a walk is behind so many edges.
fn block_behind(graph: &Cfg, walk: &Walk, edges: usize) -> BlockId {
    let last = edges.checked_sub(1).map(|i| walk.edges[i]);
    last.map_or(BlockId(0), |e| graph.target(e))
}

proptest! {
    /// Paths that began in the parent and ended in the child, and those that one of them abandoned.
    #[test]
    fn counts_of_forked_activations_are_within_bounds(
        graph in any_cfg(12),
        all in proptest::collection::vec(
            (
                proptest::collection::vec(any::<u8>(), 0..12),
                0usize..8,
                proptest::collection::vec(any::<u8>(), 0..12),
            ),
            1..8,
        ),
    ) {
        let walks: Vec<ForkedWalk> = all
            .iter()
            .filter_map(|(choices, at, others)| forked_walk(&graph, choices, *at, others))
            .collect();
        let s = structure(&graph);
        let dag = &s.paths.dag;
        let ends = back_edges(dag);
        let mut counts = dag.by_edge(0);
        let mut taken: BTreeMap<CfgEdge, u64> = BTreeMap::new();
        let mut blocks: Vec<BlockId> = Vec::new();
        for w in &walks {
            // The child completes no path that was complete when it was forked.
            let shared = &w.child.edges[..w.shared];
            let before = shared.iter().filter(|e| ends.binary_search(e).is_ok()).count();
            let of_child = paths_of(&s.cfg, &w.child, &ends).into_iter().skip(before);
            for path in paths_of(&s.cfg, &w.parent, &ends).into_iter().chain(of_child) {
                for e in dag.path_edges(&path).unwrap() {
                    counts[e] += 1;
                }
            }
            for e in w.parent.edges.iter().chain(&w.child.edges[w.shared..]) {
                *taken.entry(*e).or_default() += 1;
            }
            blocks.push(block_behind(&graph, &w.parent, w.shared));
        }
        let parents: Vec<Walk> = walks.iter().map(|w| w.parent.clone()).collect();
        let flow = flow(&s, &parents, counts);
        let mut executed = Executed::from_exact(&flow);
        blocks.sort_unstable();
        blocks.dedup();
        let forked = Forked { blocks, most: walks.len() as u64 };
        executed.add_all(&s, &flow, Processes::default(), Some(&forked));
        for (e, range) in executed.edges(&s) {
            let n = taken.get(&e.edge).copied().unwrap_or(0);
            prop_assert!((range.least..=range.most).contains(&n), "edge {}: {n}, {range:?}", e.edge);
        }
        for (b, range) in s.cfg.ids().zip(&executed.blocks) {
            let to = |e: &CfgEdge| graph.target(*e) == b;
            let entered: u64 = taken.iter().filter(|(e, _)| to(e)).map(|(_, n)| n).sum();
            let n = entered + if b.0 == 0 { walks.len() as u64 } else { 0 };
            prop_assert!((range.least..=range.most).contains(&n), "block {b}: {n}, {range:?}");
        }
    }
}
