//! The paths of a function as the copies that profile them see them: iterations of loops apart.

use super::iterations::longest_prefix;
use super::selected::Selected;
use super::{Part, Ranges};
use crate::base::index::{
    BlockId, CfgEdge, EdgeId, IdSet, LocalId, PathId, TiSlice, TiVec, VertexId,
};
use crate::input::ir::Cfg;
use crate::paths::dag::Dag;
use crate::paths::function::Measuring;
use crate::paths::numbering::{MAX_ARRAY_SLOTS, Numbering, ball_larus, number_by_ends, pspp};
use crate::paths::versions::{Versions, apart::Apart};
use crate::paths::weights::Weights;

/// At least this part of weights is guessed where paths were counted, so that edges which never ran still differ.
const LEAST_GUESSED: f64 = 1e-6;

/// The versioned control flow of a function with ids of its own, which [`Local::canonical_id`] translates.
#[derive(Clone, Debug)]
pub struct Local {
    /// The control flow.
    pub versions: Versions,
    /// Its DAG. Its paths are those of the function, one to one, or of ranges those that the copy owns.
    pub dag: Dag,
    /// By edge of `dag`: the edge of the function's DAG.
    pub origins: TiVec<EdgeId, EdgeId>,
    /// The edges of the paths of interest, if not all are.
    pub interesting: Option<IdSet<EdgeId>>,
    /// Ids of `dag`'s paths: by ends where there are too many for an array; else Ball–Larus ids, or for a subset those
    /// of PSPP.
    pub numbering: Numbering,
    /// The vertices from which an edge leads on in a foreign version, where nothing is counted.
    pub open: IdSet<VertexId>,
    /// The edges that end foreign paths, and where the next one begins.
    pub foreign_ends: Vec<(CfgEdge, BlockId)>,
}

impl Local {
    /// The local paths of a function with control flow `cfg` in a copy that profiles `part` of them; `None` where all
    /// blocks have one version: where no loop has its iterations apart ([`Measuring::apart`]) or versions would have
    /// too many paths. O(E log E) of the versions.
    pub fn new(cfg: &Cfg, paths: &Measuring, part: Part) -> Option<Local> {
        match part {
            Part::Ranges(ranges, copy) => {
                let selected = Selected::new(cfg, paths, ranges, copy);
                let window = window(ranges);
                Some(Self::from_selected(selected, paths.array_slots(), window))
            }
            Part::Side(side) => {
                let selected = Selected::of_side(cfg, paths, side);
                Some(Self::from_selected(
                    selected,
                    paths.array_slots(),
                    MAX_ARRAY_SLOTS,
                ))
            }
            Part::All | Part::Edges(_) if paths.apart.is_empty() => None,
            Part::All => Self::with_iterations_apart(cfg, paths, None),
            Part::Edges(set) => Self::with_iterations_apart(cfg, paths, Some(set)),
        }
    }

    fn with_iterations_apart(
        cfg: &Cfg,
        paths: &Measuring,
        edges: Option<&IdSet<EdgeId>>,
    ) -> Option<Local> {
        let product = Apart::new(cfg, &paths.shape, &paths.cuts, &paths.apart)?.product();
        let versions = &product.versions;
        let dag = versions.dag(&paths.shape.order, &paths.cuts);
        let origins = versions.dag_origins(&dag, &paths.dag);
        let interesting = edges.map(|set| set.inverse_image(&origins));
        let apart = dag.find_vertices(|b| product.states[b].is_some_and(|state| state != 0));
        let may_leave = dag.find_vertices(|b| versions.cfg.block(b).may_leave);
        let all = number_all(
            &dag,
            &apart,
            &may_leave,
            paths.array_slots(),
            MAX_ARRAY_SLOTS,
        )?;
        let numbering = match &interesting {
            // A window is worth more than fewer labels: foreign paths keep theirs, which nobody asks for.
            Some(set) if !all.has_window() => pspp(&dag, set),
            _ => all,
        };
        Some(Local {
            open: dag.vertex_set(),
            versions: product.versions,
            dag,
            origins,
            interesting,
            numbering,
            foreign_ends: Vec::new(),
        })
    }

    fn from_selected(selected: Selected, slots: u64, window: u64) -> Local {
        let Selected { dag, preferred, .. } = selected;
        let mut may_leave = dag.find_vertices(|b| selected.versions.cfg.block(b).may_leave);
        may_leave.union_with(&selected.open);
        let numbering = number_all(&dag, &preferred, &may_leave, slots, window);
        Local {
            numbering: numbering.expect("no more paths than the function has"),
            versions: selected.versions,
            dag,
            origins: selected.origins,
            interesting: None,
            open: selected.open,
            foreign_ends: selected.foreign_ends,
        }
    }

    /// Expected executions of the edges of `dag`, which is made from `paths`. O(V + E).
    pub fn weights(&self, paths: &Measuring) -> Weights {
        let mut weights = split_weights(&self.dag, &self.origins, paths);
        if !paths.ran.is_empty() {
            let flow = self.flow(paths.ran.iter().map(|r| (&r.edges[..], r.count)));
            let guessed = paths.guessed_part().max(LEAST_GUESSED);
            for (w, n) in weights.iter_mut().zip(flow) {
                *w = *w * guessed + n as f64;
            }
        }
        weights
    }

    /// The function's edges behind local ones.
    pub fn origin(&self, edges: &[EdgeId]) -> Vec<EdgeId> {
        edges.iter().map(|e| self.origins[*e]).collect()
    }

    /// The local path along `edges`, a path of the function's DAG; `None` when it is foreign. O(out-degrees along it).
    pub fn path(&self, edges: &[EdgeId]) -> Option<Vec<EdgeId>> {
        let path = self.prefix(edges);
        (path.len() == edges.len()).then_some(path)
    }

    /// The part of the path along `edges` that runs inside `dag`: what runs behind it is foreign and has no statement.
    pub fn prefix(&self, edges: &[EdgeId]) -> Vec<EdgeId> {
        longest_prefix(&self.dag, &self.origins, edges)
    }

    /// The canonical id of the path with local id `id`; `None` when there is none, or none of interest.
    pub fn canonical_id(&self, paths: &Measuring, id: LocalId) -> Option<PathId> {
        let edges = self.numbering.decode(&self.dag, id.0)?;
        if let Some(set) = &self.interesting
            && !edges.iter().all(|e| set.contains(*e))
        {
            return None;
        }
        Some(paths.id(&self.origin(&edges)))
    }

    /// How often each local edge ran, from paths of the function and how often they did.
    pub fn flow<'a>(
        &self,
        ran: impl IntoIterator<Item = (&'a [EdgeId], u64)>,
    ) -> TiVec<EdgeId, u64> {
        let mut flow = self.dag.by_edge(0u64);
        for (edges, count) in ran {
            for e in self.prefix(edges) {
                flow[e] = flow[e].saturating_add(count);
            }
        }
        flow
    }
}

/// Ids of all paths: Ball–Larus ids where they fit an array of `slots`, else by ends, those at `preferred` vertices in
/// a window of up to `window`. `None` when there are more than [`crate::paths::dag::MAX_PATHS`].
fn number_all(
    dag: &Dag,
    preferred: &IdSet<VertexId>,
    may_leave: &IdSet<VertexId>,
    slots: u64,
    window: u64,
) -> Option<Numbering> {
    match ball_larus(dag) {
        Some(few) if few.total() <= slots => Some(few),
        many => number_by_ends(dag, preferred, may_leave, window).or(many),
    }
}

/// Warm paths have as much room as iterations that are apart.
fn window(ranges: &Ranges) -> u64 {
    if ranges.warm.is_empty() {
        MAX_ARRAY_SLOTS
    } else {
        2 * MAX_ARRAY_SLOTS
    }
}

/// Weights of the edges of `dag`, versions of those of `paths` that `origins` names: paths begin as often as there, and
/// every version of a block goes on as the block does. O(V + E).
fn split_weights(dag: &Dag, origins: &TiSlice<EdgeId, EdgeId>, paths: &Measuring) -> Weights {
    let own = |e: EdgeId| paths.weights[origins[e]];
    let all_ways = |e: EdgeId| -> f64 {
        let from = paths.dag.edge(origins[e]).src;
        let outs = paths.dag.out_edges(from);
        outs.map(|o| paths.weights[o]).sum()
    };
    let mut weights = dag.by_edge(0.0);
    let mut arriving = dag.by_vertex(0.0);
    for v in dag.order().filter(|&v| v != dag.exit()) {
        let total = dag.out_edges(v).next().map_or(0.0, all_ways);
        for e in dag.out_edges(v) {
            weights[e] = if v == dag.entry() {
                own(e)
            } else {
                arriving[v] * own(e) / total.max(f64::MIN_POSITIVE)
            };
            arriving[dag.edge(e).dst] += weights[e];
        }
    }
    weights
}
