//! Keeps LLVM from printing anything itself: its diagnostics become messages of ours.
#![allow(unsafe_code)]

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::core::LLVMDisposeMessage;
use inkwell::llvm_sys::core::{LLVMContextSetDiagnosticHandler, LLVMContextSetDiscardValueNames};
use inkwell::llvm_sys::core::{LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity};
use inkwell::llvm_sys::error_handling::{LLVMInstallFatalErrorHandler, LLVMResetFatalErrorHandler};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// [`be_silent`].
static SILENT: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The input that this thread reads.
    static READING: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
    /// What LLVM warned of on this thread since [`warnings`] was asked.
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A context whose warnings are kept for [`warnings`], and whose errors are those that its functions return.
pub(super) fn context() -> Context {
    set_up();
    let context = Context::create();
    // SAFETY: the context is live, and the handler needs no data.
    unsafe {
        let raw = (&context).as_ctx_ref();
        LLVMContextSetDiagnosticHandler(raw, Some(keep), std::ptr::null_mut());
    }
    context
}

/// [`context`] without the names of values within functions: in modules that have them, keeping them up to date is a quarter of what
/// rewriting takes.
pub(super) fn nameless_context() -> Context {
    let context = context();
    // SAFETY: the context is live.
    unsafe { LLVMContextSetDiscardValueNames((&context).as_ctx_ref(), 1) };
    context
}

/// What LLVM warned of on this thread since this was last asked, a line each.
pub(super) fn warnings() -> Vec<String> {
    WARNINGS.take()
}

/// Says which input this thread is reading: a fatal error that follows names it.
pub(super) fn reading(path: &Path) {
    READING.set(Some(path.to_path_buf()));
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
/// are verified once instead ([`super::admit`]).
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
            LLVMParseCommandLineOptions(options.len() as i32, options.as_ptr(), std::ptr::null());
        }
    });
}

/// From now on a fatal error of LLVM ends this process without a word, as a child's does: its parent finds out what it was.
pub(super) fn be_silent() {
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
