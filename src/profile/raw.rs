//! Raw profiles, as the C runtime keeps them (`runtime-c/p3_format.h`, `docs/RAW_FORMAT.md`).
//!
//! The process may have been killed at any moment, so counts carry no checksum; everything that
//! describes them does, and nothing is believed before it was checked. A file is read once, in windows, and its
//! holes are skipped: time is linear in its data, memory in what was counted.

use crate::index::{CopyId, FuncId};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

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

/// What is read at once.
const WINDOW: u64 = 1 << 16;
/// No module has more functions: the file is damaged.
const MOST_FUNCTIONS: u64 = 1 << 22;
/// The runtime keeps 32 KiB of arguments, a path and a name.
const MOST_TEXT: u64 = 1 << 20;

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

/// Reads a raw profile, which a process may still be writing to; the error is what is wrong with it.
pub fn read(file: &File) -> Result<Raw, String> {
    parse_source(file)
}

/// Parses a raw profile that is in memory; the error is what is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Raw, String> {
    parse_source(&bytes)
}

fn parse_source(source: &dyn Source) -> Result<Raw, String> {
    let mut header = [0; HEADER_SIZE];
    source.read_at(&mut header, 0).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => "not a raw profile: too short".into(),
        _ => format!("cannot be read: {e}"),
    })?;
    let header = Header {
        order: byte_order(&header)?,
        bytes: header,
    };
    if header.u32(8) != VERSION {
        let version = header.u32(8);
        return Err(format!(
            "raw format version {version} (this build: {VERSION})"
        ));
    }
    // After the header: a file that grows is never shorter than the header said.
    let length = source
        .length()
        .map_err(|e| format!("cannot be read: {e}"))?;
    let mut reader = Reader {
        source,
        order: header.order,
        length,
        window: Vec::new(),
        start: 0,
    };
    let text = reader.text(&header)?;
    if length < header.u64(112) {
        let should = header.u64(112);
        return Err(format!("damaged: {length} bytes long instead of {should}"));
    }
    let mut raw = header.process(&text)?;
    let page = header.u64(72);
    if !page.is_power_of_two() || !(4096..=1 << 30).contains(&page) {
        return Err("damaged: page size".into());
    }
    let first = ((HEADER_SIZE + text.len()) as u64).next_multiple_of(page);
    reader.blocks(first, page, &mut raw)?;
    Ok(raw)
}

/// Where a raw profile is.
trait Source {
    /// Fills `out` from offset `at` on.
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()>;

    /// In bytes, now.
    fn length(&self) -> io::Result<u64>;

    /// The first offset from `at` on that may hold other bytes than zeros; `None`: there is none.
    fn data_from(&self, at: u64) -> io::Result<Option<u64>>;
}

impl Source for File {
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        self.read_exact_at(out, at)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn data_from(&self, at: u64) -> io::Result<Option<u64>> {
        match rustix::fs::seek(self, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => Ok(Some(data)),
            Err(rustix::io::Errno::NXIO) => Ok(None),
            // The file system does not know about holes.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::OPNOTSUPP) => Ok(Some(at)),
            Err(e) => Err(e.into()),
        }
    }
}

impl Source for &[u8] {
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let bytes = self.get(at..).and_then(|b| b.get(..out.len()));
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn data_from(&self, at: u64) -> io::Result<Option<u64>> {
        Ok(Some(at))
    }
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

impl Order {
    fn u32(self, bytes: &[u8]) -> u32 {
        let b = bytes[..4].try_into().expect("4 bytes");
        match self {
            Order::Little => u32::from_le_bytes(b),
            Order::Big => u32::from_be_bytes(b),
        }
    }

    fn u64(self, bytes: &[u8]) -> u64 {
        let b = bytes[..8].try_into().expect("8 bytes");
        match self {
            Order::Little => u64::from_le_bytes(b),
            Order::Big => u64::from_be_bytes(b),
        }
    }
}

struct Header {
    bytes: [u8; HEADER_SIZE],
    order: Order,
}

impl Header {
    fn u32(&self, at: usize) -> u32 {
        self.order.u32(&self.bytes[at..])
    }

    fn u64(&self, at: usize) -> u64 {
        self.order.u64(&self.bytes[at..])
    }

    /// What it says with the strings behind it, without counts.
    fn process(&self, text: &[u8]) -> Result<Raw, String> {
        let mut strings: Vec<Vec<u8>> = text.split(|&b| b == 0).map(<[u8]>::to_vec).collect();
        // Arguments, folder, host, and nothing behind the last zero.
        if strings.pop() != Some(Vec::new()) || strings.len() as u64 != u64::from(self.u32(84)) + 2
        {
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
}

/// One function record of a module.
struct Record {
    func: FuncId,
    kind: u32,
    size: u64,
    first: u64,
}

/// Reads at offsets below `length`, most often the next.
struct Reader<'a> {
    source: &'a dyn Source,
    order: Order,
    length: u64,
    /// The bytes from `start` on.
    window: Vec<u8>,
    start: u64,
}

impl Reader<'_> {
    /// `N` bytes at `at`.
    fn bytes<const N: usize>(&mut self, at: u64) -> Result<[u8; N], String> {
        if !self.has(at, N as u64) {
            self.fill(at)?;
        }
        let from = (at - self.start) as usize;
        let bytes = self.window.get(from..from + N);
        let bytes = bytes.ok_or("damaged: it ends too early")?;
        Ok(bytes.try_into().expect("N bytes"))
    }

    fn has(&self, at: u64, n: u64) -> bool {
        at >= self.start && at + n <= self.start + self.window.len() as u64
    }

    fn fill(&mut self, at: u64) -> Result<(), String> {
        self.start = at;
        self.window
            .resize(self.length.saturating_sub(at).min(WINDOW) as usize, 0);
        let read = self.source.read_at(&mut self.window, at);
        read.map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => "it became shorter while it was read".into(),
            _ => format!("cannot be read: {e}"),
        })
    }

    /// The first of `at`, `at + step`, … below `end` where 8 bytes are not zero, and these. Everything in a file
    /// becomes valid by such a word, written last.
    fn find(&mut self, mut at: u64, end: u64, step: u64) -> Result<Option<(u64, u64)>, String> {
        while end.checked_sub(at).is_some_and(|left| left >= 8) {
            if !self.has(at, 8) {
                let data = self.source.data_from(at);
                let Some(data) = data.map_err(|e| format!("cannot be read: {e}"))? else {
                    return Ok(None);
                };
                at += data.saturating_sub(at) / step * step;
                if at + 8 > end {
                    return Ok(None);
                }
            }
            let word = self.bytes::<8>(at)?;
            if word != [0; 8] {
                return Ok(Some((at, self.order.u64(&word))));
            }
            at += step;
        }
        Ok(None)
    }

    /// The strings behind the header, once its checksum is right.
    fn text(&mut self, header: &Header) -> Result<Vec<u8>, String> {
        let wrong = "damaged: the header's checksum is wrong";
        let size = u64::from(header.u32(88));
        if header.u32(12) as usize != HEADER_SIZE || size > self.length.min(MOST_TEXT) {
            return Err(wrong.into());
        }
        let mut text = vec![0; size as usize];
        self.source
            .read_at(&mut text, HEADER_SIZE as u64)
            .map_err(|_| wrong)?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header.bytes[..HEADER_CRC_AT]);
        crc.update(&text);
        let right = crc.finalize() == header.u32(HEADER_CRC_AT);
        right.then_some(text).ok_or_else(|| wrong.into())
    }

    /// Walks the blocks from `at` on. Pages that were reserved and never became a block begin
    /// with zeros.
    fn blocks(&mut self, mut at: u64, page: u64, raw: &mut Raw) -> Result<(), String> {
        while let Some((found, magic)) = self.find(at, self.length, page)? {
            if magic != BLOCK_MAGIC || self.length - found < BLOCK_SIZE as u64 {
                return Err(format!("damaged: no block at {found}"));
            }
            let header = self.bytes::<BLOCK_SIZE>(found)?;
            let size = self.order.u64(&header[8..]);
            let end = found.checked_add(size).filter(|&e| e <= self.length);
            let (Some(end), true) = (end, size >= BLOCK_SIZE as u64 && size.is_multiple_of(page))
            else {
                return Err(format!(
                    "damaged: the block at {found} is longer than the file"
                ));
            };
            match self.order.u32(&header[16..]) {
                1 => self.module(&header, found, end, raw)?,
                2 => self.arena(found + BLOCK_SIZE as u64, end, raw)?,
                kind => return Err(format!("damaged: block of kind {kind}")),
            }
            at = end;
        }
        Ok(())
    }

    fn module(
        &mut self,
        header: &[u8; BLOCK_SIZE],
        at: u64,
        end: u64,
        raw: &mut Raw,
    ) -> Result<(), String> {
        let space = end - at;
        let number = |at: usize| self.order.u64(&header[at..]);
        let (n, counters, n_counters) = (number(24), number(32), number(40));
        let table = n.checked_mul(FUNCTION_SIZE as u64);
        let table = table.and_then(|n| n.checked_add(BLOCK_SIZE as u64));
        let data = n_counters.checked_mul(8);
        let data = data.and_then(|n| n.checked_add(counters));
        let fits = table.is_some_and(|t| t <= counters && t <= space) && n <= MOST_FUNCTIONS;
        if !fits || data.is_none_or(|d| d > space) {
            return Err("damaged: a module's counts lie outside its block".into());
        }
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header[8..48]);
        let records = self.records(at + BLOCK_SIZE as u64, n, &mut crc)?;
        if crc.finalize() != self.order.u32(&header[60..]) {
            return Err("damaged: the checksum of a block is wrong".into());
        }
        // In order and disjoint: no counter is read twice.
        let mut free = 0;
        for record in records {
            let function = raw.functions.entry(record.func).or_default();
            if record.kind == 1 {
                continue; // its counts are in chunks
            }
            let last = record.first.checked_add(record.size);
            if record.kind > 3 || record.first < free || last.is_none_or(|l| l > n_counters) {
                let func = record.func;
                let problem = "overlap, or lie outside its block";
                return Err(format!("damaged: the counts of function {func} {problem}"));
            }
            self.function(&record, at + counters, function)?;
            free = record.first + record.size;
        }
        Ok(())
    }

    fn records(
        &mut self,
        at: u64,
        n: u64,
        crc: &mut crc32fast::Hasher,
    ) -> Result<Vec<Record>, String> {
        let mut records = Vec::new();
        for i in 0..n {
            let bytes = self.bytes::<FUNCTION_SIZE>(at + i * FUNCTION_SIZE as u64)?;
            crc.update(&bytes);
            records.push(Record {
                func: FuncId(self.order.u32(&bytes)),
                kind: self.order.u32(&bytes[4..]),
                size: self.order.u64(&bytes[8..]),
                first: self.order.u64(&bytes[16..]),
            });
        }
        Ok(records)
    }

    fn function(
        &mut self,
        record: &Record,
        counters: u64,
        to: &mut RawFunction,
    ) -> Result<(), String> {
        let first = counters + record.first * 8;
        let (mut at, end) = (first, first + record.size * 8);
        match record.kind {
            2 => to.entries = to.entries.or(Some(0)),
            3 => to.hits = to.hits.or(Some(0)),
            _ => {}
        }
        while let Some((found, count)) = self.find(at, end, 8)? {
            match record.kind {
                0 => add(&mut to.counts, (found - first) / 8, count)?,
                2 => to.entries = Some(sum(to.entries.unwrap_or(0), count)?),
                _ => to.hits = Some(sum(to.hits.unwrap_or(0), count)?),
            }
            at = found + 8;
        }
        Ok(())
    }

    /// Walks the chunks of an arena; between them, what was reserved and never used is zero.
    fn arena(&mut self, mut at: u64, end: u64, raw: &mut Raw) -> Result<(), String> {
        while let Some((found, magic)) = self.find(at, end, BLOCK_SIZE as u64)? {
            if magic != CHUNK_MAGIC || end - found < BLOCK_SIZE as u64 {
                return Err(format!("damaged: no table at {found}"));
            }
            let header = self.bytes::<BLOCK_SIZE>(found)?;
            let (func, slots, ids) = (
                FuncId(self.order.u32(&header[8..])),
                self.order.u64(&header[16..]),
                self.order.u64(&header[24..]),
            );
            let first = found + BLOCK_SIZE as u64;
            let size = slots.checked_mul(16).filter(|&s| s <= end - first);
            let size = size.ok_or_else(|| format!("damaged: the table at {found} is too long"))?;
            let counts = &mut raw.functions.entry(func).or_default().counts;
            self.chunk(first, first + size, counts, ids)
                .map_err(|p| format!("{p} in function {func}"))?;
            at = (first + size).next_multiple_of(BLOCK_SIZE as u64);
        }
        Ok(())
    }

    /// The slots of a table whose ids are below `ids`.
    fn chunk(
        &mut self,
        mut at: u64,
        end: u64,
        counts: &mut BTreeMap<u64, u64>,
        ids: u64,
    ) -> Result<(), String> {
        while let Some((found, key)) = self.find(at, end, 16)? {
            if key > ids {
                return Err(format!("damaged: there is no id {}", key - 1));
            }
            // A key without count: the process ended between the two.
            let count = self.bytes::<8>(found + 8)?;
            add(counts, key - 1, self.order.u64(&count))?;
            at = found + 16;
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
