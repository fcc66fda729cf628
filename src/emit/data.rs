//! What a rewritten module adds beside code: counters, tables, their description and the
//! constructor that registers them (`runtime-c/p3_abi.h`).

use super::layout::{Layout, Place, page_size};
use super::sys;
use super::{Counters, ModuleJob, Update};
use crate::plan::FunctionPlan;
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicType, BasicTypeEnum, IntType, PointerType, StructType};
use inkwell::values::{
    AsValueRef, BasicValueEnum, FunctionValue, GlobalValue, IntValue, PointerValue,
};

/// The version of the interface to the runtime.
const ABI: u32 = 3;
/// The number of levels of a table.
const LEVELS: u32 = 12;
/// The number of slots that a table's cache holds, as a power of two.
pub(super) const CACHE_BITS: u64 = 10;
/// An id is cached at the upper bits of its product with this.
pub(super) const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The globals of a rewritten module.
pub(super) struct Data<'ctx> {
    counters: Option<GlobalValue<'ctx>>,
    /// The hash tables, and what one is. How large that is depends on the target's pointers.
    tables: Option<(GlobalValue<'ctx>, StructType<'ctx>)>,
    caches: Option<GlobalValue<'ctx>>,
    places: Vec<Place>,
    /// By plan: the slot that counts entries.
    entries: Vec<Option<u64>>,
    /// By plan: the slot that counts executed probes.
    hits: Vec<Option<u64>>,
    /// The number of counters; one more slot takes increments that must not count.
    slots: u64,
    /// Counters have whole pages of this size for themselves: the runtime maps a file over them.
    page: u64,
    /// Increment arrays by calls.
    pub calls: bool,
    /// Increment atomically.
    pub atomic: bool,
    i64: IntType<'ctx>,
}

impl<'ctx> Data<'ctx> {
    /// Declares counters and tables for all plans of the job.
    pub(super) fn declare(context: &'ctx Context, module: &Module<'ctx>, job: &ModuleJob) -> Self {
        let layout = Layout::new(job.plans.iter().map(|(_, p)| *p), job.count_hits);
        let mut data = Data {
            counters: None,
            tables: None,
            caches: None,
            slots: layout.slots,
            places: layout.places,
            entries: layout.entries,
            hits: layout.hits,
            page: page_size(module),
            calls: job.counters == Counters::Call,
            atomic: job.update == Update::Atomic,
            i64: context.i64_type(),
        };
        if data.slots > 0 {
            let words = u32::try_from(data.counters_size() / 8).expect("counters fit");
            let ty = data.i64.array_type(words);
            let global = internal(module, ty.into(), "__p3_counters");
            global.set_alignment(data.page as u32);
            global.set_initializer(&ty.const_zero());
            data.counters = Some(global);
        }
        data.caches = data.declare_caches(module);
        data.tables = data.declare_tables(context, module, job);
        data
    }

    /// One cache for each hash table, when counting in tables is inlined.
    fn declare_caches(&self, module: &Module<'ctx>) -> Option<GlobalValue<'ctx>> {
        let tables = self.places.iter().filter_map(|p| p.table).count() as u32;
        if tables == 0 || self.calls {
            return None;
        }
        let ty = self.i64.array_type(tables << CACHE_BITS);
        let global = internal(module, ty.into(), "__p3_caches");
        global.set_alignment(64);
        global.set_initializer(&ty.const_zero());
        Some(global)
    }

    fn declare_tables(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        job: &ModuleJob,
    ) -> Option<(GlobalValue<'ctx>, StructType<'ctx>)> {
        let (i32, ptr) = (context.i32_type(), pointer(context));
        let table = |plan: &FunctionPlan, index: u64| {
            let cache = self.caches.map(|_| self.cache(index));
            context.const_struct(
                &[
                    self.i64.const_zero().into(),
                    i32.const_int(u64::from(plan.func.0), false).into(),
                    i32.const_zero().into(),
                    self.i64.const_int(plan.table.ids(), false).into(),
                    ptr.array_type(LEVELS).const_zero().into(),
                    cache.unwrap_or(ptr.const_null()).into(),
                ],
                false,
            )
        };
        let hashed = job.plans.iter().zip(&self.places);
        let hashed = hashed.filter_map(|((_, plan), place)| Some(table(plan, place.table?)));
        let tables: Vec<_> = hashed.collect();
        let ty = tables.first()?.get_type();
        let global = internal(
            module,
            ty.array_type(tables.len() as u32).into(),
            "__p3_tables",
        );
        global.set_alignment(64);
        global.set_initializer(&ty.const_array(&tables));
        Some((global, ty))
    }

    /// The size of the counters in bytes, the slot behind the last one included.
    fn counters_size(&self) -> u64 {
        match self.slots {
            0 => 0,
            slots => ((slots + 1) * 8).next_multiple_of(self.page),
        }
    }

    /// The counter of entries of the job's `i`-th plan, if it counts them.
    pub(super) fn entry_counter(&self, i: usize) -> Option<PointerValue<'ctx>> {
        self.entries[i].map(|slot| self.counter(slot))
    }

    /// The counter of executed probes of the job's `i`-th plan, if it counts them.
    pub(super) fn hit_counter(&self, i: usize) -> Option<PointerValue<'ctx>> {
        self.hits[i].map(|slot| self.counter(slot))
    }

    /// Where the job's `i`-th plan counts.
    pub(super) fn table(&self, i: usize) -> Place {
        self.places[i]
    }

    /// The address of slot `slot` of the counters.
    pub(super) fn counter(&self, slot: u64) -> PointerValue<'ctx> {
        let base = self
            .counters
            .expect("an array plan has counters")
            .as_pointer_value();
        sys::const_address(base, self.i64.const_int(slot * 8, false))
    }

    /// The slot that takes increments which must not count.
    pub(super) fn trash(&self) -> PointerValue<'ctx> {
        self.counter(self.slots)
    }

    /// The address of hash table `index`.
    pub(super) fn hash_table(&self, index: u64) -> PointerValue<'ctx> {
        let (tables, table) = self.tables.expect("a hash plan has tables");
        let index = self.i64.const_int(index, false);
        sys::const_element(tables.as_pointer_value(), table, index)
    }

    /// Whether counts in hash tables are inlined, and look ids up in a cache first.
    pub(super) fn is_cached(&self) -> bool {
        !self.calls
    }

    /// The cache of hash table `index`: an array of distances from the table.
    pub(super) fn cache(&self, index: u64) -> PointerValue<'ctx> {
        let base = self.caches.expect("inlined").as_pointer_value();
        sys::const_address(base, self.i64.const_int(index << (CACHE_BITS + 3), false))
    }

    /// The runtime's function that finds the slot of an id and caches it.
    pub(super) fn find_function(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
    ) -> FunctionValue<'ctx> {
        let parameters = [pointer(context).into(), self.i64.into()];
        let result = pointer(context).into();
        runtime_function(context, module, "__p3_find", &parameters, Some(result))
    }

    /// The runtime's function that counts an id in a hash table.
    pub(super) fn count_function(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
    ) -> FunctionValue<'ctx> {
        let name = if self.atomic {
            "__p3_count_atomic"
        } else {
            "__p3_count"
        };
        let parameters = [pointer(context).into(), self.i64.into()];
        runtime_function(context, module, name, &parameters, None)
    }

    /// The runtime's function that increments a counter.
    pub(super) fn add_function(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
    ) -> FunctionValue<'ctx> {
        let name = if self.atomic {
            "__p3_add_atomic"
        } else {
            "__p3_add"
        };
        runtime_function(context, module, name, &[pointer(context).into()], None)
    }

    /// Describes everything to the runtime, and registers it in a constructor.
    pub(super) fn register(&self, context: &'ctx Context, module: &Module<'ctx>, job: &ModuleJob) {
        let functions = self.describe_functions(context, module, job);
        let description = self.describe_module(context, module, job, functions);
        let ctor = constructor(context, module, description);
        append_ctor(context, module, ctor);
    }

    fn describe_functions(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        job: &ModuleJob,
    ) -> GlobalValue<'ctx> {
        let (i32, ptr) = (context.i32_type(), pointer(context));
        let fields = [i32.into(), i32.into(), self.i64.into(), ptr.into()];
        let record = context.struct_type(&fields, false);
        let describe = |func: u32, kind: u64, size: u64, counts: PointerValue<'ctx>| {
            record.const_named_struct(&[
                i32.const_int(u64::from(func), false).into(),
                i32.const_int(kind, false).into(),
                self.i64.const_int(size, false).into(),
                counts.into(),
            ])
        };
        let mut records = Vec::new();
        for (i, (_, plan)) in job.plans.iter().enumerate() {
            let (place, func) = (self.places[i], plan.func.0);
            if let Some(first) = place.array {
                records.push(describe(func, 0, plan.table.slots(), self.counter(first)));
            }
            if let Some(index) = place.table {
                records.push(describe(func, 1, plan.table.ids(), self.hash_table(index)));
            }
            let single = [(2, self.entry_counter(i)), (3, self.hit_counter(i))];
            for (kind, slot) in single {
                records.extend(slot.map(|slot| describe(func, kind, 1, slot)));
            }
        }
        let ty = record.array_type(records.len() as u32).into();
        let global = internal(module, ty, "__p3_functions");
        global.set_initializer(&record.const_array(&records));
        global
    }

    fn describe_module(
        &self,
        context: &'ctx Context,
        module: &Module<'ctx>,
        job: &ModuleJob,
        functions: GlobalValue<'ctx>,
    ) -> GlobalValue<'ctx> {
        let (i8, i32, ptr) = (context.i8_type(), context.i32_type(), pointer(context));
        let word = |n: u32| -> BasicValueEnum<'ctx> { i32.const_int(u64::from(n), false).into() };
        let program: Vec<IntValue> = job
            .program
            .iter()
            .map(|&b| i8.const_int(u64::from(b), false))
            .collect();
        let counters = self
            .counters
            .map_or(ptr.const_null(), |g| g.as_pointer_value());
        let size = |n: u64| -> BasicValueEnum<'ctx> { self.i64.const_int(n, false).into() };
        let single = self.entries.iter().chain(&self.hits).flatten().count();
        let places = self.places.iter().flat_map(|p| [p.array, p.table]);
        let records = places.flatten().count() + single;
        let fields: [BasicValueEnum; 14] = [
            word(ABI),
            word(records as u32),
            word(job.copy.0),
            word(job.copies),
            i8.const_array(&program).into(),
            word(job.id.0),
            word(u32::from(self.atomic)),
            functions.as_pointer_value().into(),
            counters.into(),
            size(self.counters_size()),
            size(self.page),
            ptr.const_null().into(),
            size(0),
            self.i64.array_type(2).const_zero().into(),
        ];
        let types: Vec<BasicTypeEnum> = fields.iter().map(|f| f.get_type()).collect();
        let ty: StructType = context.struct_type(&types, false);
        let global = internal(module, ty.into(), "__p3_module");
        global.set_initializer(&ty.const_named_struct(&fields));
        global
    }
}

/// In the address space of the runtime's pointers, wherever the module's own globals are.
fn internal<'ctx>(module: &Module<'ctx>, ty: BasicTypeEnum<'ctx>, name: &str) -> GlobalValue<'ctx> {
    let global = module.add_global(ty, Some(AddressSpace::default()), name);
    global.set_linkage(Linkage::Internal);
    global
}

fn pointer(context: &Context) -> PointerType<'_> {
    context.ptr_type(AddressSpace::default())
}

/// Declares a function of the runtime, which never unwinds.
pub(super) fn runtime_function<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    name: &str,
    parameters: &[inkwell::types::BasicMetadataTypeEnum<'ctx>],
    result: Option<BasicTypeEnum<'ctx>>,
) -> FunctionValue<'ctx> {
    module.get_function(name).unwrap_or_else(|| {
        let ty = match result {
            Some(ty) => ty.fn_type(parameters, false),
            None => context.void_type().fn_type(parameters, false),
        };
        let function = module.add_function(name, ty, None);
        function.add_attribute(AttributeLoc::Function, nounwind(context));
        function
    })
}

fn nounwind(context: &Context) -> Attribute {
    context.create_enum_attribute(Attribute::get_named_enum_kind_id("nounwind"), 0)
}

fn constructor<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    description: GlobalValue<'ctx>,
) -> FunctionValue<'ctx> {
    let parameters = [pointer(context).into()];
    let register = runtime_function(context, module, "__p3_register", &parameters, None);
    let ty = context.void_type().fn_type(&[], false);
    let ctor = module.add_function("__p3_ctor", ty, Some(Linkage::Internal));
    ctor.add_attribute(AttributeLoc::Function, nounwind(context));
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(ctor, ""));
    let argument = description.as_pointer_value().into();
    builder
        .build_call(register, &[argument], "")
        .expect("positioned");
    builder.build_return(None).expect("positioned");
    ctor
}

/// Puts `ctor` first in llvm.global_ctors, at the highest priority. Its entries have the type that they have:
/// functions may be in an address space of their own, and what the third field points to in yet another.
fn append_ctor<'ctx>(context: &'ctx Context, module: &Module<'ctx>, ctor: FunctionValue<'ctx>) {
    let old = module.get_global("llvm.global_ctors");
    let ctor = ctor.as_global_value().as_pointer_value();
    let listed = old.map(|g| g.get_value_type());
    let record = match listed.map(|list| list.into_array_type().get_element_type()) {
        Some(BasicTypeEnum::StructType(record)) => record,
        _ => {
            let (i32, ptr) = (context.i32_type(), pointer(context));
            context.struct_type(&[i32.into(), ctor.get_type().into(), ptr.into()], false)
        }
    };
    let none = record.get_field_type_at_index(2).map(|t| t.const_zero());
    let entry = record.const_named_struct(&[
        context.i32_type().const_zero().into(),
        ctor.into(),
        none.expect("the verifier wants three fields"),
    ]);
    let mut elements = vec![entry.as_value_ref()];
    if let Some(BasicValueEnum::ArrayValue(array)) = old.and_then(|g| g.get_initializer()) {
        elements.extend(sys::array_elements(array));
    }
    sys::replace_appending(module, old, c"llvm.global_ctors", &mut elements);
}
