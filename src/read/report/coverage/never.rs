//! Outcomes of chosen decisions that never came up, and paths that have them.

use super::nearest::NotRun;
use super::through::Through;
use crate::base::index::{BlockId, EdgeId, IdSet, PathId, TiSlice, TiVec};
use crate::paths::dag::Dag;
use crate::paths::function::Measuring;
use crate::profile::Ran;
use crate::profile::manifest::FunctionEntry;
use std::cmp::Reverse;
use std::collections::HashSet;

/// So many paths with one outcome are looked at, until one is possible.
const MOST: u128 = 4096;

/// The executions of each edge in which its source asked something: without those that followed from where control came
/// from ([`FunctionEntry::implied_successor`]), and those that the compiler added. O(edges + executed paths' length).
pub(super) fn decisions(dag: &Dag, entry: &FunctionEntry, executed: &[Ran]) -> TiVec<EdgeId, u64> {
    let mut counts = dag.by_edge(0u64);
    for path in executed {
        for e in edges_with_questions(dag, entry, &path.edges) {
            counts[e] = counts[e].saturating_add(path.count);
        }
    }
    counts
}

/// The edges of a path whose source asks something there.
pub(super) fn edges_with_questions<'a>(
    dag: &'a Dag,
    entry: &'a FunctionEntry,
    edges: &'a [EdgeId],
) -> impl Iterator<Item = EdgeId> + 'a {
    let block = move |e: EdgeId| dag.block(dag.edge(e).src);
    let asks = move |&(n, e): &(usize, EdgeId)| {
        let before = edges[..n].iter().rev().map_while(move |e| block(*e));
        block(e)
            .is_none_or(|b| entry.implied_successor(b, before).is_none() && !entry.is_generated(b))
    };
    let asked = edges.iter().copied().enumerate().filter(asks);
    asked.map(|(_, e)| e)
}

/// The ways that were never taken out of blocks with several that `is_chosen` admits, those out of the blocks that ran
/// most often first. `counts` are [`decisions`]. O(edges).
pub(super) fn never_taken(
    dag: &Dag,
    counts: &TiSlice<EdgeId, u64>,
    is_chosen: impl Fn(BlockId) -> bool,
) -> Vec<EdgeId> {
    let mut found: Vec<(u64, EdgeId)> = Vec::new();
    for v in dag.order() {
        let chosen = dag.block(v).is_some_and(&is_chosen);
        if !chosen || dag.out_edges(v).count() < 2 {
            continue;
        }
        let ran = dag
            .out_edges(v)
            .map(|e| counts[e])
            .fold(0, u64::saturating_add);
        let never = dag.out_edges(v).filter(|e| counts[*e] == 0);
        found.extend(never.map(|e| (ran, e)));
    }
    found.sort_by_key(|&(ran, e)| (Reverse(ran), e));
    found.into_iter().map(|(_, e)| e).collect()
}

/// The paths among which some are looked for.
pub(super) struct Search<'a> {
    pub entry: &'a FunctionEntry,
    pub paths: &'a Measuring,
    pub executed: &'a [Ran],
    /// Not through these.
    pub excluded: &'a IdSet<BlockId>,
    /// Only with these edges, if not all are counted.
    pub inside: Option<IdSet<EdgeId>>,
}

impl Search<'_> {
    /// `near`, which is sorted, but for each of the edges a path that has it comes first, as far as there is one that
    /// `is_possible`: of those near executed paths the first, or else any.
    pub(super) fn put_first(
        &self,
        edges: &[EdgeId],
        near: Vec<NotRun>,
        is_possible: impl Fn(PathId) -> bool,
    ) -> Vec<NotRun> {
        let asked_on = |id: PathId| {
            let edges = self.paths.decode(id).unwrap_or_default();
            edges_with_questions(&self.paths.dag, self.entry, &edges).collect::<Vec<EdgeId>>()
        };
        let decoded: Vec<Vec<EdgeId>> = near.iter().map(|n| asked_on(n.id)).collect();
        let mut first: Vec<NotRun> = Vec::new();
        let mut told: HashSet<EdgeId> = HashSet::new();
        for &edge in edges {
            if told.contains(&edge) {
                continue;
            }
            let known = (0..near.len()).find(|i| decoded[*i].contains(&edge));
            let found = known
                .map(|i| near[i])
                .or_else(|| self.find_any(edge, &is_possible));
            if let Some(found) = found {
                told.extend(asked_on(found.id));
                first.push(found);
            }
        }
        let known: HashSet<PathId> = first.iter().map(|n| n.id).collect();
        first.extend(near.into_iter().filter(|n| !known.contains(&n.id)));
        first
    }

    /// A possible path on which a decision takes an edge that none took.
    fn find_any(&self, edge: EdgeId, is_possible: impl Fn(PathId) -> bool) -> Option<NotRun> {
        let dag = &self.paths.dag;
        let source = dag.edge(edge).src;
        let mut inside = IdSet::with_capacity(dag.edges().len());
        let admitted = |e: &EdgeId| {
            let counted = self.inside.as_ref().is_none_or(|set| set.contains(*e));
            counted && (*e == edge || dag.edge(*e).src != source)
        };
        inside.extend((0..dag.edges().len()).map(EdgeId::new).filter(admitted));
        let mut through = IdSet::with_capacity(self.paths.dag.edges().len());
        through.extend(dag.block(source));
        let through = Through::paths_inside(dag, Some(&through), self.excluded, Some(inside));
        let all = (0..through.number().min(MOST)).map_while(|n| through.nth_path(n));
        let mut all = all.map(|edges| (self.paths.id(&edges), edges));
        let asks =
            |edges: &[EdgeId]| edges_with_questions(dag, self.entry, edges).any(|e| e == edge);
        let (id, edges) = all.find(|(id, edges)| is_possible(*id) && asks(edges))?;
        let known: HashSet<EdgeId> = self.executed.iter().flat_map(|p| p.edges.clone()).collect();
        Some(NotRun {
            id,
            near: None,
            new_edges: edges.iter().filter(|e| !known.contains(e)).count() as u32,
        })
    }
}
