//! `p3-prof`: merges, checks and shows profiles.

use anyhow::Result;
use p3_rewrite::cli::print;
use p3_rewrite::cli::prof::{Cli, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match p3_rewrite::cli::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match work(&cli) {
        Ok(code) => code,
        Err(e) => p3_rewrite::cli::fail(&e),
    }
}

fn work(cli: &Cli) -> Result<ExitCode> {
    cli.color.apply();
    let outcome = run(cli)?;
    for warning in &outcome.warnings {
        p3_rewrite::cli::warn(warning);
    }
    print(std::io::stdout(), &outcome.data)?;
    print(anstream::stdout(), outcome.text.as_bytes())?;
    print(anstream::stderr(), outcome.notes.as_bytes())?;
    for failure in outcome.findings.iter().chain(&outcome.failures) {
        p3_rewrite::cli::say_error(failure);
    }
    Ok(match &outcome.failures[..] {
        [] => ExitCode::from(u8::from(outcome.found)),
        _ => ExitCode::from(2),
    })
}
