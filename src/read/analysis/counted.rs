//! A function with the executions of everything in it: what reports of lines, branches and calls are made of.

use crate::base::error::Result;
use crate::base::index::{BlockId, CfgEdge, FuncId, IdSet, TiVec, ti_vec};
use crate::input::ir::{Cfg, Span, Terminator};
use crate::profile::filter::Selection;
use crate::profile::flow::{EdgeCount, Flow, flow};
use crate::profile::left::{Executed, Range};
use crate::profile::manifest::{FunctionEntry, Manifest};
use crate::profile::{Profile, Structure};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// What handles signals. Control may leave a handler by `longjmp` or `_exit`, and so the code that a signal came to.
const HANDLERS: &[&str] = &[
    "sigaction",
    "signal",
    "bsd_signal",
    "sigset",
    "__sysv_signal",
];

/// What begins the clause of a `catch`.
const BEGIN_CATCH: &str = "__cxa_begin_catch";

/// What is known of calls that came back.
pub struct KnownReturns {
    /// The functions of which every call did.
    functions: HashSet<FuncId>,
    /// Whether the program handles signals.
    has_handlers: bool,
}

impl KnownReturns {
    /// Of these functions of a profile. O(blocks).
    pub fn find(profile: &Profile, functions: &[CountedFunction]) -> KnownReturns {
        let returned = functions.iter().filter(|f| f.always_returned());
        let mut outside = profile.manifest.outside.iter().flatten();
        KnownReturns {
            functions: returned.map(|f| f.f).collect(),
            has_handlers: outside.any(|name| HANDLERS.contains(&name.as_str())),
        }
    }
}

/// By block: its positions, each with how often the code there ran.
pub type Spans<'a> = TiVec<BlockId, Vec<(&'a Span, Range)>>;

/// A function and the executions of everything in it.
pub struct CountedFunction<'a> {
    /// The function.
    pub f: FuncId,
    /// What the manifest has of it.
    pub entry: &'a FunctionEntry,
    manifest: &'a Manifest,
    /// Its control flow and its paths.
    pub structure: Structure,
    /// What completed paths add up to.
    pub flow: Flow,
    /// What completed paths and those left before their end add up to.
    pub executed: Executed,
    /// By block: how often control came to its end.
    passed: TiVec<BlockId, Range>,
    /// The blocks that begin the clause of a `catch`.
    clauses: Vec<BlockId>,
    /// The edges of `executed`.
    pub edges: Vec<(EdgeCount, Range)>,
}

impl<'a> CountedFunction<'a> {
    fn new(profile: &'a Profile, f: FuncId) -> Result<Self> {
        let structure = profile.structure(f)?;
        let flow = flow(profile, f, &structure)?;
        let executed = Executed::new(profile, f, &structure, &flow);
        Ok(CountedFunction {
            f,
            entry: profile.entry(f),
            clauses: find_clauses(profile, profile.entry(f)),
            manifest: &profile.manifest,
            passed: executed.block_ranges(&structure),
            edges: executed.edges(&structure),
            structure,
            flow,
            executed,
        })
    }

    /// Whether nothing entered it, as far as is known.
    pub fn is_never_entered(&self) -> bool {
        self.executed.blocks[BlockId(0)].most == 0
    }

    /// The positions of each block, with how often the code there ran. Control may have left a block in a call: what
    /// stands behind the last such call ran as often as control came to the block's end, and what stands between two of
    /// them not less. Behind a call in which a process forked, it ran in both processes. O(positions + calls).
    pub fn spans(&self, returns: &KnownReturns) -> Spans<'_> {
        let mut spans = Spans::with_capacity(self.structure.cfg.len());
        for (b, block) in self.structure.cfg.blocks.iter_enumerated() {
            let (entered, passed) = (self.executed.blocks[b], self.passed[b]);
            let more = self.executed.came_back.get(&b).copied();
            let more = more.unwrap_or_default();
            let between = Range {
                count: entered.count.min(passed.count),
                least: entered.least.min(passed.least),
                most: entered.most.saturating_add(more.most),
            };
            let exits = if more.most > 0 {
                // Others may have come back from the calls than made them, and none or some were lost in between.
                let calls = self.entry.find_leaving_calls(b, |_| false);
                let is_anywhere = self.executed.in_flight || returns.has_handlers;
                let have_all_passed = passed == entered.plus(more);
                calls.map(|calls| (calls, have_all_passed || !is_anywhere))
            } else {
                self.find_exits(b, returns)
            };
            let range = |i: u32| match exits {
                Some(([_, last], true)) if i > last => passed,
                Some(([first, _], _)) if i > first => between,
                _ => entered,
            };
            let lines = (0..).zip(&block.lines);
            spans.push(lines.map(|(i, span)| (span, range(i))).collect());
        }
        spans
    }

    /// Those of `spans` by which lines ran: not the function's own where it only cleans up for an exception that goes
    /// on to the caller. clang gives the calls of destructors there, and the code where exceptions meet, the line of a
    /// `}` or of a `throw`. Code inlined there is that of another function. O(V + E + positions).
    pub fn spans_on_lines<'s, 'p>(
        &self,
        spans: &'s Spans<'p>,
    ) -> impl Iterator<Item = (&'p Span, Range)> + use<'s, 'p> {
        let unwinding = find_unwinding(&self.structure.cfg, &self.clauses);
        let shown = move |(b, spans): (BlockId, &'s Vec<(&'p Span, Range)>)| {
            let unwinds = unwinding.contains(b);
            let spans = spans.iter();
            spans.filter(move |(span, _)| !unwinds || span.inlined.is_some())
        };
        spans.iter_enumerated().flat_map(shown).copied()
    }

    /// The first and the last position in block `b` with a call in which control may have left it, if it did; and
    /// whether it left nowhere else.
    fn find_exits(&self, b: BlockId, returns: &KnownReturns) -> Option<([u32; 2], bool)> {
        if self.executed.blocks[b] == self.passed[b] {
            return None;
        }
        let returned = |f: FuncId| returns.functions.contains(&f);
        if let Some(calls) = self.entry.find_leaving_calls(b, returned) {
            let is_anywhere = self.executed.in_flight || returns.has_handlers;
            return Some((calls, !is_anywhere));
        }
        // Something did not come back that should have, or control left otherwise than in a call.
        let calls = self.entry.find_leaving_calls(b, |_| false)?;
        Some((calls, false))
    }

    /// Whether all its activations came to a `return`, and not to a call in tail position that may not have come back.
    fn always_returned(&self) -> bool {
        let blocks = self.structure.cfg.blocks.iter_enumerated();
        let returning =
            blocks.filter(|(_, b)| b.terminator == Terminator::Return && !b.leaves_at_end);
        let returns = returning.map(|(b, _)| self.passed[b]);
        returns.fold(Range::exact(0), Range::plus) == Range::exact(self.flow.entry)
    }

    /// The ways out of each block that has several, in the order of blocks, each with the executions in which the block
    /// asked something: without those whose way followed from where control came from
    /// ([`FunctionEntry::implied_successor`]), and without blocks to which the compiler added the choice. An edge to a
    /// block that is nothing but `unreachable`, like the one on which a `throw` would return, is no way. Where a
    /// `switch` has cases that blocks behind its default ask for ([`FunctionEntry::tests_case`]), the ways out of these
    /// are its own. O(edges).
    pub fn decisions(&self) -> impl Iterator<Item = (BlockId, Vec<(EdgeCount, Range)>)> + '_ {
        self.ways_of_choices(false)
    }

    /// The checks that Rust's compiler added, like [`CountedFunction::decisions`], in which they are not. O(edges).
    pub fn checks(&self) -> impl Iterator<Item = (BlockId, Vec<(EdgeCount, Range)>)> + '_ {
        self.ways_of_choices(true)
    }

    /// The ways out of blocks with several: of the checks of a compiler, or of all others.
    fn ways_of_choices(
        &self,
        are_checks: bool,
    ) -> impl Iterator<Item = (BlockId, Vec<(EdgeCount, Range)>)> + '_ {
        let mut implied: HashMap<CfgEdge, u64> = HashMap::new();
        for (e, _) in &self.edges {
            if let Some((block, succ)) = self.entry.implied_behind(e.edge) {
                let sum = implied.entry(CfgEdge { block, succ }).or_default();
                *sum = sum.saturating_add(e.count);
            }
        }
        let is_possible = |(e, _): &&(EdgeCount, Range)| {
            let to = self.structure.cfg.block(e.dst);
            e.count > 0 || to.terminator != Terminator::Unreachable || to.instructions > 1
        };
        let blocks = self.ways_by_block();
        let asked = move |&(e, range): &(EdgeCount, Range)| {
            let less = implied.get(&e.edge).copied().unwrap_or(0);
            let count = e.count.saturating_sub(less);
            (EdgeCount { count, ..e }, range)
        };
        let ways = blocks.map(move |(block, ways)| {
            let possible = ways.iter().filter(is_possible).map(&asked);
            (block, possible.collect::<Vec<_>>())
        });
        ways.filter(move |(block, ways)| {
            let is_check = || self.manifest.failing_check(self.f, *block).is_some();
            ways.len() > 1 && !self.entry.is_generated(*block) && is_check() == are_checks
        })
    }

    /// The ways out of each block, in the order of blocks, with tests for cases as part of their `switch`. O(edges).
    fn ways_by_block(&self) -> impl Iterator<Item = (BlockId, Vec<(EdgeCount, Range)>)> + '_ {
        let of_block = |b: BlockId| {
            let first = self.edges.partition_point(|(e, _)| e.edge.block < b);
            let own = self.edges[first..].iter();
            own.take_while(move |(e, _)| e.edge.block == b).copied()
        };
        let blocks = self
            .edges
            .chunk_by(|(a, _), (b, _)| a.edge.block == b.edge.block);
        let blocks = blocks.map(|ways| ways[0].0.edge.block);
        let blocks = blocks.filter(|b| !self.entry.tests_case(*b));
        blocks.map(move |block| {
            let mut ways: Vec<(EdgeCount, Range)> = of_block(block).collect();
            // Each test has the next one behind it, if any; a manifest may claim that they go round in a circle.
            for _ in 0..self.structure.cfg.len() {
                let test = ways.iter().position(|(e, _)| self.entry.tests_case(e.dst));
                let Some(test) = test else { break };
                let (to_test, _) = ways.remove(test);
                ways.extend(of_block(to_test.dst));
            }
            (block, ways)
        })
    }

    /// The selected functions that are profiled, those that never ran too. Near-linear in the total length of the
    /// paths.
    ///
    /// # Errors
    /// A damaged profile, or one of estimates.
    pub fn find_selected(
        profile: &'a Profile,
        selection: &Selection,
    ) -> Result<Vec<CountedFunction<'a>>> {
        let wanted = selection.profiled_functions(profile).into_par_iter();
        wanted.map(|f| CountedFunction::new(profile, f)).collect()
    }
}

/// The blocks that only clean up for an exception: control comes to them from landing pads alone, and from them neither
/// to a `return` nor to the clause of a `catch`, of which `begin` are the first blocks. Code of clauses is no such
/// code, even if it never returns. O(V + E).
fn find_unwinding(cfg: &Cfg, begin: &[BlockId]) -> IdSet<BlockId> {
    let is_pad =
        |b: BlockId, succ: usize| cfg.block(b).terminator == Terminator::Invoke && succ == 1;
    let goes_on = |b: BlockId| {
        let succs = cfg.block(b).succs.iter().enumerate();
        succs
            .filter(move |(succ, _)| !is_pad(b, *succ))
            .map(|(_, to)| *to)
    };
    let entry = (!cfg.is_empty()).then_some(BlockId(0));
    let first = entry.into_iter().chain(begin.iter().copied());
    let normal = find_reachable(cfg.len(), first, goes_on);
    let pads = cfg.ids().filter_map(|b| {
        let pad = cfg.block(b).succs.get(1);
        pad.copied().filter(|_| is_pad(b, 1))
    });
    let mut unwinding = find_reachable(cfg.len(), pads, |b| cfg.block(b).succs.iter().copied());
    let mut before: TiVec<BlockId, Vec<BlockId>> = ti_vec![Vec::new(); cfg.len()];
    for b in cfg.ids() {
        cfg.block(b).succs.iter().for_each(|to| before[*to].push(b));
    }
    let returns = cfg
        .ids()
        .filter(|b| cfg.block(*b).terminator == Terminator::Return);
    let ends = returns.chain(begin.iter().copied());
    let handled = find_reachable(cfg.len(), ends, |b| before[b].iter().copied());
    unwinding.difference_with(&normal);
    unwinding.difference_with(&handled);
    unwinding
}

/// The blocks that control comes to from `first` by `next`, these included.
fn find_reachable<I: Iterator<Item = BlockId>>(
    blocks: usize,
    first: impl Iterator<Item = BlockId>,
    next: impl Fn(BlockId) -> I,
) -> IdSet<BlockId> {
    let mut found = IdSet::with_capacity(blocks);
    let mut open: Vec<BlockId> = first.collect();
    while let Some(b) = open.pop() {
        if !found.put(b) {
            open.extend(next(b));
        }
    }
    found
}

/// The blocks of a function that begin the clause of a `catch`.
fn find_clauses(profile: &Profile, entry: &FunctionEntry) -> Vec<BlockId> {
    let calls = profile.manifest.outside_calls(entry);
    let begins = calls.filter(|(_, name)| *name == BEGIN_CATCH);
    begins.map(|(b, _)| b).collect()
}
