//! Children of this process: they share its memory, LLVM's modules among it, until they change it.
#![allow(unsafe_code)]

use super::session;
use rustix::process::{Pid, Signal, set_parent_process_death_signal};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Forks, and does `work` in the child, which ends with status 0 if `work` returns something, else with 1. The child
/// ends with its parent, whose lock of the output folder it holds as well.
///
/// The caller is its process's only thread: the child would wait for ever for what another one holds.
///
/// # Errors
/// The system makes no further process.
pub(crate) fn fork_child(work: impl FnOnce() -> Option<()>) -> io::Result<Pid> {
    // SAFETY: no other thread holds anything that the child may want, since there is none.
    match unsafe { libc::fork() } {
        0 => run_child(work),
        pid => Pid::from_raw(pid.max(0)).ok_or_else(io::Error::last_os_error),
    }
}

/// All that a child does.
fn run_child(work: impl FnOnce() -> Option<()>) -> ! {
    // Where the system cannot do it, the lock of the output folder is held until the child is done.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    session::be_silent();
    std::panic::set_hook(Box::new(|_| ()));
    let done = matches!(catch_unwind(AssertUnwindSafe(work)), Ok(Some(())));
    // SAFETY: it does not return. What this process would do at its end is its parent's to do.
    unsafe { libc::_exit(i32::from(!done)) }
}
