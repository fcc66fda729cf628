//! Which bits of a raw profile are protected: every one is flipped by itself.
//!
//! What names the process, its copy and the rewriting, and what says where the counters of which function are,
//! and of which function a table is, has a checksum: no flipped bit there is read. Not protected is what changes
//! while the process runs: flags, the length of the file, counters, slots.

use super::*;
use std::collections::BTreeSet;
use std::ops::Range;

/// What became of a profile with one bit flipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    /// It is an error.
    Refused,
    /// Nothing reads the bit, or nothing depends on it.
    Same,
    /// How many processes there were, or how they ended, is another: nothing else.
    Flags,
    /// Counts are others: nothing else.
    Counts,
}
use Damage::{Counts, Flags, Refused, Same};

fn damage_of(good: &raw::Raw, bytes: &[u8]) -> Damage {
    let Ok(found) = raw::parse(bytes) else {
        return Refused;
    };
    let with_flags = raw::Raw {
        runs: good.runs,
        children: good.children,
        ended: good.ended,
        started: good.started.clone(),
        absent: good.absent,
        lost: good.lost,
        threads: good.threads,
        unique: good.unique,
        epoch: good.epoch,
        owner: good.owner,
        ..found.clone()
    };
    let with_counts = raw::Raw {
        functions: good.functions.clone(),
        ..found.clone()
    };
    match good {
        good if *good == found => Same,
        good if *good == with_flags => Flags,
        good if *good == with_counts => Counts,
        _ => panic!("{found:?}"),
    }
}

/// All that comes of flipping the bits of these bytes, one at a time.
fn collect_damage(good: &[u8], range: Range<usize>) -> BTreeSet<Damage> {
    let parsed = raw::parse(good).unwrap();
    let mut bytes = good.to_vec();
    let mut found = BTreeSet::new();
    for at in range {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            found.insert(damage_of(&parsed, &bytes));
            bytes[at] ^= 1 << bit;
        }
    }
    found
}

#[test]
fn every_flipped_bit() {
    let bytes = raw_profile(&[1, 2, 3], &[(4, 5), (6, 7)]);
    let text = raw::HEADER_SIZE + TEXT.len();
    let (module, counters, arena) = (PAGE, 2 * PAGE, 3 * PAGE);
    let records = module + raw::BLOCK_SIZE;
    let records_end = records + 3 * raw::FUNCTION_SIZE;
    // The first piece of the arena was never used.
    let chunk = arena + 2 * raw::BLOCK_SIZE;
    let slots = chunk + raw::BLOCK_SIZE;
    let regions: [(&str, Range<usize>, &[Damage]); 27] = [
        ("header", 0..120, &[Refused]),
        ("flags", 120..124, &[Same, Flags]),
        ("epoch", 124..128, &[Flags]),
        (
            "length: a smaller one says less",
            128..136,
            &[Refused, Same],
        ),
        ("numbers of processes", 136..160, &[Refused, Flags]),
        ("whose it is", 160..168, &[Flags]),
        ("since when", 168..192, &[Same]),
        ("children without a file", 192..200, &[Flags]),
        // There are no children, and the process ended in its only thread.
        ("ends of others", 200..raw::HEADER_SIZE, &[Same]),
        ("strings", raw::HEADER_SIZE..text, &[Refused]),
        ("nothing", text..module, &[Same]),
        ("module", module..module + 48, &[Refused]),
        (
            "whether it was written",
            module + 48..module + 56,
            &[Refused],
        ),
        ("shift and checksum", module + 56..records, &[Refused]),
        ("records", records..records_end, &[Refused]),
        ("nothing", records_end..records_end + 64, &[Same]),
        ("counters", counters..counters + 32, &[Counts]),
        ("nothing", counters + 32..counters + 96, &[Same]),
        ("arena", arena..arena + 48, &[Refused]),
        ("nothing", arena + 48..arena + 56, &[Same]),
        ("shift and checksum", arena + 56..arena + 64, &[Refused]),
        (
            "where a chunk may begin",
            arena + 64..arena + 72,
            &[Refused],
        ),
        ("chunk", chunk..chunk + 32, &[Refused]),
        ("nothing", chunk + 32..chunk + 56, &[Same]),
        ("shift and checksum", chunk + 56..slots, &[Refused]),
        ("a key", slots..slots + 8, &[Refused]),
        ("its count", slots + 8..slots + 16, &[Counts]),
    ];
    for (what, range, expected) in regions {
        let expected: BTreeSet<Damage> = expected.iter().copied().collect();
        assert_eq!(collect_damage(&bytes, range), expected, "{what}");
    }
}

/// A counter's bit changes that count by its value, and no other.
#[test]
fn a_flipped_counter_is_off_by_its_bit() {
    let good = raw_profile(&[1, 2, 3], &[(4, 5)]);
    let counts = |bytes: &[u8]| {
        raw::parse(bytes).unwrap().functions[&FuncId(0)]
            .counts
            .clone()
    };
    for bit in 0..64 {
        let mut bytes = good.clone();
        bytes[2 * PAGE + 8 + bit / 8] ^= 1 << (bit % 8);
        let mut expected = counts(&good);
        expected.insert(1, 2 ^ (1 << bit));
        expected.retain(|_, n| *n != 0);
        assert_eq!(counts(&bytes), expected, "bit {bit}");
    }
}

/// Reverses the bytes of numbers that follow one another from `at` on, so many bytes each.
fn reverse_numbers(bytes: &mut [u8], mut at: usize, widths: &[usize]) {
    for &width in widths {
        bytes[at..at + width].reverse();
        at += width;
    }
}

/// A raw profile as a machine of the other byte order writes it.
fn of_another_byte_order(mut bytes: Vec<u8>) -> Vec<u8> {
    let (module, arena) = (PAGE, 3 * PAGE);
    let chunk = arena + 2 * raw::BLOCK_SIZE;
    reverse_numbers(&mut bytes, 0, &[8, 4, 4]);
    reverse_numbers(&mut bytes, 48, &[4, 4, 8, 8, 8, 4, 4, 4, 4]);
    reverse_numbers(&mut bytes, 112, &[4, 4, 4, 4, 8, 8, 8, 8]);
    reverse_numbers(&mut bytes, module, &[8, 8, 4, 4, 8, 8, 8]);
    for record in 0..3 {
        let at = module + raw::BLOCK_SIZE + record * raw::FUNCTION_SIZE;
        reverse_numbers(&mut bytes, at, &[4, 4, 8, 8]);
    }
    reverse_numbers(&mut bytes, 2 * PAGE, &[8; PAGE / 8]);
    reverse_numbers(&mut bytes, arena, &[8, 8, 4]);
    reverse_numbers(&mut bytes, chunk, &[8, 4, 4, 8, 8]);
    reverse_numbers(&mut bytes, chunk + raw::BLOCK_SIZE, &[8; 8]);
    seal_checksums(&mut bytes);
    reverse_numbers(&mut bytes, raw::HEADER_CRC_AT, &[4]);
    reverse_numbers(&mut bytes, module + 60, &[4]);
    reverse_numbers(&mut bytes, arena + 60, &[4]);
    reverse_numbers(&mut bytes, chunk + 60, &[4]);
    bytes
}

#[test]
fn byte_orders_are_told_apart() {
    let good = raw_profile(&[1, 0, 3], &[(4, 5), (6, 7)]);
    let other = of_another_byte_order(good.clone());
    assert_ne!(good, other);
    assert_eq!(raw::parse(&other).unwrap(), raw::parse(&good).unwrap());
    let error = raw::parse(&[0; 200]).unwrap_err();
    assert!(matches!(error, raw::Problem::NotRaw), "{error}");
}

/// Each flag says one thing: counts that are in memory alone are as good as lost, and that a program resets its own is
/// no matter.
#[test]
fn flags_are_told_apart() {
    let mut bytes = raw_profile(&[1], &[]);
    for flags in 0..16u8 {
        bytes[120] = flags;
        let lost = flags & 1 != 0 || flags & 4 != 0;
        assert_eq!(raw::parse(&bytes).unwrap().lost, lost, "{flags}");
    }
    bytes[92] = 1;
    seal_checksums(&mut bytes);
    assert!(raw::parse(&bytes).unwrap().started[0].cut);
}

/// Numbers of processes that cannot be: none, more that ended than began, more than there can be.
#[test]
fn numbers_of_processes() {
    let with = |numbers: [u64; 3]| {
        let mut bytes = raw_profile(&[1], &[]);
        bytes[136..160].copy_from_slice(&numbers.map(u64::to_le_bytes).concat());
        let raw = raw::parse(&bytes).ok()?;
        Some([raw.runs, raw.children, raw.ended])
    };
    for good in [[3, 2, 4], [3, 2, 5], [0, 1, 0]] {
        assert_eq!(with(good), Some(good));
    }
    for bad in [[0, 0, 0], [3, 2, 6], [u64::MAX, 1, 0]] {
        assert_eq!(with(bad), None);
    }
}

/// A header with a right checksum is not believed either where it cannot be.
#[test]
fn descriptions_that_cannot_be_are_refused() {
    let good = raw_profile(&[1, 2, 3], &[(4, 5)]);
    let with = |at: usize, value: u64| {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        seal_checksums(&mut bytes);
        raw::parse(&bytes)
    };
    let (page, module) = (72, PAGE);
    let (records, counters, n) = (module + 24, module + 32, module + 40);
    let size = module + raw::BLOCK_SIZE + 8;
    let first = size + 8;
    let arena = 3 * PAGE + 8;
    let slots = 3 * PAGE + 2 * raw::BLOCK_SIZE + 16;
    let ids = slots + 8;
    let bad = [
        (page, 2048),
        (page, 4097),
        (records, u64::MAX / 8),
        (records, 1 << 20),
        (counters, 64),
        (counters, 2 * PAGE as u64),
        (n, PAGE as u64 / 8 + 1),
        (n, u64::MAX / 4),
        (size, PAGE as u64),
        (first, u64::MAX),
        (arena, PAGE as u64 + 1),
        (arena, 2 * PAGE as u64),
        (slots, PAGE as u64 / 16),
        (slots, u64::MAX),
        (ids, 3),
    ];
    for (at, value) in bad {
        assert!(with(at, value).is_err(), "{value} at {at}");
    }
    // Exactly as many counters as have room.
    assert!(with(n, PAGE as u64 / 8).is_ok());
}

/// Entries and executed probes have one counter each, which may be zero.
#[test]
fn kinds_of_records_are_told_apart() {
    let kind = PAGE + raw::BLOCK_SIZE + raw::FUNCTION_SIZE + 4;
    let counter = 2 * PAGE + 8;
    let of = |kind_value: u8, count: u8| {
        let mut bytes = raw_profile(&[1], &[]);
        bytes[kind] = kind_value;
        bytes[counter] = count;
        seal_checksums(&mut bytes);
        let raw = raw::parse(&bytes).ok()?;
        let function = &raw.functions[&FuncId(0)];
        Some((function.entries, function.hits))
    };
    assert_eq!(of(2, 0), Some((Some(0), None)));
    assert_eq!(of(2, 9), Some((Some(9), None)));
    assert_eq!(of(3, 0), Some((None, Some(0))));
    assert_eq!(of(3, 9), Some((None, Some(9))));
    assert_eq!(of(4, 9), Some((None, None)));
    assert_eq!(of(5, 9), None);
}
