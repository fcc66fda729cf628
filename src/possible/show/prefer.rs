//! Makes values small and printable, as long as all conditions hold.

use crate::possible::set::{largest, signed};
use crate::possible::term::{Node, Term, Terms};
use crate::possible::types::{Type, TypeId, Types};
use rustc_hash::FxHashMap;

/// So many values of a leaf are tried.
const MOST_TRIED: usize = 200;
/// All leaves are looked at so often: one may become small once another is.
const ROUNDS: usize = 2;

/// Replaces values of leaves by better ones. O(leaves · values · terms).
pub(super) fn improve(
    terms: &Terms,
    conditions: &[Term],
    leaves: &[(Term, TypeId)],
    types: &Types,
    values: &mut FxHashMap<Term, u64>,
) {
    let parts = terms.parts_of(conditions);
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
        conditions.iter().all(|c| found[c] == 1)
    };
    for _ in 0..ROUNDS {
        for (leaf, ty) in leaves {
            let Some(&now) = values.get(leaf) else {
                continue;
            };
            let bits = terms.bits(*leaf);
            let better = if bits == 8 && matches!(types.get(*ty), Type::Character { .. }) {
                characters()
            } else {
                numbers(bits, &constants, types.get(*ty))
            };
            let better = better.into_iter().take_while(|value| *value != now);
            for value in better.take(MOST_TRIED) {
                values.insert(*leaf, value);
                if holds(values) {
                    break;
                }
                values.insert(*leaf, now);
            }
        }
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
