//! Raw profiles of all copies, and merged ones → one profile, with the verdict on it.

mod arguments;
pub(crate) mod gather;
pub mod origins;
mod programs;
pub mod runs;
pub mod snapshot;
mod starts;
mod summary;

use programs::refuse_foreign_file;
pub use programs::{Program, Programs};
pub use starts::{Starts, count_starts};
pub use summary::summary;

use super::by_thread::{self, CountedByThread};
use super::combine::combine;
use super::decode::{CountProblem, decode_paths};
use super::forks::{AllForked, ForkCounts, find_forked, have_counters};
use super::measurement::{Exact, ExactCounts, Measurement};
use super::under_way::find_under_way;
use super::verdict::{Processes, Verdict, Violation, copies_named, copies_needed};
use super::{Profile, Structure, verify};
use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, FuncId, PathId, ti_vec};
use crate::base::table::number_of;
use crate::copies::strategy::Measure;
use crate::estimates::data::{self, Refused};
use crate::profile::manifest::Manifest;
use gather::{All, Copy, Gathered, gather_files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What to do about files that cannot be used, and about copies that are missing or disagree:
/// as in llvm-profdata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureMode {
    /// Any of these is an error
    Any,
    /// An error only when no file can be used
    All,
    /// Never an error
    Warn,
}

/// A merged profile, and what was wrong on the way.
pub struct Merged {
    /// The profile.
    pub profile: Profile,
    /// One line for every file that was left out.
    pub warnings: Vec<String>,
}

/// Merges the files (of any number of runs) named by `files`: raw profiles, folders searched for `*.p3raw`,
/// and profiles that were merged before. The profile's verdict says what was found wrong with the counts.
///
/// # Errors
/// By `mode`: files that are foreign, damaged or named twice, and copies that are missing.
pub fn merge(manifest: &Path, files: &[PathBuf], mode: FailureMode) -> Result<Merged> {
    merge_one(&Programs::find(&[manifest.to_path_buf()])?, files, mode)
}

/// Merges files as [`merge`] does, of the first of `programs`, of which there is one.
///
/// # Errors
/// Those of [`merge`].
pub fn merge_one(programs: &Programs, files: &[PathBuf], mode: FailureMode) -> Result<Merged> {
    let All {
        programs: mut gathered,
        warnings,
    } = gather_files(programs, files, mode)?;
    let (program, gathered) = (&programs.0[0], gathered.swap_remove(0));
    // Then the copies leave no files, and the profile says so.
    let nothing = if gathered.is_empty() {
        Manifest::read(&program.manifest)?.nothing_profiled()
    } else {
        None
    };
    if gathered.is_empty() && nothing.is_none() && mode != FailureMode::Warn {
        let problem = "no raw profile of it can be used";
        let remedy = "run the copies, and name their *.p3raw files";
        return Err(Error::profile(&program.manifest, problem, remedy));
    }
    Ok(Merged {
        profile: finish_profile(program, gathered, mode)?,
        warnings: warnings.into_iter().chain(nothing).collect(),
    })
}

/// Merges files of several programs like [`merge`], and hands the profile of each that ran to `each`, one after the
/// other, or why there is none. Returns why files were left out.
///
/// # Errors
/// Those of [`merge`] about files, and that none can be used.
pub fn merge_programs(
    programs: &Programs,
    files: &[PathBuf],
    mode: FailureMode,
    mut each: impl FnMut(&Program, Result<Profile>) -> Result<()>,
) -> Result<Vec<String>> {
    let all = gather_files(programs, files, mode)?;
    if all.programs.iter().all(Gathered::is_empty) {
        let problem = format!(
            "no raw profile of {} can be used",
            number_of(programs.0.len() as u64, "program")
        );
        let remedy = "run the copies, and name their *.p3raw files";
        let named = files.first().cloned().unwrap_or_default();
        return Err(Error::profile(&named, problem, remedy));
    }
    for (program, gathered) in programs.iter().zip(all.programs) {
        if !gathered.is_empty() {
            each(program, finish_profile(program, gathered, mode))?;
        }
    }
    Ok(all.warnings)
}

fn finish_profile(program: &Program, gathered: Gathered, mode: FailureMode) -> Result<Profile> {
    let manifest = Manifest::read(&program.manifest)?;
    let profile = put_together(&program.manifest, manifest, gathered)?;
    if mode == FailureMode::Any {
        no_copy_is_missing(&profile)?;
    }
    Ok(profile)
}

/// The profile of what was gathered, with its verdict.
fn put_together(path: &Path, manifest: Manifest, gathered: Gathered) -> Result<Profile> {
    let mut profile = empty_profile(path, manifest);
    let mut unlike = gathered.describe_unlike();
    profile.sources = gathered.seen.0.into_iter().collect();
    profile.sources.sort_unstable();
    let mut violations = fill_profile(&mut profile, gathered.by_copy)?;
    let mut estimates = gathered.estimates;
    for mut part in gathered.merged {
        add_profile(&mut profile, &part)?;
        if let Measurement::Estimated(estimated) = &mut part.measured {
            estimates.add_merged(&part.path, digest_sources(&part.sources), estimated);
        }
        violations.extend(part.verdict.violations);
        unlike.extend(part.verdict.unlike);
    }
    profile.forked = find_forked(&profile);
    let under_way = find_under_way(&profile)?;
    profile.verdict = Verdict::of_profile(&profile, &under_way)?;
    profile.under_way = under_way.silent;
    profile.verdict.unlike = unlike;
    match &profile.measured {
        Measurement::Estimated(_) => {
            let estimated = finish_estimates(&profile, estimates);
            let estimated = estimated
                .map_err(|e| e.into_error(|problem| refuse_foreign_file(path, problem)))?;
            profile.measured = Measurement::Estimated(estimated);
        }
        Measurement::Exact(_) => {
            let findings = verify::verify(&profile)?;
            profile
                .verdict
                .interrupted
                .extend(findings.apart.describe());
            violations.extend(findings.violations);
        }
    }
    profile.verdict.add_violations(violations);
    Ok(profile)
}

/// What was gathered of the program of `profile`, whose scheme estimates.
fn finish_estimates(
    profile: &Profile,
    gathered: data::Gathered,
) -> Result<data::Estimated, Refused> {
    let Measure::Estimated(kind) = profile.manifest.scheme.strategy().measure else {
        unreachable!("its scheme estimates");
    };
    gathered.finish(&data::EstimatedProgram {
        path: &profile.path,
        kind,
        size: profile.manifest.size(),
        canonical: &|copy, f, counts| {
            let canonical = canonical_counts(profile, f, copy, counts);
            canonical.map_err(|problem| {
                let problem = format!("{}: {problem}", profile.name(f));
                Error::profile(&profile.path, problem, "run the program again")
            })
        },
    })
}

/// What `copy` counted in `f`, by canonical ids.
fn canonical_counts(
    profile: &Profile,
    f: FuncId,
    copy: CopyId,
    counts: &BTreeMap<u64, u64>,
) -> Result<Vec<(PathId, u64)>, CountProblem> {
    let entry = profile.entry(f);
    let structure = Structure::new(entry)?;
    let share = entry.share(&structure.cfg, &structure.paths)?;
    let paths = decode_paths(&structure, &share, copy, counts)?;
    Ok(paths.into_iter().collect())
}

/// What is unique to so many raw profiles together.
fn digest_sources(sources: &[[u8; 16]]) -> [u8; 16] {
    let digest = blake3::hash(sources.as_flattened());
    let mut unique = [0; 16];
    unique.copy_from_slice(&digest.as_bytes()[..16]);
    unique
}

/// A profile into which nothing was merged yet: of a program that never ran.
pub fn empty_profile(path: &Path, manifest: Manifest) -> Profile {
    let functions = manifest.functions.len();
    Profile {
        path: path.to_path_buf(),
        processes: ti_vec![Processes::default(); manifest.copies as usize],
        sources: Vec::new(),
        verdict: Verdict::default(),
        measured: Measurement::empty(manifest.scheme.strategy().measure, functions),
        entries: ti_vec![None; functions],
        forked: AllForked::new(),
        forks: ForkCounts::new(),
        threads: Vec::new(),
        under_way: BTreeSet::new(),
        manifest,
    }
}

/// Fills the empty `profile` with what the copies counted; returns where they contradict each other.
fn fill_profile(profile: &mut Profile, by_copy: BTreeMap<CopyId, Copy>) -> Result<Vec<Violation>> {
    let (mut counts, mut threads) = (BTreeMap::new(), CountedByThread::new());
    for (copy, mut of_copy) in by_copy {
        // Only one that is alone has some.
        threads.append(&mut of_copy.threads);
        profile.processes[copy] = of_copy.processes;
        // One copy counts a function's entries.
        for (f, n) in of_copy.entries {
            profile.entries[f].get_or_insert(n);
        }
        // So do all copies that profile a function, with what its children did.
        for (f, counters) in of_copy.forks {
            profile.forks.entry(f).or_insert(counters);
        }
        counts.insert(copy, of_copy.counts);
    }
    check_forks(profile)?;
    profile.verdict = Verdict::of_processes(&profile.manifest, &profile.processes);
    let violations = combine(profile, &counts)?;
    if profile.require_exact().is_ok() {
        profile.threads = by_thread::decode(profile, threads)?;
    }
    Ok(violations)
}

/// Refuses counters of children that a function does not have.
fn check_forks(profile: &Profile) -> Result<()> {
    if have_counters(&profile.manifest, &profile.forks) {
        return Ok(());
    }
    let problem =
        "a raw profile has counters of forked children for blocks that a function does not have";
    Err(Error::profile(
        &profile.path,
        problem,
        "run the copies again",
    ))
}

/// Adds counts and processes of `part`, which is of the same rewriting.
fn add_profile(sum: &mut Profile, part: &Profile) -> Result<()> {
    match (&mut sum.measured, &part.measured) {
        (Measurement::Exact(Exact::Paths(to)), Measurement::Exact(Exact::Paths(from))) => {
            add_counts(to, from, &part.path)?;
        }
        (Measurement::Exact(Exact::Edges(to)), Measurement::Exact(Exact::Edges(from))) => {
            add_counts(to, from, &part.path)?;
        }
        // Of one kind, as the scheme is the same: they are added at once.
        (Measurement::Estimated(_), Measurement::Estimated(_)) => {}
        (Measurement::Exact(_) | Measurement::Estimated(_), _) => {
            return Err(refuse_foreign_file(
                &part.path,
                "it counts by another scheme",
            ));
        }
    }
    for (f, n) in sum.functions().zip(&part.entries) {
        if let Some(n) = n {
            add_or_overflow(sum.entries[f].get_or_insert(0), *n, f, &part.path)?;
        }
    }
    for (f, counters) in &part.forks {
        let to = sum.forks.entry(*f).or_default();
        for (counter, n) in counters {
            add_or_overflow(to.entry(*counter).or_default(), *n, *f, &part.path)?;
        }
    }
    if by_thread::add_rows(&mut sum.threads, &part.threads).is_none() {
        let problem = "a count of a thread overflows";
        return Err(Error::profile(&part.path, problem, "merge fewer runs"));
    }
    for (to, processes) in sum.processes.iter_mut().zip(&part.processes) {
        *to = to.plus(*processes);
    }
    Ok(())
}

fn add_counts<Id: Clone + Ord>(
    sum: &mut ExactCounts<Id>,
    part: &ExactCounts<Id>,
    file: &Path,
) -> Result<()> {
    for ((f, to), from) in sum.iter_mut_enumerated().zip(part) {
        let mut ids: BTreeMap<Id, u64> = to.iter().cloned().collect();
        for (id, n) in from {
            add_or_overflow(ids.entry(id.clone()).or_default(), *n, f, file)?;
        }
        *to = ids.into_iter().collect();
    }
    Ok(())
}

fn add_or_overflow(to: &mut u64, n: u64, func: FuncId, file: &Path) -> Result<()> {
    *to = to.checked_add(n).ok_or_else(|| {
        let problem = format!("a count of function {func} overflows");
        Error::profile(file, problem, "merge fewer runs")
    })?;
    Ok(())
}

fn no_copy_is_missing(profile: &Profile) -> Result<()> {
    let mut missing = Vec::from_iter(copies_needed(&profile.manifest));
    missing.retain(|c| profile.processes[*c].total() == 0);
    if missing.is_empty() {
        return Ok(());
    }
    let mut absent = missing.clone();
    absent.retain(|c| profile.processes[*c].absent > 0);
    if !absent.is_empty() {
        let problem = format!("{} could not write a raw profile", copies_named(&absent));
        let remedy = "see its stderr, give rights or make room there, and run it again (--failure-mode warn goes on \
                      without)";
        return Err(Error::profile(&profile.path, problem, remedy));
    }
    let problem = format!("no raw profile of {}", copies_named(&missing));
    let remedy = "run it, and name its *.p3raw file (--failure-mode warn goes on without)";
    Err(Error::profile(&profile.path, problem, remedy))
}

#[cfg(test)]
mod tests;
