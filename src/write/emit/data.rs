//! What a rewritten module adds besides code: counters, tables, their description and the
//! constructor that registers them ([`crate::runtime::abi`]).

use super::block::{Described, Record};
use super::edit::Edit;
use super::layout::{Layout, Storage, is_linux, page_size};
use super::llvm;
use super::own::{self, Own, Way};
use super::shared::{
    append_ctor, append_used, constructor, keep_registers, runtime_function, struct_value,
};
use super::{Counters, ModuleJob, Update};
use crate::copies::plan::FunctionPlan;
use crate::copies::plan::keys::Keys;
use crate::runtime::abi;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::module::{Linkage, Module};
use inkwell::types::{ArrayType, IntType, StructType};
use inkwell::values::{
    BasicValueEnum, FunctionValue, GlobalValue, InstructionValue, IntValue, PointerValue,
    StructValue,
};
use inkwell::{AddressSpace, AtomicOrdering, AtomicRMWBinOp};

/// The words of a cache: one that is zero, and the slots.
const CACHE_WORDS: u32 = 1 + abi::CACHED;

/// What a module is described by besides what it counts in.
pub(crate) struct Additions<'ctx> {
    /// The runtime's function that takes the description.
    pub register: &'static abi::Function,
    /// Of [`abi::MODULE`].
    pub flags: u32,
    /// How it is sampled.
    pub sampling: Option<GlobalValue<'ctx>>,
    /// The table of functions and those that are jumped to from there, and its length.
    pub entries: Option<(u32, GlobalValue<'ctx>)>,
}

impl Default for Additions<'_> {
    /// None: the module counts, and no more.
    fn default() -> Self {
        Additions {
            register: &abi::REGISTER,
            flags: 0,
            sampling: None,
            entries: None,
        }
    }
}

/// The globals of a rewritten module.
pub(crate) struct Data<'a, 'ctx> {
    pub edit: Edit<'a, 'ctx>,
    counters: Option<GlobalValue<'ctx>>,
    /// The hash tables, and what one is. How large that is depends on the target's pointers.
    tables: Option<(GlobalValue<'ctx>, StructType<'ctx>)>,
    caches: Option<GlobalValue<'ctx>>,
    /// By plan.
    storage: Vec<Storage>,
    /// By plan: the slot that counts entries.
    entries: Vec<Option<u64>>,
    /// By plan: the slot that counts executed probes.
    hits: Vec<Option<u64>>,
    /// By plan: the first of the slots that say what forked children did.
    forks: Vec<Option<u64>>,
    /// What the profile says of the plans' functions.
    records: Vec<Record>,
    /// The number of counters; one more slot takes increments that must not count.
    slots: u64,
    /// Counters have whole pages of this size for themselves: the runtime maps a file over them.
    page: u64,
    /// Increment arrays by calls.
    pub calls: bool,
    /// How counters are incremented.
    pub update: Update,
    /// How a thread's own words are found, if each thread has its own.
    way: Option<Way>,
    /// Whether an increment is an atomic instruction.
    is_atomic: bool,
    i64: IntType<'ctx>,
}

impl<'a, 'ctx> Data<'a, 'ctx> {
    /// Declares counters and tables for these plans. Afterwards only the code of their functions needs them.
    pub(crate) fn declare<'p>(
        edit: Edit<'a, 'ctx>,
        job: &ModuleJob,
        plans: impl Iterator<Item = &'p FunctionPlan> + Clone,
    ) -> Self {
        let layout = Layout::new(plans.clone(), job.count_hits);
        let way = own::find_way(edit.module).filter(|_| job.update == Update::Thread);
        let takes_several = way == Some(Way::Distance);
        let mut data = Data {
            edit,
            counters: None,
            tables: None,
            caches: None,
            slots: layout.slots,
            storage: layout.storage,
            entries: layout.entries,
            hits: layout.hits,
            forks: layout.forks,
            records: Vec::new(),
            page: page_size(edit.module),
            calls: job.counters == Counters::Call,
            update: job.update,
            way,
            is_atomic: job.update == Update::Atomic || (takes_several && job.handles_signals),
            i64: edit.context.i64_type(),
        };
        if data.slots > 0 {
            let words = u32::try_from(data.counters_size() / 8).expect("counters fit");
            let ty = data.i64.array_type(words);
            let global = internal_global(
                edit.module,
                ty.const_zero().into(),
                "__p3_counters",
                COUNTERS,
            );
            global.set_alignment(data.page as u32);
            data.counters = Some(global);
        }
        data.caches = data.declare_caches();
        data.tables = data.declare_tables(plans.clone());
        data.records = data.records(plans);
        data
    }

    /// One cache for each hash table, when counting in tables is inlined.
    fn declare_caches(&self) -> Option<GlobalValue<'ctx>> {
        let tables = self.storage.iter().filter_map(|s| s.table).count() as u32;
        if tables == 0 || self.calls {
            return None;
        }
        let ty = self.i64.array_type(tables * CACHE_WORDS);
        let global = zeroed_global(self.edit.module, ty, "__p3_caches");
        global.set_alignment(self.table_alignment());
        Some(global)
    }

    /// Of tables and their caches: what each thread has of its own begins on a page.
    fn table_alignment(&self) -> u32 {
        match self.update {
            Update::Thread => self.page as u32,
            Update::Single | Update::Atomic => 64,
        }
    }

    fn declare_tables<'p>(
        &self,
        plans: impl Iterator<Item = &'p FunctionPlan>,
    ) -> Option<(GlobalValue<'ctx>, StructType<'ctx>)> {
        let plans = plans.zip(&self.storage);
        let tables =
            plans.filter_map(|(plan, storage)| Some(self.initial_table(plan, storage.table?)));
        let tables: Vec<_> = tables.collect();
        let ty = tables.first()?.get_type();
        let global = described_global(
            self.edit.module,
            ty.const_array(&tables).into(),
            "__p3_tables",
        );
        global.set_alignment(self.table_alignment());
        Some((global, ty))
    }

    /// What hash table `index`, that of `plan`, begins as.
    fn initial_table(&self, plan: &FunctionPlan, index: u64) -> StructValue<'ctx> {
        let values = [
            ("func", self.word_constant(plan.func.0)),
            (
                "bits",
                self.word_constant(Keys::for_ids(plan.table.ids()).bits),
            ),
            ("size", self.size_constant(plan.table.ids())),
        ];
        let cache = self.caches.map(|_| ("cache", self.cache(index).into()));
        struct_value(
            self.edit.context,
            &abi::TABLE,
            values.into_iter().chain(cache),
        )
    }

    fn word_constant(&self, n: u32) -> BasicValueEnum<'ctx> {
        let i32 = self.i64.get_context().i32_type();
        i32.const_int(u64::from(n), false).into()
    }

    fn size_constant(&self, n: u64) -> BasicValueEnum<'ctx> {
        self.i64.const_int(n, false).into()
    }

    /// The size of the counters in bytes, the slot behind the last one included.
    fn counters_size(&self) -> u64 {
        match self.slots {
            0 => 0,
            slots => ((slots + 1) * 8).next_multiple_of(self.page),
        }
    }

    /// The slot that counts entries of the job's `i`-th plan, if it counts them.
    pub(crate) fn entry_slot(&self, i: usize) -> Option<u64> {
        self.entries[i]
    }

    /// The slot that counts executed probes of the job's `i`-th plan, if it counts them.
    pub(crate) fn hit_slot(&self, i: usize) -> Option<u64> {
        self.hits[i]
    }

    /// The first of the slots of the job's `i`-th plan that say what forked children did, if it has any.
    pub(crate) fn fork_slot(&self, i: usize) -> Option<u64> {
        self.forks[i]
    }

    /// What the job's `i`-th plan counts in.
    pub(crate) fn storage(&self, i: usize) -> Storage {
        self.storage[i]
    }

    /// The address of slot `slot` of the counters.
    pub(crate) fn counter(&self, slot: u64) -> PointerValue<'ctx> {
        let base = self
            .counters
            .expect("an array plan has counters")
            .as_pointer_value();
        llvm::const_address(base, self.i64.const_int(slot * 8, false))
    }

    /// How the function of the job's `i`-th plan, which begins with block `entry`, finds its thread's words; `counts`:
    /// it does so itself, and does not only call the runtime.
    pub(crate) fn find_own(&self, i: usize, entry: BasicBlock<'ctx>, counts: bool) -> Own<'ctx> {
        match self.way {
            Some(Way::Segment) => Own::Segment,
            Some(Way::Distance) if counts => {
                // The first of the function's slots, which are neighbours ([`Layout`]): offsets from it are short.
                let all = [
                    self.storage[i].array,
                    self.entries[i],
                    self.hits[i],
                    self.forks[i],
                ];
                let first = all.into_iter().flatten().min();
                let first = first.map(|slot| (slot, self.counter(slot)));
                Own::read_distance(self.edit, entry, first)
            }
            _ => Own::Shared,
        }
    }

    /// The address of the thread's own slot `slot`.
    pub(crate) fn own_counter(
        &self,
        b: &Builder<'ctx>,
        own: Own<'ctx>,
        slot: u64,
    ) -> PointerValue<'ctx> {
        match own {
            Own::Distance(_, Some((first, counter))) => {
                let bytes = slot.checked_sub(first).expect("a slot of the function") * 8;
                llvm::field_address(b, counter, self.i64.const_int(bytes, false))
            }
            _ => own.address(b, self.counter(slot)),
        }
    }

    /// Adds `by` to a counter, where the builder stands: in memory each time if `at_once`, or as LLVM likes.
    pub(crate) fn add_to(
        &self,
        b: &Builder<'ctx>,
        counter: PointerValue<'ctx>,
        by: IntValue<'ctx>,
        at_once: bool,
    ) {
        if self.is_atomic {
            let (add, order) = (AtomicRMWBinOp::Add, AtomicOrdering::Monotonic);
            let old = b.build_atomicrmw(add, counter, by, order);
            self.hide_from_sanitizers(old.expect("positioned").as_instruction());
            return;
        }
        let old = b.build_load(self.i64, counter, "p3.n");
        let old = old.expect("positioned").into_int_value();
        // A volatile load keeps the increment one instruction in memory: LICM and GVN would carry the
        // count of a loop in a register and still store it on each iteration. The store stays plain:
        // LLVM does not take a volatile store to return, so nothing behind it would leave the loop.
        let load = old.as_instruction().expect("a load");
        load.set_volatile(at_once).expect("a load can be");
        let new = b.build_int_add(old, by, "p3.n").expect("positioned");
        let store = b.build_store(counter, new).expect("positioned");
        self.hide_from_sanitizers(Some(load));
        self.hide_from_sanitizers(Some(store));
    }

    /// At a distance, words are where sanitizers take no memory of the program to be. (They pass over segments.)
    pub(crate) fn hide_from_sanitizers(&self, access: Option<InstructionValue<'ctx>>) {
        let Some(access) = access.filter(|_| self.way == Some(Way::Distance)) else {
            return;
        };
        let context = self.edit.context;
        let (kind, nothing) = (
            context.get_kind_id("nosanitize"),
            context.metadata_node(&[]),
        );
        access.set_metadata(nothing, kind).expect("a node");
    }

    /// The slot that takes increments which must not count.
    pub(crate) fn trash_slot(&self) -> PointerValue<'ctx> {
        self.counter(self.slots)
    }

    /// The address of hash table `index`.
    pub(crate) fn hash_table(&self, index: u64) -> PointerValue<'ctx> {
        let (tables, table) = self.tables.expect("a hash plan has tables");
        let index = self.i64.const_int(index, false);
        llvm::const_element(tables.as_pointer_value(), table, index)
    }

    /// Whether counts in hash tables are inlined, and look ids up in a cache first.
    pub(crate) fn is_cached(&self) -> bool {
        !self.calls
    }

    /// The cache of hash table `index`: a zero, and distances from it.
    pub(crate) fn cache(&self, index: u64) -> PointerValue<'ctx> {
        let base = self.caches.expect("inlined").as_pointer_value();
        llvm::const_address(
            base,
            self.i64
                .const_int(index * u64::from(CACHE_WORDS) * 8, false),
        )
    }

    /// A function of the module around [`Data::count_function`] for keys that are not cached. Hot code that may call it
    /// does not have to keep its values in registers that survive calls.
    pub(crate) fn missed_function(&self) -> FunctionValue<'ctx> {
        keep_registers(self.edit, "__p3_missed", self.count_function())
    }

    /// The runtime's function that counts an id in a hash table by its key.
    pub(crate) fn count_function(&self) -> FunctionValue<'ctx> {
        let count = match self.update {
            Update::Single => &abi::COUNT,
            Update::Atomic => &abi::COUNT_ATOMIC,
            Update::Thread => &abi::COUNT_BY_THREAD,
        };
        runtime_function(self.edit, count)
    }

    /// The runtime's function that increments a counter.
    pub(crate) fn add_function(&self) -> FunctionValue<'ctx> {
        let add = match self.update {
            Update::Single => &abi::ADD,
            Update::Atomic => &abi::ADD_ATOMIC,
            Update::Thread => &abi::ADD_BY_THREAD,
        };
        runtime_function(self.edit, add)
    }

    /// Describes everything to the runtime, and registers it in a constructor. What is `added` stands behind what the
    /// profile says of the module.
    pub(crate) fn register_module(&self, job: &ModuleJob, added: impl FnOnce() -> Additions<'ctx>) {
        let block = self.describe_block(job);
        let additions = added();
        let by = additions.register;
        let description = self.describe_module(job, block, additions);
        let ctor = constructor(self.edit, description, by);
        if is_linux(self.edit.module) {
            ctor.set_section(Some(CONSTRUCTORS));
        }
        append_ctor(self.edit, ctor);
        if by.name == abi::REGISTER.name {
            self.add_to_list(description, "__p3_listed", MODULES);
        }
        if self.update == Update::Thread {
            // A library's constructor may start a thread before the program's run (`runtime-c/core/p3_create.c`).
            self.add_to_list(ctor.as_global_value(), "__p3_begin", BEGINNINGS);
        }
    }

    /// Adds what `global` is to a list that the linker makes of all modules, in the section of the name `list`; `name`
    /// is that of the entry.
    fn add_to_list(&self, global: GlobalValue<'ctx>, name: &str, list: &str) {
        let Edit { module, .. } = self.edit;
        let address = global.as_pointer_value();
        let global = internal_global(module, address.into(), name, list);
        global.set_alignment(8);
        append_used(self.edit, global);
    }

    /// What the profile says of the module.
    fn describe_block(&self, job: &ModuleJob) -> GlobalValue<'ctx> {
        let described = Described {
            module: job.id.0,
            counters: self.counters_size(),
            page: self.page,
            records: &self.records,
        };
        let Edit { context, module } = self.edit;
        let bytes = context.const_string(&described.bytes(module), false);
        let global = internal_global(module, bytes.into(), abi::BLOCK_SYMBOL, BLOCKS);
        global.set_alignment(8);
        global
    }

    fn records<'p>(&self, plans: impl Iterator<Item = &'p FunctionPlan>) -> Vec<Record> {
        let mut records = Vec::new();
        for (i, plan) in plans.enumerate() {
            let Storage { array, table } = self.storage[i];
            let kinds = [
                array.map(|first| (abi::ARRAY, plan.table.slots(), first)),
                table.map(|_| (abi::HASH, plan.table.ids(), 0)),
                self.entries[i].map(|slot| (abi::ENTRIES, 1, slot)),
                self.hits[i].map(|slot| (abi::HITS, 1, slot)),
                self.forks[i].map(|slot| (abi::FORKS, plan.forks, slot)),
            ];
            let kinds = kinds.into_iter().flatten();
            records.extend(kinds.map(|(kind, size, first)| Record {
                func: plan.func.0,
                kind,
                size,
                first,
            }));
        }
        records
    }

    fn describe_module(
        &self,
        job: &ModuleJob,
        block: GlobalValue<'ctx>,
        additions: Additions<'ctx>,
    ) -> GlobalValue<'ctx> {
        let i8 = self.edit.context.i8_type();
        let byte = |&b: &u8| i8.const_int(u64::from(b), false);
        let program: Vec<IntValue> = job.program.iter().map(byte).collect();
        let tables = self.storage.iter().filter_map(|s| s.table).count();
        let (n_entries, entries) = additions.entries.unzip();
        let flags = additions.flags
            | match self.update {
                Update::Single => 0,
                Update::Atomic => abi::ATOMIC,
                Update::Thread => abi::BY_THREAD,
            };
        let values = [
            ("abi", self.word_constant(abi::VERSION)),
            ("n_tables", self.word_constant(tables as u32)),
            ("copy", self.word_constant(job.copy.0)),
            ("copies", self.word_constant(job.copies)),
            ("program", i8.const_array(&program).into()),
            ("flags", self.word_constant(flags)),
            ("n_entries", self.word_constant(n_entries.unwrap_or(0))),
            ("block", block.as_pointer_value().into()),
            ("counters_size", self.size_constant(self.counters_size())),
            ("page", self.size_constant(self.page)),
        ];
        let globals = [
            ("sampling", additions.sampling),
            ("counters", self.counters),
            ("tables", self.tables.map(|(tables, _)| tables)),
            ("entries", entries),
        ];
        let globals = globals.map(|(name, g)| Some((name, g?.as_pointer_value().into())));
        let values = values.into_iter().chain(globals.into_iter().flatten());
        let value = struct_value(self.edit.context, &abi::MODULE, values);
        described_global(self.edit.module, value.into(), abi::MODULE_SYMBOL)
    }
}

/// A global of zeros.
pub(crate) fn zeroed_global<'ctx>(
    module: &Module<'ctx>,
    ty: ArrayType<'ctx>,
    name: &str,
) -> GlobalValue<'ctx> {
    internal_global(module, ty.const_zero().into(), name, ZEROS)
}

/// A global that describes something.
pub(crate) fn described_global<'ctx>(
    module: &Module<'ctx>,
    value: BasicValueEnum<'ctx>,
    name: &str,
) -> GlobalValue<'ctx> {
    internal_global(module, value, name, DESCRIPTIONS)
}

/// Copies differ in how much data of ours they hold. It gets sections of its own, which linkers put behind all that the
/// program has of the same kind. Names with this beginning are the only ones for which LLVM writes no zeros to files
/// and that no linker merges into `.bss`.
const ZEROS: &str = ".llvm.linkonce.b.p3";
/// Counters alone: in a link they are side by side (`runtime-c/core/p3_area.c`).
const COUNTERS: &str = ".llvm.linkonce.b.p3c";
const DESCRIPTIONS: &str = ".p3_data";
/// Apart from descriptions, which are relocated: what is not written costs no page when a program starts.
const BLOCKS: &str = ".p3_blocks";
/// Constructors, on few pages.
const CONSTRUCTORS: &str = ".p3_text";
/// Names of C: the linker defines symbols for a section's begin and end.
const BEGINNINGS: &str = "p3_begin";
const MODULES: &str = "p3_modules";

/// In the address space of the runtime's pointers, wherever the module's own globals are.
fn internal_global<'ctx>(
    module: &Module<'ctx>,
    value: BasicValueEnum<'ctx>,
    name: &str,
    section: &str,
) -> GlobalValue<'ctx> {
    let global = module.add_global(value.get_type(), Some(AddressSpace::default()), name);
    global.set_linkage(Linkage::Internal);
    global.set_initializer(&value);
    if is_linux(module) {
        global.set_section(Some(section));
    }
    global
}
