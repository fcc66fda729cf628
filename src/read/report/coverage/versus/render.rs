//! Coverage against an earlier profile as text, JSON, CSV, annotations and a summary.

use crate::base::names::escape_unprintable;
use crate::base::rows::Table;
use crate::base::table::{Layout, group_all_digits, number_of};
use crate::read::report::coverage::ci;
use crate::read::report::coverage::json_path::JsonPath;
use crate::read::report::diff::{Change, Diff};
use crate::read::report::steps::Steps;
use crate::read::report::text::{headline_and_steps, name_lines, section};
use crate::read::report::words::Words;
use crate::read::report::{Line, function_columns};
use crate::read::source::Sources;
use serde::Serialize;
use std::fmt::Write;

/// The paths of one profile alone, and which that is.
fn paths_of_one<'d>(versus: &'d Diff) -> [(&'static str, &'d [Change]); 2] {
    [
        ("ran only now", &versus.appeared),
        ("ran only in the earlier profile", &versus.vanished),
    ]
}

/// Functions whose paths are in neither list, and why.
fn functions<'d>(versus: &'d Diff) -> [(&'static str, &'d [String]); 3] {
    [
        (
            "with other control flow now, not compared",
            &versus.incomparable,
        ),
        ("only in this profile", &versus.only_after),
        ("only in the earlier profile", &versus.only_before),
    ]
}

/// For people; at most `top` of each kind.
pub fn text(versus: &Diff, sources: &Sources, top: usize, layout: Layout) -> String {
    let steps = Steps::new(versus.after, sources, layout.full);
    let both = number_of(versus.count_in_both() as u64, "path");
    let mut out = format!("{both} ran in both\n");
    let how = |number: usize| format!(" (--top {number})");
    if versus.unselected > 0 {
        let paths = number_of(versus.unselected as u64, "path");
        let _ = writeln!(out, "{paths} ran in one and not selected in the other");
    }
    for (what, paths) in paths_of_one(versus) {
        let number = paths.len();
        let line = |c: &Change| {
            let numbers = format!("  {} ×  ", group_all_digits(c.line.count));
            headline_and_steps(&numbers, &steps, &c.line, layout)
        };
        let lines: String = paths.iter().take(top).map(line).collect();
        out += &section((number, "path"), what, top, &how(number), &lines);
    }
    for (what, names) in functions(versus).iter().filter(|(_, n)| !n.is_empty()) {
        let number = names.len();
        let lines = name_lines(names, top, layout);
        out += &section((number, "function"), what, top, &how(number), &lines);
    }
    out
}

/// Annotations as GitHub takes them: one for each path that ran only in the earlier profile, at the beginning of its
/// function.
pub fn github(versus: &Diff, sources: &Sources) -> String {
    let steps = Steps::new(versus.after, sources, false);
    let lost = versus.vanished.iter().map(|change| {
        let line = &change.line;
        let name = steps.name(line.func);
        let title = format!("{name}: a path that ran before, and does not now");
        let rows = steps.lines(line, Layout::default(), 0).join("\n");
        let text = format!("#{}{}\n{rows}", line.id, steps.start(line));
        ci::warning(versus.after, line.func, None, &title, text.trim_end())
    });
    ci::limit_annotations(lost, "path")
}

/// A summary for a job's page or a merge request.
pub fn markdown(versus: &Diff) -> String {
    let mut out = String::from("| paths | |\n|---|---:|\n");
    let _ = writeln!(
        out,
        "| ran in both | {} |",
        group_all_digits(versus.count_in_both() as u64)
    );
    if versus.unselected > 0 {
        let paths = group_all_digits(versus.unselected as u64);
        let _ = writeln!(
            out,
            "| ran in one and not selected in the other | {paths} |"
        );
    }
    for (what, paths) in paths_of_one(versus) {
        let _ = writeln!(out, "| {what} | {} |", group_all_digits(paths.len() as u64));
    }
    for (what, names) in functions(versus).iter().filter(|(_, n)| !n.is_empty()) {
        let names: Vec<String> = names
            .iter()
            .map(|n| format!("`{}`", escape_unprintable(n)))
            .collect();
        let _ = writeln!(
            out,
            "\n{} {what}: {}",
            number_of(names.len() as u64, "function"),
            names.join(", ")
        );
    }
    out
}

#[derive(Serialize)]
struct VersusJson<'a> {
    gained: Vec<JsonPath<'a>>,
    lost: Vec<JsonPath<'a>>,
    #[serde(rename = "in_both")]
    both: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    unselected: Option<usize>,
    changed: &'a [String],
    only_now: &'a [String],
    only_then: &'a [String],
}

/// For other programs.
pub fn json(versus: &Diff, sources: &Sources) -> String {
    let words = Words::new(versus.after, sources);
    let json = VersusJson {
        gained: paths(words, &versus.appeared),
        lost: paths(words, &versus.vanished),
        both: versus.count_in_both(),
        unselected: (versus.unselected > 0).then_some(versus.unselected),
        changed: &versus.incomparable,
        only_now: &versus.only_after,
        only_then: &versus.only_before,
    };
    serde_json::to_string(&json).expect("a report serialises") + "\n"
}

fn paths<'a>(words: Words<'a>, changes: &'a [Change]) -> Vec<JsonPath<'a>> {
    let lines = changes.iter().map(|change| &change.line);
    lines.map(|line| JsonPath::new(words, line)).collect()
}

/// One record for each path that ran in one profile alone, after a heading.
pub fn csv(versus: &Diff) -> String {
    let kinds = [("now", &versus.appeared), ("before", &versus.vanished)].into_iter();
    let paths = kinds.flat_map(|(ran, paths)| paths.iter().map(move |c| (ran, &c.line)));
    Table::new()
        .csv("ran", |r: &(&str, &Line)| r.0)
        .add_columns(
            function_columns(|r: &(&str, &Line)| (versus.after, r.1.func)),
            |r| *r,
        )
        .csv("id", |r| r.1.id.to_string())
        .csv("count", |r| r.1.count)
        .to_csv(paths)
}
