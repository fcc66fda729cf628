//! Raw profiles, as the C runtime keeps them (`runtime-c/p3_format.h`, `docs/RAW_FORMAT.md`).
//!
//! The process may have been killed at any moment, so counts carry no checksum; everything that
//! describes them does, and nothing is believed before it was checked. No more memory is used than
//! the file is long.

use crate::index::{CopyId, FuncId};
use std::collections::BTreeMap;

/// `P3_RAW_MAGIC`.
pub const MAGIC: u64 = 0xff70_3372_6177_ff03;
/// `P3_BLOCK_MAGIC`.
pub const BLOCK_MAGIC: u64 = 0x7033_626c_6f63_6b02;
/// `P3_CHUNK_MAGIC`.
pub const CHUNK_MAGIC: u64 = 0x7033_6368_756e_6b02;
/// `P3_RAW_VERSION`.
pub const VERSION: u32 = 3;
/// `sizeof(struct p3_raw_header)`.
pub const HEADER_SIZE: usize = 120;
/// `offsetof(struct p3_raw_header, header_crc)`.
pub const HEADER_CRC_AT: usize = 100;
/// `sizeof(struct p3_raw_block)`, and of a chunk's header.
pub const BLOCK_SIZE: usize = 64;
/// `sizeof(struct p3_raw_function)`.
pub const FUNCTION_SIZE: usize = 24;

/// What one process of one copy counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    /// [`crate::manifest::Manifest::program_bytes`].
    pub program: [u8; 16],
    /// Of this process, and of this runtime where shared libraries have their own: files with the same one hold
    /// the same counts, or an earlier state of them.
    pub unique: [u8; 16],
    /// The copy that wrote it.
    pub copy: CopyId,
    /// The number of copies.
    pub copies: u32,
    /// The process id.
    pub pid: u64,
    /// The id of the process that started it.
    pub parent: u64,
    /// The arguments of the process, its name first; a forked child has those of its parent. Empty where the
    /// system did not tell.
    pub arguments: Vec<Vec<u8>>,
    /// Whether there were more arguments than are kept (32 KiB).
    pub arguments_cut: bool,
    /// The working folder in which the process began, or its parent if it is a forked child. Empty: not known.
    pub folder: Vec<u8>,
    /// The name of the host.
    pub host: Vec<u8>,
    /// Whether the process ended normally.
    pub ended: bool,
    /// Whether the process had to drop counts.
    pub lost: bool,
    /// Whether it is of a forked child, which began inside the functions of its parent.
    pub child: bool,
    /// By function: what was counted.
    pub functions: BTreeMap<FuncId, RawFunction>,
}

/// The counts of one function, of all its bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawFunction {
    /// Id (as the copy numbers paths) → count, zero counts left out.
    pub counts: BTreeMap<u64, u64>,
    /// How often it was entered, if that is counted.
    pub entries: Option<u64>,
    /// How many probes it executed, if that is counted.
    pub hits: Option<u64>,
}

/// Parses a raw profile; the error is what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Raw, String> {
    let header = bytes
        .get(..HEADER_SIZE)
        .ok_or("not a raw profile: too short")?;
    let read = Reader {
        bytes,
        order: byte_order(header)?,
    };
    if read.u32(8) != VERSION {
        return Err(format!(
            "raw format version {} (this build: {VERSION})",
            read.u32(8)
        ));
    }
    let text = read.text()?;
    if (bytes.len() as u64) < read.u64(112) {
        let (is, should) = (bytes.len(), read.u64(112));
        return Err(format!("damaged: {is} bytes long instead of {should}"));
    }
    let mut raw = read.process(text)?;
    let page = usize::try_from(read.u64(72)).unwrap_or(0);
    if !page.is_power_of_two() || page < 4096 {
        return Err("damaged: page size".into());
    }
    let first = (HEADER_SIZE + text.len()).next_multiple_of(page);
    read.blocks(first, page, &mut raw)?;
    Ok(raw)
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Little,
    Big,
}

fn byte_order(header: &[u8]) -> Result<Order, String> {
    let magic: [u8; 8] = header[..8].try_into().expect("8 bytes");
    // The last byte is the version: a file of another one is still recognised.
    match (
        u64::from_le_bytes(magic) >> 8,
        u64::from_be_bytes(magic) >> 8,
    ) {
        (m, _) if m == MAGIC >> 8 => Ok(Order::Little),
        (_, m) if m == MAGIC >> 8 => Ok(Order::Big),
        _ => Err("not a raw profile".into()),
    }
}

/// Reads at offsets that were checked.
struct Reader<'a> {
    bytes: &'a [u8],
    order: Order,
}

impl<'a> Reader<'a> {
    /// The strings behind the header, once its checksum is right.
    fn text(&self) -> Result<&'a [u8], String> {
        let wrong = "damaged: the header's checksum is wrong";
        let text = self.bytes[HEADER_SIZE..]
            .get(..self.u32(88) as usize)
            .ok_or(wrong)?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&self.bytes[..HEADER_CRC_AT]);
        crc.update(text);
        let right =
            self.u32(12) as usize == HEADER_SIZE && crc.finalize() == self.u32(HEADER_CRC_AT);
        right.then_some(text).ok_or_else(|| wrong.into())
    }

    /// What the header says, without counts.
    fn process(&self, text: &[u8]) -> Result<Raw, String> {
        let mut strings: Vec<Vec<u8>> = text.split(|&b| b == 0).map(<[u8]>::to_vec).collect();
        // Arguments, folder, host, and nothing behind the last zero.
        if strings.pop() != Some(Vec::new()) || strings.len() != self.u32(84) as usize + 2 {
            return Err("damaged: the arguments of the process".into());
        }
        let (host, folder) = (strings.pop(), strings.pop());
        Ok(Raw {
            program: self.bytes[16..32].try_into().expect("16 bytes"),
            unique: self.bytes[32..48].try_into().expect("16 bytes"),
            copy: CopyId(self.u32(48)),
            copies: self.u32(52),
            pid: self.u64(56),
            parent: self.u64(64),
            arguments: strings,
            arguments_cut: self.u32(92) & 1 != 0,
            folder: folder.expect("counted"),
            host: host.expect("counted"),
            ended: self.u32(104) & 1 != 0,
            lost: self.u32(104) & 2 != 0,
            child: self.u32(104) & 4 != 0,
            functions: BTreeMap::new(),
        })
    }

    fn u32(&self, at: usize) -> u32 {
        let b = self.bytes[at..at + 4].try_into().expect("4 bytes");
        match self.order {
            Order::Little => u32::from_le_bytes(b),
            Order::Big => u32::from_be_bytes(b),
        }
    }

    fn u64(&self, at: usize) -> u64 {
        let b = self.bytes[at..at + 8].try_into().expect("8 bytes");
        match self.order {
            Order::Little => u64::from_le_bytes(b),
            Order::Big => u64::from_be_bytes(b),
        }
    }

    /// Walks the blocks from `at` on. Pages that were reserved and never became a block begin
    /// with zeros.
    fn blocks(&self, mut at: usize, page: usize, raw: &mut Raw) -> Result<(), String> {
        while at + BLOCK_SIZE <= self.bytes.len() {
            if self.u64(at) != BLOCK_MAGIC {
                if self.u64(at) != 0 {
                    return Err(format!("damaged: no block at {at}"));
                }
                at += page;
                continue;
            }
            let size = self.u64(at + 8);
            let end = (at as u64)
                .checked_add(size)
                .filter(|&e| e <= self.bytes.len() as u64);
            let (Some(end), true) = (
                end,
                size >= BLOCK_SIZE as u64 && size.is_multiple_of(page as u64),
            ) else {
                return Err(format!(
                    "damaged: the block at {at} is longer than the file"
                ));
            };
            match self.u32(at + 16) {
                1 => self.module(at, end as usize, raw)?,
                2 => self.arena(at + BLOCK_SIZE, end as usize, raw)?,
                kind => return Err(format!("damaged: block of kind {kind}")),
            }
            at = end as usize;
        }
        Ok(())
    }

    fn module(&self, at: usize, end: usize, raw: &mut Raw) -> Result<(), String> {
        let space = (end - at) as u64;
        let (records, counters, n) = (self.u64(at + 24), self.u64(at + 32), self.u64(at + 40));
        let table = records
            .checked_mul(FUNCTION_SIZE as u64)
            .and_then(|n| n.checked_add(64));
        let data = n.checked_mul(8).and_then(|n| n.checked_add(counters));
        let fits = table.is_some_and(|t| t <= counters && t <= space);
        if !fits || data.is_none_or(|d| d > space) {
            return Err("damaged: a module's counts lie outside its block".into());
        }
        let table = at + BLOCK_SIZE..at + 64 + records as usize * FUNCTION_SIZE;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&self.bytes[at + 8..at + 48]);
        crc.update(&self.bytes[table.clone()]);
        if crc.finalize() != self.u32(at + 60) {
            return Err("damaged: the checksum of a block is wrong".into());
        }
        for record in table.step_by(FUNCTION_SIZE) {
            self.function(record, at + counters as usize, n, raw)?;
        }
        Ok(())
    }

    fn function(
        &self,
        record: usize,
        counters: usize,
        n: u64,
        raw: &mut Raw,
    ) -> Result<(), String> {
        let (func, kind) = (FuncId(self.u32(record)), self.u32(record + 4));
        let (size, first) = (self.u64(record + 8), self.u64(record + 16));
        let function = raw.functions.entry(func).or_default();
        if kind == 1 {
            return Ok(()); // its counts are in chunks
        }
        if kind > 3 || first.checked_add(size).is_none_or(|end| end > n) {
            return Err(format!(
                "damaged: the counts of function {func} lie outside its block"
            ));
        }
        for id in 0..size {
            let count = self.u64(counters + (first + id) as usize * 8);
            match kind {
                0 => add(&mut function.counts, id, count)?,
                2 => function.entries = Some(sum(function.entries.unwrap_or(0), count)?),
                _ => function.hits = Some(sum(function.hits.unwrap_or(0), count)?),
            }
        }
        Ok(())
    }

    /// Walks the chunks of an arena; between them, what was reserved and never used is zero.
    fn arena(&self, mut at: usize, end: usize, raw: &mut Raw) -> Result<(), String> {
        while at + BLOCK_SIZE <= end {
            if self.u64(at) != CHUNK_MAGIC {
                if self.u64(at) != 0 {
                    return Err(format!("damaged: no table at {at}"));
                }
                at += BLOCK_SIZE;
                continue;
            }
            let (func, slots, ids) = (
                FuncId(self.u32(at + 8)),
                self.u64(at + 16),
                self.u64(at + 24),
            );
            let first = at + BLOCK_SIZE;
            let size = slots.checked_mul(16).filter(|&s| s <= (end - first) as u64);
            let size = size.ok_or_else(|| format!("damaged: the table at {at} is too long"))?;
            let function = raw.functions.entry(func).or_default();
            for slot in (first..first + size as usize).step_by(16) {
                let (key, count) = (self.u64(slot), self.u64(slot + 8));
                if key > ids {
                    return Err(format!("damaged: function {func} has no id {}", key - 1));
                }
                // A key without count: the process ended between the two.
                if key != 0 {
                    add(&mut function.counts, key - 1, count)?;
                }
            }
            at = (first + size as usize).next_multiple_of(BLOCK_SIZE);
        }
        Ok(())
    }
}

fn add(counts: &mut BTreeMap<u64, u64>, id: u64, count: u64) -> Result<(), String> {
    if count != 0 {
        let slot = counts.entry(id).or_default();
        *slot = sum(*slot, count)?;
    }
    Ok(())
}

fn sum(a: u64, b: u64) -> Result<u64, String> {
    a.checked_add(b)
        .ok_or_else(|| "damaged: a count overflows".into())
}
