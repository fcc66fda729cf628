//! Where in a block inserted code goes.

use super::sys;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::InstructionValue;

/// What a target of `callbr` may begin with: the outputs of the assembler, and nothing may stand before them.
const CALLBR_LANDING: &str = "llvm.callbr.landingpad";

/// The first instruction before which code may go: behind φs and the landing pad.
pub(super) fn first_point(block: BasicBlock) -> InstructionValue {
    skip(block, |i| {
        use LLVMOpcode::*;
        match sys::opcode(i) {
            LLVMPHI | LLVMLandingPad | LLVMCatchPad | LLVMCleanupPad => true,
            LLVMCall => calls_intrinsic(i, CALLBR_LANDING),
            _ => false,
        }
    })
}

/// The same for an entry block, whose allocas stay together.
pub(super) fn entry_point(block: BasicBlock) -> InstructionValue {
    skip(block, |i| {
        matches!(sys::opcode(i), LLVMOpcode::LLVMAlloca | LLVMOpcode::LLVMPHI)
    })
}

fn skip(block: BasicBlock, pass: impl Fn(InstructionValue) -> bool) -> InstructionValue {
    let mut at = block
        .get_first_instruction()
        .expect("a block has a terminator");
    while pass(at) {
        at = at.get_next_instruction().expect("a block has a terminator");
    }
    at
}

/// Where a path that ends in `block` (without successors) is counted: before the terminator;
/// before a `musttail` call or a deoptimization, which nothing but `ret` may follow; in a block that ends in
/// `unreachable` before the last call, which is the one that does not return.
pub(super) fn exit_point(block: BasicBlock) -> InstructionValue {
    let end = terminator(block);
    let before = std::iter::successors(end.get_previous_instruction(), |i| {
        i.get_previous_instruction()
    });
    let found = match sys::opcode(end) {
        LLVMOpcode::LLVMUnreachable => before.into_iter().find(|i| leaves(*i)),
        LLVMOpcode::LLVMRet => before.into_iter().take(2).find(|i| ends_in_ret(*i)),
        _ => None,
    };
    found.unwrap_or(end)
}

/// Whether LLVM wants `ret` behind a call, with no more than a cast in between.
fn ends_in_ret(i: InstructionValue) -> bool {
    sys::is_musttail(i) || calls_intrinsic(i, "llvm.experimental.deoptimize")
}

/// Whether an instruction calls the intrinsic `name`, for whatever types.
fn calls_intrinsic(i: InstructionValue, name: &str) -> bool {
    sys::is_call(i) && sys::callee_name(i).is_some_and(|n| n.starts_with(name))
}

/// Whether an instruction is a call that may keep control: not an intrinsic, traps excepted.
fn leaves(i: InstructionValue) -> bool {
    const TRAPS: [&str; 3] = ["llvm.trap", "llvm.ubsantrap", "llvm.eh.sjlj.longjmp"];
    let name = if sys::is_call(i) {
        sys::callee_name(i)
    } else {
        return false;
    };
    name.is_none_or(|n| !n.starts_with("llvm.") || TRAPS.contains(&n.as_str()))
}

/// The terminator of a block.
pub(super) fn terminator(block: BasicBlock) -> InstructionValue {
    block.get_terminator().expect("a block has a terminator")
}
