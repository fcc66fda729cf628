//! Modules that were compiled for link-time optimisation, and LLVM's pipelines that optimise them before they are
//! rewritten.
//!
//! What LLVM inlines and simplifies at the link is smaller without counts. Counts go into the optimised module, and so
//! does the untouched program of the output folder: both are the same code.

use super::llvm::{self, session};
use super::{Names, Parsed};
use crate::base::error::{Error, Result};
use crate::input::load::{Input, Kind, Level, hash_module};
use inkwell::OptimizationLevel;
use inkwell::module::Module;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple,
};
use std::sync::Once;

/// Flags that clang gives modules which a link is to optimise; of `ThinLTO` it says by the value which kind of link.
const FLAGS: [&str; 3] = ["ThinLTO", "EnableSplitLTOUnit", "UnifiedLTO"];
/// Passes recurse over what they optimise, and threads of a pool have smaller stacks than LLVM's own tools.
const STACK: usize = 64 << 20;

/// Whether a module was compiled for link-time optimisation. The flags stay when a link has optimised the module: it is
/// optimised once more then, which finds little to do.
pub(super) fn is_for_lto(module: &Module) -> bool {
    FLAGS.iter().any(|flag| llvm::has_module_flag(module, flag))
}

/// Optimises an input, whose bytes and hash are those of the optimised module afterwards. `parsed` is the input as it
/// was read.
///
/// # Errors
/// LLVM's passes do not accept the module.
pub(super) fn optimize(
    input: &mut Input,
    parsed: Parsed,
    names: Names,
    level: Level,
) -> Result<Parsed> {
    let path = &input.path;
    let run = move || {
        let _reading = session::Reading::begin(path, None);
        let (_, module) = parsed.context_and_module();
        run_pipeline(&module, level).map(|()| module.write_bitcode_to_memory().as_slice().to_vec())
    };
    let bytes = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let running = thread.spawn_scoped(scope, run).map_err(|e| e.to_string())?;
        running.join().expect("LLVM does not panic")
    });
    let bytes = bytes.map_err(|problem| {
        let problem = format!("LLVM does not optimise it: {problem}");
        Error::load(path, problem, "leave it as it is by --optimize none")
    })?;
    input.hash = hash_module(&bytes);
    (input.bytes, input.kind) = (bytes, Kind::Bitcode);
    // The module as it will be read again: passes leave an order of uses and names behind that bitcode does not have.
    let name = input.path.display().to_string();
    Parsed::read(&input.bytes, &name, input.kind, names)
        .map_err(|e| crate::input::ir::lower::unreadable_error(input, &e))
}

fn run_pipeline(module: &Module, level: Level) -> std::result::Result<(), String> {
    let machine = target_machine(&module.get_triple());
    llvm::run_passes(module, &level.pipeline(), machine.as_ref())
}

/// The machine that code is for, by which passes know what instructions cost; `None`: LLVM does not know it, and passes
/// guess.
fn target_machine(triple: &TargetTriple) -> Option<TargetMachine> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| Target::initialize_all(&InitializationConfig::default()));
    let target = Target::from_triple(triple).ok()?;
    // Attributes of functions say which processor they are for.
    target.create_target_machine(
        triple,
        "",
        "",
        OptimizationLevel::Default,
        RelocMode::Default,
        CodeModel::Default,
    )
}
