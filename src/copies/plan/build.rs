//! Shares → plans: numbering, placement and table of every function of a copy.

use super::branches::{Branch, weigh_branches};
use super::check;
use super::forks;
use super::ids::{Ground, Ids, choose_ids};
use super::place::{CountCosts, Ends, Increments, Placement};
use super::{CopyPlan, FunctionPlan, HASH_INSTRUCTIONS, Op, Site, SiteCode, Table};
use crate::base::index::{
    BlockId, CopyId, CounterId, EdgeId, FuncId, IdSet, TiSlice, TiVec, VertexId,
};
use crate::copies::partition::{Part, Share};
use crate::input::ir::{Cfg, Terminator};
use crate::paths::dag::{Dag, EdgeKind};
use crate::paths::edges::edges_by_counter;
use crate::paths::function::{Counted, FunctionInput, Measuring};
use crate::paths::numbering::{Numbering, largest_rests};
use crate::paths::spantree::SpanningTree;
use crate::paths::versions::Versions;
use crate::paths::weights::Weights;
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// How one copy profiles one function.
#[derive(Clone, Debug)]
pub(crate) struct FunctionCode<'a> {
    /// The ids this copy counts under.
    pub ids: Ids<'a>,
    /// The statements, on the edges of the DAG that the code is placed on.
    pub placement: Placement,
    /// Where the counts go.
    pub table: Table,
    paths: &'a Measuring,
    /// Expected executions of the edges that the ids are about.
    weights: Cow<'a, Weights>,
    /// Expected instructions of the statements, by the function's own weights.
    cost: f64,
}

impl FunctionCode<'_> {
    /// The versions of the function's blocks, if it has any.
    fn into_versions(self) -> Option<Arc<Versions>> {
        match self.ids {
            Ids::Local(local) => Some(Arc::new(local.versions)),
            _ => None,
        }
    }

    /// Whether blocks exist several times.
    pub(crate) fn has_versions(&self) -> bool {
        matches!(self.ids, Ids::Local(_))
    }

    /// The statements that run along the path `edges` of the function's DAG: none where it is foreign and runs free.
    #[cfg(test)]
    pub(crate) fn hits(&self, edges: &[EdgeId]) -> u64 {
        match &self.ids {
            Ids::Local(local) => local.path(edges).map_or(0, |p| self.placement.hits(&p)),
            _ => self.placement.hits(edges),
        }
    }

    /// Expected instructions of its statements, by the function's own weights ([`FunctionCode::instructions`]).
    pub(crate) fn cost(&self) -> f64 {
        self.cost
    }

    /// The instructions of all statements that run along the path `edges` of the function's DAG, about: a count in a
    /// hash table takes 14, other statements one.
    pub(crate) fn instructions(&self, edges: &[EdgeId]) -> u64 {
        let path = match &self.ids {
            Ids::Local(local) => local.path(edges).unwrap_or_default(),
            _ => edges.to_vec(),
        };
        let ops = path.iter().filter_map(|e| self.placement.code[*e]);
        ops.map(|op| self.instructions_of(op)).sum()
    }

    /// The instructions of one of its statements, about.
    pub(crate) fn instructions_of(&self, op: Op) -> u64 {
        instructions(self.table, op)
    }

    /// The blocks of [`FunctionPlan::mostly_in_window`]; none if its table has no window. O(V + E).
    fn find_blocks_mostly_in_window(&self, ground: &Ground) -> IdSet<BlockId> {
        if !matches!(self.table, Table::Window { .. }) {
            return IdSet::with_capacity(0);
        }
        let dag = ground.dag;
        // Of the counts that read the register at a vertex, the part that goes to the hash table.
        let parts: TiVec<VertexId, Option<f64>> = dag.fold_from_exit(None, |v, parts| {
            let (mut hashed, mut all) = (0.0, 0.0);
            for e in dag.out_edges(v) {
                let part = match self.placement.code[e] {
                    Some(Op::Count(_)) => Some(1.0),
                    Some(Op::CountInWindow(_)) => Some(0.0),
                    Some(Op::CountConst(_) | Op::Set(_)) => None,
                    Some(Op::Add(_)) | None => parts[dag.edge(e).dst],
                };
                if let Some(part) = part {
                    hashed += self.weights[e] * part;
                    all += self.weights[e];
                }
            }
            (all > 0.0).then(|| hashed / all)
        });
        let mostly = parts
            .iter_enumerated()
            .filter(|(_, part)| part.is_some_and(|part| part < 0.5));
        let mut blocks = IdSet::with_capacity(ground.cfg.len());
        blocks.extend(mostly.filter_map(|(v, _)| dag.block(v)));
        blocks
    }

    /// The code by site.
    fn sites(&self) -> Vec<SiteCode> {
        match &self.ids {
            Ids::Local(local) => self.placement.sites(&local.dag, &local.foreign_ends),
            _ => self.placement.sites(&self.paths.dag, &[]),
        }
    }
}

/// The code for the paths in `part`, placed where it costs the fewest expected hits. O(E log E).
pub(crate) fn function_code<'a>(cfg: &Cfg, paths: &'a Measuring, part: Part) -> FunctionCode<'a> {
    // Labels, whose sums along paths are their ids.
    let ids = choose_ids(cfg, paths, part);
    let (ground, numbering) = (ids.ground_of_ids(cfg, paths, part), ids.numbering());
    let (dag, labels) = (ground.dag, &numbering.labels);
    let own_weights = ids.weights(paths);
    let joined = edges_joined_at_jumps(ground.cfg, dag);
    let weights = if joined.is_empty() {
        Cow::Borrowed(&*own_weights)
    } else {
        Cow::Owned(weigh_as_jumps(dag, &own_weights, &joined))
    };
    // Trees: the heaviest by what increments cost, and by weight. The first is a copy's own, because what costs nothing
    // depends on which paths it counts. The second is the function's, but of copies whose DAG is their own.
    let ends = Ends::new(&ground);
    let all = match &ids {
        Ids::Canonical(_) | Ids::Own(_) if joined.is_empty() => Cow::Borrowed(paths.tree()),
        _ => Cow::Owned(SpanningTree::maximum(dag, &weights)),
    };
    let (total, slots) = (largest_id(dag, labels) + 1, paths.array_slots());
    let counts = CountCosts::new(numbering, total, slots);
    let mut costs = ends.costs_of_increments(dag, &weights, &counts);
    for e in joined.iter() {
        costs[e] = weights[e];
    }
    let by_costs = SpanningTree::maximum(dag, &costs);
    let trees = [&by_costs, &*all];
    // Increments with the sums of the labels: on the chords of a tree, or the labels of a subset, many of which are 0.
    let on_chords = trees.iter().map(|t| t.increments(dag, labels));
    let as_labels = ground.interesting.map(|_| as_increments(labels));
    // Counts lifted, and statements.
    let placements = on_chords.chain(as_labels).map(|inc| {
        let ends = ends.clone();
        let increments = Increments {
            dag,
            inc,
            ends,
            numbering,
        };
        increments.place()
    });
    let costs = placements.map(|p| (p.cost(&weights, &counts), p));
    let cheapest = costs.min_by(|(a, _), (b, _)| a.total_cmp(b));
    let (_, placement) = cheapest.expect("there are two trees");
    // The table, for all sums that can come up.
    let table = table(total, numbering, &placement, slots);
    let statements = placement.code.iter().zip(weights.iter());
    let cost =
        statements.filter_map(|(op, weight)| Some(weight * instructions(table, (*op)?) as f64));
    let cost = cost.sum();
    FunctionCode {
        ids,
        placement,
        table,
        paths,
        weights: own_weights,
        cost,
    }
}

/// The edges of `indirectbr`s to targets that other edges lead to as well. They cannot be split, so their statements
/// stand in front of the jump, whichever way it goes. O(V + E) if there is such a jump, otherwise O(V).
fn edges_joined_at_jumps(cfg: &Cfg, dag: &Dag) -> IdSet<EdgeId> {
    let mut joined = dag.edge_set();
    let is_jump = |b: BlockId| cfg.block(b).terminator == Terminator::IndirectBr;
    if !cfg.ids().any(is_jump) {
        return joined;
    }
    let ins = cfg.incoming_edges();
    joined.extend(dag.edge_ids().filter(|e| match dag.edge(*e).kind {
        EdgeKind::Real(c) | EdgeKind::BackEdge(c) => {
            is_jump(c.block) && ins[cfg.target(c)].len() > 1
        }
        _ => false,
    }));
    joined
}

/// Expected executions of statements on edges: on a `joined` one as often as its jump runs.
fn weigh_as_jumps(dag: &Dag, weights: &Weights, joined: &IdSet<EdgeId>) -> Weights {
    let mut jumps = dag.by_vertex(0.0);
    for (e, weight) in weights.iter_enumerated() {
        jumps[dag.edge(e).src] += weight;
    }
    let weigh = |e: EdgeId| {
        if joined.contains(e) {
            jumps[dag.edge(e).src]
        } else {
            weights[e]
        }
    };
    dag.edge_ids().map(weigh).collect()
}

fn as_increments(labels: &TiSlice<EdgeId, u64>) -> TiVec<EdgeId, i64> {
    labels.iter().map(|&label| label as i64).collect()
}

/// What a statement takes, about.
fn instructions(table: Table, op: Op) -> u64 {
    if table.hashes_op(op) {
        HASH_INSTRUCTIONS
    } else {
        1
    }
}

/// The largest sum of labels along any path: others than those of interest are counted too, under ids
/// that PSPP lets them share. O(E).
fn largest_id(dag: &Dag, labels: &TiSlice<EdgeId, u64>) -> u64 {
    largest_rests(dag, labels)[dag.entry()]
}

/// For so many `ids`: an array of `slots` at most, if that is enough.
fn table(ids: u64, numbering: &Numbering, placement: &Placement, slots: u64) -> Table {
    if ids <= slots {
        return Table::Array { slots: ids };
    }
    let in_window = placement
        .code
        .iter_enumerated()
        .filter_map(|(e, op)| match op {
            Some(Op::CountInWindow(_)) => numbering.window_up_to(e),
            _ => None,
        });
    match in_window.max() {
        Some(slots) => Table::Window { slots, ids },
        None => Table::Hash { ids },
    }
}

/// The plan of one copy. Near-linear in what the copy profiles; functions in parallel.
pub(crate) fn copy_plan(
    functions: &[FunctionInput],
    paths: &[Option<Measuring>],
    shares: &[Share],
    copy: CopyId,
) -> CopyPlan {
    let plans = shares.par_iter().enumerate().filter_map(|(i, share)| {
        let part = share.part_of_copy(copy)?;
        let (cfg, paths) = (functions[i].cfg, paths[i].as_ref());
        let paths = paths.expect("only skipped functions have no paths");
        let Counting {
            versions,
            table,
            mostly_in_window,
            probes,
            branches,
        } = match &paths.counted {
            Counted::Edges(counted) => count_edges(cfg, paths, counted),
            Counted::Paths => count_paths(cfg, paths, part),
        };
        Some(FunctionPlan {
            func: FuncId::new(i),
            own_order: Arc::clone(&paths.shape.order),
            versions,
            table,
            mostly_in_window,
            // Of some paths only, entries say nothing.
            entries: share.first_copy() == Some(copy)
                && share.counts_all(&paths.dag)
                && paths.may_be_left(cfg),
            forks: forks::count_counters(cfg, !paths.cuts.is_empty()),
            probes,
            branches,
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

/// How a copy counts in one function.
struct Counting {
    versions: Option<Arc<Versions>>,
    table: Table,
    mostly_in_window: IdSet<BlockId>,
    probes: Vec<SiteCode>,
    branches: Vec<Branch>,
}

/// Counts the paths in `part`.
fn count_paths(cfg: &Cfg, paths: &Measuring, part: Part) -> Counting {
    let code = function_code(cfg, paths, part);
    Counting {
        table: code.table,
        mostly_in_window: code
            .find_blocks_mostly_in_window(&code.ids.ground_of_ids(cfg, paths, part)),
        probes: code.sites(),
        branches: weigh_branches(cfg, paths, code.ids.version_ids(), &code.weights),
        versions: code.into_versions(),
    }
}

/// Counts the edges in `counted`: the `i`-th of them in counter `i`. O(E log E).
fn count_edges(cfg: &Cfg, paths: &Measuring, counted: &IdSet<EdgeId>) -> Counting {
    let dag = &paths.dag;
    let site = |e: EdgeId| match dag.edge(e).kind {
        EdgeKind::Real(c) | EdgeKind::BackEdge(c) => Site::Edge(c),
        EdgeKind::Leave => Site::Exit(dag.block(dag.edge(e).src).expect("a block")),
        EdgeKind::Enter | EdgeKind::LoopStart => unreachable!("{e} is not counted"),
    };
    let code = |(counter, e): (CounterId, EdgeId)| SiteCode {
        site: site(e),
        ops: vec![Op::CountConst(u64::from(counter.0))],
    };
    let counters = edges_by_counter(counted).into_iter_enumerated();
    let mut probes: Vec<SiteCode> = counters.map(code).collect();
    probes.sort_by_key(|code| code.site);
    let slots = probes.len() as u64;
    Counting {
        versions: None,
        table: Table::Array { slots },
        mostly_in_window: IdSet::with_capacity(0),
        probes,
        branches: weigh_branches(cfg, paths, None, &paths.weights),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::dag::Order;
    use crate::paths::random_cfg::cfg;

    /// Block 1 jumps to block 2, which it alone leads to, and to block 3, as block 2 does.
    #[test]
    fn joined_edge_of_jump_weighs_as_jump() {
        let mut graph = cfg(&[&[1], &[2, 3], &[3], &[]]);
        let joined = |graph: &Cfg| {
            let dag = Dag::in_order(graph, &Order::new(graph), &[]);
            let joined = edges_joined_at_jumps(graph, &dag);
            let target = |e: EdgeId| (dag.block(dag.edge(e).src), dag.block(dag.edge(e).dst));
            let weights: Weights = dag.edge_ids().map(|e| f64::from(e.0 + 1)).collect();
            let weighed = weigh_as_jumps(&dag, &weights, &joined);
            let all = dag.edge_ids().filter(|e| joined.contains(*e));
            let sum = |e: EdgeId| {
                dag.out_edges(dag.edge(e).src)
                    .map(|e| weights[e])
                    .sum::<f64>()
            };
            let rest = dag.edge_ids().filter(|e| !joined.contains(*e));
            assert!(rest.into_iter().all(|e| weighed[e] == weights[e]));
            all.map(|e| (target(e), weighed[e] == sum(e)))
                .collect::<Vec<_>>()
        };
        assert_eq!(joined(&graph), []);
        graph.blocks[BlockId(1)].terminator = Terminator::IndirectBr;
        let edge = (Some(BlockId(1)), Some(BlockId(3)));
        assert_eq!(joined(&graph), [(edge, true)]);
    }
}
