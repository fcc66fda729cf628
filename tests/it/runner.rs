//! The output folder's Makefile: link, run, compare, merge, report.

use crate::support::text::{assert_line, in_dir};
use crate::support::{
    PROF, compile, parsed, processes_of, project, rewrite, shell_with_mounts, wait_until,
};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rewrites C source into `dir/out`.
fn rewritten(source: &str, copies: &str, dir: &Path) -> PathBuf {
    let file = dir.join("program.c");
    std::fs::write(&file, source).unwrap();
    let module = dir.join("program.bc");
    let mut clang = Command::new(crate::support::llvm("clang"));
    clang
        .args(["-O1", "-g", "-w", "-emit-llvm", "-c"])
        .arg(file)
        .arg("-o")
        .arg(&module);
    crate::support::run(&mut clang);
    rewrite(&[module], &["-k", copies], &dir.join("out"));
    dir.join("out")
}

/// Runs make in `dir`; whether it succeeded, and all it printed.
fn make(dir: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new("make");
    command
        .args(["-s", "-C", "out"])
        .args(arguments)
        .arg(format!("P3_PROF={PROF}"));
    let output = command.env("PWD", dir).current_dir(dir).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

#[test]
fn the_whole_run() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = r#"
        #include <stdio.h>
        int main(int argc, char **argv) {
            int c, n = 0;
            while ((c = getchar()) != EOF) n += c == 'x' ? 2 : 1;
            for (int i = 1; i < argc; i++) printf("[%s]", argv[i]);
            FILE *f = fopen("data", "r");
            printf("%s %d %d\n", argv[0], n, f ? fgetc(f) : -1);
            return 0;
        }"#;
    rewritten(source, "3", dir);
    std::fs::write(dir.join("input"), "xxyxx").unwrap();
    std::fs::write(dir.join("data"), "A").unwrap();
    let (ok, text) = make(
        dir,
        &[
            "-j2",
            "run",
            "ARGS=one 'two words'",
            "STDIN=input",
            "FILES=data",
        ],
    );
    assert!(ok, "{text}");
    for copy in 0..3 {
        let of =
            |what: &str| std::fs::read_to_string(dir.join(format!("out/run/copy-{copy}/{what}")));
        assert_eq!(of("stdout").unwrap(), "[one][two words]../program 9 65\n");
        assert_eq!(
            (
                of("stderr").unwrap().as_str(),
                of("status").unwrap().as_str()
            ),
            ("", "0\n")
        );
    }
    let (ok, report) = make(dir, &["report"]);
    assert!(
        ok && report.contains(" paths executed, ") && report.contains("program.c:5"),
        "{report}"
    );
    // Again, from a pipe; then the folder elsewhere.
    let piped = Command::new("sh")
        .args([
            "-c",
            "printf yy | make -s -C out run STDIN=- P3_PROF=$0",
            PROF,
        ])
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(piped.status.success());
    assert_eq!(
        std::fs::read_to_string(dir.join("out/run/copy-2/stdout")).unwrap(),
        "../program 2 -1\n"
    );
    let (ok, text) = make(dir, &["clean"]);
    assert!(
        ok && !dir.join("out/run").exists() && !dir.join("out/profile.p3prof").exists(),
        "{text}"
    );
    std::fs::create_dir(dir.join("elsewhere")).unwrap();
    std::fs::rename(dir.join("out"), dir.join("elsewhere/out")).unwrap();
    let (ok, text) = make(&dir.join("elsewhere"), &["run"]);
    assert!(ok, "{text}");
    let (ok, text) = make(&dir.join("elsewhere"), &["native"]);
    assert!(
        ok && dir.join("elsewhere/out/bin/native").exists(),
        "{text}"
    );
}

/// What keeps counts short is for copies alone, and can be left out for a compiler that does not know it.
#[test]
fn options_for_llvm() {
    let dir = crate::support::folder();
    rewritten("int main(void) { return 0; }", "1", dir.path());
    let commands = |target: &str, passes: &[&str]| {
        let (ok, text) = make(dir.path(), &[&["-n", target], passes].concat());
        assert!(ok, "{text}");
        text
    };
    let given = |text: &str| text.contains("-mllvm");
    assert!(given(&commands("bin/copy-0", &[])));
    assert!(!given(&commands("bin/copy-0", &["P3_PASSES="])));
    assert!(!given(&commands("bin/native", &[])));
    // Only where edges are counted are all edges of φs split.
    let splits = |text: &str| text.contains("-phi-elim-split-all-critical-edges");
    assert!(!splits(&commands("bin/copy-0", &[])));
    let (ok, text) = make(dir.path(), &["bin/copy-0", "P3_PASSES="]);
    assert!(ok, "{text}");
    let module = dir.path().join("program.bc");
    let rewritten_by = |scheme: &str| {
        let module = std::slice::from_ref(&module);
        rewrite(module, &["--scheme", scheme], &dir.path().join("out"));
        commands("bin/copy-0", &[])
    };
    assert!(splits(&rewritten_by("edge")));
    // Only where several iterations stand side by side is no loop reduced.
    let reduces = |text: &str| !text.contains("-disable-lsr");
    assert!(!reduces(&rewritten_by("subpath")));
    assert!(reduces(&rewritten_by("sbl")));
}

/// A line says which module or program is made; commands are shown if they are asked for, and nothing by `make -s`.
#[test]
fn commands_are_shown_if_asked_for() {
    let dir = crate::support::folder();
    rewritten("int main(void) { return 0; }", "1", dir.path());
    let made = |options: &[&str]| {
        let (ok, text) = make(dir.path(), &["clean"]);
        assert!(ok, "{text}");
        let mut command = Command::new("make");
        command.args(["--no-print-directory", "-C", "out", "all"]);
        let output = command.args(options).current_dir(dir.path()).output();
        let output = output.unwrap();
        assert!(output.status.success());
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let short = "  CC    copy-0/m0.bc\n  LINK  bin/copy-0\n";
    assert_eq!(made(&["ARGS=-s sss"]), short);
    assert_eq!(made(&["-j2", "V=0"]), short);
    assert_eq!(made(&["-s"]), "");
    let whole = made(&["V=1"]);
    assert!(whole.contains(" -c runtime/p3_register.c -o "), "{whole}");
    assert!(whole.contains(" -c copy-0/m0.bc -o "), "{whole}");
    assert!(!whole.contains("LINK"), "{whole}");
}

/// What another version left is gone, what the user put there is not.
#[test]
fn an_old_folder_is_taken_over() {
    let dir = crate::support::folder();
    let source = "int main(int argc, char **argv) { return argc > 5; }";
    let out = rewritten(source, "3", dir.path());
    let manifest = std::fs::read_to_string(out.join("manifest.json")).unwrap();
    let older = manifest.replacen("\"version\":", "\"version\":1", 1);
    assert_ne!(older, manifest);
    std::fs::write(out.join("manifest.json"), older).unwrap();
    std::fs::write(out.join("runtime/p3_old.c"), "#error old\n").unwrap();
    let mine = ["notes.txt", "copy-1/notes.txt", "native/m1.bc"];
    for file in mine {
        std::fs::write(out.join(file), "mine\n").unwrap();
    }
    assert_eq!(rewritten(source, "1", dir.path()), out);
    let (built, said) = make(dir.path(), &["all"]);
    assert!(built, "{said}");
    assert!(!out.join("copy-2").exists() && !out.join("copy-1/m0.bc").exists());
    for file in mine {
        assert_eq!(std::fs::read_to_string(out.join(file)).unwrap(), "mine\n");
    }
}

#[test]
fn a_failing_program_fails_the_run() {
    let dir = crate::support::folder();
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            if (argc > 1) abort();
            fprintf(stderr, "it broke\n");
            return 7;
        }"#;
    rewritten(source, "2", dir.path());
    let (ok, text) = make(dir.path(), &["run"]);
    let expected = "p3: every copy ended with status 7; its stderr ends:\nit broke\n\
                    p3: it ran without arguments (ARGS='…' gives it some); copies run in folders of their own, \
                    so name the files that it reads in FILES";
    assert!(!ok && text.contains(expected), "{text}");
    assert!(
        text.find("FILES=").unwrap() < text.find("ALLOW_STATUS=7").unwrap(),
        "{text}"
    );
    let (ok, text) = make(dir.path(), &["run", "ALLOW_STATUS=7"]);
    assert!(ok, "{text}");
    let (ok, text) = make(dir.path(), &["run", "ARGS=x"]);
    assert!(!ok, "{text}");
    assert_line(
        &text,
        "p3: every copy ended with status 134 (signal 6); its stderr is empty",
    );
    let (ok, text) = make(dir.path(), &["run", "STDIN=nothing"]);
    assert!(!ok, "{text}");
    assert_line(&text, "p3: cannot read STDIN=nothing");
}

#[test]
fn copies_that_differ_are_found() {
    let dir = crate::support::folder();
    let source = r#"
        #include <stdio.h>
        #include <unistd.h>
        int main(void) { printf("process %d\n", getpid()); return 0; }"#;
    rewritten(source, "2", dir.path());
    let (ok, text) = make(dir.path(), &["run"]);
    assert!(!ok, "{text}");
    assert_line(
        &text,
        "p3: copies 0 and 1 differ in their stdout; did both run the same way?",
    );
    assert!(!dir.path().join("out/profile.p3prof").exists());
}

/// A run that is not merged leaves the profile of an earlier one: whoever reads it next is told.
#[test]
fn profiles_of_earlier_runs_are_said_to_be() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let out = rewritten(
        "int main(int argc, char **argv) { return argc - 1; }",
        "2",
        dir,
    );
    let old = "p3: profile.p3prof is of an earlier run; later runs are not merged\n";
    let fails = |arguments: &[&str]| {
        let (ok, said) = make(dir, arguments);
        assert!(!ok, "{said}");
        said
    };
    assert!(!fails(&["run", "ARGS=x"]).contains("earlier run"));
    let merged = |arguments: &[&str]| {
        let (ok, said) = make(dir, arguments);
        assert!(ok && !said.contains("earlier run"), "{said}");
    };
    merged(&["run"]);
    merged(&["report"]);
    let before = std::fs::read(out.join("profile.p3prof")).unwrap();
    assert!(fails(&["run", "ARGS=x"]).contains(old));
    assert!(fails(&["merge"]).contains(old));
    let (ok, said) = make(dir, &["report"]);
    assert!(ok && said.contains(old), "{said}");
    assert_eq!(std::fs::read(out.join("profile.p3prof")).unwrap(), before);
    merged(&["run", "ARGS=x", "ALLOW_STATUS=1"]);
    merged(&["report"]);
}

/// What `show` counts of the function `work`: paths that ran through it.
fn work(profile: &Path) -> u64 {
    let mut show = Command::new(PROF);
    show.args([
        "show",
        "--edges",
        "--format",
        "json",
        "--function",
        "^work$",
    ]);
    let shown = crate::support::run(show.arg(profile)).stdout;
    let json = parsed(&shown);
    json["functions"][0]["entry"].as_u64().unwrap()
}

/// Calls `work` as often as its argument says; with a second argument, does not end by itself.
const WORKER: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    __attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n % 3 ? n : 1; }
    int main(int argc, char **argv) {
        int sum = 0;
        for (int i = 0; i < atoi(argv[1]); i++) { sum += work(i); usleep(1000); }
        printf("%d\n", sum);
        fflush(stdout);
        if (argc > 2 && fork() == 0) {
            setsid();
            close(1); close(2);
            alarm(60);
            while (access(argv[2], F_OK) != 0) usleep(10000);
            if (fork() == 0) { work(1); work(2); }
            return 0;
        }
        alarm(60);
        while (argc > 2) pause();
        return 0;
    }"#;

#[test]
fn two_runs_at_once_do_not_mix() {
    let dir = crate::support::folder();
    let out = rewritten(WORKER, "2", dir.path());
    // Both find it taken, however fast they are.
    let lock = std::fs::File::create(out.join(".p3-lock")).unwrap();
    lock.lock().unwrap();
    let runs = [300, 400].map(|n: u32| {
        let mut make = Command::new("make");
        make.args(["-s", "-j2", "-C", "out", "run"]);
        make.arg(format!("ARGS={n}"));
        make.arg(format!("PROFILE={n}.p3prof"));
        make.arg(format!("P3_PROF={PROF}"));
        make.stderr(std::process::Stdio::piped());
        let mut run = make.current_dir(dir.path()).spawn().unwrap();
        let mut first = String::new();
        let mut said = BufReader::new(run.stderr.take().unwrap());
        said.read_line(&mut first).unwrap();
        assert!(first.starts_with("p3: waiting for another"), "{first}");
        (n, run, said)
    });
    lock.unlock().unwrap();
    for (n, mut run, mut said) in runs {
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert!(run.wait().unwrap().success(), "{rest}");
        assert_eq!(work(&out.join(format!("{n}.p3prof"))), u64::from(n));
    }
    // A rewriting does not wait for one that may go on for long: it says so.
    lock.lock_shared().unwrap();
    let mut again = Command::new(crate::support::REWRITE);
    again.arg("program.bc").args(["-o", "out"]);
    let output = again.current_dir(dir.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: out: another p3-rewrite or make is running in this folder; "));
    assert!(out.join("manifest.json").exists());
}

/// A run that was killed holds no lock, and what is left of it, or still runs, is in no later merge.
#[test]
fn killed_runs_leave_nothing() {
    use std::os::unix::process::CommandExt;
    let dir = crate::support::folder();
    let dir = dir.path();
    let out = rewritten(WORKER, "2", dir);
    let flag = dir.join("flag");
    let mut killed = Command::new("make");
    killed.args(["-s", "-j2", "-C", "out", "run"]);
    killed.arg(format!("ARGS=7 {}", flag.display()));
    let mut killed = killed.process_group(0).current_dir(dir).spawn().unwrap();
    let printed = |k: u32| std::fs::read(out.join(format!("run/copy-{k}/stdout")));
    let started = || (0..2).all(|k| printed(k).is_ok_and(|text| !text.is_empty()));
    assert!(wait_until(started));
    // What only says what it would do waits for nobody.
    for dry in ["run", "run-0", "merge", "clean"] {
        let (ok, said) = make(dir, &["-n", dry]);
        assert!(ok && !said.contains("waiting"), "{said}");
    }
    // By the shell's own kill: that of procps 4.0.2 reads `-9 -123` as all processes there are.
    let mut kill = Command::new("sh");
    kill.args(["-c", r#"kill -s KILL -- "-$1""#, "sh"]);
    crate::support::run(kill.arg(killed.id().to_string()));
    killed.wait().unwrap();
    let (merged, said) = make(dir, &["merge"]);
    assert!(!merged, "{said}");
    assert_line(&said, "p3: copy 0 has not run to its end: make run-0");
    let (ran, said) = make(dir, &["run", "ARGS=5"]);
    assert!(ran && !said.contains("waiting"), "{said}");
    // Now the children of the killed run fork again, and would have written to where this one's profiles are.
    std::fs::write(&flag, "").unwrap();
    assert!(wait_until(|| processes_of(&out).is_empty()));
    let (merged, said) = make(dir, &["merge"]);
    assert!(merged, "{said}");
    assert_eq!(work(&out.join("profile.p3prof")), 5);
}

/// Copies run one by one, as on hosts of their own.
#[test]
fn single_copies_and_the_merge() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let out = rewritten(WORKER, "3", dir);
    let (ok, said) = make(dir, &["-j2", "run-0", "run-2", "ARGS=4"]);
    assert!(ok && said.is_empty(), "{said}");
    let (ok, said) = make(dir, &["merge"]);
    assert!(!ok, "{said}");
    assert_line(&said, "p3: copy 1 has not run to its end: make run-1");
    // On another host, with a folder of its own.
    let other = dir.join("other");
    std::fs::create_dir(&other).unwrap();
    crate::support::run(Command::new("cp").arg("-R").arg(&out).arg(&other));
    for (arguments, alike) in [("ARGS=6", false), ("ARGS=4", true)] {
        let (ok, said) = make(&other, &["run-1", arguments]);
        assert!(ok, "{said}");
        let copy = other.join("out/run/copy-1");
        let _ = std::fs::remove_dir_all(out.join("run/copy-1"));
        crate::support::run(Command::new("cp").arg("-R").arg(copy).arg(out.join("run")));
        let (ok, said) = make(dir, &["merge"]);
        assert_eq!(ok, alike, "{said}");
        assert!(
            ok || said.contains("copies 0 and 1 differ in their args"),
            "{said}"
        );
    }
    assert_eq!(work(&out.join("profile.p3prof")), 4);
}

/// What depends on the time: a seed, times printed, a loop until time has passed, and sleeps.
const CLOCKS: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/resource.h>
    #include <sys/time.h>
    #include <sys/times.h>
    #include <time.h>
    #include <unistd.h>
    __attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n % 7 < 3 ? n : 1; }
    int main(int argc, char **argv) {
        struct timespec now;
        struct timeval day;
        struct tms used;
        struct rusage usage;
        clock_gettime(CLOCK_MONOTONIC, &now);
        gettimeofday(&day, NULL);
        srand((unsigned)(now.tv_nsec ^ day.tv_usec ^ time(NULL) ^ times(&used) ^ clock()));
        int sum = 0;
        for (int i = rand() % 5000; i < 10000; i++) sum += work(rand());
        time_t start = time(NULL);
        while (time(NULL) < start + 2) sum += work(sum);
        usleep(3000);
        sleep(argc > 1);
        timespec_get(&now, TIME_UTC);
        getrusage(RUSAGE_SELF, &usage);
        printf("%s%d %ld %ld\n", ctime(&start), sum, now.tv_nsec, (long)usage.ru_utime.tv_usec);
        if (argc > 1) printf("%d\n", clock_gettime(999, &now));
        return 0;
    }"#;

/// What depends on the kernel's random numbers, in each way that there is to get them.
const RANDOM: &str = r#"
    #include <fcntl.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/random.h>
    #include <unistd.h>
    __attribute__((noinline)) int work(unsigned n) { __asm__ volatile(""); return n % 7 < 3 ? 2 : 1; }
    int main(void) {
        unsigned n[7] = {arc4random(), arc4random_uniform(1000000)};
        arc4random_buf(n + 2, 4);
        if (getrandom(n + 3, 4, 0) != 4 || getentropy(n + 4, 4) != 0) return 1;
        FILE *stream = fopen("/dev/urandom", "r");
        int file = open("/dev/random", O_RDONLY);
        if (fread(n + 5, 4, 1, stream) != 1 || read(file, n + 6, 4) != 4) return 1;
        fclose(stream);
        close(file);
        int sum = 0;
        for (int i = 0; i < 7; i++)
            for (unsigned r = n[i] % 1000; r < 1000; r++) sum += work(r);
        printf("%d", sum);
        for (int i = 0; i < 7; i++) printf(" %u", n[i]);
        // Everything else is opened as ever.
        FILE *made = fopen("made", "w");
        fputs("here", made);
        fclose(made);
        char text[5] = "";
        file = open("made", O_RDONLY);
        if (read(file, text, 4) != 4 || open("none", O_RDONLY) >= 0) return 1;
        int other = open("other", O_CREAT | O_WRONLY, 0640);
        printf(" %s %d\n", text, other > file);
        return access("other", R_OK);
    }"#;

#[test]
fn random_numbers_repeat_with_the_clock() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let out = rewritten(RANDOM, "2", dir);
    let (ok, said) = make(dir, &["-j2", "run"]);
    assert!(!ok, "{said}");
    assert_line(
        &said,
        "p3: copies 0 and 1 differ in their stdout; did both run the same way?",
    );
    let (ok, said) = make(dir, &["-j2", "run", "FIXED_TIME=1"]);
    assert!(ok, "{said}");
    let printed = std::fs::read_to_string(out.join("run/copy-1/stdout")).unwrap();
    let numbers: Vec<&str> = printed.split(' ').collect();
    assert_eq!(numbers[8..], ["here", "1\n"]);
    let different: std::collections::BTreeSet<&str> = numbers[1..8].iter().copied().collect();
    assert_eq!(different.len(), 7, "{printed}");
}

#[test]
fn a_fixed_clock_makes_copies_alike() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let out = rewritten(CLOCKS, "3", dir);
    let (ok, said) = make(dir, &["-j2", "run"]);
    let hint = "p3: if it reads the time or random numbers, FIXED_TIME=1 gives all of them the same; COMPARE=none \
                merges all the same\n";
    assert!(!ok && said.contains(hint), "{said}");
    assert_line(
        &said,
        "p3: copies 0 and 1 differ in their stdout; did both run the same way?",
    );
    let mut runs = Vec::new();
    for jobs in ["-j1", "-j3"] {
        let (ok, said) = make(dir, &[jobs, "run", "FIXED_TIME=1", "ARGS=x"]);
        assert!(ok, "{said}");
        let merged = out.join("profile.p3prof");
        crate::support::run(Command::new(PROF).arg("verify").arg(&merged));
        let printed = std::fs::read_to_string(out.join("run/copy-2/stdout")).unwrap();
        runs.push((printed, crate::support::paths(&merged)));
    }
    assert_eq!(runs[0], runs[1]);
    assert!(
        runs[0].0.starts_with("Sun Sep  9 ") && runs[0].0.ends_with("\n-1\n"),
        "{}",
        runs[0].0
    );
    // Nothing can be preloaded into a static program.
    let (ok, said) = make(dir, &["-B", "run", "FIXED_TIME=1", "LDFLAGS=-static"]);
    assert!(!ok, "{said}");
    assert_line(
        &said,
        "p3: FIXED_TIME=1: this program is linked statically, so its clock and random numbers cannot \
        be replaced: link it dynamically",
    );
}

#[test]
fn output_and_status_of_copies_are_compared() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = r#"
        #include <stdlib.h>
        #include <stdio.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            printf("process %d\n", getpid());
            return argc > 1 ? access("../raw", F_OK) + getpid() % 97 + 2 : 0;
        }"#;
    let out = rewritten(source, "2", dir);
    let run = |options: &[&str]| make(dir, &[&["run"], options].concat());
    let (ok, said) = run(&["COMPARE=output"]);
    assert!(!ok, "{said}");
    assert_line(
        &said,
        "p3: COMPARE=output: choose stdout (with status), status or none",
    );
    let (ok, said) = run(&["COMPARE=stdout"]);
    assert!(!ok, "{said}");
    assert_line(
        &said,
        "p3: copies 0 and 1 differ in their stdout; did both run the same way?",
    );
    assert!(!out.join("profile.p3prof").exists());
    let (ok, said) = run(&["COMPARE=status"]);
    assert!(ok && out.join("profile.p3prof").exists(), "{said}");
    // Process ids of two copies that start one after the other are not 97 apart.
    let any: Vec<String> = (1..100).map(|n| n.to_string()).collect();
    let any = format!("ALLOW_STATUS={}", any.join(" "));
    let (ok, said) = run(&["ARGS=x", "COMPARE=status", &any]);
    assert!(!ok, "{said}");
    assert_line(
        &said,
        "p3: copies 0 and 1 differ in their status; did both run the same way?",
    );
    let (ok, said) = run(&["ARGS=x", "COMPARE=none", &any]);
    assert!(ok, "{said}");
}

/// Folders, names and environment are as long, and as far as possible the same, in all copies.
#[test]
fn copies_look_alike_from_inside() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = r#"
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        extern char **environ;
        int main(int argc, char **argv) {
            char text[4096];
            for (char **e = environ; *e; e++) puts(*e);
            printf("%s %zu %p\n", argv[0], strlen(getcwd(text, sizeof text)), (void *)environ[0]);
            return 0;
        }"#;
    let out = rewritten(source, "11", dir);
    let (ok, said) = make(dir, &["-j2", "run", "CFLAGS=-O1"]);
    assert!(ok, "{said}");
    for copy in ["00", "09", "10"] {
        assert!(out.join(format!("run/copy-{copy}/raw")).is_dir());
    }
    let printed = std::fs::read_to_string(out.join("run/copy-10/stdout")).unwrap();
    for ours in ["MAKE", "ARGS=", "P3_RAW", "P3_COPIES", "FIXED_TIME"] {
        assert!(
            !printed.contains(&format!("\n{ours}")) && !printed.starts_with(ours),
            "{printed}"
        );
    }
}

/// The program does not run with words that nobody can tell.
#[test]
fn words_that_the_shell_cannot_parse() {
    let dir = crate::support::folder();
    let out = rewritten("int main(void) { return 0; }", "1", dir.path());
    for (setting, problem) in [
        ("ARGS='", "ARGS=': the shell cannot parse this"),
        ("FILES=(a", "FILES=(a: the shell cannot parse this"),
        ("ALLOW_STATUS=abc", "an exit status is a number"),
    ] {
        let (ok, text) = make(dir.path(), &["run", setting]);
        assert!(!ok && text.contains(problem), "{text}");
    }
    assert!(!out.join("run").exists());
    // It is parsed, and not run.
    let (ok, text) = make(
        dir.path(),
        &["run", "ARGS=$$(exit 3) 'a b'", "ALLOW_STATUS=1 2"],
    );
    assert!(ok, "{text}");
}

#[test]
fn clean_and_places_that_cannot_be_written() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let out = rewritten(WORKER, "2", dir);
    let (ok, said) = make(dir, &["run", "native", "ARGS=1"]);
    assert!(ok, "{said}");
    let mine = [
        "run/notes",
        "run/copy-0/notes",
        "obj/notes",
        "bin/notes",
        "obj/copy-0/notes",
    ];
    for file in mine {
        std::fs::write(out.join(file), "mine").unwrap();
    }
    let (ok, said) = make(dir, &["clean"]);
    assert!(ok, "{said}");
    let walk = walkdir::WalkDir::new(&out).into_iter().map(Result::unwrap);
    let below = walk.filter(|e| e.file_type().is_file());
    let below = below.map(|e| {
        e.path()
            .strip_prefix(&out)
            .unwrap()
            .to_str()
            .unwrap()
            .to_string()
    });
    let made = ["obj/", "run/", "bin/", "profile"];
    let mut left: Vec<String> = below
        .filter(|f| made.iter().any(|m| f.starts_with(m)))
        .collect();
    left.sort();
    let mut expected = mine.map(str::to_string);
    expected.sort();
    assert_eq!(left, expected);
    // A link must not lead a run or its deletions elsewhere.
    std::fs::remove_dir_all(out.join("run")).unwrap();
    std::fs::create_dir_all(dir.join("outside/copy-0/work")).unwrap();
    std::os::unix::fs::symlink(dir.join("outside"), out.join("run")).unwrap();
    for command in ["run", "clean"] {
        let (ok, said) = make(dir, &[command, "ARGS=1"]);
        assert!(!ok, "{said}");
        assert_line(
            &in_dir(&said, dir),
            "p3: DIR/out/run is a symbolic link, and may lead out of the output folder: \
            remove it",
        );
    }
    assert!(dir.join("outside/copy-0/work").exists());
    // Read-only: one line, whatever is asked for.
    let script = r#"mount --bind out out && mount -o remount,ro,bind out out || exit 77
        for what in all run run-0 merge clean; do
            make -s -C out $what ARGS=1 P3_PROF="$0" 2>&1 | grep -v '^make'
        done"#;
    let mut shell = shell_with_mounts(script);
    let output = shell.arg(PROF).current_dir(dir).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().count(), 5, "{said}");
    assert!(
        said.lines().all(|l| l.starts_with("p3: cannot write to ")),
        "{said}"
    );
}

/// Words of the shell, relative to the caller's folder, as are patterns.
#[test]
fn files_that_the_program_reads() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = r#"
        #include <stdio.h>
        int main(int argc, char **argv) {
            for (int i = 1; i < argc; i++) {
                FILE *f = fopen(argv[i], "r");
                if (!f) { perror(argv[i]); return 2; }
                printf("%c", fgetc(f));
            }
            return 0;
        }"#;
    let out = rewritten(source, "2", dir);
    for (file, text) in [
        ("a 1", "A"),
        ("data/b.in", "B"),
        ("data/c.in", "C"),
        ("tree/d", "D"),
    ] {
        std::fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
        std::fs::write(dir.join(file), text).unwrap();
    }
    std::os::unix::fs::symlink("data/b.in", dir.join("link")).unwrap();
    let arguments = "ARGS='a 1' b.in c.in tree/d link";
    let (ok, said) = make(dir, &["run", arguments, "FILES='a 1' data/*.in tree link"]);
    assert!(ok, "{said}");
    let printed = std::fs::read_to_string(out.join("run/copy-1/stdout")).unwrap();
    assert_eq!(printed, "ABCDB");
    // The likelier remedy comes first; without a message the other one does.
    let (ok, said) = make(dir, &["run", arguments]);
    let place = |what: &str| said.find(what).unwrap_or_else(|| panic!("{said}"));
    assert!(
        !ok && place("a 1: No such file") < place("FILES='…'"),
        "{said}"
    );
    assert!(place("FILES='…'") < place("ALLOW_STATUS=2"), "{said}");
    let (ok, said) = make(dir, &["run", "FILES=nothing"]);
    assert!(!ok, "{said}");
    assert_line(&said, "p3: cannot copy FILES=nothing");
}

/// Several C++ modules in a folder, read as text, objects and wrapped bitcode.
#[test]
fn folders_of_modules_of_all_kinds() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = compile("modules", &["-O1"], &dir.join("input/sub"));
    let text = dir.join("input/main.ll");
    std::fs::write(&text, crate::support::disassemble(&modules[0])).unwrap();
    std::fs::remove_file(&modules[0]).unwrap();
    // The wrapper: magic, version, offset, size, type of processor.
    let bitcode = std::fs::read(&modules[1]).unwrap();
    let header = [0x0B17_C0DE, 0, 20, bitcode.len() as u32, 0x0100_0007];
    let header: Vec<u8> = header.iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
    std::fs::write(dir.join("input/sub/other.o"), [header, bitcode].concat()).unwrap();
    std::fs::remove_file(&modules[1]).unwrap();
    std::fs::write(dir.join("input/readme"), "not IR").unwrap();
    rewrite(&[dir.join("input")], &["-k", "2"], &dir.join("out"));
    // Rewriting once more into the same folder, from the folder above both.
    let (ok, text) = make(dir, &["run", "-j2"]);
    assert!(ok, "{text}");
    let (ok, report) = make(dir, &["report", "TOP=3"]);
    assert!(ok && report.contains("  other\n"), "{report}");
    let native = ["m0.ll", "m1.bc"].map(|m| dir.join("out/native").join(m));
    assert!(native.iter().all(|m| m.exists()) && dir.join("out/copy-1/m1.bc").exists());
    let inside = dir.join("input/out");
    rewrite(&[dir.join("input")], &["-k", "2"], &inside);
    rewrite(&[dir.join("input")], &["-k", "1"], &inside);
    let manifest = std::fs::read_to_string(inside.join("manifest.json")).unwrap();
    assert!(!inside.join("copy-1").exists() && !manifest.contains("\"name\":\"out/"));
}

/// What `make demo` does, with this build.
#[test]
fn the_demo_is_what_the_readme_shows() {
    let makefile = std::fs::read_to_string(project("Makefile")).unwrap();
    assert!(makefile.contains("testdata/programs/demo.c"));
    let dir = crate::support::folder();
    let modules = compile("demo", &["-O1", "-g", "-fno-inline"], dir.path());
    rewrite(&modules, &["-k", "4"], &dir.path().join("out"));
    let (ok, text) = make(dir.path(), &["run", "ARGS=100000", "-j2"]);
    assert!(ok, "{text}");
    assert!(makefile.contains("report TOP=2"));
    let (ok, report) = make(dir.path(), &["report", "TOP=2"]);
    assert!(ok, "{report}");
    let readme = std::fs::read_to_string(project("README.md")).unwrap();
    assert!(
        readme.contains(report.trim_end()),
        "README.md does not show:\n{report}"
    );
}

/// One line says which compiler is missing, and how to name another; what is built needs none.
#[test]
fn missing_compiler_is_named() {
    let dir = crate::support::folder();
    let dir = dir.path();
    rewritten("int main(void) { return 0; }", "2", dir);
    let (ok, text) = make(dir, &["CC=no-such-clang -m64"]);
    assert!(!ok);
    let line = text.lines().next().unwrap();
    let expected = "*** there is no compiler called no-such-clang: install clang-";
    assert!(line.contains(expected), "{text}");
    assert!(
        line.ends_with(", or name another one (make CC=...).  Stop."),
        "{text}"
    );
    assert!(!text.contains("not found"), "{text}");
    let (ok, text) = make(dir, &[]);
    assert!(ok, "{text}");
    let (ok, text) = make(dir, &["CC=no-such-clang"]);
    assert!(ok, "{text}");
    // What the shell has to read is left to it.
    std::fs::create_dir(dir.join("a folder")).unwrap();
    let compiler = dir.join("a folder/clang");
    std::os::unix::fs::symlink(crate::support::llvm("clang"), &compiler).unwrap();
    let compiler = compiler.display().to_string();
    let escaped = compiler.replace(' ', "\\ ");
    for named in [format!("\"{compiler}\""), format!("'{compiler}'"), escaped] {
        std::fs::remove_dir_all(dir.join("out/bin")).unwrap();
        let (ok, text) = make(dir, &[&format!("CC={named}")]);
        assert!(ok, "{named}: {text}");
    }
}
