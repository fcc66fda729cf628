//! Terms in SMT-LIB: integers as bit vectors, those of one bit as truth values.

use crate::possible::code::BinaryOperator as Binary;
use crate::possible::term::{Node, Term, Terms};
use easy_smt::{Context, SExpr};
use rustc_hash::FxHashMap;
use std::io;

pub(super) struct Encoder<'a> {
    context: &'a mut Context,
    terms: &'a Terms,
    known: FxHashMap<Term, SExpr>,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(context: &'a mut Context, terms: &'a Terms) -> Encoder<'a> {
        Encoder {
            context,
            terms,
            known: FxHashMap::default(),
        }
    }

    /// Asserts conditions, whose parts are `all`, each behind its own parts. Returns the leaves, and what they are
    /// called.
    pub(super) fn assert(
        mut self,
        all: &[Term],
        conditions: &[Term],
    ) -> io::Result<Vec<(Term, SExpr)>> {
        let mut leaves = Vec::new();
        for (n, &t) in all.iter().enumerate() {
            let name = format!("t{n}");
            let sort = self.sort(self.terms.bits(t));
            let encoded = match self.terms.node(t) {
                Node::Constant(value) => self.constant(self.terms.bits(t), *value),
                Node::Free(_) | Node::Symbol(_) | Node::Room(_) => {
                    let leaf = self.context.declare_const(name, sort)?;
                    leaves.push((t, leaf));
                    leaf
                }
                _ => {
                    let value = self.node(t);
                    self.context.define_const(name, sort, value)?
                }
            };
            self.known.insert(t, encoded);
        }
        for condition in conditions {
            let condition = self.known[condition];
            self.context.assert(condition)?;
        }
        Ok(leaves)
    }

    fn sort(&self, bits: u32) -> SExpr {
        if bits == 1 {
            self.context.bool_sort()
        } else {
            let width = self.context.numeral(bits);
            self.context.bit_vec_sort(width)
        }
    }

    fn constant(&self, bits: u32, value: u64) -> SExpr {
        if bits > 1 {
            self.context.binary(bits as usize, value)
        } else if value == 1 {
            self.context.true_()
        } else {
            self.context.false_()
        }
    }

    fn apply(&self, name: &str, arguments: &[SExpr]) -> SExpr {
        let name = self.context.atom(name);
        let all = std::iter::once(name).chain(arguments.iter().copied());
        self.context.list(all.collect())
    }

    /// `(_ name number)` of something.
    fn indexed(&self, name: &str, numbers: &[u32], of: SExpr) -> SExpr {
        let head = ["_", name].map(|word| self.context.atom(word));
        let numbers = numbers.iter().map(|n| self.context.numeral(*n));
        let head = self.context.list(head.into_iter().chain(numbers).collect());
        self.context.list(vec![head, of])
    }

    /// A term as a bit vector, one of one bit too.
    fn vector(&self, t: Term) -> SExpr {
        let known = self.known[&t];
        if self.terms.bits(t) > 1 {
            return known;
        }
        let [one, zero] = ["#b1", "#b0"].map(|text| self.context.atom(text));
        self.apply("ite", &[known, one, zero])
    }

    fn node(&self, t: Term) -> SExpr {
        let bits = self.terms.bits(t);
        let known = |t: &Term| self.known[t];
        match self.terms.node(t) {
            Node::Constant(_) | Node::Free(_) | Node::Symbol(_) | Node::Room(_) => {
                unreachable!("it has no parts")
            }
            Node::Sum(items, constant) => self.sum(bits, items, *constant),
            Node::Binary(operator, a, b) if bits == 1 => self.truths(*operator, known(a), known(b)),
            Node::Binary(operator, a, b) => self.apply(name(*operator), &[known(a), known(b)]),
            Node::ZeroExtend(a) | Node::SignExtend(a) => {
                let by_sign = matches!(self.terms.node(t), Node::SignExtend(_));
                let name = if by_sign {
                    "sign_extend"
                } else {
                    "zero_extend"
                };
                self.indexed(name, &[bits - self.terms.bits(*a)], self.vector(*a))
            }
            Node::Truncate(a) => {
                let low = self.indexed("extract", &[bits - 1, 0], self.vector(*a));
                if bits > 1 {
                    return low;
                }
                self.apply("=", &[low, self.context.atom("#b1")])
            }
            Node::Equal(a, b) => self.apply("=", &[known(a), known(b)]),
            Node::Below(a, b) => self.apply("bvult", &[self.vector(*a), self.vector(*b)]),
            Node::Less(a, b) => self.apply("bvslt", &[self.vector(*a), self.vector(*b)]),
            Node::Not(a) => self.apply("not", &[known(a)]),
            Node::Choice(c, a, b) => self.apply("ite", &[known(c), known(a), known(b)]),
        }
    }

    fn sum(&self, bits: u32, items: &[(Term, u64)], constant: u64) -> SExpr {
        if bits == 1 {
            let first = self.constant(1, constant);
            let odd = items.iter().filter(|(_, factor)| factor & 1 == 1);
            return odd.fold(first, |sum, (t, _)| {
                self.apply("xor", &[sum, self.known[t]])
            });
        }
        let times = |(t, factor): &(Term, u64)| match *factor {
            1 => self.known[t],
            factor => self.apply("bvmul", &[self.constant(bits, factor), self.known[t]]),
        };
        let first = self.constant(bits, constant);
        let all = items.iter().map(times);
        all.fold(first, |sum, item| self.apply("bvadd", &[sum, item]))
    }

    fn truths(&self, operator: Binary, a: SExpr, b: SExpr) -> SExpr {
        match operator {
            Binary::And | Binary::Mul => self.apply("and", &[a, b]),
            Binary::Or => self.apply("or", &[a, b]),
            Binary::Xor | Binary::Add | Binary::Sub => self.apply("xor", &[a, b]),
            // The divisor is 1, the distance 0.
            Binary::Udiv | Binary::Sdiv | Binary::Shl | Binary::Lshr | Binary::Ashr => a,
            Binary::Urem | Binary::Srem => self.context.false_(),
        }
    }
}

fn name(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "bvadd",
        Binary::Sub => "bvsub",
        Binary::Mul => "bvmul",
        Binary::Udiv => "bvudiv",
        Binary::Sdiv => "bvsdiv",
        Binary::Urem => "bvurem",
        Binary::Srem => "bvsrem",
        Binary::Shl => "bvshl",
        Binary::Lshr => "bvlshr",
        Binary::Ashr => "bvashr",
        Binary::And => "bvand",
        Binary::Or => "bvor",
        Binary::Xor => "bvxor",
    }
}
