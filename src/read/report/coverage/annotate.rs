//! `p3-prof coverage --annotate`: sources with the executions of each line, and below lines the outcomes of conditions
//! that never came up.

use super::certain::{Certainty, Edge};
use super::headline::{SourceSums, optimised_note, share_text, verdict_note, wrapped_note};
use super::unasked::Candidates;
use super::{Scope, file};
use crate::base::error::Result;
use crate::base::index::{BlockId, CfgEdge, FuncId};
use crate::base::names::{escape_unprintable, first_columns};
use crate::base::style::{BOLD, DIM, MISSING};
use crate::base::table::{Layout, display_width, group_digits, number_of, wrap_words};
use crate::input::ir::Terminator;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::left::Range;
use crate::profile::manifest::FunctionEntry;
use crate::read::analysis::counted::CountedFunction;
use crate::read::analysis::lines::{SourceFile, by_line};
use crate::read::report::steps::Steps;
use crate::read::report::words::{Disambiguation, Said, Words};
use crate::read::report::{Decision, To};
use crate::read::source::{Sources, Text};
use anstyle::Style;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::RangeInclusive;

/// What stands for the count of a line that did not run, and of one that markers leave out.
const NEVER: &str = "never";
const EXCLUDED: &str = "excluded";
/// What stands for the count of a line of which it is not known whether it ran.
const UNKNOWN: &str = "?";
/// The outcome that a clause does not catch an exception, before the type that it catches.
const OTHER: &str = "an exception other than ";
/// Lines that are shown around what is missing.
const AROUND: u32 = 2;

/// Which lines are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annotate {
    /// All lines of a file
    All,
    /// Lines that did not run, outcomes that never came up but for exceptions of calls, and two lines around each
    Missing,
}

/// The sources in scope, each with its lines; with a selection of functions, the lines of these, and with a patch those
/// near its own. Near-linear in blocks and text.
///
/// # Errors
/// A damaged profile.
pub fn annotate_sources(
    profile: &Profile,
    sources: &Sources,
    selection: &Selection,
    scope: &Scope,
    wanted: Annotate,
    layout: Layout,
) -> Result<String> {
    // Of all functions: a line's count is that of all code on it, selected or not.
    let counted = CountedFunction::find_selected(profile, &Selection::default())?;
    let selected: BTreeSet<FuncId> = selection.functions(profile).into_iter().collect();
    let of_selected: Vec<&CountedFunction> =
        counted.iter().filter(|f| selected.contains(&f.f)).collect();
    let partial = of_selected.len() < counted.len();
    let mut never = find_never(profile, sources, scope, &counted, wanted);
    let files = by_line(profile, &counted, &scope.markers);
    let unasked = Candidates::find(profile, &counted, &files, scope);
    for (file, unasked) in unasked.resolve(Words::new(profile, sources)) {
        let file = files.get_key_value(&*file).expect("its lines are known").0;
        let of_file = never.entry(file).or_default();
        for condition in unasked {
            let said = format!("never evaluated: {}", condition.condition);
            of_file.entry(condition.line).or_default().push(said);
        }
    }
    let mut out = String::new();
    let mut shown: BTreeSet<FuncId> = BTreeSet::new();
    for (name, lines) in files {
        if !scope.admits_file(name) {
            continue;
        }
        let ranges = of_selected.iter().filter(|f| file(profile, f.f) == name);
        let ranges: Vec<_> = ranges
            .filter_map(|f| lines.functions.get(&f.entry.name))
            .map(|f| f.line..=f.end)
            .collect();
        let touched = scope.touched.as_ref();
        let touched = touched.map(|t| t.lines_of_file(profile, name));
        if partial && ranges.is_empty() || touched.as_ref().is_some_and(BTreeSet::is_empty) {
            continue;
        }
        let number = profile.manifest.files.iter().position(|f| f == name);
        let number = number.expect("a file of the manifest") as u32;
        let is_told = scope.tells_unknown(profile);
        let unknown = lines.unknown_lines().filter(|_| is_told).collect();
        let page = FilePage {
            name,
            text: sources.text(number),
            lines,
            unknown,
            never: never.remove(name).unwrap_or_default(),
            excluded: scope.markers.lines(number),
            ranges: partial.then_some(ranges),
            touched,
        };
        out += &page.render(wanted, layout);
        let of_page = of_selected.iter().filter(|f| file(profile, f.f) == name);
        shown.extend(of_page.map(|f| f.f));
    }
    let optimised = optimised_note(profile, shown.into_iter());
    Ok(wrapped_note(&verdict_note(profile), layout) + &wrapped_note(&optimised, layout) + &out)
}

/// By file and line: what never came up there, in words.
type Never<'a> = BTreeMap<&'a str, BTreeMap<u32, Vec<String>>>;
/// A condition: its file, line and column, its words, and what it is.
pub(super) type Condition<'a> = (&'a str, u32, Option<u32>, String, ChoiceKind);

/// What has several outcomes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChoiceKind {
    Condition,
    Call,
    /// Whether an exception is of the type with this symbol. All clauses of a `try` are at one position.
    Catch(String),
}

impl ChoiceKind {
    fn new(entry: &FunctionEntry, block: BlockId) -> ChoiceKind {
        let choice = entry.choice(block);
        match choice.and_then(|c| c.by.catches) {
            Some((symbol, _)) => ChoiceKind::Catch(symbol),
            None if entry.terminators[block] == Terminator::Invoke => ChoiceKind::Call,
            None => ChoiceKind::Condition,
        }
    }

    /// An outcome in the words that follow `never`.
    fn outcome(&self, said: String) -> String {
        match said.strip_prefix("no ") {
            Some(ty) if matches!(self, ChoiceKind::Catch(_)) => format!("{OTHER}{ty}"),
            _ => said,
        }
    }

    /// What stands for it where the source has no words.
    fn name(&self, column: u32) -> String {
        match self {
            ChoiceKind::Condition => format!("the condition at column {column}"),
            ChoiceKind::Call => format!("the call at column {column}"),
            // The outcome names the type.
            ChoiceKind::Catch(_) => String::new(),
        }
    }
}

/// How often a line ran, `≥ 7` if that is not known: control left the function before its end.
fn bound(n: Range) -> String {
    let sign = if n.is_exact() { "" } else { "≥ " };
    sign.to_string() + &group_digits(n.least)
}

/// What becomes of conditions with an outcome of which it is not known whether it came up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    LeftOut,
    Kept,
}

/// What became of the conditions that were reached, as far as it is known. Copies of a condition, by inlining or
/// templates, are one.
pub(super) fn conditions<'a>(
    profile: &'a Profile,
    sources: &Sources,
    scope: &Scope,
    counted: &[CountedFunction],
    unknown: Unknown,
) -> BTreeMap<Condition<'a>, Ways> {
    let steps = Steps::new(profile, sources, false);
    let mut conditions: BTreeMap<Condition, Ways> = BTreeMap::new();
    for (number, f) in counted.iter().enumerate() {
        let own = steps.home_file(f.f);
        for (block, edges) in f.decisions() {
            if unknown == Unknown::LeftOut && edges.iter().any(|(_, r)| r.may_have_run()) {
                continue;
            }
            let Some(loc) = f.entry.decision_site(block).map(|site| site.loc) else {
                continue;
            };
            let name = profile.manifest.files[loc.file as usize].as_str();
            let hidden = scope.markers.branches(loc.file, loc.line);
            let asked = edges.iter().any(|(e, _)| e.count > 0);
            if hidden || !scope.admits_file(name) || !asked {
                continue;
            }
            let kind = ChoiceKind::new(f.entry, block);
            let mut of_copy: BTreeMap<Condition, Vec<Way>> = BTreeMap::new();
            for (e, range) in &edges {
                let CfgEdge { block, succ } = e.edge;
                let decision = Decision {
                    before: Vec::new(),
                    block,
                    succ,
                    to: To::Block(e.dst),
                    taken: f.structure.cfg.block(block).terminator.edge_name(succ),
                };
                let said = steps.words().describe_decision(f.f, &decision);
                let step = steps.step(&said, &own);
                let line = said.line.unwrap_or(loc.line);
                let is_marked = matches!(said.apart, Some(Disambiguation::Block(_)));
                let column = said.column;
                let outcome = if is_marked {
                    let plain = Said {
                        apart: None,
                        ..said
                    };
                    steps.step(&plain, &own).outcome
                } else {
                    step.outcome
                };
                let way = Way {
                    outcome: kind.outcome(outcome),
                    // Of an exact count, what an earlier condition decided is left out.
                    count: if range.is_exact() {
                        e.count
                    } else {
                        range.count
                    },
                    is_uncertain: !range.is_exact(),
                    edge: (number, e.edge),
                };
                let condition = (name, line, column, step.text, kind.clone());
                of_copy.entry(condition).or_default().push(way);
            }
            for (condition, ways) in of_copy {
                conditions.entry(condition).or_default().add_place(ways);
            }
        }
    }
    conditions
}

/// The outcomes that never came up of conditions that were reached.
fn find_never<'a>(
    profile: &'a Profile,
    sources: &Sources,
    scope: &Scope,
    counted: &[CountedFunction],
    wanted: Annotate,
) -> Never<'a> {
    let mut never = Never::new();
    let steps = Steps::new(profile, sources, false);
    let certainty = Certainty::new(steps.words(), sources, counted);
    let conditions = conditions(profile, sources, scope, counted, Unknown::LeftOut);
    for ((name, line, column, text, kind), ways) in conditions {
        // Nearly every call of C++ may throw, and nearly every `try` lets some exceptions through.
        let is_usual = |outcome: &str| outcome == "throws" || outcome.starts_with(OTHER);
        let missing = ways.missing_outcomes(|words, outcome| {
            let is_wanted = wanted == Annotate::All || !is_usual(words);
            let is_everywhere = outcome.places == ways.places;
            is_wanted && certainty.is_never(words, &outcome.edges, is_everywhere)
        });
        if !missing.is_empty() {
            // Calls have no words, and several of a line may throw; nothing has where the source is not there.
            let text = match column {
                Some(column) if text.is_empty() => kind.name(column),
                _ => text,
            };
            let words = if text.is_empty() { "" } else { ": " };
            let said = missing
                .iter()
                .map(|m| format!("never {}{words}{text}{}", m.outcomes, m.scope));
            let file = never.entry(name).or_default();
            file.entry(line).or_default().extend(said);
        }
    }
    never
}

/// A way out of one place in the code where a condition is: an optimiser may make several of one.
struct Way {
    /// In words, which others out of the same place may share.
    outcome: String,
    /// How often it was taken.
    count: u64,
    /// Whether it may have been taken more often.
    is_uncertain: bool,
    /// Which it is.
    edge: Edge,
}

/// What became of the places of a condition that were reached.
#[derive(Default)]
pub(super) struct Ways {
    pub places: usize,
    /// By outcome.
    pub outcomes: BTreeMap<String, Outcome>,
}

/// What became of an outcome.
#[derive(Default)]
pub(super) struct Outcome {
    /// How many places have it.
    places: usize,
    /// How often it came up: of each of the ways that have its words.
    pub counts: Vec<u64>,
    /// Whether one of its ways may have been taken more often.
    pub is_uncertain: bool,
    /// The ways that have it.
    edges: Vec<Edge>,
}

impl Ways {
    fn add_place(&mut self, ways: Vec<Way>) {
        self.places += 1;
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for way in &ways {
            let outcome = self.outcomes.entry(way.outcome.clone()).or_default();
            outcome.edges.push(way.edge);
            outcome.is_uncertain |= way.is_uncertain;
            let n = seen.entry(&way.outcome).or_default();
            if *n == 0 {
                outcome.places += 1;
            }
            if outcome.counts.len() == *n {
                outcome.counts.push(0);
            }
            outcome.counts[*n] = outcome.counts[*n].saturating_add(way.count);
            *n += 1;
        }
    }

    /// The outcomes that never came up, in words. An optimiser may leave a condition other outcomes at one place than
    /// at another, or outcomes that nobody can call true or false: what one place lacks may have come up there unseen,
    /// so that no more than the places that have it is said.
    fn missing_outcomes(&self, is_wanted: impl Fn(&str, &Outcome) -> bool) -> Vec<Missing> {
        let mut missing: Vec<Missing> = Vec::new();
        let wanted = self.outcomes.iter();
        for (words, outcome) in wanted.filter(|(words, outcome)| is_wanted(words, outcome)) {
            let ways = outcome.counts.len();
            let outcomes = match outcome.counts.iter().filter(|n| **n == 0).count() {
                0 => continue,
                n if n == ways => words.clone(),
                n => format!("{words} by {n} of {ways} ways"),
            };
            let scope = if outcome.places < self.places {
                format!(
                    " (in {} of {} copies of this code)",
                    outcome.places, self.places
                )
            } else {
                String::new()
            };
            match missing.iter_mut().find(|m| m.scope == scope) {
                Some(same) => same.outcomes += &format!(", {outcomes}"),
                None => missing.push(Missing { outcomes, scope }),
            }
        }
        missing
    }
}

/// Outcomes of a condition that never came up, and in which copies of its code.
struct Missing {
    outcomes: String,
    /// Empty: in all of them.
    scope: String,
}

/// One file.
struct FilePage<'a> {
    name: &'a str,
    text: Option<&'a Text>,
    lines: SourceFile,
    /// Its lines of which it is not known whether they ran.
    unknown: BTreeSet<u32>,
    never: BTreeMap<u32, Vec<String>>,
    excluded: BTreeSet<u32>,
    /// The lines that are asked for, if not all are.
    ranges: Option<Vec<RangeInclusive<u32>>>,
    /// With a patch, its lines.
    touched: Option<BTreeSet<u32>>,
}

impl FilePage<'_> {
    fn render(&self, wanted: Annotate, layout: Layout) -> String {
        let of = match &self.touched {
            None => {
                let sums = SourceSums::sum_file(&self.lines);
                let (lines, branches) = (share_text(&sums.lines), share_text(&sums.branches));
                let more = match self.unknown.len() {
                    0 => String::new(),
                    n => format!(", {} may have run", number_of(n as u64, "more line")),
                };
                format!("lines {lines}, branches {branches}{more}")
            }
            Some(lines) => {
                let lines = number_of(lines.len() as u64, "line");
                format!("{lines} of the patch, and {AROUND} around each")
            }
        };
        let mut out = format!("{BOLD}{}{BOLD:#}: {of}\n", escape_unprintable(self.name));
        if self.text.is_none() {
            out += "  the text is not there as it was compiled (--source-dir, --path-map)\n";
        }
        let counts: BTreeMap<u32, Range> = self.lines.line_ranges().collect();
        let last = counts.keys().chain(&self.unknown).max().copied();
        let last = last.unwrap_or(0);
        let length = self
            .text
            .map_or(last, |t| t.full_text().lines().count() as u32);
        let asked: Vec<u32> = (1..=length)
            .filter(|n| self.is_asked_for(*n, &counts, wanted))
            .collect();
        let widest = counts.values().map(|n| display_width(&bound(*n))).max();
        let columns = [
            widest.unwrap_or(0).max(EXCLUDED.len()),
            length.to_string().len(),
        ];
        for (i, &line) in asked.iter().enumerate() {
            let before = i.checked_sub(1).map_or(0, |i| asked[i]);
            if line > before + 1 {
                let _ = writeln!(out, "{DIM}{:>1$}{DIM:#}", "⋯", columns[0]);
            }
            out += &self.line(line, counts.get(&line).copied(), columns, layout);
        }
        if asked.last().is_some_and(|last| *last < length) {
            let _ = writeln!(out, "{DIM}{:>1$}{DIM:#}", "⋯", columns[0]);
        }
        out + "\n"
    }

    fn is_asked_for(&self, line: u32, counts: &BTreeMap<u32, Range>, wanted: Annotate) -> bool {
        let inside = |ranges: &Vec<RangeInclusive<u32>>| ranges.iter().any(|r| r.contains(&line));
        if !self.ranges.as_ref().is_none_or(inside) {
            return false;
        }
        let near = line.saturating_sub(AROUND)..=line.saturating_add(AROUND);
        let mut touched = self.touched.iter().map(|lines| lines.range(near.clone()));
        if touched.any(|mut lines| lines.next().is_none()) {
            return false;
        }
        wanted == Annotate::All
            || counts.range(near.clone()).any(|(_, n)| n.most == 0)
            || self.unknown.range(near.clone()).next().is_some()
            || self.never.range(near).next().is_some()
    }

    /// A line of the source, and below it what never came up there.
    fn line(
        &self,
        number: u32,
        count: Option<Range>,
        columns: [usize; 2],
        layout: Layout,
    ) -> String {
        let (count, style) = match count {
            Some(Range { most: 0, .. }) => (NEVER.into(), MISSING),
            Some(n) => (bound(n), Style::new()),
            None if self.unknown.contains(&number) => (UNKNOWN.into(), MISSING),
            None if self.excluded.contains(&number) => (EXCLUDED.into(), DIM),
            None => (String::new(), Style::new()),
        };
        let [wide, digits] = columns;
        let indent = wide + digits + 4;
        let text = self.text.and_then(|t| t.line(number)).unwrap_or("");
        // A byte order mark is no text, and would be shown as what is not printable.
        let text = text.trim_start_matches('\u{feff}');
        let text = escape_unprintable(&text.replace('\t', "    ")).into_owned();
        let text = if layout.full {
            text
        } else {
            cut_end(&text, layout.width.saturating_sub(indent))
        };
        let line = format!("{count:>wide$}  {number:>digits$}  {text}");
        let mut out = format!("{style}{}{style:#}\n", line.trim_end());
        for never in self.never.get(&number).into_iter().flatten() {
            let text = wrap_words(&format!("↳ {never}"), layout.width, indent);
            let _ = writeln!(out, "{MISSING}{text}{MISSING:#}");
        }
        out
    }
}

/// As much of the beginning of `text` as fits.
fn cut_end(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.into();
    }
    format!("{}…", first_columns(text, width.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::{Way, Ways, cut_end};
    use crate::base::index::{BlockId, CfgEdge};

    /// Two ways to one line are not one, and a copy without an outcome does not say that it never came up.
    #[test]
    fn outcome_of_some_ways_or_copies_is_not_never() {
        let way = |outcome: &str, count| Way {
            is_uncertain: false,
            outcome: outcome.into(),
            count,
            edge: (
                0,
                CfgEdge {
                    block: BlockId(0),
                    succ: 0,
                },
            ),
        };
        let missing = |places: Vec<Vec<Way>>| {
            let mut ways = Ways::default();
            places.into_iter().for_each(|place| ways.add_place(place));
            let missing = ways.missing_outcomes(|_, _| true);
            let said = missing.iter().map(|m| format!("{}{}", m.outcomes, m.scope));
            said.collect::<Vec<_>>().join("; ")
        };
        let two_ways = || vec![way("→ 23", 0), way("→ 23", 7)];
        assert_eq!(missing(vec![two_ways()]), "→ 23 by 1 of 2 ways");
        let other = vec![way("→ 23", 1), way("→ 23", 0)];
        assert_eq!(missing(vec![two_ways(), other]), "");
        assert_eq!(missing(vec![vec![way("→ 23", 0), way("→ 23", 0)]]), "→ 23");
        let known = || vec![way("false", 4), way("true", 0)];
        assert_eq!(missing(vec![known(), known()]), "true");
        let unknown = vec![way("→ 23", 1), way("→ 25", 2)];
        assert_eq!(
            missing(vec![known(), unknown]),
            "true (in 1 of 2 copies of this code)"
        );
        assert_eq!(missing(vec![known(), vec![way("true", 1)]]), "");
    }

    #[test]
    fn lines_lose_their_ends() {
        assert_eq!(cut_end("abcdef", 6), "abcdef");
        assert_eq!(cut_end("abcdefg", 6), "abcde…");
        assert_eq!(cut_end("äöü漢字x", 6), "äöü漢…");
    }
}
