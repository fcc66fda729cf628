//! Functions by source file: where each begins and ends, and how often it was entered, code that was inlined included.
//!
//! Debug information says where a function begins, and not where it ends: its last line here is the last one with code
//! of its own. Of a function that has no body of its own any more, the first such line stands for the one that it
//! begins at.
//!
//! An inlined call is entered where control first comes to its code: at the blocks with code of it that no other such
//! block dominates. If one of these is the header of a loop that was inlined with it, then what comes back from inside
//! does not count; the code is known by its positions, so that what the optimiser moved out of it, or gave no position,
//! is not seen.

use super::SourceFile;
use super::harness::Harness;
use crate::base::index::BlockId;
use crate::input::ir::{Loc, Span};
use crate::paths::dag::{Dominators, Order};
use crate::profile::Profile;
use crate::profile::left::Range;
use crate::read::analysis::counted::{CountedFunction, Spans};
use crate::read::source::markers::Markers;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Of one inlined call, at most this many first blocks are looked at: one, but for code that the optimiser has
/// duplicated.
const FIRST_BLOCKS: usize = 16;

/// A function in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionLines {
    /// The line it begins at.
    pub line: u32,
    /// The last line with code of its own.
    pub end: u32,
    /// How often it was entered, inlined or not.
    pub entered: u64,
}

impl FunctionLines {
    fn join(&mut self, other: FunctionLines) {
        self.line = self.line.min(other.line);
        self.end = self.end.max(other.end);
        self.entered = self.entered.saturating_add(other.entered);
    }
}

/// Adds the functions to their files, but for those of `harness`.
pub(super) fn add<'a>(
    profile: &'a Profile,
    functions: &[CountedFunction],
    inlined: &[InlinedCalls],
    harness: &Harness,
    markers: &Markers,
    sources: &mut BTreeMap<&'a str, SourceFile>,
) {
    let name = |file: u32| profile.manifest.files[file as usize].as_str();
    let mut homes: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    // Whether functions without a count were entered on paths that are not selected is not known.
    let is_known = |f: &&CountedFunction| f.flow.entry > 0 || !f.executed.is_partial;
    // Those of which somewhere it is not known whether they ran.
    let unknown = functions.iter().filter(|f| !is_known(f));
    let mut unknown: HashSet<&str> = unknown.map(|f| f.entry.name.as_str()).collect();
    for f in functions.iter().filter(is_known) {
        if harness.contains_function(f.f) {
            continue;
        }
        let begins = f.entry.find_own_beginning();
        let Some(begins) = begins.filter(|l| markers.is_shown(l.file, l.line)) else {
            continue;
        };
        let spans = f.structure.cfg.blocks.iter().flat_map(|b| &b.lines);
        let own = spans.map(|s| outermost_place(profile, s));
        let own = own.filter(|l| l.file == begins.file);
        let lines = FunctionLines {
            line: begins.line,
            end: own.map(|l| l.line).max().unwrap_or(0).max(begins.line),
            entered: f.flow.entry,
        };
        let file = name(begins.file);
        insert(sources, file, &f.entry.name, lines);
        homes.entry(&f.entry.name).or_default().insert(file);
    }
    // A function that was inlined everywhere has no body of its own: it was entered where its code is.
    for (f, calls) in functions.iter().zip(inlined) {
        for (&call, code) in calls {
            let symbol = &profile.manifest.inlined[call as usize].function;
            if harness.has_symbol(symbol) {
                continue;
            }
            let is_known = !f.executed.is_partial && !code.most.may_have_run();
            if !is_known && code.count_entries() == 0 {
                unknown.insert(symbol);
                continue;
            }
            let home = homes.get(symbol.as_str());
            let file = match (code.own, home.map(|h| (h, h.len()))) {
                (Some((file, ..)), None) => name(file),
                (Some((file, ..)), Some((home, _))) if home.contains(name(file)) => name(file),
                // All of its own code is gone, or is that of an included file.
                (_, Some((home, 1))) => home.first().expect("one"),
                _ => continue,
            };
            let known = sources.get(file).and_then(|s| s.functions.get(symbol));
            let has_body = home.is_some_and(|h| h.contains(file));
            let (first, last) = code
                .own
                .map_or((u32::MAX, 0), |(_, first, last)| (first, last));
            let line = known.filter(|_| has_body).map_or(first, |k| k.line);
            let lines = FunctionLines {
                line,
                end: last.max(line),
                entered: code.count_entries(),
            };
            insert(sources, file, symbol, lines);
        }
    }
    // That such a function did not run elsewhere does not say that it never ran.
    for source in sources.values_mut() {
        let functions = &mut source.functions;
        functions.retain(|symbol, f| f.entered > 0 || !unknown.contains(symbol.as_str()));
    }
}

fn insert<'a>(
    sources: &mut BTreeMap<&'a str, SourceFile>,
    file: &'a str,
    symbol: &str,
    lines: FunctionLines,
) {
    let functions = &mut sources.entry(file).or_default().functions;
    match functions.get_mut(symbol) {
        Some(known) => known.join(lines),
        None => {
            functions.insert(symbol.to_string(), lines);
        }
    }
}

/// The code of every inlined call in a function, by the call.
pub(super) type InlinedCalls = BTreeMap<u32, InlinedCode>;

/// The code of one inlined call in a function.
#[derive(Default)]
pub(super) struct InlinedCode {
    /// The file, the first and the last line of what is not inlined into it in turn.
    own: Option<(u32, u32, u32)>,
    /// Where control first comes to it.
    first: Vec<BlockId>,
    /// How often control came there from outside.
    entered: u64,
    /// How often control came from outside to the one block of `first` to which it came most often.
    most: Range,
    /// Whether it is known that any of its code ran.
    ran: bool,
}

impl InlinedCode {
    /// How often it was entered: once at least, if any of it ran.
    fn count_entries(&self) -> u64 {
        self.entered.max(u64::from(self.ran))
    }

    /// How often the line of the call ran: as often as its most entered copy, and once at least, if any of it ran.
    fn executions(&self) -> Range {
        if self.ran && self.most.least == 0 {
            Range::at_least(1)
        } else {
            self.most
        }
    }

    fn add_own(&mut self, loc: Loc) {
        let (file, first, last) = self.own.unwrap_or((loc.file, loc.line, loc.line));
        if file == loc.file {
            self.own = Some((file, first.min(loc.line), last.max(loc.line)));
        }
    }
}

/// The calls of a function whose callee's code stands in place of them: where each is, and how often its line ran. A
/// loop that was inlined counts once each time that control comes to it.
pub(super) fn call_sites(
    profile: &Profile,
    calls: &InlinedCalls,
    markers: &Markers,
) -> Vec<(Span, Range)> {
    let sites = calls.iter().map(|(number, code)| {
        let call = &profile.manifest.inlined[*number as usize];
        let site = Span {
            loc: Loc {
                file: call.file,
                line: call.line,
            },
            column: call.column,
            inlined: call.within,
            instructions: 0,
        };
        (site, code.executions())
    });
    let is_shown = |s: &Loc| s.line > 0 && markers.is_shown(s.file, s.line);
    sites.filter(|(site, _)| is_shown(&site.loc)).collect()
}

/// Where code of a function is in the function itself: of inlined code, the outermost call.
fn outermost_place(profile: &Profile, span: &Span) -> Loc {
    let calls = &profile.manifest.inlined;
    let chain = profile.manifest.calls_around(span.inlined);
    chain.last().map_or(span.loc, |n| Loc {
        file: calls[n as usize].file,
        line: calls[n as usize].line,
    })
}

/// The code of every inlined call in `f`, which ran as often as the `spans` of `f` say: control may have left its block
/// before it. O(positions × depth of inlining + E).
pub(super) fn inlined_code(
    profile: &Profile,
    f: &CountedFunction,
    spans: &Spans,
    markers: &Markers,
) -> InlinedCalls {
    let mut found = InlinedCalls::new();
    let blocks = &f.structure.cfg.blocks;
    if blocks
        .iter()
        .flat_map(|b| &b.lines)
        .all(|s| s.inlined.is_none())
    {
        return found;
    }
    let order = &f.structure.paths.shape.order;
    let dominators = Dominators::new(&f.structure.cfg);
    let arrivals = find_arrivals(f, order);
    // In reverse postorder a dominator comes before what it dominates.
    for &b in &order.rpo {
        for (call, range) in calls_on(profile, &spans[b]) {
            let count = if range.may_have_run() { 0 } else { range.count };
            let code = found.entry(call).or_default();
            code.ran |= count > 0;
            if code.first.len() >= FIRST_BLOCKS
                || code.first.iter().any(|a| dominators.dominates(*a, b))
            {
                continue;
            }
            code.first.push(b);
            let (mut again, mut onward) = (0u64, 0u64);
            for edge in arrivals.get(&b).into_iter().flatten() {
                let from = &blocks[edge.from].lines;
                if edge.is_back && is_inside(profile, from, call) {
                    again = again.saturating_add(edge.count);
                } else if !edge.is_back && ends_inside(profile, from, call) {
                    onward = onward.saturating_add(edge.count);
                }
            }
            let within = again.saturating_add(onward);
            code.entered = code.entered.saturating_add(count.saturating_sub(within));
            code.most = code.most.larger_bounds(range.without_known(again));
        }
        let left = |s: &&Span| markers.is_shown(s.loc.file, s.loc.line);
        for span in blocks[b].lines.iter().filter(left) {
            if let Some(call) = span.inlined {
                found.entry(call).or_default().add_own(span.loc);
            }
        }
    }
    found
}

/// An edge that was taken to a block.
struct Arrival {
    from: BlockId,
    count: u64,
    is_back: bool,
}

fn find_arrivals(f: &CountedFunction, order: &Order) -> HashMap<BlockId, Vec<Arrival>> {
    let mut arrivals: HashMap<BlockId, Vec<Arrival>> = HashMap::new();
    for (e, _) in f.edges.iter().filter(|(e, _)| e.count > 0) {
        arrivals.entry(e.dst).or_default().push(Arrival {
            from: e.edge.block,
            count: e.count,
            is_back: order.position[e.edge.block] >= order.position[e.dst],
        });
    }
    arrivals
}

/// The inlined calls that a block has code of, those around them too, each with how often control came to its first
/// code there.
fn calls_on(profile: &Profile, spans: &[(&Span, Range)]) -> BTreeMap<u32, Range> {
    let mut calls = BTreeMap::new();
    for (span, range) in spans {
        let mut at = span.inlined;
        while let Some(call) = at.filter(|c| !calls.contains_key(c)) {
            calls.insert(call, *range);
            at = profile.manifest.inlined[call as usize].within;
        }
    }
    calls
}

/// Whether the last position of a block is in an inlined call.
fn ends_inside(profile: &Profile, spans: &[Span], call: u32) -> bool {
    spans.last().is_some_and(|s| is_of_call(profile, s, call))
}

/// Whether all positions of a block are in an inlined call.
fn is_inside(profile: &Profile, spans: &[Span], call: u32) -> bool {
    !spans.is_empty() && spans.iter().all(|s| is_of_call(profile, s, call))
}

fn is_of_call(profile: &Profile, span: &Span, call: u32) -> bool {
    let mut around = profile.manifest.calls_around(span.inlined);
    around.any(|c| c == call)
}
