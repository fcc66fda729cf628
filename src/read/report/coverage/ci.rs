//! The coverage report for a job of CI: annotations and a summary.

use super::columns::Sums;
use super::headline::headline;
use super::render::{
    describe_excluded, describe_patch, describe_selection, describe_unknown, explain_uncovered,
};
use super::vectors::{annotate_missing, summarise};
use super::{Coverage, FunctionCoverage, Uncovered, file};
use crate::base::index::FuncId;
use crate::base::names::escape_unprintable;
use crate::base::rows::Table;
use crate::base::table::{Layout, group_all_digits, number_of};
use crate::profile::Profile;
use crate::read::report::steps::Steps;
use crate::read::report::words::Words;
use crate::read::source::{Sources, repository};
use std::fmt::Write;

/// GitHub shows so many annotations of a kind of one step.
const ANNOTATIONS: usize = 10;

/// Annotations as GitHub takes them from a job's output: one for each path that is explained, at the line that would
/// have to go the other way.
pub fn github(coverage: &Coverage, sources: &Sources) -> String {
    let steps = Steps::new(coverage.profile, sources, false);
    let rows = coverage.rows.iter();
    let all = rows.flat_map(|row| row.uncovered.iter().map(move |u| (row, u)));
    let paths = all.map(|(row, uncovered)| annotation(&steps, row, uncovered));
    let Some(mcdc) = &coverage.mcdc else {
        return limit_annotations(paths, "path");
    };
    let missing = annotate_missing(coverage.profile, mcdc);
    let conditions = missing.map(|(decision, place, text)| {
        let title = "a condition that is not shown (MC/DC)";
        warning(coverage.profile, decision.f, Some(place), title, &text)
    });
    limit_annotations(conditions.chain(paths), "condition or path")
}

/// As many annotations as GitHub shows of a step, and how many are left out.
pub(super) fn limit_annotations(
    mut annotations: impl Iterator<Item = String>,
    what: &str,
) -> String {
    let mut text: String = annotations.by_ref().take(ANNOTATIONS).collect();
    let more = annotations.count();
    if more > 0 {
        let more = number_of(more as u64, &format!("more {what}"));
        let _ = writeln!(
            text,
            "::notice title={more}::GitHub shows {ANNOTATIONS} warnings of a step; --format text lists others"
        );
    }
    text
}

fn annotation(steps: &Steps, row: &FunctionCoverage, uncovered: &Uncovered) -> String {
    let words = steps.words();
    let profile = words.profile();
    let said = words.decisions(&uncovered.path);
    let parts = said.iter().find(|s| Some(s.block) == uncovered.shown);
    let parts = parts.or(said.first());
    let rows = steps.rows_with(&uncovered.path, uncovered.shown);
    let text = explain_uncovered(steps, uncovered, &rows, Layout::default()).join("\n");
    let title = format!("{}: a path that did not run", steps.name(row.f));
    warning(
        profile,
        row.f,
        parts.and_then(|s| s.file.clone().zip(s.line)),
        &title,
        &text,
    )
}

/// A warning at a file and line, or else where function `f` begins.
pub(super) fn warning(
    profile: &Profile,
    f: FuncId,
    place: Option<(String, u32)>,
    title: &str,
    text: &str,
) -> String {
    let begins = || (file(profile, f), profile.entry(f).loc.map_or(1, |l| l.line));
    let (file, line) = place.unwrap_or_else(begins);
    format!(
        "::warning file={},line={line},title={}::{}\n",
        escape_property(&path_in_repository(&file)),
        escape_property(title),
        escape_data(text)
    )
}

/// A file below the repository, or else the working folder, by its path there: annotations know no other.
fn path_in_repository(file: &str) -> String {
    let here = || std::env::current_dir().ok();
    let root = repository().or_else(here).unwrap_or_default();
    let below = std::path::Path::new(file).strip_prefix(&root);
    below.map_or(file.to_string(), |p| p.display().to_string())
}

/// Text as workflow commands have it.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Text as properties of workflow commands have it.
fn escape_property(text: &str) -> String {
    escape_data(&escape_unprintable(text))
        .replace(':', "%3A")
        .replace(',', "%2C")
}

/// A summary for a job's page or a merge request.
pub fn markdown(coverage: &Coverage, sources: &Sources) -> String {
    let unasked = coverage
        .lines
        .unasked
        .resolve(Words::new(coverage.profile, sources));
    let headline = match coverage.patch {
        None => headline(coverage) + "\n",
        Some(_) => String::new(),
    };
    let files = coverage.files.iter().map(|(file, sums)| {
        let name = escape_unprintable(&path_in_repository(file)).into_owned();
        (name, coverage.sums_of_file(file, sums))
    });
    let in_all = ("in all".to_string(), coverage.sums_in_all());
    let table = Table::new()
        .text("file", |r: &(String, Sums)| r.0.clone())
        .add_columns(coverage.columns(), |r| r.1)
        .markdown(&files.chain([in_all]).collect::<Vec<_>>());
    // A page has room for more words than a terminal.
    let mut out = headline + &table.replacen("| paths |", "| paths that ran |", 1);
    let uncovered = coverage
        .rows
        .iter()
        .filter(|r| r.paths.executed < r.paths.feasible)
        .count();
    let all = coverage.rows.len();
    let _ = writeln!(
        out,
        "\n{} of {} {} paths that did not run.",
        group_all_digits(uncovered as u64),
        number_of(all as u64, "function"),
        if uncovered == 1 || all == 1 {
            "has"
        } else {
            "have"
        },
    );
    if let Some(mcdc) = &coverage.mcdc {
        let _ = write!(out, "\n{}", summarise(mcdc).replace('\n', "  \n"));
    }
    let unknown = describe_unknown(coverage);
    if coverage.patch.is_none() && !unknown.is_empty() {
        let _ = write!(out, "\n{unknown}");
    }
    if coverage.excluded > 0 {
        let _ = write!(out, "\n{}", describe_excluded(coverage.excluded));
    }
    if !coverage.selection.is_empty() {
        let _ = write!(
            out,
            "\n{}",
            describe_selection(coverage).replace('\n', "  \n")
        );
    }
    if let Some(patch) = &coverage.patch {
        let _ = write!(
            out,
            "\n{}",
            describe_patch(patch, &unasked).replace('\n', "  \n")
        );
    }
    out
}
