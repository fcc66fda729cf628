//! A function that samples for another one, which leaves for it.

use crate::emit::apart::copy::stays_apart;
use crate::emit::apart::resume::{self, Buffer, Handed, Tail, place_in, return_call, returning_as};
use crate::emit::sys;
use crate::emit::values::{self, Inst, Value, phis};
use crate::ir::FunctionBody;
use crate::plan::subpaths::Apart;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetData;
use inkwell::values::{BasicMetadataValueEnum, BasicValue, FunctionValue};
use std::collections::HashMap;

/// The function, and how it is called.
pub(super) struct Away<'ctx> {
    pub function: FunctionValue<'ctx>,
    /// By place.
    doors: Vec<Door<'ctx>>,
    tail: Tail,
}

/// What is called at a place: a function whose parameters are the values that are live there.
///
/// It puts them where the other function reads them. The one that leaves would need a frame for that, and make it whenever it is
/// called; most have registers enough for what they hand over, and end with a jump.
struct Door<'ctx> {
    function: FunctionValue<'ctx>,
    /// The arguments: what is live, then the place's φs.
    live: Vec<Value>,
    block: BasicBlock<'ctx>,
}

impl<'ctx> Away<'ctx> {
    /// Makes it for `function`, which is as it was. `None` where an activation cannot go on in another function.
    pub(super) fn new(
        context: &'ctx Context,
        module: &Module<'ctx>,
        function: FunctionValue<'ctx>,
        body: &FunctionBody,
        apart: &Apart,
        target: &TargetData,
    ) -> Option<Self> {
        let (order, places) = (&apart.own_order, apart.places.clone());
        let handed = Handed::new(target, function, &body.cfg, order, places)?;
        let name = format!("__p3_sampling.{}", body.name);
        let of = resume::make(context, module, function, &name, &handed, Buffer::Told);
        let blocks = sys::blocks(function);
        let door = |place: usize| {
            let name = format!("__p3_door.{}", body.name);
            let door = Doorway {
                context,
                module,
                handed: &handed,
                to: of,
                from: function,
                block: blocks[handed.headers[place]],
                place,
            };
            door.made(&name)
        };
        Some(Away {
            function: of,
            doors: (0..apart.places.len()).map(door).collect(),
            tail: if takes_memory(function) {
                Tail::Kept
            } else {
                Tail::of(&blocks)
            },
        })
    }

    /// Ends the activation at `place` where the builder stands, behind `from`, a way to the place.
    /// `renewed`: what stands for values that were there when this was made.
    pub(super) fn leave(
        &self,
        builder: &Builder<'ctx>,
        place: usize,
        from: BasicBlock<'ctx>,
        renewed: &HashMap<Value, Value>,
    ) {
        let door = &self.doors[place];
        let entry = |phi: Inst| {
            let own = phi.incoming::<'ctx>().into_iter().find(|(_, b)| *b == from);
            own.expect("the place is entered from there").0
        };
        let now = |v: &Value| renewed.get(v).copied().unwrap_or(*v);
        let values = door.live.iter().map(now).chain(phis(door.block).map(entry));
        let values: Vec<BasicMetadataValueEnum> = values.map(|v| v.basic().into()).collect();
        return_call(builder, door.function, &values, self.tail);
    }
}

/// Whether parameters are in the caller's memory, which a call in the place of this one would write over.
fn takes_memory(function: FunctionValue) -> bool {
    let kind = Attribute::get_named_enum_kind_id("byval");
    let has = |i| function.get_enum_attribute(AttributeLoc::Param(i), kind);
    (0..function.count_params()).any(|i| has(i).is_some())
}

/// A door that is made.
struct Doorway<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    handed: &'a Handed,
    to: FunctionValue<'ctx>,
    from: FunctionValue<'ctx>,
    block: BasicBlock<'ctx>,
    place: usize,
}

impl<'ctx> Doorway<'_, 'ctx> {
    fn made(&self, name: &str) -> Door<'ctx> {
        let live: Vec<_> = self.handed.live_at_header(self.place).collect();
        let phis = phis(self.block).map(|phi| phi.value());
        let phis = phis.zip(self.handed.phis_at[self.place].iter().copied());
        let taken: Vec<_> = live.iter().copied().chain(phis).collect();
        let types = taken.iter().map(|(v, _)| v.basic().get_type().into());
        let types: Vec<_> = types.collect();
        let ty = returning_as(self.context, self.from, &types);
        let function = self.module.add_function(name, ty, Some(Linkage::Internal));
        self.attribute(function);
        let builder = self.context.create_builder();
        builder.position_at_end(self.context.append_basic_block(function, ""));
        let bytes = u32::try_from(self.handed.size).expect("values of one function");
        let memory = self.context.i8_type().array_type(bytes);
        let buffer = builder.build_alloca(memory, "").expect("positioned");
        let aligned = buffer.as_instruction_value().expect("it is one");
        aligned.set_alignment(64).expect("a power of two");
        for (value, (_, at)) in function.get_param_iter().zip(taken) {
            let place = place_in(self.context, &builder, buffer, at);
            values::store(&builder, Value::of(&value), place);
        }
        let number = self.context.i32_type().const_int(self.place as u64, false);
        let arguments = [number.into(), buffer.into()];
        return_call(&builder, self.to, &arguments, Tail::Kept);
        Door {
            function,
            live: live.into_iter().map(|(v, _)| v).collect(),
            block: self.block,
        }
    }

    /// It is called seldom, and unwinds as the function does.
    fn attribute(&self, function: FunctionValue<'ctx>) {
        let kind = Attribute::get_named_enum_kind_id;
        let cold = self.context.create_enum_attribute(kind("cold"), 0);
        let of = |name| {
            let kind = kind(name);
            self.from.get_enum_attribute(AttributeLoc::Function, kind)
        };
        for attribute in [Some(cold), of("nounwind"), of("uwtable")]
            .into_iter()
            .flatten()
        {
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        for attribute in self.from.attributes(AttributeLoc::Return) {
            function.add_attribute(AttributeLoc::Return, attribute);
        }
        stays_apart(self.context, function);
    }
}
