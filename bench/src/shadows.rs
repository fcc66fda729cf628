//! Shadow profiling: what it costs the program, how much of the exact profile it finds by load and
//! burst, and how long a fork takes.

pub(crate) mod data;
mod section;

pub(crate) use section::SHADOW_PROFILES;

use crate::build::{PROF, REWRITE, Variant, llvm, output, project, run, runtime, single, variant};
use crate::instructions;
use crate::measure::{in_turn, programs};
use crate::results::{Results, this_day, this_machine};
use anyhow::{Context, Result, ensure};
use data::{Found, Knobs, RUNS, Shadowed, THEIRS, USUAL, knobs, knobs_without_limit};
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
    /// Time so many rounds of runs as well, of the untouched program, and without and with shadows:
    /// on a machine that nobody else uses
    #[arg(long, default_value_t = 0)]
    rounds: usize,
    /// Run each long input with shadows, as by default, for so many seconds in all, for what that
    /// finds
    #[arg(long, default_value_t = 0.0)]
    seconds: f64,
    /// Count the instructions again of programs that were measured before
    #[arg(long)]
    recount: bool,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// Measures what is not in the results yet of all programs in `folder/prog`, and forks; and times
/// rounds of runs of those that have no times yet.
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
        let clang = || Command::new(llvm("clang"));
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
        let knobs = knobs_without_limit(THEIRS).text();
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
