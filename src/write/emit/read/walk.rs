//! Over every operand of a module: whose address is taken, who may call whom.

use super::super::llvm::view::{self, FunctionType, Value};
use super::Names;
use crate::input::ir::callgraph::MAX_FUNCTIONS;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// [`crate::input::ir::lower::view::ModuleView::taken`]. O(operands); a constant is visited once.
pub(super) fn address_taken(module: &Module) -> BTreeSet<String> {
    let mut walk = Walk::default();
    view::variables(module)
        .filter_map(Value::initializer)
        .for_each(|c| walk.value(c));
    view::aliases(module).for_each(|a| walk.value(a.aliasee()));
    view::ifuncs(module).for_each(|i| walk.value(i.resolver()));
    instructions(module).for_each(|(_, i)| walk.instruction(i));
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
    fn instruction(&mut self, i: Value<'m>) {
        if i.is_call() {
            let callee = i.callee();
            if !callee.is_global() {
                self.value(callee);
            }
            // Operand bundles follow the arguments; llvm-ir does not show them.
            i.operands()
                .take(i.argument_count())
                .for_each(|o| self.value(o));
        } else if i.opcode() != LLVMOpcode::LLVMLandingPad {
            i.operands().for_each(|o| self.value(o));
        }
    }

    /// Notes the functions in a constant; other values have none. Explicit stack: initialisers nest deeply.
    fn value(&mut self, value: Value<'m>) {
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

/// [`crate::input::ir::lower::view::ModuleView::calls`], as the loader of llvm-ir has them.
pub(super) fn calls(module: &Module, names: &Names) -> Vec<(String, String)> {
    let definitions = || view::functions(module).filter(|f| f.is_definition());
    let unnamed = view::functions(module).any(|f| f.name().is_empty());
    if unnamed || definitions().count() > MAX_FUNCTIONS {
        return Vec::new();
    }
    let mut by_type: FxHashMap<FunctionType, Vec<String>> = FxHashMap::default();
    for f in definitions() {
        let alike = by_type.entry(f.function_type()).or_default();
        alike.push(f.name().into_owned());
    }
    let mut direct = FxHashSet::default();
    let mut indirect = FxHashSet::default();
    for (f, call) in instructions(module).filter(|(_, i)| i.is_call()) {
        let callee = call.callee();
        if callee.is_global() {
            direct.insert((f, callee));
        } else if !callee.is_assembly() {
            indirect.insert((f, call.callee_type()));
        }
    }
    let pair =
        |(f, callee): (Value, Value)| (f.name().into_owned(), names.symbol(callee).into_owned());
    let mut pairs: BTreeSet<(String, String)> = direct.into_iter().map(pair).collect();
    for (f, ty) in indirect {
        let targets = by_type.get(&ty).into_iter().flatten();
        pairs.extend(targets.map(|t| (f.name().into_owned(), t.clone())));
    }
    pairs.into_iter().collect()
}
