//! Where in a block inserted code goes.

use super::sys;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::InstructionValue;

/// The first instruction before which code may go: behind φs and the landing pad.
pub fn first_point(block: BasicBlock) -> InstructionValue {
    skip(block, |op| {
        use LLVMOpcode::*;
        matches!(op, LLVMPHI | LLVMLandingPad | LLVMCatchPad | LLVMCleanupPad)
    })
}

/// The same for an entry block, whose allocas stay together.
pub fn entry_point(block: BasicBlock) -> InstructionValue {
    skip(block, |op| {
        matches!(op, LLVMOpcode::LLVMAlloca | LLVMOpcode::LLVMPHI)
    })
}

fn skip(block: BasicBlock, pass: impl Fn(LLVMOpcode) -> bool) -> InstructionValue {
    let mut at = block
        .get_first_instruction()
        .expect("a block has a terminator");
    while pass(sys::opcode(at)) {
        at = at.get_next_instruction().expect("a block has a terminator");
    }
    at
}

/// Where a path that ends in `block` (without successors) is counted: before the terminator;
/// before a `musttail` call, which nothing but `ret` may follow; in a block that ends in
/// `unreachable` before the last call, which is the one that does not return.
pub fn exit_point(block: BasicBlock) -> InstructionValue {
    let end = terminator(block);
    let before = std::iter::successors(end.get_previous_instruction(), |i| {
        i.get_previous_instruction()
    });
    let found = match sys::opcode(end) {
        LLVMOpcode::LLVMUnreachable => before.into_iter().find(|i| leaves(*i)),
        LLVMOpcode::LLVMRet => before.into_iter().take(2).find(|i| sys::is_musttail(*i)),
        _ => None,
    };
    found.unwrap_or(end)
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
pub fn terminator(block: BasicBlock) -> InstructionValue {
    block.get_terminator().expect("a block has a terminator")
}
