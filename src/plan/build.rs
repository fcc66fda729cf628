//! Shares → plans: numbering, placement and table of every function of a copy.

use super::place::{Increments, Placement};
use super::{CopyPlan, FunctionPlan, Op, Site, SiteCode, Table};
use crate::dag::{Dag, EdgeKind};
use crate::index::{CopyId, EdgeId, FuncId};
use crate::ir::Cfg;
use crate::numbering::{Numbering, pspp};
use crate::partition::{FunctionInput, FunctionPaths, Share};
use crate::spantree::SpanningTree;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;

/// Functions with at most this many path ids count in an array, others in a hash table.
pub const MAX_ARRAY_SLOTS: u64 = 1 << 14;

/// How one copy profiles one function.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    /// The ids this copy counts under; `None`: the canonical ones.
    pub numbering: Option<Numbering>,
    /// The statements.
    pub placement: Placement,
    /// Where the counts go.
    pub table: Table,
}

/// The code for the paths inside `edges` (`None`, or a full set: all paths). O(E log E).
///
/// All paths: Ball–Larus labels, spanning-tree placement. A subset: PSPP labels, placed as they
/// are or over the spanning tree, whichever costs fewer expected hits (spec §4).
pub fn function_code(
    cfg: &Cfg,
    paths: &FunctionPaths,
    edges: Option<&FixedBitSet>,
) -> FunctionCode {
    let dag = &paths.dag;
    let subset = edges.filter(|set| !set.is_full());
    let numbering = subset.map(|set| pspp(dag, set));
    let labels = &numbering.as_ref().unwrap_or(&paths.numbering).labels;
    let place = |inc| {
        let counted = counted_ends(dag, subset);
        Increments {
            dag,
            inc,
            counted,
            may_leave: may_leave(cfg, dag),
        }
        .place()
    };
    let tree = SpanningTree::maximum(dag, &paths.weights);
    let mut placement = place(tree.increments(dag, labels));
    if subset.is_some() {
        let plain = place(labels.iter().map(|&l| l as i64).collect());
        if plain.cost(&paths.weights) < placement.cost(&paths.weights) {
            placement = plain;
        }
    }
    let table = table(largest_id(dag, labels) + 1);
    FunctionCode {
        numbering,
        placement,
        table,
    }
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

/// The last edges of the paths to count: an end that no interesting path has needs no count.
fn counted_ends(dag: &Dag, subset: Option<&FixedBitSet>) -> FixedBitSet {
    let mut counted = FixedBitSet::with_capacity(dag.edges().len());
    let wanted = |e: &usize| subset.is_none_or(|set| set.contains(*e));
    counted.extend(dag.ins(dag.exit()).iter().map(|e| e.index()).filter(wanted));
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

fn table(ids: u64) -> Table {
    if ids <= MAX_ARRAY_SLOTS {
        Table::Array { slots: ids }
    } else {
        Table::Hash { ids }
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
        let (table, probes) = match &paths.counted {
            Some(counted) => edge_code(&paths.dag, counted),
            None => {
                let code = function_code(functions[i].cfg, paths, edges);
                (code.table, code.placement.sites(&paths.dag))
            }
        };
        Some(FunctionPlan {
            func: FuncId::new(i),
            table,
            entries: share.first() == Some(copy) && paths.may_be_left(functions[i].cfg),
            probes,
        })
    });
    CopyPlan {
        copy,
        functions: plans.collect(),
    }
}
