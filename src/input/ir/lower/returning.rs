//! Calls of the program's own functions that surely come back.
//!
//! Attributes say that of few functions: LLVM infers `willreturn` of none that has a loop or calls itself. But
//! activations can only be abandoned by something that happens inside: a call of a function that is not known, of a
//! pointer or of assembler code, an exception, a trap. Functions in which none of these can be reached, over all calls,
//! come back, or run until the process ends; a process that ends otherwise than by `exit` says so itself
//! ([`crate::profile::verdict::Processes::in_flight`]).
//!
//! A function is known if no other one can take its place when the program is linked: one that only its module sees,
//! or, for calls in its module, an ordinary definition in an executable. (What other modules call, `--wrap` may
//! replace.)
//!
//! Handlers of signals exit, jump and throw out of whatever runs, threads are cancelled, and a library may do all of
//! that. So nothing is taken to come back unless all that a program has from elsewhere is listed here
//! ([`is_harmless`]).

use super::body::LeftByCalls;
use super::resolver::Resolver;
use crate::base::index::{BlockId, FuncId, ModuleId, TiSlice, TiVec, ti_vec};
use crate::input::ir::{FunctionBody, Linkage, Program, SkipReason, Terminator};

/// Functions of the C library that leave a function, if at all, only where they are called: none installs a handler of
/// a signal, cancels a thread, or is given a function that it calls later.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    // stdio
    "fclose", "feof", "ferror", "fflush", "fgetc", "fgets", "fopen", "fprintf", "fputc", "fputs", "fread", "fscanf",
    "fseek",
    "ftell", "fwrite", "getc", "getchar", "perror", "printf", "putc", "putchar", "puts", "remove", "rename", "rewind",
    "scanf", "setvbuf", "snprintf", "sprintf", "sscanf", "ungetc", "vfprintf", "vprintf", "vsnprintf", "vsprintf",
    "__fprintf_chk", "__isoc23_fscanf", "__isoc23_scanf", "__isoc23_sscanf", "__isoc99_fscanf", "__isoc99_scanf",
    "__isoc99_sscanf", "__printf_chk", "__snprintf_chk", "__sprintf_chk", "__vsnprintf_chk",
    // stdlib
    "abort", "abs", "atof", "atoi", "atol", "bsearch", "calloc", "exit", "free", "getenv", "labs", "malloc", "qsort",
    "rand", "realloc", "srand", "strtod", "strtof", "strtol", "strtoll", "strtoul", "strtoull", "__isoc23_strtol",
    "__isoc23_strtoll", "__isoc23_strtoul", "__isoc23_strtoull",
    // string, ctype
    "bcmp", "memchr", "memcmp", "memcpy", "memmove", "memset", "stpcpy", "strcasecmp", "strcat", "strchr", "strcmp",
    "strcpy", "strcspn", "strdup", "strerror", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strnlen",
    "strpbrk", "strrchr", "strspn", "strstr", "strtok", "__memcpy_chk", "__memset_chk", "__strcat_chk", "__strcpy_chk",
    "isalnum", "isalpha", "isdigit", "islower", "isprint", "ispunct", "isspace", "isupper", "isxdigit", "tolower",
    "toupper", "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc",
    // math
    "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "exp", "exp2", "fabs", "floor", "fmax", "fmin",
    "fmod",
    "frexp", "hypot", "ldexp", "log", "log10", "log2", "lrint", "lround", "modf", "pow", "rint", "round", "sin",
    "sincos",
    "sinh", "sqrt", "tan", "tanh", "trunc", "cosf", "expf", "fmodf", "logf", "powf", "sinf", "sqrtf",
    // time, and what compilers call
    "clock", "clock_gettime", "difftime", "gettimeofday", "time", "__assert_fail", "__errno_location",
    "__stack_chk_fail",
];

/// Beginnings of names of intrinsics, and of what the C++ library has for exceptions, `new` and `std`.
const HARMLESS_BEGINNINGS: &[&str] = &[
    "llvm.",
    "__cxa_",
    "__gxx_personality",
    "_Unwind_Resume",
    "_Zn",
    "_Zd",
    "_ZSt",
    "_ZNSt",
    "_ZNKSt",
];

/// Whether a function from elsewhere can make no other function be left than those that wait for it.
pub(crate) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || HARMLESS_BEGINNINGS.iter().any(|b| name.starts_with(b))
}

/// A block that control may leave in calls of known functions alone, or a call in tail position.
struct Waiting {
    function: FuncId,
    block: Option<BlockId>,
    callees: Vec<FuncId>,
}

/// Takes [`crate::input::ir::Block::may_leave`] from blocks of an executable whose calls surely come back.
/// `left_by_calls`: by module and body. O(calls + blocks).
pub(super) fn find(
    resolver: &Resolver,
    program: &mut Program,
    left_by_calls: &TiSlice<ModuleId, Vec<Vec<LeftByCalls>>>,
) {
    // What the main program of a library installs is not known.
    if !program.is_executable() {
        return;
    }
    let known = KnownUnits::new(program);
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
            let callees = l.callees.as_ref()?.iter().map(callee);
            Some(Waiting {
                function: f,
                block: l.block,
                callees: callees.collect::<Option<Vec<FuncId>>>()?,
            })
        });
        let left: Vec<Option<Waiting>> = left.collect();
        let blocks = body.cfg.blocks.iter().filter(|b| b.may_leave).count();
        let only_by_calls = left.iter().flatten().filter(|w| w.block.is_some()).count();
        let by_unknown = left.iter().any(Option::is_none);
        leaves[f] = blocks > only_by_calls || by_unknown || leaves_otherwise(body);
        waiting.extend(left.into_iter().flatten());
    }
    spread_to_callers(&waiting, &mut leaves);
    for w in &waiting {
        let Some(block) = w.block else {
            continue;
        };
        if w.callees.iter().all(|&f| !leaves[f]) {
            let place = program.functions[w.function].bodies[0];
            let module = &mut program.modules[place.module];
            module.bodies[place.ordinal as usize].cfg.blocks[block].may_leave = false;
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
fn spread_to_callers(waiting: &[Waiting], leaves: &mut TiVec<FuncId, bool>) {
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
struct KnownUnits {
    /// By unit: its functions.
    members: TiVec<FuncId, u32>,
}

impl KnownUnits {
    fn new(program: &Program) -> KnownUnits {
        let mut members: TiVec<FuncId, u32> = ti_vec![0; program.functions.len()];
        for f in &program.functions {
            members[f.unit] += 1;
        }
        KnownUnits { members }
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
            Linkage::External => function.bodies[0].module == m,
            Linkage::Mergeable | Linkage::AvailableExternally => false,
        };
        (is_known && self.members[f] == 1 && function.bodies.len() == 1).then_some(f)
    }
}
