//! The rounds of a suite: one for each copy, odd ones again.

use super::build::environment;
use super::command::{execute, start};
use super::counts::{clear, clear_copy, has_files, lacks_counts, merge_program, remove_profile};
use super::places::{check_places, place_all};
use super::rounds::find_odd_rounds;
use super::sandbox::Sandboxes;
use super::{Progress, Round, Suite, SuiteResult};
use crate::base::error::{Error, Result};
use crate::project::record::{self, Record};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// What every round of a suite is run with.
pub(super) struct Runner<'a, P> {
    pub suite: &'a Suite,
    /// The command, in what makes rounds alike.
    pub command: Vec<String>,
    /// The library that replaces random numbers, or these and clocks.
    pub preload: Option<PathBuf>,
    pub progress: &'a P,
}

impl<P: Fn(Progress) + Sync> Runner<'_, P> {
    /// Runs a round for each copy, repeats odd ones, and merges.
    pub(super) fn run(&self, copies: u32) -> Result<SuiteResult> {
        let folders = &self.suite.folders;
        record::find(folders)?.iter().try_for_each(clear)?;
        let (mut rounds, mut lost) = self.run_rounds(&Vec::from_iter(0..copies))?;
        let stopped = rounds.len() < copies as usize;
        if !self.suite.no_repeat && !stopped {
            lost = lost.max(self.repeat_odd_rounds(&mut rounds)?);
        }
        let merged = |program: Record| {
            let merged = merge_program(&program)?;
            Ok((program, merged))
        };
        let programs = record::find(folders)?.into_iter().map(merged);
        let failures = record::find_failures(folders);
        Ok(SuiteResult {
            rounds,
            programs: programs.collect::<Result<_>>()?,
            failures: failures.into_iter().map(|(f, _)| f).collect(),
            stopped,
            lost,
        })
    }

    /// Removes profiles of earlier suites once there are counts of this one. A command that ran nothing was not the one
    /// that was meant.
    fn remove_outdated(&self) -> Result<()> {
        let programs = record::find(&self.suite.folders)?;
        if programs.iter().any(|p| has_files(&p.raw())) {
            programs.iter().try_for_each(remove_profile)?;
        }
        Ok(())
    }

    /// A round for each of these copies; and how many programs they linked that are lost.
    fn run_rounds(&self, copies: &[u32]) -> Result<(Vec<Round>, usize)> {
        if self.suite.jobs > 1 {
            self.run_at_once(copies)
        } else {
            Ok((self.run_in_turn(copies)?, 0))
        }
    }

    /// Repeats rounds that ran other processes than the rest, each once; how many programs these linked that are lost.
    fn repeat_odd_rounds(&self, rounds: &mut Vec<Round>) -> Result<usize> {
        let (mut lost, mut repeated) = (0, HashSet::new());
        loop {
            let programs = record::find(&self.suite.folders)?;
            let order: Vec<u32> = rounds.iter().map(|r| r.copy).collect();
            let odd: BTreeMap<u32, String> = find_odd_rounds(&programs, &order)?;
            // One that differs again does so by chance.
            if odd.is_empty() || odd.keys().any(|c| repeated.contains(c)) {
                return Ok(lost);
            }
            for (copy, why) in &odd {
                (self.progress)(Progress::Repeats { copy: *copy, why });
                programs.iter().try_for_each(|p| clear_copy(p, *copy))?;
            }
            repeated.extend(odd.keys().copied());
            let (more, of_more) = self.run_rounds(&Vec::from_iter(odd.into_keys()))?;
            rounds.extend(more);
            lost = lost.max(of_more);
        }
    }

    /// Round after round, with each copy in the programs' places in turn; only the first one, if that failed before any
    /// program ran: the command was not the one that was meant.
    fn run_in_turn(&self, copies: &[u32]) -> Result<Vec<Round>> {
        let folders = &self.suite.folders;
        let run_all = || -> Result<Vec<Round>> {
            let mut rounds = Vec::new();
            for copy in copies {
                // With those that were built since the last round, and without those that were removed.
                place_all(&record::find(folders)?, *copy)?;
                let round = self.run_round(start(&self.command), *copy)?;
                (self.progress)(Progress::Ended(&round));
                rounds.push(round);
                // The command itself may have linked a program again, of sources that changed.
                let programs = record::find(folders)?;
                check_places(folders, &programs)?;
                if rounds.len() == 1 && round.status != 0 && lacks_counts(&programs, *copy)? {
                    break;
                }
            }
            Ok(rounds)
        };
        let ran = run_all();
        // Whatever happened, the programs are what they were, or what they are by now.
        let mut programs = record::find(folders)?;
        programs.retain(|p| !p.is_outdated());
        place_all(&programs, 0)?;
        ran
    }

    /// Rounds at the same time; and how many programs they linked, which are lost.
    fn run_at_once(&self, copies: &[u32]) -> Result<(Vec<Round>, usize)> {
        let folders = &self.suite.folders;
        let sandboxes = Sandboxes::new(&record::find(folders)?)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.suite.jobs as usize);
        let pool = pool.build().expect("threads can be started");
        let one = |copy: &u32| {
            let (run, sandbox) = sandboxes.prepare_round(&self.command, folders, *copy)?;
            let round = self.run_round(run, *copy)?;
            sandbox.print_output()?;
            (self.progress)(Progress::Ended(&round));
            Ok((round, sandbox.count_linked()))
        };
        let ran = pool.install(|| copies.par_iter().map(one).collect::<Result<Vec<_>>>())?;
        let (rounds, linked): (Vec<Round>, Vec<usize>) = ran.into_iter().unzip();
        Ok((rounds, linked.into_iter().max().unwrap_or(0)))
    }

    fn run_round(&self, mut run: Command, copy: u32) -> Result<Round> {
        let tools = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
        let begin = Instant::now();
        let environment_of_suite = self.suite.environment.iter();
        // What the suite itself builds is built in copies, and this one put in its place.
        run.envs(environment(&tools)?)
            .env("P3_COPY", copy.to_string())
            .envs(environment_of_suite.map(|(n, v)| (n, v)));
        run.env_remove("P3_PROFILE_FILE");
        if let Some(library) = &self.preload {
            run.env("LD_PRELOAD", library);
        }
        let status = execute(&mut run, &self.suite.command);
        let time = begin.elapsed();
        // A round that was interrupted has counted, too.
        self.remove_outdated()?;
        let status = status?;
        Ok(Round { copy, status, time })
    }
}
