//! What LLVM is promised of operations, as terms that are true if it is kept.

use super::{Binary, Term, Terms};
use crate::possible::code::{CastOperator, Flags};

impl Terms {
    /// Whether an operation on these operands has a result; `None`: it always has.
    pub(in crate::possible) fn is_defined(
        &mut self,
        operator: Binary,
        a: Term,
        b: Term,
    ) -> Option<Term> {
        let bits = self.bits(a);
        match operator {
            Binary::Shl | Binary::Lshr | Binary::Ashr => {
                let width = self.constant(bits, u64::from(bits));
                // All distances of fewer bits than the width has are too small.
                (u64::from(bits) < 1 << bits.min(63)).then(|| self.below(b, width))
            }
            Binary::Udiv | Binary::Urem => Some(self.is_not(b, 0)),
            Binary::Sdiv | Binary::Srem => {
                let (not_zero, not_minus_one) = (self.is_not(b, 0), self.is_not(b, u64::MAX));
                Some(self.binary(Binary::And, not_zero, not_minus_one))
            }
            _ => None,
        }
    }

    fn is_not(&mut self, t: Term, value: u64) -> Term {
        let value = self.constant(self.bits(t), value);
        let equal = self.equal(t, value);
        self.not(equal)
    }

    /// Whether both are negative, or none.
    pub(in crate::possible) fn have_one_sign(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.is_negative(a), self.is_negative(b));
        self.equal(a, b)
    }

    fn is_negative(&mut self, t: Term) -> Term {
        let zero = self.constant(self.bits(t), 0);
        self.less(t, zero)
    }

    /// Whether an operation on these operands is as was promised; `None`: that is not expressed.
    pub(in crate::possible) fn keeps_promise(
        &mut self,
        operator: Binary,
        a: Term,
        b: Term,
        flags: Flags,
    ) -> Option<Term> {
        let result = self.binary(operator, a, b);
        let mut all = self.truth(true);
        if flags.signed {
            let kept = self.keeps_sign(operator, a, b, result)?;
            all = self.binary(Binary::And, all, kept);
        }
        if flags.unsigned {
            let kept = self.keeps_size(operator, a, b, result)?;
            all = self.binary(Binary::And, all, kept);
        }
        if flags.exact {
            let back = match operator {
                Binary::Udiv | Binary::Sdiv => self.binary(Binary::Mul, result, b),
                Binary::Lshr | Binary::Ashr => self.binary(Binary::Shl, result, b),
                Binary::Or => {
                    let common = self.binary(Binary::And, a, b);
                    let zero = self.constant(self.bits(a), 0);
                    let kept = self.equal(common, zero);
                    return Some(self.binary(Binary::And, all, kept));
                }
                _ => return None,
            };
            let kept = self.equal(back, a);
            all = self.binary(Binary::And, all, kept);
        }
        Some(all)
    }

    /// Whether a signed result does not overflow.
    fn keeps_sign(&mut self, operator: Binary, a: Term, b: Term, result: Term) -> Option<Term> {
        let overflows = match operator {
            Binary::Add | Binary::Sub => {
                let (of_a, of_b, of_result) = (
                    self.is_negative(a),
                    self.is_negative(b),
                    self.is_negative(result),
                );
                let differ = self.binary(Binary::Xor, of_a, of_b);
                let may = match operator {
                    Binary::Add => self.not(differ),
                    _ => differ,
                };
                let changes = self.binary(Binary::Xor, of_a, of_result);
                self.binary(Binary::And, may, changes)
            }
            Binary::Mul => {
                let wide = 2 * self.bits(a);
                let product = |terms: &mut Terms| {
                    let (a, b) = (terms.sign_extend(a, wide), terms.sign_extend(b, wide));
                    let wide_result = terms.sign_extend(result, wide);
                    let product = terms.binary(Binary::Mul, a, b);
                    terms.equal(product, wide_result)
                };
                return Some(if wide <= 64 {
                    product(self)
                } else {
                    self.are_small(a, b)
                });
            }
            Binary::Shl => {
                let back = self.binary(Binary::Ashr, result, b);
                return Some(self.equal(back, a));
            }
            _ => return None,
        };
        Some(self.not(overflows))
    }

    /// Whether an unsigned result does not overflow.
    fn keeps_size(&mut self, operator: Binary, a: Term, b: Term, result: Term) -> Option<Term> {
        Some(match operator {
            Binary::Add => {
                let overflows = self.below(result, a);
                self.not(overflows)
            }
            Binary::Sub => {
                let overflows = self.below(a, b);
                self.not(overflows)
            }
            Binary::Mul => self.are_small(a, b),
            Binary::Shl => {
                let back = self.binary(Binary::Lshr, result, b);
                self.equal(back, a)
            }
            _ => return None,
        })
    }

    /// Whether factors have so few bits that no product overflows, with signs or without.
    fn are_small(&mut self, a: Term, b: Term) -> Term {
        let bits = self.bits(a);
        let bound = self.constant(bits, 1 << ((bits / 2).max(1) - 1));
        let (a, b) = (self.below(a, bound), self.below(b, bound));
        self.binary(Binary::And, a, b)
    }

    /// Whether a cast to so many bits loses nothing that was promised to be kept.
    pub(in crate::possible) fn keeps_cast(
        &mut self,
        operator: CastOperator,
        t: Term,
        flags: Flags,
        bits: u32,
    ) -> Term {
        let own = self.bits(t);
        let mut all = self.truth(true);
        if operator == CastOperator::Truncate {
            let low = self.truncate(t, bits);
            if flags.signed {
                let back = self.sign_extend(low, own);
                let kept = self.equal(back, t);
                all = self.binary(Binary::And, all, kept);
            }
            if flags.unsigned {
                let back = self.zero_extend(low, own);
                let kept = self.equal(back, t);
                all = self.binary(Binary::And, all, kept);
            }
        } else {
            let negative = self.is_negative(t);
            all = self.not(negative);
        }
        all
    }
}
