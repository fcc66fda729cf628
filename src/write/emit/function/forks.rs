//! What children do with activations of their parents ([`crate::copies::plan::forks`]).
//!
//! Two variables of the function say whether this process is on the path on which it was forked, and whether it was
//! forked in this activation. Both are zero but in children, and what is counted is their sum: a parent adds zeros.

use super::Tails;
use crate::base::index::{BlockId, CfgEdge};
use crate::copies::plan::FunctionPlan;
use crate::copies::plan::forks::{COMPLETED, FIRST_BLOCK, FORKED, FirstPath, RETURNED};
use crate::input::ir::{Cfg, FORK, Terminator};
use crate::write::emit::data::Data;
use crate::write::emit::llvm::inst::Inst;
use crate::write::emit::llvm::{self, Blocks};
use crate::write::emit::own::Own;
use crate::write::emit::place;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::types::IntType;
use inkwell::values::{BasicValue, CallSiteValue, InstructionValue, IntValue, PointerValue};

/// A function that calls `fork`, with its variables.
struct Forks<'a, 'ctx> {
    data: &'a Data<'a, 'ctx>,
    own: Own<'ctx>,
    builder: Builder<'ctx>,
    i64: IntType<'ctx>,
    /// The slot of the first counter.
    slot: u64,
    /// 1 while a child is on the path on which it was forked.
    is_first: PointerValue<'ctx>,
    /// 1 in an activation that another process entered.
    is_forked: PointerValue<'ctx>,
}

/// Adds the code to a function with control flow `own`, of which `blocks` are the blocks, in versions if the plan says
/// so; `tails` return themselves. Its counters begin at `slot`. O(blocks + edges).
pub(super) fn count_forks<'ctx>(
    data: &Data<'_, 'ctx>,
    words: Own<'ctx>,
    (own, plan): (&Cfg, &FunctionPlan),
    (blocks, tails): (&Blocks<'ctx>, &Tails<'ctx>),
    slot: u64,
) {
    let context = data.edit.context;
    let builder = context.create_builder();
    let i64 = context.i64_type();
    let entry = blocks[BlockId(0)];
    // Which may not be the function's first block any more, where variables of the frame are.
    let first = entry.get_parent().and_then(|f| f.get_first_basic_block());
    let variable = |name: &str| {
        llvm::position_before(&builder, place::entry_of_block(first.unwrap_or(entry)));
        let variable = builder.build_alloca(i64, name).expect("positioned");
        (variable, i64.const_zero())
    };
    let [(is_first, zero), (is_forked, _)] = ["p3.first", "p3.forked"].map(variable);
    llvm::position_before(&builder, place::entry_of_block(entry));
    for variable in [is_first, is_forked] {
        builder.build_store(variable, zero).expect("positioned");
    }
    let forks = Forks {
        data,
        own: words,
        builder,
        i64,
        slot,
        is_first,
        is_forked,
    };
    let first = FirstPath::new(own, &plan.own_order);
    let cfg = plan.versions.as_ref().map_or(own, |v| &v.cfg);
    let origin = |b: BlockId| plan.versions.as_ref().map_or(b, |v| v.origin[b]);
    let ins = cfg.incoming_edges();
    for b in cfg.ids() {
        let (block, of) = (blocks[b], origin(b));
        // Behind the calls, so that code at the start of the block comes in front of them.
        if own.block(of).calls_fork() {
            forks.note_children(block);
        }
        if first.blocks.contains(of) || first.ends.contains(of) {
            // What jumps to the block no more has no entry in its φs.
            let ins = ins[b].iter().filter(|e| !tails.contains_key(&e.block));
            let ends = |e: &CfgEdge| plan.own_order.is_retreating(origin(e.block), of);
            let ins: Vec<(BasicBlock, bool)> = ins.map(|e| (blocks[e.block], ends(e))).collect();
            forks.emit_block_entry(block, of, &ins);
        }
        if let Some(&call) = tails.get(&b) {
            // The block that it led to is on the path, and is not entered.
            let to = origin(cfg.block(b).succs[0]);
            llvm::position_before(&forks.builder, call);
            forks.add_to_counter(
                FIRST_BLOCK + u64::from(to.0),
                forks.load_variable(forks.is_first),
            );
            forks.emit_leave(call, true);
        } else if cfg.block(b).succs.is_empty() {
            let returns = cfg.block(b).terminator != Terminator::Unreachable;
            forks.emit_leave(place::exit_of_block(block), returns);
        }
    }
}

impl<'ctx> Forks<'_, 'ctx> {
    /// Behind each `fork` of a block: whether this is the child.
    fn note_children(&self, block: BasicBlock<'ctx>) {
        let first = block.get_first_instruction();
        let all = std::iter::successors(first, |i| i.get_next_instruction());
        let calls = all.filter(|i| is_fork(*i)).collect::<Vec<_>>();
        let b = &self.builder;
        for call in calls {
            let Some(next) = call.get_next_instruction() else {
                continue;
            };
            let result = CallSiteValue::try_from(call).ok();
            let result = result.and_then(|call| call.try_as_basic_value().basic());
            let Some(result) = result.filter(|r| r.is_int_value()) else {
                continue;
            };
            let result = result.into_int_value();
            llvm::position_before(b, next);
            let zero = result.get_type().const_zero();
            let is_child = b.build_int_compare(IntPredicate::EQ, result, zero, "p3.child");
            let is_child = is_child.expect("positioned");
            let one = b.build_int_z_extend(is_child, self.i64, "p3.child");
            let one = one.expect("positioned");
            self.add_to_counter(FORKED, one);
            for variable in [self.is_first, self.is_forked] {
                let either = b.build_or(self.load_variable(variable), one, "p3.child");
                b.build_store(variable, either.expect("positioned"))
                    .expect("positioned");
            }
        }
    }

    /// At the start of a block, a version of `of`, that is entered from `ins`, each with whether a path ends on the
    /// way.
    fn emit_block_entry(
        &self,
        block: BasicBlock<'ctx>,
        of: BlockId,
        ins: &[(BasicBlock<'ctx>, bool)],
    ) {
        let b = &self.builder;
        let ends: Option<IntValue> = ins.iter().any(|(_, ends)| *ends).then(|| {
            let phi = llvm::phi_at_start(b, block, self.i64, "p3.ends");
            for (from, ends) in ins {
                let ends = self.i64.const_int(u64::from(*ends), false);
                phi.add_incoming(&[(&ends as &dyn BasicValue, *from)]);
            }
            phi.as_basic_value().into_int_value()
        });
        llvm::position_before(b, place::start_of_block(block));
        let mut first = self.load_variable(self.is_first);
        if let Some(ends) = ends {
            let ended = b.build_and(first, ends, "p3.ended").expect("positioned");
            self.add_to_counter(COMPLETED, ended);
            first = b.build_xor(first, ended, "p3.first").expect("positioned");
            b.build_store(self.is_first, first).expect("positioned");
        }
        self.add_to_counter(FIRST_BLOCK + u64::from(of.0), first);
    }

    /// In front of `at`, where a path ends and control leaves the function, by a return to the caller if `returns`.
    fn emit_leave(&self, at: InstructionValue<'ctx>, returns: bool) {
        llvm::position_before(&self.builder, at);
        self.add_to_counter(COMPLETED, self.load_variable(self.is_first));
        if returns {
            self.add_to_counter(RETURNED, self.load_variable(self.is_forked));
        }
    }

    fn load_variable(&self, variable: PointerValue<'ctx>) -> IntValue<'ctx> {
        let load = self.builder.build_load(self.i64, variable, "p3.v");
        load.expect("positioned").into_int_value()
    }

    fn add_to_counter(&self, counter: u64, n: IntValue<'ctx>) {
        let b = &self.builder;
        let own = self.data.own_counter(b, self.own, self.slot + counter);
        self.data.add_to(b, own, n, false);
    }
}

/// Whether an instruction calls `fork`, and code may stand behind it.
fn is_fork(i: InstructionValue) -> bool {
    Inst::from_inkwell(i).opcode() == LLVMOpcode::LLVMCall
        && !llvm::is_musttail(i)
        && llvm::callee_name(i).is_some_and(|n| FORK.contains(&n.as_str()))
}
