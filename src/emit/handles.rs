//! Tables by values, instructions and blocks: pointers that LLVM chose, and small numbers.
//!
//! Nobody can choose them such that they collide, so they need no hash that withstands that: with the standard library's,
//! hashing was three percent of what it takes to rewrite sqlite under `subpath`.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type HandleMap<K, V> = HashMap<K, V, BuildHasherDefault<HandleHasher>>;
pub(crate) type HandleSet<K> = HashSet<K, BuildHasherDefault<HandleHasher>>;

/// Multiplies, as `FxHasher` of rustc does.
#[derive(Clone, Copy, Default)]
pub(crate) struct HandleHasher(u64);

/// An odd number with its ones spread evenly: 2^64 by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for HandleHasher {
    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(FACTOR);
    }

    /// Tables take their slot from the low bits, which are those of a pointer's alignment, all zeros; products have their
    /// best bits above.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(words: &[u64]) -> u64 {
        let mut hasher = HandleHasher::default();
        words.iter().for_each(|n| hasher.write_u64(*n));
        hasher.finish()
    }

    /// A table of `1 << bits` slots with as many entries has three in one where hashes are random, and hardly ever ten.
    fn most_in_one_slot(hashes: impl Iterator<Item = u64>, bits: u32) -> usize {
        let mut slots = vec![0; 1 << bits];
        hashes.for_each(|h| slots[(h & ((1 << bits) - 1)) as usize] += 1);
        slots.into_iter().max().unwrap()
    }

    #[test]
    fn aligned_addresses_are_spread_over_slots() {
        for stride in [8, 16, 64, 72, 96, 4096] {
            let all = (0..1 << 12).map(|n| hash(&[0x7f12_3450_0000 + n * stride]));
            assert!(most_in_one_slot(all, 12) < 10, "{stride}");
        }
    }

    #[test]
    fn pairs_of_address_and_block_are_spread_over_slots() {
        let all = (0..1 << 6)
            .flat_map(|n| (0..1 << 6).map(move |b| hash(&[0x7f12_3450_0000 + n * 96, b])));
        assert!(most_in_one_slot(all, 12) < 10);
    }

    /// hashbrown compares the highest seven bits first.
    #[test]
    fn highest_bits_differ() {
        let tags: HashSet<u64> = (0..1 << 10)
            .map(|n| hash(&[0x7f12_3450_0000 + n * 96]) >> 57)
            .collect();
        assert!(tags.len() > 100);
    }
}
