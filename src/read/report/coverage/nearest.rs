//! Paths that did not run, one decision away from one that did.
//!
//! Of an executed path every edge is exchanged in turn for each other way out of its source; from there the
//! way is the one most often taken, until it meets the executed path again, whose rest follows. Whether the
//! result ran is a look-up by id: no path is enumerated.

use super::through::Through;
use crate::base::index::{EdgeId, PathId, TiSlice, TiVec, VertexId};
use crate::paths::dag::Dag;
use crate::paths::function::Measuring;
use crate::profile::Ran;
use crate::profile::flow::{add_up, find_hottest_edge};
use std::cmp::Reverse;
use std::collections::HashSet;

/// The search looks at so many edges at most: the hottest paths come first.
const BUDGET: usize = 1 << 22;

/// So many paths are looked at until one is possible, where none is near an executed one.
const MOST_TRIED: usize = 1 << 12;

/// An executed path, how often it ran, and how many blocks it has in common with another from their start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Near {
    pub id: PathId,
    pub count: u64,
    pub common: usize,
}

/// A path that did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotRun {
    /// Its id.
    pub id: PathId,
    /// Next to which executed one; `None` where nothing ran.
    pub near: Option<Near>,
    /// How many of its edges never ran.
    pub new_edges: u32,
}

/// At most `most` paths that did not run, sorted ([`sort`]). At least one if there is one. `executed` are those that
/// did.
pub(super) fn find_nearest(paths: &Measuring, executed: &[Ran], most: usize) -> Vec<NotRun> {
    let total = paths.numbering.total();
    let ran: HashSet<PathId> = executed.iter().map(|e| e.id).collect();
    if ran.len() as u64 >= total {
        return Vec::new();
    }
    let mut search = Search::new(paths, executed, ran);
    let mut by_count: Vec<_> = executed.iter().collect();
    by_count.sort_by_key(|e| (Reverse(e.count), e.id));
    for path in by_count {
        if search.spent > BUDGET {
            break;
        }
        search.add_neighbours(path);
    }
    let mut found = std::mem::take(&mut search.found);
    if found.is_empty() {
        found.extend(find_lowest_unknown(paths, &search));
    }
    sort(&mut found);
    found.truncate(most);
    found
}

/// Puts those with fewest edges that never ran first, then those that start as the executed path does, then those next
/// to the hottest paths.
pub(super) fn sort(found: &mut [NotRun]) {
    let elsewhere = |f: &NotRun| f.near.is_none_or(|n| n.common == 0);
    let count = |f: &NotRun| f.near.map(|n| n.count);
    found.sort_by_key(|f| (f.new_edges, elsewhere(f), Reverse(count(f)), f.id));
}

/// Any possible path that is `through` some blocks and did not run, of the first few thousand: for where none is one
/// decision away from an executed path.
pub(super) fn first_not_run(
    paths: &Measuring,
    executed: &[Ran],
    through: &Through,
    is_possible: impl Fn(PathId) -> bool,
) -> Option<NotRun> {
    let ran: HashSet<PathId> = executed.iter().map(|e| e.id).collect();
    let known: HashSet<EdgeId> = executed.iter().flat_map(|e| e.edges.clone()).collect();
    let all = (0..).map_while(|n| through.nth_path(n));
    let all = all.map(|edges| (paths.id(&edges), edges));
    let mut others = all.filter(|(id, _)| !ran.contains(id)).take(MOST_TRIED);
    let (id, edges) = others.find(|(id, _)| is_possible(*id))?;
    Some(NotRun {
        id,
        near: None,
        new_edges: edges.iter().filter(|e| !known.contains(e)).count() as u32,
    })
}

/// All that are found near executed paths and are `through` some blocks.
pub(super) fn find_admitted(paths: &Measuring, executed: &[Ran], through: &Through) -> Vec<NotRun> {
    let admits = |id| {
        let edges = paths.decode(id);
        edges.is_some_and(|edges| through.admits_path(&edges))
    };
    let mut found = find_nearest(paths, executed, usize::MAX);
    found.retain(|f| admits(f.id));
    found
}

struct Search<'a> {
    dag: &'a Dag,
    labels: &'a TiSlice<EdgeId, u64>,
    counts: TiVec<EdgeId, u64>,
    /// The way most often taken out of each vertex.
    usual: TiVec<VertexId, Option<EdgeId>>,
    /// What ran, and what was found.
    known: HashSet<PathId>,
    found: Vec<NotRun>,
    spent: usize,
}

impl<'a> Search<'a> {
    fn new(paths: &'a Measuring, executed: &[Ran], known: HashSet<PathId>) -> Self {
        let dag = &paths.dag;
        let counts = add_up(dag, executed);
        let usual = |v| find_hottest_edge(dag.out_edges(v), &counts);
        Search {
            usual: dag.order().map(usual).collect(),
            dag,
            labels: &paths.numbering.labels,
            counts,
            known,
            found: Vec::new(),
            spent: 0,
        }
    }

    fn label(&self, e: EdgeId) -> u64 {
        self.labels[e]
    }

    fn is_new(&self, e: EdgeId) -> u32 {
        u32::from(self.counts[e] == 0)
    }

    /// The paths that differ from an executed one in one decision.
    fn add_neighbours(&mut self, path: &Ran) {
        let Ran { id, count, edges } = path;
        // By place: the sum of the labels from there on.
        let mut rest = vec![0u64; edges.len() + 1];
        for (i, e) in edges.iter().enumerate().rev() {
            rest[i] = rest[i + 1] + self.label(*e);
        }
        let vertex = |i: usize| self.dag.edge(edges[i]).src;
        let vertices: Vec<VertexId> = (0..edges.len()).map(vertex).collect();
        for (i, &taken) in edges.iter().enumerate() {
            for other in self.dag.out_edges(vertices[i]) {
                if other == taken || self.spent > BUDGET {
                    continue;
                }
                let before = id.0 - rest[i];
                let (mut sum, mut new_edges) = (self.label(other), self.is_new(other));
                let mut at = self.dag.edge(other).dst;
                let mut place = i + 1;
                // Vertex numbers are a topological order, so both ways only go up.
                let meets = loop {
                    self.spent += 1;
                    while place < vertices.len() && vertices[place] < at {
                        place += 1;
                    }
                    if at == self.dag.exit() || vertices.get(place) == Some(&at) {
                        break place;
                    }
                    let e = self.usual[at].expect("only EXIT has no way out");
                    sum += self.label(e);
                    new_edges += self.is_new(e);
                    at = self.dag.edge(e).dst;
                };
                let rest = if at == self.dag.exit() {
                    0
                } else {
                    rest[meets]
                };
                let new = PathId(before + sum + rest);
                if self.known.insert(new) {
                    // The first edge comes from ENTRY, which is no block.
                    let near = Near {
                        id: *id,
                        count: *count,
                        common: i,
                    };
                    self.found.push(NotRun {
                        id: new,
                        near: Some(near),
                        new_edges,
                    });
                }
            }
        }
    }
}

/// The path with the lowest id that is not known.
fn find_lowest_unknown(paths: &Measuring, search: &Search) -> Option<NotRun> {
    let id = paths.ids().find(|id| !search.known.contains(id))?;
    let edges = paths.decode(id)?;
    Some(NotRun {
        id,
        near: None,
        new_edges: edges.into_iter().map(|e| search.is_new(e)).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::numbering::enumerate;
    use crate::paths::random_cfg::{any_cfg, cfg};
    use proptest::prelude::*;

    proptest! {
        /// What is found did not run, is told once, shares what it says with what it is next to, and something
        /// is found wherever something is missing.
        #[test]
        fn finds_paths_that_did_not_run(
            graph in any_cfg(10),
            ran in proptest::collection::vec(any::<bool>(), 300),
        ) {
            let paths = Measuring::from_cfg(&graph);
            let all = enumerate(&paths.dag);
            prop_assume!(all.len() <= ran.len());
            let executed: Vec<Ran> = all
                .iter()
                .zip(&ran)
                .filter(|(_, ran)| **ran)
                .map(|(edges, _)| Ran {
                    id: paths.id(edges),
                    count: 1,
                    edges: edges.clone(),
                })
                .collect();
            let found = find_nearest(&paths, &executed, usize::MAX);
            prop_assert_eq!(found.is_empty(), executed.len() == all.len());
            let mut seen = HashSet::new();
            for f in found {
                prop_assert!(seen.insert(f.id));
                prop_assert!(executed.iter().all(|e| e.id != f.id));
                let edges = paths.decode(f.id).unwrap();
                if let Some(near) = f.near {
                    let other = &executed.iter().find(|e| e.id == near.id).unwrap().edges;
                    prop_assert_eq!(&edges[..near.common], &other[..near.common]);
                    prop_assert_ne!(edges[near.common], other[near.common]);
                    let new = |e: &&EdgeId| executed.iter().all(|x| !x.edges.contains(e));
                    prop_assert_eq!(edges.iter().filter(new).count(), f.new_edges as usize);
                }
            }
        }
    }

    /// Ways of 3,000 blocks, one out of each block of a path that ran: looked at while there is time.
    #[test]
    fn the_search_is_bounded() {
        const N: u32 = 3000;
        let main = (0..N).map(|i| vec![i + 1, N + 1 + i]);
        let aside = (N + 1..2 * N).map(|i| vec![i + 1]);
        let succs: Vec<Vec<u32>> = main.chain([vec![]]).chain(aside).chain([vec![]]).collect();
        let succs: Vec<&[u32]> = succs.iter().map(|s| &s[..]).collect();
        let paths = Measuring::from_cfg(&cfg(&succs));
        let edges = paths
            .ids()
            .filter_map(|id| Some((id, paths.decode(id)?)))
            .find(|(_, edges)| edges.len() == N as usize + 2)
            .filter(|(id, _)| id.0 == 0 || id.0 + 1 == paths.numbering.total());
        let (id, edges) = edges.expect("the first or the last path");
        let ran = Ran {
            id,
            count: 1,
            edges,
        };
        let found = find_nearest(&paths, &[ran], usize::MAX).len();
        assert!((1..N as usize).contains(&found), "{found}");
    }
}
