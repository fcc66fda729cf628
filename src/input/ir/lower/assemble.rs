//! Modules → one program: which bodies are one function, who calls whom over all modules.

use super::Lowered;
use super::resolver::{Resolver, Scope};
use super::returning;
use super::view::Alias;
use crate::base::error::{Error, Result};
use crate::base::index::{FuncId, ModuleId, TiSlice, TiVec, ti_vec};
use crate::base::names::normalise_path;
use crate::input::ir::{
    Block, Body, Callee, FunctionBody, Linkage, Module, ProgFunction, Program, SkipReason,
};
use crate::input::load::positions::SourceFile;
use crate::input::load::{Admitted, Input};
use std::collections::HashMap;

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
        // A module numbers its files and inlined calls by itself: in the program they follow those before.
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
                name: normalise_path(&file.name).into_owned(),
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
    // Symbols are resolved when all modules are there: a call may be of a function that a later one defines.
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
            let same = |f: &&FuncId| can_share_counts(program.body_at(&functions[**f]), body);
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
fn can_share_counts(a: &FunctionBody, b: &FunctionBody) -> bool {
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
