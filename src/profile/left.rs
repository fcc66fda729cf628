//! How often blocks and edges ran, activations that were left before their end included.
//!
//! The rule, in every scheme: a block counts each time control enters it, an edge each time control takes it,
//! whatever happens afterwards. A path that `exit`, `longjmp`, an exception or the end of the process left
//! before its end is no path: it has no id and no count. Of what ran on it this much is known:
//!
//! - A profile of paths knows how many were left of those begun at each start, the entry or a loop header: as
//!   many as were begun there and not completed. Control may have left only blocks that say so
//!   ([`crate::input::ir::Block::may_leave`]), and went there from the start. What lies on every such way ran on all
//!   of them, and counts. What lies on some way may have run: the count is the least, and the most is given.
//! - A profile of edges counted what it counts as it ran. Other counts follow from Kirchhoff's law, which those
//!   left in a block break: they may be off by as many as were left in all.
//! - A forked child begins in the middle of its parent's activations ([`super::forks`]): [`forked`] bounds what that
//!   adds.
//! - Where `setjmp` may return again a path holds what ran before it once more, and nothing follows from paths.
//!   A profile of edges counts all edges there.

use super::flow::{EdgeCount, Evidence, Flow, by_edge};
use super::verdict::Processes;
use super::verify::is_checkable;
use super::{Profile, Structure};
use crate::base::index::{BlockId, EdgeId, FuncId, IdSet, TiVec, VertexId};
use crate::copies::selection::CountedPaths;
use crate::paths::dag::Dag;
use children::{find_forks, find_more_returns};
use std::collections::BTreeMap;

mod children;
mod forked;
#[cfg(test)]
mod tests;

/// For at most this many starts at which paths were left, what is certain is found for each, in linear time; of paths
/// left from further ones it is only known that they entered their blocks.
const EACH: usize = 64;

/// An execution count, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// What to show: the least, or where counts may be off in both directions, the best guess.
    pub count: u64,
    /// Not fewer.
    pub least: u64,
    /// Not more.
    pub most: u64,
}

impl Range {
    /// A count that is known.
    pub fn exact(count: u64) -> Range {
        Range {
            count,
            least: count,
            most: count,
        }
    }

    /// A count that other executions may add to.
    pub fn at_least(count: u64) -> Range {
        Range {
            count,
            least: count,
            most: u64::MAX,
        }
    }

    fn range_around(count: u64, off: u64) -> Range {
        Range {
            count,
            least: count.saturating_sub(off),
            most: count.saturating_add(off),
        }
    }

    /// Adds executions: `sure` ones, and in all at most `possible`.
    fn add(&mut self, sure: u64, possible: u64) {
        self.count = self.count.saturating_add(sure);
        self.least = self.count;
        self.most = self.most.saturating_add(possible);
    }

    /// Whether the count is known.
    pub fn is_exact(self) -> bool {
        self.least == self.most
    }

    /// Whether nobody knows if it was more than zero, whatever the best guess is.
    pub fn may_have_run(self) -> bool {
        self.least == 0 && self.most > 0
    }

    /// The larger of two.
    pub fn larger_bounds(self, other: Range) -> Range {
        Range {
            count: self.count.max(other.count),
            least: self.least.max(other.least),
            most: self.most.max(other.most),
        }
    }

    /// The smaller of two.
    fn smaller_bounds(self, other: Range) -> Range {
        Range {
            count: self.count.min(other.count),
            least: self.least.min(other.least),
            most: self.most.min(other.most),
        }
    }

    /// The sum of two.
    pub fn plus(self, other: Range) -> Range {
        Range {
            count: self.count.saturating_add(other.count),
            least: self.least.saturating_add(other.least),
            most: self.most.saturating_add(other.most),
        }
    }

    /// Without executions that are known.
    pub fn without_known(self, known: u64) -> Range {
        Range {
            count: self.count.saturating_sub(known),
            least: self.least.saturating_sub(known),
            most: self.most.saturating_sub(known),
        }
    }

    /// Whether both allow a number.
    pub fn overlaps(self, other: Range) -> bool {
        self.least <= other.most && other.least <= self.most
    }
}

/// Executions of everything in one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Activations that were left before their end.
    pub left: u64,
    /// Whether `setjmp` may have returned again, so that paths say nothing certain of edges.
    pub again: bool,
    /// Whether some of its paths are not selected, so that they may have run besides.
    pub is_partial: bool,
    /// Whether activations may have ended anywhere, with their processes.
    pub in_flight: bool,
    /// Whether it may have been entered more often than is known ([`Profile::under_way`]).
    pub may_be_under_way: bool,
    /// How many of its activations may have been forked, so that they ended in two processes.
    pub forked: u64,
    /// By block in which a process may have forked: how many more came back from calls in it than made them.
    pub came_back: BTreeMap<BlockId, Range>,
    /// By edge of the DAG.
    edges: TiVec<EdgeId, Range>,
    /// By block.
    pub blocks: TiVec<BlockId, Range>,
}

impl Executed {
    /// From the counts of function `f`. Where the copies that profile it cannot be compared, since some are missing
    /// or were killed, these stand as they are, and the verdict says so. O(V + E) for each of at most `EACH` starts.
    pub fn new(profile: &Profile, f: FuncId, structure: &Structure, flow: &Flow) -> Executed {
        let mut executed = Executed::from_exact(flow);
        let processes = profile.processes_of(f);
        executed.in_flight = processes.cut_short > 0;
        let first = profile.first_paths(f).filter(|first| first.forked > 0);
        let forked = find_forks(profile, f, first.as_ref());
        executed.forked = forked.as_ref().map_or(0, |forked| forked.most);
        executed.came_back = find_more_returns(profile, f, first.as_ref());
        if executed.admit_unselected(profile, f, structure) {
            forked.inspect(|forked| executed.open_forked(structure, forked));
            return executed;
        }
        let again = structure.cfg.blocks.iter().any(|b| b.returns_twice);
        match &flow.evidence {
            _ if !is_checkable(profile, f) => {
                executed.left = 0;
                if processes.cut_short > 0 && flow.entry > 0 {
                    executed.open_all();
                }
                forked.inspect(|forked| executed.open_forked(structure, forked));
            }
            Evidence::Edges(counted) => executed.loosen_uncounted(structure, flow, counted),
            Evidence::Paths if again => {
                executed.again = true;
                executed.drop_bounds();
            }
            Evidence::Paths => match first {
                Some(first) => executed.add_first_paths(profile, f, structure, flow, &first),
                None => executed.add_all(structure, flow, processes, profile.forked.get(&f)),
            },
        }
        if profile.under_way.contains(&f) {
            executed.may_be_under_way = true;
            executed.open_all();
        }
        executed
    }

    /// Where not all paths are counted, what other paths may take ran at least as often as counted. How many
    /// activations were left is not known then. Whether that is so.
    fn admit_unselected(&mut self, profile: &Profile, f: FuncId, structure: &Structure) -> bool {
        if !profile.is_selective() {
            return false;
        }
        // A share that does not fit, of which nothing is counted, was refused when the profile was read.
        let counted = profile.counted_paths(f, structure);
        let counted = counted.unwrap_or(CountedPaths::Nothing);
        if counted.are_all() && profile.entry(f).at_least.is_empty() {
            return false;
        }
        (self.left, self.is_partial) = (0, true);
        let (dag, certain) = (
            &structure.paths.dag,
            counted.certain_edges(&structure.paths),
        );
        let at_least = |range: &mut Range| range.most = u64::MAX;
        dag.edge_ids()
            .filter(|e| !certain.contains(*e))
            .for_each(|e| at_least(&mut self.edges[e]));
        for v in dag.order() {
            if let Some(b) = dag.block(v)
                && !dag.ins(v).iter().all(|e| certain.contains(*e))
            {
                at_least(&mut self.blocks[b]);
            }
        }
        for id in &profile.entry(f).at_least {
            for e in structure.paths.decode(*id).unwrap_or_default() {
                at_least(&mut self.edges[e]);
                if let Some(b) = dag.block(dag.edge(e).dst) {
                    at_least(&mut self.blocks[b]);
                }
            }
        }
        true
    }

    /// The counts as they stand.
    fn from_exact(flow: &Flow) -> Executed {
        Executed {
            left: flow.entry.saturating_sub(flow.exits),
            again: false,
            is_partial: false,
            in_flight: false,
            may_be_under_way: false,
            forked: 0,
            came_back: BTreeMap::new(),
            edges: flow.dag.iter().map(|&n| Range::exact(n)).collect(),
            blocks: flow.blocks.iter().map(|&n| Range::exact(n)).collect(),
        }
    }

    /// Whether a count that is shown as it is needs a mark: something else may have run what it counts.
    pub fn is_bound(&self, range: Range) -> bool {
        (self.is_partial || self.may_be_under_way || self.forked > 0) && !range.is_exact()
    }

    /// How often the function of this structure was entered.
    pub fn entry_range(&self, structure: &Structure, flow: &Flow) -> Range {
        let enter = self.edges[structure.paths.dag.entry_edge()];
        if (self.is_partial || self.may_be_under_way) && !enter.is_exact() {
            Range::at_least(flow.entry)
        } else {
            Range::exact(flow.entry)
        }
    }

    /// Of a profile of edges: what was not counted may be off.
    fn loosen_uncounted(&mut self, structure: &Structure, flow: &Flow, counted: &IdSet<EdgeId>) {
        let off = self.uncertain_by(structure, flow, counted);
        if off == 0 {
            return;
        }
        let dag = &structure.paths.dag;
        let certain = |e: EdgeId| e == dag.entry_edge() || counted.contains(e);
        for e in dag.edge_ids().filter(|e| !certain(*e)) {
            let range = &mut self.edges[e];
            *range = Range::range_around(range.count, off);
        }
        for v in dag.order() {
            if let Some(b) = dag.block(v)
                && !dag.ins(v).iter().all(|e| certain(*e))
            {
                let range = &mut self.blocks[b];
                *range = Range::range_around(range.count, off);
            }
        }
    }

    /// Of copies that were killed at different moments, or in activations that nobody counted: anything may have run
    /// more often.
    fn open_all(&mut self) {
        for range in self.edges.iter_mut().chain(&mut self.blocks) {
            range.most = u64::MAX;
        }
    }

    /// Paths on which what ran before `setjmp` is counted twice give no bounds.
    fn drop_bounds(&mut self) {
        for range in self.edges.iter_mut().chain(&mut self.blocks) {
            *range = Range::range_around(range.count, u64::MAX);
        }
    }

    fn add_left(&mut self, structure: &Structure, flow: &Flow, processes: Processes) {
        let dag = &structure.paths.dag;
        let begun = flow.paths_begun(dag).into_iter();
        let left = begun.filter_map(|(e, begun)| {
            let left = begun.saturating_sub(self.edges[e].count);
            (left > 0).then_some((dag.edge(e).dst, left))
        });
        let left: Vec<(VertexId, u64)> = left.collect();
        if left.is_empty() {
            return;
        }
        let ends = find_ends(structure, processes);
        let (each, rest) = left.split_at(left.len().min(EACH));
        for start in each {
            self.add_abandoned(dag, &Left::new(dag, &ends, std::slice::from_ref(start)));
        }
        if !rest.is_empty() {
            self.add_abandoned(dag, &Left::new(dag, &ends, rest));
        }
    }

    fn add_abandoned(&mut self, dag: &Dag, left: &Left) {
        for v in left.possible.iter() {
            if let Some(b) = dag.block(v) {
                self.blocks[b].add(left.entered[v], left.paths);
            }
            for e in dag.out_edges(v).filter(|e| left.may_take(dag, *e)) {
                let sure = if left.taken.contains(e) {
                    left.paths
                } else {
                    0
                };
                self.edges[e].add(sure, left.paths);
            }
        }
    }

    /// By block: how often control came to its end: more often than it was entered, where a process forked in it. O(V +
    /// E).
    pub fn block_ranges(&self, structure: &Structure) -> TiVec<BlockId, Range> {
        let mut passed = self.blocks.clone();
        let dag = &structure.paths.dag;
        for v in dag.order() {
            let Some(b) = dag.block(v).filter(|_| !self.again) else {
                continue;
            };
            let none = Range::exact(0);
            let ways = dag.out_edges(v).map(|e| self.edges[e]);
            let more = self.came_back.get(&b).copied().unwrap_or_default();
            let most = self.blocks[b].plus(more);
            passed[b] = ways.fold(none, Range::plus).smaller_bounds(most);
        }
        passed
    }

    /// Every edge of the CFG in order, those of unreachable blocks too.
    pub fn edges(&self, structure: &Structure) -> Vec<(EdgeCount, Range)> {
        let edges = by_edge(structure, &self.edges).into_iter();
        let edge = |(edge, dst, range): (_, _, Range)| {
            let count = range.count;
            (EdgeCount { edge, dst, count }, range)
        };
        edges.map(edge).collect()
    }
}

/// Where control may have left a path: anywhere, if a process was killed. O(V).
fn find_ends(structure: &Structure, processes: Processes) -> IdSet<VertexId> {
    let dag = &structure.paths.dag;
    let may_end = |v: VertexId| {
        let block = dag.block(v).map(|b| structure.cfg.block(b));
        block.is_some_and(|b| b.may_leave || processes.cut_short > 0)
    };
    dag.order().filter(|v| may_end(*v)).collect()
}

/// Paths that were begun at some starts and left.
struct Left {
    paths: u64,
    /// The vertices on ways from the starts to where they may have been left.
    possible: IdSet<VertexId>,
    /// By vertex: how many of them certainly entered it.
    entered: TiVec<VertexId, u64>,
    /// The edges that all of them took.
    taken: IdSet<EdgeId>,
}

impl Left {
    /// Those begun at `starts`, each with its number, and left at one of `ends`. O(V + E).
    fn new(dag: &Dag, ends: &IdSet<VertexId>, starts: &[(VertexId, u64)]) -> Left {
        let mut left = Left {
            paths: starts.iter().fold(0, |sum, s| sum.saturating_add(s.1)),
            possible: dag.vertex_set(),
            entered: dag.by_vertex(0),
            taken: dag.edge_set(),
        };
        for &(v, n) in starts {
            left.possible.insert(v);
            left.entered[v] = n;
        }
        // Vertices are in topological order: forwards what can be reached, backwards what leads to an end.
        for v in dag.order() {
            if left.possible.contains(v) {
                let reached = dag.out_edges(v).map(|e| dag.edge(e).dst);
                left.possible.extend(reached);
            }
        }
        for v in dag.order().rev() {
            let mut outs = dag.out_edges(v);
            let leads = ends.contains(v) || outs.any(|e| left.may_take(dag, e));
            let stays = left.possible.contains(v) && leads;
            left.possible.set(v, stays);
        }
        if let [(start, _)] = starts {
            left.mark_certain(dag, ends, *start);
        }
        left
    }

    /// Whether `e` goes on a way that they may have gone, given that its source does. (Nothing is left at EXIT.)
    fn may_take(&self, dag: &Dag, e: EdgeId) -> bool {
        self.possible.contains(dag.edge(e).dst)
    }

    /// Marks what lies on every way from `start` to an end: in topological order, the vertices at which all ways
    /// that are open meet. A way that may have ended stays open for good.
    fn mark_certain(&mut self, dag: &Dag, ends: &IdSet<VertexId>, start: VertexId) {
        let mut open = 0usize;
        for v in dag.order().skip(start.index()) {
            if !self.possible.contains(v) {
                continue;
            }
            let from = |e: &&EdgeId| self.possible.contains(dag.edge(**e).src);
            let ins = dag.ins(v).iter().filter(from).count();
            let meets = ins == open;
            open -= ins;
            let outs: Vec<EdgeId> = dag
                .out_edges(v)
                .filter(|e| self.may_take(dag, *e))
                .collect();
            open += outs.len() + usize::from(ends.contains(v));
            if meets {
                self.entered[v] = self.paths;
                if let ([only], 1) = (&outs[..], open) {
                    self.taken.insert(*only);
                }
            }
        }
    }
}
