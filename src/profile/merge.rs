//! Raw profiles of all copies, and merged ones → one profile, with the verdict on it.

use super::combine::{LocalCounts, combine};
use super::measurement::{ExactCounts, Measurement};
use super::raw::{self, Raw};
use super::verdict::{Processes, Verdict, Violation, copies_named, functions, needed};
use super::{Profile, file, verify};
use crate::error::{Error, Result};
use crate::index::{CopyId, FuncId};
use crate::manifest::Manifest;
use std::collections::{BTreeMap, HashMap};
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

/// What one copy counted, over all its processes.
struct Copy {
    counts: LocalCounts,
    entries: BTreeMap<FuncId, u64>,
    processes: Processes,
    /// How many runs had these.
    arguments: BTreeMap<Arguments, u64>,
    /// Whether the arguments of every run are known.
    all_told: bool,
}

impl Default for Copy {
    fn default() -> Copy {
        Copy {
            counts: LocalCounts::new(),
            entries: BTreeMap::new(),
            processes: Processes::default(),
            arguments: BTreeMap::new(),
            all_told: true,
        }
    }
}

/// What follows the name of the program.
type Arguments = Vec<Vec<u8>>;

/// What the files hold.
#[derive(Default)]
struct Gathered {
    by_copy: BTreeMap<CopyId, Copy>,
    merged: Vec<Profile>,
    seen: Seen,
    /// Why files were left out.
    warnings: Vec<String>,
}

/// Merges the files (of any number of runs) named by `files`: raw profiles, folders searched for `*.p3raw`,
/// and profiles that were merged before. The profile's verdict says what was found wrong with the counts.
///
/// # Errors
/// By `mode`: files that are foreign, damaged or named twice, and copies that are missing.
pub fn merge(manifest_path: &Path, files: &[PathBuf], mode: FailureMode) -> Result<Merged> {
    let manifest = Manifest::read(manifest_path)?;
    let gathered = gather(&manifest, files, mode)?;
    if gathered.by_copy.is_empty() && gathered.merged.is_empty() && mode != FailureMode::Warn {
        let problem = "no raw profile of it can be used";
        let remedy = "run the copies, and name their *.p3raw files";
        return Err(Error::profile(manifest_path, problem, remedy));
    }
    let mut profile = empty(manifest_path, manifest);
    let mut unlike = gathered.unlike();
    profile.sources = gathered.seen.0.into_keys().collect();
    profile.sources.sort_unstable();
    let mut violations = counted(&mut profile, gathered.by_copy)?;
    for part in gathered.merged {
        add_profile(&mut profile, &part)?;
        violations.extend(part.verdict.violations);
        unlike.extend(part.verdict.unlike);
    }
    if mode == FailureMode::Any {
        no_copy_is_missing(&profile)?;
    }
    profile.verdict = Verdict::of_processes(&profile.manifest, &profile.processes);
    profile.verdict.unlike = unlike;
    violations.extend(verify::verify(&profile)?.violations);
    profile.verdict.add_violations(violations);
    Ok(Merged {
        profile,
        warnings: gathered.warnings,
    })
}

impl Merged {
    /// What was merged, in one line.
    pub fn line(&self) -> String {
        let p = &self.profile;
        let files = p.sources.len();
        let present = p.processes.iter().filter(|c| c.total() > 0);
        let runs = || present.clone().map(|c| c.runs);
        let (least, most) = (runs().min().unwrap_or(0), runs().max().unwrap_or(0));
        let runs = if least == most {
            format!("{most} of each")
        } else {
            format!("{least} to {most} of each")
        };
        format!(
            "merged {files} raw profiles: {} of {} copies, runs: {runs}; {} of {} ran",
            present.count(),
            p.manifest.copies,
            p.executed().count(),
            functions(p.manifest.functions.len()),
        )
    }
}

/// A profile into which nothing was merged yet.
fn empty(path: &Path, manifest: Manifest) -> Profile {
    let functions = manifest.functions.len();
    Profile {
        path: path.to_path_buf(),
        processes: vec![Processes::default(); manifest.copies as usize],
        sources: Vec::new(),
        verdict: Verdict::default(),
        measured: Measurement::none(manifest.scheme.strategy().measure, functions),
        entries: vec![None; functions],
        manifest,
    }
}

fn gather(manifest: &Manifest, files: &[PathBuf], mode: FailureMode) -> Result<Gathered> {
    let mut gathered = Gathered::default();
    for file in raw_files(files)? {
        match gathered.take(&file, manifest) {
            Ok(()) => {}
            Err(e) if mode == FailureMode::Any => return Err(e),
            Err(e) => gathered.warnings.push(e.to_string()),
        }
    }
    Ok(gathered)
}

impl Gathered {
    fn take(&mut self, file: &Path, manifest: &Manifest) -> Result<()> {
        if file::is_one(file) {
            let part = read_merged(file, manifest)?;
            self.seen.once(&part.sources, file)?;
            self.merged.push(part);
            return Ok(());
        }
        let raw = read(file, manifest)?;
        self.seen.once(&[raw.unique], file)?;
        add(self.by_copy.entry(raw.copy).or_default(), raw, file)
    }

    /// Messages about copies that were not run as the first one of which all arguments are known.
    fn unlike(&self) -> Vec<String> {
        let mut copies = self.by_copy.iter().filter(|(_, c)| c.all_told);
        let Some((first, expected)) = copies.next() else {
            return Vec::new();
        };
        let mut others: BTreeMap<(String, String), Vec<CopyId>> = BTreeMap::new();
        for (copy, here) in copies {
            if let Some((a, b)) = first_difference(&here.arguments, &expected.arguments) {
                others.entry((told(a), told(b))).or_default().push(*copy);
            }
        }
        let line = |((a, b), of): (&(String, String), &Vec<CopyId>)| {
            let of = copies_named(of);
            format!("{of} ran with other arguments than copy {first}: {a} instead of {b}")
        };
        others.iter().map(line).collect()
    }
}

/// The first arguments that are not the same, where both are in order, as often as there were runs with them; that one has more
/// runs is no difference.
fn first_difference<'a>(
    a: &'a BTreeMap<Arguments, u64>,
    b: &'a BTreeMap<Arguments, u64>,
) -> Option<(&'a Arguments, &'a Arguments)> {
    let (mut a, mut b) = (a.iter(), b.iter());
    let (mut of_a, mut of_b) = (a.next()?, b.next()?);
    let (mut left_a, mut left_b) = (*of_a.1, *of_b.1);
    while of_a.0 == of_b.0 {
        let same = left_a.min(left_b);
        (left_a, left_b) = (left_a - same, left_b - same);
        if left_a == 0 {
            of_a = a.next()?;
            left_a = *of_a.1;
        }
        if left_b == 0 {
            of_b = b.next()?;
            left_b = *of_b.1;
        }
    }
    Some((of_a.0, of_b.0))
}

/// The arguments for people, quoted where a shell would not take them as they are.
fn told(arguments: &Arguments) -> String {
    const LONGEST: usize = 200;
    let words: Vec<String> = arguments.iter().map(|a| quoted(a)).collect();
    let mut text = words.join(" ");
    if let Some((at, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(at);
        text.push('…');
    }
    if text.is_empty() { "none".into() } else { text }
}

fn quoted(argument: &[u8]) -> String {
    let text = String::from_utf8_lossy(argument);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("{text:?}")
    }
}

/// The raw profiles that were read, by what is unique to each, and where.
#[derive(Default)]
pub(super) struct Seen(HashMap<[u8; 16], PathBuf>);

impl Seen {
    /// Refuses raw profiles that were read before: under another name, from a copy, or in a merged profile.
    pub(super) fn once(&mut self, sources: &[[u8; 16]], file: &Path) -> Result<()> {
        if let Some(first) = sources.iter().find_map(|s| self.0.get(s)) {
            let problem = format!("its counts were read before, from {}", first.display());
            return Err(Error::profile(file, problem, "name every run once"));
        }
        let sources = sources.iter().map(|s| (*s, file.to_path_buf()));
        self.0.extend(sources);
        Ok(())
    }
}

/// Fills the empty `profile` with what the copies counted; returns where they contradict each other.
fn counted(profile: &mut Profile, by_copy: BTreeMap<CopyId, Copy>) -> Result<Vec<Violation>> {
    let mut counts = BTreeMap::new();
    for (copy, of_copy) in by_copy {
        profile.processes[copy.index()] = of_copy.processes;
        // One copy counts a function's entries.
        for (f, n) in of_copy.entries {
            profile.entries[f.index()].get_or_insert(n);
        }
        counts.insert(copy, of_copy.counts);
    }
    profile.verdict = Verdict::of_processes(&profile.manifest, &profile.processes);
    combine(profile, &counts)
}

/// A merged profile of the same rewriting that can be added: with all copies. (Where one is missing, counts are
/// those of others that count the same paths, and would be added twice.)
fn read_merged(file: &Path, manifest: &Manifest) -> Result<Profile> {
    let part = Profile::read(file)?;
    if part.manifest.program != manifest.program {
        return Err(foreign(
            file,
            "it is of another program, or of another rewriting of it",
        ));
    }
    match part.verdict.gaps.first() {
        Some(gap) => {
            let remedy = "merge the raw profiles themselves";
            Err(Error::profile(
                file,
                format!("it is incomplete: {gap}"),
                remedy,
            ))
        }
        None => Ok(part),
    }
}

/// Adds counts and processes of `part`, which is of the same rewriting.
fn add_profile(sum: &mut Profile, part: &Profile) -> Result<()> {
    match (&mut sum.measured, &part.measured) {
        (Measurement::Paths(to), Measurement::Paths(from)) => add_counts(to, from, &part.path)?,
        (Measurement::Edges(to), Measurement::Edges(from)) => add_counts(to, from, &part.path)?,
        (Measurement::Paths(_) | Measurement::Edges(_), _) => {
            return Err(foreign(&part.path, "it counts by another scheme"));
        }
    }
    for (f, n) in sum.functions().zip(&part.entries) {
        if let Some(n) = n {
            plus(sum.entries[f.index()].get_or_insert(0), *n, f, &part.path)?;
        }
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
    for (i, (to, from)) in sum.iter_mut().zip(part).enumerate() {
        let mut ids: BTreeMap<Id, u64> = to.iter().cloned().collect();
        for (id, n) in from {
            plus(ids.entry(id.clone()).or_default(), *n, FuncId::new(i), file)?;
        }
        *to = ids.into_iter().collect();
    }
    Ok(())
}

fn plus(to: &mut u64, n: u64, func: FuncId, file: &Path) -> Result<()> {
    *to = to.checked_add(n).ok_or_else(|| {
        let problem = format!("a count of function {func} overflows");
        Error::profile(file, problem, "merge fewer runs")
    })?;
    Ok(())
}

/// The files, and the `*.p3raw` files in the folders, that `arguments` name.
pub(super) fn raw_files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for argument in arguments {
        if !argument.is_dir() {
            files.push(argument.clone());
            continue;
        }
        for entry in walkdir::WalkDir::new(argument).sort_by_file_name() {
            let entry = entry.map_err(|e| Error::read(argument, e.into()))?;
            if entry.path().extension().is_some_and(|e| e == "p3raw") {
                files.push(entry.into_path());
            }
        }
    }
    Ok(files)
}

pub(super) fn read(file: &Path, manifest: &Manifest) -> Result<Raw> {
    let opened = std::fs::File::open(file).map_err(|e| Error::read(file, e))?;
    let raw = raw::read(&opened)
        .map_err(|problem| Error::profile(file, problem, "run this copy again"))?;
    check(&raw, manifest, file)?;
    Ok(raw)
}

/// Whether `raw` is of this rewriting, and whole.
fn check(raw: &Raw, manifest: &Manifest, file: &Path) -> Result<()> {
    if raw.program != manifest.program_bytes() {
        return Err(foreign(
            file,
            "it is of another program, or of another rewriting of it",
        ));
    }
    if raw.copies != manifest.copies || raw.copy.0 >= raw.copies {
        let problem = format!("it is of copy {} of {}", raw.copy, raw.copies);
        return Err(foreign(file, problem));
    }
    let mut functions = raw.functions.keys();
    if let Some(f) = functions.find(|f| f.index() >= manifest.functions.len()) {
        return Err(foreign(file, format!("the manifest has no function {f}")));
    }
    if raw.lost {
        let problem = "its process ran out of memory or disk and dropped counts";
        let remedy = "make room (ulimit -v, ulimit -f, the disk), and run this copy again";
        return Err(Error::profile(file, problem, remedy));
    }
    Ok(())
}

fn foreign(file: &Path, problem: impl Into<String>) -> Error {
    let remedy = "name the manifest.json of the copies that ran";
    Error::profile(file, problem, remedy)
}

fn add(copy: &mut Copy, raw: Raw, file: &Path) -> Result<()> {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    copy.processes = copy.processes.plus(Processes {
        runs: number(raw.runs),
        children: number(raw.children),
        cut_short: number((raw.runs + raw.children).saturating_sub(raw.ended)),
    });
    let mut told: u64 = 0;
    for started in raw.started.into_iter().filter(|s| s.runs > 0) {
        let Some(arguments) = started.arguments.get(1..) else {
            continue;
        };
        told = told.saturating_add(started.runs);
        let runs = copy.arguments.entry(arguments.to_vec()).or_default();
        *runs = runs.saturating_add(started.runs);
    }
    copy.all_told &= told == raw.runs;
    for (func, f) in raw.functions {
        let ids = copy.counts.entry(func).or_default();
        for (id, count) in f.counts {
            plus(ids.entry(id).or_default(), count, func, file)?;
        }
        if let Some(n) = f.entries {
            plus(copy.entries.entry(func).or_default(), n, func, file)?;
        }
    }
    Ok(())
}

fn no_copy_is_missing(profile: &Profile) -> Result<()> {
    let mut missing = Vec::from_iter(needed(&profile.manifest));
    missing.retain(|c| profile.processes[c.index()].total() == 0);
    if missing.is_empty() {
        return Ok(());
    }
    let problem = format!("no raw profile of {}", copies_named(&missing));
    let remedy = "run it, and name its *.p3raw file (--failure-mode warn goes on without)";
    Err(Error::profile(&profile.path, problem, remedy))
}

#[cfg(test)]
mod tests;
