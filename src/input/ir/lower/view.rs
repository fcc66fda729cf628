//! What lowering needs of a module, whichever loader read it: plain data, with nothing of the loader in it.

use super::super::{Linkage, SkipReason, Terminator};
use crate::base::index::BlockId;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

/// A module.
pub struct ModuleView<'a> {
    /// The definitions in module order, each made when it is asked for: most of a module is never held
    /// twice.
    pub functions: Box<dyn Iterator<Item = FunctionView<'a>> + 'a>,
    /// Definitions that neither unwind nor fail to return. (Declarations are not believed: llvm-ir does not
    /// show their attributes, and call sites repeat them.)
    pub returning: HashSet<Cow<'a, str>>,
    /// Functions without a body.
    pub declared: Vec<Cow<'a, str>>,
    /// By name: aliases of symbols.
    pub aliases: HashMap<String, Alias>,
    /// Names of ifuncs: what they mean is decided when the program starts.
    pub ifuncs: Vec<String>,
    /// Functions (defined or not) that are used other than as the callee of a direct call: in operands,
    /// initialisers, aliases and ifuncs. Who uses an alias is not followed.
    pub taken: BTreeSet<String>,
    /// Who may call whom.
    pub calls: Calls,
}

/// Who may call whom in a module, by name. Functions without a name go by their number, as in [`CalleeView::Symbol`].
#[derive(Default)]
pub struct Calls {
    /// Callers and callees of direct calls, each pair once.
    pub direct: BTreeSet<(String, String)>,
    /// For each type of functions that are called through pointers.
    pub indirect: Vec<IndirectCalls>,
}

/// Calls through pointers to functions of one type, each of which may reach every definition of that type. As many
/// pairs as callers × candidates would take quadratic memory.
pub struct IndirectCalls {
    /// The functions with such a call, each once.
    pub callers: Vec<String>,
    /// The definitions of that type.
    pub candidates: Vec<String>,
}

/// Another name of a symbol of the same module.
pub struct Alias {
    /// The symbol, which may be an alias too.
    pub target: String,
    /// How the linker treats the alias, whatever it does with the symbol.
    pub linkage: Linkage,
}

/// A definition.
pub struct FunctionView<'a> {
    /// The symbol name.
    pub name: Cow<'a, str>,
    /// How the linker treats it.
    pub linkage: Linkage,
    /// What its attributes say against profiling it.
    pub skip: Option<SkipReason>,
    /// In order, the entry first.
    pub blocks: Vec<BlockView<'a>>,
}

/// A basic block.
pub struct BlockView<'a> {
    /// What ends it.
    pub terminator: Terminator,
    /// As [`crate::input::ir::Block::succs`]; none for funclets.
    pub succs: Vec<BlockId>,
    /// All but the φs, the terminator last.
    pub instructions: Vec<InstructionView<'a>>,
}

/// An instruction.
#[derive(Default)]
pub struct InstructionView<'a> {
    /// What it calls, if it is a call site.
    pub call: Option<CallView<'a>>,
}

/// A call site.
pub struct CallView<'a> {
    /// Who is called.
    pub callee: CalleeView<'a>,
    /// Whether its attributes say that it neither unwinds nor fails to return.
    pub returns: bool,
    /// Whether its attributes say that it may return twice.
    pub returns_twice: bool,
    /// Whether it is marked `tail` (or `musttail`), and the function does nothing behind it, in its block or in one
    /// that its block jumps to, but return what it returned, if anything: LLVM makes a jump of it where it can.
    pub in_tail_position: bool,
    /// Its first argument, if that is an integer constant.
    pub first_argument: Option<u64>,
}

/// Whether a symbol is an intrinsic that may stand behind a call in tail position.
pub fn may_follow_tail_call(name: &str) -> bool {
    const BEGINNINGS: [&str; 5] = [
        "llvm.dbg.",
        "llvm.lifetime.end",
        "llvm.assume",
        "llvm.pseudoprobe",
        "llvm.experimental.noalias.scope.decl",
    ];
    BEGINNINGS.iter().any(|b| name.starts_with(b))
}

/// What a block returns that does nothing else, in terms of a loader's or writer's blocks `B` and values `V`. Thousands
/// of blocks may lead to one: the entries of its φ are listed once.
pub struct Returned<B, V> {
    /// `None` if it returns nothing.
    pub value: Option<V>,
    /// If that is a φ of the block, its values by the block that control comes from.
    pub brought: FxHashMap<B, V>,
}

impl<B: Eq + Hash, V: Copy> Returned<B, V> {
    /// What it returns if control comes from block `from`; `None` if it returns nothing.
    pub fn value_from(&self, from: &B) -> Option<V> {
        self.brought.get(from).copied().or(self.value)
    }
}

/// The target of a call.
pub enum CalleeView<'a> {
    /// A symbol.
    Symbol(Cow<'a, str>),
    /// A value.
    Pointer,
    /// Inline assembly.
    Asm,
}
