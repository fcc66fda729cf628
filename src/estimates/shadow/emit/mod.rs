//! Functions that do not count, beside functions that do: shadow profiling.
//!
//! The program runs its *native* functions: those of the input, with room for a jump before the entry and known
//! addresses at the headers of loops ([`native`]). Beside each of them stands its *counting* function, a copy with the
//! code of the plan, and, if it has loops, one that is entered at their headers and counts the rest of an activation
//! ([`resume`]). In a forked child the runtime writes jumps to the entries, and
//! breakpoints to the addresses. Control never comes back to native functions but by calls, whose entries lead away
//! again, so an activation is counted from its entry or from a back edge on: from where a path begins.
//!
//! A twin of the child finds out how long the burst takes: it runs native functions until one of these addresses has
//! been reached as often as in the burst.
//!
//! That they are functions and not blocks of one keeps the machine code of native functions what it was: registers and
//! frames are not shared, and what is live on a back edge is live there anyway.

mod budget;
mod native;

use crate::base::index::{BlockId, FuncId};
use crate::copies::plan::{CopyPlan, FunctionPlan};
use crate::estimates::outlined::emit::copy;
use crate::estimates::outlined::emit::handed::Handed;
use crate::estimates::outlined::emit::live::Saving;
use crate::estimates::outlined::emit::resume::{self, Buffer};
use crate::estimates::outlined::emit::shift::Shifts;
use crate::input::ir::{FunctionBody, Linkage};
use crate::runtime::abi;
use crate::write::emit::data::{Additions, Data, described_global};
use crate::write::emit::edit::Edit;
use crate::write::emit::function;
use crate::write::emit::layout::is_x86_64_linux;
use crate::write::emit::llvm;
use crate::write::emit::shared::struct_value;
use crate::write::emit::work::{CopyWork, Joined, ModuleWork, plans_of_bodies};
use budget::Passes;
use inkwell::targets::TargetData;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{FunctionValue, GlobalValue, PointerValue};
use std::borrow::Cow;

/// Each function stays as it is, beside one that counts as the plan says.
pub(crate) struct Shadow(pub CopyPlan);

impl CopyWork for Shadow {
    fn changed_functions(&self) -> Vec<FuncId> {
        self.0.changed_functions()
    }

    fn restrict_to_module<'w>(&'w self, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w> {
        let plans = Cow::Borrowed(&*self.0.functions);
        Box::new(ShadowBodies(plans_of_bodies(bodies, plans, |f| f.func)))
    }

    fn into_module_work<'w>(self: Box<Self>, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w> {
        let plans = Cow::Owned(self.0.functions);
        Box::new(ShadowBodies(plans_of_bodies(bodies, plans, |f| f.func)))
    }
}

/// By ordinal.
struct ShadowBodies<'a>(Vec<(u32, Cow<'a, FunctionPlan>)>);

impl ModuleWork for ShadowBodies<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn carry_out(self: Box<Self>, module: Joined<'_, '_>) {
        let Joined { edit, job, .. } = module;
        let data = Data::declare(edit, job, self.0.iter().map(|(_, plan)| &**plan));
        let mut entries = Vec::new();
        if let Some(mut shadows) = Shadows::new(&data) {
            let planned = module.zip_with_bodies(self.0);
            for (i, ((function, body), plan)) in planned.enumerate() {
                shadows.add(function, &body, &plan, i);
            }
            entries = shadows.finish();
        }
        data.register_module(job, || Additions {
            register: &abi::REGISTER_SHADOW,
            flags: abi::SHADOW,
            sampling: None,
            entries: describe_entries(edit, &entries),
        });
    }
}

/// Where a function begins, and the one that is jumped to from there.
struct Entry<'ctx> {
    from: PointerValue<'ctx>,
    counting: PointerValue<'ctx>,
    /// What it notes of its entry.
    passed: PointerValue<'ctx>,
}

/// The table of functions and those that are jumped to from there, and its length.
fn describe_entries<'ctx>(
    edit: Edit<'_, 'ctx>,
    entries: &[Entry<'ctx>],
) -> Option<(u32, GlobalValue<'ctx>)> {
    let value = |e: &Entry<'ctx>| {
        let values = [
            ("from", e.from),
            ("counting", e.counting),
            ("passed", e.passed),
        ];
        let values = values.map(|(name, at)| (name, at.into()));
        struct_value(edit.context, &abi::ENTRY, values)
    };
    let all: Vec<_> = entries.iter().map(value).collect();
    let array = all.first()?.get_type().const_array(&all);
    let global = described_global(edit.module, array.into(), "__p3_entries");
    Some((all.len() as u32, global))
}

/// Makes the functions of one module.
struct Shadows<'a, 'ctx> {
    edit: Edit<'a, 'ctx>,
    data: &'a Data<'a, 'ctx>,
    target: TargetData,
    /// The section of zeros in which values are handed over.
    buffer: Option<GlobalValue<'ctx>>,
    size: u64,
    /// Of all functions made so far.
    entries: Vec<Entry<'ctx>>,
}

impl<'a, 'ctx> Shadows<'a, 'ctx> {
    /// `None` where no code can be patched: the functions stay as they are.
    fn new(data: &'a Data<'a, 'ctx>) -> Option<Self> {
        let edit = data.edit;
        is_x86_64_linux(edit.module).then(|| Shadows {
            edit,
            data,
            target: llvm::target_of(edit.module),
            buffer: None,
            size: 0,
            entries: Vec::new(),
        })
    }

    /// Makes what counts for `function` by the job's plan number `index`, and the places where control goes over to it.
    fn add(
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
        let edit = self.edit;
        let name = format!("__p3_counting.{}", body.name);
        let counting = copy::copy_function(edit, function, &name);
        let passed = self.passed_record();
        let mut passes = Passes::from([(BlockId(0), passed)]);
        self.add_loops(function, body, plan, index, &mut passes);
        let flow = (&body.cfg, &*plan.own_order);
        budget::spend(edit, counting, flow, &passes);
        function::instrument_function(self.data, counting, body, plan, index);
        native::mark_entry(edit.context, function, &body.cfg, &plan.own_order);
        self.entries.push(Entry {
            from: self.address(function, body),
            counting: counting.as_global_value().as_pointer_value(),
            passed,
        });
    }

    /// Makes what counts the rest of an activation. `passes` are told of the places where it takes over.
    fn add_loops(
        &mut self,
        function: FunctionValue<'ctx>,
        body: &FunctionBody,
        plan: &FunctionPlan,
        index: usize,
        passes: &mut Passes<'ctx>,
    ) {
        let Some(resumed) = crate::estimates::outlined::plan::plan_resume(&body.cfg, plan) else {
            return;
        };
        let headers = resumed.places.iter().map(|p| p.block).collect();
        let (edit, order) = (self.edit, &plan.own_order);
        let saving = Saving::Operands;
        let handed = Handed::new(&self.target, function, &body.cfg, order, headers, saving);
        let Some(mut handed) = handed else { return };
        handed.let_sums_wrap();
        let blocks = llvm::blocks(function);
        let headers: Vec<_> = handed.headers.iter().map(|h| blocks[*h]).collect();
        handed.shifts = Shifts::find(&headers, &self.target);
        let buffer = self.buffer(handed.size);
        let name = format!("__p3_resuming.{}", body.name);
        let to = Buffer::Known(buffer);
        let resuming = resume::make_resume_function(edit, function, &name, &handed, to);
        let passed: Vec<_> = resumed
            .places
            .iter()
            .map(|_| self.passed_record())
            .collect();
        let by_block = || {
            resumed
                .places
                .iter()
                .map(|p| p.block)
                .zip(passed.iter().copied())
        };
        let behind_entry = by_block().map(|(b, passed)| (BlockId(b.0 + 1), passed));
        let flow = (&resumed.cfg, &*resumed.plan.own_order);
        budget::spend(edit, resuming, flow, &behind_entry.collect());
        passes.extend(by_block());
        let own = body.cfg.clone();
        let body = FunctionBody {
            cfg: resumed.cfg,
            ..body.clone()
        };
        let plan = &resumed.plan;
        function::instrument_function(self.data, resuming, &body, plan, index);
        let places = native::Places {
            func: plan.func,
            all: &resumed.places,
            passed: &passed,
            resuming,
            handed: &handed,
            buffer,
        };
        native::add_sites(edit.context, function, &own, places);
    }

    /// What a place is noted in: a `struct p3_passed`.
    fn passed_record(&self) -> PointerValue<'ctx> {
        let both = self.edit.context.i64_type().array_type(2);
        crate::write::emit::data::zeroed_global(self.edit.module, both, "__p3_passed")
            .as_pointer_value()
    }

    /// The address of this very body: a symbol that others see may mean another one when the program runs.
    fn address(&self, function: FunctionValue<'ctx>, body: &FunctionBody) -> PointerValue<'ctx> {
        if body.linkage == Linkage::External {
            let name = format!("__p3_native.{}", body.name);
            llvm::alias(self.edit.module, function, &name)
        } else {
            function.as_global_value().as_pointer_value()
        }
    }

    /// The memory in which values are handed over, with room for `size` bytes.
    fn buffer(&mut self, size: u64) -> PointerValue<'ctx> {
        let buffer = *self.buffer.get_or_insert_with(|| {
            let any = self.edit.context.i8_type();
            self.edit.module.add_global(any, None, "__p3_handed_over")
        });
        self.size = self.size.max(size);
        buffer.as_pointer_value()
    }

    /// Gives that memory its size.
    fn finish(self) -> Vec<Entry<'ctx>> {
        if let Some(old) = self.buffer {
            let size = u32::try_from(self.size).expect("values of one function");
            let ty: BasicTypeEnum = self.edit.context.i8_type().array_type(size).into();
            let new = crate::write::emit::data::zeroed_global(
                self.edit.module,
                ty.into_array_type(),
                "__p3_handed",
            );
            new.set_alignment(64);
            llvm::replace_global(old, new);
        }
        self.entries
    }
}
