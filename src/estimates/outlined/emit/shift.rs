//! Induction variables that are handed over as a sum or an address that their loop has anyway.
//!
//! Loop strength reduction chooses registers for what a loop uses. Where that is never the variable itself but sums
//! with constants alone, as of one that is counted down before it is used, the variable as it is would be one more use,
//! for which LLVM finds other registers: a few instructions more in each iteration. A sum that the loop uses costs
//! nothing. Nor does the address of the element that the variable is the index of, where nothing else than addresses
//! and sums is made of it.

use super::live::sum_with_constant;
use crate::write::emit::llvm::inst::{self, Inst, phis};
use crate::write::emit::llvm::value::Value;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::targets::TargetData;
use inkwell::values::IntValue;
use std::collections::HashMap;

/// By φ, what is handed over for it, if that is not the φ itself.
#[derive(Default)]
pub(crate) struct Shifts(HashMap<Value, Form>);

/// What is handed over for a φ.
#[derive(Clone, Copy)]
enum Form {
    /// It and this constant.
    Sum(Value),
    /// The address that the instruction computes, whose operand `index` is the φ, and others are constants.
    Element {
        address: Inst,
        index: usize,
        stride: u64,
    },
}

impl Shifts {
    /// Of the φs of `headers`. O(uses).
    pub(crate) fn find(headers: &[BasicBlock], target: &TargetData) -> Self {
        let all = headers.iter().flat_map(|h| phis(*h));
        let form = |phi: Inst| Some((phi.value(), find_form(phi, target)?));
        Shifts(all.filter_map(form).collect())
    }

    /// What is handed over for `phi`, where the builder stands.
    pub(crate) fn handed_value(&self, builder: &Builder, phi: Value) -> Value {
        match self.0.get(&phi) {
            None => phi,
            Some(Form::Sum(by)) => {
                let (phi, by) = (number(phi), number(*by));
                // No flags: the loop's own sum may never be made.
                Value::from_inkwell(&builder.build_int_add(phi, by, "").expect("positioned"))
            }
            Some(Form::Element { address, .. }) => {
                // The loop may be left by other ways before its access.
                copy_of(*address, builder).value()
            }
        }
    }

    /// What `phi` was when `handed`, read as a value of its type, was handed over for it.
    pub(crate) fn shifted_back(&self, builder: &Builder, phi: Value, handed: Value) -> Value {
        let by = match self.0.get(&phi) {
            None => return handed,
            Some(Form::Sum(by)) => number(*by),
            Some(Form::Element { address, index, .. }) => {
                let first = copy_of(*address, builder);
                let zero = number(phi).get_type().const_zero();
                first.set_operand(*index, Value::from_inkwell(&zero));
                let first = first.value().to_inkwell().into_pointer_value();
                let ty = number(phi).get_type();
                builder.build_ptr_to_int(first, ty, "").expect("positioned")
            }
        };
        let less = builder.build_int_sub(number(handed), by, "");
        let less = less.expect("positioned");
        let Some(Form::Element { stride, .. }) = self.0.get(&phi) else {
            return Value::from_inkwell(&less);
        };
        let stride = less.get_type().const_int(*stride, false);
        let index = builder.build_int_signed_div(less, stride, "");
        Value::from_inkwell(&index.expect("positioned"))
    }
}

/// A copy that may be outside of what it is an element of.
fn copy_of(address: Inst, builder: &Builder) -> Inst {
    let copy = address.copy_here(builder);
    copy.drop_location();
    copy.let_leave_bounds();
    copy
}

fn number<'ctx>(value: Value) -> IntValue<'ctx> {
    value.to_inkwell().into_int_value()
}

fn find_form(phi: Inst, target: &TargetData) -> Option<Form> {
    sum(phi).map(Form::Sum).or_else(|| element(phi, target))
}

/// The constant of a sum, if nothing uses `phi` but such sums, and that one is more than the variable's next value:
/// that alone takes no register of its own, and handing it over made hash_table (testdata/kernels) 2 % slower.
fn sum(phi: Inst) -> Option<Value> {
    let users = phi.users().into_iter();
    let of_phi = |i: Inst| sum_with_constant(i).map(|(_, by)| (i, by));
    let sums: Option<Vec<(Inst, Value)>> = users.map(of_phi).collect();
    let sums = sums?;
    let only_next = |(i, _): &&(Inst, Value)| i.users().iter().all(is_next_or_compared);
    let used = sums.iter().find(|s| !only_next(s))?;
    Some(used.1)
}

fn is_next_or_compared(i: &Inst) -> bool {
    i.is_phi() || i.opcode() == LLVMOpcode::LLVMICmp
}

/// An address that the header computes and uses, in each iteration therefore, if all else that is made of the φ is of
/// the kind that a code generator makes of any other variable of the loop. The index can be computed from it, since an
/// access would be undefined if the index times the stride overflowed. Where the stride is a byte, the variable itself
/// is what is added to a constant address.
fn element(phi: Inst, target: &TargetData) -> Option<Form> {
    if phi.value().size(target) != Some(8) || !phi.users().iter().all(is_linear) {
        return None;
    }
    phi.users().into_iter().find_map(|address| {
        let operands = address.operands();
        let index = operands.iter().position(|o| *o == phi.value())?;
        let is_constant = |(i, o): (usize, &Value)| i == index || o.is_constant();
        let is_here = address.opcode() == LLVMOpcode::LLVMGetElementPtr
            && address.block() == phi.block()
            && index > 0
            && address.is_in_bounds()
            && operands.iter().enumerate().all(is_constant)
            && is_accessed(address);
        let stride = is_here.then(|| address.stride(index, target))??;
        (stride > 1).then_some(Form::Element {
            address,
            index,
            stride,
        })
    })
}

fn is_linear(i: &Inst) -> bool {
    use LLVMOpcode::*;
    matches!(
        i.opcode(),
        LLVMGetElementPtr
            | LLVMICmp
            | LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMShl
            | LLVMTrunc
            | LLVMSExt
            | LLVMZExt
    )
}

/// Whether the block that computes `address` reads or writes there, however its calls end.
fn is_accessed(address: Inst) -> bool {
    let all = inst::instructions(address.block()).into_iter();
    let mut before_calls = all.take_while(|i| !i.is_call());
    before_calls.any(|i| {
        let at = match i.opcode() {
            LLVMOpcode::LLVMLoad => 0,
            LLVMOpcode::LLVMStore => 1,
            _ => return false,
        };
        i.operands()[at] == address.value()
    })
}
