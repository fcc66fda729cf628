//! That the DAG by which a copy counts has the selected paths, each once, and no other.
//!
//! Edges that leave a vertex of that DAG have different origins, so two of its paths never are versions of one path of
//! the function. Each of them is a selected path, and there are as many: so they are the selected paths.

use super::{Proved, mistake};
use crate::base::index::{CopyId, EdgeId, IdSet, PathId};
use crate::copies::partition::{Held, Iterations, Local, Ranges, Side};
use crate::input::ir::Cfg;
use crate::paths::dag::{paths_inside, rests_inside, useful_edges};
use crate::paths::function::Measuring;
use std::collections::HashSet;

/// Proves that `local` has the paths on `side`. O(V + E) of the versions · out-degree.
pub(super) fn selection(cfg: &Cfg, paths: &Measuring, local: &Local, side: Side) -> Proved<()> {
    versions_of_paths(paths, local)?;
    let counted = paths_inside(&local.dag, &IdSet::with_all(local.dag.edges().len()));
    let (only_selected, selected) = match side {
        Side::Inside(set) => (
            local.origins.iter().all(|e| set.contains(*e)),
            paths_inside(&paths.dag, set),
        ),
        Side::Outside(set) => {
            let iterations = Iterations::new(cfg, paths);
            let known = paths_inside(iterations.dag(paths), set);
            let total = paths.numbering.total();
            (
                !has_known_path(paths, &iterations, local, set),
                total - known,
            )
        }
    };
    match (only_selected, counted == selected) {
        (false, _) => mistake(None, "a path is counted that is not selected"),
        (_, false) => mistake(None, "a selected path is not counted"),
        _ => Ok(()),
    }
}

/// Proves that `local` has the paths that `ranges` give `copy`. Prefixes are walked as far as some of their
/// continuations are the copy's and some are not: behind them, its number of paths says whether it has all. O(ranges ·
/// length · out-degree).
pub(super) fn ranges(
    paths: &Measuring,
    local: &Local,
    ranges: &Ranges,
    copy: CopyId,
) -> Proved<()> {
    versions_of_paths(paths, local)?;
    let (numbers, labels) = (&paths.numbering.paths, &paths.numbering.labels);
    let below = rests_inside(&local.dag, &IdSet::with_all(local.dag.edges().len()));
    let mut next = vec![(local.dag.entry(), PathId(0))];
    while let Some((here, id)) = next.pop() {
        for e in local.dag.out_edges(here) {
            let own = local.origins[e];
            let (from, to) = (id.plus(labels[own]), local.dag.edge(e).dst);
            let paths_behind = numbers[paths.dag.edge(own).dst];
            match ranges.ownership(copy, from, from.plus(paths_behind)) {
                Held::Nothing => return mistake(None, "a path is counted that is not selected"),
                Held::All if below[to] == paths_behind => {}
                Held::All => return mistake(None, "a selected path is not counted"),
                Held::Some => next.push((to, from)),
            }
        }
    }
    if below[local.dag.entry()] == ranges.number(copy, paths.numbering.total()) {
        Ok(())
    } else {
        mistake(None, "a selected path is not counted")
    }
}

/// Proves that paths of `local` are versions of paths, none of the same. O(V + E).
fn versions_of_paths(paths: &Measuring, local: &Local) -> Proved<()> {
    for v in local.dag.order() {
        let mut origins: Vec<EdgeId> = local.dag.out_edges(v).map(|e| local.origins[e]).collect();
        origins.sort_unstable();
        if origins.windows(2).any(|pair| pair[0] == pair[1]) {
            return mistake(None, "two versions of a path are counted apart");
        }
    }
    for e in local.dag.edge_ids() {
        let (edge, own) = (local.dag.edge(e), paths.dag.edge(local.origins[e]));
        let follows = |f: &EdgeId| paths.dag.edge(local.origins[*f]).src == own.dst;
        let starts = edge.src != local.dag.entry() || own.src == paths.dag.entry();
        let ends = (edge.dst == local.dag.exit()) == (own.dst == paths.dag.exit());
        if !starts || !ends || !local.dag.out_edges(edge.dst).all(|f| follows(&f)) {
            return mistake(None, "a version of a path is not that path");
        }
    }
    Ok(())
}

/// Whether a path of `local` stays inside `set`, edges of `iterations`. Both walk the function's paths, so pairs of
/// their vertices say where: O(pairs that are reached · out-degree).
fn has_known_path(
    paths: &Measuring,
    iterations: &Iterations,
    local: &Local,
    set: &IdSet<EdgeId>,
) -> bool {
    let dag = iterations.dag(paths);
    let set = useful_edges(dag, set);
    let mut seen = HashSet::new();
    let mut next = vec![(local.dag.entry(), dag.entry())];
    while let Some((here, there)) = next.pop() {
        if here == local.dag.exit() {
            return true;
        }
        for e in local.dag.out_edges(here) {
            let same = |f: &EdgeId| set.contains(*f) && iterations.origin(*f) == local.origins[e];
            if let Some(f) = dag.out_edges(there).find(same) {
                let pair = (local.dag.edge(e).dst, dag.edge(f).dst);
                if seen.insert(pair) {
                    next.push(pair);
                }
            }
        }
    }
    false
}
