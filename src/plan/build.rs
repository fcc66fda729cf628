//! Shares → plans: numbering, placement and table of every function of a copy.

use super::check;
use super::place::{Ends, Increments, Placement};
use super::{CopyPlan, FunctionPlan, Op, Site, SiteCode, Table};
use crate::dag::{Dag, EdgeKind};
use crate::index::{CopyId, EdgeId, FuncId, PathId};
use crate::ir::Cfg;
use crate::numbering::{MAX_ARRAY_SLOTS, Numbering, pspp};
use crate::partition::{Local, Share};
use crate::paths::{FunctionInput, FunctionPaths};
use crate::spantree::SpanningTree;
use crate::versions::Versions;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// How one copy profiles one function.
#[derive(Clone, Debug)]
pub struct FunctionCode<'a> {
    /// The ids this copy counts under.
    pub ids: Ids<'a>,
    /// The statements, on the edges of [`FunctionCode::dag`].
    pub placement: Placement,
    /// Where the counts go.
    pub table: Table,
    paths: &'a FunctionPaths,
}

/// The ids that a copy counts under.
#[derive(Clone, Debug)]
pub enum Ids<'a> {
    /// The canonical ones.
    Canonical(&'a Numbering),
    /// Those of PSPP.
    Selective(Numbering),
    /// Those of the versions of its blocks.
    Local(Box<Local>),
}

impl FunctionCode<'_> {
    /// The versions of the function's blocks, if it has any.
    fn into_versions(self) -> Option<Arc<Versions>> {
        match self.ids {
            Ids::Local(local) => Some(Arc::new(local.versions)),
            _ => None,
        }
    }

    /// The DAG that the statements are on.
    pub fn dag(&self) -> &Dag {
        match &self.ids {
            Ids::Local(local) => &local.dag,
            _ => &self.paths.dag,
        }
    }

    /// The statements that run along the path `edges` of the function's DAG.
    pub fn hits(&self, edges: &[EdgeId]) -> u64 {
        match &self.ids {
            Ids::Local(local) => self.placement.hits(&local.path(&self.paths.dag, edges)),
            _ => self.placement.hits(edges),
        }
    }
}

/// The control flow that ids are about.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The function's own, or that of its versions.
    pub cfg: &'a Cfg,
    /// Its DAG.
    pub dag: &'a Dag,
    /// The edges of the paths of interest, if not all are.
    pub interesting: Option<&'a FixedBitSet>,
    /// The versions, if there are any.
    pub versions: Option<&'a Versions>,
}

impl Ids<'_> {
    /// What they are about, given what they are made from ([`ids()`]).
    pub fn ground<'a>(
        &'a self,
        cfg: &'a Cfg,
        paths: &'a FunctionPaths,
        edges: Option<&'a FixedBitSet>,
    ) -> Ground<'a> {
        let own = Ground {
            cfg,
            dag: &paths.dag,
            interesting: None,
            versions: None,
        };
        match self {
            Ids::Canonical(_) => own,
            Ids::Selective(_) => Ground {
                interesting: edges,
                ..own
            },
            Ids::Local(local) => Ground {
                cfg: &local.versions.cfg,
                dag: &local.dag,
                interesting: local.interesting.as_ref(),
                versions: Some(&local.versions),
            },
        }
    }

    /// The labels whose sums they are.
    pub fn numbering(&self) -> &Numbering {
        match self {
            Ids::Canonical(numbering) => numbering,
            Ids::Selective(numbering) => numbering,
            Ids::Local(local) => &local.numbering,
        }
    }

    /// The id under which the path of `paths` along `edges`, a path of interest, is counted.
    pub fn local(&self, paths: &FunctionPaths, edges: &[EdgeId]) -> u64 {
        match self {
            Ids::Local(local) => local.numbering.id(&local.path(&paths.dag, edges)),
            _ => self.numbering().id(edges),
        }
    }

    /// The canonical id of the path of `paths` that is counted under `id`; `None` when no path of interest is.
    pub fn canonical(&self, paths: &FunctionPaths, id: u64) -> Option<PathId> {
        match self {
            Ids::Canonical(numbering) => (id < numbering.total()).then_some(id),
            Ids::Selective(numbering) => {
                let edges = numbering.decode(&paths.dag, id)?;
                Some(paths.numbering.id(&edges))
            }
            Ids::Local(local) => local.canonical(paths, id),
        }
    }
}

/// The ids of the paths inside `edges` (`None`, or a full set: all paths). O(E log E).
///
/// Those of versions with iterations of loops apart ([`Local`]) where there are any. Else Ball–Larus ids for all paths,
/// PSPP's for a subset (`docs/ALGORITHMS.md` §4).
pub fn ids<'a>(cfg: &Cfg, paths: &'a FunctionPaths, edges: Option<&FixedBitSet>) -> Ids<'a> {
    let subset = edges.filter(|set| !set.is_full());
    match (Local::new(cfg, paths, subset), subset) {
        (Some(local), _) => Ids::Local(Box::new(local)),
        (None, Some(set)) => Ids::Selective(pspp(&paths.dag, set)),
        (None, None) => Ids::Canonical(&paths.numbering),
    }
}

/// The code for the paths inside `edges` (`None`, or a full set: all paths), placed where it costs the fewest
/// expected hits. O(E log E).
pub fn function_code<'a>(
    cfg: &Cfg,
    paths: &'a FunctionPaths,
    edges: Option<&FixedBitSet>,
) -> FunctionCode<'a> {
    let ids = ids(cfg, paths, edges);
    let weights = match &ids {
        Ids::Local(local) => Cow::Owned(local.weights(paths)),
        _ => Cow::Borrowed(&paths.weights),
    };
    let ground = ids.ground(cfg, paths, edges);
    let (dag, subset) = (ground.dag, ground.interesting);
    let ends = Ends {
        counted: counted_ends(dag, subset),
        may_leave: may_leave(ground.cfg, dag),
    };
    FunctionCode {
        placement: cheapest(dag, &weights, &ends, ids.numbering(), subset.is_some()),
        table: table(dag, ids.numbering()),
        ids,
        paths,
    }
}

/// The placement that costs the fewest expected hits: increments on the chords of the tree that is heaviest
/// where increments cost something, of the heaviest one, or (for PSPP's labels) where the labels are. O(E log E).
fn cheapest(
    dag: &Dag,
    weights: &[f64],
    ends: &Ends,
    numbering: &Numbering,
    as_they_are: bool,
) -> Placement {
    let labels = &numbering.labels;
    let place = |inc| {
        let increments = Increments {
            dag,
            inc,
            ends: ends.clone(),
            numbering,
        };
        increments.place()
    };
    let trees = [
        SpanningTree::with_free_chords(dag, weights, &ends.free(dag)),
        SpanningTree::maximum(dag, weights),
    ];
    let chords = trees.iter().map(|tree| tree.increments(dag, labels));
    let plain = as_they_are.then(|| labels.iter().map(|&l| l as i64).collect());
    let placements = chords.chain(plain).map(place);
    let cost = |p: &Placement| p.cost(weights);
    let cheapest = placements.min_by(|a, b| cost(a).total_cmp(&cost(b)));
    cheapest.expect("there are at least two")
}

/// The code that counts the edges in `counted`: the `i`-th of them in counter `i`. O(E log E).
fn edge_code(dag: &Dag, counted: &FixedBitSet) -> (Table, Vec<SiteCode>) {
    let site = |e: EdgeId| match dag.edge(e).kind {
        EdgeKind::Real(c) | EdgeKind::BackEdge(c) => Site::Edge(c),
        EdgeKind::Leave => Site::Exit(dag.block(dag.edge(e).src).expect("a block")),
        EdgeKind::Enter | EdgeKind::LoopStart => unreachable!("{e} is not counted"),
    };
    let code = |(i, e)| SiteCode {
        site: site(EdgeId::new(e)),
        ops: vec![Op::CountConst(i as u64)],
    };
    let mut probes: Vec<SiteCode> = counted.ones().enumerate().map(code).collect();
    probes.sort_by_key(|code| code.site);
    let slots = probes.len() as u64;
    (Table::Array { slots }, probes)
}

/// The last edges of the paths to count: an end that no interesting path has needs no count. O(V + E).
fn counted_ends(dag: &Dag, subset: Option<&FixedBitSet>) -> FixedBitSet {
    let wanted = |e: &EdgeId| subset.is_none_or(|set| set.contains(e.index()));
    let mut reached = FixedBitSet::with_capacity(dag.vertices());
    reached.insert(dag.entry().index());
    for v in dag.order() {
        if reached.contains(v.index()) {
            let on = dag.outs(v).filter(wanted);
            reached.extend(on.map(|e| dag.edge(e).dst.index()));
        }
    }
    let mut counted = FixedBitSet::with_capacity(dag.edges().len());
    let ends = dag.ins(dag.exit()).iter().filter(|e| wanted(e));
    let ends = ends.filter(|e| reached.contains(dag.edge(**e).src.index()));
    counted.extend(ends.map(|e| e.index()));
    counted
}

fn may_leave(cfg: &Cfg, dag: &Dag) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(dag.vertices());
    let leaves = |b| cfg.block(b).may_leave;
    set.extend(
        dag.order()
            .filter(|&v| dag.block(v).is_some_and(leaves))
            .map(|v| v.index()),
    );
    set
}

/// The largest sum of labels along any path: others than those of interest are counted too, under ids
/// that PSPP lets them share. O(E).
fn largest_id(dag: &Dag, labels: &[u64]) -> u64 {
    let mut largest = vec![0u64; dag.vertices()];
    for v in dag.order().rev().skip(1) {
        let through = |e: EdgeId| labels[e.index()] + largest[dag.edge(e).dst.index()];
        largest[v.index()] = dag.outs(v).map(through).max().unwrap_or(0);
    }
    largest[dag.entry().index()]
}

fn table(dag: &Dag, numbering: &Numbering) -> Table {
    let ids = largest_id(dag, &numbering.labels) + 1;
    match numbering.window() {
        _ if ids <= MAX_ARRAY_SLOTS => Table::Array { slots: ids },
        Some(slots) => Table::Window { slots, ids },
        None => Table::Hash { ids },
    }
}

/// The plan of one copy. Near-linear in what the copy profiles; functions in parallel.
pub fn copy_plan(
    functions: &[FunctionInput],
    paths: &[Option<FunctionPaths>],
    shares: &[Share],
    copy: CopyId,
) -> CopyPlan {
    let plans = shares.par_iter().enumerate().filter_map(|(i, share)| {
        let edges = match share {
            Share::Whole(c) if *c == copy => None,
            Share::Split(sets) => Some(&sets.iter().find(|(c, _)| *c == copy)?.1),
            _ => return None,
        };
        let paths = paths[i]
            .as_ref()
            .expect("only skipped functions have no paths");
        let (table, probes, versions) = match &paths.counted {
            Some(counted) => {
                let (table, probes) = edge_code(&paths.dag, counted);
                (table, probes, None)
            }
            None => {
                let code = function_code(functions[i].cfg, paths, edges);
                let probes = code.placement.sites(code.dag());
                (code.table, probes, code.into_versions())
            }
        };
        Some(FunctionPlan {
            func: FuncId::new(i),
            versions,
            table,
            entries: share.first() == Some(copy) && paths.may_be_left(functions[i].cfg),
            probes,
        })
    });
    let plan = CopyPlan {
        copy,
        functions: plans.collect(),
    };
    if cfg!(debug_assertions) {
        check::copy(functions, paths, shares, &plan);
    }
    plan
}
