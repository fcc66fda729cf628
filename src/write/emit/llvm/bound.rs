//! Bounds on what it takes to read an input. Damaged bitcode can make LLVM's reader fill all memory, or run for hours.
//!
//! A thread looks at the readings that go on, and ends the process with one line when one exceeds its bound. Nothing
//! has been written by then. The kernel's limits (`setrlimit`) hold for a whole process, whose other work has no bound;
//! to read in a process of its own would take the time of reading twice ([`super::session::Reading`]).

use super::exit::exit_with_line;
use crate::base::llvm::LINKED as LLVM;
use crate::base::names::escape_unprintable;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the watcher sleeps. LLVM fills at most some 50 MB of memory meanwhile.
const SLEEP: Duration = Duration::from_millis(20);

/// Bytes of memory that any reading may take.
const MEMORY: u64 = 1 << 30;
/// And for each byte of the input.
const MEMORY_PER_BYTE: u64 = 256;
/// What stays in memory of an input that was read, for each byte of it.
const KEPT_PER_BYTE: u64 = 32;

/// Processor time that any reading may take, in seconds. LLVM may run in an emulator that is 20 times as slow.
const SECONDS: u64 = 20;
/// And for each megabyte of the input.
const SECONDS_PER_MEGABYTE: u64 = 5;

/// The kernel counts processor time in units of 1/100 s (`USER_HZ`), whatever its clock.
const TICKS: u64 = 100;

static READINGS: Mutex<Readings> = Mutex::new(Readings {
    live: Vec::new(),
    before: 0,
    done: 0,
});

/// What is being read, by all threads.
struct Readings {
    live: Vec<Live>,
    /// Bytes in memory when the first of them began.
    before: u64,
    /// The sizes of inputs that were read since, in bytes.
    done: u64,
}

/// An input that a thread reads.
struct Live {
    name: String,
    size: u64,
    thread: i32,
    /// Processor time of the thread when it began, in ticks.
    began: u64,
}

/// A reading that exceeded its bound.
#[derive(Debug, PartialEq, Eq)]
struct Excess {
    name: String,
    /// What it takes, for a message.
    what: String,
}

/// Watches readings until it is dropped.
pub(crate) struct Watch {
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to watch. Where the system starts no further thread, there is no bound.
    pub(crate) fn begin() -> Watch {
        let (stop, stopped) = channel();
        let watch = move || {
            while stopped.recv_timeout(SLEEP) == Err(RecvTimeoutError::Timeout) {
                if let Some(excess) = lock_readings().find_excess() {
                    exit_with_line(&excess.line());
                }
            }
        };
        let thread = std::thread::Builder::new().name("watch".into());
        Watch {
            stop: Some(stop),
            thread: thread.spawn(watch).ok(),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it does not panic");
        }
    }
}

/// An input of `size` bytes that this thread reads, until this is dropped.
#[must_use]
pub(crate) struct Bounded(i32);

impl Bounded {
    pub(crate) fn begin(path: &Path, size: usize) -> Bounded {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        let mut readings = lock_readings();
        if readings.live.is_empty() {
            readings.before = resident_memory().unwrap_or(0);
            readings.done = 0;
        }
        readings.live.push(Live {
            name: escape_unprintable(&path.to_string_lossy()).into_owned(),
            size: size as u64,
            thread,
            began: processor_time(thread).unwrap_or(0),
        });
        Bounded(thread)
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        let mut readings = lock_readings();
        let at = readings.live.iter().position(|live| live.thread == self.0);
        let live = readings.live.swap_remove(at.expect("it was begun"));
        readings.done += live.size;
    }
}

fn lock_readings() -> MutexGuard<'static, Readings> {
    READINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Readings {
    /// A reading that takes more than it may. O(readings that go on).
    fn find_excess(&self) -> Option<Excess> {
        let times: Vec<u64> = self.live.iter().map(Live::time).collect();
        let taken = resident_memory().unwrap_or(0).saturating_sub(self.before);
        self.find_excess_among(taken, &times)
    }

    /// The reading that exceeds its bound if all of them have taken `taken` bytes of memory, and each so much processor
    /// time, in ticks.
    fn find_excess_among(&self, taken: u64, times: &[u64]) -> Option<Excess> {
        let of_live: u64 = self.live.iter().map(|l| l.size * MEMORY_PER_BYTE).sum();
        let allowed = MEMORY + of_live + self.done * KEPT_PER_BYTE;
        let mut live = self.live.iter().zip(times);
        if taken > allowed {
            // No thread has memory of its own. The guilty one has read the longest, by its size.
            let (live, _) = live.max_by_key(|(l, time)| *time * 1000 / l.seconds())?;
            return Some(live.excess(format!("more than {} MB of memory", allowed >> 20)));
        }
        let (live, _) = live.find(|(l, time)| **time > l.seconds() * TICKS)?;
        let seconds = live.seconds();
        Some(live.excess(format!("more than {seconds} seconds of processor time")))
    }
}

impl Live {
    /// Processor time since it began, in ticks.
    fn time(&self) -> u64 {
        processor_time(self.thread).map_or(0, |t| t.saturating_sub(self.began))
    }

    /// The processor time that it may take, in seconds.
    fn seconds(&self) -> u64 {
        SECONDS + (self.size >> 20) * SECONDS_PER_MEGABYTE
    }

    fn excess(&self, what: String) -> Excess {
        Excess {
            name: self.name.clone(),
            what,
        }
    }
}

impl Excess {
    fn line(&self) -> String {
        format!(
            "error: {}: LLVM {LLVM} takes {} to read the file: the file is damaged, or LLVM has a bug; compile it \
            again\n",
            self.name, self.what
        )
    }
}

/// Bytes of this process that are in memory; `None` where the system does not say.
fn resident_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Processor time that a thread of this process has taken, in ticks.
fn processor_time(thread: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    // The name before may have spaces and brackets.
    let (_, fields) = text.rsplit_once(')')?;
    // As proc_pid_stat(5) numbers them, utime is field 14 and stime 15; the first of these is field 3.
    let mut times = fields.split_whitespace().skip(14 - 3);
    let mut time = || times.next()?.parse::<u64>().ok();
    Some(time()? + time()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(name: &str, megabytes: u64) -> Live {
        Live {
            name: name.into(),
            size: megabytes << 20,
            thread: 0,
            began: 0,
        }
    }

    fn excess_text(taken: u64, times: &[u64]) -> Option<String> {
        let readings = Readings {
            live: vec![reading("small", 0), reading("large", 10)],
            before: 0,
            done: 100 << 20,
        };
        Some(readings.find_excess_among(taken, times)?.line())
    }

    #[test]
    fn bounds_grow_with_inputs_and_name_the_one_that_exceeds_them() {
        // 1 GB, 256 bytes for each of those that are read, and 32 for each of those that were.
        let allowed = (1024 + 10 * 256 + 100 * 32) << 20;
        assert_eq!(excess_text(allowed, &[2000, 7000]), None);
        let memory = excess_text(allowed + 1, &[500, 1000]).unwrap();
        let expected = "error: small: LLVM";
        assert!(memory.starts_with(expected) && memory.contains("6784 MB of memory"));
        assert!(
            excess_text(allowed + 1, &[1, 1000])
                .unwrap()
                .contains("large")
        );
        let small = excess_text(0, &[2001, 7000]).unwrap();
        assert!(small.starts_with(expected) && small.contains("20 seconds"));
        let large = excess_text(0, &[2000, 7001]).unwrap();
        assert!(large.contains("large") && large.contains("70 seconds"));
    }

    #[test]
    fn memory_and_processor_time_of_this_process_are_known() {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        let began = processor_time(thread).unwrap();
        while processor_time(thread).unwrap() == began {
            std::hint::spin_loop();
        }
        assert!(resident_memory().unwrap() > 1 << 20);
    }
}
