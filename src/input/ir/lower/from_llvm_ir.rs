//! llvm-ir's data → views: the one place that knows this loader, with [`super::operands`] and
//! [`super::parse`].

use super::super::{Linkage, SkipReason, Terminator};
use super::operands::{self, symbol_of};
use super::parse::parse;
use super::view::{
    Alias, BlockView, CallView, CalleeView, Calls, FunctionView, IndirectCalls, InstructionView,
    ModuleView, Returned, may_follow_tail_call,
};
use super::{LoadOptions, Lowered, lower};
use crate::base::error::Result;
use crate::base::index::BlockId;
use crate::input::load::Input;
use crate::input::load::positions::Positions;
use either::Either;
use llvm_ir::function::FunctionAttribute as Attr;
use llvm_ir::instruction::InlineAssembly;
use llvm_ir::{
    BasicBlock, Constant, Function, Instruction, Module, Name, Operand, TypeRef, module,
};
use llvm_ir_analysis::ModuleAnalysis;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// What a call site calls.
type CalledOperand = Either<InlineAssembly, Operand>;

/// Reads a module by llvm-ir and lowers it; `None` where llvm-ir cannot represent it. `positions` are what LLVM found;
/// `skip`: by ordinal of the definition, what attributes that llvm-ir does not know say against profiling it; may be
/// short.
///
/// # Errors
/// Input that LLVM cannot read.
pub fn by_llvm_ir(
    input: &Input,
    positions: &Positions,
    skip: &[Option<SkipReason>],
    options: &LoadOptions,
) -> Result<Option<Lowered>> {
    let module = parse(input)?;
    let view = module.as_ref().and_then(|m| view(m, skip));
    Ok(view.map(|v| lower(v, positions, options)))
}

/// The view of a module; `None` where llvm-ir leaves out what is needed: the targets of `callbr`.
///
/// `skip`: by ordinal of the definition, what attributes that llvm-ir does not know say against profiling
/// it. May be short.
fn view<'a>(module: &'a Module, skip: &'a [Option<SkipReason>]) -> Option<ModuleView<'a>> {
    let blocks = || module.functions.iter().flat_map(|f| &f.basic_blocks);
    if blocks().any(|b| matches!(b.term, llvm_ir::Terminator::CallBr(_))) {
        return None;
    }
    let returning = module
        .functions
        .iter()
        .filter(|f| may_return(&f.function_attributes));
    let functions = module.functions.iter().enumerate().map(move |(i, f)| {
        let attributes = skip.get(i).copied().flatten();
        function(f, attributes)
    });
    Some(ModuleView {
        functions: Box::new(functions),
        returning: returning.map(|f| Cow::from(f.name.as_str())).collect(),
        declared: module
            .func_declarations
            .iter()
            .map(|f| Cow::from(f.name.as_str()))
            .collect(),
        aliases: module.global_aliases.iter().filter_map(alias).collect(),
        ifuncs: module
            .global_ifuncs
            .iter()
            .map(|f| symbol_of(&f.name))
            .collect(),
        taken: operands::address_taken(module),
        calls: calls(module),
    })
}

/// Who may call whom; llvm-ir-analysis knows which functions have the type of an indirect call. (Its call graph has an
/// edge from each caller to each of them, which is quadratic, and panics at functions without a name.)
/// O(instructions + functions).
fn calls(module: &Module) -> Calls {
    let analysis = ModuleAnalysis::new(module);
    let by_type = analysis.functions_by_type();
    let mut direct = BTreeSet::new();
    let mut callers: HashMap<&TypeRef, BTreeSet<String>> = HashMap::new();
    let mut unnamed: HashMap<TypeRef, Vec<String>> = HashMap::new();
    let mut number = 0;
    for f in &module.functions {
        let mut name = f.name.clone();
        if name.is_empty() {
            name = number.to_string();
            number += 1;
            let alike = unnamed.entry(module.type_of(f)).or_default();
            alike.push(name.clone());
        }
        for (callee, of_type) in f.basic_blocks.iter().flat_map(calls_in) {
            match callee_view(callee) {
                CalleeView::Symbol(callee) => {
                    direct.insert((name.clone(), callee.into_owned()));
                }
                CalleeView::Pointer => {
                    callers.entry(of_type).or_default().insert(name.clone());
                }
                CalleeView::Asm => {}
            }
        }
    }
    let indirect = callers.into_iter().map(|(of_type, callers)| {
        let named = by_type.functions_with_type(of_type);
        let named = named.filter(|name| !name.is_empty()).map(String::from);
        let unnamed = unnamed.get(of_type).into_iter().flatten().cloned();
        IndirectCalls {
            callers: callers.into_iter().collect(),
            candidates: named.chain(unnamed).collect(),
        }
    });
    Calls {
        direct,
        indirect: indirect.collect(),
    }
}

/// What the call sites of a block call, and of which type that is.
fn calls_in(block: &BasicBlock) -> impl Iterator<Item = (&CalledOperand, &TypeRef)> {
    let calls = block.instrs.iter().filter_map(|i| match i {
        Instruction::Call(call) => Some((&call.function, &call.function_ty)),
        _ => None,
    });
    let invoke = match &block.term {
        llvm_ir::Terminator::Invoke(invoke) => Some((&invoke.function, &invoke.function_ty)),
        _ => None,
    };
    calls.chain(invoke)
}

fn may_return(attributes: &[Attr]) -> bool {
    attributes.contains(&Attr::NoUnwind) && attributes.contains(&Attr::WillReturn)
}

fn alias(alias: &module::GlobalAlias) -> Option<(String, Alias)> {
    let Constant::GlobalReference { name, .. } = alias.aliasee.as_ref() else {
        return None;
    };
    let meant = Alias {
        target: symbol_of(name),
        linkage: linkage(alias.linkage),
    };
    Some((symbol_of(&alias.name), meant))
}

fn function(function: &Function, attributes: Option<SkipReason>) -> FunctionView<'_> {
    let numbers = function.basic_blocks.iter().enumerate();
    let numbers = numbers.map(|(i, b)| (&b.name, BlockId::new(i))).collect();
    let naked = function.function_attributes.contains(&Attr::Naked);
    let blocks = function.basic_blocks.iter();
    let mut returns = BlockReturns::new();
    FunctionView {
        name: Cow::from(function.name.as_str()),
        linkage: linkage(function.linkage),
        skip: naked.then_some(SkipReason::Naked).or(attributes),
        blocks: blocks
            .map(|b| block(b, &function.basic_blocks, &numbers, &mut returns))
            .collect(),
    }
}

fn linkage(linkage: module::Linkage) -> Linkage {
    use module::Linkage as L;
    match linkage {
        L::Private | L::Internal => Linkage::Local,
        L::AvailableExternally => Linkage::AvailableExternally,
        L::LinkOnceAny | L::LinkOnceODR | L::WeakAny | L::WeakODR | L::Common => Linkage::Mergeable,
        _ => Linkage::External,
    }
}

fn block<'a>(
    block: &'a BasicBlock,
    all: &'a [BasicBlock],
    numbers: &HashMap<&Name, BlockId>,
    returns: &mut BlockReturns<'a>,
) -> BlockView<'a> {
    let (terminator, succs) = terminator(&block.term, numbers);
    let code = block
        .instrs
        .iter()
        .filter(|i| !matches!(i, Instruction::Phi(_)));
    let mut instructions: Vec<_> = code.clone().map(instruction).collect();
    let jumps_to = match &block.term {
        llvm_ir::Terminator::Br(jump) => Some(&all[numbers[&jump.dest].index()]),
        _ => None,
    };
    if let Some(i) = find_tail_call(block, code, jumps_to, returns)
        && let Some(call) = &mut instructions[i].call
    {
        call.in_tail_position = true;
    }
    let call = match &block.term {
        llvm_ir::Terminator::Invoke(i) => Some(CallView {
            first_argument: i.arguments.first().and_then(|(a, _)| constant(a)),
            ..call(&i.function, &i.function_attributes)
        }),
        _ => None,
    };
    instructions.push(InstructionView { call });
    BlockView {
        terminator,
        succs,
        instructions,
    }
}

/// What blocks return that do nothing else, by their name, as far as blocks before them asked.
type BlockReturns<'a> = HashMap<&'a Name, Option<Returned<&'a Name, &'a Operand>>>;

/// What `block` returns; `None` if it does something else too.
fn find_returned(block: &BasicBlock) -> Option<Returned<&Name, &Operand>> {
    let llvm_ir::Terminator::Ret(ret) = &block.term else {
        return None;
    };
    let value = ret.return_operand.as_ref();
    let mut brought = FxHashMap::default();
    for i in &block.instrs {
        match (i, value) {
            (Instruction::Phi(phi), Some(Operand::LocalOperand { name, .. }))
                if phi.dest == *name =>
            {
                let entries = phi.incoming_values.iter();
                brought = entries.map(|(value, from)| (from, value)).collect();
            }
            (Instruction::Phi(_), _) => {}
            _ if may_follow(i) => {}
            _ => return None,
        }
    }
    Some(Returned { value, brought })
}

/// Which of a block's instructions is a call in tail position: it returns behind it, or jumps to a block that does
/// nothing else.
fn find_tail_call<'a>(
    block: &'a BasicBlock,
    code: impl Iterator<Item = &'a Instruction>,
    jumps_to: Option<&'a BasicBlock>,
    returns: &mut BlockReturns<'a>,
) -> Option<usize> {
    let code: Vec<&Instruction> = code.collect();
    let last = code.iter().rposition(|i| !may_follow(i))?;
    let Instruction::Call(call) = code[last] else {
        return None;
    };
    let value = match (jumps_to, &block.term) {
        (Some(to), _) => {
            let returned = returns.entry(&to.name).or_insert_with(|| find_returned(to));
            returned.as_ref()?.value_from(&&block.name)
        }
        (None, llvm_ir::Terminator::Ret(ret)) => ret.return_operand.as_ref(),
        _ => return None,
    };
    let is_result = |operand: &Operand| match operand {
        Operand::LocalOperand { name, .. } => call.dest.as_ref() == Some(name),
        _ => false,
    };
    (call.is_tail_call && value.is_none_or(is_result)).then_some(last)
}

/// Whether it is an intrinsic that may follow a call in tail position.
fn may_follow(i: &Instruction) -> bool {
    match instruction(i).call.map(|c| c.callee) {
        Some(CalleeView::Symbol(name)) => may_follow_tail_call(&name),
        _ => false,
    }
}

fn instruction(instruction: &Instruction) -> InstructionView<'_> {
    InstructionView {
        call: match instruction {
            Instruction::Call(c) => Some(CallView {
                first_argument: c.arguments.first().and_then(|(a, _)| constant(a)),
                ..call(&c.function, &c.function_attributes)
            }),
            _ => None,
        },
    }
}

fn callee_view(operand: &CalledOperand) -> CalleeView<'_> {
    match operand {
        Either::Left(_) => CalleeView::Asm,
        Either::Right(operand) => match operand.as_constant() {
            Some(Constant::GlobalReference { name, .. }) => CalleeView::Symbol(symbol(name)),
            _ => CalleeView::Pointer,
        },
    }
}

fn call<'a>(operand: &'a CalledOperand, attributes: &[Attr]) -> CallView<'a> {
    CallView {
        callee: callee_view(operand),
        returns: may_return(attributes),
        returns_twice: attributes.contains(&Attr::ReturnsTwice),
        in_tail_position: false,
        first_argument: None,
    }
}

/// The value of an operand that is an integer constant.
fn constant(operand: &Operand) -> Option<u64> {
    match operand.as_constant() {
        Some(Constant::Int { value, .. }) => Some(*value),
        _ => None,
    }
}

fn symbol(name: &Name) -> Cow<'_, str> {
    match name {
        Name::Name(n) => Cow::from(n.as_str()),
        Name::Number(_) => Cow::from(symbol_of(name)),
    }
}

fn terminator(
    terminator: &llvm_ir::Terminator,
    numbers: &HashMap<&Name, BlockId>,
) -> (Terminator, Vec<BlockId>) {
    use llvm_ir::Terminator as T;
    let to = |name: &Name| numbers[name];
    match terminator {
        T::Ret(_) => (Terminator::Return, vec![]),
        T::Unreachable(_) => (Terminator::Unreachable, vec![]),
        T::Resume(_) => (Terminator::Resume, vec![]),
        T::Br(t) => (Terminator::Jump, vec![to(&t.dest)]),
        T::CondBr(t) => (
            Terminator::Branch,
            vec![to(&t.true_dest), to(&t.false_dest)],
        ),
        T::Switch(t) => {
            let cases = t.dests.iter().map(|(_, d)| to(d));
            let all = std::iter::once(to(&t.default_dest)).chain(cases);
            (Terminator::Switch, all.collect())
        }
        T::IndirectBr(t) => (
            Terminator::IndirectBr,
            t.possible_dests.iter().map(to).collect(),
        ),
        T::Invoke(t) => (
            Terminator::Invoke,
            vec![to(&t.return_label), to(&t.exception_label)],
        ),
        T::CallBr(_) => unreachable!("such modules are not viewed"),
        T::CleanupRet(_) | T::CatchRet(_) | T::CatchSwitch(_) => (Terminator::Funclet, vec![]),
    }
}
