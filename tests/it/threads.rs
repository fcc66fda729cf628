//! Threads and plain increments: which runs may have lost counts, and what says so.

use crate::build::{command, rewrite, stderr};
use crate::support::{PROF, clang, folder, parsed, run};
use std::path::Path;

/// What it does by the letters of its argument: `t` a thread, `s` a thread that the C library starts, `f` a child, in
/// which `u` starts a thread; `k` kills it.
const PROGRAM: &str = r#"
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>
    __attribute__((noinline)) int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 3 ? 1 : 2; return s; }
    static void *run(void *unused) { work(1000); return unused; }
    static void thread(void) { pthread_t t; pthread_create(&t, 0, run, 0); pthread_join(t, 0); }
    static int pipes[2];
    static void event(union sigval unused) { work(10); write(pipes[1], "", 1); }
    static void timer(void) {
        struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = event};
        struct itimerspec soon = {.it_value = {0, 1000000}};
        timer_t t;
        char c;
        pipe(pipes);
        timer_create(CLOCK_MONOTONIC, &e, &t);
        timer_settime(t, 0, &soon, 0);
        read(pipes[0], &c, 1);
    }
    int main(int argc, char **argv) {
        const char *what = argc > 1 ? argv[1] : "";
        work(10);
        if (strchr(what, 't')) thread();
        if (strchr(what, 's')) timer();
        if (strchr(what, 'f')) {
            int child = fork();
            if (child == 0) {
                if (strchr(what, 'u')) thread();
                exit(0);
            }
            waitpid(child, 0, 0);
        }
        if (strchr(what, 'k')) raise(SIGKILL);
        return 0;
    }"#;

const RAN: &str = "counts may be lost: threads ran in copy 0, and increments are plain";
const SINGLE: [&str; 2] = ["--update", "single"];

/// Builds `sources` in `dir` by a command.
fn build(dir: &Path, options: &[&str], line: &str) -> String {
    let all = [
        &["build", "-k", "1", "-o", "p3"],
        options,
        &["--", "sh", "-c", line],
    ]
    .concat();
    stderr(&rewrite(dir, &all))
}

/// Runs `line` as a suite; what `verify --strict` of `program` finds lost by threads, and whether it accepts the
/// profile.
fn verified(dir: &Path, program: &str, line: &str) -> (String, bool) {
    let line = format!("{line}; true");
    rewrite(dir, &["suite", "-q", "-o", "p3", "--", "sh", "-c", &line]);
    let mut verify = command(PROF, dir);
    let profile = format!("p3/{program}.p3");
    let done = verify
        .args(["verify", "--strict", &profile])
        .output()
        .unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    let lost = said
        .lines()
        .find_map(|l| l.strip_prefix("incomplete: counts may be lost: "));
    let lost = lost
        .and_then(|l| l.split_once(" in copy 0"))
        .map(|(how, by)| {
            let by = by
                .strip_prefix(", by ")
                .and_then(|by| by.split_once(", without"));
            format!(
                "{how}{}",
                by.map_or(String::new(), |(by, _)| format!(": {by}"))
            )
        });
    (lost.unwrap_or_default(), done.status.success())
}

/// What each run says; nothing lost and no other trouble is accepted.
fn check(dir: &Path, program: &str, cases: &[(&str, &str, bool)]) {
    for (arguments, expected, accepted) in cases {
        let found = verified(dir, program, &format!("./{program} {arguments}"));
        assert_eq!(
            found,
            (expected.to_string(), *accepted),
            "{program} {arguments}"
        );
    }
}

/// Where the C library is shared, starts of threads are seen at once: a killed process has said it. What the library
/// starts by itself is known at a normal end.
#[test]
fn thread_in_dynamic_program_is_seen_even_if_it_is_killed() {
    let dir = folder();
    std::fs::write(dir.path().join("p.c"), PROGRAM).unwrap();
    let said = build(
        dir.path(),
        &SINGLE,
        "$CC -O1 -g p.c -o p && $CC -O1 -g -no-pie p.c -o q",
    );
    let line = "warning: threads may lose counts of p, q: build without --update single to count exactly\n";
    assert!(said.contains(line), "{said}");
    let lost = "threads ran";
    check(
        dir.path(),
        "p",
        &[
            ("", "", true),
            ("t", lost, false),
            ("tk", lost, false),
            ("s", lost, false),
            ("k", "", true),
            // Whoever forked was not lost by the other: a child of a program with threads has one, a parent as well.
            ("f", "", true),
            ("fu", lost, false),
            ("tf", lost, false),
        ],
    );
    check(dir.path(), "q", &[("", "", true), ("tk", lost, false)]);
}

/// In a static program the C library's knowledge is there at a normal end; else what the program references decides.
#[test]
fn thread_in_static_program_is_known_at_its_end() {
    let dir = folder();
    std::fs::write(dir.path().join("p.c"), PROGRAM).unwrap();
    build(dir.path(), &SINGLE, "$CC -O1 -g -static p.c -o p");
    let may = "threads may have run: timer_create";
    check(
        dir.path(),
        "p",
        &[
            ("", "", true),
            ("t", "threads ran", false),
            ("tk", "threads ran", false),
            ("k", may, false),
        ],
    );
}

/// By default each thread has counters of its own, but for those that the C library starts, and nothing is said.
#[test]
fn threads_with_counters_of_their_own_are_ok() {
    let dir = folder();
    std::fs::write(dir.path().join("p.c"), PROGRAM).unwrap();
    let line = "$CC -O1 -g p.c -o p && $CC -O1 -g -static p.c -o q";
    let said = build(dir.path(), &[], line);
    assert!(!said.contains("threads"), "{said}");
    let shared = "threads without counters of their own ran";
    let cases = [
        ("", "", true),
        ("t", "", true),
        ("tk", "", true),
        ("s", shared, false),
        ("fu", "", true),
        ("tf", "", true),
    ];
    check(dir.path(), "p", &cases);
    // What the C library may have started is not known there.
    let may = "threads may have run: timer_create";
    check(dir.path(), "q", &[("", "", true), ("t", may, false)]);
    let few = "P3_THREADS_MAX=1 ./p t";
    assert_eq!(verified(dir.path(), "p", few), (shared.into(), false));
    let two = "P3_THREADS_MAX=2 ./p t";
    assert_eq!(verified(dir.path(), "p", two), (String::new(), true));
}

/// By `auto`: the target, the program, what a line of its code has, and why counts are updated atomically if that is
/// said. Threads have counters of their own by segment gs, or by a distance; elsewhere counts are updated atomically
/// where threads can start.
#[test]
fn update_is_chosen_by_target_and_program() {
    const STARTS: &str = "int pthread_create(); int f(void) { return pthread_create(); }";
    let used = "__asm__(\"movq %%gs:0, %0\" : \"=r\"(n)); return n; }";
    let used = format!("long f(void) {{ long n; {used}");
    let space = "long f(void) { return *(long __attribute__((address_space(256))) *)8; }";
    let moves = "int swapcontext(); int f(void) { return swapcontext(); }";
    let handles = "int sigaction(); int f(void) { return sigaction(); }";
    let (shared, own) = ("@__p3_counters", "%p3.own");
    let segment = "segment gs is used by f";
    let migration = "swapcontext may move functions to other threads";
    let programs = [
        ("used", "x86_64", &*used, ("atomicrmw", shared), segment),
        ("space", "x86_64", space, ("atomicrmw", shared), segment),
        ("free", "x86_64", STARTS, ("ptr addrspace(256)", shared), ""),
        ("starts", "powerpc64le", STARTS, ("atomicrmw", shared), ""),
        (
            "plain",
            "powerpc64le",
            "int f(void) { return 1; }",
            ("store i64", shared),
            "",
        ),
        ("arm", "aarch64", STARTS, ("store i64", own), ""),
        ("risc", "riscv64", STARTS, ("store i64", own), ""),
        ("handles", "riscv64", handles, ("atomicrmw", own), ""),
        ("moves", "aarch64", moves, ("atomicrmw", shared), migration),
        (
            "bionic",
            "aarch64-linux-android",
            STARTS,
            ("atomicrmw", shared),
            "",
        ),
    ];
    let dir = folder();
    let dir = dir.path();
    for (name, target, text, (how, place), why) in programs {
        let (source, bitcode) = (format!("{name}.c"), format!("{name}.bc"));
        std::fs::write(dir.join(&source), text).unwrap();
        let triple = if target.contains('-') {
            target.to_string()
        } else {
            format!("{target}-linux-gnu")
        };
        let options = ["-w", "-O1", "-emit-llvm", "-target", &triple, "-c"];
        run(command(clang(), dir)
            .args(options)
            .args([&source, "-o", &bitcode]));
        let emit = [&bitcode, "-k", "1", "--emit", "ll", "-o", name];
        let said = stderr(&rewrite(dir, &emit));
        let copy = std::fs::read_to_string(dir.join(name).join("copy-0/m0.ll")).unwrap();
        let mut lines = copy.lines();
        assert!(
            lines.any(|l| l.contains(how) && l.contains(place)),
            "{name}: {copy}"
        );
        let but = "so counts are updated atomically, which takes longer";
        let line = format!("warning: {bitcode}: {why}, {but}\n");
        assert_eq!(said.contains(but), !why.is_empty(), "{name}: {said}");
        assert!(why.is_empty() || said.contains(&line), "{name}: {said}");
    }
    let targets = "is for Linux on x86-64, aarch64 and RISC-V (64 bits)";
    for (name, why) in [
        ("used", "needs segment gs, which is used by f"),
        ("plain", targets),
        (
            "moves",
            "needs functions that stay in their thread, but swapcontext may move them",
        ),
    ] {
        let bitcode = format!("{name}.bc");
        let mut refused = command(crate::support::REWRITE, dir);
        refused.args([&bitcode, "--update", "thread", "-o", "refused"]);
        let refused = refused.output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
        let line = format!("error: {bitcode}: --update thread {why}: use --update atomic\n");
        assert_eq!(stderr(&refused), line);
    }
}

/// Atomic increments lose nothing, and nothing is said.
#[test]
fn threads_with_atomic_increments_are_ok() {
    let dir = folder();
    std::fs::write(dir.path().join("p.c"), PROGRAM).unwrap();
    let said = build(dir.path(), &["--update", "atomic"], "$CC -O1 -g p.c -o p");
    assert_eq!(
        said,
        "p3: p: 1 copy\np3: next: p3-rewrite suite -o p3 -- ./p\n"
    );
    check(dir.path(), "p", &[("t", "", true)]);
    check(dir.path(), "p", &[("tk", "", true)]);
}

/// By the libraries of C++ and of C11, and by a library that is counted while its program is not.
#[test]
fn threads_of_other_libraries_are_seen() {
    let dir = folder();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write(
        "x.cpp",
        "#include <future>\n#include <thread>\n#include <csignal>\n\
         int main(int n, char **) {\n\
         if (n > 1) { std::thread t([] { raise(0); }); t.join(); }\n\
         if (n > 2) std::async(std::launch::async, [] { raise(0); }).get();\n\
         if (n > 1) raise(SIGKILL);\n }\n",
    );
    write(
        "c.c",
        "#include <threads.h>\n#include <signal.h>\nstatic int f(void *a) { return a != 0; }\n\
         int main(int n, char **v) { thrd_t t; if (n > 1) { thrd_create(&t, f, v); thrd_join(t, 0); raise(SIGKILL); } \
         }\n",
    );
    write("work.c", "int work(int n) { return n > 1 ? n : -n; }\n");
    write(
        "host.c",
        "#include <pthread.h>\nint work(int);\nstatic void *f(void *a) { work(2); return a; }\n\
         int main(int n, char **v) { pthread_t t; work(n); if (n > 1) { pthread_create(&t, 0, f, v); pthread_join(t, \
         0); } }\n",
    );
    let compile = "$CXX -O1 x.cpp -o x && $CC -O1 c.c -o c && $CC -O1 -shared -fPIC work.c -o libwork.so && \
                   P3_OFF=1 $CC host.c -L. -lwork -Wl,-rpath,$PWD -o host";
    let said = build(dir.path(), &SINGLE, compile);
    assert!(said.contains("threads may lose counts of c, x: "), "{said}");
    let lost = "threads ran";
    for program in ["x", "c"] {
        check(dir.path(), program, &[("", "", true), ("1", lost, false)]);
    }
    for (arguments, expected) in [("", ""), ("1", lost)] {
        let found = verified(dir.path(), "libwork.so", &format!("./host {arguments}"));
        assert_eq!(
            found,
            (expected.to_string(), expected.is_empty()),
            "{arguments}"
        );
    }
}

/// Threads of OpenMP wait for work when the process ends, and are in no function. Where one is, or other threads were
/// started, it is not known which of them end in the middle; with counters of their own, all that they completed is
/// counted.
#[test]
fn openmp_threads_that_wait_at_exit_are_ok() {
    // By gcc's library, which is there where clang's need not be.
    let program = r#"
        #include <pthread.h>
        #include <stdlib.h>
        void GOMP_parallel(void (*body)(void *), void *, unsigned threads, unsigned flags);
        __attribute__((noinline)) static int work(int n) { int s = 0; while (n > 0) s += n-- % 3; return s; }
        static int first;
        static void body(void *ends) { if (work(1000) && ends && !__atomic_fetch_add(&first, 1, 5)) exit(0); }
        static void *other(void *a) { work(3); return a; }
        int main(int n, char **v) {
            pthread_t t;
            char what = n > 1 ? *v[1] : 0;
            if (what) GOMP_parallel(body, what == 'x' ? v : 0, 3, 0);
            if (what == 't') { pthread_create(&t, 0, other, 0); pthread_join(t, 0); }
        }"#;
    for update in ["atomic", "thread"] {
        let dir = folder();
        std::fs::write(dir.path().join("p.c"), program).unwrap();
        let line = "$CC -O1 -g p.c -o p \"$(gcc -print-file-name=libgomp.so)\" -lpthread";
        build(dir.path(), &["--update", update], line);
        for arguments in ["", "p", "x", "t"] {
            let found = verified(dir.path(), "p", &format!("./p {arguments}"));
            assert_eq!(found, (String::new(), true), "{update} {arguments}");
        }
    }
}

/// Copies by `make run`: reports repeat it, JSON has it, what is merged once more keeps it, and advice names the remedy
/// first.
#[test]
fn lost_counts_are_said_by_every_report() {
    let dir = folder();
    let dir = dir.path();
    std::fs::write(dir.join("p.c"), PROGRAM).unwrap();
    run(command(clang(), dir).args(["-O1", "-g", "-emit-llvm", "-c", "p.c", "-o", "p.bc"]));
    let options = ["p.bc", "-k", "1", "-o", "out", "--update", "single"];
    let said = stderr(&rewrite(dir, &options));
    let line = "warning: threads may lose counts (pthread_create, timer_create): without --update single they count \
        exactly\n";
    assert!(said.starts_with(line), "{said}");
    let other = ["p.bc", "-k", "1", "--scheme", "sbl", "-o", "other"];
    rewrite(dir, &[&other[..], &SINGLE].concat());
    for (out, arguments) in [("out", "ARGS=t"), ("other", "ARGS=")] {
        let mut make = command("make", dir);
        make.env("P3_PROF", PROF);
        run(make.args(["-s", "-C", out, "run", arguments]));
    }
    // What is printed, and warnings.
    let prof = |arguments: &str| {
        let done = run(command(PROF, dir).args(arguments.split(' ')));
        (
            String::from_utf8(done.stdout.clone()).unwrap(),
            stderr(&done),
        )
    };
    for arguments in [
        "show out",
        "coverage out",
        "export out --format lcov",
        "html out -o page",
        "top out --once",
    ] {
        let (printed, warned) = prof(arguments);
        let all = printed + &warned;
        let words: Vec<&str> = all.split_whitespace().collect();
        assert!(words.join(" ").contains(RAN), "{arguments}: {all}");
    }
    let json = parsed(prof("show out --format json").0.as_bytes());
    assert_eq!(json["program"]["verdict"], "incomplete");
    let incomplete = json["program"]["incomplete"][0].as_str().unwrap();
    assert!(incomplete.starts_with(RAN), "{json}");
    prof("merge -m out -o again.p3prof out/profile.p3prof");
    prof("union out other -o all.p3prof");
    for profile in ["again.p3prof", "all.p3prof"] {
        let (verified, _) = prof(&format!("verify {profile}"));
        assert!(
            verified.starts_with("incomplete: ") && verified.contains(RAN),
            "{verified}"
        );
    }
    let strict = command(PROF, dir)
        .args(["show", "out", "--strict"])
        .output();
    assert_eq!(strict.unwrap().status.code(), Some(1));
}

/// Several copies of a program that starts threads rarely run alike: whoever makes or runs them says so. One copy needs
/// no word, and samples are not compared.
#[test]
fn several_copies_of_program_with_threads_are_warned_of() {
    let dir = folder();
    let dir = dir.path();
    std::fs::write(dir.join("p.c"), PROGRAM).unwrap();
    run(command(clang(), dir).args(["-O1", "-g", "-emit-llvm", "-c", "p.c", "-o", "p.bc"]));
    let warning = "threads rarely run alike in several copies";
    let said = |words: &[&str]| stderr(&rewrite(dir, words));
    let line = format!(
        "warning: {warning} (pthread_create, timer_create): with -k 1 they count exactly\n"
    );
    let two = said(&["p.bc", "-k", "2", "-o", "two"]);
    assert!(two.starts_with(&line), "{two}");
    assert!(!said(&["p.bc", "-o", "one"]).contains(warning));
    #[cfg(feature = "estimates")]
    assert!(!said(&["p.bc", "-k", "2", "--scheme", "subpath", "-o", "sample"]).contains(warning));
    let line =
        format!("warning: {warning} of p, q: build with -k 1, which is exact with threads\n");
    let link = "$CC -O1 -g p.c -o p && $CC -O1 -g p.c -o q";
    let built = said(&["build", "-k", "2", "-o", "p3", "--", "sh", "-c", link]);
    let ran = said(&["suite", "-o", "p3", "--", "./p"]);
    for said in [built, ran] {
        assert_eq!(said.matches(warning).count(), 1, "{said}");
        assert!(said.contains(&line), "{said}");
    }
}
