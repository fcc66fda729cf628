//! Selections of programs that end badly: forked children, exceptions, `longjmp`, `exit` in the middle, files of a
//! pool, kills. Under every scheme that counts paths, with one to four copies, what is counted is what a whole profile
//! has.

use crate::selected::{compare, selection, some_of};
use crate::support::{
    PROF, copy_modules, link, merge, module, profile, rewrite, run, runtime, whole_profile,
};
use p3_rewrite::base::index::PathId;
use p3_rewrite::profile::Profile;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Every scheme that counts paths, with one to four copies.
fn all_schemes() -> Vec<(&'static str, u32)> {
    let spread = ["p3", "p3-weighted", "p3-hot", "pbl"];
    let spread = spread.iter().flat_map(|s| (1..=4).map(move |k| (*s, k)));
    [("sbl", 1)].into_iter().chain(spread).collect()
}

/// Children that count and end by `_exit` and `exit`, in the middle of loops of their parents; exceptions that leave
/// several frames; `longjmp` out of a loop; a second process; `exit` in the middle of it all.
const ENDS: &str = r#"
    #include <csetjmp>
    #include <cstdio>
    #include <cstdlib>
    #include <sys/wait.h>
    #include <unistd.h>
    static jmp_buf back;
    __attribute__((noinline)) static int step(int i) {
        int sum = 0;
        for (int j = 0; j < i % 7; j++) sum += j % 3 ? j : i;
        return sum;
    }
    __attribute__((noinline)) static int thrower(int i) {
        int sum = step(i);
        for (int j = 0; j < 4; j++) {
            if (j == i % 5) throw j;
            sum += step(j);
        }
        return sum;
    }
    __attribute__((noinline)) static int jumper(int i) {
        for (int j = 0; j < 5; j++) {
            if (j == i % 6) longjmp(back, j + 1);
            if (step(i + j) % 2) i++;
        }
        return i;
    }
    __attribute__((noinline)) static int forker(int i) {
        int sum = 0;
        for (int j = 0; j < 3; j++) {
            sum += step(i + j);
            if (j == i % 4) {
                fflush(stdout);
                pid_t child = fork();
                if (child == 0) {
                    int inside = step(i * 3);
                    if (i % 2) _exit(inside & 1);
                    exit(0);
                }
                int status;
                waitpid(child, &status, 0);
                sum += WIFEXITED(status);
            }
        }
        return sum;
    }
    int main() {
        volatile int sink = 0;
        for (int i = 0; i < 12; i++) {
            try { sink += thrower(i); } catch (int j) { sink += j; }
            if (setjmp(back) == 0) sink += jumper(i);
            sink += forker(i);
        }
        std::printf("%d\n", sink);
        for (int i = 0;; i++) if (step(i) > 20) exit(0);
    }"#;

/// With the paths of `whole` asked for in this way.
fn asked(whole: &Profile, i: usize) -> Value {
    let pairs = |counts: Vec<(PathId, u64)>| {
        let pairs = counts.iter().map(|(id, n)| json!([id.0, n * 100_000]));
        pairs.collect::<Vec<Value>>()
    };
    match i % 3 {
        // After half of the paths, with counts that make known sub-DAGs worth their code.
        0 => selection(
            whole,
            |_, counts, _| json!({"known": pairs(some_of(counts, |i| i % 2 == 0))}),
        ),
        1 => selection(
            whole,
            |f, _, edges| json!({"edges": (0..edges).filter(|e| (e + f) % 5 != 4).collect::<Vec<_>>()}),
        ),
        _ => selection(
            whole,
            |_, counts, _| json!({"known": pairs(counts.to_vec())}),
        ),
    }
}

#[test]
fn children_exceptions_and_jumps_are_counted_as_in_whole_profiles_under_every_scheme() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module("e.cpp", ENDS, &["-O1", "-g"], &dir.join("input"))];
    let exe = dir.join("native.exe");
    link(&modules, &[], &["-O1"], &exe);
    let expected = crate::support::execute(&exe, &dir.join("native"));
    let whole = whole_profile(&modules, &expected, &dir.join("whole"));
    let mut some = [0; 3];
    for (i, (scheme, copies)) in all_schemes().into_iter().enumerate() {
        let asked = asked(&whole, i);
        let file = dir.join(format!("{i}.json"));
        std::fs::write(&file, asked.to_string()).unwrap();
        let options = ["--selection", file.to_str().unwrap(), "--scheme", scheme];
        let out = dir.join(format!("{scheme}-{copies}"));
        let merged = profile(&modules, &options, copies, &["-O1"], &expected, &out);
        let selective = Profile::read(&merged).unwrap();
        some[i % 3] += compare(&whole, &selective, &asked);
        // Runs of a pool add up in the files of those before them.
        let pattern = out.join("raw/%k-%m.p3raw");
        std::fs::remove_dir_all(out.join("raw")).unwrap();
        for c in (0..copies).chain(0..copies) {
            let mut copy = Command::new(out.join(format!("copy-{c}.exe")));
            copy.stdout(Stdio::null());
            run(copy.env("P3_PROFILE_FILE", &pattern));
        }
        let twice = Profile::read(&merge(&out)).unwrap();
        for f in selective.functions() {
            let once = selective.paths().unwrap().counts(f).iter();
            let doubled: Vec<(PathId, u64)> = once.map(|(id, n)| (*id, 2 * n)).collect();
            let name = &selective.entry(f).name;
            assert_eq!(
                twice.paths().unwrap().counts(f),
                doubled,
                "{name}, {scheme} {copies}"
            );
        }
        std::fs::remove_dir_all(&out).unwrap();
    }
    assert!(some.iter().all(|n| *n > 0), "{some:?}");
}

/// Works until it is killed, or as often as its argument says.
const WORKER: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    __attribute__((noinline)) static int step(int i) {
        int sum = 0;
        for (int j = 0; j < i % 7; j++) sum += j % 3 ? j : i;
        return sum;
    }
    #define S(k) if (i >> k & 1) sum = sum * 3 + k; else sum ^= k;
    __attribute__((noinline)) static int many(unsigned i) {
        int sum = 0;
        S(0) S(1) S(2) S(3) S(4) S(5) S(6)
        return sum;
    }
    int main(int argc, char **argv) {
        volatile int sink = 0;
        int most = argc > 1 ? atoi(argv[1]) : -1;
        for (int i = 0; most < 0 || i < most; i++) {
            sink += step(i) + many((unsigned)i * 2654435761u);
            if (i % 16 == 0) dprintf(1, "%d\n", i);
        }
        return 0;
    }"#;

/// The counts of `step` and `many` in a run of the program below `out`.
fn counts_of(out: &Path, exe: &Path, times: u64) -> BTreeMap<(String, PathId), u64> {
    let _ = std::fs::remove_dir_all(out.join("raw"));
    let mut whole = Command::new(exe);
    whole.arg(times.to_string()).stdout(Stdio::null());
    run(whole.env("P3_PROFILE_FILE", out.join("raw/%p.p3raw")));
    counts(&merge(out))
}

fn counts(profile: &Path) -> BTreeMap<(String, PathId), u64> {
    let profile = Profile::read(profile).unwrap();
    let counted = profile.paths().unwrap();
    let of = |f| {
        let name = profile.entry(f).name.clone();
        let counts = counted.counts(f).iter();
        counts.map(move |(id, n)| ((name.clone(), *id), *n))
    };
    let all = profile.functions().flat_map(of);
    all.filter(|((name, _), _)| name != "main").collect()
}

/// One process, counting what is selected in a file, killed at some moment: what its last line proves to have run was
/// counted, each selected path as often as in a whole run of so many rounds, and not much oftener.
#[test]
fn no_count_of_selected_paths_is_lost_when_the_process_is_killed() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let flags = ["-O1", "-fno-inline"];
    let modules = [module("w.c", WORKER, &flags, &dir.join("input"))];
    let build = |name: &str, options: &[&str]| -> (PathBuf, PathBuf) {
        let out = dir.join(name);
        rewrite(&modules, &[options, &["-k", "1"]].concat(), &out);
        let exe = out.join("w.exe");
        link(&copy_modules(&modules, &out, 0), runtime(), &["-O1"], &exe);
        (out, exe)
    };
    let (whole, whole_exe) = build("whole", &["--scheme", "sbl"]);
    counts_of(&whole, &whole_exe, 500);
    let profile = Profile::read(&whole.join("merged.p3prof")).unwrap();
    let mut late = 0;
    for i in 0..2 {
        let file = dir.join(format!("{i}.json"));
        std::fs::write(&file, asked(&profile, i).to_string()).unwrap();
        let options = ["--scheme", "p3-hot", "--selection", file.to_str().unwrap()];
        let (out, exe) = build(&format!("selected-{i}"), &options);
        for kill in 0..8u64 {
            let _ = std::fs::remove_dir_all(out.join("raw"));
            let mut child = Command::new(&exe)
                .env("P3_PROFILE_FILE", out.join("raw/%p.p3raw"))
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let reader = std::thread::spawn(|| lines.map(|l| l.unwrap()).last());
            std::thread::sleep(Duration::from_micros(2000 + (kill * 7919 % 30_000)));
            child.kill().unwrap();
            let printed = reader.join().unwrap();
            child.wait().unwrap();
            let Some(printed) = printed.and_then(|l| l.parse::<u64>().ok()) else {
                continue;
            };
            let merged = merge(&out);
            run(Command::new(PROF).arg("verify").arg(&merged));
            let found = counts(&merged);
            let selective = Profile::read(&merged).unwrap();
            let [least, most] = [printed, printed + 18].map(|n| counts_of(&whole, &whole_exe, n));
            for f in selective.functions() {
                let name = &selective.entry(f).name;
                if name == "main" || selective.entry(f).status.is_skipped() {
                    continue;
                }
                let structure = selective.structure(f).unwrap();
                let counted = selective.counted_paths(f, &structure).unwrap();
                for id in structure.paths.ids() {
                    let key = (name.clone(), id);
                    let of = |counts: &BTreeMap<_, u64>| counts.get(&key).copied().unwrap_or(0);
                    let expected = if counted.contain_id(&structure.paths, id) {
                        of(&least)..=of(&most)
                    } else {
                        0..=0
                    };
                    let n = of(&found);
                    assert!(expected.contains(&n), "{name} #{id}: {n}, not {expected:?}");
                }
            }
            late += 1;
        }
    }
    assert!(late > 8, "{late} of 16 kills came after the first line");
}
