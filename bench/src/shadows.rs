//! Shadow profiling: what it costs the program, how much of the exact profile it finds by load and burst, and how long a fork
//! takes.

use crate::build::{PROF, REWRITE, Variant, output, project, run, runtime, single, variant};
use crate::instructions;
use crate::markdown::Table;
use crate::measure::programs;
use crate::plot::{Series, bars};
use crate::report::with_average;
use crate::results::{Results, this_day, this_machine};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What to measure, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct ShadowArgs {
    /// The folder of programs
    folder: PathBuf,
    /// Time so many pairs of runs as well, without and with shadows: on a machine that nobody else uses
    #[arg(long, default_value_t = 0)]
    pairs: usize,
    /// Count the instructions again of programs that were measured before
    #[arg(long)]
    recount: bool,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// All figures of shadows.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shadows {
    pub machine: String,
    pub date: String,
    pub programs: BTreeMap<String, Shadowed>,
    /// Microseconds that a fork takes the parent, the least of many, by resident megabytes.
    pub forks: BTreeMap<u64, f64>,
}

/// One program, on its training input.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shadowed {
    /// Instructions of `main` and all that it calls: of the untouched program, and with shadows that are never forked.
    pub instructions: [u64; 2],
    /// Page faults of the process: of the untouched program, and with shadows (`load=0.5,burst=10M`).
    pub faults: [u64; 2],
    pub found: Vec<Found>,
    /// Seconds of pairs of runs, one after the other: of the untouched program, and with shadows (`load=0.5,burst=10M`).
    #[serde(default)]
    pub wall: Vec<[f64; 2]>,
}

/// What was found with some knobs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Found {
    pub load: f64,
    /// In millions of instructions.
    pub burst: u64,
    pub bursts: u64,
    /// Of 1.
    pub overlap: f64,
    /// Above 2, 1 and 0.5 %: paths, those that some burst saw, those whose estimate is as high, and those whose interval holds the truth.
    pub hot: [[u64; 4]; 3],
}

/// Loads at a burst of 10 M, and bursts at a load of 0.5: the paper's, and between.
const LOADS: [f64; 5] = [0.125, 0.25, 0.5, 1.0, 2.0];
const BURSTS: [u64; 3] = [1, 10, 100];
const USUAL: (f64, u64) = (0.5, 10);
/// Runs of the program for each, so that even those of a second have bursts.
const RUNS: usize = 10;

fn knobs() -> Vec<(f64, u64)> {
    let others = BURSTS.iter().filter(|b| **b != USUAL.1);
    let bursts = others.map(|&b| (USUAL.0, b));
    LOADS.iter().map(|&l| (l, USUAL.1)).chain(bursts).collect()
}

/// Measures all programs in `folder/prog` that are not in the results yet, and forks; and times pairs of runs of those that have no times yet.
pub(crate) fn all(args: &ShadowArgs, out: &Path) -> Result<()> {
    let runtime = runtime(out)?;
    let helpers = Helpers::new(out)?;
    let pairs = args.pairs;
    for (name, program) in programs(&args.folder.canonicalize()?, &args.only)? {
        let mut results = Results::load(out)?;
        let script = program.join("run-train.sh");
        let measured = results.shadows.get_or_insert_default();
        let known = measured.programs.get(&name);
        let is_timed = |p: &Shadowed| pairs == 0 || !p.wall.is_empty();
        let complete = |p: &Shadowed| is_timed(p) && !args.recount;
        if known.is_some_and(complete) || !script.exists() {
            continue;
        }
        let here = out.join(format!("{name}-shadows"));
        std::fs::create_dir_all(&here)?;
        eprintln!("{name}: shadows");
        let bench = Bench {
            program: &program,
            script: &script,
            runtime: &runtime,
            helpers: &helpers,
            here: &here,
        };
        let pair = [bench.native()?, bench.rewritten("shadow")?];
        let mut program = match measured.programs.remove(&name) {
            Some(known) if args.recount => Shadowed {
                instructions: bench.instructions(&pair)?,
                ..known
            },
            Some(known) => known,
            None => bench.measure(&pair)?,
        };
        if !is_timed(&program) {
            program.wall = bench.pairs(&pair, pairs)?;
        }
        measured.programs.insert(name, program);
        measured.forks = helpers.forks()?;
        measured.machine = this_machine();
        measured.date = this_day()?;
        results.write(out)?;
        let _ = std::fs::remove_dir_all(here);
    }
    Ok(())
}

/// Small programs of ours.
struct Helpers {
    fork: PathBuf,
    faults: PathBuf,
}

impl Helpers {
    fn new(out: &Path) -> Result<Self> {
        let source = |name: &str| project().join("testdata/bench").join(name);
        let helpers = Helpers {
            fork: out.join("fork"),
            faults: out.join("faults.so"),
        };
        let clang = || Command::new("clang-19");
        run(clang()
            .arg("-O2")
            .arg(source("fork.c"))
            .arg("-o")
            .arg(&helpers.fork))?;
        let shared = ["-O2", "-fPIC", "-shared"];
        run(clang()
            .args(shared)
            .arg(source("faults.c"))
            .arg("-o")
            .arg(&helpers.faults))?;
        Ok(helpers)
    }

    fn forks(&self) -> Result<BTreeMap<u64, f64>> {
        let mut forks = BTreeMap::new();
        for megabytes in [1, 10, 100, 500, 1000] {
            let text = output(&self.fork.to_string_lossy(), &[&megabytes.to_string()])?;
            forks.insert(megabytes, String::from_utf8(text)?.trim().parse()?);
        }
        Ok(forks)
    }
}

struct Bench<'a> {
    program: &'a Path,
    script: &'a Path,
    runtime: &'a [PathBuf],
    helpers: &'a Helpers,
    here: &'a Path,
}

impl Bench<'_> {
    fn native(&self) -> Result<Variant> {
        let bitcode = self.program.join("prog.bc");
        Ok(single("native", self.link(&bitcode, &[], "native")?))
    }

    /// Seconds of runs without and with shadows, in turn; which one begins changes from pair to pair.
    fn pairs(&self, [native, shadow]: &[Variant; 2], number: usize) -> Result<Vec<[f64; 2]>> {
        let knobs = format!("load={},burst={}M", USUAL.0, USUAL.1);
        let raw = self.here.join("raw-pairs");
        let time = |v: &Variant| {
            let begin = Instant::now();
            self.execute(&v.copies[0], &knobs, &raw, None)?;
            anyhow::Ok(begin.elapsed().as_secs_f64())
        };
        let mut times = Vec::new();
        for i in 0..number {
            times.push(if i % 2 == 0 {
                let native = time(native)?;
                [native, time(shadow)?]
            } else {
                let shadow = time(shadow)?;
                [time(native)?, shadow]
            });
        }
        Ok(times)
    }

    fn instructions(&self, [native, shadow]: &[Variant; 2]) -> Result<[u64; 2]> {
        let count = |v: &Variant| {
            let here = self.here.join(format!("count-{}", v.name));
            instructions::count(self.script, &v.copies[0], &here)
        };
        Ok([count(native)?, count(shadow)?])
    }

    fn measure(&self, pair: &[Variant; 2]) -> Result<Shadowed> {
        let [native, shadow] = pair;
        let mut found = Vec::new();
        let exact = self.exact()?;
        for (load, burst) in knobs() {
            found.push(self.found(shadow, &exact, load, burst)?);
        }
        Ok(Shadowed {
            instructions: self.instructions(pair)?,
            faults: [self.faults(native)?, self.faults(shadow)?],
            found,
            wall: Vec::new(),
        })
    }

    fn link(&self, bitcode: &Path, more: &[PathBuf], name: &str) -> Result<PathBuf> {
        let exe = self.here.join(format!("{name}.exe"));
        let mut link = Command::new(self.program.join("link.sh"));
        run(link.arg(bitcode).arg(&exe).args(more))?;
        Ok(exe)
    }

    fn rewritten(&self, scheme: &str) -> Result<Variant> {
        let folder = self.here.join(scheme);
        let mut rewrite = Command::new(&*REWRITE);
        rewrite.args(["-q", "--scheme", scheme]);
        run(rewrite
            .arg(self.program.join("prog.bc"))
            .arg("-o")
            .arg(&folder))?;
        let exe = self.link(&folder.join("copy-0/m0.bc"), self.runtime, scheme)?;
        Ok(variant(scheme, exe, folder.join("manifest.json")))
    }

    /// Runs the training input; the raw profiles.
    fn execute(
        &self,
        exe: &Path,
        knobs: &str,
        raw: &Path,
        preload: Option<(&Path, &Path)>,
    ) -> Result<()> {
        std::fs::create_dir_all(raw)?;
        let mut command = Command::new(self.script);
        command
            .arg(exe)
            .env("P3_PROFILE_FILE", raw.join("%k-%p.p3raw"));
        command.env("P3_SHADOW", knobs);
        if let Some((library, log)) = preload {
            command
                .env("LD_PRELOAD", library)
                .env("P3_FAULTS", log)
                .env("P3_FAULTS_OF", exe);
        }
        // A workload's own status is part of it.
        let status = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        status
            .status()
            .with_context(|| format!("{}", self.script.display()))?;
        Ok(())
    }

    fn exact(&self) -> Result<PathBuf> {
        let (sbl, raw) = (self.rewritten("sbl")?, self.here.join("raw-exact"));
        self.execute(&sbl.copies[0], "", &raw, None)?;
        let merged = self.here.join("exact.p3prof");
        sbl.merge(&raw, &merged)?;
        Ok(merged)
    }

    fn found(&self, shadow: &Variant, exact: &Path, load: f64, burst: u64) -> Result<Found> {
        let name = format!("{load}-{burst}");
        let (raw, merged) = (
            self.here.join(&name),
            self.here.join(format!("{name}.p3prof")),
        );
        for _ in 0..RUNS {
            self.execute(
                &shadow.copies[0],
                &format!("load={load},burst={burst}M"),
                &raw,
                None,
            )?;
        }
        shadow.merge(&raw, &merged)?;
        let (merged, exact) = (merged.to_string_lossy(), exact.to_string_lossy());
        let arguments = ["accuracy", &merged, "--against", &exact, "--format", "json"];
        let json: Value = serde_json::from_slice(&output(&PROF, &arguments)?)?;
        let mut hot = [[0; 4]; 3];
        for (row, of) in hot
            .iter_mut()
            .zip(json["hot"].as_array().context("hot paths")?)
        {
            *row = ["paths", "seen", "found", "held"].map(|name| of[name].as_u64().unwrap_or(0));
        }
        Ok(Found {
            load,
            burst,
            bursts: json["bursts"].as_u64().context("bursts")?,
            overlap: json["overlap"].as_f64().context("the overlap")?,
            hot,
        })
    }

    /// Of all processes of the program that the workload starts; shadows do not count as such.
    fn faults(&self, variant: &Variant) -> Result<u64> {
        let (log, raw) = (self.here.join("faults"), self.here.join("raw-faults"));
        let _ = std::fs::remove_file(&log);
        let knobs = format!("load={},burst={}M", USUAL.0, USUAL.1);
        self.execute(
            &variant.copies[0],
            &knobs,
            &raw,
            Some((&self.helpers.faults, &log)),
        )?;
        let text = std::fs::read_to_string(&log)?;
        let sum = text.lines().flat_map(str::parse::<u64>).sum();
        ensure!(sum > 0, "{}: no page faults", variant.name);
        Ok(sum)
    }
}

/// The section of the report.
pub(crate) fn section(results: &Results) -> String {
    let Some(shadows) = &results.shadows else {
        return String::new();
    };
    let mut text = format!(
        "\n## Shadows\n\nMade by `p3-bench shadows` on {}: {}, which others used as well. The training inputs; \
         `--scheme shadow` without shadows, or with them ([`SHADOWS.md`](SHADOWS.md)), and code generation alone.\n\n\
         Instructions of the program over the untouched one while no shadow is forked, and its page faults (`load=0.5,burst=10M`):\n\n",
        shadows.date, shadows.machine
    );
    let mut table = Table::new([
        "program",
        "instructions",
        "page faults native",
        "with shadows",
    ]);
    let mut over = Vec::new();
    for (name, p) in &shadows.programs {
        let more = p.instructions[1] as f64 / p.instructions[0] as f64 * 100.0 - 100.0;
        over.push(more);
        let faults = p.faults.map(|n| n.to_string());
        table.row(
            [name.clone(), format!("{more:+.2} %")]
                .into_iter()
                .chain(faults),
        );
    }
    over.sort_by(f64::total_cmp);
    if !over.is_empty() {
        let middle = (over[(over.len() - 1) / 2] + over[over.len() / 2]) / 2.0;
        table.row(["median", &format!("{middle:+.2} %"), "", ""]);
    }
    text += &table.to_string();
    text += "\nMoseley et al.: less than 1 % on SPEC2000int, with Pin.\n\n";
    text += &times(shadows);
    text += &accuracy(shadows);
    text += "Time that a fork takes the program, the least of 50, by what it has in memory:\n\n";
    let mut table = Table::new(["resident MB", "µs"]);
    for (megabytes, time) in &shadows.forks {
        table.row([megabytes.to_string(), format!("{time:.0}")]);
    }
    text + &table.to_string()
}

/// Draws what shadows find by load and by burst.
pub(crate) fn plots(results: &Results, docs: &Path) -> Result<()> {
    let Some(shadows) = &results.shadows else {
        return Ok(());
    };
    let names = shadows.programs.keys().cloned();
    let names: Vec<String> = names.chain(["average".to_string()]).collect();
    let by_load = LOADS.map(|load| (format!("load {load}"), (load, USUAL.1)));
    let by_burst = BURSTS.map(|burst| (format!("{burst} M instructions"), (USUAL.0, burst)));
    for (file, title, columns) in [
        (
            "shadows-load",
            "Overlap with the exact profile by load, bursts of 10 M",
            &by_load[..],
        ),
        (
            "shadows-burst",
            "Overlap with the exact profile by burst, load 0.5",
            &by_burst[..],
        ),
    ] {
        let series: Vec<Series> = columns
            .iter()
            .map(|(name, knobs)| Series {
                name: name.clone(),
                values: with_average(
                    shadows
                        .programs
                        .values()
                        .map(|p| p.overlap(*knobs))
                        .collect(),
                ),
            })
            .collect();
        bars(
            &docs.join(format!("plots/{file}.svg")),
            title,
            &names,
            &series,
        )?;
    }
    Ok(())
}

impl Shadowed {
    /// In percent; 0 where that was not measured.
    fn overlap(&self, (load, burst): (f64, u64)) -> f64 {
        let with = |f: &&Found| f.load == load && f.burst == burst;
        self.found
            .iter()
            .find(with)
            .map_or(0.0, |f| f.overlap * 100.0)
    }
}

fn accuracy(shadows: &Shadows) -> String {
    let mut text = format!(
        "Hot paths found by load and burst, in {RUNS} runs together: the estimate is above the threshold, too (in brackets: some burst saw it, and the interval of 95 % holds its share), of all above it in the exact profile; \
         and the overlap of the two profiles.\n\n\
         ![Overlap by load](plots/shadows-load.svg)\n\n![Overlap by burst](plots/shadows-burst.svg)\n\n"
    );
    let mut table = Table::new([
        "program",
        "load",
        "burst",
        "bursts",
        "overlap",
        "above 2 %",
        "above 1 %",
        "above 0.5 %",
    ]);
    let mut sums = BTreeMap::<(u64, u64), [[u64; 4]; 3]>::new();
    for (name, p) in &shadows.programs {
        for f in &p.found {
            let begin = [
                name.clone(),
                f.load.to_string(),
                format!("{} M", f.burst),
                f.bursts.to_string(),
                format!("{:.1} %", f.overlap * 100.0),
            ];
            table.row(begin.into_iter().chain(f.hot.map(|h| cell(&h))));
            let sum = sums.entry(((f.load * 1000.0) as u64, f.burst)).or_default();
            for (sum, of) in sum.iter_mut().flatten().zip(f.hot.iter().flatten()) {
                *sum += of;
            }
        }
    }
    for ((load, burst), hot) in &sums {
        let share = hot.map(|[all, seen, found, held]| {
            let of = |n: u64| n as f64 / all as f64 * 100.0;
            format!("{:.1} % ({:.1} %, {:.1} %)", of(found), of(seen), of(held))
        });
        let load = (*load as f64 / 1000.0).to_string();
        let begin = ["all", &load, &format!("{burst} M"), "", ""].map(String::from);
        table.row(begin.into_iter().chain(share));
    }
    text += &table.to_string();
    text + "\nMoseley et al.: over 90 % of the paths above 2 % with most settings.\n\n"
}

fn cell([all, seen, found, held]: &[u64; 4]) -> String {
    format!("{found} ({seen}, {held}) of {all}")
}

/// Times with shadows over those without, if there are any.
fn times(shadows: &Shadows) -> String {
    let mut table = Table::new(["program", "pairs", "wall time", "from", "to"]);
    let mut any = false;
    for (name, p) in shadows.programs.iter().filter(|(_, p)| !p.wall.is_empty()) {
        any = true;
        let ratios = p.wall.iter().map(|[native, shadow]| shadow / native);
        let [middle, from, to] = middle(ratios.collect());
        let percent = |ratio: f64| format!("{:+.2} %", ratio * 100.0 - 100.0);
        let cells = [middle, from, to].map(percent);
        let begin = [name.clone(), p.wall.len().to_string()];
        table.row(begin.into_iter().chain(cells));
    }
    if !any {
        return String::new();
    }
    format!(
        "Wall time with shadows (`load=0.5,burst=10M`) over the untouched program: the median over pairs of runs in turn, and its interval of 95 %:\n\n{table}\n"
    )
}

/// The median, and the interval of 95 % that the sign test leaves for it.
fn middle(mut of: Vec<f64>) -> [f64; 3] {
    of.sort_by(f64::total_cmp);
    let n = of.len();
    let middle = (of[(n - 1) / 2] + of[n / 2]) / 2.0;
    let below = ((n as f64 - 1.96 * (n as f64).sqrt()) / 2.0)
        .floor()
        .max(0.0);
    let first = (below as usize).min((n - 1) / 2);
    [middle, of[first], of[n - 1 - first]]
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn medians_and_their_intervals() {
        let of = (1..=100).rev().map(f64::from).collect();
        assert_eq!(middle(of), [50.5, 41.0, 60.0]);
        assert_eq!(middle(vec![3.0]), [3.0; 3]);
    }
}
