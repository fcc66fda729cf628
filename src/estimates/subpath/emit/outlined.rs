//! A function that samples for another one, which leaves for it, and goes on where nothing is
//! sampled any more.

use super::trampoline::{Argument, Header, NONE, Shared, Trampoline, TrampolineParts, Words, pack};
use crate::base::index::BlockId;
use crate::estimates::outlined::emit::handed::Handed;
use crate::estimates::outlined::emit::live::Saving;
use crate::estimates::outlined::emit::resume::{
    self, Buffer, Tail, place_in, return_call, return_value,
};
use crate::estimates::subpath::plan::{Loop, Outlining};
use crate::paths::versions::Versions;
use crate::write::emit::edit::Edit;
use crate::write::emit::llvm;
use crate::write::emit::llvm::inst::{self, Inst, phis};
use crate::write::emit::llvm::value::Value;
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::targets::TargetData;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, FunctionValue, IntValue, StructValue};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use typed_index_collections::TiSlice;

/// The function, and how it is called.
pub(super) struct Outlined<'ctx> {
    context: &'ctx Context,
    pub function: FunctionValue<'ctx>,
    /// By place.
    trampolines: Vec<Trampoline<'ctx>>,
    tail: Tail,
    /// By loop of the plan's nest: the header, and where its φs are handed back.
    headers: Vec<Header<'ctx>>,
    words: Words,
    entries: Entries<'ctx>,
    returns: ReturnBlocks,
}

/// The blocks that go on where the other function came back to, by the loops around: each has a φ of what was told.
/// Places of a loop are many, and headers would have an entry for each of them.
#[derive(Default)]
struct ReturnBlocks(RefCell<FxHashMap<Vec<u32>, Inst>>);

/// The entries of the φs that were asked for, by φ and block: many ways may leave for one block, and
/// its φs would be read for each of them.
#[derive(Default)]
struct Entries<'ctx>(RefCell<FxHashMap<(Value, BasicBlock<'ctx>), Value>>);

impl<'ctx> Entries<'ctx> {
    /// What the φ has on the way from `from`, which leads there.
    fn entry_from(&self, phi: Inst, from: BasicBlock<'ctx>) -> Value {
        let mut known = self.0.borrow_mut();
        let key = (phi.value(), from);
        if !known.contains_key(&key) {
            let entries = phi.incoming().into_iter();
            known.extend(entries.map(|(value, block)| ((phi.value(), block), value)));
        }
        known[&key]
    }
}

/// The function that leaves for another one, before it is told to.
pub(super) struct Leaving<'a, 'ctx> {
    pub function: FunctionValue<'ctx>,
    pub name: &'a str,
    /// Its control flow.
    pub flow: &'a Versions,
}

/// Where the φs of a loop's header are among what is handed over.
fn header<'ctx>(
    l: &Loop,
    handed: &Handed,
    blocks: &TiSlice<BlockId, BasicBlock<'ctx>>,
) -> Header<'ctx> {
    let block = blocks[l.header];
    // Places are in the order of their blocks; whichever it is, φs are handed over alike.
    let place = handed.headers.binary_search(&l.header);
    let place = place.expect("a back edge leads there");
    let types = phis(block).map(|phi| phi.value().to_inkwell().get_type());
    let at = handed.phis_at[place].iter().copied();
    Header {
        block,
        outer: l.outer,
        last: l.last,
        phis: at.zip(types).collect(),
    }
}

/// Whether what a function gives can be given beside other things: vectors of a length that the processor has fit into
/// nothing else.
fn result_fits(function: FunctionValue, target: &TargetData) -> bool {
    let result = function.get_type().get_return_type();
    let fits = |ty: BasicTypeEnum| Value::from_inkwell(&ty.const_zero()).size(target).is_some();
    result.is_none_or(fits)
}

impl<'ctx> Outlined<'ctx> {
    /// Makes it for `from`. `None` where an activation cannot go on in another function.
    pub(super) fn new(
        edit: Edit<'_, 'ctx>,
        from: &Leaving<'_, 'ctx>,
        outlining: &Outlining,
        target: &TargetData,
    ) -> Option<Self> {
        let context = edit.context;
        let Leaving {
            function,
            name: own,
            flow,
        } = *from;
        let places = outlining.places.iter().map(|p| p.block).collect();
        let handed = Handed::new(
            target,
            function,
            &flow.cfg,
            &flow.order,
            places,
            Saving::Computed,
        )?;
        let name = format!("__p3_sampling.{own}");
        let of = resume::make_resume_function(edit, function, &name, &handed, Buffer::Told);
        returns_anything(of);
        let blocks = llvm::blocks(function);
        let headers = outlining.nest.loops.iter();
        let headers: Vec<Header> = headers.map(|l| header(l, &handed, &blocks)).collect();
        let words = Words::words_behind(handed.size);
        let comes_back = result_fits(function, target);
        let mut shared = Shared::new();
        let mut trampoline = |place: usize| {
            let name = format!("__p3_door.{own}");
            let block = handed.headers[place];
            let parts = TrampolineParts {
                edit,
                handed: &handed,
                to: of,
                from: function,
                block: blocks[block],
                place,
                around: if comes_back {
                    outlining.nest.find_all_around(block).collect()
                } else {
                    Vec::new()
                },
                headers: &headers,
                words,
            };
            parts.make_or_share(&name, &mut shared)
        };
        let trampolines = (0..outlining.places.len()).map(&mut trampoline).collect();
        Some(Outlined {
            context,
            function: of,
            trampolines,
            headers,
            words,
            entries: Entries::default(),
            returns: ReturnBlocks::default(),
            tail: if takes_memory(function) {
                Tail::Kept
            } else {
                Tail::choose(&blocks)
            },
        })
    }

    /// Ends the activation at `place`, or this part of it, in front of the terminator of `here`, behind `from`, a way
    /// to the place. `renewed`: what stands for values that were there when this was made.
    pub(super) fn leave_at(
        &self,
        builder: &Builder<'ctx>,
        place: usize,
        here: BasicBlock<'ctx>,
        from: BasicBlock<'ctx>,
        renewed: &FxHashMap<Value, Value>,
    ) {
        let trampoline = &self.trampolines[place];
        let entry = |phi: Inst| self.entries.entry_from(phi, from);
        let now = |v: &Value| renewed.get(v).copied().unwrap_or(*v);
        let values = trampoline
            .live
            .iter()
            .map(now)
            .chain(phis(trampoline.block).map(entry));
        let values: Vec<Value> = values.collect();
        let argument = |a: &Argument| -> BasicMetadataValueEnum {
            match *a {
                Argument::One(n) => values[n].to_inkwell().into(),
                Argument::Two(a, b) => pack(builder, values[a], values[b]).into(),
            }
        };
        let place = trampoline.place.map(BasicMetadataValueEnum::from);
        let arguments = trampoline.arguments.iter().map(argument);
        let arguments: Vec<_> = arguments.chain(place).collect();
        if trampoline.around.is_empty() {
            return_call(builder, trampoline.function, &arguments, self.tail);
        } else {
            let call = builder.build_call(trampoline.function, &arguments, "");
            let told = call.expect("positioned").try_as_basic_value();
            let told = Value::from_inkwell(&told.expect_basic("what comes back"));
            let mut returns = self.returns.0.borrow_mut();
            let known = returns.get(&trampoline.around).copied();
            let phi = known.unwrap_or_else(|| {
                let back = self.context.insert_basic_block_after(here, "p3.back");
                let phi = inst::phi_at_end(builder, back, told);
                builder.position_at_end(back);
                let all = phi.value().to_inkwell::<'ctx>().into_struct_value();
                self.go_on(builder, all, &trampoline.around, back);
                returns.insert(trampoline.around.clone(), phi);
                phi
            });
            phi.add_incoming(told, here);
            llvm::position_before(builder, llvm::terminator(here));
            let branch = builder.build_unconditional_branch(phi.block());
            branch.expect("positioned");
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
        let mut next = || fields.next().expect("as the trampoline returns");
        let back = next().into_int_value();
        let function = here.get_parent().expect("it is in one");
        let result = function.get_type().get_return_type().map(|_| next());
        let mut cases = Vec::new();
        for &number in around {
            let header = self.headers[number as usize].block;
            for phi in phis(header) {
                phi.add_incoming(Value::from_inkwell(&next()), here);
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

    /// Which loop around the place where control came over was not left yet; whether it is the one
    /// of this number or inside that.
    fn find_loop_not_left(
        &self,
        builder: &Builder<'ctx>,
        number: u32,
    ) -> (IntValue<'ctx>, IntValue<'ctx>) {
        let word = self.context.i32_type();
        let first = word.const_int(u64::from(number), false);
        let inside = self.place(builder, self.words.inside);
        let inside = inst::load_value(builder, Value::from_inkwell(&first), inside);
        let inside = inside.to_inkwell::<'ctx>().into_int_value();
        let last = self.headers[number as usize].last;
        let within = builder
            .build_int_sub(inside, first, "")
            .expect("positioned");
        let most = word.const_int(u64::from(last - number), false);
        let is = builder.build_int_compare(IntPredicate::ULE, within, most, "");
        (inside, is.expect("positioned"))
    }

    /// Whether the loop of this number was not left since control came over.
    pub(super) fn was_not_left(&self, builder: &Builder<'ctx>, number: u32) -> IntValue<'ctx> {
        self.find_loop_not_left(builder, number).1
    }

    /// The loop of this number is entered: if control came over inside it, it was left.
    pub(super) fn note_entry(&self, builder: &Builder<'ctx>, number: u32) {
        let (inside, is) = self.find_loop_not_left(builder, number);
        let outer = self.headers[number as usize].outer.unwrap_or(NONE);
        let outer = inside.get_type().const_int(u64::from(outer), false);
        let now = builder
            .build_select(is, outer, inside, "")
            .expect("positioned");
        let place = self.place(builder, self.words.inside);
        inst::store_value(builder, Value::from_inkwell(&now), place);
    }

    /// Goes back to the header of the loop of this number, where the builder stands, behind `from`,
    /// which leads to the header as well.
    pub(super) fn go_back(&self, builder: &Builder<'ctx>, number: u32, from: BasicBlock<'ctx>) {
        let header = llvm::successor(llvm::terminator(from), 1);
        let phis = phis(header).zip(&self.headers[number as usize].phis);
        for (phi, (offset, _)) in phis {
            let place = self.place(builder, *offset);
            inst::store_value(builder, self.entries.entry_from(phi, from), place);
        }
        let back = u64::from(number) + 1;
        let back = self.context.i32_type().const_int(back, false);
        let place = self.place(builder, self.words.back);
        inst::store_value(builder, Value::from_inkwell(&back), place);
        let result = self.function.get_type().get_return_type();
        return_value(builder, result.map(|ty| ty.const_zero()));
    }
}

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

/// Whether parameters are in the caller's memory, which a call in the place of this one would write
/// over.
fn takes_memory(function: FunctionValue) -> bool {
    let kind = Attribute::get_named_enum_kind_id("byval");
    let has = |i| function.get_enum_attribute(AttributeLoc::Param(i), kind);
    (0..function.count_params()).any(|i| has(i).is_some())
}
