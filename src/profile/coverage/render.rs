//! The coverage report as text, JSON and CSV.

use super::{Coverage, FunctionCoverage, Paths, Uncovered, file};
use crate::dag::{PathEnd, PathStart};
use crate::index::BlockId;
use crate::ir::Loc;
use crate::names::printable;
use crate::profile::Profile;
use crate::profile::report::Step;
use crate::profile::report::text::{grouped, grouped128, short, shortened};
use crate::table::{self, Align, Columns};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::fmt::Write;

const BOLD: Style = Style::new().bold();
const WARN: Style = AnsiColor::Yellow.on_default();

impl Paths {
    /// The executed share.
    fn share(&self) -> f64 {
        self.executed as f64 / (self.feasible.max(1)) as f64
    }
}

/// For people.
pub fn text(coverage: &Coverage) -> String {
    use Align::{Left, Right};
    let mut table = Columns::new([Right, Right, Right, Left]);
    table.heading(BOLD, &["executed", "feasible", "share", "file"]);
    for (file, paths) in &coverage.files {
        table.row(paths.cells(printable(file).into_owned()));
    }
    if coverage.files.len() > 1 {
        table.row(coverage.total.cells("in all".into()));
    }
    table.row([String::new()]);
    table.heading(BOLD, &["executed", "feasible", "share", "function"]);
    for row in &coverage.rows {
        let name = coverage.profile.name(row.f);
        let note = if row.ran { "" } else { " (no path ran)" };
        table.row(row.paths.cells(name + note));
        for uncovered in &row.uncovered {
            table.row([format!("    {}", explained(coverage.profile, uncovered))]);
        }
    }
    table.to_string() + &notes(coverage)
}

impl Paths {
    fn cells(&self, of: String) -> [String; 4] {
        let share = format!("{:.2}%", self.share() * 100.0);
        [
            grouped128(self.executed),
            grouped128(self.feasible),
            share,
            of,
        ]
    }
}

/// What the table does not show, and of which functions it does not know all.
fn notes(coverage: &Coverage) -> String {
    let mut out = String::new();
    if coverage.rows.len() < coverage.functions {
        let more = coverage.functions - coverage.rows.len();
        let _ = writeln!(
            out,
            "… and {more} more functions (--top {})",
            coverage.functions
        );
    }
    for &f in &coverage.incomplete {
        let (name, status) = (coverage.profile.name(f), coverage.profile.entry(f).status);
        let _ = writeln!(out, "{WARN}{name}: {status}{WARN:#}");
    }
    out
}

/// `#5 not covered: lines 8, 8 (false), 11 (true)`, and which executed path is next to it.
fn explained(profile: &Profile, uncovered: &Uncovered) -> String {
    let items = places(profile, uncovered);
    let debug = !profile.entry(uncovered.path.func).lines.is_empty();
    let what = if debug { "lines" } else { "blocks" };
    let path = &uncovered.path.path;
    let mut text = format!(
        "#{} not covered: {what} {}",
        uncovered.path.id,
        shortened(&items, ", ")
    );
    if path.start == PathStart::Loop {
        let _ = write!(text, ", from loop b{}", path.blocks[0]);
    }
    if let PathEnd::Back(_, to) = path.end {
        let _ = write!(text, ", back to b{to}");
    }
    if let Some(near) = uncovered.near {
        let _ = write!(
            text,
            "; #{} ran {} and {}",
            near.id,
            match near.count {
                1 => "once".to_string(),
                n => format!("{} times", grouped(n)),
            },
            match near.common {
                0 => "starts elsewhere".to_string(),
                n => format!("parts from it at {}", bare(&items[n - 1])),
            }
        );
    }
    if uncovered.new_edges == 0 {
        text += "; each step ran on some path";
    }
    text
}

/// By block: its last line (or the block), and the way taken where there is a choice.
fn places(profile: &Profile, uncovered: &Uncovered) -> Vec<String> {
    let line = &uncovered.path;
    let entry = profile.entry(line.func);
    let first = || (0..entry.succs.len()).flat_map(|b| entry.spans(BlockId::new(b)));
    let home = entry.loc.or_else(|| Some(first().next()?.loc));
    let place = |step: Step| place(profile, home, &step);
    line.steps(profile).map(place).collect()
}

/// Where a step is, and the way taken; the file is named where it is not that of `home`.
fn place(profile: &Profile, home: Option<Loc>, step: &Step) -> String {
    let place = match step.loc {
        None => format!("b{}", step.block),
        Some(loc) if home.is_none_or(|h| h.file == loc.file) => loc.line.to_string(),
        Some(loc) => {
            let file = short(&profile.manifest.files[loc.file as usize]);
            format!("{file}:{}", loc.line)
        }
    };
    match &step.taken {
        Some(taken) => format!("{place} ({taken})"),
        None => place,
    }
}

/// A place without the way taken.
fn bare(place: &str) -> &str {
    place.split(" (").next().unwrap_or(place)
}

#[derive(Serialize)]
struct Json<'a> {
    functions: Vec<JsonFunction<'a>>,
    files: Vec<JsonFile<'a>>,
    total: Numbers,
}

/// Numbers of feasible paths exceed what JSON numbers hold exactly in many readers.
#[derive(Serialize)]
struct Numbers {
    executed: u64,
    feasible: String,
}

#[derive(Serialize)]
struct JsonFile<'a> {
    file: &'a str,
    #[serde(flatten)]
    paths: Numbers,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    module: &'a str,
    name: &'a str,
    file: String,
    status: String,
    #[serde(flatten)]
    paths: Numbers,
    uncovered: Vec<JsonPath<'a>>,
}

#[derive(Serialize)]
struct JsonPath<'a> {
    id: String,
    blocks: &'a [BlockId],
    starts: &'static str,
    not_covered: Vec<String>,
    near: Option<JsonNear>,
    new_edges: u32,
}

#[derive(Serialize)]
struct JsonNear {
    id: String,
    count: u64,
    common_blocks: usize,
}

fn numbers(paths: &Paths) -> Numbers {
    Numbers {
        executed: paths.executed as u64,
        feasible: paths.feasible.to_string(),
    }
}

/// For other programs.
pub fn json(coverage: &Coverage) -> String {
    let profile = coverage.profile;
    let function = |row| json_function(profile, row);
    let files = coverage.files.iter().map(|(file, paths)| JsonFile {
        file,
        paths: numbers(paths),
    });
    let json = Json {
        functions: coverage.rows.iter().map(function).collect(),
        files: files.collect(),
        total: numbers(&coverage.total),
    };
    serde_json::to_string(&json).expect("a report serialises") + "\n"
}

fn json_function<'a>(profile: &'a Profile, row: &'a FunctionCoverage) -> JsonFunction<'a> {
    let path = |uncovered| json_path(profile, uncovered);
    JsonFunction {
        module: profile.module(row.f),
        name: &profile.entry(row.f).name,
        file: file(profile, row.f),
        status: profile.entry(row.f).status.to_string(),
        paths: numbers(&row.paths),
        uncovered: row.uncovered.iter().map(path).collect(),
    }
}

fn json_path<'a>(profile: &Profile, uncovered: &'a Uncovered) -> JsonPath<'a> {
    let path = &uncovered.path.path;
    JsonPath {
        id: uncovered.path.id.to_string(),
        blocks: &path.blocks,
        starts: match path.start {
            PathStart::Entry => "entry",
            PathStart::Loop => "loop",
        },
        not_covered: places(profile, uncovered),
        near: uncovered.near.map(|near| JsonNear {
            id: near.id.to_string(),
            count: near.count,
            common_blocks: near.common,
        }),
        new_edges: uncovered.new_edges,
    }
}

/// One record for each function, after a heading.
pub fn csv(coverage: &Coverage) -> String {
    let profile = coverage.profile;
    let heading = [
        "module", "function", "file", "status", "executed", "feasible",
    ];
    let records = coverage.rows.iter().map(|row| record(profile, row));
    table::csv(&heading, records)
}

fn record(profile: &Profile, row: &FunctionCoverage) -> [String; 6] {
    [
        profile.module(row.f).to_string(),
        profile.entry(row.f).name.clone(),
        file(profile, row.f),
        profile.entry(row.f).status.to_string(),
        row.paths.executed.to_string(),
        row.paths.feasible.to_string(),
    ]
}
