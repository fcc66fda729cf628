//! Calls in tail position whose result another block returns.
//!
//! LLVM's code generator gives a block that ends in such a call a `ret` of its own, and makes a jump of both, so that
//! the function may need no frame. Code between the call and the `ret` would prevent that. So each of these blocks gets
//! its own `ret` here already, and the plan's code for the edge and for the exit behind it goes in front of the call.

use super::super::llvm::inst::{self, Inst};
use super::super::llvm::{self, Blocks};
use super::super::place;
use crate::base::index::BlockId;
use crate::input::ir::{Cfg, Terminator};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::values::InstructionValue;
use std::collections::BTreeMap;

/// By block that returns behind a call in tail position: the call.
pub(crate) type Tails<'ctx> = BTreeMap<BlockId, InstructionValue<'ctx>>;

/// Changes blocks that end in a call in tail position and jump to a block that does no more than return: they return
/// themselves. Of the blocks in `reached`, those for which there is code on the way, as `has_code` says of a block and
/// the one behind it. O(blocks + entries of φs in blocks that return).
pub(crate) fn return_at_once<'ctx>(
    builder: &Builder<'ctx>,
    blocks: &Blocks<'ctx>,
    cfg: &Cfg,
    reached: &[BlockId],
    has_code: impl Fn(BlockId, BlockId) -> bool,
) -> Tails<'ctx> {
    let mut tails = Tails::new();
    for &block in reached {
        if let [to] = cfg.block(block).succs[..]
            && cfg.block(to).terminator == Terminator::Return
            && has_code(block, to)
            && let Some(call) = return_itself(builder, blocks[block], blocks[to])
        {
            tails.insert(block, call);
        }
    }
    tails
}

/// Lets `block` return what its call in tail position does, if it jumps to `to` for no more than that; the call.
fn return_itself<'ctx>(
    builder: &Builder<'ctx>,
    block: BasicBlock<'ctx>,
    to: BasicBlock<'ctx>,
) -> Option<InstructionValue<'ctx>> {
    let call = place::tail_call_before(block, to)?;
    let (jump, end) = (
        Inst::of(llvm::terminator(block)),
        Inst::of(llvm::terminator(to)),
    );
    builder.position_at_end(block);
    let ret = end.copy_here(builder);
    if !end.operands().is_empty() {
        ret.set_operand(0, Inst::of(call).value());
    }
    jump.erase();
    for phi in inst::phis(to).collect::<Vec<_>>() {
        let mut entries = phi.incoming();
        entries.retain(|(_, from)| *from != block);
        if entries.is_empty() {
            phi.replace_uses(inst::poison(phi.value()));
        } else {
            let new = inst::renewed(builder, phi);
            for (value, from) in entries {
                new.add_incoming(value, from);
            }
        }
        phi.erase();
    }
    Some(call)
}
