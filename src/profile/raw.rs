//! Raw profiles, as the C runtime writes them (`runtime-c/p3_format.h`, `docs/RAW_FORMAT.md`).
//!
//! Nothing is believed before it was checked: magic, version, length, checksums, then every
//! offset. No more memory is used than the file is long.

use crate::index::{CopyId, FuncId};

/// `P3_RAW_MAGIC`.
pub const MAGIC: u64 = 0xff70_3372_6177_ff01;
/// `P3_RAW_VERSION`.
pub const VERSION: u32 = 1;
/// `sizeof(struct p3_raw_header)`.
pub const HEADER_SIZE: usize = 80;
/// `offsetof(struct p3_raw_header, header_crc)`.
pub const HEADER_CRC_AT: usize = 76;
/// `sizeof(struct p3_raw_module)`.
pub const MODULE_SIZE: usize = 8;
/// `sizeof(struct p3_raw_function)`.
pub const FUNCTION_SIZE: usize = 32;

/// What one run of one copy counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// [`crate::manifest::Manifest::program_bytes`].
    pub program: [u8; 16],
    /// The copy that wrote it.
    pub copy: CopyId,
    /// The number of copies.
    pub copies: u32,
    /// One for each function body; several may be of one function.
    pub functions: Vec<RawFunction>,
}

/// The counts of one function body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFunction {
    /// The function.
    pub func: FuncId,
    /// One more than the largest id.
    pub ids: u64,
    /// Id (as the copy numbers paths) and count, zero counts left out.
    pub counts: Vec<(u64, u64)>,
}

/// Parses a raw profile; the error is what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Raw, String> {
    let header = bytes
        .get(..HEADER_SIZE)
        .ok_or("not a raw profile: too short")?;
    let order = byte_order(header)?;
    let read = Reader { bytes, order };
    if read.u32(8) != VERSION {
        return Err(format!(
            "raw format version {} (this build: {VERSION})",
            read.u32(8)
        ));
    }
    if read.u32(12) as usize != HEADER_SIZE {
        return Err("damaged: header size".into());
    }
    if crc32fast::hash(&header[..HEADER_CRC_AT]) != read.u32(HEADER_CRC_AT) {
        return Err("damaged: the header's checksum is wrong".into());
    }
    if read.u64(16) != bytes.len() as u64 {
        let (is, should) = (bytes.len(), read.u64(16));
        return Err(format!("damaged: {is} bytes long instead of {should}"));
    }
    if crc32fast::hash(&bytes[HEADER_SIZE..]) != read.u32(72) {
        return Err("damaged: the checksum is wrong".into());
    }
    let functions = functions(&read, read.u32(48) as usize, read.u32(52) as usize)?;
    Ok(Raw {
        program: header[24..40].try_into().expect("16 bytes"),
        copy: CopyId(read.u32(40)),
        copies: read.u32(44),
        functions,
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Little,
    Big,
}

fn byte_order(header: &[u8]) -> Result<Order, String> {
    let magic: [u8; 8] = header[..8].try_into().expect("8 bytes");
    match (u64::from_le_bytes(magic), u64::from_be_bytes(magic)) {
        (MAGIC, _) => Ok(Order::Little),
        (_, MAGIC) => Ok(Order::Big),
        _ => Err("not a raw profile".into()),
    }
}

/// Reads at offsets that were checked.
struct Reader<'a> {
    bytes: &'a [u8],
    order: Order,
}

impl Reader<'_> {
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
}

fn functions(read: &Reader, modules: usize, count: usize) -> Result<Vec<RawFunction>, String> {
    let first = HEADER_SIZE + modules.saturating_mul(MODULE_SIZE);
    let end = first.saturating_add(count.saturating_mul(FUNCTION_SIZE));
    if end > read.bytes.len() {
        return Err("damaged: its tables are longer than the file".into());
    }
    (0..count)
        .map(|i| function(read, first + i * FUNCTION_SIZE, end))
        .collect()
}

fn function(read: &Reader, at: usize, data: usize) -> Result<RawFunction, String> {
    let (func, kind, ids) = (FuncId(read.u32(at)), read.u32(at + 4), read.u64(at + 8));
    let (offset, entries) = (read.u64(at + 16), read.u64(at + 24));
    let size = match kind {
        0 => 8,
        1 => 16,
        _ => return Err(format!("damaged: function {func} counts in kind {kind}")),
    };
    let length = read.bytes.len() as u64;
    let end = entries
        .checked_mul(size)
        .and_then(|n| n.checked_add(offset));
    let fits = offset >= data as u64 && offset % 8 == 0 && end.is_some_and(|e| e <= length);
    if !fits || kind == 0 && entries != ids {
        return Err(format!(
            "damaged: the counts of function {func} lie outside the file"
        ));
    }
    let at = |i: u64| (offset + i * size) as usize;
    let counts: Vec<(u64, u64)> = match kind {
        0 => (0..entries)
            .map(|i| (i, read.u64(at(i))))
            .filter(|c| c.1 != 0)
            .collect(),
        _ => (0..entries)
            .map(|i| (read.u64(at(i)), read.u64(at(i) + 8)))
            .filter(|&(key, count)| key != 0 && count != 0)
            .map(|(key, count)| (key - 1, count))
            .collect(),
    };
    match counts.iter().find(|c| c.0 >= ids) {
        Some((id, _)) => Err(format!("damaged: function {func} has no id {id}")),
        None => Ok(RawFunction { func, ids, counts }),
    }
}
