//! Terms under values of their leaves.

use super::{Node, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

impl Terms {
    /// These terms and all that they are made of, each behind its parts. O(terms in them).
    pub(in crate::possible) fn parts_of(&self, all: &[Term]) -> Vec<Term> {
        let (mut found, mut done) = (Vec::new(), FxHashSet::default());
        let mut open: Vec<(Term, bool)> = all.iter().rev().map(|t| (*t, false)).collect();
        while let Some((t, are_parts_done)) = open.pop() {
            if are_parts_done {
                found.push(t);
            } else if done.insert(t) {
                open.push((t, true));
                open.extend(self.parts(t).into_iter().rev().map(|part| (part, false)));
            }
        }
        found
    }

    /// The leaves of terms, in the order in which they appear. O(terms in them).
    pub(in crate::possible) fn leaves_of(&self, all: &[Term]) -> Vec<Term> {
        let mut parts = self.parts_of(all);
        parts.retain(|t| self.is_leaf(*t));
        parts
    }

    /// Whether a term is computed of nothing, and no constant.
    pub(in crate::possible) fn is_leaf(&self, t: Term) -> bool {
        matches!(
            self.node(t),
            Node::Free(_) | Node::Symbol(_) | Node::Room(_)
        )
    }

    /// The values of terms of which [`Terms::parts_of`] gave `parts`; leaves that have none are 0. O(parts).
    pub(in crate::possible) fn values_under(
        &self,
        parts: &[Term],
        leaves: &FxHashMap<Term, u64>,
    ) -> FxHashMap<Term, u64> {
        let mut values = FxHashMap::default();
        for &t in parts {
            let value = if self.is_leaf(t) {
                leaves.get(&t).copied().unwrap_or(0)
            } else {
                self.compute(t, &|part| values[&part])
            };
            values.insert(t, value);
        }
        values
    }
}
