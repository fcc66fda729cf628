//! Values that depend on operands alone: integers, comparisons, casts and addresses.

use super::trace::Mode;
use super::{Run, Value};
use crate::input::load::positions::Predicate;
use crate::possible::code::{Action, BinaryOperator as Binary, CastOperator, Flags, Operand};
use crate::possible::set::largest;
use crate::possible::term::Term;

impl Run<'_> {
    /// The value of an action that depends on its operands alone; `None` if it may be any.
    pub(super) fn compute(&mut self, action: &Action, bits: u32) -> Option<Value> {
        if bits == 0 {
            return None;
        }
        match action {
            Action::Binary(operator, a, b, flags) => {
                let (a, b) = (self.exact(a)?, self.exact(b)?);
                self.binary(*operator, a, b, *flags).map(Value::Term)
            }
            Action::Compare(predicate, a, b, same_sign) => {
                let (a, b) = (self.exact(a)?, self.exact(b)?);
                if *same_sign && !self.is_plain() && !self.have_same_sign(a, b) {
                    let kept = self.terms.have_one_sign(a, b);
                    if !self.assume(Some(kept)) {
                        return None;
                    }
                }
                Some(Value::Term(self.compare(*predicate, a, b)))
            }
            Action::Cast(operator, a, flags) => self.cast(*operator, a, *flags, bits),
            Action::Element(base, offset, indices, promised) => {
                self.element(base, *offset, indices, *promised)
            }
            Action::Select(c, a, b) => {
                let (c, a, b) = (self.exact(c)?, self.operand(a), self.operand(b));
                match (self.terms.value(c), a, b) {
                    (Some(1), value, _) | (Some(_), _, value) => Some(value),
                    (_, Value::Term(a), Value::Term(b)) => {
                        Some(Value::Term(self.terms.choice(c, a, b)))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn binary(&mut self, operator: Binary, a: Term, b: Term, flags: Flags) -> Option<Term> {
        let bits = self.terms.bits(a);
        let second = self.known.range(self.terms, b, false);
        let is_defined = match operator {
            _ if self.mode == Mode::Show => {
                let defined = self.terms.is_defined(operator, a, b);
                defined.is_none() || self.assume(defined)
            }
            Binary::Shl | Binary::Lshr | Binary::Ashr => second.1 < i128::from(bits),
            Binary::Udiv | Binary::Urem => second.0 > 0,
            Binary::Sdiv | Binary::Srem => {
                let divisors = self.known.values(self.terms, b);
                !divisors.contains(0) && !divisors.contains(largest(bits))
            }
            _ => true,
        };
        if !is_defined {
            return None;
        }
        if flags != Flags::default() && !self.is_plain() && !self.keeps(operator, a, b, flags) {
            let kept = self.terms.keeps_promise(operator, a, b, flags);
            if !self.assume(kept) {
                return None;
            }
        }
        // `or` of what has no bit in common is a sum.
        Some(self.terms.binary(operator, a, b))
    }

    /// Whether a result is as LLVM was promised, as far as is known.
    fn keeps(&mut self, operator: Binary, a: Term, b: Term, flags: Flags) -> bool {
        let bits = self.terms.bits(a);
        if let (Some(_), Some(_)) = (self.terms.value(a), self.terms.value(b))
            && flags.exact
        {
            return false;
        }
        let fits = |low: i128, high: i128, signs: bool| {
            let (least, greatest) = if signs {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            } else {
                (0, i128::from(largest(bits)))
            };
            low >= least && high <= greatest
        };
        let is_kept = |signs: bool| {
            let (a, b) = (
                self.known.range(self.terms, a, signs),
                self.known.range(self.terms, b, signs),
            );
            let ends: Vec<i128> = match operator {
                Binary::Add => vec![a.0 + b.0, a.1 + b.1],
                Binary::Sub => vec![a.0 - b.1, a.1 - b.0],
                Binary::Mul => {
                    let all = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
                    let product = |(x, y): (i128, i128)| x.checked_mul(y);
                    match all.into_iter().map(product).collect() {
                        Some(all) => all,
                        None => return false,
                    }
                }
                _ => return false,
            };
            let low = ends.iter().copied().min().expect("not empty");
            let high = ends.iter().copied().max().expect("not empty");
            fits(low, high, signs)
        };
        !flags.exact && (!flags.signed || is_kept(true)) && (!flags.unsigned || is_kept(false))
    }

    fn have_same_sign(&self, a: Term, b: Term) -> bool {
        let side = |t: Term| {
            let range = self.known.range(self.terms, t, true);
            (range.0 >= 0, range.1 < 0)
        };
        let (a, b) = (side(a), side(b));
        a.0 && b.0 || a.1 && b.1
    }

    fn compare(&mut self, predicate: Predicate, a: Term, b: Term) -> Term {
        use Predicate::*;
        let (base, a, b) = match predicate {
            Sgt => (Slt, b, a),
            Ugt => (Ult, b, a),
            Sle => (Sge, b, a),
            Ule => (Uge, b, a),
            _ => (predicate, a, b),
        };
        match base {
            Eq => self.terms.equal(a, b),
            Ne => {
                let equal = self.terms.equal(a, b);
                self.terms.not(equal)
            }
            Slt => self.terms.less(a, b),
            Ult => self.terms.below(a, b),
            Sge => {
                let less = self.terms.less(a, b);
                self.terms.not(less)
            }
            _ => {
                let below = self.terms.below(a, b);
                self.terms.not(below)
            }
        }
    }

    fn cast(
        &mut self,
        operator: CastOperator,
        a: &Operand,
        flags: Flags,
        bits: u32,
    ) -> Option<Value> {
        if operator == CastOperator::Keep {
            let value = self.operand(a);
            let fits = match value {
                Value::Term(t) | Value::Address(t) => self.terms.bits(t) == bits,
                Value::Loose => false,
            };
            return fits.then_some(value);
        }
        let a = self.exact(a)?;
        if flags != Flags::default() && !self.is_plain() {
            let own = self.terms.bits(a);
            let fits = |signs: bool| {
                let range = self.known.range(self.terms, a, signs);
                let (least, greatest) = match (operator, signs) {
                    (CastOperator::Truncate, true) => {
                        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
                    }
                    (CastOperator::Truncate, false) => (0, i128::from(largest(bits))),
                    // Not negative.
                    _ => (0, i128::from(largest(own))),
                };
                range.0 >= least && range.1 <= greatest
            };
            let kept = (!flags.signed || fits(true))
                && (!flags.unsigned || fits(false))
                && (!flags.exact || fits(true));
            if !kept {
                let kept = self.terms.keeps_cast(operator, a, flags, bits);
                if !self.assume(Some(kept)) {
                    return None;
                }
            }
        }
        Some(Value::Term(match operator {
            CastOperator::Truncate => self.terms.truncate(a, bits),
            CastOperator::ZeroExtend => self.terms.zero_extend(a, bits),
            CastOperator::SignExtend => self.terms.sign_extend(a, bits),
            CastOperator::Keep => a,
        }))
    }

    fn element(
        &mut self,
        base: &Operand,
        offset: i64,
        indices: &[(Operand, i64)],
        promised: bool,
    ) -> Option<Value> {
        let base = self.operand(base);
        let (mut sum, mut is_exact) = match base {
            Value::Term(t) => (t, true),
            Value::Address(t) => (t, false),
            Value::Loose => return None,
        };
        if self.terms.bits(sum) != 64 {
            return None;
        }
        let start = sum;
        let offset = self.terms.constant(64, offset.cast_unsigned());
        sum = self.terms.binary(Binary::Add, sum, offset);
        for (n, (index, stride)) in indices.iter().enumerate() {
            let index = match self.exact(index) {
                Some(index) => match self.terms.bits(index) {
                    64 => index,
                    bits if bits < 64 => self.terms.sign_extend(index, 64),
                    _ => return None,
                },
                // Somewhere in what the base points into.
                None if self.mode == Mode::Show => return None,
                None => {
                    is_exact = false;
                    self.terms.free(64, self.naming + 1 + n as u64)
                }
            };
            let stride = self.terms.constant(64, stride.cast_unsigned());
            let distance = self.terms.binary(Binary::Mul, index, stride);
            sum = self.terms.binary(Binary::Add, sum, distance);
        }
        let is_exact = is_exact && (!promised || self.is_plain() || sum == start);
        Some(if is_exact {
            Value::Term(sum)
        } else {
            Value::Address(sum)
        })
    }
}
