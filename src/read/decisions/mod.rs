//! Decisions of functions, with how often each combination of their conditions' values ran.
//!
//! A *decision* is an expression of conditions that `&&`, `||` and `!` join, as large as it is, or one condition alone.
//! One evaluation of it is a *vector*: the value of each condition, or that it was not evaluated, and the outcome. In
//! code of -O0 each condition has a branch of its own, so that a path says which vector ran in it. [`find`] matches
//! expressions of the source with branches, [`count`] walks executed paths, [`shown`] and [`missing`] say what vectors
//! show.
//!
//! In: control flow, branches that are judged, executed paths. Out: [`Decision`].

pub(crate) mod count;
mod find;
pub(crate) mod missing;
pub(crate) mod shown;
#[cfg(test)]
mod tests;
pub(crate) mod wiring;

pub(crate) use count::count_function;
use missing::{Missing, Search};
pub use shown::Rule;
use shown::find_shown;
use std::sync::Arc;
use wiring::{Values, Wiring};

use crate::base::index::FuncId;
use crate::read::source::{Joined, Tree};

/// A condition of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// Its text, without negations in front of it.
    pub text: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column in bytes, from 1.
    pub column: u32,
}

/// Evaluations of a decision that were alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vector {
    /// The value of each condition.
    pub values: Values,
    /// The outcome; `None` where the last condition's value is used without a branch, so that it is not known.
    pub outcome: Option<bool>,
    /// How often.
    pub count: u64,
}

/// What is known of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Executed vectors show that it decides.
    Yes,
    /// They do not.
    No,
    /// Nobody knows: the decision cannot be measured, or what misses may be in vectors that are not known.
    NotMeasured,
}

/// A decision of a function.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    /// The function.
    pub f: FuncId,
    /// The number of the file.
    pub file: u32,
    /// Its line, from 1.
    pub line: u32,
    /// Its column in bytes, from 1.
    pub column: u32,
    /// Its last line.
    pub last_line: u32,
    /// The expression.
    pub joined: Arc<Joined>,
    /// Its conditions in the order of evaluation.
    pub conditions: Vec<Condition>,
    /// The executed vectors, in the order of their values.
    pub vectors: Vec<Vector>,
    /// Why it cannot be measured, if it cannot.
    pub unmeasured: Option<String>,
}

/// Numbers of conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownSums {
    /// Those that are shown.
    pub shown: u64,
    /// All.
    pub all: u64,
    /// Those that are not measured.
    pub unmeasured: u64,
}

impl ShownSums {
    /// Adds others.
    pub(crate) fn add(&mut self, more: ShownSums) {
        self.shown += more.shown;
        self.all += more.all;
        self.unmeasured += more.unmeasured;
    }
}

impl Decision {
    /// How its conditions are joined, where they are no constants.
    pub(crate) fn tree(&self) -> Option<&Tree> {
        self.joined.tree.as_ref()
    }

    /// What is known of each condition. O(vectors² · conditions).
    pub(crate) fn judge(&self, rule: Rule) -> Vec<Shown> {
        let Some(tree) = self.tree().filter(|_| self.unmeasured.is_none()) else {
            return vec![Shown::NotMeasured; self.conditions.len()];
        };
        let known: Vec<&Vector> = self
            .vectors
            .iter()
            .filter(|v| v.outcome.is_some())
            .collect();
        let mut shown = find_shown(rule, tree, &known);
        shown.resize(self.conditions.len(), false);
        // What misses may be in evaluations that went on to the last condition, whose value is not known.
        let may_be = known.len() < self.vectors.len();
        let judge = |shown: bool| match shown {
            true => Shown::Yes,
            false if may_be => Shown::NotMeasured,
            false => Shown::No,
        };
        shown.into_iter().map(judge).collect()
    }

    /// How many conditions are shown, and how many there are.
    pub(crate) fn sum(&self, rule: Rule) -> ShownSums {
        let judged = self.judge(rule);
        let count = |what: Shown| judged.iter().filter(|shown| **shown == what).count() as u64;
        ShownSums {
            shown: count(Shown::Yes),
            all: judged.len() as u64,
            unmeasured: count(Shown::NotMeasured),
        }
    }

    /// What is missing so that condition `i` is shown.
    pub(crate) fn find_missing(&self, rule: Rule, i: usize) -> Missing {
        let Some(tree) = self.tree() else {
            return Missing::Unknown;
        };
        let search = Search {
            tree,
            wiring: &Wiring::new(tree),
            conditions: &self.conditions,
            vectors: &self.vectors,
        };
        search.explain(rule, i)
    }
}
