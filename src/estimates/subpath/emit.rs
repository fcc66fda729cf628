//! Functions that are sampled ([`crate::estimates::subpath::plan`]): boundaries, versions, what they tell the runtime.

mod outlined;
mod runtime;
mod trampoline;

use crate::base::index::{BlockId, FuncId, TiSlice, TiVec};
use crate::estimates::data::Settings;
use crate::estimates::outlined::emit::live::is_place;
use crate::estimates::subpath::plan::{Draft, End, Made, Mode, SampledFunction, SubpathPlan};
use crate::input::ir::Cfg;
use crate::runtime::abi;
use crate::write::emit::data::{Additions, Data};
use crate::write::emit::edit::Edit;
use crate::write::emit::llvm::inst::{self, Inst};
use crate::write::emit::llvm::value::Value;
use crate::write::emit::llvm::{self, Blocks};
use crate::write::emit::work::{CopyWork, Joined, ModuleWork, plans_of_bodies};
use crate::write::emit::{place, versions};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::targets::TargetData;
use inkwell::values::{BasicValueEnum, FunctionValue, InstructionValue, IntValue, PointerValue};
use inkwell::{InlineAsmDialect, IntPredicate};
use outlined::{Leaving, Outlined};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// LLVM's number of `memory(argmem: readwrite)`.
const ARGUMENTS: u64 = 3;

/// Each function is sampled. They ascend.
pub(crate) struct Sample<'a> {
    pub functions: Vec<SampledFunction<'a>>,
    pub settings: Settings,
}

impl CopyWork for Sample<'_> {
    fn changed_functions(&self) -> Vec<FuncId> {
        self.functions.iter().map(|f| f.func).collect()
    }

    fn restrict_to_module<'w>(&'w self, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w> {
        let functions = Cow::Borrowed(&*self.functions);
        Box::new(SampleBodies {
            sampled: plans_of_bodies(bodies, functions, |f| f.func),
            settings: Cow::Borrowed(&self.settings),
        })
    }

    fn into_module_work<'w>(self: Box<Self>, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w>
    where
        Self: 'w,
    {
        let functions = Cow::Owned(self.functions);
        Box::new(SampleBodies {
            sampled: plans_of_bodies(bodies, functions, |f| f.func),
            settings: Cow::Owned(self.settings),
        })
    }
}

struct SampleBodies<'a> {
    /// By ordinal.
    sampled: Vec<(u32, Cow<'a, SampledFunction<'a>>)>,
    settings: Cow<'a, Settings>,
}

impl ModuleWork for SampleBodies<'_> {
    fn is_empty(&self) -> bool {
        self.sampled.is_empty()
    }

    fn carry_out(self: Box<Self>, module: Joined<'_, '_>) {
        let Joined { edit, job, .. } = module;
        let data = Data::declare(edit, job, std::iter::empty());
        let target = llvm::target_of(edit.module);
        for ((function, body), sampled) in module.zip_with_bodies(self.sampled) {
            let of = (&*body.name, &*sampled.cfg);
            instrument(edit, function, of, &sampled.draft(), &target);
        }
        data.register_module(job, || Additions {
            sampling: Some(runtime::describe(edit, &self.settings)),
            ..Additions::default()
        });
    }
}

/// Carries out the plans of `draft` for `function`, whose control flow is `cfg`: two where it can be in two functions,
/// or else one. Each is made when its turn comes. O(blocks + uses of values · blocks) at worst.
fn instrument<'ctx>(
    edit: Edit<'_, 'ctx>,
    function: FunctionValue<'ctx>,
    (name, cfg): (&str, &Cfg),
    draft: &Draft,
    target: &TargetData,
) {
    let context = edit.context;
    let own = llvm::blocks(function);
    assert_eq!(own.len(), cfg.len(), "{name}: blocks");
    let flow = draft.flow();
    versions::copy_blocks(context, function, cfg, flow);
    let from = Leaving {
        function,
        name,
        flow,
    };
    let two = draft.outlining().and_then(|outlining| {
        let outlined = Outlined::new(edit, &from, &outlining, target)?;
        Some((outlining, outlined))
    });
    match two {
        Some((outlining, outlined)) => {
            let sampling = draft.sampling(&outlining);
            carry_out(
                edit,
                outlined.function,
                sampling,
                ActivationPart::Sampling(&outlined),
            );
            let skipping = draft.skipping_plan(&outlining);
            carry_out(
                edit,
                function,
                skipping,
                ActivationPart::Skipping(&outlined),
            );
        }
        None => carry_out(
            edit,
            function,
            draft.plan_in_one_function(),
            ActivationPart::Whole,
        ),
    }
}

/// What of an activation runs in a function.
#[derive(Clone, Copy)]
enum ActivationPart<'a, 'ctx> {
    /// All of it.
    Whole,
    /// What is not sampled: the rest is left for the other function.
    Skipping(&'a Outlined<'ctx>),
    /// What is left for this one, which is that other function.
    Sampling(&'a Outlined<'ctx>),
}

/// Carries one plan out in one function.
fn carry_out<'ctx>(
    edit: Edit<'_, 'ctx>,
    function: FunctionValue<'ctx>,
    plan: SubpathPlan,
    part: ActivationPart<'_, 'ctx>,
) {
    let (context, plan) = (edit.context, &plan);
    let own = llvm::blocks(function);
    let mut shape = Shape {
        context,
        builder: context.create_builder(),
        plan,
        blocks: own.clone(),
    };
    shape.make_blocks(function);
    shape.connect();
    let renewed = shape.mend_phis(&own);
    let builder = shape.builder;
    let blocks =
        versions::copy_blocks_of(context, function, shape.blocks, &plan.cfg, &plan.versions);
    // What is left for another function has no frame of its own.
    let frame = match part {
        ActivationPart::Skipping(_) => None,
        ActivationPart::Whole | ActivationPart::Sampling(_) => {
            Some(frame(context, &builder, blocks[BlockId(0)]))
        }
    };
    let emitter = Emitter {
        context,
        builder,
        plan,
        edit,
        blocks,
        frame,
        part,
        renewed,
    };
    emitter.run();
}

/// The function on its way to the plan's control flow.
struct Shape<'a, 'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    plan: &'a SubpathPlan,
    /// The blocks of the plan's control flow that there are.
    blocks: Blocks<'ctx>,
}

impl<'ctx> Shape<'_, 'ctx> {
    /// Makes the blocks that are added. Whatever has fewer instructions moves, but names of blocks are those of the
    /// plan.
    fn make_blocks(&mut self, function: FunctionValue<'ctx>) {
        for made in &self.plan.made {
            let new = match *made {
                Made::Body => {
                    let entry = self
                        .context
                        .prepend_basic_block(self.blocks[BlockId(0)], "p3.entry");
                    self.take_over(BlockId(0), entry, is_place)
                }
                Made::Landed(pad) => {
                    let old = self.blocks[pad];
                    let head = self.context.prepend_basic_block(old, "p3.pad");
                    let rest = Inst::from_inkwell(place::start_of_block(old));
                    let mut before = true;
                    self.take_over(pad, head, |i| {
                        before &= i != rest;
                        before
                    })
                }
                Made::Tail(of) => {
                    let from = self.blocks[of];
                    let tail = self.context.insert_basic_block_after(from, "p3.tail");
                    let end = Inst::from_inkwell(llvm::terminator(from));
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
        let rest = std::mem::replace(&mut self.blocks[b], head);
        for i in inst::instructions(rest) {
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
            let block = self.blocks[b];
            let succs = &self.plan.cfg.block(b).succs;
            let to = |i: usize| self.blocks[succs[i]];
            if self.plan.nodes[b].end == End::Own {
                let end = llvm::terminator(block);
                (0..succs.len()).for_each(|i| llvm::set_successor(end, i as u32, to(i)));
                continue;
            }
            self.builder.position_at_end(block);
            match succs.len() {
                0 => self.builder.build_unreachable(),
                1 => self.builder.build_unconditional_branch(to(0)),
                _ => self.builder.build_conditional_branch(never, to(0), to(1)),
            }
            .expect("positioned");
        }
    }

    /// Gives φs an entry for each way in: that of the function's block which it comes from. By φ that there was: the
    /// one that there is.
    fn mend_phis(&self, own: &TiSlice<BlockId, BasicBlock<'ctx>>) -> FxHashMap<Value, Value> {
        let mut renewed = FxHashMap::default();
        let numbers: FxHashMap<BasicBlock, BlockId> =
            own.iter_enumerated().map(|(n, b)| (*b, n)).collect();
        let ins = self.plan.cfg.predecessors();
        for (b, ins) in self.plan.cfg.ids().zip(&ins) {
            for phi in inst::phis(self.blocks[b]) {
                let new = inst::renew_phi(&self.builder, phi);
                let entries = phi.incoming().into_iter();
                let entries: FxHashMap<BlockId, _> =
                    entries.map(|(v, from)| (numbers[&from], v)).collect();
                for from in ins {
                    let origin = self.plan.nodes[*from].origin;
                    new.add_incoming(entries[&origin], self.blocks[*from]);
                }
                renewed.insert(phi.value(), new.value());
                phi.erase();
            }
        }
        renewed
    }
}

/// The activation's words.
fn frame<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    entry: BasicBlock<'ctx>,
) -> PointerValue<'ctx> {
    llvm::position_before(builder, place::entry_of_block(entry));
    let words = context.i64_type().array_type(abi::FRAME_WORDS);
    let frame = builder.build_alloca(words, "p3.frame");
    frame.expect("positioned")
}

struct Emitter<'a, 'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    plan: &'a SubpathPlan,
    edit: Edit<'a, 'ctx>,
    /// Those of the versions.
    blocks: Blocks<'ctx>,
    frame: Option<PointerValue<'ctx>>,
    part: ActivationPart<'a, 'ctx>,
    /// What stands for the function's φs.
    renewed: FxHashMap<Value, Value>,
}

impl<'ctx> Emitter<'_, 'ctx> {
    fn run(&self) {
        let modes: &TiVec<BlockId, Option<Mode>> = &self.plan.modes;
        let joins_at_entry = |(b, mode): (BlockId, &Option<Mode>)| {
            let end = self.plan.nodes[self.plan.versions.origin[b]].end;
            *mode == Some(Mode::Over) && end == End::Joins
        };
        if modes.iter_enumerated().any(joins_at_entry) {
            let entry = self.blocks[BlockId(0)];
            llvm::position_before(&self.builder, llvm::terminator(entry));
            self.join();
        }
        for (b, mode) in modes.iter_enumerated() {
            let Some(mode) = *mode else { continue };
            let node = self.plan.nodes[self.plan.versions.origin[b]];
            let block = self.blocks[b];
            if node.begins && mode == Mode::Sampling {
                self.report_block(block, self.plan.number(node));
            }
            self.end(b, node.end, mode);
        }
    }

    /// The block that leads to `block`, which only one does.
    fn came_from(&self, block: BasicBlock<'ctx>) -> BasicBlock<'ctx> {
        let users = Value::of_block(block).users();
        let [only] = users[..] else {
            unreachable!("it is entered where something was paid");
        };
        only.block()
    }

    fn frame(&self) -> PointerValue<'ctx> {
        self.frame.expect("what is decided or told has a frame")
    }

    /// Tells that the function's block of this number begins in `block`.
    fn report_block(&self, block: BasicBlock<'ctx>, number: u32) {
        llvm::position_before(&self.builder, place::start_of_block(block));
        let number = self.context.i32_type().const_int(u64::from(number), false);
        let callee = runtime::block_function(self.edit);
        let arguments = [self.frame().into(), number.into()];
        let call = self.builder.build_call(callee, &arguments, "");
        call.expect("positioned");
    }

    fn end(&self, b: BlockId, end: End, mode: Mode) {
        let block = self.blocks[b];
        let (constant, terminator) = (self.context.bool_type(), llvm::terminator(block));
        let never = constant.const_zero();
        llvm::position_before(&self.builder, terminator);
        match (end, mode) {
            (End::Own, _) => {}
            // What is recorded of this activation alone is not seen by the budget.
            (End::Pays(slots), Mode::Sampling) => {
                self.pay_slots(b, slots);
                set_condition(terminator, constant.const_all_ones());
            }
            (End::Pays(slots), _) => self.mark_rare(terminator, self.pay_slots(b, slots)),
            // Seldom in all that an activation does: what is resumed is to have the registers.
            (End::Decides(slots), _) => self.mark_rare(terminator, self.decide(slots, mode)),
            (End::Looks, Mode::Sampling) => set_condition(terminator, never),
            (End::Looks, _) => {
                let budget = self.budget();
                self.mark_rare(terminator, self.is_negative(budget));
            }
            // Done once, before control goes to one of these places: where something is decided, that is written anew.
            (End::Joins, Mode::Over) => {}
            (End::Joins, _) => self.join(),
            (End::Leaves(place), _) => {
                let from = self.came_from(block);
                let place = place as usize;
                self.outlined_parts()
                    .leave_at(&self.builder, place, block, from, &self.renewed);
                terminator.erase_from_basic_block();
            }
            (End::Enters(number), _) => self.outlined_parts().note_entry(&self.builder, number),
            (End::Stays(number), _) => {
                set_condition(
                    terminator,
                    self.outlined_parts().was_not_left(&self.builder, number),
                );
            }
            (End::Back(number), _) => {
                let from = self.came_from(block);
                self.outlined_parts().go_back(&self.builder, number, from);
                terminator.erase_from_basic_block();
            }
        }
    }

    fn outlined_parts(&self) -> &Outlined<'ctx> {
        match self.part {
            ActivationPart::Skipping(outlined) | ActivationPart::Sampling(outlined) => outlined,
            ActivationPart::Whole => unreachable!("the plan is of one function"),
        }
    }

    fn mark_rare(&self, terminator: InstructionValue<'ctx>, condition: IntValue<'ctx>) {
        set_condition(terminator, condition);
        llvm::set_branch_weights(self.context, terminator, &[1, (1 << 20) - 1]);
    }

    fn budget(&self) -> IntValue<'ctx> {
        let address = runtime::budget(self.edit);
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

    /// Says to optimisers that the budget may be another one from here on: no code, and the budget is what it writes.
    ///
    /// They would keep it in a register from one boundary to the next, and write what they compute from that: several
    /// instructions, where one subtracts from memory. No two are alike: what both ways of a branch begin with would be
    /// done before it.
    fn clobber_budget(&self, at: BlockId) {
        let (context, word) = (self.context, self.context.i64_type());
        let address = runtime::budget(self.edit);
        let ty = context
            .void_type()
            .fn_type(&[address.get_type().into(), word.into()], false);
        let (code, written) = (String::new(), "=*m,i".to_string());
        let number = word.const_int(u64::from(at.0), false);
        let dialect = Some(InlineAsmDialect::ATT);
        let asm = context.create_inline_asm(ty, code, written, true, false, dialect, false);
        let call = self
            .builder
            .build_indirect_call(ty, asm, &[address.into(), number.into()], "")
            .expect("positioned");
        let kind = Attribute::get_named_enum_kind_id;
        let is = context.create_type_attribute(kind("elementtype"), word.into());
        call.add_attribute(AttributeLoc::Param(0), is);
        for (name, value) in [("memory", ARGUMENTS), ("nounwind", 0)] {
            let attribute = context.create_enum_attribute(kind(name), value);
            call.add_attribute(AttributeLoc::Function, attribute);
        }
    }

    /// Takes `slots` off the budget, in block `at`; whether that made it negative.
    fn pay_slots(&self, at: BlockId, slots: u32) -> IntValue<'ctx> {
        self.clobber_budget(at);
        let slots = self.context.i64_type().const_int(u64::from(slots), false);
        let left = self.builder.build_int_sub(self.budget(), slots, "");
        let left = left.expect("positioned");
        let address = runtime::budget(self.edit);
        self.builder.build_store(address, left).expect("positioned");
        self.is_negative(left)
    }

    fn decide(&self, slots: u32, mode: Mode) -> IntValue<'ctx> {
        let slots = self.context.i64_type().const_int(u64::from(slots), false);
        let fresh = u64::from(mode != Mode::Sampling);
        let fresh = self.context.i32_type().const_int(fresh, false);
        let callee = runtime::boundary_function(self.edit);
        let arguments = [self.frame().into(), slots.into(), fresh.into()];
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
        let word = self.context.i64_type();
        let words = [
            (abi::FRAME_SKIP, word.const_all_ones()),
            (abi::FRAME_UNTOLD, word.const_zero()),
        ];
        for (n, value) in words {
            let bytes = word.const_int(u64::from(n) * 8, false);
            let address = llvm::field_address(&self.builder, self.frame(), bytes);
            self.builder
                .build_store(address, value)
                .expect("positioned");
        }
    }
}

fn set_condition<'ctx>(terminator: InstructionValue<'ctx>, condition: IntValue<'ctx>) {
    assert!(terminator.set_operand(0, condition), "a conditional branch");
}
