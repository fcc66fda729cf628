//! What is known of one function, computed once: its paths, and what they are expected to cost.

use crate::dag::{Dag, MAX_PATHS, Shape, choose_cuts};
use crate::edges::{all_edges, counted_edges};
use crate::index::{BlockId, CfgEdge, EdgeId, FuncId, IdSet, PathId};
use crate::ir::{Block, Cfg, Program, SkipReason};
use crate::numbering::{MAX_ARRAY_SLOTS, Numbering, WIDE_SLOTS, ball_larus};
use crate::spantree::SpanningTree;
use crate::versions::apart;
use crate::weights::{Weights, static_weights};
use rayon::prelude::*;
use std::sync::OnceLock;

/// What the analyses need to know of a function: the same from a program and from a manifest.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInput<'a> {
    /// Its control flow.
    pub cfg: &'a Cfg,
    /// Functions of one unit are profiled by one copy ([`crate::ir::ProgFunction::unit`]).
    pub unit: FuncId,
    /// See [`crate::ir::ProgFunction::call_sites`].
    pub call_sites: u32,
    /// Why it is not profiled, if so.
    pub skip: Option<SkipReason>,
}

/// All functions of a program; by [`FuncId`].
pub fn function_inputs(program: &Program) -> Vec<FunctionInput<'_>> {
    let input = |f| {
        let body = program.body_at(f);
        FunctionInput {
            cfg: &body.cfg,
            unit: f.unit,
            call_sites: f.call_sites,
            skip: body.skip,
        }
    };
    program.functions.iter().map(input).collect()
}

/// What copies count of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Its paths.
    Paths,
    /// These edges of its DAG.
    Edges(IdSet<EdgeId>),
}

/// The path structure of one function, the same in every copy and scheme.
#[derive(Clone, Debug)]
pub struct FunctionPaths {
    /// The order of its blocks, and its loops.
    pub shape: Shape,
    /// Its DAG.
    pub dag: Dag,
    /// The edges that were cut to keep ids within 64 bits, sorted.
    pub cuts: Vec<CfgEdge>,
    /// The canonical numbering: Ball–Larus ids.
    pub numbering: Numbering,
    /// Expected executions of the DAG's edges.
    pub weights: Weights,
    /// What copies count of it.
    pub counted: Counted,
    /// Whether `weights` are counts of executions, all zero (or nearly) where it never ran.
    pub measured: bool,
    /// The paths that ran where `weights` come from but for the rarest, ascending, and how often; empty where that is not known.
    pub ran: Vec<Ran>,
    /// The headers of the loops whose iterations are apart in a copy that profiles all paths ([`crate::partition::Local`]), ascending.
    pub apart: Vec<BlockId>,
    /// Whether it counts in an array although it has more than [`MAX_ARRAY_SLOTS`] paths, if not more than [`WIDE_SLOTS`].
    pub wide: bool,
    /// [`FunctionPaths::tree`], once that was asked for.
    pub(crate) tree: OnceLock<SpanningTree>,
}

/// A path that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// Its canonical id.
    pub id: PathId,
    /// How often it did.
    pub count: u64,
    /// What it is.
    pub edges: Vec<EdgeId>,
}

impl FunctionPaths {
    /// The paths of `cfg`, with static weights. Linear.
    pub fn new(cfg: &Cfg) -> Self {
        let shape = Shape::new(cfg);
        let mut cuts = choose_cuts(cfg, &shape, MAX_PATHS);
        if !cuts.is_empty() {
            // Where paths must be cut at all, dense ids, which are larger, get room too.
            cuts = choose_cuts(cfg, &shape, MAX_PATHS / MAX_ARRAY_SLOTS);
        }
        let apart = apart::choose(cfg, &shape, &cuts, MAX_ARRAY_SLOTS);
        let paths = Self::with_shape(cfg, shape, cuts).expect("enough edges are cut");
        FunctionPaths { apart, ..paths }
    }

    /// Other expected executions of the DAG's edges.
    pub fn weigh(&mut self, weights: Weights) {
        self.weights = weights;
        self.tree = OnceLock::new();
    }

    /// The part of `weights` that does not come from the paths in [`FunctionPaths::ran`]: all of it where none is known. O(paths
    /// that ran).
    pub fn guessed_part(&self) -> f64 {
        let ran: f64 = self.ran.iter().map(|r| r.count as f64).sum();
        let starts = self.dag.outs(self.dag.entry());
        let all: f64 = starts.map(|e| self.weights[e]).sum();
        (1.0 - ran / all.max(f64::MIN_POSITIVE)).max(0.0)
    }

    /// The maximum spanning tree by the weights, which copies have in common. O(E log E) the first time.
    pub(crate) fn tree(&self) -> &SpanningTree {
        let tree = || SpanningTree::maximum(&self.dag, &self.weights);
        self.tree.get_or_init(tree)
    }

    /// The id of the path along `edges`.
    pub fn id(&self, edges: &[EdgeId]) -> PathId {
        PathId(self.numbering.id(edges))
    }

    /// The edges of the path with this id; `None` when there is none. As [`Numbering::decode`].
    pub fn decode(&self, id: PathId) -> Option<Vec<EdgeId>> {
        self.numbering.decode(&self.dag, id.0)
    }

    /// Paths that ran, as [`FunctionPaths::ran`] has them, from their ids and how often they did. Ids that there are none of
    /// (a profile of another build) are left out.
    pub fn that_ran(&self, counts: impl IntoIterator<Item = (PathId, u64)>) -> Vec<Ran> {
        let ran = |(id, count)| {
            let edges = self.decode(id)?;
            Some(Ran { id, count, edges })
        };
        counts.into_iter().filter_map(ran).collect()
    }

    /// The ids of all paths, in order.
    pub fn ids(&self) -> impl Iterator<Item = PathId> {
        (0..self.numbering.total()).map(PathId)
    }

    /// A copy counts in an array where its ids are at most so many.
    pub fn array_slots(&self) -> u64 {
        if self.wide {
            WIDE_SLOTS
        } else {
            MAX_ARRAY_SLOTS
        }
    }

    /// Chooses the edges to count, by the weights. O(E log E).
    pub fn count_edges(&mut self, cfg: &Cfg) {
        let dag = &self.dag;
        let again = self.blocks(cfg).any(|b| b.returns_twice);
        self.counted = Counted::Edges(if again {
            all_edges(dag)
        } else {
            counted_edges(dag, &self.weights, self.may_be_left(cfg))
        });
    }

    /// Whether activations may end otherwise than by an exit of `cfg`, the control flow of these paths. O(V).
    pub fn may_be_left(&self, cfg: &Cfg) -> bool {
        self.blocks(cfg).any(|b| b.may_leave)
    }

    /// The blocks that can be reached.
    fn blocks<'a>(&'a self, cfg: &'a Cfg) -> impl Iterator<Item = &'a Block> {
        let dag = &self.dag;
        dag.order().filter_map(|v| Some(cfg.block(dag.block(v)?)))
    }

    /// The paths of `cfg` when these edges (sorted) are cut; `None` when that leaves more than
    /// [`MAX_PATHS`].
    pub fn with_cuts(cfg: &Cfg, cuts: Vec<CfgEdge>) -> Option<Self> {
        Self::with_shape(cfg, Shape::new(cfg), cuts)
    }

    fn with_shape(cfg: &Cfg, shape: Shape, cuts: Vec<CfgEdge>) -> Option<Self> {
        let dag = Dag::in_order(cfg, &shape.order, &cuts);
        let numbering = ball_larus(&dag)?;
        let weights = static_weights(&dag, &shape.loops);
        Some(FunctionPaths {
            shape,
            dag,
            cuts,
            numbering,
            weights,
            counted: Counted::Paths,
            measured: false,
            ran: Vec::new(),
            apart: Vec::new(),
            wide: false,
            tree: OnceLock::new(),
        })
    }
}

/// The path structure of all functions that are not skipped, in parallel; by [`FuncId`].
pub fn all_paths(functions: &[FunctionInput]) -> Vec<Option<FunctionPaths>> {
    let paths = functions
        .par_iter()
        .map(|f| f.skip.is_none().then(|| FunctionPaths::new(f.cfg)));
    let mut paths: Vec<Option<FunctionPaths>> = paths.collect();
    widen(&mut paths);
    paths
}

/// Gives wide arrays to as many functions as there is room for: to those with the fewest paths. (Which of them run hot is
/// not known, and must not matter: a copy's ids are the same whatever profile it was made by.)
fn widen(paths: &mut [Option<FunctionPaths>]) {
    let mut by_size: Vec<(u64, &mut FunctionPaths)> = paths
        .iter_mut()
        .flatten()
        .map(|p| (p.numbering.total(), p))
        .filter(|(n, _)| (MAX_ARRAY_SLOTS + 1..=WIDE_SLOTS).contains(n))
        .collect();
    by_size.sort_by_key(|&(n, _)| n);
    let mut room = WIDE_SLOTS;
    for (n, paths) in by_size {
        let Some(left) = room.checked_sub(n) else {
            break;
        };
        room = left;
        paths.wide = true;
    }
}
