//! Both rules, against their definitions: all expressions of at most four conditions and five operators.

use super::missing::{Missing, Search};
use super::shown::{Rule, find_shown};
use super::wiring::{Target, Values, Wiring};
use super::{Condition, Vector};
use crate::read::source::Tree;
use std::collections::BTreeMap;

/// An expression as C has it: operators of two operands, which this test evaluates by itself.
#[derive(Clone)]
enum Expression {
    Condition,
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
}

impl Expression {
    fn count(&self) -> usize {
        match self {
            Expression::Condition => 1,
            Expression::Not(inner) => inner.count(),
            Expression::And(a, b) | Expression::Or(a, b) => a.count() + b.count(),
        }
    }

    /// The value for `inputs`, whose first is the first condition's; `seen` gets what is evaluated.
    fn evaluate(&self, first: usize, inputs: u32, seen: &mut Values) -> bool {
        match self {
            Expression::Condition => {
                let value = inputs >> first & 1 == 1;
                seen[first] = Some(value);
                value
            }
            Expression::Not(inner) => !inner.evaluate(first, inputs, seen),
            Expression::And(a, b) => {
                a.evaluate(first, inputs, seen) && b.evaluate(first + a.count(), inputs, seen)
            }
            Expression::Or(a, b) => {
                a.evaluate(first, inputs, seen) || b.evaluate(first + a.count(), inputs, seen)
            }
        }
    }

    /// The conditions that decide, by definition: they are evaluated, and no operator masks them.
    fn find_unmasked(&self, first: usize, inputs: u32, unmasked: &mut [bool]) {
        let value = |e: &Expression, first| e.evaluate(first, inputs, &mut [None; 4].to_vec());
        match self {
            Expression::Condition => unmasked[first] = true,
            Expression::Not(inner) => inner.find_unmasked(first, inputs, unmasked),
            Expression::And(a, b) | Expression::Or(a, b) => {
                let ends = matches!(self, Expression::Or(..));
                let second = first + a.count();
                if value(a, first) == ends {
                    return a.find_unmasked(first, inputs, unmasked);
                }
                b.find_unmasked(second, inputs, unmasked);
                if value(b, second) != ends {
                    a.find_unmasked(first, inputs, unmasked);
                }
            }
        }
    }

    /// The tree with as many operands at a node as there are.
    fn tree(&self, first: usize) -> Tree {
        let joined =
            |a: &Expression, b: &Expression| vec![a.tree(first), b.tree(first + a.count())];
        match self {
            Expression::Condition => Tree::Condition(first),
            Expression::Not(inner) => Tree::Not(Box::new(inner.tree(first))),
            Expression::And(a, b) => Tree::All(joined(a, b)),
            Expression::Or(a, b) => Tree::Any(joined(a, b)),
        }
    }

    /// As text; all but negations in brackets.
    fn text(&self, first: usize) -> String {
        match self {
            Expression::Condition => ["a", "b", "c", "d"][first].into(),
            Expression::Not(inner) => format!("!{}", inner.text(first)),
            Expression::And(a, b) => {
                format!("({} && {})", a.text(first), b.text(first + a.count()))
            }
            Expression::Or(a, b) => {
                format!("({} || {})", a.text(first), b.text(first + a.count()))
            }
        }
    }
}

/// All expressions of exactly so many conditions and operators.
fn all_of(conditions: usize, operators: usize) -> Vec<Expression> {
    let mut found = Vec::new();
    if (conditions, operators) == (1, 0) {
        return vec![Expression::Condition];
    }
    if conditions == 0 || operators + 1 < conditions {
        return found;
    }
    if operators > 0 {
        let inner = all_of(conditions, operators - 1).into_iter();
        found.extend(inner.map(|e| Expression::Not(Box::new(e))));
    }
    for left in 1..conditions {
        for used in 0..operators {
            for a in all_of(left, used) {
                for b in all_of(conditions - left, operators - 1 - used) {
                    let (x, y) = (Box::new(a.clone()), Box::new(b));
                    found.push(Expression::And(x.clone(), y.clone()));
                    found.push(Expression::Or(x, y));
                }
            }
        }
    }
    found
}

fn all() -> Vec<Expression> {
    let sizes = (1..=4).flat_map(|c| (0..=5).map(move |o| (c, o)));
    sizes.flat_map(|(c, o)| all_of(c, o)).collect()
}

/// Different subsets of the inputs: all, none but one, and some by a simple generator.
fn subsets(conditions: usize) -> Vec<u32> {
    let all = (1u64 << (1 << conditions)) - 1;
    let mut state = 88_172_645_463_325_252u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let some = (0..12).map(|_| (random() & random() & all) as u32);
    [all as u32, 1].into_iter().chain(some).collect()
}

/// The vectors of a subset of all inputs, each with how many inputs have it.
fn vectors_of(e: &Expression, subset: u32) -> Vec<Vector> {
    let n = e.count();
    let mut counts: BTreeMap<(Values, bool), u64> = BTreeMap::new();
    for inputs in (0..1u32 << n).filter(|inputs| subset >> inputs & 1 == 1) {
        let mut values = vec![None; n];
        let outcome = e.evaluate(0, inputs, &mut values);
        *counts.entry((values, outcome)).or_default() += 1;
    }
    let vectors = counts.into_iter().map(|((values, outcome), count)| Vector {
        values,
        outcome: Some(outcome),
        count,
    });
    vectors.collect()
}

#[test]
fn wiring_evaluates_like_expression() {
    for e in all() {
        let wiring = Wiring::new(&e.tree(0));
        assert_eq!(wiring.len(), e.count());
        for inputs in 0..1u32 << e.count() {
            let mut values = vec![None; e.count()];
            let outcome = e.evaluate(0, inputs, &mut values);
            let found = wiring.evaluate(|i| inputs >> i & 1 == 1);
            assert_eq!(found, (values, outcome), "{}", e.text(0));
        }
    }
}

#[test]
fn shown_conditions_are_those_of_the_definitions() {
    let mut shown_by_masking_alone = 0;
    for e in all() {
        let (n, tree) = (e.count(), e.tree(0));
        for subset in subsets(n) {
            let vectors = vectors_of(&e, subset);
            let all: Vec<&Vector> = vectors.iter().collect();
            let unique = find_shown(Rule::UniqueCause, &tree, &all);
            let masking = find_shown(Rule::Masking, &tree, &all);
            let mut deciding = vec![[false; 2]; n];
            for inputs in (0..1u32 << n).filter(|inputs| subset >> inputs & 1 == 1) {
                let mut unmasked = vec![false; n];
                e.find_unmasked(0, inputs, &mut unmasked);
                for i in (0..n).filter(|i| unmasked[*i]) {
                    deciding[i][(inputs >> i & 1) as usize] = true;
                }
            }
            for (i, deciding) in deciding.iter().enumerate() {
                let other = |a: &Vector, b: &Vector, j: usize| {
                    let values = (a.values[j], b.values[j]);
                    matches!(values, (Some(a), Some(b)) if a != b)
                };
                let is_cause = all.iter().any(|a| {
                    all.iter().any(|b| {
                        let others = (0..n).filter(|j| *j != i);
                        a.outcome != b.outcome
                            && other(a, b, i)
                            && !others.into_iter().any(|j| other(a, b, j))
                    })
                });
                let text = e.text(0);
                assert_eq!(
                    unique.get(i) == Some(&true),
                    is_cause,
                    "{text} {i} {subset:b}"
                );
                let decides = *deciding == [true; 2];
                assert_eq!(
                    masking.get(i) == Some(&true),
                    decides,
                    "{text} {i} {subset:b}"
                );
                assert!(!is_cause || decides, "{text} {i} {subset:b}");
                shown_by_masking_alone += u32::from(decides && !is_cause);
            }
        }
    }
    assert!(shown_by_masking_alone > 0);
}

#[test]
fn missing_vectors_show_their_condition() {
    for e in all() {
        let (n, tree) = (e.count(), e.tree(0));
        let wiring = Wiring::new(&tree);
        let condition = |i: usize| Condition {
            text: ["a", "b", "c", "d"][i].into(),
            line: 1,
            column: 1,
        };
        let conditions: Vec<Condition> = (0..n).map(condition).collect();
        for (subset, rule) in subsets(n)
            .into_iter()
            .flat_map(|s| [(s, Rule::UniqueCause), (s, Rule::Masking)])
        {
            let vectors = vectors_of(&e, subset);
            let all: Vec<&Vector> = vectors.iter().collect();
            let shown = find_shown(rule, &tree, &all);
            let search = Search {
                tree: &tree,
                wiring: &wiring,
                conditions: &conditions,
                vectors: &vectors,
            };
            for i in (0..n).filter(|i| shown.get(*i) != Some(&true)) {
                let Missing::Run { vectors: more, .. } = search.explain(rule, i) else {
                    panic!("{} {i}", e.text(0));
                };
                let more = more.into_iter().map(|values| {
                    let (found, outcome) = wiring.evaluate(|i| values[i] == Some(true));
                    assert_eq!(found, values, "{}", e.text(0));
                    assert!(vectors.iter().all(|v| v.values != values));
                    Vector {
                        values,
                        outcome: Some(outcome),
                        count: 1,
                    }
                });
                let together: Vec<Vector> = vectors.iter().cloned().chain(more).collect();
                let together: Vec<&Vector> = together.iter().collect();
                assert!(find_shown(rule, &tree, &together)[i], "{} {i}", e.text(0));
            }
        }
    }
}

#[test]
fn condition_that_stands_twice_with_one_value_is_not_asked_for_in_vain() {
    // `a && x || !a && y`: either side alone.
    let tree = Tree::Any(vec![
        Tree::All(vec![Tree::Condition(0), Tree::Condition(1)]),
        Tree::All(vec![
            Tree::Not(Box::new(Tree::Condition(2))),
            Tree::Condition(3),
        ]),
    ]);
    let wiring = Wiring::new(&tree);
    let conditions = ["a", "x", "a", "y"].map(|text| Condition {
        text: text.into(),
        line: 1,
        column: 1,
    });
    let search = Search {
        tree: &tree,
        wiring: &wiring,
        conditions: &conditions,
        vectors: &[],
    };
    let explain = |i| search.explain(Rule::UniqueCause, i);
    for i in 0..4 {
        let Missing::Run { vectors, .. } = explain(i) else {
            assert_eq!((i, explain(i)), (2, Missing::Impossible));
            continue;
        };
        for values in vectors {
            let (first, second) = (values[0], values[2]);
            assert!(second.is_none_or(|second| Some(second) == first), "{i}");
        }
    }
}

#[test]
fn only_way_to_condition_is_known() {
    // `(a || b) && c && d`.
    let tree = Tree::All(vec![
        Tree::Any(vec![Tree::Condition(0), Tree::Condition(1)]),
        Tree::Condition(2),
        Tree::Condition(3),
    ]);
    let wiring = Wiring::new(&tree);
    assert_eq!(
        wiring.find_only_way(1),
        Some(vec![Some(false), None, None, None])
    );
    assert_eq!(wiring.find_only_way(2), None);
    assert_eq!(wiring.find_next(2, false), Target::Outcome(false));
}
