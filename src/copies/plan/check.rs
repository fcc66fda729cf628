//! A proof for every plan that its counts are those of the paths that ran, independent of how code was placed.
//!
//! In the manner of regalloc2's checker: the plan is data, and one pass over the control flow decides whether it
//! does what it must. What it must is what `profile::decode` will ask: the labels and the DAG are those by which a
//! copy's counts are read ([`ids`]), the code is what the plan names, by control-flow edges.
//!
//! # What is proved
//!
//! Call a path *wanted* when all its edges are in the copy's share, else *foreign*, and let `id(π)` be the sum of the
//! labels along `π`. Of every walk from the entry to an exit, or to where control may leave a block in its middle:
//!
//! 1. every wanted path of it that is complete is counted exactly once, under `id(π)`, and one that is not complete
//!    never;
//! 2. a foreign path is counted, if at all, under `id(π)`, which no wanted path has (PSPP), so that decoding drops it;
//! 3. `r` is not read before it is set since the path began, nor after the path was counted;
//! 4. ids lie inside the table; `CountInWindow` has ids below the slots of a table with a window;
//! 5. all code is where control can come by, and versions of blocks are versions of the function's blocks.
//!
//! # How
//!
//! Of all prefixes that lead from ENTRY to a vertex, the wanted ones and the foreign ones apart, a `PrefixState` says
//! what they have in common: whether they are counted, the range of their label sums `s`, and the *potential*
//!
//! ```text
//!     φ(v) = r − s        one number for all of them, or none
//! ```
//!
//! `s += label(e)` on edge `e`, `r = c` gives `φ = c − s` where `s` is one number, and `r += c` adds `c`. From `v` on,
//! `rest(v)` is the sum of the labels up to EXIT where that is the same on all ways. A count on an edge to `v` is right
//! when `rest(v)` exists and
//!
//! ```text
//!     count[r + c]++      φ + c = rest(v)
//!     count[i]++          s is one number, and s + rest(v) = i
//! ```
//!
//! For wanted paths nothing is lost by looking at prefixes together: any wanted prefix of a vertex goes on by any
//! wanted suffix, so if two prefixes differ in whether they are counted, or in `φ` where `r` is read, some path is
//! wrong. For foreign paths the rule is stricter than it would have to be.
//!
//! An edge that ends a path runs two pieces of code, the end of one path and the start of the next. The next path is
//! counted at its start when it is the only one from there: then `rest` of its header exists, and *all* edges that
//! lead to such starts end with `count[id]++` of that path. Else every count on the edge is of the path that ends.
//! (Were the count meant otherwise, another path that comes to the header would be counted under this id.)
//!
//! Where a copy owns ranges of paths, its DAG holds no foreign ones. They go on outside, where there must be no code
//! but that of the next path's start, and no path is counted above the vertex where it may still leave the DAG.
//!
//! Where a copy counts the paths inside or outside a set of edges, the paths of its DAG are those, one to one
//! (`sides`). A part that counts all paths inside a set by labels is proved by 1 and 2 above.
//!
//! O(V + E), once more what numbering costs.

use super::ids::{Ground, Ids, choose_ids};
use super::{CopyPlan, FunctionPlan, Op, Site, Table};
use crate::base::index::{BlockId, CfgEdge, EdgeId, IdSet, TiSlice, TiVec, VertexId};
use crate::copies::partition::{Part, Share};
use crate::input::ir::Cfg;
use crate::paths::dag::{Dag, EdgeKind};
use crate::paths::function::{Counted, FunctionInput, Measuring};
use crate::paths::versions::Versions;
use state::{PrefixState, Prefixes, Register, meet};
use std::fmt;

mod sides;
mod state;

#[cfg(test)]
mod tests;

/// Where a plan is wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    site: Option<Site>,
    what: &'static str,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.site {
            Some(site) => write!(f, "{site}: {}", self.what),
            None => f.write_str(self.what),
        }
    }
}

type Proved<T = ()> = Result<T, Mistake>;

fn mistake<T>(site: impl Into<Option<Site>>, what: &'static str) -> Proved<T> {
    let site = site.into();
    Err(Mistake { site, what })
}

/// Proves all of a copy's plan, given what it was made from. Linear.
///
/// # Panics
/// When a plan is wrong: only we can cause that.
pub(crate) fn copy(
    functions: &[FunctionInput],
    paths: &[Option<Measuring>],
    shares: &[Share],
    plan: &CopyPlan,
) {
    for f in &plan.functions {
        let i = f.func.index();
        let paths = paths[i].as_ref().expect("what is planned has paths");
        let part = shares[i]
            .part_of_copy(plan.copy)
            .expect("the copy has a part");
        if let Err(mistake) = function(functions[i].cfg, paths, part, f) {
            let text = f.text("the function");
            panic!("{mistake} (copy {}, function {i})\n{text}", plan.copy);
        }
    }
}

/// Proves the plan of a function with control flow `cfg` for the paths in `part`, or, where edges are counted, that
/// each has its counter. Linear.
pub(crate) fn function(cfg: &Cfg, paths: &Measuring, part: Part, plan: &FunctionPlan) -> Proved {
    well_formed(plan)?;
    if let Counted::Edges(counted) = &paths.counted {
        return edge_counters(&paths.dag, counted, plan);
    }
    let ids = choose_ids(cfg, paths, part);
    let ground = ids.ground_of_ids(cfg, paths, part);
    if plan.versions.as_deref() != ground.versions {
        return mistake(None, "decoding does not know these versions");
    }
    if let Some(versions) = ground.versions {
        versions_of(cfg, versions)?;
    }
    match (part, &ids) {
        (Part::Side(side), Ids::Local(local)) => sides::selection(cfg, paths, local, side)?,
        (Part::Ranges(ranges, copy), Ids::Local(local)) => {
            sides::ranges(paths, local, ranges, copy)?;
        }
        _ => {}
    }
    Proof::new(&ground, &ids, plan).run()
}

fn well_formed(plan: &FunctionPlan) -> Proved {
    let sorted = plan.probes.is_sorted_by(|a, b| a.site < b.site);
    if sorted && plan.probes.iter().all(|code| !code.ops.is_empty()) {
        Ok(())
    } else {
        mistake(None, "sites are not sorted, or without code")
    }
}

/// Each counted edge has the counter of its position, and nothing else is there.
fn edge_counters(dag: &Dag, counted: &IdSet<EdgeId>, plan: &FunctionPlan) -> Proved {
    let mut counters = 0;
    for (i, e) in counted.iter().enumerate() {
        let Some(site) = site(dag, e) else {
            return mistake(None, "the start of a path is counted");
        };
        if plan.ops(site) != [Op::CountConst(i as u64)] {
            return mistake(site, "is not counted in its counter");
        }
        counters += 1;
    }
    let fits = plan.table == Table::Array { slots: counters };
    if fits && plan.probes.len() as u64 == counters && plan.versions.is_none() {
        Ok(())
    } else {
        mistake(None, "there is more than the counters of edges")
    }
}

/// Every version of a block is that block, and every edge leads to a version of its target.
fn versions_of(cfg: &Cfg, versions: &Versions) -> Proved {
    let own = versions.origin.iter().take(cfg.len());
    let mut right = own.copied().eq(cfg.ids()) && versions.origin.len() == versions.cfg.len();
    for (block, origin) in versions.cfg.blocks.iter().zip(&versions.origin) {
        let mut again = block.clone();
        for to in &mut again.succs {
            *to = versions.origin[*to];
        }
        right &= again == *cfg.block(*origin);
    }
    if right {
        Ok(())
    } else {
        mistake(None, "a version of a block is not that block")
    }
}

/// Where the code of a DAG edge is; `None` for the start of a path behind a back edge, whose code is on back edges.
fn site(dag: &Dag, e: EdgeId) -> Option<Site> {
    match dag.edge(e).kind {
        EdgeKind::Enter => Some(Site::Entry),
        EdgeKind::Real(c) | EdgeKind::BackEdge(c) => Some(Site::Edge(c)),
        EdgeKind::Leave => Some(Site::Exit(dag.block(dag.edge(e).src)?)),
        EdgeKind::LoopStart => None,
    }
}

struct Proof<'a> {
    cfg: &'a Cfg,
    dag: &'a Dag,
    labels: &'a TiSlice<EdgeId, u64>,
    plan: &'a FunctionPlan,
    /// The edges of wanted paths.
    wanted: IdSet<EdgeId>,
    /// By vertex: the sum of the labels from there to EXIT, where all ways agree.
    rest: TiVec<VertexId, Option<u64>>,
    /// The vertices from which every way on stays on `wanted` edges.
    closed: IdSet<VertexId>,
    /// By edge from ENTRY: whether the path is counted before its first block.
    counted_at_start: IdSet<EdgeId>,
    /// The vertices from which a path may yet turn out another copy's, and go on outside the DAG.
    open: Option<&'a IdSet<VertexId>>,
    /// The edges that end paths outside the DAG, and where the next one begins.
    foreign_ends: &'a [(CfgEdge, BlockId)],
    /// By vertex: what leads to it.
    at: TiVec<VertexId, Prefixes>,
}

impl<'a> Proof<'a> {
    fn new(ground: &Ground<'a>, ids: &'a Ids, plan: &'a FunctionPlan) -> Self {
        let dag = ground.dag;
        let labels = &ids.numbering().labels;
        // All of this is computed from definitions, not taken from what made the plan: an error there must not be
        // repeated here.
        let wanted = find_edges_inside(dag, ground.interesting);
        let rest = sum_remaining_labels(dag, labels);
        let ends = ground.foreign_ends.iter().copied().chain(own_ends(dag));
        let counted_at_start = counted_at_start(dag, labels, &rest, ends, plan);
        Proof {
            cfg: ground.cfg,
            closed: find_closed_vertices(dag, &wanted),
            open: ground.open,
            foreign_ends: ground.foreign_ends,
            counted_at_start,
            at: dag.by_vertex(Prefixes::default()),
            dag,
            labels,
            plan,
            wanted,
            rest,
        }
    }

    fn run(mut self) -> Proved {
        let mut sites = self.check_starts()?;
        // In topological order, so that all prefixes that lead to a vertex are joined before one goes on from there:
        // paths are not enumerated, and the proof is linear.
        for v in self.dag.order().skip(1) {
            self.may_leave(v)?;
            for e in self.dag.out_edges(v) {
                self.take_edge(v, e)?;
                let site = site(self.dag, e).expect("no start of a path");
                sites += usize::from(!self.plan.ops(site).is_empty());
            }
        }
        // Code elsewhere would run between the sites that were looked at, and was proved by none.
        if sites == self.plan.probes.len() {
            Ok(())
        } else {
            mistake(None, "there is code where control never comes by")
        }
    }

    /// The starts of all paths: the entry, and behind each edge that ends a path. How many sites outside the DAG's
    /// edges have code.
    fn check_starts(&mut self) -> Proved<usize> {
        let dag = self.dag;
        let mut sites = 0;
        let first = EdgeId(0); // of paths that begin at the entry, unless all of them are foreign
        if dag.edge(first).kind == EdgeKind::Enter {
            self.start(first, Site::Entry, self.plan.ops(Site::Entry))?;
            sites += usize::from(!self.plan.ops(Site::Entry).is_empty());
        }
        for &e in dag.ins(dag.exit()) {
            if let EdgeKind::BackEdge(c) = dag.edge(e).kind
                && let Some(next) = dag.loop_start(dag.back_target(e))
            {
                self.start(next, Site::Edge(c), self.split_at_end(e).1)?;
            }
        }
        for &(c, to) in self.foreign_ends {
            if let Some(next) = dag.loop_start(to) {
                let ops = self.plan.ops(Site::Edge(c));
                self.start(next, Site::Edge(c), ops)?;
                sites += usize::from(!ops.is_empty());
            }
        }
        Ok(sites)
    }

    fn start(&mut self, e: EdgeId, site: Site, ops: &[Op]) -> Proved {
        let mut prefixes = Prefixes::default();
        if self.wanted.contains(e) {
            prefixes.wanted = Some(PrefixState::START);
        } else {
            prefixes.foreign = Some(PrefixState::START);
        }
        self.run_code(prefixes, e, site, ops)
    }

    /// Over edge `e` from `v`.
    fn take_edge(&mut self, v: VertexId, e: EdgeId) -> Proved {
        let mut prefixes = self.at[v];
        if !self.wanted.contains(e) {
            // Behind an edge of no wanted path, what was wanted until here is foreign.
            prefixes.foreign = meet(prefixes.foreign, prefixes.wanted.take());
        }
        let site = site(self.dag, e).expect("only ENTRY has starts of paths");
        match self.dag.edge(e).kind {
            EdgeKind::BackEdge(_) => self.run_code(prefixes, e, site, self.split_at_end(e).0),
            _ => self.run_code(prefixes, e, site, self.plan.ops(site)),
        }
    }

    /// The code of an edge that ends a path: of the path that ends, and of the next one's start.
    fn split_at_end(&self, e: EdgeId) -> (&'a [Op], &'a [Op]) {
        let site = site(self.dag, e).expect("an end of a path");
        let next = self.dag.loop_start(self.dag.back_target(e));
        let ops = self.plan.ops(site);
        let Some(next) = next else {
            return (ops, &[]); // a foreign path begins
        };
        let Some(last) = ops.iter().rposition(|op| op.counts()) else {
            return (&[], ops);
        };
        // One list of code for two paths: the last count is of the path that ends, unless the next one is counted at
        // its start, whose count is the last then.
        let of_next = self.counted_at_start.contains(next);
        ops.split_at(last + usize::from(!of_next))
    }

    /// Runs the code of edge `e` and arrives behind it.
    fn run_code(&mut self, prefixes: Prefixes, e: EdgeId, site: Site, ops: &[Op]) -> Proved {
        let to = self.dag.edge(e).dst;
        let label = self.labels[e];
        let mut behind = Prefixes::default();
        if let Some(state) = prefixes.wanted {
            let state = self.execute(state.after_edge(label), site, ops, to)?;
            if to == self.dag.exit() && !state.counted {
                return mistake(site, "a path ends here that is not counted");
            }
            if state.counted && !self.closed.contains(to) {
                return mistake(site, "a path is counted that may become another copy's");
            }
            behind.wanted = Some(state);
        }
        if let Some(state) = prefixes.foreign {
            // How often a foreign path is counted does not matter: nobody reads it.
            let mut state = self.execute(state.after_edge(label), site, ops, to)?;
            state.counted = false;
            behind.foreign = Some(state);
        }
        match self.at[to].add(behind) {
            Some(()) => Ok(()),
            None => mistake(site, "paths meet behind it, of which only some are counted"),
        }
    }

    fn execute(
        &self,
        mut state: PrefixState,
        site: Site,
        ops: &[Op],
        to: VertexId,
    ) -> Proved<PrefixState> {
        for &op in ops {
            match (op, state.register) {
                (Op::Set(c), _) => state.set(c),
                (Op::CountConst(_), _) => {}
                (_, Register::Unset) => return mistake(site, "r is read before it is set"),
                (Op::Add(c), Register::Potential(p)) => {
                    state.register = Register::Potential(p.wrapping_add(c));
                }
                _ => {}
            }
            if op.counts() {
                self.count(state, op, site, to)?;
                state.counted = true;
                // Emitted code may reuse the register from here on, so reading it again is a mistake even if the
                // value is right.
                state.register = Register::Unset;
            }
        }
        Ok(state)
    }

    /// Whether `op`, on an edge to `to`, counts paths with these prefixes under their ids.
    fn count(&self, state: PrefixState, op: Op, site: Site, to: VertexId) -> Proved {
        if state.counted {
            return mistake(site, "a path is counted twice");
        }
        let Some(rest) = self.rest[to] else {
            return mistake(site, "a path is counted before it is known which");
        };
        // All labels behind are the same sum, so the ids of all paths with this prefix are in this range.
        let (least, most) = (state.least + rest, state.most + rest);
        let is_id = match (op, state.register) {
            (Op::CountConst(id), _) => least == id && most == id,
            (Op::Count(c) | Op::CountInWindow(c), Register::Potential(p)) => {
                p.wrapping_add(c) == rest as i64
            }
            _ => false,
        };
        let fits = match (self.plan.table, op) {
            (Table::Window { slots, .. }, Op::CountInWindow(_)) => most < slots,
            (Table::Window { ids, .. }, Op::Count(_)) => most < ids,
            (Table::Hash { .. }, Op::CountInWindow(_)) => false,
            (table, _) => most < table.ids(),
        };
        match (is_id, fits) {
            (false, _) => mistake(site, "the id is not the path's"),
            (_, false) => mistake(site, "the id is in another part of the table, or outside"),
            _ => Ok(()),
        }
    }

    /// A path that control may leave in block `v`, or that may turn out foreign behind it, must not be counted yet.
    fn may_leave(&self, v: VertexId) -> Proved {
        let open = self.open.is_some_and(|open| open.contains(v));
        let leaves = |b: BlockId| open || self.cfg.block(b).may_leave;
        let counted = self.at[v].wanted.is_some_and(|s| s.counted);
        match self.dag.block(v).filter(|&b| counted && leaves(b)) {
            Some(b) => mistake(
                Site::Exit(b),
                "a path is counted that may be left in this block",
            ),
            None => Ok(()),
        }
    }
}

/// The edges of paths that lie inside `edges` (`None`: of all paths). O(V + E).
fn find_edges_inside(dag: &Dag, edges: Option<&IdSet<EdgeId>>) -> IdSet<EdgeId> {
    let inside = |e: &EdgeId| edges.is_none_or(|set| set.contains(*e));
    let (mut reached, mut leads_on) = (dag.by_vertex(false), dag.by_vertex(false));
    reached[dag.entry()] = true;
    leads_on[dag.exit()] = true;
    for e in dag.edge_ids().filter(inside) {
        reached[dag.edge(e).dst] |= reached[dag.edge(e).src];
    }
    for e in dag.edge_ids().rev().filter(inside) {
        leads_on[dag.edge(e).src] |= leads_on[dag.edge(e).dst];
    }
    let mut wanted = dag.edge_set();
    for e in dag.edge_ids().filter(inside) {
        let edge = dag.edge(e);
        wanted.set(e, reached[edge.src] && leads_on[edge.dst]);
    }
    wanted
}

/// The vertices from which every way to EXIT stays inside `wanted`. O(V + E).
fn find_closed_vertices(dag: &Dag, wanted: &IdSet<EdgeId>) -> IdSet<VertexId> {
    let mut closed = IdSet::with_all(dag.vertices());
    for e in dag.edge_ids().rev() {
        let edge = dag.edge(e);
        if !(wanted.contains(e) && closed.contains(edge.dst)) {
            closed.remove(edge.src);
        }
    }
    closed
}

/// By vertex: the sum of the labels from there to EXIT, where it is the same on all ways. O(V + E).
fn sum_remaining_labels(dag: &Dag, labels: &TiSlice<EdgeId, u64>) -> TiVec<VertexId, Option<u64>> {
    dag.fold_from_exit(Some(0), |v, rest| {
        let through = |e: EdgeId| Some(labels[e] + rest[dag.edge(e).dst]?);
        let mut ways = dag.out_edges(v).map(through);
        let first = ways.next().expect("only EXIT has no way on");
        first.filter(|_| ways.all(|way| way == first))
    })
}

/// The edges that end paths of `dag`, and where the next one begins.
fn own_ends(dag: &Dag) -> impl Iterator<Item = (CfgEdge, BlockId)> + '_ {
    let ends = dag.ins(dag.exit()).iter();
    ends.filter_map(|&e| match dag.edge(e).kind {
        EdgeKind::BackEdge(c) => Some((c, dag.back_target(e))),
        _ => None,
    })
}

/// The starts of paths that are counted there: see the end of the module's documentation. `ends` are the edges that end
/// paths, and where the next one begins. O(V + E).
fn counted_at_start(
    dag: &Dag,
    labels: &TiSlice<EdgeId, u64>,
    rest: &TiSlice<VertexId, Option<u64>>,
    ends: impl Iterator<Item = (CfgEdge, BlockId)>,
    plan: &FunctionPlan,
) -> IdSet<EdgeId> {
    let mut starts = dag.edge_set();
    starts.extend(dag.out_edges(dag.entry()));
    for (c, to) in ends {
        let Some(next) = dag.loop_start(to) else {
            continue;
        };
        let rest = rest[dag.edge(next).dst];
        let id = rest.map(|rest| Op::CountConst(labels[next] + rest));
        let last = plan.ops(Site::Edge(c)).iter().rfind(|op| op.counts());
        if last.is_none() || last.copied() != id {
            starts.remove(next);
        }
    }
    starts
}
