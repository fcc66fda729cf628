//! Raw profiles, as the C runtime keeps them ([`crate::runtime::format`], `docs/RAW_FORMAT.md`).
//!
//! The process may have been killed at any moment, so counts carry no checksum; everything that
//! describes them does, and nothing is believed before it was checked. A file is read once, in windows, and its
//! holes are skipped: time is linear in its data, memory in what was counted.

use crate::base::index::{CopyId, FuncId};
use crate::estimates::data;
use crate::runtime::format::{self, Block, Function, Header};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use zerocopy::byteorder::{BE, ByteOrder, LE, U32};
use zerocopy::{FromBytes, IntoBytes};

pub mod absent;
mod area;
mod aside;
mod counts;
mod names;
mod started;
#[cfg(test)]
mod tests;
mod threads;
mod version;

pub use crate::runtime::format::{BLOCK_MAGIC, CHUNK_MAGIC, MAGIC, VERSION};
pub use crate::runtime::problem::Problem;
use crate::runtime::problem::damaged;
use crate::runtime::source::Source;
use crate::runtime::window::{Crc, Window};
use area::Described;
use aside::Aside;
pub use names::ThreadName;
pub use started::Started;
pub(super) use started::hash_start;
pub use threads::Threads;
pub use version::remedy;

/// The size of a file's header.
pub const HEADER_SIZE: usize = size_of::<Header<LE>>();
/// Where its checksum is.
pub const HEADER_CRC_AT: usize = format::HEADER_CHECKED.end;
/// The size of the header of a block, and of a chunk.
pub const BLOCK_SIZE: usize = size_of::<Block<LE>>();
/// The size of a function record.
pub const FUNCTION_SIZE: usize = size_of::<Function<LE>>();

/// While it is read, a process may set its counts aside so often.
const ATTEMPTS: u32 = 20;
/// No module has more functions: the file is damaged.
const MOST_FUNCTIONS: u64 = 1 << 22;
/// The runtime keeps 32 KiB of arguments, a path and a name.
const MOST_TEXT: u64 = 1 << 20;

/// What one process of one copy counted, or, in a file of a pool, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    /// [`crate::profile::manifest::Manifest::program_bytes`].
    pub program: [u8; 16],
    /// Of this file: others with the same one hold the same counts, or an earlier state of them.
    pub unique: [u8; 16],
    /// What all files have in common that one process filled one after the other.
    pub series: [u8; 16],
    /// How many of those came before this one, if none of their counts was dropped.
    pub epoch: u32,
    /// The copy that wrote it.
    pub copy: CopyId,
    /// The number of copies.
    pub copies: u32,
    /// Process id of the first that counted.
    pub pid: u64,
    /// The id of the process that started it.
    pub parent: u64,
    /// The name of the host.
    pub host: Vec<u8>,
    /// Whether other processes may still add to it.
    pub pooled: bool,
    /// Of a pool: the id of the process that counts here, or did last; 0 where none does.
    pub owner: u64,
    /// How many processes were started and counted here.
    pub runs: u64,
    /// How many forked children did, which began inside the functions of their parents.
    pub children: u64,
    /// How many of both ended normally.
    pub ended: u64,
    /// How many of the children did.
    pub children_ended: u64,
    /// How many of both ended normally while threads of theirs were inside functions: not among `ended`.
    pub ended_with_threads: u64,
    /// How they were started: not all, where a process was killed in its first moments, or many differ.
    pub started: Vec<Started>,
    /// How many of their forked children have no file: nothing of what these counted is known.
    pub absent: u64,
    /// Whether counts had to be dropped, or are in the process's memory alone.
    pub lost: bool,
    /// Whether threads may have lost counts.
    pub threads: Threads,
    /// By function: what was counted.
    pub functions: BTreeMap<FuncId, RawFunction>,
    /// By number of the shift: what was counted there, where threads had counters of their own. Empty if all was
    /// counted at one.
    pub shifts: BTreeMap<u32, BTreeMap<FuncId, RawFunction>>,
    /// By number of the shift: the threads that counted there, as far as the process noted them.
    pub names: BTreeMap<u32, ThreadName>,
    /// What a program that is estimated wrote.
    pub estimates: data::InRaw,
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
    /// What forked children did in it, by counter ([`crate::copies::plan::forks`]), zero counts left out.
    pub forks: BTreeMap<u64, u64>,
}

/// Reads a raw profile, which a process may still be writing to.
pub fn read(file: &File) -> Result<Raw, Problem> {
    parse_source(file)
}

/// Parses a raw profile that is in memory.
pub fn parse(bytes: &[u8]) -> Result<Raw, Problem> {
    parse_source(&bytes)
}

fn parse_source(source: &dyn Source) -> Result<Raw, Problem> {
    let mut magic = [0; 8];
    let read = source.read_at(&mut magic, 0);
    read.map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => Problem::TooShort,
        _ => e.into(),
    })?;
    // The last byte is the version: a file of another one is still recognised.
    let is_magic = |word: u64| word >> 8 == MAGIC >> 8;
    for _ in 0..ATTEMPTS {
        let parsed = if is_magic(u64::from_le_bytes(magic)) {
            Reader::<LE>::new(source)?.parse()?
        } else if is_magic(u64::from_be_bytes(magic)) {
            Reader::<BE>::new(source)?.parse()?
        } else {
            return Err(Problem::NotRaw);
        };
        if let Some(raw) = parsed {
            return Ok(raw);
        }
    }
    Err(Problem::SetAside)
}

/// A raw profile that is read.
struct Reader<'a, O> {
    window: Window<'a, O>,
    /// The header as it was when the reader was made.
    header: Vec<u8>,
    /// What blocks held when their counts were set aside, by kind, number and shift.
    aside: HashMap<(u32, u32, u32), aside::Area>,
}

impl<'a, O: ByteOrder> Reader<'a, O> {
    fn new(source: &'a dyn Source) -> Result<Self, Problem> {
        let mut header = vec![0; HEADER_SIZE];
        let read = source.read_at(&mut header, 0);
        read.map_err(|_| Problem::TooShort)?;
        version::complete_header::<O>(&mut header);
        // After the header: a file that grows is never shorter than the header said.
        let length = source.length();
        Ok(Reader {
            window: Window::new(source, length?),
            header,
            aside: HashMap::new(),
        })
    }

    /// What it holds; `None`: its counts were set aside meanwhile.
    fn parse(mut self) -> Result<Option<Raw>, Problem> {
        let header = Header::<O>::read_from_bytes(&self.header).expect("of its size");
        let version = header.version.get();
        let header_size = version::header_size(version).ok_or(Problem::Version(version))?;
        let text = self.read_text(&header, header_size)?;
        let should = header.file_size.get();
        if self.window.length < should {
            let length = self.window.length;
            return Err(Problem::Cut { length, should });
        }
        let mut raw = read_process(&header, &text)?;
        let page = header.page.get();
        if !page.is_power_of_two() || !(4096..=1 << 30).contains(&page) {
            return Err(damaged("page size"));
        }
        let first = ((header_size + text.len()) as u64).next_multiple_of(page);
        let epoch = header.epoch.get();
        if epoch > 0 {
            self.find_aside(first, page, epoch)?;
        }
        let read = self.read_blocks(first, page, &mut raw);
        if self.epoch()? != epoch {
            return Ok(None);
        }
        read?;
        add_up_shifts(&mut raw)?;
        Ok(Some(raw))
    }

    /// How often counts were set aside until now.
    fn epoch(&self) -> Result<u32, Problem> {
        let mut bytes = [0; 4];
        let at = std::mem::offset_of!(Header<O>, epoch) as u64;
        let read = self.window.source.read_at(&mut bytes, at);
        read?;
        Ok(U32::<O>::from_bytes(bytes).get())
    }

    /// The strings behind the header, once its checksum is right.
    fn read_text(&mut self, header: &Header<O>, header_size: usize) -> Result<Vec<u8>, Problem> {
        let wrong = || damaged("the header's checksum is wrong");
        let size = u64::from(header.text_size.get());
        if header.header_size.get() as usize != header_size
            || size > self.window.length.min(MOST_TEXT)
        {
            return Err(wrong());
        }
        let mut text = vec![0; size as usize];
        self.window
            .source
            .read_at(&mut text, header_size as u64)
            .map_err(|_| wrong())?;
        let mut crc = Crc::new();
        crc.update(&self.header[format::HEADER_CHECKED]);
        crc.update(&text);
        let right = crc.finalize() == header.header_crc.get();
        right.then_some(text).ok_or_else(wrong)
    }

    /// Walks the blocks from `at` on. Pages that were reserved and never became a block begin
    /// with zeros.
    fn read_blocks(&mut self, mut at: u64, page: u64, raw: &mut Raw) -> Result<(), Problem> {
        while let Some((found, block, mut crc)) = self.next_block(at, page)? {
            let end = found + block.size.get();
            let kind = block.kind.get();
            if matches!(kind, format::MODULE | format::AREA) {
                match block.used.get() {
                    0 => {}
                    format::BLOCK_BEGUN => {
                        at = end;
                        continue;
                    }
                    _ => return Err(damaged("what a block says of its writing is wrong")),
                }
            }
            let modules = match kind {
                format::MODULE => vec![self.read_only_module(&block, found, end, &mut crc)?],
                format::AREA => self.read_modules(&block, found, end, &mut crc)?,
                format::ARENA
                | format::STARTED
                | format::SAMPLE
                | format::BURST
                | format::SHADOWS
                | format::PAST
                | format::NAMES => Vec::new(),
                _ => return Err(damaged(format!("block of kind {kind}"))),
            };
            if with_shift(crc, &block.shift) != block.crc.get() {
                return Err(damaged("the checksum of a block is wrong"));
            }
            let inside = found + BLOCK_SIZE as u64;
            match kind {
                format::MODULE | format::AREA => {
                    let mut aside = self.baseline_from(&block, found + block.counters_offset.get());
                    let functions = raw.shifts.entry(block.shift.get()).or_default();
                    for module in modules {
                        self.read_module(&module, found, &mut aside, functions)?;
                    }
                }
                format::ARENA => {
                    let aside = self.baseline_from(&block, found);
                    self.read_arena(inside, end, aside, raw)?;
                }
                format::PAST => {}
                format::STARTED => started::read(&mut self.window, inside, end, raw)?,
                format::NAMES => {
                    let number = block.module.get();
                    names::read(&mut self.window, number, inside, end, &mut raw.names)?;
                }
                _ => {
                    let place = data::Place { found, inside, end };
                    raw.estimates.read(kind, &mut self.window, place)?;
                }
            }
            at = end;
        }
        Ok(())
    }

    /// The first block from `at` on: where it is, its header, and the checksum of that.
    fn next_block(&mut self, at: u64, page: u64) -> Result<Option<(u64, Block<O>, Crc)>, Problem> {
        let Some((found, magic)) = self.window.find(at, self.window.length, page)? else {
            return Ok(None);
        };
        if magic != BLOCK_MAGIC || self.window.length - found < BLOCK_SIZE as u64 {
            return Err(damaged(format!("no block at {found}")));
        }
        let (block, crc) = self
            .window
            .checked::<Block<O>>(found, format::BLOCK_CHECKED)?;
        let size = block.size.get();
        let fits = found
            .checked_add(size)
            .is_some_and(|e| e <= self.window.length);
        if !fits || size < BLOCK_SIZE as u64 || !size.is_multiple_of(page) {
            return Err(damaged(format!(
                "the block at {found} is longer than the file"
            )));
        }
        Ok(Some((found, block, crc)))
    }

    /// The module that has the block from `at` to `end` for itself.
    fn read_only_module(
        &mut self,
        block: &Block<O>,
        at: u64,
        end: u64,
        crc: &mut Crc,
    ) -> Result<Described<O>, Problem> {
        let (counters, n_counters) = (block.counters_offset.get(), block.n_counters.get());
        let data = n_counters.checked_mul(8);
        let data = data.and_then(|n| n.checked_add(counters));
        if data.is_none_or(|d| d > end - at) {
            return Err(damaged("a module's counts lie outside its block"));
        }
        let records = self.read_records(block, at, at + counters, crc)?;
        Ok(Described {
            records,
            counters,
            n_counters,
        })
    }

    /// The function records of a module that is described from `at` on, once it is known that they end at `end`.
    fn read_records(
        &mut self,
        block: &Block<O>,
        at: u64,
        end: u64,
        crc: &mut Crc,
    ) -> Result<Vec<Function<O>>, Problem> {
        let n = block.n_functions.get();
        let table = n.checked_mul(FUNCTION_SIZE as u64);
        let table = table.and_then(|n| n.checked_add(BLOCK_SIZE as u64));
        if table.is_none_or(|t| t > end - at) || n > MOST_FUNCTIONS {
            return Err(damaged("a module's counts lie outside its block"));
        }
        let first = at + BLOCK_SIZE as u64;
        let mut records = Vec::new();
        for i in 0..n {
            let bytes = self
                .window
                .bytes(first + i * FUNCTION_SIZE as u64, FUNCTION_SIZE)?;
            crc.update(bytes);
            records.push(Function::read_from_bytes(bytes).expect("of its size"));
        }
        Ok(records)
    }
}

/// What the header and the strings behind it say, without counts.
fn read_process<O: ByteOrder>(header: &Header<O>, text: &[u8]) -> Result<Raw, Problem> {
    // Arguments, folder, host, and nothing behind the last zero.
    let mut strings = started::split_strings(text, u64::from(header.arguments.get()) + 2)
        .ok_or_else(|| damaged("the arguments of the process"))?;
    let (host, folder) = (strings.pop(), strings.pop());
    let flags = header.flags.get();
    let (mut runs, mut children) = (header.runs.get(), header.children.get());
    let ended = header.ended.get();
    if !runs
        .checked_add(children)
        .is_some_and(|n| n > 0 && ended <= n)
    {
        return Err(damaged(
            "the number of processes (children by clone or _Fork count here: let them end by _exit)",
        ));
    }
    let (mut unique, epoch) = (header.unique, header.epoch.get());
    if epoch > 0 {
        // It begins inside the functions that run, as a forked child does.
        (runs, children) = (0, runs + children);
    }
    for (byte, part) in unique[12..].iter_mut().zip(epoch.to_le_bytes()) {
        *byte ^= part;
    }
    let pooled = header.boot != [0; 16];
    let first = Started {
        arguments: strings,
        cut: header.process.get() & format::ARGUMENTS_CUT != 0,
        folder: folder.expect("counted"),
        runs,
        children,
        ended,
    };
    Ok(Raw {
        program: header.program,
        unique,
        series: header.unique,
        epoch,
        copy: CopyId(header.copy.get()),
        copies: header.copies.get(),
        pid: header.pid.get(),
        parent: header.parent.get(),
        host: host.expect("counted"),
        pooled,
        owner: header.owner.get(),
        runs,
        children,
        ended,
        children_ended: header.children_ended.get().min(ended).min(children),
        ended_with_threads: header
            .ended_with_threads
            .get()
            .min(runs.saturating_add(children) - ended),
        absent: header.absent.get(),
        // A pool's file has records of all that counted.
        started: if pooled { Vec::new() } else { vec![first] },
        lost: flags & (format::LOST | format::UNSAVED) != 0,
        threads: Threads::from_header(header),
        functions: BTreeMap::new(),
        shifts: BTreeMap::new(),
        names: BTreeMap::new(),
        estimates: data::InRaw::default(),
    })
}

/// The checksum of what `crc` is of, and of the shift of a thread unless it is 0.
fn with_shift<O: ByteOrder>(mut crc: Crc, shift: &U32<O>) -> u32 {
    if shift.get() != 0 {
        crc.update(shift.as_bytes());
    }
    crc.finalize()
}

/// Makes the functions' counts of those at all shifts; counts of one shift are not kept apart.
fn add_up_shifts(raw: &mut Raw) -> Result<(), Problem> {
    if raw.shifts.len() <= 1 {
        let only = std::mem::take(&mut raw.shifts).into_values().next();
        raw.functions = only.unwrap_or_default();
        return Ok(());
    }
    for (func, at_shift) in raw.shifts.values().flatten() {
        let all = raw.functions.entry(*func).or_default();
        for (id, count) in &at_shift.counts {
            add_count(&mut all.counts, *id, *count)?;
        }
        for (counter, count) in &at_shift.forks {
            add_count(&mut all.forks, *counter, *count)?;
        }
        add_if_counted(&mut all.entries, at_shift.entries)?;
        add_if_counted(&mut all.hits, at_shift.hits)?;
    }
    Ok(())
}

fn add_if_counted(all: &mut Option<u64>, more: Option<u64>) -> Result<(), Problem> {
    if let Some(more) = more {
        *all = Some(sum_or_overflow(all.unwrap_or(0), more)?);
    }
    Ok(())
}

fn add_count(counts: &mut BTreeMap<u64, u64>, id: u64, count: u64) -> Result<(), Problem> {
    if count != 0 {
        let slot = counts.entry(id).or_default();
        *slot = sum_or_overflow(*slot, count)?;
    }
    Ok(())
}

fn sum_or_overflow(a: u64, b: u64) -> Result<u64, Problem> {
    a.checked_add(b).ok_or_else(|| damaged("a count overflows"))
}
