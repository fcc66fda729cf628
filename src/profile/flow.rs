//! Counts of paths, or of some edges → counts of all edges, blocks, entries and calls.

use super::measurement::{Exact, Measurement};
use super::{Profile, Ran, Structure};
use crate::base::error::Result;
use crate::base::index::{BlockId, CfgEdge, EdgeId, FuncId, IdSet, PathId, TiSlice, TiVec, ti_vec};
use crate::paths::dag::{Dag, EdgeKind};
use crate::paths::edges::{Propagated, propagate};
use std::cmp::Reverse;

/// The executions of everything in one function. Paths that were begun and not completed (left by
/// `exit`, `longjmp` or an exception) are not in what paths add up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Executions of each DAG edge.
    pub dag: TiVec<EdgeId, u64>,
    /// How often the function was entered: counted, or as often as completed paths begin there.
    pub entry: u64,
    /// Activations that reached an exit.
    pub exits: u64,
    /// Executions of each block.
    pub blocks: TiVec<BlockId, u64>,
    /// By how much counts may be off: activations that were left in the middle of a block, in a profile
    /// of edges whose other counts follow from the law that what goes into a block comes out.
    pub uncertain: u64,
    /// Whether counts break that law although nothing was left.
    pub impossible: bool,
    /// What was counted.
    pub evidence: Evidence,
}

/// What the executions of a function follow from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Its paths: what completed ones ran is known.
    Paths,
    /// Counters of these edges of the DAG: what they say is known.
    Edges(IdSet<EdgeId>),
}

/// The counts of the edges of `f`, added up from its paths or propagated from the counted ones.
/// O(total path length), or O(E).
pub fn flow(profile: &Profile, f: FuncId, structure: &Structure) -> Result<Flow> {
    match &profile.measured {
        Measurement::Exact(Exact::Paths(counts)) => sum_paths(profile, f, structure, &counts[f]),
        Measurement::Exact(Exact::Edges(counts)) => {
            propagate_edges(profile, f, structure, &counts[f])
        }
        Measurement::Estimated(_) => Err(profile.only_estimates()),
    }
}

fn propagate_edges(
    profile: &Profile,
    f: FuncId,
    structure: &Structure,
    ran: &[(EdgeId, u64)],
) -> Result<Flow> {
    let counted = profile.counted_edges(f, structure)?;
    let dag = &structure.paths.dag;
    let mut given = dag.by_edge(0u64);
    for &(e, n) in ran {
        if !counted.contains(e) {
            return Err(profile.damage_error(format!("edge {e} is not counted")));
        }
        given[e] = n;
    }
    let result = propagate(dag, &counted, &given);
    let Propagated {
        mut counts,
        negative,
    } = result.ok_or_else(|| profile.damage_error("its counters do not determine all counts"))?;
    let exits = count_exits(dag, &counts);
    let entry = profile.entries[f].unwrap_or(counts[dag.entry_edge()]);
    counts[dag.entry_edge()] = entry;
    let all = counted.len() + 1 == crate::paths::edges::edges(dag).count();
    Ok(Flow {
        entry,
        exits,
        blocks: count_blocks(dag, &counts, structure.cfg.len()),
        // The law is used only where some edge is not counted.
        uncertain: if all { 0 } else { entry.saturating_sub(exits) },
        impossible: negative && entry <= exits,
        evidence: Evidence::Edges(counted),
        dag: counts,
    })
}

fn sum_paths(
    profile: &Profile,
    f: FuncId,
    structure: &Structure,
    ran: &[(PathId, u64)],
) -> Result<Flow> {
    let dag = &structure.paths.dag;
    let mut counts = dag.by_edge(0u64);
    for &(id, n) in ran {
        for e in profile.decode(f, structure, id)? {
            let sum = counts[e].checked_add(n);
            counts[e] = sum.ok_or_else(|| profile.damage_error("a count overflows"))?;
        }
    }
    Ok(Flow {
        entry: profile.entries[f].unwrap_or(counts[dag.entry_edge()]),
        exits: count_exits(dag, &counts),
        blocks: count_blocks(dag, &counts, structure.cfg.len()),
        uncertain: 0,
        impossible: false,
        evidence: Evidence::Paths,
        dag: counts,
    })
}

/// The executions of each edge on these paths, saturating.
pub fn add_up(dag: &Dag, paths: &[Ran]) -> TiVec<EdgeId, u64> {
    let mut counts = dag.by_edge(0u64);
    for path in paths {
        for e in &path.edges {
            counts[*e] = counts[*e].saturating_add(path.count);
        }
    }
    counts
}

/// The edge that ran most often, the first of several.
pub fn find_hottest_edge(
    among: impl Iterator<Item = EdgeId>,
    counts: &TiSlice<EdgeId, u64>,
) -> Option<EdgeId> {
    among.min_by_key(|e| (Reverse(counts[*e]), *e))
}

fn count_exits(dag: &Dag, counts: &TiSlice<EdgeId, u64>) -> u64 {
    let leave = |e: &&EdgeId| dag.edge(**e).kind == EdgeKind::Leave;
    dag.ins(dag.exit())
        .iter()
        .filter(leave)
        .map(|e| counts[*e])
        .sum()
}

/// Executions of each of `n` blocks, from those of the edges.
pub(super) fn count_blocks(
    dag: &Dag,
    counts: &TiSlice<EdgeId, u64>,
    n: usize,
) -> TiVec<BlockId, u64> {
    let mut blocks = ti_vec![0u64; n];
    for v in dag.order() {
        if let Some(b) = dag.block(v) {
            let ins = dag.ins(v).iter().map(|e| counts[*e]);
            blocks[b] = ins.fold(0, u64::saturating_add);
        }
    }
    blocks
}

/// An edge of the control-flow graph and how often it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeCount {
    /// The edge.
    pub edge: CfgEdge,
    /// Its target.
    pub dst: BlockId,
    /// How often.
    pub count: u64,
}

impl Flow {
    /// Every edge of the CFG in order, those never taken and those of unreachable blocks too.
    pub fn edges(&self, structure: &Structure) -> Vec<EdgeCount> {
        let edges = by_edge(structure, &self.dag).into_iter();
        edges
            .map(|(edge, dst, count)| EdgeCount { edge, dst, count })
            .collect()
    }

    /// Of each edge from ENTRY, how many paths were begun over it: by entries, or by back edges. O(V + E).
    pub fn paths_begun(&self, dag: &Dag) -> Vec<(EdgeId, u64)> {
        let mut taken = dag.by_vertex(0u64);
        for e in dag.edge_ids() {
            if let EdgeKind::BackEdge(_) = dag.edge(e).kind {
                let header = dag
                    .vertex(dag.back_target(e))
                    .expect("targets are reachable");
                let taken = &mut taken[header];
                *taken = taken.saturating_add(self.dag[e]);
            }
        }
        let begun = |e: EdgeId| match dag.edge(e).kind {
            EdgeKind::LoopStart => (e, taken[dag.edge(e).dst]),
            _ => (e, self.entry),
        };
        dag.out_edges(dag.entry()).map(begun).collect()
    }
}

/// Every edge of the CFG in order, its target, and what `of` (by edge of the DAG) says of it; the default of those
/// of unreachable blocks.
pub fn by_edge<T: Copy + Default>(
    structure: &Structure,
    of: &TiSlice<EdgeId, T>,
) -> Vec<(CfgEdge, BlockId, T)> {
    let dag = &structure.paths.dag;
    let real = |e| match dag.edge(e).kind {
        EdgeKind::Real(c) | EdgeKind::BackEdge(c) => Some((c, of[e])),
        _ => None,
    };
    // Edges of the DAG are in topological order of their sources; those of the CFG are listed in order of the module.
    let mut known: Vec<(CfgEdge, T)> = dag.edge_ids().filter_map(real).collect();
    known.sort_by_key(|k| k.0);
    let mut known = known.into_iter().peekable();
    let mut edges = Vec::new();
    for block in structure.cfg.ids() {
        for (i, &dst) in structure.cfg.block(block).succs.iter().enumerate() {
            let succ = i as u32;
            let edge = CfgEdge { block, succ };
            let of = known.next_if(|k| k.0 == edge).map_or(T::default(), |k| k.1);
            edges.push((edge, dst, of));
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copies::strategy::Scheme;
    use crate::input::ir::Cfg;
    use crate::paths::function::Measuring;
    use crate::paths::random_cfg::{any_cfg, cfg};
    use crate::profile::made;
    use proptest::prelude::*;

    /// What five activations that were left somewhere make uncertain under the scheme edge.
    fn count_uncertain(graph: Cfg) -> u64 {
        let mut p = made::profile(&made::program([made::body(graph)]), Scheme::Edge, 1);
        p.entries = ti_vec![Some(5)];
        let structure = p.structure(FuncId(0)).unwrap();
        flow(&p, FuncId(0), &structure).unwrap().uncertain
    }

    /// Nothing is propagated where calls return twice: all edges have counters there.
    #[test]
    fn only_what_is_propagated_is_uncertain() {
        let mut graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
        graph.blocks[BlockId(1)].may_leave = true;
        assert_eq!(count_uncertain(graph.clone()), 5);
        graph.blocks[BlockId(1)].returns_twice = true;
        assert_eq!(count_uncertain(graph), 0);
    }

    /// Two counters give the counts of all edges, and nothing about them is odd.
    #[test]
    fn edges_from_counters() {
        let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
        let mut p = made::profile(&made::program([made::body(graph)]), Scheme::Edge, 1);
        let structure = p.structure(FuncId(0)).unwrap();
        let counted = p.counted_edges(FuncId(0), &structure).unwrap();
        let counters = counted.iter().zip([3, 5]);
        p.measured = Measurement::Exact(Exact::Edges(ti_vec![counters.collect()]));
        let flow = flow(&p, FuncId(0), &structure).unwrap();
        let counts = flow.edges(&structure).into_iter().map(|e| e.count);
        assert_eq!(counts.collect::<Vec<_>>(), [5, 3, 5, 3]);
        assert_eq!(
            (flow.entry, flow.exits, flow.blocks),
            (8, 8, ti_vec![8, 5, 3, 8])
        );
        assert!(!flow.impossible && flow.uncertain == 0);
    }

    proptest! {
        /// All edges of the CFG in order, with the counts of the DAG's.
        #[test]
        fn edges_have_their_counts(graph in any_cfg(12)) {
            let paths = Measuring::from_cfg(&graph);
            let s = Structure { cfg: graph, paths };
            let dag = &s.paths.dag;
            let of: Vec<EdgeId> = dag.edge_ids().collect();
            let known: TiVec<EdgeId, Option<EdgeId>> = of.iter().copied().map(Some).collect();
            let found = by_edge(&s, &known);
            let all: usize = s.cfg.blocks.iter().map(|b| b.succs.len()).sum();
            prop_assert_eq!(found.len(), all);
            prop_assert!(found.is_sorted_by(|a, b| a.0 < b.0));
            for (edge, dst, of) in found {
                prop_assert_eq!(s.cfg.target(edge), dst);
                prop_assert_eq!(dag.edge_of(edge), of);
            }
        }
    }
}
