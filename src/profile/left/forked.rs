//! Counts of functions of which activations may have been forked.
//!
//! Of the paths that begin at a start, `begun` is how many were begun there: by entries, or by back edges. A fork makes
//! one more of a path that is under way: the child's, which has run nothing of its own of what is in front of the fork.
//! With `forked` such paths, and at most as many as children,
//!
//! ```text
//! begun + forked = completed + abandoned
//! executions of a block = completed paths through it + abandoned ones - paths that were forked behind it
//! ```
//!
//! Both `forked` and where paths were abandoned are unknown, so that the second line gives a least and a most number.
//! Where every way leads through a block, `forked` cancels out and the count is exact. Edges are as blocks are.

use super::super::Structure;
use super::super::flow::Flow;
use super::super::forks::Forked;
use super::super::verdict::Processes;
use super::{EACH, Executed, Left, Range, find_ends};
use crate::base::index::{BlockId, EdgeId, IdSet, TiVec, VertexId, ti_vec};
use crate::paths::dag::Dag;
use crate::paths::edges::edges;

/// What is to be added to the count of a block or of an edge, for paths that were abandoned or forked.
#[derive(Clone, Copy, Default)]
struct Addend {
    least: i128,
    most: i128,
    /// Whether the least is less by the number of forked paths, …
    counts_twice: bool,
    /// … and the most more by that.
    may_run_more: bool,
}

impl Addend {
    /// The range of a count to which this is added, where `forked` paths were forked at most. What was counted ran at
    /// least once: what was forked of it had run before.
    fn add_to(self, count: u64, forked: u64) -> Range {
        let forked = i128::from(forked);
        let less = if self.counts_twice { forked } else { 0 };
        let more = if self.may_run_more { forked } else { 0 };
        let number = |n: i128| u64::try_from(n.max(i128::from(count > 0))).unwrap_or(u64::MAX);
        let least = number(i128::from(count) + self.least - less);
        Range {
            count: least,
            least,
            most: least.max(number(i128::from(count) + self.most + more)),
        }
    }

    /// Adds what paths from one start say: `surplus` more were begun than completed, which may be less than none.
    /// `may_run`: on how many of the ways of abandoned paths it lies. `before`: on how many of the ways to a fork,
    /// `None` if `is_forked` is false.
    fn add(&mut self, surplus: i128, may_run: Option<Ways>, before: Option<Ways>, is_forked: bool) {
        let runs_always = may_run == Some(Ways::All);
        match before {
            Some(_) if runs_always => self.least += surplus,
            Some(_) => self.counts_twice = true,
            None if runs_always => self.least += surplus.max(0),
            None => {}
        }
        if before == Some(Ways::All) {
            self.most += surplus;
        } else if may_run.is_some() {
            // Fewer than were begun may not be less than what the forked ones make up for.
            self.most += if is_forked { surplus } else { surplus.max(0) };
            self.may_run_more |= is_forked;
        }
    }
}

/// On how many of the ways from a start something lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ways {
    All,
    Some,
}

/// On how many of the ways a vertex lies.
fn ways_to(left: &Left, v: VertexId) -> Option<Ways> {
    let is_certain = left.entered[v] > 0;
    let ways = if is_certain { Ways::All } else { Ways::Some };
    left.possible.contains(v).then_some(ways)
}

/// On how many of the ways an edge lies.
fn ways_over(left: &Left, dag: &Dag, e: EdgeId) -> Option<Ways> {
    let is_on_a_way = left.possible.contains(dag.edge(e).src) && left.may_take(dag, e);
    let ways = if left.taken.contains(e) {
        Ways::All
    } else {
        Ways::Some
    };
    is_on_a_way.then_some(ways)
}

/// The addends of all blocks and edges.
struct Addends {
    blocks: TiVec<BlockId, Addend>,
    edges: TiVec<EdgeId, Addend>,
}

impl Addends {
    /// Adds what is known of the paths from some starts, of which so many more than were completed were begun.
    fn add(&mut self, dag: &Dag, surplus: i128, left: &Left, to_forks: Option<&Left>) {
        let is_forked = to_forks.is_some();
        for v in dag.order() {
            if let Some(b) = dag.block(v) {
                let before = to_forks.and_then(|to_forks| ways_to(to_forks, v));
                self.blocks[b].add(surplus, ways_to(left, v), before, is_forked);
            }
            for e in dag.out_edges(v) {
                let before = to_forks.and_then(|to_forks| ways_over(to_forks, dag, e));
                self.edges[e].add(surplus, ways_over(left, dag, e), before, is_forked);
            }
        }
    }
}

impl Executed {
    /// Adds abandoned paths, of which `forked` says how many may have been forked, if any.
    pub(super) fn add_all(
        &mut self,
        structure: &Structure,
        flow: &Flow,
        processes: Processes,
        forked: Option<&Forked>,
    ) {
        match forked {
            Some(forked) => self.add_forked(structure, flow, processes, forked),
            None => self.add_left(structure, flow, processes),
        }
    }

    /// Adds abandoned paths, and takes away what a fork counted twice. O(V + E) for each of at most `EACH` starts.
    fn add_forked(
        &mut self,
        structure: &Structure,
        flow: &Flow,
        processes: Processes,
        forked: &Forked,
    ) {
        let dag = &structure.paths.dag;
        let ends = find_ends(structure, processes);
        let forks = vertices(dag, &forked.blocks);
        let mut addends = Addends {
            blocks: ti_vec![Addend::default(); self.blocks.len()],
            edges: dag.by_edge(Addend::default()),
        };
        let begun = flow.paths_begun(dag).into_iter().map(|(e, begun)| {
            let surplus = i128::from(begun) - i128::from(self.edges[e].count);
            (dag.edge(e).dst, surplus)
        });
        let starts: Vec<(VertexId, i128)> = begun.collect();
        let (each, rest) = starts.split_at(starts.len().min(EACH));
        for (start, surplus) in each {
            let to_forks = Left::new(dag, &forks, &[(*start, 1)]);
            let to_forks = Some(to_forks).filter(|to_forks| to_forks.possible.contains(*start));
            if to_forks.is_some() || *surplus > 0 {
                let left = Left::new(dag, &ends, &[(*start, 1)]);
                addends.add(dag, *surplus, &left, to_forks.as_ref());
            }
        }
        if !rest.is_empty() {
            let starts: Vec<(VertexId, u64)> = rest.iter().map(|(v, _)| (*v, 0)).collect();
            let surplus = rest.iter().map(|(_, n)| (*n).max(0)).sum();
            let (left, to_forks) = (
                Left::new(dag, &ends, &starts),
                Left::new(dag, &forks, &starts),
            );
            addends.add(dag, surplus, &left, Some(&to_forks));
        }
        for (b, addend) in addends.blocks.iter_enumerated() {
            self.blocks[b] = addend.add_to(self.blocks[b].count, forked.most);
        }
        for (e, addend) in addends.edges.iter_enumerated() {
            self.edges[e] = addend.add_to(self.edges[e].count, forked.most);
        }
    }
    /// Of counts of which it is not known how many paths were abandoned: what may have run behind a fork may have run
    /// more often, and what is in front of one may be counted twice. O(V + E).
    pub(super) fn open_forked(&mut self, structure: &Structure, forked: &Forked) {
        let dag = &structure.paths.dag;
        let forks = vertices(dag, &forked.blocks);
        let starts = dag.out_edges(dag.entry()).map(|e| (dag.edge(e).dst, 1));
        let starts: Vec<(VertexId, u64)> = starts.collect();
        let to_forks = Left::new(dag, &forks, &starts);
        let is_forked = |start: &(VertexId, u64)| to_forks.possible.contains(start.0);
        let starts: Vec<(VertexId, u64)> = starts.iter().copied().filter(is_forked).collect();
        let may_run = Left::new(dag, &dag.order().collect(), &starts);
        let open = |range: &mut Range, before: bool| {
            if before {
                range.least = range
                    .least
                    .saturating_sub(forked.most)
                    .max(range.least.min(1));
                range.count = range.least;
            }
            range.most = u64::MAX;
        };
        for v in dag.order().filter(|v| may_run.possible.contains(*v)) {
            if let Some(b) = dag.block(v) {
                open(&mut self.blocks[b], to_forks.possible.contains(v));
            }
            for e in dag.out_edges(v) {
                let is_before = ways_over(&to_forks, dag, e).is_some();
                open(&mut self.edges[e], is_before);
            }
        }
    }

    /// By how much counts that were not counted, but follow from others, may be off in a profile of edges. A forked
    /// activation begins in the middle of a block, and may be left in the middle of another one.
    pub(super) fn uncertain_by(
        &self,
        structure: &Structure,
        flow: &Flow,
        counted: &IdSet<EdgeId>,
    ) -> u64 {
        let all = edges(&structure.paths.dag).count();
        if self.forked == 0 || counted.len() + 1 == all {
            return flow.uncertain;
        }
        let in_the_middle = 2 * i128::from(self.forked);
        let left = i128::from(flow.entry) - i128::from(flow.exits);
        u64::try_from((in_the_middle + left).max(0)).unwrap_or(u64::MAX)
    }
}

/// The vertices of blocks. O(V).
fn vertices(dag: &Dag, blocks: &[BlockId]) -> IdSet<VertexId> {
    dag.find_vertices(|b| blocks.binary_search(&b).is_ok())
}
