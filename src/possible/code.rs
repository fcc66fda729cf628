//! What the code of a module computes, as plain data: the instructions of a function as far as they are modelled.
//!
//! `write::emit` makes it of what LLVM has read. What is not modelled has a result that may be anything
//! ([`Action::Unknown`]), and what may write memory besides is a call of something unknown.

use super::types::{Named, Types};
use crate::input::load::positions::Predicate;
use rustc_hash::FxHashMap;

/// The number of a value of a function: its parameters come first, then the results of its instructions in order.
pub type Local = u32;

/// What the functions that a judgement needs compute, and the symbols that they name.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Functions with a body; [`Callee::Body`] is a position here.
    pub functions: Vec<Function>,
    /// Variables and functions; [`Operand::Symbol`] is a position here.
    pub symbols: Vec<Symbol>,
    /// Types of the source, as far as something has them.
    pub types: Types,
}

/// A variable or function of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbol {
    /// Whether it is memory of its own, which no other symbol names: a variable that this module defines and no other
    /// can replace.
    pub is_apart: bool,
    /// The bytes of a variable that never changes, as far as they are numbers.
    pub bytes: Option<Vec<Option<u8>>>,
    /// What the source calls it, if debug information says so.
    pub name: Option<Named>,
}

/// A function with a body.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// What the source calls its values and local variables, as far as debug information says so.
    pub names: FxHashMap<Local, Named>,
    /// Its number of parameters.
    pub parameters: u32,
    /// What each of its values is, by [`Local`].
    pub kinds: Vec<Kind>,
    /// Its blocks, the entry first, numbered like those of its control flow.
    pub blocks: Vec<Block>,
    /// Whether compilers take its code as it is: a sum that overflows wraps around.
    pub is_plain: bool,
    /// Whether a part of it may run twice in one activation, or on several stacks: nothing is known of such a function.
    pub is_opaque: bool,
    /// Whether a call of it runs this body and takes as many arguments as it has parameters.
    pub is_final: bool,
}

/// What a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// The bits of an integer of at most 64 bits, 64 for an address; 0 for all that is not modelled.
    pub bits: u32,
    /// Whether it is an address.
    pub is_address: bool,
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its instructions, φs first; the call of an `invoke` among them.
    pub instructions: Vec<Instruction>,
    /// Where it leads, in the terminator's order.
    pub succs: Vec<u32>,
    /// How it ends.
    pub end: End,
}

impl Block {
    /// Whether its last instruction is a call.
    pub(super) fn ends_with_call(&self) -> bool {
        let last = self.instructions.last();
        last.is_some_and(|i| matches!(i.action, Action::Call { .. }))
    }
}

/// What decides where control goes at the end of a block.
#[derive(Clone, Debug, Default)]
pub enum End {
    /// Nothing that is modelled.
    #[default]
    Unknown,
    /// A condition: successor 0 is true.
    Branch(Operand),
    /// A value, and that of each successor but the first, which is the default.
    Switch(Operand, Vec<u64>),
    /// The function returns this.
    Return(Option<Operand>),
    /// The program ends, since something is wrong: `abort`, a failed assertion, a trap.
    Abort,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The value that it computes.
    pub result: Option<Local>,
    /// What it does.
    pub action: Action,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Makes room in the activation, of a constant number of bytes: in the entry block, so once.
    Allocate,
    /// Reads bytes.
    Load {
        /// From where.
        address: Operand,
        /// How many.
        size: u64,
        /// Whether compilers may take the value from elsewhere.
        is_plain: bool,
    },
    /// Writes bytes.
    Store {
        /// To where.
        address: Operand,
        /// What.
        value: Operand,
        /// How many.
        size: u64,
        /// As of loads.
        is_plain: bool,
    },
    /// A sum, difference, product or the like. `flags`: what LLVM is promised.
    Binary(BinaryOperator, Operand, Operand, Flags),
    /// A comparison of integers or addresses. `true`: LLVM is promised that both have one sign.
    Compare(Predicate, Operand, Operand, bool),
    /// An integer or address in other bits.
    Cast(CastOperator, Operand, Flags),
    /// An address: `base + offset + Σ index · stride`. `true`: LLVM is promised that it does not overflow.
    Element(Operand, i64, Vec<(Operand, i64)>, bool),
    /// `if 0 then 1 else 2`.
    Select(Operand, Operand, Operand),
    /// The value for each block that control may come from.
    Phi(Vec<(u32, Operand)>),
    /// A call, of a function or an intrinsic.
    Call {
        /// Who is called.
        callee: Callee,
        /// With what.
        arguments: Vec<Operand>,
        /// Whether attributes say that it writes no memory.
        writes_nothing: bool,
    },
    /// Its operand, or if that is not defined, one value that may be any.
    Freeze(Operand),
    /// What computes a value that is not modelled, and does nothing else.
    Unknown,
    /// Likewise, of these addresses among others.
    Opaque(Vec<Operand>),
}

/// Who is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of [`Code`].
    Body(usize),
    /// A function of this module whose body is not in [`Code`], by name.
    Defined(String),
    /// A function that this module only declares, or an intrinsic of LLVM, by name.
    Declared(String),
    /// Through a pointer, or assembler code.
    Unknown,
}

/// What LLVM is promised of an operation: if that is not true, the result may be anything at each use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// No signed overflow.
    pub signed: bool,
    /// No unsigned overflow.
    pub unsigned: bool,
    /// Nothing is lost by a division or shift; no bit is set in both operands of `or`; or an extended value is not
    /// negative.
    pub exact: bool,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The unsigned quotient.
    Udiv,
    /// The signed quotient.
    Sdiv,
    /// The unsigned rest.
    Urem,
    /// The signed rest.
    Srem,
    /// Shifted to the left.
    Shl,
    /// Shifted to the right, with zeros.
    Lshr,
    /// Shifted to the right, with the sign.
    Ashr,
    /// Bits of both.
    And,
    /// Bits of any.
    Or,
    /// Bits of one.
    Xor,
}

/// How an integer gets other bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastOperator {
    /// Its low bits.
    Truncate,
    /// With zeros.
    ZeroExtend,
    /// With the sign.
    SignExtend,
    /// An integer of 64 bits as an address, an address as such an integer, or the same bits.
    Keep,
}

/// What an instruction takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A value of the function.
    Local(Local),
    /// An integer of so many bits; the null address has 64.
    Integer(u32, u64),
    /// The address so many bytes behind a symbol.
    Symbol(u32, i64),
    /// A constant that may be anything at each use: `undef`, or one that is not modelled.
    Unknown,
}

impl Action {
    /// The operands. O(operands).
    pub fn operands(&self) -> Vec<&Operand> {
        match self {
            Action::Allocate | Action::Unknown => Vec::new(),
            Action::Opaque(operands) => operands.iter().collect(),
            Action::Load { address, .. } => vec![address],
            Action::Store { address, value, .. } => vec![address, value],
            Action::Binary(_, a, b, _) | Action::Compare(_, a, b, _) => vec![a, b],
            Action::Cast(_, a, _) | Action::Freeze(a) => vec![a],
            Action::Element(base, _, indices, _) => std::iter::once(base)
                .chain(indices.iter().map(|(i, _)| i))
                .collect(),
            Action::Select(c, a, b) => vec![c, a, b],
            Action::Phi(entries) => entries.iter().map(|(_, value)| value).collect(),
            Action::Call { arguments, .. } => arguments.iter().collect(),
        }
    }
}
