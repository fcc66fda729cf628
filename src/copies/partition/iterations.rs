//! A function's control flow with iterations of loops apart, as sets of edges see it.

use crate::base::index::{BlockId, CfgEdge, EdgeId, TiSlice, TiVec};
use crate::input::ir::Cfg;
use crate::paths::dag::Dag;
use crate::paths::function::Measuring;
use crate::paths::versions::apart::Apart;
use std::collections::HashMap;

/// The DAG of a function in which the nests of [`Measuring::apart`] have their iterations apart. Its paths are those of
/// the function, one to one.
#[derive(Clone, Debug)]
pub struct Iterations {
    /// `None` where all blocks have one version.
    versions: Option<Separated>,
}

#[derive(Clone, Debug)]
struct Separated {
    dag: Dag,
    /// By edge of `dag`: the edge of the function's DAG.
    origins: TiVec<EdgeId, EdgeId>,
    /// The version of a block in a state of [`Apart`].
    block: HashMap<(BlockId, u32), BlockId>,
}

impl Iterations {
    /// Those of a function with control flow `cfg`. O(V + E) of the versions.
    pub fn new(cfg: &Cfg, paths: &Measuring) -> Iterations {
        if paths.apart.is_empty() {
            return Iterations { versions: None };
        }
        let apart = Apart::new(cfg, &paths.shape, &paths.cuts, &paths.apart);
        let versions = apart.map(|apart| {
            let product = apart.product();
            let dag = product.versions.dag(&paths.shape.order, &paths.cuts);
            let origin = |b: BlockId| product.versions.origin[b];
            let states = product.states.iter_enumerated();
            Separated {
                origins: product.versions.dag_origins(&dag, &paths.dag),
                block: states
                    .filter_map(|(b, s)| Some(((origin(b), (*s)?), b)))
                    .collect(),
                dag,
            }
        });
        Iterations { versions }
    }

    /// The DAG, given the function's paths.
    pub fn dag<'a>(&'a self, paths: &'a Measuring) -> &'a Dag {
        self.versions.as_ref().map_or(&paths.dag, |v| &v.dag)
    }

    /// The edge of the function's DAG behind edge `e`.
    pub fn origin(&self, e: EdgeId) -> EdgeId {
        self.versions.as_ref().map_or(e, |v| v.origins[e])
    }

    /// The path along `edges`, a path of the function's DAG. O(out-degrees along it).
    pub fn path(&self, edges: &[EdgeId]) -> Option<Vec<EdgeId>> {
        match &self.versions {
            None => Some(edges.to_vec()),
            Some(v) => {
                let path = longest_prefix(&v.dag, &v.origins, edges);
                (path.len() == edges.len()).then_some(path)
            }
        }
    }

    /// The edge by which paths begin at `block` in state `version` of [`Apart`], at the function's entry or behind an
    /// edge that ends a path.
    pub fn start(&self, paths: &Measuring, block: BlockId, version: u32) -> Option<EdgeId> {
        let dag = self.dag(paths);
        dag.loop_start(self.version(block, version)?)
    }

    /// The edge for control-flow edge `edge`, taken in state `version`.
    pub fn edge(&self, paths: &Measuring, edge: CfgEdge, version: u32) -> Option<EdgeId> {
        let block = self.version(edge.block, version)?;
        self.dag(paths).edge_of(CfgEdge { block, ..edge })
    }

    /// The edge by which paths end in `block`, which has no successors, in state `version`.
    pub fn end_edge(&self, paths: &Measuring, block: BlockId, version: u32) -> Option<EdgeId> {
        let dag = self.dag(paths);
        dag.out_edges(dag.vertex(self.version(block, version)?)?)
            .next()
    }

    fn version(&self, block: BlockId, version: u32) -> Option<BlockId> {
        match &self.versions {
            None => Some(block),
            Some(v) => v.block.get(&(block, version)).copied(),
        }
    }
}

/// The longest prefix of the path along `edges`, of which those of `dag` are versions as `origins` says, that `dag`
/// has. O(out-degrees along it).
pub(super) fn longest_prefix(
    dag: &Dag,
    origins: &TiSlice<EdgeId, EdgeId>,
    edges: &[EdgeId],
) -> Vec<EdgeId> {
    let mut path = Vec::with_capacity(edges.len());
    let mut v = dag.entry();
    for &e in edges {
        let Some(next) = dag.out_edges(v).find(|o| origins[*o] == e) else {
            break;
        };
        path.push(next);
        v = dag.edge(next).dst;
    }
    path
}
