//! That the DAG by which a copy counts has the selected paths, each once, and no other.
//!
//! Edges that leave a vertex of that DAG have different origins, so two of its paths never are versions of one path of the function. Each of
//! them is a selected path, and there are as many: so they are the selected paths.

use super::{Proved, mistake};
use crate::dag::{paths_inside, useful_edges};
use crate::index::{EdgeId, IdSet};
use crate::ir::Cfg;
use crate::partition::{Iterations, Local, Side};
use crate::paths::FunctionPaths;
use std::collections::HashSet;

/// Proves that `local` has the paths on `side`. O(V + E) of the versions · out-degree.
pub(super) fn selection(cfg: &Cfg, paths: &FunctionPaths, local: &Local, side: Side) -> Proved<()> {
    for v in local.dag.order() {
        let mut origins: Vec<EdgeId> = local.dag.outs(v).map(|e| local.origins[e]).collect();
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
        if !starts || !ends || !local.dag.outs(edge.dst).all(|f| follows(&f)) {
            return mistake(None, "a version of a path is not that path");
        }
    }
    let counted = paths_inside(&local.dag, &IdSet::full(local.dag.edges().len()));
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

/// Whether a path of `local` stays inside `set`, edges of `iterations`. Both walk the function's paths, so pairs of their vertices say where:
/// O(pairs that are reached · out-degree).
fn has_known_path(
    paths: &FunctionPaths,
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
        for e in local.dag.outs(here) {
            let same = |f: &EdgeId| set.contains(*f) && iterations.origin(*f) == local.origins[e];
            if let Some(f) = dag.outs(there).find(same) {
                let pair = (local.dag.edge(e).dst, dag.edge(f).dst);
                if seen.insert(pair) {
                    next.push(pair);
                }
            }
        }
    }
    false
}
