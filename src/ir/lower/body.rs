//! One function definition.

use super::super::{
    Block, Call, Callee, Cfg, FunctionBody, Linkage, Loc, SkipReason, Span, Terminator,
};
use crate::index::BlockId;
use either::Either;
use llvm_ir::function::FunctionAttribute as Attr;
use llvm_ir::instruction::InlineAssembly;
use llvm_ir::{Constant, DebugLoc, HasDebugLoc, Instruction, Name, Operand, module};
use std::collections::HashMap;

/// Intrinsics that generate no instruction.
const NO_CODE: &[&str] = &[
    "llvm.dbg.",
    "llvm.lifetime.",
    "llvm.invariant.",
    "llvm.launder.",
    "llvm.strip.",
    "llvm.assume",
    "llvm.experimental.noalias.scope.decl",
    "llvm.donothing",
    "llvm.sideeffect",
    "llvm.pseudoprobe",
    "llvm.annotation",
    "llvm.ptr.annotation",
    "llvm.var.annotation",
    "llvm.codeview.annotation",
];

/// Intrinsics after which control may not go on in the block.
const LEAVING: &[&str] = &[
    "llvm.trap",
    "llvm.ubsantrap",
    "llvm.debugtrap",
    "llvm.eh.sjlj.longjmp",
    "llvm.eh.resume",
    "llvm.experimental.deoptimize",
    "llvm.experimental.guard",
    "llvm.coro.suspend",
];

/// Functions that return twice, should the call site not say so.
const RETURN_TWICE: &[&str] = &["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork"];

/// Interned source files.
#[derive(Default)]
pub struct Files {
    /// By number.
    pub names: Vec<String>,
    numbers: HashMap<(Option<String>, String), u32>,
}

impl Files {
    fn loc(&mut self, debug: &DebugLoc) -> Option<Loc> {
        let line = debug.line;
        if line == 0 {
            return None;
        }
        let key = (debug.directory.clone(), debug.filename.clone());
        let file = *self.numbers.entry(key).or_insert_with(|| {
            self.names.push(full_name(debug));
            self.names.len() as u32 - 1
        });
        Some(Loc { file, line })
    }
}

fn full_name(debug: &DebugLoc) -> String {
    match &debug.directory {
        Some(dir) if !dir.is_empty() && !debug.filename.starts_with('/') => {
            format!("{}/{}", dir.trim_end_matches('/'), debug.filename)
        }
        _ => debug.filename.clone(),
    }
}

/// By name: functions that neither unwind nor fail to return.
pub fn callees(module: &llvm_ir::Module) -> HashMap<&str, bool> {
    // Declarations carry no function attributes in llvm-ir: their call sites have to say it.
    module
        .functions
        .iter()
        .map(|f| (f.name.as_str(), returns(&f.function_attributes)))
        .collect()
}

fn returns(attributes: &[Attr]) -> bool {
    attributes.contains(&Attr::NoUnwind) && attributes.contains(&Attr::WillReturn)
}

/// Alias → aliased function, where it is one.
pub fn aliases(module: &llvm_ir::Module) -> HashMap<String, String> {
    let target = |a: &module::GlobalAlias| match a.aliasee.as_ref() {
        Constant::GlobalReference { name, .. } => Some((text(&a.name), text(name))),
        _ => None,
    };
    module.global_aliases.iter().filter_map(target).collect()
}

/// The symbol behind a global's name.
pub fn text(name: &Name) -> String {
    match name {
        Name::Name(n) => n.to_string(),
        Name::Number(n) => n.to_string(),
    }
}

/// Whether the module needs the C++ runtime.
pub fn is_cxx(module: &llvm_ir::Module) -> bool {
    let declared = module.func_declarations.iter().map(|f| &f.name);
    let runtime = |n: &str| n.starts_with("__cxa_") || n.starts_with("__gxx_personality");
    let library = |n: &str| n.starts_with("_ZS") || n.starts_with("_ZNS") || n.starts_with("_ZNKS");
    let operators = |n: &str| n.starts_with("_Zn") || n.starts_with("_Zd");
    declared
        .into_iter()
        .any(|n| (runtime(n) && n != "__cxa_finalize") || library(n) || operators(n))
}

/// Lowers one definition. O(instructions). Direct callees are named, not resolved. `callbr` knows the
/// successors of that terminator, of which llvm-ir shows only the first.
pub fn lower(
    function: &llvm_ir::Function,
    callees: &HashMap<&str, bool>,
    files: &mut Files,
    callbr: &dyn Fn(BlockId) -> Option<Vec<BlockId>>,
) -> FunctionBody {
    let numbers: HashMap<&Name, BlockId> = function
        .basic_blocks
        .iter()
        .enumerate()
        .map(|(i, b)| (&b.name, BlockId::new(i)))
        .collect();
    let mut lowering = Lowering {
        numbers,
        callees,
        files,
        callbr,
    };
    let blocks = function.basic_blocks.iter().enumerate();
    let blocks = blocks
        .map(|(i, b)| lowering.block(BlockId::new(i), b))
        .collect();
    let cfg = Cfg { blocks };
    FunctionBody {
        name: function.name.clone(),
        linkage: linkage(function.linkage),
        loc: function
            .debugloc
            .as_ref()
            .and_then(|d| lowering.files.loc(d)),
        skip: skip(function, &cfg),
        address_taken: false,
        cfg,
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

fn skip(function: &llvm_ir::Function, cfg: &Cfg) -> Option<SkipReason> {
    let has = |t: Terminator| cfg.blocks.iter().any(|b| b.terminator == t);
    if function.function_attributes.contains(&Attr::Naked) {
        Some(SkipReason::Naked)
    } else if has(Terminator::Funclet) {
        Some(SkipReason::Funclets)
    } else if cfg.blocks.iter().any(opaque_callbr) {
        Some(SkipReason::CallBr)
    } else if cfg
        .blocks
        .iter()
        .flat_map(|b| &b.calls)
        .any(starts_coroutine)
    {
        Some(SkipReason::Coroutine)
    } else {
        None
    }
}

/// Whether a block ends in a `callbr` whose targets are not known, or cannot be told apart.
fn opaque_callbr(block: &Block) -> bool {
    let mut targets = block.succs.clone();
    targets.sort_unstable();
    targets.dedup();
    block.terminator == Terminator::CallBr
        && (block.succs.is_empty() || targets.len() < block.succs.len())
}

/// An unsplit coroutine calls `llvm.coro.begin`, a split one does not.
fn starts_coroutine(call: &Call) -> bool {
    matches!(&call.callee, Callee::External(name) if name.starts_with("llvm.coro.begin"))
}

struct Lowering<'a> {
    numbers: HashMap<&'a Name, BlockId>,
    callees: &'a HashMap<&'a str, bool>,
    files: &'a mut Files,
    callbr: &'a dyn Fn(BlockId) -> Option<Vec<BlockId>>,
}

impl Lowering<'_> {
    fn block(&mut self, b: BlockId, block: &llvm_ir::BasicBlock) -> Block {
        let (terminator, succs) = self.terminator(b, &block.term);
        let mut lowered = Block {
            terminator,
            succs,
            instructions: 1,
            calls: Vec::new(),
            may_leave: false,
            returns_twice: false,
            lines: Vec::new(),
        };
        for instruction in &block.instrs {
            self.instruction(instruction, &mut lowered);
        }
        let noted = lowered.calls.len();
        if let llvm_ir::Terminator::Invoke(invoke) = &block.term {
            self.call(&invoke.function, &invoke.function_attributes, &mut lowered);
        }
        if let llvm_ir::Terminator::CallBr(callbr) = &block.term {
            lowered.may_leave |= !returns(&callbr.function_attributes);
            lowered.calls.push(Call {
                callee: Callee::Asm,
                span: 0,
            });
        }
        self.line(block.term.get_debug_loc(), &mut lowered, noted);
        let placed: u32 = lowered.lines.iter().map(|s| s.instructions).sum();
        if let Some(first) = lowered.lines.first_mut() {
            first.instructions += lowered.instructions - placed;
        }
        lowered
    }

    fn instruction(&mut self, instruction: &Instruction, block: &mut Block) {
        let noted = block.calls.len();
        let code = match instruction {
            Instruction::Phi(_) => return,
            Instruction::Call(c) => self.call(&c.function, &c.function_attributes, block),
            _ => true,
        };
        if code {
            block.instructions += 1;
            self.line(instruction.get_debug_loc(), block, noted);
        }
    }

    /// Notes where an instruction is, and the call that it makes: those from number `noted` on.
    fn line(&mut self, debug: &Option<DebugLoc>, block: &mut Block, noted: usize) {
        let loc = debug.as_ref().and_then(|d| self.files.loc(d));
        match (block.lines.last_mut(), loc) {
            (Some(last), loc) if loc.is_none_or(|l| l == last.loc) => last.instructions += 1,
            (_, Some(loc)) => block.lines.push(Span {
                loc,
                instructions: 1,
            }),
            (_, None) => {}
        }
        for call in &mut block.calls[noted..] {
            call.span = (block.lines.len() as u32).saturating_sub(1);
        }
    }

    /// Notes a call; whether it generates code.
    fn call(
        &mut self,
        function: &Either<InlineAssembly, Operand>,
        attributes: &[Attr],
        block: &mut Block,
    ) -> bool {
        block.returns_twice |= attributes.contains(&Attr::ReturnsTwice);
        let callee = match function {
            Either::Left(_) => Callee::Asm,
            Either::Right(operand) => match operand.as_constant() {
                Some(Constant::GlobalReference { name, .. }) => Callee::External(text(name)),
                _ => Callee::Indirect,
            },
        };
        let Callee::External(name) = &callee else {
            block.may_leave |= !returns(attributes);
            block.calls.push(Call { callee, span: 0 });
            return true;
        };
        let starts = |list: &[&str]| list.iter().any(|p| name.starts_with(p));
        if name.starts_with("llvm.") {
            block.may_leave |= starts(LEAVING);
            if name.starts_with("llvm.coro.begin") {
                block.calls.push(Call {
                    callee: callee.clone(),
                    span: 0,
                });
            }
            return !starts(NO_CODE);
        }
        block.returns_twice |= RETURN_TWICE.contains(&name.as_str());
        let known = self.callees.get(name.as_str()).copied().unwrap_or(false);
        block.may_leave |= !(known || returns(attributes));
        block.calls.push(Call { callee, span: 0 });
        true
    }

    fn terminator(
        &self,
        b: BlockId,
        terminator: &llvm_ir::Terminator,
    ) -> (Terminator, Vec<BlockId>) {
        use llvm_ir::Terminator as T;
        let to = |name: &Name| self.numbers[name];
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
                (
                    Terminator::Switch,
                    std::iter::once(to(&t.default_dest)).chain(cases).collect(),
                )
            }
            T::IndirectBr(t) => (
                Terminator::IndirectBr,
                t.possible_dests.iter().map(to).collect(),
            ),
            T::Invoke(t) => (
                Terminator::Invoke,
                vec![to(&t.return_label), to(&t.exception_label)],
            ),
            T::CallBr(_) => (Terminator::CallBr, (self.callbr)(b).unwrap_or_default()),
            T::CleanupRet(_) | T::CatchRet(_) | T::CatchSwitch(_) => (Terminator::Funclet, vec![]),
        }
    }
}
