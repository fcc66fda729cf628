//! Modules → one program: which bodies are one function, who calls whom over all modules.

use super::Lowered;
use super::returning;
use super::view::{Alias, Calls};
use crate::base::error::{Error, Result};
use crate::base::index::{FuncId, ModuleId, TiSlice, TiVec, ti_vec};
use crate::base::names::normalised;
use crate::input::ir::callgraph;
use crate::input::ir::{
    Block, Body, Call, Callee, FunctionBody, Linkage, Module, ProgFunction, Program, SkipReason,
};
use crate::input::load::positions::SourceFile;
use crate::input::load::{Admitted, Input};
use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Assembles the program from the lowered modules of `inputs`. Linear.
///
/// # Errors
/// Symbols that two modules define.
pub fn program(inputs: &[Admitted], lowered: Vec<Lowered>) -> Result<Program> {
    let mut scopes: TiVec<ModuleId, Scope> = TiVec::new();
    let mut calls = TiVec::new();
    let mut left_by_calls = TiVec::new();
    let mut doubtful = Vec::new();
    let mut program = Program::default();
    for (input, module) in inputs.iter().zip(lowered) {
        let Lowered {
            mut bodies,
            left_by_calls: left,
            files,
            mut inlined,
            mut aliases,
            ifuncs,
            taken,
            calls: edges,
            cxx,
            starters,
            doubtful: of_module,
        } = module;
        let files_before = program.files.len() as u32;
        let inlined_before = program.inlined.len() as u32;
        renumber(&mut bodies, files_before, inlined_before);
        for call in &mut inlined {
            call.file += files_before;
            call.within = call.within.map(|n| n + inlined_before);
        }
        name_unnamed(&mut bodies, &mut aliases);
        if input.device {
            bodies
                .iter_mut()
                .for_each(|b| b.skip = Some(SkipReason::Device));
        }
        // As all reports have it.
        program
            .files
            .extend(files.into_iter().map(|file| SourceFile {
                name: normalised(&file.name).into_owned(),
                ..file
            }));
        program.inlined.extend(inlined);
        program.cxx |= cxx;
        program.starters.extend(starters);
        doubtful.extend(of_module.into_iter().map(|name| (scopes.len(), name)));
        program.ifuncs.extend(ifuncs);
        scopes.push(Scope {
            aliases,
            taken: taken.into_iter().collect(),
            local: HashMap::new(),
        });
        calls.push(edges);
        left_by_calls.push(left);
        let (name, hash) = (input.name.clone(), input.hash.clone());
        program.modules.push(Module {
            name,
            hash,
            optimized: input.optimized,
            bodies,
        });
    }
    let global = functions(inputs, &mut program, &mut scopes)?;
    let resolver = Resolver::new(&scopes, &global);
    resolver.resolve_calls(&mut program);
    resolver.address_taken(&mut program);
    resolver.recursion(&mut program, &calls);
    let is_own = |(m, name): &(usize, String)| resolver.find(ModuleId::new(*m), name).is_some();
    if doubtful.iter().all(is_own) {
        returning::find(&resolver, &mut program, &left_by_calls);
    }
    program.aliases = resolver.aliases();
    count_call_sites(&mut program);
    Ok(program)
}

/// What names mean inside one module.
struct Scope {
    aliases: HashMap<String, Alias>,
    taken: Vec<String>,
    local: HashMap<String, FuncId>,
}

/// Functions without a name get one for people. No other module can mean them, and calls in theirs mean them by
/// their number among definitions without a name.
fn name_unnamed(bodies: &mut [FunctionBody], aliases: &mut HashMap<String, Alias>) {
    let unnamed = bodies.iter_mut().filter(|b| b.name.is_empty());
    for (number, body) in unnamed.enumerate() {
        body.name = format!("unnamed.{number}");
        body.linkage = Linkage::Local;
        let alias = Alias {
            target: body.name.clone(),
            linkage: Linkage::Local,
        };
        aliases.insert(number.to_string(), alias);
    }
}

/// Files and inlined calls of a module get numbers of the program.
fn renumber(bodies: &mut [FunctionBody], files: u32, inlined: u32) {
    for body in bodies {
        body.loc.iter_mut().for_each(|l| l.file += files);
        for block in &mut body.cfg.blocks {
            for span in &mut block.lines {
                span.loc.file += files;
                span.inlined = span.inlined.map(|n| n + inlined);
            }
        }
        let choices = body.cfg.blocks.iter_mut().flat_map(|b| &mut b.choice);
        let decided = choices.filter_map(|c| c.site.as_mut());
        let loops = body.loops.iter_mut().map(|(_, site)| site);
        for site in decided.chain(&mut body.branchless).chain(loops) {
            site.loc.file += files;
            site.inlined = site.inlined.map(|n| n + inlined);
        }
    }
}

/// Makes the program's functions; the map names those visible over modules (their units).
fn functions(
    inputs: &[Admitted],
    program: &mut Program,
    scopes: &mut TiSlice<ModuleId, Scope>,
) -> Result<HashMap<String, FuncId>> {
    let mut global: HashMap<String, FuncId> = HashMap::new();
    let mut strong: HashMap<String, ModuleId> = HashMap::new();
    let mut members: HashMap<FuncId, Vec<FuncId>> = HashMap::new();
    let mut functions: TiVec<FuncId, ProgFunction> = TiVec::new();
    for (m, module) in program.modules.iter_enumerated() {
        for (ordinal, body) in module.bodies.iter().enumerate() {
            let place = Body {
                module: m,
                ordinal: ordinal as u32,
            };
            let new = FuncId::new(functions.len());
            if body.linkage == Linkage::Local {
                scopes[m].local.insert(body.name.clone(), new);
                functions.push(function(body, place, new));
                continue;
            }
            if body.linkage == Linkage::External
                && let Some(first) = strong.insert(body.name.clone(), m)
            {
                return Err(defined_twice(
                    &inputs[first.index()],
                    &inputs[m.index()],
                    &body.name,
                ));
            }
            let unit = *global.entry(body.name.clone()).or_insert(new);
            let members = members.entry(unit).or_default();
            let same = |f: &&FuncId| equal(program.body_at(&functions[**f]), body);
            match members.iter().find(same) {
                // The linker keeps the strong one of several: it stands for all.
                Some(f) if body.linkage == Linkage::External => {
                    functions[*f].bodies.insert(0, place);
                }
                Some(f) => functions[*f].bodies.push(place),
                None => {
                    members.push(new);
                    functions.push(function(body, place, unit));
                }
            }
        }
    }
    program.functions = functions;
    Ok(global)
}

fn function(body: &FunctionBody, place: Body, unit: FuncId) -> ProgFunction {
    let name = body.name.clone();
    ProgFunction {
        name,
        bodies: vec![place],
        unit,
        call_sites: 0,
        recursive: false,
    }
}

/// Whether two bodies of one symbol can share counts.
fn equal(a: &FunctionBody, b: &FunctionBody) -> bool {
    // What plans follow from.
    let flags = |b: &Block| [b.may_leave, b.returns_twice, b.single, b.known_labels];
    let alike = |(a, b): (&Block, &Block)| {
        (a.terminator, &a.succs, flags(a)) == (b.terminator, &b.succs, flags(b))
    };
    let (of_a, of_b) = (&a.cfg.blocks, &b.cfg.blocks);
    a.skip == b.skip && of_a.len() == of_b.len() && of_a.iter().zip(of_b).all(alike)
}

fn defined_twice(first: &Input, second: &Input, name: &str) -> Error {
    Error::load(
        &second.path,
        format!("defines {name}, and so does {}", first.path.display()),
        "give the modules of one program only, or those that its linker chooses (lld: -Wl,--lto-emit-llvm)",
    )
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
    fn new(
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
    fn find(&self, m: ModuleId, name: &str) -> Option<FuncId> {
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
    fn find_alias(&self, m: ModuleId, name: &str) -> Option<(ModuleId, &'a str, &'a Alias)> {
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

    fn resolve_calls(&self, program: &mut Program) {
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
    fn aliases(&self) -> BTreeMap<String, FuncId> {
        let names = self.scopes.iter_enumerated();
        let names = names.flat_map(|(m, scope)| scope.aliases.keys().map(move |name| (m, name)));
        let found = names.filter_map(|(m, name)| Some((name.clone(), self.find(m, name)?)));
        found.collect()
    }

    /// A function whose address any module takes has it taken.
    fn address_taken(&self, program: &mut Program) {
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
    fn recursion(&self, program: &mut Program, calls: &TiSlice<ModuleId, Calls>) {
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

/// Call sites over all modules (`docs/ALGORITHMS.md` §5): direct ones in the body that stands for each function,
/// one more for a taken address, one more where it can be called from outside. In a program with
/// a `main` that is `main` itself; in a library, whatever other modules can see.
fn count_call_sites(program: &mut Program) {
    let mut sites: TiVec<FuncId, u32> = ti_vec![0; program.functions.len()];
    for f in program.functions.keys() {
        let body = program.body(f);
        for call in body.cfg.blocks.iter().flat_map(|b| &b.calls) {
            if let Callee::Function(f) = call.callee {
                sites[f] += 1;
            }
        }
    }
    let executable = program.is_executable();
    for f in program.functions.keys() {
        let unit = program.functions[f].unit;
        let body = program.body(f);
        let outside = body.linkage != Linkage::Local && (!executable || body.name == "main");
        let extra = u32::from(body.address_taken) + u32::from(outside);
        program.functions[f].call_sites = sites[unit] + extra;
    }
}
