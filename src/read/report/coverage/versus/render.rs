//! Coverage against an earlier profile as text, JSON, CSV, annotations and a summary.

use super::Versus;
use crate::base::names::printable;
use crate::base::style::BOLD;
use crate::base::table::{self, Layout, exactly, number_of};
use crate::read::report::Line;
use crate::read::report::coverage::ci;
use crate::read::report::coverage::json_path::JsonPath;
use crate::read::report::steps::Steps;
use crate::read::report::text::{headline, name_lines};
use crate::read::report::words::Words;
use crate::read::source::Sources;
use serde::Serialize;
use std::fmt::Write;

impl Versus<'_> {
    /// The paths of one profile alone, and which that is.
    fn alone(&self) -> [(&'static str, &[Line]); 2] {
        [
            ("ran only now", &self.gained),
            ("ran only in the earlier profile", &self.lost),
        ]
    }

    /// Functions whose paths are in neither list, and why.
    fn functions(&self) -> [(&'static str, &[String]); 3] {
        [
            ("with other control flow now, not compared", &self.changed),
            ("only in this profile", &self.only_now),
            ("only in the earlier profile", &self.only_then),
        ]
    }
}

/// For people; at most `top` of each kind.
pub fn text(versus: &Versus, sources: &Sources, top: usize, layout: Layout) -> String {
    let steps = Steps::new(versus.now, sources, layout.full);
    let mut out = format!("{} ran in both\n", number_of(versus.both as u64, "path"));
    let more = |out: &mut String, n: usize| {
        if n > top {
            let _ = writeln!(
                out,
                "  … and {} more (--top {n})",
                exactly((n - top) as u64)
            );
        }
    };
    if versus.unselected > 0 {
        let paths = number_of(versus.unselected as u64, "path");
        let _ = writeln!(out, "{paths} ran in one and not selected in the other");
    }
    for (what, lines) in versus.alone() {
        let _ = writeln!(
            out,
            "{BOLD}{} {what}{BOLD:#}",
            number_of(lines.len() as u64, "path")
        );
        for line in lines.iter().take(top) {
            out += &described(&steps, line, layout);
        }
        more(&mut out, lines.len());
    }
    for (what, names) in versus.functions() {
        if names.is_empty() {
            continue;
        }
        let _ = writeln!(
            out,
            "{BOLD}{} {what}{BOLD:#}",
            number_of(names.len() as u64, "function")
        );
        out += &name_lines(names, top, layout);
        more(&mut out, names.len());
    }
    out
}

/// A path, how often it ran, and its steps below.
fn described(steps: &Steps, line: &Line, layout: Layout) -> String {
    let numbers = format!("  {} ×  ", exactly(line.count));
    let mut text = headline(&numbers, steps, line, layout);
    for step in steps.lines(line, layout, 4) {
        text += &(step + "\n");
    }
    text
}

/// Annotations as GitHub takes them: one for each path that ran only in the earlier profile, at the beginning of its
/// function.
pub fn github(versus: &Versus, sources: &Sources) -> String {
    let steps = Steps::new(versus.now, sources, false);
    let lost = versus.lost.iter().map(|line| {
        let name = steps.name(line.func);
        let title = format!("{name}: a path that ran before, and does not now");
        let rows = steps.lines(line, Layout::default(), 0).join("\n");
        let text = format!("#{}{}\n{rows}", line.id, steps.start(line));
        ci::warning(versus.now, line.func, None, &title, text.trim_end())
    });
    ci::limited(lost)
}

/// A summary for a job's page or a merge request.
pub fn markdown(versus: &Versus) -> String {
    let mut out = String::from("| paths | |\n|---|---:|\n");
    let _ = writeln!(out, "| ran in both | {} |", exactly(versus.both as u64));
    if versus.unselected > 0 {
        let paths = exactly(versus.unselected as u64);
        let _ = writeln!(
            out,
            "| ran in one and not selected in the other | {paths} |"
        );
    }
    for (what, lines) in versus.alone() {
        let _ = writeln!(out, "| {what} | {} |", exactly(lines.len() as u64));
    }
    for (what, names) in versus.functions().iter().filter(|(_, n)| !n.is_empty()) {
        let names: Vec<String> = names
            .iter()
            .map(|n| format!("`{}`", printable(n)))
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
struct Json<'a> {
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
pub fn json(versus: &Versus, sources: &Sources) -> String {
    let words = Words::new(versus.now, sources);
    let path = |line| JsonPath::new(words, line);
    let json = Json {
        gained: versus.gained.iter().map(path).collect(),
        lost: versus.lost.iter().map(path).collect(),
        both: versus.both,
        unselected: (versus.unselected > 0).then_some(versus.unselected),
        changed: &versus.changed,
        only_now: &versus.only_now,
        only_then: &versus.only_then,
    };
    serde_json::to_string(&json).expect("a report serialises") + "\n"
}

/// One record for each path that ran in one profile alone, after a heading.
pub fn csv(versus: &Versus) -> String {
    let heading = ["ran", "module", "function", "id", "count"];
    let kinds = [("now", &versus.gained), ("before", &versus.lost)].into_iter();
    let records = kinds.flat_map(|(ran, lines)| {
        lines.iter().map(move |line| {
            [
                ran.to_string(),
                versus.now.module(line.func).to_string(),
                versus.now.entry(line.func).name.clone(),
                line.id.to_string(),
                line.count.to_string(),
            ]
        })
    });
    table::csv(&heading, records)
}
