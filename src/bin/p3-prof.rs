//! `p3-prof`: merges, checks and shows profiles.

use anyhow::Result;
use p3_rewrite::cli::print;
use p3_rewrite::cli::prof::{Cli, run};
use std::io::{ErrorKind, Write};
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
        anstream::eprintln!("warning: {warning}");
    }
    print(&outcome.data)?;
    match anstream::stdout().write_all(outcome.text.as_bytes()) {
        // Whoever reads has seen enough.
        Err(e) if e.kind() == ErrorKind::BrokenPipe => {}
        result => result?,
    }
    Ok(ExitCode::from(u8::from(outcome.found)))
}
