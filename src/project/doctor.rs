//! What this machine has of what p3-rewrite, its runner and its compilers call, and what to do where something is
//! missing.

use super::cc::Language;
use super::cc::clang::Compiler;
use super::rust::Rustc;
use super::tools::{complaint, find_in_path, major, not_loaded, our_program};
use crate::base::llvm::{self, VERSIONS};
use crate::input::engine::{self, Engine, Request};
use crate::possible::solver::Program;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// It is, and works.
    Ok,
    /// It is not, and only some features ask for it.
    Without,
    /// It is not, and nothing is profiled without it.
    Missing,
}

/// What was looked for, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is.
    pub what: &'static str,
    /// Whether it is there.
    pub state: CheckState,
    /// Where it is or which; or what it is for, and how to get it.
    pub told: String,
}

/// A program that some features call: its name, what it is for, and the package of Debian's that it is in.
struct Tool {
    what: &'static str,
    name: &'static str,
    needed: bool,
    is_for: &'static str,
    package: &'static str,
}

const TOOLS: [Tool; 6] = [
    tool("make", "make", true, "the output folder's runner", "make"),
    tool(
        "flock",
        "flock",
        true,
        "runs that wait for each other",
        "util-linux",
    ),
    tool(
        "parallel",
        "parallel",
        false,
        "make run LAUNCH=parallel",
        "parallel",
    ),
    tool(
        "ssh",
        "ssh",
        false,
        "copies on other hosts",
        "openssh-client",
    ),
    tool(
        "rsync",
        "rsync",
        false,
        "hosts that share no folder",
        "rsync",
    ),
    tool(
        "sbatch",
        "sbatch",
        false,
        "make run LAUNCH=slurm",
        "slurm-client",
    ),
];

const fn tool(
    what: &'static str,
    name: &'static str,
    needed: bool,
    is_for: &'static str,
    package: &'static str,
) -> Tool {
    Tool {
        what,
        name,
        needed,
        is_for,
        package,
    }
}

/// Prints which of what the scheme shadow asks the kernel for is to be had, one a line.
const PROBE: &str = r#"#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
int main(void) {
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timer;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0)
        puts("timer");
    struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    struct sock_fprog program = {1, &allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
        puts("seccomp");
    return 0;
}
"#;

/// Looks for everything.
pub fn checks() -> Vec<Check> {
    let engines = engine::find_installed();
    let clang = Compiler::find(Language::C);
    let mut checks = engine_checks(&engines, &clang);
    checks.push(compiler("clang", &clang, &engines));
    checks.push(compiler(
        "clang++",
        &Compiler::find(Language::Cxx),
        &engines,
    ));
    checks.extend(clang.iter().flat_map(|c| other_clangs(c, &engines)));
    checks.extend(rustc(&engines));
    checks.extend(["p3-rewrite", "p3-prof", "p3-cc", "p3-cxx"].map(check_own_program));
    checks.extend(clang.iter().flat_map(check_by_program));
    checks.push(setarch());
    checks.push(namespaces());
    let llvm = engines.last().map_or(VERSIONS[0].major, |e| e.llvm);
    checks.push(llvm_tool(
        "lld",
        "ld.lld",
        "projects that link by -fuse-ld=lld",
        &llvm::tool("lld", llvm),
    ));
    checks.push(llvm_tool(
        "mlir-opt",
        "mlir-opt",
        "inputs in MLIR",
        &llvm::mlir_package(llvm),
    ));
    checks.push(solver());
    checks.extend(TOOLS.iter().map(Tool::check));
    checks
}

/// A solver of SMT-LIB.
fn solver() -> Check {
    const WHAT: &str = "solver";
    match Program::find() {
        Ok(Some(found)) => {
            let version = format!("{} {}", found.name(), found.version);
            let file = find_in_path(&found.path.to_string_lossy()).unwrap_or(found.path);
            passed_check(WHAT, &describe_version(&version, Some(&file)))
        }
        Ok(None) => {
            let told = "for examples of values in p3-prof coverage: apt-get install z3";
            check(WHAT, CheckState::Without, told)
        }
        Err(problem) => check(WHAT, CheckState::Without, &problem),
    }
}

/// The engines that are installed, and whether they start: LLVM's library may be missing.
fn engine_checks(engines: &[Engine], clang: &crate::base::error::Result<Compiler>) -> Vec<Check> {
    if engines.is_empty() {
        let version = clang.as_ref().ok().and_then(Compiler::version);
        let request = Request {
            llvm: version.and_then(|v| major(&v)),
            ..Request::default()
        };
        let told = engine::choose(engines, &request);
        let told = told.map_or_else(|e| e.to_string(), |_| String::new());
        return vec![check("LLVM", CheckState::Missing, &told)];
    }
    let one = |engine: &Engine| match version_of(engine) {
        Ok(version) => passed_check("LLVM", &describe_version(&version, Some(&engine.path))),
        Err(why) => check("LLVM", CheckState::Missing, &why),
    };
    engines.iter().map(one).collect()
}

/// The exact version of an engine's LLVM, or why it does not start.
fn version_of(engine: &Engine) -> Result<String, String> {
    let run = Command::new(&engine.path).arg("--version").output();
    let run = run.map_err(|e| {
        let remedy = engine::remedy_for_writer(engine.llvm);
        format!("{}: {e}; {remedy}", engine.path.display())
    })?;
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    let version = said
        .split_once("(LLVM ")
        .and_then(|(_, v)| v.split_once(')'));
    let why = || not_loaded(&run).unwrap_or("the engine cannot run".into());
    version.map(|(v, _)| v.to_string()).ok_or_else(why)
}

/// Other versions of clang in `PATH`, and which engine reads what they write.
fn other_clangs(chosen: &Compiler, engines: &[Engine]) -> Vec<Check> {
    let named = llvm::clangs().filter_map(|v| Some((v, find_in_path(&llvm::tool("clang", v))?)));
    let others = named.filter(|(_, path)| *path != chosen.path);
    let one = |(version, path): (u32, PathBuf)| {
        let fitting = engines.iter().find(|e| e.llvm >= version);
        let told = match fitting {
            Some(engine) => format!("{}, for the engine of LLVM {}", path.display(), engine.llvm),
            None => {
                let remedy = engine::remedy_for_writer(version);
                format!("{}, which no engine here is for: {remedy}", path.display())
            }
        };
        let state = if fitting.is_some() {
            CheckState::Ok
        } else {
            CheckState::Without
        };
        check("clang too", state, &told)
    };
    others.map(one).collect()
}

/// rustc, where there is one: which engine reads what it writes.
fn rustc(engines: &[Engine]) -> Option<Check> {
    let rustc = Rustc::query(Stdio::null()).ok()?;
    let told = format!("LLVM {}", rustc.llvm);
    Some(match engines.iter().find(|e| e.llvm >= rustc.llvm) {
        Some(engine) => passed_check(
            "rustc",
            &format!("{told}, for the engine of LLVM {}", engine.llvm),
        ),
        None => {
            let remedy = engine::remedy_for_writer(rustc.llvm);
            check(
                "rustc",
                CheckState::Without,
                &format!("{told}, which no engine here is for: {remedy}"),
            )
        }
    })
}

fn passed_check(what: &'static str, told: &str) -> Check {
    check(what, CheckState::Ok, told)
}

fn check(what: &'static str, state: CheckState, told: &str) -> Check {
    Check {
        what,
        state,
        told: told.to_string(),
    }
}

fn describe_version(version: &str, file: Option<&Path>) -> String {
    let file = file.map(|f| format!(", {}", f.display()));
    version.to_string() + &file.unwrap_or_default()
}

/// A compiler, whose bitcode an engine must be able to read.
fn compiler(
    what: &'static str,
    found: &crate::base::error::Result<Compiler>,
    engines: &[Engine],
) -> Check {
    let newest = engines.last().map_or(VERSIONS[0].major, |e| e.llvm);
    let clang = llvm::tool("clang", newest);
    let compiler = match found {
        Ok(compiler) => compiler,
        // What is wrong with the variable, no package mends.
        Err(e) if engine::wanted_version().is_err() => {
            return check(what, CheckState::Missing, &e.to_string());
        }
        Err(e) => {
            return check(
                what,
                CheckState::Missing,
                &format!("{e} (apt-get install {clang})"),
            );
        }
    };
    let version = compiler.version().unwrap_or_default();
    let told = describe_version(&version, Some(&compiler.path));
    match major(&version) {
        // Without any engine, that is what is reported, once.
        Some(major) if major <= newest || engines.is_empty() => passed_check(what, &told),
        Some(_) => {
            let remedy = format!("its bitcode is newer than every engine here: install {clang}");
            check(what, CheckState::Missing, &format!("{told}: {remedy}"))
        }
        None => check(
            what,
            CheckState::Missing,
            &format!(
                "{told}: it does not print a version of LLVM; name a clang by P3_CC and P3_CXX"
            ),
        ),
    }
}

/// One of LLVM's tools, by the name of any version.
fn llvm_tool(what: &'static str, name: &str, is_for: &str, package: &str) -> Check {
    let names = llvm::clangs().map(|v| llvm::tool(name, v));
    let mut names = names.chain([name.to_string()]);
    match names.find_map(|n| find_in_path(&n)) {
        Some(file) => passed_check(what, &file.display().to_string()),
        None => {
            let told = format!("for {is_for}: apt-get install {package}");
            check(what, CheckState::Without, &told)
        }
    }
}

/// One of our programs: beside this one or in `PATH`.
fn find_program(program: &str) -> Option<PathBuf> {
    our_program(program).ok().or_else(|| find_in_path(program))
}

/// Whether that is there.
fn check_own_program(what: &'static str) -> Check {
    match find_program(what) {
        Some(file) => passed_check(what, &file.display().to_string()),
        None => check(
            what,
            CheckState::Missing,
            "install it beside p3-rewrite (cargo install does)",
        ),
    }
}

/// Compiles, links and runs a program, which tells what the kernel offers.
fn check_by_program(compiler: &Compiler) -> Vec<Check> {
    let said = match probe(compiler) {
        Ok(said) => said,
        Err(why) => {
            let told = format!(
                "{why}; a linker and the C library's headers are missing: apt-get install gcc libc6-dev"
            );
            return vec![check("C programs", CheckState::Missing, &told)];
        }
    };
    let has = |word: &str| said.lines().any(|l| l == word);
    let kernel = |what, word, without: &str| {
        if has(word) {
            passed_check(what, "for --scheme shadow")
        } else {
            check(what, CheckState::Without, without)
        }
    };
    vec![
        passed_check("C programs", "compiled, linked and run"),
        kernel(
            "CPU timer",
            "timer",
            "timer_create is refused: --scheme shadow runs without shadows",
        ),
        kernel(
            "seccomp",
            "seccomp",
            "filters are refused here: --scheme shadow runs without shadows",
        ),
    ]
}

fn probe(compiler: &Compiler) -> Result<String, String> {
    let dir = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let (source, program) = (dir.path().join("probe.c"), dir.path().join("probe"));
    std::fs::write(&source, PROBE).map_err(|e| e.to_string())?;
    let mut compile = compiler.command();
    compile
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .stdin(Stdio::null());
    let compiled = compile.output().map_err(|e| e.to_string())?;
    if !compiled.status.success() {
        return Err(complaint(&compiled));
    }
    let run = Command::new(&program).stdin(Stdio::null()).output();
    let run = run.map_err(|e| format!("what clang links cannot be run: {e}"))?;
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

fn succeeds(command: &[&str]) -> bool {
    let mut run = Command::new(command[0]);
    run.args(&command[1..]).stdin(Stdio::null());
    run.stdout(Stdio::null()).stderr(Stdio::null());
    run.status().is_ok_and(|s| s.success())
}

fn setarch() -> Check {
    if succeeds(&["setarch", "-R", "true"]) {
        return passed_check("setarch -R", "addresses are equal in all copies");
    }
    let told = "addresses differ between copies: apt-get install util-linux, or allow personality(2) in the container";
    check("setarch -R", CheckState::Without, told)
}

fn namespaces() -> Check {
    if succeeds(&["unshare", "--user", "--map-root-user", "--mount", "true"])
        || succeeds(&["unshare", "--mount", "true"])
    {
        return passed_check("namespaces", "for suite -j and --same-pids");
    }
    check(
        "namespaces",
        CheckState::Without,
        "unshare is refused: suite -j and --same-pids do not work here",
    )
}

impl Tool {
    fn check(&self) -> Check {
        match (find_in_path(self.name), self.needed) {
            (Some(file), _) => passed_check(self.what, &file.display().to_string()),
            (None, needed) => {
                let state = if needed {
                    CheckState::Missing
                } else {
                    CheckState::Without
                };
                let told = format!("for {}: apt-get install {}", self.is_for, self.package);
                check(self.what, state, &told)
            }
        }
    }
}
