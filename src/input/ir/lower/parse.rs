//! Parsing by llvm-ir, whose own panics say that it cannot represent a module.

use super::unreadable_error;
use crate::base::error::{Error, Result};
use crate::input::load::Input;
use rustix::fs::{MemfdFlags, memfd_create};
use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Parses an input with llvm-ir; `None` where it panics, for it cannot represent what LLVM has read.
///
/// The text parser is used for bitcode as well: it recognises it, and returns LLVM's error where
/// the bitcode parser prints it and ends the process.
///
/// # Errors
/// Input that LLVM cannot read.
pub(super) fn parse(input: &Input) -> Result<Option<llvm_ir::Module>> {
    let file = as_file(&input.bytes).map_err(|e| Error::read(&input.path, e))?;
    match unless_it_panics(|| llvm_ir::Module::from_ir_path(path_of(&file))) {
        Some(Ok(module)) => Ok(Some(module)),
        Some(Err(message)) => Err(unreadable_error(input, &message)),
        None => Ok(None),
    }
}

/// An unnamed file with these bytes: llvm-ir reads files only, and what is lowered must be what was hashed and
/// what is rewritten, whatever becomes of the input's file or pipe meanwhile.
fn as_file(bytes: &[u8]) -> std::io::Result<File> {
    let mut file = File::from(memfd_create("p3-rewrite", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    // Without /proc there is no such path.
    std::fs::metadata(path_of(&file))?;
    Ok(file)
}

fn path_of(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// What `work` returns; nothing, and no word of it, if it panics.
///
/// llvm-ir and llvm-ir-analysis have no other way to say that they cannot represent a module, which LLVM itself is
/// asked about then. Catching a panic does not keep it from being printed: that is up to the hook, which is one for the
/// whole process, so ours leaves out what a thread does in here and passes on the rest.
pub(super) fn unless_it_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !SILENT.get() {
                previous(info);
            }
        }));
    });
    SILENT.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    SILENT.set(false);
    result.ok()
}
