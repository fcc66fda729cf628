//! Which branches of a function are the conditions of which expression of its source.
//!
//! Expressions are found by the places of branches. Clang makes the branches of an expression in the order of its
//! conditions, rustc puts each where its condition begins. Whether they are those conditions is then proved by where
//! control goes: each outcome has to lead to the condition that short-circuit evaluation asks for next, and to no other
//! one of the expression.

use super::wiring::{Target, Wiring};
use crate::base::index::{BlockId, CfgEdge};
use crate::base::names::readable_name;
use crate::base::table::number_of;
use crate::input::ir::{Decided, Site, Terminator};
use crate::paths::dag::Order;
use crate::profile::manifest::FunctionEntry;
use crate::read::source::{Branches, Joined, Operand, Sources, Text, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The branch of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ConditionBranch {
    /// The block that it ends.
    pub block: BlockId,
    /// Whether the first successor is taken if the condition is true.
    pub first_is_true: bool,
}

/// An expression of the source, and its branches in a function.
pub(super) struct Located {
    /// The file of the branches.
    pub file: u32,
    /// The expression.
    pub joined: Arc<Joined>,
    /// By condition; the last one may have none, if the value of the expression is used.
    pub branches: Vec<Option<ConditionBranch>>,
    /// Why the branches are not known, if they are not.
    pub problem: Option<String>,
}

/// A branch at a place of the source.
struct PlacedBranch {
    block: BlockId,
    decided: Decided,
    offset: usize,
}

/// File, inlined call, first byte and number of an expression.
type Key = (u32, Option<u32>, usize, usize);

/// The function that is looked at.
struct Function<'a> {
    entry: &'a FunctionEntry,
    order: Order,
    judged: &'a Branches,
}

/// The expressions of a function, of which `judged` are the branches. O(branches · (statement + blocks of the
/// expression)).
pub(super) fn find_expressions(
    entry: &FunctionEntry,
    sources: &Sources,
    judged: &Branches,
) -> Vec<Located> {
    let mut groups: BTreeMap<Key, (Arc<Joined>, Vec<PlacedBranch>)> = BTreeMap::new();
    for choice in &entry.choices {
        let Some(placed) = place_branch(entry, sources, judged, choice.block) else {
            continue;
        };
        let (site, branch) = placed;
        let Some(joined) = sources.find_expression_at(site.loc.file, branch.offset) else {
            continue;
        };
        let key = (
            site.loc.file,
            site.inlined,
            joined.bytes.start,
            joined.number,
        );
        let group = groups.entry(key).or_insert_with(|| (joined, Vec::new()));
        group.1.push(branch);
    }
    let function = Function {
        entry,
        order: Order::new(&entry.cfg()),
        judged,
    };
    let locate = |((file, ..), (joined, branches)): (Key, (Arc<Joined>, Vec<PlacedBranch>))| {
        let text = sources.text(file)?;
        let found = function.match_branches(&joined, &branches, text);
        let (branches, problem) = match found {
            Ok(branches) => (branches, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        Some(Located {
            file,
            joined,
            branches,
            problem,
        })
    };
    groups.into_iter().filter_map(locate).collect()
}

/// The branch at the end of a block, if it may be on a condition of the source.
fn place_branch(
    entry: &FunctionEntry,
    sources: &Sources,
    judged: &Branches,
    block: BlockId,
) -> Option<(Site, PlacedBranch)> {
    let decided = entry.choice(block)?;
    let site = decided.site?;
    let asks = matches!(
        entry.terminators[block],
        Terminator::Branch | Terminator::Switch
    );
    let is_added =
        decided.by.generated || decided.by.catches.is_some() || decided.by.range.is_some();
    let is_switch = judged.get(&block).is_some_and(|j| j.condition.is_switch);
    if !asks || is_added || is_switch {
        return None;
    }
    let text = sources.text(site.loc.file)?;
    if !text.is_rust && entry.terminators[block] == Terminator::Switch {
        return None;
    }
    // Rust's checks of overflow and bounds.
    let fails = |to: &BlockId| text.is_rust && entry.fails_at(*to, site);
    if entry.succs[block].iter().any(fails) {
        return None;
    }
    let offset = text.offset(site.loc.line, site.column)?;
    Some((
        site,
        PlacedBranch {
            block,
            decided,
            offset,
        },
    ))
}

impl Function<'_> {
    /// The branch of each condition of an expression, or why that is not known.
    fn match_branches(
        &self,
        joined: &Joined,
        branches: &[PlacedBranch],
        text: &Text,
    ) -> Result<Vec<Option<ConditionBranch>>, String> {
        if self.entry.optimised.is_optimised() {
            return Err("optimised code".into());
        }
        let Some(tree) = &joined.tree else {
            return Err(format!("{} is a constant", joined.constants.join(", ")));
        };
        if let Some(choice) = joined.operands.iter().find(|o| o.has_choice) {
            return Err(format!("{} has branches of its own", choice.text));
        }
        let wiring = Wiring::new(tree);
        let found = if text.is_rust {
            assign_by_place(&joined.operands, branches)
        } else {
            assign_in_turn(wiring.len(), branches)
        };
        let found = found.ok_or_else(|| describe_numbers(wiring.len(), branches.len()))?;
        self.prove(&wiring, joined, &found, text.is_rust)
    }

    /// The branches with what is true of each, if control goes where the expression says.
    fn prove(
        &self,
        wiring: &Wiring,
        joined: &Joined,
        found: &[Option<&PlacedBranch>],
        is_rust: bool,
    ) -> Result<Vec<Option<ConditionBranch>>, String> {
        let reached = Reached::new(self, found);
        let mut proved = Vec::new();
        for (i, branch) in found.iter().enumerate() {
            let Some(branch) = branch else {
                proved.push(None);
                continue;
            };
            if self.entry.succs[branch.block].len() != 2 {
                return Err("a pattern has several branches".into());
            }
            if reached.last_is_joined && i > 0 && i + 1 == found.len() {
                let sense = self.find_joined_sense(wiring, &proved, branch.block);
                proved.push(Some(ConditionBranch {
                    block: branch.block,
                    first_is_true: sense.ok_or("which way is true is not known")?,
                }));
                continue;
            }
            let is_negated = matches!(joined.tree, Some(Tree::Not(_))) && found.len() == 1;
            let usual = self.is_first_true(branch, &joined.operands[i], is_negated, is_rust);
            let orders = match usual {
                Some(usual) => vec![usual, !usual],
                None => vec![true, false],
            };
            let mut fitting = orders
                .iter()
                .filter(|first| reached.fits(wiring, i, **first));
            let first = fitting.next().copied();
            // Without evidence for either, one that structure alone allows.
            if usual.is_none() && fitting.next().is_some() {
                return Err("which way is true is not known".into());
            }
            proved.push(Some(ConditionBranch {
                block: branch.block,
                first_is_true: first.ok_or("its branches lead elsewhere than the source says")?,
            }));
        }
        let is_apart = |proved: &[Option<ConditionBranch>]| {
            reached.last_is_joined || reached.has_open_end || self.ends_apart(wiring, proved)
        };
        if !is_apart(&proved) {
            // An operator that a program defines may negate: of the last condition, only its ends tell.
            if let Some(Some(last)) = proved.last_mut() {
                last.first_is_true = !last.first_is_true;
            }
            if !reached.fits_all(wiring, &proved) || !is_apart(&proved) {
                return Err("its branches lead elsewhere than the source says".into());
            }
        }
        Ok(proved)
    }

    /// Whether the first successor of a branch is the one for true, by what compilers do at -O0.
    fn is_first_true(
        &self,
        branch: &PlacedBranch,
        operand: &Operand,
        is_negated: bool,
        is_rust: bool,
    ) -> Option<bool> {
        if is_rust && operand.text.starts_with("let ") {
            let judged = self.judged.get(&branch.block)?;
            return judged.first_is_true;
        }
        let test = branch.decided.by.test.as_ref();
        let callee = test.and_then(|t| t.callee.as_deref()).unwrap_or_default();
        // `operator!` returns the opposite of the condition behind the negation.
        let callee = readable_name(callee);
        let negates = callee.contains("operator!(") || callee.ends_with("Not>::not");
        // `while (!a)` tests the value of `!a`, where `if (!a)` tests `a`. A comparison with 0 looks like the former.
        let is_value_negated = is_negated && test.is_some_and(|t| t.negated);
        if is_value_negated && operand.text.contains("==") {
            return None;
        }
        Some((negates && !operand.may_negate) == is_value_negated)
    }

    /// Whether the first successor of the last branch is the one for true, where that is on the value of the whole
    /// expression: by what follows there from an earlier condition that decided.
    fn find_joined_sense(
        &self,
        wiring: &Wiring,
        earlier: &[Option<ConditionBranch>],
        last: BlockId,
    ) -> Option<bool> {
        for (i, branch) in earlier.iter().enumerate() {
            let branch = (*branch)?;
            for value in [false, true] {
                let decided = wiring.find_next(i, value);
                let edge = CfgEdge {
                    block: branch.block,
                    succ: u32::from(value != branch.first_is_true),
                };
                let implied = self.entry.implied_behind(edge);
                let implied = implied.filter(|(block, _)| *block == last);
                if let (Target::Outcome(_), Some((_, succ))) = (decided, implied) {
                    let is_same = |v: &bool| wiring.find_next(earlier.len(), *v) == decided;
                    let value = [false, true].into_iter().find(is_same)?;
                    return Some((succ == 0) == value);
                }
            }
        }
        None
    }

    /// Whether no block is where both outcomes of an expression lead.
    fn ends_apart(&self, wiring: &Wiring, branches: &[Option<ConditionBranch>]) -> bool {
        let mut ends = [BTreeSet::new(), BTreeSet::new()];
        for (i, branch) in branches.iter().enumerate() {
            let Some(branch) = branch else { continue };
            for value in [false, true] {
                if let Target::Outcome(outcome) = wiring.find_next(i, value) {
                    let succ = usize::from(value != branch.first_is_true);
                    ends[usize::from(outcome)].insert(self.entry.succs[branch.block][succ]);
                }
            }
        }
        ends[0].is_disjoint(&ends[1])
    }
}

/// Which conditions of an expression control reaches first behind each of its branches.
struct Reached {
    /// By condition and successor.
    first: Vec<Vec<BTreeSet<usize>>>,
    /// Whether the last branch is on a value that is a constant where an earlier condition decided.
    last_is_joined: bool,
    /// Whether the last condition has no branch.
    has_open_end: bool,
}

impl Reached {
    fn new(function: &Function, found: &[Option<&PlacedBranch>]) -> Reached {
        let branches = found.iter().enumerate();
        let branches = branches.filter_map(|(i, b)| Some(((*b)?.block, i)));
        let conditions: BTreeMap<BlockId, usize> = branches.collect();
        let first = found.iter().map(|branch| {
            let Some(branch) = branch else {
                return Vec::new();
            };
            let succs = 0..function.entry.succs[branch.block].len() as u32;
            let behind = |succ| {
                let edge = CfgEdge {
                    block: branch.block,
                    succ,
                };
                function.find_first_behind(edge, &conditions)
            };
            succs.map(behind).collect()
        });
        let last = found.last().copied().flatten();
        let test = last.and_then(|b| b.decided.by.test.as_ref());
        Reached {
            first: first.collect(),
            last_is_joined: test.is_some_and(|t| !t.known.is_empty()),
            has_open_end: last.is_none(),
        }
    }

    /// Whether both outcomes of condition `i` lead where the expression says.
    fn fits(&self, wiring: &Wiring, i: usize, first_is_true: bool) -> bool {
        [false, true].into_iter().all(|value| {
            let reached = &self.first[i][usize::from(value != first_is_true)];
            let last = self.first.len() - 1;
            match wiring.find_next(i, value) {
                Target::Condition(next) if next == last && self.has_open_end => reached.is_empty(),
                Target::Condition(next) => reached.len() == 1 && reached.contains(&next),
                Target::Outcome(_) => {
                    reached.is_empty()
                        || self.last_is_joined && reached.len() == 1 && reached.contains(&last)
                }
            }
        })
    }

    fn fits_all(&self, wiring: &Wiring, branches: &[Option<ConditionBranch>]) -> bool {
        let mut known = branches
            .iter()
            .enumerate()
            .filter_map(|(i, b)| Some((i, (*b)?)));
        known.all(|(i, branch)| self.fits(wiring, i, branch.first_is_true))
    }
}

impl Function<'_> {
    /// The conditions whose branches control reaches first behind an edge, without going back. O(blocks between).
    fn find_first_behind(
        &self,
        edge: CfgEdge,
        conditions: &BTreeMap<BlockId, usize>,
    ) -> BTreeSet<usize> {
        let position = |b: BlockId| self.order.position[b];
        // No way leads back, so that nothing is found behind the last of them.
        let last = conditions.keys().filter_map(|b| position(*b)).max();
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![(edge.block, self.entry.succs[edge.block][edge.succ as usize])];
        while let Some((from, to)) = open.pop() {
            if self.order.is_retreating(from, to) || position(to) > last || !seen.insert(to) {
                continue;
            }
            match conditions.get(&to) {
                Some(i) => drop(found.insert(*i)),
                None => open.extend(self.entry.succs[to].iter().map(|next| (to, *next))),
            }
        }
        found
    }
}

/// Branches in the order of blocks are those of conditions in turn; the last condition may have none.
fn assign_in_turn(
    conditions: usize,
    branches: &[PlacedBranch],
) -> Option<Vec<Option<&PlacedBranch>>> {
    let is_open = branches.len() + 1 == conditions && conditions > 1;
    if branches.len() != conditions && !is_open {
        return None;
    }
    let mut found: Vec<_> = branches.iter().map(Some).collect();
    found.resize(conditions, None);
    Some(found)
}

/// Branches are those of the conditions that they are in, or in front of brackets around these; the last condition may
/// have none.
fn assign_by_place<'b>(
    operands: &[Operand],
    branches: &'b [PlacedBranch],
) -> Option<Vec<Option<&'b PlacedBranch>>> {
    let mut found: Vec<Option<&PlacedBranch>> = vec![None; operands.len()];
    for branch in branches {
        let i = operands.iter().position(|o| branch.offset < o.bytes.end)?;
        if found[i].replace(branch).is_some() {
            return None;
        }
    }
    let known = found.iter().filter(|b| b.is_some()).count();
    let is_open = known + 1 == operands.len() && operands.len() > 1 && found.last()?.is_none();
    (known == operands.len() || is_open).then_some(found)
}

fn describe_numbers(conditions: usize, branches: usize) -> String {
    if conditions == branches {
        return "its branches stand elsewhere than its conditions".into();
    }
    let conditions = number_of(conditions as u64, "condition");
    let plural = if branches == 1 { "branch" } else { "branches" };
    format!("{conditions} but {branches} {plural}")
}
