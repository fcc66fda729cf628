//! What would have to run so that a condition is shown.

use super::shown::{Rule, find_shown};
use super::wiring::{Target, Values, Wiring};
use super::{Condition, Vector};
use crate::read::source::Tree;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Combinations of that many conditions are tried at most, where some of them are the same.
const MOST_TRIED: usize = 8;
/// A search for one vector gives up behind so many steps.
const MOST_STEPS: usize = 1 << 14;

/// How a condition can be shown that is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// By these vectors, of which `near` is executed and nearest to the first.
    Run {
        /// One or two.
        vectors: Vec<Values>,
        /// Its number among the executed ones; `None` if none ran.
        near: Option<usize>,
    },
    /// By none: the conditions with the same text always have the same value.
    Impossible,
    /// Nothing was found within the bounds of the search.
    Unknown,
}

/// An expression, and which of its vectors ran.
pub(crate) struct Search<'a> {
    /// How conditions are joined.
    pub tree: &'a Tree,
    /// Where control goes.
    pub wiring: &'a Wiring,
    /// The conditions.
    pub conditions: &'a [Condition],
    /// The executed vectors.
    pub vectors: &'a [Vector],
}

impl Search<'_> {
    /// What is missing so that condition `i` is shown. Bounded.
    pub(crate) fn explain(&self, rule: Rule, i: usize) -> Missing {
        let mut order: Vec<usize> = (0..self.vectors.len()).collect();
        order.sort_by_key(|n| Reverse(self.vectors[*n].count));
        for &n in &order {
            let near = &self.vectors[n];
            let (Some(value), Some(outcome)) = (near.values[i], near.outcome) else {
                continue;
            };
            if let Some(found) = self.find_partner(&near.values, (i, !value), !outcome) {
                let vectors = vec![found];
                return Missing::Run {
                    vectors,
                    near: Some(n),
                };
            }
        }
        if self.has_coupled() {
            return self.try_all(rule, i);
        }
        let neutral = find_neutral(self.tree, i, self.wiring.len());
        let vectors = [true, false].map(|value| {
            let answer = |j: usize| if j == i { value } else { neutral[j] };
            self.wiring.evaluate(answer).0
        });
        self.describe_pair(vectors.to_vec())
    }

    /// Those of `vectors` that did not run, and the executed one that is nearest to the first of them.
    fn describe_pair(&self, mut vectors: Vec<Values>) -> Missing {
        vectors.retain(|v| self.vectors.iter().all(|ran| ran.values != *v));
        let Some(first) = vectors.first() else {
            return Missing::Unknown;
        };
        let common = |n: &usize| {
            let ran = &self.vectors[*n];
            let pairs = ran.values.iter().zip(first);
            let same = pairs.take_while(|(a, b)| a == b).count();
            (same, ran.count)
        };
        let near = (0..self.vectors.len()).max_by_key(common);
        Missing::Run { vectors, near }
    }

    /// A vector with `fixed`, which is as in `near` in all other conditions that both evaluate, and has an outcome.
    fn find_partner(&self, near: &Values, fixed: (usize, bool), outcome: bool) -> Option<Values> {
        let mut values = vec![None; self.wiring.len()];
        let mut steps = MOST_STEPS;
        let found = self.follow(
            Target::Condition(0),
            near,
            fixed,
            outcome,
            &mut values,
            &mut steps,
        );
        found.then_some(values)
    }

    fn follow(
        &self,
        at: Target,
        near: &Values,
        fixed: (usize, bool),
        outcome: bool,
        values: &mut Values,
        steps: &mut usize,
    ) -> bool {
        let i = match at {
            Target::Outcome(found) => return found == outcome && values[fixed.0].is_some(),
            Target::Condition(i) => i,
        };
        let tried: &[bool] = match near[i] {
            _ if i == fixed.0 => &[fixed.1],
            Some(true) => &[true],
            Some(false) => &[false],
            None => &[true, false],
        };
        for &value in tried {
            if *steps == 0 {
                return false;
            }
            *steps -= 1;
            if !self.is_possible(i, value, values) {
                continue;
            }
            values[i] = Some(value);
            let next = self.wiring.find_next(i, value);
            if self.follow(next, near, fixed, outcome, values, steps) {
                return true;
            }
            values[i] = None;
        }
        false
    }

    /// Whether no condition with the same text has another value.
    fn is_possible(&self, i: usize, value: bool, values: &Values) -> bool {
        let coupled = |j: &usize| self.are_coupled(*j, i);
        (0..values.len())
            .filter(coupled)
            .all(|j| values[j] != Some(!value))
    }

    /// Whether two conditions are the same, so that they have the same value: neither calls or changes anything.
    fn are_coupled(&self, a: usize, b: usize) -> bool {
        let text = &self.conditions[a].text;
        let changes = |c: &str| c.contains('(') || c.contains("++") || c.contains("--");
        a != b && *text == self.conditions[b].text && !changes(text) && !assigns(text)
    }

    fn has_coupled(&self) -> bool {
        let all = 0..self.conditions.len();
        all.clone()
            .any(|a| all.clone().any(|b| self.are_coupled(a, b)))
    }

    /// What is missing where some conditions are the same: by trying all combinations.
    fn try_all(&self, rule: Rule, i: usize) -> Missing {
        let first = |i: usize| (0..i).find(|&j| self.are_coupled(i, j)).unwrap_or(i);
        let firsts: Vec<usize> = (0..self.conditions.len()).map(first).collect();
        let mut groups = firsts.clone();
        groups.sort_unstable();
        groups.dedup();
        if groups.len() > MOST_TRIED {
            return Missing::Unknown;
        }
        let mut all: BTreeSet<(Values, bool)> = BTreeSet::new();
        for bits in 0..1u32 << groups.len() {
            let answer = |j: usize| {
                let group = groups.binary_search(&firsts[j]).unwrap_or_default();
                bits >> group & 1 == 1
            };
            all.insert(self.wiring.evaluate(answer));
        }
        let all: Vec<Vector> = all
            .into_iter()
            .map(|(values, outcome)| Vector {
                values,
                outcome: Some(outcome),
                count: 0,
            })
            .collect();
        for (n, a) in all.iter().enumerate() {
            for b in &all[..n] {
                if find_shown(rule, self.tree, &[a, b])[i] {
                    return self.describe_pair(vec![a.values.clone(), b.values.clone()]);
                }
            }
        }
        Missing::Impossible
    }
}

/// Whether a text has an assignment.
fn assigns(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_assignment = |i: usize| {
        let before = i.checked_sub(1).map_or(b' ', |i| bytes[i]);
        let behind = bytes.get(i + 1).copied().unwrap_or(b' ');
        bytes[i] == b'=' && behind != b'=' && !b"=!<>".contains(&before)
    };
    (0..bytes.len()).any(is_assignment)
}

/// Values with which condition `i` alone decides: `&&` has true operands beside it, `||` false ones.
fn find_neutral(tree: &Tree, i: usize, conditions: usize) -> Vec<bool> {
    let mut values = vec![false; conditions];
    set_neutral(tree, i, &mut values);
    values
}

/// Sets the values of `tree`; returns whether condition `i` is in it.
fn set_neutral(tree: &Tree, i: usize, values: &mut Vec<bool>) -> bool {
    let (parts, wanted) = match tree {
        Tree::Condition(j) => return *j == i,
        Tree::Not(inner) => return set_neutral(inner, i, values),
        Tree::All(parts) => (parts, true),
        Tree::Any(parts) => (parts, false),
    };
    let mut is_in = false;
    for part in parts {
        if set_neutral(part, i, values) {
            is_in = true;
        } else {
            set_value(part, wanted, values);
        }
    }
    is_in
}

/// Sets values with which a tree has a value.
fn set_value(tree: &Tree, value: bool, values: &mut Vec<bool>) {
    match tree {
        Tree::Condition(i) => values[*i] = value,
        Tree::Not(inner) => set_value(inner, !value, values),
        Tree::All(parts) | Tree::Any(parts) => {
            for part in parts {
                set_value(part, value, values);
            }
        }
    }
}
