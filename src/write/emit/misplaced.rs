//! Code whose position is that of other code.
//!
//! Clang gives each statement and expression of the source its position. What it adds by itself has the position of
//! whatever it emitted last, so that counting lines by it covers lines that never ran. Six kinds of such code are
//! known by their form; all of them exist at every level of optimisation, but for the last:
//!
//! | code | position that clang leaves there | position here |
//! |---|---|---|
//! | a jump alone in its block: a label or an empty statement | of the code before it in the function's text | none |
//! | the test of a `case 1 ... 100` of many values | of the code behind that label | of the `switch` |
//! | a landing pad, and the search for a clause that catches | of a `}`: of the function, of the `try` | none |
//! | the beginning of a clause that catches | of the `}` of another clause | of the clause's own `{` |
//! | the branch of `a` in `a && b` | of the operator, which may begin the line of `b` | none there |
//! | a loop over the elements of an array (`-O0`) | of the variable, or of a `}` | none |
//!
//! rustc stores constants that nothing reads where a function begins, for debuggers: with the position of their `let`,
//! which may be reached on some ways alone. Those that stand behind other code of the first block have none here.

use super::llvm::view::{Block, Node, Value};
use inkwell::llvm_sys::LLVMOpcode;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::LazyCell;

/// Asks whether an exception is of a type.
pub(super) const TYPE_ID: &str = "llvm.eh.typeid.for";
/// Begin and end a clause that catches.
const GET_EXCEPTION: &str = "__cxa_get_exception_ptr";
const BEGIN_CATCH: &str = "__cxa_begin_catch";
const END_CATCH: &str = "__cxa_end_catch";
/// The end of a clause that catches, and of a loop over an array, is looked for in so many blocks.
const FARTHEST: usize = 64;

/// Where code belongs that has another position.
#[derive(Clone, Copy)]
pub(super) enum Belongs<'m> {
    /// To no line.
    Nowhere,
    /// To no line; and what it decides is no decision of the source.
    Compiler,
    /// Where another instruction is.
    With(Node<'m>),
    /// Where the block of the source begins whose end is at this location.
    AtStartOf(Node<'m>),
}

/// The values of a `case` that are tested apart from its `switch`, as [`crate::input::load::positions::Choice::range`].
pub(super) type CaseRange = [String; 2];

/// The instructions of a function whose position is not theirs.
#[derive(Default)]
pub(super) struct Misplaced<'m> {
    /// By instruction.
    pub(super) places: FxHashMap<Value<'m>, Belongs<'m>>,
    /// By the branch that decides it.
    pub(super) ranges: FxHashMap<Value<'m>, CaseRange>,
}

/// Those of `function`; `optnone` is the number of that attribute. O(instructions), and for each clause that catches
/// O([`FARTHEST`] blocks).
pub(super) fn find_misplaced<'m>(function: Value<'m>, optnone: u32) -> Misplaced<'m> {
    let mut found = Misplaced::default();
    let is_unoptimised = function.has_attribute(optnone);
    let order = LazyCell::new(|| function.blocks().zip(0..).collect());
    let mut before = None;
    for block in function.blocks() {
        let mut is_alone = true;
        let mut has_phi = false;
        for i in block.instructions() {
            use LLVMOpcode::*;
            match i.opcode() {
                LLVMPHI => has_phi = true,
                LLVMLandingPad => found.hide_run(block, i),
                LLVMCall | LLVMInvoke => found.note_call(block, i),
                LLVMSwitch => found.note_ranges(i),
                LLVMBr if is_behind_operand(block, i) => {
                    found.places.insert(i, Belongs::Nowhere);
                }
                LLVMBr if is_alone && !has_phi => {
                    let location = i.debug_location();
                    if i.successors().count() == 1 && location.is_some() && location == before {
                        found.places.insert(i, Belongs::Nowhere);
                    }
                }
                _ => {}
            }
            is_alone &= i.opcode() == LLVMPHI;
            before = i.debug_location().or(before);
        }
        if has_phi && is_unoptimised {
            found.hide_array_loop(block, &order);
        }
    }
    found.hide_spills(function);
    found
}

impl<'m> Misplaced<'m> {
    fn note_call(&mut self, block: Block<'m>, call: Value<'m>) {
        let callee = call.callee();
        if !callee.is_function() {
            return;
        }
        let name = callee.name();
        if name.starts_with(TYPE_ID) {
            self.hide_run(block, call);
        } else if name == BEGIN_CATCH || name == GET_EXCEPTION {
            let end = find_end_of_clause(block, call).and_then(|end| end.debug_location());
            self.place_run(
                block,
                call,
                end.map_or(Belongs::Nowhere, Belongs::AtStartOf),
            );
        }
    }

    fn hide_run(&mut self, block: Block<'m>, of: Value<'m>) {
        self.place_run(block, of, Belongs::Nowhere);
    }

    /// Places instruction `of` and its neighbours in `block` that share its location.
    fn place_run(&mut self, block: Block<'m>, of: Value<'m>, belongs: Belongs<'m>) {
        let Some(location) = of.debug_location() else {
            return;
        };
        let mut run = Vec::new();
        let mut is_in_it = false;
        for i in block.instructions() {
            if i.debug_location() != Some(location) {
                if is_in_it {
                    break;
                }
                run.clear();
                continue;
            }
            is_in_it |= i == of;
            run.push(i);
        }
        // What was placed before is of a construct of its own.
        for i in run {
            self.places.entry(i).or_insert(belongs);
        }
    }

    /// Finds the tests for cases of many values: a chain of blocks behind the default of `switch`, each of which asks
    /// whether what the `switch` is over is in one range.
    fn note_ranges(&mut self, switch: Value<'m>) {
        let Some(location) = switch.debug_location() else {
            return;
        };
        let over = switch.operands().next().expect("a switch has a condition");
        let mut at = switch.successors().next();
        while let Some((range, test)) = at.and_then(|block| range_test(block, over)) {
            let branch = *test.last().expect("three instructions");
            if self.ranges.insert(branch, range).is_some() {
                return;
            }
            let with = test.into_iter().map(|i| (i, Belongs::With(location)));
            self.places.extend(with);
            at = branch.successors().nth(1);
        }
    }

    /// Hides the constants that rustc stores for debuggers, where their position is behind that of all other code in
    /// the first block.
    fn hide_spills(&mut self, function: Value<'m>) {
        let Some(block) = function.blocks().next() else {
            return;
        };
        let located = |i: Value<'m>| i.debug_location().filter(|l| l.inlined_at().is_none());
        let (spills, others): (Vec<_>, Vec<_>) = block
            .instructions()
            .filter_map(|i| Some((i, located(i)?)))
            .partition(|(i, _)| is_spill(*i));
        let last = others.iter().map(|(_, l)| l.line_and_column()).max();
        for (i, location) in spills {
            if last.is_some_and(|last| location.line_and_column() > last)
                && location.scope().is_of_rust()
            {
                self.places.insert(i, Belongs::Nowhere);
            }
        }
    }

    /// Hides the loop that goes back to `header` if all of it is at one place: clang constructs, copies and destroys
    /// the elements of an array so. Without optimisation, no variable of the source is a φ.
    fn hide_array_loop(&mut self, header: Block<'m>, order: &FxHashMap<Block<'m>, usize>) {
        let Some(body) = find_loop(header, order) else {
            return;
        };
        let instructions = || body.iter().flat_map(|b| b.instructions());
        let places = instructions().filter_map(|i| i.debug_location());
        let mut places = places.map(|l| l.line_and_column());
        let Some(first) = places.next() else { return };
        if places.all(|place| place == first) {
            let hidden = instructions().map(|i| (i, Belongs::Compiler));
            self.places.extend(hidden);
            // Of elements that were begun, there may be none to destroy: that is asked in front of the loop.
            let phi = header.instructions().next().expect("the loop has one");
            let outside = phi.incoming().map(|(_, from)| from);
            let outside = outside.filter(|from| !body.contains(from));
            let guards = outside.filter_map(|from| from.instructions().last());
            let is_guard = |end: &Value| {
                let place = end.debug_location().map(|l| l.line_and_column());
                end.successors().count() == 2 && place == Some(first)
            };
            self.places
                .extend(guards.filter(is_guard).map(|end| (end, Belongs::Compiler)));
        }
    }
}

/// Whether a branch stands at an operator (`&&`, `||`) that begins a line, and decides what `block` computes on a line
/// before: an operand of it.
fn is_behind_operand(block: Block, branch: Value) -> bool {
    if branch.successors().count() != 2 {
        return false;
    }
    let condition = branch.operands().next().filter(|c| c.is_instruction());
    let computed = condition.filter(|c| c.block() == block);
    let locations = computed.and_then(|c| Some((c.debug_location()?, branch.debug_location()?)));
    locations.is_some_and(|(operand, operator)| {
        operand.line_and_column().0 < operator.line_and_column().0
            && operand.inlined_at() == operator.inlined_at()
            && operand.scope().file() == operator.scope().file()
    })
}

/// Whether an instruction stores a constant in a local variable that nothing reads.
fn is_spill(i: Value) -> bool {
    let mut operands = (i.opcode() == LLVMOpcode::LLVMStore).then(|| i.operands());
    let operands = operands.as_mut().map(|o| (o.next(), o.next()));
    let Some((Some(stored), Some(slot))) = operands else {
        return false;
    };
    let is_slot = slot.is_instruction() && slot.opcode() == LLVMOpcode::LLVMAlloca;
    is_slot && stored.is_constant() && slot.users().nth(1).is_none()
}

/// The call that ends the clause which `begin` in `block` begins, clauses inside of it left out.
fn find_end_of_clause<'m>(block: Block<'m>, begin: Value<'m>) -> Option<Value<'m>> {
    let mut seen: FxHashSet<Block> = FxHashSet::from_iter([block]);
    // What is behind `begin` in its own block, then other blocks from their beginnings.
    let mut open = vec![(block, 0u32, Some(begin))];
    while let Some((block, mut depth, mut behind)) = open.pop() {
        for i in block.instructions() {
            if let Some(begin) = behind {
                behind = behind.filter(|_| i != begin);
                continue;
            }
            let is_call = matches!(i.opcode(), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke);
            let callee = is_call.then(|| i.callee()).filter(|c| c.is_function());
            match callee.map(|c| c.name()).as_deref() {
                Some(END_CATCH) if depth == 0 => return Some(i),
                Some(END_CATCH) => depth -= 1,
                // The clause is copied the exception to before it begins.
                Some(BEGIN_CATCH) if !begins_with(begin, i) => depth += 1,
                _ => {}
            }
        }
        for next in block.terminator().successors() {
            if seen.len() < FARTHEST && seen.insert(next) {
                open.push((next, depth, None));
            }
        }
    }
    None
}

/// Whether two calls begin one clause: `__cxa_get_exception_ptr` and `__cxa_begin_catch` of one exception.
fn begins_with(first: Value, other: Value) -> bool {
    first != other && first.operands().next() == other.operands().next()
}

/// The least and the greatest value for which `block` goes to its first successor, and its instructions, if all that it
/// does is to ask whether `over` is between them.
fn range_test<'m>(block: Block<'m>, over: Value<'m>) -> Option<(CaseRange, [Value<'m>; 3])> {
    use LLVMOpcode::*;
    let mut instructions = block.instructions();
    let test = [
        instructions.next()?,
        instructions.next()?,
        instructions.next()?,
    ];
    let [difference, compare, branch] = test;
    let codes = test.map(|i| i.opcode());
    if codes != [LLVMSub, LLVMICmp, LLVMBr] || branch.successors().count() != 2 {
        return None;
    }
    let operands = |i: Value<'m>| -> Option<[Value<'m>; 2]> {
        let mut operands = i.operands();
        Some([operands.next()?, operands.next()?])
    };
    let [tested, least] = operands(difference)?;
    let [compared, span] = operands(compare)?;
    let is_range = tested == over
        && compared == difference
        && branch.operands().next() == Some(compare)
        && compare.predicate() == crate::input::load::positions::Predicate::Ule;
    let least: i128 = least
        .decimal_constant()?
        .parse()
        .ok()
        .filter(|_| is_range)?;
    let span: i128 = span.decimal_constant()?.parse().ok()?;
    // The distance has no sign.
    let span = match over.bits()? {
        bits @ 1..=64 if span < 0 => span + (1 << bits),
        _ => span,
    };
    Some(([least.to_string(), (least + span).to_string()], test))
}

/// The blocks of the loop whose header is `header`, if it is small: a block that stands behind the header in the
/// function, `order` says so, goes back to it.
fn find_loop<'m>(header: Block<'m>, order: &FxHashMap<Block<'m>, usize>) -> Option<Vec<Block<'m>>> {
    let first = header.instructions().next()?;
    let from = first.incoming().map(|(_, from)| from);
    let mut open: Vec<Block> = from.filter(|from| order[from] >= order[&header]).collect();
    let mut blocks = vec![header];
    if open.is_empty() {
        return None;
    }
    while let Some(block) = open.pop() {
        if blocks.contains(&block) {
            continue;
        }
        if blocks.len() == FARTHEST {
            return None;
        }
        blocks.push(block);
        let jumps = block.users().filter(|user| user.is_instruction());
        open.extend(jumps.map(|jump| jump.block()));
    }
    Some(blocks)
}
