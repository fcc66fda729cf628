//! Arguments of `cargo p3`: cargo's own commands, on copies.

use super::build::{CopiesArgs, NONE_HAS_COPIES, describe_program, report_failures};
use super::help::HelpArgs;
use super::interrupt::{OnSignal, end_if_interrupted, watch};
use super::selection::{find_outdated, refuse_unknown, report_selection, report_threads};
use super::suite::{report_end, report_progress};
use super::{exit_code_of, print_message};
use crate::base::error::{Error, Result};
use crate::input::engine;
use crate::project::record;
use crate::project::rust::{Rustc, output};
use crate::project::suite::{Build, SamePids, Suite, Variables};
use crate::project::{our_program, path_from_here, rust};
use crate::write::output::check_folder;
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The arguments of `cargo p3`.
#[derive(Debug, clap::Parser)]
#[command(name = "cargo", bin_name = "cargo", disable_help_flag = true)]
pub struct CargoArgs {
    #[command(subcommand)]
    command: Ours,

    #[command(flatten)]
    help: HelpArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Ours {
    /// Builds a crate in copies, runs cargo's command once for each copy, and merges the profiles
    #[command(version)]
    P3(P3Args),
}

#[derive(Debug, clap::Args)]
struct P3Args {
    #[command(flatten)]
    copies: CopiesArgs,

    /// Where to write the copies [default: p3/copies in cargo's target folder]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Stop if the kernel refuses the namespace that gives all rounds the same process ids
    #[arg(long)]
    same_pids: bool,

    /// Do not make process ids the same in all rounds
    #[arg(long, conflicts_with = "same_pids")]
    no_same_pids: bool,

    /// Make clocks and random numbers the same in all rounds
    #[arg(long)]
    fixed_time: bool,

    /// The command of cargo to run
    #[arg(value_enum)]
    verb: Verb,

    /// Arguments for cargo
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    arguments: Vec<String>,
}

/// A command of cargo's that copies can run under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Verb {
    /// Build copies, and run nothing
    Build,
    /// Run a program
    Run,
    /// Run the tests
    Test,
    /// Run the benchmarks
    Bench,
    /// Run the tests by cargo-nextest (nextest run)
    Nextest,
}

/// Builds a crate in copies and runs cargo's command once for each; its exit status.
///
/// # Errors
/// rustc's LLVM is newer than every engine; cargo cannot be run, or finds no crate; a profile cannot be written.
pub fn run(args: CargoArgs) -> Result<ExitCode> {
    let Ours::P3(mut args) = args.command;
    restore_separator(&mut args.arguments, &std::env::args().collect::<Vec<_>>());
    if let Some(out) = &args.out {
        check_folder(out)?;
    }
    let rustc = Rustc::query(Stdio::inherit())?;
    check_engine(&rustc)?;
    let folder = target_folder(&args.arguments)?.join("p3");
    let out = args.out.clone().unwrap_or(folder.join("copies"));
    if args.verb == Verb::Nextest && args.arguments.first().is_none_or(|a| a != "run") {
        let message = "cargo p3 nextest: of its commands, run is the one that copies run under";
        return Err(Error::Usage(message.into()));
    }
    let target = target(&args.arguments, &rustc)?;
    let environment = environment(&target, &folder)?;
    let build = Build {
        copies: args.copies.number(),
        out: Some(out.clone()),
        only: None,
        flags: args.copies.flags()?,
        environment: environment.clone(),
    };
    let is_selective = build.flags.iter().any(|flag| flag == "--paths");
    remove_outdated(&out, &build.flags)?;
    let command = cargo(args.verb, &args.arguments, &target, CargoStep::Build);
    watch(OnSignal::PutInOrder);
    let built_programs = build.run(&command);
    // First: after an interruption, errors of the build are its consequences.
    end_if_interrupted();
    let built = built_programs?;
    let (status, programs) = (built.status, &built.programs);
    report_threads(programs);
    if is_selective && status == 0 {
        refuse_unknown(programs)?;
        report_selection(programs);
    }
    if status != 0 || args.verb == Verb::Build {
        programs
            .iter()
            .for_each(|p| print_message(&describe_program(p)));
        report_failures(&built.failures);
        let has_programs = !(programs.is_empty() && built.earlier.is_empty());
        if status == 0 && !has_programs && !built.failures.is_empty() {
            return Err(Error::Usage(NONE_HAS_COPIES.into()));
        }
        return Ok(exit_code_of(status));
    }
    let suite = Suite {
        folders: vec![out.clone()],
        command: cargo(args.verb, &args.arguments, &target, CargoStep::Run),
        same_pids: SamePids::from_options(args.same_pids, args.no_same_pids),
        fixed_time: args.fixed_time,
        jobs: 1,
        no_repeat: false,
        environment,
    };
    let gathered = suite.run(report_progress);
    end_if_interrupted();
    let status = report_end(&suite, &gathered?, false);
    print_message(&format!(
        "the standard library is not profiled, nor what else was machine code: record.json in the folders of {} names \
         it",
        path_from_here(&out)
    ));
    Ok(exit_code_of(status))
}

/// Removes programs that count other paths than are asked for: cargo does not know of our options, and links what is
/// missing.
fn remove_outdated(out: &Path, flags: &[String]) -> Result<()> {
    if !out.is_dir() {
        return Ok(());
    }
    let programs = record::find(&[out.to_path_buf()])?;
    for outdated in find_outdated(&programs, flags) {
        match std::fs::remove_file(&outdated.program) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::write(&outdated.program, e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Puts the `--` back that clap takes for its own where it comes first: `cargo p3 run -- ARGS`.
fn restore_separator(arguments: &mut Vec<String>, given: &[String]) {
    let mut parts = given.splitn(2, |a| a == "--");
    if parts.nth(1) == Some(&arguments[..]) {
        arguments.insert(0, "--".into());
    }
}

/// Holds that an engine reads what rustc writes.
fn check_engine(rustc: &Rustc) -> Result<()> {
    let engines = engine::find_installed();
    if engines.iter().any(|e| e.llvm >= rustc.llvm) {
        return Ok(());
    }
    let there = match &engines[..] {
        [] => "no engine is installed".to_string(),
        _ => format!(
            "engines here are for LLVM {}",
            engine::list_versions(&engines)
        ),
    };
    let (llvm, remedy) = (rustc.llvm, engine::remedy_for_writer(rustc.llvm));
    Err(Error::Usage(format!(
        "rustc has LLVM {llvm}, and {there}; {remedy}"
    )))
}

/// cargo's target folder.
fn target_folder(arguments: &[String]) -> Result<PathBuf> {
    let cargo = program();
    let mut metadata = Command::new(&cargo);
    metadata.args(["metadata", "--no-deps", "--format-version", "1"]);
    // The crate may be elsewhere.
    let mut words = arguments.iter().take_while(|a| *a != "--");
    while let Some(word) = words.next() {
        if word == "--manifest-path" {
            metadata.arg(word).args(words.next());
        } else if word.starts_with("--manifest-path=") {
            metadata.arg(word);
        }
    }
    let said = output(metadata.stderr(Stdio::inherit()), &cargo)?;
    let json: serde_json::Value = serde_json::from_str(&said).unwrap_or_default();
    match json["target_directory"].as_str() {
        Some(folder) => Ok(folder.into()),
        None => Err(Error::Usage(
            "cargo metadata names no target folder; set CARGO_TARGET_DIR".into(),
        )),
    }
}

/// The cargo that called us.
fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or("cargo".into())
}

/// The target that is built for: the one that the arguments, the environment or cargo's configuration name, else the
/// machine's.
fn target(arguments: &[String], rustc: &Rustc) -> Result<String> {
    let mut words = arguments.iter().take_while(|a| *a != "--");
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--target=") {
            None if word == "--target" => words.next().cloned(),
            value => value.map(str::to_string),
        };
        if let Some(target) = value {
            return Ok(target);
        }
    }
    match configured_value("build.target") {
        Some(serde_json::Value::String(target)) => Ok(target),
        Some(serde_json::Value::Array(targets)) => match &targets[..] {
            [serde_json::Value::String(target)] => Ok(target.clone()),
            _ => Err(Error::Usage(
                "cargo's configuration names several targets; name one by --target".into(),
            )),
        },
        _ => Ok(rustc.host.clone()),
    }
}

/// A value of cargo's configuration, from its files and the environment.
fn configured_value(key: &str) -> Option<serde_json::Value> {
    // The command is not stable, and asked for nevertheless: nobody else knows how the files are joined.
    let mut asked = Command::new(program());
    asked.args([
        "-Zunstable-options",
        "config",
        "get",
        "--format",
        "json-value",
    ]);
    asked
        .arg(key)
        .env("RUSTC_BOOTSTRAP", "1")
        .stdin(Stdio::null());
    let run = asked.output().ok().filter(|run| run.status.success())?;
    serde_json::from_slice(&run.stdout).ok()
}

/// What makes cargo, and all that it runs, leave bitcode and link by `p3-cc`.
fn environment(target: &str, folder: &Path) -> Result<Variables> {
    let us = std::env::current_exe().map_err(|e| Error::read("/proc/self/exe", e))?;
    // The wrapper of rustc names it.
    our_program("p3-cc")?;
    let wrapper = || Some(configured_value("build.rustc-wrapper")?.as_str()?.into());
    let other = std::env::var_os("RUSTC_WRAPPER").or_else(wrapper);
    let other = other.unwrap_or_default();
    let mut environment: Variables = vec![
        (rust::TARGET.into(), target.into()),
        (rust::WRAPPER.into(), other),
        ("RUSTC_WRAPPER".into(), us.into()),
        ("CARGO_TARGET_DIR".into(), folder.into()),
        // Programs have the same places below the folder of copies as here.
        ("P3_ROOT".into(), folder.into()),
        // What is reused of an earlier compilation has no bitcode.
        ("CARGO_INCREMENTAL".into(), "0".into()),
    ];
    // Linkers of build scripts and procedural macros are not ours, and build scripts see the PATH that they know.
    environment.extend(std::env::var_os("PATH").map(|p| ("PATH".into(), p)));
    Ok(environment)
}

/// What cargo is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CargoStep {
    Build,
    Run,
}

/// The command line of a step. A target is named always, or what runs while building would be compiled as the program
/// is.
fn cargo(verb: Verb, arguments: &[String], target: &str, step: CargoStep) -> Vec<String> {
    let end = arguments.iter().position(|a| a == "--");
    let (ours, programs) = arguments.split_at(end.unwrap_or(arguments.len()));
    let (verb, more) = match (verb, step) {
        (Verb::Nextest, CargoStep::Build) => ("nextest", Some("--no-run")),
        (Verb::Nextest, CargoStep::Run) => ("nextest", None),
        (Verb::Build, _) | (Verb::Run, CargoStep::Build) => ("build", None),
        (Verb::Run, CargoStep::Run) => ("run", None),
        (Verb::Test, CargoStep::Build) => ("test", Some("--no-run")),
        (Verb::Test, CargoStep::Run) => ("test", None),
        (Verb::Bench, CargoStep::Build) => ("bench", Some("--no-run")),
        (Verb::Bench, CargoStep::Run) => ("bench", None),
    };
    let program = program().to_string_lossy().into_owned();
    let mut words = vec![program, verb.into()];
    let mut ours = ours.iter().cloned();
    if verb == "nextest" {
        // Its own command comes before options.
        words.extend(ours.next());
    }
    let ours: Vec<String> = ours.collect();
    words.extend(more.map(String::from));
    if !ours
        .iter()
        .any(|a| a == "--target" || a.starts_with("--target="))
    {
        words.extend(["--target".into(), target.into()]);
    }
    words.extend(ours);
    if step == CargoStep::Run {
        words.extend(programs.iter().cloned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separator_in_front_of_arguments_is_restored() {
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(String::from).collect() };
        for (given, parsed, expected) in [
            ("cargo p3 run -- a b", "a b", "-- a b"),
            (
                "cargo p3 run --release -- a",
                "--release -- a",
                "--release -- a",
            ),
            ("cargo p3 run --", "", "--"),
            ("cargo p3 test name", "name", "name"),
        ] {
            let mut arguments = words(parsed);
            restore_separator(&mut arguments, &words(given));
            assert_eq!(arguments, words(expected), "{given}");
        }
    }
}
