//! Induction variables of loops in versions.
//!
//! Where the blocks of a loop have versions, each version that leads back to the header steps the loop's variables:
//! `i + 1` is there several times, and the header's φ has several values. To LLVM that is no induction variable any
//! more: it knows no bounds of it, and variables that went together, indices and addresses above all, each take a
//! register and an addition. So back edges meet in a block of their own, where what is the same step in all versions is
//! made once.
//!
//! That block must stay until machine code is selected. Global value numbering takes the step from the versions again,
//! CFG simplification removes a block that holds φs alone, and where a loop has several back edges, loop simplification
//! makes nested loops of it, one for each value that a back edge leaves as it is: variables of each are computed anew
//! in every iteration (in a loop over 8 columns that finds queens: 75.6 instead of 43.2 million instructions). An empty
//! assembler statement holds it.

use super::llvm;
use super::llvm::inst::{self, Inst};
use super::llvm::value::Value;
use super::split::Places;
use crate::base::index::{BlockId, CfgEdge, TiSlice};
use crate::input::ir::Cfg;
use crate::paths::dag::Dominators;
use inkwell::InlineAsmDialect;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use rustc_hash::FxHashSet;

/// Joins the back edges of loops whose variables take the same step on several of them. `blocks` are those of `cfg`; of
/// its edges, `places` says which have blocks of their own. O(E + entries of φs).
pub(super) fn join_back_edges<'ctx>(
    context: &'ctx Context,
    cfg: &Cfg,
    blocks: &TiSlice<BlockId, BasicBlock<'ctx>>,
    places: &Places<'ctx>,
) {
    let mut dominators = None;
    let builder = context.create_builder();
    for (header, ins) in places.ins.iter_enumerated() {
        let block = blocks[header];
        // Two ways back at least, and one in.
        if ins.len() < 3 || !inst::phis(block).any(steps_twice) {
            continue;
        }
        let dominators = dominators.get_or_insert_with(|| Dominators::new(cfg));
        let mut back = ins.clone();
        back.retain(|e| dominators.dominates(header, e.block));
        let can_split = |e: &CfgEdge| cfg.block(e.block).terminator.can_split(e.succ);
        let ways: Vec<Way> = back
            .iter()
            .map(|e| Way::along_edge(*e, blocks, places))
            .collect();
        let from: FxHashSet<BasicBlock> = ways.iter().map(|w| w.from).collect();
        if from.len() == ways.len()
            && back.iter().all(can_split)
            && inst::phis(block).any(|p| takes_one_step(p, &from))
        {
            join_at(context, &builder, block, &ways, &from);
        }
    }
}

/// Whether a φ has two values at least that are steps from it.
fn steps_twice(phi: Inst) -> bool {
    let values = phi.operands().into_iter();
    let steps = values.filter_map(Value::instruction);
    steps.filter(|s| is_step_from(*s, phi)).take(2).count() == 2
}

/// The end of an edge: a successor of the block that it comes from.
struct Way<'ctx> {
    from: BasicBlock<'ctx>,
    succ: u32,
}

impl<'ctx> Way<'ctx> {
    fn along_edge(
        edge: CfgEdge,
        blocks: &TiSlice<BlockId, BasicBlock<'ctx>>,
        places: &Places<'ctx>,
    ) -> Self {
        Way {
            from: places.arrival(blocks, edge),
            succ: if places.own.contains_key(&edge) {
                0
            } else {
                edge.succ
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
    from: &FxHashSet<BasicBlock<'ctx>>,
) {
    let old: Vec<Inst> = inst::phis(header).collect();
    // New ones first, so that no value that is looked at below refers to one that goes.
    let new = old.iter().map(|&phi| inst::renew_phi(builder, phi));
    let new: Vec<Inst> = new.collect();
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
            let phi = inst::phi_at_end(builder, joint, new.value());
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
    hold_block(context, builder);
    builder
        .build_unconditional_branch(header)
        .expect("positioned");
    for way in ways {
        llvm::set_successor(llvm::terminator(way.from), way.succ, joint);
    }
    for phi in old {
        phi.erase();
    }
}

/// Puts an assembler statement where `builder` is that has no machine code. Optimisers keep it, and its block with it,
/// because it claims an effect, on memory that nothing else accesses.
fn hold_block<'ctx>(context: &'ctx Context, builder: &Builder<'ctx>) {
    let ty = context.void_type().fn_type(&[], false);
    let dialect = Some(InlineAsmDialect::ATT);
    let (code, constraints) = (String::new(), String::new());
    let asm = context.create_inline_asm(ty, code, constraints, true, false, dialect, false);
    let call = builder.build_indirect_call(ty, asm, &[], "");
    let call = call.expect("positioned");
    let kind = Attribute::get_named_enum_kind_id;
    let effects = [
        ("memory", INACCESSIBLE_MEMORY),
        ("nounwind", 0),
        ("willreturn", 0),
    ];
    for (name, value) in effects {
        let attribute = context.create_enum_attribute(kind(name), value);
        call.add_attribute(AttributeLoc::Function, attribute);
    }
}

/// What LLVM calls `memory(inaccessiblemem: readwrite)`: two bits for each kind of memory, of which this is the second.
const INACCESSIBLE_MEMORY: u64 = 0b11 << 2;

/// Whether `phi` takes the same step on all ways from the blocks `from`, which is made several times.
fn takes_one_step(phi: Inst, from: &FxHashSet<BasicBlock>) -> bool {
    let mut back = phi.incoming();
    back.retain(|e| from.contains(&e.1));
    same_step(phi, &back).is_some() && back.iter().any(|e| e.0 != back[0].0)
}

/// What all of `entries` compute, if that is the same step from `phi`. What it is computed from besides reaches all of
/// them, so it reaches where they meet.
fn same_step(phi: Inst, entries: &[(Value, BasicBlock)]) -> Option<Inst> {
    let mut steps = entries.iter().map(|e| e.0.instruction());
    let first = steps.next()??;
    let are_one =
        is_step_from(first, phi) && steps.all(|s| s.is_some_and(|s| s.is_same_step(first)));
    are_one.then_some(first)
}

fn is_step_from(i: Inst, phi: Inst) -> bool {
    i.is_step() && i.operands().contains(&phi.value())
}
