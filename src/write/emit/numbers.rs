//! The numbers of a module in its program, apart from all else that was put into it.
//!
//! Programs of a build share libraries. Rewritten for two programs, a module differs in the id of the rewriting and in
//! the numbers of modules and functions, all of which are in two constants. Machine code of one is that of the other
//! with these constants in it ([`crate::project`]).

use crate::runtime::abi;
use inkwell::module::Module;
use inkwell::values::{BasicValueEnum, GlobalValue, StructValue};

/// What [`crate::write::output::NUMBERS`] holds: a digest of a rewritten module without its numbers, and the constant
/// that has those of functions: nothing, if none is counted. The module is as it was afterwards. O(module).
pub(super) fn describe(module: &Module) -> Vec<u8> {
    let constant = |name| {
        let global: GlobalValue = module.get_global(name)?;
        Some((global, global.get_initializer()?))
    };
    let block = constant(abi::BLOCK_SYMBOL);
    let description = constant(abi::MODULE_SYMBOL);
    if let Some((global, value)) = block {
        global.set_initializer(&value.get_type().const_zero());
    }
    if let Some((global, BasicValueEnum::StructValue(value))) = description {
        global.set_initializer(&without_program(value));
    }
    let mut described = blake3::hash(module.write_bitcode_to_memory().as_slice())
        .as_bytes()
        .to_vec();
    for (global, value) in block.iter().chain(&description) {
        global.set_initializer(value);
    }
    if let Some((_, BasicValueEnum::ArrayValue(bytes))) = block {
        described.extend(bytes.as_const_string().unwrap_or_default());
    }
    described
}

/// A description without the id of the rewriting.
fn without_program(value: StructValue) -> StructValue {
    let field = |i| value.get_field_at_index(i).expect("a field of that number");
    let is_program = |i: u32| abi::MODULE.fields[i as usize].name == "program";
    let fields: Vec<_> = (0..value.count_fields())
        .map(|i| {
            if is_program(i) {
                field(i).get_type().const_zero()
            } else {
                field(i)
            }
        })
        .collect();
    value.get_type().const_named_struct(&fields)
}
