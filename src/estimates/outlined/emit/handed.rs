//! The values that an activation takes along into another function, and where they are handed over.

use super::live::{How, Live, Saving, values_at};
use super::shift::Shifts;
use crate::base::index::BlockId;
use crate::input::ir::Cfg;
use crate::paths::dag::Order;
use crate::write::emit::llvm;
use crate::write::emit::llvm::inst::{self, Inst, phis};
use crate::write::emit::llvm::value::Value;
use crate::write::emit::place;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;
use rustc_hash::FxHashMap;

/// What depends on the frame or on the parameters of the function that it is called in.
const OF_A_FRAME: [&str; 14] = [
    "llvm.addressofreturnaddress",
    "llvm.call.preallocated",
    "llvm.coro.",
    "llvm.eh.sjlj",
    "llvm.experimental.gc.",
    "llvm.frameaddress",
    "llvm.gcroot",
    "llvm.get.dynamic.area",
    "llvm.localescape",
    "llvm.localrecover",
    "llvm.returnaddress",
    "llvm.sponentry",
    "llvm.stackrestore",
    "llvm.va_start",
];

/// Parameters that only a function with the same ones could take over.
const OF_A_CALL: [&str; 5] = [
    "inalloca",
    "preallocated",
    "swifterror",
    "swiftself",
    "swiftasync",
];

/// The values that are handed over, and where.
pub(crate) struct Handed {
    /// The headers, in the order of block 0's successors; there may be several ways to one.
    pub headers: Vec<BlockId>,
    /// What is live at any of them.
    pub live: Vec<Live>,
    /// Where, by live value: an offset in the buffer, unless it is computed.
    pub live_at: Vec<Option<u64>>,
    /// By header: the numbers of the live values that are handed over there, ascending.
    at_headers: Vec<Vec<u32>>,
    /// Where φs are handed over, by header and φ of the header: offsets in the buffer.
    pub phis_at: Vec<Vec<u64>>,
    /// What is added to φs before that; nothing, unless it is chosen.
    pub shifts: Shifts,
    /// The bytes of the buffer.
    pub size: u64,
}

impl Handed {
    /// What is handed over at `headers`, blocks of the function whose control flow is `cfg`. `None` where an activation
    /// cannot go on in another function.
    pub(crate) fn new(
        target: &TargetData,
        function: FunctionValue,
        cfg: &Cfg,
        order: &Order,
        headers: Vec<BlockId>,
        saving: Saving,
    ) -> Option<Self> {
        if !may_move(function, cfg) || !has_places(function, &headers) {
            return None;
        }
        let live = values_at(function, cfg, order, &headers, target, saving)?;
        let blocks = llvm::blocks(function);
        let mut room = Room(0);
        let at = |l: &Live| match l.how {
            How::Handed(size) => Some(room.reserve(size)),
            How::Computed | How::Folded | How::SumLess { .. } => None,
        };
        let live_at: Vec<Option<u64>> = live.iter().map(at).collect();
        let mut at_headers = vec![Vec::new(); headers.len()];
        for ((number, live), at) in (0..).zip(&live).zip(&live_at) {
            if at.is_some() {
                live.at
                    .iter()
                    .for_each(|h| at_headers[*h as usize].push(number));
            }
        }
        let values_end = room.0;
        let mut by_header: FxHashMap<BlockId, Vec<u64>> = FxHashMap::default();
        for header in &headers {
            if by_header.contains_key(header) {
                continue;
            }
            // Control goes over at one of them: φs of all headers have the same room.
            let mut own = Room(values_end);
            let mut at = Vec::new();
            for phi in phis(blocks[*header]) {
                at.push(own.reserve(phi.value().size(target)?));
            }
            by_header.insert(*header, at);
            room.0 = room.0.max(own.0);
        }
        let phis_at = headers.iter().map(|h| by_header[h].clone()).collect();
        Some(Handed {
            headers,
            live,
            live_at,
            at_headers,
            phis_at,
            shifts: Shifts::default(),
            size: room.0,
        })
    }

    /// Makes sums that their operands are computed from such that this is always right.
    pub(crate) fn let_sums_wrap(&self) {
        for live in &self.live {
            if let How::SumLess { of, .. } = live.how {
                of.let_wrap();
            }
        }
    }

    /// What is live at header number `n`, its φs apart, and where each value is handed over.
    pub(crate) fn live_at_header(&self, n: usize) -> impl Iterator<Item = (Value, u64)> {
        self.at_headers[n].iter().map(|&number| {
            let (live, at) = (&self.live[number as usize], self.live_at[number as usize]);
            (live.value, at.expect("it is handed over"))
        })
    }
}

/// Memory that is given away from its beginning on, aligned to anything that is as large.
struct Room(u64);

impl Room {
    fn reserve(&mut self, size: u64) -> u64 {
        let at = self.0.next_multiple_of(size.next_power_of_two().min(64));
        self.0 = at + size;
        at
    }
}

fn may_move(function: FunctionValue, cfg: &Cfg) -> bool {
    let takes = |i: u32| {
        let kinds = OF_A_CALL.map(Attribute::get_named_enum_kind_id);
        let has = |kind| function.get_enum_attribute(AttributeLoc::Param(i), kind);
        kinds.into_iter().any(|kind| has(kind).is_some())
    };
    let blocks = llvm::blocks(function);
    let mut all = blocks.iter().flat_map(|b| inst::instructions(*b));
    let returns_twice = cfg.blocks.iter().any(|b| b.returns_twice);
    let ends_in_a_call = blocks.iter().any(|b| place::has_musttail(*b));
    !(returns_twice
        || ends_in_a_call
        || !inst::can_name_result(function)
        || (0..function.count_params()).any(takes)
        || all.any(is_of_a_frame))
}

fn is_of_a_frame(i: Inst) -> bool {
    i.callee().is_some_and(|name| {
        let begins = |begin: &&str| name.starts_with(begin.as_bytes());
        OF_A_FRAME.iter().any(begins)
    })
}

/// Whether there can be a place in each of the headers.
fn has_places(function: FunctionValue, headers: &[BlockId]) -> bool {
    use LLVMOpcode::*;
    let blocks = llvm::blocks(function);
    headers.iter().all(|h| {
        let all = inst::instructions(blocks[*h]);
        let first = all.iter().find(|i| !i.is_phi()).expect("a terminator");
        !matches!(
            first.opcode(),
            LLVMLandingPad | LLVMCatchPad | LLVMCleanupPad | LLVMCatchSwitch
        )
    })
}
