//! Running the variants, interleaved, each alone on a core.

use crate::build::{self, PROF, Variant, output, variant_name};
use crate::instructions;
use crate::results::{Cost, Hits, Program, Results, Run, quartiles};
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
    /// How often each variant runs
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Numbers of copies
    #[arg(long, value_delimiter = ',', default_value = "2,4,8")]
    copies: Vec<u32>,
    /// Run the training input instead
    #[arg(long)]
    train: bool,
}

/// Measures all programs in `folder/prog` that are not in the results yet.
pub(crate) fn all(args: &MeasureArgs, out: &Path) -> Result<()> {
    let runtime = build::runtime(out)?;
    let folder = args.folder.canonicalize()?;
    let workload = if args.train { "run-train.sh" } else { "run.sh" };
    for (name, program) in programs(&folder, &args.only)? {
        let mut results = Results::load(out)?;
        if results.programs.contains_key(&name) || !program.join(workload).exists() {
            continue;
        }
        let here = out.join(&name);
        eprintln!("{name}: building");
        let variants = build::variants(&program, &runtime, &args.copies, &here)?;
        eprintln!("{name}: running");
        let mut measured = measure(&program.join(workload), &variants, &here, args)?;
        eprintln!("{name}: counting instructions");
        count_instructions(&program, &variants, &here, &mut measured.variants)?;
        results.programs.insert(name, measured);
        results.store(out)?;
        let _ = std::fs::remove_dir_all(here);
    }
    Ok(())
}

/// Names and folders of programs, sorted.
pub(crate) fn programs(folder: &Path, only: &[String]) -> Result<Vec<(String, PathBuf)>> {
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(folder.join("prog"))? {
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

fn measure(
    script: &Path,
    variants: &[Variant],
    here: &Path,
    args: &MeasureArgs,
) -> Result<Program> {
    let (runs, differing) = run_all(script, variants, here, args.rounds)?;
    let workload = script.file_name().context("a name")?;
    let mut program = Program {
        workload: workload.to_string_lossy().into_owned(),
        rounds: args.rounds,
        variants: runs,
        differing,
        ..Program::default()
    };
    simulate(variants, here, &args.copies, &mut program)?;
    Ok(program)
}

/// By name of the variant: its copies, medians over their runs.
pub(crate) type Runs = BTreeMap<String, Vec<Run>>;

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
                // Of sbl the last profile stays: simulate reads it.
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
                differing.push(format!("{} copy {c}", variant.name));
            }
        }
    }
    Ok((runs, differing))
}

/// Counts the instructions of every copy on the training input, if there is one; several at a time.
fn count_instructions(
    program: &Path,
    variants: &[Variant],
    here: &Path,
    runs: &mut Runs,
) -> Result<()> {
    let script = program.join("run-train.sh");
    if !script.exists() {
        return Ok(());
    }
    for variant in variants {
        let counts: Result<Vec<u64>> = variant
            .copies
            .par_iter()
            .enumerate()
            .map(|(c, exe)| {
                let folder = here.join(format!("count/{}-{c}", variant.name.replace(' ', "-")));
                instructions::count(&script, exe, &folder)
            })
            .collect();
        let copies = runs.get_mut(&variant.name).context("it ran")?;
        for (run, count) in copies.iter_mut().zip(counts?) {
            run.instructions = count;
        }
    }
    Ok(())
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
    let sizes = output("llvm-size-19", &[&exe.to_string_lossy()])?;
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
        instructions: 0,
    })
}

/// The hits of every scheme by the profile that the last run of sbl left.
fn simulate(
    variants: &[Variant],
    here: &Path,
    copies: &[u32],
    program: &mut Program,
) -> Result<()> {
    let sbl = variants
        .iter()
        .find(|v| v.name == "sbl")
        .context("there is sbl")?;
    let profile = here.join("sbl.p3prof");
    sbl.merge(&here.join("raw/sbl-0"), &profile)?;
    let profile = profile.to_string_lossy();
    let train = here.join("train.p3prof");
    let ks: Vec<String> = copies.iter().map(u32::to_string).collect();
    let ks = ks.join(",");
    for (schemes, more) in [
        ("sbl,pbl,p3,p3-weighted,p3-hot", vec![]),
        (
            "pbl,p3,p3-weighted,p3-hot",
            vec![
                "--profile".to_string(),
                train.to_string_lossy().into_owned(),
            ],
        ),
    ] {
        let mut arguments = vec!["simulate", "--format", "json", "--scheme", schemes];
        arguments.extend(["-k", &ks, &profile]);
        arguments.extend(more.iter().map(String::as_str));
        let json: Value = serde_json::from_slice(&output(&PROF, &arguments)?)?;
        for row in json["rows"].as_array().context("rows")? {
            let numbers = |v: &Value| serde_json::from_value::<Vec<u64>>(v.clone());
            let (scheme, k) = (row["scheme"].as_str().context("a name")?, row["k"].as_u64());
            let name = variant_name(scheme, k.context("a number")? as u32, !more.is_empty());
            let (labels, probes) = (numbers(&row["label_hits"])?, numbers(&row["probe_hits"])?);
            program.hits.insert(name, Hits { labels, probes });
        }
    }
    let shown = String::from_utf8(output(&PROF, &["show", "--top", "1", &profile])?)?;
    let head = shown.lines().next().unwrap_or_default();
    program.paths = head.split(", in ").next().unwrap_or_default().into();
    let functions = head.split(": ").nth(1).unwrap_or_default();
    program.functions = functions.split(" (").next().unwrap_or_default().into();
    Ok(())
}
