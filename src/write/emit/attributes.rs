//! Attributes that counting makes false.
//!
//! A function that counts writes memory, and so does every function that may call it. An
//! optimiser that still believed `memory(none)` would merge or delete counted calls.

use super::llvm::inst::{self, Inst};
use crate::base::index::{FuncId, ModuleId, TiVec, ti_vec};
use crate::input::ir::{Callee, Linkage, Program};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::HashSet;

/// What the C API calls the attributes that go: counting writes memory, and the runtime may lock,
/// map and unmap. (`readnone` and its like become `memory` when a module is read.)
const FALSE: [&str; 4] = ["memory", "speculatable", "nosync", "nofree"];

/// Who may call whom, as far as attributes are concerned. Nodes are units, by [`FuncId`].
pub struct Callers {
    /// The units with direct calls of a unit.
    direct: TiVec<FuncId, Vec<FuncId>>,
    /// The units with calls through pointers.
    indirect: Vec<FuncId>,
}

impl Callers {
    /// Collects the calls of all bodies. O(call sites).
    pub fn new(program: &Program) -> Callers {
        let mut callers = Callers {
            direct: ti_vec![Vec::new(); program.functions.len()],
            indirect: Vec::new(),
        };
        for f in &program.functions {
            for &body in &f.bodies {
                for call in program
                    .body_in(body)
                    .cfg
                    .blocks
                    .iter()
                    .flat_map(|b| &b.calls)
                {
                    match call.callee {
                        Callee::Function(callee) => callers.direct[callee].push(f.unit),
                        Callee::Indirect => callers.indirect.push(f.unit),
                        Callee::External(ref name) if program.ifuncs.contains(name) => {
                            callers.indirect.push(f.unit);
                        }
                        Callee::External(_) | Callee::Asm => {}
                    }
                }
            }
        }
        callers
    }
}

/// The functions of one copy whose attributes may have become false: those that count, and all
/// that may call one of them. Functions that no input defines are taken at their word.
#[derive(Default)]
pub struct Affected {
    visible: HashSet<String>,
    /// By module.
    local: TiVec<ModuleId, HashSet<String>>,
}

impl Affected {
    /// What instrumenting the functions `counting` affects. Linear in the calls.
    pub fn new(
        program: &Program,
        callers: &Callers,
        counting: impl IntoIterator<Item = FuncId>,
    ) -> Affected {
        let mut reached: TiVec<FuncId, bool> = ti_vec![false; program.functions.len()];
        let units = counting.into_iter().map(|f| program.functions[f].unit);
        let mut work: Vec<FuncId> = units.collect();
        if !work.is_empty() {
            work.extend(&callers.indirect);
        }
        while let Some(unit) = work.pop() {
            if !std::mem::replace(&mut reached[unit], true) {
                work.extend(&callers.direct[unit]);
            }
        }
        let mut affected = Affected {
            visible: HashSet::new(),
            local: ti_vec![HashSet::new(); program.modules.len()],
        };
        for f in program.functions.iter().filter(|f| reached[f.unit]) {
            let local = program.body_at(f).linkage == Linkage::Local;
            let scope = if local {
                &mut affected.local[f.bodies[0].module]
            } else {
                &mut affected.visible
            };
            scope.insert(f.name.clone());
        }
        let aliases = program.aliases.iter();
        let aliases = aliases.filter(|(_, f)| reached[program.functions[**f].unit]);
        affected
            .visible
            .extend(aliases.map(|(name, _)| name.clone()));
        if !affected.is_empty() {
            affected.visible.extend(program.ifuncs.iter().cloned());
        }
        affected
    }

    fn is_empty(&self) -> bool {
        self.visible.is_empty() && self.local.iter().all(HashSet::is_empty)
    }

    /// Whether a function of that name may be one of them; functions without a name always may.
    fn may_contain(&self, module: ModuleId, name: &str) -> bool {
        name.is_empty() || self.local[module].contains(name) || self.visible.contains(name)
    }
}

/// The call sites of a module that say what may become false. O(instructions).
pub(super) fn find_calls_that_claim(module: &Module) -> Vec<Inst> {
    let kinds = FALSE.map(Attribute::get_named_enum_kind_id);
    let blocks = module
        .get_functions()
        .flat_map(|f| f.get_basic_block_iter());
    let calls = blocks.flat_map(inst::instructions).filter(|i| i.is_call());
    calls
        .filter(|call| kinds.iter().any(|kind| call.has_call_attribute(*kind)))
        .collect()
}

/// Drops what is false from definitions, declarations and call sites of module number `id`; `claiming` are
/// [`find_calls_that_claim`] of it. Whether anything was. O(functions + `claiming`).
pub(super) fn drop_false_attributes(
    module: &Module,
    claiming: &[Inst],
    id: ModuleId,
    affected: &Affected,
) -> bool {
    if affected.is_empty() {
        return false;
    }
    let mut changed = false;
    let kinds = FALSE.map(Attribute::get_named_enum_kind_id);
    for f in module.get_functions() {
        if affected.may_contain(id, &f.get_name().to_string_lossy()) {
            changed |= correct_function(f, &kinds);
        }
    }
    for call in claiming {
        if calls_affected(*call, id, affected) {
            kinds
                .iter()
                .for_each(|kind| call.drop_call_attribute(*kind));
            changed = true;
        }
    }
    changed
}

fn calls_affected(call: Inst, id: ModuleId, affected: &Affected) -> bool {
    let may_be = |name: Vec<u8>| affected.may_contain(id, &String::from_utf8_lossy(&name));
    !call.calls_assembly() && call.callee().is_none_or(may_be)
}

fn correct_function(f: FunctionValue, kinds: &[u32]) -> bool {
    let mut changed = false;
    for &kind in kinds {
        if f.get_enum_attribute(AttributeLoc::Function, kind).is_some() {
            f.remove_enum_attribute(AttributeLoc::Function, kind);
            changed = true;
        }
    }
    changed
}
