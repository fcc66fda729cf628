//! Within one set of builds: where functions of the programs that were joined are, and which of them another program's
//! function is.

use super::files::base_name;
use crate::base::index::{FuncId, ModuleId, TiSlice};
use crate::input::ir::{Linkage, Loc};
use crate::profile::manifest::{FunctionEntry, ModuleEntry};
use std::collections::HashMap;

/// A symbol, and whether only its module sees it.
type Symbol = (String, bool);

/// Functions of one set of builds. Their files and modules have one number each in all programs.
#[derive(Default)]
pub(in crate::profile) struct Places {
    /// By where they begin.
    by_source: HashMap<(Symbol, Loc), Vec<FuncId>>,
    by_module: HashMap<(Symbol, ModuleId), Vec<FuncId>>,
    /// Those that begin at this line, whoever sees them.
    by_line: HashMap<(String, Loc), FuncId>,
    /// Those that other modules see and of which nobody says where they begin.
    without_line: HashMap<String, Vec<FuncId>>,
}

impl Places {
    /// Notes function `f`, which is `entry`.
    pub(in crate::profile) fn insert(&mut self, f: FuncId, entry: &FunctionEntry) {
        let symbol = symbol(entry);
        self.insert_bodies(f, entry);
        match entry.loc {
            Some(loc) => {
                let at_line = (entry.name.clone(), loc);
                self.by_line.entry(at_line).or_insert(f);
                self.by_source.entry((symbol, loc)).or_default().push(f);
            }
            None if symbol.1 => {}
            None => {
                let of_name = self.without_line.entry(symbol.0).or_default();
                of_name.push(f);
            }
        }
    }

    /// Notes that function `f`, which is there, is `entry` in another program.
    pub(in crate::profile) fn insert_bodies(&mut self, f: FuncId, entry: &FunctionEntry) {
        let symbol = symbol(entry);
        for body in &entry.bodies {
            let key = (symbol.clone(), body.module);
            let functions = self.by_module.entry(key).or_default();
            if !functions.contains(&f) {
                functions.push(f);
            }
        }
    }

    /// Functions that are `entry` in a module that it is in, too: bytes of one module are compiled from one source.
    pub(in crate::profile) fn in_module(
        &self,
        entry: &FunctionEntry,
    ) -> impl Iterator<Item = FuncId> {
        let symbol = symbol(entry);
        let modules = entry.bodies.iter().map(|b| (symbol.clone(), b.module));
        let found = modules.filter_map(|key| self.by_module.get(&key));
        let found: Vec<FuncId> = found.flatten().copied().collect();
        found.into_iter()
    }

    /// Functions that are `entry`, of whatever module; none where debug information does not say its source.
    pub(in crate::profile) fn of_source(&self, entry: &FunctionEntry) -> &[FuncId] {
        let key = entry.loc.map(|loc| (symbol(entry), loc));
        let found = key.and_then(|key| self.by_source.get(&key));
        found.map_or(&[], Vec::as_slice)
    }

    /// A function that was compiled from the lines of `entry`, which no program has, whatever its control flow and
    /// linkage: elsewhere the same source may be compiled otherwise. Without lines, one of that symbol of a module that
    /// is called like that of `entry`; whatever its module, if linkers keep one of many.
    pub(in crate::profile) fn find_compiled(
        &self,
        entry: &FunctionEntry,
        modules: &TiSlice<ModuleId, ModuleEntry>,
        functions: &TiSlice<FuncId, FunctionEntry>,
    ) -> Option<FuncId> {
        if let Some(loc) = entry.loc {
            return self.by_line.get(&(entry.name.clone(), loc)).copied();
        }
        let own = &modules[entry.bodies[0].module].name;
        let is_one = |f: &&FuncId| {
            let there = &functions[**f];
            let mut both = [there, entry].into_iter();
            let are_kept_once = both.all(|f| f.linkage == Linkage::Mergeable);
            let mut names = there.bodies.iter().map(|b| &modules[b.module].name);
            are_kept_once || names.any(|name| is_of_one_source(name, own))
        };
        let called_alike = || {
            let named = self.without_line.get(&entry.name);
            named.into_iter().flatten().find(is_one).copied()
        };
        let mut in_module = self.in_module(entry);
        let is_local = entry.linkage == Linkage::Local;
        in_module
            .next()
            .or_else(|| called_alike().filter(|_| !is_local))
    }
}

fn symbol(entry: &FunctionEntry) -> Symbol {
    (entry.name.clone(), entry.linkage == Linkage::Local)
}

/// Whether two modules may be compiled from one source by their names: `a.c` and `.libs/prog-a.o`.
fn is_of_one_source(a: &str, b: &str) -> bool {
    let stem = |name: &str| {
        base_name(name)
            .split('.')
            .next()
            .unwrap_or_default()
            .to_string()
    };
    let (a, b) = (stem(a), stem(b));
    let ends = |long: &str, short: &str| {
        let before = long.strip_suffix(short);
        before.is_some_and(|before| before.is_empty() || before.ends_with('-'))
    };
    ends(&a, &b) || ends(&b, &a)
}
