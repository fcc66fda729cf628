//! Edge profiling beside path profiling and LLVM's; how much of the paths edges tell; and programs rebuilt with
//! what was measured, beside LLVM's own profile-guided optimisation.

mod section;

pub(crate) use section::EDGE_PROFILES;

use crate::build::{PROF, REWRITE, Variant, llvm, output, run, runtime, single, variant};
use crate::measure::{programs, run_all};
use crate::results::{Edges, Results, Run};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Measures all programs in `folder/prog` that are not in the results yet.
pub(crate) fn all(folder: &Path, out: &Path, rounds: usize, only: &[String]) -> Result<()> {
    let runtime = runtime(out)?;
    for (name, program) in programs(folder, only)? {
        let mut results = Results::load(out)?;
        let script = program.join("run.sh");
        if results.edges.of.contains_key(&name) || !script.exists() {
            continue;
        }
        let here = out.join(format!("{name}-edges"));
        std::fs::create_dir_all(&here)?;
        eprintln!("{name}: building");
        let bench = Bench {
            program: &program,
            runtime: &runtime,
            here: &here,
        };
        let mut variants = bench.profiling()?;
        variants.extend(bench.rebuilt()?);
        eprintln!("{name}: running");
        let measured = bench.measure(&script, &variants, rounds)?;
        results.edges.keep(name, measured)?;
        results.write(out)?;
        let _ = std::fs::remove_dir_all(here);
    }
    Ok(())
}

struct Bench<'a> {
    program: &'a Path,
    runtime: &'a [PathBuf],
    here: &'a Path,
}

/// Passes, and options that go with them.
const O2: &[&str] = &["-passes=default<O2>"];

impl Bench<'_> {
    fn file(&self, name: &str) -> PathBuf {
        self.here.join(name)
    }

    fn link(&self, bitcode: &Path, more: &[PathBuf], name: &str) -> Result<PathBuf> {
        let exe = self.file(name);
        let mut link = Command::new(self.program.join("link.sh"));
        run(link.arg(bitcode).arg(&exe).args(more))?;
        Ok(exe)
    }

    fn opt(&self, options: &[&str], input: &Path, name: &str) -> Result<PathBuf> {
        let out = self.file(name);
        let mut opt = Command::new(llvm("opt"));
        run(opt.args(options).arg(input).arg("-o").arg(&out))?;
        Ok(out)
    }

    /// One copy that profiles `input`, rewritten by `scheme`, optimised with `passes`.
    fn copy(&self, input: &Path, scheme: &str, passes: &[&str], name: &str) -> Result<Variant> {
        let folder = self.file(name);
        let mut rewrite = Command::new(&*REWRITE);
        rewrite.args(["-q", "--scheme", scheme, "-k", "1"]);
        run(rewrite.arg(input).arg("-o").arg(&folder))?;
        let module = folder.join("copy-0/m0.bc");
        let module = match passes {
            [] => module,
            passes => self.opt(passes, &module, &format!("{name}.opt.bc"))?,
        };
        let exe = self.link(&module, self.runtime, &format!("{name}.exe"))?;
        Ok(variant(name, exe, folder.join("manifest.json")))
    }

    /// The optimised program, and what counts its edges and paths: nothing is optimised afterwards.
    fn profiling(&self) -> Result<Vec<Variant>> {
        let bitcode = self.program.join("prog.bc");
        let counts = ["-passes=pgo-instr-gen,instrprof"];
        let llvm = self.opt(&counts, &bitcode, "llvm-edge.bc")?;
        let generate = [PathBuf::from("-fprofile-generate")];
        Ok(vec![
            single("native", self.link(&bitcode, &[], "native.exe")?),
            single("llvm", self.link(&llvm, &generate, "llvm.exe")?),
            self.copy(&bitcode, "edge", &[], "edge")?,
            self.copy(&bitcode, "sbl", &[], "sbl")?,
        ])
    }

    /// The program from the front end's output, optimised without a profile and with three.
    fn rebuilt(&self) -> Result<Vec<Variant>> {
        let source = self.program.join("prog.noopt.bc");
        if !source.exists() {
            return Ok(Vec::new());
        }
        let plain = self.opt(O2, &source, "plain.bc")?;
        let profiles = [
            ("annotated", self.annotated(&source)?),
            ("proftext", self.proftext(&source)?),
            ("pgo", self.pgo(&source)?),
        ];
        let mut variants = vec![single("plain", self.link(&plain, &[], "plain.exe")?)];
        for (name, module) in profiles {
            let exe = self.link(&module, &[], &format!("{name}.exe"))?;
            variants.push(single(name, exe));
        }
        Ok(variants)
    }

    /// Runs the training input; where its raw profiles are.
    fn train(&self, exe: &Path, name: &str) -> Result<PathBuf> {
        let raw = self.file(name);
        std::fs::create_dir_all(&raw)?;
        let mut script = Command::new("setarch");
        script.arg("-R").arg(self.program.join("run-train.sh"));
        script.env("P3_PROFILE_FILE", raw.join("%p.p3raw"));
        script.env("LLVM_PROFILE_FILE", raw.join("%p.profraw"));
        script.stdout(Stdio::null()).stderr(Stdio::null());
        let _ = script.arg(exe).status()?;
        Ok(raw)
    }

    /// The path profile of a training run of `module`.
    fn profile(&self, module: &Path, name: &str) -> Result<PathBuf> {
        let copy = self.copy(module, "sbl", O2, name)?;
        let raw = self.train(&copy.copies[0], &format!("{name}.raw"))?;
        let merged = self.file(&format!("{name}.p3prof"));
        copy.merge(&raw, &merged)?;
        Ok(merged)
    }

    /// By `p3-rewrite annotate` of what the front end left.
    fn annotated(&self, source: &Path) -> Result<PathBuf> {
        let profile = self.profile(source, "trained")?;
        let annotated = self.file("annotated.bc");
        let mut annotate = Command::new(&*REWRITE);
        annotate.args(["annotate", "-q", "--profile"]).arg(profile);
        run(annotate.arg(source).arg("-o").arg(&annotated))?;
        self.opt(O2, &annotated, "annotated.opt.bc")
    }

    /// By a text profile of the module as LLVM would have instrumented it.
    fn proftext(&self, source: &Path) -> Result<PathBuf> {
        let printed = Command::new(llvm("opt"))
            .args(O2)
            .arg("-pgo-kind=pgo-instr-gen-pipeline")
            .args(["-print-before=pgo-instr-gen", "-print-module-scope"])
            .arg(source)
            .args(["-o", "/dev/null"])
            .output()?;
        let taken = self.file("taken.ll");
        std::fs::write(&taken, printed.stderr)?;
        let profile = self.profile(&taken, "taken")?;
        let text = self.file("taken.proftext");
        let mut export = Command::new(&*PROF);
        export.args(["export", "--format", "proftext"]).arg(profile);
        run(export.arg("--modules").arg(&taken).arg("-o").arg(&text))?;
        self.used(source, &text, "proftext")
    }

    /// By LLVM's own instrumentation.
    fn pgo(&self, source: &Path) -> Result<PathBuf> {
        let generate = [O2[0], "-pgo-kind=pgo-instr-gen-pipeline"];
        let module = self.opt(&generate, source, "pgo-gen.bc")?;
        let runtime = [PathBuf::from("-fprofile-generate")];
        let exe = self.link(&module, &runtime, "pgo-gen.exe")?;
        let raw = self.train(&exe, "pgo.raw")?;
        self.used(source, &raw, "pgo")
    }

    fn used(&self, source: &Path, profile: &Path, name: &str) -> Result<PathBuf> {
        let data = self.file(&format!("{name}.profdata"));
        let mut merge = Command::new(llvm("llvm-profdata"));
        run(merge.arg("merge").arg(profile).arg("-o").arg(&data))?;
        let file = format!("-profile-file={}", data.display());
        let using = [O2[0], "-pgo-kind=pgo-instr-use-pipeline", &file];
        self.opt(&using, source, &format!("{name}.opt.bc"))
    }

    fn measure(&self, script: &Path, variants: &[Variant], rounds: usize) -> Result<Edges> {
        let (runs, differing) = run_all(script, variants, self.here, rounds)?;
        let sbl = variants.iter().find(|v| v.name == "sbl");
        let sbl = sbl.context("there is sbl")?;
        let profile = self.file("sbl.p3prof");
        sbl.merge(&self.here.join("raw/sbl-0"), &profile)?;
        let text = ["accuracy", "--format", "json", &profile.to_string_lossy()];
        let accuracy: Value = serde_json::from_slice(&output(&PROF, &text)?)?;
        let total = &accuracy["program"];
        let share = |what: &str| {
            let number = |v: &Value| v.as_f64().context("a number");
            Ok(number(&total[what])? / number(&total["flow"])?.max(1.0))
        };
        let runs: BTreeMap<String, Run> = runs
            .into_iter()
            .filter_map(|(name, copies)| Some((name, copies.into_iter().next()?)))
            .collect();
        let shares: Result<Vec<f64>> = ["right", "overlap", "definite"]
            .map(share)
            .into_iter()
            .collect();
        Ok(Edges {
            rounds,
            runs,
            accuracy: shares?,
            differing,
        })
    }
}
