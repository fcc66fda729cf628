//! The paths of a function as the copies that profile them see them: iterations of loops apart.

use crate::dag::Dag;
use crate::index::{EdgeId, PathId, VertexId};
use crate::ir::Cfg;
use crate::numbering::{MAX_ARRAY_SLOTS, Numbering, ball_larus, dense, pspp};
use crate::paths::FunctionPaths;
use crate::versions::{Versions, apart};
use crate::weights::Weights;
use fixedbitset::FixedBitSet;

/// The versioned control flow of a function with ids of its own, which [`Local::canonical`] translates.
#[derive(Clone, Debug)]
pub struct Local {
    /// The control flow.
    pub versions: Versions,
    /// Its DAG. Its paths are those of the function, one to one.
    pub dag: Dag,
    /// By edge of `dag`: the edge of the function's DAG.
    pub origins: Vec<EdgeId>,
    /// The edges of the paths of interest, if not all are.
    pub interesting: Option<FixedBitSet>,
    /// Ids of `dag`'s paths: dense ones for iterations where there are too many for an array; else Ball–Larus ids, or
    /// for a subset those of PSPP.
    pub numbering: Numbering,
}

impl Local {
    /// The local paths of a function with control flow `cfg`, of which those inside `edges` (`None`: all) are of
    /// interest; `None` where no loop has its iterations apart ([`FunctionPaths::apart`]), or where versions would
    /// have too many paths. O(E log E).
    pub fn new(cfg: &Cfg, paths: &FunctionPaths, edges: Option<&FixedBitSet>) -> Option<Local> {
        if paths.apart.is_empty() {
            return None;
        }
        let versions = apart::versions(cfg, &paths.cuts, &paths.apart)?;
        let dag = versions.dag(cfg, &paths.cuts);
        let origins = versions.dag_origins(&dag, &paths.dag);
        let interesting = edges.map(|set| versions_of(set, &origins));
        let all = all(&dag, &versions.regions(&dag, cfg.len()))?;
        let numbering = match &interesting {
            // Dense ids are worth more than fewer labels: foreign paths keep theirs, which nobody asks for.
            Some(set) if all.window().is_none() => pspp(&dag, set),
            _ => all,
        };
        Some(Local {
            versions,
            dag,
            origins,
            interesting,
            numbering,
        })
    }

    /// Expected executions of the edges of `dag`, which is made from `paths`. O(V + E).
    pub fn weights(&self, paths: &FunctionPaths) -> Weights {
        split_weights(&self.dag, &self.origins, paths)
    }

    /// The function's edges behind local ones.
    pub fn origin(&self, edges: &[EdgeId]) -> Vec<EdgeId> {
        edges.iter().map(|e| self.origins[e.index()]).collect()
    }

    /// The local path along `edges`, a path of the function's DAG `own`. O(out-degrees along it).
    ///
    /// # Panics
    /// When `edges` is no such path.
    pub fn path(&self, own: &Dag, edges: &[EdgeId]) -> Vec<EdgeId> {
        let (&first, rest) = edges.split_first().expect("a path has edges");
        let starts = self.dag.outs(self.dag.entry());
        // Of the versions of a header only one begins paths: the second, if there are two.
        let of_first = |e: &EdgeId| self.origins[e.index()] == first;
        let start = starts.rev().find(of_first).expect("paths begin alike");
        let mut path = vec![start];
        for &e in rest {
            let v = self.dag.edge(path[path.len() - 1]).dst;
            let mut outs = self.dag.outs(v);
            let next = outs.find(|o| self.origins[o.index()] == e);
            path.push(next.unwrap_or_else(|| panic!("{:?} follows", own.edge(e))));
        }
        path
    }

    /// The canonical id of the path with local id `id`; `None` when there is none, or none of interest.
    pub fn canonical(&self, paths: &FunctionPaths, id: u64) -> Option<PathId> {
        let edges = self.numbering.decode(&self.dag, id)?;
        if let Some(set) = &self.interesting
            && !edges.iter().all(|e| set.contains(e.index()))
        {
            return None;
        }
        Some(paths.numbering.id(&self.origin(&edges)))
    }

    /// How often each local edge ran, from paths of the function and how often they did.
    pub fn flow<'a>(
        &self,
        own: &Dag,
        ran: impl IntoIterator<Item = (&'a [EdgeId], u64)>,
    ) -> Vec<u64> {
        let mut flow = vec![0u64; self.dag.edges().len()];
        for (edges, count) in ran {
            for e in self.path(own, edges) {
                flow[e.index()] = flow[e.index()].saturating_add(count);
            }
        }
        flow
    }
}

/// The edges whose origins are in `set`.
fn versions_of(set: &FixedBitSet, origins: &[EdgeId]) -> FixedBitSet {
    let mut versions = FixedBitSet::with_capacity(origins.len());
    let inside = origins.iter().map(|e| set.contains(e.index()));
    versions.extend(inside.enumerate().filter(|(_, is)| *is).map(|(i, _)| i));
    versions
}

/// Ids of all paths, which fit an array or are dense in `region`, where that is possible.
fn all(dag: &Dag, region: &[Option<VertexId>]) -> Option<Numbering> {
    let few = ball_larus(dag).filter(|n| n.total() <= MAX_ARRAY_SLOTS);
    few.or_else(|| dense(dag, region, MAX_ARRAY_SLOTS))
        .or_else(|| ball_larus(dag))
}

/// Weights of the edges of `dag`, versions of those of `paths` that `origins` names: paths begin as often as there, and
/// every version of a block goes on as the block does. O(V + E).
fn split_weights(dag: &Dag, origins: &[EdgeId], paths: &FunctionPaths) -> Weights {
    let own = |e: EdgeId| paths.weights[origins[e.index()].index()];
    let mut weights = vec![0.0; dag.edges().len()];
    let mut arriving = vec![0.0; dag.vertices()];
    for v in dag.order() {
        let total: f64 = dag.outs(v).map(own).sum();
        for e in dag.outs(v) {
            let share = own(e) / total.max(f64::MIN_POSITIVE);
            weights[e.index()] = if v == dag.entry() {
                own(e)
            } else {
                arriving[v.index()] * share
            };
            arriving[dag.edge(e).dst.index()] += weights[e.index()];
        }
    }
    weights
}
