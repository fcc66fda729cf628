//! Counters of all modules of a link are one area: one mapping, and one of each system call.

use crate::support::driver::{SANITIZERS, built, counts, drive};
use crate::support::{
    copy_modules, exits, folder, link, merge, module, rewrite, run, runtime, tool,
};
use p3_rewrite::base::index::FuncId;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints how many mappings of its profile the process has, and a forked child does the same.
const MAIN: &str = r#"
    #include <stdio.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static int count_mappings(void) {
        char line[4096];
        int n = 0;
        FILE *maps = fopen("/proc/self/maps", "r");
        while (fgets(line, sizeof line, maps)) n += strstr(line, ".p3raw") != NULL;
        fclose(maps);
        return n;
    }
    int call(int n);
    int main(int argc, char **argv) {
        int sum = call(argc);
        printf("%d\n", count_mappings());
        fflush(stdout);
        if (argc > 1 && fork() == 0) {
            sum += call(argc);
            printf("%d\n", count_mappings());
            fflush(stdout);
            _exit(0);
        }
        while (wait(NULL) > 0)
            ;
        return sum == -1;
    }"#;

/// So many modules, each with a function `fI` that is called I + 1 times by `call`, main's included.
fn modules(n: usize, dir: &Path) -> Vec<PathBuf> {
    let calls: String = (1..n)
        .map(|i| format!("int f{i}(int); for (int i = 0; i <= {i}; i++) s += f{i}(n);"))
        .collect();
    let last = format!("{MAIN}\nint call(int n) {{ int s = 0; {calls} return s; }}");
    let code = |i: usize| match i {
        0 => last.clone(),
        i => format!(
            "int f{i}(int n) {{ int s = {i}; while (n-- > 0) s ^= n % 3 ? n : {i}; return s; }}"
        ),
    };
    let one = |i: usize| module(&format!("m{i}.c"), &code(i), &["-O1", "-fPIC"], dir);
    (0..n).map(one).collect()
}

/// Runs it with its files in `out/raw`: what it printed.
fn start(exe: &Path, arguments: &[&str], out: &Path, pattern: &str) -> String {
    let mut command = Command::new(exe);
    command.args(arguments);
    let done = run(command.env("P3_PROFILE_FILE", out.join("raw").join(pattern)));
    String::from_utf8(done.stdout).unwrap()
}

/// That each function returned as often as it was called, `times` over.
fn check(out: &Path, n: usize, times: u64, what: &str) {
    let counted = exits(&merge(out));
    for i in 1..n {
        let expected = (i as u64 + 1) * times;
        assert_eq!(
            counted.get(&format!("f{i}")),
            Some(&expected),
            "{what}: f{i}"
        );
    }
    std::fs::remove_dir_all(out.join("raw")).unwrap();
}

/// By each linker, in each kind of program: the header and the counters of all modules, also in a forked child.
#[test]
fn modules_of_a_link_have_one_mapping() {
    const N: usize = 10;
    let dir = folder();
    let modules = modules(N, &dir.path().join("input"));
    let out = dir.path().join("out");
    rewrite(&modules, &["-k", "1"], &out);
    let copies = copy_modules(&modules, &out, 0);
    let (gold, lld) = ("-fuse-ld=gold", "-fuse-ld=lld");
    let links: [&[&str]; 10] = [
        &["-O1", "-pie"],
        &["-O1", "-no-pie"],
        &["-O1", "-static"],
        &["-O1", "-static-pie"],
        &["-O1", "-Wl,--gc-sections"],
        &["-O1", "-pie", gold, "-Wl,--gc-sections"],
        &["-O1", "-pie", lld],
        &[
            "-O1",
            "-no-pie",
            lld,
            "-Wl,--gc-sections",
            "-Wl,-z,start-stop-gc",
        ],
        &["-O1", "-flto", lld],
        &[
            "-O1",
            "-flto",
            lld,
            "-Wl,--gc-sections",
            "-Wl,-z,start-stop-gc",
        ],
    ];
    for flags in links {
        if flags.contains(&gold) && !tool("ld.gold").exists() {
            continue;
        }
        let (exe, what) = (dir.path().join("exe"), format!("{flags:?}"));
        link(&copies, runtime(), flags, &exe);
        assert_eq!(start(&exe, &[], &out, "%p.p3raw"), "2\n", "{what}");
        check(&out, N, 1, &what);
        assert_eq!(start(&exe, &["fork"], &out, "%p.p3raw"), "2\n2\n", "{what}");
        check(&out, N, 2, &what);
    }
}

/// Processes that take a file over find their area in it, and add no other.
#[test]
fn areas_are_taken_over() {
    const N: usize = 8;
    let dir = folder();
    let modules = modules(N, &dir.path().join("input"));
    let out = dir.path().join("out");
    rewrite(&modules, &["-k", "1"], &out);
    let exe = dir.path().join("exe");
    link(&copy_modules(&modules, &out, 0), runtime(), &["-O1"], &exe);
    let size = || {
        let files: Vec<_> = out.join("raw").read_dir().unwrap().collect();
        assert_eq!(files.len(), 1);
        files[0].as_ref().unwrap().metadata().unwrap().len()
    };
    // The header, how processes were started, the counters.
    assert_eq!(start(&exe, &[], &out, "%m.p3raw"), "3\n");
    let first = size();
    for _ in 0..4 {
        assert_eq!(start(&exe, &[], &out, "%m.p3raw"), "3\n");
    }
    assert_eq!(size(), first);
    check(&out, N, 5, "a pool");
}

/// A process that is killed while it writes its area, if strace is there to do that, leaves a file that is read and
/// taken over.
#[test]
fn areas_that_were_not_written_are_passed_over() {
    let dir = folder();
    // What is said of these modules takes several pages.
    let many = |i: usize| {
        let all = (0..60).map(|j| format!("int g{i}_{j}(int n) {{ return n > {j} ? n : 0; }}"));
        let code = format!(
            "{}\nint f{i}(int n) {{ return n + 1; }}",
            all.collect::<String>()
        );
        module(
            &format!("m{i}.c"),
            &code,
            &["-O1"],
            &dir.path().join("input"),
        )
    };
    let main =
        "int f1(int), f2(int), f3(int); int main(void) { return f1(1) + f2(2) + f3(3) - 9; }";
    let main = module("m0.c", main, &["-O1"], &dir.path().join("input"));
    let modules: Vec<_> = [main].into_iter().chain((1..4).map(many)).collect();
    let out = dir.path().join("out");
    rewrite(&modules, &["-k", "1"], &out);
    let exe = dir.path().join("exe");
    link(&copy_modules(&modules, &out, 0), runtime(), &["-O1"], &exe);
    for (call, number) in [
        ("pwritev", 1),
        ("pwritev", 2),
        ("pwrite64", 1),
        ("mmap", 12),
        ("madvise", 1),
    ] {
        let mut strace = Command::new("strace");
        let inject = format!("inject={call}:signal=KILL:when={number}");
        strace
            .args(["-qq", "-o", "/dev/null", "-e", &inject])
            .arg(&exe);
        let raw = out.join("raw");
        if strace
            .env("P3_PROFILE_FILE", raw.join("%m.p3raw"))
            .output()
            .is_err()
        {
            return;
        }
        start(&exe, &[], &out, "%m.p3raw");
        let counted = exits(&merge(&out));
        for f in ["f1", "f2", "f3", "main"] {
            assert!(
                matches!(counted.get(f), Some(1 | 2)),
                "{call} {number}: {counted:?}"
            );
        }
        std::fs::remove_dir_all(raw).unwrap();
    }
}

/// As strace tells, where it is there: a start takes as many system calls for many modules as for one.
#[test]
fn system_calls_do_not_grow_with_modules() {
    if Command::new("strace").arg("true").output().is_err() {
        return;
    }
    let dir = folder();
    let count = |n: usize| {
        let dir = dir.path().join(n.to_string());
        let modules = modules(n, &dir.join("input"));
        rewrite(&modules, &["-k", "1"], &dir.join("out"));
        let exe = dir.join("exe");
        let copies = copy_modules(&modules, &dir.join("out"), 0);
        link(&copies, runtime(), &["-O1"], &exe);
        let mut strace = Command::new("strace");
        strace.arg("-o").arg(dir.join("calls")).arg(&exe);
        run(strace.env("P3_PROFILE_FILE", dir.join("%k.p3raw")));
        let calls = std::fs::read_to_string(dir.join("calls")).unwrap();
        calls.lines().count()
    };
    // With more than 16 pages of counters, four tell which of them were touched before; one more ends what is said of
    // modules on several pages.
    let (one, many) = (count(2), count(40));
    assert!(many <= one + 6, "{one}, {many}");
}

/// What `areas_test.c` counts in each file, by function.
fn expected() -> BTreeMap<u32, BTreeMap<u64, u64>> {
    let of = |f: u32| (f, BTreeMap::from([(0, u64::from(f)), (1, 1)]));
    (1..=6).map(of).collect()
}

/// Modules that are listed in another order than their counters lie in, with a gap between them, without counters, and
/// not at all: everything is counted, whatever becomes of the process.
#[test]
fn modules_that_are_apart_are_counted() {
    let plain: [&[&str]; 1] = [&[]];
    for flags in plain.iter().chain(&SANITIZERS) {
        let dir = folder();
        let exe = built("areas_test", flags);
        let ways = [
            ("exit", 1),
            ("kill", 1),
            ("fork", 2),
            ("reset", 1),
            ("rotate", 2),
            ("memory", 1),
        ];
        for (way, files) in ways {
            let (output, profiles) = drive(&exe, way, Some("%p.p3raw"), dir.path());
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(profiles.len(), files, "{way}: {stderr}");
            for (name, raw) in &profiles {
                let counted: BTreeMap<u32, _> = (1..=6).map(|f| (f, counts(raw, f))).collect();
                assert_eq!(counted, expected(), "{flags:?} {way} {name}: {stderr}");
                assert!(
                    raw.functions.contains_key(&FuncId(7)),
                    "{flags:?} {way} {name}"
                );
            }
        }
    }
}
