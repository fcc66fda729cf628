//! Files → what the copies of each program counted, in one pass: memory grows with what was counted, and not with the
//! number of files, but for 16 bytes of each.

use super::arguments::ArgumentCounts;
use super::programs::{Program, Programs, refuse_foreign_file};
use super::{FailureMode, add_or_overflow};
use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, FuncId};
use crate::estimates::data;
use crate::profile::by_thread::{self, CountedByThread};
use crate::profile::combine::LocalCounts;
use crate::profile::forks::ForkCounts;
use crate::profile::raw::absent::{self, Absent};
use crate::profile::raw::{self, Raw};
use crate::profile::verdict::{Processes, copies_named};
use crate::profile::{Profile, file};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// What one copy counted, over all its processes.
pub(super) struct Copy {
    pub(super) counts: LocalCounts,
    pub(super) entries: BTreeMap<FuncId, u64>,
    pub(super) forks: ForkCounts,
    /// What threads counted but the first ones.
    pub(super) threads: CountedByThread,
    pub(super) processes: Processes,
    /// Files that one process may have filled one after the other, by what they have in common and their order.
    series: BTreeMap<[u8; 16], BTreeMap<u32, Processes>>,
    /// Of every run.
    pub(super) arguments: ArgumentCounts,
    /// Whether the arguments of every run are known.
    pub(super) all_told: bool,
}

impl Default for Copy {
    fn default() -> Copy {
        Copy {
            counts: LocalCounts::new(),
            entries: BTreeMap::new(),
            forks: ForkCounts::new(),
            threads: CountedByThread::new(),
            processes: Processes::default(),
            series: BTreeMap::new(),
            arguments: ArgumentCounts::default(),
            all_told: true,
        }
    }
}

impl Copy {
    /// Where all files are there that a process filled one after the other, they are one run: it begins with the first
    /// and ends with the last.
    fn join_process_files(&mut self) {
        for files in std::mem::take(&mut self.series).into_values() {
            let last = files.len() as u32 - 1;
            if last == 0 || !files.contains_key(&0) || !files.contains_key(&last) {
                continue;
            }
            for (epoch, file) in files {
                let begun = if epoch > 0 { file.children } else { 0 };
                self.processes.children = self.processes.children.saturating_sub(begun);
                let left = if epoch < last { file.cut_short } else { 0 };
                self.processes.cut_short = self.processes.cut_short.saturating_sub(left);
                // What a process filled before its last file are not its children.
                let children = self.processes.children.min(self.processes.cut_short);
                self.processes.children_cut_short = self.processes.children_cut_short.min(children);
                self.processes.with_threads =
                    self.processes.with_threads.min(self.processes.cut_short);
            }
        }
    }
}

/// What the files hold of one program.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) by_copy: BTreeMap<CopyId, Copy>,
    pub(super) merged: Vec<Profile>,
    /// Of raw profiles.
    pub(super) estimates: data::Gathered,
    pub(super) seen: SeenSources,
}

/// What the files hold, by program, and why some were left out.
pub(super) struct All {
    pub(super) programs: Vec<Gathered>,
    pub(super) warnings: Vec<String>,
}

/// Reads all files.
pub(super) fn gather_files(
    programs: &Programs,
    files: &[PathBuf],
    mode: FailureMode,
) -> Result<All> {
    let mut all = All {
        programs: programs.0.iter().map(|_| Gathered::default()).collect(),
        warnings: Vec::new(),
    };
    each_file(files, |file| {
        match all.take_file(file, programs, files) {
            Err(e) if mode != FailureMode::Any => all.warnings.push(e.to_string()),
            result => result?,
        }
        Ok(())
    })?;
    let mut noted = HashSet::new();
    each_ending(files, absent::EXTENSION, |mark| {
        match all.note_absent(mark, programs, &mut noted) {
            Err(e) if mode != FailureMode::Any => all.warnings.push(e.to_string()),
            result => result?,
        }
        Ok(())
    })?;
    let programs = all.programs.iter_mut();
    for copy in programs.flat_map(|p| p.by_copy.values_mut()) {
        copy.join_process_files();
    }
    Ok(all)
}

impl All {
    fn take_file(&mut self, file: &Path, programs: &Programs, files: &[PathBuf]) -> Result<()> {
        if file::is_one(file) {
            let part = Profile::read(file)?;
            let program = programs.find_index(part.manifest.program_bytes(), file)?;
            can_be_added(&part, file)?;
            let gathered = &mut self.programs[program];
            gathered.seen.refuse_repeated(&part.sources, file, files)?;
            gathered.merged.push(part);
            return Ok(());
        }
        let mut raw = read(file)?;
        let program = programs.find_index(raw.program, file)?;
        check_raw(&raw, &programs.0[program], file)?;
        let gathered = &mut self.programs[program];
        gathered.seen.refuse_repeated(&[raw.unique], file, files)?;
        add_estimates(&mut gathered.estimates, &mut raw, file)?;
        add_raw(gathered.by_copy.entry(raw.copy).or_default(), raw, file)
    }
}

impl All {
    /// Adds a process that left this mark instead of a raw profile, unless it is in `noted`. (One that wrote its raw
    /// profile after all may have been killed before it removed the mark.)
    fn note_absent(
        &mut self,
        mark: &Path,
        programs: &Programs,
        noted: &mut HashSet<[u8; 16]>,
    ) -> Result<()> {
        let absent = Absent::from_mark(mark)?;
        let program = programs.find_index(absent.program, mark)?;
        if absent.copy.0 >= programs.0[program].copies {
            let problem = format!("it is of copy {}", absent.copy);
            return Err(refuse_foreign_file(mark, problem));
        }
        let gathered = &mut self.programs[program];
        if !gathered.seen.0.contains(&absent.unique) && noted.insert(absent.unique) {
            let copy = gathered.by_copy.entry(absent.copy).or_default();
            copy.processes.absent = copy.processes.absent.saturating_add(1);
            copy.all_told = false;
        }
        Ok(())
    }
}

impl Gathered {
    pub(super) fn is_empty(&self) -> bool {
        self.by_copy.is_empty() && self.merged.is_empty()
    }

    /// Messages about copies that were not run as the first one of which all arguments are known.
    pub(super) fn describe_unlike(&self) -> Vec<String> {
        let told = |c: &Copy| c.all_told && c.processes.total() > 0;
        let mut copies = self.by_copy.iter().filter(|(_, c)| told(c));
        let Some((first, expected)) = copies.next() else {
            return Vec::new();
        };
        let mut others: BTreeMap<String, Vec<CopyId>> = BTreeMap::new();
        for (copy, here) in copies {
            let unequal = here.processes.runs != expected.processes.runs;
            if unequal && (here.arguments.has_more() || expected.arguments.has_more()) {
                continue; // a digest says nothing of fewer runs
            }
            if let Some(what) = here.arguments.difference(&expected.arguments) {
                others.entry(what).or_default().push(*copy);
            }
        }
        let line = |(what, of): (&String, &Vec<CopyId>)| {
            let of = copies_named(of);
            format!("{of} ran with other arguments than copy {first}: {what}")
        };
        others.iter().map(line).collect()
    }
}

/// What is unique to each of the raw profiles that were read.
#[derive(Default)]
pub(crate) struct SeenSources(pub(super) HashSet<[u8; 16]>);

impl SeenSources {
    /// Refuses raw profiles that were read before: under another name, from a copy, or in a merged profile. `files`
    /// are all that are read, in order: which was the first is found out when it is asked for.
    pub(crate) fn refuse_repeated(
        &mut self,
        sources: &[[u8; 16]],
        file: &Path,
        files: &[PathBuf],
    ) -> Result<()> {
        if let Some(again) = sources.iter().find(|s| self.0.contains(*s)) {
            let first = first_with(again, files)?;
            let problem = format!("its counts were read before, from {}", first.display());
            return Err(Error::profile(file, problem, "name every run once"));
        }
        self.0.extend(sources);
        Ok(())
    }
}

/// The first of the files that holds the counts of this raw profile.
fn first_with(source: &[u8; 16], files: &[PathBuf]) -> Result<PathBuf> {
    let mut first = None;
    each_file(files, |file| {
        let holds = || {
            if file::is_one(file) {
                Profile::read(file).is_ok_and(|p| p.sources.contains(source))
            } else {
                read(file).is_ok_and(|raw| raw.unique == *source)
            }
        };
        if first.is_none() && holds() {
            first = Some(file.to_path_buf());
        }
        Ok(())
    })?;
    Ok(first.unwrap_or_default())
}

/// A merged profile can be added with all copies. (Where one is missing, counts are those of others that count the
/// same paths, and would be added twice.)
fn can_be_added(part: &Profile, file: &Path) -> Result<()> {
    let Some(gap) = part.verdict.gaps.first() else {
        return Ok(());
    };
    let remedy = "merge the raw profiles themselves";
    Err(Error::profile(
        file,
        format!("it is incomplete: {gap}"),
        remedy,
    ))
}

/// Every file, and every `*.p3raw` file in the folders, that `arguments` name.
pub(crate) fn each_file(
    arguments: &[PathBuf],
    mut each: impl FnMut(&Path) -> Result<()>,
) -> Result<()> {
    for argument in arguments {
        if argument.is_dir() {
            each_ending(std::slice::from_ref(argument), "p3raw", &mut each)?;
        } else {
            each(argument)?;
        }
    }
    Ok(())
}

/// Every file with this extension in the folders among `arguments`; of [`absent::FOLDER`], in which everybody may
/// write, marks alone.
fn each_ending(
    arguments: &[PathBuf],
    extension: &str,
    mut each: impl FnMut(&Path) -> Result<()>,
) -> Result<()> {
    for folder in arguments.iter().filter(|a| a.is_dir()) {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
            let entry = entry.map_err(|e| Error::walk(folder, e))?;
            let path = entry.path();
            let trusted = || path.parent().is_none_or(|p| !p.ends_with(absent::FOLDER));
            let wanted = path.extension().is_some_and(|e| e == extension);
            if wanted && (extension == absent::EXTENSION || trusted()) {
                each(path)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn read(file: &Path) -> Result<Raw> {
    let opened = std::fs::File::open(file).map_err(|e| Error::read(file, e))?;
    raw::read(&opened).map_err(|problem| Error::profile(file, problem, raw::remedy(&opened)))
}

/// Whether `raw` can be of this program, and is whole.
pub(crate) fn check_raw(raw: &Raw, program: &Program, file: &Path) -> Result<()> {
    if raw.copies != program.copies || raw.copy.0 >= raw.copies {
        let problem = format!("it is of copy {} of {}", raw.copy, raw.copies);
        return Err(refuse_foreign_file(file, problem));
    }
    let estimated = raw.estimates.functions();
    let mut functions = raw.functions.keys().copied().chain(estimated);
    if let Some(f) = functions.find(|f| f.index() >= program.functions) {
        return Err(refuse_foreign_file(
            file,
            format!("the manifest has no function {f}"),
        ));
    }
    if raw.lost {
        let problem = "its process ran out of memory or disk and dropped counts";
        let remedy = "make room (ulimit -v, ulimit -f, the disk), and run this copy again";
        return Err(Error::profile(file, problem, remedy));
    }
    Ok(())
}

/// Takes the estimates out of `raw`, which was read from `file`.
pub(super) fn add_estimates(to: &mut data::Gathered, raw: &mut Raw, file: &Path) -> Result<()> {
    let added = to.add(raw.copy, raw.unique, std::mem::take(&mut raw.estimates));
    added.map_err(|problem| Error::profile(file, problem, "run this copy again"))
}

pub(super) fn add_raw(copy: &mut Copy, mut raw: Raw, file: &Path) -> Result<()> {
    // Several copies run several times, and their threads are not the same.
    if raw.copies == 1 && by_thread::take_counts(&mut raw, &mut copy.threads).is_none() {
        let problem = "a count of a thread overflows";
        return Err(Error::profile(file, problem, "merge fewer runs"));
    }
    let mut processes = Processes {
        threads: raw.threads,
        ..Processes::new(raw.runs, raw.children, raw.ended, raw.absent)
    };
    let children_ended = u32::try_from(raw.children_ended).unwrap_or(u32::MAX);
    processes.children_cut_short = processes
        .children
        .saturating_sub(children_ended)
        .min(processes.cut_short);
    let with_threads = u32::try_from(raw.ended_with_threads).unwrap_or(u32::MAX);
    processes.with_threads = with_threads.min(processes.cut_short);
    copy.processes = copy.processes.plus(processes);
    if raw.epoch > 0 || processes.cut_short > 0 {
        copy.series
            .entry(raw.series)
            .or_default()
            .insert(raw.epoch, processes);
    }
    let mut told: u64 = 0;
    for started in raw.started.into_iter().filter(|s| s.runs > 0) {
        let Some(arguments) = started.arguments.get(1..) else {
            continue;
        };
        told = told.saturating_add(started.runs);
        copy.arguments.add(arguments, started.runs);
    }
    copy.all_told &= told == raw.runs;
    for (func, f) in raw.functions {
        let ids = copy.counts.entry(func).or_default();
        for (id, count) in f.counts {
            add_or_overflow(ids.entry(id).or_default(), count, func, file)?;
        }
        for (counter, count) in f.forks {
            let forks = copy.forks.entry(func).or_default();
            add_or_overflow(forks.entry(counter).or_default(), count, func, file)?;
        }
        if let Some(n) = f.entries {
            add_or_overflow(copy.entries.entry(func).or_default(), n, func, file)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
