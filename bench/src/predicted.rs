//! What the cost model expects of each function (`p3-prof simulate --functions`) beside what it executes.
//!
//! Rules may be chosen by one half of the programs ([`is_chosen_by`]); the other is reported only. Functions that
//! were inlined in the native program or in the copy are left out; how many is said.

use crate::build::{PROF, output};
use crate::cost::is_chosen_by;
use crate::instructions::{self, ByFunction};
use crate::markdown::Table;
use crate::measure::{INPUT, OTHER, programs};
use crate::rewritten::{Recipe, Rewritten};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What to hold the model against.
#[derive(Debug, clap::Args)]
pub(crate) struct PredictedArgs {
    /// The folder of programs
    folder: PathBuf,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The scheme; ranges-test splits every function that can be
    #[arg(long, default_value = "p3-hot")]
    scheme: String,
    /// The number of copies
    #[arg(short, long, default_value_t = 4)]
    k: u32,
    /// Without weights of the other input
    #[arg(long)]
    untrained: bool,
    /// Also print each function, in one table
    #[arg(long)]
    functions: bool,
}

/// A function in a copy, as `simulate --functions` has it.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Expected {
    function: String,
    copy: usize,
    versions: String,
    paths: u64,
    hashed: u64,
    statements: u64,
    #[serde(rename(serialize = "expected"))]
    instructions: f64,
}

#[derive(Deserialize)]
struct Simulated {
    functions: Vec<Expected>,
}

/// What the model expected and what was measured.
#[derive(Clone, Debug, Serialize)]
struct Row {
    program: String,
    #[serde(flatten)]
    expected: Expected,
    /// Over the native function's instructions.
    measured: f64,
    native: f64,
}

/// Sums over rows.
#[derive(Default)]
struct Sums {
    rows: u64,
    paths: f64,
    native: f64,
    expected: f64,
    measured: f64,
    error: f64,
}

/// Counts, writes `out/predicted.json`, and prints the tables.
pub(crate) fn compare(args: &PredictedArgs, out: &Path) -> Result<()> {
    let (mut rows, mut left_out) = (Vec::new(), 0);
    for (name, program) in programs(&args.folder, &args.only)? {
        eprintln!("{name}");
        let here = out.join("predicted").join(&name);
        let _ = fs::remove_dir_all(&here);
        fs::create_dir_all(&here)?;
        left_out += compare_program(args, &name, &program, &here, &mut rows)
            .with_context(|| name.clone())?;
        fs::remove_dir_all(here)?;
    }
    fs::write(
        out.join("predicted.json"),
        serde_json::to_string_pretty(&rows)?,
    )?;
    print!("{}", tabulate_sums(&rows));
    println!("{left_out} functions of copies were inlined somewhere, and are left out.");
    if args.functions {
        print!("\n{}", tabulate_functions(&rows));
    }
    Ok(())
}

/// Adds the functions of one program; how many were left out.
fn compare_program(
    args: &PredictedArgs,
    name: &str,
    program: &Path,
    here: &Path,
    rows: &mut Vec<Row>,
) -> Result<usize> {
    let (bitcode, recipe) = (program.join("prog.bc"), Recipe::of(program)?);
    let rewritten = |options: &[&str], name: &str| {
        let options: Vec<String> = options.iter().map(|&o| o.into()).collect();
        Rewritten::new(&bitcode, &options, here.join(name), &recipe)
    };
    let sbl = rewritten(&["--scheme", "sbl"], "all")?;
    let whole = sbl.linked("copy-0", None)?;
    let profile = |input: &str| -> Result<String> {
        let file = here.join(input).with_extension("p3prof");
        sbl.profile(&program.join(input), &whole, &file)?;
        Ok(file.display().to_string())
    };
    let (counted, other) = (profile(INPUT)?, profile(OTHER)?);
    let copies = args.k.to_string();
    let mut options = vec!["--scheme", &args.scheme, "-k", &copies];
    if !args.untrained {
        options.extend(["--profile", &other]);
    }
    let simulate = ["simulate", &counted, "--functions", "--format", "json"];
    let simulated = output(&PROF, &[&simulate[..], &options].concat())?;
    let simulated: Simulated = serde_json::from_slice(&simulated)?;
    let rewritten = rewritten(&options, "rewritten")?;
    let executed = |what: &str| -> Result<ByFunction> {
        let exe = rewritten.linked(what, None)?;
        instructions::count_by_function(&program.join(INPUT), &exe, &here.join("run"))
    };
    let native = executed("native")?;
    let copies = 0..simulated
        .functions
        .iter()
        .map(|f| f.copy + 1)
        .max()
        .unwrap_or(0);
    let copies = copies.map(|c| executed(&format!("copy-{c}")));
    let copies = copies.collect::<Result<Vec<ByFunction>>>()?;
    let mut left_out = 0;
    for f in simulated.functions {
        let both = native.get(&f.function).zip(copies[f.copy].get(&f.function));
        let Some((&before, &after)) = both else {
            left_out += 1;
            continue;
        };
        rows.push(Row {
            program: name.into(),
            measured: after as f64 - before as f64,
            native: before as f64,
            expected: f,
        });
    }
    Ok(left_out)
}

/// A table for each half, by versions.
fn tabulate_sums(rows: &[Row]) -> String {
    let mut text = String::new();
    for (half, chosen) in [("chosen by", true), ("reported only", false)] {
        let mut by_versions: BTreeMap<&str, Sums> = BTreeMap::new();
        for row in rows.iter().filter(|r| is_chosen_by(&r.program) == chosen) {
            for versions in [row.expected.versions.as_str(), "~ all"] {
                by_versions.entry(versions).or_default().add(row);
            }
        }
        if by_versions.is_empty() {
            continue;
        }
        let mut table = Table::new([
            half,
            "functions",
            "paths, millions",
            "native, a path",
            "expected",
            "measured",
            "mean error",
        ]);
        for (versions, s) in by_versions {
            let a_path = |sum: f64| format!("{:.2}", sum / s.paths.max(1.0));
            let numbers = [s.native, s.expected, s.measured, s.error].map(a_path);
            let about = [
                versions.trim_start_matches("~ ").to_string(),
                s.rows.to_string(),
                format!("{:.2}", s.paths / 1e6),
            ];
            table.row(about.into_iter().chain(numbers));
        }
        text += &format!("{table}\n");
    }
    text
}

impl Row {
    /// By how many instructions the model errs.
    fn error(&self) -> f64 {
        (self.measured - self.expected.instructions).abs()
    }
}

impl Sums {
    fn add(&mut self, row: &Row) {
        self.rows += 1;
        self.paths += row.expected.paths as f64;
        self.native += row.native;
        self.expected += row.expected.instructions;
        self.measured += row.measured;
        self.error += row.error();
    }
}

/// Those that err most first.
fn tabulate_functions(rows: &[Row]) -> String {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by(|a, b| b.error().total_cmp(&a.error()));
    let mut table = Table::new([
        "program",
        "function",
        "copy",
        "versions",
        "paths",
        "hashed",
        "statements",
        "expected",
        "measured",
        "native",
    ]);
    for r in rows {
        let e = &r.expected;
        let counts = [e.paths, e.hashed, e.statements].map(|n| n.to_string());
        let instructions = [e.instructions, r.measured, r.native].map(|n| format!("{n:.0}"));
        let about = [
            r.program.clone(),
            e.function.clone(),
            e.copy.to_string(),
            e.versions.clone(),
        ];
        table.row(about.into_iter().chain(counts).chain(instructions));
    }
    table.to_string()
}
