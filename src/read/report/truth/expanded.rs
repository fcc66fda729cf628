//! Branches that calls of macros stand for, against the decisions in what these expand to.
//!
//! All of a call has one place, so its branches are told apart by their order, which is that of the decisions. They are
//! those decisions only if they are as many, each tests what its text compares, and each is followed by the operand
//! that the text asks for next. Where that is so in more than one way, nothing is said.

use super::{Surroundings, next_question};
use crate::base::index::BlockId;
use crate::input::ir::{Decided, Site, Terminator};
use crate::input::load::positions::{Asks, Origin, Test};
use crate::read::source::{Branches, Comparison, Condition, Decision, Judged, Sources};
use std::collections::BTreeMap;

/// So many decisions of a call may have no branch.
const MOST_MAYBE: usize = 8;

/// The branches at one place.
struct BranchPlace<'a> {
    around: &'a Surroundings<'a>,
    /// The byte.
    offset: usize,
    branches: Vec<(BlockId, Decided)>,
}

/// The file, the inlined call and the byte of the text of a place.
type PlaceKey = (u32, Option<u32>, usize);

/// Of each branch at a place: its decision, and whether the first successor is taken if that is true.
type Matched<'d> = Vec<(&'d Decision, Option<bool>)>;

/// Puts what calls of macros decide in the place of what the text at the call says. O(branches), and for each place
/// with a call O(its expansion).
pub(super) fn judge_expansions(around: &Surroundings, sources: &Sources, judged: &mut Branches) {
    let mut places: BTreeMap<PlaceKey, Vec<(BlockId, Decided)>> = BTreeMap::new();
    for choice in &around.entry.choices {
        let terminator = around.entry.terminators[choice.block];
        let asks = matches!(terminator, Terminator::Branch | Terminator::Switch);
        let Some(decided) = around.entry.choice(choice.block).filter(|_| asks) else {
            continue;
        };
        let Some(Site {
            loc,
            column,
            inlined,
            ..
        }) = decided.site
        else {
            continue;
        };
        let text = sources.text(loc.file);
        if let Some(offset) = text.and_then(|text| text.offset(loc.line, column)) {
            let place = places.entry((loc.file, inlined, offset)).or_default();
            place.push((choice.block, decided));
        }
    }
    for ((file, _, offset), branches) in places {
        let Some(alternatives) = sources.macro_decisions(file, offset) else {
            continue;
        };
        // An assertion is judged by its failure.
        let held = |(b, _): &(BlockId, Decided)| {
            let judged = judged.get(b);
            judged.is_some_and(|j| j.condition.is_assertion && j.first_is_true.is_some())
        };
        if branches.iter().any(held) {
            continue;
        }
        let place = BranchPlace {
            around,
            offset,
            branches,
        };
        let mut found: Option<Matched> = None;
        let all = alternatives
            .iter()
            .flat_map(|decisions| place.match_all(decisions));
        // A macro may have several definitions, by what was defined when it was compiled. An answer counts if all
        // give it.
        let is_unique = all.into_iter().all(|matched| match &found {
            Some(known) => is_same(known, &matched),
            None => {
                found = Some(matched);
                true
            }
        });
        for ((block, _), (decision, first_is_true)) in place
            .branches
            .iter()
            .zip(found.filter(|_| is_unique).into_iter().flatten())
        {
            if first_is_true.is_none() && !decision.condition.is_switch {
                continue;
            }
            let known = Judged {
                condition: decision.condition.clone(),
                first_is_true,
                arms: Vec::new(),
            };
            judged.insert(*block, known);
        }
    }
}

/// Whether two answers are in the same words.
fn is_same(a: &Matched, b: &Matched) -> bool {
    let told = |m: &Matched| -> Vec<_> {
        let told = m
            .iter()
            .map(|(d, first)| (d.condition.text.clone(), *first));
        told.collect()
    };
    told(a) == told(b)
}

impl BranchPlace<'_> {
    /// Each way in which the branches are the decisions that may be here, by the rules of each compiler.
    fn match_all<'d>(&self, decisions: &'d [Decision]) -> Vec<Matched<'d>> {
        let by_rules = |rules: usize| {
            let here = decisions.iter().enumerate();
            let here: Vec<(usize, &Decision)> = here
                .filter(|(_, d)| d.may_be_at(self.offset, rules))
                .collect();
            let must = |d: &Decision| d.must_be_at(self.offset, rules);
            let maybes = here.iter().filter(|(_, d)| !must(d)).count();
            let extra = here.len().checked_sub(self.branches.len());
            let Some(extra) = extra.filter(|extra| *extra <= maybes && maybes <= MOST_MAYBE) else {
                return Vec::new();
            };
            let ways = without_some(&here, extra, must).into_iter();
            ways.filter_map(|way| self.match_one(&way, extra == 0))
                .collect()
        };
        (0..2).flat_map(by_rules).collect()
    }

    /// The branches as decisions in turn; `None` if one of them tests something else, or goes elsewhere. Where the
    /// decisions are not `known` to have branches, each has to test what the text says.
    fn match_one<'d>(
        &self,
        decisions: &[(usize, &'d Decision)],
        known: bool,
    ) -> Option<Matched<'d>> {
        let mut found = Vec::new();
        for ((block, decided), (_, decision)) in self.branches.iter().zip(decisions) {
            let condition = &decision.condition;
            let is_switch = self.around.entry.terminators[*block] == Terminator::Switch;
            if is_switch != condition.is_switch {
                return None;
            }
            let answer = match &decided.by.test {
                Some(test) if !is_switch => compare(test, condition),
                _ => Answer::Unknown,
            };
            found.push((
                *decision,
                match answer {
                    Answer::Another => return None,
                    Answer::Unknown if !known && !is_switch => return None,
                    Answer::Unknown => None,
                    Answer::FirstIsTrue(first) => Some(first),
                },
            ));
        }
        let follows = |n: usize| self.is_followed(n, decisions, found[n].1);
        (0..found.len()).all(follows).then_some(found)
    }

    /// Whether no successor of the `n`th branch asks for another of the decisions than the text says is next.
    fn is_followed(
        &self,
        n: usize,
        decisions: &[(usize, &Decision)],
        first_is_true: Option<bool>,
    ) -> bool {
        let (Some((outcome, next)), Some(first_is_true)) = (&decisions[n].1.next, first_is_true)
        else {
            return true;
        };
        let (block, _) = self.branches[n];
        let [first, second] = self.around.entry.succs[block][..] else {
            return true;
        };
        let asked = |to: BlockId| {
            let (asking, _) = next_question(self.around.entry, block, to)?;
            self.branches.iter().position(|(b, _)| *b == asking)
        };
        let (on, off) = if first_is_true == *outcome {
            (first, second)
        } else {
            (second, first)
        };
        let expected = decisions.iter().position(|(i, _)| next.contains(i));
        expected.is_none_or(|expected| {
            asked(on).is_none_or(|found| found == expected) && asked(off) != Some(expected)
        })
    }
}

/// All ways to leave `number` of the decisions out that need not be there.
fn without_some<'d>(
    all: &[(usize, &'d Decision)],
    number: usize,
    must: impl Fn(&Decision) -> bool,
) -> Vec<Vec<(usize, &'d Decision)>> {
    let maybes: Vec<usize> = (0..all.len()).filter(|&i| !must(all[i].1)).collect();
    let chosen = |bits: &u32| bits.count_ones() as usize == number;
    let ways = (0..1u32 << maybes.len()).filter(chosen);
    let left = |bits: u32| {
        let is_out = |i: usize| {
            let n = maybes.iter().position(|m| *m == i);
            n.is_some_and(|n| bits >> n & 1 == 1)
        };
        (0..all.len())
            .filter(|i| !is_out(*i))
            .map(|i| all[i])
            .collect()
    };
    ways.map(left).collect()
}

/// What a test says of a condition.
enum Answer {
    /// It is not that of the condition.
    Another,
    Unknown,
    FirstIsTrue(bool),
}

fn compare(test: &Test, condition: &Condition) -> Answer {
    if test.asks == Asks::Joined {
        return Answer::Unknown;
    }
    let holds = match &condition.comparison {
        Some(comparison) => compare_operators(test, comparison),
        None if condition.is_value => compare_value(test, condition),
        None => return Answer::Unknown,
    };
    match holds {
        Answer::FirstIsTrue(holds) => {
            Answer::FirstIsTrue(holds != (test.negated != condition.negated))
        }
        other => other,
    }
}

/// Whether "yes" to a test means that a comparison of the text holds. Both have the same operands, which an optimiser
/// may have swapped, so that a comparison of two variables is the same if both or neither include equality, and else
/// the opposite.
fn compare_operators(test: &Test, comparison: &Comparison) -> Answer {
    let (left, right) = (comparison.left.literal, comparison.right.literal);
    let constant = test.constant.as_deref().map(|c| c.parse::<i128>().ok());
    let literal = left.or(right);
    let is_equality = matches!(comparison.operator.as_str(), "==" | "!=");
    match test.asks {
        Asks::Value | Asks::Joined => Answer::Unknown,
        Asks::Equal | Asks::Unequal => match (constant.flatten(), literal) {
            _ if !is_equality => Answer::Another,
            (Some(a), Some(b)) if a != b => Answer::Another,
            _ => {
                let same = (test.asks == Asks::Equal) == (comparison.operator == "==");
                Answer::FirstIsTrue(same)
            }
        },
        Asks::Less | Asks::Greater if is_equality => Answer::Another,
        Asks::Less | Asks::Greater => {
            let is_less = comparison.operator.starts_with('<');
            let or_equal = comparison.operator.ends_with('=');
            let asks_less = test.asks == Asks::Less;
            match (test.constant.is_some(), constant.flatten(), left, right) {
                (_, Some(c), None, Some(b)) | (_, Some(c), Some(b), None) => {
                    let text_less = is_less != left.is_some();
                    let of_text = super::comparison::least_above(text_less, or_equal, b);
                    if super::comparison::least_above(asks_less, test.or_equal, c) != of_text {
                        return Answer::Another;
                    }
                    Answer::FirstIsTrue(asks_less == text_less)
                }
                (true, ..) | (_, _, Some(_), _) | (_, _, _, Some(_)) => {
                    // A constant that the text names, or is computed.
                    let is_plain = asks_less == is_less && test.or_equal == or_equal;
                    if is_plain {
                        Answer::FirstIsTrue(true)
                    } else {
                        Answer::Unknown
                    }
                }
                _ => Answer::FirstIsTrue(test.or_equal == or_equal),
            }
        }
    }
}

/// Whether "yes" to a test means that a value is true.
fn compare_value(test: &Test, condition: &Condition) -> Answer {
    let is_bits = test.origin == Some(Origin::Bits) && !condition.text.contains(['&', '%']);
    match (test.asks, test.constant.as_deref()) {
        (Asks::Value, _) => Answer::FirstIsTrue(true),
        _ if is_bits => Answer::Unknown,
        (Asks::Unequal, Some("0")) => Answer::FirstIsTrue(true),
        (Asks::Equal, Some("0")) => Answer::FirstIsTrue(false),
        _ => Answer::Another,
    }
}
