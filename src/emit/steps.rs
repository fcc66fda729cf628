//! Induction variables of loops in versions.
//!
//! Where the blocks of a loop have versions, each version that leads back to the header steps the loop's variables: `i + 1` is there
//! several times, and the header's φ has several values. To LLVM that is no induction variable any more: it knows no
//! bounds of it, and variables that went together, indices and addresses above all, each take a register and an addition.
//! So back edges meet in a block of their own, where what is the same step in all versions is made once.

use super::split::{Places, in_edges};
use super::sys;
use super::values::{self, Inst, Value};
use crate::dag::Dominators;
use crate::index::{BlockId, CfgEdge, TiSlice};
use crate::ir::Cfg;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use std::collections::HashSet;

/// Joins the back edges of loops whose variables take the same step on several of them. `blocks` are those of `cfg`; of
/// its edges, `places` says which have blocks of their own. O(E + entries of φs in headers).
pub(super) fn join<'ctx>(
    context: &'ctx Context,
    cfg: &Cfg,
    blocks: &TiSlice<BlockId, BasicBlock<'ctx>>,
    places: &Places<'ctx>,
) {
    let dominators = Dominators::new(cfg);
    let builder = context.create_builder();
    for (header, ins) in in_edges(cfg).into_iter_enumerated() {
        let mut back = ins;
        back.retain(|e| dominators.dominates(header, e.block));
        let can_split = |e: &CfgEdge| cfg.block(e.block).terminator.can_split(e.succ);
        if back.len() < 2 || !back.iter().all(can_split) {
            continue;
        }
        let ways: Vec<Way> = back.iter().map(|e| Way::of(*e, blocks, places)).collect();
        let from: HashSet<BasicBlock> = ways.iter().map(|w| w.from).collect();
        if from.len() == ways.len()
            && values::phis(blocks[header]).any(|p| step(p, &from).is_some())
        {
            join_at(context, &builder, blocks[header], &ways, &from);
        }
    }
}

/// The end of an edge: a successor of the block that it comes from.
struct Way<'ctx> {
    from: BasicBlock<'ctx>,
    succ: u32,
}

impl<'ctx> Way<'ctx> {
    fn of(
        edge: CfgEdge,
        blocks: &TiSlice<BlockId, BasicBlock<'ctx>>,
        places: &Places<'ctx>,
    ) -> Self {
        match places.own.get(&edge) {
            Some(&from) => Way { from, succ: 0 },
            None => Way {
                from: blocks[edge.block],
                succ: edge.succ,
            },
        }
    }
}

/// Makes `ways` to `header`, from the blocks `from`, meet in a new block.
fn join_at<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    header: BasicBlock<'ctx>,
    ways: &[Way<'ctx>],
    from: &HashSet<BasicBlock<'ctx>>,
) {
    let old: Vec<Inst> = values::phis(header).collect();
    // New ones first, so that no value that is looked at below refers to one that goes.
    let renew = |&phi: &Inst| {
        let new = values::phi_before(builder, phi);
        new.look_like(phi);
        phi.replace_uses(new.value());
        new
    };
    let new: Vec<Inst> = old.iter().map(renew).collect();
    let joint = context.prepend_basic_block(header, "");
    let mut steps = Vec::new();
    for (&old, &new) in old.iter().zip(&new) {
        let (back, rest): (Vec<_>, Vec<_>) = old
            .incoming()
            .into_iter()
            .partition(|e| from.contains(&e.1));
        for (value, block) in rest {
            new.add_incoming(value, block);
        }
        if back.iter().all(|e| e.0 == back[0].0) {
            new.add_incoming(back[0].0, joint);
        } else if let Some(step) = same_step(new, &back) {
            steps.push((new, step));
        } else {
            let phi = values::phi_at_end(builder, joint, new.value());
            phi.look_like(new);
            for (value, block) in back {
                phi.add_incoming(value, block);
            }
            new.add_incoming(phi.value(), joint);
        }
    }
    builder.position_at_end(joint);
    for (phi, step) in steps {
        phi.add_incoming(step.copy_here(builder).value(), joint);
    }
    builder.unset_current_debug_location();
    builder
        .build_unconditional_branch(header)
        .expect("positioned");
    for way in ways {
        sys::set_successor(sys::terminator(way.from), way.succ, joint);
    }
    for phi in old {
        phi.erase();
    }
}

/// The step that `phi` takes on all ways from the blocks `from`, if it is the same but made several times.
fn step(phi: Inst, from: &HashSet<BasicBlock>) -> Option<Inst> {
    let mut back = phi.incoming();
    back.retain(|e| from.contains(&e.1));
    same_step(phi, &back).filter(|_| back.iter().any(|e| e.0 != back[0].0))
}

/// What all of `entries` compute, if that is the same step from `phi`. What it is computed from besides reaches all of
/// them, so it reaches where they meet.
fn same_step(phi: Inst, entries: &[(Value, BasicBlock)]) -> Option<Inst> {
    let mut steps = entries.iter().map(|e| e.0.instruction());
    let first = steps.next()??;
    let is_one = first.is_step() && first.operands().contains(&phi.value());
    (is_one && steps.all(|s| s.is_some_and(|s| s.is_same_step(first)))).then_some(first)
}
