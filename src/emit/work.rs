//! What a copy does in its functions. To count and to trace is done here; whoever samples does it in a room of its own.

use super::edit::Edit;
use super::{ModuleJob, data, function, trace};
use crate::index::FuncId;
use crate::ir::FunctionBody;
use crate::plan::{CopyPlan, FunctionPlan};
use inkwell::values::FunctionValue;

/// What one copy does in all modules.
pub(crate) trait CopyWork: Send + Sync {
    /// The functions into which code comes.
    fn changed(&self) -> Vec<FuncId>;

    /// The same in one module, which has these `bodies`: ordinals, ascending, with the function of each.
    fn restrict_to_module<'w>(&'w self, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w>;
}

/// What one copy does in the functions of one module.
pub(crate) trait ModuleWork {
    /// Whether no function of the module is profiled.
    fn is_empty(&self) -> bool;

    /// Adds the code, and what describes it to the runtime.
    fn carry_out(&self, module: Joined<'_, '_>);
}

/// A module that is edited, joined with its view.
#[derive(Clone, Copy)]
pub(crate) struct Joined<'a, 'ctx> {
    pub edit: Edit<'a, 'ctx>,
    pub job: &'a ModuleJob<'a>,
    /// The definitions, in the order of the view's bodies.
    pub functions: &'a [FunctionValue<'ctx>],
}

impl<'a, 'ctx> Joined<'a, 'ctx> {
    /// The body with this ordinal.
    pub(crate) fn body(self, ordinal: u32) -> (FunctionValue<'ctx>, &'a FunctionBody) {
        let i = ordinal as usize;
        (self.functions[i], &self.job.module.bodies[i])
    }
}

/// Each function counts as its plan says.
impl CopyWork for CopyPlan {
    fn changed(&self) -> Vec<FuncId> {
        self.functions.iter().map(|f| f.func).collect()
    }

    fn restrict_to_module<'w>(&'w self, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w> {
        Box::new(Count(plans_of_bodies(bodies, &self.functions, |f| f.func)))
    }
}

/// By ordinal.
struct Count<'a>(Vec<(u32, &'a FunctionPlan)>);

impl ModuleWork for Count<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn carry_out(&self, module: Joined<'_, '_>) {
        let data = data::Data::declare(module.edit, module.job, &self.0);
        for (i, &(ordinal, plan)) in self.0.iter().enumerate() {
            let (function, body) = module.body(ordinal);
            function::instrument(&data, function, body, plan, i);
        }
        data.register(module.job, &self.0, data::Additions::default);
    }
}

/// Each function reports executed blocks to a tracer. They ascend.
pub(crate) struct Trace(pub Vec<FuncId>);

impl CopyWork for Trace {
    fn changed(&self) -> Vec<FuncId> {
        self.0.clone()
    }

    fn restrict_to_module<'w>(&'w self, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w> {
        Box::new(TraceBodies(plans_of_bodies(bodies, &self.0, |f| *f)))
    }
}

/// By ordinal.
struct TraceBodies<'a>(Vec<(u32, &'a FuncId)>);

impl ModuleWork for TraceBodies<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn carry_out(&self, module: Joined<'_, '_>) {
        for &(ordinal, func) in &self.0 {
            let (function, body) = module.body(ordinal);
            trace::instrument(module.edit, function, body, *func);
        }
    }
}

/// The plans of the `bodies` of a module, by ordinal; `plans` ascend by function.
pub(crate) fn plans_of_bodies<'p, P>(
    bodies: &[(u32, FuncId)],
    plans: &'p [P],
    function: impl Fn(&P) -> FuncId,
) -> Vec<(u32, &'p P)> {
    let planned = |&(ordinal, func): &(u32, FuncId)| {
        let i = plans.binary_search_by_key(&func, &function);
        Some((ordinal, &plans[i.ok()?]))
    };
    bodies.iter().filter_map(planned).collect()
}
