//! What follows from who may call whom: recursion, and an order of functions in which callees come first.

use crate::base::index::FuncId;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeSet;

/// The functions on cycles of the call graph with these edges. O(V + E).
pub fn recursive(functions: usize, calls: &[(FuncId, FuncId)]) -> BTreeSet<FuncId> {
    let itself = calls.iter().filter(|(from, to)| from == to).map(|c| c.0);
    let groups = groups(functions, calls).into_iter();
    let cycles = groups.filter(|g| g.len() > 1).flatten();
    cycles.chain(itself).collect()
}

/// The strongly connected components of the call graph with these edges: functions that call each other,
/// callees before their callers. O(V + E), no recursion: petgraph's Tarjan has it, and chains of calls are long.
pub fn groups(functions: usize, calls: &[(FuncId, FuncId)]) -> Vec<Vec<FuncId>> {
    let mut graph = DiGraph::<(), ()>::with_capacity(functions, calls.len());
    for _ in 0..functions {
        graph.add_node(());
    }
    for (from, to) in calls {
        graph.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), ());
    }
    let id = |n: NodeIndex| FuncId::new(n.index());
    let components = kosaraju_scc(&graph).into_iter();
    components
        .map(|c| c.into_iter().map(id).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(calls: &[(u32, u32)]) -> Vec<(FuncId, FuncId)> {
        calls.iter().map(|&(a, b)| (FuncId(a), FuncId(b))).collect()
    }

    #[test]
    fn callees_come_before_callers() {
        let calls = edges(&[(0, 1), (1, 2), (2, 1), (2, 3), (4, 4), (0, 4)]);
        let groups: Vec<BTreeSet<FuncId>> = groups(5, &calls)
            .into_iter()
            .map(BTreeSet::from_iter)
            .collect();
        let of = |f| groups.iter().position(|g| g.contains(&FuncId(f))).unwrap();
        assert!(of(3) < of(2) && of(2) < of(0) && of(4) < of(0) && of(1) == of(2));
        assert_eq!(recursive(5, &calls), BTreeSet::from([1, 2, 4].map(FuncId)));
    }

    #[test]
    fn long_chains_of_calls() {
        let n = 1_000_000;
        let mut calls: Vec<_> = (1..n).map(|f| (FuncId(f - 1), FuncId(f))).collect();
        assert_eq!(groups(n as usize, &calls)[0], [FuncId(n - 1)]);
        assert!(recursive(n as usize, &calls).is_empty());
        calls.push((FuncId(n - 1), FuncId(0)));
        assert_eq!(recursive(n as usize, &calls).len(), n as usize);
    }
}
