//! Sets of integers of some bits, as ranges.

use std::ops::RangeInclusive;

/// A set of more ranges is not kept: what would make one is left out, and the set is larger than it could be.
const MOST_RANGES: usize = 64;

/// The largest integer of so many bits, at most 64.
pub(super) fn largest(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

/// An integer of so many bits with its sign.
pub(super) fn signed(bits: u32, value: u64) -> i64 {
    let unused = 64 - bits;
    (value << unused).cast_signed() >> unused
}

/// A set of unsigned integers of [`Set::bits`] bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set {
    /// Ascending, apart from each other.
    ranges: Vec<(u64, u64)>,
    bits: u32,
}

impl Set {
    /// All integers of so many bits.
    pub(super) fn all(bits: u32) -> Set {
        Set::range(bits, 0..=largest(bits))
    }

    /// One integer.
    pub(super) fn one(bits: u32, value: u64) -> Set {
        Set::range(bits, value..=value)
    }

    /// The integers of a range, which may be empty.
    pub(super) fn range(bits: u32, range: RangeInclusive<u64>) -> Set {
        let (low, high) = range.into_inner();
        let ranges = if low <= high {
            vec![(low, high)]
        } else {
            Vec::new()
        };
        Set { ranges, bits }
    }

    /// The integers below `bound`.
    pub(super) fn below(bits: u32, bound: u64) -> Set {
        match bound {
            0 => Set {
                ranges: Vec::new(),
                bits,
            },
            _ => Set::range(bits, 0..=bound - 1),
        }
    }

    /// The integers that are less than `bound`, both read with their signs.
    pub(super) fn below_signed(bits: u32, bound: u64) -> Set {
        // Adding half of all integers makes an order of the other.
        let half = 1 << (bits - 1);
        let mask = largest(bits);
        Set::below(bits, bound.wrapping_add(half) & mask).shift(half)
    }

    /// These integers.
    pub(super) fn of(bits: u32, values: impl IntoIterator<Item = u64>) -> Set {
        let ranges = values.into_iter().map(|v| (v, v)).collect();
        Set { ranges, bits }.tidy()
    }

    fn tidy(mut self) -> Set {
        self.ranges.sort_unstable();
        let mut tidy: Vec<(u64, u64)> = Vec::new();
        for (low, high) in self.ranges {
            match tidy.last_mut() {
                Some(last) if last.1 == u64::MAX || low <= last.1 + 1 => last.1 = last.1.max(high),
                _ => tidy.push((low, high)),
            }
        }
        self.ranges = tidy;
        self
    }

    /// Whether it has no integer.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether it has all integers.
    #[cfg(test)]
    fn is_all(&self) -> bool {
        self.ranges == [(0, largest(self.bits))]
    }

    /// Whether an integer is in it. O(ranges).
    pub(super) fn contains(&self, value: u64) -> bool {
        self.ranges
            .iter()
            .any(|(low, high)| (*low..=*high).contains(&value))
    }

    /// Its integer, if it has one alone.
    pub(super) fn single(&self) -> Option<u64> {
        match self.ranges[..] {
            [(low, high)] if low == high => Some(low),
            _ => None,
        }
    }

    /// All other integers. O(ranges).
    pub(super) fn complement(&self) -> Set {
        let mut ranges = Vec::new();
        let mut next = Some(0);
        for &(low, high) in &self.ranges {
            if let Some(from) = next.filter(|from| *from < low) {
                ranges.push((from, low - 1));
            }
            next = high.checked_add(1).filter(|n| *n <= largest(self.bits));
        }
        ranges.extend(next.map(|from| (from, largest(self.bits))));
        Set {
            ranges,
            bits: self.bits,
        }
    }

    /// The integers in both. If these are too many ranges, this set alone. O(ranges of both).
    pub(super) fn intersect(&self, other: &Set) -> Set {
        let mut ranges = Vec::new();
        for &(low, high) in &self.ranges {
            for &(from, to) in &other.ranges {
                let both = (low.max(from), high.min(to));
                if both.0 <= both.1 {
                    ranges.push(both);
                }
            }
        }
        if ranges.len() > MOST_RANGES {
            return self.clone();
        }
        Set {
            ranges,
            bits: self.bits,
        }
        .tidy()
    }

    /// The integers in any. O(ranges · log ranges).
    pub(super) fn unite(&self, other: &Set) -> Set {
        let ranges = [&self.ranges[..], &other.ranges].concat();
        Set {
            ranges,
            bits: self.bits,
        }
        .tidy()
    }

    /// Each integer plus `by`, wrapping around. O(ranges).
    pub(super) fn shift(&self, by: u64) -> Set {
        let mask = largest(self.bits);
        let mut ranges = Vec::new();
        for &(low, high) in &self.ranges {
            let (from, to) = (low.wrapping_add(by) & mask, high.wrapping_add(by) & mask);
            if from <= to {
                ranges.push((from, to));
            } else {
                ranges.extend([(from, mask), (0, to)]);
            }
        }
        Set {
            ranges,
            bits: self.bits,
        }
        .tidy()
    }

    /// Each integer times -1. O(ranges).
    pub(super) fn negate(&self) -> Set {
        // -x = !x + 1
        let mask = largest(self.bits);
        let ranges = self
            .ranges
            .iter()
            .map(|(low, high)| (mask - high, mask - low));
        let ranges = ranges.collect();
        Set {
            ranges,
            bits: self.bits,
        }
        .tidy()
        .shift(1)
    }

    /// The low bits of each integer, where all integers have these bits and zeros above (or, with `by_sign`, their sign
    /// above): what is extended to be one of the set. O(ranges).
    pub(super) fn before_extension(&self, bits: u32, by_sign: bool) -> Set {
        let mask = largest(bits);
        if by_sign {
            let half = 1 << (bits - 1);
            let above = Set::range(
                self.bits,
                largest(self.bits) - (half - 1)..=largest(self.bits),
            );
            let images = Set::range(self.bits, 0..=half - 1).unite(&above);
            let inside = self.intersect_exactly(&images);
            let ranges = inside.ranges.iter().flat_map(|&(low, high)| {
                // A range of images may wrap from the negative ones to none: they are at both ends.
                if low < half && high >= half {
                    vec![(low, half - 1), (half, mask)]
                } else {
                    vec![(low & mask, high & mask)]
                }
            });
            return Set {
                ranges: ranges.collect(),
                bits,
            }
            .tidy();
        }
        let inside = self.intersect_exactly(&Set::range(self.bits, 0..=mask));
        Set {
            ranges: inside.ranges,
            bits,
        }
    }

    /// Like [`Set::intersect`], however many ranges there are.
    fn intersect_exactly(&self, other: &Set) -> Set {
        let mut ranges = Vec::new();
        for &(low, high) in &self.ranges {
            for &(from, to) in &other.ranges {
                if low.max(from) <= high.min(to) {
                    ranges.push((low.max(from), high.min(to)));
                }
            }
        }
        Set {
            ranges,
            bits: self.bits,
        }
        .tidy()
    }

    /// The least and the greatest integer, without signs. O(1).
    pub(super) fn bounds(&self) -> Option<(u64, u64)> {
        Some((self.ranges.first()?.0, self.ranges.last()?.1))
    }

    /// The least and the greatest integer, with signs. O(ranges).
    pub(super) fn signed_bounds(&self) -> Option<(i64, i64)> {
        let half = 1 << (self.bits - 1);
        let (low, high) = self.shift(half).bounds()?;
        let back = |v: u64| signed(self.bits, v.wrapping_sub(half) & largest(self.bits));
        Some((back(low), back(high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BITS: u32 = 6;

    fn any_set() -> impl Strategy<Value = Set> {
        let values = proptest::collection::vec(0u64..64, 0..12);
        values.prop_map(|values| Set::of(BITS, values))
    }

    proptest! {
        /// Each operation, against what it means of each integer.
        #[test]
        fn operations_are_what_they_mean_of_each_integer(a in any_set(), b in any_set(), k in 0u64..64) {
            let mask = largest(BITS);
            let sets = (a.complement(), a.intersect(&b), a.unite(&b), a.shift(k), a.negate());
            let (unsigned, with_sign) = (Set::below(BITS, k), Set::below_signed(BITS, k));
            for v in 0..=mask {
                prop_assert_eq!(sets.0.contains(v), !a.contains(v));
                prop_assert_eq!(sets.1.contains(v), a.contains(v) && b.contains(v));
                prop_assert_eq!(sets.2.contains(v), a.contains(v) || b.contains(v));
                prop_assert_eq!(sets.3.contains(v), a.contains(v.wrapping_sub(k) & mask));
                prop_assert_eq!(sets.4.contains(v), a.contains(v.wrapping_neg() & mask));
                prop_assert_eq!(unsigned.contains(v), v < k);
                prop_assert_eq!(with_sign.contains(v), signed(BITS, v) < signed(BITS, k));
            }
            for v in 0..16u64 {
                let extended = signed(4, v).cast_unsigned() & mask;
                prop_assert_eq!(a.before_extension(4, false).contains(v), a.contains(v));
                prop_assert_eq!(a.before_extension(4, true).contains(v), a.contains(extended));
            }
            let all = || (0..=mask).filter(|v| a.contains(*v));
            prop_assert_eq!(a.bounds(), all().min().zip(all().max()));
            let all = || all().map(|v| signed(BITS, v));
            prop_assert_eq!(a.signed_bounds(), all().min().zip(all().max()));
        }
    }

    #[test]
    fn sets_of_64_bits_do_not_overflow() {
        let all = Set::all(64);
        assert!(all.is_all() && all.complement().is_empty() && all.shift(5).is_all());
        assert!(all.negate().is_all() && Set::one(64, 0).complement().contains(u64::MAX));
        assert_eq!(all.signed_bounds(), Some((i64::MIN, i64::MAX)));
        assert_eq!(Set::below_signed(64, 0).bounds(), Some((1 << 63, u64::MAX)));
    }
}
