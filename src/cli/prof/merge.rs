//! `p3-prof merge`: raw profiles of one program into a file, or of many into a folder.

use super::Outcome;
use crate::base::error::{Error, Result};
use crate::base::table::number_of;
use crate::cli::ForceArgs;
use crate::profile::merge::{
    FailureMode, Merged, Program, Programs, merge_one, merge_programs, summary,
};
use crate::profile::several::is_baseline;
use crate::profile::verdict::Trust;
use crate::profile::{Profile, file};
use crate::write::output::{Destination, check_folder};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    /// The manifest.json of the copies, or a folder to search for manifests; may be repeated
    #[arg(short, long, value_name = "FILE", required = true, num_args = 1)]
    manifest: Vec<PathBuf>,
    /// The merged profile to write (-: standard output); for several programs, the folder to write them
    /// to
    ///
    /// In a folder, each program that ran is written to NAME.p3prof, where NAME is the folder of its
    /// manifest. One program is written to a folder too if the name given here ends in /.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
    /// What to do about unusable files and missing copies
    #[arg(long, value_enum, default_value = "any")]
    failure_mode: FailureMode,
    /// Raw profiles of these programs, or folders to search for *.p3raw
    #[arg(required = true, value_name = "RAW")]
    files: Vec<PathBuf>,
}

/// A profile is written whatever its verdict, but with `--strict`; that copies did not run alike, or not equally
/// often, is a finding.
pub(super) fn run(args: &MergeArgs, trust: Trust) -> Result<Outcome> {
    let programs = Programs::find(&args.manifest)?;
    let names_folder = args.output.as_os_str().as_encoded_bytes().ends_with(b"/");
    if programs.iter().len() == 1 && !names_folder && !args.output.is_dir() {
        return into_file(args, &programs, trust);
    }
    check_folder(&args.output)?;
    into_folder(args, &programs, trust)
}

fn into_file(args: &MergeArgs, programs: &Programs, trust: Trust) -> Result<Outcome> {
    let at = destination(&args.output, args, programs)?;
    let Merged { profile, warnings } = merge_one(programs, &args.files, args.failure_mode)?;
    let mut outcome = Outcome {
        warnings,
        ..Outcome::default()
    };
    write(profile, &at, args, trust, &mut outcome)?;
    Ok(outcome)
}

/// A place for a profile, which is none of what the merge reads.
fn destination(path: &Path, args: &MergeArgs, programs: &Programs) -> Result<ProfileDestination> {
    let at = Destination::new(path, file::CONTENT, args.force.force);
    let manifests = programs.iter().map(|p| p.manifest.as_path());
    at.check_before_work(manifests.chain(args.files.iter().map(PathBuf::as_path)))?;
    Ok(ProfileDestination {
        path: path.to_path_buf(),
        at,
    })
}

/// Where a profile goes, and what it is called.
struct ProfileDestination {
    path: PathBuf,
    at: Destination,
}

/// What cannot be merged of one program keeps no other from it.
fn into_folder(args: &MergeArgs, programs: &Programs, trust: Trust) -> Result<Outcome> {
    let folder = &args.output;
    let mut outcome = Outcome::default();
    let mut ran = 0;
    let each = |program: &Program, profile: Result<Profile>| {
        ran += 1;
        let path = folder.join(format!("{}.p3prof", program.name));
        let written = profile.and_then(|profile| {
            let at = destination(&path, args, programs)?;
            write(profile, &at, args, trust, &mut outcome)
        });
        if let Err(e) = written {
            outcome.failures.push(format!("{}: {e}", program.name));
        }
        Ok(())
    };
    std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    let warnings = merge_programs(programs, &args.files, args.failure_mode, each)?;
    outcome.warnings.extend(warnings);
    // Sources that no link took are no program that could run.
    let programs = programs.iter().filter(|p| !is_baseline(&p.manifest));
    let programs = number_of(programs.count() as u64, "program");
    outcome.text += &format!("{ran} of {programs} ran\n");
    Ok(outcome)
}

fn write(
    mut profile: Profile,
    to: &ProfileDestination,
    args: &MergeArgs,
    trust: Trust,
    outcome: &mut Outcome,
) -> Result<()> {
    profile.path.clone_from(&to.path);
    trust.check(&profile, &to.path)?;
    to.at.write(&profile.to_bytes())?;
    let said = summary(&profile, &to.path.display().to_string());
    outcome.add_written(&to.at, &said);
    let found = profile.verdict.has_contradictions() || !profile.verdict.gaps.is_empty();
    outcome.found |= found && args.failure_mode == FailureMode::Any;
    outcome.add_verdicts(&[&profile]);
    Ok(())
}
