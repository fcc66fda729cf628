//! How threads begin and end.

use super::{Built, Session, assert_between, assert_equal, size};

/// So many that are alive at once; the main thread works as well.
#[test]
fn threads_at_once_lose_nothing() {
    let built = Built::ways();
    for (threads, rounds) in [(1, 100_000), (2, 200_000), (16, 30_000), (200, 2_000)] {
        let arguments = format!("at-once {threads} {}", size(rounds, 10 * rounds));
        let session = Session::run_and_check(&built, "ways", &arguments);
        assert_eq!(session.truth().threads(), threads);
    }
}

#[test]
fn thousand_threads_at_once_lose_nothing() {
    let threads = size(400, 1000);
    let built = Built::ways();
    let session = Session::run_and_check(&built, "ways", &format!("at-once {threads} 500"));
    assert_eq!(session.truth().threads(), threads);
}

#[test]
fn short_threads_one_after_the_other_lose_nothing() {
    let threads = match super::target() {
        Some(_) => size(2000, 20_000),
        None => size(20_000, 100_000),
    };
    let built = Built::ways();
    let session = Session::run_and_check(&built, "ways", &format!("in-turn {threads} 3"));
    let counts = session.truth().counts();
    let steps = counts.iter().filter(|(key, _)| key.starts_with("step"));
    assert_eq!(steps.map(|(_, n)| n).sum::<u64>(), 3 * threads);
}

/// Threads that return, call `pthread_exit` from within, are cancelled or detached; destructors of thread-specific data
/// and a function of `atexit` count after them.
#[test]
fn threads_that_end_in_every_way_lose_nothing() {
    let arguments = format!("ends 40 {}", size(10_000, 40_000));
    Session::run_and_check(&Built::ways(), "ways", &arguments);
}

/// Threads are started by threads, many of them at the same time.
#[test]
fn threads_of_threads_lose_nothing() {
    let built = Built::ways();
    let depth = size(6, 9);
    let session = Session::run_and_check(&built, "ways", &format!("tree {depth} 2000"));
    assert_eq!(session.truth().threads(), (2 << depth) - 1);
}

/// The process ends with its last thread. (Its first is a zombie until then, and looks like a thread left behind.)
#[test]
fn threads_that_outlive_the_main_thread_lose_nothing() {
    let built = Built::ways();
    let session = Session::new(&built, "ways");
    session.run("leave-main 5 20000");
    let truth = session.truth().counts();
    assert_equal(&session.profile(), &truth, "leave-main");
}

/// Handlers run in threads that have just begun, or are about to end.
#[test]
fn signals_while_threads_begin_and_end_lose_nothing() {
    let arguments = format!("storm {} 20", size(1500, 30_000));
    Session::run_and_check(&Built::ways(), "ways", &arguments);
}

/// Threads that the C library starts (`SIGEV_THREAD`): either nothing is lost, or it is said. (The library leaves one
/// behind.)
#[test]
fn threads_of_timers_lose_nothing_or_are_not_ok() {
    let line = "$CC -O1 -g timers.c -o timers";
    let built = Built::new(&["-k", "1", "--scheme", "sbl"], line);
    let session = Session::new(&built, "timers");
    session.run(&format!("{} 2000", size(20, 500)));
    let (profile, truth) = (session.profile(), session.truth().counts());
    let is_equal = profile.counts == truth;
    let losses_are_allowed = super::update() != "atomic";
    assert!(
        is_equal || losses_are_allowed,
        "{:?}, {truth:?}",
        profile.counts
    );
    assert!(is_equal || profile.verdict != "ok", "counts differ, and ok");
}

/// `main` leaves while others count: their last step may be counted by one of both only.
#[test]
fn threads_that_the_end_of_the_process_stops_lose_nothing() {
    let built = Built::ways();
    for how in ["cancel", "exit", "_exit", "quick_exit", "exec"] {
        for _ in 0..size(2, 50) {
            let session = Session::new(&built, "ways");
            session.run(&format!("leave 6 0 {how}"));
            let truth = session.truth();
            let counts = truth.counts();
            assert_between(&session.profile(), &counts, &counts, truth.threads(), how);
        }
    }
}

/// The child of a thread has a file of its own, and threads.
#[test]
fn threads_that_fork_lose_nothing() {
    let built = Built::ways();
    let rounds = size(20_000, 100_000);
    let arguments = format!("forks 6 {rounds} {}", super::children());
    let session = Session::run_and_check(&built, "ways", &arguments);
    let truth = session.truth();
    assert_eq!(truth.processes().len(), 8);
    for process in truth.processes() {
        let file = session.raw().join(format!("0-{process}.p3raw"));
        let profile = session.merge(&[file]).remove("ways").unwrap();
        let what = format!("process {process} of forks");
        assert_equal(&profile, &truth.counts_of(process), &what);
    }
}

/// Handlers count in what they interrupt.
#[test]
fn signal_handlers_in_threads_lose_nothing() {
    let arguments = format!("signals 4 {}", size(100_000, 3_000_000));
    Session::run_and_check(&Built::ways(), "ways", &arguments);
}

/// 8,192 paths: tables and their caches.
#[test]
fn hashed_counts_of_threads_lose_nothing() {
    let built = Built::ways();
    let copy = std::fs::read(built.out("ways").join("bin/copy-0")).unwrap();
    let tables = b"__p3_tables";
    assert!(copy.windows(tables.len()).any(|w| w == tables), "no table");
    for threads in [1, 4, 15] {
        let rounds = size(500_000, 5_000_000) / threads;
        Session::run_and_check(&built, "ways", &format!("hashed {threads} {rounds}"));
    }
}

/// One does eight times the work of the second, and the third none.
#[test]
fn threads_with_names_and_unequal_work_lose_nothing() {
    Session::run_and_check(&Built::ways(), "ways", "names 3 50000");
}

/// On one thread, and taken up by another thread in the middle of a function.
#[test]
fn fibers_lose_nothing() {
    let built = Built::new(
        &["-k", "1", "--scheme", "sbl"],
        "$CC -O1 -g fibers.c -o fibers",
    );
    for how in ["one", "many"] {
        let arguments = format!("{how} {}", size(1000, 10_000));
        Session::run_and_check(&built, "fibers", &arguments);
    }
}

/// A program that refers to no handlers counts by plain increments everywhere.
#[test]
fn threads_of_program_without_signal_handlers_lose_nothing() {
    let line = "$CC -O1 -g -DWITHOUT_HANDLERS ways.c -o ways";
    let built = Built::new(&["-k", "1", "--scheme", "sbl"], line);
    for arguments in [
        "at-once 8 30000",
        "in-turn 500 5",
        "ends 16 200",
        "hashed 6 50000",
    ] {
        Session::run_and_check(&built, "ways", arguments);
    }
}
