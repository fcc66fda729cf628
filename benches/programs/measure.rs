//! Running the variants, interleaved, each alone on a core.

use crate::build::{self, PROF, Variant, output, variant_name};
use crate::results::{Cost, Hits, Program, Results, Run};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Measures all programs in `folder/prog` that are not in the results yet.
pub(crate) fn all(
    folder: &Path,
    out: &Path,
    rounds: usize,
    only: &[String],
    train: bool,
) -> Result<()> {
    let runtime = build::runtime(out)?;
    let workload = if train { "run-train.sh" } else { "run.sh" };
    for (name, program) in programs(folder, only)? {
        let mut results = Results::load(out)?;
        if results.programs.contains_key(&name) || !program.join(workload).exists() {
            continue;
        }
        let here = out.join(&name);
        eprintln!("{name}: building");
        let variants = build::variants(&program, &runtime, &here)?;
        eprintln!("{name}: running");
        let measured = measure(&program.join(workload), &variants, &here, rounds)?;
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

fn measure(script: &Path, variants: &[Variant], here: &Path, rounds: usize) -> Result<Program> {
    let (runs, differing) = run_all(script, variants, here, rounds)?;
    let workload = script.file_name().context("a name")?;
    let mut program = Program {
        workload: workload.to_string_lossy().into_owned(),
        rounds,
        variants: runs,
        differing,
        ..Program::default()
    };
    simulate(variants, here, &mut program)?;
    Ok(program)
}

/// By name of the variant: its copies, medians over their runs.
pub(crate) type Runs = BTreeMap<String, Vec<Run>>;

/// Runs every copy of every variant so often, interleaved; which print other things than the first variant.
pub(crate) fn run_all(
    script: &Path,
    variants: &[Variant],
    here: &Path,
    rounds: usize,
) -> Result<(Runs, Vec<String>)> {
    let mut jobs = Vec::new();
    for round in 0..rounds {
        for (v, variant) in variants.iter().enumerate() {
            jobs.extend((0..variant.copies.len()).map(|c| (round, v, c)));
        }
    }
    jobs.reverse();
    let jobs = Mutex::new(jobs);
    let samples = Mutex::new(BTreeMap::<(usize, usize), Vec<Cost>>::new());
    let outputs = Mutex::new(BTreeMap::<(usize, usize), blake3::Hash>::new());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        let worker = |core: usize| {
            let (jobs, samples, outputs) = (&jobs, &samples, &outputs);
            move || -> Result<()> {
                while let Some((round, v, c)) = { jobs.lock().expect("no panic").pop() } {
                    let variant = &variants[v];
                    let raw = here.join(format!("raw/{}-{c}", variant.name));
                    let (sample, text) = execute(script, &variant.copies[c], &raw, core)?;
                    let mut samples = samples.lock().expect("no panic");
                    samples.entry((v, c)).or_default().push(sample);
                    outputs.lock().expect("no panic").insert((v, c), text);
                    // Of sbl the last profile stays: simulate reads it.
                    if variant.name != "sbl" || round + 1 < rounds {
                        let _ = std::fs::remove_dir_all(raw);
                    }
                }
                Ok(())
            }
        };
        let workers: Vec<_> = (0..cores).map(|core| scope.spawn(worker(core))).collect();
        workers
            .into_iter()
            .try_for_each(|w| w.join().expect("no panic"))
    })?;
    let samples = samples.into_inner().expect("no panic");
    let outputs = outputs.into_inner().expect("no panic");
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

/// Runs one executable on one core.
fn execute(script: &Path, exe: &Path, raw: &Path, core: usize) -> Result<(Cost, blake3::Hash)> {
    std::fs::create_dir_all(raw)?;
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
    })
}

/// The hits of every scheme by the profile that the last run of sbl left.
fn simulate(variants: &[Variant], here: &Path, program: &mut Program) -> Result<()> {
    let sbl = variants
        .iter()
        .find(|v| v.name == "sbl")
        .context("there is sbl")?;
    let profile = here.join("sbl.p3prof");
    build::merge(sbl, &here.join("raw/sbl-0"), &profile)?;
    let profile = profile.to_string_lossy();
    let train = here.join("train.p3prof");
    for (schemes, more) in [
        ("sbl,pbl,p3,p3-weighted", vec![]),
        (
            "p3-weighted",
            vec![
                "--profile".to_string(),
                train.to_string_lossy().into_owned(),
            ],
        ),
    ] {
        let mut arguments = vec![
            "simulate", "--format", "json", "--scheme", schemes, &profile,
        ];
        arguments.extend(more.iter().map(String::as_str));
        let json: Value = serde_json::from_slice(&output(PROF, &arguments)?)?;
        for row in json["rows"].as_array().context("rows")? {
            let numbers = |v: &Value| serde_json::from_value::<Vec<u64>>(v.clone());
            let (scheme, k) = (row["scheme"].as_str().context("a name")?, row["k"].as_u64());
            let name = variant_name(scheme, k.context("a number")? as u32, !more.is_empty());
            let (labels, probes) = (numbers(&row["label_hits"])?, numbers(&row["probe_hits"])?);
            program.hits.insert(name, Hits { labels, probes });
        }
    }
    let shown = String::from_utf8(output(PROF, &["show", "--top", "1", &profile])?)?;
    let head = shown.lines().next().unwrap_or_default();
    program.paths = head.split(", in ").next().unwrap_or_default().into();
    let functions = head.split(": ").nth(1).unwrap_or_default();
    program.functions = functions.split(" (").next().unwrap_or_default().into();
    Ok(())
}
