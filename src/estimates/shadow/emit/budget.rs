//! What a burst has left: each block of a function that counts takes its instructions from a budget, and loops and
//! entries look whether there is any. A look is a read of memory that cannot be read when there is none: control flow
//! stays what the plan is for.
//!
//! Between calls the budget is a value of the function: in memory it would make each block wait for the one before.
//! Calls find it in memory, and so does whoever ends the burst, as of the last look.
//!
//! Where native code has an address that is known, a function that counts notes how often it came by, and what was left
//! the last time: a twin that runs native code can tell by the address how far it is.

use crate::base::index::{BlockId, TiVec};
use crate::input::ir::Cfg;
use crate::paths::dag::Order;
use crate::write::emit::edit::Edit;
use crate::write::emit::llvm::inst::Inst;
use crate::write::emit::llvm::{self, Blocks};
use crate::write::emit::{place, shared};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::types::IntType;
use inkwell::values::{
    BasicValue, FunctionValue, InstructionValue, IntValue, PhiValue, PointerValue,
};
use std::collections::HashMap;

/// Where `left` is in `struct p3_burst`, behind a page that cannot be read.
const LEFT: u64 = 4096;

/// Where a function that counts notes that it came by: by block, the `struct p3_passed` that it has.
pub(super) type Passes<'ctx> = HashMap<BlockId, PointerValue<'ctx>>;

/// Makes `function`, whose control flow is `cfg`, take what it executes from the budget. O(blocks + edges +
/// instructions).
pub(super) fn spend<'ctx>(
    edit: Edit<'_, 'ctx>,
    function: FunctionValue<'ctx>,
    (cfg, order): (&Cfg, &Order),
    passes: &Passes<'ctx>,
) {
    let Edit { context, module } = edit;
    let burst = context.i8_type().array_type(2 * LEFT as u32);
    let burst = shared::runtime_global(module, "__p3_burst", burst.into());
    let i64 = context.i64_type();
    let mut budget = Budget {
        builder: context.create_builder(),
        left: llvm::const_address(burst.as_pointer_value(), i64.const_int(LEFT, false)),
        blocks: llvm::blocks(function),
        ins: cfg.predecessors(),
        ends: cfg.by_block(None),
        phis: Vec::new(),
        cfg,
        order,
        context,
        i64,
    };
    for &b in &order.rpo {
        let before = budget.read_budget(b);
        if let Some(&passed) = passes.get(&b) {
            budget.note_pass(before, passed);
        }
        let left = budget.take_instructions(before, cfg.block(b).instructions);
        let left = budget.calls(b, left);
        budget.end(b, left);
    }
    budget.fill_phis();
}

struct Budget<'a, 'ctx> {
    context: &'ctx Context,
    cfg: &'a Cfg,
    order: &'a Order,
    builder: Builder<'ctx>,
    left: PointerValue<'ctx>,
    blocks: Blocks<'ctx>,
    ins: TiVec<BlockId, Vec<BlockId>>,
    /// What is left at the end of each block.
    ends: TiVec<BlockId, Option<IntValue<'ctx>>>,
    phis: Vec<(BlockId, PhiValue<'ctx>)>,
    i64: IntType<'ctx>,
}

impl<'ctx> Budget<'_, 'ctx> {
    fn place_builder(&self, at: InstructionValue<'ctx>) {
        llvm::position_before(&self.builder, at);
        self.builder.unset_current_debug_location();
    }

    fn load(&self) -> IntValue<'ctx> {
        let left = self.builder.build_load(self.i64, self.left, "p3.left");
        left.expect("positioned").into_int_value()
    }

    fn store(&self, left: IntValue<'ctx>) {
        let stored = self.builder.build_store(self.left, left);
        stored.expect("positioned");
    }

    /// What is left at the start of block `b`, behind which the builder stands: read, where control comes from a call.
    fn read_budget(&mut self, b: BlockId) -> IntValue<'ctx> {
        let block = self.blocks[b];
        if b == BlockId(0) {
            self.place_builder(place::entry_of_block(block));
            return self.load();
        }
        if self.is_read(b) {
            self.place_builder(place::start_of_block(block));
            return self.load();
        }
        let left = match *self.ins[b] {
            [only] if self.ends[only].is_some() => self.ends[only].expect("it is there"),
            _ => {
                let phi = llvm::phi_at_start(&self.builder, block, self.i64, "p3.left");
                self.phis.push((b, phi));
                phi.as_basic_value().into_int_value()
            }
        };
        self.place_builder(place::start_of_block(block));
        left
    }

    /// Whether a block before `b` ends in a call.
    fn is_read(&self, b: BlockId) -> bool {
        let ends = self.ins[b]
            .iter()
            .map(|from| llvm::terminator(self.blocks[*from]));
        ends.into_iter()
            .any(|end| Inst::from_inkwell(end).is_call())
    }

    fn take_instructions(&self, left: IntValue<'ctx>, instructions: u32) -> IntValue<'ctx> {
        let some = self.i64.const_int(u64::from(instructions), false);
        let rest = self.builder.build_int_sub(left, some, "p3.left");
        rest.expect("positioned")
    }

    /// Around the calls of block `b`, what is left is in memory.
    fn calls(&self, b: BlockId, mut left: IntValue<'ctx>) -> IntValue<'ctx> {
        let mut next = self.blocks[b].get_first_instruction();
        while let Some(i) = next {
            next = i.get_next_instruction();
            if !may_come_back(i) {
                continue;
            }
            self.place_builder(i);
            self.store(left);
            if let Some(behind) = next.filter(|_| !llvm::is_musttail(i)) {
                self.place_builder(behind);
                left = self.load();
            }
        }
        left
    }

    fn end(&mut self, b: BlockId, left: IntValue<'ctx>) {
        self.ends[b] = Some(left);
        let succs = &self.cfg.block(b).succs;
        let goes_back = succs.iter().any(|&to| self.order.is_retreating(b, to));
        let looks = b == BlockId(0) || goes_back;
        let block = self.blocks[b];
        let end = llvm::terminator(block);
        self.place_builder(if place::has_musttail(block) {
            place::exit_of_block(block)
        } else {
            end
        });
        if looks || succs.is_empty() || succs.iter().any(|to| self.is_read(*to)) {
            self.store(left);
        }
        if looks {
            self.touch_page(left);
        }
    }

    /// Notes that control came by, and what was left. Whoever ends the burst is to find it in memory, whatever
    /// optimisers think of it.
    fn note_pass(&self, left: IntValue<'ctx>, passed: PointerValue<'ctx>) {
        let (b, i64) = (&self.builder, self.i64);
        let number = b
            .build_load(i64, passed, "p3.passed")
            .expect("positioned")
            .into_int_value();
        let next = b
            .build_int_add(number, i64.const_int(1, false), "")
            .expect("positioned");
        let behind = llvm::const_address(passed, i64.const_int(8, false));
        let stored = [(passed, next), (behind, left)]
            .map(|(at, value)| b.build_store(at, value).expect("positioned"));
        let read = number.as_instruction().expect("a load");
        for access in [read].into_iter().chain(stored) {
            access.set_volatile(true).expect("loads and stores can be");
        }
    }

    /// Reads the byte in front of the budget's page if it is negative, else one in it.
    fn touch_page(&self, left: IntValue<'ctx>) {
        let (b, i64) = (&self.builder, self.i64);
        let sign = b.build_right_shift(left, i64.const_int(63, false), true, "");
        let distance = b
            .build_left_shift(sign.expect("positioned"), i64.const_int(12, false), "")
            .expect("positioned");
        let at = llvm::field_address(b, self.left, distance);
        let byte = b.build_load(self.context.i8_type(), at, "");
        let byte = byte.expect("positioned").into_int_value();
        let read = byte.as_instruction().expect("a load");
        read.set_volatile(true).expect("a load can be");
    }

    fn fill_phis(&self) {
        let never = self.i64.get_poison();
        for (b, phi) in &self.phis {
            for &from in &self.ins[*b] {
                let block: BasicBlock = self.blocks[from];
                let left = self.ends[from].unwrap_or(never);
                phi.add_incoming(&[(&left as &dyn BasicValue, block)]);
            }
        }
    }
}

/// Whether a call may lead to code that takes from the budget. Intrinsics and assembler code do not.
fn may_come_back(i: InstructionValue) -> bool {
    Inst::from_inkwell(i).is_call()
        && !llvm::callee_name(i).is_some_and(|name| name.starts_with("llvm."))
}
