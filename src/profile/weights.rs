//! `--profile`: measured weights from an earlier merged profile.

use super::Profile;
use super::flow::flow;
use super::matching::{Build, Index, Known, Match};
use super::measurement::{Exact, Measurement};
use crate::base::error::{Error, Result};
use crate::base::index::PathId;
use crate::paths::dag::Dag;
use crate::paths::function::{Expected, Paths};
use crate::paths::weights::{Weights, measured_weights};
use std::cmp::Reverse;
use std::sync::Arc;

/// Static weights count for as many paths more than those that ran (`docs/ALGORITHMS.md`, section 7).
const STATIC_PATHS: f64 = 1.0;

/// The part of a function's executions whose paths, the rarest, nothing is made for.
const RARE: f64 = 1.0 / 1024.0;

/// What is wrong with a profile of another program.
pub const UNRELATED: &str = "it knows none of the functions, as they are now";

/// Replaces the static weights in `expected` of every function that `profile` knows, with the same control flow and cut
/// edges. `functions` are those of `paths`, in `build`. Whether it knows one of them, or none is profiled: else it is
/// of another program.
///
/// # Errors
/// A profile of estimates, and a damaged one.
pub fn apply_measured<'a>(
    profile: &Profile,
    build: &Build,
    functions: impl Iterator<Item = Known<'a>>,
    paths: &[Option<Arc<Paths>>],
    expected: &mut [Option<Expected>],
) -> Result<bool> {
    let index = Index::of_same_program(profile, build);
    let (mut profiled, mut found) = (false, false);
    for ((known, paths), expected) in functions.zip(paths).zip(expected) {
        let (Some(paths), Some(expected)) = (paths, expected) else {
            continue;
        };
        profiled = true;
        let Match::Same(old) = index.find(&known) else {
            continue;
        };
        found = true;
        // Counts of some paths only say nothing of where control went otherwise.
        let is_counted = !profile.is_selective()
            || profile
                .counted_paths(old, &profile.structure(old)?)?
                .are_all();
        if is_counted && profile.entry(old).cuts == paths.cuts {
            let mut ran = Vec::new();
            let measured = match &profile.measured {
                Measurement::Exact(Exact::Edges(_)) => {
                    let structure = profile.structure(old)?;
                    let flow = flow(profile, old, &structure)?;
                    flow.dag.into_iter().map(|n| n as f64).collect()
                }
                Measurement::Exact(Exact::Paths(counts)) => {
                    ran = paths.that_ran(nearly_all(&counts[old]));
                    measured_weights(&paths.dag, &paths.numbering, &counts[old])
                }
                Measurement::Estimated(_) => {
                    return Err(profile.only_estimates());
                }
            };
            *expected = Expected {
                weights: shrink_to_static(&paths.dag, measured, &expected.weights),
                measured: true,
                ran,
            };
        }
    }
    Ok(found || !profiled)
}

/// Like [`apply_measured`] of a profile that has to be of this program.
///
/// # Errors
/// Those of [`apply_measured`], and that the profile is of another program.
pub fn apply_known<'a>(
    profile: &Profile,
    build: &Build,
    functions: impl Iterator<Item = Known<'a>>,
    paths: &[Option<Arc<Paths>>],
    expected: &mut [Option<Expected>],
) -> Result<()> {
    if apply_measured(profile, build, functions, paths, expected)? {
        return Ok(());
    }
    let remedy = "give a profile of this program, or leave --profile out";
    Err(Error::profile(&profile.path, UNRELATED, remedy))
}

/// Without the rarest paths, which are many (most of 131,000 ran once in one function of bzip2) and make up less than
/// [`RARE`]: weights of edges have them anyway. Ascending, as `counts` are. O(n log n).
fn nearly_all(counts: &[(PathId, u64)]) -> Vec<(PathId, u64)> {
    let mut kept = counts.to_vec();
    kept.sort_by_key(|&(id, n)| (Reverse(n), id));
    let all: f64 = counts.iter().map(|&(_, n)| n as f64).sum();
    let mut rest = all;
    let is_rest = |&(_, n): &(PathId, u64)| {
        let rare = rest <= all * RARE;
        rest -= n as f64;
        rare
    };
    let end = kept.iter().position(is_rest).unwrap_or(kept.len());
    kept.truncate(end);
    kept.sort_by_key(|&(id, _)| id);
    kept
}

/// What another input is expected to execute: `measured` executions and those of [`STATIC_PATHS`] more by the static
/// weights. Where control parts, these are pseudo-counts of a Dirichlet distribution around the static probabilities:
/// the fewer executions were seen, the more the static weights decide. The sum of two flows is a flow.
fn shrink_to_static(dag: &Dag, measured: Weights, fixed: &Weights) -> Weights {
    let paths = |weights: &Weights| -> f64 { dag.out_edges(dag.entry()).map(|e| weights[e]).sum() };
    let part = STATIC_PATHS / paths(fixed).max(f64::MIN_POSITIVE);
    let sum = |(m, s): (f64, &f64)| m + s * part;
    measured.into_iter().zip(fixed).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::{BlockId, FuncId, ti_vec};
    use crate::copies::strategy::Scheme;
    use crate::paths::function::{Measuring, guess_all};
    use crate::paths::random_cfg::cfg;
    use crate::profile::made;

    /// A diamond whose static weights are halves, of which one side ran: one path more goes half to either side. Flow
    /// that arrives leaves again.
    #[test]
    fn weights_of_few_executions_stay_near_static_ones() {
        let paths = Measuring::from_cfg(&cfg(&[&[1, 2], &[3], &[3], &[]]));
        let dag = &paths.dag;
        let other_side = |n: u64| {
            let counts = made::counts(&[(0, n)]);
            let measured = measured_weights(dag, &paths.numbering, &counts);
            let weights = shrink_to_static(dag, measured, &paths.weights);
            let first = dag.vertex(BlockId(0)).expect("it is the entry");
            let outs: Vec<f64> = dag.out_edges(first).map(|e| weights[e]).collect();
            assert_eq!(outs[0] + outs[1], weights[dag.entry_edge()]);
            (outs[1], outs[0] + outs[1])
        };
        for n in [0, 1, 1000] {
            assert_eq!(other_side(n), (0.5, n as f64 + 1.0));
        }
    }

    /// What follows when 1,023 of 1,024 executions are told is rare; of equal counts the first are kept.
    #[test]
    fn the_rarest_paths_are_left_out() {
        let counts = made::counts(&[(3, 1), (5, 2000), (7, 1), (8, 46), (9, 1)]);
        assert_eq!(
            nearly_all(&counts),
            made::counts(&[(3, 1), (5, 2000), (8, 46)])
        );
        let even = made::counts(&[(1, 2), (4, 2), (6, 2)]);
        assert_eq!(nearly_all(&even), even);
        assert_eq!(nearly_all(&[]), []);
    }

    /// Counts of paths and of edges give the same weights; other cut edges are another function's.
    #[test]
    fn measured_by_either_profile() {
        let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
        let program = made::program([made::body(graph.clone())]);
        let mut by_paths = made::profile(&program, Scheme::Sbl, 1);
        let structure = by_paths.structure(FuncId(0)).unwrap();
        made::path_counts(&mut by_paths)[FuncId(0)] = made::counts(&[(0, 5), (1, 2)]);
        let mut by_edges = made::profile(&program, Scheme::Edge, 1);
        let counted = by_edges.counted_edges(FuncId(0), &structure).unwrap();
        let flow = flow(&by_paths, FuncId(0), &structure).unwrap();
        let counts = counted.iter().map(|e| (e, flow.dag[e]));
        by_edges.measured = Measurement::Exact(Exact::Edges(ti_vec![counts.collect()]));
        by_edges.entries = ti_vec![Some(7)];

        let applied = |p: &Profile| {
            let known = Known::new(&p.manifest, FuncId(0), &graph);
            let paths = [Some(Arc::clone(structure.paths.paths()))];
            let mut expected = guess_all(&paths);
            let build = Build::of_manifest(&p.manifest);
            apply_measured(p, &build, std::iter::once(known), &paths, &mut expected).unwrap();
            expected[0].take().expect("still there")
        };
        let ran = flow.dag.iter().map(|&n| n as f64).collect();
        let own = &structure.paths;
        let expected = shrink_to_static(&own.dag, ran, &own.weights);
        for p in [&by_paths, &by_edges] {
            let paths = applied(p);
            assert_eq!((paths.weights, paths.measured), (expected.clone(), true));
        }
        let ran = applied(&by_paths).ran;
        let ran: Vec<(PathId, u64)> = ran.iter().map(|r| (r.id, r.count)).collect();
        assert_eq!(ran, made::counts(&[(0, 5), (1, 2)]));
        by_paths.manifest.functions[FuncId(0)].cuts = vec![crate::base::index::CfgEdge {
            block: BlockId(0),
            succ: 1,
        }];
        let other = applied(&by_paths);
        assert_eq!(
            (other.weights, other.measured),
            (structure.paths.weights.clone(), false)
        );
    }
}
