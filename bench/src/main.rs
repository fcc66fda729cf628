//! `make bench`: what profiling costs, on real programs, beside what a user would pick instead.
//!
//! `measure` builds what is compared of every program that lies in a folder of bitcode with workloads
//! (`prog/NAME/{prog.bc,link.sh,run.sh,run-train.sh}`), counts instructions, runs the variants in turn, each alone, and
//! keeps all figures in one JSON file, program by program: interrupted, it goes on where it was. `rewriting` times
//! p3-rewrite itself. `report` turns the JSON into `bench/FIGURES.md` and its plots.

mod build;
mod cost;
mod counted;
mod edges;
mod hits;
mod instructions;
mod markdown;
mod measure;
mod plot;
mod predicted;
mod report;
mod results;
mod rewriting;
mod rewritten;
mod schemes;
mod section;
mod shadows;
mod statistics;
mod subpaths;
mod synthetic;
mod times;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Parser)]
#[command(about = "Measures what path profiling costs")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Where everything is built, and the JSON kept
    #[arg(long, default_value = "bench-out/programs", global = true)]
    out: PathBuf,
    /// What counts instructions; qemu if it is usable, unless given
    #[arg(long, global = true)]
    counter: Option<instructions::Counter>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate schemes, count instructions, and time programs
    Measure(measure::MeasureArgs),
    /// Count edges, and rebuild programs with their profiles
    Edges {
        /// The folder of programs
        folder: PathBuf,
        /// How often each variant runs
        #[arg(long, default_value_t = 10)]
        rounds: usize,
        /// Only these programs
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Count instructions beside LLVM's edge counters alone, on small inputs
    Cost(cost::CostArgs),
    /// Hold what each function is expected to take against what it executes
    Predicted(predicted::PredictedArgs),
    /// Time the rewriting of programs and of synthetic modules
    Rewriting {
        /// The folder of programs
        folder: PathBuf,
        /// How often each is rewritten
        #[arg(long, default_value_t = 10)]
        rounds: usize,
        /// Only these programs
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Measure the memory of rewriting under each scheme, beside opt -O2
    Schemes,
    /// Measure shadow profiling: instructions, page faults, what is found by load and burst, forks
    Shadows(shadows::ShadowArgs),
    /// Measure sampled subpaths: accuracy, also while a program runs, instructions and processor time of skipping and
    /// sampling
    Subpaths(subpaths::SubpathArgs),
    /// Write bench/FIGURES.md and bench/plots
    Report,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    std::fs::create_dir_all(&cli.out)?;
    let out = cli.out.canonicalize()?;
    instructions::choose(cli.counter, &out);
    match cli.command {
        Command::Measure(args) => measure::all(&args, &out),
        Command::Edges {
            folder,
            rounds,
            only,
        } => edges::all(&folder, &out, rounds, &only),
        Command::Cost(args) => cost::all(&args, &out),
        Command::Predicted(args) => predicted::compare(&args, &out),
        Command::Rewriting {
            folder,
            rounds,
            only,
        } => rewriting::all(&folder, &out, rounds, &only),
        Command::Schemes => schemes::all(&out),
        Command::Shadows(args) => shadows::all(&args, &out),
        Command::Subpaths(args) => subpaths::all(&args, &out),
        Command::Report => report::write(&out),
    }
}
