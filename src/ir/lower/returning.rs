//! Calls of the program's own functions that surely come back.
//!
//! Attributes say that of few functions: LLVM infers `willreturn` of none that has a loop or calls itself. But
//! activations can only be abandoned by something that happens inside: a call of a function that is not known, of a
//! pointer or of assembler code, an exception, a trap. Functions in which none of these can be reached, over all calls,
//! come back, or run until the process ends; a process that ends otherwise than by `exit` says so itself
//! ([`crate::profile::verdict::Processes::in_flight`]).
//!
//! A function is known if no other one can take its place when the program is linked: one that only its module sees,
//! or an ordinary definition in an executable.
//!
//! A handler of a signal that jumps out, and a thread that is cancelled at any moment, leave whatever runs. Nothing is
//! taken to come back in programs that may do so ([`Interruptions`]).

use super::assemble::Resolver;
use super::body::LeftByCalls;
use crate::index::{BlockId, FuncId, ModuleId, TiSlice, TiVec, ti_vec};
use crate::ir::{FunctionBody, Linkage, Program, SkipReason, Terminator};
use std::borrow::Cow;

/// Functions that install a handler of a signal …
const HANDLE: &[&str] = &[
    "signal",
    "sigaction",
    "__sysv_signal",
    "bsd_signal",
    "sigset",
];
/// … that jump to another activation …
const JUMP: &[&str] = &[
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "setcontext",
    "llvm.eh.sjlj.longjmp",
];
/// … and that let a thread be cancelled at any moment.
const CANCEL: &[&str] = &["pthread_setcanceltype"];

/// Which ways a program has to leave a function that calls nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interruptions {
    handles: bool,
    jumps: bool,
    cancels: bool,
}

impl Interruptions {
    /// Those of a module that declares these functions.
    pub(super) fn of(declared: &[Cow<str>]) -> Interruptions {
        let any = |names: &[&str]| declared.iter().any(|n| names.contains(&&**n));
        Interruptions {
            handles: any(HANDLE),
            jumps: any(JUMP),
            cancels: any(CANCEL),
        }
    }

    /// Adds those of another module.
    pub(super) fn add(&mut self, other: Interruptions) {
        self.handles |= other.handles;
        self.jumps |= other.jumps;
        self.cancels |= other.cancels;
    }

    /// Whether the program may have one.
    pub(super) fn may_happen(self) -> bool {
        self.handles && self.jumps || self.cancels
    }
}

/// A block that control may leave in calls of known functions alone.
struct Waiting {
    function: FuncId,
    block: BlockId,
    callees: Vec<FuncId>,
}

/// Takes [`crate::ir::Block::may_leave`] from blocks whose calls surely come back. `left_by_calls`: by module and body.
/// O(calls + blocks).
pub(super) fn find(
    resolver: &Resolver,
    program: &mut Program,
    left_by_calls: &TiSlice<ModuleId, Vec<Vec<LeftByCalls>>>,
) {
    let known = Known::new(program);
    let mut waiting = Vec::new();
    let mut leaves: TiVec<FuncId, bool> = ti_vec![true; program.functions.len()];
    for (f, function) in program.functions.iter_enumerated() {
        // Of several bodies nobody knows which one runs.
        let [place] = function.bodies[..] else {
            continue;
        };
        let body = program.body(f);
        let left = &left_by_calls[place.module][place.ordinal as usize];
        let left = left.iter().map(|l| {
            let callee = |name: &String| known.callee(program, resolver, place.module, name);
            let callees: Option<Vec<FuncId>> = l.callees.iter().map(callee).collect();
            (l.block, callees)
        });
        let before = waiting.len();
        for (block, callees) in left {
            waiting.extend(callees.map(|callees| Waiting {
                function: f,
                block,
                callees,
            }));
        }
        let may_leave = body.cfg.blocks.iter().filter(|b| b.may_leave).count();
        leaves[f] = may_leave > waiting.len() - before || leaves_otherwise(body);
    }
    spread(&waiting, &mut leaves);
    for w in &waiting {
        if w.callees.iter().all(|&f| !leaves[f]) {
            let place = program.functions[w.function].bodies[0];
            let module = &mut program.modules[place.module];
            module.bodies[place.ordinal as usize].cfg.blocks[w.block].may_leave = false;
        }
    }
}

/// Whether control may leave a function otherwise than by `ret` or a block's middle, or nothing is known of that.
fn leaves_otherwise(body: &FunctionBody) -> bool {
    use SkipReason::*;
    let unwinds = |t| matches!(t, Terminator::Resume | Terminator::Funclet);
    body.cfg.blocks.iter().any(|b| unwinds(b.terminator))
        || matches!(body.skip, Some(Naked | Funclets | Coroutine | Device))
}

/// What calls a function that leaves does so too.
fn spread(waiting: &[Waiting], leaves: &mut TiVec<FuncId, bool>) {
    let mut callers: TiVec<FuncId, Vec<FuncId>> = ti_vec![Vec::new(); leaves.len()];
    for w in waiting {
        for &callee in &w.callees {
            callers[callee].push(w.function);
        }
    }
    let left = leaves.iter_enumerated().filter(|(_, leaves)| **leaves);
    let mut stack: Vec<FuncId> = left.map(|(f, _)| f).collect();
    while let Some(f) = stack.pop() {
        for &caller in &callers[f] {
            if !std::mem::replace(&mut leaves[caller], true) {
                stack.push(caller);
            }
        }
    }
}

/// Which functions are known.
struct Known {
    /// Whether the program has a `main`.
    is_executable: bool,
    /// By unit: its functions.
    members: TiVec<FuncId, u32>,
}

impl Known {
    fn new(program: &Program) -> Known {
        let mut members: TiVec<FuncId, u32> = ti_vec![0; program.functions.len()];
        for f in &program.functions {
            members[f.unit] += 1;
        }
        Known {
            is_executable: program.functions.iter().any(|f| f.name == "main"),
            members,
        }
    }

    /// The function that a call of `name` in module `m` surely reaches.
    fn callee(
        &self,
        program: &Program,
        resolver: &Resolver,
        m: ModuleId,
        name: &str,
    ) -> Option<FuncId> {
        let f = resolver.find_defined(m, name)?;
        let function = &program.functions[f];
        let is_known = match program.body(f).linkage {
            Linkage::Local => true,
            Linkage::External => self.is_executable,
            Linkage::Mergeable | Linkage::AvailableExternally => false,
        };
        (is_known && self.members[f] == 1 && function.bodies.len() == 1).then_some(f)
    }
}
