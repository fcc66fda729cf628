//! One function definition: view → control flow, calls, lines.

use super::super::{Block, Call, Callee, Cfg, FunctionBody, Loc, SkipReason, Span, Terminator};
use super::view::{BlockView, CallView, CalleeView, FunctionView, InstructionView, Location};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

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
pub(super) struct Files {
    /// By number.
    pub names: Vec<String>,
    numbers: HashMap<(Option<String>, String), u32>,
}

impl Files {
    fn loc(&mut self, location: Location) -> Option<Loc> {
        let Location {
            directory,
            file,
            line,
        } = location;
        if line == 0 {
            return None;
        }
        let key = (directory.map(Cow::into_owned), file.into_owned());
        let names = &mut self.names;
        let file = *self.numbers.entry(key).or_insert_with_key(|(dir, file)| {
            names.push(full_name(dir.as_deref(), file));
            names.len() as u32 - 1
        });
        Some(Loc { file, line })
    }
}

fn full_name(directory: Option<&str>, file: &str) -> String {
    match directory {
        Some(dir) if !dir.is_empty() && !file.starts_with('/') => {
            format!("{}/{}", dir.trim_end_matches('/'), file)
        }
        _ => file.to_string(),
    }
}

/// Whether a module that declares these functions needs the C++ runtime.
pub(super) fn is_cxx(declared: &[Cow<str>]) -> bool {
    let runtime = |n: &str| n.starts_with("__cxa_") || n.starts_with("__gxx_personality");
    let library = |n: &str| n.starts_with("_ZS") || n.starts_with("_ZNS") || n.starts_with("_ZNKS");
    let operators = |n: &str| n.starts_with("_Zn") || n.starts_with("_Zd");
    declared
        .iter()
        .any(|n| (runtime(n) && n != "__cxa_finalize") || library(n) || operators(n))
}

/// Lowers one definition. O(instructions). Direct callees are named, not resolved. `returning`:
/// [`super::view::ModuleView::returning`].
pub(super) fn lower(
    function: FunctionView,
    returning: &HashSet<Cow<str>>,
    files: &mut Files,
) -> FunctionBody {
    let mut lowering = Lowering { returning, files };
    let blocks = function.blocks.into_iter();
    let blocks = blocks.map(|b| lowering.block(b)).collect();
    let cfg = Cfg { blocks };
    FunctionBody {
        name: function.name.into_owned(),
        linkage: function.linkage,
        loc: function.location.and_then(|l| lowering.files.loc(l)),
        skip: skip(function.skip, &cfg),
        address_taken: false,
        cfg,
    }
}

/// Why a function is not profiled: it is naked, its control flow is beyond us, or `attributes` say so.
fn skip(attributes: Option<SkipReason>, cfg: &Cfg) -> Option<SkipReason> {
    let has = |t: Terminator| cfg.blocks.iter().any(|b| b.terminator == t);
    let mut calls = cfg.blocks.iter().flat_map(|b| &b.calls);
    if attributes == Some(SkipReason::Naked) {
        attributes
    } else if has(Terminator::Funclet) {
        Some(SkipReason::Funclets)
    } else if cfg.blocks.iter().any(repeats_target) {
        Some(SkipReason::CallBr)
    } else if calls.any(starts_coroutine) {
        Some(SkipReason::Coroutine)
    } else {
        attributes
    }
}

/// Whether a block ends in a `callbr` whose targets cannot be told apart.
fn repeats_target(block: &Block) -> bool {
    let distinct: HashSet<_> = block.succs.iter().collect();
    block.terminator == Terminator::CallBr && distinct.len() < block.succs.len()
}

/// An unsplit coroutine calls `llvm.coro.begin`, a split one does not.
fn starts_coroutine(call: &Call) -> bool {
    matches!(&call.callee, Callee::External(name) if name.starts_with("llvm.coro.begin"))
}

struct Lowering<'a> {
    returning: &'a HashSet<Cow<'a, str>>,
    files: &'a mut Files,
}

impl Lowering<'_> {
    fn block(&mut self, view: BlockView) -> Block {
        let mut block = Block {
            terminator: view.terminator,
            succs: view.succs,
            instructions: 0,
            calls: Vec::new(),
            may_leave: false,
            returns_twice: false,
            single: false,
            lines: Vec::new(),
        };
        let mut instructions = view.instructions;
        let terminator = instructions.pop().expect("a block has a terminator");
        for instruction in instructions {
            self.instruction(instruction, &mut block);
        }
        let noted = block.calls.len();
        if let Some(call) = terminator.call {
            self.call(call, &mut block);
        }
        // A terminator is code, whatever it calls.
        block.instructions += 1;
        self.line(terminator.location, &mut block, noted);
        let placed: u32 = block.lines.iter().map(|s| s.instructions).sum();
        if let Some(first) = block.lines.first_mut() {
            first.instructions += block.instructions - placed;
        }
        block
    }

    fn instruction(&mut self, instruction: InstructionView, block: &mut Block) {
        let noted = block.calls.len();
        let code = match instruction.call {
            Some(call) => self.call(call, block),
            None => true,
        };
        if code {
            block.instructions += 1;
            self.line(instruction.location, block, noted);
        }
    }

    /// Notes where an instruction is, and the call that it makes: those from number `noted` on.
    fn line(&mut self, location: Option<Location>, block: &mut Block, noted: usize) {
        let loc = location.and_then(|l| self.files.loc(l));
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
    fn call(&mut self, call: CallView, block: &mut Block) -> bool {
        block.returns_twice |= call.returns_twice;
        let name = match call.callee {
            CalleeView::Symbol(name) => name,
            CalleeView::Pointer => return note(Callee::Indirect, call.returns, block),
            CalleeView::Asm => return note(Callee::Asm, call.returns, block),
        };
        if name.starts_with("llvm.") {
            return intrinsic(&name, block);
        }
        block.returns_twice |= RETURN_TWICE.contains(&&*name);
        let returns = call.returns || self.returning.contains(&name);
        note(Callee::External(name.into_owned()), returns, block)
    }
}

/// Notes the call of an intrinsic; whether it generates code.
fn intrinsic(name: &str, block: &mut Block) -> bool {
    let starts = |list: &[&str]| list.iter().any(|p| name.starts_with(p));
    block.may_leave |= starts(LEAVING);
    if name.starts_with("llvm.coro.begin") {
        note(Callee::External(name.into()), true, block);
    }
    !starts(NO_CODE)
}

/// Notes a call that generates code, and whether it surely `returns`.
fn note(callee: Callee, returns: bool, block: &mut Block) -> bool {
    block.may_leave |= !returns;
    block.calls.push(Call { callee, span: 0 });
    true
}
