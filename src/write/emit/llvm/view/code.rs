//! What instructions and constants compute: flags, sizes, offsets and bytes.

use super::super::value::has_fixed_size;
use super::{Value, value};
use crate::possible::code::Flags;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMABISizeOfType, LLVMOffsetOfElement};
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMTypeKind,
};
use inkwell::targets::TargetData;

/// The effects on memory that an attribute leaves: of each kind of memory one bit that says it may be read, and one
/// above it that says it may be written.
const WRITES: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// An address as a constant part, and indices with the bytes of a step.
pub(crate) struct ElementAddress<'m> {
    /// From where.
    pub(crate) base: Value<'m>,
    /// Bytes behind it.
    pub(crate) offset: i64,
    /// Indices, each with what one step adds.
    pub(crate) indices: Vec<(Value<'m>, i64)>,
    /// Whether LLVM is promised that it does not overflow, or leave what the base points into.
    pub(crate) is_promised: bool,
}

impl<'m> Value<'m> {
    /// The size of what a load reads or a store writes, in bytes; `None` if it has no fixed size.
    pub(crate) fn bytes(self, target: &TargetData) -> Option<u64> {
        self.0.size(target)
    }

    /// Whether it is an address of the usual kind.
    pub(crate) fn is_usual_address(self) -> bool {
        self.address_space() == Some(0)
    }

    /// Whether a store is neither volatile nor atomic.
    pub(crate) fn is_plain_store(self) -> bool {
        assert!(self.opcode() == LLVMOpcode::LLVMStore);
        // SAFETY: it is a store.
        let ordering = unsafe { LLVMGetOrdering(self.as_raw()) };
        !self.is_volatile() && ordering == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }

    /// What LLVM is promised of an operation on two integers, or of a cast.
    pub(crate) fn flags(self) -> Flags {
        use LLVMOpcode::*;
        let raw = self.as_raw();
        // SAFETY: each is asked of instructions that have it.
        unsafe {
            match self.opcode() {
                LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMTrunc => Flags {
                    signed: LLVMGetNSW(raw) != 0,
                    unsigned: LLVMGetNUW(raw) != 0,
                    exact: false,
                },
                LLVMUDiv | LLVMSDiv | LLVMLShr | LLVMAShr => Flags {
                    exact: LLVMGetExact(raw) != 0,
                    ..Flags::default()
                },
                LLVMOr => Flags {
                    exact: LLVMGetIsDisjoint(raw) != 0,
                    ..Flags::default()
                },
                LLVMZExt => Flags {
                    exact: LLVMGetNNeg(raw) != 0,
                    ..Flags::default()
                },
                _ => Flags::default(),
            }
        }
    }

    /// Whether LLVM is promised that both operands of a comparison have one sign.
    pub(crate) fn compares_one_sign(self) -> bool {
        assert!(self.opcode() == LLVMOpcode::LLVMICmp);
        #[cfg(not(feature = "llvm19"))]
        // SAFETY: it is a comparison of integers.
        let is_promised = unsafe { LLVMGetICmpSameSign(self.as_raw()) != 0 };
        // LLVM 19 knows no such promise.
        #[cfg(feature = "llvm19")]
        let is_promised = false;
        is_promised
    }

    /// Whether an `alloca` makes room for a constant number of values of a type with a fixed size.
    pub(crate) fn allocates_fixed_size(self) -> bool {
        assert!(self.opcode() == LLVMOpcode::LLVMAlloca);
        // SAFETY: it is an `alloca`, whose operand is the number of elements.
        unsafe {
            let ty = LLVMGetAllocatedType(self.as_raw());
            LLVMTypeIsSized(ty) != 0
                && has_fixed_size(ty)
                && !LLVMIsAConstantInt(LLVMGetOperand(self.as_raw(), 0)).is_null()
        }
    }

    /// The parts of the address that a `getelementptr` computes, an instruction or a constant; `None` if a type on the
    /// way has no fixed size, or it computes several addresses.
    pub(crate) fn element_address(self, target: &TargetData) -> Option<ElementAddress<'m>> {
        if !self.is_usual_address() {
            return None;
        }
        // SAFETY: callers ask instructions and constants of this kind: their operands are the base and the indices,
        // which go into arrays, and by constants into structs.
        unsafe {
            let mut operands = self.operands();
            let base = operands.next().filter(|b| b.is_usual_address())?;
            let mut found = ElementAddress {
                base,
                offset: 0,
                indices: Vec::new(),
                is_promised: LLVMGEPGetNoWrapFlags(self.as_raw()) != 0,
            };
            let mut ty = LLVMGetGEPSourceElementType(self.as_raw());
            for (n, index) in operands.enumerate() {
                if n > 0 {
                    match LLVMGetTypeKind(ty) {
                        LLVMTypeKind::LLVMStructTypeKind => {
                            let field = index.constant_int()? as u32;
                            let offset = LLVMOffsetOfElement(target.as_mut_ptr(), ty, field);
                            found.offset = found.offset.wrapping_add(offset.cast_signed());
                            ty = LLVMStructGetTypeAtIndex(ty, field);
                            continue;
                        }
                        LLVMTypeKind::LLVMArrayTypeKind => ty = LLVMGetElementType(ty),
                        _ => return None,
                    }
                }
                if LLVMTypeIsSized(ty) == 0 || !has_fixed_size(ty) {
                    return None;
                }
                let step = LLVMABISizeOfType(target.as_mut_ptr(), ty).cast_signed();
                match index.signed_constant() {
                    Some(times) => {
                        found.offset = found.offset.wrapping_add(step.wrapping_mul(times));
                    }
                    None if index.is_integer() => found.indices.push((index, step)),
                    None => return None,
                }
            }
            Some(found)
        }
    }

    /// Whether it is a constant that computes an address.
    pub(crate) fn is_constant_element(self) -> bool {
        self.element_address_base().is_some()
    }

    /// The value of an integer constant of at most 64 bits, with its sign.
    fn signed_constant(self) -> Option<i64> {
        let value = self.constant_int()?;
        let unused = 64 - self.bits().unwrap_or(64);
        Some((value << unused).cast_signed() >> unused)
    }

    /// Whether attributes of a call, or of the function that it calls, say that it writes no memory.
    pub(crate) fn call_writes_nothing(self, memory: u32) -> bool {
        let own = |value: u64| value & WRITES == 0;
        // SAFETY: it is a call site, and only a function is asked as one; an attribute of this kind has a number.
        unsafe {
            let of_call =
                LLVMGetCallSiteEnumAttribute(self.as_raw(), LLVMAttributeFunctionIndex, memory);
            if !of_call.is_null() && own(LLVMGetEnumAttributeValue(of_call)) {
                return true;
            }
            self.called_function().is_some_and(|f| {
                let of =
                    LLVMGetEnumAttributeAtIndex(f.as_raw(), LLVMAttributeFunctionIndex, memory);
                !of.is_null() && own(LLVMGetEnumAttributeValue(of))
            })
        }
    }

    /// Whether a function takes arguments that it has no parameters for.
    pub(crate) fn is_variadic(self) -> bool {
        assert!(self.is_function());
        // SAFETY: it is a function.
        unsafe { LLVMIsFunctionVarArg(LLVMGlobalGetValueType(self.as_raw())) != 0 }
    }

    /// Whether it is a variable or function that no other module can replace, neither as it is linked nor as it is
    /// loaded.
    pub(crate) fn is_final(self) -> bool {
        use LLVMLinkage::*;
        self.is_definition()
            && matches!(
                self.linkage(),
                LLVMInternalLinkage | LLVMPrivateLinkage | LLVMExternalLinkage
            )
    }

    /// Whether it is a variable; one that each thread has for itself is none.
    pub(crate) fn is_shared_variable(self) -> bool {
        // SAFETY: the value is live, and only a variable is asked whether it is one of each thread.
        unsafe {
            !LLVMIsAGlobalVariable(self.as_raw()).is_null() && LLVMIsThreadLocal(self.as_raw()) == 0
        }
    }

    /// The size of a variable, in bytes.
    pub(crate) fn variable_size(self, target: &TargetData) -> Option<u64> {
        assert!(self.is_shared_variable());
        // SAFETY: it is a variable, and only a type with a size is asked for it.
        unsafe {
            let ty = LLVMGlobalGetValueType(self.as_raw());
            let sized = LLVMTypeIsSized(ty) != 0 && has_fixed_size(ty);
            sized.then(|| LLVMABISizeOfType(target.as_mut_ptr(), ty))
        }
    }

    /// The bytes of a variable that nobody writes, as far as they are numbers; `None` if it may be written or replaced,
    /// or has more than `most`.
    pub(crate) fn constant_bytes(self, target: &TargetData, most: u64) -> Option<Vec<Option<u8>>> {
        // SAFETY: the value is live; only a variable is asked.
        let is_constant = self.is_shared_variable()
            && unsafe {
                LLVMIsGlobalConstant(self.as_raw()) != 0
                    && LLVMIsExternallyInitialized(self.as_raw()) == 0
            };
        let size = self
            .variable_size(target)
            .filter(|_| is_constant && self.is_final())?;
        let initial = self.initializer().filter(|_| size <= most)?;
        let mut bytes = vec![None; size as usize];
        // SAFETY: the initial value has the type of the variable.
        unsafe { write_constant(initial.as_raw(), target, &mut bytes) };
        Some(bytes)
    }
}

/// Writes the numbers of a constant to where they are in memory, the low bytes first.
///
/// # Safety
/// The constant must be live.
unsafe fn write_constant(constant: LLVMValueRef, target: &TargetData, bytes: &mut [Option<u8>]) {
    // SAFETY: the constant is live, and so is its type; elements are asked of types that have them.
    unsafe {
        let ty = LLVMTypeOf(constant);
        let is_null = LLVMIsNull(constant) != 0;
        let kind = LLVMGetTypeKind(ty);
        if is_null && kind != LLVMTypeKind::LLVMPointerTypeKind {
            bytes.fill(Some(0));
            return;
        }
        let elements = match kind {
            LLVMTypeKind::LLVMIntegerTypeKind => {
                let is_number = !LLVMIsAConstantInt(constant).is_null();
                let bits = LLVMGetIntTypeWidth(ty);
                if is_number && bits <= 64 && bits.is_multiple_of(8) {
                    let value = LLVMConstIntGetZExtValue(constant).to_le_bytes();
                    let own = value.iter().take(bits as usize / 8);
                    bytes
                        .iter_mut()
                        .zip(own)
                        .for_each(|(to, byte)| *to = Some(*byte));
                }
                return;
            }
            LLVMTypeKind::LLVMArrayTypeKind => LLVMGetArrayLength2(ty) as u32,
            LLVMTypeKind::LLVMStructTypeKind => LLVMCountStructElementTypes(ty),
            _ => return,
        };
        for i in 0..elements {
            let Some(element) = value::Value::from_raw(LLVMGetAggregateElement(constant, i)) else {
                return;
            };
            let own = LLVMTypeOf(element.as_raw());
            let size = LLVMABISizeOfType(target.as_mut_ptr(), own);
            let from = match kind {
                LLVMTypeKind::LLVMStructTypeKind => LLVMOffsetOfElement(target.as_mut_ptr(), ty, i),
                _ => u64::from(i) * size,
            };
            let range = from as usize..(from + size) as usize;
            if let Some(part) = bytes.get_mut(range) {
                write_constant(element.as_raw(), target, part);
            }
        }
    }
}
