//! Where code is in the source, as debug information has it: plain data, which `emit::positions` finds for whichever
//! loader reads the module.

use crate::base::index::BlockId;
use serde::{Deserialize, Serialize};

/// The positions of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions {
    /// Source files that positions refer to.
    pub files: Vec<SourceFile>,
    /// Calls that were inlined.
    pub inlined: Vec<Inlined>,
    /// Each position once.
    pub places: Vec<SourcePosition>,
    /// The definitions in module order.
    pub bodies: Vec<BodyPositions>,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceFile {
    /// Its name, below the folder that the compiler worked in unless it is absolute.
    pub name: String,
    /// The hash of its content when it was compiled, in lower-case hexadecimal: MD5, SHA-1 or SHA-256 by its length.
    /// Empty if there is none.
    pub checksum: String,
}

/// A call whose callee's code stands in place of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Inlined {
    /// The symbol of the function called.
    pub function: String,
    /// The file of the call.
    pub file: u32,
    /// The line of the call.
    pub line: u32,
    /// The column of the call; 0 if it is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub column: u32,
    /// The inlined call that this one is in; an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<u32>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourcePosition {
    /// Number of the file.
    pub file: u32,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in bytes, counted from 1; 0 if it is not known.
    pub column: u32,
    /// Tells blocks of one line apart, where the compiler was asked for that; else 0.
    pub discriminator: u32,
    /// The inlined call that it is in.
    pub inlined: Option<u32>,
}

/// The positions of a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyPositions {
    /// File and line at which it begins.
    pub begins: Option<(u32, u32)>,
    /// Its blocks, in order.
    pub blocks: Vec<BlockPositions>,
    /// The places of what chooses without a branch: `select`, `and` and `or` of conditions.
    pub branchless: Vec<u32>,
    /// Whether the compiler optimised it.
    pub optimised: Optimised,
}

/// Whether a compiler optimised a function, as far as its module says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Optimised {
    /// Nothing says so: there is no debug information, or an earlier version wrote the manifest.
    #[default]
    Unknown,
    /// It was not optimised.
    No,
    /// It was, and its code is in its own body alone: it may not be inlined.
    NeverInlined,
    /// It was, and copies of its code may be in other functions, where the optimiser knew more.
    MayBeInlined,
}

impl Optimised {
    /// Whether it was.
    pub fn is_optimised(self) -> bool {
        matches!(self, Optimised::NeverInlined | Optimised::MayBeInlined)
    }

    pub(crate) fn is_unknown(&self) -> bool {
        *self == Optimised::Unknown
    }
}

/// The positions of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockPositions {
    /// Of each instruction but the φs: its number among [`Positions::places`] plus 1, or 0 where it has none. Empty if
    /// none has.
    pub instructions: Vec<u32>,
    /// What is chosen at its end, if there is a choice. Most blocks have none, and it is large.
    pub choice: Option<Box<Choice>>,
    /// Where that is, if its instruction is on no line: a number among [`Positions::places`].
    pub choice_at: Option<u32>,
    /// Where the source begins the loop that the block goes back in: a number among [`Positions::places`]. The compiler
    /// keeps it for the block that ends an iteration (`!llvm.loop`).
    pub loop_start: Option<u32>,
    /// Whether the optimiser may have made several loops of the one that the block goes back in, or taken iterations
    /// out of it.
    pub splits_loop: bool,
}

/// What a terminator chooses by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Of a `switch`: the value of each successor but the first, in decimal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// Whether these values are of a type of one byte.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bytes: bool,
    /// Whether the compiler added it: no condition of the source stands for it. It leads on from a clean-up, for
    /// example, to where the `break`, `continue` or `return` before that goes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
    /// Of a branch that asks whether an exception is of a type: that type's symbol, and the successor if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catches: Option<(String, u32)>,
    /// Of a branch that asks whether what a `switch` is over is one of the values of a `case 1 ... 100`, which leads to
    /// the first successor: the least and the greatest one, in decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[String; 2]>,
    /// Of a branch on a condition: what it tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// What it compares exactly, if another choice of the function is about the same value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
}

/// A comparison of integers or addresses that decides a branch, or the value that a `switch` is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// The left operand, or what a `switch` is over.
    pub left: Variable,
    /// How it is compared with the right one; the first successor is where control goes if that holds. Of a `switch`
    /// there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<Predicate>,
    /// The right operand. Of a `switch` there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<Operand>,
    /// The width of both.
    pub bits: u32,
}

impl Compared {
    /// The operands that are no constants.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &Variable> {
        let right = match &self.right {
            Some(Operand::Variable(v)) => Some(v),
            _ => None,
        };
        std::iter::once(&self.left).chain(right)
    }
}

/// An operand of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Operand {
    /// An integer constant, signed, in decimal; 0 for a null pointer.
    Constant(String),
    /// Another value.
    Variable(Variable),
}

/// A value of a function. Along a path, which has no block twice, those of one number are equal, as long as no block
/// stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its number in the function.
    pub number: u32,
    /// The blocks that may store another value, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<u32>,
    /// Where it becomes a constant. Only the first choice that is about the value has this list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<BecomesConstant>,
}

/// Where a value of a function is a constant from then on, until a block stores another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BecomesConstant {
    /// The block that stores the constant, or whose φ it is.
    pub block: u32,
    /// Only where control comes from this block: the constant is one of several of a φ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// The constant's bits as a number without a sign, in decimal.
    pub constant: String,
}

/// A predicate of LLVM's `icmp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "LLVM's words")]
pub enum Predicate {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

impl Predicate {
    /// The predicate that holds of two operands exactly if this one does not.
    pub fn inverse(self) -> Predicate {
        match self {
            Predicate::Eq => Predicate::Ne,
            Predicate::Ne => Predicate::Eq,
            Predicate::Slt => Predicate::Sge,
            Predicate::Sle => Predicate::Sgt,
            Predicate::Sgt => Predicate::Sle,
            Predicate::Sge => Predicate::Slt,
            Predicate::Ult => Predicate::Uge,
            Predicate::Ule => Predicate::Ugt,
            Predicate::Ugt => Predicate::Ule,
            Predicate::Uge => Predicate::Ult,
        }
    }

    /// Whether it holds of two operands that are equal.
    #[cfg_attr(
        not(feature = "llvm"),
        allow(dead_code, reason = "only engines use it")
    )]
    pub(crate) fn holds_if_equal(self) -> bool {
        use Predicate::*;
        matches!(self, Eq | Sle | Sge | Ule | Uge)
    }
}

/// What a conditional branch tests, as its instructions show it: the evidence by which reports find out which of its
/// successors the source calls true. Positions are lines and columns in the branch's own file and inlined call; what
/// lies in a call that was inlined there has the position of that call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The question whose answer "yes" leads to the first successor.
    pub asks: Asks,
    /// Whether "no" leads to the first successor instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
    /// Whether integers are compared without signs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsigned: bool,
    /// Whether the answer to `less` or `greater` is also "yes" where both are equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_equal: bool,
    /// Where the comparison is. One that an optimiser added has no place, or that of something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<[u32; 2]>,
    /// Whether it is in an inlined call, which is at that place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inlined: bool,
    /// Where the left operand is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<[u32; 2]>,
    /// Whether the left operand is read from memory there. `while (*s)` compares with 0 at the place of `while`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loads: bool,
    /// How the left operand came about, of integers and pointers that are compared with 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Where the right operand is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<[u32; 2]>,
    /// The right operand if it is a constant: an integer in decimal, 0 for a null pointer, `?` for any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<String>,
    /// The symbol of the function whose result is tested, if it is one that is called by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callee: Option<String>,
    /// Of several conditions at once: how many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parts: u32,
    /// Where these are, as far as they have places of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<[u32; 2]>,
    /// If the condition is a φ: the predecessors from which its value is a constant, and whether that leads to the
    /// first successor. The only value that is no constant may be a φ of the block before, whose predecessors are here,
    /// too, and so on; the rest of the test is of the only value that is no constant at last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<(u32, bool)>,
}

impl Test {
    /// The successor that follows from where control came from: through the blocks `before` the branch at `block`, the
    /// last one first. `None` where something is asked. O(blocks that go nowhere else).
    pub(crate) fn implied_successor<'a>(
        &self,
        block: BlockId,
        before: impl IntoIterator<Item = BlockId>,
        succs: impl Fn(BlockId) -> &'a [BlockId],
    ) -> Option<u32> {
        if self.known.is_empty() {
            return None;
        }
        let mut passed = Vec::new();
        let mut last = block;
        for from in before {
            if let Some((_, is_first)) = self.known.iter().find(|(known, _)| *known == from.0) {
                // It may also come from there otherwise, by a value that is no constant.
                let may_come_later = succs(from).iter().any(|to| passed.contains(to));
                return (!may_come_later).then(|| u32::from(!is_first));
            }
            if succs(from).len() > 1 {
                return None;
            }
            passed.push(last);
            last = from;
        }
        None
    }
}

/// How a value that is compared with 0 came about. Optimisers compare numbers of iterations with 0, at the place of the
/// loop, and ask the opposite of single bits; they do neither with values that they did not compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// An integer that is a parameter, a φ, what a load reads or a call returns.
    Value,
    /// A pointer or a floating-point number.
    NonInteger,
    /// The result of an addition, for example.
    Arithmetic,
    /// The result of `and`, or the remainder of a division by a constant.
    Bits,
    /// One of several values, or all their bits: what an optimiser makes of several conditions, too.
    Joined,
}

/// A question that a branch asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Asks {
    /// Whether a truth value is true.
    #[default]
    Value,
    /// Whether both operands are equal.
    Equal,
    /// Whether they differ.
    Unequal,
    /// Whether the left one is less, or less or equal.
    Less,
    /// Whether the left one is greater, or greater or equal.
    Greater,
    /// Several conditions at once: `select`, `and`, `or`, or a φ of several.
    Joined,
}
