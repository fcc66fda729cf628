//! Arguments of `p3-rewrite suite`, and what it prints.

mod keep;

use super::build::report_failures;
use super::interrupt::{OnSignal, end_if_interrupted, watch};
use super::selection::report_threads;
use super::{exit_code_of, print_message, warn};
use crate::base::error::Result;
use crate::base::names::{NAMED_PROGRAMS, first_names};
use crate::base::table::number_of;
use crate::profile::locate::MERGED;
use crate::profile::manifest::Manifest;
use crate::profile::merge::{Merged, summary};
use crate::project::path_from_here;
use crate::project::record::{self, Record};
use crate::project::suite::{Progress, SamePids, Suite, SuiteResult};
use crate::project::systems::quote_path;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments of `suite`.
#[derive(Debug, clap::Args)]
pub struct SuiteArgs {
    /// Where to look for the programs: the folder of `build -o`, or of the build
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: Vec<PathBuf>,

    /// Run N rounds at once, each in an overlay of the working folder that is deleted afterwards
    #[arg(short, long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: u32,

    /// Stop if the kernel refuses the namespace that gives all rounds the same process ids [default: go
    /// on without]
    #[arg(long)]
    same_pids: bool,

    /// Do not make process ids the same in all rounds
    #[arg(long, conflicts_with = "same_pids")]
    no_same_pids: bool,

    /// Make clocks and random numbers the same in all rounds, for everything that the command runs
    #[arg(long)]
    fixed_time: bool,

    /// Do not repeat rounds that ran other processes than the rest
    #[arg(long)]
    no_repeat: bool,

    /// Also store each program's profile as DIR/PROGRAM/NNNN.p3prof, for --paths new:DIR
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Print only warnings, and what the command prints
    #[arg(short, long)]
    quiet: bool,

    /// The command that runs the programs, after --; it runs once for every copy
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs a suite; the exit status is 0 if that of each round was 0, else the first that was not.
///
/// # Errors
/// What keeps a suite from running ([`Suite::run`]).
pub fn suite(args: SuiteArgs) -> Result<ExitCode> {
    let suite = Suite {
        folders: args.out,
        command: args.command,
        same_pids: SamePids::from_options(args.same_pids, args.no_same_pids),
        fixed_time: args.fixed_time,
        jobs: args.jobs,
        no_repeat: args.no_repeat,
        environment: Vec::new(),
    };
    if !args.quiet {
        report_threads(&record::find(&suite.folders)?);
    }
    watch(OnSignal::PutInOrder);
    let gathered = suite.run(|progress| {
        if !args.quiet || matches!(progress, Progress::OtherBuild(_)) {
            report_progress(progress);
        }
    });
    end_if_interrupted();
    let gathered = gathered?;
    if let Some(folder) = &args.keep {
        let kept = keep::keep_profiles(folder, &gathered)?;
        let profiles = number_of(kept, "profile");
        if !args.quiet {
            print_message(&format!("{}: {profiles} added", path_from_here(folder)));
        }
    }
    Ok(exit_code_of(report_end(&suite, &gathered, args.quiet)))
}

/// Prints that a round is over, or repeated.
pub(super) fn report_progress(progress: Progress) {
    match progress {
        Progress::Ended(round) => {
            let (copy, status) = (round.copy, round.status);
            let seconds = round.time.as_secs_f64();
            print_message(&format!("copy {copy}: status {status}, {seconds:.1} s"));
        }
        Progress::RepeatsAll => print_message(
            "rounds ran the same processes and counted differently: they run again, each with the same random numbers",
        ),
        Progress::Repeats { copy, why } => print_message(&format!(
            "copy {copy} runs again, since its round was unlike the others ({why})"
        )),
        Progress::OtherBuild(programs) => {
            let names = first_names(
                NAMED_PROGRAMS,
                programs.iter().map(|p| path_from_here(&p.program)),
            );
            warn(&format!(
                "{names}: last linked by another build than the one that is run now; \
                 build again if sources changed in between"
            ));
        }
    }
}

/// Tells of what was merged after a suite (unless `quiet`), of what is wrong with it, and what may help. The status of
/// the rounds.
pub(super) fn report_end(suite: &Suite, gathered: &SuiteResult, quiet: bool) -> i32 {
    let say = |line: &str| {
        if !quiet {
            print_message(line);
        }
    };
    let (mut idle, mut unselected) = (Vec::new(), 0);
    for (program, merged) in &gathered.programs {
        let Some(merged) = merged else {
            let manifest = Manifest::read(&program.manifest());
            if manifest.is_ok_and(|m| m.lacks_selected_paths()) {
                unselected += 1;
            } else {
                idle.push(path_from_here(&program.program));
            }
            continue;
        };
        merged.warnings.iter().for_each(|w| warn(w));
        let profile = program.folder.join(MERGED);
        let summary = summary(&merged.profile, &path_from_here(&profile));
        summary.lines().for_each(say);
        if let Some(said) = merged.profile.problem_line() {
            warn(&format!("{}: {said}", path_from_here(&profile)));
        }
    }
    report_failures(&gathered.failures);
    report_absent(suite, gathered);
    let all = number_of(gathered.programs.len() as u64, "program");
    let none_ran = !idle.is_empty() && gathered.programs.iter().all(|(_, m)| m.is_none());
    let number = idle.len();
    let names = first_names(NAMED_PROGRAMS, idle.into_iter());
    if none_ran {
        let has_profile = |(program, _): &(Record, _)| program.folder.join(MERGED).exists();
        let kept = if gathered.programs.iter().any(has_profile) {
            "; profiles of earlier runs are kept"
        } else {
            ""
        };
        warn(&format!(
            "no program of this build ran ({names}): the command has to run them where they were built{kept}"
        ));
    } else if number > 0 {
        say(&format!("{number} of {all} did not run: {names}"));
    }
    if unselected > 0 {
        let verb = if unselected == 1 { "has" } else { "have" };
        say(&format!("{unselected} of {all} {verb} no selected path"));
    }
    if gathered.lost > 0 {
        let verb = if gathered.lost == 1 { "is" } else { "are" };
        let lost = number_of(gathered.lost as u64, "program");
        warn(&format!(
            "{lost} that the command itself linked {verb} not profiled: build before the tests run, or leave -j out"
        ));
    }
    let untried = suite.list_untried_options(gathered.lost_by_threads());
    if gathered.rounds_differ() && !untried.is_empty() {
        warn(&format!("rounds differ: {}", untried.join(", ")));
    }
    let last: BTreeMap<u32, i32> = gathered.rounds.iter().map(|r| (r.copy, r.status)).collect();
    if last.values().any(|s| *s != last[&0]) {
        warn("the rounds ended with different statuses: the copies did not run alike");
    }
    // Tests that failed in a round that was repeated failed nevertheless.
    let Some(failed) = gathered.rounds.iter().find(|r| r.status != 0) else {
        if let Some(next) = command_for_profiles(suite, gathered) {
            say(&format!("next: {next}"));
        }
        return if none_ran { NOTHING_RAN } else { 0 };
    };
    let (copy, status) = (failed.copy, failed.status);
    let left_out = if gathered.stopped {
        "the other rounds are left out, and "
    } else {
        ""
    };
    warn(&format!(
        "your command ended with status {status} in the round of copy {copy}; {left_out}this status is passed on"
    ));
    status
}

/// Says what helps if processes could not write what they counted, which their verdicts say.
fn report_absent(suite: &Suite, gathered: &SuiteResult) {
    let mut merged = gathered.programs.iter().filter_map(|(_, m)| m.as_ref());
    if merged.any(|m| m.profile.processes.iter().any(|p| p.absent > 0)) {
        let folders = suite.folders.iter().map(|folder| quote_path(folder));
        let folders: Vec<String> = folders.collect();
        warn(&format!(
            "if processes that could not write what they counted run as another user, let them, and run the suite \
             again: find {} -type d -name raw -exec chmod 1777 {{}} +",
            folders.join(" ")
        ));
    }
}

/// The command that shows what a suite merged: of one program or without counts of paths, `show`; of several programs,
/// `coverage`, which adds them up.
fn command_for_profiles(suite: &Suite, gathered: &SuiteResult) -> Option<String> {
    let merged = |(program, merged): &(Record, Option<Merged>)| {
        let profile = &merged.as_ref()?.profile;
        Some((program.folder.clone(), profile.paths().is_ok()))
    };
    let merged: Vec<(PathBuf, bool)> = gathered.programs.iter().filter_map(merged).collect();
    let (first, _) = merged.first()?;
    if merged.len() == 1 || !merged.iter().all(|(_, has_paths)| *has_paths) {
        return Some(format!("p3-prof show {}", quote_path(first)));
    }
    let folders = suite.folders.iter().map(|folder| quote_path(folder));
    Some(format!(
        "p3-prof coverage {}",
        folders.collect::<Vec<_>>().join(" ")
    ))
}

/// The exit status of a suite whose command succeeded and ran none of the programs.
const NOTHING_RAN: i32 = 2;
