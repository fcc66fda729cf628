//! Keeps LLVM from printing anything itself: its diagnostics become messages of ours.
#![allow(unsafe_code)]

use super::bound::Bounded;
use super::exit::exit_with_line;
use crate::base::llvm::LINKED as LLVM;
use crate::base::names::escape_unprintable;
use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::core::LLVMDisposeMessage;
use inkwell::llvm_sys::core::{LLVMContextSetDiagnosticHandler, LLVMContextSetDiscardValueNames};
use inkwell::llvm_sys::core::{LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity};
use inkwell::llvm_sys::error_handling::{LLVMInstallFatalErrorHandler, LLVMResetFatalErrorHandler};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};

/// What ends a process whose LLVM crashes. `SIGTRAP` is what LLVM's own traps raise on aarch64.
const CRASHES: [c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTRAP,
];

/// What handled each of [`CRASHES`] before [`set_up`].
static BEFORE: OnceLock<[libc::sigaction; CRASHES.len()]> = OnceLock::new();

/// [`be_silent`].
static SILENT: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The input that this thread reads.
    static READING: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
    /// What to print if LLVM crashes on this thread: lines of the live [`Reading`]. Without a destructor, so that a
    /// signal handler can look at it.
    static LAST_WORDS: Cell<Option<*const LastWords>> = const { Cell::new(None) };
    /// What LLVM warned of on this thread since [`warnings`] was asked.
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A context whose warnings are kept for [`warnings`], and whose errors are those that its functions return.
pub(crate) fn context() -> Context {
    set_up();
    let context = Context::create();
    // SAFETY: the context is live, and the handler needs no data.
    unsafe {
        let raw = (&context).as_ctx_ref();
        LLVMContextSetDiagnosticHandler(raw, Some(keep), std::ptr::null_mut());
    }
    context
}

/// [`context`] without the names of values within functions: in modules that have them, keeping them up to date is a
/// quarter of what rewriting takes.
pub(crate) fn nameless_context() -> Context {
    let context = context();
    // SAFETY: the context is live.
    unsafe { LLVMContextSetDiscardValueNames((&context).as_ctx_ref(), 1) };
    context
}

/// What LLVM warned of on this thread since this was last asked, a line each.
pub(crate) fn warnings() -> Vec<String> {
    WARNINGS.take()
}

/// Lasts as long as this thread reads an input: LLVM's crashes on damaged input are reported as such.
#[must_use]
pub(crate) struct Reading {
    last_words: Box<LastWords>,
    /// What it may take, unless that is unbounded.
    _bounded: Option<Bounded>,
    /// The lines are this thread's.
    _not_send: PhantomData<*const ()>,
}

/// Lines that are ready to be printed where nothing can be allocated.
struct LastWords {
    crashed: String,
    no_memory: String,
}

impl Reading {
    /// Notes which input this thread reads. A fatal error that follows names it, even after the reading has ended.
    /// What it takes is bounded by `size`, the input's number of bytes, if that is given and a [`super::bound::Watch`]
    /// is there.
    pub(crate) fn begin(path: &Path, size: Option<usize>) -> Reading {
        READING.set(Some(path.to_path_buf()));
        let bounded = size.map(|size| Bounded::begin(path, size));
        let path = escape_unprintable(&path.to_string_lossy()).into_owned();
        let line = |what: &str| {
            format!(
                "error: {path}: LLVM {LLVM} {what} while it read the file: the file is damaged, or LLVM has a bug; \
                 compile it again\n"
            )
        };
        let reading = Reading {
            last_words: Box::new(LastWords {
                crashed: line("crashed"),
                no_memory: line("found no more memory"),
            }),
            _bounded: bounded,
            _not_send: PhantomData,
        };
        LAST_WORDS.set(Some(&raw const *reading.last_words));
        reading
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        debug_assert_eq!(LAST_WORDS.get(), Some(&raw const *self.last_words));
        LAST_WORDS.set(None);
    }
}

/// The last words of this thread, if it reads an input.
fn last_words<'a>() -> Option<&'a LastWords> {
    // SAFETY: they are of a `Reading` further down on this thread's stack, and those who ask end the process.
    LAST_WORDS.get().map(|words| unsafe { &*words })
}

extern "C" fn keep(info: LLVMDiagnosticInfoRef, _: *mut c_void) {
    // SAFETY: LLVM passes a live diagnostic; its description is NUL-terminated and ours to free.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) != LLVMDiagnosticSeverity::LLVMDSWarning {
            return;
        }
        let text = LLVMGetDiagInfoDescription(info);
        let line = one_line(&CStr::from_ptr(text).to_string_lossy());
        LLVMDisposeMessage(text);
        WARNINGS.with_borrow_mut(|w| w.push(line));
    }
}

/// Reports LLVM's fatal errors as one line of ours and exit status 2, and stops it from verifying debug
/// information whenever it reads a module: it prints what it finds, and verifies again for each copy. Inputs
/// are verified once instead ([`super::super::admit`]).
pub fn set_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let options = [c"p3-rewrite", c"-disable-auto-upgrade-debug-info"];
        let options = options.map(CStr::as_ptr);
        // SAFETY: the handler does not return and has the signature LLVM wants. The options are NUL-terminated
        // and live; nothing else of LLVM runs yet.
        unsafe {
            LLVMResetFatalErrorHandler();
            LLVMInstallFatalErrorHandler(Some(give_up));
            install_bad_alloc_error_handler(miss_memory, std::ptr::null_mut());
            set_terminate(terminate);
            LLVMParseCommandLineOptions(options.len() as i32, options.as_ptr(), std::ptr::null());
        }
        report_crashes();
    });
}

/// Has a crash of LLVM on a thread that reads an input end this process with one line and exit status 2. Nothing has
/// been written by then. The engine has taken the place of `p3-rewrite`, so no other process could report it; to read
/// in a child first would take the time of reading twice.
fn report_crashes() {
    let before = CRASHES.map(|signal| {
        // SAFETY: all-zero bytes are a valid action: the default one.
        let mut before = unsafe { std::mem::zeroed() };
        // SAFETY: it only asks; the pointer is valid.
        unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut before) };
        before
    });
    if BEFORE.set(before).is_err() {
        return;
    }
    for signal in CRASHES {
        // SAFETY: as above; the handler has the signature that SA_SIGINFO asks for, and calls only what handlers may
        // call. Rust gives its threads the other stack that SA_ONSTACK asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = end_by_crash as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Prints the line of the input that this thread reads. If it reads none, the signal has the effect that it had
/// before.
extern "C" fn end_by_crash(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    if let Some(words) = last_words() {
        exit_with_line(&words.crashed);
    }
    let before = BEFORE.get().zip(CRASHES.iter().position(|s| *s == signal));
    // SAFETY: the action is what the system gave; `info` is valid, as SA_SIGINFO says.
    unsafe {
        if let Some((before, at)) = before {
            libc::sigaction(signal, &raw const before[at], std::ptr::null_mut());
        }
        // A faulting instruction is executed again when this returns. What a process sent has to be sent again.
        if (*info).si_code <= 0 {
            libc::raise(signal);
        }
    }
}

// What LLVM's C interface does not have: without these, LLVM and the C++ library print lines of their own and abort.
unsafe extern "C" {
    #[link_name = "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_"]
    fn install_bad_alloc_error_handler(
        handler: extern "C" fn(*mut c_void, *const c_char, bool),
        data: *mut c_void,
    );
    #[link_name = "_ZSt13set_terminatePFvvE"]
    fn set_terminate(handler: extern "C" fn()) -> *const c_void;
}

/// An allocation of LLVM's failed.
extern "C" fn miss_memory(_: *mut c_void, _: *const c_char, _: bool) {
    let line = last_words().map(|words| words.no_memory.as_str());
    exit_with_line(match line {
        _ if SILENT.load(Ordering::Relaxed) => "",
        Some(line) => line,
        None => {
            "error: LLVM found no more memory; give it more, or let fewer threads run by --jobs\n"
        }
    })
}

/// C++ code threw what nobody catches, such as the error of a vector that would have too many elements.
extern "C" fn terminate() {
    match last_words() {
        Some(words) => exit_with_line(&words.crashed),
        None => std::process::abort(),
    }
}

/// From now on a fatal error of LLVM ends this process without a word, as a child's does: its parent finds out what it
/// was.
pub(crate) fn be_silent() {
    SILENT.store(true, Ordering::Relaxed);
}

extern "C" fn give_up(reason: *const c_char) {
    if SILENT.load(Ordering::Relaxed) {
        // SAFETY: it does not return.
        unsafe { libc::_exit(2) }
    }
    // SAFETY: LLVM passes a NUL-terminated string.
    let text = one_line(&unsafe { CStr::from_ptr(reason) }.to_string_lossy());
    let file = READING.take().map(|p| format!("{}: ", p.display()));
    eprintln!(
        "error: {}LLVM gave up: {text}; compile it again",
        file.unwrap_or_default()
    );
    std::process::exit(2);
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Output};

    /// The variable that makes [`crash_ends_a_process_that_reads_with_one_line`] the process that crashes.
    const ROLE: &str = "P3_TEST_CRASH";

    /// Runs this module's test again, as a process that crashes.
    fn run_crashing(role: &str) -> Output {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "--nocapture"]);
        again.arg(
            "write::emit::llvm::session::tests::crash_ends_a_process_that_reads_with_one_line",
        );
        again.env(ROLE, role).output().unwrap()
    }

    #[test]
    fn crash_ends_a_process_that_reads_with_one_line() {
        if let Ok(role) = std::env::var(ROLE) {
            set_up();
            let reading = Reading::begin(Path::new("a.bc"), None);
            if role == "later" {
                drop(reading);
            }
            let signal = if role == "abort" {
                libc::SIGABRT
            } else {
                libc::SIGSEGV
            };
            // Without an input Rust's own action is in force again. It passes over the first signal that no fault
            // caused.
            loop {
                // SAFETY: it ends this process, which is there for that.
                unsafe { libc::raise(signal) };
            }
        }
        for role in ["reads", "abort"] {
            let output = run_crashing(role);
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{role}: {text}");
            let line = format!("error: a.bc: LLVM {LLVM} crashed while it read the file: ");
            let lines: Vec<&str> = text.lines().filter(|l| l.starts_with("error")).collect();
            assert!(lines.len() == 1 && lines[0].starts_with(&line), "{text}");
        }
        assert_eq!(run_crashing("later").status.signal(), Some(libc::SIGSEGV));
    }
}
