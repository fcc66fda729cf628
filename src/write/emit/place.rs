//! Places: where in a function's blocks the code of a plan's sites goes.

use super::llvm;
use super::llvm::inst::Inst;
use super::llvm::value::Value;
use crate::base::index::{BlockId, CfgEdge, TiSlice};
use crate::copies::plan::{FunctionPlan, Op, Site};
use crate::input::ir::Cfg;
use crate::input::ir::lower::view::{Returned, may_follow_tail_call};
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::InstructionValue;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Where the code of an edge goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The end of the source block, before the terminator: computations without effect, or the only way out.
    Source,
    /// The start of the target: this is the only way in.
    Target,
    /// A block of its own on the edge.
    Own,
    /// The edge cannot be split: the target counts what a φ brings.
    Flagged,
}

/// The places of all edges that have code. `ins` are the edges into each block; code that `branches` gets a block of
/// its own wherever an edge can be split. O(edges of blocks with code).
pub(crate) fn of_edges(
    cfg: &Cfg,
    plan: &FunctionPlan,
    ins: &TiSlice<BlockId, Vec<CfgEdge>>,
    branches: impl Fn(&[Op]) -> bool,
) -> BTreeMap<CfgEdge, Place> {
    let mut places = BTreeMap::new();
    let mut parallel = Parallel::default();
    for code in &plan.probes {
        let Site::Edge(edge) = code.site else {
            continue;
        };
        let place = if branches(&code.ops) && can_split(cfg, edge) {
            Place::Own
        } else {
            choose_place(cfg, edge, ins, Op::any_counts(&code.ops), &mut parallel)
        };
        places.insert(edge, place);
    }
    places
}

fn can_split(cfg: &Cfg, edge: CfgEdge) -> bool {
    cfg.block(edge.block).terminator.can_split(edge.succ)
}

fn choose_place(
    cfg: &Cfg,
    edge: CfgEdge,
    ins: &TiSlice<BlockId, Vec<CfgEdge>>,
    counts: bool,
    parallel: &mut Parallel,
) -> Place {
    let succs = &cfg.block(edge.block).succs;
    let to = succs[edge.succ as usize];
    if succs.len() == 1 {
        Place::Source
    } else if ins[to].len() == 1 {
        Place::Target
    } else if can_split(cfg, edge) && (counts || parallel.count(cfg, edge.block, to) > 1) {
        Place::Own
    } else if counts {
        Place::Flagged
    } else {
        Place::Source
    }
}

/// How many edges lead from one block to another, counted once per source block.
#[derive(Default)]
struct Parallel {
    of: Option<BlockId>,
    targets: FxHashMap<BlockId, u32>,
}

impl Parallel {
    fn count(&mut self, cfg: &Cfg, from: BlockId, to: BlockId) -> u32 {
        if self.of != Some(from) {
            self.of = Some(from);
            self.targets.clear();
            for &s in &cfg.block(from).succs {
                *self.targets.entry(s).or_default() += 1;
            }
        }
        self.targets[&to]
    }
}

/// What a target of `callbr` may begin with: the outputs of the assembler, and nothing may stand before them.
const CALLBR_LANDING: &str = "llvm.callbr.landingpad";

/// The start of a block: the first instruction before which code may go, behind φs and the landing pad.
pub(crate) fn start_of_block(block: BasicBlock) -> InstructionValue {
    skip_while(block, |i| {
        use LLVMOpcode::*;
        match Inst::from_inkwell(i).opcode() {
            LLVMPHI | LLVMLandingPad | LLVMCatchPad | LLVMCleanupPad => true,
            LLVMCall => calls_intrinsic(i, CALLBR_LANDING),
            _ => false,
        }
    })
}

/// The start of a block that is reached from `source` alone, behind comparisons of what `source` branches on: they take
/// the flags of that branch's comparison, which a count overwrites. O(comparisons).
pub(crate) fn find_start_behind_comparisons<'ctx>(
    block: BasicBlock<'ctx>,
    source: BasicBlock,
) -> InstructionValue<'ctx> {
    let branch = Inst::from_inkwell(llvm::terminator(source));
    let condition = branch.first_operand().and_then(|c| c.instruction());
    let compared = condition.filter(|i| i.opcode() == LLVMOpcode::LLVMICmp);
    let mut at = start_of_block(block);
    let Some(compared) = compared.map(|i| i.operands()) else {
        return at;
    };
    while Inst::from_inkwell(at).opcode() == LLVMOpcode::LLVMICmp
        && Inst::from_inkwell(at).operands() == compared
    {
        at = at.get_next_instruction().expect("a block has a terminator");
    }
    at
}

/// The start of an entry block, whose allocas stay together.
pub(crate) fn entry_of_block(block: BasicBlock) -> InstructionValue {
    skip_while(block, |i| {
        matches!(
            Inst::from_inkwell(i).opcode(),
            LLVMOpcode::LLVMAlloca | LLVMOpcode::LLVMPHI
        )
    })
}

fn skip_while(block: BasicBlock, pass: impl Fn(InstructionValue) -> bool) -> InstructionValue {
    let mut at = block
        .get_first_instruction()
        .expect("a block has a terminator");
    while pass(at) {
        at = at.get_next_instruction().expect("a block has a terminator");
    }
    at
}

/// Where a path that ends in `block` (without successors) is counted: before the terminator;
/// before a call in tail position, which a count behind it would keep LLVM from making a jump; before a `musttail` call
/// or a deoptimization, which nothing but `ret` may follow; in a block that ends in `unreachable` before the last call,
/// which is the one that does not return.
pub(crate) fn exit_of_block(block: BasicBlock) -> InstructionValue {
    let (end, mut before) = (llvm::terminator(block), instructions_from_end(block));
    let found = match Inst::from_inkwell(end).opcode() {
        LLVMOpcode::LLVMUnreachable => before.find(|i| may_keep_control(*i)),
        LLVMOpcode::LLVMRet => {
            let must = before.take(2).find(|i| ends_in_ret(*i));
            must.or_else(|| tail_call(block))
        }
        _ => None,
    };
    found.unwrap_or(end)
}

/// The call in tail position that `block` ends in, if it returns itself.
fn tail_call(block: BasicBlock) -> Option<InstructionValue> {
    let last = last_call(block)?;
    let result = Inst::from_inkwell(last).value();
    let returned = Inst::from_inkwell(llvm::terminator(block)).first_operand();
    returned.is_none_or(|v| v == result).then_some(last)
}

/// What `block` returns; `None` if it does something else too. O(entries of a φ).
pub(crate) fn find_returned(block: BasicBlock<'_>) -> Option<Returned<BasicBlock<'_>, Value>> {
    let end = llvm::terminator(block);
    if Inst::from_inkwell(end).opcode() != LLVMOpcode::LLVMRet
        || before_end(block).is_some_and(|i| !Inst::from_inkwell(i).is_phi())
    {
        return None;
    }
    let value = Inst::from_inkwell(end).first_operand();
    let instruction = value.and_then(Value::instruction);
    let phi = instruction.filter(|i| i.is_phi() && i.block() == block);
    let brought = phi.into_iter().flat_map(Inst::incoming);
    let brought = brought.map(|(value, from)| (from, value)).collect();
    Some(Returned { value, brought })
}

/// The call in tail position that `block` ends in, if its only way out leads to a block that does nothing but return,
/// and what the call returned, if anything: that is `returned`.
pub(crate) fn tail_call_before<'ctx>(
    block: BasicBlock<'ctx>,
    returned: &Returned<BasicBlock<'ctx>, Value>,
) -> Option<InstructionValue<'ctx>> {
    let jump = llvm::terminator(block);
    if Inst::from_inkwell(jump).opcode() != LLVMOpcode::LLVMBr || llvm::successor_count(jump) != 1 {
        return None;
    }
    let last = last_call(block)?;
    let result = Inst::from_inkwell(last).value();
    let value = returned.value_from(&block);
    value.is_none_or(|value| value == result).then_some(last)
}

/// The call, marked `tail`, before the terminator of `block`.
fn last_call(block: BasicBlock) -> Option<InstructionValue> {
    before_end(block).filter(|i| Inst::from_inkwell(*i).is_tail_call())
}

/// What stands before the terminator of `block`, but for intrinsics that may follow a call in tail position.
fn before_end(block: BasicBlock) -> Option<InstructionValue> {
    let follows = |i: &InstructionValue| {
        Inst::from_inkwell(*i).is_call()
            && llvm::callee_name(*i).is_some_and(|n| may_follow_tail_call(&n))
    };
    instructions_from_end(block).find(|i| !follows(i))
}

/// What stands before the terminator of `block`, the last first.
fn instructions_from_end(block: BasicBlock) -> impl Iterator<Item = InstructionValue> {
    let last = llvm::terminator(block).get_previous_instruction();
    std::iter::successors(last, |i| i.get_previous_instruction())
}

/// Whether the block ends in a call that `ret` has to follow.
#[cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use it")
)]
pub(crate) fn has_musttail(block: BasicBlock) -> bool {
    instructions_from_end(block).take(2).any(ends_in_ret)
}

/// Whether LLVM wants `ret` behind a call, with no more than a cast in between.
fn ends_in_ret(i: InstructionValue) -> bool {
    llvm::is_musttail(i) || calls_intrinsic(i, "llvm.experimental.deoptimize")
}

/// Whether an instruction calls the intrinsic `name`, for whatever types.
fn calls_intrinsic(i: InstructionValue, name: &str) -> bool {
    Inst::from_inkwell(i).is_call() && llvm::callee_name(i).is_some_and(|n| n.starts_with(name))
}

/// Whether an instruction is a call that may keep control: not an intrinsic, traps excepted.
fn may_keep_control(i: InstructionValue) -> bool {
    const TRAPS: [&str; 3] = ["llvm.trap", "llvm.ubsantrap", "llvm.eh.sjlj.longjmp"];
    let name = if Inst::from_inkwell(i).is_call() {
        llvm::callee_name(i)
    } else {
        return false;
    };
    name.is_none_or(|n| !n.starts_with("llvm.") || TRAPS.contains(&n.as_str()))
}
