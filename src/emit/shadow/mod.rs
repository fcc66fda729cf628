//! Functions that do not count, beside functions that do: shadow profiling.
//!
//! The program runs its *native* functions: those of the input, with room for a jump before the entry and known addresses
//! at the headers of loops ([`native`]). Beside each of them stand its *counting* function, a copy with the code of the plan, and, if it has loops, one that is
//! entered at their headers and counts the rest of an activation ([`resume`](crate::emit::apart::resume)). In a forked child the runtime writes
//! jumps to the entries, and breakpoints to the addresses. Of both there is a *timing* function as well, which takes from the budget and does nothing else that the
//! native one does not: in it a twin of the child finds out how long the burst takes. Control never comes back to native functions but by calls, whose entries lead away again, so an activation is
//! counted from its entry or from a back edge on: from where a path begins.
//!
//! That they are functions and not blocks of one keeps the machine code of native functions what it was: registers and frames
//! are not shared, and what is live on a back edge is live there anyway.

mod budget;
mod native;

use super::data::Data;
use super::layout::is_x86_64_linux;
use super::{function, sys};
use crate::emit::apart::copy;
use crate::emit::apart::resume::{self, Buffer, Handed};
use crate::ir::{FunctionBody, Linkage};
use crate::plan::FunctionPlan;
use budget::Look;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{FunctionValue, GlobalValue, PointerValue};

/// Where a function begins, and those that are jumped to from there.
pub(super) struct Entry<'ctx> {
    pub from: PointerValue<'ctx>,
    /// To be counted; `None`: it counts itself.
    pub counting: Option<PointerValue<'ctx>>,
    /// To be timed.
    pub timing: PointerValue<'ctx>,
}

/// Makes the functions of one module.
pub(super) struct Shadows<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    data: &'a Data<'ctx>,
    target: TargetData,
    /// The section of zeros in which values are handed over.
    buffer: Option<GlobalValue<'ctx>>,
    size: u64,
    /// Of all functions made so far.
    pub entries: Vec<Entry<'ctx>>,
}

impl<'a, 'ctx> Shadows<'a, 'ctx> {
    /// `None` where no code can be patched: the functions stay as they are.
    pub(super) fn new(
        context: &'ctx Context,
        module: &'a Module<'ctx>,
        data: &'a Data<'ctx>,
    ) -> Option<Self> {
        is_x86_64_linux(module).then(|| Shadows {
            context,
            module,
            data,
            target: sys::target_of(module),
            buffer: None,
            size: 0,
            entries: Vec::new(),
        })
    }

    /// Makes what counts for `function` by the job's plan number `index`, and the places where control goes over to it.
    pub(super) fn add(
        &mut self,
        function: FunctionValue<'ctx>,
        body: &FunctionBody,
        plan: &FunctionPlan,
        index: usize,
    ) {
        // Such a body is only there to be inlined, and one that has nops already is somebody else's to patch.
        if body.linkage == Linkage::AvailableExternally || native::is_taken(function) {
            return;
        }
        let (context, module) = (self.context, self.module);
        let flow = (&body.cfg, &*plan.own_order);
        let copies = [("counting", Look::Read), ("timing", Look::Branch)];
        let [counting, timing] = copies.map(|(what, look)| {
            let name = format!("__p3_{what}.{}", body.name);
            let copy = copy::whole(context, module, function, &name);
            budget::spend(context, module, copy, flow, look);
            copy
        });
        function::instrument(context, module, counting, body, plan, self.data, index);
        self.add_loops(function, body, plan, index);
        native::mark_entry(context, function, &body.cfg, &plan.own_order);
        self.entries.push(Entry {
            from: self.address(function, body),
            counting: Some(counting.as_global_value().as_pointer_value()),
            timing: timing.as_global_value().as_pointer_value(),
        });
    }

    fn add_loops(
        &mut self,
        function: FunctionValue<'ctx>,
        body: &FunctionBody,
        plan: &FunctionPlan,
        index: usize,
    ) {
        let Some(resumed) = crate::plan::resume::resumed(&body.cfg, plan) else {
            return;
        };
        let headers = resumed.places.iter().map(|p| p.block).collect();
        let (context, module, order) = (self.context, self.module, &plan.own_order);
        let handed = Handed::new(&self.target, function, &body.cfg, order, headers);
        let Some(handed) = handed else { return };
        let buffer = self.buffer(handed.size);
        let flow = (&resumed.cfg, &*resumed.plan.own_order);
        let copies = [("resuming", Look::Read), ("timing_rest", Look::Branch)];
        let [resuming, timing] = copies.map(|(what, look)| {
            let name = format!("__p3_{what}.{}", body.name);
            let to = Buffer::Known(buffer);
            let copy = resume::make(context, module, function, &name, &handed, to);
            budget::spend(context, module, copy, flow, look);
            copy
        });
        native::mark_entry(context, resuming, &resumed.cfg, &resumed.plan.own_order);
        self.entries.push(Entry {
            from: resuming.as_global_value().as_pointer_value(),
            counting: None,
            timing: timing.as_global_value().as_pointer_value(),
        });
        let own = body.cfg.clone();
        let body = FunctionBody {
            cfg: resumed.cfg,
            ..body.clone()
        };
        let plan = &resumed.plan;
        function::instrument(context, module, resuming, &body, plan, self.data, index);
        let places = (plan.func, &resumed.places[..]);
        native::add_sites(context, function, &own, places, resuming, &handed, buffer);
    }

    /// The address of this very body: a symbol that others see may mean another one when the program runs.
    fn address(&self, function: FunctionValue<'ctx>, body: &FunctionBody) -> PointerValue<'ctx> {
        if body.linkage == Linkage::External {
            let name = format!("__p3_native.{}", body.name);
            sys::alias(self.module, function, &name)
        } else {
            function.as_global_value().as_pointer_value()
        }
    }

    /// The memory in which values are handed over, with room for `size` bytes.
    fn buffer(&mut self, size: u64) -> PointerValue<'ctx> {
        let buffer = *self.buffer.get_or_insert_with(|| {
            let any = self.context.i8_type();
            self.module.add_global(any, None, "__p3_handed_over")
        });
        self.size = self.size.max(size);
        buffer.as_pointer_value()
    }

    /// Gives that memory its size.
    pub(super) fn finish(self) -> Vec<Entry<'ctx>> {
        if let Some(old) = self.buffer {
            let size = u32::try_from(self.size).expect("values of one function");
            let ty: BasicTypeEnum = self.context.i8_type().array_type(size).into();
            let new = super::data::zeros(self.module, ty.into_array_type(), "__p3_handed");
            new.set_alignment(64);
            sys::replace_global(old, new);
        }
        self.entries
    }
}
