//! Raw profiles of all copies → one profile.

use super::decode::decode;
use super::raw::{self, Raw};
use super::{Profile, Structure};
use crate::error::{Error, Result};
use crate::index::{CopyId, FuncId, PathId};
use crate::manifest::{FunctionEntry, Manifest, ShareEntry};
use crate::partition::{Owners, Share};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What to do about raw files that cannot be used, and about copies that are missing or disagree:
/// as in llvm-profdata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
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
    /// One line for everything that [`FailureMode::Any`] would have refused.
    pub warnings: Vec<String>,
}

/// What one copy counted, over all its processes.
#[derive(Default)]
struct Copy {
    counts: BTreeMap<FuncId, BTreeMap<u64, u64>>,
    entries: BTreeMap<FuncId, u64>,
}

/// Merges the raw files (of any number of runs) named by `files`, folders searched for `*.p3raw`.
///
/// # Errors
/// By `mode`: files that are foreign or damaged, copies that are missing, copies that disagree
/// about a path which both counted.
pub fn merge(manifest_path: &Path, files: &[PathBuf], mode: FailureMode) -> Result<Merged> {
    let manifest = Manifest::read(manifest_path)?;
    let mut warnings = Vec::new();
    let mut by_copy: BTreeMap<CopyId, Copy> = BTreeMap::new();
    let (mut used, mut cut_short, mut children) = (0, 0, 0);
    for file in raw_files(files)? {
        match read(&file, &manifest) {
            Ok(raw) => {
                cut_short += u32::from(!raw.ended);
                children += u32::from(raw.child);
                add(by_copy.entry(raw.copy).or_default(), raw, &file)?;
                used += 1;
            }
            Err(e) if mode == FailureMode::Any => return Err(e),
            Err(e) => warnings.push(e.to_string()),
        }
    }
    if used == 0 && mode != FailureMode::Warn {
        let problem = "no raw profile of it can be used";
        return Err(Error::profile(
            manifest_path,
            problem,
            "run the copies, and name their *.p3raw files",
        ));
    }
    let missing = missing_copies(&manifest, &by_copy);
    if let Some(error) = missing_error(manifest_path, &missing) {
        match mode {
            FailureMode::Any => return Err(error),
            _ => warnings.push(error.to_string()),
        }
    }
    let (counts, disagreements) = combine(manifest_path, &manifest, &by_copy)?;
    if let (Some(first), FailureMode::Any) = (disagreements.first(), mode) {
        return Err(disagreement(manifest_path, first, disagreements.len()));
    }
    warnings.extend(disagreements);
    let path = manifest_path.to_path_buf();
    let profile = Profile {
        path,
        entries: entries(&manifest, &by_copy),
        manifest,
        files: used,
        cut_short,
        children,
        missing,
        counts,
    };
    Ok(Merged { profile, warnings })
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
    let bytes = std::fs::read(file).map_err(|e| Error::read(file, e))?;
    let raw = raw::parse(&bytes)
        .map_err(|problem| Error::profile(file, problem, "run this copy again"))?;
    check(&raw, manifest)
        .map_err(|p| Error::profile(file, p, "name the manifest.json of the copies that ran"))?;
    Ok(raw)
}

fn check(raw: &Raw, manifest: &Manifest) -> Result<(), String> {
    if raw.program != manifest.program_bytes() {
        return Err("it is of another program, or of another rewriting of it".into());
    }
    if raw.lost {
        return Err("its process ran out of memory or disk and dropped counts".into());
    }
    if raw.copies != manifest.copies || raw.copy.0 >= raw.copies {
        return Err(format!("it is of copy {} of {}", raw.copy, raw.copies));
    }
    match raw
        .functions
        .keys()
        .find(|f| f.index() >= manifest.functions.len())
    {
        Some(f) => Err(format!("the manifest has no function {f}")),
        None => Ok(()),
    }
}

fn add(copy: &mut Copy, raw: Raw, file: &Path) -> Result<()> {
    let sum = |to: &mut u64, n: u64, func: FuncId| {
        *to = to.checked_add(n).ok_or_else(|| {
            let problem = format!("a count of function {func} overflows");
            Error::profile(file, problem, "merge fewer runs")
        })?;
        Ok::<_, Error>(())
    };
    for (func, f) in raw.functions {
        let ids = copy.counts.entry(func).or_default();
        for (id, count) in f.counts {
            sum(ids.entry(id).or_default(), count, func)?;
        }
        if let Some(n) = f.entries {
            sum(copy.entries.entry(func).or_default(), n, func)?;
        }
    }
    Ok(())
}

/// By function: its entries, where a copy that ran has counted them.
fn entries(manifest: &Manifest, by_copy: &BTreeMap<CopyId, Copy>) -> Vec<Option<u64>> {
    let of = |i| {
        by_copy
            .values()
            .find_map(|c| c.entries.get(&FuncId::new(i)).copied())
    };
    (0..manifest.functions.len()).map(of).collect()
}

/// The copies that profile something and have left no file.
fn missing_copies(manifest: &Manifest, by_copy: &BTreeMap<CopyId, Copy>) -> Vec<CopyId> {
    let mut needed = BTreeSet::new();
    for f in &manifest.functions {
        match &f.share {
            ShareEntry::Nothing => {}
            ShareEntry::Whole(c) => drop(needed.insert(*c)),
            ShareEntry::Split(sets) => needed.extend(sets.iter().map(|(c, _)| *c)),
        }
    }
    needed
        .into_iter()
        .filter(|c| !by_copy.contains_key(c))
        .collect()
}

fn missing_error(manifest: &Path, missing: &[CopyId]) -> Option<Error> {
    if missing.is_empty() {
        return None;
    }
    let names: Vec<String> = missing.iter().map(CopyId::to_string).collect();
    let problem = format!("no raw profile of copy {}", names.join(", "));
    let remedy = "run it, and name its *.p3raw file (--failure-mode warn goes on without)";
    Some(Error::profile(manifest, problem, remedy))
}

fn disagreement(manifest: &Path, first: &str, count: usize) -> Error {
    let problem = format!("copies did not run alike: {first} ({count} in all)");
    let remedy = "give all copies the same input and environment, and run them again";
    Error::profile(manifest, problem, remedy)
}

/// Counts by function, and where copies disagree.
type Combined = (Vec<Vec<(PathId, u64)>>, Vec<String>);

fn combine(path: &Path, manifest: &Manifest, by_copy: &BTreeMap<CopyId, Copy>) -> Result<Combined> {
    let functions = manifest.functions.par_iter().enumerate().map(|(i, entry)| {
        let func = FuncId::new(i);
        let counts = by_copy
            .iter()
            .filter_map(|(c, counts)| Some((*c, counts.counts.get(&func)?)));
        combine_function(entry, &counts.collect::<Vec<_>>()).map_err(|p| {
            Error::profile(path, format!("{}: {p}", entry.name), "run the copies again")
        })
    });
    let (mut counts, mut disagreements) = (Vec::new(), Vec::new());
    for (ids, problem) in functions.collect::<Result<Vec<_>>>()? {
        counts.push(ids.into_iter().collect());
        disagreements.extend(problem);
    }
    Ok((counts, disagreements))
}

/// The counts of one function and the first disagreement about it.
fn combine_function(
    entry: &FunctionEntry,
    counts: &[(CopyId, &BTreeMap<u64, u64>)],
) -> Result<(BTreeMap<PathId, u64>, Option<String>), String> {
    if counts.iter().all(|(_, ids)| ids.is_empty()) {
        return Ok((BTreeMap::new(), None));
    }
    let structure = Structure::new(entry)?;
    let share = entry.share(structure.paths.dag.edges().len())?;
    let total = match &structure.paths.counted {
        Some(counted) => counted.count_ones(..) as u64,
        None => structure.paths.numbering.total(),
    };
    let mut said: BTreeMap<CopyId, BTreeMap<PathId, u64>> = BTreeMap::new();
    for &(copy, ids) in counts {
        if let Some((id, _)) = ids.range(total..).next() {
            return Err(format!("copy {copy} counted id {id} of {total}"));
        }
        said.insert(copy, decode(&structure, &share, copy, ids)?);
    }
    if let Share::Whole(copy) = share {
        return Ok((said.remove(&copy).unwrap_or_default(), None));
    }
    agree(entry, &structure, &share, &said)
}

/// Takes every path's count from its owner (the first copy that counts it and has run) and
/// compares what the other copies that count it say.
fn agree(
    entry: &FunctionEntry,
    structure: &Structure,
    share: &Share,
    said: &BTreeMap<CopyId, BTreeMap<PathId, u64>>,
) -> Result<(BTreeMap<PathId, u64>, Option<String>), String> {
    let (dag, numbering) = (&structure.paths.dag, &structure.paths.numbering);
    let (mut merged, mut problem) = (BTreeMap::new(), None);
    let owners = Owners(share);
    let ids: BTreeSet<PathId> = said.values().flat_map(|ids| ids.keys().copied()).collect();
    for id in ids {
        let edges = numbering.decode(dag, id).ok_or("an id that no path has")?;
        let copies = owners.of(&edges);
        let counts = copies.filter_map(|c| Some((c, said.get(&c)?.get(&id).copied().unwrap_or(0))));
        let counts: Vec<(CopyId, u64)> = counts.collect();
        let (owner, count) = *counts.first().ok_or("a path that no copy owns")?;
        if count != 0 {
            merged.insert(id, count);
        }
        if let (None, Some((c, n))) = (&problem, counts.iter().find(|(_, n)| *n != count)) {
            let name = &entry.name;
            problem = Some(format!(
                "{name}, path {id}: copy {owner} counted {count}, copy {c} {n}"
            ));
        }
    }
    Ok((merged, problem))
}
