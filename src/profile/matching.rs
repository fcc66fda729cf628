//! Matches functions of a program, possibly of another build, with those of a profile.

use crate::index::FuncId;
use crate::ir::{Cfg, FunctionBody, Linkage, Module};
use crate::manifest::{FunctionEntry, Manifest};
use crate::profile::Profile;
use crate::profile::filter::Selection;
use std::collections::HashMap;

/// What is known of a function that is looked for.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The module that it is in.
    pub module: &'a str,
    /// Its symbol.
    pub name: &'a str,
    /// Whether only its module sees it.
    pub local: bool,
    /// Its control flow.
    pub cfg: &'a Cfg,
}

impl<'a> Known<'a> {
    /// What a manifest knows of a function, whose control flow is `cfg`.
    pub fn of(manifest: &'a Manifest, f: FuncId, cfg: &'a Cfg) -> Known<'a> {
        let entry = &manifest.functions[f];
        Known {
            module: &manifest.modules[entry.bodies[0].module].name,
            name: &entry.name,
            local: entry.linkage == Linkage::Local,
            cfg,
        }
    }

    /// What is known of `body` in `module`.
    pub fn in_module(module: &'a Module, body: &'a FunctionBody) -> Known<'a> {
        Known {
            module: &module.name,
            name: &body.name,
            local: body.linkage == Linkage::Local,
            cfg: &body.cfg,
        }
    }
}

/// What a profile says of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// It profiled this one, with the same control flow.
    Same(FuncId),
    /// It profiled one of that name, with other control flow.
    Changed,
    /// It profiled none of that name.
    Unknown,
}

/// The profiled functions of a profile, by module and name.
pub struct Index<'a> {
    profile: &'a Profile,
    by_place: HashMap<(&'a str, &'a str), Vec<FuncId>>,
    by_name: HashMap<&'a str, Vec<FuncId>>,
}

impl<'a> Index<'a> {
    /// O(functions).
    pub fn new(profile: &'a Profile) -> Index<'a> {
        let mut index = Index {
            profile,
            by_place: HashMap::new(),
            by_name: HashMap::new(),
        };
        for f in Selection::default().profiled(profile) {
            let entry = profile.entry(f);
            let name = entry.name.as_str();
            for body in &entry.bodies {
                let module = &profile.manifest.modules[body.module].name;
                index.by_place.entry((module, name)).or_default().push(f);
            }
            if entry.linkage != Linkage::Local || profile.manifest.modules.len() == 1 {
                index.by_name.entry(name).or_default().push(f);
            }
        }
        index
    }

    /// The function of the same module and name; else, since modules get other names, of the same name, unless it
    /// is local to one of several modules. O(blocks).
    pub fn find(&self, known: &Known) -> Match {
        let place = self.by_place.get(&(known.module, known.name));
        let alone = self.profile.manifest.modules.len() == 1;
        let anywhere = || {
            if known.local && !alone {
                None
            } else {
                self.by_name.get(known.name)
            }
        };
        let Some(candidates) = place.or_else(anywhere) else {
            return Match::Unknown;
        };
        let same = |f: &&FuncId| same_shape(self.profile.entry(**f), known.cfg);
        candidates
            .iter()
            .find(same)
            .map_or(Match::Changed, |f| Match::Same(*f))
    }
}

/// Whether a body has the blocks and edges of a profile's function.
fn same_shape(entry: &FunctionEntry, cfg: &Cfg) -> bool {
    entry.succs.len() == cfg.len()
        && cfg.blocks.iter_enumerated().all(|(b, block)| {
            entry.terminators[b] == block.terminator && entry.succs[b] == block.succs
        })
}

#[cfg(test)]
mod tests;
