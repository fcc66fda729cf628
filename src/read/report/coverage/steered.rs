//! Which of the paths near executed ones can run.
//!
//! Beside what it exchanges, a path near an executed one goes the way that is most often taken. A choice that the
//! compiler added may not go that way, since the decisions before it say where it leads: after another `return` or
//! `continue`, a clean-up leads elsewhere. There the path is led on where it can go.

use super::nearest::{NotRun, sort};
use crate::base::index::{EdgeId, PathId, TiVec, VertexId};
use crate::paths::dag::Dag;
use crate::paths::function::Measuring;
use crate::profile::Ran;
use crate::profile::flow::{add_up, find_hottest_edge};
use crate::profile::manifest::FunctionEntry;
use crate::read::analysis::contradiction::Contradictions;
use std::collections::HashSet;

/// So many added choices of one path are led on.
const MOST: usize = 64;

/// The paths near executed ones that can run, and how many cannot because of what the source asks.
pub(super) struct Possible {
    pub near: Vec<NotRun>,
    pub contradictory: u64,
}

/// Divides `near`, of which those that are led elsewhere stay if they are `wanted` and did not run. O(their length ·
/// comparisons on them), and for each that is led elsewhere as much again for each way out of an added choice.
pub(super) fn divide_possible(
    near: Vec<NotRun>,
    (paths, entry): (&Measuring, &FunctionEntry),
    contradictions: &Contradictions,
    executed: &[Ran],
    wanted: impl Fn(PathId) -> bool,
) -> Possible {
    let mut known: HashSet<PathId> = executed.iter().map(|path| path.id).collect();
    known.extend(near.iter().map(|path| path.id));
    let mut steering = None;
    let mut found = Possible {
        near: Vec::new(),
        contradictory: 0,
    };
    for path in near {
        let Some(block) = contradictions.find_in(paths, path.id) else {
            found.near.push(path);
            continue;
        };
        if !entry.is_generated(block) {
            found.contradictory += 1;
            continue;
        }
        let steering = steering.get_or_insert_with(|| Steering::new(&paths.dag, executed));
        let edges = paths.decode(path.id).expect("a path of the function");
        let Some(edges) = steering.lead_on(edges, entry, contradictions) else {
            continue;
        };
        let id = paths.id(&edges);
        if wanted(id) && known.insert(id) {
            let is_new = |e: &&EdgeId| steering.counts[**e] == 0;
            found.near.push(NotRun {
                id,
                new_edges: edges.iter().filter(is_new).count() as u32,
                ..path
            });
        }
    }
    if steering.is_some() {
        sort(&mut found.near);
    }
    found
}

/// The ways that are most often taken.
struct Steering<'a> {
    dag: &'a Dag,
    counts: TiVec<EdgeId, u64>,
    usual: TiVec<VertexId, Option<EdgeId>>,
}

impl<'a> Steering<'a> {
    fn new(dag: &'a Dag, executed: &[Ran]) -> Steering<'a> {
        let counts = add_up(dag, executed);
        let usual = |v| find_hottest_edge(dag.out_edges(v), &counts);
        Steering {
            usual: dag.order().map(usual).collect(),
            dag,
            counts,
        }
    }

    /// The path that begins like `edges` and goes on where it can at each added choice; `None` if none is found.
    fn lead_on(
        &self,
        mut edges: Vec<EdgeId>,
        entry: &FunctionEntry,
        contradictions: &Contradictions,
    ) -> Option<Vec<EdgeId>> {
        for _ in 0..MOST {
            let Some(block) = contradictions.find(&self.dag.path(&edges)) else {
                return Some(edges);
            };
            if !entry.is_generated(block) {
                return None;
            }
            let is_here = |e: &EdgeId| self.dag.block(self.dag.edge(*e).src) == Some(block);
            let at = edges.iter().position(is_here)?;
            let ways = self.dag.out_edges(self.dag.edge(edges[at]).src);
            let mut ways = ways.filter(|e| *e != edges[at]);
            let led = ways.find_map(|e| {
                let way = self.go_on(&edges[..at], e);
                (contradictions.find(&self.dag.path(&way)) != Some(block)).then_some(way)
            });
            edges = led?;
        }
        None
    }

    /// The edges before an edge, it, and the usual way from there.
    fn go_on(&self, before: &[EdgeId], edge: EdgeId) -> Vec<EdgeId> {
        let mut edges = before.to_vec();
        edges.push(edge);
        let mut at = self.dag.edge(edge).dst;
        while at != self.dag.exit() {
            let next = self.usual[at].expect("only EXIT has no way out");
            edges.push(next);
            at = self.dag.edge(next).dst;
        }
        edges
    }
}
