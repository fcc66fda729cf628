//! Terms: what values are on a path, each kept once and brought into one form, so that equal values tend to be the same
//! term.
//!
//! A term is an integer of at most 64 bits; an address has 64. Sums have one form ([`Node::Sum`]), so `p + 4 + 4·i` is
//! the same term however it was computed.

mod model;
mod promise;

use super::code::BinaryOperator as Binary;
use super::set::{largest, signed};
use rustc_hash::FxHashMap;

/// A sum of more terms is not brought into one form.
const MOST_SUMMANDS: usize = 12;

/// A term: the same number for the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Term(u32);

/// What a term is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// An integer.
    Constant(u64),
    /// Any integer, by the number of what computed it.
    Free(u64),
    /// The address of a symbol.
    Symbol(u32),
    /// The address of a local variable, by the number of what made it.
    Room(u64),
    /// A sum of two or more terms with factors, or of one with a factor or an integer.
    Sum(Vec<(Term, u64)>, u64),
    /// What no other form expresses.
    Binary(Binary, Term, Term),
    /// With zeros above.
    ZeroExtend(Term),
    /// With the sign above.
    SignExtend(Term),
    /// The low bits.
    Truncate(Term),
    /// Whether both are equal; the second one is a constant where one is.
    Equal(Term, Term),
    /// Whether the first is less, without signs.
    Below(Term, Term),
    /// Whether the first is less, with signs.
    Less(Term, Term),
    /// Of a truth value, the other.
    Not(Term),
    /// The second if the first is true, else the third.
    Choice(Term, Term, Term),
}

/// Of which free terms a term is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// None: it is a constant.
    None,
    /// This one.
    One(Term),
    /// Several.
    Several,
}

impl Leaves {
    fn and(self, other: Leaves) -> Leaves {
        match (self, other) {
            (Leaves::None, one) | (one, Leaves::None) => one,
            (Leaves::One(a), Leaves::One(b)) if a == b => self,
            _ => Leaves::Several,
        }
    }
}

struct Entry {
    node: Node,
    bits: u32,
    leaves: Leaves,
}

/// All terms of a judgement.
#[derive(Default)]
pub(super) struct Terms {
    entries: Vec<Entry>,
    known: FxHashMap<(Node, u32), Term>,
}

impl Terms {
    /// The number of terms.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What a term is.
    pub(super) fn node(&self, t: Term) -> &Node {
        &self.entries[t.0 as usize].node
    }

    /// Its bits.
    pub(super) fn bits(&self, t: Term) -> u32 {
        self.entries[t.0 as usize].bits
    }

    /// Of what it is computed.
    pub(super) fn leaves(&self, t: Term) -> Leaves {
        self.entries[t.0 as usize].leaves
    }

    /// Its value, if it is a constant.
    pub(super) fn value(&self, t: Term) -> Option<u64> {
        match self.node(t) {
            Node::Constant(value) => Some(*value),
            _ => None,
        }
    }

    fn keep(&mut self, node: Node, bits: u32) -> Term {
        let key = (node, bits);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let t = Term(self.entries.len() as u32);
        let leaves = |t: &Term| self.leaves(*t);
        let found = match &key.0 {
            Node::Constant(_) => Leaves::None,
            Node::Free(_) | Node::Symbol(_) | Node::Room(_) => Leaves::One(t),
            Node::Sum(items, _) => items
                .iter()
                .fold(Leaves::None, |all, (t, _)| all.and(leaves(t))),
            Node::Binary(_, a, b) | Node::Equal(a, b) | Node::Below(a, b) | Node::Less(a, b) => {
                leaves(a).and(leaves(b))
            }
            Node::ZeroExtend(a) | Node::SignExtend(a) | Node::Truncate(a) | Node::Not(a) => {
                leaves(a)
            }
            Node::Choice(c, a, b) => leaves(c).and(leaves(a)).and(leaves(b)),
        };
        self.entries.push(Entry {
            node: key.0.clone(),
            bits,
            leaves: found,
        });
        self.known.insert(key, t);
        t
    }

    /// An integer.
    pub(super) fn constant(&mut self, bits: u32, value: u64) -> Term {
        self.keep(Node::Constant(value & largest(bits)), bits)
    }

    /// A truth value.
    pub(super) fn truth(&mut self, value: bool) -> Term {
        self.constant(1, u64::from(value))
    }

    /// Any integer: the same for the same number.
    pub(super) fn free(&mut self, bits: u32, number: u64) -> Term {
        self.keep(Node::Free(number), bits)
    }

    /// The address of a symbol.
    pub(super) fn symbol(&mut self, symbol: u32) -> Term {
        self.keep(Node::Symbol(symbol), 64)
    }

    /// The address of a local variable.
    pub(super) fn room(&mut self, number: u64) -> Term {
        self.keep(Node::Room(number), 64)
    }

    /// A term as a sum.
    pub(super) fn summands(&self, t: Term) -> (Vec<(Term, u64)>, u64) {
        match self.node(t) {
            Node::Constant(value) => (Vec::new(), *value),
            Node::Sum(items, constant) => (items.clone(), *constant),
            _ => (vec![(t, 1)], 0),
        }
    }

    fn sum(&mut self, bits: u32, mut items: Vec<(Term, u64)>, constant: u64) -> Option<Term> {
        let mask = largest(bits);
        items.sort_unstable();
        let mut merged: Vec<(Term, u64)> = Vec::new();
        for (t, factor) in items {
            match merged.last_mut() {
                Some(last) if last.0 == t => last.1 = last.1.wrapping_add(factor) & mask,
                _ => merged.push((t, factor & mask)),
            }
        }
        merged.retain(|(_, factor)| *factor != 0);
        let constant = constant & mask;
        match merged[..] {
            [] => Some(self.constant(bits, constant)),
            [(t, 1)] if constant == 0 => Some(t),
            _ if merged.len() > MOST_SUMMANDS => None,
            _ => Some(self.keep(Node::Sum(merged, constant), bits)),
        }
    }

    /// `a + factor · b`.
    fn add_times(&mut self, a: Term, b: Term, factor: u64) -> Option<Term> {
        let (mut items, constant) = self.summands(a);
        let (more, other) = self.summands(b);
        items.extend(more.into_iter().map(|(t, f)| (t, f.wrapping_mul(factor))));
        let constant = constant.wrapping_add(other.wrapping_mul(factor));
        self.sum(self.bits(a), items, constant)
    }

    /// The difference, if it has the form of a sum.
    pub(super) fn difference(&mut self, a: Term, b: Term) -> Option<Term> {
        self.add_times(a, b, u64::MAX)
    }

    /// An operation that wraps around. Quotients and rests are those of divisors that are not 0 (with signs, not -1),
    /// shifts those by less than the bits.
    pub(super) fn binary(&mut self, operator: Binary, a: Term, b: Term) -> Term {
        let bits = self.bits(a);
        let values = (self.value(a), self.value(b));
        if let (Some(x), Some(y)) = values {
            return self.constant(bits, apply(operator, bits, x, y));
        }
        let found = match operator {
            _ if bits == 1 => self.binary_of_truths(operator, a, b),
            Binary::Add => self.add_times(a, b, 1),
            Binary::Sub => self.add_times(a, b, u64::MAX),
            Binary::Mul => match values {
                (_, Some(factor)) => self.times(a, factor),
                (Some(factor), _) => self.times(b, factor),
                _ => None,
            },
            Binary::Shl => values.1.and_then(|by| self.times(a, 1 << by)),
            _ => self.bitwise(operator, a, b),
        };
        if let Some(found) = found {
            return found;
        }
        use Binary::{Add, And, Mul, Or, Xor};
        let commutes = matches!(operator, Add | Mul | And | Or | Xor);
        let (a, b) = if commutes && (b < a || values.0.is_some()) && values.1.is_none() {
            (b, a)
        } else {
            (a, b)
        };
        self.keep(Node::Binary(operator, a, b), bits)
    }

    fn times(&mut self, a: Term, factor: u64) -> Option<Term> {
        let zero = self.constant(self.bits(a), 0);
        self.add_times(zero, a, factor)
    }

    fn bitwise(&mut self, operator: Binary, a: Term, b: Term) -> Option<Term> {
        use Binary::{And, Ashr, Lshr, Or, Xor};
        let bits = self.bits(a);
        let all = largest(bits);
        let zero = self.constant(bits, 0);
        let (t, constant) = match (self.value(a), self.value(b)) {
            (Some(value), _) => (b, Some(value)),
            (_, value) => (a, value),
        };
        match (operator, constant) {
            (And | Or, _) if a == b => Some(a),
            (Xor, _) if a == b => Some(zero),
            (And, Some(0)) => Some(zero),
            (And, Some(mask)) if mask == all => Some(t),
            (Or | Xor, Some(0)) => Some(t),
            (Or, Some(mask)) if mask == all => Some(self.constant(bits, all)),
            // !x = -x - 1
            (Xor, Some(mask)) if mask == all => {
                let last = self.constant(bits, all);
                self.add_times(last, t, u64::MAX)
            }
            (Lshr | Ashr, Some(0)) if t == a => Some(a),
            _ => None,
        }
    }

    fn binary_of_truths(&mut self, operator: Binary, a: Term, b: Term) -> Option<Term> {
        use Binary::{Add, And, Or, Sub, Xor};
        let (t, constant) = match (self.value(a), self.value(b)) {
            (Some(value), _) => (b, Some(value == 1)),
            (_, value) => (a, value.map(|v| v == 1)),
        };
        match (operator, constant) {
            (And | Or, None) if a == b => Some(a),
            (Xor | Add | Sub, None) if a == b => Some(self.truth(false)),
            (And, Some(true)) | (Or | Xor | Add | Sub, Some(false)) => Some(t),
            (And, Some(false)) => Some(self.truth(false)),
            (Or, Some(true)) => Some(self.truth(true)),
            (Xor | Add | Sub, Some(true)) => Some(self.not(t)),
            _ => None,
        }
    }

    /// A truth value's other.
    pub(super) fn not(&mut self, t: Term) -> Term {
        match *self.node(t) {
            Node::Constant(value) => self.truth(value == 0),
            Node::Not(other) => other,
            _ => self.keep(Node::Not(t), 1),
        }
    }

    /// With zeros above.
    pub(super) fn zero_extend(&mut self, t: Term, bits: u32) -> Term {
        if self.bits(t) >= bits {
            return t;
        }
        match *self.node(t) {
            Node::Constant(value) => self.constant(bits, value),
            Node::ZeroExtend(inner) => self.keep(Node::ZeroExtend(inner), bits),
            _ => self.keep(Node::ZeroExtend(t), bits),
        }
    }

    /// With the sign above.
    pub(super) fn sign_extend(&mut self, t: Term, bits: u32) -> Term {
        if self.bits(t) >= bits {
            return t;
        }
        match *self.node(t) {
            Node::Constant(value) => {
                let value = signed(self.bits(t), value).cast_unsigned();
                self.constant(bits, value)
            }
            Node::SignExtend(inner) => self.keep(Node::SignExtend(inner), bits),
            // Its sign is a zero.
            Node::ZeroExtend(inner) => self.keep(Node::ZeroExtend(inner), bits),
            _ => self.keep(Node::SignExtend(t), bits),
        }
    }

    /// The low bits.
    pub(super) fn truncate(&mut self, t: Term, bits: u32) -> Term {
        if self.bits(t) <= bits {
            return t;
        }
        match self.node(t).clone() {
            Node::Constant(value) => self.constant(bits, value),
            Node::Truncate(inner) => self.truncate(inner, bits),
            Node::ZeroExtend(inner) if self.bits(inner) >= bits => self.truncate(inner, bits),
            Node::ZeroExtend(inner) => self.zero_extend(inner, bits),
            Node::SignExtend(inner) if self.bits(inner) >= bits => self.truncate(inner, bits),
            Node::SignExtend(inner) => self.sign_extend(inner, bits),
            Node::Sum(items, constant) if bits > 1 => {
                let low = items.iter().map(|(t, f)| (self.truncate(*t, bits), *f));
                let mut low: Vec<_> = low.collect();
                let mut constant = constant;
                // Of a low part that is a sum or a constant, what it is the sum of.
                let parts = std::mem::take(&mut low);
                for (part, factor) in parts {
                    let (more, other) = self.summands(part);
                    low.extend(more.into_iter().map(|(t, f)| (t, f.wrapping_mul(factor))));
                    constant = constant.wrapping_add(other.wrapping_mul(factor));
                }
                let sum = self.sum(bits, low, constant);
                sum.unwrap_or_else(|| self.keep(Node::Truncate(t), bits))
            }
            Node::Binary(op @ (Binary::And | Binary::Or | Binary::Xor), a, b) => {
                let (a, b) = (self.truncate(a, bits), self.truncate(b, bits));
                self.binary(op, a, b)
            }
            Node::Choice(c, a, b) => {
                let (a, b) = (self.truncate(a, bits), self.truncate(b, bits));
                self.choice(c, a, b)
            }
            _ => self.keep(Node::Truncate(t), bits),
        }
    }

    /// `if c then a else b`.
    pub(super) fn choice(&mut self, c: Term, a: Term, b: Term) -> Term {
        if let Some(value) = self.value(c) {
            return if value == 1 { a } else { b };
        }
        if a == b {
            return a;
        }
        if let Node::Not(other) = *self.node(c) {
            return self.choice(other, b, a);
        }
        if self.bits(a) == 1 {
            match (self.value(a), self.value(b)) {
                (Some(1), _) => return self.binary(Binary::Or, c, b),
                (_, Some(0)) => return self.binary(Binary::And, c, a),
                (Some(_), _) => {
                    let not = self.not(c);
                    return self.binary(Binary::And, not, b);
                }
                (_, Some(_)) => {
                    let not = self.not(c);
                    return self.binary(Binary::Or, not, a);
                }
                _ => {}
            }
        }
        self.keep(Node::Choice(c, a, b), self.bits(a))
    }

    /// Whether both are equal.
    pub(super) fn equal(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.truth(true);
        }
        let bits = self.bits(a);
        let (a, b) = if self.value(a).is_some() {
            (b, a)
        } else {
            (a, b)
        };
        if bits == 1 {
            return match self.value(b) {
                Some(1) => a,
                Some(_) => self.not(a),
                None => {
                    let differ = self.binary(Binary::Xor, a, b);
                    self.not(differ)
                }
            };
        }
        let Some(difference) = self.difference(a, b) else {
            return self.keep(Node::Equal(a.min(b), a.max(b)), 1);
        };
        let (mut items, mut constant) = self.summands(difference);
        let mask = largest(bits);
        match items[..] {
            [] => return self.truth(constant == 0),
            [(t, 1)] => return self.equals(t, constant.wrapping_neg() & mask),
            [(t, f)] if f == mask => return self.equals(t, constant),
            _ => {}
        }
        // Of the sum and its negation, one is looked at.
        if items[0].1 > mask / 2 {
            for item in &mut items {
                item.1 = item.1.wrapping_neg() & mask;
            }
            constant = constant.wrapping_neg() & mask;
        }
        let sum = self.keep(Node::Sum(items, 0), bits);
        let other = self.constant(bits, constant.wrapping_neg());
        self.keep(Node::Equal(sum, other), 1)
    }

    /// Whether a term is an integer.
    fn equals(&mut self, t: Term, value: u64) -> Term {
        match *self.node(t) {
            Node::ZeroExtend(inner) => {
                if value > largest(self.bits(inner)) {
                    return self.truth(false);
                }
                let value = self.constant(self.bits(inner), value);
                self.equal(inner, value)
            }
            Node::SignExtend(inner) => {
                let (bits, own) = (self.bits(t), self.bits(inner));
                let low = value & largest(own);
                if signed(own, low).cast_unsigned() & largest(bits) != value {
                    return self.truth(false);
                }
                let low = self.constant(own, low);
                self.equal(inner, low)
            }
            Node::Choice(c, a, b) if self.value(a).is_some() || self.value(b).is_some() => {
                let (a, b) = (self.equals(a, value), self.equals(b, value));
                self.choice(c, a, b)
            }
            Node::Constant(own) => self.truth(own == value),
            _ => {
                let value = self.constant(self.bits(t), value);
                self.keep(Node::Equal(t, value), 1)
            }
        }
    }

    /// Whether `a` is less than `b`, without signs.
    pub(super) fn below(&mut self, a: Term, b: Term) -> Term {
        let bits = self.bits(a);
        let inner = |t: Term| match *self.node(t) {
            Node::ZeroExtend(inner) => Some(inner),
            _ => None,
        };
        match ((a, self.value(a), inner(a)), (b, self.value(b), inner(b))) {
            _ if a == b => self.truth(false),
            ((_, Some(x), _), (_, Some(y), _)) => self.truth(x < y),
            (_, (_, Some(0), _)) => self.truth(false),
            ((_, Some(x), _), _) if x == largest(bits) => self.truth(false),
            (_, (_, Some(1), _)) => self.equals(a, 0),
            ((_, Some(0), _), _) => {
                let zero = self.equals(b, 0);
                self.not(zero)
            }
            ((.., Some(x)), (.., Some(y))) if self.bits(x) == self.bits(y) => self.below(x, y),
            ((.., Some(x)), (_, Some(y), _)) => {
                let own = self.bits(x);
                if y > largest(own) {
                    return self.truth(true);
                }
                let y = self.constant(own, y);
                self.below(x, y)
            }
            ((_, Some(x), _), (.., Some(y))) => {
                let own = self.bits(y);
                if x >= largest(own) {
                    return self.truth(false);
                }
                let x = self.constant(own, x);
                self.below(x, y)
            }
            _ => self.compare_choices(a, b, Terms::below, Node::Below(a, b)),
        }
    }

    /// Whether `a` is less than `b`, with signs.
    pub(super) fn less(&mut self, a: Term, b: Term) -> Term {
        let bits = self.bits(a);
        let side = |t: Term| match *self.node(t) {
            Node::Constant(value) => Side::Number(signed(bits, value)),
            Node::ZeroExtend(inner) => Side::Unsigned(inner),
            Node::SignExtend(inner) => Side::Signed(inner),
            _ => Side::Other,
        };
        match (side(a), side(b)) {
            _ if a == b => self.truth(false),
            (Side::Number(x), Side::Number(y)) => self.truth(x < y),
            (Side::Unsigned(x), Side::Unsigned(y)) if self.bits(x) == self.bits(y) => {
                self.below(x, y)
            }
            (Side::Signed(x), Side::Signed(y)) if self.bits(x) == self.bits(y) => self.less(x, y),
            (Side::Unsigned(x), Side::Number(y)) => {
                let own = self.bits(x);
                match u64::try_from(y) {
                    Err(_) => self.truth(false),
                    Ok(y) if y > largest(own) => self.truth(true),
                    Ok(y) => {
                        let y = self.constant(own, y);
                        self.below(x, y)
                    }
                }
            }
            (Side::Number(x), Side::Unsigned(y)) => {
                let own = self.bits(y);
                match u64::try_from(x) {
                    Err(_) => self.truth(true),
                    Ok(x) if x >= largest(own) => self.truth(false),
                    Ok(x) => {
                        let x = self.constant(own, x);
                        self.below(x, y)
                    }
                }
            }
            (Side::Signed(x), Side::Number(y)) => {
                let own = self.bits(x);
                let greatest = (largest(own) >> 1).cast_signed();
                if y > greatest || y < -greatest {
                    return self.truth(y > 0);
                }
                let y = self.constant(own, y.cast_unsigned());
                self.less(x, y)
            }
            (Side::Number(x), Side::Signed(y)) => {
                let own = self.bits(y);
                let greatest = (largest(own) >> 1).cast_signed();
                if x >= greatest || x < -greatest - 1 {
                    return self.truth(x < 0);
                }
                let x = self.constant(own, x.cast_unsigned());
                self.less(x, y)
            }
            _ => self.compare_choices(a, b, Terms::less, Node::Less(a, b)),
        }
    }

    /// A comparison that distributes over a choice between a constant and something else; else `node`.
    fn compare_choices(
        &mut self,
        a: Term,
        b: Term,
        compare: fn(&mut Terms, Term, Term) -> Term,
        node: Node,
    ) -> Term {
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Choice(c, x, y), Node::Constant(_)) => {
                let (x, y) = (compare(self, x, b), compare(self, y, b));
                self.choice(c, x, y)
            }
            (Node::Constant(_), Node::Choice(c, x, y)) => {
                let (x, y) = (compare(self, a, x), compare(self, a, y));
                self.choice(c, x, y)
            }
            _ => self.keep(node, 1),
        }
    }

    /// The values of a term for values of its leaves, as many of each. O(terms in it · values).
    pub(super) fn values_for(&self, t: Term, leaves: &[(Term, &[u64])]) -> Vec<u64> {
        let values = leaves.first().map_or(0, |(_, values)| values.len());
        let leaves = leaves.iter().map(|(leaf, values)| (*leaf, values.to_vec()));
        let mut done: FxHashMap<Term, Vec<u64>> = leaves.collect();
        let mut open = vec![t];
        while let Some(&t) = open.last() {
            if done.contains_key(&t) {
                open.pop();
                continue;
            }
            let before = open.len();
            let needed = self.parts(t);
            open.extend(needed.into_iter().filter(|part| !done.contains_key(part)));
            if open.len() == before {
                let found = (0..values).map(|i| self.compute(t, &|part| done[&part][i]));
                let found = found.collect();
                done.insert(t, found);
                open.pop();
            }
        }
        done.remove(&t).expect("computed last")
    }

    fn parts(&self, t: Term) -> Vec<Term> {
        match self.node(t) {
            Node::Constant(_) | Node::Free(_) | Node::Symbol(_) | Node::Room(_) => Vec::new(),
            Node::Sum(items, _) => items.iter().map(|(t, _)| *t).collect(),
            Node::Binary(_, a, b) | Node::Equal(a, b) | Node::Below(a, b) | Node::Less(a, b) => {
                vec![*a, *b]
            }
            Node::ZeroExtend(a) | Node::SignExtend(a) | Node::Truncate(a) | Node::Not(a) => {
                vec![*a]
            }
            Node::Choice(c, a, b) => vec![*c, *a, *b],
        }
    }

    /// The value of a term that is no leaf, by those of its parts.
    fn compute(&self, t: Term, part: &dyn Fn(Term) -> u64) -> u64 {
        let bits = self.bits(t);
        match self.node(t) {
            Node::Constant(value) => *value,
            Node::Free(_) | Node::Symbol(_) | Node::Room(_) => unreachable!("a leaf"),
            Node::Sum(items, constant) => {
                let sum = items.iter().fold(*constant, |sum, (t, factor)| {
                    sum.wrapping_add(part(*t).wrapping_mul(*factor))
                });
                sum & largest(bits)
            }
            Node::Binary(operator, a, b) => apply(*operator, bits, part(*a), part(*b)),
            Node::ZeroExtend(a) => part(*a),
            Node::SignExtend(a) => signed(self.bits(*a), part(*a)).cast_unsigned() & largest(bits),
            Node::Truncate(a) => part(*a) & largest(bits),
            Node::Equal(a, b) => u64::from(part(*a) == part(*b)),
            Node::Below(a, b) => u64::from(part(*a) < part(*b)),
            Node::Less(a, b) => {
                let own = self.bits(*a);
                u64::from(signed(own, part(*a)) < signed(own, part(*b)))
            }
            Node::Not(a) => 1 - part(*a),
            Node::Choice(c, a, b) => {
                if part(*c) == 1 {
                    part(*a)
                } else {
                    part(*b)
                }
            }
        }
    }
}

/// An operand of a comparison with signs.
#[derive(Clone, Copy)]
enum Side {
    Number(i64),
    Unsigned(Term),
    Signed(Term),
    Other,
}

/// An operation on integers, as [`Terms::binary`] says; 0 where that says nothing.
fn apply(operator: Binary, bits: u32, a: u64, b: u64) -> u64 {
    let (x, y) = (signed(bits, a), signed(bits, b));
    let shifts = b < u64::from(bits);
    let result = match operator {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Udiv => a.checked_div(b).unwrap_or(0),
        Binary::Urem => a.checked_rem(b).unwrap_or(0),
        Binary::Sdiv => x.checked_div(y).unwrap_or(0).cast_unsigned(),
        Binary::Srem => x.checked_rem(y).unwrap_or(0).cast_unsigned(),
        Binary::Shl if shifts => a << b,
        Binary::Lshr if shifts => a >> b,
        Binary::Ashr if shifts => (x >> b).cast_unsigned(),
        Binary::Shl | Binary::Lshr | Binary::Ashr => 0,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
    };
    result & largest(bits)
}

#[cfg(test)]
mod tests;
