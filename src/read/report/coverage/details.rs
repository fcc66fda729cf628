//! The counts of lines and of outcomes of conditions, by source file, for programs.

use super::Scope;
use super::annotate::{Unknown, Ways, conditions};
use crate::base::error::Result;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::read::analysis::counted::CountedFunction;
use crate::read::analysis::lines::{SourceFile, by_line};
use crate::read::source::Sources;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The counts of source files, by their names.
pub struct Details<'a>(BTreeMap<&'a str, FileDetails>);

/// The counts of one source file.
#[derive(Default, Serialize)]
pub(super) struct FileDetails {
    /// Each line with code, and how often it ran.
    line_counts: Vec<(u32, u64)>,
    /// Those of these lines that may have run oftener: control left a function before its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at_least: Vec<u32>,
    conditions: Vec<ConditionDetails>,
}

/// What became of a condition that was reached.
#[derive(Serialize)]
struct ConditionDetails {
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    /// In the words of the source; of a call that may throw, the function.
    #[serde(skip_serializing_if = "String::is_empty")]
    condition: String,
    /// How often each outcome came up.
    outcomes: BTreeMap<String, u64>,
    /// Outcomes that may have come up oftener, and those that are not among `outcomes` at all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at_least: Vec<String>,
    /// How many copies of the condition the code has.
    copies: usize,
}

impl<'a> Details<'a> {
    /// Of the selected functions, in the files and lines that `scope` admits. Near-linear in blocks and positions.
    ///
    /// # Errors
    /// A damaged profile.
    pub fn find(
        profile: &'a Profile,
        sources: &Sources,
        selection: &Selection,
        scope: &Scope,
    ) -> Result<Details<'a>> {
        let selected = selection.functions(profile);
        let mut counted = CountedFunction::find_selected(profile, &Selection::default())?;
        counted.retain(|f| selected.binary_search(&f.f).is_ok());
        let touched = scope.touched.as_ref();
        let mut lines: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        let mut files: BTreeMap<&str, FileDetails> = BTreeMap::new();
        for (name, mut file) in by_line(profile, &counted, &scope.markers) {
            if !scope.admits_file(name) {
                continue;
            }
            if let Some(touched) = touched {
                let of_file = touched.lines_of_file(profile, name);
                file.retain_lines(&of_file);
                lines.insert(name, of_file);
            }
            files.insert(name, FileDetails::new(&file));
        }
        let unknown = if scope.tells_unknown(profile) {
            Unknown::Kept
        } else {
            Unknown::LeftOut
        };
        let conditions = conditions(profile, sources, scope, &counted, unknown);
        for ((name, line, column, text, _), ways) in conditions {
            let is_wanted = lines.get(name).is_none_or(|lines| lines.contains(&line));
            if let Some(file) = files.get_mut(name).filter(|_| is_wanted) {
                file.conditions.push(ConditionDetails {
                    line,
                    column,
                    condition: text,
                    copies: ways.places,
                    at_least: name_uncertain(&ways),
                    outcomes: sum_outcomes(ways),
                });
            }
        }
        Ok(Details(files))
    }

    /// The counts of a file.
    pub(super) fn find_file(&self, file: &str) -> Option<&FileDetails> {
        self.0.get(file)
    }
}

impl FileDetails {
    fn new(file: &SourceFile) -> FileDetails {
        let uncertain = file.line_ranges().filter(|(_, range)| !range.is_exact());
        FileDetails {
            line_counts: file.lines().collect(),
            at_least: uncertain.map(|(line, _)| line).collect(),
            conditions: Vec::new(),
        }
    }
}

/// The outcomes of which it is not known how often they came up.
fn name_uncertain(ways: &Ways) -> Vec<String> {
    let uncertain = ways.outcomes.iter().filter(|(_, o)| o.is_uncertain);
    uncertain.map(|(words, _)| words.clone()).collect()
}

/// How often each outcome came up, by any of the ways that have its words; not there: not known to have come up.
fn sum_outcomes(ways: Ways) -> BTreeMap<String, u64> {
    let outcomes = ways.outcomes.into_iter();
    let sums = outcomes.filter_map(|(words, outcome)| {
        let counts = outcome.counts.into_iter();
        let sum = counts.fold(0, u64::saturating_add);
        (sum > 0 || !outcome.is_uncertain).then_some((words, sum))
    });
    sums.collect()
}
