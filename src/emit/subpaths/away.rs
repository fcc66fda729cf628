//! A function that samples for another one, which leaves for it, and goes on where nothing is sampled any more.

use crate::emit::apart::copy::stays_apart;
use crate::emit::apart::live::Saving;
use crate::emit::apart::resume::{
    self, Buffer, Handed, Tail, call_of, place_in, return_call, return_value, returning_as,
};
use crate::emit::sys;
use crate::emit::values::{self, Inst, Value, phis};
use crate::plan::subpaths::{Apart, Loop};
use crate::versions::Versions;
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::targets::TargetData;
use inkwell::types::{BasicTypeEnum, StructType};
use inkwell::values::{
    AggregateValue, BasicMetadataValueEnum, BasicValue, FunctionValue, IntValue, PointerValue,
    StructValue,
};
use std::collections::HashMap;

/// The function, and how it is called.
pub(super) struct Away<'ctx> {
    context: &'ctx Context,
    pub function: FunctionValue<'ctx>,
    /// By place.
    doors: Vec<Door<'ctx>>,
    tail: Tail,
    /// By loop of the plan's nest: the header, and where its φs are handed back.
    headers: Vec<Header<'ctx>>,
    words: Words,
}

/// Where one function goes on with what the other one did meanwhile.
struct Header<'ctx> {
    block: BasicBlock<'ctx>,
    /// As the plan's loop has them.
    outer: Option<u32>,
    last: u32,
    /// By φ: an offset in the buffer, and the type.
    phis: Vec<(u64, BasicTypeEnum<'ctx>)>,
}

/// Where in the buffer the two functions tell each other, in words of 32 bits, which loop it is.
#[derive(Clone, Copy)]
struct Words {
    /// The innermost loop around the place that was not left since, or [`NONE`].
    inside: u64,
    /// One more than the loop at whose header control goes back; 0: the activation is over.
    back: u64,
    /// The bytes of the buffer with them.
    size: u64,
}

/// No loop.
const NONE: u32 = u32::MAX;

impl Words {
    /// Behind what is handed over in so many bytes.
    fn behind(size: u64) -> Words {
        let inside = size.next_multiple_of(4);
        Words {
            inside,
            back: inside + 4,
            size: inside + 8,
        }
    }
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
    /// The loops in which control may come back: then what is returned is one more than the number of that, or 0, the function's
    /// result, and the φs of each header.
    around: Vec<u32>,
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
        let handed = Handed::new(
            target,
            function,
            &flow.cfg,
            &flow.order,
            places,
            Saving::Computed,
        )?;
        let name = format!("__p3_sampling.{own}");
        let of = resume::make(context, module, function, &name, &handed, Buffer::Told);
        returns_anything(of);
        let blocks = sys::blocks(function);
        let header = |l: &Loop| {
            let block = blocks[l.header];
            // Places are in the order of their blocks; whichever it is, φs are handed over alike.
            let place = handed.headers.binary_search(&l.header);
            let place = place.expect("a back edge leads there");
            let types = phis(block).map(|phi| phi.value().basic().get_type());
            let at = handed.phis_at[place].iter().copied();
            Header {
                block,
                outer: l.outer,
                last: l.last,
                phis: at.zip(types).collect(),
            }
        };
        let headers: Vec<Header> = apart.nest.loops.iter().map(header).collect();
        let words = Words::behind(handed.size);
        let result = function.get_type().get_return_type();
        let fits = |ty: BasicTypeEnum| Value::of(&ty.const_zero()).size(target).is_some();
        // Vectors of a length that the processor has fit into nothing else.
        let comes_back = result.is_none_or(fits);
        let door = |place: usize| {
            let name = format!("__p3_door.{own}");
            let block = handed.headers[place];
            let door = Doorway {
                context,
                module,
                handed: &handed,
                to: of,
                from: function,
                block: blocks[block],
                place,
                around: if comes_back {
                    apart.nest.all_around(block).collect()
                } else {
                    Vec::new()
                },
                headers: &headers,
                words,
            };
            door.made(&name)
        };
        Some(Away {
            context,
            function: of,
            doors: (0..apart.places.len()).map(door).collect(),
            headers,
            words,
            tail: if takes_memory(function) {
                Tail::Kept
            } else {
                Tail::of(&blocks)
            },
        })
    }

    /// Ends the activation at `place`, or this part of it, at the end of `here`, behind `from`, a way to the place.
    /// `renewed`: what stands for values that were there when this was made.
    pub(super) fn leave(
        &self,
        builder: &Builder<'ctx>,
        place: usize,
        here: BasicBlock<'ctx>,
        from: BasicBlock<'ctx>,
        renewed: &HashMap<Value, Value>,
    ) {
        let door = &self.doors[place];
        let entry = |phi: Inst| entry_from(phi, from);
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
        if door.around.is_empty() {
            return_call(builder, door.function, &arguments, self.tail);
        } else {
            let call = builder.build_call(door.function, &arguments, "");
            let told = call.expect("positioned").try_as_basic_value();
            let told = told.expect_basic("what comes back").into_struct_value();
            self.go_on(builder, told, &door.around, here);
        }
    }

    /// Goes on at the header that `told` names, or returns.
    fn go_on(
        &self,
        builder: &Builder<'ctx>,
        told: StructValue<'ctx>,
        around: &[u32],
        here: BasicBlock<'ctx>,
    ) {
        let mut fields = (0..told.get_type().count_fields()).map(|n| {
            let field = builder.build_extract_value(told, n, "");
            field.expect("a field of it")
        });
        let mut next = || fields.next().expect("as the door returns");
        let back = next().into_int_value();
        let function = here.get_parent().expect("it is in one");
        let result = function.get_type().get_return_type().map(|_| next());
        let mut cases = Vec::new();
        for &number in around {
            let header = self.headers[number as usize].block;
            for phi in phis(header) {
                phi.add_incoming(Value::of(&next()), here);
            }
            let case = back.get_type().const_int(u64::from(number) + 1, false);
            cases.push((case, header));
        }
        let over = self.context.insert_basic_block_after(here, "p3.over");
        builder
            .build_switch(back, over, &cases)
            .expect("positioned");
        builder.position_at_end(over);
        return_value(builder, result);
    }

    /// Where in the buffer, in the function that was left for.
    fn place(&self, builder: &Builder<'ctx>, offset: u64) -> Value {
        let buffer = self.function.get_nth_param(1).expect("it is told");
        place_in(self.context, builder, buffer.into_pointer_value(), offset)
    }

    /// Which loop around the place where control came over was not left yet; whether it is the one of this number or inside that.
    fn inside(&self, builder: &Builder<'ctx>, number: u32) -> (IntValue<'ctx>, IntValue<'ctx>) {
        let word = self.context.i32_type();
        let first = word.const_int(u64::from(number), false);
        let inside = self.place(builder, self.words.inside);
        let inside = values::load(builder, Value::of(&first), inside);
        let inside = inside.basic::<'ctx>().into_int_value();
        let last = self.headers[number as usize].last;
        let within = builder
            .build_int_sub(inside, first, "")
            .expect("positioned");
        let most = word.const_int(u64::from(last - number), false);
        let is = builder.build_int_compare(IntPredicate::ULE, within, most, "");
        (inside, is.expect("positioned"))
    }

    /// Whether the loop of this number was not left since control came over.
    pub(super) fn stays(&self, builder: &Builder<'ctx>, number: u32) -> IntValue<'ctx> {
        self.inside(builder, number).1
    }

    /// The loop of this number is entered: if control came over inside it, it was left.
    pub(super) fn enters(&self, builder: &Builder<'ctx>, number: u32) {
        let (inside, is) = self.inside(builder, number);
        let outer = self.headers[number as usize].outer.unwrap_or(NONE);
        let outer = inside.get_type().const_int(u64::from(outer), false);
        let now = builder
            .build_select(is, outer, inside, "")
            .expect("positioned");
        let place = self.place(builder, self.words.inside);
        values::store(builder, Value::of(&now), place);
    }

    /// Goes back to the header of the loop of this number, where the builder stands, behind `from`, which leads to the header as well.
    pub(super) fn go_back(&self, builder: &Builder<'ctx>, number: u32, from: BasicBlock<'ctx>) {
        let header = sys::successor(sys::terminator(from), 1);
        let phis = phis(header).zip(&self.headers[number as usize].phis);
        for (phi, (offset, _)) in phis {
            let place = self.place(builder, *offset);
            values::store(builder, entry_from(phi, from), place);
        }
        let back = u64::from(number) + 1;
        let back = self.context.i32_type().const_int(back, false);
        let place = self.place(builder, self.words.back);
        values::store(builder, Value::of(&back), place);
        let result = self.function.get_type().get_return_type();
        return_value(builder, result.map(|ty| ty.const_zero()));
    }
}

/// What the φ has on the way from `from`, which leads there.
fn entry_from(phi: Inst, from: BasicBlock) -> Value {
    let mut entries = phi.incoming().into_iter();
    let entry = entries.find(|(_, b)| *b == from);
    entry.expect("the block is entered from there").0
}

/// What says which registers there are.
const OF_THE_PROCESSOR: [&str; 5] = [
    "min-legal-vector-width",
    "prefer-vector-width",
    "target-cpu",
    "target-features",
    "tune-cpu",
];

/// What is promised of results.
const OF_RESULTS: [&str; 8] = [
    "align",
    "dereferenceable",
    "dereferenceable_or_null",
    "noalias",
    "nofpclass",
    "nonnull",
    "noundef",
    "range",
];

/// What goes back instead of returning does return, and its result is nothing to be relied on.
fn returns_anything(function: FunctionValue) {
    let kind = Attribute::get_named_enum_kind_id;
    function.remove_enum_attribute(AttributeLoc::Function, kind("noreturn"));
    for name in OF_RESULTS {
        function.remove_enum_attribute(AttributeLoc::Return, kind(name));
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
    around: Vec<u32>,
    headers: &'a [Header<'ctx>],
    words: Words,
}

impl<'ctx> Doorway<'_, 'ctx> {
    fn made(self, name: &str) -> Door<'ctx> {
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
        let told = self.told();
        let ty = match told {
            Some(told) => told.fn_type(&parameters, false),
            None => returning_as(self.context, self.from, &parameters),
        };
        let function = self.module.add_function(name, ty, Some(Linkage::Internal));
        self.attribute(function);
        let builder = self.context.create_builder();
        builder.position_at_end(self.context.append_basic_block(function, ""));
        let bytes = u32::try_from(self.words.size).expect("values of one function");
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
        let word = |n: u64| self.context.i32_type().const_int(n, false);
        let inside = self.around.first().copied().unwrap_or(NONE);
        for (offset, value) in [(self.words.inside, u64::from(inside)), (self.words.back, 0)] {
            let place = place_in(self.context, &builder, buffer, offset);
            values::store(&builder, Value::of(&word(value)), place);
        }
        let arguments_of_it = [word(self.place as u64).into(), buffer.into()];
        match told {
            Some(told) => self.tell(&builder, buffer, &arguments_of_it, told),
            None => return_call(&builder, self.to, &arguments_of_it, Tail::Kept),
        }
        Door {
            function,
            arguments,
            live: live.into_iter().map(|(v, _)| v).collect(),
            block: self.block,
            around: self.around,
        }
    }

    /// What is returned where control may come back.
    fn told(&self) -> Option<StructType<'ctx>> {
        if self.around.is_empty() {
            return None;
        }
        let result = self.from.get_type().get_return_type();
        let phis = self.phis_around().map(|(_, ty)| ty);
        let first = [self.context.i32_type().into()].into_iter().chain(result);
        let fields: Vec<BasicTypeEnum> = first.chain(phis).collect();
        Some(self.context.struct_type(&fields, false))
    }

    /// The φs of all headers to which control may come back.
    fn phis_around(&self) -> impl Iterator<Item = (u64, BasicTypeEnum<'ctx>)> {
        let headers = self.around.iter().map(|n| &self.headers[*n as usize]);
        headers.flat_map(|h| h.phis.iter().copied())
    }

    /// Calls the other function, and returns what it tells. Which φs it wrote does not matter: others are not asked for.
    fn tell(
        &self,
        builder: &Builder<'ctx>,
        buffer: PointerValue<'ctx>,
        arguments: &[BasicMetadataValueEnum<'ctx>],
        told: StructType<'ctx>,
    ) {
        let call = call_of(builder, self.to, arguments);
        let read = |(offset, ty): (u64, BasicTypeEnum<'ctx>)| {
            let place = place_in(self.context, builder, buffer, offset);
            let like = Value::of(&ty.const_zero());
            values::load(builder, like, place).basic::<'ctx>()
        };
        let back = read((self.words.back, self.context.i32_type().into()));
        let result = call.try_as_basic_value().basic();
        let fields = [back]
            .into_iter()
            .chain(result)
            .chain(self.phis_around().map(read));
        let mut all = told.get_poison().as_aggregate_value_enum();
        for (n, field) in (0..).zip(fields) {
            let with = builder.build_insert_value(all, field, n, "");
            all = with.expect("a field of it");
        }
        return_value(builder, Some(all.into_struct_value().into()));
    }

    /// It is called seldom, unwinds as the function does, and is compiled for the same processor, by which parameters of vectors go.
    fn attribute(&self, function: FunctionValue<'ctx>) {
        let kind = Attribute::get_named_enum_kind_id;
        let cold = self.context.create_enum_attribute(kind("cold"), 0);
        let of = |name| {
            let kind = kind(name);
            self.from.get_enum_attribute(AttributeLoc::Function, kind)
        };
        let named = |name: &&str| self.from.get_string_attribute(AttributeLoc::Function, name);
        let processor = OF_THE_PROCESSOR.iter().filter_map(named);
        let unwinding = [of("nounwind"), of("uwtable")].into_iter().flatten();
        for attribute in [cold].into_iter().chain(unwinding).chain(processor) {
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        if self.around.is_empty() {
            for attribute in self.from.attributes(AttributeLoc::Return) {
                function.add_attribute(AttributeLoc::Return, attribute);
            }
        }
        stays_apart(self.context, function);
    }
}
