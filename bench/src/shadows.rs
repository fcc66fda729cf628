//! Shadow profiling: what it costs the program, how much of the exact profile it finds by load and burst, and how long a fork
//! takes.

use crate::build::{PROF, REWRITE, Variant, output, project, run, runtime, single, variant};
use crate::instructions;
use crate::markdown::Table;
use crate::measure::{in_turn, programs};
use crate::plot::{Series, bars};
use crate::report::{median, with_average};
use crate::results::{Results, this_day, this_machine};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// What to measure, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct ShadowArgs {
    /// The folder of programs
    folder: PathBuf,
    /// Time so many rounds of runs as well, of the untouched program, and without and with shadows: on a machine that nobody else uses
    #[arg(long, default_value_t = 0)]
    rounds: usize,
    /// Run each long input with shadows, as by default, for so many seconds in all, for what that finds
    #[arg(long, default_value_t = 0.0)]
    seconds: f64,
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
    /// Page faults of the process: of the untouched program, and with shadows at any cost (`load=0.5,burst=10M,cost=100%`).
    pub faults: [u64; 2],
    pub found: Vec<Found>,
    /// Seconds of runs of the long input, one after the other: of the untouched program, the same beside a process that is busy in memory,
    /// without shadows (`off`), and with them, as by default.
    #[serde(default)]
    pub wall: Vec<[f64; 4]>,
    /// What the last of these found together, or longer ones.
    #[serde(default)]
    pub long: Option<Found>,
    /// How long those were, in seconds.
    #[serde(default)]
    pub lasted: f64,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Knobs {
    pub load: f64,
    /// In millions of instructions; 0: not asked for, so 10 or more.
    pub burst: u64,
    /// In percent of the program's time.
    #[serde(default = "any")]
    pub cost: f64,
}

fn any() -> f64 {
    ANY
}

impl Knobs {
    /// As in `P3_SHADOW`.
    fn text(self) -> String {
        let burst = match self.burst {
            0 => String::new(),
            millions => format!(",burst={millions}M"),
        };
        format!("load={}{burst},cost={}%", self.load, self.cost)
    }

    fn cells(self) -> [String; 3] {
        let cost = match self.cost {
            ANY => "any".to_string(),
            percent => format!("{percent} %"),
        };
        let burst = match self.burst {
            0 => "10 M or more".to_string(),
            millions => format!("{millions} M"),
        };
        [cost, self.load.to_string(), burst]
    }
}

/// What was found with some knobs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    #[serde(flatten)]
    pub knobs: Knobs,
    pub bursts: u64,
    /// Of 1.
    pub overlap: f64,
    /// Above 2, 1 and 0.5 %: paths, those that some burst saw, those whose estimate is as high, and those whose interval holds the truth.
    pub hot: [[u64; 4]; 3],
}

/// Loads at a burst of 10 M, and bursts at a load of 0.5, whatever that costs: the paper's, and between.
const LOADS: [f64; 5] = [0.125, 0.25, 0.5, 1.0, 2.0];
const BURSTS: [u64; 3] = [1, 10, 100];
/// The paper's.
const THEIRS: (f64, u64) = (0.5, 10);
/// As much as it costs.
const ANY: f64 = 100.0;
/// The defaults.
const USUAL: Knobs = Knobs {
    load: 0.5,
    burst: 0,
    cost: 0.5,
};
/// Runs of the program for each, so that even those of a second have bursts.
const RUNS: usize = 10;

fn at_any_cost((load, burst): (f64, u64)) -> Knobs {
    Knobs {
        load,
        burst,
        cost: ANY,
    }
}

fn knobs() -> Vec<Knobs> {
    let bursts = BURSTS.iter().filter(|b| **b != THEIRS.1);
    let bursts = bursts.map(|&b| at_any_cost((THEIRS.0, b)));
    let loads = LOADS.iter().map(|&l| at_any_cost((l, THEIRS.1)));
    let cheap = Knobs {
        cost: USUAL.cost,
        ..at_any_cost(THEIRS)
    };
    [USUAL, cheap]
        .into_iter()
        .chain(loads)
        .chain(bursts)
        .collect()
}

/// Measures what is not in the results yet of all programs in `folder/prog`, and forks; and times rounds of runs of those that have no times yet.
pub(crate) fn all(args: &ShadowArgs, out: &Path) -> Result<()> {
    let runtime = runtime(out)?;
    let helpers = Helpers::new(out)?;
    for (name, program) in programs(&args.folder, &args.only)? {
        let mut results = Results::load(out)?;
        let script = program.join("run-train.sh");
        let measured = results.shadows.get_or_insert_default();
        let known = measured.programs.get(&name);
        let is_timed = |p: &Shadowed| args.rounds == 0 || !p.wall.is_empty();
        let lasted = |p: &Shadowed| p.seconds() >= args.seconds;
        let complete =
            |p: &Shadowed| is_timed(p) && lasted(p) && !args.recount && p.missing().is_empty();
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
            sbl: OnceCell::new(),
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
        bench.find(&pair[1], &mut program)?;
        if !is_timed(&program) {
            program.wall = bench.rounds(&pair, args.rounds)?;
            program.long = Some(bench.found_in_rounds(&pair[1])?);
        }
        if !lasted(&program) {
            program.lasted = bench.go_on(&pair[1], args.seconds)?;
            program.long = Some(bench.found_in_rounds(&pair[1])?);
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
    busy: PathBuf,
}

/// A process that is killed when this goes out of scope.
struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        // It cannot have ended before: it has no end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Helpers {
    fn new(out: &Path) -> Result<Self> {
        let source = |name: &str| project().join("testdata/bench").join(name);
        let helpers = Helpers {
            fork: out.join("fork"),
            faults: out.join("faults.so"),
            busy: out.join("busy"),
        };
        let clang = || Command::new("clang-19");
        for (name, exe) in [("fork.c", &helpers.fork), ("busy.c", &helpers.busy)] {
            run(clang().arg("-O2").arg(source(name)).arg("-o").arg(exe))?;
        }
        let shared = ["-O2", "-fPIC", "-shared"];
        run(clang()
            .args(shared)
            .arg(source("faults.c"))
            .arg("-o")
            .arg(&helpers.faults))?;
        Ok(helpers)
    }

    /// Keeps another core busy, and what it shares with this one, as shadows do.
    fn beside(&self) -> Result<Beside> {
        let child = Command::new(&self.busy).spawn();
        Ok(Beside(
            child.with_context(|| format!("{}", self.busy.display()))?,
        ))
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
    sbl: OnceCell<Variant>,
}

impl Bench<'_> {
    fn native(&self) -> Result<Variant> {
        let bitcode = self.program.join("prog.bc");
        Ok(single("native", self.link(&bitcode, &[], "native")?))
    }

    fn long(&self) -> PathBuf {
        let long = self.program.join("run.sh");
        if long.exists() {
            long
        } else {
            self.script.to_path_buf()
        }
    }

    /// Where the timed runs with shadows leave their raw profiles.
    fn raw_of_rounds(&self) -> PathBuf {
        self.here.join("raw-rounds")
    }

    /// Seconds of runs, as [`Shadowed::wall`] has them.
    fn rounds(&self, [native, shadow]: &[Variant; 2], number: usize) -> Result<Vec<[f64; 4]>> {
        let (script, raw, none) = (
            self.long(),
            self.raw_of_rounds(),
            self.here.join("raw-none"),
        );
        let runs = [
            (native, "", &none),
            (native, "", &none),
            (shadow, "off", &none),
            (shadow, "", &raw),
        ];
        in_turn(number, |i| {
            let (variant, knobs, raw) = runs[i];
            let _beside = (i == 1).then(|| self.helpers.beside()).transpose()?;
            let begin = Instant::now();
            self.execute_script(&script, &variant.copies[0], knobs, raw, None)?;
            Ok(begin.elapsed().as_secs_f64())
        })
    }

    /// Runs with shadows until `seconds` are over: how many it were.
    fn go_on(&self, shadow: &Variant, seconds: f64) -> Result<f64> {
        let (script, raw) = (self.long(), self.raw_of_rounds());
        let _ = std::fs::remove_dir_all(&raw);
        let begin = Instant::now();
        while begin.elapsed().as_secs_f64() < seconds {
            self.execute_script(&script, &shadow.copies[0], "", &raw, None)?;
        }
        Ok(begin.elapsed().as_secs_f64())
    }

    fn found_in_rounds(&self, shadow: &Variant) -> Result<Found> {
        let exact = self.exact(&self.long(), "exact-long")?;
        self.judged(shadow, &self.raw_of_rounds(), &exact, USUAL)
    }

    fn instructions(&self, [native, shadow]: &[Variant; 2]) -> Result<[u64; 2]> {
        let count = |v: &Variant| {
            let here = self.here.join(format!("count-{}", v.name));
            instructions::count(self.script, &v.copies[0], &here)
        };
        Ok([count(native)?, count(shadow)?])
    }

    /// All but what is found and times.
    fn measure(&self, pair: &[Variant; 2]) -> Result<Shadowed> {
        let [native, shadow] = pair;
        Ok(Shadowed {
            instructions: self.instructions(pair)?,
            faults: [self.faults(native)?, self.faults(shadow)?],
            ..Shadowed::default()
        })
    }

    /// What is found with the knobs that are missing.
    fn find(&self, shadow: &Variant, of: &mut Shadowed) -> Result<()> {
        let missing = of.missing();
        if missing.is_empty() {
            return Ok(());
        }
        let exact = self.exact(self.script, "exact")?;
        for knobs in missing {
            of.found.push(self.found(shadow, &exact, knobs)?);
        }
        of.found
            .sort_by_key(|f| knobs().iter().position(|k| *k == f.knobs));
        Ok(())
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
        self.execute_script(self.script, exe, knobs, raw, preload)
    }

    fn execute_script(
        &self,
        script: &Path,
        exe: &Path,
        knobs: &str,
        raw: &Path,
        preload: Option<(&Path, &Path)>,
    ) -> Result<()> {
        std::fs::create_dir_all(raw)?;
        let mut command = Command::new(script);
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
            .with_context(|| format!("{}", script.display()))?;
        Ok(())
    }

    /// What counts exactly, made once.
    fn sbl(&self) -> Result<&Variant> {
        if self.sbl.get().is_none() {
            let _ = self.sbl.set(self.rewritten("sbl")?);
        }
        Ok(self.sbl.get().expect("it was made"))
    }

    fn exact(&self, script: &Path, name: &str) -> Result<PathBuf> {
        let (sbl, raw) = (self.sbl()?, self.here.join(format!("raw-{name}")));
        self.execute_script(script, &sbl.copies[0], "", &raw, None)?;
        let merged = self.here.join(format!("{name}.p3prof"));
        sbl.merge(&raw, &merged)?;
        Ok(merged)
    }

    fn found(&self, shadow: &Variant, exact: &Path, knobs: Knobs) -> Result<Found> {
        let name = format!("{}-{}-{}", knobs.load, knobs.burst, knobs.cost);
        let raw = self.here.join(&name);
        for _ in 0..RUNS {
            self.execute(&shadow.copies[0], &knobs.text(), &raw, None)?;
        }
        self.judged(shadow, &raw, exact, knobs)
    }

    /// Raw profiles of runs with `knobs` against the exact profile.
    fn judged(&self, shadow: &Variant, raw: &Path, exact: &Path, knobs: Knobs) -> Result<Found> {
        let merged = raw.with_extension("p3prof");
        shadow.merge(raw, &merged)?;
        let (merged, exact) = (merged.to_string_lossy(), exact.to_string_lossy());
        let arguments = ["accuracy", &merged, "--against", &exact, "--format", "json"];
        let json: Value = serde_json::from_slice(&output(&PROF, &arguments)?)?;
        let mut hot = [[0; 4]; 3];
        for (row, of) in hot
            .iter_mut()
            .zip(json["hot"].as_array().context("hot paths")?)
        {
            *row = ["paths", "seen", "found", "in_interval"]
                .map(|name| of[name].as_u64().unwrap_or(0));
        }
        Ok(Found {
            knobs,
            bursts: json["bursts"].as_u64().context("bursts")?,
            overlap: json["overlap"].as_f64().context("the overlap")?,
            hot,
        })
    }

    /// Of all processes of the program that the workload starts; shadows do not count as such.
    fn faults(&self, variant: &Variant) -> Result<u64> {
        let (log, raw) = (self.here.join("faults"), self.here.join("raw-faults"));
        let _ = std::fs::remove_file(&log);
        let knobs = at_any_cost(THEIRS).text();
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
        "### Shadows\n\n`p3-bench shadows`, {}, {}, shared with other work. Training inputs, code generation alone.\n\n\
         Instructions over native while no shadow is forked, and page faults (`load=0.5,burst=10M,cost=100%`):\n\n",
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
    if !over.is_empty() {
        table.row(["median", &format!("{:+.2} %", median(over)), "", ""]);
    }
    text += &table.to_string();
    text += "\n";
    text += &times(shadows);
    text += &accuracy(shadows);
    text += "Time that a fork takes from the program, the least of 50, by resident memory:\n\n";
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
    let by_load = LOADS.map(|load| (format!("load {load}"), (load, THEIRS.1)));
    let by_burst = BURSTS.map(|burst| (format!("{burst} M instructions"), (THEIRS.0, burst)));
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
                        .map(|p| p.overlap(at_any_cost(*knobs)))
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
    /// With which knobs nothing was measured.
    fn missing(&self) -> Vec<Knobs> {
        let known = |k: &Knobs| self.found.iter().any(|f| f.knobs == *k);
        knobs().into_iter().filter(|k| !known(k)).collect()
    }

    /// How long what found [`Shadowed::long`] was.
    fn seconds(&self) -> f64 {
        let timed = self.wall.iter().map(|w| w[3]).sum();
        self.lasted.max(timed)
    }

    /// In percent; 0 where that was not measured.
    fn overlap(&self, knobs: Knobs) -> f64 {
        self.found
            .iter()
            .find(|f| f.knobs == knobs)
            .map_or(0.0, |f| f.overlap * 100.0)
    }
}

fn accuracy(shadows: &Shadows) -> String {
    let usual = USUAL.text();
    let mut text = format!(
        "Hot paths found in {RUNS} runs of less than a second together, by default (`{usual}`, bursts of 10 M instructions or more) and by load and burst without a limit of cost. \
         The cells are as above.\n\n\
         ![Overlap by load](plots/shadows-load.svg)\n\n![Overlap by burst](plots/shadows-burst.svg)\n\n"
    );
    let about = ["program", "cost", "load", "burst"];
    let mut table = Table::new(about.into_iter().chain(FOUND));
    for (name, p) in &shadows.programs {
        for f in &p.found {
            let about = [name.clone()].into_iter().chain(f.knobs.cells());
            table.row(about.chain(f.cells()));
        }
    }
    for knobs in knobs() {
        let all = shadows.programs.values();
        let found = all.flat_map(|p| p.found.iter().filter(|f| f.knobs == knobs));
        let about = ["all".to_string()].into_iter().chain(knobs.cells());
        table.row(about.chain(cells_of_all(found)));
    }
    text += &table.to_string();
    text + "\n"
}

/// What [`Found::cells`] and [`cells_of_all`] are.
const FOUND: [&str; 5] = ["bursts", "overlap", "above 2 %", "above 1 %", "above 0.5 %"];

impl Found {
    fn cells(&self) -> [String; 5] {
        let of = |[all, seen, found, held]: [u64; 4]| format!("{found} ({seen}, {held}) of {all}");
        let [two, one, half] = self.hot.map(of);
        let overlap = format!("{:.1} %", self.overlap * 100.0);
        [self.bursts.to_string(), overlap, two, one, half]
    }
}

/// Times with shadows over those without, and what they found, if that was measured.
fn times(shadows: &Shadows) -> String {
    let mut table = Table::new([
        "program",
        "rounds",
        "s",
        "beside another",
        "without shadows",
        "with shadows",
        "these over those",
    ]);
    let timed = shadows.programs.iter().filter(|(_, p)| !p.wall.is_empty());
    let mut middles = [vec![], vec![], vec![], vec![]];
    for (name, p) in timed {
        let ratio = |over: fn(&[f64; 4]) -> f64| middle(p.wall.iter().map(over).collect());
        let seconds = median(p.wall.iter().map(|w| w[0]).collect());
        let ratios = [
            ratio(|w| w[1] / w[0]),
            ratio(|w| w[2] / w[0]),
            ratio(|w| w[3] / w[0]),
            ratio(|w| w[3] / w[2]),
        ];
        for (middles, ratio) in middles.iter_mut().zip(ratios) {
            middles.push(ratio[0]);
        }
        let begin = [
            name.clone(),
            p.wall.len().to_string(),
            format!("{seconds:.1}"),
        ];
        table.row(begin.into_iter().chain(ratios.map(interval)));
    }
    if middles[0].is_empty() {
        return String::new();
    }
    let begin = ["median", "", ""].map(str::to_string).into_iter();
    let medians = middles.map(|m| format!("{:+.2} %", median(m) * 100.0 - 100.0));
    table.row(begin.chain(medians));
    let usual = USUAL.text();
    format!(
        "Wall time of the long input over native, median of rounds in turn with an interval of 95 % (sign test): native beside a process that \
         keeps the other core and its memory busy, without shadows (`P3_SHADOW=off`), and with shadows by default \
         (`{usual}`):\n\n{table}\n{}",
        found_in_long_runs(shadows)
    )
}

fn found_in_long_runs(shadows: &Shadows) -> String {
    let mut table = Table::new(["program", "s in all"].into_iter().chain(FOUND));
    let long = || {
        let programs = shadows.programs.iter();
        programs.filter_map(|(name, p)| Some((name, p, p.long.as_ref()?)))
    };
    for (name, p, found) in long() {
        let about = [name.clone(), format!("{:.0}", p.seconds())];
        table.row(about.into_iter().chain(found.cells()));
    }
    let about = ["all", ""].map(str::to_string).into_iter();
    table.row(about.chain(cells_of_all(long().map(|(_, _, found)| found))));
    format!(
        "Hot paths found by default in so many seconds of runs together, of the paths above a threshold in the exact profile. A cell \
         says for how many the estimate is above the threshold too; in brackets, how many some burst saw, and for how \
         many the interval of 95 % holds the exact share:\n\n{table}\n"
    )
}

/// Paths found, and in brackets seen and with intervals that hold, of those above each threshold.
fn cells_of_all<'a>(all: impl Iterator<Item = &'a Found>) -> [String; 5] {
    let mut sum = [[0; 4]; 3];
    for found in all {
        for (sum, of) in sum.iter_mut().flatten().zip(found.hot.iter().flatten()) {
            *sum += of;
        }
    }
    let [two, one, half] = sum.map(|[all, seen, found, held]| {
        let of = |n: u64| n as f64 / all as f64 * 100.0;
        format!("{:.1} % ({:.1} %, {:.1} %)", of(found), of(seen), of(held))
    });
    [String::new(), String::new(), two, one, half]
}

/// A ratio's median and interval, in percent over one.
fn interval(of: [f64; 3]) -> String {
    let [middle, from, to] = of.map(|ratio| format!("{:+.1}", ratio * 100.0 - 100.0));
    format!("{middle} % ({from} … {to})")
}

/// The median, and the interval of 95 % that the sign test leaves for it.
fn middle(mut of: Vec<f64>) -> [f64; 3] {
    of.sort_by(f64::total_cmp);
    let n = of.len();
    let below = ((n as f64 - 1.96 * (n as f64).sqrt()) / 2.0)
        .floor()
        .max(0.0);
    let first = (below as usize).min((n - 1) / 2);
    let [from, to] = [of[first], of[n - 1 - first]];
    [median(of), from, to]
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
