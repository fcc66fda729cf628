//! The one form in which people read a path: a headline, and its decisions as steps, one a line, in the source's words,
//! with what was true.
//!
//! ```text
//!    61  strcmp(words[j - gap], word) > 0   true
//!    61  j >= gap                           true   ↺ next iteration
//! ```

mod apart;
mod layout;
mod places;
#[cfg(test)]
mod tests;

pub use layout::{fit_in_a_line, join_steps, least_width, text};

use super::Line;
use super::positions::base_name;
use super::words::{Disambiguation, Said, Words};
use crate::base::index::{BlockId, FuncId};
use crate::base::names::{PrintedNames, brief_name, escape_unprintable, fit_readable_name};
use crate::base::table::{Layout, cut, display_width};
use crate::input::ir::Terminator;
use crate::input::load::positions::Inlined;
use crate::paths::dag::{PathEnd, PathStart};
use crate::profile::Profile;
use crate::read::source::{Sources, is_of_the_standard_library, is_of_the_system};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// The place of code that compilers make, which has no line.
const NO_LINE: &str = "–";

/// What clang makes of every `goto *table[op]` of a function is one jump, which has no line, since none of them is it.
const COMPUTED_GOTO: &str = "goto *";

/// What follows a choice that the way there has decided, and one that the compiler added.
const IMPLIED: &str = "decided before";
const GENERATED: &str = "added by the compiler";

/// Function and condition are shortened each by itself where there are more columns for both.
const NARROWEST: usize = 8;
/// So many of a path's first rows are always shown.
const FIRST_ROWS: usize = 2;
/// So many of its last ones, too.
const LAST_ROWS: usize = 3;
/// Of the rows between, fewer in turn are not folded: one more line would hide more than it saves.
const FEWEST_FOLDED: usize = 4;

/// What checks by Rust's compiler are called where they are folded.
const CHECKS: &str = "checks of overflow and bounds";

/// Which decisions are folded; each kind folds what those behind it do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Folding {
    LibrariesAndChecks,
    StandardLibraryAndChecks,
    Checks,
    ImpliedAlone,
    Nothing,
}

/// Tells paths of a profile in steps.
pub struct Steps<'a> {
    words: Words<'a>,
    printed: PrintedNames,
    full: bool,
    /// The names of all functions, if they were asked for.
    names: OnceLock<Vec<String>>,
    /// The names of the loops of functions that were asked for.
    loops: Mutex<HashMap<FuncId, Arc<places::LoopNames>>>,
}

/// A row below a path's headline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StepRow {
    /// A decision.
    Step(Step),
    /// Decisions in turn in code of a library.
    Library(Fold),
    /// Rows that are left out.
    More(usize),
    /// Of what is left out, the first decision that tells the path from another one with the same rows.
    Differs(String),
}

/// Decisions of a library, which are folded into one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fold {
    /// How many they are.
    pub steps: usize,
    /// The functions that are called there.
    pub names: String,
    /// What follows.
    pub note: String,
}

/// A decision as people read it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Its line, after the file's name where that is not the function's.
    pub place: String,
    /// Its line, for who can go there.
    pub line: Option<(String, u32)>,
    /// The inlined function that it is in, by its short name.
    pub within: Option<String>,
    /// What is asked.
    pub text: String,
    /// `true`, `false`, `case X`, `throws`, or where control goes.
    pub outcome: String,
    /// What follows from it: the loop is left, the next iteration begins, the function returns.
    pub note: String,
    /// How often it stands here in turn: of a loop that was unrolled.
    pub times: usize,
}

impl<'a> Steps<'a> {
    /// For paths of `profile`, with conditions quoted from `sources`. O(functions).
    pub fn new(profile: &'a Profile, sources: &'a Sources, full: bool) -> Steps<'a> {
        Steps {
            words: Words::new(profile, sources),
            printed: profile.printed_names(full),
            full,
            names: OnceLock::new(),
            loops: Mutex::new(HashMap::new()),
        }
    }

    /// The words of its decisions.
    pub fn words(&self) -> Words<'a> {
        self.words
    }

    /// The name of function `f`, short unless everything is asked for.
    pub fn name(&self, f: FuncId) -> String {
        self.name_of(&self.words.profile().entry(f).name)
    }

    /// The names of all functions of the profile. O(functions) once.
    pub(super) fn function_names(&self) -> &[String] {
        let names = || {
            self.words
                .profile()
                .functions()
                .map(|f| self.name(f))
                .collect()
        };
        self.names.get_or_init(names)
    }

    /// The name of a symbol.
    pub(super) fn name_of(&self, symbol: &str) -> String {
        self.printed.name(symbol)
    }

    /// The rows below a path's headline: its decisions, or, where nothing is decided, the lines that it runs through.
    pub fn rows(&self, line: &Line) -> Vec<StepRow> {
        self.rows_with(line, None)
    }

    /// The rows below a path's headline, among them the decision at the end of block `shown`, however many there are.
    pub fn rows_with(&self, line: &Line, shown: Option<BlockId>) -> Vec<StepRow> {
        let (rows, kept) = self.rows_and_shown(line, shown);
        if self.full {
            return rows;
        }
        fold_middle(&rows, |i| kept == Some(i))
    }

    /// The rows, all of them, and which is that of the decision at the end of block `shown`.
    fn rows_and_shown(&self, line: &Line, shown: Option<BlockId>) -> (Vec<StepRow>, Option<usize>) {
        let said = self.words.decisions(line);
        let rows = self.all_rows(line, &said);
        let decision = said.iter().position(|s| Some(s.block) == shown);
        let up_to = decision.map(|i| self.decision_rows(line.func, &said[..=i]).len());
        (rows, up_to.and_then(|n| n.checked_sub(1)))
    }

    /// The rows below a path's headline, however many they are; `said` are the path's decisions in words.
    pub fn all_rows(&self, line: &Line, said: &[Said]) -> Vec<StepRow> {
        self.add_end(line, self.decision_rows(line.func, said))
    }

    /// Rows of decisions, and how the path ends.
    fn add_end(&self, line: &Line, mut rows: Vec<StepRow>) -> Vec<StepRow> {
        let end = self.end(line);
        match rows.last_mut() {
            Some(StepRow::Step(step)) => step.note = join_words(&step.note, &end),
            Some(StepRow::Library(fold)) => fold.note = end,
            Some(StepRow::More(_) | StepRow::Differs(_)) => {}
            None => rows.extend(self.undecided_row(line, &end)),
        }
        rows
    }

    /// The rows of decisions in turn.
    pub fn decision_rows(&self, f: FuncId, said: &[Said]) -> Vec<StepRow> {
        self.fold_rows(f, said, self.full)
    }

    /// The rows of decisions in turn; `full` shows every decision of which both ways can be taken in the control flow.
    /// Without it those of libraries and checks that held are folded, as long as there are others.
    fn fold_rows(&self, f: FuncId, said: &[Said], full: bool) -> Vec<StepRow> {
        let folded = |folding| self.folded_rows(f, said, folding);
        if full {
            return folded(Folding::Nothing);
        }
        let all = folded(Folding::LibrariesAndChecks);
        if all.is_empty() || all.iter().any(|row| matches!(row, StepRow::Step(_))) {
            return all;
        }
        // Only what the source has words for says more than that there were steps.
        let is_quoted = |row: &StepRow| matches!(row, StepRow::Step(step) if !step.text.is_empty());
        let less = [
            Folding::StandardLibraryAndChecks,
            Folding::Checks,
            Folding::ImpliedAlone,
        ];
        let mut less = less.map(folded).into_iter();
        less.find(|rows| rows.iter().any(is_quoted)).unwrap_or(all)
    }

    fn folded_rows(&self, f: FuncId, said: &[Said], folding: Folding) -> Vec<StepRow> {
        let full = folding == Folding::Nothing;
        let own = self.home_file(f);
        let in_library = is_of_the_system(&own);
        let mut rows: Vec<StepRow> = Vec::new();
        let tells = |s: &&Said| is_told(s) || full && !s.is_asked();
        for s in said.iter().filter(tells) {
            // A function of a library has its own decisions, and those of what it calls are of no more interest than
            // elsewhere.
            let is_own = in_library && s.within.is_none();
            if s.is_held_check && folding < Folding::ImpliedAlone {
                match rows.iter_mut().find_map(|row| row.fold_of(CHECKS)) {
                    Some(fold) => fold.steps += 1,
                    None => rows.push(StepRow::Library(Fold::one_decision(CHECKS.into()))),
                }
                continue;
            }
            let folds = |file: &str| match folding {
                Folding::LibrariesAndChecks => is_of_the_system(file),
                Folding::StandardLibraryAndChecks => is_of_the_standard_library(file),
                Folding::Checks | Folding::ImpliedAlone | Folding::Nothing => false,
            };
            if !is_own && s.file.as_deref().is_some_and(folds) {
                let library = self.library(s);
                match rows.last_mut() {
                    Some(StepRow::Library(fold)) if fold.names != CHECKS => fold.add(&library),
                    _ => rows.push(StepRow::Library(Fold::one_decision(library))),
                }
                continue;
            }
            let step = self.step(s, &own);
            // Rust asks at the end of a scope whether something is to be dropped.
            if !full && step.text.chars().all(|c| "})];, ".contains(c)) && !step.text.is_empty() {
                continue;
            }
            match rows.last_mut() {
                Some(StepRow::Step(before)) if before.is_like(&step) => before.times += 1,
                _ => rows.push(StepRow::Step(step)),
            }
        }
        rows
    }

    /// The file that function `f` begins in; empty if that is unknown.
    pub fn home_file(&self, f: FuncId) -> String {
        let profile = self.words.profile();
        let begins = profile.entry(f).find_start();
        let file = begins.map(|loc| profile.manifest.files[loc.file as usize].clone());
        file.unwrap_or_default()
    }

    /// One decision in a sentence: `n < max false at 69`, or `69 n < max → 70`.
    pub fn phrase(&self, f: FuncId, s: &Said) -> String {
        let step = self.step(s, &self.home_file(f));
        // Paths do not show calls that return as they should.
        if s.way.as_deref() == Some("returns") {
            let call = match step.text.as_str() {
                "" => "the call",
                text => text,
            };
            return format!("no exception from {call} at {}", step.place);
        }
        let asked = [step.text.as_str(), step.outcome.as_str()];
        let asked: Vec<&str> = asked.into_iter().filter(|t| !t.is_empty()).collect();
        if step.place == NO_LINE {
            let goes = step.outcome.starts_with('→');
            format!(
                "{}{} {}",
                step.text,
                if goes { "" } else { ":" },
                step.outcome
            )
        } else if step.outcome.starts_with('→') {
            format!("{} {}", step.place, asked.join(" "))
        } else {
            format!("{} at {}", asked.join(" "), step.place)
        }
    }

    /// One decision, seen from a function that begins in `own`.
    pub fn step(&self, s: &Said, own: &str) -> Step {
        let within = s.within.map(|n| {
            let call = &self.words.profile().manifest.inlined[n as usize];
            self.name_of(&call.function)
        });
        let lineless = format!("code without a line (b{})", s.block);
        let is_lineless = s.line.is_none() && !own.is_empty();
        let call = s
            .callee
            .as_ref()
            .map(|f| format!("the call of {}", self.name_of(f)));
        let text = s.condition.as_deref().or(call.as_deref());
        let text = text.unwrap_or(match (s.is_computed_goto, is_lineless) {
            (true, _) => COMPUTED_GOTO,
            (false, true) => &lineless,
            (false, false) => "",
        });
        let mut place = match (s.line, s.file.as_deref()) {
            (Some(line), Some(file)) if file != own => format!("{}:{line}", base_name(file)),
            (Some(line), _) => line.to_string(),
            // What compilers make has no line, where other code of the function has one.
            (None, _) if !own.is_empty() => NO_LINE.into(),
            (None, _) => format!("b{}", s.block),
        };
        let mut outcome = if s.outcome != "unknown" && s.is_asked() {
            escape_unprintable(&s.outcome).into_owned()
        } else {
            arrow_to(s, own)
        };
        match &s.apart {
            Some(Disambiguation::OfColumn(column)) => place += &format!(":{column}"),
            Some(Disambiguation::Block(mark)) if outcome.strip_prefix("→ ") == Some(mark) => {}
            Some(Disambiguation::Value(mark) | Disambiguation::Block(mark)) => {
                outcome += &format!(" ({mark})");
            }
            // It is part of where the way goes.
            Some(Disambiguation::ToColumn(_)) | None => {}
        }
        // There is no question to quote: the compiler added the choice, or the way before it decides.
        if !s.is_asked() {
            return Step {
                place,
                line: s.file.clone().zip(s.line),
                within,
                text: String::new(),
                outcome,
                note: if s.generated { GENERATED } else { IMPLIED }.into(),
                times: 1,
            };
        }
        Step {
            place,
            line: s.file.clone().zip(s.line),
            within,
            text: if s.is_switch {
                phrase_switch(s.file.as_deref(), &escape_unprintable(text))
            } else {
                escape_unprintable(text).into_owned()
            },
            outcome,
            note: if s.leaves { "leaves the loop" } else { "" }.into(),
            times: 1,
        }
    }

    /// The outermost function of a library that a decision is in.
    fn library(&self, s: &Said) -> String {
        let manifest = &self.words.profile().manifest;
        let calls = manifest.calls_around(s.within);
        let mut calls: Vec<_> = calls.map(|n| &manifest.inlined[n as usize]).collect();
        calls.reverse();
        let outside = |c: &&&Inlined| !is_of_the_system(&manifest.files[c.file as usize]);
        let entrance = calls.iter().rev().find(outside);
        match entrance.or(calls.first()) {
            // Which instance it was says nothing that the line of the call does not.
            Some(call) => brief_name(&call.function),
            None => base_name(s.file.as_deref().unwrap_or_default()).into_owned(),
        }
    }

    /// How a path ends: `↺ next iteration`, `→ return`.
    pub fn end(&self, line: &Line) -> String {
        let path = &line.path;
        match path.end {
            PathEnd::Back(_, to) if path.start == PathStart::Loop && path.blocks[0] == to => {
                "↺ next iteration".into()
            }
            PathEnd::Back(_, to) => format!("↺ loop at {}", self.place_of(line.func, to)),
            PathEnd::Exit => {
                let last = path.blocks.last().expect("a path has a block");
                let entry = self.words.profile().entry(line.func);
                match entry.terminators[*last] {
                    Terminator::Return => "→ return",
                    Terminator::Resume => "→ throws on",
                    _ => "→ ends",
                }
                .into()
            }
        }
    }

    /// A path on which nothing is decided: its lines in its own function.
    fn undecided_row(&self, line: &Line, end: &str) -> Option<StepRow> {
        let own = self.home_file(line.func);
        let files = &self.words.profile().manifest.files;
        let here = line.locs.iter().zip(&line.inlined);
        let here = here.filter(|(l, i)| i.is_none() && files[l.file as usize] == own);
        let mut lines: Vec<u32> = here.map(|(l, _)| l.line).collect();
        lines.dedup();
        let place = match (lines.first(), lines.last()) {
            (Some(first), Some(last)) if first != last => format!("{first}→{last}"),
            (Some(first), _) => first.to_string(),
            _ => format!("b{}", line.path.blocks[0]),
        };
        Some(StepRow::Step(Step {
            place,
            line: lines.first().map(|l| (own, *l)),
            within: None,
            text: "nothing is decided".into(),
            outcome: String::new(),
            note: end.into(),
            times: 1,
        }))
    }

    /// The lines of a path below its headline, indented by so many columns; none is wider than the layout.
    pub fn lines(&self, line: &Line, layout: Layout, indent: usize) -> Vec<String> {
        text(&self.rows(line), layout, indent)
    }
}

impl Step {
    /// Whether the same is asked at the same place with the same outcome.
    fn is_like(&self, other: &Step) -> bool {
        let told = |s: &Step| {
            (
                s.place.clone(),
                s.within.clone(),
                s.text.clone(),
                s.outcome.clone(),
            )
        };
        told(self) == told(other) && self.note == other.note
    }

    /// The question in at most `width` columns: function and condition are shortened each by itself, and stay apart.
    fn asked_within(&self, within: Option<&String>, width: usize) -> String {
        let whole = self.question(within);
        let fixed = display_width("⤷   ") + NARROWEST;
        let Some(name) = within.filter(|_| !self.text.is_empty() && width >= fixed) else {
            return cut(&whole, width);
        };
        if display_width(&whole) <= width {
            return whole;
        }
        let own = self.question(None);
        let room = width - display_width("⤷   ");
        let least = (room / 2).max(room.saturating_sub(display_width(name)));
        let name = fit_readable_name(name, room - display_width(&own).min(least));
        let own = cut(&own, room - display_width(&name));
        format!("⤷ {name}  {own}")
    }

    /// What is asked, after the inlined function if that is told.
    fn question(&self, within: Option<&String>) -> String {
        let mut text = match within {
            Some(name) if self.text.is_empty() => format!("⤷ {name}"),
            Some(name) => format!("⤷ {name}  {}", self.text),
            None => self.text.clone(),
        };
        if self.times > 1 {
            text += &format!("  ×{}", self.times);
        }
        text
    }
}

/// Rows without most of those in the middle: the first, the last and those that `is_kept` stay.
fn fold_middle(rows: &[StepRow], is_kept: impl Fn(usize) -> bool) -> Vec<StepRow> {
    let last = rows.len().saturating_sub(LAST_ROWS);
    let stays = |i: usize| i < FIRST_ROWS || i >= last || is_kept(i);
    let mut some = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let behind = (at..rows.len()).find(|i| stays(*i)).unwrap_or(rows.len());
        if behind - at >= FEWEST_FOLDED {
            some.push(StepRow::More(behind - at));
        } else {
            some.extend_from_slice(&rows[at..behind]);
        }
        some.extend(rows.get(behind).cloned());
        at = behind + 1;
    }
    some
}

/// Whether people are told a decision: not what returned as it should, nor where nothing is asked.
pub fn is_told(s: &Said) -> bool {
    s.is_asked() && s.way.as_deref() != Some("returns")
}

/// What is chosen by, as the language of a file writes it.
fn phrase_switch(file: Option<&str>, text: &str) -> String {
    match file {
        Some(file) if file.ends_with(".rs") => format!("match {text}"),
        _ => format!("switch ({text})"),
    }
}

/// Where control goes: `→ 62`.
fn arrow_to(s: &Said, own: &str) -> String {
    let column = match s.apart {
        Some(Disambiguation::ToColumn(column)) => format!(":{column}"),
        _ => String::new(),
    };
    let to = match &s.to_seen {
        None => format!("b{}", s.to),
        Some((file, line, _)) if file != own => format!("{}:{line}{column}", base_name(file)),
        Some((_, line, _)) if !column.is_empty() => format!("{line}{column}"),
        Some((_, line, column)) if Some(*line) == s.line && !s.back && *column > 0 => {
            format!("{line}:{column}")
        }
        Some((_, line, _)) => line.to_string(),
    };
    format!("→ {to}")
}

fn join_words(a: &str, b: &str) -> String {
    let both = [a, b].into_iter().filter(|t| !t.is_empty());
    both.collect::<Vec<_>>().join(", ")
}
