//! Attributes that counting makes false.
//!
//! A function that counts writes memory, and so does every function that may call it. An
//! optimiser that still believed `memory(none)` would merge or delete counted calls.

use super::sys;
use crate::index::{FuncId, ModuleId, TiVec, ti_vec};
use crate::ir::{Callee, Linkage, Program};
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
    fn holds(&self, module: ModuleId, name: &str) -> bool {
        name.is_empty() || self.local[module].contains(name) || self.visible.contains(name)
    }
}

/// Drops what is false from definitions, declarations and call sites of module number `id`.
/// Whether anything was. O(instructions).
pub(super) fn correct(module: &Module, id: ModuleId, affected: &Affected) -> bool {
    if affected.is_empty() {
        return false;
    }
    let mut changed = false;
    let kinds = FALSE.map(Attribute::get_named_enum_kind_id);
    for f in module.get_functions() {
        if affected.holds(id, &f.get_name().to_string_lossy()) {
            changed |= correct_function(f, &kinds);
        }
        for block in f.get_basic_block_iter() {
            let first = block.get_first_instruction();
            for call in std::iter::successors(first, |i| i.get_next_instruction()) {
                if sys::is_call(call) && calls_affected(call, id, affected) {
                    for &kind in &kinds {
                        changed |= sys::remove_call_attribute(call, kind);
                    }
                }
            }
        }
    }
    changed
}

fn calls_affected(
    call: inkwell::values::InstructionValue,
    id: ModuleId,
    affected: &Affected,
) -> bool {
    !sys::calls_assembly(call)
        && sys::callee_name(call).is_none_or(|name| affected.holds(id, &name))
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
