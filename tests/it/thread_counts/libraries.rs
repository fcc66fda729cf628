//! Threads in a rewritten program and in a rewritten library, linked with it or opened and closed while they run.

use super::{Built, Session, assert_equal, assert_exact, size};

const LINES: &str = "$CC -O1 -g -shared -fPIC plugin.c -o libplugin.so
    $CC -O1 -g host.c -o host
    $CC -O1 -g -DLINKED host.c -o linked -L. -lplugin -Wl,-rpath,$PWD
    P3_OFF=1 $CC -O1 host.c -o native";

/// `program` and the library count what they say, in all files together.
#[track_caller]
pub(super) fn check(session: &Session, program: &str, what: &str) {
    let (mut profiles, truth) = (session.merge(&[]), session.truth());
    if let Some(profile) = profiles.remove(program) {
        assert_exact(&profile, &truth.counts(), what);
    }
    let library = profiles.remove("libplugin.so").unwrap();
    assert_exact(
        &library,
        &truth.counts_of_library(),
        &format!("{what}: the library"),
    );
}

/// As [`check`] demands; or counts differ, and the verdict says that something may be missing.
#[track_caller]
pub(super) fn check_or_not_ok(session: &Session, program: &str, what: &str) {
    let (mut profiles, truth) = (session.merge(&[]), session.truth());
    let pairs = [
        (profiles.remove(program).unwrap(), truth.counts()),
        (
            profiles.remove("libplugin.so").unwrap(),
            truth.counts_of_library(),
        ),
    ];
    for (profile, truth) in pairs {
        let is_equal = profile.counts == truth;
        assert!(
            is_equal || profile.verdict != "ok",
            "{what}: counts differ, and ok"
        );
    }
}

fn build() -> Built {
    Built::new(&["-k", "1", "--scheme", "sbl"], LINES)
}

#[test]
fn threads_in_linked_library_lose_nothing() {
    let built = build();
    for threads in [1, 4, 30] {
        let session = Session::new(&built, "linked");
        session.run(&format!("linked {threads} {}", size(20_000, 200_000)));
        check(&session, "linked", "linked");
    }
}

/// Of more threads than may have counters of their own, both the program and the library are not `ok`, whichever of
/// them lost counts.
#[test]
fn threads_beyond_limits_in_linked_library_are_not_ok() {
    let built = build();
    let session = Session::new(&built, "linked");
    let mut command = session.command(&[], "linked 6 20000");
    command.env("P3_THREADS_MAX", "3");
    assert!(command.output().unwrap().status.success());
    for (program, profile) in session.merge(&[]) {
        let may_lose = super::update() != "atomic";
        assert_eq!(profile.verdict != "ok", may_lose, "{program}");
    }
}

/// Threads that are older than the library call it, as do others that are younger; a thread in the program goes on
/// counting all the while.
#[test]
fn threads_in_library_that_is_opened_and_closed_lose_nothing() {
    let built = build();
    let library = built.dir.join("libplugin.so");
    for (threads, times) in [(2, 1), (4, size(8, 300))] {
        let session = Session::new(&built, "host");
        let arguments = format!("{} {threads} 10000 {times}", library.display());
        session.run(&arguments);
        let (mut profiles, truth) = (session.merge(&[]), session.truth());
        assert_exact(&profiles["host"], &truth.counts(), &arguments);
        // Each time that it is closed, there are threads that its runtime cannot say where they are.
        let library = profiles.remove("libplugin.so").unwrap();
        assert_equal(&library, &truth.counts_of_library(), &arguments);
    }
}

/// A thread that begins while a library registers has all of the library's counters, or none of them: it is another
/// thread's turn to map them.
#[test]
fn libraries_that_are_loaded_while_threads_begin_lose_nothing() {
    let lines = "for n in 1 2 3; do $CC -O1 -g -DLIBRARY -DN=$n -shared -fPIC loads.c -o libloads$n.so; done
        $CC -O1 -g loads.c -o loads -pthread";
    let built = Built::new(&["-k", "1", "--scheme", "sbl"], lines);
    let names = [1, 2, 3].map(|n| built.dir.join(format!("libloads{n}.so")));
    let names = names.map(|n| n.display().to_string()).join(" ");
    let (threads, times) = (5, 20);
    for _ in 0..size(4, 30) {
        let session = Session::new(&built, "loads");
        session.run(&format!("{threads} {times} {names}"));
        let called = |counts: &super::Counts| -> u64 {
            let of_it = counts.iter().filter(|(path, _)| path.starts_with("step "));
            of_it.map(|(_, n)| n).sum()
        };
        let profiles = session.merge(&[]);
        let sum: u64 = profiles.values().map(|p| called(&p.counts)).sum();
        assert_eq!(sum, threads * times);
    }
}

/// The host is not rewritten: it starts threads of which the library's runtime is not told.
#[test]
fn threads_of_native_host_are_counted_or_the_library_is_not_ok() {
    let built = build();
    let library = built.dir.join("libplugin.so");
    let session = Session::new(&built, "native");
    session.run(&format!("{} 4 20000 3", library.display()));
    let (mut profiles, truth) = (session.merge(&[]), session.truth());
    let profile = profiles.remove("libplugin.so").unwrap();
    let is_equal = profile.counts == truth.counts_of_library();
    assert!(is_equal || profile.verdict != "ok", "counts differ, and ok");
    assert!(
        is_equal || super::update() != "atomic",
        "atomic counts differ"
    );
}
