//! Instructions and their operands as plain handles: what copying blocks needs beyond inkwell.
//!
//! A handle names a value or block of one function of a module that outlives it; the functions here keep no
//! reference that the caller erased ([`Inst::erase`] says when).
#![allow(unsafe_code)]

use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::LLVMABISizeOfType;
use inkwell::llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMTypeKind, LLVMUnnamedAddr,
};
use inkwell::targets::TargetData;
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue, InstructionValue};

/// A value: an instruction, or anything that instructions refer to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Value(LLVMValueRef);

/// An instruction in a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Inst(LLVMValueRef);

/// The instructions of a block, in order.
pub(crate) fn instructions(block: BasicBlock) -> Vec<Inst> {
    let mut all = Vec::new();
    // SAFETY: the block is live, and so are its instructions.
    unsafe {
        let mut next = LLVMGetFirstInstruction(block.as_mut_ptr());
        while !next.is_null() {
            all.push(Inst(next));
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

/// Whether every value of a type has the same number of bytes, whatever the processor.
///
/// # Safety
/// The type must be live.
unsafe fn has_fixed_size(ty: LLVMTypeRef) -> bool {
    use LLVMTypeKind::*;
    // SAFETY: the type is live, only types that have elements are asked for them, and types that have a size hold none without.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMHalfTypeKind | LLVMBFloatTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind
            | LLVMX86_FP80TypeKind | LLVMFP128TypeKind | LLVMIntegerTypeKind
            | LLVMPointerTypeKind | LLVMVectorTypeKind => true,
            LLVMArrayTypeKind => has_fixed_size(LLVMGetElementType(ty)),
            LLVMStructTypeKind => (0..LLVMCountStructElementTypes(ty))
                .all(|i| has_fixed_size(LLVMStructGetTypeAtIndex(ty, i))),
            _ => false,
        }
    }
}

/// A value that does not matter, of the type of `like`.
pub(crate) fn poison(like: Value) -> Value {
    // SAFETY: `like` is live.
    Value(unsafe { LLVMGetPoison(LLVMTypeOf(like.0)) })
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
        let phi = LLVMBuildPhi(builder.as_mut_ptr(), LLVMTypeOf(like.0), c"".as_ptr());
        LLVMInstructionSetDebugLoc(phi, std::ptr::null_mut());
        Inst(phi)
    }
}

/// A φ without entries of the type of φ `old`, before it.
pub(crate) fn phi_before(builder: &Builder, old: Inst) -> Inst {
    // SAFETY: `old` is live and in a block.
    unsafe {
        LLVMPositionBuilderBeforeInstrAndDbgRecords(builder.as_mut_ptr(), old.0);
        Inst(LLVMBuildPhi(
            builder.as_mut_ptr(),
            LLVMTypeOf(old.0),
            c"".as_ptr(),
        ))
    }
}

/// A φ without entries that takes the place of φ `old` in all uses, before it.
pub(crate) fn renewed(builder: &Builder, old: Inst) -> Inst {
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
        let phi = LLVMBuildPhi(builder.as_mut_ptr(), LLVMTypeOf(like.0), c"".as_ptr());
        Inst(phi)
    }
}

/// Stack memory for a value of the type of `like`, where the builder stands.
pub(crate) fn room_for(builder: &Builder, like: Value) -> Value {
    // SAFETY: `like` is live, and the builder stands in a block of a live function.
    Value(unsafe { LLVMBuildAlloca(builder.as_mut_ptr(), LLVMTypeOf(like.0), c"".as_ptr()) })
}

/// Reads a value of the type of `like` from `address`, where the builder stands.
pub(crate) fn load(builder: &Builder, like: Value, address: Value) -> Value {
    let (b, name) = (builder.as_mut_ptr(), c"".as_ptr());
    // SAFETY: as for `room_for`; `address` is a pointer.
    Value(unsafe { LLVMBuildLoad2(b, LLVMTypeOf(like.0), address.0, name) })
}

/// Writes `value` to `address`, where the builder stands.
pub(crate) fn store(builder: &Builder, value: Value, address: Value) {
    // SAFETY: as for `load`.
    unsafe { LLVMBuildStore(builder.as_mut_ptr(), value.0, address.0) };
}

/// Makes the builder stand before an instruction, without its location.
pub(crate) fn stand_before(builder: &Builder, at: Inst) {
    // SAFETY: `at` is live and in a block.
    unsafe {
        LLVMPositionBuilderBeforeInstrAndDbgRecords(builder.as_mut_ptr(), at.0);
        LLVMSetCurrentDebugLocation2(builder.as_mut_ptr(), std::ptr::null_mut());
    }
}

/// The φs of a block.
pub(crate) fn phis(block: BasicBlock) -> impl Iterator<Item = Inst> {
    instructions(block).into_iter().take_while(|i| i.is_phi())
}

impl Value {
    /// Whether it is a constant.
    pub(crate) fn is_constant(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// The instruction that it is the result of.
    pub(crate) fn instruction(self) -> Option<Inst> {
        // SAFETY: the value is live.
        let is_one = unsafe { !LLVMIsAInstruction(self.0).is_null() };
        is_one.then_some(Inst(self.0))
    }

    /// A value of inkwell's.
    pub(crate) fn of(value: &impl AsValueRef) -> Value {
        Value(value.as_value_ref())
    }

    /// The value as inkwell has it.
    pub(crate) fn basic<'ctx>(self) -> BasicValueEnum<'ctx> {
        // SAFETY: the value is live, and of a type that a parameter can have.
        unsafe { BasicValueEnum::new(self.0) }
    }

    /// A block, as terminators have it as an operand.
    pub(crate) fn of_block(block: BasicBlock) -> Value {
        // SAFETY: the block is live.
        Value(unsafe { LLVMBasicBlockAsValue(block.as_mut_ptr()) })
    }

    /// The size of its type in memory, in bytes; `None` for tokens, scalable vectors and what else has none.
    pub(crate) fn size(self, target: &TargetData) -> Option<u64> {
        // SAFETY: the value is live, and only types that have one size are asked for it.
        unsafe {
            let ty = LLVMTypeOf(self.0);
            let sized = LLVMTypeIsSized(ty) != 0 && has_fixed_size(ty);
            sized.then(|| LLVMABISizeOfType(target.as_mut_ptr(), ty))
        }
    }

    /// Whether it is a number: neither an expression nor a vector.
    pub(crate) fn is_constant_int(self) -> bool {
        // SAFETY: the value is live.
        unsafe { !LLVMIsAConstantInt(self.0).is_null() }
    }

    /// The block whose address it is, if it is a constant of that kind.
    pub(crate) fn labelled_block<'ctx>(self) -> Option<BasicBlock<'ctx>> {
        // SAFETY: the value is live, and only an address of a block is asked which; that block is live too.
        unsafe {
            let is_label = !LLVMIsABlockAddress(self.0).is_null();
            is_label
                .then(|| BasicBlock::new(LLVMGetBlockAddressBasicBlock(self.0)))
                .flatten()
        }
    }

    /// The initial value, if it is a variable that has one.
    pub(crate) fn initializer(self) -> Option<Value> {
        // SAFETY: the value is live, and only a variable is asked.
        let initializer = unsafe {
            let variable = LLVMIsAGlobalVariable(self.0);
            (!variable.is_null()).then(|| LLVMGetInitializer(variable))
        };
        initializer.filter(|i| !i.is_null()).map(Value)
    }

    /// A constant of this module alone with this initial value, aligned and placed as this variable, whose address
    /// tells nothing. The name gets a number if it is taken.
    pub(crate) fn variable_like(self, name: &str, initializer: Value) -> Value {
        let name = std::ffi::CString::new(name).expect("names hold no NUL");
        // SAFETY: this value is checked to be a variable, of a live module, of the type of `initializer`.
        unsafe {
            assert!(!LLVMIsAGlobalVariable(self.0).is_null());
            let ty = LLVMGlobalGetValueType(self.0);
            assert_eq!(ty, LLVMTypeOf(initializer.0));
            let module = LLVMGetGlobalParent(self.0);
            let space = LLVMGetPointerAddressSpace(LLVMTypeOf(self.0));
            let made = LLVMAddGlobalInAddressSpace(module, ty, name.as_ptr(), space);
            LLVMSetInitializer(made, initializer.0);
            LLVMSetGlobalConstant(made, 1);
            LLVMSetLinkage(made, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetUnnamedAddress(made, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            LLVMSetAlignment(made, LLVMGetAlignment(self.0));
            Value(made)
        }
    }

    /// Whether it is a constant array or structure that lists its elements, other than plain numbers, as operands.
    pub(crate) fn is_aggregate(self) -> bool {
        // SAFETY: the value is live.
        unsafe {
            !LLVMIsAConstantArray(self.0).is_null() || !LLVMIsAConstantStruct(self.0).is_null()
        }
    }

    /// The elements of such a constant.
    pub(crate) fn elements(self) -> Vec<Value> {
        assert!(self.is_aggregate());
        // SAFETY: its operands are its elements, and indices are in range.
        unsafe {
            let n = LLVMGetNumOperands(self.0) as u32;
            (0..n).map(|i| Value(LLVMGetOperand(self.0, i))).collect()
        }
    }

    /// A constant of the type of such a constant with other elements.
    pub(crate) fn aggregate_like(self, elements: &[Value]) -> Value {
        let mut elements: Vec<LLVMValueRef> = elements.iter().map(|e| e.0).collect();
        let (values, n) = (elements.as_mut_ptr(), elements.len());
        // SAFETY: the value is live; there are as many elements as before, constants of the same types.
        unsafe {
            assert!(self.is_aggregate() && n == LLVMGetNumOperands(self.0) as usize);
            let ty = LLVMTypeOf(self.0);
            Value(match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMArrayTypeKind => {
                    LLVMConstArray2(LLVMGetElementType(ty), values, n as u64)
                }
                _ => LLVMConstNamedStruct(ty, values, n as u32),
            })
        }
    }

    /// What a constant address of an element is computed from.
    pub(crate) fn element_address_base(self) -> Option<Value> {
        // SAFETY: the value is live; only an expression is asked for its kind, and an address has a base.
        unsafe {
            let computes = !LLVMIsAConstantExpr(self.0).is_null()
                && LLVMGetConstOpcode(self.0) == LLVMOpcode::LLVMGetElementPtr;
            computes.then(|| Value(LLVMGetOperand(self.0, 0)))
        }
    }

    /// The same element of `base` as this constant is the address of.
    pub(crate) fn element_address_like(self, base: Value) -> Value {
        assert!(self.element_address_base().is_some());
        // SAFETY: it computes an address: its operands are the base and indices, constants. An address that is not said
        // to be in bounds may be any.
        unsafe {
            let n = LLVMGetNumOperands(self.0) as u32;
            let mut indices: Vec<_> = (1..n).map(|i| LLVMGetOperand(self.0, i)).collect();
            let ty = LLVMGetGEPSourceElementType(self.0);
            Value(LLVMConstGEP2(ty, base.0, indices.as_mut_ptr(), n - 1))
        }
    }

    /// The instructions that use it, as often as they do.
    pub(crate) fn users(self) -> Vec<Inst> {
        let mut users = Vec::new();
        // SAFETY: the value is live; users of what a function's own code defines are instructions.
        unsafe {
            let mut next = LLVMGetFirstUse(self.0);
            while !next.is_null() {
                users.push(Inst(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        users
    }
}

impl Inst {
    /// That of inkwell.
    pub(crate) fn of(i: InstructionValue) -> Inst {
        Inst(i.as_value_ref())
    }

    /// The block that it is in.
    pub(crate) fn block<'ctx>(self) -> BasicBlock<'ctx> {
        // SAFETY: the instruction is live and in a block of a live function.
        let block = unsafe { BasicBlock::new(LLVMGetInstructionParent(self.0)) };
        block.expect("an instruction is in a block")
    }

    /// Moves it to the end of `block`. Debug records stay where it was.
    pub(crate) fn move_to(self, builder: &Builder, block: BasicBlock) {
        // SAFETY: instruction and block are live and of one function; between the calls the instruction is in no block, and
        // nobody sees it. Its location is its own.
        unsafe {
            let location = LLVMInstructionGetDebugLoc(self.0);
            LLVMInstructionRemoveFromParent(self.0);
            LLVMPositionBuilderAtEnd(builder.as_mut_ptr(), block.as_mut_ptr());
            LLVMInsertIntoBuilder(builder.as_mut_ptr(), self.0);
            LLVMInstructionSetDebugLoc(self.0, location);
        }
    }

    /// The one behind it in its block.
    pub(crate) fn next(self) -> Option<Inst> {
        // SAFETY: the instruction is live and in a block.
        let next = unsafe { LLVMGetNextInstruction(self.0) };
        (!next.is_null()).then_some(Inst(next))
    }

    /// Takes its location away.
    pub(crate) fn drop_location(self) {
        // SAFETY: the instruction is live.
        unsafe { LLVMInstructionSetDebugLoc(self.0, std::ptr::null_mut()) }
    }

    /// Whether it has no result.
    pub(crate) fn is_void(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { LLVMGetTypeKind(LLVMTypeOf(self.0)) == LLVMTypeKind::LLVMVoidTypeKind }
    }

    /// Its result.
    pub(crate) fn value(self) -> Value {
        Value(self.0)
    }

    /// The kind.
    pub(crate) fn opcode(self) -> LLVMOpcode {
        // SAFETY: the instruction is live.
        unsafe { LLVMGetInstructionOpcode(self.0) }
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

    /// Whether `other` computes the same as this step ([`Inst::is_step`]), from the same operands, and promises as much.
    pub(crate) fn is_same_step(self, other: Inst) -> bool {
        if self.opcode() != other.opcode() || self.operands() != other.operands() {
            return false;
        }
        let (a, b) = (self.0, other.0);
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

    /// Whether it is a call site.
    pub(crate) fn is_call(self) -> bool {
        use LLVMOpcode::*;
        matches!(self.opcode(), LLVMCall | LLVMInvoke | LLVMCallBr)
    }

    /// Whether a call site is inline assembly.
    pub(crate) fn calls_assembly(self) -> bool {
        assert!(self.is_call());
        // SAFETY: it is a call site, whose called value is live.
        unsafe { !LLVMIsAInlineAsm(LLVMGetCalledValue(self.0)).is_null() }
    }

    /// Whether a call site itself has an enum attribute of the function.
    pub(crate) fn has_call_attribute(self, kind: u32) -> bool {
        assert!(self.is_call());
        // SAFETY: it is a call site.
        unsafe { !LLVMGetCallSiteEnumAttribute(self.0, LLVMAttributeFunctionIndex, kind).is_null() }
    }

    /// Drops that attribute, if the call site has it.
    pub(crate) fn drop_call_attribute(self, kind: u32) {
        assert!(self.is_call());
        // SAFETY: it is a call site; removing an absent attribute does nothing.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, LLVMAttributeFunctionIndex, kind) }
    }

    /// The name of the function that it calls directly.
    pub(crate) fn callee(self) -> Option<Vec<u8>> {
        if !self.is_call() {
            return None;
        }
        let mut length = 0;
        // SAFETY: it is a call site; the name is `length` bytes and copied at once.
        unsafe {
            let callee = LLVMIsAFunction(LLVMGetCalledValue(self.0));
            (!callee.is_null()).then(|| {
                let name = LLVMGetValueName2(callee, &mut length);
                std::slice::from_raw_parts(name.cast::<u8>(), length).to_vec()
            })
        }
    }

    /// A copy with the same operands and metadata, where the builder stands. Debug records are not copied.
    pub(crate) fn copy_here(self, builder: &Builder) -> Inst {
        // SAFETY: the instruction is live; the copy belongs to the block in which the builder stands from here on.
        unsafe {
            let copy = LLVMInstructionClone(self.0);
            let location = LLVMInstructionGetDebugLoc(self.0);
            LLVMInsertIntoBuilder(builder.as_mut_ptr(), copy);
            LLVMInstructionSetDebugLoc(copy, location);
            Inst(copy)
        }
    }

    /// Makes a sum one that wraps around.
    pub(crate) fn let_wrap(self) {
        // SAFETY: the instruction is live; others than sums and the like are not asked.
        unsafe {
            assert_eq!(LLVMGetInstructionOpcode(self.0), LLVMOpcode::LLVMAdd);
            LLVMSetNSW(self.0, 0);
            LLVMSetNUW(self.0, 0);
        }
    }

    /// Makes an address one that may be outside of what it is computed from.
    pub(crate) fn let_leave_bounds(self) {
        // SAFETY: the instruction is live, and computes an address.
        unsafe {
            assert_eq!(
                LLVMGetInstructionOpcode(self.0),
                LLVMOpcode::LLVMGetElementPtr
            );
            // All of them: `inbounds`, `nusw` and `nuw`.
            LLVMGEPSetNoWrapFlags(self.0, 0);
        }
    }

    /// Whether an address is undefined if it is outside of what it is computed from, or if its index times the stride overflows.
    pub(crate) fn is_in_bounds(self) -> bool {
        // SAFETY: the instruction is live, and computes an address.
        unsafe {
            assert_eq!(
                LLVMGetInstructionOpcode(self.0),
                LLVMOpcode::LLVMGetElementPtr
            );
            LLVMIsInBounds(self.0) != 0
        }
    }

    /// By how many bytes an address differs if operand `i`, an index, is one more. `None`: a field's number, or of unknown size.
    pub(crate) fn stride(self, i: usize, target: &TargetData) -> Option<u64> {
        // SAFETY: the instruction is live and computes an address: its indices go into arrays, vectors, and by constants into structs.
        unsafe {
            assert_eq!(
                LLVMGetInstructionOpcode(self.0),
                LLVMOpcode::LLVMGetElementPtr
            );
            let mut ty = LLVMGetGEPSourceElementType(self.0);
            for n in 2..=i {
                ty = match LLVMGetTypeKind(ty) {
                    LLVMTypeKind::LLVMArrayTypeKind => LLVMGetElementType(ty),
                    LLVMTypeKind::LLVMStructTypeKind if n < i => {
                        let field = LLVMConstIntGetZExtValue(LLVMGetOperand(self.0, n as u32));
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
        unsafe { LLVMSetMetadata(self.0, kind, std::ptr::null_mut()) }
    }

    /// Its operands; those of a φ are its incoming values.
    pub(crate) fn operands(self) -> Vec<Value> {
        // SAFETY: the instruction is live, and indices are in range.
        unsafe {
            let n = LLVMGetNumOperands(self.0) as u32;
            (0..n).map(|i| Value(LLVMGetOperand(self.0, i))).collect()
        }
    }

    /// Makes `value` operand `i`.
    pub(crate) fn set_operand(self, i: usize, value: Value) {
        // SAFETY: both are live; `i` is the number of an operand of the same type.
        unsafe { LLVMSetOperand(self.0, i as u32, value.0) }
    }

    /// The entries of a φ.
    pub(crate) fn incoming<'ctx>(self) -> Vec<(Value, BasicBlock<'ctx>)> {
        assert!(self.is_phi());
        // SAFETY: it is a live φ; its incoming blocks are live blocks of its function.
        unsafe {
            let entry = |i| {
                let block = BasicBlock::new(LLVMGetIncomingBlock(self.0, i));
                (
                    Value(LLVMGetIncomingValue(self.0, i)),
                    block.expect("a block"),
                )
            };
            (0..LLVMCountIncoming(self.0)).map(entry).collect()
        }
    }

    /// Adds an entry to a φ.
    pub(crate) fn add_incoming(self, value: Value, block: BasicBlock) {
        assert!(self.is_phi());
        let (mut value, mut block) = (value.0, block.as_mut_ptr());
        // SAFETY: all are live and of one function, and the value has the φ's type.
        unsafe { LLVMAddIncoming(self.0, &mut value, &mut block, 1) }
    }

    /// Gives φ `self` the name, fast-math flags and location of φ `old`.
    pub(crate) fn look_like(self, old: Inst) {
        // SAFETY: both are live φs of one type; the name is copied before it is given away.
        unsafe {
            if LLVMCanValueUseFastMathFlags(old.0) != 0 {
                LLVMSetFastMathFlags(self.0, LLVMGetFastMathFlags(old.0));
            }
            LLVMInstructionSetDebugLoc(self.0, LLVMInstructionGetDebugLoc(old.0));
            let mut length = 0;
            let name = LLVMGetValueName2(old.0, &mut length);
            let name = std::slice::from_raw_parts(name.cast::<u8>(), length).to_vec();
            LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len());
        }
    }

    /// Makes `by` the operand wherever the result is one.
    pub(crate) fn replace_uses(self, by: Value) {
        // SAFETY: both are live and of one type.
        unsafe { LLVMReplaceAllUsesWith(self.0, by.0) }
    }

    /// The instructions that use the result, as often as they do.
    pub(crate) fn users(self) -> Vec<Inst> {
        self.value().users()
    }

    /// Erases it. The handle must not be used any more.
    ///
    /// # Panics
    /// When the result is used.
    pub(crate) fn erase(self) {
        assert!(self.users().is_empty(), "it is used");
        // SAFETY: it is live and unused; the caller gives the handle up.
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }
}
