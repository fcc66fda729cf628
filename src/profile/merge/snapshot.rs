//! What a program that may still be running has counted so far. Nothing is checked that holds only at its end: flow
//! between functions, and counts of several copies, which are not equally far.

use super::gather::{Copy, add_estimates, add_raw, check_raw};
use super::programs::refuse_foreign_file;
use super::programs::{Program, Programs};
use super::{check_forks, combine, empty_profile, finish_estimates};
use crate::base::error::{Error, Result};
use crate::base::index::CopyId;
use crate::estimates::data;
use crate::profile::Profile;
use crate::profile::forks::find_forked;
use crate::profile::manifest::Manifest;
use crate::profile::measurement::Measurement;
use crate::profile::raw::Raw;
use crate::profile::verdict::{Processes, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program of which raw profiles are read again and again.
pub struct Snapshot {
    program: Program,
    /// What was counted, by [`Snapshot::replace_counts`].
    pub profile: Profile,
}

impl Snapshot {
    /// The program among `programs` of which `raw`, read from `file`, is.
    ///
    /// # Errors
    /// Profiles of other programs.
    pub fn identify(programs: &Programs, raw: &Raw, file: &Path) -> Result<Snapshot> {
        let program = programs.find_program(raw.program, file)?.clone();
        let manifest = Manifest::read(&program.manifest)?;
        let profile = empty_profile(&program.manifest, manifest);
        Ok(Snapshot { program, profile })
    }

    /// Takes these raw profiles instead of those before: their counts are added up, and each path's are those of one
    /// copy. O(total path length).
    ///
    /// # Errors
    /// Raw profiles of other programs, and those that are not what the program writes.
    pub fn replace_counts(&mut self, raws: Vec<(PathBuf, Raw)>) -> Result<()> {
        self.clear_counts();
        let mut by_copy: BTreeMap<CopyId, Copy> = BTreeMap::new();
        let mut estimates = data::Gathered::default();
        for (file, mut raw) in raws {
            if raw.program != self.profile.manifest.program_bytes() {
                let problem = "it is of another program, or of another rewriting of it";
                return Err(refuse_foreign_file(&file, problem));
            }
            check_raw(&raw, &self.program, &file)?;
            self.profile.sources.push(raw.unique);
            add_estimates(&mut estimates, &mut raw, &file)?;
            add_raw(by_copy.entry(raw.copy).or_default(), raw, &file)?;
        }
        self.profile.sources.sort_unstable();
        self.add_counts(by_copy, estimates)
    }

    fn clear_counts(&mut self) {
        let profile = &mut self.profile;
        let functions = profile.manifest.functions.len();
        let measure = profile.manifest.scheme.strategy().measure;
        profile.processes.fill(Processes::default());
        profile.sources.clear();
        profile.measured = Measurement::empty(measure, functions);
        profile.entries.fill(None);
        profile.forks.clear();
    }

    fn add_counts(
        &mut self,
        by_copy: BTreeMap<CopyId, Copy>,
        estimates: data::Gathered,
    ) -> Result<()> {
        let profile = &mut self.profile;
        let mut counts = BTreeMap::new();
        for (copy, of_copy) in by_copy {
            profile.processes[copy] = of_copy.processes;
            profile.forks.extend(of_copy.forks);
            counts.insert(copy, of_copy.counts);
        }
        check_forks(profile)?;
        profile.forked = find_forked(profile);
        profile.verdict = Verdict::of_processes(&profile.manifest, &profile.processes);
        if let Measurement::Estimated(_) = profile.measured {
            let path = &self.program.manifest;
            let wrong = |problem| Error::profile(path, problem, "look again");
            let estimated =
                finish_estimates(profile, estimates).map_err(|e| e.into_error(wrong))?;
            profile.measured = Measurement::Estimated(estimated);
            return Ok(());
        }
        // Copies that are not equally far contradict each other; that is none of a snapshot's business.
        combine(profile, &counts).map(drop)
    }
}
