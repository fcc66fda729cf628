//! What a branch tests, against the text of the condition.

use super::Branch;
use crate::input::load::positions::{Asks, Origin, Test};
use crate::read::source::{Comparison, Condition, Text};

impl Branch<'_> {
    /// Whether a test is that of the condition: what an optimiser adds, to unroll a loop for example, has the position
    /// of the branch that it stands beside, but tests something else.
    pub(super) fn is_tested_by(&self, test: &Test) -> bool {
        let comparison = self.condition.comparison.as_ref();
        let is_another = comparison.is_some_and(|c| has_another_bound(test, c, self.text));
        if is_another || self.may_be_of_several(test) {
            return false;
        }
        match (test.asks, test.at) {
            // What it joins was compared with the text.
            (Asks::Joined, _) => true,
            _ if !test.known.is_empty() => true,
            (_, Some(at)) if self.contains_position(at) => true,
            // A parameter, for example. Rust's comparisons are where the branch is, which an optimiser may use for
            // another operand.
            (Asks::Value, None) => !self.text.is_rust || self.condition.comparison.is_none(),
            _ => self.tests_value_elsewhere(test),
        }
    }

    /// Whether what is tested may stand for other conditions, too, of which an optimiser kept the place of the first;
    /// or for a part of `c ? a : b`, or of Rust's `?`.
    fn may_be_of_several(&self, test: &Test) -> bool {
        let condition = self.condition;
        let says = |words: &[&str]| words.iter().any(|word| condition.text.contains(word));
        let is_joined = test.origin == Some(Origin::Joined)
            && test.left.is_none_or(|left| self.contains_position(left));
        let is_one_comparison = condition.comparison.is_some() && !says(&["&&", "||"]);
        is_joined && !says(&["|", "^", "?", "max", "min"]) || says(&["?"]) && !is_one_comparison
    }

    /// Whether the left side of a test is computed in the text of the condition.
    fn is_computed_here(&self, test: &Test) -> bool {
        test.left.is_some_and(|left| self.contains_position(left))
    }

    /// Whether a position is in the text of the condition.
    fn contains_position(&self, at: [u32; 2]) -> bool {
        self.text.is_inside(self.condition, at)
    }

    /// Whether a test at another place is whether the value of the condition is 0. `while (p)` compares with 0 at the
    /// place of `while`, and so does what an optimiser adds there, but that tests a number of iterations. A comparison
    /// that stands for several has no place; the branch has.
    fn tests_value_elsewhere(&self, test: &Test) -> bool {
        if !self.condition.is_value || self.condition.is_switch || !asks_for_zero(test) {
            return false;
        }
        // An optimiser may test the value before a step in place of that behind it.
        let steps = ["--", "++"];
        if steps.iter().any(|s| self.condition.text.contains(s)) {
            return false;
        }
        let site = [self.site.loc.line, self.site.column];
        let Some(at) = test.at else {
            return is_read(test) && self.contains_position(site);
        };
        let computed_here = self.is_computed_here(test);
        match test.origin {
            _ if test.loads && computed_here => true,
            // Of `p && q` an optimiser may have left another part than the one that is quoted.
            _ if at != site || self.condition.is_operand => false,
            Some(Origin::Value | Origin::NonInteger) => true,
            Some(Origin::Arithmetic) => test.left.is_some_and(|left| left != site),
            Some(Origin::Bits | Origin::Joined) | None => computed_here,
        }
    }

    /// Whether what is tested is the value itself. An optimiser that knows how a variable came about may ask what that
    /// was made of instead, and the opposite of it: `x == 0` for `y = 1u >> x; if (y)`, or `x` for `p = x ? NULL : &g`.
    /// That leaves nothing of a pointer that a loop moves on.
    fn keeps_value(&self, test: &Test) -> bool {
        let is_moved_on =
            test.origin == Some(Origin::NonInteger) && self.condition.continues.is_some();
        is_moved_on || self.is_computed_here(test)
    }

    /// What the predicate says, if it is at the condition.
    pub(super) fn judge_by_comparison(&self, test: &Test) -> Option<bool> {
        let is_here = test.at.is_some_and(|at| self.contains_position(at));
        let is_elsewhere = || self.keeps_value(test) && self.tests_value_elsewhere(test);
        if test.inlined || !is_here && !is_elsewhere() {
            return None;
        }
        let condition = self.condition;
        if is_check_of_a_compiler(test, &condition.text) {
            return None;
        }
        let holds = match &condition.comparison {
            Some(comparison) => compare(test, comparison, condition, self.text)?,
            None if condition.is_value => self.is_truth_of_value(test)?,
            None => return None,
        };
        Some(holds != (test.negated != condition.negated))
    }

    /// Whether "yes" to a test means that a value without a comparison is true.
    fn is_truth_of_value(&self, test: &Test) -> Option<bool> {
        let condition = self.condition;
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
            // A `!` of its own returns the truth of the text with the negation.
            Asks::Value => (!condition.negated || !calls_negation(test)).then_some(true),
            _ if !asks_for_zero(test) => None,
            // Of a bit that was computed elsewhere, an optimiser may ask the opposite, and does so at the condition.
            _ if test.origin == Some(Origin::Bits) && !condition.text.contains(['&', '%']) => None,
            asks => Some(asks == Asks::Unequal),
        }
    }
}

/// Whether a test is whether something is 0 or not.
fn asks_for_zero(test: &Test) -> bool {
    matches!(test.asks, Asks::Equal | Asks::Unequal) && test.constant.as_deref() == Some("0")
}

/// Whether a test is not of the program: Rust checks for overflow, and pointers before it reads through them.
fn is_check_of_a_compiler(test: &Test, text: &str) -> bool {
    let callee = test.callee.as_deref().unwrap_or_default();
    let of_pointer = test.origin == Some(Origin::NonInteger) && !test.loads;
    callee.contains(".with.overflow.") || of_pointer && text.starts_with('*')
}

/// Whether what is tested was not computed by an instruction, as far as that tells.
fn is_read(test: &Test) -> bool {
    matches!(test.origin, Some(Origin::Value | Origin::NonInteger))
}

/// Whether a test is of what an operator `!` that is a function returned: C++, Rust.
fn calls_negation(test: &Test) -> bool {
    let symbol = test.callee.as_deref().unwrap_or_default();
    ["ntEv", "3not"].iter().any(|name| symbol.contains(name))
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
            Some(is_same_way(test, comparison, swapped))
        }
        _ => None,
    }
}

/// Whether a test asks for less where a comparison of the text does, the operands of which may be `swapped`.
fn is_same_way(test: &Test, comparison: &Comparison, swapped: bool) -> bool {
    (test.asks == Asks::Less) == asks_for_less(comparison, swapped)
}

/// Whether a comparison of the text is `<` or `<=`, once its operands stand as they do in the test.
fn asks_for_less(comparison: &Comparison, swapped: bool) -> bool {
    comparison.operator.starts_with('<') != swapped
}

/// Whether a test that is less or greater, like a comparison of the text, has other answers than that: an optimiser
/// that knows more of a variable asks for `> 0` in place of `>= 0` where it is not 0.
fn has_another_bound(test: &Test, comparison: &Comparison, text: &Text) -> bool {
    let orders = comparison.operator.starts_with(['<', '>']);
    if !orders || !matches!(test.asks, Asks::Less | Asks::Greater) {
        return false;
    }
    let Some(swapped) = are_swapped(test, comparison, text) else {
        return false;
    };
    let or_equal = comparison.operator.ends_with('=');
    let literal = comparison.right.literal.or(comparison.left.literal);
    let constant = test.constant.as_deref().map(str::parse::<i128>);
    match (constant, literal) {
        (Some(Ok(constant)), Some(literal)) => {
            let tested = least_above(test.asks == Asks::Less, test.or_equal, constant);
            tested != least_above(asks_for_less(comparison, swapped), or_equal, literal)
        }
        // A name stands for some number.
        (Some(_), _) => false,
        (None, _) => is_same_way(test, comparison, swapped) != (or_equal == test.or_equal),
    }
}

/// The number from which on `< bound` (`<= bound`) is false, or `> bound` (`>= bound`) is true. Two comparisons of one
/// variable have the same answers, or opposite ones, if this is the same.
pub(super) fn least_above(less: bool, or_equal: bool, bound: i128) -> i128 {
    bound + i128::from(less == or_equal)
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
