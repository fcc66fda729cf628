//! Profiles of real processes that end badly: killed at random moments, forked, unloaded.

use crate::support::{
    PROF, copy_modules, exits, link, llvm, merge, module, paths, rewrite, run, runtime,
};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

const WORKER: &str = r#"
    #include <stdio.h>
    #include <unistd.h>
    __attribute__((noinline)) static int step(int i) {
        int sum = 0;
        for (int j = 0; j < i % 7; j++) sum += j % 3 ? j : i;
        return sum;
    }
    #define S(k) if (i >> k & 1) sum = sum * 3 + k; else sum ^= k;
    __attribute__((noinline)) static int many(unsigned i) {
        int sum = 0;
        S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12) S(13) S(14) S(15)
        return sum;
    }
    int main(void) {
        volatile int sink = 0;
        for (int i = 0;; i++) {
            sink += step(i) + many((unsigned)i * 2654435761u);
            if (i % 16 == 0) dprintf(1, "%d\n", i);
        }
    }"#;

/// 100 kills: what the last line on stdout proves to have run was counted, and not much more.
#[test]
fn no_count_is_lost_or_wrong_when_the_process_is_killed() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module(
        "w.c",
        WORKER,
        &["-O1", "-fno-inline"],
        &dir.join("input"),
    )];
    rewrite(&modules, &["--scheme", "sbl"], &dir.join("out"));
    let exe = dir.join("w.exe");
    link(
        &copy_modules(&modules, &dir.join("out"), 0),
        runtime(),
        &["-O1"],
        &exe,
    );
    let kills = std::env::var("P3_KILLS")
        .ok()
        .and_then(|k| k.parse().ok())
        .unwrap_or(100);
    let (mut largest, mut early) = (0, 0);
    for i in 0..kills {
        let raw = dir.join("out/raw");
        let _ = std::fs::remove_dir_all(&raw);
        let mut child = Command::new(&exe)
            .env("P3_PROFILE_FILE", raw.join("%p.p3raw"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Drained all the while, or the process would be killed in a blocked write.
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reader = std::thread::spawn(|| lines.map(|l| l.unwrap()).last());
        std::thread::sleep(Duration::from_micros(500 + (i * 7919 % 40_000)));
        child.kill().unwrap();
        let last = reader.join().unwrap();
        child.wait().unwrap();
        // Lines are written whole, or not at all.
        let printed: u64 = last.map_or(0, |l| l.parse().unwrap());
        let profiles = raw
            .read_dir()
            .map_or(0, |r| r.filter(|f| is_raw(f.as_ref().unwrap())).count());
        if profiles == 0 {
            assert_eq!(printed, 0, "killed before there was a profile");
            early += 1;
            continue;
        }
        let merged = merge(&dir.join("out"));
        let counted = exits(&merged);
        for function in ["step", "many"] {
            let n = counted.get(function).copied().unwrap_or(0);
            // The line was written after call number `printed`; at most 16 calls and the current
            // one came after it.
            assert!(
                (printed..=printed + 18).contains(&n),
                "{function}: {n}, printed {printed}"
            );
        }
        run(Command::new(PROF).arg("verify").arg(&merged));
        largest = largest.max(printed);
    }
    assert!(largest > 1000, "the process hardly ran");
    assert!(early * 4 < kills, "{early} of {kills} too early");
    println!("{kills} kills ({early} before the first count), up to {largest} calls each");
}

/// Four processes at once, each killed at some moment, and again, on the files of one pool: what they printed was
/// counted.
#[test]
fn no_count_of_a_pool_is_lost_or_doubled_when_processes_are_killed() {
    const THREADS: u64 = 4;
    const KILLS: u64 = 60;
    let dir = crate::support::folder();
    let dir = dir.path();
    let input = dir.join("input");
    let modules = [module("w.c", WORKER, &["-O1", "-fno-inline"], &input)];
    rewrite(&modules, &["--scheme", "sbl"], &dir.join("out"));
    let exe = dir.join("w.exe");
    let copies = copy_modules(&modules, &dir.join("out"), 0);
    link(&copies, runtime(), &["-O1"], &exe);
    let pattern = dir.join("out/raw/%k-%m.p3raw");
    let storm = &|thread: u64| {
        let mut printed = 0;
        for i in 0..KILLS {
            let mut child = Command::new(&exe)
                .env("P3_PROFILE_FILE", &pattern)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let reader = std::thread::spawn(|| lines.map(|l| l.unwrap()).last());
            std::thread::sleep(Duration::from_micros(
                300 + (i * 7919 + thread * 3571) % 20_000,
            ));
            child.kill().unwrap();
            printed += reader.join().unwrap().map_or(0, |l| l.parse().unwrap());
            child.wait().unwrap();
        }
        printed
    };
    let printed: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|t| scope.spawn(move || storm(t)))
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    let names = dir.join("out/raw").read_dir().unwrap();
    let files = names.filter(|f| is_raw(f.as_ref().unwrap())).count();
    assert!(files as u64 <= THREADS + 4, "{files} files");
    let merged = merge(&dir.join("out"));
    let counted = exits(&merged);
    for function in ["step", "many"] {
        let n = counted[function];
        let most = printed + 18 * THREADS * KILLS;
        assert!(
            (printed..=most).contains(&n),
            "{function}: {n}, printed {printed}"
        );
    }
    assert!(printed > 10_000, "the processes hardly ran");
    run(Command::new(PROF).arg("verify").arg(&merged));
}

fn is_raw(file: &std::fs::DirEntry) -> bool {
    file.path().extension().is_some_and(|e| e == "p3raw")
}

/// A library loaded and unloaded again and again, also in a forked child, and a second one.
#[test]
fn libraries_come_and_go() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let library = |name: &str, times: &str| {
        let source = format!(
            "int {name}(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += i % 3 ? {times} : i; return s; }}"
        );
        let modules = [module(
            &format!("{name}.c"),
            &source,
            &["-O1", "-fPIC"],
            &dir.join(name),
        )];
        let out = dir.join(format!("out-{name}"));
        rewrite(&modules, &["--scheme", "sbl"], &out);
        let so = dir.join(format!("lib{name}.so"));
        link(
            &copy_modules(&modules, &out, 0),
            runtime(),
            &["-O1", "-fPIC", "-shared"],
            &so,
        );
        out
    };
    let outs = [library("first", "2"), library("second", "5")];
    let host = r#"
        #include <dlfcn.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static int call(const char *so, const char *name, int n) {
            void *library = dlopen(so, RTLD_NOW);
            if (!library) { puts(dlerror()); exit(1); }
            int result = ((int (*)(int))dlsym(library, name))(n);
            dlclose(library);
            return result;
        }
        int main(void) {
            int sum = 0;
            for (int i = 0; i < 5; i++) sum += call("./libfirst.so", "first", i);
            sum += call("./libsecond.so", "second", 7);
            void *kept = dlopen("./libfirst.so", RTLD_NOW);
            int (*first)(int) = (int (*)(int))dlsym(kept, "first");
            if (fork() == 0) { first(3); dlclose(kept); call("./libsecond.so", "second", 1); _exit(0); }
            wait(NULL);
            first(1);
            printf("%d\n", sum);
            return 0;
        }"#;
    std::fs::write(dir.join("host.c"), host).unwrap();
    let exe = dir.join("host");
    run(Command::new(llvm("clang"))
        .arg(dir.join("host.c"))
        .args(["-ldl", "-o"])
        .arg(&exe));
    let output = Command::new(&exe)
        .current_dir(dir)
        .env("P3_PROFILE_FILE", "raw/x-%p.p3raw")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
    // Every file is of one of the two rewritings.
    for (out, name, expected) in [(&outs[0], "first", 5 + 1 + 1), (&outs[1], "second", 1 + 1)] {
        std::fs::rename(dir.join("raw"), out.join("raw")).unwrap();
        let merged = dir.join("merged.p3prof");
        let mut merge = Command::new(PROF);
        merge
            .args(["merge", "--failure-mode", "all", "-o"])
            .arg(&merged);
        run(merge
            .arg("-m")
            .arg(out.join("manifest.json"))
            .arg(out.join("raw")));
        assert_eq!(exits(&merged)[name], expected, "{name}");
        std::fs::rename(out.join("raw"), dir.join("raw")).unwrap();
    }
}

/// Copies merge to the same profile however they are linked.
#[test]
fn linkers_and_optimisation_levels() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = crate::support::compile("pure", &["-O1"], &dir.join("input"));
    rewrite(&modules, &["-k", "2"], &dir.join("out"));
    let mut first = None;
    for flags in [
        &["-O0"][..],
        &["-O3"],
        &["-O2", "-no-pie", "-fuse-ld=bfd"],
        &["-O2", "-pie", "-fPIE", "-fuse-ld=lld"],
        &["-O2", "-fuse-ld=gold", "-Wl,-z,relro,-z,now"],
        &["-O2", "-static"],
        &["-O2", "-flto", "-fuse-ld=lld"],
        &[
            "-O2",
            "-ffunction-sections",
            "-fdata-sections",
            "-Wl,--gc-sections",
        ],
        &[
            "-O2",
            "-fuse-ld=lld",
            "-Wl,--gc-sections,--icf=all",
            "-fdata-sections",
        ],
        &["-Os", "-mcmodel=large"],
    ] {
        let _ = std::fs::remove_dir_all(dir.join("out/raw"));
        for copy in 0..2 {
            let exe = dir.join("x.exe");
            link(
                &copy_modules(&modules, &dir.join("out"), copy),
                runtime(),
                flags,
                &exe,
            );
            crate::support::execute(&exe, &dir.join("out"));
        }
        let merged = merge(&dir.join("out"));
        run(Command::new(PROF).arg("verify").arg(&merged));
        let counted = paths(&merged);
        assert_eq!(first.get_or_insert(counted.clone()), &counted, "{flags:?}");
    }
}

/// With `--update atomic`, eight threads in one function lose no count.
#[test]
fn threads_are_counted_exactly() {
    let source = r#"
        #include <pthread.h>
        #define S(k) if (i >> k & 1) sum = sum * 3 + k; else sum ^= k;
        __attribute__((noinline)) static int many(unsigned i) {
            int sum = 0;
            S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12) S(13) S(14) S(15)
            return sum;
        }
        __attribute__((noinline)) static int few(int n) { return n % 3 ? n / 2 : n * 2; }
        static void *work(void *result) {
            int sum = 0;
            for (unsigned i = 0; i < 30000; i++) sum += many(i * 2654435761u % 5003) + few((int)i);
            *(int *)result = sum;
            return 0;
        }
        int main(void) {
            pthread_t threads[8];
            int results[8];
            for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, work, &results[i]);
            for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
            return 0;
        }"#;
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module(
        "t.c",
        source,
        &["-O1", "-fno-inline"],
        &dir.join("input"),
    )];
    for counters in ["auto", "call"] {
        let out = dir.join(counters);
        let options = ["-k", "2", "--update", "atomic", "--counters", counters];
        rewrite(&modules, &options, &out);
        for copy in 0..2 {
            let exe = out.join("x.exe");
            link(
                &copy_modules(&modules, &out, copy),
                runtime(),
                &["-O1"],
                &exe,
            );
            crate::support::execute(&exe, &out);
        }
        let merged = merge(&out);
        run(Command::new(PROF).arg("verify").arg(&merged));
        let counted = exits(&merged);
        assert_eq!(
            (counted["many"], counted["few"], counted["work"]),
            (240_000, 240_000, 8)
        );
    }
}

/// Copies that were given different inputs are found out, and the functions named.
#[test]
fn divergence_is_found() {
    let source = r#"
        #include <stdlib.h>
        __attribute__((noinline)) static int bud(int n) { return n % 7 ? n / 2 : n > 9 ? 3 : 4; }
        __attribute__((noinline)) static int twig(int n) { return n % 5 ? bud(n + 1) : n * 2; }
        __attribute__((noinline)) static int leaf(int n) { return n % 3 ? twig(n) : bud(n); }
        __attribute__((noinline)) static int walk(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++) sum += i % 5 ? leaf(i) : i % 2 ? leaf(n) : n;
            return sum;
        }
        int main(void) { return walk(atoi(getenv("P3_TEST_N"))) & 1; }"#;
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module(
        "d.c",
        source,
        &["-O1", "-fno-inline"],
        &dir.join("input"),
    )];
    for scheme in ["p3", "p3-hot", "pbl"] {
        let mut found = 0;
        for inputs in [["9", "9"], ["7", "300"], ["40", "33"]] {
            let out = dir.join(format!("{scheme}-{}", inputs.concat()));
            rewrite(&modules, &["-k", "2", "--scheme", scheme], &out);
            for (copy, input) in inputs.iter().enumerate() {
                let exe = out.join("x.exe");
                link(
                    &copy_modules(&modules, &out, copy as u32),
                    runtime(),
                    &["-O1"],
                    &exe,
                );
                let mut program = Command::new(&exe);
                program
                    .env("P3_TEST_N", input)
                    .env("P3_PROFILE_FILE", out.join("raw/%k.p3raw"));
                program.output().unwrap();
            }
            let merged = out.join("merged.p3prof");
            let mut command = Command::new(PROF);
            command
                .arg("merge")
                .arg("-m")
                .arg(out.join("manifest.json"))
                .arg("-o")
                .arg(&merged);
            let merge = command.arg(out.join("raw")).output().unwrap();
            let text = if merge.status.success() {
                Command::new(PROF)
                    .arg("verify")
                    .arg(&merged)
                    .output()
                    .unwrap()
                    .stdout
            } else {
                merge.stderr
            };
            let text = String::from_utf8_lossy(&text);
            let named = text.contains(": called ") || text.contains("copies did not run alike: ");
            assert!(
                named || inputs[0] == inputs[1],
                "{scheme} {inputs:?}: {text}"
            );
            assert!(
                !named || inputs[0] != inputs[1],
                "{scheme} {inputs:?}: {text}"
            );
            found += usize::from(named);
        }
        assert_eq!(found, 2);
    }
}

/// The resolver of an ifunc runs before any constructor, while the program is still being linked.
#[test]
fn ifunc_resolvers_are_counted() {
    let source = r#"
        static int twice(int n) { return n > 5 ? 10 : n * 2; }
        static int thrice(int n) { return n * 3; }
        static volatile int limit = 100; /* or the optimiser would resolve it */
        static int (*resolve(void))(int) {
            int bits = 0;
            for (int i = 1; i < limit; i *= 2) bits++;
            return bits == 7 ? twice : thrice;
        }
        int pick(int n) __attribute__((ifunc("resolve")));
        int main(void) { int s = 0; for (int i = 0; i < 9; i++) s += pick(i); return s; }"#;
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module(
        "i.c",
        source,
        &["-O1", "-fno-inline"],
        &dir.join("input"),
    )];
    for flags in [
        &["-O1"][..],
        &["-O1", "-no-pie", "-static"],
        &["-O1", "-Wl,-z,now"],
    ] {
        let out = dir.join(format!("out{}", flags.len()));
        rewrite(&modules, &["-k", "2"], &out);
        for copy in 0..2 {
            let exe = out.join("x.exe");
            link(&copy_modules(&modules, &out, copy), runtime(), flags, &exe);
            crate::support::execute(&exe, &out);
        }
        let merged = merge(&out);
        run(Command::new(PROF).arg("verify").arg(&merged));
        let counted = exits(&merged);
        assert_eq!(
            (counted["twice"], counted.get("thrice"), counted["resolve"]),
            (9, None, 1)
        );
    }
}
