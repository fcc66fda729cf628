//! Whether an outcome that no branch of a condition had surely never came up.
//!
//! Where code was not optimised, every evaluation of a condition is a branch. An optimiser leaves fewer: it decides
//! copies of a condition itself, in an inlined call with a constant, in an iteration that it took out of a loop, or
//! behind a branch that says as much. So of optimised code, two proofs are asked for.
//!
//! - **By a call**: the outcome leads to a call that no optimiser can remove, and no copy of that ran.
//! - **By the flow**: the condition is in a function that is never inlined, its loops were not split, and on what ran
//!   there is no way past its branches to where the outcome leads.
//!
//! Neither is one if code ran that the outcome leads to, or if something else in the program decides the same text.

use crate::base::index::{BlockId, CfgEdge, IdSet};
use crate::input::ir::Loc;
use crate::input::load::positions::{Asks, Optimised, Test};
use crate::profile::manifest::FunctionEntry;
use crate::read::analysis::counted::CountedFunction;
use crate::read::report::loops;
use crate::read::report::words::Words;
use crate::read::source::{Branches, Bytes, Condition, Sources, Text};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A way out of a branch: the number of the function among those that are counted, and the edge.
pub(super) type Edge = (usize, CfgEdge);

/// What is known of the functions of a profile.
pub(super) struct Certainty<'a> {
    words: Words<'a>,
    sources: &'a Sources,
    counted: &'a [CountedFunction<'a>],
    /// By file: lines and columns of code that ran, those of inlined calls too; and the conditions that something
    /// decides.
    executed: OnceCell<HashMap<u32, BTreeSet<(u32, u32)>>>,
    decided: OnceCell<HashMap<u32, Vec<Bytes>>>,
    /// How many functions begin at a line: instances of a template may.
    beginning: OnceCell<HashMap<Loc, usize>>,
}

/// A condition whose branches lack an outcome.
struct Lacking<'c> {
    condition: Arc<Condition>,
    text: &'c Text,
    file: u32,
    /// Which outcome, if it is one of `true` and `false`.
    outcome: Option<bool>,
    /// The ways that have it.
    edges: &'c [Edge],
}

impl<'a> Certainty<'a> {
    /// Nothing is computed before it is asked for.
    pub(super) fn new(
        words: Words<'a>,
        sources: &'a Sources,
        counted: &'a [CountedFunction<'a>],
    ) -> Certainty<'a> {
        Certainty {
            words,
            sources,
            counted,
            executed: OnceCell::new(),
            decided: OnceCell::new(),
            beginning: OnceCell::new(),
        }
    }

    /// Whether an outcome surely never came up that none of `edges` had, which are all ways of a condition with that
    /// outcome. `is_everywhere`: whether every branch of the condition has such a way. O(blocks of its functions), and
    /// once O(blocks of all).
    pub(super) fn is_never(&self, outcome: &str, edges: &[Edge], is_everywhere: bool) -> bool {
        let is_plain = |(f, _): &Edge| self.counted[*f].entry.optimised == Optimised::No;
        if edges.iter().all(is_plain) {
            return true;
        }
        let outcome = match outcome {
            "true" => Some(true),
            "false" => Some(false),
            _ if outcome.starts_with('→') => return false,
            _ => None,
        };
        let lacking = is_everywhere
            .then(|| self.find_lacking(outcome, edges))
            .flatten();
        lacking.is_some_and(|lacking| {
            let is_alone = !self.is_decided_elsewhere(&lacking) && !self.ran_behind(&lacking);
            is_alone && (self.is_shown_by_call(&lacking) || self.is_shown_by_flow(&lacking))
        })
    }

    fn find_lacking<'c>(&'c self, outcome: Option<bool>, edges: &'c [Edge]) -> Option<Lacking<'c>> {
        let (f, edge) = edges.first()?;
        let counted = &self.counted[*f];
        let site = counted.entry.choice(edge.block)?.site?;
        let judged = self.branches(*f).get(&edge.block)?.clone();
        Some(Lacking {
            condition: judged.condition,
            text: self.sources.text(site.loc.file)?,
            file: site.loc.file,
            outcome,
            edges,
        })
    }

    fn branches(&self, f: usize) -> Arc<Branches> {
        self.words.branches(self.counted[f].f)
    }

    /// Whether some branch that ran decides a larger part of the text, or something chooses there without a branch.
    fn is_decided_elsewhere(&self, lacking: &Lacking) -> bool {
        let own = &lacking.condition.bytes;
        let decided = self.decided.get_or_init(|| self.find_decided());
        let mut others = decided.get(&lacking.file).into_iter().flatten();
        others.any(|other| {
            let overlaps = other.start < own.end && own.start < other.end;
            overlaps && !(own.start <= other.start && other.end <= own.end)
        })
    }

    /// By file: the conditions of branches that ran, and the places of what chooses without a branch. O(choices).
    fn find_decided(&self) -> HashMap<u32, Vec<Bytes>> {
        let mut decided: HashMap<u32, Vec<Bytes>> = HashMap::new();
        for (f, counted) in self.counted.iter().enumerate() {
            for (block, judged) in self.branches(f).iter() {
                let site = counted.entry.choice(*block).and_then(|choice| choice.site);
                if let Some(site) = site.filter(|_| counted.executed.blocks[*block].most > 0) {
                    let of_file = decided.entry(site.loc.file).or_default();
                    of_file.push(judged.condition.bytes.clone());
                }
            }
            for site in counted.entry.branchless_sites() {
                let text = self.sources.text(site.loc.file);
                let whole = text.and_then(|t| t.whole_condition(site.loc.line, site.column));
                if let Some((condition, _)) = whole {
                    // One byte more, so that it is not inside a condition with the same bytes.
                    let bytes = condition.bytes.start..condition.bytes.end + 1;
                    decided.entry(site.loc.file).or_default().push(bytes);
                }
            }
        }
        decided
    }

    /// Whether code ran that the outcome leads to.
    fn ran_behind(&self, lacking: &Lacking) -> bool {
        let executed = self.executed.get_or_init(|| self.find_executed());
        let Some((of_file, bytes)) = executed.get(&lacking.file).zip(lacking.first_target()) else {
            return false;
        };
        let [from, to] = [bytes.start, bytes.end].map(|offset| lacking.text.position(offset));
        of_file.range(from..to).next().is_some()
    }

    /// O(positions · calls around each).
    fn find_executed(&self) -> HashMap<u32, BTreeSet<(u32, u32)>> {
        let manifest = &self.words.profile().manifest;
        let mut executed: HashMap<u32, BTreeSet<(u32, u32)>> = HashMap::new();
        for counted in self.counted {
            let blocks = counted.structure.cfg.blocks.iter_enumerated();
            let ran = blocks.filter(|(b, _)| counted.executed.blocks[*b].most > 0);
            for span in ran.flat_map(|(_, block)| &block.lines) {
                let calls = manifest.calls_around(span.inlined);
                let calls = calls.map(|n| &manifest.inlined[n as usize]);
                let calls = calls.map(|call| (call.file, call.line, call.column));
                let own = (span.loc.file, span.loc.line, span.column);
                for (file, line, column) in std::iter::once(own).chain(calls) {
                    executed.entry(file).or_default().insert((line, column));
                }
            }
        }
        executed
    }

    /// Whether every way of the outcome leads at once to a call that is there whenever that is true. Such a call has a
    /// line of its own, so that it is not taken for what stands before it.
    fn is_shown_by_call(&self, lacking: &Lacking) -> bool {
        let Some(leads) = lacking.first_target() else {
            return false;
        };
        let line = |offset: usize| lacking.text.position(offset).0;
        let last = line(lacking.condition.bytes.end - 1);
        lacking.edges.iter().any(|(f, edge)| {
            let entry = self.counted[*f].entry;
            let Some(site) = entry.choice(edge.block).and_then(|choice| choice.site) else {
                return false;
            };
            let to = entry.succs[edge.block][edge.succ as usize];
            let Some(first) = find_lasting_call(entry, to) else {
                return false;
            };
            let Some(span) = entry.spans(to).nth(first as usize) else {
                return false;
            };
            let is_own = span.loc.file == lacking.file && span.inlined == site.inlined;
            let at = lacking.text.offset(span.loc.line, span.column);
            let is_led_to = |at: usize| {
                let is_behind = leads.contains(&at) && line(at) > last;
                is_behind && lacking.text.runs_straight(leads.start..at)
            };
            is_own && at.is_some_and(is_led_to) && is_entered_by(entry, to, edge.block)
        })
    }

    /// Whether all branches of the condition are in one function, and control cannot have come by where the outcome
    /// leads without them.
    fn is_shown_by_flow(&self, lacking: &Lacking) -> bool {
        let f = lacking.edges[0].0;
        let counted = &self.counted[f];
        let entry = counted.entry;
        let is_outlined = entry.optimised == Optimised::NeverInlined;
        if !is_outlined
            || !self.is_compiled_once(entry)
            || lacking.edges.iter().any(|(other, _)| *other != f)
        {
            return false;
        }
        let branches = self.branches(f);
        let same = branches
            .iter()
            .filter(|(_, judged)| judged.condition.bytes == lacking.condition.bytes);
        let places: Vec<BlockId> = same.map(|(block, _)| *block).collect();
        let sites = places.iter().map(|b| entry.choice(*b).and_then(|c| c.site));
        if !sites.flatten().all(|site| site.inlined.is_none()) {
            return false;
        }
        let tests = || places.iter().map(|b| entry.choice(*b)?.by.test);
        if tests().flatten().any(|test| is_in_part(&test)) {
            return false;
        }
        let flow = PassedBy::new(counted, &places);
        // Of a loop's own condition, a copy may stand before the loop; of one that the optimiser removed, that alone.
        let (loops, bodies) = lacking.text.loops_around(lacking.condition.bytes.start);
        let is_unrolled = flow.depths().any(|n| n < bodies) || flow.depths().all(|n| n < loops);
        if is_unrolled || flow.is_in_split_loop() {
            return false;
        }
        let mut targets = lacking
            .edges
            .iter()
            .map(|(_, e)| entry.succs[e.block][e.succ as usize]);
        let is_fresh = |test: Option<Test>| test.is_some_and(|test| lacking.is_computed(&test));
        let passed_by = flow.find_reached();
        targets.all(|to| !passed_by.contains(to)) || tests().all(is_fresh)
    }
}

impl Certainty<'_> {
    /// Whether no other function begins where this one does. O(functions) once.
    fn is_compiled_once(&self, entry: &FunctionEntry) -> bool {
        let beginning = self.beginning.get_or_init(|| {
            let mut beginning: HashMap<Loc, usize> = HashMap::new();
            let profile = self.words.profile();
            for loc in profile
                .functions()
                .filter_map(|f| profile.entry(f).find_start())
            {
                *beginning.entry(loc).or_default() += 1;
            }
            beginning
        });
        entry.find_start().is_some_and(|loc| beginning[&loc] == 1)
    }
}

impl Lacking<'_> {
    /// What the outcome leads to, as far as the text says.
    fn first_target(&self) -> Option<Bytes> {
        if self.outcome? {
            self.condition.then.clone()
        } else {
            self.condition.otherwise.clone()
        }
    }

    /// Whether what is tested is what a call in the text of the condition returned: nobody knows that before.
    fn is_computed(&self, test: &Test) -> bool {
        let is_here = |at: [u32; 2]| self.text.is_inside(&self.condition, at);
        test.callee.is_some() && test.left.or(test.at).is_some_and(is_here)
    }
}

/// Whether a test may be a part of what the text says, or more.
fn is_in_part(test: &Test) -> bool {
    test.inlined || test.asks == Asks::Joined || !test.known.is_empty()
}

/// Where in the spans of a block its first call of code outside the program is that may not return, and so has to be
/// there.
fn find_lasting_call(entry: &FunctionEntry, b: BlockId) -> Option<u32> {
    let calls = entry.left_outside.as_ref()?;
    let found = calls.binary_search_by_key(&b, |l| l.0).ok()?;
    Some(calls[found].1[0])
}

/// Whether control comes to block `to` from block `from` alone.
fn is_entered_by(entry: &FunctionEntry, to: BlockId, from: BlockId) -> bool {
    let others = entry.succs.iter_enumerated().filter(|(b, _)| *b != from);
    let ways = entry.succs[from].iter().filter(|b| **b == to).count();
    ways == 1 && !others.flat_map(|(_, succs)| succs).any(|b| *b == to)
}

/// A function's executed edges without the ways out of some blocks.
struct PassedBy<'a> {
    counted: &'a CountedFunction<'a>,
    places: &'a [BlockId],
    /// The loops around these blocks: their headers, and the blocks inside.
    loops: Vec<(BlockId, IdSet<BlockId>)>,
}

impl<'a> PassedBy<'a> {
    /// O(loops · edges).
    fn new(counted: &'a CountedFunction<'a>, places: &'a [BlockId]) -> PassedBy<'a> {
        let structure = &counted.structure;
        let cfg = &structure.cfg;
        let predecessors = cfg.predecessors();
        let back = structure.paths.shape.order.back_edges(cfg);
        let mut headers: Vec<BlockId> = back.map(|(_, header)| header).collect();
        headers.sort_unstable();
        headers.dedup();
        let body = |header| {
            let inside = loops::body(structure, &predecessors, header);
            let mut blocks = IdSet::with_capacity(cfg.len());
            blocks.extend(cfg.ids().filter(|b| inside[*b]));
            (header, blocks)
        };
        let loops = headers.into_iter().map(body);
        let around = |(_, inside): &(_, IdSet<BlockId>)| places.iter().any(|b| inside.contains(*b));
        PassedBy {
            counted,
            places,
            loops: loops.filter(around).collect(),
        }
    }

    /// Whether the optimiser may have made several loops of one around a place.
    fn is_in_split_loop(&self) -> bool {
        let split = self.counted.entry.split_loops.iter();
        let mut ends = split.flat_map(|b| {
            let succs = &self.counted.entry.succs[*b];
            self.loops
                .iter()
                .filter(|(header, _)| succs.contains(header))
        });
        ends.next().is_some()
    }

    /// How many loops are around each place.
    fn depths(&self) -> impl Iterator<Item = usize> + '_ {
        let depth = |b: &BlockId| self.loops.iter().filter(|(_, l)| l.contains(*b)).count();
        self.places.iter().map(depth)
    }

    /// The blocks to which control came from the function's entry, or in another iteration of a loop around a place,
    /// without coming by a place. O(edges).
    fn find_reached(&self) -> IdSet<BlockId> {
        let order = &self.counted.structure.paths.shape.order;
        let mut next: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
        for (e, range) in &self.counted.edges {
            let leaves_place = self.places.contains(&e.edge.block);
            let goes_back = order.is_retreating(e.edge.block, e.dst);
            if range.most > 0 && !leaves_place && !goes_back {
                next.entry(e.edge.block).or_default().push(e.dst);
            }
        }
        let mut reached = IdSet::with_capacity(self.counted.structure.cfg.len());
        let mut open: Vec<BlockId> = self.loops.iter().map(|(header, _)| *header).collect();
        open.push(BlockId(0));
        while let Some(b) = open.pop() {
            if !reached.contains(b) {
                reached.insert(b);
                open.extend(next.get(&b).into_iter().flatten());
            }
        }
        reached
    }
}
