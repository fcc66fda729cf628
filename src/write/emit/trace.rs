//! The tracing build: reports activations and executed blocks to a tracer. It shares no code with plans, so tests can
//! use it as their oracle.

use super::edit::Edit;
use super::function::return_at_once;
use super::llvm;
use super::place;
use super::shared::declare;
use crate::base::index::{BlockId, FuncId};
use crate::input::ir::{FunctionBody, Terminator};
use crate::paths::dag::Order;
use crate::write::emit::llvm::inst::Inst;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::values::{BasicValue, BasicValueEnum, FunctionValue, InstructionValue};

/// Inserts the calls: `frame = __p3_trace_enter(function)` at the entry,
/// `__p3_trace_block(frame, block)` in every reachable block, `__p3_trace_resume(frame, block)`
/// behind every call that may return twice, and `__p3_trace_exit(frame)` where a path that ends
/// there is complete.
pub(super) fn trace_function<'ctx>(
    edit: Edit<'_, 'ctx>,
    function: FunctionValue<'ctx>,
    body: &FunctionBody,
    func: FuncId,
) {
    let blocks = llvm::blocks(function);
    let tracer = Tracer {
        edit,
        builder: edit.context.create_builder(),
    };
    // Not that of the analysis, which the trace is there to test.
    let order = Order::new(&body.cfg).rpo;
    let tails = return_at_once(&tracer.builder, &blocks, &body.cfg, &order, |_, _| true);
    let frame = tracer.emit_enter(blocks[BlockId(0)], func);
    for b in order {
        if let Some(&call) = tails.get(&b) {
            llvm::position_before(&tracer.builder, call);
            tracer.emit_report("__p3_trace_block", body.cfg.block(b).succs[0], frame);
            tracer.report_exit(frame);
        }
        tracer.emit_block(blocks[b], b, frame);
        tracer.emit_resume(blocks[b], b, frame);
        if body.cfg.block(b).succs.is_empty() {
            debug_assert_ne!(body.cfg.block(b).terminator, Terminator::Funclet);
            tracer.emit_exit(blocks[b], frame);
        }
    }
}

struct Tracer<'a, 'ctx> {
    edit: Edit<'a, 'ctx>,
    builder: Builder<'ctx>,
}

impl<'ctx> Tracer<'_, 'ctx> {
    fn emit_enter(&self, entry: BasicBlock<'ctx>, func: FuncId) -> BasicValueEnum<'ctx> {
        let (i32, i64) = (self.edit.context.i32_type(), self.edit.context.i64_type());
        let name = "__p3_trace_enter";
        let callee = self.edit.module.get_function(name).unwrap_or_else(|| {
            let ty = i64.fn_type(&[i32.into()], false);
            self.edit.module.add_function(name, ty, None)
        });
        llvm::position_before(&self.builder, place::entry_of_block(entry));
        let func = i32.const_int(u64::from(func.0), false).into();
        let call = self.builder.build_call(callee, &[func], "p3.frame");
        call.expect("positioned")
            .try_as_basic_value()
            .expect_basic("it returns a value")
    }

    fn emit_block(&self, block: BasicBlock<'ctx>, b: BlockId, frame: BasicValueEnum<'ctx>) {
        match b {
            // Behind the call that makes the frame.
            BlockId(0) => {
                let enter = frame.as_instruction_value().expect("a call");
                let next = enter.get_next_instruction().expect("a terminator follows");
                llvm::position_before(&self.builder, next);
            }
            _ => llvm::position_before(&self.builder, place::start_of_block(block)),
        }
        self.emit_report("__p3_trace_block", b, frame);
    }

    fn emit_resume(&self, block: BasicBlock<'ctx>, b: BlockId, frame: BasicValueEnum<'ctx>) {
        let first = block.get_first_instruction();
        let all = std::iter::successors(first, |i| i.get_next_instruction());
        let twice = |i: &InstructionValue<'ctx>| {
            Inst::from_inkwell(*i).is_call() && llvm::returns_twice(*i)
        };
        for call in all.filter(twice).collect::<Vec<_>>() {
            let next = call
                .get_next_instruction()
                .expect("an invoke of setjmp is not traced");
            llvm::position_before(&self.builder, next);
            self.emit_report("__p3_trace_resume", b, frame);
        }
    }

    fn emit_report(&self, name: &str, b: BlockId, frame: BasicValueEnum<'ctx>) {
        let (i32, i64) = (self.edit.context.i32_type(), self.edit.context.i64_type());
        let parameters = [i64.into(), i32.into()];
        let callee = declare(self.edit, name, &parameters, None);
        let number = i32.const_int(u64::from(b.0), false).into();
        let call = self.builder.build_call(callee, &[frame.into(), number], "");
        call.expect("positioned");
    }

    fn emit_exit(&self, block: BasicBlock<'ctx>, frame: BasicValueEnum<'ctx>) {
        llvm::position_before(&self.builder, place::exit_of_block(block));
        self.report_exit(frame);
    }

    fn report_exit(&self, frame: BasicValueEnum<'ctx>) {
        let i64 = self.edit.context.i64_type().into();
        let callee = declare(self.edit, "__p3_trace_exit", &[i64], None);
        self.builder
            .build_call(callee, &[frame.into()], "")
            .expect("positioned");
    }
}
