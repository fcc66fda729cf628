//! What a program costs under each scheme: probes by `simulate`, instructions, and time, each process alone.
//!
//! Everything is measured on the smaller of a program's two inputs, `run-train.sh`; what is called trained has weights
//! by the profile of the other one, `run.sh`. The instructions of every copy are counted, and the slowest one is timed.

use crate::build::{PROF, Variant, llvm, output, run, variant_name};
use crate::instructions;
use crate::results::{Cost, Hits, Program, Results, Run, quartiles};
use crate::rewritten::{Recipe, Rewritten};
use anyhow::{Context, Result};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to measure, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct MeasureArgs {
    /// The folder of programs
    folder: PathBuf,
    /// How often each variant runs, at each of three positions of its code; 0: times are not measured
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// What is measured.
pub(crate) const INPUT: &str = "run-train.sh";
/// What weights come from.
pub(crate) const OTHER: &str = "run.sh";

/// Scheme, number of copies, whether weights come from the other input: those whose instructions are counted.
const COUNTED: [(&str, u32, bool); 6] = [
    ("sbl", 1, false),
    ("p3-hot", 1, false),
    ("p3-hot", 1, true),
    ("p3-hot", 2, false),
    ("p3-hot", 4, false),
    ("p3-hot", 4, true),
];
/// Those that are timed.
const TIMED: [(&str, u32, bool); 4] = [
    ("sbl", 1, false),
    ("p3-hot", 1, false),
    ("p3-hot", 4, false),
    ("p3-hot", 4, true),
];
/// What is translated only: the program, LLVM's instrumentation of it, and that without values.
const TRANSLATED: [&str; 3] = ["native translated", "edge", "edge alone"];
/// What `make` links of the program as it is.
const NATIVE: &str = "native";

/// The names of all whose instructions are counted.
fn variants_counted() -> impl Iterator<Item = String> {
    let ours = COUNTED.map(|(scheme, k, trained)| variant_name(scheme, k, trained));
    let others = TRANSLATED.into_iter().chain([NATIVE]);
    others.map(String::from).chain(ours)
}

/// By how many bytes code is moved: functions are aligned to 16, what fetches instructions to 64.
const SHIFTS: [u32; 3] = [0, 16, 32];

/// Measures all programs in `folder/prog`: what is in the results already is not measured again, times apart.
pub(crate) fn all(args: &MeasureArgs, out: &Path) -> Result<()> {
    for (name, program) in programs(&args.folder, &args.only)? {
        let mut results = Results::load(out)?;
        let mut measured = results.programs.of.remove(&name).unwrap_or_default();
        let counted = variants_counted().all(|name| measured.instructions.contains_key(&name));
        let complete = counted && (args.rounds == 0 || !measured.times.runs.is_empty());
        if complete || !program.join(INPUT).exists() || !program.join(OTHER).exists() {
            continue;
        }
        let here = out.join(&name);
        std::fs::create_dir_all(&here)?;
        let recipe = Recipe::of(&program)?;
        let bench = Bench::new(&program, &here, &recipe)?;
        if !counted {
            eprintln!("{name}: instructions");
            bench.count(&mut measured)?;
        }
        if args.rounds > 0 && measured.times.runs.is_empty() {
            eprintln!("{name}: times");
            bench.time(args.rounds, &mut measured)?;
        }
        results.programs.keep(name, measured)?;
        results.write(out)?;
        let _ = std::fs::remove_dir_all(here);
    }
    Ok(())
}

/// Names and folders of programs, sorted.
pub(crate) fn programs(folder: &Path, only: &[String]) -> Result<Vec<(String, PathBuf)>> {
    let mut programs = Vec::new();
    let below = folder.join("prog");
    let unknown = || format!("{}: no folder of programs", below.display());
    let below = below.canonicalize().with_context(unknown)?;
    for entry in below.read_dir().with_context(unknown)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .context("a name")?
            .to_string_lossy()
            .into_owned();
        if path.join("prog.bc").exists() && (only.is_empty() || only.contains(&name)) {
            programs.push((name, path));
        }
    }
    programs.sort();
    Ok(programs)
}

struct Bench<'a> {
    program: &'a Path,
    here: &'a Path,
    recipe: &'a Recipe,
    /// One copy that counts all paths.
    sbl: Rewritten<'a>,
    /// Machine code, by [`TRANSLATED`].
    objects: [PathBuf; TRANSLATED.len()],
}

impl<'a> Bench<'a> {
    fn new(program: &'a Path, here: &'a Path, recipe: &'a Recipe) -> Result<Self> {
        let bitcode = program.join("prog.bc");
        let options = ["--scheme", "sbl"].map(String::from);
        let sbl = Rewritten::new(&bitcode, &options, here.join("sbl"), recipe)?;
        let objects = ["native", "edge", "alone"].map(|name| here.join(name).with_extension("o"));
        recipe.compile(&bitcode, &objects[0])?;
        for (object, more) in objects[1..].iter().zip([&[][..], &["-disable-vp"]]) {
            let instrumented = object.with_extension("bc");
            let mut opt = Command::new(llvm("opt"));
            opt.arg("-passes=pgo-instr-gen,instrprof").args(more);
            run(opt.arg(&bitcode).arg("-o").arg(&instrumented))?;
            recipe.compile(&instrumented, object)?;
        }
        let bench = Bench {
            program,
            here,
            recipe,
            sbl,
            objects,
        };
        let exe = bench.sbl.linked("copy-0", None)?;
        for input in [INPUT, OTHER] {
            bench
                .sbl
                .profile(&program.join(input), &exe, &bench.profile(input))?;
        }
        Ok(bench)
    }

    fn profile(&self, input: &str) -> PathBuf {
        self.here.join(input).with_extension("p3prof")
    }

    /// The folder of a variant.
    fn rewritten(&self, (scheme, k, trained): (&str, u32, bool)) -> Result<Rewritten<'a>> {
        let name = variant_name(scheme, k, trained).replace(' ', "-");
        let mut options = vec!["--scheme".to_string(), scheme.into()];
        options.extend(["-k".to_string(), k.to_string()]);
        if trained {
            let profile = self.profile(OTHER).display().to_string();
            options.extend(["--profile".to_string(), profile]);
        }
        let bitcode = self.program.join("prog.bc");
        Rewritten::new(&bitcode, &options, self.here.join(name), self.recipe)
    }

    /// Links a program that was translated only, behind `first`.
    fn translated(&self, which: usize, first: Option<&Path>) -> Result<PathBuf> {
        let object = &self.objects[which];
        let suffix = first.and_then(Path::file_stem).unwrap_or_default();
        let exe = object.with_extension("exe").with_extension(suffix);
        let objects: Vec<&Path> = first.into_iter().chain([object.as_path()]).collect();
        let runtime = ["-fprofile-generate"];
        self.recipe.link(&objects, &runtime[..which.min(1)], &exe)?;
        Ok(exe)
    }

    /// Simulates all schemes, and counts the instructions of those whose are not known.
    fn count(&self, measured: &mut Program) -> Result<()> {
        self.simulate(measured)?;
        let mut keep = |name: String, link: &dyn Fn() -> Result<Vec<PathBuf>>| {
            if measured.instructions.contains_key(&name) {
                return Ok(());
            }
            let copies = link()?;
            let counts = copies.par_iter().enumerate().map(|(copy, exe)| {
                let folder = self.here.join(format!("count-{copy}"));
                instructions::count(&self.program.join(INPUT), exe, &folder)
            });
            let counts: Result<Vec<u64>> = counts.collect();
            measured.instructions.insert(name, counts?);
            anyhow::Ok(())
        };
        for (which, name) in TRANSLATED.into_iter().enumerate() {
            keep(name.into(), &|| Ok(vec![self.translated(which, None)?]))?;
        }
        keep(NATIVE.into(), &|| Ok(vec![self.sbl.linked(NATIVE, None)?]))?;
        for variant in COUNTED {
            let (scheme, k, trained) = variant;
            keep(variant_name(scheme, k, trained), &|| {
                let rewritten = self.rewritten(variant)?;
                let link = |copy| rewritten.linked(&format!("copy-{copy}"), None);
                (0..k).map(link).collect()
            })?;
        }
        Ok(())
    }

    /// Runs what is timed, in turn, with its code at several positions.
    fn time(&self, rounds: usize, measured: &mut Program) -> Result<()> {
        let shifts: Result<Vec<Option<PathBuf>>> =
            SHIFTS.iter().map(|&bytes| self.shift(bytes)).collect();
        let shifts = shifts?;
        let linked = |name: String, link: &dyn Fn(Option<&Path>) -> Result<PathBuf>| {
            let copies: Result<Vec<PathBuf>> = shifts.iter().map(|s| link(s.as_deref())).collect();
            anyhow::Ok(Variant {
                name,
                copies: copies?,
                manifest: None,
            })
        };
        let mut variants = vec![linked(NATIVE.into(), &|first| {
            self.sbl.linked(NATIVE, first)
        })?];
        for (which, name) in TRANSLATED.into_iter().enumerate() {
            variants.push(linked(name.into(), &|first| self.translated(which, first))?);
        }
        for variant in TIMED {
            let (scheme, k, trained) = variant;
            let name = variant_name(scheme, k, trained);
            let copy = format!("copy-{}", slowest(&measured.instructions[&name]));
            let rewritten = self.rewritten(variant)?;
            variants.push(linked(name, &|first| rewritten.linked(&copy, first))?);
        }
        let (runs, differing) = run_all(&self.program.join(INPUT), &variants, self.here, rounds)?;
        measured.times.rounds = rounds;
        measured.times.runs = runs;
        measured.times.differing = differing;
        Ok(())
    }

    /// An object that moves the code behind it by so many bytes.
    fn shift(&self, bytes: u32) -> Result<Option<PathBuf>> {
        if bytes == 0 {
            return Ok(None);
        }
        let source = self.here.join(format!("shift-{bytes}.s"));
        let object = source.with_extension("o");
        std::fs::write(&source, format!(".text\n.balign 64\n.space {bytes}\n"))?;
        let mut clang = Command::new(llvm("clang"));
        run(clang.arg("-c").arg(source).arg("-o").arg(&object))?;
        Ok(Some(object))
    }

    /// The hits of every scheme.
    fn simulate(&self, program: &mut Program) -> Result<()> {
        let profile = self.profile(INPUT).display().to_string();
        let other = self.profile(OTHER).display().to_string();
        let untrained = ["--scheme", "sbl,pbl,p3,p3-weighted,p3-hot", "-k", "2,4,8"];
        let trained = ["--scheme", "pbl,p3,p3-weighted,p3-hot", "-k", "1,2,4,8"];
        let weights = ["--profile", &other];
        for (options, weights) in [(untrained, &[][..]), (trained, &weights)] {
            let mut arguments = vec!["simulate", "--format", "json", &profile];
            arguments.extend(options);
            arguments.extend(weights);
            let json: Value = serde_json::from_slice(&output(&PROF, &arguments)?)?;
            for row in json["rows"].as_array().context("rows")? {
                let numbers = |v: &Value| serde_json::from_value::<Vec<u64>>(v.clone());
                let (scheme, k) = (row["scheme"].as_str(), row["k"].as_u64());
                let (scheme, k) = scheme.zip(k).context("a scheme and a number")?;
                let name = variant_name(scheme, k as u32, !weights.is_empty());
                let hits = Hits {
                    labels: numbers(&row["label_hits"])?,
                    probes: numbers(&row["probe_hits"])?,
                    instructions: numbers(&row["instructions"])?,
                };
                program.hits.insert(name, hits);
            }
        }
        let shown = String::from_utf8(output(&PROF, &["show", "--top", "1", &profile])?)?;
        let head = shown.lines().next().unwrap_or_default();
        program.paths = head.split(", in ").next().unwrap_or_default().into();
        let functions = head.split(": ").nth(1).unwrap_or_default();
        program.functions = functions.split(" (").next().unwrap_or_default().into();
        Ok(())
    }
}

/// The copy that executes most instructions; the first of several.
fn slowest(instructions: &[u64]) -> usize {
    let copies = instructions.iter().enumerate();
    copies.rev().max_by_key(|(_, n)| **n).map_or(0, |(c, _)| c)
}

/// By name of the variant: its copies, medians over their runs.
pub(crate) type Runs = BTreeMap<String, Vec<Run>>;

/// Rounds of what is timed, one after the other; which one begins changes from round to round.
pub(crate) fn in_turn<const N: usize>(
    rounds: usize,
    time: impl Fn(usize) -> Result<f64>,
) -> Result<Vec<[f64; N]>> {
    let one = |round: usize| {
        let mut of = [0.0; N];
        for i in (0..N).map(|i| (i + round) % N) {
            of[i] = time(i)?;
        }
        Ok(of)
    };
    (0..rounds).map(one).collect()
}

/// Runs every copy of every variant so often, in turn, one process at a time; which print other things than the first
/// variant.
pub(crate) fn run_all(
    script: &Path,
    variants: &[Variant],
    here: &Path,
    rounds: usize,
) -> Result<(Runs, Vec<String>)> {
    let mut samples = BTreeMap::<(usize, usize), Vec<Cost>>::new();
    let mut outputs = BTreeMap::<(usize, usize), blake3::Hash>::new();
    for round in 0..rounds.max(1) {
        for (v, variant) in variants.iter().enumerate() {
            for (c, exe) in variant.copies.iter().enumerate() {
                let raw = here.join(format!("raw/{}-{c}", variant.name));
                let (sample, text) = execute(script, exe, &raw)?;
                samples.entry((v, c)).or_default().push(sample);
                outputs.insert((v, c), text);
                // Of sbl the last profile stays: accuracy is told from it.
                if variant.name != "sbl" || round + 1 < rounds {
                    let _ = std::fs::remove_dir_all(raw);
                }
            }
        }
    }
    let (mut runs, mut differing) = (Runs::new(), Vec::new());
    for (v, variant) in variants.iter().enumerate() {
        for (c, exe) in variant.copies.iter().enumerate() {
            let run = summary(&samples[&(v, c)], exe)?;
            runs.entry(variant.name.clone()).or_default().push(run);
            if outputs[&(v, c)] != outputs[&(0, 0)] {
                differing.push(format!("{} {c}", variant.name));
            }
        }
    }
    Ok((runs, differing))
}
/// Runs one executable on the last core: interrupts prefer the first.
fn execute(script: &Path, exe: &Path, raw: &Path) -> Result<(Cost, blake3::Hash)> {
    std::fs::create_dir_all(raw)?;
    let core = std::thread::available_parallelism().map_or(1, |n| n.get()) - 1;
    let mut command = Command::new("taskset");
    command
        .args(["-c", &core.to_string(), "setarch", "-R"])
        .arg(script)
        .arg(exe);
    command.env("P3_PROFILE_FILE", raw.join("%k-%p.p3raw"));
    command.env("LLVM_PROFILE_FILE", raw.join("%p.profraw"));
    let text = raw.join("stdout");
    let file = std::fs::File::create(&text)?;
    // A workload's own status is part of it.
    let (sample, _) = Cost::of(command.stdout(file))?;
    // Not the output itself: a process that starts large counts as large after exec.
    let shown = blake3::Hasher::new()
        .update_reader(std::fs::File::open(&text)?)?
        .finalize();
    std::fs::remove_file(text)?;
    Ok((sample, shown))
}

fn summary(samples: &[Cost], exe: &Path) -> Result<Run> {
    let Cost { wall, cpu, memory } = Cost::median(samples);
    let sizes = output(&llvm("llvm-size"), &[&exe.to_string_lossy()])?;
    let sizes = String::from_utf8(sizes)?;
    let line = sizes.lines().nth(1).context("llvm-size prints sizes")?;
    let sizes: Vec<u64> = line
        .split_whitespace()
        .take(3)
        .flat_map(str::parse)
        .collect();
    Ok(Run {
        wall,
        cpu,
        memory,
        text: sizes[0],
        data: sizes[1],
        bss: sizes[2],
        wall_quartiles: quartiles(samples.iter().map(|c| c.wall)),
        cpu_quartiles: quartiles(samples.iter().map(|c| c.cpu)),
    })
}
