//! Sampled subpaths: how far counts and ranks are off, also while a program runs, and what skipping and sampling cost.

mod exact;
mod section;

pub(crate) use section::{plots, section};

use crate::build::{PROF, REWRITE, merge, output, project, run};
use crate::instructions;
use crate::measure::programs;
use crate::results::{Results, this_day, this_machine};
use crate::rewritten::make;
use anyhow::{Context, Result};
use exact::{Truth, first_blocks};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// All figures of sampled subpaths.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Subpaths {
    pub machine: String,
    pub date: String,
    pub programs: BTreeMap<String, Sampled>,
    /// The true ranks of the first five, while [`WATCHED`] runs.
    pub incremental: Vec<Look>,
}

/// One program.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sampled {
    /// Of `main` and all that it calls: `native`, and by [`VARIANTS`].
    pub instructions: BTreeMap<String, u64>,
    /// What the default options sample.
    pub usual: Accuracy,
    /// The same with a hundredth of the period and an eighth of the memory, as a concise and a counting sample.
    pub full: [Accuracy; 2],
    /// Whether counts are compared with all that ran, and not with a larger sample.
    pub exact: bool,
}

/// How far a sample is off.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Accuracy {
    /// Executed blocks, in millions.
    pub blocks: f64,
    pub points: u64,
    pub doublings: u64,
    /// Of the ten subpaths that ran most often for certain: their true ranks.
    pub ranks: Vec<u64>,
    /// By how much of the true count their counts are off.
    pub errors: Vec<f64>,
    /// How many of them have the true rank, or an interval that holds the count of the one that has it.
    pub tied: usize,
    /// Of the subpaths with five points or more: how many intervals hold the true count, and how many there are.
    pub held: [usize; 2],
}

/// A look at a program that runs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Look {
    /// Executed blocks so far, in millions.
    pub blocks: f64,
    pub ranks: Vec<u64>,
}

/// A subpath of a sample.
pub(crate) struct Row {
    pub blocks: Vec<u32>,
    pub count: f64,
    pub half_width: f64,
}

impl Row {
    /// How often it ran at least, as far as is known. A long subpath with one point may be anything.
    fn certain(&self) -> f64 {
        self.count - self.half_width
    }
}

const WITHIN: [&str; 2] = ["--within", "functions"];
/// So large that nothing is sampled.
const NEVER: [&str; 2] = ["--period", "1073741824"];
/// Variants whose instructions are counted: name and options.
const VARIANTS: [(&str, &[&str]); 4] = [
    (
        "within functions, skipping",
        &[WITHIN[0], WITHIN[1], NEVER[0], NEVER[1]],
    ),
    ("within functions", &WITHIN),
    ("across calls, skipping", &NEVER),
    ("across calls", &[]),
];
/// Programs of ours, with arguments: for counting instructions, and for a log of some ten million blocks. They stand for the talk's six.
const OWN: [(&str, &str, &str); 6] = [
    ("compile", "200", "3000"),
    ("fft", "2", "12"),
    ("heapsort", "100000", "500000"),
    ("lexer", "5", "80"),
    ("moldyn", "20", "300"),
    ("raytrace", "120", "240"),
];
/// The program that is looked at while it runs, and how often.
const WATCHED: &str = "fft";
const LOOKS: usize = 24;
/// Lengths of the default options.
const LENGTHS: [usize; 8] = [2, 4, 8, 16, 32, 64, 128, 256];
/// A list that is full soon, and a sample that is as good as the truth.
const FULL: [&str; 4] = ["--period", "100", "--memory", "8192"];
const REFERENCE: [&str; 4] = ["--period", "100", "--memory", "1073741824"];

/// Measures our programs and all in `folder/prog` that are not in the results yet.
pub(crate) fn all(folder: &Path, out: &Path, only: &[String]) -> Result<()> {
    let here = out.join("subpaths");
    std::fs::create_dir_all(&here)?;
    let mut benches = own(&here)?;
    benches.retain(|b| only.is_empty() || only.contains(&b.name));
    for (name, program) in programs(folder, only)? {
        let script = program.join("run-train.sh");
        if script.exists() {
            benches.push(Bench {
                here: here.join(&name),
                bitcode: program.join("prog.bc"),
                short: script.clone(),
                long: script,
                logged: false,
                name,
            });
        }
    }
    for bench in benches {
        let mut results = Results::load(out)?;
        let measured = results.subpaths.get_or_insert_default();
        if measured.programs.contains_key(&bench.name) {
            continue;
        }
        eprintln!("{}: subpaths", bench.name);
        std::fs::create_dir_all(&bench.here)?;
        let (sampled, looks) = bench.measure()?;
        if !looks.is_empty() {
            measured.incremental = looks;
        }
        measured.programs.insert(bench.name.clone(), sampled);
        measured.machine = this_machine();
        measured.date = this_day()?;
        results.write(out)?;
        let _ = std::fs::remove_dir_all(&bench.here);
    }
    Ok(())
}

fn own(here: &Path) -> Result<Vec<Bench>> {
    let mut benches = Vec::new();
    for (name, short, long) in OWN {
        let here = here.join(name);
        std::fs::create_dir_all(&here)?;
        let bitcode = here.join("prog.bc");
        let source = project().join(format!("testdata/subpaths/{name}.c"));
        let mut clang = Command::new("clang-19");
        clang.args(["-O2", "-g", "-emit-llvm", "-c"]);
        run(clang.arg(source).arg("-o").arg(&bitcode))?;
        let script = |file: &str, argument: &str| -> Result<PathBuf> {
            let file = here.join(file);
            std::fs::write(&file, format!("#!/bin/sh\nexec \"$1\" {argument}\n"))?;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
            Ok(file)
        };
        benches.push(Bench {
            short: script("short.sh", short)?,
            long: script("long.sh", long)?,
            name: name.into(),
            bitcode,
            here,
            logged: true,
        });
    }
    Ok(benches)
}

struct Bench {
    name: String,
    bitcode: PathBuf,
    here: PathBuf,
    /// Workloads: for counting instructions, for counting subpaths.
    short: PathBuf,
    long: PathBuf,
    /// Whether all its blocks go into a log.
    logged: bool,
}

impl Bench {
    fn measure(&self) -> Result<(Sampled, Vec<Look>)> {
        let usual = self.rewritten("usual", &[])?;
        let truth = if self.logged {
            self.truth()?
        } else {
            let rows = self.sample(&self.rewritten("reference", &REFERENCE)?, "1")?;
            Truth::of_sample(&rows.rows, rows.blocks)
        };
        let counting = [&FULL[..], &["--hot-list", "counting"]].concat();
        let full = [
            self.rewritten("concise", &FULL)?,
            self.rewritten("counting", &counting)?,
        ];
        let accuracy = |folder: &PathBuf| -> Result<Accuracy> {
            Ok(Accuracy::new(&self.sample(folder, "2")?, &truth))
        };
        let watched = self.name == WATCHED;
        let sampled = Sampled {
            usual: accuracy(&usual)?,
            full: [accuracy(&full[0])?, accuracy(&full[1])?],
            exact: self.logged,
            instructions: self.instructions(&usual)?,
        };
        let looks = if watched {
            self.watch(&usual, &truth)?
        } else {
            Vec::new()
        };
        Ok((sampled, looks))
    }

    /// The folder of the program, rewritten and linked.
    fn rewritten(&self, name: &str, options: &[&str]) -> Result<PathBuf> {
        let folder = self.rewrite(name, "subpath", options)?;
        make(&folder, &["all"])?;
        Ok(folder)
    }

    fn rewrite(&self, name: &str, scheme: &str, options: &[&str]) -> Result<PathBuf> {
        let folder = self.here.join(name);
        let mut rewrite = Command::new(&*REWRITE);
        rewrite.args(["-q", "--scheme", scheme]).args(options);
        run(rewrite.arg(&self.bitcode).arg("-o").arg(&folder))?;
        Ok(folder)
    }

    /// Linked by the same makefile, native went through the same passes.
    fn instructions(&self, usual: &Path) -> Result<BTreeMap<String, u64>> {
        make(usual, &["native"])?;
        let count = |exe: &Path| instructions::count(&self.short, exe, &self.here.join("count"));
        let native = count(&usual.join("bin/native"))?;
        let mut counts = BTreeMap::from([("native".to_string(), native)]);
        for (name, options) in VARIANTS {
            let seeded = [options, &["--seed", "1"]].concat();
            let folder = self.rewritten(&name.replace([' ', ','], "-"), &seeded)?;
            counts.insert(name.to_string(), count(&folder.join("bin/copy-0"))?);
        }
        Ok(counts)
    }

    /// Of all subpaths: by another rewriting that logs blocks.
    fn truth(&self) -> Result<Truth> {
        let folder = self.rewrite("trace", "trace", &[])?;
        let exe = self.here.join("trace.exe");
        let mut clang = Command::new("clang-19");
        clang.arg("-O2").arg(folder.join("copy-0/m0.bc"));
        clang.arg(project().join("tests/it/support/tracer.c"));
        run(clang.args(["-lm", "-o"]).arg(&exe))?;
        let log = self.here.join("log");
        run(Command::new(&self.long)
            .arg(&exe)
            .env("P3_TRACE_FILE", &log))?;
        let manifest = std::fs::read(folder.join("manifest.json"))?;
        let truth = Truth::of_log(&log, &serde_json::from_slice(&manifest)?, &LENGTHS)?;
        std::fs::remove_file(log)?;
        Ok(truth)
    }

    /// Starts a run, and says where its raw profiles come to be. Those of earlier ones go.
    fn start(&self, folder: &Path, seed: &str) -> Result<(Child, PathBuf)> {
        let raw = folder.join("raw");
        let _ = std::fs::remove_dir_all(&raw);
        std::fs::create_dir_all(&raw)?;
        let mut program = Command::new(&self.long);
        program.arg(folder.join("bin/copy-0")).env("P3_SEED", seed);
        program.env("P3_PROFILE_FILE", raw.join("%k-%p.p3raw"));
        program
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = program.spawn().with_context(|| self.name.clone())?;
        Ok((child, raw))
    }

    /// What a whole run samples.
    fn sample(&self, folder: &Path, seed: &str) -> Result<Shown> {
        let (mut child, raw) = self.start(folder, seed)?;
        child.wait()?;
        Shown::of(folder, &raw)
    }

    /// What the list has of the program while it runs: it is stopped for every look.
    fn watch(&self, folder: &Path, truth: &Truth) -> Result<Vec<Look>> {
        let (mut child, raw) = self.start(folder, "3")?;
        let id = child.id().to_string();
        let mut looks: Vec<Look> = Vec::new();
        let step = truth.blocks as f64 / 1e6 / LOOKS as f64;
        while child.try_wait()?.is_none() {
            std::thread::sleep(Duration::from_millis(2));
            run(Command::new("kill").args(["-STOP", &id]))?;
            let shown = Shown::of(folder, &raw);
            run(Command::new("kill").args(["-CONT", &id]))?;
            // The file is there before the program has said in it that it samples.
            let Ok(shown) = shown else { continue };
            let last = looks.last().map_or(0.0, |l| l.blocks);
            if shown.rows.len() >= 5 && shown.blocks / 1e6 >= last + step {
                let top = shown.rows[..5].iter();
                looks.push(Look {
                    blocks: shown.blocks / 1e6,
                    ranks: top.map(|r| truth.rank(truth.count(&r.blocks))).collect(),
                });
            }
        }
        Ok(looks)
    }
}

/// What is in a profile.
struct Shown {
    /// By descending count, as far as that is certain.
    rows: Vec<Row>,
    points: Vec<u64>,
    blocks: f64,
    doublings: u64,
    all_points: u64,
}

impl Shown {
    fn of(folder: &Path, raw: &Path) -> Result<Shown> {
        let manifest = folder.join("manifest.json");
        let merged = folder.join("profile.p3prof");
        merge(&manifest, raw, &merged)?;
        let arguments = [
            "show",
            &merged.to_string_lossy(),
            "--format",
            "json",
            "--top",
            "10000000",
        ];
        let json: Value = serde_json::from_slice(&output(&PROF, &arguments)?)?;
        let manifest: Value = serde_json::from_slice(&std::fs::read(manifest)?)?;
        let first: BTreeMap<String, u32> = first_blocks(&manifest)?
            .into_iter()
            .filter_map(|(name, first)| Some((name, first?)))
            .collect();
        let mut rows = Vec::new();
        for s in json["subpaths"].as_array().context("subpaths")? {
            let number = |b: &Value| {
                let first = first.get(b["name"].as_str()?)?;
                Some(first + b["block"].as_u64()? as u32)
            };
            let blocks = s["blocks"].as_array().context("blocks")?.iter().map(number);
            let row = Row {
                blocks: blocks.collect::<Option<_>>().context("a block")?,
                count: s["count"].as_f64().context("a count")?,
                half_width: s["half_width"].as_f64().context("an error")?,
            };
            rows.push((row, s["points"].as_u64().context("points")?));
        }
        rows.sort_by(|(a, _): &(Row, u64), (b, _)| b.certain().total_cmp(&a.certain()));
        let (rows, points) = rows.into_iter().unzip();
        let program = &json["program"];
        Ok(Shown {
            rows,
            points,
            blocks: program["blocks"].as_f64().context("blocks")?,
            doublings: program["doublings"].as_u64().context("doublings")?,
            all_points: program["points"].as_u64().context("points")?,
        })
    }
}

impl Accuracy {
    fn new(shown: &Shown, truth: &Truth) -> Accuracy {
        let top = || shown.rows.iter().take(10);
        let true_count = |r: &Row| truth.count(&r.blocks);
        let holds = |r: &Row, count: u64| (r.count - count as f64).abs() <= r.half_width;
        let off = |r: &Row| (r.count / true_count(r) as f64 - 1.0).abs();
        let tied = (1..).zip(top()).filter(|(rank, r)| {
            truth.rank(true_count(r)) == *rank || holds(r, truth.count_of_rank(*rank))
        });
        let frequent = shown
            .rows
            .iter()
            .zip(&shown.points)
            .filter(|(_, n)| **n >= 5);
        let held = frequent.clone().filter(|(r, _)| holds(r, true_count(r)));
        Accuracy {
            blocks: shown.blocks / 1e6,
            points: shown.all_points,
            doublings: shown.doublings,
            ranks: top().map(|r| truth.rank(true_count(r))).collect(),
            errors: top().map(off).collect(),
            tied: tied.count(),
            held: [held.count(), frequent.count()],
        }
    }
}
