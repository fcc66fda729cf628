//! What became of functions that no module has any more: debug information says where they were inlined.

use super::super::llvm::view::{self, Value};
use crate::input::load::Admitted;
use crate::write::emit::llvm::session;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// By symbol of a function in the source: the functions of the inputs that hold code of it, inlined there. Those
/// that exist beside that are among them. Takes a pass over all instructions, in time and memory linear in them
/// and in their locations; what LLVM cannot read tells nothing.
pub fn find_inlined(inputs: &[Admitted]) -> BTreeMap<String, BTreeSet<String>> {
    let mut into = BTreeMap::new();
    for input in inputs {
        let context = session::context();
        let buffer = MemoryBuffer::create_from_memory_range_copy(&input.bytes, &input.name);
        if let Ok(module) = context.create_module_from_ir(buffer) {
            view::functions(&module).for_each(|f| note_inlined(f, &module, &mut into));
        }
    }
    into
}

fn note_inlined<'m>(
    f: Value<'m>,
    module: &'m Module,
    into: &mut BTreeMap<String, BTreeSet<String>>,
) {
    let (mut seen, mut inlined) = (HashSet::new(), HashSet::new());
    let instructions = f.blocks().flat_map(|b| b.instructions());
    for location in instructions.filter_map(Value::debug_location) {
        let mut inner = location;
        // Chains share their ends.
        while let Some(call) = inner.inlined_at().filter(|_| seen.insert(inner)) {
            inlined.extend(inner.subprogram(module));
            inner = call;
        }
    }
    for symbol in inlined.into_iter().filter_map(|s| s.symbol(module)) {
        let name = f.name().into_owned();
        into.entry(symbol).or_default().insert(name);
    }
}
