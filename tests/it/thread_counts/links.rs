//! Where programs and their counters lie: kinds of links, with addresses at random and not, with a library and
//! without; sanitizers.

use super::{Built, Session, assert_equal, assert_quiet, libraries};

const FIXED: [&[&str]; 2] = [&[], &["setarch", "-R"]];

const SBL: [&str; 4] = ["-k", "1", "--scheme", "sbl"];

/// Kinds of links have builds of their own: the code of some is the same.
fn check(code: &str, link: &str) {
    let line = format!("$CC -O1 -g {code} {link} ways.c -o ways");
    let built = Built::new(&SBL, &line);
    for before in FIXED {
        for arguments in [
            "at-once 6 20000",
            "in-turn 500 5",
            "ends 16 50",
            "hashed 4 200000",
        ] {
            let what = format!("{link} {before:?} {arguments}");
            let session = Session::new(&built, "ways");
            assert_quiet(&session.command(before, arguments).output().unwrap(), &what);
            session.check(&what);
        }
    }
}

#[test]
fn threads_of_position_independent_program_lose_nothing() {
    check("-fPIE", "-pie");
}

#[test]
fn threads_of_program_at_fixed_addresses_lose_nothing() {
    check("-fno-pie", "-no-pie");
}

#[test]
fn threads_of_static_program_lose_nothing() {
    check("-fno-pie", "-static");
}

#[test]
fn threads_of_static_position_independent_program_lose_nothing() {
    if super::target().is_some_and(|target| target == "riscv64") {
        return; // its C library has no start-up code for such programs
    }
    check("-fPIE", "-static-pie");
}

#[test]
fn threads_of_programs_with_library_lose_nothing() {
    for link in ["-fPIE -pie", "-fno-pie -no-pie"] {
        let line = format!(
            "$CC -O1 -g -shared -fPIC plugin.c -o libplugin.so
            $CC -O1 -g {link} -DLINKED host.c -o host -L. -lplugin -Wl,-rpath,$PWD"
        );
        let built = Built::new(&SBL, &line);
        for before in FIXED {
            let session = Session::new(&built, "host");
            let what = format!("{link} {before:?}");
            let mut command = session.command(before, "linked 4 20000");
            assert_quiet(&command.output().unwrap(), &what);
            // Behind a library at the top there is no room for counters at a distance from the program's as well.
            let has_room = link.contains("-fPIE");
            if has_room || super::update() == "atomic" {
                libraries::check(&session, "host", &what);
            } else {
                libraries::check_or_not_ok(&session, "host", &what);
            }
        }
    }
}

/// Sanitizers find nothing of ours, and their own starts of threads work. (A thread of TSan's own is left behind, so
/// that its processes do not end normally.)
#[test]
fn threads_of_sanitized_programs_lose_nothing() {
    if super::target().is_some() {
        return; // their runtimes are not there for other processors
    }
    for sanitizer in ["address,undefined", "thread"] {
        let line = format!("$CC -O1 -g -fsanitize={sanitizer} ways.c -o ways");
        let built = Built::new(&SBL, &line);
        for arguments in [
            "at-once 8 4000",
            "in-turn 200 5",
            "ends 16 50",
            "hashed 4 20000",
            "forks 3 300",
        ] {
            let session = Session::new(&built, "ways");
            // TSan ends forked children that start threads.
            let mut command = session.command(FIXED[1], arguments);
            command
                .env("TSAN_OPTIONS", "die_after_fork=0")
                .env("ASAN_OPTIONS", "detect_leaks=0");
            assert_quiet(
                &command.output().unwrap(),
                &format!("{sanitizer} {arguments}"),
            );
            let truth = session.truth().counts();
            assert_equal(
                &session.profile(),
                &truth,
                &format!("{sanitizer} {arguments}"),
            );
        }
    }
}
