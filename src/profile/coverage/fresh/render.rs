//! What a run reached first, as text, JSON, CSV, annotations and a summary.

use super::{Fresh, NewPath, SourceLine};
use crate::index::BlockId;
use crate::names::{printable, readable};
use crate::profile::Profile;
use crate::profile::coverage::ci;
use crate::profile::coverage::render::place_beside;
use crate::profile::report::steps::Steps;
use crate::profile::report::text::{headline, short};
use crate::profile::report::words::{Said, Words};
use crate::source::Sources;
use crate::table::{self, Layout, exactly, number_of, wrapped};
use anstyle::Style;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

const BOLD: Style = Style::new().bold();

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
fn named(profile: &Profile, lines: &BTreeSet<SourceLine>) -> String {
    let lines: Vec<SourceLine> = lines.iter().copied().collect();
    let of_file = |lines: &[SourceLine]| {
        let ranges = lines.chunk_by(|a, b| a.1 + 1 == b.1);
        let range = |r: &[SourceLine]| match r {
            [(_, only)] => only.to_string(),
            _ => format!("{}-{}", r[0].1, r[r.len() - 1].1),
        };
        let ranges: Vec<String> = ranges.map(range).collect();
        let file = short(&profile.manifest.files[lines[0].0 as usize]);
        let word = if lines.len() == 1 { "line" } else { "lines" };
        format!("{word} {} of {}", ranges.join(", "), printable(&file))
    };
    let files = lines.chunk_by(|a, b| a.0 == b.0).map(of_file);
    files.collect::<Vec<_>>().join("; ")
}

/// For people; at most `top` paths, each with the programs that reached it, where there are several.
pub fn text(
    fresh: &Fresh,
    sources: &Sources,
    top: usize,
    layout: Layout,
    programs: impl Fn(&NewPath) -> Vec<String>,
) -> String {
    let steps = Steps::new(fresh.profile, sources, layout.full);
    let summary = wrapped(&summary(fresh), layout.width, 0);
    let mut out = format!("{BOLD}{summary}{BOLD:#}\n");
    for new in fresh.paths.iter().take(top) {
        out += &described(fresh, &steps, new, layout, &programs(new));
    }
    if fresh.paths.len() > top {
        let more = exactly((fresh.paths.len() - top) as u64);
        let _ = writeln!(out, "… and {more} more (--top {})", fresh.paths.len());
    }
    out
}

/// A path, its steps, and what is new on it.
fn described(
    fresh: &Fresh,
    steps: &Steps,
    new: &NewPath,
    layout: Layout,
    programs: &[String],
) -> String {
    let line = &new.path;
    let numbers = format!("  {} ×  ", exactly(line.count));
    let mut out = headline(&numbers, steps, line, layout);
    for step in steps.lines(line, layout, 4) {
        out += &(step + "\n");
    }
    let mut said = details(fresh, steps, new);
    if !programs.is_empty() {
        said.push(format!("reached by {}", printable(&programs.join(", "))));
    }
    for said in said {
        out += &(wrapped(&said, layout.width, 4) + "\n");
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
        news.push(named(fresh.profile, &new.lines));
    }
    if !news.is_empty() {
        said.push(format!("also new: {}", news.join("; ")));
    }
    said
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
    annotations.collect()
}

/// A summary for a job's page or a merge request.
pub fn markdown(fresh: &Fresh) -> String {
    let mut out = format!("{}\n", summary(fresh));
    if fresh.paths.is_empty() {
        return out;
    }
    out += "\n| function | path | ran | new pairs | new lines |\n|---|---:|---:|---:|---|\n";
    for new in &fresh.paths {
        let name = fresh.profile.name(new.path.func).replace('|', "\\|");
        let lines = named(fresh.profile, &new.lines).replace('|', "\\|");
        let (id, ran) = (new.path.id, exactly(new.path.count));
        let _ = writeln!(out, "| {name} | #{id} | {ran} | {} | {lines} |", new.pairs);
    }
    out
}

#[derive(Serialize)]
struct Json<'a> {
    new: Vec<JsonPath<'a>>,
    /// How many paths ran that are known.
    again: usize,
    new_pairs: usize,
    /// File and line.
    new_lines: Vec<(&'a str, u32)>,
}

#[derive(Serialize)]
struct JsonPath<'a> {
    module: &'a str,
    name: &'a str,
    readable: String,
    id: String,
    count: u64,
    blocks: &'a [BlockId],
    decisions: Vec<Said>,
    near: Option<JsonNear>,
    new_pairs: usize,
    new_lines: Vec<(&'a str, u32)>,
    /// The profiles that have it, where several are given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    programs: Vec<String>,
}

#[derive(Serialize)]
struct JsonNear {
    id: String,
    common_blocks: usize,
}

/// For other programs.
pub fn json(
    fresh: &Fresh,
    sources: &Sources,
    programs: impl Fn(&NewPath) -> Vec<String>,
) -> String {
    let words = Words::new(fresh.profile, sources);
    let new = fresh
        .paths
        .iter()
        .map(|new| json_path(words, new, programs(new)));
    let json = Json {
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

fn json_path<'a>(words: Words<'a>, new: &'a NewPath, programs: Vec<String>) -> JsonPath<'a> {
    let (profile, line) = (words.profile(), &new.path);
    let name = &profile.entry(line.func).name;
    JsonPath {
        module: profile.module(line.func),
        name,
        readable: readable(name).into_owned(),
        id: line.id.to_string(),
        count: line.count,
        blocks: &line.path.blocks,
        decisions: words.of(line),
        near: new.near.as_ref().map(|near| JsonNear {
            id: near.id.to_string(),
            common_blocks: near.common,
        }),
        new_pairs: new.pairs,
        new_lines: lines(profile, new.lines.iter()),
        programs,
    }
}

/// One record for each new path, after a heading.
pub fn csv(fresh: &Fresh) -> String {
    let heading = [
        "module",
        "function",
        "id",
        "count",
        "new_pairs",
        "new_lines",
    ];
    let records = fresh.paths.iter().map(|new| {
        let line = &new.path;
        [
            fresh.profile.module(line.func).to_string(),
            fresh.profile.entry(line.func).name.clone(),
            line.id.to_string(),
            line.count.to_string(),
            new.pairs.to_string(),
            new.lines.len().to_string(),
        ]
    });
    table::csv(&heading, records)
}
