//! Copies of a module that is in memory already, each made by a child of this process: what a child does not change is
//! memory that all of them share, and none reads the module again.

use super::llvm::process;
use super::{Changes, ModuleJob, Parsed, Rewritten, Source, make_copy};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::io;
use std::thread::sleep;
use std::time::Duration;

/// How long threads that were told to end are waited for, by milliseconds.
const PATIENCE: u32 = 100;

/// A child that rewrites one copy. Dropped before it ended, it is killed.
pub struct Child {
    /// Until it is waited for.
    pid: Option<Pid>,
    made: Option<Rewritten>,
}

/// Whether this thread is the only one of its process, or becomes so when the `ending` threads that were told to end
/// have ended: a child has no other thread, and would wait for ever for what another holds (locks of the allocator, of
/// LLVM). Where the system does not tell, there are no children.
pub fn can_begin(ending: usize) -> bool {
    for _ in 0..PATIENCE {
        match count_threads() {
            Ok(1) => return true,
            Ok(n) if n <= 1 + ending => sleep(Duration::from_millis(1)),
            // Others are there, and nobody knows for how long.
            Ok(_) | Err(_) => return false,
        }
    }
    false
}

/// How many threads this process has.
fn count_threads() -> io::Result<usize> {
    Ok(std::fs::read_dir("/proc/self/task")?.count())
}

impl Child {
    /// Begins to rewrite `parsed`, which stays as it is here. Takes as long as it takes to copy the tables of this
    /// process's pages.
    ///
    /// # Errors
    /// There are several threads (see [`can_begin`]), or the system makes no file in memory or no further process.
    pub(crate) fn begin(
        parsed: &Parsed,
        source: &Source,
        job: &ModuleJob,
        changes: Changes,
    ) -> io::Result<Child> {
        if count_threads()? != 1 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let made = Rewritten::new(job)?;
        // Children find it out each for itself otherwise.
        parsed.calls_that_claim();
        let pid = process::fork_child(|| {
            let unchanged = make_copy(parsed, source, job, changes).ok()?;
            made.write_module(&parsed.context_and_module().1, unchanged)
                .ok()
        })?;
        Ok(Child {
            pid: Some(pid),
            made: Some(made),
        })
    }

    /// What it made; nothing if it failed at whatever. It said nothing of that.
    pub fn wait(mut self) -> Option<Rewritten> {
        let pid = self.pid.take();
        let (_, status) = retry_on_intr(|| waitpid(pid, WaitOptions::empty())).ok()??;
        self.made.take().filter(|_| status.exit_status() == Some(0))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(pid) = self.pid {
            // Nothing is left to do where it has ended.
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}
