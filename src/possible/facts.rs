//! What the conditions of a path say of its terms, and whether they contradict each other.
//!
//! Every condition leaves a term a set of values ([`Set`]), two terms an order, or it is kept as true or false. All
//! conditions of one leaf of at most 16 bits are also tried with each value of it.

use super::code::BinaryOperator as Binary;
use super::set::{Set, largest};
use super::term::{Leaves, Node, Term, Terms};
use rustc_hash::FxHashMap;

/// Leaves of more bits are not tried value by value.
const WIDEST_TRIED: u32 = 16;
/// So many conditions of one leaf are tried.
const MOST_TRIED: usize = 64;
/// Terms inside terms are looked at so deep.
const DEEPEST: u32 = 24;

/// Which block of the path asks.
pub(super) type Place = u32;

/// Two conditions that contradict each other, by where they are; or one that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clash {
    pub(super) earlier: Place,
    pub(super) later: Place,
}

/// How two terms compare, as a set of these.
const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

/// What is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    truths: FxHashMap<Term, (bool, Place)>,
    sets: FxHashMap<Term, (Set, Place)>,
    /// By the terms, the lower one first, and whether signs count.
    orders: FxHashMap<(Term, Term, bool), (u8, Place)>,
    /// The values that are left of a leaf of few bits, ascending, and how many conditions were tried.
    tried: FxHashMap<Term, (Vec<u64>, usize, Place)>,
}

impl Facts {
    /// Adds that a truth value is `wanted`.
    ///
    /// # Errors
    /// It contradicts what is known.
    pub(super) fn require(
        &mut self,
        terms: &mut Terms,
        condition: Term,
        wanted: bool,
        at: Place,
    ) -> Result<(), Clash> {
        match *terms.node(condition) {
            Node::Constant(value) if (value == 1) == wanted => return Ok(()),
            Node::Constant(_) => {
                return Err(Clash {
                    earlier: at,
                    later: at,
                });
            }
            Node::Not(other) => return self.require(terms, other, !wanted, at),
            Node::Binary(Binary::And, a, b) if wanted => {
                self.require(terms, a, true, at)?;
                return self.require(terms, b, true, at);
            }
            Node::Binary(Binary::Or, a, b) if !wanted => {
                self.require(terms, a, false, at)?;
                return self.require(terms, b, false, at);
            }
            _ => {}
        }
        match self.truths.get(&condition) {
            Some(&(known, earlier)) if known != wanted => return Err(Clash { earlier, later: at }),
            Some(_) => return Ok(()),
            None => self.truths.insert(condition, (wanted, at)),
        };
        self.try_values(terms, condition, &Set::one(1, u64::from(wanted)), at)?;
        let side = |set: Set| if wanted { set } else { set.complement() };
        match *terms.node(condition) {
            Node::Equal(a, b) => {
                if let Some(value) = terms.value(b) {
                    self.relate_parts(terms, a, value, wanted, at)?;
                    let set = side(Set::one(terms.bits(a), value));
                    return self.require_in(terms, a, set, at);
                }
                let order = if wanted { EQUAL } else { LESS | GREATER };
                self.relate(a, b, order, true, at)?;
                self.relate(a, b, order, false, at)
            }
            Node::Below(a, b) => self.require_order(terms, (a, b), false, wanted, at),
            Node::Less(a, b) => self.require_order(terms, (a, b), true, wanted, at),
            _ => Ok(()),
        }
    }

    /// Of `a - b == 0`, that `a` and `b` are equal; likewise that they are not.
    fn relate_parts(
        &mut self,
        terms: &Terms,
        sum: Term,
        value: u64,
        wanted: bool,
        at: Place,
    ) -> Result<(), Clash> {
        let Node::Sum(items, 0) = terms.node(sum) else {
            return Ok(());
        };
        let last = largest(terms.bits(sum));
        let (a, b) = match items[..] {
            [(a, 1), (b, f)] if f == last && value == 0 => (a, b),
            [(a, f), (b, 1)] if f == last && value == 0 => (a, b),
            _ => return Ok(()),
        };
        let order = if wanted { EQUAL } else { LESS | GREATER };
        self.relate(a, b, order, true, at)?;
        self.relate(a, b, order, false, at)
    }

    /// Adds that `a` is less than `b`, or that it is not.
    fn require_order(
        &mut self,
        terms: &mut Terms,
        (a, b): (Term, Term),
        signs: bool,
        wanted: bool,
        at: Place,
    ) -> Result<(), Clash> {
        let bits = terms.bits(a);
        let below = if signs { Set::below_signed } else { Set::below };
        if let Some(bound) = terms.value(b) {
            let set = below(bits, bound);
            let set = if wanted { set } else { set.complement() };
            return self.require_in(terms, a, set, at);
        }
        if let Some(bound) = terms.value(a) {
            // Those that are neither less nor equal.
            let above = below(bits, bound)
                .unite(&Set::one(bits, bound))
                .complement();
            let set = if wanted { above } else { above.complement() };
            return self.require_in(terms, b, set, at);
        }
        let order = if wanted { LESS } else { EQUAL | GREATER };
        self.relate(a, b, order, signs, at)
    }

    fn relate(&mut self, a: Term, b: Term, order: u8, signs: bool, at: Place) -> Result<(), Clash> {
        let (a, b, order) = if a <= b {
            (a, b, order)
        } else {
            (b, a, mirror(order))
        };
        let known = self
            .orders
            .entry((a, b, signs))
            .or_insert((LESS | EQUAL | GREATER, at));
        let (left, earlier) = (known.0 & order, known.1);
        *known = (left, at);
        if left == 0 {
            return Err(Clash { earlier, later: at });
        }
        Ok(())
    }

    /// Adds that a term is in a set.
    ///
    /// # Errors
    /// It contradicts what is known.
    pub(super) fn require_in(
        &mut self,
        terms: &mut Terms,
        t: Term,
        set: Set,
        at: Place,
    ) -> Result<(), Clash> {
        self.try_values(terms, t, &set, at)?;
        self.keep_in(terms, t, set, at, DEEPEST)
    }

    fn keep_in(
        &mut self,
        terms: &mut Terms,
        t: Term,
        set: Set,
        at: Place,
        deep: u32,
    ) -> Result<(), Clash> {
        let bits = terms.bits(t);
        let (left, earlier) = match self.sets.get(&t) {
            Some((known, earlier)) => (known.intersect(&set), *earlier),
            None => (structural(terms, t).intersect(&set), at),
        };
        if left.is_empty() {
            return Err(Clash { earlier, later: at });
        }
        self.sets.insert(t, (left.clone(), at));
        if deep == 0 {
            return Ok(());
        }
        match terms.node(t).clone() {
            Node::Sum(items, constant) => {
                let moved = left.shift(constant.wrapping_neg());
                match items[..] {
                    [(inner, 1)] => self.keep_in(terms, inner, moved, at, deep - 1),
                    [(inner, f)] if f == largest(bits) => {
                        self.keep_in(terms, inner, moved.negate(), at, deep - 1)
                    }
                    _ => Ok(()),
                }
            }
            Node::ZeroExtend(inner) | Node::SignExtend(inner) => {
                let by_sign = matches!(terms.node(t), Node::SignExtend(_));
                let own = left.before_extension(terms.bits(inner), by_sign);
                self.keep_in(terms, inner, own, at, deep - 1)
            }
            Node::Choice(c, a, b) => {
                let excluded = |terms: &Terms, t| {
                    let value = terms.value(t);
                    value.is_some_and(|v| !left.contains(v))
                };
                match (excluded(terms, a), excluded(terms, b)) {
                    (true, _) => self.require(terms, c, false, at),
                    (_, true) => self.require(terms, c, true, at),
                    _ => Ok(()),
                }
            }
            _ if bits == 1 => match left.single() {
                Some(value) => self.require(terms, t, value == 1, at),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Leaves the only leaf of a term those of its values for which the term is in a set, if it has few bits.
    fn try_values(&mut self, terms: &Terms, t: Term, set: &Set, at: Place) -> Result<(), Clash> {
        let Leaves::One(leaf) = terms.leaves(t) else {
            return Ok(());
        };
        let bits = terms.bits(leaf);
        if bits > WIDEST_TRIED {
            return Ok(());
        }
        let all = || ((0..=largest(bits)).collect(), 0, at);
        let (left, times, earlier) = self.tried.entry(leaf).or_insert_with(all);
        if *times >= MOST_TRIED {
            return Ok(());
        }
        *times += 1;
        let values = terms.values_for(t, &[(leaf, left)]);
        let mut values = values.into_iter();
        left.retain(|_| set.contains(values.next().expect("as many")));
        let clash = Clash {
            earlier: *earlier,
            later: at,
        };
        *earlier = at;
        if left.is_empty() {
            return Err(clash);
        }
        Ok(())
    }

    /// Whether what is known of single terms contradicts an order. O(orders).
    ///
    /// # Errors
    /// It does.
    pub(super) fn check_orders(&self, terms: &Terms) -> Result<(), Clash> {
        let mut orders: Vec<_> = self.orders.iter().collect();
        orders.sort_unstable_by_key(|(key, _)| **key);
        for ((a, b, signs), (order, at)) in orders {
            let (a, b) = (self.range(terms, *a, *signs), self.range(terms, *b, *signs));
            let mut may = 0;
            if a.0 < b.1 {
                may |= LESS;
            }
            if a.0 <= b.1 && b.0 <= a.1 {
                may |= EQUAL;
            }
            if b.0 < a.1 {
                may |= GREATER;
            }
            if may & order == 0 {
                return Err(Clash {
                    earlier: *at,
                    later: *at,
                });
            }
        }
        Ok(())
    }

    /// The values that a term can have, as far as they are known.
    pub(super) fn values(&self, terms: &Terms, t: Term) -> Set {
        self.values_inside(terms, t, DEEPEST)
    }

    fn values_inside(&self, terms: &Terms, t: Term, deep: u32) -> Set {
        let bits = terms.bits(t);
        let mut set = match self.sets.get(&t) {
            Some((set, _)) => set.clone(),
            None => structural(terms, t),
        };
        if let Some((left, ..)) = self.tried.get(&t) {
            set = set.intersect(&Set::of(bits, left.iter().copied()));
        }
        if deep == 0 {
            return set;
        }
        let inner = |t: Term| self.values_inside(terms, t, deep - 1);
        let more = match terms.node(t) {
            Node::Sum(items, constant) => match items[..] {
                [(t, 1)] => inner(t).shift(*constant),
                [(t, f)] if f == largest(bits) => inner(t).negate().shift(*constant),
                _ => return set,
            },
            Node::ZeroExtend(t) => match inner(*t).bounds() {
                Some((low, high)) => Set::range(bits, low..=high),
                None => return set,
            },
            Node::SignExtend(t) => match inner(*t).signed_bounds() {
                Some((low, high)) => between(bits, low, high),
                None => return set,
            },
            Node::Choice(_, a, b) => inner(*a).unite(&inner(*b)),
            _ => return set,
        };
        set.intersect(&more)
    }

    /// The least and the greatest value that a term can have, as far as they are known.
    pub(super) fn range(&self, terms: &Terms, t: Term, signs: bool) -> (i128, i128) {
        let set = self.values(terms, t);
        let bits = terms.bits(t);
        let set = if set.is_empty() { Set::all(bits) } else { set };
        if signs {
            let (low, high) = set.signed_bounds().expect("not empty");
            (i128::from(low), i128::from(high))
        } else {
            let (low, high) = set.bounds().expect("not empty");
            (i128::from(low), i128::from(high))
        }
    }

    /// The only value of a term, if it is known.
    pub(super) fn only_value(&self, t: Term) -> Option<u64> {
        if let Some((left, ..)) = self.tried.get(&t)
            && let [value] = left[..]
        {
            return Some(value);
        }
        self.sets.get(&t)?.0.single()
    }
}

/// The integers from `low` to `high`, with signs.
fn between(bits: u32, low: i64, high: i64) -> Set {
    let mask = largest(bits);
    let (low, high) = (low.cast_unsigned() & mask, high.cast_unsigned() & mask);
    if low <= high {
        return Set::range(bits, low..=high);
    }
    Set::range(bits, low..=mask).unite(&Set::range(bits, 0..=high))
}

fn mirror(order: u8) -> u8 {
    let mirrored = [(LESS, GREATER), (EQUAL, EQUAL), (GREATER, LESS)];
    let of = mirrored.iter().filter(|(from, _)| order & from != 0);
    of.map(|(_, to)| to).sum()
}

/// The values that a term can have, as its form says.
fn structural(terms: &Terms, t: Term) -> Set {
    let bits = terms.bits(t);
    match terms.node(t) {
        Node::Constant(value) => Set::one(bits, *value),
        Node::ZeroExtend(inner) => Set::range(bits, 0..=largest(terms.bits(*inner))),
        Node::SignExtend(inner) => {
            let greatest = (largest(terms.bits(*inner)) >> 1).cast_signed();
            between(bits, -greatest - 1, greatest)
        }
        Node::Binary(Binary::And, _, mask) if terms.value(*mask).is_some() => {
            Set::range(bits, 0..=terms.value(*mask).unwrap_or_default())
        }
        Node::Binary(Binary::Lshr, _, by) if terms.value(*by).is_some() => Set::range(
            bits,
            0..=largest(bits) >> terms.value(*by).unwrap_or_default(),
        ),
        Node::Binary(Binary::Urem, _, by) => match terms.value(*by) {
            Some(by) if by > 0 => Set::below(bits, by),
            _ => Set::all(bits),
        },
        _ => Set::all(bits),
    }
}

#[cfg(test)]
mod tests;
