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
use rustc_hash::{FxHashMap, FxHashSet};
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
    // Thousands of blocks may lead to one that returns: the entries of its φs are listed once, and dropped at once.
    let mut returned = FxHashMap::default();
    let mut left: BTreeMap<BlockId, FxHashSet<BasicBlock>> = BTreeMap::new();
    for &block in reached {
        if let [to] = cfg.block(block).succs[..]
            && cfg.block(to).terminator == Terminator::Return
            && has_code(block, to)
            && let Some(returned) = returned
                .entry(to)
                .or_insert_with(|| place::find_returned(blocks[to]))
            && let Some(call) = place::tail_call_before(blocks[block], returned)
        {
            return_itself(builder, blocks[block], blocks[to], call);
            left.entry(to).or_default().insert(blocks[block]);
            tails.insert(block, call);
        }
    }
    for (to, from) in left {
        drop_entries(builder, blocks[to], &from);
    }
    tails
}

/// Lets `block`, which jumps to `to` for no more than that, return what its `call` does.
fn return_itself<'ctx>(
    builder: &Builder<'ctx>,
    block: BasicBlock<'ctx>,
    to: BasicBlock<'ctx>,
    call: InstructionValue<'ctx>,
) {
    let (jump, end) = (
        Inst::from_inkwell(llvm::terminator(block)),
        Inst::from_inkwell(llvm::terminator(to)),
    );
    builder.position_at_end(block);
    let ret = end.copy_here(builder);
    if end.first_operand().is_some() {
        ret.set_operand(0, Inst::from_inkwell(call).value());
    }
    jump.erase();
}

/// Drops the entries of `block`'s φs that come from the blocks in `from`, which lead to it no longer.
fn drop_entries<'ctx>(
    builder: &Builder<'ctx>,
    block: BasicBlock<'ctx>,
    from: &FxHashSet<BasicBlock<'ctx>>,
) {
    for phi in inst::phis(block).collect::<Vec<_>>() {
        let mut entries = phi.incoming();
        entries.retain(|(_, source)| !from.contains(source));
        if entries.is_empty() {
            phi.replace_uses(inst::poison_like(phi.value()));
        } else {
            let new = inst::renew_phi(builder, phi);
            for (value, source) in entries {
                new.add_incoming(value, source);
            }
        }
        phi.erase();
    }
}
