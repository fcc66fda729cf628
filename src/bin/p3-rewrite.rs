//! `p3-rewrite`: LLVM IR → K copies that together take an exact path profile.

use anyhow::Result;
use p3_rewrite::cli::build;
use p3_rewrite::cli::rewrite::{AnnotateArgs, Args, Command, ProftextArgs, meant};
use p3_rewrite::cli::{doctor, manual};
use p3_rewrite::cli::{one_line, print};
use p3_rewrite::output::Destination;
use p3_rewrite::pgo::{self, Done};
use p3_rewrite::profile::verdict::Trust;
use std::path::PathBuf;
use std::process::ExitCode;

/// Loader and LLVM allocate millions of small objects on several threads: this allocator, which
/// takes the place of malloc in the whole process, is faster at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let word = std::env::args().nth(1).unwrap_or_default();
    if let Some(command) = meant(&word) {
        let message =
            format!("{word}: no such file or command; a similar command exists: {command}");
        p3_rewrite::cli::say_error(&message);
        return ExitCode::from(2);
    }
    let args: Args = match p3_rewrite::cli::parse() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let mut args = args;
    let result = match args.command.take() {
        None => rewrite(args).map(done),
        Some(Command::Annotate(args)) => annotate(&args).map(done),
        Some(Command::Proftext(args)) => proftext(&args).map(done),
        Some(Command::Build(args)) => build::build(args).map_err(Into::into),
        Some(Command::Suite(args)) => build::suite(args).map_err(Into::into),
        Some(Command::Integrate(args)) => build::write_files(&args).map_err(Into::into),
        Some(Command::Doctor) => doctor::run().map_err(Into::into),
        Some(Command::Manual(args)) => write_manual(&args).map(done),
        Some(Command::Use(args)) => build::use_copy(&args).map_err(Into::into),
    };
    match result {
        Ok(code) => code,
        Err(e) => p3_rewrite::cli::fail(&e),
    }
}

fn done((): ()) -> ExitCode {
    ExitCode::SUCCESS
}

fn rewrite(args: Args) -> Result<()> {
    args.color.apply();
    let options = args.resolve()?;
    let summary = p3_rewrite::rewrite(&options)?;
    if let Some(table) = &summary.stats {
        anstream::print!("{table}");
    }
    if options.verbosity >= 0 {
        warn(&summary.warnings);
        anstream::eprintln!("{}", one_line(&summary.line(&options)));
    }
    Ok(())
}

fn annotate(args: &AnnotateArgs) -> Result<()> {
    let profile = Trust::strict(args.strict).read(&args.profile)?;
    let done = pgo::annotate(&args.inputs, &profile, &args.out, args.force.force)?;
    let (out, all) = (args.out.display(), done.functions);
    say(
        &done,
        args.quiet,
        &format!("{out}: {} of {all} functions annotated", done.annotated),
    );
    Ok(())
}

fn proftext(args: &ProftextArgs) -> Result<()> {
    let profile = Trust::strict(args.strict).read(&args.profile)?;
    let at = Destination::new(&args.out, pgo::PROFTEXT, args.force.force);
    let inputs = args.inputs.iter().map(PathBuf::as_path);
    at.check(inputs.chain([profile.path.as_path()]))?;
    let (text, done) = pgo::proftext(&args.inputs, &profile)?;
    at.write(text.as_bytes())?;
    let next = format!("{}: next: llvm-profdata merge", args.out.display());
    let line = if at.is_stdout() { "" } else { next.as_str() };
    say(&done, args.quiet, line);
    Ok(())
}

fn write_manual(args: &manual::ManualArgs) -> Result<()> {
    let line = manual::write_all(args)?;
    print(std::io::stdout(), (line + "\n").as_bytes())?;
    Ok(())
}

/// Warnings, and what was done, on standard error.
fn say(done: &Done, quiet: bool, line: &str) {
    if !quiet {
        warn(&done.warnings);
        if !line.is_empty() {
            anstream::eprintln!("{}", one_line(line));
        }
    }
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        p3_rewrite::cli::warn(warning);
    }
}
