//! The coverage report as text, JSON and CSV.

use super::{Coverage, Paths, Row, Uncovered, file};
use crate::dag::{PathEnd, PathStart};
use crate::index::{BlockId, PathId};
use crate::names::printable;
use crate::profile::Profile;
use crate::profile::report::Step;
use crate::profile::report::csv::table;
use crate::profile::report::text::{grouped, grouped128, short, shortened};
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

/// Columns that are as wide as the largest numbers.
struct Columns {
    executed: usize,
    feasible: usize,
}

impl Columns {
    fn new(total: &Paths) -> Columns {
        Columns {
            executed: grouped128(total.executed).len().max("executed".len()),
            feasible: grouped128(total.feasible).len().max("feasible".len()),
        }
    }

    fn row(&self, paths: &Paths) -> String {
        let (executed, feasible) = (grouped128(paths.executed), grouped128(paths.feasible));
        let share = paths.share() * 100.0;
        let (a, b) = (self.executed, self.feasible);
        format!("{executed:>a$}  {feasible:>b$}  {share:>6.2}%")
    }

    fn heading(&self, last: &str) -> String {
        let (a, b) = (self.executed, self.feasible);
        format!(
            "{BOLD}{:>a$}  {:>b$}  {:>7}  {last}{BOLD:#}",
            "executed", "feasible", "share"
        )
    }
}

/// For people.
pub fn text(coverage: &Coverage) -> String {
    let columns = Columns::new(&coverage.total);
    let mut out = columns.heading("file") + "\n";
    for (file, paths) in &coverage.files {
        let _ = writeln!(out, "{}  {}", columns.row(paths), printable(file));
    }
    if coverage.files.len() > 1 {
        let _ = writeln!(out, "{}  in all", columns.row(&coverage.total));
    }
    let _ = writeln!(out, "\n{}", columns.heading("function"));
    for row in &coverage.rows {
        let name = coverage.profile.name(row.f);
        let note = if row.ran { "" } else { " (no path ran)" };
        let _ = writeln!(out, "{}  {name}{note}", columns.row(&row.paths));
        for uncovered in &row.uncovered {
            let _ = writeln!(out, "    {}", explained(coverage.profile, uncovered));
        }
    }
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
    match uncovered.new_edges {
        0 if uncovered.near.is_some() => text + "; each step ran on some path",
        _ => text,
    }
}

/// By block: its last line (or the block), and the way taken where there is a choice.
fn places(profile: &Profile, uncovered: &Uncovered) -> Vec<String> {
    let line = &uncovered.path;
    let entry = profile.entry(line.func);
    let first = || (0..entry.succs.len()).flat_map(|b| entry.spans(BlockId::new(b)));
    let home = entry.loc.or_else(|| Some(first().next()?.loc));
    let place = |step: Step| {
        let place = match step.loc {
            None => format!("b{}", step.block),
            Some(loc) if home.is_none_or(|h| h.file == loc.file) => loc.line.to_string(),
            Some(loc) => {
                let file = short(&profile.manifest.files[loc.file as usize]);
                format!("{file}:{}", loc.line)
            }
        };
        match step.taken {
            Some(taken) => format!("{place} ({taken})"),
            None => place,
        }
    };
    line.steps(profile).map(place).collect()
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
    let text = |id: PathId| id.to_string();
    let path = |u| json_path(profile, u, text);
    let function = |row| json_function(profile, row, path);
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

fn json_function<'a>(
    profile: &'a Profile,
    row: &'a Row,
    path: impl Fn(&'a Uncovered) -> JsonPath<'a>,
) -> JsonFunction<'a> {
    JsonFunction {
        module: profile.module(row.f),
        name: &profile.entry(row.f).name,
        file: file(profile, row.f),
        status: profile.entry(row.f).status.to_string(),
        paths: numbers(&row.paths),
        uncovered: row.uncovered.iter().map(path).collect(),
    }
}

fn json_path<'a>(
    profile: &Profile,
    uncovered: &'a Uncovered,
    text: impl Fn(PathId) -> String,
) -> JsonPath<'a> {
    let path = &uncovered.path.path;
    JsonPath {
        id: text(uncovered.path.id),
        blocks: &path.blocks,
        starts: match path.start {
            PathStart::Entry => "entry",
            PathStart::Loop => "loop",
        },
        not_covered: places(profile, uncovered),
        near: uncovered.near.map(|near| JsonNear {
            id: text(near.id),
            count: near.count,
            common_blocks: near.common,
        }),
        new_edges: uncovered.new_edges,
    }
}

/// One record for each function, after a heading.
pub fn csv(coverage: &Coverage) -> String {
    let profile = coverage.profile;
    let record = |row: &Row| {
        [
            profile.module(row.f).to_string(),
            profile.entry(row.f).name.clone(),
            file(profile, row.f),
            profile.entry(row.f).status.to_string(),
            row.paths.executed.to_string(),
            row.paths.feasible.to_string(),
        ]
    };
    let heading = [
        "module", "function", "file", "status", "executed", "feasible",
    ];
    table(&heading, coverage.rows.iter().map(record))
}
