//! Executions of functions, lines and branches by source file: what tools that show coverage by lines read.
//!
//! A line ran as often as the code on it that ran most: in every function that has code on it and in every call that
//! was inlined there, added up. The line of a call that was inlined ran as often as control came to the callee's code,
//! which may be all that is left of it. Of a branch all ways out of its block are listed. Functions without debug
//! information are not in it.
//!
//! Behind a call that may not have come back, code of the block ran as often as control came to the block's end;
//! between two such calls at least so often ([`CountedFunction::spans`]).
//!
//! A body that nothing entered has no lines or branches here if its code ran elsewhere: the optimiser left some lines
//! in that body alone, and whether those ran where it was inlined is not known ([`UnusedBodies`]).
//!
//! A line ran at least as often as it says: what activations ran before they were left by `exit`, `longjmp` or an
//! exception counts as far as it is known (`profile::left`). A line that only such an activation may have run is left
//! out, as is a branch one way of which only such an activation may have taken: nobody knows whether it is covered.

mod consistent;
mod functions;
mod harness;
mod own;
mod unused;

use crate::input::ir::{Loc, Site, Span};
use crate::profile::Profile;
use crate::profile::left::Range;
use crate::read::analysis::counted::{CountedFunction, KnownReturns};
use crate::read::source::markers::Markers;
use std::collections::{BTreeMap, BTreeSet};

pub use consistent::lambda_name;
pub use functions::FunctionLines;
use functions::InlinedCalls;
pub use harness::Harness;
pub use own::by_function;
pub use unused::UnusedBodies;

/// What is known of one source file.
#[derive(Default)]
pub struct SourceFile {
    /// By symbol.
    pub functions: BTreeMap<String, FunctionLines>,
    lines: BTreeMap<u32, Range>,
    /// By line: each branch on it, with the executions of its ways; `None` where it was never reached.
    pub branches: BTreeMap<u32, Vec<Vec<Option<u64>>>>,
    /// By line: the ways out of the branches on it of which it is not known whether they were taken.
    unknown_ways: BTreeMap<u32, u32>,
}

impl SourceFile {
    /// Leaves what is on `lines` alone.
    pub fn retain_lines(&mut self, lines: &BTreeSet<u32>) {
        self.lines.retain(|line, _| lines.contains(line));
        self.branches.retain(|line, _| lines.contains(line));
        self.unknown_ways.retain(|line, _| lines.contains(line));
    }

    /// Adds executions of a line.
    fn add_line(&mut self, line: u32, range: Range) {
        let sum = self.lines.entry(line).or_default();
        *sum = sum.plus(range);
    }

    /// Adds a branch with so many ways, `None` if it is not known what became of it.
    fn add_branch(&mut self, line: u32, ways: Option<Vec<Option<u64>>>, number: u32) {
        match ways {
            Some(ways) => self.branches.entry(line).or_default().push(ways),
            None => *self.unknown_ways.entry(line).or_default() += number,
        }
    }

    /// The lines with code of which it is not known whether they ran, ascending.
    pub fn unknown_lines(&self) -> impl Iterator<Item = u32> + '_ {
        let unknown = self.lines.iter().filter(|(_, r)| r.may_have_run());
        unknown.map(|(line, _)| *line)
    }

    /// How many ways out of branches are in none of [`SourceFile::branches`], since it is not known whether they were
    /// taken.
    pub fn count_unknown_ways(&self) -> u64 {
        self.unknown_ways.values().map(|n| u64::from(*n)).sum()
    }

    /// The lines of which it is known whether they ran, and how often they did: at least so often, where
    /// [`SourceFile::line_ranges`] is not exact.
    pub fn lines(&self) -> impl Iterator<Item = (u32, u64)> + Clone + '_ {
        self.line_ranges().map(|(line, range)| (line, range.count))
    }

    /// The lines of which it is known whether they ran, with all that is known of how often they did.
    pub fn line_ranges(&self) -> impl Iterator<Item = (u32, Range)> + Clone + '_ {
        let known = self.lines.iter().filter(|(_, r)| !r.may_have_run());
        known.map(|(line, range)| (*line, *range))
    }

    /// The functions in the order of their lines, each with its symbol.
    pub fn functions_in_order(&self) -> Vec<(&str, FunctionLines)> {
        let mut functions: Vec<(&str, FunctionLines)> = self
            .functions
            .iter()
            .map(|(s, f)| (s.as_str(), *f))
            .collect();
        functions.sort_by_key(|(symbol, f)| (f.line, *symbol));
        functions
    }
}

/// The source files that `functions` have code of, by name, but for what `markers` leave out; none without debug
/// information. Near-linear in blocks and positions.
pub fn by_line<'a>(
    profile: &'a Profile,
    functions: &[CountedFunction<'a>],
    markers: &Markers,
) -> BTreeMap<&'a str, SourceFile> {
    let mut sources: BTreeMap<&str, SourceFile> = BTreeMap::new();
    let name = |file: u32| profile.manifest.files[file as usize].as_str();
    let returns = KnownReturns::find(profile, functions);
    let unused = UnusedBodies::find(profile, functions);
    let evidence = LineEvidence {
        profile,
        returns: &returns,
        unused: &unused,
        markers,
    };
    let mut inlined: Vec<InlinedCalls> = Vec::new();
    for f in functions {
        if unused.contains_function(f.f) {
            inlined.push(InlinedCalls::new());
            continue;
        }
        let file_of = |loc: Loc, _| [loc.file];
        let (lines, calls) = evidence.find_lines(f, file_of);
        for ((file, line, _), range) in lines {
            let source = sources.entry(name(file)).or_default();
            source.add_line(line, range);
        }
        inlined.push(calls);
        evidence.find_branches(f, &mut |site, ways, number| {
            let source = sources.entry(name(site.loc.file)).or_default();
            source.add_branch(site.loc.line, ways, number);
        });
    }
    functions::add(
        profile,
        functions,
        &inlined,
        &unused.harness,
        markers,
        &mut sources,
    );
    for (name, source) in &mut sources {
        source.make_consistent(name);
    }
    sources
}

/// Executions by a key, a line and the inlined call that has it.
type LinesBy<K> = BTreeMap<(K, u32, Option<u32>), Range>;

/// What code tells of lines and branches: all but what markers leave out, and what [`UnusedBodies`] say nothing of.
struct LineEvidence<'a> {
    profile: &'a Profile,
    returns: &'a KnownReturns,
    unused: &'a UnusedBodies<'a>,
    markers: &'a Markers,
}

impl LineEvidence<'_> {
    /// How often the code of `f` ran on each line, under all that `keys` has for a place and its inlined call, and
    /// apart for each inlined call: as often as what ran most. Also the code of these calls.
    fn find_lines<K: Ord, L: IntoIterator<Item = K>>(
        &self,
        f: &CountedFunction,
        keys: impl Fn(Loc, Option<u32>) -> L,
    ) -> (LinesBy<K>, InlinedCalls) {
        let mut lines = LinesBy::new();
        let mut add = |span: &Span, range: Range| {
            if !self.unused.tells_at(f.f, span.loc, span.inlined) {
                return;
            }
            for key in keys(span.loc, span.inlined) {
                let most = lines.entry((key, span.loc.line, span.inlined)).or_default();
                *most = most.larger_bounds(range);
            }
        };
        let spans = f.spans(self.returns);
        for (span, range) in f.spans_on_lines(&spans) {
            if self.markers.counts(span) {
                add(span, range);
            }
        }
        let calls = functions::inlined_code(self.profile, f, &spans, self.markers);
        for (site, range) in functions::call_sites(self.profile, &calls, self.markers) {
            add(&site, range);
        }
        (lines, calls)
    }

    /// Gives `found` each branch: its position, the executions of its ways, `None` if it is not known what became of
    /// it, and the number of its ways.
    fn find_branches(
        &self,
        f: &CountedFunction,
        found: &mut impl FnMut(Site, Option<Vec<Option<u64>>>, u32),
    ) {
        for (block, ways) in f.decisions() {
            let Some(site) = f.entry.decision_site(block) else {
                continue;
            };
            let is_left_out = self.markers.branches(site.loc.file, site.loc.line);
            if is_left_out || !self.unused.tells_at(f.f, site.loc, site.inlined) {
                continue;
            }
            let is_known = !ways.iter().any(|(_, r)| r.may_have_run());
            let number = ways.len() as u32;
            let reached = ways.iter().any(|(w, _)| w.count > 0);
            let ways = ways.iter().map(|(w, _)| reached.then_some(w.count));
            found(site, is_known.then(|| ways.collect()), number);
        }
    }
}
