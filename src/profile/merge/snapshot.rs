//! What a program that may still be running has counted so far. Nothing is checked that holds only at its end: flow between
//! functions, and counts of several copies, which are not equally far.

use super::gather::{Copy, add, check};
use super::programs::{Program, Programs};
use super::{check_blocks, combine, empty, foreign};
use crate::error::{Error, Result};
use crate::index::CopyId;
use crate::manifest::Manifest;
use crate::profile::Profile;
use crate::profile::measurement::{Estimated, Measurement};
use crate::profile::raw::Raw;
use crate::profile::verdict::{Processes, Verdict};
use crate::sampling::profile::merge::{Part, union};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// A program of which raw profiles are read again and again.
pub struct Snapshot {
    program: Program,
    /// What was counted, by [`Snapshot::fill`].
    pub profile: Profile,
}

impl Snapshot {
    /// The program among `programs` of which `raw`, read from `file`, is.
    ///
    /// # Errors
    /// Profiles of other programs.
    pub fn of(programs: &Programs, raw: &Raw, file: &Path) -> Result<Snapshot> {
        let program = programs.only(raw.program, file)?.clone();
        let manifest = Manifest::read(&program.manifest)?;
        let profile = empty(&program.manifest, manifest);
        Ok(Snapshot { program, profile })
    }

    /// Takes these raw profiles instead of those before: their counts are added up, and each path's are those of one copy.
    /// O(total path length).
    ///
    /// # Errors
    /// Raw profiles of other programs, and those that are not what the program writes.
    pub fn fill(&mut self, raws: Vec<(PathBuf, Raw)>) -> Result<()> {
        self.forget();
        let mut by_copy: BTreeMap<CopyId, Copy> = BTreeMap::new();
        let mut samples = Vec::new();
        for (file, mut raw) in raws {
            if raw.program != self.profile.manifest.program_bytes() {
                let problem = "it is of another program, or of another rewriting of it";
                return Err(foreign(&file, problem));
            }
            check(&raw, &self.program, &file)?;
            let unique = raw.unique;
            self.profile.sources.push(unique);
            let sample = raw.sample.take();
            samples.extend(sample.map(|sample| Part { unique, sample }));
            add(by_copy.entry(raw.copy).or_default(), raw, &file)?;
        }
        self.profile.sources.sort_unstable();
        self.counted(by_copy, samples)
    }

    fn forget(&mut self) {
        let profile = &mut self.profile;
        let functions = profile.manifest.functions.len();
        let measure = profile.manifest.scheme.strategy().measure;
        profile.processes.fill(Processes::default());
        profile.sources.clear();
        profile.measured = Measurement::none(measure, functions);
        profile.entries.fill(None);
    }

    fn counted(&mut self, by_copy: BTreeMap<CopyId, Copy>, samples: Vec<Part>) -> Result<()> {
        let profile = &mut self.profile;
        let mut counts = BTreeMap::new();
        for (copy, mut of_copy) in by_copy {
            profile.processes[copy] = of_copy.processes;
            let bursts = std::mem::take(&mut of_copy.bursts);
            if matches!(
                profile.measured,
                Measurement::Estimated(Estimated::Bursts(_))
            ) {
                let more = bursts.finish(profile, copy)?;
                if let Measurement::Estimated(Estimated::Bursts(all)) = &mut profile.measured {
                    super::added(all, &more, &self.program.manifest)?;
                }
            }
            counts.insert(copy, of_copy.counts);
        }
        profile.verdict = Verdict::of_processes(&profile.manifest, &profile.processes);
        if let Measurement::Estimated(Estimated::Sampled(sample)) = &mut profile.measured {
            let path = &self.program.manifest;
            let wrong = |problem: &dyn Display| Error::profile(path, problem, "look again");
            *sample = union(samples).map_err(|problem| wrong(&problem))?;
            let checked = check_blocks(sample, &profile.manifest);
            return checked.map_err(|problem| wrong(&problem));
        }
        // Copies that are not equally far contradict each other; that is none of a snapshot's business.
        combine(profile, &counts).map(drop)
    }
}
