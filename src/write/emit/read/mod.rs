//! The loader on LLVM itself: a parsed module → [`ModuleView`]. It takes every module that LLVM reads.

pub(super) mod code;
pub(super) mod inlined;
mod names;
mod walk;

use super::llvm::view::{self, Block, Value};
use crate::base::index::BlockId;
use crate::input::ir::lower::view::{
    Alias, BlockView, CallView, CalleeView, FunctionView, InstructionView, ModuleView, Returned,
    may_follow_tail_call,
};
use crate::input::ir::{Linkage, SkipReason, Terminator};
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode};
use inkwell::module::Module;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The view of a module. `against`: attributes that forbid profiling a function; the first that it has
/// is the reason given.
pub(super) fn view_module<'m>(
    module: &'m Module,
    against: &[(&str, SkipReason)],
) -> ModuleView<'m> {
    let attributes = Attributes::new(against);
    let names = Names::new(module);
    let (defined, declared): (Vec<_>, Vec<_>) =
        view::functions(module).partition(|f| f.is_definition());
    let returning = defined
        .iter()
        .filter(|f| attributes.returning.iter().all(|&a| f.has_attribute(a)));
    let alias = |a: Value<'m>| {
        let target = a.aliasee();
        let meant = || Alias {
            target: names.symbol(target).into(),
            linkage: linkage(a.linkage()),
        };
        target
            .is_global()
            .then(|| (names.symbol(a).into(), meant()))
    };
    ModuleView {
        returning: returning.map(|f| f.name()).collect(),
        declared: declared.into_iter().map(Value::name).collect(),
        aliases: view::aliases(module).filter_map(alias).collect(),
        ifuncs: view::ifuncs(module)
            .map(|f| f.name().into_owned())
            .collect(),
        taken: walk::address_taken(module),
        calls: walk::find_calls(module, &names),
        functions: Box::new(
            defined
                .into_iter()
                .map(move |f| view_function(f, &attributes, &names)),
        ),
    }
}

/// Attributes by their numbers.
struct Attributes {
    against: Vec<(u32, SkipReason)>,
    returning: [u32; 2],
    returns_twice: u32,
}

impl Attributes {
    fn new(against: &[(&str, SkipReason)]) -> Attributes {
        let number = |&(name, why): &(&str, SkipReason)| (view::attribute(name), why);
        Attributes {
            against: against.iter().map(number).collect(),
            returning: ["nounwind", "willreturn"].map(view::attribute),
            returns_twice: view::attribute("returns_twice"),
        }
    }
}

/// The names of symbols; those without one go by their number, as in llvm-ir.
struct Names<'m> {
    numbers: FxHashMap<Value<'m>, String>,
}

impl<'m> Names<'m> {
    fn new(module: &'m Module) -> Names<'m> {
        let (defined, declared): (Vec<_>, Vec<_>) =
            view::functions(module).partition(|f| f.is_definition());
        let all = defined
            .into_iter()
            .chain(declared)
            .chain(view::variables(module))
            .chain(view::aliases(module))
            .chain(view::ifuncs(module));
        let unnamed = all.filter(|v| v.name().is_empty()).enumerate();
        Names {
            numbers: unnamed.map(|(i, v)| (v, i.to_string())).collect(),
        }
    }

    fn symbol(&self, value: Value<'m>) -> Cow<'m, str> {
        match self.numbers.get(&value) {
            Some(number) => Cow::from(number.clone()),
            None => value.name(),
        }
    }
}

fn view_function<'m>(f: Value<'m>, attributes: &Attributes, names: &Names<'m>) -> FunctionView<'m> {
    let numbers = f.blocks().enumerate();
    let numbers = numbers.map(|(i, b)| (b, BlockId::new(i))).collect();
    let mut against = attributes.against.iter();
    let mut returns = Returns::default();
    FunctionView {
        name: f.name(),
        linkage: linkage(f.linkage()),
        skip: against
            .find(|(kind, _)| f.has_attribute(*kind))
            .map(|&(_, why)| why),
        blocks: f
            .blocks()
            .map(|b| view_block(b, &numbers, attributes, names, &mut returns))
            .collect(),
    }
}

fn linkage(linkage: LLVMLinkage) -> Linkage {
    use LLVMLinkage::*;
    match linkage {
        LLVMPrivateLinkage | LLVMInternalLinkage => Linkage::Local,
        LLVMAvailableExternallyLinkage => Linkage::AvailableExternally,
        LLVMLinkOnceAnyLinkage
        | LLVMLinkOnceODRLinkage
        | LLVMWeakAnyLinkage
        | LLVMWeakODRLinkage
        | LLVMCommonLinkage => Linkage::Mergeable,
        _ => Linkage::External,
    }
}

fn view_block<'m>(
    block: Block<'m>,
    numbers: &FxHashMap<Block<'m>, BlockId>,
    attributes: &Attributes,
    names: &Names<'m>,
    returns: &mut Returns<'m>,
) -> BlockView<'m> {
    let instructions: Vec<_> = block.instructions().collect();
    let end = *instructions.last().expect("a block has a terminator");
    let terminator = terminator(end);
    let succs = match terminator {
        Terminator::Funclet => Vec::new(),
        _ => end.successors().map(|s| numbers[&s]).collect(),
    };
    let tail = find_tail_call(block, &instructions, returns);
    let code = instructions
        .into_iter()
        .filter(|i| i.opcode() != LLVMOpcode::LLVMPHI);
    let view_instruction = |i: Value<'m>| InstructionView {
        call: i.is_call().then(|| CallView {
            in_tail_position: Some(i) == tail,
            ..view_call(i, attributes, names)
        }),
    };
    BlockView {
        terminator,
        succs,
        instructions: code.map(view_instruction).collect(),
    }
}

/// The call in tail position, if these instructions of `block` end in one: it returns behind it, or jumps to a block
/// that does nothing else.
fn find_tail_call<'m>(
    block: Block<'m>,
    instructions: &[Value<'m>],
    returns: &mut Returns<'m>,
) -> Option<Value<'m>> {
    let (&end, before) = instructions.split_last()?;
    let last = last_but_followers(before).filter(|i| i.is_tail_call())?;
    let is_result = |value: Value<'m>| value == last;
    if end.opcode() == LLVMOpcode::LLVMRet {
        return end.operands().all(is_result).then_some(last);
    }
    let mut ways = end.successors();
    let to = ways.next().filter(|_| end.opcode() == LLVMOpcode::LLVMBr)?;
    let only_way = Some(to).filter(|_| ways.next().is_none())?;
    let returned = returns.entry(only_way).or_insert_with(|| find_returned(to));
    let value = returned.as_ref()?.value_from(&block);
    value.is_none_or(is_result).then_some(last)
}

/// What blocks return that do nothing else, as far as blocks before them asked.
type Returns<'m> = FxHashMap<Block<'m>, Option<Returned<Block<'m>, Value<'m>>>>;

/// What `block` returns; `None` if it does something else too.
fn find_returned<'m>(block: Block<'m>) -> Option<Returned<Block<'m>, Value<'m>>> {
    let there: Vec<Value> = block.instructions().collect();
    let (ret, before) = there.split_last()?;
    let is_phi = |i: &Value| i.opcode() == LLVMOpcode::LLVMPHI;
    let only_returns = ret.opcode() == LLVMOpcode::LLVMRet
        && last_but_followers(before).is_none_or(|i| is_phi(&i));
    if !only_returns {
        return None;
    }
    let value = ret.operands().next();
    let is_phi_there = |v: &Value| v.is_instruction() && is_phi(v) && v.block() == block;
    let phi = value.filter(is_phi_there);
    let brought = phi.into_iter().flat_map(Value::incoming);
    let brought = brought.map(|(value, from)| (from, value)).collect();
    Some(Returned { value, brought })
}

/// The last instruction, but for intrinsics that may follow a call in tail position.
fn last_but_followers<'m>(instructions: &[Value<'m>]) -> Option<Value<'m>> {
    let follows = |i: &Value| i.is_call() && may_follow_tail_call(&i.callee().name());
    instructions.iter().copied().rfind(|i| !follows(i))
}

fn terminator(end: Value) -> Terminator {
    use LLVMOpcode::*;
    match end.opcode() {
        LLVMRet => Terminator::Return,
        LLVMBr if end.successors().count() == 1 => Terminator::Jump,
        LLVMBr => Terminator::Branch,
        LLVMSwitch => Terminator::Switch,
        LLVMIndirectBr => Terminator::IndirectBr,
        LLVMInvoke => Terminator::Invoke,
        LLVMCallBr => Terminator::CallBr,
        LLVMResume => Terminator::Resume,
        LLVMUnreachable => Terminator::Unreachable,
        LLVMCleanupRet | LLVMCatchRet | LLVMCatchSwitch => Terminator::Funclet,
        other => unreachable!("{other:?} ends no block"),
    }
}

fn view_call<'m>(call: Value<'m>, attributes: &Attributes, names: &Names<'m>) -> CallView<'m> {
    let callee = call.callee();
    CallView {
        callee: if callee.is_assembly() {
            CalleeView::Asm
        } else if callee.is_global() {
            CalleeView::Symbol(names.symbol(callee))
        } else {
            CalleeView::Pointer
        },
        returns: attributes
            .returning
            .iter()
            .all(|&a| call.has_call_attribute(a)),
        returns_twice: call.has_call_attribute(attributes.returns_twice),
        in_tail_position: false,
        first_argument: call.operands().next().and_then(Value::constant_int),
    }
}
