//! What conditional branches test: the predicate, its operands, and where in the source they are computed.
//!
//! An optimiser keeps the position of a comparison and of what it compares, but inverts comparisons, swaps operands and
//! successors, and joins conditions. Nothing is concluded here; `report::truth` holds this evidence against the text.

use super::llvm::view::{Block, Value};
use crate::input::load::positions::{Asks, Origin, SourcePosition, Test};
use inkwell::llvm_sys::LLVMOpcode;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// Conversions, negations and hints are looked through so many times: a module may nest them without end.
const DEEPEST: usize = 16;
/// Names the intrinsics by which sources say which outcome is likely.
const EXPECT: &str = "llvm.expect.";

/// Numbers of a function's blocks, made when a φ asks for one.
pub(super) struct Blocks<'m> {
    function: Value<'m>,
    numbers: OnceCell<FxHashMap<Block<'m>, u32>>,
}

impl<'m> Blocks<'m> {
    pub(super) fn new(function: Value<'m>) -> Blocks<'m> {
        Blocks {
            function,
            numbers: OnceCell::new(),
        }
    }

    fn number(&self, block: Block<'m>) -> u32 {
        let numbers = || self.function.blocks().zip(0..).collect();
        self.numbers.get_or_init(numbers)[&block]
    }
}

/// A condition without what changes nothing about its truth.
pub(super) struct Plain<'m> {
    pub(super) value: Value<'m>,
    pub(super) negated: bool,
}

/// What the branch that ends `block` tests by `condition`. `place` says where an instruction is, as seen from the
/// branch, and whether it is in a call that was inlined there; O(operands of a φ), and else O(1).
pub(super) fn find_test<'m>(
    condition: Value<'m>,
    block: Block<'m>,
    blocks: &Blocks<'m>,
    place: &mut impl FnMut(Value<'m>) -> Option<Seen>,
) -> Test {
    let plain = strip_conversions(condition);
    if !has_opcode(plain.value, LLVMOpcode::LLVMPHI) {
        return comparison(plain, place);
    }
    // Which constant a φ of another block has does not follow from where control came to this one: of a loop's header,
    // for example, the block that goes back may also be the one that leaves.
    if plain.value.block() != block {
        return find_joined_test(plain.value, plain.negated, place);
    }
    let mut known = Vec::new();
    let mut phi = plain;
    let mut at = block;
    for depth in 0.. {
        let mut constants = Vec::new();
        let mut open: Vec<(Value, Block)> = Vec::new();
        for (value, from) in phi.value.incoming() {
            match value.decimal_constant() {
                Some(number) => {
                    constants.push((blocks.number(from), (number != "0") != phi.negated));
                }
                None => open.push((value, from)),
            }
        }
        let joins = |number| known.iter().any(|(k, _)| *k == number);
        let is_distinct = constants.iter().all(|(number, _)| !joins(*number))
            && open.iter().all(|(_, from)| !joins(blocks.number(*from)));
        open.dedup_by_key(|(value, _)| *value);
        if depth > 0 && !(is_distinct && open.len() == 1) {
            return with_known(comparison(phi, place), known);
        }
        known.extend(constants);
        let [(value, from)] = open[..] else {
            let joined = Test {
                asks: Asks::Joined,
                ..Test::default()
            };
            return with_known(joined, known);
        };
        let inner = strip_conversions(value);
        let negated = inner.negated != phi.negated;
        phi = Plain { negated, ..inner };
        // `a && (b || c)`: the value that is no constant may be a φ of the block before, which goes nowhere else.
        let is_nested = depth < DEEPEST
            && has_opcode(phi.value, LLVMOpcode::LLVMPHI)
            && phi.value.block() == from
            && from
                .instructions()
                .last()
                .is_some_and(|end| end.successors().eq([at]));
        if !is_nested {
            break;
        }
        at = from;
    }
    with_known(comparison(phi, place), known)
}

fn with_known(test: Test, mut known: Vec<(u32, bool)>) -> Test {
    known.sort_unstable();
    Test { known, ..test }
}

/// Where an instruction is, as seen from a branch.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// Line and column.
    pub at: [u32; 2],
    /// Whether it is in a call that was inlined there, whose position this is.
    pub inlined: bool,
}

/// The position of `at`, which `branch` sees: that of the call through which it was inlined into the branch's function.
/// `None` if the two have no function in common, or not the same file.
pub(super) fn visible_position(
    mut at: SourcePosition,
    branch: SourcePosition,
    call: impl Fn(u32) -> SourcePosition,
) -> Option<Seen> {
    let mut inlined = false;
    while at.inlined != branch.inlined {
        at = call(at.inlined?);
        inlined = true;
    }
    (at.file == branch.file && at.column > 0).then_some(Seen {
        at: [at.line, at.column],
        inlined,
    })
}

fn has_opcode(value: Value, opcode: LLVMOpcode) -> bool {
    value.is_instruction() && value.opcode() == opcode
}

fn operand<'m>(value: Value<'m>, n: usize) -> Value<'m> {
    let mut operands = value.operands();
    operands.nth(n).expect("an operand")
}

/// Looks through conversions of truth values, negations and hints.
fn strip_conversions(value: Value) -> Plain {
    strip_through(value, true)
}

/// Looks through conversions of truth values, negations and hints, but not through `freeze`: two `freeze`s of one
/// undefined value may differ. Two conditions that this traces to one value are equal.
pub(super) fn strip_equal(value: Value) -> Plain {
    strip_through(value, false)
}

fn strip_through(mut value: Value, frozen: bool) -> Plain {
    use LLVMOpcode::*;
    let mut negated = false;
    for _ in 0..DEEPEST {
        if !value.is_instruction() {
            break;
        }
        match value.opcode() {
            LLVMXor if value.is_condition() && is_true(operand(value, 1)) => {
                negated = !negated;
                value = operand(value, 0);
            }
            LLVMFreeze if frozen => value = operand(value, 0),
            // Whether a truth value, or one that a hint passed on, is not 0.
            LLVMICmp if operand(value, 1).is_null() => {
                let Some(inner) = truth_value(operand(value, 0), frozen) else {
                    break;
                };
                match value.integer_question().0 {
                    Asks::Unequal => {}
                    Asks::Equal => negated = !negated,
                    _ => break,
                }
                value = inner;
            }
            _ => break,
        }
    }
    Plain { value, negated }
}

pub(super) fn is_true(value: Value) -> bool {
    value.is_condition() && value.decimal_constant().is_some_and(|n| n != "0")
}

/// The truth value that an integer was made from.
fn truth_value(value: Value, frozen: bool) -> Option<Value> {
    use LLVMOpcode::*;
    let mut value = value;
    for _ in 0..DEEPEST {
        if value.is_condition() {
            return Some(value);
        }
        if !value.is_instruction() {
            return None;
        }
        match value.opcode() {
            LLVMZExt | LLVMSExt => value = operand(value, 0),
            LLVMFreeze if frozen => value = operand(value, 0),
            LLVMCall if value.callee().name().starts_with(EXPECT) => value = operand(value, 0),
            _ => return None,
        }
    }
    None
}

fn comparison<'m>(plain: Plain<'m>, place: &mut impl FnMut(Value<'m>) -> Option<Seen>) -> Test {
    use LLVMOpcode::*;
    let Plain { value, negated } = plain;
    if !value.is_instruction() {
        return Test {
            negated,
            ..Test::default()
        };
    }
    let (asks, unsigned) = match value.opcode() {
        LLVMICmp => value.integer_question(),
        LLVMFCmp => match value.float_question() {
            Some(asks) => (asks, false),
            None => return find_joined_test(value, negated, place),
        },
        LLVMSelect | LLVMAnd | LLVMOr | LLVMXor | LLVMPHI => {
            return find_joined_test(value, negated, place);
        }
        _ => {
            let seen = place(value);
            return Test {
                negated,
                at: seen.map(|s| s.at),
                inlined: seen.is_some_and(|s| s.inlined),
                left: operand_place(value, place),
                callee: callee(value),
                ..Test::default()
            };
        }
    };
    let (left, right) = (operand(value, 0), operand(value, 1));
    let left = through_hints(left);
    let seen = place(value);
    Test {
        asks,
        negated,
        unsigned,
        or_equal: matches!(asks, Asks::Less | Asks::Greater) && value.holds_if_equal(),
        at: seen.map(|s| s.at),
        inlined: seen.is_some_and(|s| s.inlined),
        left: operand_place(left, place),
        loads: has_opcode(through_conversions(left), LLVMLoad),
        right: operand_place(right, place),
        constant: right.is_constant().then(|| constant_text(right)),
        origin: if joins_values(left) || joins_values(right) {
            Some(Origin::Joined)
        } else {
            right.is_null().then(|| origin(left)).flatten()
        },
        callee: callee(left),
        ..Test::default()
    }
}

/// Whether a value is made of several others as an optimiser does it that joins their comparisons: `(a | b) < 0`,
/// `max(a, b) > 7`.
fn joins_values(value: Value) -> bool {
    use LLVMOpcode::*;
    let value = through_conversions(value);
    if !value.is_instruction() {
        return false;
    }
    match value.opcode() {
        LLVMOr | LLVMXor | LLVMSelect => true,
        LLVMAnd => operand(value, 1).is_constant() && joins_values(operand(value, 0)),
        LLVMCall => callee(value).is_some_and(|name| {
            let joining = ["umax", "umin", "smax", "smin"];
            joining
                .iter()
                .any(|j| name.starts_with(&format!("llvm.{j}.")))
        }),
        _ => false,
    }
}

/// How a value came about; `None` of constants, and of instructions that optimisers make to join conditions.
fn origin(value: Value) -> Option<Origin> {
    use LLVMOpcode::*;
    if !value.is_integer() {
        return Some(Origin::NonInteger);
    }
    let value = through_conversions(value);
    if !value.is_instruction() {
        return (!value.is_constant()).then_some(Origin::Value);
    }
    match value.opcode() {
        LLVMPHI | LLVMLoad => Some(Origin::Value),
        LLVMCall | LLVMInvoke => {
            let is_intrinsic = callee(value).is_some_and(|name| name.starts_with("llvm."));
            Some(if is_intrinsic {
                Origin::Bits
            } else {
                Origin::Value
            })
        }
        LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMLShr | LLVMAShr | LLVMSDiv | LLVMUDiv => {
            Some(Origin::Arithmetic)
        }
        LLVMURem | LLVMSRem if !operand(value, 1).is_constant() => Some(Origin::Arithmetic),
        LLVMAnd | LLVMURem | LLVMSRem => Some(Origin::Bits),
        _ => None,
    }
}

/// Several conditions at once.
fn find_joined_test<'m>(
    value: Value<'m>,
    negated: bool,
    place: &mut impl FnMut(Value<'m>) -> Option<Seen>,
) -> Test {
    let seen = place(value);
    let parts = find_parts(value);
    let places = parts.iter().filter(|part| part.is_instruction());
    let places = places.filter_map(|part| place(*part)).map(|seen| seen.at);
    Test {
        asks: Asks::Joined,
        negated,
        at: seen.map(|s| s.at),
        inlined: seen.is_some_and(|s| s.inlined),
        places: places.collect(),
        parts: parts.len() as u32,
        ..Test::default()
    }
}

/// The conditions that a `select`, `and` or `or` joins; none where they are too many.
fn find_parts(value: Value) -> Vec<Value> {
    use LLVMOpcode::*;
    let (mut open, mut parts) = (vec![value], Vec::new());
    while let Some(value) = open.pop() {
        let value = strip_conversions(value).value;
        let joins = value.is_instruction()
            && value.is_condition()
            && matches!(value.opcode(), LLVMSelect | LLVMAnd | LLVMOr);
        if joins {
            open.extend(value.operands().filter(|o| !o.is_constant()));
        } else {
            parts.push(value);
        }
        if open.len() + parts.len() > DEEPEST {
            return Vec::new();
        }
    }
    parts
}

fn constant_text(value: Value) -> String {
    match value.decimal_constant() {
        Some(number) => number,
        None if value.is_null() => "0".into(),
        None => "?".into(),
    }
}

/// A value without the hint that passed it on.
fn through_hints(value: Value) -> Value {
    let mut value = value;
    for _ in 0..DEEPEST {
        let hint =
            has_opcode(value, LLVMOpcode::LLVMCall) && value.callee().name().starts_with(EXPECT);
        if !hint {
            break;
        }
        value = operand(value, 0);
    }
    value
}

/// Conversions of integers stand where their operand does, if they have no position of their own.
fn through_conversions(value: Value) -> Value {
    use LLVMOpcode::*;
    let mut value = value;
    for _ in 0..DEEPEST {
        let converts = value.is_instruction()
            && matches!(value.opcode(), LLVMZExt | LLVMSExt | LLVMTrunc | LLVMFreeze);
        if !converts {
            break;
        }
        value = operand(value, 0);
    }
    value
}

fn operand_place<'m>(
    value: Value<'m>,
    place: &mut impl FnMut(Value<'m>) -> Option<Seen>,
) -> Option<[u32; 2]> {
    let value = through_conversions(value);
    let computed = value.is_instruction() && value.opcode() != LLVMOpcode::LLVMPHI;
    computed.then(|| place(value))?.map(|seen| seen.at)
}

/// The function whose result a value is, or a part of it, through conversions.
fn callee(value: Value) -> Option<String> {
    let mut value = through_conversions(value);
    if has_opcode(value, LLVMOpcode::LLVMExtractValue) {
        value = operand(value, 0);
    }
    let calls = value.is_instruction() && value.is_call() && value.callee().is_function();
    calls.then(|| value.callee().name().into_owned())
}
