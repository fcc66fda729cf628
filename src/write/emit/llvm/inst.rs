//! Instructions and their operands as plain handles: what copying blocks needs beyond inkwell.
//!
//! A handle names a value or block of one function of a module that outlives it; the functions here keep no
//! reference that the caller erased ([`Inst::erase`] says when).
#![allow(unsafe_code)]
#![cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use all of it")
)]

use super::value::{Value, has_fixed_size};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::llvm_sys::target::LLVMABISizeOfType;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode, LLVMTypeKind};
use inkwell::targets::TargetData;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};
use std::ops::Deref;

/// An instruction in a block, which is asked what any value is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Inst(Value);

impl Deref for Inst {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

/// The instructions of a block, in order.
pub(crate) fn instructions(block: BasicBlock) -> Vec<Inst> {
    let mut all = Vec::new();
    // SAFETY: the block is live, and so are its instructions.
    unsafe {
        let mut next = LLVMGetFirstInstruction(block.as_mut_ptr());
        while !next.is_null() {
            all.push(Inst(Value(next)));
            next = LLVMGetNextInstruction(next);
        }
    }
    all
}

/// The parameters of a function, of whatever type: inkwell panics at those that it has no name for, as `x86_mmx`.
pub(crate) fn parameters(function: FunctionValue) -> Vec<Value> {
    // SAFETY: the function is live, and indices are in range.
    unsafe {
        let n = LLVMCountParams(function.as_value_ref());
        let parameter = |i| Value(LLVMGetParam(function.as_value_ref(), i));
        (0..n).map(parameter).collect()
    }
}

/// Whether inkwell can name the type of a function's result, which may be none.
pub(crate) fn can_name_result(function: FunctionValue) -> bool {
    use LLVMTypeKind::*;
    // SAFETY: the function is live; its type is that of a function.
    let kind = unsafe {
        let ty = LLVMGlobalGetValueType(function.as_value_ref());
        LLVMGetTypeKind(LLVMGetReturnType(ty))
    };
    // LLVM 20 has no MMX type any more.
    #[cfg(feature = "llvm19")]
    if matches!(kind, LLVMX86_MMXTypeKind) {
        return false;
    }
    !matches!(
        kind,
        LLVMX86_AMXTypeKind | LLVMTokenTypeKind | LLVMTargetExtTypeKind
    )
}

/// A value that does not matter, of the type of `like`.
pub(crate) fn poison_like(like: Value) -> Value {
    // SAFETY: `like` is live.
    Value(unsafe { LLVMGetPoison(LLVMTypeOf(like.as_raw())) })
}

/// A φ without entries of the type of `like`, at the start of `block`.
pub(crate) fn phi_before_all(builder: &Builder, block: BasicBlock, like: Value) -> Inst {
    // SAFETY: block and value are live; the block has a first instruction or is empty.
    unsafe {
        let first = LLVMGetFirstInstruction(block.as_mut_ptr());
        if first.is_null() {
            LLVMPositionBuilderAtEnd(builder.as_mut_ptr(), block.as_mut_ptr());
        } else {
            LLVMPositionBuilderBeforeInstrAndDbgRecords(builder.as_mut_ptr(), first);
        }
        let phi = LLVMBuildPhi(
            builder.as_mut_ptr(),
            LLVMTypeOf(like.as_raw()),
            c"".as_ptr(),
        );
        LLVMInstructionSetDebugLoc(phi, std::ptr::null_mut());
        Inst(Value(phi))
    }
}

/// A φ without entries of the type of φ `old`, before it.
pub(crate) fn phi_before(builder: &Builder, old: Inst) -> Inst {
    // SAFETY: `old` is live and in a block.
    unsafe {
        LLVMPositionBuilderBeforeInstrAndDbgRecords(builder.as_mut_ptr(), old.as_raw());
        Inst(Value(LLVMBuildPhi(
            builder.as_mut_ptr(),
            LLVMTypeOf(old.as_raw()),
            c"".as_ptr(),
        )))
    }
}

/// A φ without entries that takes the place of φ `old` in all uses, before it.
pub(crate) fn renew_phi(builder: &Builder, old: Inst) -> Inst {
    let new = phi_before(builder, old);
    new.look_like(old);
    old.replace_uses(new.value());
    new
}

/// A φ without entries of the type of `like`, at the end of `block`, which has φs alone.
pub(crate) fn phi_at_end(builder: &Builder, block: BasicBlock, like: Value) -> Inst {
    // SAFETY: block and value are live.
    unsafe {
        LLVMPositionBuilderAtEnd(builder.as_mut_ptr(), block.as_mut_ptr());
        let phi = LLVMBuildPhi(
            builder.as_mut_ptr(),
            LLVMTypeOf(like.as_raw()),
            c"".as_ptr(),
        );
        Inst(Value(phi))
    }
}

/// Stack memory for a value of the type of `like`, where the builder stands.
pub(crate) fn room_for(builder: &Builder, like: Value) -> Value {
    // SAFETY: `like` is live, and the builder stands in a block of a live function.
    Value(unsafe {
        LLVMBuildAlloca(
            builder.as_mut_ptr(),
            LLVMTypeOf(like.as_raw()),
            c"".as_ptr(),
        )
    })
}

/// Reads a value of the type of `like` from `address`, where the builder stands.
pub(crate) fn load_value(builder: &Builder, like: Value, address: Value) -> Value {
    let (b, name) = (builder.as_mut_ptr(), c"".as_ptr());
    // SAFETY: as for `room_for`; `address` is a pointer.
    Value(unsafe { LLVMBuildLoad2(b, LLVMTypeOf(like.as_raw()), address.as_raw(), name) })
}

/// Writes `value` to `address`, where the builder stands.
pub(crate) fn store_value(builder: &Builder, value: Value, address: Value) {
    // SAFETY: as for `load`.
    unsafe { LLVMBuildStore(builder.as_mut_ptr(), value.as_raw(), address.as_raw()) };
}

/// Makes the builder stand before an instruction, without its location.
pub(crate) fn stand_before(builder: &Builder, at: Inst) {
    // SAFETY: `at` is live and in a block.
    unsafe {
        LLVMPositionBuilderBeforeInstrAndDbgRecords(builder.as_mut_ptr(), at.as_raw());
        LLVMSetCurrentDebugLocation2(builder.as_mut_ptr(), std::ptr::null_mut());
    }
}

/// The φs of a block.
pub(crate) fn phis(block: BasicBlock) -> impl Iterator<Item = Inst> {
    instructions(block).into_iter().take_while(|i| i.is_phi())
}

impl Inst {
    /// A value that is an instruction.
    pub(super) fn from_value(value: Value) -> Inst {
        debug_assert!(value.is_instruction());
        Inst(value)
    }

    /// That of inkwell.
    pub(crate) fn from_inkwell(i: InstructionValue) -> Inst {
        Inst(Value::from_inkwell(&i))
    }

    /// The block that it is in.
    pub(crate) fn block<'ctx>(self) -> BasicBlock<'ctx> {
        // SAFETY: the instruction is live and in a block of a live function.
        let block = unsafe { BasicBlock::new(LLVMGetInstructionParent(self.as_raw())) };
        block.expect("an instruction is in a block")
    }

    /// Moves it to the end of `block`. Debug records stay where it was.
    pub(crate) fn move_to(self, builder: &Builder, block: BasicBlock) {
        // SAFETY: instruction and block are live and of one function; between the calls the instruction is in no block,
        // and nobody sees it. Its location is its own.
        unsafe {
            let location = LLVMInstructionGetDebugLoc(self.as_raw());
            LLVMInstructionRemoveFromParent(self.as_raw());
            LLVMPositionBuilderAtEnd(builder.as_mut_ptr(), block.as_mut_ptr());
            LLVMInsertIntoBuilder(builder.as_mut_ptr(), self.as_raw());
            LLVMInstructionSetDebugLoc(self.as_raw(), location);
        }
    }

    /// The one behind it in its block.
    pub(crate) fn next_in_block(self) -> Option<Inst> {
        // SAFETY: the instruction is live and in a block.
        let next = unsafe { LLVMGetNextInstruction(self.as_raw()) };
        (!next.is_null()).then_some(Inst(Value(next)))
    }

    /// Takes its location away.
    pub(crate) fn drop_location(self) {
        // SAFETY: the instruction is live.
        unsafe { LLVMInstructionSetDebugLoc(self.as_raw(), std::ptr::null_mut()) }
    }

    /// Whether it has no result.
    pub(crate) fn is_void(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { LLVMGetTypeKind(LLVMTypeOf(self.as_raw())) == LLVMTypeKind::LLVMVoidTypeKind }
    }

    /// Its result.
    pub(crate) fn value(self) -> Value {
        self.0
    }

    /// Whether it is a φ.
    pub(crate) fn is_phi(self) -> bool {
        self.opcode() == LLVMOpcode::LLVMPHI
    }

    /// Whether it adds to a number or an address.
    pub(crate) fn is_step(self) -> bool {
        use LLVMOpcode::*;
        matches!(self.opcode(), LLVMAdd | LLVMSub | LLVMGetElementPtr)
    }

    /// Whether `other` computes the same as this step ([`Inst::is_step`]), from the same operands, and promises as
    /// much.
    pub(crate) fn is_same_step(self, other: Inst) -> bool {
        if self.opcode() != other.opcode() || self.operands() != other.operands() {
            return false;
        }
        let (a, b) = (self.as_raw(), other.as_raw());
        // SAFETY: both are live and of one kind: addresses of elements, or sums and differences of integers.
        unsafe {
            if self.opcode() == LLVMOpcode::LLVMGetElementPtr {
                LLVMGetGEPSourceElementType(a) == LLVMGetGEPSourceElementType(b)
                    && LLVMGEPGetNoWrapFlags(a) == LLVMGEPGetNoWrapFlags(b)
            } else {
                LLVMGetNSW(a) == LLVMGetNSW(b) && LLVMGetNUW(a) == LLVMGetNUW(b)
            }
        }
    }

    /// Drops that attribute, if the call site has it.
    pub(crate) fn drop_call_attribute(self, kind: u32) {
        assert!(self.is_call());
        // SAFETY: it is a call site; removing an absent attribute does nothing.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.as_raw(), LLVMAttributeFunctionIndex, kind) }
    }

    /// The name of the function that it calls directly.
    pub(crate) fn callee(self) -> Option<Vec<u8>> {
        if !self.is_call() {
            return None;
        }
        let callee = self.called_function()?;
        // SAFETY: the name is copied at once.
        Some(unsafe { callee.name_bytes() }.to_vec())
    }

    /// A copy with the same operands and metadata, where the builder stands. Debug records are not copied.
    pub(crate) fn copy_here(self, builder: &Builder) -> Inst {
        // SAFETY: the instruction is live; the copy belongs to the block in which the builder stands from here on.
        unsafe {
            let copy = LLVMInstructionClone(self.as_raw());
            let location = LLVMInstructionGetDebugLoc(self.as_raw());
            LLVMInsertIntoBuilder(builder.as_mut_ptr(), copy);
            LLVMInstructionSetDebugLoc(copy, location);
            Inst(Value(copy))
        }
    }

    /// Makes a sum one that wraps around.
    pub(crate) fn let_wrap(self) {
        // SAFETY: the instruction is live; others than sums and the like are not asked.
        unsafe {
            assert_eq!(LLVMGetInstructionOpcode(self.as_raw()), LLVMOpcode::LLVMAdd);
            LLVMSetNSW(self.as_raw(), 0);
            LLVMSetNUW(self.as_raw(), 0);
        }
    }

    /// Makes an address one that may be outside of what it is computed from.
    pub(crate) fn let_leave_bounds(self) {
        // SAFETY: the instruction is live, and computes an address.
        unsafe {
            assert_eq!(
                LLVMGetInstructionOpcode(self.as_raw()),
                LLVMOpcode::LLVMGetElementPtr
            );
            // All of them: `inbounds`, `nusw` and `nuw`.
            LLVMGEPSetNoWrapFlags(self.as_raw(), 0);
        }
    }

    /// Whether an address is undefined if it is outside of what it is computed from, or if its index times the stride
    /// overflows.
    pub(crate) fn is_in_bounds(self) -> bool {
        // SAFETY: the instruction is live, and computes an address.
        unsafe {
            assert_eq!(
                LLVMGetInstructionOpcode(self.as_raw()),
                LLVMOpcode::LLVMGetElementPtr
            );
            LLVMIsInBounds(self.as_raw()) != 0
        }
    }

    /// By how many bytes an address differs if operand `i`, an index, is one more. `None`: a field's number, or of
    /// unknown size.
    pub(crate) fn stride(self, i: usize, target: &TargetData) -> Option<u64> {
        // SAFETY: the instruction is live and computes an address: its indices go into arrays, vectors, and by
        // constants into structs.
        unsafe {
            assert_eq!(
                LLVMGetInstructionOpcode(self.as_raw()),
                LLVMOpcode::LLVMGetElementPtr
            );
            let mut ty = LLVMGetGEPSourceElementType(self.as_raw());
            for n in 2..=i {
                ty = match LLVMGetTypeKind(ty) {
                    LLVMTypeKind::LLVMArrayTypeKind => LLVMGetElementType(ty),
                    LLVMTypeKind::LLVMStructTypeKind if n < i => {
                        let field =
                            LLVMConstIntGetZExtValue(LLVMGetOperand(self.as_raw(), n as u32));
                        LLVMStructGetTypeAtIndex(ty, field as u32)
                    }
                    _ => return None,
                };
            }
            let sized = LLVMTypeIsSized(ty) != 0 && has_fixed_size(ty);
            sized.then(|| LLVMABISizeOfType(target.as_mut_ptr(), ty))
        }
    }

    /// Drops metadata of this kind.
    pub(crate) fn drop_metadata(self, kind: u32) {
        // SAFETY: the instruction is live; null takes the metadata away.
        unsafe { LLVMSetMetadata(self.as_raw(), kind, std::ptr::null_mut()) }
    }

    /// Its operands; those of a φ are its incoming values.
    pub(crate) fn operands(self) -> Vec<Value> {
        self.0.operands().collect()
    }

    /// Its first operand, if it has one: a `switch` has as many operands as cases.
    pub(crate) fn first_operand(self) -> Option<Value> {
        // SAFETY: the instruction is live, and the index is in range.
        unsafe {
            (LLVMGetNumOperands(self.as_raw()) > 0)
                .then(|| Value::from_raw(LLVMGetOperand(self.as_raw(), 0)))
        }
        .flatten()
    }

    /// Makes `value` operand `i`.
    pub(crate) fn set_operand(self, i: usize, value: Value) {
        // SAFETY: both are live; `i` is the number of an operand of the same type.
        unsafe { LLVMSetOperand(self.as_raw(), i as u32, value.as_raw()) }
    }

    /// The entries of a φ.
    pub(crate) fn incoming<'ctx>(self) -> Vec<(Value, BasicBlock<'ctx>)> {
        assert!(self.is_phi());
        let entries = self.0.incoming().map(|(value, block)| {
            // SAFETY: an incoming block is a live block of the function.
            let block = unsafe { BasicBlock::new(block) };
            (value, block.expect("a block"))
        });
        entries.collect()
    }

    /// Adds an entry to a φ.
    pub(crate) fn add_incoming(self, value: Value, block: BasicBlock) {
        assert!(self.is_phi());
        let (mut value, mut block) = (value.as_raw(), block.as_mut_ptr());
        // SAFETY: all are live and of one function, and the value has the φ's type.
        unsafe { LLVMAddIncoming(self.as_raw(), &mut value, &mut block, 1) }
    }

    /// Gives φ `self` the name, fast-math flags and location of φ `old`.
    pub(crate) fn look_like(self, old: Inst) {
        self.behave_like(old);
        self.rename(&old.name());
    }

    /// Gives φ `self` the fast-math flags and location of φ `old`.
    pub(super) fn behave_like(self, old: Inst) {
        // SAFETY: both are live φs of one type.
        unsafe {
            if LLVMCanValueUseFastMathFlags(old.as_raw()) != 0 {
                LLVMSetFastMathFlags(self.as_raw(), LLVMGetFastMathFlags(old.as_raw()));
            }
            LLVMInstructionSetDebugLoc(self.as_raw(), LLVMInstructionGetDebugLoc(old.as_raw()));
        }
    }

    /// Makes `by` the operand wherever the result is one.
    pub(crate) fn replace_uses(self, by: Value) {
        // SAFETY: both are live and of one type.
        unsafe { LLVMReplaceAllUsesWith(self.as_raw(), by.as_raw()) }
    }

    /// Erases it. The handle must not be used any more.
    ///
    /// # Panics
    /// When the result is used.
    pub(crate) fn erase(self) {
        assert!(self.users().is_empty(), "it is used");
        // SAFETY: it is live and unused; the caller gives the handle up.
        unsafe { LLVMInstructionEraseFromParent(self.as_raw()) }
    }
}
