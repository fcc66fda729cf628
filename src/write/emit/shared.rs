//! The parts of the runtime's interface ([`crate::runtime::abi`]) that a module mentions: types, functions, the
//! constructor.

use super::edit::Edit;
use super::llvm;
use super::llvm::value::Value;
use crate::runtime::{Field, Struct, Type, abi};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum, PointerType, StructType};
use inkwell::values::{BasicValueEnum, FunctionValue, GlobalValue, StructValue};
use inkwell::{AddressSpace, GlobalVisibility};

/// The type of pointers to the runtime's data.
pub(crate) fn pointer(context: &Context) -> PointerType<'_> {
    context.ptr_type(AddressSpace::default())
}

/// The LLVM type of a field that the runtime shares.
fn shared_type(context: &Context, ty: Type) -> BasicTypeEnum<'_> {
    match ty {
        Type::U8 => context.i8_type().into(),
        Type::U32 => context.i32_type().into(),
        Type::U64 => context.i64_type().into(),
        Type::Pointer(_) => pointer(context).into(),
    }
}

fn field_type<'ctx>(context: &'ctx Context, field: &Field) -> BasicTypeEnum<'ctx> {
    let ty = shared_type(context, field.ty);
    match field.elements {
        Some(n) => ty.array_type(n).into(),
        None => ty,
    }
}

/// The type of a structure.
pub(crate) fn struct_type<'ctx>(context: &'ctx Context, of: &Struct) -> StructType<'ctx> {
    let fields: Vec<_> = of.fields.iter().map(|f| field_type(context, f)).collect();
    context.struct_type(&fields, false)
}

/// A structure whose fields have these values, by name; the others are zero.
pub(crate) fn struct_value<'ctx>(
    context: &'ctx Context,
    of: &Struct,
    values: impl IntoIterator<Item = (&'static str, BasicValueEnum<'ctx>)>,
) -> StructValue<'ctx> {
    let zero = |f: &Field| field_type(context, f).const_zero();
    let mut fields: Vec<_> = of.fields.iter().map(zero).collect();
    for (name, value) in values {
        let i = of.fields.iter().position(|f| f.name == name);
        fields[i.expect("a field of that name")] = value;
    }
    struct_type(context, of).const_named_struct(&fields)
}

/// Declares a function of the runtime, which never unwinds.
pub(crate) fn runtime_function<'ctx>(
    edit: Edit<'_, 'ctx>,
    of: &abi::Function,
) -> FunctionValue<'ctx> {
    let Edit { context, .. } = edit;
    let ty = |(ty, _): &(Type, &str)| shared_type(context, *ty).into();
    let parameters: Vec<_> = of.parameters.iter().map(ty).collect();
    let result = of.result.map(|ty| shared_type(context, ty));
    declare(edit, of.name, &parameters, result)
}

/// Declares a function that never unwinds, unless the module has it.
pub(crate) fn declare<'ctx>(
    edit: Edit<'_, 'ctx>,
    name: &str,
    parameters: &[BasicMetadataTypeEnum<'ctx>],
    result: Option<BasicTypeEnum<'ctx>>,
) -> FunctionValue<'ctx> {
    let Edit { context, module } = edit;
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

/// Declares a global of the runtime's, unless the module has it.
pub(crate) fn runtime_global<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    ty: BasicTypeEnum<'ctx>,
) -> GlobalValue<'ctx> {
    module.get_global(name).unwrap_or_else(|| {
        let global = module.add_global(ty, None, name);
        global.set_visibility(GlobalVisibility::Hidden);
        global
    })
}

fn nounwind(context: &Context) -> Attribute {
    context.create_enum_attribute(Attribute::get_named_enum_kind_id("nounwind"), 0)
}

/// The constructor that registers what `description` says.
pub(crate) fn constructor<'ctx>(
    edit: Edit<'_, 'ctx>,
    description: GlobalValue<'ctx>,
    by: &abi::Function,
) -> FunctionValue<'ctx> {
    let Edit { context, module } = edit;
    let register = runtime_function(edit, by);
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

/// Puts `ctor` first in llvm.global_ctors, at the highest priority. Its entries keep the type that they have:
/// functions may be in an address space of their own, and what the third field points to in yet another.
pub(crate) fn append_ctor<'ctx>(edit: Edit<'_, 'ctx>, ctor: FunctionValue<'ctx>) {
    let Edit { context, module } = edit;
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
    let mut elements = vec![Value::from_inkwell(&entry)];
    if let Some(BasicValueEnum::ArrayValue(array)) = old.and_then(|g| g.get_initializer()) {
        elements.extend(Value::from_inkwell(&array).operands());
    }
    llvm::replace_appending(module, old, c"llvm.global_ctors", &elements);
}

/// Has compilers and linkers keep a global that nothing refers to.
pub(crate) fn append_used<'ctx>(edit: Edit<'_, 'ctx>, global: GlobalValue<'ctx>) {
    let old = edit.module.get_global("llvm.used");
    let mut elements = vec![Value::from_inkwell(&global.as_pointer_value())];
    if let Some(BasicValueEnum::ArrayValue(array)) = old.and_then(|g| g.get_initializer()) {
        elements.extend(Value::from_inkwell(&array).operands());
    }
    llvm::replace_appending(edit.module, old, c"llvm.used", &elements);
}

/// LLVM's number of the calling convention that keeps (nearly) all registers, which not every target has.
const PRESERVE_MOST: u32 = 14;

/// A function `name` of the module that calls `function` and keeps the registers of its callers, where LLVM 19 can do
/// that on the module's target; else `function` itself.
pub(crate) fn keep_registers<'ctx>(
    edit: Edit<'_, 'ctx>,
    name: &str,
    function: FunctionValue<'ctx>,
) -> FunctionValue<'ctx> {
    let Edit { context, module } = edit;
    let triple = module.get_triple();
    let triple = triple.as_str().to_string_lossy();
    let targets = ["x86_64", "aarch64", "arm64"];
    if !targets.iter().any(|t| triple.starts_with(t)) {
        return function;
    }
    module.get_function(name).unwrap_or_else(|| {
        let aside = module.add_function(name, function.get_type(), Some(Linkage::Internal));
        aside.set_call_conventions(PRESERVE_MOST);
        for attribute in ["nounwind", "noinline", "cold"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            aside.add_attribute(
                AttributeLoc::Function,
                context.create_enum_attribute(kind, 0),
            );
        }
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(aside, ""));
        let arguments: Vec<_> = aside.get_param_iter().map(|p| p.into()).collect();
        let call = builder.build_call(function, &arguments, "");
        call.expect("positioned");
        builder.build_return(None).expect("positioned");
        aside
    })
}
