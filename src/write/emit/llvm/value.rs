//! Values: what every reader and writer of a module asks of one.

use super::inst::Inst;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::LLVMABISizeOfType;
use inkwell::llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMTypeKind, LLVMUnnamedAddr,
};
use inkwell::targets::TargetData;
use inkwell::values::{AsValueRef, BasicValueEnum};

/// Anything that LLVM calls a value, of a module that outlives this handle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Value(pub(super) LLVMValueRef);

/// Makes a method that asks LLVM whether a value is of a class.
macro_rules! is {
    ($(#[$doc:meta])* $name:ident, $($is:ident)|+) => {
        $(#[$doc])*
        pub(crate) fn $name(self) -> bool {
            // SAFETY: the value is live.
            unsafe { $(!$is(self.0).is_null())||+ }
        }
    };
}

/// What a value is, and what it refers to.
impl Value {
    is!(
        /// Whether it is a constant, a global among them.
        is_constant, LLVMIsAConstant
    );
    is!(
        /// Whether it is a function, variable, alias or ifunc.
        is_global, LLVMIsAGlobalValue
    );
    is!(
        /// Whether it is a function, with a body or without.
        is_function, LLVMIsAFunction
    );
    is!(
        /// Whether it is an instruction.
        is_instruction, LLVMIsAInstruction
    );
    is!(
        /// Whether it is inline assembly.
        is_assembly, LLVMIsAInlineAsm
    );
    is!(
        /// Whether it is an integer constant: neither an expression nor a vector.
        is_constant_int, LLVMIsAConstantInt
    );
    is!(
        /// Whether it is a constant array or structure that lists its elements, other than plain numbers, as operands.
        is_aggregate, LLVMIsAConstantArray | LLVMIsAConstantStruct
    );
    is!(
        /// Whether it may have operands.
        has_operands, LLVMIsAUser
    );

    pub(super) fn from_raw(value: LLVMValueRef) -> Option<Value> {
        (!value.is_null()).then_some(Value(value))
    }

    /// The handle of LLVM's C interface.
    pub(super) fn as_raw(self) -> LLVMValueRef {
        self.0
    }

    /// A value of inkwell's.
    pub(crate) fn from_inkwell(value: &impl AsValueRef) -> Value {
        Value(value.as_value_ref())
    }

    /// The instruction that it is the result of.
    pub(crate) fn instruction(self) -> Option<Inst> {
        self.is_instruction().then(|| Inst::from_value(self))
    }

    /// The name; empty where there is none.
    ///
    /// # Safety
    /// While the bytes are used, the module lives, and nothing gives the value another name.
    pub(super) unsafe fn name_bytes<'a>(self) -> &'a [u8] {
        let mut length = 0;
        // SAFETY: the value is live; its name is `length` bytes.
        unsafe {
            let text = LLVMGetValueName2(self.0, &mut length);
            std::slice::from_raw_parts(text.cast::<u8>(), length)
        }
    }

    /// A copy of the name; empty where there is none.
    pub(crate) fn name(self) -> Vec<u8> {
        // SAFETY: the bytes are copied at once.
        unsafe { self.name_bytes() }.to_vec()
    }

    /// Gives it another name, to which LLVM adds a number should that be taken too.
    pub(crate) fn rename(self, name: &[u8]) {
        // SAFETY: the value is live; the name's length is said.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    /// The operands of an instruction or constant, without those that are absent; the incoming values of a φ.
    pub(crate) fn operands(self) -> impl Iterator<Item = Value> {
        assert!(self.has_operands());
        // SAFETY: LLVM calls what has operands a user; indices are in range.
        let count = unsafe { LLVMGetNumOperands(self.0) as u32 };
        // SAFETY: as above.
        (0..count).filter_map(move |i| Value::from_raw(unsafe { LLVMGetOperand(self.0, i) }))
    }

    /// The elements of a constant array or structure ([`Value::is_aggregate`]).
    pub(crate) fn elements(self) -> Vec<Value> {
        assert!(self.is_aggregate());
        self.operands().collect()
    }

    /// Who uses it, as often as it is used.
    pub(crate) fn uses(self) -> impl Iterator<Item = Value> {
        // SAFETY: the value is live; a use is one until its list ends.
        let first = unsafe { LLVMGetFirstUse(self.0) };
        let uses = std::iter::successors((!first.is_null()).then_some(first), |u| {
            // SAFETY: as above.
            let next = unsafe { LLVMGetNextUse(*u) };
            (!next.is_null()).then_some(next)
        });
        // SAFETY: as above.
        uses.filter_map(|u| Value::from_raw(unsafe { LLVMGetUser(u) }))
    }

    /// The instructions that use what a function's own code defines, as often as they do.
    pub(crate) fn users(self) -> Vec<Inst> {
        self.uses().map(Inst::from_value).collect()
    }

    /// The initial value, if it is a variable that has one.
    pub(crate) fn initializer(self) -> Option<Value> {
        // SAFETY: LLVM answers null for what is no variable, or has none.
        unsafe {
            let variable = Value::from_raw(LLVMIsAGlobalVariable(self.0))?;
            Value::from_raw(LLVMGetInitializer(variable.0))
        }
    }

    /// Whether a function or variable has a body or an initial value.
    pub(crate) fn is_definition(self) -> bool {
        assert!(self.is_global());
        // SAFETY: it is a global value.
        unsafe { LLVMIsDeclaration(self.0) == 0 }
    }

    /// The linkage of a function, variable, alias or ifunc.
    pub(crate) fn linkage(self) -> LLVMLinkage {
        assert!(self.is_global());
        // SAFETY: it is a global value.
        unsafe { LLVMGetLinkage(self.0) }
    }

    /// What a constant address of an element is computed from.
    pub(crate) fn element_address_base(self) -> Option<Value> {
        // SAFETY: the value is live, and only an expression is asked for its kind.
        let computes = unsafe {
            !LLVMIsAConstantExpr(self.0).is_null()
                && LLVMGetConstOpcode(self.0) == LLVMOpcode::LLVMGetElementPtr
        };
        computes.then(|| self.operands().next()).flatten()
    }

    /// Whether it has no value, as what returns nothing.
    pub(crate) fn is_nothing(self) -> bool {
        self.type_kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// The kind of its type.
    pub(super) fn type_kind(self) -> LLVMTypeKind {
        // SAFETY: the value is live, and so is its type.
        unsafe { LLVMGetTypeKind(LLVMTypeOf(self.0)) }
    }
}

/// What is asked of instructions.
impl Value {
    /// The kind of an instruction.
    pub(crate) fn opcode(self) -> LLVMOpcode {
        assert!(self.is_instruction());
        // SAFETY: it is an instruction.
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    /// Whether an instruction is a call site.
    pub(crate) fn is_call(self) -> bool {
        use LLVMOpcode::*;
        matches!(self.opcode(), LLVMCall | LLVMInvoke | LLVMCallBr)
    }

    /// Whether a call is marked `tail` or `musttail`.
    pub(crate) fn is_tail_call(self) -> bool {
        // SAFETY: it is a call.
        self.opcode() == LLVMOpcode::LLVMCall && unsafe { LLVMIsTailCall(self.0) != 0 }
    }

    /// What a call site calls: a function, an address, or inline assembly.
    pub(crate) fn called_value(self) -> Value {
        assert!(self.is_call());
        // SAFETY: it is a call site.
        Value(unsafe { LLVMGetCalledValue(self.0) })
    }

    /// The function that a call site calls directly.
    pub(crate) fn called_function(self) -> Option<Value> {
        Some(self.called_value()).filter(|f| f.is_function())
    }

    /// Whether a call site is inline assembly.
    pub(crate) fn calls_assembly(self) -> bool {
        self.called_value().is_assembly()
    }

    /// Whether a call site itself has an enum attribute of the function.
    pub(crate) fn has_call_attribute(self, kind: u32) -> bool {
        assert!(self.is_call());
        // SAFETY: it is a call site.
        unsafe { !LLVMGetCallSiteEnumAttribute(self.0, LLVMAttributeFunctionIndex, kind).is_null() }
    }

    /// Whether a function has an enum attribute.
    pub(crate) fn has_attribute(self, kind: u32) -> bool {
        assert!(self.is_function());
        // SAFETY: it is a function.
        unsafe { !LLVMGetEnumAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, kind).is_null() }
    }

    /// The entries of a φ: values, each with the block that it comes from.
    pub(super) fn incoming(self) -> impl Iterator<Item = (Value, LLVMBasicBlockRef)> {
        assert!(self.opcode() == LLVMOpcode::LLVMPHI);
        // SAFETY: it is a φ; indices are in range.
        let count = unsafe { LLVMCountIncoming(self.0) };
        // SAFETY: as above.
        (0..count).map(move |i| unsafe {
            (
                Value(LLVMGetIncomingValue(self.0, i)),
                LLVMGetIncomingBlock(self.0, i),
            )
        })
    }

    /// The block that an instruction is in.
    pub(super) fn parent(self) -> LLVMBasicBlockRef {
        assert!(self.is_instruction());
        // SAFETY: it is an instruction.
        unsafe { LLVMGetInstructionParent(self.0) }
    }
}

/// What writers make of one.
impl Value {
    /// The value as inkwell has it.
    #[cfg_attr(
        not(feature = "estimates"),
        allow(dead_code, reason = "only estimates use it")
    )]
    pub(crate) fn to_inkwell<'ctx>(self) -> BasicValueEnum<'ctx> {
        // SAFETY: the value is live, and of a type that a parameter can have.
        unsafe { BasicValueEnum::new(self.0) }
    }

    /// A block, as terminators have it as an operand.
    #[cfg_attr(
        not(feature = "estimates"),
        allow(dead_code, reason = "only estimates use it")
    )]
    pub(crate) fn of_block(block: BasicBlock) -> Value {
        // SAFETY: the block is live.
        Value(unsafe { LLVMBasicBlockAsValue(block.as_mut_ptr()) })
    }

    /// The size of its type in memory, in bytes; `None` for tokens, scalable vectors and what else has none.
    #[cfg_attr(
        not(feature = "estimates"),
        allow(dead_code, reason = "only estimates use it")
    )]
    pub(crate) fn size(self, target: &TargetData) -> Option<u64> {
        // SAFETY: the value is live, and only types that have one size are asked for it.
        unsafe {
            let ty = LLVMTypeOf(self.0);
            let sized = LLVMTypeIsSized(ty) != 0 && has_fixed_size(ty);
            sized.then(|| LLVMABISizeOfType(target.as_mut_ptr(), ty))
        }
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

    /// A constant of the type of this array or structure with other elements.
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

    /// The address of that element of `base` whose address in another object this constant is.
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
}

/// Whether every value of a type has the same number of bytes, whatever the processor.
///
/// # Safety
/// The type must be live.
#[cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use it")
)]
pub(super) unsafe fn has_fixed_size(ty: LLVMTypeRef) -> bool {
    use LLVMTypeKind::*;
    // SAFETY: the type is live, only types that have elements are asked for them, and types that have a size hold none
    // without.
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
