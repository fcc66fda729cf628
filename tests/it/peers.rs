//! Modules that others wrote: LLVM's own tests and csmith's programs, through every scheme.
//!
//! `make peers` fetches them and runs this on SAMPLE of them, JOBS at a time. Without them, it takes modules of
//! our own generator.

use crate::support::peers::{COPIES, Checked, accepted, check};
use crate::support::{PROF, execute, generate, link, llvm, profile_with, run, schemes};
use p3_rewrite::copies::strategy::Scheme;
#[cfg(feature = "llvm-ir")]
use p3_rewrite::input::ir::lower::LoadOptions;
#[cfg(feature = "llvm-ir")]
use p3_rewrite::input::load::{Optimize, find_inputs};
#[cfg(feature = "llvm-ir")]
use p3_rewrite::write::emit::{Admission, Loader, Names, admit, llvm_ir_suffices, load_by};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs `work` on each of `items`, JOBS at a time, and begins none after so many MINUTES: who asked for more than there
/// is time for still gets a report. Returns how many there were.
fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync + Send) -> usize {
    let threads = number("JOBS").unwrap_or(0);
    let minutes = number("MINUTES").map(|n| Duration::from_secs(60 * n as u64));
    let start = Instant::now();
    let in_time = |_: &&T| minutes.is_none_or(|m| start.elapsed() < m);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap()
        .install(|| items.par_iter().take_any_while(in_time).map(work).count())
}

/// What was found in all modules.
#[derive(Default)]
struct Found {
    tried: AtomicUsize,
    not_accepted: AtomicUsize,
    compiled: AtomicUsize,
    beyond_llvm_ir: AtomicUsize,
    functions: Mutex<BTreeMap<String, usize>>,
    /// By what is wrong: refused, invalid, loaders differ.
    problems: Mutex<BTreeMap<&'static str, Vec<String>>>,
}

impl Found {
    fn problem(&self, kind: &'static str, module: &Path, text: &str) {
        let line = format!("{}: {text}", module.display());
        println!("{kind}: {line}");
        self.problems
            .lock()
            .unwrap()
            .entry(kind)
            .or_default()
            .push(line);
    }

    fn add(&self, module: &Path, checked: Checked) {
        let tried = 1 + self.tried.fetch_add(1, Ordering::Relaxed);
        if tried.is_multiple_of(100) {
            println!("{tried} modules so far");
        }
        let compiled = usize::from(checked.compiles);
        self.compiled.fetch_add(compiled, Ordering::Relaxed);
        for (status, n) in checked.functions {
            *self.functions.lock().unwrap().entry(status).or_default() += n;
        }
        checked
            .refused
            .iter()
            .for_each(|p| self.problem("refused", module, p));
        checked
            .invalid
            .iter()
            .for_each(|p| self.problem("invalid", module, p));
    }

    /// Whether both loaders see the same program.
    #[cfg(feature = "llvm-ir")]
    fn loaders(&self, module: &Path) {
        let inputs = find_inputs(&[module.to_path_buf()], Path::new(""), None);
        let Ok(inputs) = inputs else { return };
        let Ok(Admission { inputs, .. }) = admit(inputs, Names::Kept, |_| Optimize::Never) else {
            return;
        };
        if !llvm_ir_suffices(&inputs[0]).unwrap_or(false) {
            self.beyond_llvm_ir.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let load = |loader| load_by(loader, &inputs, &LoadOptions::default());
        match (load(Loader::LlvmIr), load(Loader::Llvm)) {
            (Ok(a), Ok(b)) if a == b => {}
            (Ok(_), Ok(_)) => self.problem("loaders differ", module, "the programs differ"),
            (Err(a), Err(b)) if a.to_string() == b.to_string() => {}
            (a, b) => {
                let error = a.err().or(b.err()).unwrap();
                self.problem("loaders differ", module, &error.to_string());
            }
        }
    }

    fn report(&self) {
        let count = |n: &AtomicUsize| n.load(Ordering::Relaxed);
        println!(
            "{} modules ({} more that LLVM's verifier rejects), {} compiled by llc, {} beyond llvm-ir",
            count(&self.tried),
            count(&self.not_accepted),
            count(&self.compiled),
            count(&self.beyond_llvm_ir)
        );
        println!("definitions: {:?}", self.functions.lock().unwrap());
        let problems = self.problems.lock().unwrap();
        for kind in ["refused", "invalid", "loaders differ"] {
            println!("{kind}: {}", problems.get(kind).map_or(0, Vec::len));
        }
        assert!(problems.is_empty(), "see above");
    }
}

/// The target that a test of LLVM has on its command line alone: without it, it is another module, as one of a GPU is.
fn triple(text: &[u8]) -> Option<String> {
    let stated = regex::bytes::Regex::new(r"(?m)^target triple\b").unwrap();
    let wanted = r#"(?m)^\s*;\s*RUN:.*\s-+(?:mtriple[= ]"?([\w.-]+)|march[= ](amdgcn|r600)\b)"#;
    let found = regex::bytes::Regex::new(wanted).unwrap().captures(text)?;
    let name = found.get(1).or(found.get(2)).unwrap().as_bytes();
    (!stated.is_match(text)).then(|| String::from_utf8_lossy(name).into())
}

#[test]
fn triples_on_command_lines() {
    let of = |text: &str| triple(text.as_bytes());
    assert_eq!(of("; RUN: llc -mtriple=amdgcn < %s\n").unwrap(), "amdgcn");
    assert_eq!(
        of("; RUN: llc < %s -O0 --mtriple i686-linux\n").unwrap(),
        "i686-linux"
    );
    assert_eq!(
        of("; RUN: llc -march=amdgcn %s\n; RUN: llc -mtriple=r600").unwrap(),
        "amdgcn"
    );
    assert_eq!(of("; RUN: llc -march=x86-64 -mtriple=%t\n"), None);
    assert_eq!(
        of("; RUN: llc -mtriple=amdgcn\ntarget triple = \"x86_64\"\n"),
        None
    );
}

/// Checks a module under a plain name, since LLVM's tests have all sorts.
fn one(file: &Path, found: &Found) {
    let dir = crate::support::folder();
    let module = dir.path().join("m.ll");
    let mut text = std::fs::read(file).unwrap();
    let line = triple(&text).map(|t| format!("\ntarget triple = \"{t}\"\n"));
    text.extend(line.unwrap_or_default().as_bytes());
    std::fs::write(&module, &text).unwrap();
    if !accepted(&module) {
        found.not_accepted.fetch_add(1, Ordering::Relaxed);
        return;
    }
    #[cfg(feature = "llvm-ir")]
    found.loaders(&module);
    found.add(file, check(&module, dir.path()));
}

/// The files with this extension below a folder, in an order that has nothing to do with their names: any
/// number of the first ones is a sample.
fn sample(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|e| e.unwrap());
    let mut files: Vec<PathBuf> = files.map(|e| e.into_path()).collect();
    files.retain(|f| f.is_file() && f.extension().is_some_and(|e| e == extension));
    let below = |f: &PathBuf| {
        f.strip_prefix(folder)
            .unwrap()
            .to_string_lossy()
            .into_owned()
    };
    files.sort_by_cached_key(|f| *blake3::hash(below(f).as_bytes()).as_bytes());
    let skipped = number("SKIP").unwrap_or(0);
    let only = std::env::var("ONLY").unwrap_or_default();
    files.retain(|f| below(f).starts_with(&only));
    let wanted = number("SAMPLE").unwrap_or(usize::MAX);
    files.into_iter().skip(skipped).take(wanted).collect()
}

/// LLVM's own tests, in the folder P3_PEERS_LLVM.
#[test]
fn llvm_tests() {
    let Some(folder) = std::env::var_os("P3_PEERS_LLVM") else {
        return;
    };
    println!();
    let files = sample(Path::new(&folder), "ll");
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    let found = Found::default();
    each(&files, |file| one(file, &found));
    found.report();
}

/// Modules of our own generator stand for them in every run of the tests.
#[test]
fn random_modules() {
    println!();
    let found = Found::default();
    for seed in 1..=6 {
        let dir = crate::support::folder();
        generate::module(&[seed, seed + 100], dir.path());
        one(&dir.path().join("m.ll"), &found);
    }
    found.report();
    assert_eq!(found.beyond_llvm_ir.into_inner(), 0);
}

/// Programs of csmith, P3_PEERS_CSMITH of them from seed SEED on.
#[test]
fn csmith_programs() {
    let Some(programs) = number("P3_PEERS_CSMITH") else {
        return;
    };
    println!();
    let first = number("SEED").unwrap_or(1);
    let seeds: Vec<usize> = (first..first + programs).collect();
    let (slow, problems) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let programs = each(&seeds, |&seed| {
        let checked = std::panic::catch_unwind(|| csmith(seed));
        match checked.unwrap_or_else(|_| Err("a panic, above".into())) {
            Ok(true) => {}
            Ok(false) => _ = slow.fetch_add(1, Ordering::Relaxed),
            Err(problem) => {
                println!("csmith seed {seed}: {problem}");
                problems.lock().unwrap().push(seed);
            }
        }
    });
    let (slow, problems) = (slow.into_inner(), problems.into_inner().unwrap());
    println!("{programs} csmith programs from seed {first}, {slow} dropped for running too long");
    assert_eq!(problems, [0; 0], "seeds with problems");
}

/// One program by every scheme: copies behave as the original, profiles verify and hold the same counts.
/// Whether it ends soon enough to tell.
fn csmith(seed: usize) -> Result<bool, String> {
    let dir = crate::support::folder();
    let (source, module) = (dir.path().join("m.c"), dir.path().join("m.bc"));
    run(Command::new("csmith")
        .args(["--seed", &seed.to_string(), "-o"])
        .arg(&source)
        .current_dir(dir.path()));
    let level = ["-O0", "-O1", "-O2"][seed % 3];
    run(Command::new(llvm("clang"))
        .args([
            level,
            "-g",
            "-w",
            "-I/usr/include/csmith",
            "-emit-llvm",
            "-c",
        ])
        .arg(&source)
        .arg("-o")
        .arg(&module));
    let exe = dir.path().join("native.exe");
    link(std::slice::from_ref(&module), &[], &[], &exe);
    let ends = Command::new("timeout").arg("2").arg(&exe).output().unwrap();
    if ends.status.code() == Some(124) {
        return Ok(false);
    }
    let expected = execute(&exe, &dir.path().join("native"));
    let mut profiles = Vec::new();
    for (scheme, copies) in schemes(COPIES) {
        let options = ["--scheme", scheme.name()];
        let out = dir.path().join(scheme.name());
        let modules = std::slice::from_ref(&module);
        profiles.push(profile_with(
            modules,
            &[],
            &options,
            copies,
            &[],
            &expected,
            &out,
        )?);
    }
    for other in &profiles[1..] {
        let mut compare = Command::new(PROF);
        let compared = compare.arg("compare").arg(&profiles[0]).arg(other).output();
        let compared = compared.unwrap();
        if !compared.status.success() {
            let text = String::from_utf8_lossy(&compared.stdout).into_owned();
            return Err(format!(
                "{} and {}: {text}",
                Scheme::ALL[0],
                other.display()
            ));
        }
    }
    Ok(true)
}
