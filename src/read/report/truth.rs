//! Which successor of a branch the source calls true.
//!
//! Optimisers invert comparisons, swap operands and successors and join conditions, so that LLVM's own order of
//! successors says nothing. Two kinds of evidence are held against the text of the condition:
//!
//! - **What is compared** ([`Test`]): the predicate and where its operands are computed, against the operator of the
//!   text.
//! - **Where successors lead**: the code there, and what runs only behind it, against the operand, statement or
//!   alternative that the text says comes next ([`Condition::then`], [`Condition::otherwise`]).
//!
//! One of them is enough. Where both are missing, or they contradict each other, nothing is said. An assertion is
//! judged by the code that reports its failure alone, since its macro may ask anything.

mod comparison;
mod expanded;

use crate::base::index::{BlockId, TiVec, ti_vec};
use crate::input::ir::{Decided, Loc, Site, Span, Terminator};
use crate::input::load::positions::{Asks, Inlined, Test};
use crate::paths::dag::Order;
use crate::profile::manifest::FunctionEntry;
use crate::read::source::{Branches, Bytes, Condition, Judged, Sources, Text};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Code that runs only behind one edge is looked for in so many blocks.
const FARTHEST: usize = 64;
/// So many questions of one assertion are followed to its failure.
const MAX_QUESTIONS: usize = 8;

/// What a function looks like to a branch in it.
struct Surroundings<'a> {
    entry: &'a FunctionEntry,
    /// How many edges lead to each of its blocks; the entry has one more.
    entering: TiVec<BlockId, u32>,
    /// The order that says which edges go back.
    order: Order,
    /// The inlined calls of the program.
    inlined: &'a [Inlined],
}

/// A branch at the end of a block, and the condition of the source that it decides.
struct Branch<'a> {
    around: &'a Surroundings<'a>,
    block: BlockId,
    /// Where the source has the branch.
    site: Site,
    /// What it decides.
    condition: &'a Condition,
    /// The file of `site`.
    text: &'a Text,
}

/// The branches of a function that `sources` have a condition for. O(blocks), and O(1) for each branch.
pub(crate) fn judge_branches(
    entry: &FunctionEntry,
    inlined: &[Inlined],
    sources: &Sources,
) -> Branches {
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
    let mut branches = branches.collect();
    expanded::judge_expansions(&around, sources, &mut branches);
    branches
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
        Terminator::Branch if decided.by.range.is_none() => {
            find_tested_condition(around, test, site, text)?
        }
        Terminator::Branch | Terminator::Switch => (find_switched_value(site, text)?, false),
        _ => return None,
    };
    let branch = Branch {
        around,
        block,
        site,
        condition: &condition,
        text,
    };
    let first_is_true = if condition.is_assertion {
        branch.judge_by_failure()
    } else if text.is_rust && branch.is_check() {
        None
    } else {
        is_all.then(|| branch.first_is_true(test)).flatten()
    };
    let arms = if condition.arms.is_empty() {
        Vec::new()
    } else {
        let succs = around.entry.succs[block].iter();
        succs.map(|to| branch.arm_behind(*to)).collect()
    };
    Some(Judged {
        arms,
        condition,
        first_is_true,
    })
}

/// The condition that a branch tests, and whether it tests all of it and nothing else.
fn find_tested_condition(
    around: &Surroundings,
    test: Option<&Test>,
    site: Site,
    text: &Text,
) -> Option<(Arc<Condition>, bool)> {
    let joins = test.is_some_and(|t| t.asks == Asks::Joined);
    // Where two comparisons became one, that has the place of what joined them.
    // (The last operand before a φ has it, too.)
    let alone = test.filter(|t| !t.inlined && t.known.is_empty());
    let at = alone.and_then(|t| t.at);
    if let Some((condition, operands)) = at.and_then(|at| text.joined_condition(at[0], at[1])) {
        let parts = if joins {
            parts_in(&condition, test, text)
        } else {
            2
        };
        return Some((condition, operands as u32 == parts));
    }
    if joins {
        let (condition, operands) = text.whole_condition(site.loc.line, site.column)?;
        let is_all = operands as u32 == parts_in(&condition, test, text);
        return Some((condition, is_all));
    }
    let condition = text.condition(site.loc.line, site.column)?;
    // The branch behind `do … while (a && b)` has the place of the body's last statement; what it tests has its own.
    let phi = test.filter(|t| !t.inlined && !t.known.is_empty());
    if let Some([line, column]) = phi.and_then(|t| t.left.or(t.at))
        && !condition.bytes.contains(&text.offset(line, column)?)
    {
        return Some((text.condition(line, column)?, true));
    }
    let Some((last, start)) = text.last_operand(site.loc.line, site.column) else {
        return Some((condition, true));
    };
    let tested_at = test.and_then(|t| t.at);
    let is_tested = |condition: &_| tested_at.is_some_and(|at| text.is_inside(condition, at));
    match (is_tested(&condition), is_tested(&last)) {
        (true, false) => Some((condition, true)),
        (false, true) => Some((last, true)),
        _ if around.has_branch(site, start) => Some((condition, true)),
        _ => {
            let whole = text.whole_condition(site.loc.line, site.column);
            Some((whole?.0, false))
        }
    }
}

impl Surroundings<'_> {
    /// Whether another branch of the same file and inlined call as `site` is at a line and column.
    fn has_branch(&self, site: Site, (line, column): (u32, u32)) -> bool {
        let choices = self.entry.choices.iter();
        let mut sites = choices.filter_map(|c| self.entry.choice(c.block)?.site);
        sites.any(|s| {
            let here = (s.loc.line, s.column) == (line, column);
            here && (s.loc.file, s.inlined) == (site.loc.file, site.inlined)
        })
    }
}

/// How many parts of a joined test are in the text of a condition, each at a place of its own; 0 if any is elsewhere:
/// an optimiser drops a part that is always true, and joins one of another statement.
fn parts_in(condition: &Condition, test: Option<&Test>, text: &Text) -> u32 {
    let Some(test) = test else { return 0 };
    let mut places = test.places.clone();
    places.sort_unstable();
    places.dedup();
    let mut inside = places.iter().map(|at| text.is_inside(condition, *at));
    let all_here = places.len() as u32 == test.parts && inside.all(|is_inside| is_inside);
    if all_here { test.parts } else { 0 }
}

/// What a `switch` is over: of one that LLVM made from comparisons, all of these.
fn find_switched_value(site: Site, text: &Text) -> Option<Arc<Condition>> {
    let (line, column) = (site.loc.line, site.column);
    let joined = text
        .joined_condition(line, column)
        .map(|(condition, _)| condition);
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

impl Branch<'_> {
    /// Whether the first successor is taken if the condition is true.
    fn first_is_true(&self, test: Option<&Test>) -> Option<bool> {
        let compared = match test {
            Some(test) if !self.is_tested_by(test) => return None,
            Some(test) => self.judge_by_comparison(test),
            None => None,
        };
        match (compared, self.judge_by_successors()) {
            (Some(a), Some(b)) if a != b => None,
            (a, b) => a.or(b),
        }
    }

    /// The successors, of a branch that has two.
    fn successors(&self) -> Option<[BlockId; 2]> {
        let [first, second] = self.around.entry.succs[self.block][..] else {
            return None;
        };
        (first != second).then_some([first, second])
    }

    /// What the code behind the successors says.
    fn judge_by_successors(&self) -> Option<bool> {
        let succs = self.successors()?;
        if let Some(answer) = self.judge_by_back_edge() {
            return Some(answer);
        }
        let condition = self.condition;
        let mut leads = [[false; 2]; 2];
        for (succ, leads) in succs.into_iter().zip(&mut leads) {
            // An exit of a loop may hold code of the body, which an optimiser sank there.
            let into_body = condition.continues.is_some() && !condition.asks_on;
            if into_body && self.around.entering[succ] != 1 {
                continue;
            }
            for b in only_behind(self.around, succ) {
                for offset in self.offsets(b) {
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

    /// Of a loop's condition at the end of an iteration: the edge that goes back into the loop's body. Behind the other
    /// one there may be code of the body, too, which an optimiser sank out of the loop.
    fn judge_by_back_edge(&self) -> Option<bool> {
        let continues = self.condition.continues?;
        let body = if continues {
            &self.condition.then
        } else {
            &self.condition.otherwise
        };
        let goes_back = |succ: BlockId| {
            let mut offsets = self.offsets(succ);
            let in_body = offsets.any(|o| is_inside(o, body, self.condition));
            self.around.order.is_retreating(self.block, succ) && in_body
        };
        match self.successors()?.map(goes_back) {
            [true, false] => Some(continues),
            [false, true] => Some(!continues),
            _ => None,
        }
    }

    /// Of an assertion: the edge to the code that reports its failure, or the only one that asks on in the same
    /// assertion.
    fn judge_by_failure(&self) -> Option<bool> {
        let succs = self.successors()?;
        let asks_on = |to| self.asks_towards_failure(to, MAX_QUESTIONS);
        match (succs.map(|to| self.fails_in_macro(to)), succs.map(asks_on)) {
            ([true, false], _) => Some(false),
            ([false, true], _) => Some(true),
            // `assert(a || b)`: a way out that does not fail.
            ([false, false], [true, false]) => Some(false),
            ([false, false], [false, true]) => Some(true),
            _ => None,
        }
    }

    /// Whether Rust's compiler added the branch: its own place has the panic of an overflow or of an index out of
    /// bounds.
    fn is_check(&self) -> bool {
        let succs = self.successors();
        succs.is_some_and(|succs| succs.iter().any(|&to| self.fails_in_macro(to)))
    }

    /// Whether behind an edge the same assertion asks on, and fails at the end: a macro may also ask when what it
    /// asserts held.
    fn asks_towards_failure(&self, to: BlockId, questions: usize) -> bool {
        let entry = self.around.entry;
        let Some(asking) = asking_block(entry, self.block, self.site, to) else {
            return false;
        };
        let mut succs = entry.succs[asking].iter();
        succs.any(|&s| {
            self.fails_in_macro(s) || questions > 1 && self.asks_towards_failure(s, questions - 1)
        })
    }

    /// Whether the code of a block is in the same macro, and never returns.
    fn fails_in_macro(&self, to: BlockId) -> bool {
        self.around.entry.fails_at(to, self.site)
    }

    /// The pattern of the arm of a `match` whose code alone is behind the edges to `to`, if nothing else leads there:
    /// several, where conditions behind `if` choose between arms.
    fn arm_behind(&self, to: BlockId) -> Option<String> {
        let succs = self.around.entry.succs[self.block].iter();
        let here = succs.filter(|s| **s == to).count();
        if self.around.entering[to] as usize != here {
            return None;
        }
        let arms = &self.condition.arms;
        let arm_at = |o: usize| arms.iter().position(|(_, bytes)| bytes.contains(&o));
        let behind = only_behind(self.around, to);
        let offsets = behind.into_iter().flat_map(|b| self.offsets(b));
        let found: BTreeSet<usize> = offsets.filter_map(arm_at).collect();
        let patterns: Vec<&str> = found.iter().map(|arm| arms[*arm].0.as_str()).collect();
        (!patterns.is_empty()).then(|| patterns.join(" | "))
    }

    /// Where the code of a block is in the text.
    fn offsets(&self, block: BlockId) -> impl Iterator<Item = usize> {
        let spans = self.around.entry.spans(block);
        spans.filter_map(|span| self.offset(span))
    }

    /// Where code is in the text of the branch's function: what was inlined there is where its call is.
    fn offset(&self, span: Span) -> Option<usize> {
        let (mut loc, mut column, mut inlined) = (span.loc, span.column, span.inlined);
        while inlined != self.site.inlined {
            let call = &self.around.inlined[inlined? as usize];
            loc = Loc {
                file: call.file,
                line: call.line,
            };
            column = call.column;
            inlined = call.within;
        }
        (loc.file == self.site.loc.file).then(|| self.text.offset(loc.line, column))?
    }
}

/// Whether successor `to` of the branch at the end of `block` asks on for the same condition, of the function's
/// `branches`: a macro may hold several branches, and what one of them finds is not what the whole finds.
pub(super) fn asks_on(
    entry: &FunctionEntry,
    branches: &Branches,
    block: BlockId,
    site: Site,
    to: BlockId,
) -> bool {
    let bytes = |b| {
        branches
            .get(&b)
            .map(|judged: &Judged| &judged.condition.bytes)
    };
    next_question(entry, block, to).is_some_and(|(asking, there)| {
        let in_same_text = (there.loc.file, there.inlined) == (site.loc.file, site.inlined);
        match bytes(asking) {
            Some(asked) => in_same_text && Some(asked) == bytes(block),
            None => there == site,
        }
    })
}

/// The block that asks on at the same place.
fn asking_block(entry: &FunctionEntry, block: BlockId, site: Site, to: BlockId) -> Option<BlockId> {
    let (asking, there) = next_question(entry, block, to)?;
    (there == site).then_some(asking)
}

/// The first block behind successor `to` of `block` with more than one successor, and where it asks.
fn next_question(entry: &FunctionEntry, block: BlockId, to: BlockId) -> Option<(BlockId, Site)> {
    let mut at = to;
    for _ in 0..FARTHEST {
        match entry.succs[at][..] {
            [next] if at != block => at = next,
            _ => break,
        }
    }
    let choice = entry.choice(at).filter(|_| at != block);
    let site = choice.filter(|_| entry.succs[at].len() > 1)?.site?;
    Some((at, site))
}

/// Whether a byte is where an outcome leads; the condition itself, of the next iteration, is no evidence.
fn is_inside(offset: usize, range: &Option<Bytes>, condition: &Condition) -> bool {
    let inside = range.as_ref().is_some_and(|r| r.contains(&offset));
    inside && !condition.bytes.contains(&offset)
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
