//! Where control goes behind each condition of an expression, by short-circuit evaluation.

use crate::read::source::Tree;

/// What follows an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The condition with this number is evaluated next.
    Condition(usize),
    /// The whole expression is true or false.
    Outcome(bool),
}

/// The values of an expression's conditions in one evaluation; `None`: not evaluated.
pub(crate) type Values = Vec<Option<bool>>;

/// For each condition what follows if it is false, and if it is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wiring(Vec<[Target; 2]>);

impl Wiring {
    /// That of a tree whose conditions are numbered from 0 on in the order of evaluation. O(conditions · depth).
    pub(crate) fn new(tree: &Tree) -> Wiring {
        let mut wires = Vec::new();
        add_wires(
            tree,
            [Target::Outcome(false), Target::Outcome(true)],
            &mut wires,
        );
        Wiring(wires)
    }

    /// The number of conditions.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What follows if condition `i` has a value.
    pub(crate) fn find_next(&self, i: usize, value: bool) -> Target {
        self.0[i][usize::from(value)]
    }

    /// The values and the outcome, if conditions answer what `answer` says. O(conditions).
    pub(crate) fn evaluate(&self, mut answer: impl FnMut(usize) -> bool) -> (Values, bool) {
        let mut values = vec![None; self.len()];
        let mut at = Target::Condition(0);
        loop {
            match at {
                Target::Outcome(outcome) => return (values, outcome),
                Target::Condition(i) => {
                    let value = answer(i);
                    values[i] = Some(value);
                    at = self.find_next(i, value);
                }
            }
        }
    }

    /// The values of the conditions before `target`, if only one combination leads there. O(conditions).
    pub(crate) fn find_only_way(&self, target: usize) -> Option<Values> {
        let mut before: Vec<Vec<(usize, bool)>> = vec![Vec::new(); self.len()];
        for i in 0..self.len() {
            for value in [false, true] {
                if let Target::Condition(next) = self.find_next(i, value) {
                    before[next].push((i, value));
                }
            }
        }
        let mut values = vec![None; self.len()];
        let mut at = target;
        while at > 0 {
            let [(i, value)] = before[at][..] else {
                return None;
            };
            values[i] = Some(value);
            at = i;
        }
        Some(values)
    }
}

/// Adds the conditions of `tree`, whose outcomes lead to `ends`: false, true.
fn add_wires(tree: &Tree, ends: [Target; 2], wires: &mut Vec<[Target; 2]>) {
    let (parts, goes_on) = match tree {
        Tree::Condition(_) => return wires.push(ends),
        Tree::Not(inner) => return add_wires(inner, [ends[1], ends[0]], wires),
        Tree::All(parts) => (parts, true),
        Tree::Any(parts) => (parts, false),
    };
    for (n, part) in parts.iter().enumerate() {
        let mut inner = ends;
        if n + 1 < parts.len() {
            let next = wires.len() + count_conditions(part);
            inner[usize::from(goes_on)] = Target::Condition(next);
        }
        add_wires(part, inner, wires);
    }
}

fn count_conditions(tree: &Tree) -> usize {
    match tree {
        Tree::Condition(_) => 1,
        Tree::Not(inner) => count_conditions(inner),
        Tree::All(parts) | Tree::Any(parts) => parts.iter().map(count_conditions).sum(),
    }
}
