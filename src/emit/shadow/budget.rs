//! What a burst has left: each block of a counting function takes its instructions from a budget, and loops and entries look
//! whether there is any. A look is a read of memory that cannot be read when there is none, so control flow stays as it is.

use crate::dag::Order;
use crate::emit::{place, shared, sys};
use crate::index::BlockId;
use crate::ir::Cfg;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, PointerValue};

/// Where `left` is in `struct p3_burst`, behind a page that cannot be read.
const LEFT: u64 = 4096;

/// Makes `function`, whose control flow is `cfg`, take what it executes from the budget. O(blocks).
pub(super) fn spend<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    cfg: &Cfg,
    order: &Order,
) {
    let burst = context.i8_type().array_type(2 * LEFT as u32);
    let budget = Budget {
        builder: context.create_builder(),
        left: sys::const_address(
            shared::runtime_global(module, "__p3_burst", burst.into()).as_pointer_value(),
            context.i64_type().const_int(LEFT, false),
        ),
        context,
    };
    let blocks = sys::blocks(function);
    for &b in &order.rpo {
        let block = cfg.block(b);
        let goes_back = block.succs.iter().any(|&to| order.is_retreating(b, to));
        sys::position_before(&budget.builder, place::exit(blocks[b]));
        budget.builder.unset_current_debug_location();
        let left = budget.take(block.instructions);
        if b == BlockId(0) || goes_back {
            budget.look(left);
        }
    }
}

struct Budget<'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    left: PointerValue<'ctx>,
}

impl<'ctx> Budget<'ctx> {
    fn take(&self, instructions: u32) -> inkwell::values::IntValue<'ctx> {
        let (b, i64) = (&self.builder, self.context.i64_type());
        let some = i64.const_int(u64::from(instructions), false);
        let old = b.build_load(i64, self.left, "p3.left").expect("positioned");
        let new = b.build_int_sub(old.into_int_value(), some, "p3.left");
        let new = new.expect("positioned");
        b.build_store(self.left, new).expect("positioned");
        new
    }

    /// Reads the byte in front of the budget's page if it is negative, else one in it.
    fn look(&self, left: inkwell::values::IntValue<'ctx>) {
        let (b, i64) = (&self.builder, self.context.i64_type());
        let sign = b.build_right_shift(left, i64.const_int(63, false), true, "");
        let distance = b
            .build_left_shift(sign.expect("positioned"), i64.const_int(12, false), "")
            .expect("positioned");
        let at = sys::field(b, self.left, distance);
        let byte = b.build_load(self.context.i8_type(), at, "");
        let byte = byte.expect("positioned").into_int_value();
        let read = byte.as_instruction().expect("a load");
        read.set_volatile(true).expect("a load can be");
    }
}
