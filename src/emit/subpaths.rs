//! Functions that are sampled ([`crate::plan::subpaths`]): boundaries, versions, what they tell the runtime.

use super::data::Data;
use super::split::in_blocks;
use super::values::{self, Inst};
use super::{place, sys, versions};
use crate::index::{BlockId, TiVec};
use crate::ir::FunctionBody;
use crate::plan::subpaths::{End, Made, Mode, SubpathPlan};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::values::{BasicValueEnum, FunctionValue, InstructionValue, IntValue, PointerValue};
use std::collections::HashMap;

/// Carries `plan` out in `function`. O(blocks + uses of values · blocks) at worst.
pub(super) fn instrument<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    body: &FunctionBody,
    plan: &SubpathPlan,
    data: &Data<'ctx>,
) {
    let own = function.get_basic_blocks();
    assert_eq!(own.len(), body.cfg.len(), "{}: blocks", body.name);
    let mut shape = Shape {
        context,
        builder: context.create_builder(),
        plan,
        blocks: own.clone(),
    };
    shape.make(function);
    shape.connect();
    shape.mend_phis(&own);
    let builder = shape.builder;
    let blocks =
        versions::copy_blocks_of(context, function, shape.blocks, &plan.cfg, &plan.versions);
    let frame = frame(context, &builder, blocks[0]);
    let emitter = Emitter {
        context,
        module,
        builder,
        plan,
        data,
        blocks,
        frame,
    };
    emitter.run();
}

/// The function on its way to the plan's control flow.
struct Shape<'a, 'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    plan: &'a SubpathPlan,
    /// The blocks of the plan's control flow that there are.
    blocks: Vec<BasicBlock<'ctx>>,
}

impl<'ctx> Shape<'_, 'ctx> {
    /// Makes the blocks that are added. Whatever has fewer instructions moves, but names of blocks are those of the plan.
    fn make(&mut self, function: FunctionValue<'ctx>) {
        for made in &self.plan.made {
            let new = match *made {
                Made::Body => {
                    let entry = self.context.prepend_basic_block(self.blocks[0], "p3.entry");
                    self.take_over(BlockId(0), entry, is_place)
                }
                Made::Landed(pad) => {
                    let old = self.blocks[pad.index()];
                    let head = self.context.prepend_basic_block(old, "p3.pad");
                    let rest = Inst::of(place::start(old));
                    let mut before = true;
                    self.take_over(pad, head, |i| {
                        before &= i != rest;
                        before
                    })
                }
                Made::Tail(of) => {
                    let from = self.blocks[of.index()];
                    let tail = self.context.insert_basic_block_after(from, "p3.tail");
                    let end = Inst::of(sys::terminator(from));
                    end.move_to(&self.builder, tail);
                    tail
                }
                Made::On(_) | Made::New => self.context.append_basic_block(function, "p3.sample"),
            };
            self.blocks.push(new);
        }
    }

    /// Lets `head` take block `b`'s place, with those of its instructions that `moves`; what is left of it.
    fn take_over(
        &mut self,
        b: BlockId,
        head: BasicBlock<'ctx>,
        mut moves: impl FnMut(Inst) -> bool,
    ) -> BasicBlock<'ctx> {
        let rest = std::mem::replace(&mut self.blocks[b.index()], head);
        for i in values::instructions(rest) {
            if moves(i) {
                i.move_to(&self.builder, head);
            }
        }
        rest
    }

    /// Gives all blocks their ways out; conditions come later.
    fn connect(&self) {
        let never = self.context.bool_type().const_zero();
        for b in self.plan.cfg.ids() {
            let block = self.blocks[b.index()];
            let succs = &self.plan.cfg.block(b).succs;
            let to = |i: usize| self.blocks[succs[i].index()];
            if self.plan.nodes[b].end == End::Own {
                let end = sys::terminator(block);
                (0..succs.len()).for_each(|i| sys::set_successor(end, i as u32, to(i)));
                continue;
            }
            self.builder.position_at_end(block);
            match succs.len() {
                1 => self.builder.build_unconditional_branch(to(0)),
                _ => self.builder.build_conditional_branch(never, to(0), to(1)),
            }
            .expect("positioned");
        }
    }

    /// Gives φs an entry for each way in: that of the function's block which it comes from.
    fn mend_phis(&self, own: &[BasicBlock<'ctx>]) {
        let numbers: HashMap<BasicBlock, usize> = own
            .iter()
            .copied()
            .enumerate()
            .map(|(n, b)| (b, n))
            .collect();
        let ins = in_blocks(&self.plan.cfg);
        for (b, ins) in self.plan.cfg.ids().zip(&ins) {
            for phi in values::phis(self.blocks[b.index()]) {
                let entries = phi.incoming().into_iter();
                let entries: HashMap<usize, _> =
                    entries.map(|(v, from)| (numbers[&from], v)).collect();
                let new = values::phi_before(&self.builder, phi);
                new.look_like(phi);
                for from in ins {
                    let origin = self.plan.nodes[*from].origin;
                    new.add_incoming(entries[&origin.index()], self.blocks[from.index()]);
                }
                phi.replace_uses(new.value());
                phi.erase();
            }
        }
    }
}

/// Whether an instruction makes a place for a variable, which has to be in the entry.
fn is_place(i: Inst) -> bool {
    i.opcode() == LLVMOpcode::LLVMAlloca && i.operands().iter().all(|v| v.is_constant())
}

/// The activation's word: the slots before the next sample begins.
fn frame<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    entry: BasicBlock<'ctx>,
) -> PointerValue<'ctx> {
    sys::position_before(builder, place::entry(entry));
    let frame = builder.build_alloca(context.i64_type(), "p3.frame");
    frame.expect("positioned")
}

struct Emitter<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    plan: &'a SubpathPlan,
    data: &'a Data<'ctx>,
    /// Those of the versions.
    blocks: Vec<BasicBlock<'ctx>>,
    frame: PointerValue<'ctx>,
}

impl<'ctx> Emitter<'_, 'ctx> {
    fn run(&self) {
        let modes: &TiVec<BlockId, Option<Mode>> = &self.plan.modes;
        for (b, mode) in modes.iter_enumerated() {
            let Some(mode) = *mode else { continue };
            let node = self.plan.nodes[self.plan.versions.origin[b]];
            let block = self.blocks[b.index()];
            if node.begins && mode == Mode::Sampling {
                self.tell(block, node.origin);
            }
            self.end(block, node.end, mode);
        }
    }

    /// Tells that block `own` of the function begins in `block`.
    fn tell(&self, block: BasicBlock<'ctx>, own: BlockId) {
        sys::position_before(&self.builder, place::start(block));
        let number = self.plan.first + own.0;
        let number = self.context.i32_type().const_int(u64::from(number), false);
        let callee = self.data.subpath_block(self.context, self.module);
        let arguments = [self.frame.into(), number.into()];
        let call = self.builder.build_call(callee, &arguments, "");
        call.expect("positioned");
    }

    fn end(&self, block: BasicBlock<'ctx>, end: End, mode: Mode) {
        let (constant, terminator) = (self.context.bool_type(), sys::terminator(block));
        let never = constant.const_zero();
        sys::position_before(&self.builder, terminator);
        match (end, mode) {
            (End::Own, _) => {}
            (End::Pays(slots), Mode::Skipping) => {
                self.rarely(terminator, self.pay(slots));
            }
            // The runtime decides whatever is left.
            (End::Pays(slots), Mode::Sampling) => {
                self.pay(slots);
                set_condition(terminator, constant.const_all_ones());
            }
            (End::Decides(slots), _) => set_condition(terminator, self.decide(slots, mode)),
            (End::Looks, Mode::Skipping) => {
                let budget = self.budget();
                self.rarely(terminator, self.is_negative(budget));
            }
            (End::Looks, Mode::Sampling) => set_condition(terminator, never),
            (End::Joins, _) => self.join(),
        }
    }

    fn rarely(&self, terminator: InstructionValue<'ctx>, condition: IntValue<'ctx>) {
        set_condition(terminator, condition);
        sys::set_branch_weights(self.context, terminator, &[1, (1 << 20) - 1]);
    }

    fn budget(&self) -> IntValue<'ctx> {
        let address = self.data.budget(self.context, self.module);
        let value = self
            .builder
            .build_load(self.context.i64_type(), address, "");
        value.expect("positioned").into_int_value()
    }

    fn is_negative(&self, n: IntValue<'ctx>) -> IntValue<'ctx> {
        let zero = n.get_type().const_zero();
        let compared = self
            .builder
            .build_int_compare(IntPredicate::SLT, n, zero, "");
        compared.expect("positioned")
    }

    /// Takes `slots` off the budget; whether that made it negative.
    fn pay(&self, slots: u32) -> IntValue<'ctx> {
        let slots = self.context.i64_type().const_int(u64::from(slots), false);
        let left = self.builder.build_int_sub(self.budget(), slots, "");
        let left = left.expect("positioned");
        let address = self.data.budget(self.context, self.module);
        self.builder.build_store(address, left).expect("positioned");
        self.is_negative(left)
    }

    fn decide(&self, slots: u32, mode: Mode) -> IntValue<'ctx> {
        let slots = self.context.i64_type().const_int(u64::from(slots), false);
        let fresh = u64::from(mode == Mode::Skipping);
        let fresh = self.context.i32_type().const_int(fresh, false);
        let callee = self.data.subpath_boundary(self.context, self.module);
        let arguments = [self.frame.into(), slots.into(), fresh.into()];
        let call = self
            .builder
            .build_call(callee, &arguments, "")
            .expect("positioned");
        let BasicValueEnum::IntValue(answer) = call.try_as_basic_value().expect_basic("an answer")
        else {
            unreachable!("it is an integer");
        };
        let zero = answer.get_type().const_zero();
        let compared = self
            .builder
            .build_int_compare(IntPredicate::NE, answer, zero, "");
        compared.expect("positioned")
    }

    /// No sample begins in what is left of the segment, as far as this activation knows.
    fn join(&self) {
        let none = self.context.i64_type().const_all_ones();
        self.builder
            .build_store(self.frame, none)
            .expect("positioned");
    }
}

fn set_condition<'ctx>(terminator: InstructionValue<'ctx>, condition: IntValue<'ctx>) {
    assert!(terminator.set_operand(0, condition), "a conditional branch");
}
