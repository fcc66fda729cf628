//! Makes values small and printable, as long as all conditions hold.

use crate::possible::code::BinaryOperator as Binary;
use crate::possible::set::{largest, signed};
use crate::possible::term::{Node, Term, Terms};
use crate::possible::types::{Type, TypeId, Types};
use rustc_hash::FxHashMap;

/// So many values of a leaf are tried.
const MOST_TRIED: usize = 200;
/// Larger numbers are large.
const SMALL: u64 = 128;
/// All leaves are looked at so often: one may become small once another is.
const ROUNDS: usize = 2;

/// What values are to be.
pub(super) struct Wish<'a> {
    /// What must be true.
    pub(super) conditions: &'a [Term],
    /// Numbers and characters, with their types.
    pub(super) leaves: &'a [(Term, TypeId)],
    /// Addresses near others, each with the start of the object that it points into.
    pub(super) places: &'a [(Term, u64)],
    pub(super) types: &'a Types,
}

impl Wish<'_> {
    /// Replaces values of leaves by better ones. O(leaves · values · terms).
    pub(super) fn improve(&self, terms: &Terms, values: &mut FxHashMap<Term, u64>) {
        let parts = terms.parts_of(self.conditions);
        let constants = parts.iter().filter_map(|t| match terms.node(*t) {
            Node::Constant(value) => Some(*value),
            Node::Sum(_, value) => Some(value.wrapping_neg()),
            _ => None,
        });
        let mut constants: Vec<u64> = constants.collect();
        constants.sort_unstable();
        constants.dedup();
        let holds = |values: &FxHashMap<Term, u64>| {
            let found = terms.values_under(&parts, values);
            self.conditions.iter().all(|c| found[c] == 1)
        };
        for _ in 0..ROUNDS {
            let places = self.places.iter().map(|(t, start)| {
                let near = (0..32).map(|n| start + n);
                (*t, near.collect())
            });
            let numbers = self.leaves.iter().map(|(t, ty)| {
                let ty = self.types.get(*ty);
                let better = match ty {
                    Type::Character { .. } if terms.bits(*t) == 8 => characters(),
                    ty => numbers(terms.bits(*t), &constants, ty),
                };
                (*t, better)
            });
            let all: Vec<(Term, Vec<u64>)> = places.chain(numbers).collect();
            for (leaf, better) in all {
                let Some(&now) = values
                    .get(&leaf)
                    .filter(|now| **now != 0 || terms.bits(leaf) < 64)
                else {
                    continue;
                };
                let better = better.into_iter().take_while(|value| *value != now);
                for value in better.take(MOST_TRIED) {
                    values.insert(leaf, value);
                    if holds(values) {
                        break;
                    }
                    values.insert(leaf, now);
                }
            }
        }
    }

    /// That numbers are small, if one is large.
    pub(super) fn bound_large(
        &self,
        terms: &mut Terms,
        values: &FxHashMap<Term, u64>,
    ) -> Option<Vec<Term>> {
        let is_number = |(t, ty): &&(Term, TypeId)| {
            terms.bits(*t) > 8 && !matches!(self.types.get(*ty), Type::Enumeration { .. })
        };
        let numbers: Vec<Term> = self.leaves.iter().filter(is_number).map(|l| l.0).collect();
        let is_large = |t: &Term| {
            let value = values.get(t).copied().unwrap_or(0);
            signed(terms.bits(*t), value).unsigned_abs() > SMALL
        };
        if !numbers.iter().any(is_large) {
            return None;
        }
        let bound = |t| {
            let bits = terms.bits(t);
            let (low, count) = (terms.constant(bits, SMALL), terms.constant(bits, 2 * SMALL));
            let moved = terms.binary(Binary::Add, t, low);
            terms.below(moved, count)
        };
        Some(numbers.into_iter().map(bound).collect())
    }
}

/// Bytes, those first that are easily read.
fn characters() -> Vec<u64> {
    let rank = |byte: &u64| match *byte as u8 {
        b'a'..=b'z' => 0,
        b'0'..=b'9' | b'A'..=b'Z' => 1,
        b'!'..=b'~' => 2,
        b' ' => 3,
        0 => 4,
        b'\n' | b'\t' => 5,
        1..=127 => 6,
        _ => 7,
    };
    let mut all: Vec<u64> = (0..=255).collect();
    all.sort_by_key(rank);
    all
}

/// Numbers of so many bits, small ones first: the first ones, and those near constants.
fn numbers(bits: u32, constants: &[u64], ty: &Type) -> Vec<u64> {
    if let Type::Enumeration { names, .. } = ty {
        let known = names.iter().map(|(_, n)| n.cast_unsigned() & largest(bits));
        return known.collect();
    }
    let is_signed = !matches!(
        ty,
        Type::Integer {
            is_signed: false,
            ..
        }
    );
    let near = constants
        .iter()
        .flat_map(|c| [c.wrapping_sub(1), *c, c.wrapping_add(1)]);
    let first = 0..=20u64;
    let below = (1..=5u64).map(u64::wrapping_neg);
    let powers = (5..bits.min(63)).map(|n| 1 << n);
    let all = first.chain(below).chain(near).chain(powers);
    let mut all: Vec<u64> = all.map(|value| value & largest(bits)).collect();
    let rank = |value: &u64| {
        if is_signed {
            let number = signed(bits, *value);
            (number.unsigned_abs(), number < 0)
        } else {
            (*value, false)
        }
    };
    all.sort_by_key(rank);
    all.dedup();
    all
}
