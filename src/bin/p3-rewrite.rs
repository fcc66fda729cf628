//! `p3-rewrite`: LLVM IR → K copies that together take an exact path profile.

use anyhow::Result;
use p3_rewrite::cli::rewrite::{Args, Config};
use std::process::ExitCode;

/// Loader and LLVM allocate millions of small objects on several threads: this allocator, which
/// takes the place of malloc in the whole process, is faster at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = match p3_rewrite::cli::parse() {
        Ok(args) => args,
        Err(code) => return code,
    };
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => p3_rewrite::cli::fail(&e),
    }
}

fn run(args: Args) -> Result<()> {
    let config = Config::resolve(args)?;
    config.color.apply();
    let summary = p3_rewrite::rewrite(&config)?;
    if let Some(table) = &summary.stats {
        anstream::print!("{table}");
    }
    if config.verbosity >= 0 {
        anstream::eprintln!("{}", summary.line(&config));
    }
    Ok(())
}
