//! What counting costs in executed instructions, beside LLVM's edge counters alone, on small inputs: the table that a
//! change of plans or code is judged by.
//!
//! Programs are of two halves ([`CHOSEN_BY`]). Constants and rules may be chosen by the first; the second is reported
//! only.

use crate::build::{llvm, run, variant_name};
use crate::instructions;
use crate::markdown::Table;
use crate::measure::{INPUT, OTHER, programs};
use crate::rewritten::{Recipe, Rewritten};
use anyhow::{Context, Result};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to count.
#[derive(Debug, clap::Args)]
pub(crate) struct CostArgs {
    /// The folder of programs
    folder: PathBuf,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Count our variants again; native's and LLVM's stay
    #[arg(long)]
    again: bool,
}

/// The programs that rules and constants may be chosen by. All others are reported only: nobody looks at their code.
/// Of `bench/programs` every second one by name, which was settled before any was measured.
const CHOSEN_BY: [&str; 23] = [
    "bh",
    "byacc",
    "bzip2",
    "compress",
    "computed_goto",
    "connect_four",
    "cover",
    "events",
    "expr",
    "gzip",
    "hash_table",
    "ks",
    "libquantum",
    "life",
    "minisat",
    "mst",
    "parser",
    "queens",
    "ray",
    "route",
    "tree",
    "words",
    "zopfli",
];

/// Whether rules may be chosen by the program.
pub(crate) fn is_chosen_by(program: &str) -> bool {
    CHOSEN_BY.contains(&program)
}

/// Code that is translated only: the program, and LLVM's edge counters in it.
const NATIVE: &str = "native translated";
const LLVM: &str = "LLVM's edges";
/// What `make` links of the program as it is.
const LINKED: &str = "native";

/// Scheme, number of copies, whether weights come from the other input.
const OURS: [(&str, u32, bool); 6] = [
    ("edge", 1, false),
    ("sbl", 1, false),
    ("p3-hot", 1, false),
    ("p3-hot", 1, true),
    ("p3-hot", 4, false),
    ("p3-hot", 4, true),
];

/// By program and variant: the instructions of each copy.
type Counts = BTreeMap<String, BTreeMap<String, Vec<u64>>>;

/// Counts what is not in `out/cost.json` yet, and prints the tables.
pub(crate) fn all(args: &CostArgs, out: &Path) -> Result<()> {
    let file = out.join("cost.json");
    let mut counts: Counts = match fs::read(&file) {
        Ok(text) => serde_json::from_slice(&text).with_context(|| file.display().to_string())?,
        Err(_) => Counts::new(),
    };
    for (name, program) in programs(&args.folder, &args.only)? {
        let counted = counts.entry(name.clone()).or_default();
        if args.again {
            counted.retain(|variant, _| [NATIVE, LLVM, LINKED].contains(&variant.as_str()));
        }
        eprintln!("{name}");
        let here = out.join("cost").join(&name);
        count(&program, &here, counted).with_context(|| name.clone())?;
        let _ = fs::remove_dir_all(here);
        fs::write(&file, serde_json::to_string_pretty(&counts)?)?;
    }
    print!("{}", tables(&counts));
    Ok(())
}

/// Counts the variants of one program that are not known.
fn count(program: &Path, here: &Path, counted: &mut BTreeMap<String, Vec<u64>>) -> Result<()> {
    let known = |v: &str, counted: &BTreeMap<String, Vec<u64>>| counted.contains_key(v);
    let ours = OURS.map(|(scheme, k, trained)| variant_name(scheme, k, trained));
    if [NATIVE, LLVM, LINKED].iter().all(|v| known(v, counted))
        && ours.iter().all(|v| known(v, counted))
    {
        return Ok(());
    }
    fs::create_dir_all(here)?;
    let (bitcode, recipe) = (program.join("prog.bc"), Recipe::of(program)?);
    let executed = |exes: &[PathBuf]| -> Result<Vec<u64>> {
        let one = |(i, exe): (usize, &PathBuf)| {
            instructions::count(&program.join(INPUT), exe, &here.join(format!("run-{i}")))
        };
        exes.par_iter().enumerate().map(one).collect()
    };
    if !known(NATIVE, counted) {
        let (object, exe) = (here.join("native.o"), here.join("native"));
        recipe.compile(&bitcode, &object)?;
        recipe.link(&[&object], &[], &exe)?;
        counted.insert(NATIVE.into(), executed(&[exe])?);
    }
    if !known(LLVM, counted) {
        let (module, object, exe) = (here.join("l.bc"), here.join("l.o"), here.join("llvm"));
        let mut opt = Command::new(llvm("opt"));
        opt.args(["-passes=pgo-instr-gen,instrprof", "-disable-vp"]);
        run(opt.arg(&bitcode).arg("-o").arg(&module))?;
        recipe.compile(&module, &object)?;
        recipe.link(&[&object], &["-fprofile-generate"], &exe)?;
        counted.insert(LLVM.into(), executed(&[exe])?);
    }
    let rewritten = |options: &[&str], name: &str| {
        let options: Vec<String> = options.iter().map(|&o| o.into()).collect();
        Rewritten::new(&bitcode, &options, here.join(name), &recipe)
    };
    let sbl = rewritten(&["--scheme", "sbl"], "all")?;
    if !known(LINKED, counted) {
        counted.insert(LINKED.into(), executed(&[sbl.linked("native", None)?])?);
    }
    let profile = here.join("other.p3prof");
    sbl.profile(&program.join(OTHER), &sbl.linked("copy-0", None)?, &profile)?;
    let (profile, mut linked) = (profile.display().to_string(), Vec::new());
    for ((scheme, k, trained), name) in OURS.into_iter().zip(&ours) {
        if known(name, counted) {
            continue;
        }
        let copies = k.to_string();
        let mut options = vec!["--scheme", scheme, "-k", &copies];
        if trained {
            options.extend(["--profile", &profile]);
        }
        let rewritten = rewritten(&options, &name.replace(' ', "-"))?;
        for copy in 0..k {
            let exe = rewritten.linked(&format!("copy-{copy}"), None)?;
            linked.push((name.clone(), exe));
        }
    }
    let (names, exes): (Vec<String>, Vec<PathBuf>) = linked.into_iter().unzip();
    for (name, count) in names.into_iter().zip(executed(&exes)?) {
        counted.entry(name).or_default().push(count);
    }
    Ok(())
}

/// One table for each half, with its means.
fn tables(counts: &Counts) -> String {
    let mut text = String::new();
    for (half, chosen) in [("chosen by", true), ("reported only", false)] {
        let mut table = Table::new(
            [half, "native, millions", LLVM]
                .map(String::from)
                .into_iter()
                .chain(OURS.map(|(scheme, k, trained)| variant_name(scheme, k, trained)))
                .chain(["worst, ×".to_string()]),
        );
        let mut sums = [0.0; OURS.len() + 1];
        let mut programs = 0;
        for (name, counted) in counts {
            if is_chosen_by(name) != chosen {
                continue;
            }
            let overheads = overheads(counted);
            programs += 1;
            for (sum, overhead) in sums.iter_mut().zip(overheads) {
                *sum += overhead;
            }
            let millions = slowest(counted, NATIVE) / 1e6;
            let paths = &overheads[2..];
            let worst = paths.iter().copied().fold(0.0, f64::max) / overheads[0];
            table.row(
                [name.clone(), format!("{millions:.1}")]
                    .into_iter()
                    .chain(overheads.map(|o| format!("{:+.1} %", o * 100.0)))
                    .chain([format!("{worst:.2}")]),
            );
        }
        let mean = sums.map(|sum| sum / f64::from(programs));
        table.row(
            [format!("mean of {programs}"), String::new()]
                .into_iter()
                .chain(mean.map(|o| format!("{:+.1} %", o * 100.0)))
                .chain([String::new()]),
        );
        let ratios = mean.map(|o| format!("{:.2}", o / mean[0]));
        table.row(
            ["× LLVM's edges".to_string(), String::new()]
                .into_iter()
                .chain(ratios)
                .chain([String::new()]),
        );
        text += &format!("{table}\n");
    }
    text
}

/// LLVM's edges, and ours, over native; 0.1 is 10 %.
fn overheads(counted: &BTreeMap<String, Vec<u64>>) -> [f64; OURS.len() + 1] {
    let llvm = slowest(counted, LLVM) / slowest(counted, NATIVE) - 1.0;
    let mut all = [llvm; OURS.len() + 1];
    for (of, (scheme, k, trained)) in all[1..].iter_mut().zip(OURS) {
        let name = variant_name(scheme, k, trained);
        *of = slowest(counted, &name) / slowest(counted, LINKED) - 1.0;
    }
    all
}

/// The most that a copy executes.
fn slowest(counted: &BTreeMap<String, Vec<u64>>, variant: &str) -> f64 {
    let copies = counted.get(variant).into_iter().flatten();
    copies.map(|&n| n as f64).fold(f64::NAN, f64::max)
}
