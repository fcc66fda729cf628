//! Trampolines, by which one function leaves for another one that goes on in its activation.

use crate::estimates::outlined::emit::copy::forbid_inlining;
use crate::estimates::outlined::emit::handed::Handed;
use crate::estimates::outlined::emit::resume::{
    Tail, call_of, place_in, return_call, return_value, returning_as,
};
use crate::write::emit::edit::Edit;
use crate::write::emit::llvm::inst::{self, phis};
use crate::write::emit::llvm::value::Value;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::types::{AsTypeRef, BasicTypeEnum, StructType};
use inkwell::values::{
    AggregateValue, BasicMetadataValueEnum, BasicValue, FunctionValue, IntValue, PointerValue,
};
use std::collections::HashMap;

/// Where one function goes on with what the other one did meanwhile.
pub(super) struct Header<'ctx> {
    pub block: BasicBlock<'ctx>,
    /// As the plan's loop has them.
    pub outer: Option<u32>,
    pub last: u32,
    /// By φ: an offset in the buffer, and the type.
    pub phis: Vec<(u64, BasicTypeEnum<'ctx>)>,
}

/// Where in the buffer the two functions tell each other, in words of 32 bits, which loop it is.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// The innermost loop around the place that was not left since, or [`NONE`].
    pub inside: u64,
    /// One more than the loop at whose header control goes back; 0: the activation is over.
    pub back: u64,
    /// The bytes of the buffer with them.
    pub size: u64,
}

/// No loop.
pub(super) const NONE: u32 = u32::MAX;

impl Words {
    /// Behind what is handed over in so many bytes.
    pub(super) fn words_behind(size: u64) -> Words {
        let inside = size.next_multiple_of(4);
        Words {
            inside,
            back: inside + 4,
            size: inside + 8,
        }
    }
}

/// What is called at a place: a function whose parameters are the values that are live there, and the place, if it is
/// that of several ones.
///
/// It puts them where the other function reads them. The one that leaves would need a frame for
/// that, and make it whenever it is called; most have registers enough for what they hand over, and
/// end with a jump.
pub(super) struct Trampoline<'ctx> {
    pub function: FunctionValue<'ctx>,
    pub arguments: Vec<Argument>,
    /// The place, where the function is one of several places: its last argument.
    pub place: Option<IntValue<'ctx>>,
    /// The live-in values; behind them, the φs of `block` are passed.
    pub live: Vec<Value>,
    pub block: BasicBlock<'ctx>,
    /// The loops in which control may come back: then what is returned is one more than the number
    /// of that, or 0, the function's result, and the φs of each header.
    pub around: Vec<u32>,
}

/// How values are handed over, by their numbers.
pub(super) enum Argument {
    One(usize),
    /// The second one in the upper half.
    Two(usize, usize),
}

/// The trampolines of one function that several places may share, by what they hand over, as offsets in the buffer and
/// types, and by the loops around. Types are told apart by their addresses, by which nothing is ordered.
pub(super) type Shared<'ctx> = HashMap<(Vec<(u64, usize)>, Vec<u32>), FunctionValue<'ctx>>;

/// Arguments in registers, of integers and pointers: as many have most calling conventions of
/// 64-bit machines at least.
const REGISTERS: usize = 6;

/// Arguments that hand over values of these types: small integers by twos where there are registers
/// for all only then.
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

/// Whether there is a register for one more integer.
fn leaves_register(types: &[BasicTypeEnum]) -> bool {
    let words = types
        .iter()
        .filter(|t| t.is_int_type() || t.is_pointer_type());
    words.count() < REGISTERS
}

/// Two integers in one.
pub(super) fn pack<'ctx>(builder: &Builder<'ctx>, low: Value, high: Value) -> IntValue<'ctx> {
    let half = |v: Value| {
        let v = v.to_inkwell::<'ctx>().into_int_value();
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

/// What says which registers there are.
const OF_THE_PROCESSOR: [&str; 5] = [
    "min-legal-vector-width",
    "prefer-vector-width",
    "target-cpu",
    "target-features",
    "tune-cpu",
];

/// What is handed over, by value with its offset in the buffer, and in which arguments.
#[derive(Clone, Copy)]
struct Signature<'a, 'ctx> {
    taken: &'a [(Value, u64)],
    types: &'a [BasicTypeEnum<'ctx>],
    arguments: &'a [Argument],
    /// The place; `None`: it is the last parameter.
    place: Option<IntValue<'ctx>>,
}

/// What a trampoline is made of.
pub(super) struct TrampolineParts<'a, 'ctx> {
    pub edit: Edit<'a, 'ctx>,
    pub handed: &'a Handed,
    pub to: FunctionValue<'ctx>,
    pub from: FunctionValue<'ctx>,
    pub block: BasicBlock<'ctx>,
    pub place: usize,
    pub around: Vec<u32>,
    pub headers: &'a [Header<'ctx>],
    pub words: Words,
}

impl<'ctx> TrampolineParts<'_, 'ctx> {
    /// Makes it, under this name, unless one of `shared` will do. Places are many, and a function for each of them took
    /// a sixth of the memory of a module.
    pub(super) fn make_or_share(self, name: &str, shared: &mut Shared<'ctx>) -> Trampoline<'ctx> {
        let live: Vec<_> = self.handed.live_at_header(self.place).collect();
        let phis = phis(self.block).map(|phi| phi.value());
        let phis = phis.zip(self.handed.phis_at[self.place].iter().copied());
        let taken: Vec<_> = live.iter().copied().chain(phis).collect();
        let types: Vec<BasicTypeEnum> = taken
            .iter()
            .map(|(v, _)| v.to_inkwell().get_type())
            .collect();
        let arguments = arguments(&types);
        let word = |n: u64| self.edit.context.i32_type().const_int(n, false);
        let place = word(self.place as u64);
        let is_shared = leaves_register(&types);
        let key = || {
            let offsets = taken.iter().map(|(_, at)| *at);
            let types = types.iter().map(|ty| ty.as_type_ref().addr());
            (offsets.zip(types).collect(), self.around.clone())
        };
        let known = is_shared.then(|| shared.get(&key()).copied()).flatten();
        let function = known.unwrap_or_else(|| {
            let of = Signature {
                taken: &taken,
                types: &types,
                arguments: &arguments,
                place: (!is_shared).then_some(place),
            };
            let function = self.make_function(name, &of);
            if is_shared {
                shared.insert(key(), function);
            }
            function
        });
        Trampoline {
            function,
            arguments,
            place: is_shared.then_some(place),
            live: live.into_iter().map(|(v, _)| v).collect(),
            block: self.block,
            around: self.around,
        }
    }

    fn make_function(&self, name: &str, of: &Signature<'_, 'ctx>) -> FunctionValue<'ctx> {
        let Signature {
            taken,
            types,
            arguments,
            place,
        } = *of;
        let word = self.edit.context.i32_type();
        let parameter = |a: &Argument| match *a {
            Argument::One(n) => types[n].into(),
            Argument::Two(..) => self.edit.context.i64_type().into(),
        };
        let own = arguments.iter().map(parameter);
        let told = place.is_none().then_some(word.into());
        let parameters: Vec<_> = own.chain(told).collect();
        let result = self.result_type();
        let ty = match result {
            Some(result) => result.fn_type(&parameters, false),
            None => returning_as(self.edit.context, self.from, &parameters),
        };
        let function = self
            .edit
            .module
            .add_function(name, ty, Some(Linkage::Internal));
        self.attribute(function);
        let builder = self.edit.context.create_builder();
        builder.position_at_end(self.edit.context.append_basic_block(function, ""));
        let bytes = u32::try_from(self.words.size).expect("values of one function");
        let memory = self.edit.context.i8_type().array_type(bytes);
        let buffer = builder.build_alloca(memory, "").expect("positioned");
        let aligned = buffer.as_instruction_value().expect("it is one");
        aligned.set_alignment(64).expect("a power of two");
        let store = |n: usize, value: Value| {
            let place = place_in(self.edit.context, &builder, buffer, taken[n].1);
            inst::store_value(&builder, value, place);
        };
        for (parameter, argument) in function.get_param_iter().zip(arguments) {
            match *argument {
                Argument::One(n) => store(n, Value::from_inkwell(&parameter)),
                Argument::Two(a, b) => {
                    let both = parameter.into_int_value();
                    let [low, high] = unpack(&builder, both, [types[a], types[b]]);
                    store(a, Value::from_inkwell(&low));
                    store(b, Value::from_inkwell(&high));
                }
            }
        }
        let inside = self.around.first().copied().unwrap_or(NONE);
        for (offset, value) in [(self.words.inside, u64::from(inside)), (self.words.back, 0)] {
            let place = place_in(self.edit.context, &builder, buffer, offset);
            let value = word.const_int(value, false);
            inst::store_value(&builder, Value::from_inkwell(&value), place);
        }
        let place = place.unwrap_or_else(|| {
            let told = function.get_last_param().expect("it is told");
            told.into_int_value()
        });
        let arguments_of_it = [place.into(), buffer.into()];
        match result {
            Some(result) => self.call_and_return(&builder, buffer, &arguments_of_it, result),
            None => return_call(&builder, self.to, &arguments_of_it, Tail::Kept),
        }
        function
    }

    /// What is returned where control may come back.
    fn result_type(&self) -> Option<StructType<'ctx>> {
        if self.around.is_empty() {
            return None;
        }
        let result = self.from.get_type().get_return_type();
        let phis = self.phis_around().map(|(_, ty)| ty);
        let first = [self.edit.context.i32_type().into()]
            .into_iter()
            .chain(result);
        let fields: Vec<BasicTypeEnum> = first.chain(phis).collect();
        Some(self.edit.context.struct_type(&fields, false))
    }

    /// The φs of all headers to which control may come back.
    fn phis_around(&self) -> impl Iterator<Item = (u64, BasicTypeEnum<'ctx>)> {
        let headers = self.around.iter().map(|n| &self.headers[*n as usize]);
        headers.flat_map(|h| h.phis.iter().copied())
    }

    /// Calls the other function, and returns what it tells. Which φs it wrote does not matter:
    /// others are not asked for.
    fn call_and_return(
        &self,
        builder: &Builder<'ctx>,
        buffer: PointerValue<'ctx>,
        arguments: &[BasicMetadataValueEnum<'ctx>],
        ty: StructType<'ctx>,
    ) {
        let call = call_of(builder, self.to, arguments);
        let read = |(offset, ty): (u64, BasicTypeEnum<'ctx>)| {
            let place = place_in(self.edit.context, builder, buffer, offset);
            let like = Value::from_inkwell(&ty.const_zero());
            inst::load_value(builder, like, place).to_inkwell::<'ctx>()
        };
        let back = read((self.words.back, self.edit.context.i32_type().into()));
        let result = call.try_as_basic_value().basic();
        let fields = [back]
            .into_iter()
            .chain(result)
            .chain(self.phis_around().map(read));
        let mut all = ty.get_poison().as_aggregate_value_enum();
        for (n, field) in (0..).zip(fields) {
            let with = builder.build_insert_value(all, field, n, "");
            all = with.expect("a field of it");
        }
        return_value(builder, Some(all.into_struct_value().into()));
    }

    /// It is called seldom, unwinds as the function does, and is compiled for the same processor,
    /// by which parameters of vectors go.
    fn attribute(&self, function: FunctionValue<'ctx>) {
        let kind = Attribute::get_named_enum_kind_id;
        let cold = self.edit.context.create_enum_attribute(kind("cold"), 0);
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
        forbid_inlining(self.edit.context, function);
    }
}
