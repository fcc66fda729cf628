//! Calls in tail position whose result another block returns.
//!
//! LLVM's code generator gives a block that ends in such a call a `ret` of its own, and makes a jump of both, so that the
//! function may need no frame. Code between the call and the `ret` would keep it from that. So the blocks return
//! themselves, and what the plan has on the edge and at the exit behind it stands in front of the call.

use super::super::place;
use super::super::sys::{self, Blocks};
use super::super::values::{self, Inst};
use crate::index::{BlockId, CfgEdge};
use crate::ir::{Cfg, Terminator};
use crate::plan::{FunctionPlan, Site};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::values::InstructionValue;
use std::collections::BTreeMap;

/// By block that returns behind a call in tail position: the call.
pub(crate) type Tails<'ctx> = BTreeMap<BlockId, InstructionValue<'ctx>>;

/// Lets blocks return that jump to a block with no more than a `ret` behind a call in tail position, where the plan has code
/// on that way. O(blocks + entries of φs in blocks that return).
pub(super) fn return_at_once<'ctx>(
    builder: &Builder<'ctx>,
    blocks: &Blocks<'ctx>,
    cfg: &Cfg,
    plan: &FunctionPlan,
) -> Tails<'ctx> {
    let mut tails = Tails::new();
    for &block in &plan.order().rpo {
        let [to] = cfg.block(block).succs[..] else {
            continue;
        };
        let edge = CfgEdge { block, succ: 0 };
        let has_code =
            !plan.ops(Site::Edge(edge)).is_empty() || !plan.ops(Site::Exit(to)).is_empty();
        if cfg.block(to).terminator == Terminator::Return
            && has_code
            && let Some(call) = return_itself(builder, blocks[block], blocks[to])
        {
            tails.insert(block, call);
        }
    }
    tails
}

/// Lets `block` return what its call in tail position does, if it jumps to `to` for no more than that; the call.
pub(crate) fn return_itself<'ctx>(
    builder: &Builder<'ctx>,
    block: BasicBlock<'ctx>,
    to: BasicBlock<'ctx>,
) -> Option<InstructionValue<'ctx>> {
    let call = place::tail_call_before(block, to)?;
    let (jump, end) = (
        Inst::of(sys::terminator(block)),
        Inst::of(sys::terminator(to)),
    );
    builder.position_at_end(block);
    let ret = end.copy_here(builder);
    if !end.operands().is_empty() {
        ret.set_operand(0, Inst::of(call).value());
    }
    jump.erase();
    for phi in values::phis(to).collect::<Vec<_>>() {
        let mut entries = phi.incoming();
        entries.retain(|(_, from)| *from != block);
        if entries.is_empty() {
            phi.replace_uses(values::poison(phi.value()));
        } else {
            let new = values::renewed(builder, phi);
            for (value, from) in entries {
                new.add_incoming(value, from);
            }
        }
        phi.erase();
    }
    Some(call)
}
