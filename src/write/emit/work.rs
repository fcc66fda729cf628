//! What a copy does in its functions. To count and to trace is done here; whoever samples does it in a room of its own.

use super::edit::Edit;
use super::{ModuleJob, data, function, trace};
use crate::base::index::FuncId;
use crate::copies::plan::{CopyPlan, FunctionPlan};
use crate::input::ir::FunctionBody;
use either::Either;
use inkwell::values::FunctionValue;
use std::borrow::Cow;

/// What one copy does in all modules.
pub(crate) trait CopyWork: Send + Sync {
    /// The functions into which code comes.
    fn changed_functions(&self) -> Vec<FuncId>;

    /// What this copy does in one module, whose `bodies` these are: ordinals, ascending, with the function of each.
    fn restrict_to_module<'w>(&'w self, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w>;

    /// What this copy does in the program's only module, whose `bodies` these are as for
    /// [`CopyWork::restrict_to_module`]. The plan of a function is freed as soon as its code is in.
    fn into_module_work<'w>(self: Box<Self>, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w>
    where
        Self: 'w;
}

/// What one copy does in the functions of one module.
pub(crate) trait ModuleWork {
    /// Whether no function of the module is profiled.
    fn is_empty(&self) -> bool;

    /// Adds the code, and what describes it to the runtime.
    fn carry_out(self: Box<Self>, module: Joined<'_, '_>);
}

/// A module that is edited, joined with its view.
pub(crate) struct Joined<'a, 'ctx> {
    pub edit: Edit<'a, 'ctx>,
    pub job: &'a ModuleJob<'a>,
    /// The definitions, in the order of the view's bodies.
    pub functions: Vec<FunctionValue<'ctx>>,
    /// These, which belong to this module alone if they are owned.
    pub bodies: Cow<'a, [FunctionBody]>,
}

/// A function of the module, and its view.
pub(crate) type Body<'a, 'ctx> = (FunctionValue<'ctx>, Cow<'a, FunctionBody>);

impl<'a, 'ctx> Joined<'a, 'ctx> {
    /// The `plans`, which ascend by ordinal, each with the function that it is of.
    pub(crate) fn zip_with_bodies<P>(
        self,
        plans: Vec<(u32, P)>,
    ) -> impl Iterator<Item = (Body<'a, 'ctx>, P)> {
        let bodies = match self.bodies {
            Cow::Borrowed(all) => Either::Left(all.iter().map(Cow::Borrowed)),
            Cow::Owned(all) => Either::Right(all.into_iter().map(Cow::Owned)),
        };
        let mut bodies = (0..).zip(self.functions.into_iter().zip(bodies));
        plans.into_iter().map(move |(ordinal, plan)| {
            let body = bodies.find(|(n, _)| *n == ordinal);
            (body.expect("plans ascend, each has a body").1, plan)
        })
    }
}

/// Each function counts as its plan says.
impl CopyWork for CopyPlan {
    fn changed_functions(&self) -> Vec<FuncId> {
        self.functions.iter().map(|f| f.func).collect()
    }

    fn restrict_to_module<'w>(&'w self, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w> {
        let plans = Cow::Borrowed(&*self.functions);
        Box::new(Count(plans_of_bodies(bodies, plans, |f| f.func)))
    }

    fn into_module_work<'w>(self: Box<Self>, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w> {
        let plans = Cow::Owned(self.functions);
        Box::new(Count(plans_of_bodies(bodies, plans, |f| f.func)))
    }
}

/// By ordinal.
struct Count<'a>(Vec<(u32, Cow<'a, FunctionPlan>)>);

impl ModuleWork for Count<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn carry_out(self: Box<Self>, module: Joined<'_, '_>) {
        let Joined { edit, job, .. } = module;
        let data = data::Data::declare(edit, job, self.0.iter().map(|(_, plan)| &**plan));
        let planned = module.zip_with_bodies(self.0);
        for (i, ((function, body), plan)) in planned.enumerate() {
            function::instrument_function(&data, function, &body, &plan, i);
        }
        data.register_module(job, data::Additions::default);
    }
}

/// Each function reports executed blocks to a tracer. They ascend.
pub(crate) struct Trace(pub Vec<FuncId>);

impl CopyWork for Trace {
    fn changed_functions(&self) -> Vec<FuncId> {
        self.0.clone()
    }

    fn restrict_to_module<'w>(&'w self, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w> {
        let functions = Cow::Borrowed(&*self.0);
        Box::new(TraceBodies(plans_of_bodies(bodies, functions, |f| *f)))
    }

    fn into_module_work<'w>(self: Box<Self>, bodies: &[(u32, FuncId)]) -> Box<dyn ModuleWork + 'w> {
        let functions = Cow::Owned(self.0);
        Box::new(TraceBodies(plans_of_bodies(bodies, functions, |f| *f)))
    }
}

/// By ordinal.
struct TraceBodies<'a>(Vec<(u32, Cow<'a, FuncId>)>);

impl ModuleWork for TraceBodies<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn carry_out(self: Box<Self>, module: Joined<'_, '_>) {
        let edit = module.edit;
        for ((function, body), func) in module.zip_with_bodies(self.0) {
            trace::trace_function(edit, function, &body, *func);
        }
    }
}

/// The plans of the `bodies` of a module, by ordinal; `plans` ascend by function. Where they are owned, bodies ascend
/// by function as well, as those of a program's only module do, and all other plans are dropped.
pub(crate) fn plans_of_bodies<'p, P: Clone>(
    bodies: &[(u32, FuncId)],
    plans: Cow<'p, [P]>,
    function: impl Fn(&P) -> FuncId,
) -> Vec<(u32, Cow<'p, P>)> {
    let bodies = bodies.iter().copied();
    match plans {
        Cow::Borrowed(plans) => {
            let planned = |(ordinal, func): (u32, FuncId)| {
                let i = plans.binary_search_by_key(&func, &function);
                Some((ordinal, Cow::Borrowed(&plans[i.ok()?])))
            };
            bodies.filter_map(planned).collect()
        }
        Cow::Owned(plans) => {
            let mut plans = plans.into_iter().peekable();
            let planned = |(ordinal, func): (u32, FuncId)| {
                while plans.next_if(|p| function(p) < func).is_some() {}
                let plan = plans.next_if(|p| function(p) == func)?;
                Some((ordinal, Cow::Owned(plan)))
            };
            bodies.filter_map(planned).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bodies 0 to 3 of functions 3, 5, 6 and 8, of which 3 and 8 have plans, as others have that are in no body.
    #[test]
    fn owned_plans_are_chosen_like_borrowed_ones() {
        let bodies = [(0, 3), (1, 5), (2, 6), (3, 8)].map(|(n, f)| (n, FuncId(f)));
        let plans = [1, 3, 4, 8, 9].map(FuncId);
        let borrowed = plans_of_bodies(&bodies, Cow::Borrowed(&plans), |f| *f);
        let owned = plans_of_bodies(&bodies, Cow::Owned(plans.to_vec()), |f| *f);
        assert_eq!(owned, borrowed);
        let chosen: Vec<_> = owned.iter().map(|(n, f)| (*n, **f)).collect();
        assert_eq!(chosen, [(0, FuncId(3)), (3, FuncId(8))]);
    }
}
