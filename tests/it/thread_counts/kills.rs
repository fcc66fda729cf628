//! Threads that are killed at any moment, and processes that are looked at while they count.

use super::{Built, Session, assert_between, size};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

/// A process whose threads count for ever. It ends with its test.
struct Running(Child);

impl Running {
    fn new(session: &Session, arguments: &str) -> Running {
        let mut command = session.command(&[], arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let running = Running(child);
        assert_eq!(line, "begun\n");
        running
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn threads_that_are_killed_lose_nothing() {
    let built = Built::ways();
    for i in 0..size(12, 500) {
        let session = Session::new(&built, "ways");
        let threads = [1, 2, 5, 40][i as usize % 4];
        let mut running = Running::new(&session, &format!("leave {threads} 0 kill"));
        std::thread::sleep(Duration::from_micros(i * 7919 % 20_000));
        running.kill();
        let truth = session.truth();
        let counts = truth.counts();
        let what = format!("kill {i} of {threads} threads");
        assert_between(&session.profile(), &counts, &counts, truth.threads(), &what);
    }
}

/// Threads that come and go, at once or in turn: the kill falls into what the runtime does for a new thread.
#[test]
fn processes_that_are_killed_while_threads_begin_lose_nothing() {
    let built = Built::ways();
    for i in 0..size(12, 500) {
        let session = Session::new(&built, "ways");
        let arguments = ["in-turn 1000000 2", "at-once 300 100"][i as usize % 2];
        let mut running = Running(session.command(&[], arguments).spawn().unwrap());
        std::thread::sleep(Duration::from_micros(3000 + i * 6007 % 30_000));
        running.kill();
        if !session.raw().exists() || !session.dir.path().join("truth").exists() {
            continue;
        }
        let truth = session.truth();
        let counts = truth.counts();
        assert_between(
            &session.profile(),
            &counts,
            &counts,
            truth.threads(),
            arguments,
        );
    }
}

/// A profile of a process that goes on has all that was counted before it was read.
#[test]
fn counts_of_threads_are_read_while_they_run() {
    let built = Built::ways();
    let session = Session::new(&built, "ways");
    let _running = Running::new(&session, "leave 3 0 kill");
    for _ in 0..size(5, 100) {
        let before = session.truth();
        let profile = session.profile();
        let after = session.truth();
        let threads = before.threads();
        assert_between(&profile, &before.counts(), &after.counts(), threads, "live");
    }
}
