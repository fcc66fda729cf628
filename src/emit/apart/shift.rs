//! Induction variables that are handed over as a sum that their loop has anyway.
//!
//! Loop strength reduction chooses registers for what a loop uses. Where that is never the variable itself but sums with constants alone, as of one that
//! is counted down before it is used, the variable as it is would be one more use, for which LLVM finds other registers: a few instructions more in
//! each iteration. A sum that the loop uses costs nothing.

use crate::emit::values::{Inst, Value, phis};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::{BasicValueEnum, IntValue};
use std::collections::HashMap;

/// By φ, the constant that is added before it is handed over.
#[derive(Default)]
pub(in crate::emit) struct Shifts(HashMap<Value, Value>);

impl Shifts {
    /// Of the φs of `headers`. O(uses).
    pub(in crate::emit) fn of(headers: &[BasicBlock]) -> Self {
        let all = headers.iter().flat_map(|h| phis(*h));
        let shift = |phi: Inst| Some((phi.value(), shift(phi)?));
        Shifts(all.filter_map(shift).collect())
    }

    /// What is handed over for `phi`, where the builder stands.
    pub(in crate::emit) fn shifted(&self, builder: &Builder, phi: Value) -> Value {
        let Some((phi, by)) = self.numbers(phi, phi) else {
            return phi;
        };
        // No flags: the loop's own sum may never be made.
        Value::of(&builder.build_int_add(phi, by, "").expect("positioned"))
    }

    /// What `phi` was when `handed` was handed over for it.
    pub(in crate::emit) fn shifted_back(
        &self,
        builder: &Builder,
        phi: Value,
        handed: Value,
    ) -> Value {
        let Some((handed, by)) = self.numbers(phi, handed) else {
            return handed;
        };
        Value::of(&builder.build_int_sub(handed, by, "").expect("positioned"))
    }

    /// A value and what is added to it.
    fn numbers<'ctx>(&self, phi: Value, value: Value) -> Option<(IntValue<'ctx>, IntValue<'ctx>)> {
        let by = self.0.get(&phi)?;
        Some((value.basic().into_int_value(), by.basic().into_int_value()))
    }
}

/// The constant of a sum, if nothing uses `phi` but such sums, and that one is more than the variable's next value: that alone takes no register of its own,
/// and handing it over made hash_table (testdata/kernels) 2 % slower.
fn shift(phi: Inst) -> Option<Value> {
    let value = phi.value();
    let sums: Option<Vec<(Inst, Value)>> =
        value.users().into_iter().map(|u| sum(value, u)).collect();
    let sums = sums?;
    let only_next = |(i, _): &&(Inst, Value)| i.users().iter().all(is_next_or_compared);
    let used = sums.iter().find(|s| !only_next(s))?;
    Some(used.1)
}

/// An instruction that adds a constant to `value`, and that constant.
fn sum(value: Value, i: Inst) -> Option<(Inst, Value)> {
    if i.opcode() != LLVMOpcode::LLVMAdd {
        return None;
    }
    let operands = i.operands();
    let by = *operands.get(1)?;
    let is_number = || matches!(by.basic(), BasicValueEnum::IntValue(n) if n.is_constant_int());
    (operands[0] == value && by.is_constant() && is_number()).then_some((i, by))
}

fn is_next_or_compared(i: &Inst) -> bool {
    i.is_phi() || i.opcode() == LLVMOpcode::LLVMICmp
}
