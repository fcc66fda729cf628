//! Sampled subpaths: how far counts and ranks are off, also while a program runs, and what skipping
//! and sampling cost.

pub(crate) mod data;
mod exact;
mod log;
mod record;
mod section;

pub(crate) use section::SAMPLED_SUBPATHS;

use crate::build::{PROF, REWRITE, llvm, merge, output, project, run};
use crate::instructions;
use crate::measure::{in_turn, programs};
use crate::results::{Results, this_day, this_machine};
use crate::rewritten::make;
use anyhow::{Context, Result, ensure};
use data::{ACROSS, Accuracy, Look, SEEDS, Sampled, VARIANTS, WATCHED, WITHIN};
use exact::Truth;
use log::{Logged, first_blocks};
use rayon::prelude::*;
use record::{Knobs, List};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What to measure, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct SubpathArgs {
    /// The folder of programs
    folder: PathBuf,
    /// Time so many rounds of runs as well, of the untouched program and with each variant: on a
    /// machine that nobody else uses
    #[arg(long, default_value_t = 0)]
    rounds: usize,
    /// Blocks from one sample to the next, on average, where it is not as by default
    #[arg(long)]
    period: Option<u64>,
    /// Lengths of subpaths, in blocks
    #[arg(long, value_delimiter = ',', default_values_t = LENGTHS)]
    lengths: Vec<usize>,
    /// Only these programs, ours (fft, heapsort, …) as well
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// A subpath of a sample.
pub(crate) struct Row {
    pub blocks: Vec<u32>,
    pub count: f64,
    pub half_width: f64,
}

impl Row {
    /// How often it ran at least, as far as is known. A long subpath with one point may be
    /// anything.
    fn certain(&self) -> f64 {
        self.count - self.half_width
    }
}

/// What is compared with them.
const NATIVE: &str = "native";
/// Programs of ours, with arguments: for 10^8 blocks and more, and for seconds. They stand for the
/// talk's six.
const OWN: [(&str, &str, &str); 6] = [
    ("compile", "8000", "64000"),
    ("fft", "30", "300"),
    ("heapsort", "1500000", "12000000"),
    ("lexer", "160", "3200"),
    ("moldyn", "600", "12000"),
    ("raytrace", "900", "3600"),
];
/// How often the watched program is looked at.
const LOOKS: usize = 24;
/// Lengths of the default options.
const LENGTHS: [usize; 8] = [2, 4, 8, 16, 32, 64, 128, 256];
/// A list that is full soon.
const FULL: Knobs = Knobs {
    period: Some(100),
    memory: Some(8192),
    seed: None,
    list: List::Concise,
};

/// Measures our programs and all in `folder/prog` that are not in the results yet, and times those
/// that have no times yet.
///
/// Of a program in a folder, `run-train.sh` is what is sampled and of which instructions are
/// counted; times are those of `run.sh`.
pub(crate) fn all(args: &SubpathArgs, out: &Path) -> Result<()> {
    let here = out.join("subpaths");
    std::fs::create_dir_all(&here)?;
    let knobs = Asked {
        period: args.period,
        lengths: args.lengths.clone(),
    };
    let mut benches = own(&here, &knobs)?;
    benches.retain(|b| args.only.is_empty() || args.only.contains(&b.name));
    for (name, program) in programs(&args.folder, &args.only)? {
        let (workload, long) = (program.join("run-train.sh"), program.join("run.sh"));
        if workload.exists() && long.exists() {
            benches.push(Bench {
                here: here.join(&name),
                bitcode: program.join("prog.bc"),
                workload,
                long,
                name,
                asked: knobs.clone(),
            });
        }
    }
    for bench in benches {
        let mut results = Results::load(out)?;
        let measured = results.subpaths.get_or_insert_default();
        let known = measured.programs.remove(&bench.name);
        let known = known.filter(|p| !p.samples.is_empty());
        let is_timed = |p: &Sampled| args.rounds == 0 || !p.times.is_empty();
        if known.as_ref().is_some_and(is_timed) {
            continue;
        }
        eprintln!("{}: subpaths", bench.name);
        std::fs::create_dir_all(&bench.here)?;
        let mut sampled = match known {
            Some(known) => known,
            None => {
                let (sampled, looks) = bench.measure()?;
                if !looks.is_empty() {
                    measured.incremental = looks;
                }
                sampled
            }
        };
        if !is_timed(&sampled) {
            sampled.times = bench.times(args.rounds)?;
        }
        measured.programs.insert(bench.name.clone(), sampled);
        measured.machine = this_machine();
        measured.date = this_day()?;
        results.write(out)?;
        bench.clean();
    }
    Ok(())
}

fn own(here: &Path, asked: &Asked) -> Result<Vec<Bench>> {
    let mut benches = Vec::new();
    for (name, usual, long) in OWN {
        let here = here.join(name);
        std::fs::create_dir_all(&here)?;
        let bitcode = here.join("prog.bc");
        let source = project().join(format!("testdata/subpaths/{name}.c"));
        let mut clang = Command::new(llvm("clang"));
        clang.args(["-O2", "-g", "-emit-llvm", "-c"]);
        run(clang.arg(source).arg("-o").arg(&bitcode))?;
        let run_with = |file: &str, argument: &str| {
            let file = here.join(file);
            script(&file, &format!("#!/bin/sh\nexec \"$1\" {argument}\n"))?;
            Ok::<_, anyhow::Error>(file)
        };
        benches.push(Bench {
            workload: run_with("run-train.sh", usual)?,
            long: run_with("run.sh", long)?,
            name: name.into(),
            bitcode,
            here,
            asked: asked.clone(),
        });
    }
    Ok(benches)
}

/// Writes a script that can be run.
fn script(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text)?;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// What all samples have in common.
#[derive(Clone)]
struct Asked {
    period: Option<u64>,
    lengths: Vec<usize>,
}

struct Bench {
    name: String,
    asked: Asked,
    bitcode: PathBuf,
    here: PathBuf,
    /// What runs, but for times.
    workload: PathBuf,
    /// The same for seconds.
    long: PathBuf,
}

impl Bench {
    fn measure(&self) -> Result<(Sampled, Vec<Look>)> {
        self.build()?;
        let asked = Knobs {
            period: self.asked.period,
            ..Knobs::default()
        };
        let usual = self.kept("usual", &self.across().join("bin/copy-0"), asked)?;
        let counting = Knobs {
            list: List::Counting,
            ..FULL
        };
        let full = [
            self.kept("concise", &usual, FULL)?,
            self.kept("counting", &usual, counting)?,
        ];
        let samples = SEEDS.map(|seed| self.sample(&usual, seed));
        let samples = samples.into_iter().collect::<Result<Vec<_>>>()?;
        let full = full.map(|exe| self.sample(&exe, SEEDS[0]));
        let full = full.into_iter().collect::<Result<Vec<_>>>()?;
        let rows = samples.iter().chain(&full).flat_map(|s| &s.rows);
        let truth = self.truth(&rows.collect::<Vec<_>>())?;
        let accuracy = |shown: &Shown| Accuracy::new(shown, &truth);
        let sampled = Sampled {
            instructions: self.instructions()?,
            executed: truth.blocks as f64 / 1e6,
            samples: samples.iter().map(accuracy).collect(),
            full: [accuracy(&full[0]), accuracy(&full[1])],
            times: Vec::new(),
        };
        let looks = match self.name.as_str() {
            WATCHED => self.watch(&usual, &truth)?,
            _ => Vec::new(),
        };
        Ok((sampled, looks))
    }

    fn across(&self) -> PathBuf {
        self.here.join("across")
    }

    /// Leaves what is timed.
    fn clean(&self) {
        for folder in ["across", "within", "trace", "raw"] {
            let _ = std::fs::remove_dir_all(self.here.join(folder));
        }
    }

    /// Where the executable of a variant stays, for times: what was counted is what is timed.
    fn executable(&self, name: &str) -> PathBuf {
        self.here.join("kept").join(name.replace([' ', ','], "-"))
    }

    /// All variants, linked by the same makefile; native went through the same passes.
    fn build(&self) -> Result<()> {
        std::fs::create_dir_all(self.here.join("kept"))?;
        let across = || -> Result<PathBuf> {
            let folder = self.sampling("across", &ACROSS)?;
            make(&folder, &["all"])?;
            make(&folder, &["native"])?;
            Ok(folder)
        };
        let within = || -> Result<PathBuf> {
            let folder = self.sampling("within", &WITHIN)?;
            make(&folder, &["all"])?;
            Ok(folder)
        };
        let (across, within) = rayon::join(across, within);
        let (across, within) = (across?, within?);
        std::fs::copy(across.join("bin/native"), self.executable(NATIVE))?;
        for (name, options, period) in VARIANTS {
            let folder = if options == WITHIN { &within } else { &across };
            let knobs = Knobs {
                period: period.or(self.asked.period),
                seed: Some(1),
                ..Knobs::default()
            };
            self.kept(name, &folder.join("bin/copy-0"), knobs)?;
        }
        Ok(())
    }

    fn kept(&self, name: &str, exe: &Path, knobs: Knobs) -> Result<PathBuf> {
        let kept = self.executable(name);
        record::with(exe, knobs, &self.asked.lengths, &kept)?;
        Ok(kept)
    }

    fn sampling(&self, name: &str, options: &[&str]) -> Result<PathBuf> {
        let lengths: Vec<String> = self.asked.lengths.iter().map(usize::to_string).collect();
        let lengths = lengths.join(",");
        let options = [&["--lengths", lengths.as_str()], options].concat();
        self.rewritten(name, "subpath", &options)
    }

    /// The folder of the program, rewritten.
    fn rewritten(&self, name: &str, scheme: &str, options: &[&str]) -> Result<PathBuf> {
        let folder = self.here.join(name);
        let mut rewrite = Command::new(&*REWRITE);
        rewrite.args(["-q", "--scheme", scheme]).args(options);
        run(rewrite.arg(&self.bitcode).arg("-o").arg(&folder))?;
        Ok(folder)
    }

    fn variants() -> impl Iterator<Item = &'static str> {
        std::iter::once(NATIVE).chain(VARIANTS.map(|(name, ..)| name))
    }

    fn instructions(&self) -> Result<BTreeMap<String, u64>> {
        let names: Vec<&str> = Bench::variants().collect();
        let count = |name: &&str| {
            let exe = self.executable(name);
            let counted = exe.with_extension("count");
            let counted = instructions::count(&self.workload, &exe, &counted)?;
            Ok((name.to_string(), counted))
        };
        names.par_iter().map(count).collect()
    }

    /// Of all subpaths: by another rewriting that logs blocks.
    fn truth(&self, asked: &[&Row]) -> Result<Truth> {
        let folder = self.rewritten("trace", "trace", &[])?;
        let exe = self.executable("trace");
        let mut clang = Command::new(llvm("clang"));
        clang.arg("-O2").arg(folder.join("copy-0/m0.bc"));
        clang.arg(project().join("testdata/bench/blocks.c"));
        run(clang.args(["-lm", "-pthread", "-ldl", "-o"]).arg(&exe))?;
        // Functions that are not sampled are traced all the same.
        let first = first_blocks(&self.across().join("manifest.json"))?;
        let logged = Logged {
            script: self.workload.clone(),
            exe,
            pipe: self.here.join("pipe"),
            first: first.into_iter().map(|(_, first)| first).collect(),
        };
        Truth::of_runs(|each| logged.run(each), asked, &self.asked.lengths)
    }

    /// Starts a run, and says where its raw profiles come to be. Those of earlier ones go.
    fn start(&self, workload: &Path, exe: &Path, seed: &str) -> Result<(Child, PathBuf)> {
        let raw = self.here.join("raw");
        let _ = std::fs::remove_dir_all(&raw);
        std::fs::create_dir_all(&raw)?;
        let mut program = Command::new("setarch");
        program.arg("-R").arg(workload).arg(exe);
        program.env("P3_SEED", seed);
        program.env("P3_PROFILE_FILE", raw.join("%k-%p.p3raw"));
        program
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = program.spawn().with_context(|| self.name.clone())?;
        Ok((child, raw))
    }

    /// What a whole run samples.
    fn sample(&self, exe: &Path, seed: &str) -> Result<Shown> {
        let (mut child, raw) = self.start(&self.workload, exe, seed)?;
        child.wait()?;
        Shown::of(&self.across(), &raw)
    }

    /// What the list has of the program while it runs: it is stopped for every look.
    fn watch(&self, exe: &Path, truth: &Truth) -> Result<Vec<Look>> {
        let (mut child, raw) = self.start(&self.workload, exe, SEEDS[0])?;
        let id = child.id().to_string();
        let mut looks: Vec<Look> = Vec::new();
        let step = truth.blocks as f64 / 1e6 / LOOKS as f64;
        while child.try_wait()?.is_none() {
            std::thread::sleep(Duration::from_millis(2));
            run(Command::new("kill").args(["-STOP", &id]))?;
            let shown = Shown::of(&self.across(), &raw);
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

    /// Processor time of rounds of runs.
    fn times(&self, rounds: usize) -> Result<Vec<[f64; 1 + VARIANTS.len()]>> {
        let exes: Vec<PathBuf> = Bench::variants().map(|v| self.executable(v)).collect();
        if !exes.iter().all(|exe| exe.exists()) {
            self.build()?;
        }
        in_turn(rounds, |i| self.time(&exes[i]))
    }

    /// Seconds of user and system time of all processes of `exe` that a long run has.
    fn time(&self, exe: &Path) -> Result<f64> {
        let (wrapper, log) = (self.here.join("timed"), self.here.join("time"));
        let _ = std::fs::remove_file(&log);
        let text = format!(
            "#!/bin/bash\nTIMEFORMAT='%3U %3S'\n{{ time '{}' \"$@\" 2>&3; }} 3>&2 2>>'{}'\n",
            exe.display(),
            log.display()
        );
        script(&wrapper, &text)?;
        let (mut child, _) = self.start(&self.long, &wrapper, SEEDS[0])?;
        child.wait()?;
        let log = std::fs::read_to_string(&log)?;
        let seconds = log.split_whitespace().map(str::parse::<f64>);
        let sum = seconds.sum::<Result<f64, _>>()?;
        ensure!(sum > 0.0, "{}: no time was taken", exe.display());
        Ok(sum)
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
            points: shown.all_points,
            doublings: shown.doublings,
            ranks: top().map(|r| truth.rank(true_count(r))).collect(),
            errors: top().map(off).collect(),
            tied: tied.count(),
            held: [held.count(), frequent.count()],
        }
    }
}
