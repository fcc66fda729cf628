//! Bitcode to object files within this process: starting clang takes four times as long as compiling a test program
//! does.

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::support::LLVMString;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine,
};
use p3_rewrite::project::Language;
use std::path::Path;
use std::sync::Once;

/// Optimises a module as `clang -c LEVEL` does and writes position-independent code; the language, by the names in it.
#[track_caller]
pub(crate) fn compile(module: &Path, level: &str, object: &Path) -> Language {
    let context = Context::create();
    let module = match Module::parse_bitcode_from_path(module, &context) {
        Ok(parsed) => parsed,
        Err(e) => panic!("{}: {e}", module.display()),
    };
    let machine = machine(&module, level);
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    let passes = format!("default<{}>", &level[1..]);
    let optimised = module.run_passes(&passes, &machine, PassBuilderOptions::create());
    optimised.unwrap_or_else(|e| panic!("{}: {e}", object.display()));
    let written = machine.write_to_file(&module, FileType::Object, object);
    written.unwrap_or_else(|e| panic!("{}: {e}", object.display()));
    language(&module)
}

/// A module of bitcode or text as LLVM prints it; its verifier must find nothing wrong with it.
#[track_caller]
pub(crate) fn accepted_text(module: &Path) -> String {
    let context = Context::create();
    let failed = |e: LLVMString| -> ! { panic!("{}: {e}", module.display()) };
    let buffer = MemoryBuffer::create_from_file(module).unwrap_or_else(|e| failed(e));
    let parsed = context.create_module_from_ir(buffer);
    let parsed = parsed.unwrap_or_else(|e| failed(e));
    parsed.verify().unwrap_or_else(|e| failed(e));
    parsed.print_to_string().to_string()
}

/// What makes machine code of a module, for this machine, as `clang LEVEL` does.
pub(super) fn machine(module: &Module, level: &str) -> TargetMachine {
    static NATIVE: Once = Once::new();
    NATIVE.call_once(|| Target::initialize_native(&InitializationConfig::default()).unwrap());
    let level = match level {
        "-O0" => OptimizationLevel::None,
        "-O1" => OptimizationLevel::Less,
        _ => OptimizationLevel::Default,
    };
    // A module may leave it open.
    let said = module.get_triple();
    let triple = if said.as_str().is_empty() {
        TargetMachine::get_default_triple()
    } else {
        said
    };
    let target = Target::from_triple(&triple).unwrap();
    let (position, model) = (RelocMode::PIC, CodeModel::Default);
    let machine = target.create_target_machine(&triple, "x86-64", "", level, position, model);
    machine.expect("LLVM has the machine that this is")
}

/// C++ is what names something that its library has.
fn language(module: &Module) -> Language {
    let is_cxx = |name: &[u8]| name.starts_with(b"_Z") || name.starts_with(b"__gxx");
    let mut functions = module.get_functions();
    if functions.any(|f| is_cxx(f.get_name().to_bytes())) {
        Language::Cxx
    } else {
        Language::C
    }
}
