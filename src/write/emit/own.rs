//! A thread's own words, each at one distance from the word of the first thread: how a function finds them.
//!
//! On x86-64 segment gs adds the distance, without an instruction. Elsewhere a function reads the distance once, when
//! it begins, from a variable of the thread: the runtime's global [`abi::OWN_OFFSET`] holds the variable's offset from
//! the thread pointer. The global is 0 until the program's first thread starts, and then there is no distance either.
//! So nothing but the global is read where there is no thread pointer yet: in resolvers of ifuncs and in what runs
//! before constructors. A library needs no thread-local variable, and is right in threads that are older than it.

use super::edit::Edit;
use super::layout::{has_thread_pointer, is_x86_64_linux};
use super::llvm::{self, has_module_flag, inst, view};
use super::segment::{self, GS};
use super::shared::runtime_global;
use crate::input::load::OwnCounters;
use crate::runtime::abi;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::intrinsics::Intrinsic;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::values::{BasicValue, IntValue, PointerValue};
use inkwell::{AddressSpace, IntPredicate};

const POSITIONED: &str = "positioned";

/// Functions that go on with another stack, which may have begun in another thread.
const MIGRATING: [&str; 5] = [
    "swapcontext",
    "setcontext",
    "jump_fcontext",
    "ontop_fcontext",
    "co_switch",
];

/// Functions that install handlers of signals.
const HANDLING: [&str; 9] = [
    "signal",
    "sigaction",
    "bsd_signal",
    "sysv_signal",
    "__sysv_signal",
    "__sigaction",
    "sigset",
    "sigvec",
    "ssignal",
];

/// How a target finds a thread's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By segment gs.
    Segment,
    /// By a distance that each function reads.
    Distance,
}

/// The way of the module's target, if it has one.
pub(crate) fn find_way(module: &Module) -> Option<Way> {
    let distance = || has_thread_pointer(module).then_some(Way::Distance);
    is_x86_64_linux(module)
        .then_some(Way::Segment)
        .or_else(distance)
}

/// Whether threads can have counters of their own in `module`. O(instructions).
pub(super) fn find_own_counters(module: &Module) -> OwnCounters {
    let find = |names: &[&str]| {
        let mut all = view::functions(module);
        let by = all.find(|f| names.contains(&f.name().as_ref()) && f.users().next().is_some());
        by.map(|f| f.name().into_owned())
    };
    if let Some(by) = find_early_resolver(module)
        && find_way(module).is_some()
    {
        return OwnCounters::RunsEarly(by);
    }
    match find_way(module) {
        None => OwnCounters::OtherTarget,
        Some(Way::Segment) => match segment::find_use(module) {
            None => OwnCounters::BySegment,
            Some(by) => OwnCounters::SegmentInUse(by),
        },
        Some(Way::Distance) => match find(&MIGRATING) {
            None => OwnCounters::ByDistance {
                handles_signals: find(&HANDLING).is_some(),
            },
            Some(by) => OwnCounters::Migration(by),
        },
    }
}

/// A function of a library's code that the dynamic linker calls to choose another one. A thread may load the library,
/// and the constructor that maps its counters comes later. (A program's resolvers run before there are threads.)
fn find_early_resolver(module: &Module) -> Option<String> {
    let is_of_library =
        has_module_flag(module, "PIC Level") && !has_module_flag(module, "PIE Level");
    let resolver = view::ifuncs(module).next()?.resolver();
    is_of_library.then(|| resolver.name().into_owned())
}

/// How one function finds its thread's words.
#[derive(Clone, Copy)]
pub(crate) enum Own<'ctx> {
    /// All threads use the same words, or the runtime is called with the address in the first thread.
    Shared,
    /// Segment gs adds the distance.
    Segment,
    /// The distance in bytes; the first slot of the function, and the thread's own counter there, if it has slots.
    Distance(IntValue<'ctx>, Option<(u64, PointerValue<'ctx>)>),
}

impl<'ctx> Own<'ctx> {
    /// Reads the distance at the start of the function that begins with `entry`, in blocks in front of it, to which
    /// its allocas are moved. `first` is the function's first slot and the address of the first thread's counter there.
    pub(crate) fn read_distance(
        edit: Edit<'_, 'ctx>,
        entry: BasicBlock<'ctx>,
        first: Option<(u64, PointerValue<'ctx>)>,
    ) -> Self {
        let Edit { context, module } = edit;
        let (b, i64) = (context.create_builder(), context.i64_type());
        let block = |before, name| context.prepend_basic_block(before, name);
        let own = block(entry, "p3.own");
        let read = block(own, "p3.read");
        let enter = block(read, "p3.enter");
        move_allocas(&b, entry, enter);
        b.position_at_end(enter);
        let global = runtime_global(module, abi::OWN_OFFSET, i64.into());
        let offset = b.build_load(i64, global.as_pointer_value(), "p3.offset");
        let offset = offset.expect(POSITIONED).into_int_value();
        let zero = i64.const_zero();
        let is_zero = b.build_int_compare(IntPredicate::EQ, offset, zero, "p3.first");
        b.build_conditional_branch(is_zero.expect(POSITIONED), own, read)
            .expect(POSITIONED);
        b.position_at_end(read);
        let distance = b.build_load(i64, build_variable(edit, &b, offset), "p3.distance");
        let distance = distance.expect(POSITIONED);
        b.build_unconditional_branch(own).expect(POSITIONED);
        b.position_at_end(own);
        let phi = b.build_phi(i64, "p3.distance").expect(POSITIONED);
        phi.add_incoming(&[(&offset as &dyn BasicValue, enter), (&distance, read)]);
        let distance = phi.as_basic_value().into_int_value();
        let first = first.map(|(slot, counter)| (slot, add_distance(&b, counter, distance)));
        b.build_unconditional_branch(entry).expect(POSITIONED);
        Own::Distance(distance, first)
    }

    /// The thread's own word, of which `address` is the first thread's.
    pub(crate) fn address(
        self,
        b: &Builder<'ctx>,
        address: PointerValue<'ctx>,
    ) -> PointerValue<'ctx> {
        match self {
            Own::Shared => address,
            Own::Segment => {
                let context = address.get_type().get_context();
                let ty = context.ptr_type(AddressSpace::from(GS));
                // Not a cast between address spaces: of several such constants behind a switch LLVM would make a
                // table, which it cannot write. It makes none of numbers that become addresses.
                let number = b.build_ptr_to_int(address, context.i64_type(), "p3.own");
                let own = b.build_int_to_ptr(number.expect(POSITIONED), ty, "p3.own");
                own.expect(POSITIONED)
            }
            Own::Distance(distance, _) => add_distance(b, address, distance),
        }
    }
}

/// Numbers are added: the sum is in no object that LLVM knows, and so no address derived from `address`.
fn add_distance<'ctx>(
    b: &Builder<'ctx>,
    address: PointerValue<'ctx>,
    distance: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    let number = b.build_ptr_to_int(address, distance.get_type(), "p3.own");
    let sum = b.build_int_add(number.expect(POSITIONED), distance, "p3.own");
    let own = b.build_int_to_ptr(sum.expect(POSITIONED), address.get_type(), "p3.own");
    own.expect(POSITIONED)
}

/// The address that is `offset` bytes behind the thread pointer.
fn build_variable<'ctx>(
    edit: Edit<'_, 'ctx>,
    b: &Builder<'ctx>,
    offset: IntValue<'ctx>,
) -> PointerValue<'ctx> {
    let intrinsic = Intrinsic::find("llvm.thread.pointer").expect("LLVM has it");
    // Since LLVM 20 it is overloaded by the type of pointers.
    let pointer = edit.context.ptr_type(AddressSpace::default());
    let types: &[_] = if intrinsic.is_overloaded() {
        &[pointer.into()]
    } else {
        &[]
    };
    let function = intrinsic.get_declaration(edit.module, types);
    let call = b.build_call(function.expect("types match"), &[], "p3.thread");
    let thread = call.expect(POSITIONED).try_as_basic_value().basic();
    llvm::offset_address(b, thread.expect("a pointer").into_pointer_value(), offset)
}

/// Allocas of a size that is known, which belong to the frame only in a function's first block.
fn move_allocas<'ctx>(b: &Builder<'ctx>, entry: BasicBlock<'ctx>, first: BasicBlock<'ctx>) {
    for i in inst::instructions(entry) {
        let is_constant = i.first_operand().is_some_and(|size| size.is_constant());
        if i.opcode() == LLVMOpcode::LLVMAlloca && is_constant {
            i.move_to(b, first);
        }
    }
}
