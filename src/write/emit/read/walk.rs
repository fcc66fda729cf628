//! Over every operand of a module: whose address is taken, who may call whom.

use super::super::llvm::view::{self, FunctionType, Value};
use super::Names;
use crate::input::ir::lower::view::{Calls, IndirectCalls};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// [`crate::input::ir::lower::view::ModuleView::taken`]. O(operands); a constant is visited once.
pub(super) fn address_taken(module: &Module) -> BTreeSet<String> {
    let mut walk = Walk::default();
    view::variables(module)
        .filter_map(Value::initializer)
        .for_each(|c| walk.visit_value(c));
    view::aliases(module).for_each(|a| walk.visit_value(a.aliasee()));
    view::ifuncs(module).for_each(|i| walk.visit_value(i.resolver()));
    instructions(module).for_each(|(_, i)| walk.visit_instruction(i));
    walk.taken
}

/// Every function's instructions, with the function.
fn instructions<'m>(module: &'m Module) -> impl Iterator<Item = (Value<'m>, Value<'m>)> {
    view::functions(module).flat_map(|f| {
        let instructions = f.blocks().flat_map(|b| b.instructions());
        instructions.map(move |i| (f, i))
    })
}

#[derive(Default)]
struct Walk<'m> {
    taken: BTreeSet<String>,
    seen: FxHashSet<Value<'m>>,
}

impl<'m> Walk<'m> {
    fn visit_instruction(&mut self, i: Value<'m>) {
        if i.is_call() {
            let callee = i.callee();
            if !callee.is_global() {
                self.visit_value(callee);
            }
            // Operand bundles follow the arguments; llvm-ir does not show them.
            i.operands()
                .take(i.argument_count())
                .for_each(|o| self.visit_value(o));
        } else if i.opcode() != LLVMOpcode::LLVMLandingPad {
            i.operands().for_each(|o| self.visit_value(o));
        }
    }

    /// Notes the functions in a constant; other values have none. Explicit stack: initialisers nest deeply.
    fn visit_value(&mut self, value: Value<'m>) {
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            if !value.is_constant() || value.is_block_address() || !self.seen.insert(value) {
                continue;
            }
            if value.is_function() {
                // What has no name cannot be looked up by one: as with llvm-ir.
                let name = value.name().into_owned();
                self.taken.extend(Some(name).filter(|n| !n.is_empty()));
            } else if !value.is_global() {
                stack.extend(value.operands());
            }
        }
    }
}

/// Who may call whom. O(instructions + functions).
pub(super) fn find_calls<'m>(module: &'m Module, names: &Names<'m>) -> Calls {
    let name = |f: Value<'m>| names.symbol(f).into_owned();
    let mut direct = FxHashSet::default();
    let mut callers: FxHashMap<FunctionType, FxHashSet<Value>> = FxHashMap::default();
    for (f, call) in instructions(module).filter(|(_, i)| i.is_call()) {
        let callee = call.callee();
        if callee.is_global() {
            direct.insert((f, callee));
        } else if !callee.is_assembly() {
            callers.entry(call.callee_type()).or_default().insert(f);
        }
    }
    let mut candidates: FxHashMap<FunctionType, Vec<String>> = FxHashMap::default();
    for f in view::functions(module).filter(|f| f.is_definition()) {
        if callers.contains_key(&f.function_type()) {
            let alike = candidates.entry(f.function_type()).or_default();
            alike.push(name(f));
        }
    }
    let indirect = candidates.into_iter().map(|(of_type, candidates)| {
        let callers = callers[&of_type].iter().copied().map(name);
        IndirectCalls {
            callers: callers.collect(),
            candidates,
        }
    });
    Calls {
        direct: direct
            .into_iter()
            .map(|(f, g)| (name(f), name(g)))
            .collect(),
        indirect: indirect.collect(),
    }
}
