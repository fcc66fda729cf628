//! Functions that may have been under way when a process forked.
//!
//! A forked child begins in the middle of every activation on the stack. From there on, parent and child are each on
//! the path that the activation had begun, so one entry may end twice, or end once and be abandoned once, which the
//! number of entries does not show. Which activations were on the stack is not recorded. This module finds the blocks
//! with calls in which a process may fork: calls of `fork` and of functions that are not known, and calls of functions
//! with such blocks. Raw profiles count children, so no activation was forked more often than there are children.

mod outside;

use super::Profile;
use super::measurement::Measurement;
use crate::base::index::{BlockId, FuncId, TiVec, ti_vec};
use crate::copies::plan::forks::{COMPLETED, FIRST_BLOCK, FORKED, RETURNED};
use crate::input::ir::processes::{FORK_BY_NUMBER, SYSCALL};
use crate::input::ir::{Linkage, Terminator};
use crate::profile::manifest::{FunctionEntry, Manifest};
use outside::{Outside, classify_symbol};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a function of which activations may have been forked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forked {
    /// The blocks in which a process may have forked, ascending.
    pub blocks: Vec<BlockId>,
    /// How many activations were forked at most. `u64::MAX` if a fork may have found several on the stack.
    pub most: u64,
}

impl Forked {
    /// Adds what another program has of the same function.
    pub fn add(&mut self, other: &Forked) {
        self.blocks.extend(&other.blocks);
        self.blocks.sort_unstable();
        self.blocks.dedup();
        self.most = self.most.saturating_add(other.most);
    }
}

/// By function that calls `fork`: what children did in it, by counter, zero counts left out
/// ([`crate::copies::plan::forks`]).
pub type ForkCounts = BTreeMap<FuncId, BTreeMap<u64, u64>>;

/// Whether each function of a manifest has the counters that `counts` is of.
pub fn have_counters(manifest: &Manifest, counts: &ForkCounts) -> bool {
    counts.iter().all(|(f, counters)| {
        let blocks = manifest.functions.get(*f).map(|e| e.succs.len() as u64);
        let last = counters.keys().next_back();
        blocks.is_some_and(|n| last.is_none_or(|last| *last < FIRST_BLOCK + n))
    })
}

/// What children did in a function that calls `fork`, on the paths on which they were forked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstPaths {
    /// The number of children.
    pub forked: u64,
    /// How many of them completed that path.
    pub completed: u64,
    /// How often they returned to a caller that they had not called from.
    pub returned: u64,
    /// By block: how often they entered it on that path, behind the `fork`; not there: never.
    pub blocks: BTreeMap<BlockId, u64>,
}

impl FirstPaths {
    /// From counters.
    fn new(counters: &BTreeMap<u64, u64>) -> FirstPaths {
        let count = |counter: u64| counters.get(&counter).copied().unwrap_or(0);
        let blocks = counters.range(FIRST_BLOCK..);
        FirstPaths {
            forked: count(FORKED),
            completed: count(COMPLETED),
            returned: count(RETURNED),
            blocks: blocks
                .map(|(counter, n)| (BlockId::new((counter - FIRST_BLOCK) as usize), *n))
                .collect(),
        }
    }
}

impl Profile {
    /// What children did in function `f` on the paths on which they were forked there. `None` if it was not counted.
    pub fn first_paths(&self, f: FuncId) -> Option<FirstPaths> {
        self.forks.get(&f).map(FirstPaths::new)
    }

    /// Whether function `f` was entered, as far as counts show: also if its paths are not counted.
    fn may_have_run(&self, f: FuncId) -> bool {
        self.measured.count_known_to_run(f) > 0
            || self.is_selective()
            || self.entries[f].is_some_and(|n| n > 0)
    }

    /// The number of children of a copy, if copies run alike.
    pub fn count_children(&self) -> u64 {
        let children = self.processes.iter().map(|p| p.children).max();
        u64::from(children.unwrap_or(0))
    }

    /// How many children were not forked by a call of `fork` in a function that counts them.
    pub fn count_unexplained_children(&self) -> u64 {
        let forked = self
            .forks
            .values()
            .filter_map(|counters| counters.get(&FORKED));
        let forked = forked.fold(0u64, |sum, n| sum.saturating_add(*n));
        self.count_children().saturating_sub(forked)
    }
}

/// By function: what may have been forked of it. Empty if no process forked. O(blocks + calls).
pub type AllForked = BTreeMap<FuncId, Forked>;

/// Finds the functions of a profile, whose processes and counts are known, that may have been under way when a process
/// forked, other than in a `fork` that is counted. O(blocks + calls), for each function from which children returned.
pub fn find_forked(profile: &Profile) -> AllForked {
    let mut all = AllForked::new();
    let unnoticed = find_unnoticed(profile);
    if profile.count_children() == 0 && unnoticed.is_none() {
        return all;
    }
    let graph = Graph::new(&profile.manifest);
    let unexplained = profile.count_unexplained_children();
    let is_elsewhere = may_go_elsewhere(&profile.manifest);
    if unexplained > 0 {
        add_open(profile, &graph, UnseenStart::Unknown, unexplained, &mut all);
    }
    if let Some(unnoticed) = unnoticed {
        let found = UnseenStart::Unnoticed {
            is_pointer: unnoticed.is_pointer,
        };
        add_open(profile, &graph, found, u64::MAX, &mut all);
    }
    for &f in profile.forks.keys() {
        let paths = profile.first_paths(f).unwrap_or_default();
        let returned = if is_elsewhere {
            paths.forked.max(paths.returned)
        } else {
            paths.returned
        };
        if returned > 0 {
            add_open(profile, &graph, UnseenStart::Return(f), returned, &mut all);
        }
    }
    all
}

/// How a program may have started processes that count in their parents' files.
pub struct Unnoticed<'a> {
    /// The functions through which it may have, not empty.
    pub symbols: Vec<&'a str>,
    /// Whether it calls one of them by a pointer, if at all.
    is_pointer: bool,
}

/// The function that is called, of a symbol of [`Manifest::unnoticed_forks`].
fn called_symbol(symbol: &str) -> &str {
    match symbol {
        FORK_BY_NUMBER => SYSCALL,
        name => name,
    }
}

/// Finds through which functions processes were started, or may have been, that count in their parents' files: those
/// that are called in a function that ran, or that are never called by their names. Estimates are each process's own.
/// O(functions + calls).
pub fn find_unnoticed(profile: &Profile) -> Option<Unnoticed<'_>> {
    let manifest = &profile.manifest;
    let all = manifest.unnoticed_forks();
    if all.is_empty() || matches!(profile.measured, Measurement::Estimated(_)) {
        return None;
    }
    let (mut called, mut ran) = (BTreeSet::new(), BTreeSet::new());
    for (f, entry) in manifest.functions.iter_enumerated() {
        for (_, symbol) in manifest.outside_calls(entry) {
            called.insert(symbol);
            if profile.may_have_run(f) {
                ran.insert(symbol);
            }
        }
    }
    let is_pointer = |symbol: &&str| !called.contains(called_symbol(symbol));
    let may_have = |symbol: &&str| is_pointer(symbol) || ran.contains(called_symbol(symbol));
    let symbols: Vec<&str> = all.into_iter().filter(may_have).collect();
    (!symbols.is_empty()).then(|| Unnoticed {
        is_pointer: symbols.iter().any(is_pointer),
        symbols,
    })
}

/// Whether a child may leave a function other than by a return: an exception is caught somewhere, or `longjmp` called.
fn may_go_elsewhere(manifest: &Manifest) -> bool {
    let catches = |f: &FunctionEntry| f.terminators.iter().any(|t| *t == Terminator::Invoke);
    let jumps = |name: &String| name.contains("longjmp");
    manifest.functions.iter().any(catches) || manifest.outside.iter().flatten().any(jumps)
}

/// How children came to activations that they did not enter.
#[derive(Clone, Copy)]
enum UnseenStart {
    /// By a `fork` that is not counted.
    Unknown,
    /// By a function that starts processes which count in their parents' files, perhaps called by a pointer.
    Unnoticed { is_pointer: bool },
    /// By a return from this function, which called `fork`.
    Return(FuncId),
}

impl UnseenStart {
    /// Whether such a call outside is one in which children began.
    fn is_in(self, outside: Outside) -> bool {
        match (self, outside) {
            // A pointer may lead outside: to `fork` itself, or to what a library handed in.
            (UnseenStart::Unknown, Outside::Forks | Outside::Unknown | Outside::Pointer) => true,
            (UnseenStart::Unknown | UnseenStart::Unnoticed { .. }, Outside::ForksUnnoticed) => true,
            (UnseenStart::Unnoticed { is_pointer }, Outside::Pointer) => is_pointer,
            _ => false,
        }
    }
}

/// Adds the functions that may call what `found` says, of which `most` activations were forked.
fn add_open(profile: &Profile, graph: &Graph, found: UnseenStart, most: u64, all: &mut AllForked) {
    let sites = Sites::find(graph, found);
    for (f, blocks) in sites.blocks.iter_enumerated() {
        let entry = profile.entry(f);
        if blocks.is_empty() || entry.status.is_skipped() {
            continue;
        }
        let blocks = blocks.clone();
        let most = if may_nest(entry, sites.calls_back) {
            u64::MAX
        } else {
            most
        };
        let of_f = all.entry(f).or_insert_with(|| Forked {
            blocks: Vec::new(),
            most: 0,
        });
        of_f.add(&Forked { blocks, most });
    }
}

/// Whether several activations of a function may be on the stack at once. `calls_back`: whether code outside calls
/// functions.
fn may_nest(entry: &FunctionEntry, calls_back: bool) -> bool {
    entry.recursive || calls_back && entry.address_taken
}

/// By function: the blocks with calls in which a process may fork.
struct Sites {
    blocks: TiVec<FuncId, Vec<BlockId>>,
    /// Whether functions outside may call a function with such a block.
    calls_back: bool,
}

impl Sites {
    fn find(graph: &Graph, found: UnseenStart) -> Sites {
        let (manifest, reach) = (graph.manifest, graph.follow_callers(found));
        let blocks = manifest.functions.keys().map(|f| {
            let entry = &manifest.functions[f];
            // Of manifests that earlier versions wrote, calls outside are not known.
            if manifest.outside.is_none() {
                return entry.may_leave.clone();
            }
            let called = entry.calls.iter().filter(|(_, callees)| {
                let mut callees = callees.iter();
                callees
                    .any(|(callee, _)| graph.members(*callee).iter().any(|m| reach.functions[*m]))
            });
            let outside = entry.outside.iter().filter(|(_, calls)| {
                calls.iter().any(|&n| match graph.outside_entry(n) {
                    outside if found.is_in(outside) => true,
                    Outside::Unknown | Outside::CallsBack => reach.by_symbol,
                    Outside::Pointer => reach.by_pointer,
                    Outside::Forks | Outside::ForksUnnoticed | Outside::Neither => false,
                })
            });
            let called = called.map(|(b, _)| *b);
            let mut blocks: Vec<BlockId> = called.chain(outside.map(|(b, _)| *b)).collect();
            blocks.sort_unstable();
            blocks.dedup();
            blocks
        });
        Sites {
            blocks: blocks.collect(),
            calls_back: reach.by_pointer || reach.by_symbol,
        }
    }
}

/// Who calls whom, and what is outside.
struct Graph<'a> {
    manifest: &'a Manifest,
    /// By symbol outside.
    outside: Vec<Outside>,
    /// By unit: its functions. Callers name the first.
    members: TiVec<FuncId, Vec<FuncId>>,
}

/// The functions in which a process may fork.
struct Reach {
    functions: TiVec<FuncId, bool>,
    /// Whether a call through a pointer may be of one.
    by_pointer: bool,
    /// Whether code outside may call one.
    by_symbol: bool,
}

impl<'a> Graph<'a> {
    fn new(manifest: &'a Manifest) -> Graph<'a> {
        let symbols = manifest.outside.as_deref().unwrap_or_default();
        let by_number = manifest.unnoticed_forks().contains(&FORK_BY_NUMBER);
        let classify = |symbol: &String| match symbol.as_str() {
            SYSCALL if by_number => Outside::ForksUnnoticed,
            symbol => classify_symbol(symbol),
        };
        let mut members: TiVec<FuncId, Vec<FuncId>> = ti_vec![Vec::new(); manifest.functions.len()];
        for (f, entry) in manifest.functions.iter_enumerated() {
            members[entry.unit].push(f);
        }
        Graph {
            manifest,
            outside: symbols.iter().map(classify).collect(),
            members,
        }
    }

    /// The functions that a call of `f` may reach: differing bodies of one symbol.
    fn members(&self, f: FuncId) -> &[FuncId] {
        &self.members[self.manifest.functions[f].unit]
    }

    /// What is outside under number `n` of a function's list.
    fn outside_entry(&self, n: u32) -> Outside {
        let symbol = n.checked_sub(1).map(|n| self.outside.get(n as usize));
        symbol.map_or(Outside::Pointer, |s| *s.unwrap_or(&Outside::Unknown))
    }

    /// Follows calls backwards from those of `fork`, or from a function that children returned from. O(calls).
    fn follow_callers(&self, from: UnseenStart) -> Reach {
        let functions = &self.manifest.functions;
        let mut callers: TiVec<FuncId, Vec<FuncId>> = ti_vec![Vec::new(); functions.len()];
        let (mut by_pointer, mut back, mut found) = (Vec::new(), Vec::new(), Vec::new());
        if let UnseenStart::Return(f) = from {
            found.push(f);
        }
        for (f, entry) in functions.iter_enumerated() {
            let callees = entry.calls.iter().flat_map(|(_, callees)| callees);
            for (callee, _) in callees {
                for &member in self.members(*callee) {
                    callers[member].push(f);
                }
            }
            for &n in entry.outside.iter().flat_map(|(_, calls)| calls) {
                match self.outside_entry(n) {
                    outside if from.is_in(outside) => found.push(f),
                    Outside::Unknown | Outside::CallsBack => back.push(f),
                    Outside::Pointer => by_pointer.push(f),
                    Outside::Forks | Outside::ForksUnnoticed | Outside::Neither => {}
                }
            }
        }
        let mut reach = Reach {
            functions: ti_vec![false; functions.len()],
            by_pointer: false,
            by_symbol: false,
        };
        while let Some(f) = found.pop() {
            if std::mem::replace(&mut reach.functions[f], true) {
                continue;
            }
            found.extend(&callers[f]);
            let entry = &functions[f];
            // Nobody but the system calls `main`.
            let is_visible = entry.linkage != Linkage::Local && entry.name != "main";
            if entry.address_taken {
                reach.by_pointer = true;
                found.append(&mut by_pointer);
            }
            if entry.address_taken || is_visible {
                reach.by_symbol = true;
                found.append(&mut back);
            }
        }
        reach
    }
}

#[cfg(test)]
mod tests;
