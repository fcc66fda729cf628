//! `p3-prof union`: profiles of programs that share functions into one.

use super::Outcome;
use crate::cli::ForceArgs;
use crate::error::Result;
use crate::names::printable;
use crate::output::Destination;
use crate::profile::union::{Union, union};
use crate::profile::verdict::{Trust, functions};
use crate::profile::{Profile, file};
use crate::table::number_of;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct UnionArgs {
    /// Merged profiles of paths
    #[arg(required = true, num_args = 2.., value_name = "PROFILE")]
    files: Vec<PathBuf>,
    /// The profile to write (-: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
}

pub(super) fn run(args: &UnionArgs, trust: Trust) -> Result<Outcome> {
    let at = Destination::new(&args.output, file::CONTENT, args.force.force);
    at.check(args.files.iter().map(PathBuf::as_path))?;
    let read = args.files.iter().map(|f| trust.read(f));
    let profiles: Vec<Profile> = read.collect::<Result<_>>()?;
    let Union {
        mut profile,
        shared,
        partly,
    } = union(&profiles)?;
    profile.path = args.output.clone();
    at.write(&profile.to_bytes())?;
    let mut outcome = Outcome::default();
    let said = format!(
        "{}: joined {}: {}, {shared} of several; {} ran\n",
        printable(&args.output.display().to_string()),
        number_of(profiles.len() as u64, "profile"),
        functions(profile.manifest.functions.len()),
        profile.executed().count(),
    );
    outcome.done(&at, &said);
    if partly > 0 {
        let what = functions(partly);
        outcome.warnings.push(format!(
            "{what} not profiled in every program that has them: counts of the others are there"
        ));
    }
    outcome.say(&[&profile]);
    Ok(outcome)
}
