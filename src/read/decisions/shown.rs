//! Which conditions executed vectors show to decide the outcome, by each of two rules.

use super::Vector;
use super::wiring::Values;
use crate::read::source::Tree;

/// What a condition has to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// Two vectors that differ in the outcome and in the condition, and in no other one that both evaluated.
    #[default]
    UniqueCause,
    /// A vector in which it is true and one in which it is false, and masked in neither.
    Masking,
}

/// Which conditions are shown by vectors whose outcome is known. O(vectors² · conditions) for unique causes, else
/// O(vectors · conditions · depth).
pub(crate) fn find_shown(rule: Rule, tree: &Tree, vectors: &[&Vector]) -> Vec<bool> {
    let conditions = vectors.first().map_or(0, |v| v.values.len());
    let mut shown = vec![false; conditions];
    match rule {
        Rule::UniqueCause => {
            for (n, a) in vectors.iter().enumerate() {
                for b in vectors[..n].iter().filter(|b| b.outcome != a.outcome) {
                    if let Some(cause) = find_only_difference(&a.values, &b.values) {
                        shown[cause] = true;
                    }
                }
            }
        }
        Rule::Masking => {
            let mut deciding = vec![[false; 2]; conditions];
            for vector in vectors {
                mark_deciding(tree, &vector.values, &mut deciding);
            }
            for (shown, both) in shown.iter_mut().zip(deciding) {
                *shown = both == [true; 2];
            }
        }
    }
    shown
}

/// The condition that two vectors differ in, if that is one alone.
fn find_only_difference(a: &Values, b: &Values) -> Option<usize> {
    let is_other = |i: &usize| matches!((a[*i], b[*i]), (Some(a), Some(b)) if a != b);
    let mut differing = (0..a.len()).filter(is_other);
    let first = differing.next()?;
    differing.next().is_none().then_some(first)
}

/// Adds to `deciding`, for each condition that is evaluated and not masked in `values`, that it was with its value.
fn mark_deciding(tree: &Tree, values: &Values, deciding: &mut [[bool; 2]]) {
    let parts = match tree {
        Tree::Condition(i) => {
            if let Some(value) = values[*i] {
                deciding[*i][usize::from(value)] = true;
            }
            return;
        }
        Tree::Not(inner) => return mark_deciding(inner, values, deciding),
        Tree::All(parts) | Tree::Any(parts) => parts,
    };
    let ends = matches!(tree, Tree::Any(_));
    // Evaluation stops behind the operand that decides: it masks those before it.
    let decides = parts
        .iter()
        .position(|part| evaluate(part, values) == Some(ends));
    for part in &parts[decides.unwrap_or(0)..] {
        mark_deciding(part, values, deciding);
    }
}

/// The value of a tree, `None` if it was not evaluated.
fn evaluate(tree: &Tree, values: &Values) -> Option<bool> {
    let (parts, ends) = match tree {
        Tree::Condition(i) => return values[*i],
        Tree::Not(inner) => return evaluate(inner, values).map(|value| !value),
        Tree::All(parts) => (parts, false),
        Tree::Any(parts) => (parts, true),
    };
    let mut last = None;
    for part in parts {
        last = evaluate(part, values);
        if last.is_none() || last == Some(ends) {
            return last;
        }
    }
    last
}
