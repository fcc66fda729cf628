//! What children ran on the paths on which they were forked, where that is counted.
//!
//! In a function that calls `fork`, counters say how often children entered each block behind the `fork` on their first
//! path ([`crate::copies::plan::forks`]), so what they left unfinished is known. Of a first path that a child
//! completed, the blocks in front of the `fork` are counted although the child did not run them. Paths that were
//! children's are recognised by these counters: a path that a parent took behind the `fork` leads through a block that
//! no child entered. If that tells too few paths apart, counts are bounds.

use super::super::flow::Flow;
use super::super::forks::{FirstPaths, Forked};
use super::super::measurement::{Exact, Measurement};
use super::super::{Profile, Structure};
use super::{Executed, Range};
use crate::base::index::{BlockId, EdgeId, FuncId};
use crate::input::ir::FORK;
use crate::paths::dag::EdgeKind;
use std::collections::BTreeMap;

/// A path that children completed on which they were forked.
struct Completed {
    edges: Vec<EdgeId>,
    count: u64,
}

/// What may have been forked of function `f`: where children were forked that are counted, `first`, and elsewhere.
/// O(calls).
pub(super) fn find_forks(
    profile: &Profile,
    f: FuncId,
    first: Option<&FirstPaths>,
) -> Option<Forked> {
    let elsewhere = profile.forked.get(&f);
    let Some(first) = first else {
        return elsewhere.cloned();
    };
    Some(add_elsewhere(
        find_fork_blocks(profile, f),
        first.forked,
        elsewhere,
    ))
}

/// By block of function `f` in which a process may have forked: how many more processes came back from calls in it than
/// made them. O(calls).
pub(super) fn find_more_returns(
    profile: &Profile,
    f: FuncId,
    first: Option<&FirstPaths>,
) -> BTreeMap<BlockId, Range> {
    let up_to = |most: u64| Range {
        count: 0,
        least: 0,
        most,
    };
    let mut more: BTreeMap<BlockId, Range> = BTreeMap::new();
    if let Some(first) = first {
        let forks = find_fork_blocks(profile, f);
        let each = match forks[..] {
            [_] => Range::exact(first.forked),
            _ => up_to(first.forked),
        };
        more.extend(forks.into_iter().map(|b| (b, each)));
    }
    if let Some(elsewhere) = profile.forked.get(&f) {
        for &b in &elsewhere.blocks {
            let sum = more.entry(b).or_default();
            *sum = sum.plus(up_to(elsewhere.most));
        }
    }
    more
}

/// `most` activations that were forked in these blocks, and those that were forked elsewhere.
fn add_elsewhere(blocks: Vec<BlockId>, most: u64, elsewhere: Option<&Forked>) -> Forked {
    let mut forked = Forked { blocks, most };
    if let Some(elsewhere) = elsewhere {
        forked.add(elsewhere);
    }
    forked
}

/// The blocks of a function that call `fork`, ascending. O(calls).
fn find_fork_blocks(profile: &Profile, f: FuncId) -> Vec<BlockId> {
    let symbols = profile.manifest.outside.as_deref().unwrap_or_default();
    let is_fork = |n: &u32| {
        let symbol = n.checked_sub(1).and_then(|n| symbols.get(n as usize));
        symbol.is_some_and(|s| FORK.contains(&s.as_str()))
    };
    let calls = profile.entry(f).outside.iter();
    let forks = calls.filter(|(_, calls)| calls.iter().any(is_fork));
    forks.map(|(b, _)| *b).collect()
}

impl Executed {
    /// Adds what was left of the function's own paths, and what children ran on the paths on which they were forked.
    /// O(total path length).
    pub(super) fn add_first_paths(
        &mut self,
        profile: &Profile,
        f: FuncId,
        structure: &Structure,
        flow: &Flow,
        first: &FirstPaths,
    ) {
        let processes = profile.processes_of(f);
        let forks = find_fork_blocks(profile, f);
        let elsewhere = profile.forked.get(&f);
        // Children that a callee forked, and that returned here, complete paths like those of the function's own
        // children.
        let are_own = elsewhere.is_none();
        let completed = are_own.then(|| find_completed(profile, f, structure, first, &forks));
        let Some(completed) = completed.flatten() else {
            let forked = add_elsewhere(forks.clone(), first.completed, elsewhere);
            self.add_all(structure, flow, processes, Some(&forked));
            self.add_children(structure, first, &forks, first.completed);
            return;
        };
        let dag = &structure.paths.dag;
        for path in &completed {
            for &e in &path.edges {
                self.edges[e] = self.edges[e].without_known(path.count);
                if let Some(b) = dag.block(dag.edge(e).dst) {
                    self.blocks[b] = self.blocks[b].without_known(path.count);
                }
            }
        }
        self.add_all(structure, flow, processes, elsewhere);
        self.add_children(structure, first, &forks, 0);
        for path in &completed {
            // Children took the edge at which their path ended: to a loop's header, or behind the call that stands
            // last.
            if let Some(&e) = path.edges.last() {
                self.edges[e] = self.edges[e].plus(Range::exact(path.count));
            }
        }
    }

    /// Adds what children ran behind the `fork`, of which up to `counted` of each is counted already. An edge was taken
    /// as often as its target was entered, if there is no other way there. O(V + E).
    fn add_children(
        &mut self,
        structure: &Structure,
        first: &FirstPaths,
        forks: &[BlockId],
        counted: u64,
    ) {
        let dag = &structure.paths.dag;
        let came_from = |b: BlockId| {
            let entered = first.blocks.get(&b).copied().unwrap_or(0);
            let is_fork = forks.binary_search(&b).is_ok();
            entered.saturating_add(if is_fork { first.forked } else { 0 })
        };
        let range = |least: u64, most: u64| {
            let least = least.saturating_sub(counted);
            Range {
                count: least,
                least,
                most,
            }
        };
        for (&b, &entered) in &first.blocks {
            self.blocks[b] = self.blocks[b].plus(range(entered, entered));
            let Some(v) = dag.vertex(b) else {
                continue;
            };
            let ins = dag.ins(v).iter().filter_map(|&e| match dag.edge(e).kind {
                EdgeKind::Real(edge) => Some((e, came_from(edge.block))),
                _ => None,
            });
            let ins: Vec<(EdgeId, u64)> = ins.filter(|(_, most)| *most > 0).collect();
            let all: u128 = ins.iter().map(|(_, n)| u128::from(*n)).sum();
            for &(e, most) in &ins {
                let others = u64::try_from(all - u128::from(most)).unwrap_or(u64::MAX);
                let least = entered.saturating_sub(others);
                self.edges[e] = self.edges[e].plus(range(least, most.min(entered)));
            }
        }
    }
}

/// The paths that children completed on which they were forked, if these can be told from all others. O(total path
/// length).
fn find_completed(
    profile: &Profile,
    f: FuncId,
    structure: &Structure,
    first: &FirstPaths,
    forks: &[BlockId],
) -> Option<Vec<Completed>> {
    let Measurement::Exact(Exact::Paths(counts)) = &profile.measured else {
        return None;
    };
    let (mut found, mut sum) = (Vec::new(), 0u64);
    for &(id, count) in counts[f].iter().filter(|_| first.completed > 0) {
        let edges = structure.paths.decode(id)?;
        if may_be_first(structure, &edges, first, forks) {
            sum = sum.saturating_add(count);
            found.push(Completed { edges, count });
        }
    }
    (sum == first.completed).then_some(found)
}

/// Whether a path may be one on which a child was forked: children entered all blocks behind the last `fork` on it.
fn may_be_first(
    structure: &Structure,
    edges: &[EdgeId],
    first: &FirstPaths,
    forks: &[BlockId],
) -> bool {
    let dag = &structure.paths.dag;
    let blocks = edges.iter().filter_map(|e| dag.block(dag.edge(*e).dst));
    let blocks: Vec<BlockId> = blocks.collect();
    let last = blocks.iter().rposition(|b| forks.binary_search(b).is_ok());
    let is_entered = |b: &BlockId| first.blocks.contains_key(b);
    last.is_some_and(|last| blocks[last + 1..].iter().all(is_entered))
}
