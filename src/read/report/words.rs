//! Decisions in the source's words: what is asked where, and where control goes.

mod apart;

pub use apart::Disambiguation;

use super::is_zero;
use super::truth::{asks_on, judge_branches};
use super::{Decision, Line, To};
use crate::base::index::{BlockId, FuncId};
use crate::base::names::{escape_unprintable, readable_name};
use crate::input::ir::{Decided, Loc, Site, Span, Terminator};
use crate::profile::Profile;
use crate::profile::manifest::FunctionEntry;
use crate::read::source::{Branches, Sources, is_of_the_system};
use serde::Serialize;
use std::sync::Arc;

/// What one decision says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Said {
    /// The block that ends with it.
    pub block: BlockId,
    /// The successor's ordinal.
    pub succ: u32,
    /// The source file, if there is debug information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Tells blocks of one line apart, if the compiler was asked for that.
    #[serde(skip_serializing_if = "is_zero")]
    pub discriminator: u32,
    /// The functions that it was inlined from, the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<String>,
    /// The innermost of these calls: an index into [`crate::profile::manifest::Manifest::inlined`].
    #[serde(skip)]
    pub within: Option<u32>,
    /// What is asked, in the words of the source, if that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Line and column at which these words begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_at: Option<(u32, u32)>,
    /// What became of it: `true` or `false` of the text that is quoted; of a `switch`, `case …` or `default`; of a
    /// computed `goto` the label; of Rust's `?`, `returns early` or `goes on`; `unknown` where the evidence is missing
    /// or contradicts itself; `implied` or `generated` where nothing is asked.
    pub outcome: String,
    /// Whether the way here has decided it already: a truth value that was computed in several blocks meets in this
    /// one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub implied: bool,
    /// Whether the compiler added it ([`crate::input::load::positions::Choice::generated`]): nothing of the source is
    /// asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
    /// Whether it is a check by Rust's compiler that did not fail: of overflow, of a divisor, of bounds.
    #[serde(rename = "check", skip_serializing_if = "std::ops::Not::not")]
    pub is_held_check: bool,
    /// Whether it is the condition of a loop, which ends here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub leaves: bool,
    /// Whether the words are what a `switch` or `match` of the source is over: LLVM makes its own of comparisons.
    #[serde(skip)]
    pub is_switch: bool,
    /// The way taken, where it has a name: a case, an exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub way: Option<String>,
    /// Of a call that may throw: the symbol of the function that is called, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callee: Option<String>,
    /// What LLVM calls the edge.
    pub taken: String,
    /// The block that control goes on in, or back to.
    pub to: BlockId,
    /// Whether it goes back to a loop's header, which ends the path.
    pub back: bool,
    /// The file it goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_file: Option<String>,
    /// The line it goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_line: Option<u32>,
    /// The column it goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_column: Option<u32>,
    /// Where it goes for who reads the project's own code: of library code that was inlined, the call. File, line,
    /// column.
    #[serde(skip)]
    pub to_seen: Option<(String, u32, u32)>,
    /// Whether it is a computed `goto`.
    #[serde(skip)]
    pub is_computed_goto: bool,
    /// What tells the way from others out of the block that have the same words.
    #[serde(skip)]
    pub apart: Option<Disambiguation>,
}

/// The words for decisions of a profile's functions.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    profile: &'a Profile,
    sources: &'a Sources,
}

impl<'a> Words<'a> {
    /// By the texts of `sources`, as far as they are there.
    pub fn new(profile: &'a Profile, sources: &'a Sources) -> Words<'a> {
        Words { profile, sources }
    }

    /// The profile.
    pub fn profile(self) -> &'a Profile {
        self.profile
    }

    /// The decisions of a path, in order.
    pub fn decisions(self, line: &Line) -> Vec<Said> {
        let said = |d: &Decision| self.describe_decision(line.func, d);
        line.decisions.iter().map(said).collect()
    }

    /// What one decision of function `f` says.
    pub fn describe_decision(self, f: FuncId, d: &Decision) -> Said {
        let entry = self.profile.entry(f);
        let decided = entry.choice(d.block);
        let site = site(entry, d.block, decided.as_ref());
        let before = d.before.iter().copied();
        let implied = entry.implied_successor(d.block, before).is_some();
        let fails = self.profile.manifest.failing_check(f, d.block);
        let generated = entry.is_generated(d.block);
        let (asked, way) = if generated {
            (Question::default(), None)
        } else {
            let way = self.name_way(entry, d, decided.as_ref());
            (self.find_question(f, d, decided.as_ref(), site), way)
        };
        let early = self.profile.manifest.returns_early(f, d.block, d.succ);
        let is_made = entry.terminators[d.block] == Terminator::Switch && asked.condition.is_some();
        let (to, back) = match d.to {
            To::Block(b) => (b, false),
            To::Back(b) => (b, true),
        };
        let there = entry.spans(to).next();
        let name = |loc: Loc| self.profile.manifest.files[loc.file as usize].clone();
        let arms = asked.arms;
        let mut said = Said {
            block: d.block,
            succ: d.succ,
            file: site.map(|s| name(s.loc)),
            line: site.map(|s| s.loc.line),
            column: site.map(|s| s.column).filter(|&c| c > 0),
            discriminator: site.map_or(0, |s| s.discriminator),
            within: site.and_then(|s| s.inlined),
            leaves: asked.leaves,
            is_switch: asked.is_switch,
            inlined: site.map_or(Vec::new(), |s| self.name_inlined(s.inlined)),
            outcome: match (asked.outcome, &way) {
                _ if generated => "generated".into(),
                _ if implied => "implied".into(),
                _ if early == Some(true) => "returns early".into(),
                _ if early == Some(false) => "goes on".into(),
                (None, _) if let Some(Some(arm)) = arms.get(d.succ as usize) => {
                    format!("case {arm}")
                }
                (Some(outcome), _) => outcome.to_string(),
                (None, Some(way)) if way == "unwinds" => "throws".into(),
                // LLVM made it from comparisons, and its case is none of the source's.
                (None, Some(_)) if is_made && !asked.is_switch => "unknown".into(),
                (None, Some(way)) => way.clone(),
                (None, None) => "unknown".into(),
            },
            // What is quoted ends before the `?`.
            condition: asked.condition.map(|text| match early {
                Some(_) if !text.ends_with('?') => text + "?",
                _ => text,
            }),
            condition_at: asked.at,
            implied,
            generated,
            is_held_check: fails.is_some_and(|succ| succ != d.succ),
            way,
            callee: self.callee(entry, d.block),
            taken: entry.terminators[d.block].edge_name(d.succ),
            to,
            back,
            to_file: there.map(|s| name(s.loc)),
            to_line: there.map(|s| s.loc.line),
            to_column: there.map(|s| s.column).filter(|&c| c > 0),
            to_seen: there.map(|s| self.seen_outside_libraries(s)),
            is_computed_goto: entry.terminators[d.block] == Terminator::IndirectBr,
            apart: None,
        };
        said.apart = self.disambiguate(entry, &said, decided.as_ref(), &arms);
        said
    }

    /// File, line and column of code; of library code that was inlined into other code, those of the call.
    fn seen_outside_libraries(self, span: Span) -> (String, u32, u32) {
        let manifest = &self.profile.manifest;
        let name = |file: u32| manifest.files[file as usize].as_str();
        let calls = manifest.calls_around(span.inlined);
        let calls = calls.map(|n| &manifest.inlined[n as usize]);
        let calls = calls.map(|c| (c.file, c.line, c.column));
        let own = (span.loc.file, span.loc.line, span.column);
        let mut sites = std::iter::once(own).chain(calls);
        let outside = sites.find(|&(file, line, _)| line > 0 && !is_of_the_system(name(file)));
        let (file, line, column) = outside.unwrap_or(own);
        (name(file).to_string(), line, column)
    }

    /// The function that a block calls last, if control goes on elsewhere where the call throws. `None` as well for
    /// calls through pointers, and where the block calls both functions of the program and others, whose order is not
    /// known.
    fn callee(self, entry: &FunctionEntry, block: BlockId) -> Option<String> {
        if entry.terminators[block] != Terminator::Invoke {
            return None;
        }
        let manifest = &self.profile.manifest;
        let own = entry.calls.binary_search_by_key(&block, |c| c.0).ok();
        let outside = entry.outside.binary_search_by_key(&block, |c| c.0).ok();
        match (own, outside) {
            (Some(own), None) => {
                let (f, _) = entry.calls[own].1.last()?;
                Some(manifest.functions[*f].name.clone())
            }
            (None, Some(outside)) => {
                let number = entry.outside[outside].1.last()?.checked_sub(1)?;
                let symbols = manifest.outside.as_ref()?;
                symbols.get(number as usize).cloned()
            }
            _ => None,
        }
    }

    /// The functions of a chain of inlined calls, by their readable names, the innermost first.
    pub fn name_inlined(self, from: Option<u32>) -> Vec<String> {
        let calls = &self.profile.manifest.inlined;
        let chain = self.profile.manifest.calls_around(from);
        let names = chain.map(|n| readable_name(&calls[n as usize].function).into_owned());
        names.collect()
    }

    /// The branches of function `f` that the source has a condition for. O(blocks) once.
    pub(super) fn branches(self, f: FuncId) -> Arc<Branches> {
        let (entry, inlined) = (self.profile.entry(f), &self.profile.manifest.inlined);
        self.sources
            .branches(f, || judge_branches(entry, inlined, self.sources))
    }

    /// What a decision asks, and whether the way taken is the true one.
    fn find_question(
        self,
        f: FuncId,
        d: &Decision,
        decided: Option<&Decided>,
        site: Option<Site>,
    ) -> Question {
        let entry = self.profile.entry(f);
        let terminator = entry.terminators[d.block];
        let asks = matches!(terminator, Terminator::Branch | Terminator::Switch);
        let catches = decided.is_some_and(|d| d.by.catches.is_some());
        let Some(site) = site.filter(|_| asks && !catches) else {
            return Question::default();
        };
        let Some(text) = self.sources.text(site.loc.file) else {
            return Question::default();
        };
        let known = decided.is_some_and(|d| d.site.is_some());
        if !known {
            // Optimised, a `switch` has no position of its own.
            let over = (terminator == Terminator::Switch).then(|| text.switch(site.loc.line));
            let over = over.flatten();
            return Question {
                is_switch: over.is_some(),
                ..Question::with_condition(over)
            };
        }
        let branches = self.branches(f);
        let Some(judged) = branches.get(&d.block) else {
            return Question::with_condition(text.line_of(site.loc.line, site.column));
        };
        let (condition, first_is_true) = (&judged.condition, judged.first_is_true);
        let to = entry.succs[d.block][d.succ as usize];
        let whole = condition.may_be_macro || condition.call.is_some() || condition.is_assertion;
        let is_final = !(whole && asks_on(entry, &branches, d.block, site, to));
        let outcome = first_is_true.map(|first| first == (d.succ == 0));
        let outcome = outcome.filter(|_| is_final);
        Question {
            at: Some(text.position(condition.bytes.start)),
            condition: Some(condition.text.clone()),
            arms: judged.arms.clone(),
            is_switch: condition.is_switch,
            leaves: condition.continues.is_some()
                && outcome.is_some()
                && outcome != condition.continues,
            outcome,
        }
    }

    fn name_way(
        self,
        entry: &FunctionEntry,
        d: &Decision,
        decided: Option<&Decided>,
    ) -> Option<String> {
        let by = decided.map(|d| &d.by);
        if let Some((symbol, succ)) = by.and_then(|by| by.catches.as_ref()) {
            let ty = readable_name(symbol);
            let ty = ty.strip_prefix("typeinfo for ").unwrap_or(&ty).to_string();
            let caught = *succ == d.succ;
            let what = if symbol.is_empty() { "..." } else { &ty };
            return Some(if caught {
                format!("catch {what}")
            } else {
                format!("no {what}")
            });
        }
        if let Some(range) = by.and_then(|by| by.range.as_ref()) {
            return Some(self.way_of_range(entry, d, range));
        }
        match (entry.terminators[d.block], d.succ) {
            (Terminator::Switch, 0) => Some("default".into()),
            (Terminator::Switch, n) => {
                let values = by.map_or(&[][..], |by| &by.values);
                let value = values.get(n as usize - 1)?;
                let bytes = by.is_some_and(|by| by.bytes && are_characters(&by.values));
                let site = decided.and_then(|d| d.site);
                let label = self
                    .label_of(entry, d.block, d.succ, site)
                    .or_else(|| self.label_of_value(entry, d.block, d.succ, decided));
                Some(format!(
                    "case {}",
                    label.unwrap_or_else(|| shown_value(value, bytes))
                ))
            }
            (Terminator::IndirectBr, _) => self.goto_label(entry, d),
            (Terminator::Invoke, 0) => Some("returns".into()),
            (Terminator::Invoke, _) => Some("unwinds".into()),
            _ => None,
        }
    }

    /// The way out of a block that asks for the values of one case: as its label writes them, or else as numbers.
    fn way_of_range(self, entry: &FunctionEntry, d: &Decision, range: &[String; 2]) -> String {
        if d.succ != 0 {
            return "default".into();
        }
        let site = entry.decision_site(d.block);
        let label = self.label_of(entry, d.block, d.succ, site);
        let label = label.filter(|label| label.contains("..."));
        format!("case {}", label.unwrap_or_else(|| range.join(" ... ")))
    }

    /// The label of the case that an edge of a `switch` leads to, if it alone leads there.
    fn label_of(
        self,
        entry: &FunctionEntry,
        block: BlockId,
        succ: u32,
        decided: Option<Site>,
    ) -> Option<String> {
        let target = entry.succs[block][succ as usize];
        if entry.shares_target(block, target) {
            return None;
        }
        let loc = self.arrival(entry, target, decided.map(|site| site.inlined))?;
        self.sources.text(loc.file)?.case(loc.line)
    }

    /// The label of the case that an edge of a `switch` leads to, if the source tells that its value is that of the
    /// edge.
    fn label_of_value(
        self,
        entry: &FunctionEntry,
        block: BlockId,
        succ: u32,
        decided: Option<&Decided>,
    ) -> Option<String> {
        let values = &decided?.by.values;
        let value = values.get(succ.checked_sub(1)? as usize)?.parse().ok()?;
        let within = decided.and_then(|d| d.site).map(|site| site.inlined);
        let target = entry.succs[block][succ as usize];
        let arm = self.arrival(entry, target, within);
        let in_arm = arm.and_then(|loc| self.sources.case_of_value(loc, value));
        // Optimised, an arm that only returns something has no code of its own.
        in_arm.or_else(|| {
            let loc = site(entry, block, decided)?.loc;
            self.sources.case_in_switch(loc, value)
        })
    }

    /// The label that a computed `goto` reaches, unless other ways out of the block seem to reach it as well.
    fn goto_label(self, entry: &FunctionEntry, d: &Decision) -> Option<String> {
        let label = |target: BlockId| {
            let loc = self.arrival(entry, target, Some(None))?;
            self.sources.text(loc.file)?.label(loc.line)
        };
        let succs = &entry.succs[d.block];
        let target = succs[d.succ as usize];
        let own = label(target)?;
        let mut others = succs.iter().filter(|to| **to != target);
        others
            .all(|to| label(*to).as_ref() != Some(&own))
            .then_some(own)
    }

    /// The file and line at which the code of a block begins, as seen from the inlined call `within`, or else from
    /// where it is: code that was inlined there is where its call is.
    fn arrival(
        self,
        entry: &FunctionEntry,
        block: BlockId,
        within: Option<Option<u32>>,
    ) -> Option<Loc> {
        let there = entry.spans(block).next()?;
        let within = within.unwrap_or(there.inlined);
        let (mut loc, mut inlined) = (there.loc, there.inlined);
        while inlined != within {
            let call = &self.profile.manifest.inlined[inlined? as usize];
            loc = Loc {
                file: call.file,
                line: call.line,
            };
            inlined = call.within;
        }
        Some(loc)
    }
}

/// Whether another way of a `switch` has the label of this one's case.
fn shares_label(
    words: Words,
    entry: &FunctionEntry,
    said: &Said,
    decided: Option<&Decided>,
) -> bool {
    let site = decided.and_then(|d| d.site);
    let label = |succ| {
        let label = words.label_of(entry, said.block, succ, site);
        label.or_else(|| words.label_of_value(entry, said.block, succ, decided))
    };
    let Some(own) = label(said.succ).filter(|_| said.succ > 0) else {
        return false;
    };
    let others = (1..entry.succs[said.block].len() as u32).filter(|s| *s != said.succ);
    others.filter_map(label).any(|other| other == own)
}

/// What a decision asks.
#[derive(Default)]
struct Question {
    /// The words of the source.
    condition: Option<String>,
    /// Where they begin.
    at: Option<(u32, u32)>,
    /// Whether they end a loop.
    leaves: bool,
    /// Whether a `switch` is over them.
    is_switch: bool,
    /// Of a `match`: by successor the pattern that matched, as far as that is certain.
    arms: Vec<Option<String>>,
    /// Whether they are true on the way taken, as far as that is certain.
    outcome: Option<bool>,
}

impl Said {
    /// Whether something is asked: the way was neither decided before, nor added by the compiler.
    pub fn is_asked(&self) -> bool {
        !self.implied && !self.generated
    }
}

impl Question {
    fn with_condition(condition: Option<String>) -> Question {
        Question {
            condition,
            ..Question::default()
        }
    }
}

/// Where a decision is: as its terminator says, or else the block's last line.
pub(super) fn site(
    entry: &FunctionEntry,
    block: BlockId,
    decided: Option<&Decided>,
) -> Option<Site> {
    let known = decided.and_then(|d| d.site);
    known.or_else(|| entry.decision_site(block))
}

/// Whether numbers, which are of one byte each, are meant as characters.
fn are_characters(values: &[String]) -> bool {
    let character = |v: &String| v.parse().ok().and_then(character);
    values.iter().all(|v| character(v).is_some())
        && values
            .iter()
            .any(|v| character(v).is_some_and(|c| c.len() == 3))
}

/// A character as C and Rust write it, if it is printable or has an escape of its own.
fn character(value: i32) -> Option<String> {
    Some(match u8::try_from(value).ok()? {
        b'\n' => r"'\n'".into(),
        b'\t' => r"'\t'".into(),
        b'\r' => r"'\r'".into(),
        0 => r"'\0'".into(),
        c @ (b'\'' | b'\\') => format!("'\\{}'", c as char),
        c @ b' '..=b'~' => format!("'{}'", c as char),
        _ => return None,
    })
}

fn shown_value(value: &str, character_like: bool) -> String {
    let character = value
        .parse()
        .ok()
        .and_then(character)
        .filter(|_| character_like);
    character.unwrap_or_else(|| value.to_string())
}

/// `longest_match ← deflate`: what was inlined, and into what.
pub fn chain(inlined: &[String], function: &str) -> String {
    let names = inlined.iter().map(String::as_str).chain([function]);
    names
        .map(|n| escape_unprintable(n).into_owned())
        .collect::<Vec<_>>()
        .join(" ← ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_cases() {
        let values = |v: &[&str]| v.iter().map(|v| v.to_string()).collect::<Vec<_>>();
        assert!(are_characters(&values(&["34", "97", "0"])));
        assert!(!are_characters(&values(&["0", "10"])) && !are_characters(&values(&["34", "1"])));
        assert_eq!(shown_value("34", true), "'\"'");
        assert_eq!(shown_value("39", true), r"'\''");
        assert_eq!(shown_value("34", false), "34");
        assert_eq!(
            shown_value("-170141183460469231731687303715884105728", true).len(),
            40
        );
    }
}
