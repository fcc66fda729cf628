//! Threads and code that run before constructors of the program or the library, and masks of signals of new threads.

use super::{Built, Session, assert_equal, assert_exact, size};

const SBL: [&str; 4] = ["-k", "1", "--scheme", "sbl"];

fn is_by_thread() -> bool {
    ["auto", "thread"].contains(&&*super::update())
}

/// A library that is linked with the program starts threads in its constructor, which is the first to run. They are
/// still there when the process ends.
#[test]
fn threads_of_library_constructor_lose_nothing() {
    for off in ["P3_OFF=1 ", ""] {
        let line = format!(
            "{off}$CC -O1 -g -shared -fPIC early.c -o libearly.so
            $CC -O1 -g user.c -o user -L. -learly -Wl,-rpath,$PWD"
        );
        let built = Built::new(&SBL, &line);
        let session = Session::new(&built, "user");
        session.run(&size(20_000, 300_000).to_string());
        let (profiles, truth) = (session.merge(&[]), session.truth());
        let mut expected = vec![("user", truth.counts())];
        if off.is_empty() {
            expected.push(("libearly.so", truth.counts_of_library()));
        }
        for (program, counts) in expected {
            // With the other forms, threads that are left behind make processes incomplete.
            let check = if is_by_thread() {
                assert_exact
            } else {
                assert_equal
            };
            check(&profiles[program], &counts, program);
        }
    }
}

/// A thread loads the library: its resolver, or what `-init` and `-fini` name, runs where no thread has counters in it.
#[test]
fn code_outside_of_constructors_of_loaded_library_loses_nothing() {
    for options in [
        "-DRESOLVED",
        "-Wl,-init,begin_library -Wl,-fini,end_library",
    ] {
        let line = format!(
            "$CC -O1 -g -shared -fPIC {options} outside.c -o libplugin.so
            $CC -O1 -g opener.c -o opener"
        );
        let built = Built::new(&SBL, &line);
        let session = Session::new(&built, "opener");
        let library = built.dir.join("libplugin.so");
        session.run(&format!("{} 1000 3", library.display()));
        let (mut profiles, truth) = (session.merge(&[]), session.truth());
        assert_exact(&profiles["opener"], &truth.counts(), options);
        let library = profiles.remove("libplugin.so").unwrap();
        assert_equal(&library, &truth.counts_of_library(), options);
        if is_by_thread() {
            let record = built.out("libplugin.so").join("record.json");
            let record = std::fs::read_to_string(record).unwrap();
            assert!(
                record.contains("so counts are updated atomically"),
                "{record}"
            );
        }
    }
}

/// Threads begin with the mask of their creator, of their attributes, or of the attributes by default.
#[test]
fn threads_begin_with_the_mask_that_they_were_given() {
    let built = Built::new(&SBL, "$CC -O1 -g masks.c -o masks");
    let session = Session::new(&built, "masks");
    let output = session.command(&[], "").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "01110\n");
    session.check("masks");
}
