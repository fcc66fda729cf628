//! Reading a module through the LLVM C API: what inkwell hides, or panics on (types and constants that it does
//! not know).
#![allow(unsafe_code)]

mod code;
mod nodes;
mod variables;

pub(crate) use variables::prepare_variables;

use super::value;
use crate::input::load::positions::{Asks, Predicate};
use inkwell::attributes::Attribute;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::{LLVMGetSubprogram, LLVMInstructionGetDebugLoc};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind,
};
use inkwell::module::Module;
use std::borrow::Cow;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ops::Deref;

/// The kind of metadata that says what is known of a loop.
const LOOP: &str = "llvm.loop";

/// A value of a module that lives for `'m` and does not change.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value<'m>(value::Value, PhantomData<&'m ()>);

impl Deref for Value<'_> {
    type Target = value::Value;

    fn deref(&self) -> &value::Value {
        &self.0
    }
}

/// A basic block of a function of such a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block<'m>(LLVMBasicBlockRef, PhantomData<&'m ()>);

/// A node of debug information of such a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Node<'m>(LLVMMetadataRef, PhantomData<&'m ()>);

/// A function type: equal types are the same pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FunctionType(LLVMTypeRef);

/// Follows one of LLVM's lists to its end.
macro_rules! list {
    ($(#[$doc:meta])* $name:ident, $first:ident, $next:ident) => {
        $(#[$doc])*
        pub(crate) fn $name<'m>(module: &'m Module) -> impl Iterator<Item = Value<'m>> + use<'m> {
            // SAFETY: the module is live and unchanged as long as it is borrowed, and so are its lists.
            let first = unsafe { Value::from_raw($first(module.as_mut_ptr())) };
            // SAFETY: as above.
            std::iter::successors(first, |v| unsafe { Value::from_raw($next(v.as_raw())) })
        }
    };
}

list!(
    /// Functions with and without a body, in order.
    functions, LLVMGetFirstFunction, LLVMGetNextFunction
);
list!(
    /// Global variables, in order.
    variables, LLVMGetFirstGlobal, LLVMGetNextGlobal
);
list!(
    /// Aliases, in order.
    aliases, LLVMGetFirstGlobalAlias, LLVMGetNextGlobalAlias
);
list!(
    /// Indirect functions, in order.
    ifuncs, LLVMGetFirstGlobalIFunc, LLVMGetNextGlobalIFunc
);

impl<'m> Value<'m> {
    fn from_raw(value: LLVMValueRef) -> Option<Value<'m>> {
        value::Value::from_raw(value).map(Value::new)
    }

    /// A value of this module.
    fn new(value: value::Value) -> Value<'m> {
        Value(value, PhantomData)
    }

    /// Whether it is the address of a block.
    pub(crate) fn is_block_address(self) -> bool {
        // SAFETY: the value is live.
        unsafe { !LLVMIsABlockAddress(self.as_raw()).is_null() }
    }

    /// The name; empty where there is none.
    pub(crate) fn name(self) -> Cow<'m, str> {
        // SAFETY: the module does not change.
        String::from_utf8_lossy(unsafe { self.name_bytes() })
    }

    /// The operands of an instruction or constant.
    pub(crate) fn operands(self) -> impl Iterator<Item = Value<'m>> {
        self.0.operands().map(Value::new)
    }

    /// The value of an integer constant of at most 64 bits.
    pub(crate) fn constant_int(self) -> Option<u64> {
        if !self.is_constant_int() {
            return None;
        }
        // SAFETY: it is an integer constant, and its type an integer's.
        unsafe {
            let is_small = LLVMGetIntTypeWidth(LLVMTypeOf(self.as_raw())) <= 64;
            is_small.then(|| LLVMConstIntGetZExtValue(self.as_raw()))
        }
    }

    /// The initialiser of a global variable.
    pub(crate) fn initializer(self) -> Option<Value<'m>> {
        self.0.initializer().map(Value::new)
    }

    /// What an alias stands for.
    pub(crate) fn aliasee(self) -> Value<'m> {
        // SAFETY: checked to be an alias, which has an aliasee.
        unsafe {
            assert!(!LLVMIsAGlobalAlias(self.as_raw()).is_null());
            Value::new(value::Value(LLVMAliasGetAliasee(self.as_raw())))
        }
    }

    /// What chooses the function behind an ifunc.
    pub(crate) fn resolver(self) -> Value<'m> {
        // SAFETY: checked to be an ifunc, which has a resolver.
        unsafe {
            assert!(!LLVMIsAGlobalIFunc(self.as_raw()).is_null());
            Value::new(value::Value(LLVMGetGlobalIFuncResolver(self.as_raw())))
        }
    }

    /// The type of a function.
    pub(crate) fn function_type(self) -> FunctionType {
        assert!(self.is_function());
        // SAFETY: it is a function.
        FunctionType(unsafe { LLVMGlobalGetValueType(self.as_raw()) })
    }

    /// The parameters of a function, in order.
    pub(crate) fn parameters(self) -> impl Iterator<Item = Value<'m>> {
        assert!(self.is_function());
        // SAFETY: it is a function.
        let count = unsafe { LLVMCountParams(self.as_raw()) };
        // SAFETY: as above; indices are in range.
        (0..count).map(move |i| unsafe { Value::new(value::Value(LLVMGetParam(self.as_raw(), i))) })
    }

    /// The blocks of a function, the entry first.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        assert!(self.is_function());
        // SAFETY: it is a function; its list of blocks does not change.
        let first = unsafe { Block::from_raw(LLVMGetFirstBasicBlock(self.as_raw())) };
        // SAFETY: as above.
        std::iter::successors(first, |b| unsafe {
            Block::from_raw(LLVMGetNextBasicBlock(b.0))
        })
    }

    /// Who a call site calls.
    pub(crate) fn callee(self) -> Value<'m> {
        Value::new(self.called_value())
    }

    /// The type of the function that a call site calls.
    pub(crate) fn callee_type(self) -> FunctionType {
        assert!(self.is_call());
        // SAFETY: it is a call site.
        FunctionType(unsafe { LLVMGetCalledFunctionType(self.as_raw()) })
    }

    /// The number of arguments of a call site: they are its first operands.
    pub(crate) fn argument_count(self) -> usize {
        assert!(self.is_call());
        // SAFETY: it is a call site.
        unsafe { LLVMGetNumArgOperands(self.as_raw()) as usize }
    }

    /// The text of inline assembly.
    pub(crate) fn assembly(self) -> Cow<'m, str> {
        assert!(self.is_assembly());
        let mut length = 0;
        // SAFETY: it is inline assembly; its text is `length` bytes that live as long as its context.
        let bytes = unsafe {
            let text = LLVMGetInlineAsmAsmString(self.as_raw(), &mut length);
            std::slice::from_raw_parts(text.cast::<u8>(), length)
        };
        String::from_utf8_lossy(bytes)
    }

    /// The address space of a pointer; `None`: it is none.
    pub(crate) fn address_space(self) -> Option<u32> {
        let is_pointer = self.type_kind() == LLVMTypeKind::LLVMPointerTypeKind;
        // SAFETY: the value is live, and so is its type, a pointer's.
        is_pointer.then(|| unsafe { LLVMGetPointerAddressSpace(LLVMTypeOf(self.as_raw())) })
    }

    /// Whether the value is a token, which cannot be one of several at a φ.
    pub(crate) fn is_token(self) -> bool {
        self.type_kind() == LLVMTypeKind::LLVMTokenTypeKind
    }

    /// The instruction as text.
    pub(crate) fn text(self) -> String {
        self.assert_instruction();
        self.print_value()
    }

    /// Any value as text.
    fn print_value(self) -> String {
        // SAFETY: the value is live; the text is NUL-terminated and ours to free.
        unsafe {
            let text = LLVMPrintValueToString(self.as_raw());
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            copy
        }
    }

    /// The value of each successor of a `switch` but the first, which is the default.
    #[cfg(feature = "llvm19")]
    pub(crate) fn cases(self) -> impl Iterator<Item = Value<'m>> {
        assert!(self.opcode() == LLVMOpcode::LLVMSwitch);
        // The condition and the default come first, then each value before its successor.
        self.operands().skip(2).step_by(2)
    }

    /// The value of each successor of a `switch` but the first, which is the default.
    #[cfg(not(feature = "llvm19"))]
    pub(crate) fn cases(self) -> impl Iterator<Item = Value<'m>> {
        assert!(self.opcode() == LLVMOpcode::LLVMSwitch);
        // SAFETY: it is a `switch`, and the indices are those of its successors but the first.
        let case = move |i| unsafe { Value::from_raw(LLVMGetSwitchCaseValue(self.as_raw(), i)) };
        (1..self.successors().count() as u32).filter_map(case)
    }

    /// The successors of a terminator, in its order.
    pub(crate) fn successors(self) -> impl Iterator<Item = Block<'m>> {
        // SAFETY: checked to be a terminator; indices are in range.
        let count = unsafe {
            assert!(!LLVMIsATerminatorInst(self.as_raw()).is_null());
            LLVMGetNumSuccessors(self.as_raw())
        };
        // SAFETY: as above.
        (0..count).map(move |i| unsafe { Block(LLVMGetSuccessor(self.as_raw(), i), PhantomData) })
    }

    /// The nodes in the `!llvm.loop` node of a terminator: locations and hints.
    pub(crate) fn loop_nodes(self, module: &'m Module) -> Vec<Node<'m>> {
        self.assert_instruction();
        // SAFETY: it is an instruction of the module, whose context is live. LLVM writes as many operands as it says
        // that the node has; an operand is null, a constant, or metadata as a value, of which only nodes are looked at.
        let operands = unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let kind = LLVMGetMDKindIDInContext(context, LOOP.as_ptr().cast(), LOOP.len() as u32);
            let node = LLVMGetMetadata(self.as_raw(), kind);
            if node.is_null() {
                return Vec::new();
            }
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
            operands.retain(|o| !o.is_null() && !LLVMIsAMDNode(*o).is_null());
            operands
        };
        // SAFETY: what is left is nodes as values, which live as long as the context.
        let nodes = operands
            .into_iter()
            .map(|o| unsafe { LLVMValueAsMetadata(o) });
        nodes.filter_map(Node::from_raw).collect()
    }

    /// What debug information says of a function definition.
    pub(crate) fn debug_function(self) -> Option<Node<'m>> {
        assert!(self.is_function());
        // SAFETY: it is a function; LLVM answers null where there is no debug information.
        unsafe { Node::from_raw(LLVMGetSubprogram(self.as_raw())) }
    }

    /// Whether it is an integer of so many bits.
    pub(crate) fn has_width(self, bits: u32) -> bool {
        self.is_integer() && self.bits() == Some(bits)
    }

    /// Whether it is true or false.
    pub(crate) fn is_condition(self) -> bool {
        self.has_width(1)
    }

    /// Whether it is one integer, of any width.
    pub(crate) fn is_integer(self) -> bool {
        self.type_kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    /// Whether a comparison of integers asks if they are equal.
    pub(crate) fn compares_equal(self) -> bool {
        assert!(self.opcode() == LLVMOpcode::LLVMICmp);
        // SAFETY: it is a comparison of integers.
        unsafe { LLVMGetICmpPredicate(self.as_raw()) == LLVMIntPredicate::LLVMIntEQ }
    }

    /// The bits of an integer, or of an address; `None` of anything else.
    pub(crate) fn bits(self) -> Option<u32> {
        // SAFETY: the value is live, and so is its type, of which the width is asked only if it is an integer.
        unsafe {
            let ty = LLVMTypeOf(self.as_raw());
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMIntegerTypeKind => Some(LLVMGetIntTypeWidth(ty)),
                // No address has more.
                LLVMTypeKind::LLVMPointerTypeKind => Some(64),
                _ => None,
            }
        }
    }

    /// Who uses it, as often as it is used.
    pub(crate) fn users(self) -> impl Iterator<Item = Value<'m>> {
        self.uses().map(Value::new)
    }

    /// Whether a load or store is volatile.
    pub(crate) fn is_volatile(self) -> bool {
        let accesses = matches!(self.opcode(), LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore);
        assert!(accesses);
        // SAFETY: it is a load or store.
        unsafe { LLVMGetVolatile(self.as_raw()) != 0 }
    }

    /// Whether a load is neither volatile nor atomic.
    pub(crate) fn is_plain_load(self) -> bool {
        assert!(self.opcode() == LLVMOpcode::LLVMLoad);
        // SAFETY: it is a load.
        let ordering = unsafe { LLVMGetOrdering(self.as_raw()) };
        !self.is_volatile() && ordering == LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }

    /// Whether it is one address, not a vector of several.
    pub(crate) fn is_address(self) -> bool {
        self.type_kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Whether it is `undef` or `poison`.
    pub(crate) fn is_undefined(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMIsUndef(self.as_raw()) != 0 }
    }

    /// Whether it is a constant address computed from its first operand, and no vector.
    pub(crate) fn is_constant_element_address(self) -> bool {
        self.element_address_base().is_some() && self.is_address()
    }

    /// Whether it is a variable of this module alone, which nobody writes and every thread shares.
    pub(crate) fn is_local_constant(self) -> bool {
        use LLVMLinkage::*;
        // SAFETY: the value is live, and only a variable is asked the rest.
        unsafe {
            !LLVMIsAGlobalVariable(self.as_raw()).is_null()
                && LLVMIsGlobalConstant(self.as_raw()) != 0
                && LLVMIsThreadLocal(self.as_raw()) == 0
                && LLVMIsExternallyInitialized(self.as_raw()) == 0
                && matches!(
                    LLVMGetLinkage(self.as_raw()),
                    LLVMInternalLinkage | LLVMPrivateLinkage
                )
        }
    }

    /// The block that an instruction is in.
    pub(crate) fn block(self) -> Block<'m> {
        Block(self.parent(), PhantomData)
    }

    /// The predicate of a comparison of integers or addresses.
    pub(crate) fn predicate(self) -> Predicate {
        use LLVMIntPredicate::*;
        assert!(self.opcode() == LLVMOpcode::LLVMICmp);
        // SAFETY: it is a comparison of integers.
        match unsafe { LLVMGetICmpPredicate(self.as_raw()) } {
            LLVMIntEQ => Predicate::Eq,
            LLVMIntNE => Predicate::Ne,
            LLVMIntSLT => Predicate::Slt,
            LLVMIntSLE => Predicate::Sle,
            LLVMIntSGT => Predicate::Sgt,
            LLVMIntSGE => Predicate::Sge,
            LLVMIntULT => Predicate::Ult,
            LLVMIntULE => Predicate::Ule,
            LLVMIntUGT => Predicate::Ugt,
            LLVMIntUGE => Predicate::Uge,
        }
    }

    /// What a comparison of integers or pointers asks of its operands, and whether without their signs.
    pub(crate) fn integer_question(self) -> (Asks, bool) {
        use LLVMIntPredicate::*;
        assert!(self.opcode() == LLVMOpcode::LLVMICmp);
        // SAFETY: it is a comparison of integers.
        match unsafe { LLVMGetICmpPredicate(self.as_raw()) } {
            LLVMIntEQ => (Asks::Equal, false),
            LLVMIntNE => (Asks::Unequal, false),
            LLVMIntSLT | LLVMIntSLE => (Asks::Less, false),
            LLVMIntSGT | LLVMIntSGE => (Asks::Greater, false),
            LLVMIntULT | LLVMIntULE => (Asks::Less, true),
            LLVMIntUGT | LLVMIntUGE => (Asks::Greater, true),
        }
    }

    /// What a comparison of floating-point numbers asks of its operands, unless that is only whether they are numbers.
    pub(crate) fn float_question(self) -> Option<Asks> {
        use LLVMRealPredicate::*;
        assert!(self.opcode() == LLVMOpcode::LLVMFCmp);
        // SAFETY: it is a comparison of floating-point numbers.
        Some(match unsafe { LLVMGetFCmpPredicate(self.as_raw()) } {
            LLVMRealOEQ | LLVMRealUEQ => Asks::Equal,
            LLVMRealONE | LLVMRealUNE => Asks::Unequal,
            LLVMRealOLT | LLVMRealOLE | LLVMRealULT | LLVMRealULE => Asks::Less,
            LLVMRealOGT | LLVMRealOGE | LLVMRealUGT | LLVMRealUGE => Asks::Greater,
            _ => return None,
        })
    }

    /// Whether what a comparison asks, of integers or floating-point numbers, also holds where both operands are equal.
    pub(crate) fn holds_if_equal(self) -> bool {
        use LLVMRealPredicate::*;
        if self.opcode() == LLVMOpcode::LLVMICmp {
            return self.predicate().holds_if_equal();
        }
        assert!(self.opcode() == LLVMOpcode::LLVMFCmp);
        // SAFETY: it is a comparison of floating-point numbers.
        let predicate = unsafe { LLVMGetFCmpPredicate(self.as_raw()) };
        let ordered = matches!(predicate, LLVMRealOEQ | LLVMRealOLE | LLVMRealOGE);
        ordered || matches!(predicate, LLVMRealUEQ | LLVMRealULE | LLVMRealUGE)
    }

    /// Whether it is a constant that is zero or null.
    pub(crate) fn is_null(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMIsConstant(self.as_raw()) != 0 && LLVMIsNull(self.as_raw()) != 0 }
    }

    /// The values that come into a φ, each with the block that it comes from.
    pub(crate) fn incoming(self) -> impl Iterator<Item = (Value<'m>, Block<'m>)> {
        let entries = self.0.incoming();
        entries.map(|(value, block)| (Value::new(value), Block(block, PhantomData)))
    }

    /// An integer constant, signed, in decimal.
    pub(crate) fn decimal_constant(self) -> Option<String> {
        if !self.is_constant_int() {
            return None;
        }
        let text = self.print_value();
        // Its type stands first.
        Some(match text.rsplit(' ').next().unwrap_or_default() {
            "true" => "1".into(),
            "false" => "0".into(),
            digits => digits.into(),
        })
    }

    /// The location that debug information gives an instruction, with the calls that it was inlined through.
    pub(crate) fn debug_location(self) -> Option<Node<'m>> {
        self.assert_instruction();
        // SAFETY: it is an instruction; LLVM answers null where there is no location.
        unsafe { Node::from_raw(LLVMInstructionGetDebugLoc(self.as_raw())) }
    }

    fn assert_instruction(self) {
        assert!(self.is_instruction());
    }
}

impl<'m> Block<'m> {
    fn from_raw(block: LLVMBasicBlockRef) -> Option<Block<'m>> {
        (!block.is_null()).then_some(Block(block, PhantomData))
    }

    /// Its terminator.
    pub(crate) fn terminator(self) -> Value<'m> {
        // SAFETY: the block is live, and LLVM's verifier accepted it: it has a terminator.
        let end = unsafe { Value::from_raw(LLVMGetBasicBlockTerminator(self.0)) };
        end.expect("a block has a terminator")
    }

    /// Who uses it, as often as it is used: terminators, and its address.
    pub(crate) fn users(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the block is live.
        Value::new(value::Value(unsafe { LLVMBasicBlockAsValue(self.0) })).users()
    }

    /// The instructions, the terminator last.
    pub(crate) fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the block is live; its list of instructions does not change.
        let first = unsafe { Value::from_raw(LLVMGetFirstInstruction(self.0)) };
        // SAFETY: as above.
        std::iter::successors(first, |i| unsafe {
            Value::from_raw(LLVMGetNextInstruction(i.as_raw()))
        })
    }
}

/// Assembler code beside the functions of a module.
pub(crate) fn assembly_of<'m>(module: &'m Module) -> Cow<'m, str> {
    let mut length = 0;
    // SAFETY: the module is live and does not change; its text is `length` bytes that live as long.
    let bytes = unsafe {
        let text = LLVMGetModuleInlineAsm(module.as_mut_ptr(), &mut length);
        std::slice::from_raw_parts(text.cast::<u8>(), length)
    };
    String::from_utf8_lossy(bytes)
}

/// The number of an attribute.
pub(crate) fn attribute(name: &str) -> u32 {
    Attribute::get_named_enum_kind_id(name)
}
