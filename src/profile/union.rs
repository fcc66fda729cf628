//! One profile of several programs: functions that they share have their counts added.
//!
//! Two functions are one if they are the same within one set of builds ([`super::matching`]) and have the same blocks,
//! edges and cut edges: then their path ids mean the same paths. All else stays apart. What results is a profile of one
//! copy.

mod evidence;
mod news;

pub use news::is_residual;

use super::Profile;
use super::flow::flow;
use super::forks::{AllForked, ForkCounts, Forked};
use super::matching::{Build, Files, Places};
use super::measurement::{Exact, Measurement};
use super::verdict::{Processes, Verdict, Violation};
use crate::base::error::{Error, Result};
use crate::base::index::{BlockId, CopyId, FuncId, ModuleId, PathId, TiSlice, TiVec, ti_vec};
use crate::base::names::escape_unprintable;
use crate::copies::strategy::Scheme;
use crate::input::ir::Loc;
use crate::input::load::positions::Inlined;
use crate::profile::manifest::{FunctionEntry, Manifest, ModuleEntry, ShareEntry};
use evidence::{Evidence, Partial};
use news::News;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A profile of several programs.
pub struct Union {
    /// The profile.
    pub profile: Profile,
    /// How many of its functions are of more than one program.
    pub shared: usize,
    /// Functions that were skipped in some program, and so lack its counts.
    pub partly: usize,
    /// By program, then function: the function of `profile` that it is.
    pub places: Vec<TiVec<FuncId, FuncId>>,
}

/// Where the programs of a union were built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builds {
    /// By one build: sources of other names are other sources, whatever their content.
    One,
    /// By several, perhaps in other folders: where a program has no source of a name that another has, and one of equal
    /// content, its folder has moved.
    Several,
}

/// A union under way.
struct UnionInProgress {
    manifest: Manifest,
    builds: Builds,
    files: Files,
    /// By name and hash.
    modules: HashMap<(String, String), ModuleId>,
    places: Places,
    functions: TiVec<FuncId, Sum>,
    /// Whether every program that ran says which paths were known (`new:`).
    is_residual: bool,
}

/// What was counted in a function.
#[derive(Default)]
struct Sum {
    counts: BTreeMap<PathId, u64>,
    entered: u64,
    /// Whether entries were counted in some program: paths do not tell how often it was entered.
    entries: bool,
    programs: usize,
    skipped: bool,
    evidence: Evidence,
    news: News,
}

/// Joins profiles of paths, in their order. O(size of the profiles, and of the paths of functions that may be left
/// early).
///
/// # Errors
/// A profile is not of paths, or holds a raw profile that another holds, too; a count overflows.
pub fn union(profiles: &[Profile]) -> Result<Union> {
    union_with_baseline(profiles, &[], Builds::Several)
}

/// Joins profiles as [`union`] does, and then a `baseline`: what was compiled and is in no program. A function of the
/// baseline that a program has, or an earlier profile of the baseline, is left out, whatever its control flow: compiled
/// elsewhere, an inline function may have another.
///
/// # Errors
/// As of [`union`].
///
/// # Panics
/// There are no profiles.
pub fn union_with_baseline(
    profiles: &[Profile],
    baseline: &[Profile],
    builds: Builds,
) -> Result<Union> {
    // Before anything is added: a raw profile that two of them hold would count twice.
    let sources = collect_sources(profiles)?;
    let all: Vec<&Profile> = profiles.iter().chain(baseline).collect();
    let mut joined = UnionInProgress::new(&all, builds);
    let mut verdict = Verdict::default();
    let mut processes = Processes::default();
    let mut places = Vec::new();
    let (mut forked, mut forks) = (AllForked::new(), ForkCounts::new());
    let mut under_way = BTreeSet::new();
    for profile in profiles {
        let to = joined.add_program(profile)?;
        let name = profile.path.display().to_string();
        // Numbers of copies are those of one program, so each line says of which.
        let said = |lines: &[String]| -> Vec<String> {
            let name = escape_unprintable(&name);
            lines.iter().map(|l| format!("{name}: {l}")).collect()
        };
        verdict.gaps.extend(said(&profile.verdict.gaps));
        verdict
            .interrupted
            .extend(said(&profile.verdict.interrupted));
        verdict.threads.extend(said(&profile.verdict.threads));
        verdict.unlike.extend(said(&profile.verdict.unlike));
        verdict.notes.extend(said(&profile.verdict.notes));
        let violations = profile.verdict.violations.iter().map(|v| Violation {
            function: to[v.function],
            ..v.clone()
        });
        verdict.add_violations(violations);
        processes = processes.plus(most_processes(&profile.processes));
        for (f, counters) in &profile.forks {
            let to = forks.entry(to[*f]).or_default();
            for (counter, n) in counters {
                let sum: &mut u64 = to.entry(*counter).or_default();
                *sum = sum.saturating_add(*n);
            }
        }
        for (f, of_f) in &profile.forked {
            let joined = forked.entry(to[*f]).or_insert_with(|| Forked {
                most: 0,
                ..of_f.clone()
            });
            joined.add(of_f);
        }
        under_way.extend(profile.under_way.iter().map(|f| to[*f]));
        places.push(to);
    }
    // Last, since what any program has is not taken from the baseline.
    for profile in baseline {
        joined.add_unless(profile, UnionInProgress::find_present)?;
    }
    let files = std::mem::take(&mut joined.files);
    (joined.manifest.files, joined.manifest.checksums) = files.into_lists();
    // Which paths a run left to others is known when all have been read.
    joined.settle_evidence()?;
    let shared = joined.functions.iter().filter(|s| s.programs > 1).count();
    let skipped = |(entry, sum): &(&FunctionEntry, &Sum)| sum.skipped && !entry.status.is_skipped();
    let all = joined.manifest.functions.iter().zip(&joined.functions);
    let partly = all.filter(skipped).count();
    let counts = joined
        .functions
        .iter()
        .map(|s| s.counts.iter().map(|(id, n)| (*id, *n)).collect());
    let profile = Profile {
        path: PathBuf::new(),
        processes: ti_vec![processes],
        sources,
        verdict,
        measured: Measurement::Exact(Exact::Paths(counts.collect())),
        entries: joined
            .functions
            .iter()
            .map(|s| s.entries.then_some(s.entered))
            .collect(),
        forked,
        forks,
        threads: Vec::new(),
        under_way,
        manifest: joined.manifest,
    };
    Ok(Union {
        profile,
        shared,
        partly,
        places,
    })
}

/// What is unique to every raw profile, ascending.
fn collect_sources(profiles: &[Profile]) -> Result<Vec<[u8; 16]>> {
    let mut all: BTreeMap<[u8; 16], &Path> = BTreeMap::new();
    for profile in profiles {
        for source in &profile.sources {
            if let Some(other) = all.insert(*source, &profile.path) {
                let problem = format!("it holds a run that is also in {}", other.display());
                return Err(Error::profile(&profile.path, problem, "name each run once"));
            }
        }
    }
    Ok(all.into_keys().collect())
}

/// The schemes of these profiles and of those that they are unions of, in the order of the table.
fn united_schemes(profiles: &[&Profile]) -> Vec<Scheme> {
    let has = |manifest: &Manifest, scheme: &Scheme| match &manifest.united[..] {
        [] => manifest.scheme == *scheme,
        united => united.contains(scheme),
    };
    let is_there = |scheme: &&Scheme| profiles.iter().any(|p| has(&p.manifest, scheme));
    Scheme::ALL.iter().filter(is_there).copied().collect()
}

/// The processes of a program, of which every copy runs all.
fn most_processes(copies: &TiSlice<CopyId, Processes>) -> Processes {
    let most = |of: fn(&Processes) -> u32| copies.iter().map(of).max().unwrap_or(0);
    Processes {
        runs: most(|p| p.runs),
        children: most(|p| p.children),
        cut_short: most(|p| p.cut_short),
        with_threads: most(|p| p.with_threads),
        children_cut_short: most(|p| p.children_cut_short),
        absent: most(|p| p.absent),
        threads: copies.iter().map(|p| p.threads).max().unwrap_or_default(),
    }
}

impl UnionInProgress {
    fn new(profiles: &[&Profile], builds: Builds) -> UnionInProgress {
        let mut identity = blake3::Hasher::new();
        let programs: BTreeSet<&str> = profiles
            .iter()
            .map(|p| p.manifest.program.as_str())
            .collect();
        for program in programs {
            identity.update(program.as_bytes());
        }
        let first = &profiles[0].manifest;
        UnionInProgress {
            manifest: Manifest {
                format: first.format.clone(),
                version: first.version,
                tool: first.tool.clone(),
                program: identity.finalize().to_hex()[..32].to_string(),
                scheme: Scheme::Sbl,
                copies: 1,
                united: united_schemes(profiles),
                files: Vec::new(),
                checksums: Vec::new(),
                inlined: Vec::new(),
                paths: Vec::new(),
                outside: Some(Vec::new()),
                starters: None,
                modules: TiVec::new(),
                functions: TiVec::new(),
            },
            builds,
            files: Files::default(),
            modules: HashMap::new(),
            is_residual: true,
            places: Places::default(),
            functions: TiVec::new(),
        }
    }

    /// Adds a program's functions and counts; where its functions are now.
    fn add_program(&mut self, profile: &Profile) -> Result<TiVec<FuncId, FuncId>> {
        self.add_unless(profile, |_, _| None)
    }

    /// Adds what a profile has, but functions that are `present`, of which another is there.
    fn add_unless(
        &mut self,
        profile: &Profile,
        present: impl Fn(&UnionInProgress, &FunctionEntry) -> Option<FuncId>,
    ) -> Result<TiVec<FuncId, FuncId>> {
        profile.paths()?;
        for spec in &profile.manifest.paths {
            if !self.manifest.paths.contains(spec) {
                self.manifest.paths.push(spec.clone());
            }
        }
        let files = self.add_files(&profile.manifest);
        let inlined = self.add_inlined(&profile.manifest, &files);
        let outside = self.add_outside(&profile.manifest);
        let modules: TiVec<ModuleId, ModuleId> = profile
            .manifest
            .modules
            .iter()
            .map(|m| self.number_of_module(m))
            .collect();
        let known = self.functions.next_key();
        let entries = profile.manifest.functions.iter().map(|entry| {
            let mut entry = entry.clone();
            entry.map_positions(&files, inlined);
            match &outside {
                Some(numbers) => entry.map_outside(numbers),
                None => entry.outside.clear(),
            }
            for body in &mut entry.bodies {
                body.module = modules[body.module];
            }
            entry
        });
        let entries: Vec<FunctionEntry> = entries.collect();
        let there: Vec<Option<FuncId>> = entries.iter().map(|e| present(self, e)).collect();
        let same = self.find_same(&entries, &there);
        let (mut to, mut is_present) = (TiVec::new(), Vec::new());
        for ((entry, there), same) in entries.into_iter().zip(there).zip(same) {
            is_present.push(there.is_some());
            to.push(match (there, same) {
                (Some(there), _) => there,
                (None, Some(same)) => {
                    self.join_function(same, entry);
                    same
                }
                (None, None) => self.push(entry),
            });
        }
        let all = profile.functions().zip(&to).zip(is_present);
        for ((f, now), _) in all.filter(|(_, is_present)| !is_present) {
            self.link_calls(profile.entry(f), *now, &to, *now >= known);
            self.count(profile, f, *now)?;
        }
        Ok(to)
    }

    /// The numbers of a program's files.
    fn add_files(&mut self, manifest: &Manifest) -> Vec<u32> {
        let own = Build::of_manifest(manifest);
        let names = match self.builds {
            Builds::One => own.files.iter().map(|f| f.0.into()).collect(),
            Builds::Several => self.files.rename_moved(&own),
        };
        let files = names.iter().zip(&own.files);
        files
            .map(|(name, (_, checksum))| self.files.add(name, checksum))
            .collect()
    }

    /// Adds a program's inlined calls behind those that are there, of which there are so many.
    fn add_inlined(&mut self, manifest: &Manifest, files: &[u32]) -> u32 {
        let before = self.manifest.inlined.len() as u32;
        let moved = manifest.inlined.iter().map(|call| Inlined {
            file: files[call.file as usize],
            within: call.within.map(|n| n + before),
            ..call.clone()
        });
        self.manifest.inlined.extend(moved);
        before
    }

    /// The numbers of a program's symbols outside. `None` if this or an earlier program does not list them: then none
    /// are known.
    fn add_outside(&mut self, manifest: &Manifest) -> Option<Vec<u32>> {
        let Some(symbols) = &manifest.outside else {
            self.manifest.outside = None;
            for entry in &mut self.manifest.functions {
                entry.outside.clear();
            }
            return None;
        };
        let known = self.manifest.outside.as_mut()?;
        let mut numbers: HashMap<String, u32> = known.iter().cloned().zip(0..).collect();
        let number = |symbol: &String| {
            *numbers.entry(symbol.clone()).or_insert_with(|| {
                known.push(symbol.clone());
                known.len() as u32 - 1
            })
        };
        Some(symbols.iter().map(number).collect())
    }

    fn number_of_module(&mut self, module: &ModuleEntry) -> ModuleId {
        let next = ModuleId::new(self.modules.len());
        let key = (module.name.clone(), module.hash.clone());
        *self.modules.entry(key).or_insert_with(|| {
            self.manifest.modules.push(module.clone());
            next
        })
    }

    /// Which functions of other programs those of a program are, each at most once: those of the same modules first, so
    /// that of a static function of a header that many modules have each finds its own. None for those that are
    /// `there`.
    fn find_same(
        &self,
        entries: &[FunctionEntry],
        there: &[Option<FuncId>],
    ) -> Vec<Option<FuncId>> {
        let mut taken: HashSet<FuncId> = HashSet::new();
        let mut same = vec![None; entries.len()];
        let is_same = |f: FuncId, entry| {
            let there = &self.manifest.functions[f];
            same_paths(there, entry) && has_same_lines(there, entry)
        };
        for (i, entry) in entries.iter().enumerate() {
            if there[i].is_none() {
                let mut in_module = self.places.in_module(entry);
                same[i] = in_module.find(|f| !taken.contains(f) && is_same(*f, entry));
                taken.extend(same[i]);
            }
        }
        // How many functions at the front of each list are taken, so that long lists are not searched again and again.
        let mut fronts: HashMap<*const FuncId, usize> = HashMap::new();
        for (i, entry) in entries.iter().enumerate() {
            if there[i].is_some() || same[i].is_some() {
                continue;
            }
            let all = self.places.of_source(entry);
            let front = fronts.entry(all.as_ptr()).or_default();
            while all.get(*front).is_some_and(|f| taken.contains(f)) {
                *front += 1;
            }
            let mut rest = all[*front..].iter().copied();
            same[i] = rest.find(|f| !taken.contains(f) && is_same(*f, entry));
            taken.extend(same[i]);
        }
        same
    }

    /// Adds a function that no other program has.
    fn push(&mut self, entry: FunctionEntry) -> FuncId {
        let f = self.functions.next_key();
        self.places.insert(f, &entry);
        self.functions.push(Sum::default());
        self.manifest.functions.push(make_whole_entry(entry));
        f
    }

    /// Where a function is that was compiled from the same lines as `entry`.
    fn find_present(&self, entry: &FunctionEntry) -> Option<FuncId> {
        let (modules, functions) = (&self.manifest.modules, &self.manifest.functions);
        self.places.find_compiled(entry, modules, functions)
    }

    /// Joins what another program knows of function `f`.
    fn join_function(&mut self, f: FuncId, mut other: FunctionEntry) {
        self.places.insert_bodies(f, &other);
        let entry = &mut self.manifest.functions[f];
        if entry.status.is_skipped() && !other.status.is_skipped() {
            let profiled = make_whole_entry(FunctionEntry {
                // These are of this union already.
                calls: std::mem::take(&mut entry.calls),
                unit: entry.unit,
                ..other
            });
            other = std::mem::replace(entry, profiled);
        }
        entry.bodies.extend(other.bodies.iter().copied());
        entry.bodies.sort_by_key(|b| (b.module, b.ordinal));
        entry.bodies.dedup();
        entry.address_taken |= other.address_taken;
        entry.recursive |= other.recursive;
        entry.call_sites = entry.call_sites.max(other.call_sites);
        let both = entry.left_outside.take().zip(other.left_outside);
        entry.left_outside = both.map(|(own, others)| join_calls(own, others));
        for (blocks, more) in [
            (&mut entry.may_leave, other.may_leave),
            (&mut entry.left_at_end, other.left_at_end),
            (&mut entry.returns_twice, other.returns_twice),
        ] {
            blocks.extend(more);
            blocks.sort();
            blocks.dedup();
        }
    }

    /// Says whom function `now` calls, and which is its unit. Where programs say otherwise, whoever is called may be
    /// called elsewhere.
    fn link_calls(
        &mut self,
        entry: &FunctionEntry,
        now: FuncId,
        to: &TiSlice<FuncId, FuncId>,
        is_new: bool,
    ) {
        let call = |&(f, span): &(FuncId, u32)| (to[f], span);
        let calls: Vec<(BlockId, Vec<(FuncId, u32)>)> = entry
            .calls
            .iter()
            .map(|(b, callees)| (*b, callees.iter().map(call).collect()))
            .collect();
        let here = &mut self.manifest.functions[now];
        if is_new {
            here.unit = to[entry.unit];
            here.calls = calls;
        } else if calls_without_lines(&here.calls).ne(calls_without_lines(&calls)) {
            let both: BTreeSet<FuncId> = calls_without_lines(&here.calls)
                .chain(calls_without_lines(&calls))
                .map(|(_, f)| f)
                .collect();
            for f in both {
                self.manifest.functions[f].address_taken = true;
            }
        }
    }

    fn count(&mut self, profile: &Profile, f: FuncId, now: FuncId) -> Result<()> {
        let entry = profile.entry(f);
        let counts = profile.paths()?.counts(f);
        let entered = match profile.entries[f] {
            Some(n) => n,
            None if counts.is_empty() => 0,
            None => flow(profile, f, &profile.structure(f)?)?.entry,
        };
        let partial = if profile.is_selective() && !entry.status.is_skipped() {
            Partial::read(profile, f)?
        } else {
            None
        };
        let sum = &mut self.functions[now];
        sum.evidence.add(partial);
        if is_residual(&profile.manifest) {
            sum.news.add(&entry.known, counts);
        } else if !counts.is_empty() {
            self.is_residual = false;
        }
        sum.programs += 1;
        sum.entries |= profile.entries[f].is_some();
        sum.skipped |= entry.status.is_skipped();
        let overflow = || {
            let problem = format!("a count of {} overflows", profile.name(f));
            Error::profile(&profile.path, problem, "join fewer profiles")
        };
        sum.entered = sum.entered.checked_add(entered).ok_or_else(overflow)?;
        for (id, n) in counts {
            let count = sum.counts.entry(*id).or_default();
            *count = count.checked_add(*n).ok_or_else(overflow)?;
        }
        Ok(())
    }
}

/// Whether two functions, of one numbering of files, have code of the same lines in each block: one source may become
/// equal control flow of other lines by other macros. One of them may be without lines. O(positions).
fn has_same_lines(a: &FunctionEntry, b: &FunctionEntry) -> bool {
    let blocks = || a.succs.keys();
    let none = |f: &FunctionEntry| blocks().all(|block| f.spans(block).next().is_none());
    let own = |f: &FunctionEntry, block| -> BTreeSet<Loc> {
        let spans = f.spans(block).filter(|span| span.inlined.is_none());
        spans.map(|span| span.loc).collect()
    };
    blocks().all(|block| own(a, block) == own(b, block)) || none(a) || none(b)
}

/// Whether ids mean the same paths of both. Of what is skipped there are none.
fn same_paths(a: &FunctionEntry, b: &FunctionEntry) -> bool {
    let skipped = a.status.is_skipped() || b.status.is_skipped();
    a.terminators == b.terminators && a.succs == b.succs && (skipped || a.cuts == b.cuts)
}

/// Who is called where, without lines.
fn calls_without_lines(
    calls: &[(BlockId, Vec<(FuncId, u32)>)],
) -> impl Iterator<Item = (BlockId, FuncId)> + '_ {
    calls
        .iter()
        .flat_map(|(b, of)| of.iter().map(move |(f, _)| (*b, *f)))
}

/// Calls by block, from the first to the last of both.
fn join_calls(
    own: Vec<(BlockId, [u32; 2])>,
    others: Vec<(BlockId, [u32; 2])>,
) -> Vec<(BlockId, [u32; 2])> {
    let mut calls: BTreeMap<BlockId, [u32; 2]> = BTreeMap::new();
    for (block, [first, last]) in own.into_iter().chain(others) {
        let both = calls.entry(block).or_insert([first, last]);
        *both = [both[0].min(first), both[1].max(last)];
    }
    calls.into_iter().collect()
}

/// A function that one copy profiles whole.
fn make_whole_entry(entry: FunctionEntry) -> FunctionEntry {
    let share = if entry.status.is_skipped() {
        ShareEntry::Nothing
    } else {
        ShareEntry::Whole(CopyId(0))
    };
    FunctionEntry {
        share,
        counted: None,
        apart: Vec::new(),
        wide: false,
        known: Vec::new(),
        at_least: Vec::new(),
        ..entry
    }
}

#[cfg(test)]
mod tests;
