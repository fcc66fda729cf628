//! `p3-prof accuracy`: how much of a path profile its own edge counts would have revealed.
//!
//! - *Definite flow* (Ball, Mataga & Sagiv, *Edge Profiling versus Path Profiling: The Showdown*, POPL 1998):
//!   what every path profile with these edge counts gives a path at least. For the path `e1 … en` over the
//!   vertices between them, the flow of its edges less that of these vertices, or 0.
//! - *Greedy* (Ball & Larus 1996, §6): paths are taken out of the edge counts one after the other, each along the
//!   most frequent edges, with the least count on its way. What they share with the measured paths is *overlap*.
//! - *Right*: the first path so taken from each start (the entry, or a loop header) is the most frequent of
//!   those that ran from there. The paper found 37.9 % of the flow right.

use crate::base::error::Result;
use crate::base::index::{EdgeId, FuncId, PathId, TiSlice, TiVec};
use crate::paths::dag::Dag;
use crate::profile::filter::Selection;
use crate::profile::flow::{add_up, find_hottest_edge};
use crate::profile::measurement::PathProfile;
use crate::profile::{Ran, Structure};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::iter::Sum;

/// Flow, in executed paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Accuracy {
    /// Of all paths.
    pub flow: u64,
    /// From starts whose most frequent path was predicted.
    pub right: u64,
    /// Of what the greedy choice gave to paths, as much as they had.
    pub overlap: u64,
    /// That any path profile with these edge counts has.
    pub definite: u64,
}

impl Sum for Accuracy {
    fn sum<I: Iterator<Item = Accuracy>>(all: I) -> Accuracy {
        all.fold(Accuracy::default(), |a, b| Accuracy {
            flow: a.flow.saturating_add(b.flow),
            right: a.right.saturating_add(b.right),
            overlap: a.overlap.saturating_add(b.overlap),
            definite: a.definite.saturating_add(b.definite),
        })
    }
}

/// A function's share in the answer.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionAccuracy {
    /// The module that names it.
    pub module: String,
    /// Its symbol.
    pub name: String,
    /// The figures.
    #[serde(flatten)]
    pub accuracy: Accuracy,
}

/// The selected functions in which something ran, by descending flow, and the sum over them.
///
/// # Errors
/// A damaged profile.
pub fn accuracy(
    profile: PathProfile,
    selection: &Selection,
) -> Result<(Vec<FunctionAccuracy>, Accuracy)> {
    let functions: Vec<FuncId> = profile
        .executed_functions()
        .filter(|f| selection.admits(&profile, *f))
        .collect();
    let rows = functions.par_iter().map(|&f| {
        let structure = profile.structure(f)?;
        let paths = profile.executed_paths(f, &structure)?;
        Ok(FunctionAccuracy {
            module: profile.module(f).to_string(),
            name: profile.entry(f).name.clone(),
            accuracy: measure_accuracy(&structure, &paths),
        })
    });
    let mut rows: Vec<FunctionAccuracy> = rows.collect::<Result<_>>()?;
    rows.sort_by_key(|r| std::cmp::Reverse(r.accuracy.flow));
    let sum = rows.iter().map(|r| r.accuracy).sum();
    rows.truncate(selection.top.unwrap_or(usize::MAX));
    Ok((rows, sum))
}

/// The answer for one function. O(E · (length of a path) + total path length).
fn measure_accuracy(structure: &Structure, paths: &[Ran]) -> Accuracy {
    let dag = &structure.paths.dag;
    let edges = add_up(dag, paths);
    let id = |path: &[EdgeId]| structure.paths.id(path);
    let counts: HashMap<PathId, u64> = paths.iter().map(|p| (p.id, p.count)).collect();
    let told = take_greedily(dag, edges.clone());
    let overlap = told
        .iter()
        .map(|(p, n)| (*n).min(counts.get(&id(p)).copied().unwrap_or(0)));
    Accuracy {
        flow: paths.iter().map(|p| p.count).sum(),
        right: sum_correct_flow(dag, &edges, paths),
        overlap: overlap.sum(),
        definite: paths
            .iter()
            .map(|p| definite_count(dag, &edges, &p.edges))
            .sum(),
    }
}

/// Follows the most frequent edges (the first of equals) from behind edge `first` to EXIT.
fn follow(dag: &Dag, edges: &TiSlice<EdgeId, u64>, first: EdgeId) -> Vec<EdgeId> {
    let mut path = vec![first];
    let mut v = dag.edge(first).dst;
    while v != dag.exit() {
        let next = find_hottest_edge(dag.out_edges(v), edges).expect("every vertex leads to EXIT");
        path.push(next);
        v = dag.edge(next).dst;
    }
    path
}

/// Takes paths out of the edge counts until nothing is left: each time some edge becomes empty.
fn take_greedily(dag: &Dag, mut edges: TiVec<EdgeId, u64>) -> Vec<(Vec<EdgeId>, u64)> {
    let mut paths = Vec::new();
    while let Some(first) = find_hottest_edge(dag.out_edges(dag.entry()), &edges) {
        let path = follow(dag, &edges, first);
        let least = path.iter().map(|e| edges[*e]).min().unwrap_or(0);
        // Where paths were left in the middle, edges do not add up: what remains leads to no end.
        if least == 0 {
            break;
        }
        path.iter().for_each(|e| edges[*e] -= least);
        paths.push((path, least));
    }
    paths
}

fn definite_count(dag: &Dag, edges: &TiSlice<EdgeId, u64>, path: &[EdgeId]) -> u64 {
    let of = |e: &EdgeId| i128::from(edges[*e]);
    let through = |e: &EdgeId| {
        dag.out_edges(dag.edge(*e).src)
            .map(|e| of(&e))
            .sum::<i128>()
    };
    // Ball, Mataga & Sagiv 1998: at each inner vertex other paths take as much as goes through it and not along this
    // one. The sum may be negative, and passes 64 bits before it is reduced.
    let flow: i128 = path.iter().map(of).sum();
    let inner: i128 = path.iter().skip(1).map(through).sum();
    u64::try_from(flow - inner).unwrap_or(0)
}

/// The flow from starts whose most frequent path is the one that `follow` finds.
fn sum_correct_flow(dag: &Dag, edges: &TiSlice<EdgeId, u64>, paths: &[Ran]) -> u64 {
    let mut starts: BTreeMap<EdgeId, Vec<&Ran>> = BTreeMap::new();
    for path in paths {
        starts.entry(path.edges[0]).or_default().push(path);
    }
    let is_right = |(start, paths): &(&EdgeId, &Vec<&Ran>)| {
        let told = follow(dag, edges, **start);
        let most = paths.iter().map(|p| p.count).max();
        paths
            .iter()
            .any(|p| p.edges == told && Some(p.count) == most)
    };
    let told = starts.iter().filter(is_right);
    told.flat_map(|(_, paths)| paths.iter().map(|p| p.count))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copies::strategy::Scheme;
    use crate::paths::function::Measuring;
    use crate::paths::numbering::enumerate;
    use crate::paths::random_cfg::{any_cfg, cfg};
    use crate::profile::made;
    use proptest::prelude::*;

    fn measure_counts(graph: crate::input::ir::Cfg, counts: &[u64]) -> Accuracy {
        let paths = Measuring::from_cfg(&graph);
        let all = enumerate(&paths.dag)
            .into_iter()
            .zip(counts.iter().copied());
        let ran = all.filter(|p| p.1 > 0).map(|(edges, count)| Ran {
            id: paths.id(&edges),
            count,
            edges,
        });
        let ran: Vec<Ran> = ran.collect();
        measure_accuracy(&Structure { cfg: graph, paths }, &ran)
    }

    /// Two diamonds in a row. Correlated branches leave nothing definite, and nothing right where
    /// the hotter arms never meet; independent of each other they are told as they are.
    #[test]
    fn two_diamonds() {
        let graph = || cfg(&[&[1, 2], &[3], &[3], &[4, 5], &[6], &[6], &[]]);
        // Left-left, left-right, right-left, right-right.
        let correlated = measure_counts(graph(), &[0, 60, 40, 0]);
        assert_eq!(
            correlated,
            Accuracy {
                flow: 100,
                right: 100,
                overlap: 100,
                definite: 20
            }
        );
        let misled = measure_counts(graph(), &[30, 25, 45, 0]);
        assert_eq!(
            misled,
            Accuracy {
                flow: 100,
                right: 0,
                overlap: 50,
                definite: 50
            }
        );
        let sure = measure_counts(graph(), &[100, 0, 0, 0]);
        assert_eq!(
            sure,
            Accuracy {
                flow: 100,
                right: 100,
                overlap: 100,
                definite: 100
            }
        );
    }

    /// The functions with most flow first, and the sum over all, shown or not.
    #[test]
    fn functions_add_up() {
        let graph = || made::body(cfg(&[&[1, 2], &[3], &[3], &[]]));
        let mut p = made::profile(&made::program([0; 3].map(|_| graph())), Scheme::Sbl, 1);
        made::path_counts(&mut p)[FuncId(0)] = made::counts(&[(0, 3), (1, 1)]);
        made::path_counts(&mut p)[FuncId(2)] = made::counts(&[(0, 5)]);
        let one = |flow| Accuracy {
            flow,
            right: flow,
            overlap: flow,
            definite: flow,
        };
        let told = |top| {
            let selection = Selection {
                top,
                ..Selection::default()
            };
            let (rows, sum) = accuracy(p.paths().unwrap(), &selection).unwrap();
            let rows = rows.into_iter().map(|r| (r.name, r.accuracy));
            (rows.collect::<Vec<_>>(), sum)
        };
        let (most, least) = (("f2".to_string(), one(5)), ("f0".to_string(), one(4)));
        assert_eq!(told(None), (vec![most.clone(), least], one(9)));
        assert_eq!(told(Some(1)), (vec![most], one(9)));
    }

    proptest! {
        /// Whatever is taken out of the edge counts has what is definite.
        #[test]
        fn definite_flow_overlaps(graph in any_cfg(10), counts in proptest::collection::vec(0u64..50, 200)) {
            let a = measure_counts(graph, &counts);
            prop_assert!(a.definite <= a.overlap && a.overlap <= a.flow && a.right <= a.flow);
        }
    }
}
