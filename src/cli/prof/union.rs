//! `p3-prof union`: profiles of programs that share functions into one.

use super::Outcome;
use crate::base::error::Result;
use crate::base::names::escape_unprintable;
use crate::base::table::{group_all_digits, number_of};
use crate::cli::ForceArgs;
use crate::profile::locate::has_never_run;
use crate::profile::several;
use crate::profile::union::{Union, union};
use crate::profile::verdict::{Trust, number_of_functions};
use crate::profile::{Profile, file};
use crate::write::output::Destination;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct UnionArgs {
    /// Merged profiles of paths, or output folders with one; a program that never ran adds its
    /// functions
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
    let (profiles, idle) = read(&args.files, trust)?;
    let read = profiles.iter().flat_map(|p| several::files_of(&p.path));
    at.check_before_work(read.collect::<Vec<_>>().iter().map(PathBuf::as_path))?;
    let Union {
        mut profile,
        shared,
        partly,
        ..
    } = union(&profiles)?;
    profile.path = args.output.clone();
    at.write(&profile.to_bytes())?;
    let mut outcome = Outcome::default();
    let said = format!(
        "{}: joined {}: {}, {} of several; {} ran\n",
        escape_unprintable(&args.output.display().to_string()),
        number_of((profiles.len() - idle.len()) as u64, "profile"),
        number_of_functions(profile.manifest.functions.len()),
        group_all_digits(shared as u64),
        group_all_digits(profile.executed_functions().count() as u64),
    );
    outcome.add_written(&at, &said);
    let added = |folder: &&PathBuf| {
        let folder = folder.display().to_string();
        format!(
            "{}: it never ran, so it adds functions but no counts",
            escape_unprintable(&folder)
        )
    };
    outcome.warnings.extend(idle.iter().map(added));
    if partly > 0 {
        let what = number_of_functions(partly);
        outcome.warnings.push(format!(
            "{what} not profiled in every program that has them: counts of the others are there"
        ));
    }
    outcome.add_verdicts(&[&profile]);
    Ok(outcome)
}

/// The profiles that `files` mean, and those of `files` that are folders of programs that never ran. Of these nothing
/// was executed, so that profiles with their functions and no counts are exact.
///
/// # Errors
/// What cannot be read; none of them ran.
fn read(files: &[PathBuf], trust: Trust) -> Result<(Vec<Profile>, Vec<&PathBuf>)> {
    let idle: Vec<&PathBuf> = files.iter().filter(|f| has_never_run(f)).collect();
    // If none ran, the error for the first says what to do.
    let is_idle = |file: &PathBuf| idle.len() < files.len() && idle.contains(&file);
    let read = |file: &PathBuf| {
        if is_idle(file) {
            several::read_without_profile(file)
        } else {
            trust.read(file)
        }
    };
    let profiles: Vec<Profile> = files.iter().map(read).collect::<Result<_>>()?;
    Ok((profiles, idle))
}
