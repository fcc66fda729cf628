//! Bounds against what walks did, those that were left before their end too.

use super::*;
use crate::edges::{counted_edges, propagate};
use crate::index::{BlockId, CfgEdge};
use crate::ir::Cfg;
use crate::paths::FunctionPaths;
use crate::profile::flow::blocks;
use crate::random_cfg::{Walk, any_cfg, cfg, paths_of, walk};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn structure(graph: &Cfg) -> Structure {
    Structure {
        cfg: graph.clone(),
        paths: FunctionPaths::new(graph),
    }
}

/// What a profile of paths holds of these walks.
fn of_paths(s: &Structure, walks: &[Walk]) -> Flow {
    let dag = &s.paths.dag;
    let ends = dag.edge_ids().filter_map(|e| match dag.edge(e).kind {
        EdgeKind::BackEdge(c) => Some(c),
        _ => None,
    });
    let mut ends: Vec<CfgEdge> = ends.collect();
    ends.sort_unstable();
    let mut counts = vec![0; dag.edges().len()];
    for path in walks.iter().flat_map(|w| paths_of(&s.cfg, w, &ends)) {
        for e in dag.path_edges(&path).unwrap() {
            counts[e.index()] += 1;
        }
    }
    flow(s, walks, counts)
}

/// What a profile of edges holds of them.
fn of_edges(s: &Structure, walks: &[Walk], counted: &FixedBitSet) -> Flow {
    let dag = &s.paths.dag;
    let (taken, _) = truth(walks);
    let given = dag.edge_ids().map(|e| match dag.edge(e).kind {
        EdgeKind::Real(c) | EdgeKind::BackEdge(c) => taken.get(&c).copied().unwrap_or(0),
        EdgeKind::Leave => {
            let left = |w: &&Walk| w.exit.is_some() && w.exit == dag.block(dag.edge(e).src);
            walks.iter().filter(left).count() as u64
        }
        _ => 0,
    });
    let given: Vec<u64> = given.collect();
    let mut counts = propagate(dag, counted, &given).unwrap().counts;
    counts[0] = walks.len() as u64;
    let flow = flow(s, walks, counts);
    Flow {
        uncertain: flow.entry - flow.exits,
        evidence: Evidence::Edges(counted.clone()),
        ..flow
    }
}

fn flow(s: &Structure, walks: &[Walk], dag: Vec<u64>) -> Flow {
    Flow {
        entry: walks.len() as u64,
        exits: walks.iter().filter(|w| w.exit.is_some()).count() as u64,
        blocks: blocks(&s.paths.dag, &dag, s.cfg.len()),
        uncertain: 0,
        impossible: false,
        evidence: Evidence::Paths,
        dag,
    }
}

/// How often each edge was taken, and each block entered.
fn truth(walks: &[Walk]) -> (BTreeMap<CfgEdge, u64>, impl Fn(&Cfg, BlockId) -> u64) {
    let mut taken: BTreeMap<CfgEdge, u64> = BTreeMap::new();
    for e in walks.iter().flat_map(|w| &w.edges) {
        *taken.entry(*e).or_default() += 1;
    }
    let (edges, walks) = (taken.clone(), walks.len() as u64);
    let entered = move |cfg: &Cfg, b: BlockId| {
        let to = |e: &CfgEdge| cfg.block(e.block).succs[e.succ as usize] == b;
        let over: u64 = edges.iter().filter(|(e, _)| to(e)).map(|(_, n)| n).sum();
        over + if b.0 == 0 { walks } else { 0 }
    };
    (taken, entered)
}

fn check(s: &Structure, executed: &Executed, walks: &[Walk]) -> Result<(), TestCaseError> {
    let (taken, entered) = truth(walks);
    for (e, range) in executed.edges(s) {
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
        let flow = of_paths(&s, &walks);
        let mut executed = Executed::exact(&flow);
        executed.add_left(&s, &flow, Processes::default());
        check(&s, &executed, &walks)?;
        let total: u64 = flow.entry - flow.exits;
        prop_assert!(executed.blocks.iter().all(|r| r.count == r.least && r.most - r.least <= total));

        let counted = counted_edges(&s.paths.dag, &s.paths.weights, true);
        let flow = of_edges(&s, &walks, &counted);
        let mut executed = Executed::exact(&flow);
        executed.loosen(&s, &flow, &counted);
        check(&s, &executed, &walks)?;
    }
}

/// 0 → 1 → 2 or 3 → 4; only `ends` may be left.
fn diamond(ends: &[u32]) -> Cfg {
    let mut graph = cfg(&[&[1], &[2, 3], &[4], &[4], &[]]);
    for &b in ends {
        graph.blocks[b as usize].may_leave = true;
    }
    graph
}

/// What is told of the diamond's blocks when it was entered seven times and left as often.
fn told(ends: &[u32]) -> Vec<(u64, u64)> {
    let s = structure(&diamond(ends));
    let mut flow = flow(&s, &[], vec![0; s.paths.dag.edges().len()]);
    flow.entry = 7;
    let mut executed = Executed::exact(&flow);
    executed.add_left(&s, &flow, Processes::default());
    executed.blocks.iter().map(|r| (r.least, r.most)).collect()
}

#[test]
fn what_lies_on_every_way_ran() {
    let (ran, may, not) = ((7, 7), (0, 7), (0, 0));
    assert_eq!(told(&[4]), [ran, ran, may, may, ran]);
    assert_eq!(told(&[3]), [ran, ran, not, ran, not]);
    assert_eq!(told(&[2, 3]), [ran, ran, may, may, not]);
    assert_eq!(told(&[1]), [ran, ran, not, not, not]);
    assert_eq!(told(&[0, 3]), [ran, may, not, may, not]);
}
