//! What processes with threads do with their profile: rotate and reset it, and share it with others.

use super::{Built, Session, assert_equal, assert_exact, size};
use std::process::Command;
use std::time::Duration;

/// All files of a process whose profile is rotated while threads count and begin add up.
#[test]
fn rotated_files_of_threads_lose_nothing() {
    let built = Built::ways();
    for arguments in [
        format!("at-once 6 {}", size(150_000, 3_000_000)),
        format!("in-turn {} 3", size(5000, 50_000)),
        format!("hashed 4 {}", size(300_000, 3_000_000)),
    ] {
        // Where a machine is busy, it may end before a signal has come: then it runs again.
        let rotated = (0..20).find_map(|_| rotate(&built, &arguments));
        let session = rotated.unwrap_or_else(|| panic!("{arguments}: one file, 20 times"));
        session.check(&arguments);
    }
}

/// Runs it under signals; None: it ended before one came.
fn rotate<'a>(built: &'a Built, arguments: &str) -> Option<Session<'a>> {
    let session = Session::new(built, "ways");
    let mut command = session.command(&[], arguments);
    command
        .env("P3_SIGNAL", "USR1")
        .env("P3_ON_SIGNAL", "rotate");
    let mut child = command.spawn().unwrap();
    let id = child.id().to_string();
    // The signal ends a process that does not listen yet.
    let has_begun = || session.dir.path().join("truth").exists();
    assert!(crate::support::wait_until(has_begun));
    while child.try_wait().unwrap().is_none() {
        let _ = Command::new("kill").args(["-s", "USR1", &id]).output();
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success(), "{arguments}");
    let files = session.raw().read_dir().unwrap().count();
    (files > 1).then_some(session)
}

/// What threads did before the reset is not counted, what they do after it is. (Functions are under way at a reset, so
/// that the process counts as one that began in the middle.)
#[test]
fn reset_while_threads_are_there_loses_nothing() {
    let built = Built::ways();
    for threads in [1, 12] {
        let session = Session::new(&built, "ways");
        session.run(&format!("resets {threads} {}", size(5000, 200_000)));
        assert_equal(&session.profile(), &session.truth().counts(), "resets");
    }
}

/// Processes with few and many threads share a file, one after the other, some of them killed.
#[test]
fn pool_of_processes_with_threads_loses_nothing() {
    let built = Built::ways();
    let session = Session::new(&built, "ways");
    let run = |arguments: &str| {
        let mut command = session.command(&[], arguments);
        command.env("P3_PROFILE_FILE", session.raw().join("%k-%m.p3raw"));
        super::assert_quiet(&command.output().unwrap(), arguments);
    };
    for arguments in [
        "at-once 3 20000",
        "at-once 20 300",
        "in-turn 50 5",
        "at-once 1 100",
        "hashed 4 20000",
        "at-once 7 500",
    ] {
        run(arguments);
    }
    assert_eq!(session.raw().read_dir().unwrap().count(), 1);
    session.check("pool");
    // Children take up other files, and then each other's.
    for _ in 0..3 {
        let rounds = size(500, 10_000);
        run(&format!("forks-hashed 3 {rounds} {}", super::children()));
    }
    run("hashed 6 20000");
    assert_exact(
        &session.profile(),
        &session.truth().counts(),
        "pool with children",
    );
}

/// Beyond what a process may have, counts are right, or the verdict is not `ok`.
#[test]
fn threads_beyond_limits_lose_nothing_or_are_not_ok() {
    let built = Built::ways();
    for (variable, before, arguments) in [
        ("P3_THREADS_MAX=4", &[][..], "at-once 30 3000"),
        ("P3_THREADS_MAX=4", &[], "hashed 8 20000"),
        ("P3_THREADS_MAX=0", &[], "in-turn 30 500"),
        (
            "P3_THREADS_MAX=x",
            &["prlimit", "--as=700000000"],
            "at-once 30 3000",
        ),
        (
            "P3_THREADS_MAX=x",
            &["prlimit", "--nofile=16"],
            "at-once 30 3000",
        ),
        ("P3_THREADS_RESERVE=0", &[], "filter 12 3000"),
    ] {
        // These limits are qemu's as well, which knows no filters.
        let is_limited = !before.is_empty() || arguments.starts_with("filter");
        if super::target().is_some() && is_limited {
            continue;
        }
        let session = Session::new(&built, "ways");
        let mut command = session.command(before, arguments);
        let (name, value) = variable.split_once('=').unwrap();
        if value != "x" {
            command.env(name, value);
        }
        let output = command.output().unwrap();
        let what = format!("{variable} {before:?} {arguments}");
        assert!(output.status.success(), "{what}: {output:?}");
        let (profile, truth) = (session.profile(), session.truth().counts());
        let is_equal = profile.counts == truth;
        assert!(
            is_equal || profile.verdict != "ok",
            "{what}: counts differ, and ok"
        );
        assert!(is_equal || super::update() != "atomic", "{what}: {truth:?}");
    }
}

/// A filter forbids what counters of a new thread need: they were made in advance.
#[test]
fn threads_with_reserved_counters_lose_nothing_behind_filter() {
    if super::target().is_some() {
        return; // qemu-user knows no filters
    }
    let built = Built::ways();
    let session = Session::new(&built, "ways");
    let mut command = session.command(&[], "filter 12 3000");
    command.env("P3_THREADS_RESERVE", "16");
    super::assert_quiet(&command.output().unwrap(), "filter");
    session.check("filter");
}
