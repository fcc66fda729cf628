//! Keys: what hash tables know ids by.
//!
//! A key is the id plus one, times an odd factor, modulo 2^32 or 2^64 (Fibonacci hashing; Knuth, *The Art of Computer
//! Programming* 3, §6.4). Its upper bits are the hash already; no key is 0; and since
//! multiplication distributes over the sums that ids are, the path register of a function that counts in a hash table
//! alone can hold the key from the beginning: what a count would do to the id is done to constants instead.

use crate::runtime::abi;

/// Ids below this have keys of 32 bits: constants of that size fit into instructions.
const NARROW: u64 = u32::MAX as u64;

/// How the ids of one table become keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    /// The size of keys, 32 or 64.
    pub bits: u32,
}

impl Keys {
    /// Those of a table whose ids are in `0 .. ids`.
    pub(crate) fn for_ids(ids: u64) -> Keys {
        Keys {
            bits: if ids <= NARROW { 32 } else { 64 },
        }
    }

    /// [`abi::HASH_FACTOR`], or its upper half.
    pub(crate) fn factor(self) -> u64 {
        abi::HASH_FACTOR >> (64 - self.bits)
    }

    /// The key of an id.
    pub(crate) fn key(self, id: u64) -> u64 {
        self.step(id as i64).wrapping_add(self.factor()) & self.mask()
    }

    /// What a key grows by when the id grows by `by`.
    pub(crate) fn step(self, by: i64) -> u64 {
        (by as u64).wrapping_mul(self.factor()) & self.mask()
    }

    /// The id with this key; `None` when no id has it.
    pub(crate) fn id(self, key: u64) -> Option<u64> {
        let product = key.wrapping_mul(self.inverse_key()) & self.mask();
        (key <= self.mask()).then(|| product.checked_sub(1))?
    }

    /// What a key is multiplied by for the id plus one.
    pub(crate) fn inverse_key(self) -> u64 {
        inverse_of_odd(self.factor()) & self.mask()
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }
}

/// The inverse of an odd number modulo 2^64: Newton's iteration doubles the bits that are right, three of them at
/// first.
fn inverse_of_odd(odd: u64) -> u64 {
    (0..5).fold(odd, |x, _| {
        x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_lead_back(ids in 1..u64::MAX, id: u64, by: u32) {
            let (keys, id) = (Keys::for_ids(ids), id % ids);
            prop_assert_eq!(keys.factor() % 2, 1);
            let key = keys.key(id);
            prop_assert!(key != 0 && key.checked_shr(keys.bits).unwrap_or(0) == 0);
            prop_assert_eq!(keys.id(key), Some(id));
            let there = key.wrapping_add(keys.step(i64::from(by))) & keys.mask();
            let back = there.wrapping_add(keys.step(-i64::from(by))) & keys.mask();
            prop_assert_eq!(back, key);
            if id + u64::from(by) < ids {
                prop_assert_eq!(there, keys.key(id + u64::from(by)));
            }
        }
    }

    /// Neighbouring ids land far from each other.
    #[test]
    fn the_factors() {
        let factors = [1, 1 << 40].map(|ids| Keys::for_ids(ids).factor());
        assert_eq!(factors, [abi::HASH_FACTOR >> 32, abi::HASH_FACTOR]);
    }

    #[test]
    fn the_largest() {
        for ids in [1, NARROW, NARROW + 1, 1 << 62] {
            assert_eq!(
                Keys::for_ids(ids).id(Keys::for_ids(ids).key(ids - 1)),
                Some(ids - 1)
            );
        }
        assert_eq!(
            [Keys::for_ids(NARROW).bits, Keys::for_ids(NARROW + 1).bits],
            [32, 64]
        );
        assert_eq!(Keys::for_ids(5).id(0), None);
        assert_eq!(Keys::for_ids(5).id(1 << 32), None);
    }
}
