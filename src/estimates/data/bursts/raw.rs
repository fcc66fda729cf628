//! What shadows counted in bursts.

use super::Shadows;
use crate::base::index::FuncId;
use crate::estimates::data::interface::Place;
use crate::runtime::format::{self, Burst as Record, BurstCall, BurstPath, Shadows as Numbers};
use crate::runtime::problem::{Problem, damaged};
use crate::runtime::window::{Crc, Window};
use std::mem::{offset_of, size_of};
use zerocopy::FromBytes;
use zerocopy::byteorder::{ByteOrder, LE};

const SIZE: usize = size_of::<Record<LE>>();
const PATH: usize = size_of::<BurstPath<LE>>();
const CALL: usize = size_of::<BurstCall<LE>>();

/// What a shadow counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Burst {
    /// Why it ended: [`format::END_BURST`] and its like.
    pub why: u32,
    /// The number of the system call or signal by which it did.
    pub detail: u32,
    /// Instructions that were counted.
    pub instructions: u64,
    /// Processor time that counting it took.
    pub nanoseconds: u64,
    /// Processor time that the program itself takes for the same, estimated, in nanoseconds (never zero).
    pub native: u64,
    /// Whether a twin found that out: else it is what counting took, of which others tell how much is the program's.
    pub timed: bool,
    /// What the burst stands for: processor time of the program from one burst to the next, on average, in nanoseconds
    /// (never zero).
    pub period: u64,
    /// Function, id as the copy numbers paths, and count (never zero).
    pub paths: Vec<(FuncId, u64, u64)>,
    /// System call, treatment ([`format::CALL_ALLOWED`] and its like), and how often.
    pub calls: Vec<(u32, u32, u64)>,
}

/// What became of the shadows of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShadowsOfProcess {
    /// All of them.
    pub all: Shadows,
    /// Why there were no more while the program ran on: 1: it filters its system calls; 2: it uses the timer's signal;
    /// 0: they went on.
    pub ended: u64,
}

/// Reads the burst whose block is at `place`.
pub(crate) fn read<O: ByteOrder>(window: &mut Window<O>, place: Place) -> Result<Burst, Problem> {
    let (at, end) = (place.inside, place.end);
    let wrong = || damaged(format!("the burst at {at}"));
    let head = window.bytes(at, SIZE)?.to_vec();
    let record = Record::<O>::read_from_bytes(&head).expect("of its size");
    let (paths, calls) = (record.n_paths.get(), u64::from(record.n_calls.get()));
    let size = paths
        .checked_mul(PATH as u64)
        .and_then(|n| n.checked_add(SIZE as u64 + calls * CALL as u64))
        .filter(|n| *n <= end - at)
        .ok_or_else(wrong)?;
    let mut crc = Crc::new();
    crc.update(&head[offset_of!(Record<LE>, why)..]);
    let mut burst = Burst {
        why: record.why.get(),
        detail: record.detail.get(),
        instructions: record.instructions.get(),
        nanoseconds: record.nanoseconds.get(),
        native: record.native.get(),
        timed: record.timed.get() == 1,
        period: record.period.get(),
        ..Burst::default()
    };
    let first_call = at + SIZE as u64 + paths * PATH as u64;
    for i in 0..paths {
        let bytes = window.bytes(at + SIZE as u64 + i * PATH as u64, PATH)?;
        crc.update(bytes);
        let path = BurstPath::<O>::read_from_bytes(bytes).expect("of its size");
        let func = FuncId(path.func.get());
        burst.paths.push((func, path.id.get(), path.count.get()));
    }
    for i in 0..calls {
        let bytes = window.bytes(first_call + i * CALL as u64, CALL)?;
        crc.update(bytes);
        let call = BurstCall::<O>::read_from_bytes(bytes).expect("of its size");
        let call = (call.number.get(), call.treatment.get(), call.count.get());
        burst.calls.push(call);
    }
    let known = burst.why <= format::END_JUMP
        && burst.native > 0
        && burst.period > 0
        && record.timed.get() <= 1
        && burst.calls.iter().all(|c| c.1 <= format::CALL_ENDED)
        && burst.paths.iter().all(|p| p.2 > 0);
    let whole = size + size_of::<format::Block<LE>>() as u64 == record.size.get();
    if !known || !whole || crc.finalize() != record.crc.get() {
        return Err(wrong());
    }
    Ok(burst)
}

/// Reads the numbers at `at`, which may still change.
pub(crate) fn numbers<O: ByteOrder>(
    window: &mut Window<O>,
    at: u64,
) -> Result<ShadowsOfProcess, Problem> {
    let bytes = window.bytes(at, size_of::<Numbers<O>>())?;
    let numbers = Numbers::<O>::read_from_bytes(bytes).expect("of its size");
    Ok(ShadowsOfProcess {
        all: Shadows {
            length: numbers.burst.get(),
            started: numbers.started.get(),
            not_written: numbers.not_written.get(),
            not_forked: numbers.not_forked.get(),
            busy: numbers.busy.get(),
            short_of_memory: numbers.short_of_memory.get(),
            load: numbers.load.get(),
            cost: numbers.cost.get(),
            spent: numbers.spent.get(),
            time: numbers.time.get(),
            lived: numbers.lived.get(),
        },
        ended: numbers.ended.get(),
    })
}
