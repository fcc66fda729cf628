//! What names mean in each module: functions that it sees alone, and those that all modules know.

use super::view::{Alias, Calls};
use crate::base::index::{FuncId, ModuleId, TiSlice};
use crate::input::ir::callgraph;
use crate::input::ir::{Call, Callee, Linkage, Program};
use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What names mean inside one module.
pub(super) struct Scope {
    pub(super) aliases: HashMap<String, Alias>,
    pub(super) taken: Vec<String>,
    pub(super) local: HashMap<String, FuncId>,
}

pub(super) struct Resolver<'a> {
    scopes: &'a TiSlice<ModuleId, Scope>,
    global: &'a HashMap<String, FuncId>,
    /// The first module of each alias that other modules see.
    aliases: HashMap<&'a str, ModuleId>,
    /// What aliases mean, as far as they were looked up: chains of them share their ends.
    meanings: RefCell<HashMap<(ModuleId, &'a str), Option<FuncId>>>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(
        scopes: &'a TiSlice<ModuleId, Scope>,
        global: &'a HashMap<String, FuncId>,
    ) -> Resolver<'a> {
        let mut aliases = HashMap::new();
        for (m, scope) in scopes.iter_enumerated() {
            let visible = scope.aliases.iter();
            let visible = visible.filter(|(_, alias)| alias.linkage != Linkage::Local);
            for (name, _) in visible {
                aliases.entry(name.as_str()).or_insert(m);
            }
        }
        Resolver {
            scopes,
            global,
            aliases,
            meanings: RefCell::default(),
        }
    }

    /// What `name` means in module `m`. An alias of another module means what its target does there, which may be a
    /// function that only that module sees. Each alias is followed once, however many others lead to it.
    pub(super) fn find(&self, m: ModuleId, name: &str) -> Option<FuncId> {
        let mut meanings = self.meanings.borrow_mut();
        let (mut m, mut name) = (m, name);
        let mut passed = Vec::new();
        let found = loop {
            if let Some(f) = self.find_defined(m, name) {
                break Some(f);
            }
            let Some((module, own_name, alias)) = self.find_alias(m, name) else {
                break None;
            };
            match meanings.entry((module, own_name)) {
                Entry::Occupied(known) => break *known.get(),
                // In a damaged module aliases may go round: they mean nothing.
                Entry::Vacant(new) => new.insert(None),
            };
            passed.push((module, own_name));
            (m, name) = (module, &alias.target);
        };
        meanings.extend(passed.into_iter().map(|alias| (alias, found)));
        found
    }

    /// The alias that module `m` knows by `name`, its own or else the first that all modules see; with its module.
    pub(super) fn find_alias(
        &self,
        m: ModuleId,
        name: &str,
    ) -> Option<(ModuleId, &'a str, &'a Alias)> {
        let in_module = |m: ModuleId| {
            let (name, alias) = self.scopes[m].aliases.get_key_value(name)?;
            Some((m, name.as_str(), alias))
        };
        in_module(m).or_else(|| in_module(*self.aliases.get(name)?))
    }

    /// The function that module `m` or all modules know by `name`, no alias.
    pub(super) fn find_defined(&self, m: ModuleId, name: &str) -> Option<FuncId> {
        let local = self.scopes[m].local.get(name);
        local.or_else(|| self.global.get(name)).copied()
    }

    pub(super) fn resolve_calls(&self, program: &mut Program) {
        for (m, module) in program.modules.iter_mut_enumerated() {
            let blocks = module.bodies.iter_mut().flat_map(|b| &mut b.cfg.blocks);
            for Call { callee, .. } in blocks.flat_map(|b| &mut b.calls) {
                if let Callee::External(name) = callee
                    && let Some(f) = self.find(m, name)
                {
                    *callee = Callee::Function(f);
                }
            }
        }
    }

    /// The functions that aliases of all modules mean, by the alias.
    pub(super) fn aliases(&self) -> BTreeMap<String, FuncId> {
        let names = self.scopes.iter_enumerated();
        let names = names.flat_map(|(m, scope)| scope.aliases.keys().map(move |name| (m, name)));
        let found = names.filter_map(|(m, name)| Some((name.clone(), self.find(m, name)?)));
        found.collect()
    }

    /// A function whose address any module takes has it taken.
    pub(super) fn address_taken(&self, program: &mut Program) {
        let names = self.scopes.iter_enumerated();
        let taken: HashSet<FuncId> = names
            .flat_map(|(m, s)| s.taken.iter().filter_map(move |n| self.find(m, n)))
            .collect();
        for b in program
            .functions
            .iter()
            .filter(|f| taken.contains(&f.unit))
            .flat_map(|f| &f.bodies)
        {
            let module = &mut program.modules[b.module];
            module.bodies[b.ordinal as usize].address_taken = true;
        }
    }

    /// Notes which functions are on cycles of calls. O(functions + calls): calls through pointers of one type lead to a
    /// node that leads to all candidates, which closes the same cycles as an edge from each caller to each candidate.
    pub(super) fn recursion(&self, program: &mut Program, calls: &TiSlice<ModuleId, Calls>) {
        let mut edges = Vec::new();
        let mut nodes = program.functions.len();
        for (m, calls) in calls.iter_enumerated() {
            let direct = calls.direct.iter();
            edges.extend(direct.filter_map(|(a, b)| Some((self.find(m, a)?, self.find(m, b)?))));
            for indirect in &calls.indirect {
                let class = FuncId::new(nodes);
                nodes += 1;
                let find = |name: &String| self.find(m, name);
                edges.extend(indirect.callers.iter().filter_map(find).map(|f| (f, class)));
                let candidates = indirect.candidates.iter().filter_map(find);
                edges.extend(candidates.map(|f| (class, f)));
            }
        }
        let recursive = callgraph::recursive(nodes, &edges);
        for f in &mut program.functions {
            f.recursive = recursive.contains(&f.unit);
        }
    }
}
