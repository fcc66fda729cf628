//! Known sub-DAGs: sets of edges all of whose paths an earlier profile has seen.
//!
//! Inside such a set D nothing is counted, and every path that leaves it is. The more of the flow stays in D, the less
//! a copy that looks for new paths has to do. The union of known paths closes over others, though: two known prefixes
//! and two known suffixes that meet make four paths. So D grows greedily: known paths are taken from the hottest down,
//! and one is added if the paths inside the union are still all known.
#![cfg_attr(
    not(feature = "llvm"),
    allow(dead_code, reason = "only engines use all of it")
)]

use super::KnownPath;
use crate::base::index::{EdgeId, IdSet, TiVec};
use crate::copies::partition::Iterations;
use crate::paths::dag::{paths_inside, useful_edges};
use crate::paths::function::Measuring;
use std::cmp::Reverse;

/// What is spent on one function, in steps over edges: some 50 ms.
const WORK: usize = 1 << 24;

/// A union of known paths, as it grows.
struct Union<'a> {
    iterations: &'a Iterations,
    paths: &'a Measuring,
    set: IdSet<EdgeId>,
    /// By edge: the known paths that take it.
    taken_by: TiVec<EdgeId, Vec<u32>>,
    /// By known path: how many of its edges are not in `set`.
    missing: Vec<u32>,
    /// The known paths inside `set`.
    inside: u64,
}

/// A known sub-DAG of the function, as a set of edges of `iterations`, which lie on its paths. Paths that the function
/// does not have are ignored. O(WORK + paths · length).
pub(super) fn known_edges(
    iterations: &Iterations,
    paths: &Measuring,
    known: &[KnownPath],
) -> IdSet<EdgeId> {
    let mut known: Vec<KnownPath> = known.to_vec();
    known.sort_by_key(|k| (Reverse(k.1), k.0));
    let local = known
        .iter()
        .filter_map(|k| iterations.path(&paths.decode(k.0)?));
    let local: Vec<Vec<EdgeId>> = local.collect();
    let mut union = Union::new(iterations, paths, &local);
    let mut work = WORK;
    for (i, path) in local.iter().enumerate() {
        if union.missing[i] > 0 {
            let Some(left) = work.checked_sub(union.try_to_add(path)) else {
                break;
            };
            work = left;
        }
    }
    useful_edges(iterations.dag(paths), &union.set)
}

impl<'a> Union<'a> {
    fn new(iterations: &'a Iterations, paths: &'a Measuring, known: &[Vec<EdgeId>]) -> Self {
        let dag = iterations.dag(paths);
        let mut taken_by: TiVec<EdgeId, Vec<u32>> = dag.by_edge(Vec::new());
        for (i, path) in (0..).zip(known) {
            path.iter().for_each(|e| taken_by[*e].push(i));
        }
        Union {
            iterations,
            paths,
            set: dag.edge_set(),
            taken_by,
            missing: known.iter().map(|path| path.len() as u32).collect(),
            inside: 0,
        }
    }

    /// Adds a path, unless that closes over one that is not known. Returns the work that it was.
    fn try_to_add(&mut self, path: &[EdgeId]) -> usize {
        let more: Vec<EdgeId> = path
            .iter()
            .copied()
            .filter(|e| !self.set.contains(*e))
            .collect();
        self.set.extend(more.iter().copied());
        let dag = self.iterations.dag(self.paths);
        let all = paths_inside(dag, &self.set);
        let mut work = dag.edges().len() + path.len();
        // More paths than are known: no need to look which.
        if all <= self.missing.len() as u64 {
            work += self.change(&more, |missing| missing - 1);
            if self.inside == all {
                return work;
            }
            work += self.change(&more, |missing| missing + 1);
        }
        more.iter().for_each(|e| self.set.remove(*e));
        work
    }

    fn change(&mut self, edges: &[EdgeId], to: impl Fn(u32) -> u32) -> usize {
        let mut work = 0;
        for e in edges {
            for &i in &self.taken_by[*e] {
                let missing = &mut self.missing[i as usize];
                self.inside -= u64::from(*missing == 0);
                *missing = to(*missing);
                self.inside += u64::from(*missing == 0);
                work += 1;
            }
        }
        work
    }
}
