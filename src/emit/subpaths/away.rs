//! A function that samples for another one, which leaves for it.

use crate::emit::apart::copy::stays_apart;
use crate::emit::apart::resume::{self, Buffer, Handed, Tail, place_in, return_call, returning_as};
use crate::emit::sys;
use crate::emit::values::{self, Inst, Value, phis};
use crate::plan::subpaths::Apart;
use crate::versions::Versions;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetData;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, BasicValue, FunctionValue, IntValue};
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
    arguments: Vec<Argument>,
    /// What is handed over is live, or a φ of the place.
    live: Vec<Value>,
    block: BasicBlock<'ctx>,
}

/// How values are handed over, by their numbers.
enum Argument {
    One(usize),
    /// The second one in the upper half.
    Two(usize, usize),
}

/// Arguments in registers, of integers and pointers: as many have most calling conventions of 64-bit machines at least.
const REGISTERS: usize = 6;

/// Arguments that hand over values of these types: small integers by twos where there are registers for all only then.
fn arguments(types: &[BasicTypeEnum]) -> Vec<Argument> {
    let is_small = |t: &BasicTypeEnum| t.is_int_type() && t.into_int_type().get_bit_width() <= 32;
    let words = types
        .iter()
        .filter(|t| t.is_int_type() || t.is_pointer_type());
    let (words, pairs) = (
        words.count(),
        types.iter().filter(|t| is_small(t)).count() / 2,
    );
    let packs = words > REGISTERS && words - pairs <= REGISTERS;
    let (small, others): (Vec<usize>, Vec<usize>) =
        (0..types.len()).partition(|&n| packs && is_small(&types[n]));
    let small = small.chunks(2).map(|pair| match *pair {
        [a, b] => Argument::Two(a, b),
        _ => Argument::One(pair[0]),
    });
    others.into_iter().map(Argument::One).chain(small).collect()
}

/// Two integers in one.
fn pack<'ctx>(builder: &Builder<'ctx>, low: Value, high: Value) -> IntValue<'ctx> {
    let half = |v: Value| {
        let v = v.basic::<'ctx>().into_int_value();
        let word = v.get_type().get_context().i64_type();
        builder.build_int_z_extend(v, word, "").expect("positioned")
    };
    let (low, high) = (half(low), half(high));
    let by = high.get_type().const_int(32, false);
    let high = builder.build_left_shift(high, by, "").expect("positioned");
    builder.build_or(low, high, "").expect("positioned")
}

/// The integers of these types that were packed.
fn unpack<'ctx>(
    builder: &Builder<'ctx>,
    both: IntValue<'ctx>,
    types: [BasicTypeEnum<'ctx>; 2],
) -> [IntValue<'ctx>; 2] {
    let by = both.get_type().const_int(32, false);
    let high = builder.build_right_shift(both, by, false, "");
    let halves = [(both, types[0]), (high.expect("positioned"), types[1])];
    halves.map(|(half, ty)| {
        let value = builder.build_int_truncate(half, ty.into_int_type(), "");
        value.expect("positioned")
    })
}

/// The function that leaves for another one, before it is told to.
pub(super) struct Leaving<'a, 'ctx> {
    pub function: FunctionValue<'ctx>,
    pub name: &'a str,
    /// Its control flow.
    pub flow: &'a Versions,
}

impl<'ctx> Away<'ctx> {
    /// Makes it for `from`. `None` where an activation cannot go on in another function.
    pub(super) fn new(
        context: &'ctx Context,
        module: &Module<'ctx>,
        from: &Leaving<'_, 'ctx>,
        apart: &Apart,
        target: &TargetData,
    ) -> Option<Self> {
        let Leaving {
            function,
            name: own,
            flow,
        } = *from;
        let places = apart.places.iter().map(|p| p.block).collect();
        let handed = Handed::new(target, function, &flow.cfg, &flow.order, places)?;
        let name = format!("__p3_sampling.{own}");
        let of = resume::make(context, module, function, &name, &handed, Buffer::Told);
        let blocks = sys::blocks(function);
        let door = |place: usize| {
            let name = format!("__p3_door.{own}");
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
        let values: Vec<Value> = values.collect();
        let argument = |a: &Argument| -> BasicMetadataValueEnum {
            match *a {
                Argument::One(n) => values[n].basic().into(),
                Argument::Two(a, b) => pack(builder, values[a], values[b]).into(),
            }
        };
        let arguments: Vec<_> = door.arguments.iter().map(argument).collect();
        return_call(builder, door.function, &arguments, self.tail);
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
        let types: Vec<BasicTypeEnum> = taken.iter().map(|(v, _)| v.basic().get_type()).collect();
        let arguments = arguments(&types);
        let parameter = |a: &Argument| match *a {
            Argument::One(n) => types[n].into(),
            Argument::Two(..) => self.context.i64_type().into(),
        };
        let parameters: Vec<_> = arguments.iter().map(parameter).collect();
        let ty = returning_as(self.context, self.from, &parameters);
        let function = self.module.add_function(name, ty, Some(Linkage::Internal));
        self.attribute(function);
        let builder = self.context.create_builder();
        builder.position_at_end(self.context.append_basic_block(function, ""));
        let bytes = u32::try_from(self.handed.size).expect("values of one function");
        let memory = self.context.i8_type().array_type(bytes);
        let buffer = builder.build_alloca(memory, "").expect("positioned");
        let aligned = buffer.as_instruction_value().expect("it is one");
        aligned.set_alignment(64).expect("a power of two");
        let store = |n: usize, value: Value| {
            let place = place_in(self.context, &builder, buffer, taken[n].1);
            values::store(&builder, value, place);
        };
        for (parameter, argument) in function.get_param_iter().zip(&arguments) {
            match *argument {
                Argument::One(n) => store(n, Value::of(&parameter)),
                Argument::Two(a, b) => {
                    let both = parameter.into_int_value();
                    let [low, high] = unpack(&builder, both, [types[a], types[b]]);
                    store(a, Value::of(&low));
                    store(b, Value::of(&high));
                }
            }
        }
        let number = self.context.i32_type().const_int(self.place as u64, false);
        return_call(
            &builder,
            self.to,
            &[number.into(), buffer.into()],
            Tail::Kept,
        );
        Door {
            function,
            arguments,
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
