//! Across builds: the functions of a profile, looked for by what is known of a function of another build.

use super::files::{base_name, translate_names};
use super::{Build, Known};
use crate::base::index::FuncId;
use crate::base::names::without_build_hash;
use crate::input::ir::{Cfg, Linkage};
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::manifest::FunctionEntry;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What a profile says of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It profiled this one, with the same control flow.
    Same(FuncId),
    /// It profiled one of that name and source, with other control flow.
    Changed,
    /// It profiled none of that name and source.
    Unknown,
}

/// How unlike two functions are that match; the least is the nearest.
type Rank = (bool, bool, u32);

/// The profiled functions of a profile, for functions of another build.
pub struct Index<'a> {
    profile: &'a Profile,
    by_place: HashMap<(&'a str, &'a str), Vec<FuncId>>,
    by_name: HashMap<&'a str, Vec<FuncId>>,
    /// Those of Rust, by their names without what differs from build to build.
    by_rust_name: HashMap<String, Vec<FuncId>>,
    /// What the other build calls the profile's files.
    files: Vec<Cow<'a, str>>,
    modules: Modules,
}

/// How modules of both builds are compared where debug information does not say the source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Modules {
    /// By their names.
    Names,
    /// By the last parts of their names, without extension: the folder may have moved.
    Stems,
    /// Each build has one.
    Alone,
}

impl<'a> Index<'a> {
    /// Of a profile that somebody names as one of the same program: where the builds have no file in common, files that
    /// are called alike are taken for one. O(functions + files).
    pub fn of_same_program(profile: &'a Profile, build: &Build) -> Index<'a> {
        Index::new(profile, build, false)
    }

    /// Of a profile that may be of another program of the same project. O(functions + files).
    pub fn of_any_program(profile: &'a Profile, build: &Build) -> Index<'a> {
        Index::new(profile, build, true)
    }

    fn new(profile: &'a Profile, build: &Build, needs_evidence: bool) -> Index<'a> {
        let old = Build::of_manifest(&profile.manifest);
        let names: HashSet<&str> = old.modules.iter().map(|m| m.0).collect();
        let modules = match (&old.modules[..], &build.modules[..]) {
            _ if needs_evidence || build.modules.iter().any(|m| names.contains(m.0)) => {
                Modules::Names
            }
            ([_], [_]) => Modules::Alone,
            _ => Modules::Stems,
        };
        let mut index = Index {
            profile,
            by_place: HashMap::new(),
            by_name: HashMap::new(),
            by_rust_name: HashMap::new(),
            files: translate_names(&old, build, needs_evidence),
            modules,
        };
        for f in Selection::default().profiled_functions(profile) {
            let entry = profile.entry(f);
            let name = entry.name.as_str();
            for body in &entry.bodies {
                let module = &profile.manifest.modules[body.module].name;
                index.by_place.entry((module, name)).or_default().push(f);
            }
            index.by_name.entry(name).or_default().push(f);
            if let Some(name) = without_build_hash(name) {
                index.by_rust_name.entry(name).or_default().push(f);
            }
        }
        index
    }

    /// The function that is `known`, as the profile has it. O(blocks), where modules have kept their names; else
    /// O(blocks + functions of that name).
    pub fn find(&self, known: &Known) -> Match {
        let in_module = self.by_place.get(&(known.module, known.name));
        match self.choose_nearest(in_module, known) {
            // One of another line may be nearer in another module.
            found @ Match::Same(f) if self.is_at_line(f, known) => found,
            _ => match self.choose_nearest(self.by_name.get(known.name), known) {
                Match::Unknown => self.find_rust_function(known),
                found => found,
            },
        }
    }

    /// Which function of the profile each of `functions` of `other` is. If one could be several of them, then it is the
    /// one that it is most like, and the others are unknown. O(blocks), as [`Index::find`].
    pub fn match_each(&self, other: &Profile, functions: &[FuncId]) -> Vec<Match> {
        let mut nearest: HashMap<FuncId, (Rank, usize)> = HashMap::new();
        let mut found = Vec::with_capacity(functions.len());
        for (i, &g) in functions.iter().enumerate() {
            let cfg = other.entry(g).cfg();
            let known = Known::new(&other.manifest, g, &cfg);
            found.push(self.find(&known));
            if let Match::Same(f) = found[i] {
                let rank = (self.rank_candidate(f, &known), i);
                let best = nearest.entry(f).or_insert(rank);
                *best = rank.min(*best);
            }
        }
        let is_nearest = |i: usize, f: &FuncId| nearest[f].1 == i;
        let found = found.into_iter().enumerate().map(|(i, m)| match m {
            Match::Same(f) if !is_nearest(i, &f) => Match::Unknown,
            found => found,
        });
        found.collect()
    }

    /// Hashes in symbols of Rust depend on the version and on the folder of a crate. Instances of a generic function
    /// may differ in their hash alone; then nobody knows which is which.
    fn find_rust_function(&self, known: &Known) -> Match {
        let name = without_build_hash(known.name);
        let named = name.and_then(|name| self.by_rust_name.get(&name));
        match named {
            Some(all) if all.len() > 1 => Match::Unknown,
            named => self.choose_nearest(named, known),
        }
    }

    fn choose_nearest(&self, candidates: Option<&Vec<FuncId>>, known: &Known) -> Match {
        let mut same = Match::Unknown;
        let mut least = None;
        for &f in candidates.into_iter().flatten() {
            if !self.is_of_source(f, known) {
                continue;
            }
            if !has_shape(self.profile.entry(f), known.cfg) {
                same = if least.is_some() {
                    same
                } else {
                    Match::Changed
                };
                continue;
            }
            let rank = self.rank_candidate(f, known);
            if least.is_none_or(|least| rank < least) {
                (same, least) = (Match::Same(f), Some(rank));
            }
        }
        same
    }

    /// Whether function `f` has the linkage of the function that is `known`, and its source; its module, where one of
    /// them has no source.
    fn is_of_source(&self, f: FuncId, known: &Known) -> bool {
        let entry = self.profile.entry(f);
        let is_local = entry.linkage == Linkage::Local;
        is_local == known.local
            && match (entry.loc, known.begins) {
                (Some(loc), Some((file, _))) => self.files[loc.file as usize] == file,
                _ => self.is_of_module(entry, known),
            }
    }

    fn is_of_module(&self, entry: &FunctionEntry, known: &Known) -> bool {
        let modules = entry.bodies.iter();
        let mut modules = modules.map(|b| &self.profile.manifest.modules[b.module]);
        modules.any(|m| {
            let is_same = m.hash == known.hash || m.name == known.module;
            is_same
                || match self.modules {
                    Modules::Names => false,
                    Modules::Stems => module_stem(&m.name) == module_stem(known.module),
                    Modules::Alone => true,
                }
        })
    }

    fn is_at_line(&self, f: FuncId, known: &Known) -> bool {
        let line = self.profile.entry(f).loc.map(|l| l.line);
        line == known.begins.map(|b| b.1)
    }

    /// How unlike `known` function `f` is among those that match: by its line, its module, and how far its line is off.
    fn rank_candidate(&self, f: FuncId, known: &Known) -> Rank {
        let entry = self.profile.entry(f);
        let lines = entry.loc.map(|l| l.line).zip(known.begins.map(|b| b.1));
        let mut modules = entry.bodies.iter();
        (
            !self.is_at_line(f, known),
            !modules.any(|b| self.profile.manifest.modules[b.module].name == known.module),
            lines.map_or(0, |(a, b)| a.abs_diff(b)),
        )
    }
}

/// The last part of a module's name, without extension.
fn module_stem(module: &str) -> &str {
    let base = base_name(module);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}

/// Whether a body has the blocks and edges of a profile's function.
fn has_shape(entry: &FunctionEntry, cfg: &Cfg) -> bool {
    entry.succs.len() == cfg.len()
        && cfg.blocks.iter_enumerated().all(|(b, block)| {
            entry.terminators[b] == block.terminator && entry.succs[b] == block.succs
        })
}
