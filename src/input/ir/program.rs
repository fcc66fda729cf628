//! The program: all input modules together, and which bodies are one function.

use super::{Cfg, Loc, Site, SkipReason};
use crate::base::index::{BlockId, FuncId, ModuleId, TiVec};
use crate::input::load::Level;
use crate::input::load::positions::{Inlined, Optimised, SourceFile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// All input modules as one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The modules, sorted by name.
    pub modules: TiVec<ModuleId, Module>,
    /// The functions, in the order in which modules define them first.
    pub functions: TiVec<FuncId, ProgFunction>,
    /// Source files that [`Loc::file`] points to.
    pub files: Vec<SourceFile>,
    /// Calls that were inlined.
    pub inlined: Vec<Inlined>,
    /// The functions that aliases mean, by the alias.
    pub aliases: BTreeMap<String, FuncId>,
    /// Names of ifuncs, each of which may mean any function whose address is taken.
    pub ifuncs: BTreeSet<String>,
    /// Whether the program needs the C++ driver to link.
    pub cxx: bool,
    /// The symbols of [functions that start threads](super::threads) which its modules declare or define.
    pub starters: BTreeSet<String>,
}

/// One input module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The name relative to the input argument.
    pub name: String,
    /// blake3 of the input's bytes, hexadecimal.
    pub hash: String,
    /// By what it was optimised before it was rewritten.
    pub optimized: Option<Level>,
    /// The defined functions in module order.
    pub bodies: Vec<FunctionBody>,
}

/// A function definition in one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionBody {
    /// The symbol name.
    pub name: String,
    /// How the linker treats it.
    pub linkage: Linkage,
    /// Its control flow.
    pub cfg: Cfg,
    /// Where the function begins.
    pub loc: Option<Loc>,
    /// Why it cannot or must not be instrumented, if so.
    pub skip: Option<SkipReason>,
    /// Whether its address is taken anywhere in its module.
    pub address_taken: bool,
    /// Where it chooses without a branch (`select`, conditions joined by `and` and `or`): each place once, ascending.
    pub branchless: Vec<Site>,
    /// The blocks that go back to the header of a loop, ascending, and where the source begins that loop, as far as the
    /// compiler says so.
    pub loops: Vec<(BlockId, Site)>,
    /// The blocks that go back in loops of which the optimiser may have made several, or taken iterations out,
    /// ascending.
    pub split_loops: Vec<BlockId>,
    /// Whether the compiler optimised it.
    pub optimised: Optimised,
}

/// Linkage classes that the analyses distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Linkage {
    /// `internal`, `private`: invisible outside its module.
    Local,
    /// An ordinary definition.
    External,
    /// `linkonce*`, `weak*`, `common`: the linker keeps one of several.
    Mergeable,
    /// `available_externally`: for inlining only, dropped before linking.
    AvailableExternally,
}

/// A function of the program: one body, or several interchangeable ones.
///
/// Bodies of one symbol in several modules are one function when their control flow is equal:
/// their counts add up. When it differs they are functions of their own that share a `unit`, so
/// that one copy profiles all of them (which body runs depends on what the linker and the
/// inliner chose in that copy).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgFunction {
    /// The symbol name.
    pub name: String,
    /// Every body, the strong one first, others in module order; the first one stands for all.
    pub bodies: Vec<Body>,
    /// The first function with this symbol, or the function itself: what must stay together.
    pub unit: FuncId,
    /// Direct call sites in all modules, plus one if the address is taken, plus one if it can be
    /// called from outside (P3 paper, §3.2; `docs/ALGORITHMS.md` §5).
    pub call_sites: u32,
    /// Whether it is on a cycle of the call graph.
    pub recursive: bool,
}

/// Where a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Body {
    /// The module.
    pub module: ModuleId,
    /// The ordinal among the module's function definitions (declarations not counted).
    pub ordinal: u32,
}

impl Program {
    /// Whether it has a `main`: nobody else calls its functions, but through pointers.
    pub(crate) fn is_executable(&self) -> bool {
        self.functions.iter().any(|f| f.name == "main")
    }

    /// The body that stands for function `f`.
    pub fn body(&self, f: FuncId) -> &FunctionBody {
        self.body_at(&self.functions[f])
    }

    /// The body that stands for `f`.
    pub fn body_at(&self, f: &ProgFunction) -> &FunctionBody {
        self.body_in(f.bodies[0])
    }

    /// The body at a place.
    pub fn body_in(&self, place: Body) -> &FunctionBody {
        &self.modules[place.module].bodies[place.ordinal as usize]
    }
}
