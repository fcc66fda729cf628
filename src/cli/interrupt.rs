//! Signals that end a command: what it started ends with it, and it ends by the same signal.

use crate::project::interrupt::{end_descendants, remove_scratch};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, exit};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// Held while descendants are ended.
static ENDING: Mutex<()> = Mutex::new(());

/// What to do when a signal came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSignal {
    /// End at once: nothing but temporary files has to be put in order.
    EndNow,
    /// Let the command put things in order, which then calls [`end_if_interrupted`]; a second signal ends it at once.
    PutInOrder,
}

/// Watches for HUP, INT and TERM, those of them that are not ignored (`nohup`).
pub fn watch(what: OnSignal) {
    let ignored = ignored_signals();
    let watched = [SIGHUP, SIGINT, SIGTERM];
    let watched = watched.into_iter().filter(|s| ignored >> (s - 1) & 1 == 0);
    // Without a watch the command is ended as any other.
    let Ok(mut signals) = Signals::new(watched) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let before = RECEIVED.load(Ordering::SeqCst);
            if before == 0 {
                let _ending = ENDING.lock();
                RECEIVED.store(signal, Ordering::SeqCst);
                end_descendants();
            }
            if before != 0 || what == OnSignal::EndNow {
                remove_scratch();
                end_by(signal);
            }
        }
    });
}

/// Ends the command by the signal that it received, if it did.
pub fn end_if_interrupted() {
    let signal = RECEIVED.load(Ordering::SeqCst);
    if signal != 0 {
        let _ended = ENDING.lock();
        remove_scratch();
        end_by(signal);
    }
}

fn end_by(signal: i32) {
    let _ = emulate_default_handler(signal);
    exit(128 + signal);
}

/// The set of ignored signals, a bit each.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    set.and_then(|s| u64::from_str_radix(s.trim(), 16).ok())
        .unwrap_or(0)
}
