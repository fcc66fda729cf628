//! How raw profiles are read: in windows, past holes; and what is refused.

use super::version::OLDEST;
use super::*;
use crate::profile::tests::{PAGE, put_checksum, raw_profile, seal_checksums};
use crate::runtime::abi;
use crate::runtime::window::WINDOW;
use std::cell::Cell;
use std::mem::offset_of;

/// A file in memory that knows its holes and what was asked of it.
struct Watched {
    bytes: Vec<u8>,
    length: u64,
    read: Cell<u64>,
    sought: Cell<u64>,
}

impl Watched {
    fn new(bytes: Vec<u8>) -> Watched {
        let length = bytes.len() as u64;
        Watched {
            bytes,
            length,
            read: Cell::new(0),
            sought: Cell::new(0),
        }
    }
}

impl Source for Watched {
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        self.read.set(self.read.get() + out.len() as u64);
        self.bytes.as_slice().read_at(out, at)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn data_from(&self, at: u64) -> io::Result<Option<u64>> {
        self.sought.set(self.sought.get() + 1);
        let rest = &self.bytes[at as usize..];
        let data = rest.iter().position(|&b| b != 0);
        Ok(data.map(|n| at + n as u64))
    }
}

fn write_bytes(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// A profile without tables: an array with these counts, and the entries, 77, right behind it.
fn file_with_array(counts: &[u64]) -> Vec<u8> {
    let mut bytes = raw_profile(&[], &[]);
    bytes.truncate(2 * PAGE);
    let n = counts.len() as u64;
    let length = (2 * PAGE + 8 * counts.len() + 8).next_multiple_of(PAGE);
    write_bytes(&mut bytes, 128, &(length as u64).to_le_bytes());
    let block = (length - PAGE) as u64;
    write_bytes(&mut bytes, PAGE + 8, &block.to_le_bytes());
    write_bytes(&mut bytes, PAGE + 40, &(n + 1).to_le_bytes());
    let records = PAGE + BLOCK_SIZE;
    write_bytes(&mut bytes, records + 8, &n.to_le_bytes());
    write_bytes(&mut bytes, records + FUNCTION_SIZE + 16, &n.to_le_bytes());
    seal_checksums(&mut bytes);
    bytes.extend(counts.iter().chain(&[77]).flat_map(|c| c.to_le_bytes()));
    bytes.resize(length, 0);
    bytes
}

/// What is found in the array of such a file, which is longer than a window.
fn read_array(counts: &[u64]) -> (BTreeMap<u64, u64>, Watched) {
    let file = Watched::new(file_with_array(counts));
    assert!(file.length > 2 * WINDOW);
    let mut raw = parse_source(&file).unwrap();
    let function = raw.functions.remove(&FuncId(0)).unwrap();
    assert_eq!(function.entries, Some(77));
    (function.counts, file)
}

#[test]
fn everything_is_read_once() {
    let counts: Vec<u64> = (1..=20_000).collect();
    let (all, file) = read_array(&counts);
    assert!(all.into_iter().eq((0..).zip(counts)));
    assert!(file.read.get() <= file.length);
    assert!(file.sought.get() <= file.length.div_ceil(WINDOW));
}

/// What is behind a hole may be the next function's.
#[test]
fn holes_end_anywhere() {
    let mut counts = vec![0; 20_000];
    assert_eq!(read_array(&counts).0, BTreeMap::new());
    counts[19_999] = 5;
    assert_eq!(read_array(&counts).0, BTreeMap::from([(19_999, 5)]));
}

#[test]
fn files_that_shrink() {
    let mut file = Watched::new(raw_profile(&[1], &[(1, 1)]));
    file.length += 1;
    let error = parse_source(&file).unwrap_err();
    assert!(matches!(error, Problem::Shrank), "{error}");
    let error = parse(b"p3").unwrap_err();
    assert!(matches!(error, Problem::TooShort), "{error}");
}

/// A file of a runtime that did not count children without a file.
#[test]
fn a_file_of_the_version_before_is_read() {
    let good = raw_profile(&[1, 2], &[(3, 4)]);
    let strings: Vec<u8> = good[HEADER_SIZE..HEADER_SIZE + 200].to_vec();
    let text = u32::from_le_bytes(good[88..92].try_into().unwrap()) as usize;
    let mut older = good.clone();
    write_bytes(&mut older, 8, &OLDEST.to_le_bytes());
    write_bytes(&mut older, 12, &192u32.to_le_bytes());
    write_bytes(&mut older, 192, &strings);
    put_checksum(&mut older, 0..HEADER_CRC_AT, 192..192 + text, HEADER_CRC_AT);
    // Nor did it look for threads.
    let mut expected = parse(&good).unwrap();
    expected.threads = Threads::Unseen;
    assert_eq!(parse(&older).unwrap(), expected);
    assert_eq!(expected.absent, 0);
    write_bytes(&mut older, 8, &(OLDEST - 1).to_le_bytes());
    let error = parse(&older).unwrap_err();
    assert_eq!(error.to_string(), "raw format version 7 (this build: 12)");
}

/// By version, flags, and how counts are updated.
#[test]
fn what_a_file_says_of_threads() {
    use format::{INSIDE, LOST, THREADS, UNSEEN};
    for (version, flags, atomic, expected) in [
        (VERSION, 0, 0, Threads::None),
        (VERSION, LOST, 0, Threads::None),
        (VERSION, INSIDE, 0, Threads::Inside),
        (VERSION, UNSEEN | INSIDE, 0, Threads::Unseen),
        (VERSION, THREADS | UNSEEN | INSIDE, 0, Threads::Started),
        (VERSION, THREADS | UNSEEN | INSIDE, 1, Threads::None),
        (VERSION, 0, 2, Threads::None),
        (VERSION, THREADS | UNSEEN, 2, Threads::Shared),
        (VERSION, UNSEEN, 2, Threads::Unseen),
        (10, THREADS, 0, Threads::Started),
        (9, 0, 0, Threads::Unseen),
        (9, 0, 1, Threads::None),
    ] {
        let mut bytes = raw_profile(&[1, 2], &[(3, 4)]);
        for (at, value) in [
            (offset_of!(Header<LE>, version), version),
            (offset_of!(Header<LE>, update), atomic),
            (offset_of!(Header<LE>, flags), flags),
        ] {
            write_bytes(&mut bytes, at, &value.to_le_bytes());
        }
        seal_checksums(&mut bytes);
        if version != VERSION {
            let size = version::header_size(version).unwrap();
            let strings = bytes[HEADER_SIZE..HEADER_SIZE + 200].to_vec();
            let text = u32::from_le_bytes(bytes[88..92].try_into().unwrap()) as usize;
            write_bytes(&mut bytes, 12, &(size as u32).to_le_bytes());
            write_bytes(&mut bytes, size, &strings);
            put_checksum(
                &mut bytes,
                0..HEADER_CRC_AT,
                size..size + text,
                HEADER_CRC_AT,
            );
        }
        let found = parse(&bytes).unwrap().threads;
        assert_eq!(found, expected, "{version} {flags} {atomic}");
    }
}

/// Damage whose checksums are right.
#[test]
fn what_is_refused() {
    let (arena, chunk) = (3 * PAGE, 3 * PAGE + 2 * BLOCK_SIZE);
    let cases: [(usize, u64, usize, &str); 6] = [
        (12, HEADER_SIZE as u64 + 1, 4, "the header's checksum"),
        (84, 3, 4, "the arguments"),
        (PAGE, 1, 8, "no block at 4096"),
        (arena + 8, PAGE as u64 - 8, 8, "is longer than the file"),
        (chunk, 1, 8, "no table at"),
        (chunk + 16, 1000, 8, "is too long"),
    ];
    for (at, value, size, problem) in cases {
        let mut bytes = raw_profile(&[1, 2], &[(3, 4)]);
        write_bytes(&mut bytes, at, &value.to_le_bytes()[..size]);
        seal_checksums(&mut bytes);
        let error = parse(&bytes).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let ids = 1 << 40;
    assert!(parse(&raw_profile(&[], &[(ids, 1)])).is_ok());
    let error = parse(&raw_profile(&[], &[(ids + 1, 1)]))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no id has the key"), "{error}");
}

/// The first block begins on the page behind the strings, however long they are.
#[test]
fn long_arguments() {
    let good = raw_profile(&[1, 2], &[(3, 4), (5, 6)]);
    let with = |size: u64| {
        let end = b"\0/a folder\0host\0";
        let mut bytes = good[..HEADER_SIZE].to_vec();
        bytes.resize(HEADER_SIZE + size as usize - end.len(), b'x');
        bytes.extend(end);
        let text = HEADER_SIZE..bytes.len();
        bytes.resize(text.end.next_multiple_of(PAGE), 0);
        bytes.extend(&good[PAGE..]);
        let length = bytes.len() as u64;
        write_bytes(&mut bytes, 128, &length.to_le_bytes());
        write_bytes(&mut bytes, 84, &1u32.to_le_bytes());
        write_bytes(&mut bytes, 88, &(size as u32).to_le_bytes());
        put_checksum(&mut bytes, 0..HEADER_CRC_AT, text, HEADER_CRC_AT);
        parse(&bytes)
    };
    let raw = with(MOST_TEXT).unwrap();
    assert_eq!(raw.started[0].arguments.len(), 1);
    assert_eq!(raw.functions, parse(&good).unwrap().functions);
    let counts = BTreeMap::from([(2, 4), (4, 6)]);
    assert_eq!(raw.functions[&FuncId(1)].counts, counts);
    assert!(with(MOST_TEXT + 1).is_err());
}

/// Of one function, whose counters are an array of three.
fn describe_module(number: u32) -> Vec<u8> {
    let mut bytes = BLOCK_MAGIC.to_le_bytes().to_vec();
    bytes.extend((2 * PAGE as u64).to_le_bytes());
    bytes.extend([format::MODULE, number].map(u32::to_le_bytes).concat());
    let numbers = [1, PAGE as u64, PAGE as u64 / 8, 0, 0];
    bytes.extend(numbers.map(u64::to_le_bytes).concat());
    bytes.extend([number, abi::ARRAY].map(u32::to_le_bytes).concat());
    bytes.extend([3, 0].map(u64::to_le_bytes).concat());
    let records = BLOCK_SIZE..BLOCK_SIZE + FUNCTION_SIZE;
    put_checksum(&mut bytes, 8..48, records, BLOCK_SIZE - 4);
    bytes
}

/// The checksum of an area of two modules.
fn seal_area(bytes: &mut [u8]) {
    let crc = |module: usize| {
        let at = PAGE + BLOCK_SIZE + module * (BLOCK_SIZE + FUNCTION_SIZE) + BLOCK_SIZE - 4;
        bytes[at..at + 4].to_vec()
    };
    let crcs = [crc(0), crc(1)].concat();
    let end = bytes.len();
    let mut with_crcs = [&*bytes, &crcs].concat();
    put_checksum(
        &mut with_crcs,
        PAGE + 8..PAGE + 48,
        end..end + 8,
        PAGE + BLOCK_SIZE - 4,
    );
    bytes.copy_from_slice(&with_crcs[..end]);
}

/// A file with an area of functions 4 and 5, each in a module of its own.
fn make_area() -> Vec<u8> {
    let mut bytes = raw_profile(&[], &[]);
    bytes.truncate(PAGE);
    bytes.extend(BLOCK_MAGIC.to_le_bytes());
    bytes.extend((3 * PAGE as u64).to_le_bytes());
    bytes.extend([format::AREA, 4].map(u32::to_le_bytes).concat());
    let numbers = [2, PAGE as u64, 2 * PAGE as u64 / 8, 0, 0];
    bytes.extend(numbers.map(u64::to_le_bytes).concat());
    bytes.extend([describe_module(4), describe_module(5)].concat());
    for counts in [[1, 0, 2], [0, 3, 0u64]] {
        bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
        bytes.extend(counts.map(u64::to_le_bytes).concat());
    }
    bytes.resize(4 * PAGE, 0);
    seal_area(&mut bytes);
    bytes
}

#[test]
fn modules_that_are_side_by_side() {
    let counts = |function: u32| {
        let raw = parse(&make_area()).unwrap();
        raw.functions[&FuncId(function)].counts.clone()
    };
    assert_eq!(counts(4), BTreeMap::from([(0, 1), (2, 2)]));
    assert_eq!(counts(5), BTreeMap::from([(1, 3)]));
}

/// The process was killed while it wrote the block, or is at it.
#[test]
fn areas_that_are_being_written_are_passed_over() {
    let mut bytes = make_area();
    write_bytes(&mut bytes, PAGE + 48, &format::BLOCK_BEGUN.to_le_bytes());
    write_bytes(&mut bytes, PAGE + BLOCK_SIZE, &[0; 100]);
    assert!(parse(&bytes).unwrap().functions.is_empty());
    write_bytes(&mut bytes, PAGE + 48, &1u64.to_le_bytes());
    assert!(parse(&bytes).is_err());
}

#[test]
fn damaged_areas() {
    let second = PAGE + 2 * BLOCK_SIZE + FUNCTION_SIZE;
    let outside = "modules lie outside their area";
    for (at, value, expected) in [
        (PAGE + 24, 3, "no module at 4336"),
        (PAGE + 24, 1 << 40, outside),
        (PAGE + 32, 128, "a module's counts lie outside its block"),
        (PAGE + 40, 3 * PAGE as u64 / 8, outside),
        (PAGE + 40, PAGE as u64 / 8, outside),
        (second, 2, "no module at 4248"),
        (second + 16, 2, "no module at 4248"),
        (
            second + 24,
            1 << 21,
            "a module's counts lie outside its block",
        ),
        (second + 40, 1, "the checksum of a module is wrong"),
        (second + BLOCK_SIZE, 7, "the checksum of a module is wrong"),
    ] {
        let mut bytes = make_area();
        write_bytes(&mut bytes, at, &value.to_le_bytes());
        seal_area(&mut bytes);
        let error = parse(&bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{at}: {error}");
    }
    let mut bytes = make_area();
    write_bytes(&mut bytes, PAGE + 20, &[9]);
    let error = parse(&bytes).unwrap_err().to_string();
    assert!(
        error.contains("the checksum of a block is wrong"),
        "{error}"
    );
}
