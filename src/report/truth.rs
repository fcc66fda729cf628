//! Which successor of a branch the source calls true.
//!
//! Optimisers invert comparisons, swap operands and successors and join conditions, so that LLVM's own order of successors
//! says nothing. Two kinds of evidence are held against the text of the condition:
//!
//! - **What is compared** ([`Test`]): the predicate and where its operands are computed, against the operator of the text.
//! - **Where successors lead**: the code there, and what runs only behind it, against the operand, statement or alternative that
//!   the text says comes next ([`Condition::then`], [`Condition::otherwise`]).
//!
//! One of them is enough. Where both are missing, or they contradict each other, nothing is said.

use crate::dag::Order;
use crate::index::{BlockId, TiVec, ti_vec};
use crate::ir::{Decided, Loc, Site, Span, Terminator};
use crate::load::positions::{Asks, Inlined, Test};
use crate::manifest::FunctionEntry;
use crate::source::{Branches, Bytes, Comparison, Condition, Judged, Sources, Text};
use std::collections::HashMap;
use std::sync::Arc;

/// Code that runs only behind one edge is looked for in so many blocks.
const FARTHEST: usize = 64;

/// What a function looks like to a branch in it.
struct Surroundings<'a> {
    /// The function.
    entry: &'a FunctionEntry,
    /// How many edges lead to each of its blocks; the entry has one more.
    entering: TiVec<BlockId, u32>,
    /// The order that says which edges go back.
    order: Order,
    /// The inlined calls of the program.
    inlined: &'a [Inlined],
}

/// The branches of a function that `sources` have a condition for. O(blocks), and O(1) for each branch.
pub(super) fn judge(entry: &FunctionEntry, inlined: &[Inlined], sources: &Sources) -> Branches {
    let cfg = entry.cfg();
    let around = Surroundings {
        entry,
        entering: count_entering(entry),
        order: Order::new(&cfg),
        inlined,
    };
    let branches = entry.choices.iter().filter_map(|choice| {
        let decided = entry.choice(choice.block)?;
        let text = sources.text(decided.site?.loc.file)?;
        Some((
            choice.block,
            judge_branch(&around, choice.block, &decided, text)?,
        ))
    });
    branches.collect()
}

fn judge_branch(
    around: &Surroundings,
    block: BlockId,
    decided: &Decided,
    text: &Text,
) -> Option<Judged> {
    let site = decided.site?;
    let test = decided.by.test.as_ref();
    let (condition, is_all) = match around.entry.terminators[block] {
        Terminator::Branch => tested(test, site, text)?,
        Terminator::Switch => (switched(site, text)?, false),
        _ => return None,
    };
    let first_is_true = is_all
        .then(|| first_is_true(around, block, site, test, &condition, text))
        .flatten();
    let arms = if condition.arms.is_empty() {
        Vec::new()
    } else {
        let succs = around.entry.succs[block].iter();
        succs
            .map(|to| arm_behind(around, block, *to, site, &condition, text))
            .collect()
    };
    Some(Judged {
        arms,
        condition,
        first_is_true,
    })
}

/// The condition that a branch tests, and whether it tests all of it and nothing else.
fn tested(test: Option<&Test>, site: Site, text: &Text) -> Option<(Arc<Condition>, bool)> {
    let joins = test.is_some_and(|t| t.asks == Asks::Joined);
    // Where two comparisons became one, that has the place of what joined them.
    // (The last operand before a φ has it, too.)
    let alone = test.filter(|t| !t.inlined && t.known.is_empty());
    let at = alone.and_then(|t| t.at);
    if let Some((condition, operands)) = at.and_then(|at| text.joined(at[0], at[1])) {
        let parts = test.map_or(0, |t| if joins { t.parts } else { 2 });
        return Some((condition, operands as u32 == parts));
    }
    if joins {
        let (condition, operands) = text.whole_condition(site.loc.line, site.column)?;
        let parts = test.map_or(0, |t| t.parts);
        return Some((condition, operands as u32 == parts));
    }
    let condition = text.condition(site.loc.line, site.column)?;
    // The branch behind `do … while (a && b)` has the place of the body's last statement; what it tests has its own.
    let phi = test.filter(|t| !t.inlined && !t.known.is_empty());
    if let Some([line, column]) = phi.and_then(|t| t.left.or(t.at))
        && !condition.bytes.contains(&text.offset(line, column)?)
    {
        return Some((text.condition(line, column)?, true));
    }
    Some((condition, true))
}

/// What a `switch` is over: of one that LLVM made from comparisons, all of these.
fn switched(site: Site, text: &Text) -> Option<Arc<Condition>> {
    let (line, column) = (site.loc.line, site.column);
    let joined = text.joined(line, column).map(|(condition, _)| condition);
    joined.or_else(|| text.condition(line, column))
}

/// How many edges lead to each block; the entry has one more. O(edges).
fn count_entering(entry: &FunctionEntry) -> TiVec<BlockId, u32> {
    let mut entering = ti_vec![0; entry.succs.len()];
    entering[BlockId(0)] = 1;
    for succ in entry.succs.iter().flatten() {
        entering[*succ] += 1;
    }
    entering
}

/// Whether the first successor of the branch at the end of `block`, which is at `site`, is taken if `condition` is true.
fn first_is_true(
    around: &Surroundings,
    block: BlockId,
    site: Site,
    test: Option<&Test>,
    condition: &Condition,
    text: &Text,
) -> Option<bool> {
    let compared = match test {
        Some(test) if !is_of_condition(test, condition, text) => return None,
        Some(test) => judge_by_comparison(test, condition, text),
        None => None,
    };
    let led = judge_by_successors(around, block, site, condition, text);
    match (compared, led) {
        (Some(a), Some(b)) if a != b => None,
        (a, b) => a.or(b),
    }
}

/// Whether successor `to` of the branch at the end of `block` asks on at the same place: a macro may hold several branches,
/// and what one of them finds is not what the whole finds.
pub(super) fn asks_on(entry: &FunctionEntry, block: BlockId, site: Site, to: BlockId) -> bool {
    let mut at = to;
    for _ in 0..FARTHEST {
        match entry.succs[at][..] {
            [next] if at != block => at = next,
            _ => break,
        }
    }
    let choice = entry.choice(at).filter(|_| at != block);
    choice.is_some_and(|c| c.site == Some(site) && entry.succs[at].len() > 1)
}

/// Whether a test is that of a condition: what an optimiser adds, to unroll a loop for example, has the position of the
/// branch that it stands beside, but tests something else.
fn is_of_condition(test: &Test, condition: &Condition, text: &Text) -> bool {
    let inside = |at: [u32; 2]| {
        let offset = text.offset(at[0], at[1]);
        offset.is_some_and(|o| condition.bytes.contains(&o))
    };
    match (test.asks, test.at) {
        // What it joins was compared with the text.
        (Asks::Joined, _) => true,
        _ if !test.known.is_empty() => true,
        (_, Some(at)) => inside(at) || tests_loaded_value(test, condition, text),
        // A parameter, for example.
        (Asks::Value, None) => true,
        _ => false,
    }
}

/// Whether a test is whether the value of a condition is 0, which is read from memory within its text. What an optimiser adds
/// tests values that it computes.
fn tests_loaded_value(test: &Test, condition: &Condition, text: &Text) -> bool {
    let is_zero =
        matches!(test.asks, Asks::Equal | Asks::Unequal) && test.constant.as_deref() == Some("0");
    let read = test
        .left
        .filter(|_| test.loads && is_zero && condition.is_value);
    let read = read.and_then(|[line, column]| text.offset(line, column));
    read.is_some_and(|offset| condition.bytes.contains(&offset))
}

/// What the predicate says, if it is at the condition.
fn judge_by_comparison(test: &Test, condition: &Condition, text: &Text) -> Option<bool> {
    let [line, column] = test.at.filter(|_| !test.inlined)?;
    let inside = condition.bytes.contains(&text.offset(line, column)?);
    if !inside && !tests_loaded_value(test, condition, text) {
        return None;
    }
    let holds = match &condition.comparison {
        Some(comparison) => compare(test, comparison, condition, text)?,
        None if condition.is_value => is_truth_of_value(test, condition)?,
        None => return None,
    };
    Some(holds != (test.negated != condition.negated))
}

/// Whether "yes" to a test means that a value without a comparison is true.
fn is_truth_of_value(test: &Test, condition: &Condition) -> Option<bool> {
    // What a macro stands for may be a comparison, or a negation.
    let called = match (&condition.call, &test.callee) {
        (Some(name), Some(symbol)) => is_named(symbol, name),
        (Some(_), None) => false,
        (None, _) => !condition.may_be_macro,
    };
    if !called {
        return None;
    }
    match test.asks {
        Asks::Value => Some(true),
        Asks::Unequal if test.constant.as_deref() == Some("0") => Some(true),
        Asks::Equal if test.constant.as_deref() == Some("0") => Some(false),
        _ => None,
    }
}

/// Whether a symbol, mangled or not, is that of a function called `name`.
fn is_named(symbol: &str, name: &str) -> bool {
    symbol == name || symbol.contains(&format!("{}{name}", name.len()))
}

/// Whether "yes" to a test means that a comparison of the text holds.
fn compare(
    test: &Test,
    comparison: &Comparison,
    condition: &Condition,
    text: &Text,
) -> Option<bool> {
    let literal = comparison.right.literal.or(comparison.left.literal);
    match (test.asks, comparison.operator.as_str()) {
        // An operator that is a function of its own. `!=` may be made from `==`.
        (Asks::Value, "!=") => None,
        (Asks::Value, _) => test
            .callee
            .as_ref()?
            .contains("operator")
            .then_some(true)
            .or_else(|| {
                let symbol = test.callee.as_deref()?;
                let operators = ["eq", "lt", "le", "gt", "ge"];
                operators
                    .iter()
                    .any(|o| symbol.contains(&format!("{}{o}", o.len())))
                    .then_some(true)
            }),
        (Asks::Equal | Asks::Unequal, operator @ ("==" | "!=")) => {
            let same = match (test.constant.as_deref(), literal) {
                (None, None) => true,
                (Some("?"), _) | (None, Some(_)) => false,
                (Some(constant), Some(literal)) => constant.parse() == Ok(literal),
                // A name stands for some number; a test of bits turns others into 0.
                (Some(constant), None) => constant != "0",
            };
            same.then_some((test.asks == Asks::Equal) == (operator == "=="))
        }
        (Asks::Less | Asks::Greater, "<" | "<=" | ">" | ">=") => {
            // Two comparisons may have become one without signs.
            if test.unsigned && condition.is_operand {
                return None;
            }
            let swapped = are_swapped(test, comparison, text)?;
            let less = comparison.operator.starts_with('<') != swapped;
            Some((test.asks == Asks::Less) == less)
        }
        _ => None,
    }
}

/// Whether the operands of a test stand the other way round in the text.
fn are_swapped(test: &Test, comparison: &Comparison, text: &Text) -> Option<bool> {
    let (left, right) = (&comparison.left, &comparison.right);
    let inside = |at: Option<[u32; 2]>| {
        let [line, column] = at?;
        let offset = text.offset(line, column)?;
        match (left.bytes.contains(&offset), right.bytes.contains(&offset)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        }
    };
    let Some(constant) = &test.constant else {
        let (first, second) = (inside(test.left), inside(test.right).map(|s| !s));
        return match (first, second) {
            (Some(a), Some(b)) if a != b => None,
            // What was moved to the other side of a comparison changes its sign.
            _ if left.literal.is_some() || right.literal.is_some() => None,
            (a, b) => a.or(b),
        };
    };
    let near = |literal: i128| {
        constant
            .parse::<i128>()
            .is_ok_and(|c| (c - literal).abs() <= 1)
    };
    let swapped = match (left.literal, right.literal) {
        (None, Some(literal)) => near(literal).then_some(false)?,
        (Some(literal), None) => near(literal).then_some(true)?,
        (Some(_), Some(_)) => return None,
        (None, None) => inside(test.left)?,
    };
    let variable = if swapped { right } else { left };
    (!variable.may_negate).then_some(swapped)
}

/// What the code behind the successors says.
fn judge_by_successors(
    around: &Surroundings,
    block: BlockId,
    site: Site,
    condition: &Condition,
    text: &Text,
) -> Option<bool> {
    let succs = &around.entry.succs[block];
    let [first, second] = succs[..] else {
        return None;
    };
    if first == second {
        return None;
    }
    if let Some(answer) = judge_by_back_edge(around, block, site, condition, text) {
        return Some(answer);
    }
    let mut leads = [[false; 2]; 2];
    for (succ, leads) in [first, second].into_iter().zip(&mut leads) {
        // An exit of a loop may hold code of the body, which an optimiser sank there.
        let into_body = condition.continues.is_some() && !condition.asks_on;
        if into_body && around.entering[succ] != 1 {
            continue;
        }
        for b in only_behind(around, succ) {
            for span in around.entry.spans(b) {
                let Some(offset) = seen(around, span, site, text) else {
                    continue;
                };
                leads[0] |= is_inside(offset, &condition.then, condition);
                leads[1] |= is_inside(offset, &condition.otherwise, condition);
            }
        }
    }
    match leads {
        [[true, false], [false, _]] | [[false, false], [false, true]] => Some(true),
        [[false, _], [true, false]] | [[false, true], [false, false]] => Some(false),
        _ => None,
    }
}

/// The pattern of the arm of a `match` whose code alone is behind the edges from `block` to `to`, if nothing else leads there.
fn arm_behind(
    around: &Surroundings,
    block: BlockId,
    to: BlockId,
    site: Site,
    condition: &Condition,
    text: &Text,
) -> Option<String> {
    let here = around.entry.succs[block]
        .iter()
        .filter(|s| **s == to)
        .count();
    if around.entering[to] as usize != here {
        return None;
    }
    let blocks = only_behind(around, to);
    let spans = blocks.iter().flat_map(|b| around.entry.spans(*b));
    let offsets = spans.filter_map(|span| seen(around, span, site, text));
    let arm_at = |o: usize| {
        condition
            .arms
            .iter()
            .position(|(_, bytes)| bytes.contains(&o))
    };
    let mut arms: Vec<usize> = offsets.filter_map(arm_at).collect();
    arms.dedup();
    match arms[..] {
        [arm] => Some(condition.arms[arm].0.clone()),
        _ => None,
    }
}

/// Whether a byte is where an outcome leads; the condition itself, of the next iteration, is no evidence.
fn is_inside(offset: usize, range: &Option<Bytes>, condition: &Condition) -> bool {
    let inside = range.as_ref().is_some_and(|r| r.contains(&offset));
    inside && !condition.bytes.contains(&offset)
}

/// Of a loop's condition at the end of an iteration: the edge that goes back into the loop's body. Behind the other one there may
/// be code of the body, too, which an optimiser sank out of the loop.
fn judge_by_back_edge(
    around: &Surroundings,
    block: BlockId,
    site: Site,
    condition: &Condition,
    text: &Text,
) -> Option<bool> {
    let continues = condition.continues?;
    let body = if continues {
        &condition.then
    } else {
        &condition.otherwise
    };
    let goes_back = |succ: BlockId| {
        let spans = || around.entry.spans(succ);
        let offset = |span| seen(around, span, site, text);
        let in_body = spans()
            .filter_map(offset)
            .any(|o| is_inside(o, body, condition));
        around.order.is_retreating(block, succ) && in_body
    };
    let succs = &around.entry.succs[block];
    match (goes_back(succs[0]), goes_back(succs[1])) {
        (true, false) => Some(continues),
        (false, true) => Some(!continues),
        _ => None,
    }
}

/// An edge's target and, if no other edge leads there, the blocks that control reaches through it alone.
fn only_behind(around: &Surroundings, first: BlockId) -> Vec<BlockId> {
    let mut found = vec![first];
    if around.entering[first] != 1 {
        return found;
    }
    let mut reached: HashMap<BlockId, u32> = HashMap::new();
    let mut next = 0;
    while let Some(&b) = found.get(next).filter(|_| found.len() < FARTHEST) {
        next += 1;
        for &succ in &around.entry.succs[b] {
            let n = reached.entry(succ).or_default();
            *n += 1;
            if *n == around.entering[succ] && succ != first {
                found.push(succ);
            }
        }
    }
    found
}

/// Where code is in the text of a branch's function: what was inlined there is where its call is.
fn seen(around: &Surroundings, span: Span, site: Site, text: &Text) -> Option<usize> {
    let (mut loc, mut column, mut inlined) = (span.loc, span.column, span.inlined);
    while inlined != site.inlined {
        let call = &around.inlined[inlined? as usize];
        loc = Loc {
            file: call.file,
            line: call.line,
        };
        column = call.column;
        inlined = call.within;
    }
    (loc.file == site.loc.file).then(|| text.offset(loc.line, column))?
}
