//! Which inputs can be rewritten: modules that LLVM's verifier accepts and that do not use names of ours.

use super::llvm::{self, bound, session};
use super::members;
use super::optimize::{is_for_lto, optimize};
use super::{Names, Parsed, hidden, own, positions};
use crate::base::error::{Error, Result};
use crate::base::llvm::LINKED as LLVM;
use crate::input::ir::lower::{remedy_for_old_text, unreadable_error};
use crate::input::load::{Admitted, Input, Kind, Level, Optimize};
use crate::runtime::abi;
use inkwell::module::Module;
use rayon::prelude::*;

/// The prefix of every name that a rewritten module adds.
pub(super) const PREFIX: &str = "__p3_";
/// The prefixes of target triples of devices: their code is run by a program for another machine and has no
/// constructors, files or processes.
const DEVICES: [&str; 6] = ["amdgcn", "r600", "nvptx", "spir", "dxil", "bpf"];
/// The version of debug information that LLVM reads.
const DEBUG_INFO: u64 = 3;

/// Inputs that were admitted, and what that told.
pub struct Admission {
    /// The inputs that are needed.
    pub inputs: Vec<Admitted>,
    /// What the user should know, a line each.
    pub lines: Vec<String>,
    /// What was done with modules that were compiled for link-time optimisation, a line each.
    pub about_lto: Vec<String>,
    /// The only input, as it was read, if there is one and it is taken as it is. Of several, all would be in memory at
    /// once.
    pub parsed: Option<Parsed>,
}

/// Reads every input once and has LLVM verify it, in parallel. Where only the debug information is wrong, or of another
/// version, the input is taken without it, with a warning. Optimises what `wanted` says. Members of archives that
/// nothing needs are left out, which a line says. Linear.
///
/// # Errors
/// Input that LLVM cannot read or that its verifier rejects, that is instrumented already, or that uses names
/// of the runtime.
pub fn admit(
    inputs: Vec<Input>,
    names: Names,
    wanted: impl Fn(&Input) -> Optimize + Sync,
) -> Result<Admission> {
    let alone = inputs.len() == 1;
    let watch = bound::Watch::begin();
    let admitted = inputs.into_par_iter().map(|mut input| {
        let path = input.path.clone();
        let _reading = session::Reading::begin(&path, Some(input.bytes.len()));
        let Accepted {
            parsed,
            why,
            device,
            for_lto,
            optimized,
        } = accept_input(&mut input, names, &wanted)?;
        let (_, module) = parsed.context_and_module();
        let admitted = Admitted {
            device,
            own_counters: own::find_own_counters(&module),
            hidden: hidden::find_hidden(&module),
            forbidden: hidden::forbidding_attributes(&module),
            positions: positions::find_positions(&module),
            optimized,
            input,
        };
        let is_stripped = why.is_some();
        let lines = session::warnings().into_iter().chain(why);
        let path = path.display();
        let lines: Vec<String> = lines.map(|line| format!("{path}: {line}")).collect();
        let names = members::Names::new(&llvm::symbols(&module));
        let for_lto = for_lto.then_some(optimized);
        Ok((
            admitted,
            lines,
            names,
            for_lto,
            (alone && !is_stripped).then_some(parsed),
        ))
    });
    let admitted = admitted.collect::<Result<Vec<_>>>();
    // No input is read any more, also if one was refused.
    drop(watch);
    let admitted = admitted?;
    let (mut lines, mut names, mut parsed) = (Vec::new(), Vec::new(), None);
    let (mut inputs, mut levels) = (Vec::new(), Vec::new());
    for (input, said, of_module, for_lto, module) in admitted {
        inputs.push(input);
        lines.extend(said);
        names.push(of_module);
        levels.extend(for_lto);
        parsed = module;
    }
    lines.extend(members::keep_needed(&mut inputs, &names));
    Ok(Admission {
        inputs,
        lines,
        about_lto: about_lto(&levels),
        parsed,
    })
}

/// What is done with modules that were compiled for link-time optimisation, by the levels that these are optimised at.
fn about_lto(levels: &[Option<Level>]) -> Vec<String> {
    let mut lines = Vec::new();
    let optimized: Vec<Level> = levels.iter().copied().flatten().collect();
    let modules = |n: usize| match n {
        1 => "1 module was compiled for link-time optimisation and is".to_string(),
        n => format!("{n} modules were compiled for link-time optimisation and are"),
    };
    if let Some(level) = optimized.first() {
        let which = modules(optimized.len());
        lines.push(format!(
            "{which} optimised ({}) before the copies and native are made; --optimize none does without",
            level.word()
        ));
    }
    let left = levels.len() - optimized.len();
    if left > 0 {
        let which = modules(left);
        lines.push(format!(
            "{which} not optimised: LLVM inlines less once counts are in them; --optimize 2 does it before"
        ));
    }
    lines
}

/// A module that LLVM accepts.
struct Accepted {
    parsed: Parsed,
    /// Why its debug information was left out, if it was.
    why: Option<String>,
    device: bool,
    /// Whether it was compiled for link-time optimisation.
    for_lto: bool,
    optimized: Option<Level>,
}

/// Reads an input, has LLVM verify it and, if that is `wanted`, optimise it: its bytes are those of the result.
fn accept_input(
    input: &mut Input,
    names: Names,
    wanted: impl Fn(&Input) -> Optimize,
) -> Result<Accepted> {
    let mut parsed = parse_input(input, names)?;
    let (_, module) = parsed.context_and_module();
    check_names(&module, input)?;
    let device = is_for_device(&module);
    let why = verify_input(&module, input)?;
    if why.is_some() {
        input.bytes = module.write_bitcode_to_memory().as_slice().to_vec();
        input.kind = Kind::Bitcode;
    }
    let for_lto = is_for_lto(&module);
    let optimized = wanted(input).level(for_lto);
    if let Some(level) = optimized {
        parsed = optimize(input, parsed, names, level)?;
    }
    if let Some(intrinsic) = hidden::needs_link_time_code(&parsed.context_and_module().1) {
        let problem =
            format!("it calls {intrinsic}, which only link-time optimisation makes code of");
        let remedy = "compile it without -fsanitize=cfi and -fvirtual-function-elimination";
        return Err(Error::load(&input.path, problem, remedy));
    }
    Ok(Accepted {
        parsed,
        why,
        device,
        for_lto,
        optimized,
    })
}

fn parse_input(input: &Input, names: Names) -> Result<Parsed> {
    let name = input.path.display().to_string();
    Parsed::read(&input.bytes, &name, input.kind, names).map_err(|e| unreadable_error(input, &e))
}

/// Names with our prefix are the runtime's, whoever defines or declares them. Local ones concern no other
/// module and are renamed when the module is rewritten.
fn check_names(module: &Module, input: &Input) -> Result<()> {
    let refuse = |problem, remedy| Err(Error::load(&input.path, problem, remedy));
    let instrumented = module.get_global(abi::MODULE_SYMBOL).is_some()
        || module.get_function("__p3_ctor").is_some();
    if instrumented {
        let remedy = "rewrite the module that it was made from";
        return refuse("it is instrumented already".into(), remedy);
    }
    for symbol in llvm::symbols(module) {
        if symbol.name.starts_with(PREFIX) && !symbol.local {
            let problem = format!("{}: the runtime of p3-rewrite has that name", symbol.name);
            return refuse(problem, "give it another, or leave the module out");
        }
        if symbol.name == "llvm.global_ctors" && !is_list(module) {
            let problem = "llvm.global_ctors is not a list of constructors".into();
            return refuse(problem, "compile it again");
        }
    }
    Ok(())
}

fn is_for_device(module: &Module) -> bool {
    let triple = module.get_triple();
    let triple = triple.as_str().to_string_lossy();
    DEVICES.iter().any(|device| triple.starts_with(device))
}

/// Whether the constructors are a list, which the verifier checks: it lets anything else pass.
fn is_list(module: &Module) -> bool {
    let ctors = module.get_global("llvm.global_ctors");
    ctors.is_some_and(|list| list.get_value_type().is_array_type())
}

/// Verifies a module, without its debug information if that is at fault; returns why it was dropped, if it was.
fn verify_input(module: &Module, input: &Input) -> Result<Option<String>> {
    let version = llvm::debug_info_version(module);
    let found = module.verify();
    if version == Some(DEBUG_INFO) && found.is_ok() {
        return Ok(None);
    }
    // Not to be relied on where something is wrong: LLVM does not report everything that it removes.
    let removed = llvm::strip_debug_info(module);
    match found {
        Ok(()) if !removed => return Ok(None),
        _ => verify_code(module, input)?,
    }
    Ok(Some(match (version, found) {
        (Some(DEBUG_INFO), Err(message)) => {
            let message = complaint(&message.to_string());
            format!("invalid debug information is left out: {message}")
        }
        (version, _) => {
            let version = version.map_or("no version".into(), |v| format!("version {v}"));
            format!(
                "debug information of {version} is left out: LLVM {LLVM} reads version {DEBUG_INFO}"
            )
        }
    }))
}

fn verify_code(module: &Module, input: &Input) -> Result<()> {
    module
        .verify()
        .map_err(|message| rejection(input, &message.to_string()))
}

fn rejection(input: &Input, message: &str) -> Error {
    let problem = format!("LLVM's verifier rejects it: {}", complaint(message));
    let remedy = remedy_for_old_text(input)
        .unwrap_or("compile it again; opt -passes=verify says everything".into());
    Error::load(&input.path, problem, remedy)
}

/// The verifier's first complaint, and what it is about.
pub(super) fn complaint(message: &str) -> String {
    let lines: Vec<&str> = message.lines().take(2).map(str::trim).collect();
    lines.join(" ")
}
