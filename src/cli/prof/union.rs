//! `p3-prof union`: profiles of programs that share functions into one.

use super::Outcome;
use crate::error::Result;
use crate::names::printable;
use crate::profile::Profile;
use crate::profile::union::{Union, union};
use crate::profile::verdict::{Trust, functions};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct UnionArgs {
    /// Merged profiles of paths
    #[arg(required = true, num_args = 2.., value_name = "PROFILE")]
    files: Vec<PathBuf>,
    /// The profile to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn run(args: &UnionArgs, trust: Trust) -> Result<Outcome> {
    let read = args.files.iter().map(|f| trust.read(f));
    let profiles: Vec<Profile> = read.collect::<Result<_>>()?;
    let Union {
        mut profile,
        shared,
        partly,
    } = union(&profiles)?;
    profile.path = args.output.clone();
    profile.write(&args.output)?;
    let mut outcome = Outcome::print(format!(
        "{}: joined {} profiles: {}, {shared} of several; {} ran\n",
        printable(&args.output.display().to_string()),
        profiles.len(),
        functions(profile.manifest.functions.len()),
        profile.executed().count(),
    ));
    if partly > 0 {
        let what = functions(partly);
        outcome.warnings.push(format!(
            "{what} not profiled in every program that has them: counts of the others are there"
        ));
    }
    outcome.say(&[&profile]);
    Ok(outcome)
}
