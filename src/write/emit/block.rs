//! What a profile says about a module: made here, so that the runtime has nothing to compute when a program starts.

use crate::runtime::format::{BLOCK_CHECKED, BLOCK_MAGIC, Block, Function, MODULE};
use inkwell::module::Module;
use std::mem::size_of;
use zerocopy::IntoBytes;
use zerocopy::byteorder::{BE, ByteOrder, LE};

/// Where and how one function counts: a [`Function`], in no byte order yet.
#[derive(Clone, Copy)]
pub(crate) struct Record {
    /// Its number in the manifest.
    pub func: u32,
    /// [`crate::runtime::abi::ARRAY`] and its like.
    pub kind: u32,
    /// One more than the largest id, or 1.
    pub size: u64,
    /// Its first counter.
    pub first: u64,
}

/// What is described.
pub(crate) struct Described<'a> {
    /// The module's number in the manifest.
    pub module: u32,
    /// The size of its counters in bytes.
    pub counters: u64,
    /// What they are aligned to in the file.
    pub page: u64,
    /// Its functions.
    pub records: &'a [Record],
}

impl Described<'_> {
    /// A [`Block`] and its records as the target of `module` reads them. O(records).
    pub(crate) fn bytes(&self, module: &Module) -> Vec<u8> {
        let layout = module.get_data_layout();
        if is_big_endian(layout.as_str().to_bytes()) {
            self.bytes_in_order::<BE>()
        } else {
            self.bytes_in_order::<LE>()
        }
    }

    fn bytes_in_order<O: ByteOrder>(&self) -> Vec<u8>
    where
        Block<O>: IntoBytes,
        Function<O>: IntoBytes,
    {
        let records = self.records.len() * size_of::<Function<O>>();
        let described = (size_of::<Block<O>>() + records) as u64;
        let counters_offset = described.next_multiple_of(self.page);
        let mut block = Block::<O> {
            magic: BLOCK_MAGIC.into(),
            size: (counters_offset + self.counters).into(),
            kind: MODULE.into(),
            module: self.module.into(),
            n_functions: (self.records.len() as u64).into(),
            counters_offset: counters_offset.into(),
            n_counters: (self.counters / 8).into(),
            used: 0.into(),
            shift: 0.into(),
            crc: 0.into(),
        };
        let mut bytes = block.as_bytes().to_vec();
        for r in self.records {
            let record = Function::<O> {
                func: r.func.into(),
                kind: r.kind.into(),
                size: r.size.into(),
                first: r.first.into(),
            };
            bytes.extend_from_slice(record.as_bytes());
        }
        let mut crc = crc32fast::Hasher::new();
        crc.update(&bytes[BLOCK_CHECKED]);
        crc.update(&bytes[size_of::<Block<O>>()..]);
        block.crc = crc.finalize().into();
        bytes[..size_of::<Block<O>>()].copy_from_slice(block.as_bytes());
        bytes
    }
}

/// Whether a data layout says `E`; one that says nothing about byte order is little-endian.
fn is_big_endian(layout: &[u8]) -> bool {
    layout.split(|&b| b == b'-').any(|part| part == b"E")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::abi::{ARRAY, HASH};

    /// Word by word, apart from the structures; the other order is the same numbers turned round, but for the checksum,
    /// which is of the bytes.
    #[test]
    fn both_orders() {
        let record = |func, kind, size| Record {
            func,
            kind,
            size,
            first: 0,
        };
        let described = Described {
            module: 9,
            counters: 8192,
            page: 4096,
            records: &[record(3, ARRAY, 5), record(4, HASH, 1 << 40)],
        };
        let (little, big) = (
            described.bytes_in_order::<LE>(),
            described.bytes_in_order::<BE>(),
        );
        let word = |at: usize| u64::from_le_bytes(little[at..at + 8].try_into().unwrap());
        let half = |at: usize| u32::from_le_bytes(little[at..at + 4].try_into().unwrap());
        assert_eq!((little.len(), big.len()), (64 + 2 * 24, 64 + 2 * 24));
        assert_eq!([0, 8, 24].map(word), [BLOCK_MAGIC, 4096 + 8192, 2]);
        assert_eq!([32, 40, 48].map(word), [4096, 1024, 0]);
        assert_eq!(
            [16, 20, 64, 68, 88, 92].map(half),
            [MODULE, 9, 3, ARRAY, 4, HASH]
        );
        assert_eq!([72, 80, 96, 104].map(word), [5, 0, 1 << 40, 0]);
        assert_eq!(
            half(60),
            crc32fast::hash(&[&little[8..48], &little[64..]].concat())
        );
        for (at, n) in [(0, 8), (8, 8), (16, 4), (20, 4), (64, 4), (72, 8), (96, 8)] {
            let mut turned = big[at..at + n].to_vec();
            turned.reverse();
            assert_eq!(turned, little[at..at + n], "{at}");
        }
        let crc = crc32fast::hash(&[&big[8..48], &big[64..]].concat());
        assert_eq!(big[60..64], crc.to_be_bytes());
    }

    #[test]
    fn orders_by_layout() {
        assert!(is_big_endian(b"E-m:e-i64:64") && is_big_endian(b"m:e-E"));
        assert!(
            !is_big_endian(b"e-m:e-p:32:32") && !is_big_endian(b"e-m:E") && !is_big_endian(b"")
        );
    }
}
