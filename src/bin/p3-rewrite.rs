//! `p3-rewrite`: LLVM IR → K copies that together take an exact path profile.
//!
//! It needs no LLVM: what reads and writes modules is an engine, which this process becomes.

use anyhow::Result;
use clap::CommandFactory;
use p3_rewrite::base::error::Error;
use p3_rewrite::cli::cargo::CargoArgs;
use p3_rewrite::cli::rewrite::{Args, Command, suggest_command};
use p3_rewrite::cli::{build, doctor, manual, print, prof, suite};
use p3_rewrite::input::engine::{self, Request};
use std::process::ExitCode;

fn main() -> ExitCode {
    let word = std::env::args().nth(1).unwrap_or_default();
    if let Some(command) = suggest_command(&word) {
        let message =
            format!("{word}: no such file or command; a similar command exists: {command}");
        p3_rewrite::cli::say_error(&message);
        return ExitCode::from(2);
    }
    let mut args: Args = match p3_rewrite::cli::parse() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let result = match args.command.take() {
        None => Err(start(&args.engine()).into()),
        Some(Command::Annotate(args)) => Err(start(&args.by.engine(&args.profiled)).into()),
        Some(Command::Proftext(args)) => Err(start(&args.by.engine(&args.profiled)).into()),
        Some(Command::Build(args)) => build::build(args).map_err(Into::into),
        Some(Command::Suite(args)) => suite::suite(args).map_err(Into::into),
        Some(Command::Integrate(args)) => build::write_files(&args).map_err(Into::into),
        Some(Command::Doctor) => doctor::run().map_err(Into::into),
        Some(Command::Manual(args)) => write_manual(&args),
        Some(Command::Use(args)) => build::use_copy(&args).map_err(Into::into),
        Some(Command::Judge) => Err(Error::Usage("judge: p3-prof asks engines this".into()).into()),
    };
    match result {
        Ok(code) => code,
        Err(e) => p3_rewrite::cli::fail(&e),
    }
}

/// Becomes the engine that the request is for; why it could not.
fn start(request: &Request) -> Error {
    match engine::choose(&engine::find_installed(), request) {
        Ok(choice) => choice.start(),
        Err(e) => e,
    }
}

fn write_manual(args: &manual::ManualArgs) -> Result<ExitCode> {
    let programs = [Args::command(), prof::Cli::command()];
    let line = manual::write_all(args, &programs, &CargoArgs::command())?;
    print(std::io::stdout(), (line + "\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
