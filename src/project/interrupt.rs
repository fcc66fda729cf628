//! Commands that end by a signal: what they started ends with them, and files that are theirs alone go.
//!
//! Whoever catches signals ([`crate::cli`]) calls [`end_descendants`]. Descendants are found by their parents and not
//! by a process group: a command in a group of its own could not read from the terminal.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

static ENDING: AtomicBool = AtomicBool::new(false);
static SCRATCH: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// How long processes have to end by themselves.
const GRACE: Duration = Duration::from_secs(3);
const STEP: Duration = Duration::from_millis(20);

/// Whether the command is being ended: nothing more is started.
pub(super) fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}

/// Ends all processes that this one started, and those that they did: by SIGTERM, and by SIGKILL those that are there 3
/// s later.
pub fn end_descendants() {
    ENDING.store(true, Ordering::SeqCst);
    // Stopped, none of them starts others while they are counted.
    let mut stopped: Vec<Process> = Vec::new();
    loop {
        let new: Vec<Process> = descendants()
            .into_iter()
            .filter(|p| !stopped.contains(p))
            .collect();
        if new.is_empty() {
            break;
        }
        send(&new, Signal::STOP);
        stopped.extend(new);
    }
    send(&stopped, Signal::TERM);
    send(&stopped, Signal::CONT);
    let mut waited = Duration::ZERO;
    while stopped.iter().any(Process::is_alive) && waited < GRACE {
        std::thread::sleep(STEP);
        waited += STEP;
    }
    stopped.retain(Process::is_alive);
    send(&stopped, Signal::KILL);
}

/// Removes the temporary folders that are in use.
pub fn remove_scratch() {
    let folders = SCRATCH.lock().map(|mut all| std::mem::take(&mut *all));
    for folder in folders.unwrap_or_default() {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// A temporary folder that also goes when the command is interrupted.
pub(super) struct Scratch(TempDir);

impl Scratch {
    pub(super) fn new() -> std::io::Result<Scratch> {
        let folder = tempfile::tempdir()?;
        if let Ok(mut all) = SCRATCH.lock() {
            all.push(folder.path().to_path_buf());
        }
        Ok(Scratch(folder))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Ok(mut all) = SCRATCH.lock() {
            all.retain(|p| p != self.0.path());
        }
    }
}

fn send(processes: &[Process], signal: Signal) {
    for process in processes {
        // It may have ended meanwhile.
        let _ = kill_process(process.id, signal);
    }
}

/// A process. Ids are used again: the time of its start tells it from a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    id: Pid,
    started: u64,
}

impl Process {
    /// Whether it is there and did not end.
    fn is_alive(&self) -> bool {
        let status = status(self.id.as_raw_nonzero().get());
        status.is_some_and(|s| s.started == self.started && !"ZX".contains(s.state))
    }
}

/// What the system says of a process.
struct Status {
    state: char,
    parent: i32,
    /// In ticks of the clock since the system began.
    started: u64,
}

/// The processes below this one.
fn descendants() -> Vec<Process> {
    let ids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all: HashMap<i32, Status> = ids.filter_map(|pid| Some((pid, status(pid)?))).collect();
    let us = std::process::id() as i32;
    let is_below = |pid: i32| {
        let mut at = pid;
        // (Ids are used again: a chain that was read while processes ended may be a circle.)
        for _ in 0..all.len() {
            match all.get(&at).map(|s| s.parent) {
                Some(parent) if parent == us => return true,
                Some(parent) => at = parent,
                None => return false,
            }
        }
        false
    };
    let below = all.iter().filter(|(pid, _)| is_below(**pid));
    let below = below.filter_map(|(pid, status)| {
        let (id, started) = (Pid::from_raw(*pid)?, status.started);
        Some(Process { id, started })
    });
    below.collect()
}

/// What `/proc/PID/stat` says: a name, in brackets, may hold anything.
fn status(pid: i32) -> Option<Status> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, rest) = stat.rsplit_once(')')?;
    // From the third field on.
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(Status {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn descendants_are_found_below_their_parents() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 60 & echo $!; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = shell.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        let child: i32 = line.trim().parse().unwrap();
        let both = [shell.id() as i32, child].map(|p| Pid::from_raw(p).unwrap());
        let found = descendants();
        let found: Vec<&Process> = found.iter().filter(|p| both.contains(&p.id)).collect();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|p| p.is_alive()));
        for process in &found {
            kill_process(process.id, Signal::KILL).unwrap();
        }
        shell.wait().unwrap();
        let ended = found.iter().find(|p| p.id == both[0]).unwrap();
        assert!(!ended.is_alive());
    }

    #[test]
    fn scratch_is_removed_when_it_is_dropped() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_path_buf();
        assert!(path.is_dir() && SCRATCH.lock().unwrap().contains(&path));
        drop(scratch);
        assert!(!path.exists() && !SCRATCH.lock().unwrap().contains(&path));
    }
}
