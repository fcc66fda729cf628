//! `p3-prof verify --runs`: the runs by themselves, so that those of which copies differ have names.

use super::arguments::{Arguments, comparable_form, shell_words};
use super::gather::{Gathered, SeenSources, add_raw, check_raw, each_file, read};
use super::{Programs, put_together};
use crate::base::error::Result;
use crate::base::index::{CopyId, TiVec};
use crate::profile::Profile;
use crate::profile::verdict::{Processes, Verdict};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was found about the runs with the same arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The arguments, for people.
    pub arguments: String,
    /// What copies did otherwise there: one line each.
    pub differences: Vec<String>,
}

/// The runs that raw profiles are of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Those of which copies differ, by their arguments.
    pub differing: Vec<Run>,
    /// The number of all that have arguments of their own.
    pub all: usize,
    /// How many of these share files with others (`%m`), so that their numbers alone could be compared.
    pub shared: usize,
}

/// Where the counts of the runs with the same arguments are.
#[derive(Default)]
struct Group {
    /// The arguments of the first run.
    example: Arguments,
    files: Vec<PathBuf>,
    processes: BTreeMap<CopyId, Processes>,
    /// A file holds others' counts as well.
    shared: bool,
}

/// Compares the copies run by run; `files` are the raw profiles of `profile`, or some of them.
///
/// # Errors
/// Files that are foreign, damaged or named twice.
pub fn compare_runs(profile: &Profile, files: &[PathBuf]) -> Result<Runs> {
    let groups = group_by_arguments(profile, files)?;
    let mut runs = Runs {
        all: groups.len(),
        shared: groups.values().filter(|g| g.shared).count(),
        ..Runs::default()
    };
    for group in groups.values() {
        let differences = group.find_differences(profile)?;
        if !differences.is_empty() {
            let arguments = shell_words(&group.example);
            runs.differing.push(Run {
                arguments,
                differences,
            });
        }
    }
    Ok(runs)
}

/// The files by arguments in comparable form: folders and temporary names differ between copies.
fn group_by_arguments(profile: &Profile, files: &[PathBuf]) -> Result<BTreeMap<Arguments, Group>> {
    let programs = Programs::of_one(&profile.manifest, &profile.path);
    let mut seen = SeenSources::default();
    let mut groups: BTreeMap<Arguments, Group> = BTreeMap::new();
    each_file(files, |file| {
        let raw = read(file)?;
        check_raw(&raw, programs.find_program(raw.program, file)?, file)?;
        seen.refuse_repeated(&[raw.unique], file, files)?;
        let shared = raw.started.len() != 1;
        for started in &raw.started {
            let arguments = started.arguments.get(1..).unwrap_or_default();
            let group = groups.entry(comparable_form(arguments)).or_default();
            if group.files.is_empty() {
                group.example = arguments.to_vec();
            }
            group.files.push(file.to_path_buf());
            group.shared |= shared;
            let processes = group.processes.entry(raw.copy).or_default();
            *processes = processes.plus(Processes::new(
                started.runs,
                started.children,
                started.ended,
                0,
            ));
        }
        Ok(())
    })?;
    Ok(groups)
}

impl Group {
    fn find_differences(&self, profile: &Profile) -> Result<Vec<String>> {
        let verdict = if self.shared {
            let copies = (0..profile.manifest.copies).map(CopyId);
            let processes = copies.map(|c| self.processes.get(&c).copied().unwrap_or_default());
            Verdict::of_processes(&profile.manifest, &processes.collect::<TiVec<_, _>>())
        } else {
            self.profile_alone(profile)?.verdict
        };
        let mut lines = verdict.gaps;
        let mut cut_short = self.processes.values().map(|p| p.cut_short);
        let first = cut_short.next();
        if cut_short.any(|n| Some(n) != first) {
            lines.extend(verdict.interrupted);
        }
        let named = |v: &super::Violation| format!("{}: {}", profile.name(v.function), v.what);
        lines.extend(verdict.violations.iter().map(named));
        Ok(lines)
    }

    /// The profile of these runs.
    fn profile_alone(&self, profile: &Profile) -> Result<Profile> {
        let mut gathered = Gathered::default();
        for file in &self.files {
            let raw = read(file)?;
            add_raw(gathered.by_copy.entry(raw.copy).or_default(), raw, file)?;
        }
        put_together(&profile.path, profile.manifest.clone(), gathered)
    }
}
