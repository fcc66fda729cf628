//! Outcomes of chosen decisions that never came up, and paths that have them.

use super::nearest::NotRun;
use super::through::Through;
use crate::dag::Dag;
use crate::index::{BlockId, EdgeId, IdSet, PathId};
use crate::paths::FunctionPaths;
use crate::profile::Ran;
use crate::profile::flow::add_up;
use std::cmp::Reverse;
use std::collections::HashSet;

/// So many paths with one outcome are looked at, until one is possible.
const MOST: u128 = 4096;

/// The ways that were never taken out of blocks with several that `is_chosen` admits, those out of the blocks that ran most
/// often first. O(edges + executed paths' length).
pub(super) fn never_taken(
    dag: &Dag,
    executed: &[Ran],
    is_chosen: impl Fn(BlockId) -> bool,
) -> Vec<EdgeId> {
    let counts = add_up(dag, executed);
    let mut found: Vec<(u64, EdgeId)> = Vec::new();
    for v in dag.order() {
        let chosen = dag.block(v).is_some_and(&is_chosen);
        if !chosen || dag.outs(v).count() < 2 {
            continue;
        }
        let ran = dag.outs(v).map(|e| counts[e]).fold(0, u64::saturating_add);
        let never = dag.outs(v).filter(|e| counts[*e] == 0);
        found.extend(never.map(|e| (ran, e)));
    }
    found.sort_by_key(|&(ran, e)| (Reverse(ran), e));
    found.into_iter().map(|(_, e)| e).collect()
}

/// The paths among which some are looked for.
pub(super) struct Search<'a> {
    pub paths: &'a FunctionPaths,
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
        let decoded: Vec<Vec<EdgeId>> = near
            .iter()
            .map(|n| self.paths.decode(n.id).unwrap_or_default())
            .collect();
        let mut first: Vec<NotRun> = Vec::new();
        let mut told: HashSet<EdgeId> = HashSet::new();
        for &edge in edges {
            if told.contains(&edge) {
                continue;
            }
            let known = (0..near.len()).find(|i| decoded[*i].contains(&edge));
            let found = known
                .map(|i| near[i])
                .or_else(|| self.any(edge, &is_possible));
            if let Some(found) = found {
                let edges = self.paths.decode(found.id).unwrap_or_default();
                told.extend(edges);
                first.push(found);
            }
        }
        let known: HashSet<PathId> = first.iter().map(|n| n.id).collect();
        first.extend(near.into_iter().filter(|n| !known.contains(&n.id)));
        first
    }

    /// A possible path with an edge that never ran.
    fn any(&self, edge: EdgeId, is_possible: impl Fn(PathId) -> bool) -> Option<NotRun> {
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
        let through = Through::inside(dag, Some(&through), self.excluded, Some(inside));
        let all = (0..through.number().min(MOST)).map_while(|n| through.nth(n));
        let mut all = all.map(|edges| (self.paths.id(&edges), edges));
        let (id, edges) = all.find(|(id, _)| is_possible(*id))?;
        let known: HashSet<EdgeId> = self.executed.iter().flat_map(|p| p.edges.clone()).collect();
        Some(NotRun {
            id,
            near: None,
            new_edges: edges.iter().filter(|e| !known.contains(e)).count() as u32,
        })
    }
}
