//! What is known of one function: its paths, computed once, and how they are measured.

use crate::base::index::{BlockId, CfgEdge, EdgeId, FuncId, IdSet, PathId};
use crate::input::ir::{Block, Cfg, Program, SkipReason};
use crate::paths::dag::{Dag, MAX_PATHS, Shape, choose_cuts};
use crate::paths::edges::{all_edges, counted_edges};
use crate::paths::numbering::{MAX_ARRAY_SLOTS, Numbering, WIDE_SLOTS, ball_larus, number_by_ends};
use crate::paths::spantree::SpanningTree;
use crate::paths::versions::apart;
use crate::paths::weights::{Weights, static_weights};
use rayon::prelude::*;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// What the analyses need to know of a function: the same from a program and from a manifest.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInput<'a> {
    /// Its control flow.
    pub cfg: &'a Cfg,
    /// Functions of one unit are profiled by one copy ([`crate::input::ir::ProgFunction::unit`]).
    pub unit: FuncId,
    /// Call sites of all modules ([`crate::input::ir::ProgFunction::call_sites`]).
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

/// The paths of one function: the same in every copy, under every scheme, whatever is known of its runs.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The order of its blocks, and its loops.
    pub shape: Shape,
    /// Its DAG.
    pub dag: Dag,
    /// The edges that were cut to keep ids within 64 bits, sorted.
    pub cuts: Vec<CfgEdge>,
    /// The canonical numbering: Ball–Larus ids.
    pub numbering: Numbering,
}

/// What a function is expected to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Expected executions of the DAG's edges.
    pub weights: Weights,
    /// Whether `weights` are counts of executions, all zero (or nearly) where it never ran.
    pub measured: bool,
    /// The paths that ran where `weights` come from but for the rarest, ascending, and how often; empty where that is
    /// not known.
    pub ran: Vec<Ran>,
}

/// What a copy's ids depend on besides paths: manifests hold it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The headers of the loops whose iterations are apart in a copy that profiles all paths
    /// ([`crate::copies::partition::Local`]), ascending.
    pub apart: Vec<BlockId>,
    /// Whether it counts in an array although it has more than [`MAX_ARRAY_SLOTS`] paths, if not more than
    /// [`WIDE_SLOTS`].
    pub wide: bool,
}

/// How one function is measured: its [`Paths`], which can be read through it, and all that was decided about them. It
/// is made in one piece when everything is known ([`crate::copies::strategy::Strategy::measure`]), and not changed
/// afterwards.
#[derive(Clone, Debug)]
pub struct Measuring {
    paths: Arc<Paths>,
    /// Expected executions of the DAG's edges.
    pub(crate) weights: Weights,
    /// Whether `weights` are counts of executions ([`Expected::measured`]).
    pub(crate) measured: bool,
    /// The paths that ran where `weights` come from ([`Expected::ran`]).
    pub(crate) ran: Vec<Ran>,
    /// The headers of the loops whose iterations are apart, ascending ([`Layout::apart`]).
    pub(crate) apart: Vec<BlockId>,
    /// Whether it counts in an array of up to [`WIDE_SLOTS`] paths ([`Layout::wide`]).
    pub(crate) wide: bool,
    /// What copies count of it.
    pub(crate) counted: Counted,
    /// [`Measuring::tree`], once that was asked for.
    tree: OnceLock<SpanningTree>,
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

impl Paths {
    /// The paths of `cfg`. Linear.
    pub fn new(cfg: &Cfg) -> Self {
        let shape = Shape::new(cfg);
        let mut cuts = choose_cuts(cfg, &shape, MAX_PATHS);
        if !cuts.is_empty() {
            // Ids of two digits once needed the room. Without it there would be fewer cuts, and other canonical ids.
            cuts = choose_cuts(cfg, &shape, MAX_PATHS / MAX_ARRAY_SLOTS);
        }
        Self::with_shape(cfg, shape, cuts).expect("enough edges are cut")
    }

    /// The paths of `cfg` when these edges (sorted) are cut; `None` when that leaves more than
    /// [`MAX_PATHS`].
    pub fn with_cuts(cfg: &Cfg, cuts: Vec<CfgEdge>) -> Option<Self> {
        Self::with_shape(cfg, Shape::new(cfg), cuts)
    }

    fn with_shape(cfg: &Cfg, shape: Shape, cuts: Vec<CfgEdge>) -> Option<Self> {
        let dag = Dag::in_order(cfg, &shape.order, &cuts);
        let numbering = ball_larus(&dag)?;
        Some(Paths {
            shape,
            dag,
            cuts,
            numbering,
        })
    }

    /// The headers of the loops of `cfg`, which these are the paths of, whose iterations are apart. Near-linear.
    pub(crate) fn choose_apart(&self, cfg: &Cfg) -> Vec<BlockId> {
        let hashes = self.numbering.total() > MAX_ARRAY_SLOTS;
        apart::choose(cfg, &self.shape, &self.cuts, MAX_ARRAY_SLOTS, hashes)
    }

    /// The id of the path along `edges`.
    pub fn id(&self, edges: &[EdgeId]) -> PathId {
        PathId(self.numbering.id(edges))
    }

    /// The edges of the path with this id; `None` when there is none. As [`Numbering::decode`].
    pub fn decode(&self, id: PathId) -> Option<Vec<EdgeId>> {
        self.numbering.decode(&self.dag, id.0)
    }

    /// Paths that ran, as [`Expected::ran`] has them, from their ids and how often they did. Ids that there are none of
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

    /// Whether activations may end otherwise than by an exit of `cfg`, the control flow of these paths. O(V).
    pub fn may_be_left(&self, cfg: &Cfg) -> bool {
        self.blocks(cfg).any(|b| b.may_leave)
    }

    /// The blocks that can be reached.
    fn blocks<'a>(&'a self, cfg: &'a Cfg) -> impl Iterator<Item = &'a Block> {
        let dag = &self.dag;
        dag.order().filter_map(|v| Some(cfg.block(dag.block(v)?)))
    }
}

impl Expected {
    /// What is expected of a function of which nothing was measured. Linear.
    pub fn guess(paths: &Paths) -> Expected {
        Expected {
            weights: static_weights(&paths.dag, &paths.shape.loops),
            measured: false,
            ran: Vec::new(),
        }
    }
}

impl Counted {
    /// The edges to count of `paths`, which are those of `cfg`, so that the heaviest need no counter. O(E log E).
    pub fn edges(cfg: &Cfg, paths: &Paths, weights: &Weights) -> Counted {
        let again = paths.blocks(cfg).any(|b| b.returns_twice);
        Counted::Edges(if again {
            all_edges(&paths.dag)
        } else {
            counted_edges(&paths.dag, weights, paths.may_be_left(cfg))
        })
    }
}

impl Measuring {
    /// Puts together what was decided.
    pub fn new(paths: Arc<Paths>, expected: Expected, layout: Layout, counted: Counted) -> Self {
        let Expected {
            weights,
            measured,
            ran,
        } = expected;
        let Layout { apart, wide } = layout;
        Measuring {
            paths,
            weights,
            measured,
            ran,
            apart,
            wide,
            counted,
            tree: OnceLock::new(),
        }
    }

    /// All of whose paths are counted, of which nothing was measured. Linear.
    pub fn without_measurement(paths: Arc<Paths>, layout: Layout) -> Self {
        let expected = Expected::guess(&paths);
        Measuring::new(paths, expected, layout, Counted::Paths)
    }

    /// The function with the iterations of the loops of these headers apart, and of no others.
    pub fn with_apart(self, apart: Vec<BlockId>) -> Self {
        Measuring { apart, ..self }
    }

    /// The function with weights that are counts of executions.
    pub fn with_measured(self, weights: Weights) -> Self {
        Measuring {
            weights,
            measured: true,
            tree: OnceLock::new(),
            ..self
        }
    }

    /// How often each edge is expected to run.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// What its ids depend on besides its paths.
    pub fn layout(&self) -> Layout {
        Layout {
            apart: self.apart.clone(),
            wide: self.wide,
        }
    }

    /// The part of `weights` that does not come from the paths in [`Measuring::ran`]: all of it where none is known.
    /// O(paths that ran).
    pub fn guessed_part(&self) -> f64 {
        let ran: f64 = self.ran.iter().map(|r| r.count as f64).sum();
        let starts = self.dag.out_edges(self.dag.entry());
        let all: f64 = starts.map(|e| self.weights[e]).sum();
        (1.0 - ran / all.max(f64::MIN_POSITIVE)).max(0.0)
    }

    /// The maximum spanning tree by the weights, which copies have in common. O(E log E) the first time.
    pub(crate) fn tree(&self) -> &SpanningTree {
        let tree = || SpanningTree::maximum(&self.dag, &self.weights);
        self.tree.get_or_init(tree)
    }

    /// A copy counts in an array where its ids are at most so many.
    pub fn array_slots(&self) -> u64 {
        if self.wide {
            WIDE_SLOTS
        } else {
            MAX_ARRAY_SLOTS
        }
    }

    /// Ids by ends ([`number_by_ends`]) for a copy that counts all paths; `None` if an array has room for the canonical
    /// ids, or if there is no window. O(V + E log E).
    pub(crate) fn number_by_ends(&self, cfg: &Cfg) -> Option<Numbering> {
        let dag = &self.dag;
        if self.numbering.total() <= self.array_slots() {
            return None;
        }
        let may_leave = dag.find_vertices(|b| cfg.block(b).may_leave);
        number_by_ends(dag, &dag.vertex_set(), &may_leave, MAX_ARRAY_SLOTS)
    }

    /// The paths, to keep or to measure otherwise.
    pub fn paths(&self) -> &Arc<Paths> {
        &self.paths
    }
}

impl Deref for Measuring {
    type Target = Paths;

    fn deref(&self) -> &Paths {
        &self.paths
    }
}

/// What is expected of functions of which nothing was measured, in parallel.
pub fn guess_all(paths: &[Option<Arc<Paths>>]) -> Vec<Option<Expected>> {
    let guessed = paths.par_iter().map(|p| Some(Expected::guess(p.as_ref()?)));
    guessed.collect()
}

/// The paths of all functions that are not skipped, in parallel; by [`FuncId`].
pub fn all_paths(functions: &[FunctionInput]) -> Vec<Option<Arc<Paths>>> {
    let paths = functions
        .par_iter()
        .map(|f| f.skip.is_none().then(|| Arc::new(Paths::new(f.cfg))));
    paths.collect()
}

/// What ids depend on besides `paths`, which are [`all_paths`] of `functions`; the same whatever is measured, and
/// whoever counts it.
pub fn layouts(functions: &[FunctionInput], paths: &[Option<Arc<Paths>>]) -> Vec<Layout> {
    let chosen = functions.par_iter().zip(paths).map(|(f, paths)| {
        let apart = paths.as_ref().map(|p| p.choose_apart(f.cfg));
        Layout {
            apart: apart.unwrap_or_default(),
            wide: false,
        }
    });
    let mut layouts: Vec<Layout> = chosen.collect();
    widen(paths, &mut layouts);
    layouts
}

/// Gives wide arrays to as many functions as there is room for: to those with the fewest paths. (Which of them run hot
/// is not known, and must not matter: a copy's ids are the same whatever profile it was made by.)
fn widen(paths: &[Option<Arc<Paths>>], layouts: &mut [Layout]) {
    let totals = paths
        .iter()
        .map(|p| p.as_ref().map(|p| p.numbering.total()));
    let mut by_size: Vec<(u64, &mut Layout)> = totals
        .zip(layouts)
        .filter_map(|(n, layout)| Some((n?, layout)))
        .filter(|(n, _)| (MAX_ARRAY_SLOTS + 1..=WIDE_SLOTS).contains(n))
        .collect();
    by_size.sort_by_key(|&(n, _)| n);
    let mut room = WIDE_SLOTS;
    for (n, layout) in by_size {
        let Some(left) = room.checked_sub(n) else {
            break;
        };
        room = left;
        layout.wide = true;
    }
}

/// For tests: functions of which nothing was measured, all of whose paths are counted.
#[cfg(test)]
pub mod made {
    use super::*;

    impl Measuring {
        /// Of one function, with the iterations apart that are in any scheme.
        pub fn from_cfg(cfg: &Cfg) -> Measuring {
            let paths = Paths::new(cfg);
            let layout = Layout {
                apart: paths.choose_apart(cfg),
                wide: false,
            };
            Measuring::without_measurement(Arc::new(paths), layout)
        }

        /// With all loops together, when these edges are cut; `None` when that leaves too many paths.
        pub fn from_cfg_with_cuts(cfg: &Cfg, cuts: Vec<CfgEdge>) -> Option<Measuring> {
            let paths = Arc::new(Paths::with_cuts(cfg, cuts)?);
            Some(Self::without_measurement(paths, Layout::default()))
        }
        /// The function, of whose control flow `cfg` edges are counted and not paths.
        pub fn counting_edges(self, cfg: &Cfg) -> Measuring {
            let counted = Counted::edges(cfg, &self, &self.weights);
            Measuring { counted, ..self }
        }
    }

    /// Of all functions that are not skipped.
    pub fn all_measured(functions: &[FunctionInput]) -> Vec<Option<Measuring>> {
        let paths = all_paths(functions);
        let layouts = layouts(functions, &paths);
        let each = paths.into_iter().zip(layouts);
        each.map(|(paths, layout)| Some(Measuring::without_measurement(paths?, layout)))
            .collect()
    }
}
