//! What a run reached first, as text, JSON, CSV, annotations and a summary.

use super::{Fresh, NewPath, ReachedBy, SourceLine};
use crate::base::names::escape_unprintable;
use crate::base::rows::{Cell, Table};
use crate::base::style::BOLD;
use crate::base::table::{Layout, group_all_digits, number_of, wrap_words};
use crate::profile::Profile;
use crate::profile::merge::origins::Origin;
use crate::read::report::coverage::ci;
use crate::read::report::coverage::json_path::JsonPath;
use crate::read::report::coverage::render::place_beside;
use crate::read::report::function_columns;
use crate::read::report::positions::base_name;
use crate::read::report::steps::Steps;
use crate::read::report::text::headline_and_steps;
use crate::read::report::words::Words;
use crate::read::source::Sources;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// `3 new paths, 5 new pairs of edges, 1 new line; 17 paths ran that are known`.
fn summary(fresh: &Fresh) -> String {
    format!(
        "{}, {} of edges, {}; {} ran that {} known",
        number_of(fresh.paths.len() as u64, "new path"),
        number_of(fresh.pairs as u64, "new pair"),
        number_of(fresh.lines.len() as u64, "new line"),
        number_of(fresh.again as u64, "path"),
        if fresh.again == 1 { "is" } else { "are" },
    )
}

/// `lines 7, 9-12 of a.c; line 3 of b.h`.
fn describe_lines(profile: &Profile, lines: &BTreeSet<SourceLine>) -> String {
    let lines: Vec<SourceLine> = lines.iter().copied().collect();
    let of_file = |lines: &[SourceLine]| {
        let ranges = lines.chunk_by(|a, b| a.1 + 1 == b.1);
        let range = |r: &[SourceLine]| match r {
            [(_, only)] => only.to_string(),
            _ => format!("{}-{}", r[0].1, r[r.len() - 1].1),
        };
        let ranges: Vec<String> = ranges.map(range).collect();
        let file = base_name(&profile.manifest.files[lines[0].0 as usize]);
        let word = if lines.len() == 1 { "line" } else { "lines" };
        format!(
            "{word} {} of {}",
            ranges.join(", "),
            escape_unprintable(&file)
        )
    };
    let files = lines.chunk_by(|a, b| a.0 == b.0).map(of_file);
    files.collect::<Vec<_>>().join("; ")
}

/// For people; at most `top` paths, each with what took it.
pub fn text(fresh: &Fresh, sources: &Sources, top: usize, layout: Layout) -> String {
    let steps = Steps::new(fresh.profile, sources, layout.full);
    let summary = wrap_words(&summary(fresh), layout.width, 0);
    let mut out = format!("{BOLD}{summary}{BOLD:#}\n");
    if let Some(by) = find_common_reason(fresh) {
        out += &(wrap_words(&format!("all reached by {by}"), layout.width, 0) + "\n");
    }
    for new in fresh.paths.iter().take(top) {
        out += &describe_path(fresh, &steps, new, layout);
    }
    if fresh.paths.len() > top {
        let more = group_all_digits((fresh.paths.len() - top) as u64);
        let _ = writeln!(out, "… and {more} more (--top {})", fresh.paths.len());
    }
    out
}

/// A path, its steps, and what is new on it.
fn describe_path(fresh: &Fresh, steps: &Steps, new: &NewPath, layout: Layout) -> String {
    let line = &new.path;
    let numbers = format!("  {} ×  ", group_all_digits(line.count));
    let mut out = headline_and_steps(&numbers, steps, line, layout);
    for said in details(fresh, steps, new) {
        out += &(wrap_words(&said, layout.width, 4) + "\n");
    }
    out
}

/// The nearest known path, and the pairs and lines that are new.
fn details(fresh: &Fresh, steps: &Steps, new: &NewPath) -> Vec<String> {
    let nearest = match &new.near {
        None => "no path of the function is known".to_string(),
        Some(near) if near.common == 0 => {
            format!("nearest known: #{}, which starts elsewhere", near.id)
        }
        Some(near) => {
            let known = format!("nearest known: #{}", near.id);
            place_beside(steps, near, &new.path, &known)
        }
    };
    let mut said = vec![nearest];
    let mut news = Vec::new();
    if new.pairs > 0 {
        news.push(format!("{} of edges", number_of(new.pairs as u64, "pair")));
    }
    if !new.lines.is_empty() {
        news.push(describe_lines(fresh.profile, &new.lines));
    }
    if !news.is_empty() {
        said.push(format!("also new: {}", news.join("; ")));
    }
    let by = reached_by(&new.reached_by);
    if !by.is_empty() && find_common_reason(fresh).is_none() {
        said.push(format!("reached by {by}"));
    }
    said
}

/// What took all of several new paths: of that each path by itself says nothing.
fn find_common_reason(fresh: &Fresh) -> Option<String> {
    let [first, more @ ..] = &fresh.paths[..] else {
        return None;
    };
    let is_common = |new: &NewPath| new.reached_by == first.reached_by;
    let by = reached_by(&first.reached_by);
    (!more.is_empty() && !by.is_empty() && more.iter().all(is_common)).then_some(by)
}

/// So many runs are named.
const NAMED: usize = 3;

/// `test parse_1 (-v in.txt), …; in a.p3prof, b.p3prof`; empty where nothing is known.
fn reached_by(by: &ReachedBy) -> String {
    let mut runs: Vec<String> = by.runs.iter().take(NAMED).map(describe_run).collect();
    if by.runs.len() > NAMED {
        let more = group_all_digits((by.runs.len() - NAMED) as u64);
        runs.push(format!("{more} more"));
    }
    let (runs, programs) = (runs.join("; "), by.programs.join(", "));
    let text = match (runs.is_empty(), programs.is_empty()) {
        (_, true) => runs,
        (true, false) => format!("runs in {programs}"),
        (false, false) => format!("{runs}; in {programs}"),
    };
    escape_unprintable(&text).into_owned()
}

/// `test parse_1 (-v in.txt)`, or `run with -v in.txt`.
fn describe_run(origin: &Origin) -> String {
    let arguments = match &origin.arguments[..] {
        [] => None,
        [only] if only.is_empty() => Some("without arguments".to_string()),
        [only] => Some(format!("with {only}")),
        all => {
            let word = |a: &String| {
                if a.is_empty() {
                    "no arguments".to_string()
                } else {
                    a.clone()
                }
            };
            let mut first: Vec<String> = all.iter().take(NAMED).map(word).collect();
            first.extend((all.len() > NAMED).then(|| "…".to_string()));
            Some(format!("with one of: {}", first.join(" | ")))
        }
    };
    match (&origin.test, arguments) {
        (Some(test), Some(arguments)) => format!("test {test} ({arguments})"),
        (Some(test), None) => format!("test {test}"),
        (None, Some(arguments)) => format!("a run {arguments}"),
        (None, None) => "a run of unknown arguments".to_string(),
    }
}

/// Annotations as GitHub takes them: one for each new path, at the beginning of its function.
pub fn github(fresh: &Fresh, sources: &Sources) -> String {
    let steps = Steps::new(fresh.profile, sources, false);
    let annotations = fresh.paths.iter().map(|new| {
        let line = &new.path;
        let title = format!(
            "{}: a path that ran for the first time",
            steps.name(line.func)
        );
        let mut rows = vec![format!("#{}{}", line.id, steps.start(line))];
        rows.extend(steps.lines(line, Layout::default(), 0));
        rows.extend(details(fresh, &steps, new));
        ci::warning(
            fresh.profile,
            line.func,
            None,
            &title,
            rows.join("\n").trim_end(),
        )
    });
    ci::limit_annotations(annotations, "path")
}

/// The columns of a summary, and of records.
fn table<'a>(fresh: &'a Fresh) -> Table<'a, NewPath> {
    let profile = fresh.profile;
    function_columns(move |new: &NewPath| (profile, new.path.func))
        .text("function", |new| profile.name(new.path.func))
        .text("path", |new| Cell::Figure(format!("#{}", new.path.id)))
        .csv("id", |new| new.path.id.to_string())
        .text_and_csv("count", "ran", |new| new.path.count)
        .text_and_csv("new_pairs", "new pairs", |new| {
            Cell::Figure(new.pairs.to_string())
        })
        .csv("new_lines", |new| new.lines.len())
        .text("new lines", |new| describe_lines(profile, &new.lines))
        .text("reached by", |new| reached_by(&new.reached_by))
}

/// A summary for a job's page or a merge request.
pub fn markdown(fresh: &Fresh) -> String {
    let summary = summary(fresh) + "\n";
    if fresh.paths.is_empty() {
        return summary;
    }
    summary + "\n" + &table(fresh).markdown(&fresh.paths)
}

#[derive(Serialize)]
struct FreshJson<'a> {
    new: Vec<JsonNewPath<'a>>,
    /// How many paths ran that are known.
    #[serde(rename = "known")]
    again: usize,
    new_pairs: usize,
    /// File and line.
    new_lines: Vec<(&'a str, u32)>,
}

#[derive(Serialize)]
struct JsonNewPath<'a> {
    #[serde(flatten)]
    path: JsonPath<'a>,
    near: Option<JsonNear>,
    new_pairs: usize,
    new_lines: Vec<(&'a str, u32)>,
    /// The profiles that have it, where several are given.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    programs: &'a [String],
    /// The runs that took it, by test and arguments, where raw profiles tell.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    runs: &'a [Origin],
}

#[derive(Serialize)]
struct JsonNear {
    id: String,
    common_blocks: usize,
}

/// For other programs.
pub fn json(fresh: &Fresh, sources: &Sources) -> String {
    let words = Words::new(fresh.profile, sources);
    let new = fresh.paths.iter().map(|new| json_path(words, new));
    let json = FreshJson {
        new: new.collect(),
        again: fresh.again,
        new_pairs: fresh.pairs,
        new_lines: lines(fresh.profile, fresh.lines.iter()),
    };
    serde_json::to_string(&json).expect("a report serialises") + "\n"
}

fn lines<'a>(
    profile: &'a Profile,
    lines: impl Iterator<Item = &'a SourceLine>,
) -> Vec<(&'a str, u32)> {
    let file = |n: u32| profile.manifest.files[n as usize].as_str();
    lines.map(|(f, line)| (file(*f), *line)).collect()
}

fn json_path<'a>(words: Words<'a>, new: &'a NewPath) -> JsonNewPath<'a> {
    JsonNewPath {
        path: JsonPath::new(words, &new.path),
        near: new.near.as_ref().map(|near| JsonNear {
            id: near.id.to_string(),
            common_blocks: near.common,
        }),
        new_pairs: new.pairs,
        new_lines: lines(words.profile(), new.lines.iter()),
        programs: &new.reached_by.programs,
        runs: &new.reached_by.runs,
    }
}

/// One record for each new path, after a heading.
pub fn csv(fresh: &Fresh) -> String {
    table(fresh).to_csv(&fresh.paths)
}
