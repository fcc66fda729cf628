//! Parsing by llvm-ir, whose own panics say that it cannot represent a module.

use super::unreadable;
use crate::error::{Error, Result};
use crate::load::Input;
use rustix::fs::{MemfdFlags, memfd_create};
use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Parses an input with llvm-ir; `None` where it panics, for it cannot represent what LLVM has read.
///
/// The text parser is used for bitcode as well: it recognises it, and returns LLVM's error where
/// the bitcode parser prints it and ends the process.
///
/// # Errors
/// Input that LLVM cannot read.
pub(super) fn parse(input: &Input) -> Result<Option<llvm_ir::Module>> {
    let file = as_file(&input.bytes).map_err(|e| Error::read(&input.path, e))?;
    silence_panics();
    SILENT.set(true);
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        llvm_ir::Module::from_ir_path(path_of(&file))
    }));
    SILENT.set(false);
    match parsed {
        Ok(Ok(module)) => Ok(Some(module)),
        Ok(Err(message)) => Err(unreadable(input, &message)),
        Err(_) => Ok(None),
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

/// Panics of a thread that is parsing are not printed.
fn silence_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !SILENT.get() {
                previous(info);
            }
        }));
    });
}
