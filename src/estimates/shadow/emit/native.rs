//! The places of a native function where control can go over to functions that count.

use crate::base::index::{BlockId, CfgEdge, FuncId};
use crate::estimates::outlined::emit::copy::forbid_inlining;
use crate::estimates::outlined::emit::handed::Handed;
use crate::estimates::outlined::emit::resume::{Tail, place_in, return_call};
use crate::estimates::outlined::plan::ResumePoint;
use crate::input::ir::{Cfg, Terminator};
use crate::paths::dag::Order;
use crate::write::emit::llvm;
use crate::write::emit::llvm::inst::{self, Inst, phis};
use crate::write::emit::llvm::value::Value;
use inkwell::attributes::AttributeLoc;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::{FunctionValue, InstructionValue, PointerValue};
use std::collections::HashSet;

/// Room before a function for a jump to anywhere, to which a short one at its entry leads. Sixteen nops, so that the
/// entry is aligned as before.
const ROOM: (&str, &str) = ("patchable-function-prefix", "16");
/// A first instruction that the short jump fits in: one of one byte gets a nop before it.
const TWO_BYTES: (&str, &str) = ("patchable-function", "prologue-short-redirect");

/// Whether somebody else patches the function's entry.
pub(super) fn is_taken(function: FunctionValue) -> bool {
    let has = |name| function.get_string_attribute(AttributeLoc::Function, name);
    has("patchable-function-entry").is_some()
        || [ROOM, TWO_BYTES]
            .iter()
            .any(|(name, _)| has(name).is_some())
}

/// No code, and an entry of the table of such places: the address, where control can go instead, and what is noted when
/// it comes by, each relative to the entry's own word, and which header of which function paths begin at that are
/// counted from there. The section belongs to the group of the code (`?`), since one without the other would not link,
/// and no linker drops it (`R`). Its name is a C identifier, so that linkers say where it begins and ends.
fn site(func: FuncId, header: BlockId) -> String {
    let header = u64::from(func.0) << 32 | u64::from(header.0);
    format!(
        "1:\n\
         .pushsection p3_sites,\"aR?\"\n\
         .quad 1b-.\n\
         .quad ${{1:l}}-.\n\
         .quad ${{0:c}}-.\n\
         .quad {header}\n\
         .popsection"
    )
}

/// Makes the entry of the function with control flow `cfg` one that can be patched.
pub(super) fn mark_entry<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    cfg: &Cfg,
    order: &Order,
) {
    forbid_inlining(context, function);
    let nop = (!begins_apart(function, cfg, order)).then_some(TWO_BYTES);
    for (name, value) in nop.into_iter().chain([ROOM]) {
        let attribute = context.create_string_attribute(name, value);
        function.add_attribute(AttributeLoc::Function, attribute);
    }
}

/// Whether no jump leads to the function's first two bytes, and these are its own: a call or a choice comes before any
/// loop. Then one byte, that of a push, may be the first instruction: nobody but who was interrupted there ever comes
/// between the two.
fn begins_apart(function: FunctionValue, cfg: &Cfg, order: &Order) -> bool {
    let blocks = llvm::blocks(function);
    let headers: HashSet<BlockId> = order.back_edges(cfg).map(|(_, header)| header).collect();
    let mut at = BlockId(0);
    while !headers.contains(&at) {
        let mut all = inst::instructions(blocks[at]).into_iter();
        let succs = &cfg.block(at).succs;
        let parts = succs.iter().any(|to| *to != succs[0]);
        if all.any(is_real_call) || parts && is_known_late(llvm::terminator(blocks[at])) {
            return true;
        }
        match succs[..] {
            [next] => at = next,
            _ => return false,
        }
    }
    false
}

/// Not an intrinsic, and no assembler code, which may both be nothing in the end.
fn is_real_call(i: Inst) -> bool {
    i.callee().is_some_and(|name| !name.starts_with(b"llvm."))
}

/// Whether a branch or switch depends on what is no constant.
fn is_known_late(end: InstructionValue) -> bool {
    let end = Inst::from_inkwell(end);
    matches!(end.opcode(), LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch)
        && !end.operands()[0].is_constant()
}

/// Where activations go on, and in what.
#[derive(Clone, Copy)]
pub(super) struct Places<'a, 'ctx> {
    pub func: FuncId,
    pub all: &'a [ResumePoint],
    /// What each is noted in.
    pub passed: &'a [PointerValue<'ctx>],
    /// The function in which they go on.
    pub resuming: FunctionValue<'ctx>,
    /// The values that it is handed, and the memory in which.
    pub handed: &'a Handed,
    pub buffer: PointerValue<'ctx>,
}

/// Makes a place in each of the blocks of `function` where activations go on, behind its φs, and a way from there.
///
/// The runtime of a shadow puts a breakpoint there. No code is added to the function: what is live at a header is live
/// anyway, and the φs are what they were.
pub(super) fn add_sites<'ctx>(
    context: &'ctx Context,
    function: FunctionValue<'ctx>,
    cfg: &Cfg,
    places: Places<'_, 'ctx>,
) {
    let blocks = llvm::blocks(function);
    let leave = Leave {
        context,
        places,
        tail: Tail::choose(&blocks),
        builder: context.create_builder(),
    };
    let ins = cfg.incoming_edges();
    for (n, (place, passed)) in places.all.iter().zip(places.passed).enumerate() {
        let rest = blocks[place.block];
        let head = context.prepend_basic_block(rest, "p3.head");
        for e in &ins[place.block] {
            llvm::set_successor(llvm::terminator(blocks[e.block]), e.succ, head);
        }
        let by_address = |e: &CfgEdge| cfg.block(e.block).terminator == Terminator::IndirectBr;
        if ins[place.block].iter().any(by_address) {
            llvm::move_address(function, rest, head);
        }
        let phis: Vec<_> = phis(rest).collect();
        for phi in &phis {
            phi.move_to(&leave.builder, head);
        }
        let out = context.append_basic_block(function, "p3.leave");
        leave.builder.position_at_end(head);
        leave.builder.unset_current_debug_location();
        let code = site(places.func, place.header);
        llvm::jump_that_can_be_patched(context, &leave.builder, &code, *passed, rest, out);
        let phis: Vec<Value> = phis.into_iter().map(|phi| phi.value()).collect();
        leave.fill(out, n, &phis);
    }
}

/// Makes the ways to the resuming function.
struct Leave<'a, 'ctx> {
    context: &'ctx Context,
    places: Places<'a, 'ctx>,
    tail: Tail,
    builder: Builder<'ctx>,
}

impl<'ctx> Leave<'_, 'ctx> {
    fn place(&self, offset: u64) -> Value {
        place_in(self.context, &self.builder, self.places.buffer, offset)
    }

    /// Hands over what header number `n` needs, its φs among that.
    fn fill(&self, out: BasicBlock<'ctx>, n: usize, phis: &[Value]) {
        let (b, handed) = (&self.builder, self.places.handed);
        b.position_at_end(out);
        for (value, at) in handed.live_at_header(n) {
            inst::store_value(b, value, self.place(at));
        }
        for (&phi, &at) in phis.iter().zip(&handed.phis_at[n]) {
            let handed_over = handed.shifts.handed_value(b, phi);
            inst::store_value(b, handed_over, self.place(at));
        }
        let number = self.context.i32_type().const_int(n as u64, false);
        return_call(b, self.places.resuming, &[number.into()], self.tail);
    }
}
