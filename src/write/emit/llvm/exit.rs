//! The end of this process where LLVM, or its memory, has come to its own.
#![allow(unsafe_code)]

/// Ends this process with a line on standard error and exit status 2, whatever other threads do. A signal handler may
/// call it.
pub(crate) fn exit_with_line(line: &str) -> ! {
    // SAFETY: the pointer and the length are those of the line. `_exit` does not return.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        libc::_exit(2)
    }
}
