//! A command once for every copy; and, below, a build by our compilers.
//!
//! What a round runs are the programs themselves, at their own paths: each copy takes the program's place in turn. A
//! copy that were started in place of another would have another `/proc/self/exe` and `$ORIGIN`, lose its rights as a
//! set-user-id program, and could not be a library.

mod build;
mod command;
mod counts;
mod namespaces;
mod places;
mod rounds;
mod runner;
mod sandbox;

pub use build::{Build, Built};
pub use places::{check_places, place_all};

use super::record::{self, Failure, Record};
use crate::base::error::{Error, Result};
use crate::profile::merge::Merged;
use command::{Fixed, compile_replacement, find_command, wrap_command};
use namespaces::find_pid_namespace;
use runner::Runner;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Variables of the environment, and their values.
pub type Variables = Vec<(String, OsString)>;

/// A round of a suite.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The copy whose turn it was.
    pub copy: u32,
    /// The command's exit status, as the shell has it.
    pub status: i32,
    /// How long it took.
    pub time: Duration,
}

/// What a suite reports while it runs.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// A round is over.
    Ended(&'a Round),
    /// A copy's round ran other processes than most did, of which this is an example, and is repeated.
    Repeats {
        /// The copy.
        copy: u32,
        /// A program, and how it ran otherwise.
        why: &'a str,
    },
    /// All copies' rounds ran the same processes and counted differently, and are repeated with the same random
    /// numbers.
    RepeatsAll,
    /// Copies of another build were in the places of these programs: of the same sources, or of others.
    OtherBuild(&'a [&'a Record]),
}

/// What a suite left.
pub struct SuiteResult {
    /// The rounds, in order, those too that were repeated.
    pub rounds: Vec<Round>,
    /// The programs, and what was merged; nothing for those that did not run.
    pub programs: Vec<(Record, Option<Merged>)>,
    /// Why other programs have no copies.
    pub failures: Vec<Failure>,
    /// Whether the other rounds were left out, since the first one failed before any program ran.
    pub stopped: bool,
    /// How many programs a round linked whose folders are gone: rounds that run at once keep nothing else.
    pub lost: usize,
}

/// Whether rounds of a suite give processes the same ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamePids {
    /// Where the kernel allows a namespace for processes.
    #[default]
    IfAllowed,
    /// Always; a namespace that is refused is an error.
    Required,
    /// Never.
    Off,
}

impl SamePids {
    /// What `--same-pids` and `--no-same-pids` stand for; clap accepts one of the two.
    pub fn from_options(required: bool, off: bool) -> SamePids {
        match (required, off) {
            (true, _) => SamePids::Required,
            (false, true) => SamePids::Off,
            (false, false) => SamePids::IfAllowed,
        }
    }
}

/// A command that is run once for every copy.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// Where the programs' folders are.
    pub folders: Vec<PathBuf>,
    /// What runs them.
    pub command: Vec<String>,
    /// Whether every round has the same process ids: a namespace of its own.
    pub same_pids: SamePids,
    /// Every round has the same clocks, which advance by calls, and the same random numbers.
    pub fixed_time: bool,
    /// So many rounds run at once, each in a working folder of its own if that is more than one.
    pub jobs: u32,
    /// Rounds that ran other processes than most did stay as they are.
    pub no_repeat: bool,
    /// What else the command's environment holds.
    pub environment: Variables,
}

impl SuiteResult {
    /// Whether copies that were started alike counted what copies of one run cannot.
    fn counts_differ(&self) -> bool {
        let mut merged = self.programs.iter().filter_map(|(_, m)| m.as_ref());
        merged.any(|m| {
            let verdict = &m.profile.verdict;
            let is_alike = verdict.unlike.is_empty() && verdict.gaps.is_empty();
            // By threads, copies of one run do.
            !verdict.violations.is_empty() && is_alike && verdict.threads.is_empty()
        })
    }

    /// Whether threads may have lost counts.
    pub fn lost_by_threads(&self) -> bool {
        let mut merged = self.programs.iter().filter_map(|(_, m)| m.as_ref());
        merged.any(|m| !m.profile.verdict.threads.is_empty())
    }

    /// Whether copies counted what copies of one run cannot, or were started otherwise than each other. Of one copy
    /// there is one round, unless threads lost counts.
    pub fn rounds_differ(&self) -> bool {
        let has_rounds = self.programs.iter().any(|(program, _)| program.copies > 1);
        let mut merged = self.programs.iter().filter_map(|(_, m)| m.as_ref());
        merged.any(|m| m.profile.verdict.has_contradictions())
            && (has_rounds || self.lost_by_threads())
    }
}

impl Suite {
    /// The options that make rounds more alike and were not given, each with what it does; first what helps if threads
    /// may have lost counts.
    pub fn list_untried_options(&self, lost_by_threads: bool) -> Vec<&'static str> {
        let has_same_ids = match self.same_pids {
            SamePids::Required => true,
            SamePids::IfAllowed => find_pid_namespace().is_ok(),
            SamePids::Off => false,
        };
        let ids = (!has_same_ids).then_some("--same-pids gives each the same process ids");
        let clock = (!self.fixed_time).then_some("--fixed-time the same time and random numbers");
        let atomic = "p3-rewrite build --update atomic loses no counts by threads";
        let atomic = lost_by_threads.then_some(atomic);
        let one = if lost_by_threads {
            "p3-rewrite build -k 1 --update atomic has one copy count everything"
        } else {
            "p3-rewrite build -k 1 has one copy count everything"
        };
        let options = atomic.into_iter().chain(ids).chain(clock);
        options.chain([one]).collect()
    }

    /// Runs the command once for every copy, and merges what the programs counted: `profile.p3prof` in the folder of
    /// each. What earlier runs left there goes, unless none of them ran. `progress` hears of each round. A round that
    /// ran other processes than most did is repeated, once; and if all ran the same processes and counted differently,
    /// all are repeated with the same random numbers.
    ///
    /// # Errors
    /// There are no programs; the command cannot be run; a profile cannot be written.
    pub fn run(&self, progress: impl Fn(Progress) + Sync) -> Result<SuiteResult> {
        let folders = &self.folders;
        let programs = record::find(folders)?;
        let copies = programs.iter().map(|r| r.copies).max();
        let Some(copies) = copies else {
            let folder = folders.first().map_or(Path::new("."), |f| f);
            let problem = "no program below this folder has copies";
            if let Some((failure, _)) = record::find_failures(folders).into_iter().next() {
                let problem = format!("{problem}: {}", failure.program.display());
                return Err(Error::load(folder, problem, failure.reason));
            }
            let remedy = "build them by p3-rewrite build -- make, and name that -o";
            return Err(Error::load(folder, problem, remedy));
        };
        for program in &programs {
            if let Some(from) = program.moved_from() {
                let problem = format!(
                    "it is not where the program was linked, and its processes write to {}",
                    from.display()
                );
                let remedy = "move it back, or build the program again";
                return Err(Error::load(&program.folder, problem, remedy));
            }
        }
        find_command(&self.command[0])?;
        let other_build = check_places(folders, &programs)?;
        if !other_build.is_empty() {
            progress(Progress::OtherBuild(&other_build));
        }
        let wrapped = wrap_command(&self.command, self.same_pids)?;
        let clock = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
        let preload = self
            .fixed_time
            .then(|| compile_replacement(clock.path(), Fixed::RandomAndTime));
        let mut runner = Runner {
            suite: self,
            command: wrapped,
            preload: preload.transpose()?,
            progress: &progress,
        };
        let gathered = runner.run(copies)?;
        if self.no_repeat || self.fixed_time || copies < 2 || !gathered.counts_differ() {
            return Ok(gathered);
        }
        // Tests that take input from /dev/urandom, such as gzip's and jq's.
        progress(Progress::RepeatsAll);
        runner.preload = Some(compile_replacement(clock.path(), Fixed::Random)?);
        let again = runner.run(copies)?;
        Ok(SuiteResult {
            rounds: [gathered.rounds, again.rounds].concat(),
            lost: gathered.lost.max(again.lost),
            ..again
        })
    }
}
