//! Compilers in place of yours: builds, suites, and what lands where.

use crate::support::text::{assert_line, in_dir};
use crate::support::{PROF, REWRITE, clang, copy_project, json, llvm, modules, run};
use p3_rewrite::base::llvm::{LINKED, engine_name};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use walkdir::WalkDir;

pub(crate) const CC: &str = env!("CARGO_BIN_EXE_p3-cc");
pub(crate) const CXX: &str = env!("CARGO_BIN_EXE_p3-cxx");
pub(crate) const CARGO_P3: &str = env!("CARGO_BIN_EXE_cargo-p3");

/// A copy of the example project: a static library with a member in assembler code and one that nothing needs, a shared
/// one, a plug-in, two programs with an object in common, and tests.
fn example() -> TempDir {
    copy_project("testdata/builds/project")
}

/// A command in `dir`, in an environment without what a test's caller may have set.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir);
    for name in [
        "MAKEFLAGS",
        "MFLAGS",
        "MAKELEVEL",
        "P3_PROFILE_FILE",
        "P3_OUT",
        "P3_COPY",
        "P3_OFF",
        "P3_COPIES",
    ] {
        command.env_remove(name);
    }
    command
}

#[track_caller]
pub(crate) fn rewrite(dir: &Path, arguments: &[&str]) -> Output {
    run(command(REWRITE, dir).args(arguments))
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The merged profiles below a folder, which are whole and have nothing wrong with them.
#[track_caller]
fn profiles(out: &Path) -> Vec<PathBuf> {
    let files = WalkDir::new(out).sort_by_file_name();
    let files = files.into_iter().map(|e| e.unwrap().into_path());
    let profiles: Vec<PathBuf> = files.filter(|f| f.ends_with("profile.p3prof")).collect();
    for profile in &profiles {
        run(Command::new(PROF).args(["verify", "--strict"]).arg(profile));
    }
    profiles
}

/// How many raw profiles a program has left.
fn raw_profiles(program: &Path) -> usize {
    let files = program.join("raw").read_dir().unwrap();
    let is_raw = |f: &PathBuf| f.extension().is_some_and(|e| e == "p3raw");
    files
        .filter(|f| is_raw(&f.as_ref().unwrap().path()))
        .count()
}

/// Builds the example by `make` and `more`, runs its tests in each copy, and returns the names of the programs'
/// folders.
#[track_caller]
fn build_and_check(dir: &Path, out: &str, options: &[&str], more: &[&str]) -> Vec<PathBuf> {
    let build = ["build", "-o", out];
    rewrite(
        dir,
        &[&build[..], options, &["--", "make", "-s"], more].concat(),
    );
    let suite = ["suite", "-o", out, "--", "make", "-s", "check"];
    rewrite(dir, &[&suite[..], more].concat());
    profiles(&dir.join(out))
}

#[test]
fn a_project_of_make_is_profiled_with_its_tests() {
    let dir = example();
    let dir = dir.path();
    let three = build_and_check(dir, "three", &["-k", "3"], &[]);
    let names = ["area", "count", "libplugin.so", "libshape.so"];
    let folder = |out: &str, name: &str| dir.join(format!("{out}/build/{name}.p3"));
    let expected = names.map(|n| folder("three", n).join("profile.p3prof"));
    assert_eq!(three, expected);
    // What the linker took, and no more: not the member that nothing needs.
    let count = [
        "build/libtext.a/longest.o",
        "build/libtext.a/words.o",
        "build/src/common.o",
        "build/src/count.o",
    ];
    assert_eq!(modules(&folder("three", "count")), count);
    assert_eq!(modules(&folder("three", "libshape.so")), ["lib/shape.c"]);
    let record = json(&folder("three", "count").join("record.json"));
    let left = record["not_profiled"].as_object().unwrap();
    let left: Vec<_> = left
        .iter()
        .map(|(what, why)| (what.as_str(), why.as_str().unwrap()))
        .collect();
    assert_eq!(
        left,
        [(
            "build/libtext.a(limit.o)",
            "machine code, not compiled by p3-cc"
        )]
    );

    // What both programs have of a library is one function in their union.
    let union = dir.join("union.p3prof");
    let both = ["area", "count"].map(|n| folder("three", n).join("profile.p3prof"));
    let joined = run(Command::new(PROF)
        .arg("union")
        .args(both)
        .arg("-o")
        .arg(&union));
    let line = String::from_utf8(joined.stdout).unwrap();
    assert!(
        line.contains("joined 2 profiles: ") && !line.contains(" 0 of several"),
        "{line}"
    );
    run(Command::new(PROF).args(["verify", "--strict"]).arg(&union));

    // One copy that counts everything counts the same.
    run(command("make", dir).args(["-s", "clean"]));
    let one = build_and_check(dir, "one", &["--scheme", "sbl"], &[]);
    assert_eq!(one.len(), three.len());
    for (a, b) in one.iter().zip(&three) {
        run(Command::new(PROF).arg("compare").arg(a).arg(b));
    }
}

#[test]
fn each_copy_takes_the_programs_place() {
    let dir = example();
    let dir = dir.path();
    rewrite(dir, &["build", "-k", "3", "-o", "out", "--", "make", "-s"]);
    let program = dir.join("build/count");
    let modified = || std::fs::metadata(&program).unwrap().modified().unwrap();
    let built = modified();
    let same = |copy: u32| {
        let copy = dir.join(format!("out/build/count.p3/bin/copy-{copy}"));
        std::fs::read(&program).unwrap() == std::fs::read(copy).unwrap()
    };
    assert!(same(0) && !same(2));
    rewrite(dir, &["use", "2", "-o", "out"]);
    assert!(same(2), "copy 2 is there");
    assert_eq!(modified(), built, "make sees no change");
    let again = run(command("make", dir).args(["-s", "-q"]).env("CC", CC));
    assert!(again.stdout.is_empty());
    // Also where a build system copied it to.
    let installed = dir.join("installed");
    std::fs::copy(&program, &installed).unwrap();
    rewrite(dir, &["use", "1", "-o", "out"]);
    assert!(same(1) && std::fs::read(&installed).unwrap() == std::fs::read(&program).unwrap());
    rewrite(dir, &["use", "2", "-o", "out"]);
    let beyond = command(REWRITE, dir)
        .args(["use", "9", "-o", "out"])
        .output();
    let beyond = beyond.unwrap();
    let why = "here have 3 copies at most; give a number from 0 to 2\n";
    assert_eq!(beyond.status.code(), Some(2));
    assert!(stderr(&beyond).ends_with(why), "{}", stderr(&beyond));
    assert!(same(2), "nothing was changed");
    // What is linked anew while it is another copy's turn is that copy.
    std::fs::remove_file(&program).unwrap();
    let make = ["build", "-k", "3", "-o", "out", "--", "make", "-s"];
    run(command(REWRITE, dir).args(make).env("P3_COPY", "1"));
    assert!(same(1));
    // A suite puts copy 0 back, also where its command fails; its status is the command's.
    let suite = command(REWRITE, dir)
        .args(["suite", "-o", "out", "--", "sh", "-c", "exit 3"])
        .output()
        .unwrap();
    assert_eq!(suite.status.code(), Some(3), "{}", stderr(&suite));
    assert!(same(0));
}

#[test]
fn archives_of_all_kinds_by_all_linkers() {
    for (ar, linker) in [("rc", "lld"), ("rcT", "lld"), ("rcT", "bfd")] {
        let dir = example();
        let flags = [
            format!("ARFLAGS={ar}"),
            format!("LDFLAGS=-fuse-ld={linker}"),
        ];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let profiles = build_and_check(dir.path(), "out", &["-k", "2"], &flags);
        assert_eq!(profiles.len(), 4, "{ar} {linker}");
        let count = modules(&dir.path().join("out/build/count.p3"));
        assert_eq!(count.len(), 4, "{ar} {linker}: {count:?}");
    }
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = crate::support::folder();
    for (name, text) in files {
        let file = dir.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    dir
}

const MAIN: &str = "int a(int), b(int);\nint main(int n, char **v) { return a(n) + b(n) - 3; }\n";

#[test]
fn members_of_one_name() {
    let dir = folder(&[
        ("one/f.c", "int a(int n) { return n > 1 ? 5 : 1; }"),
        ("two/f.c", "int b(int n) { return n > 1 ? 6 : 2; }"),
        ("main.c", MAIN),
    ]);
    let dir = dir.path();
    let cc = |arguments: &[&str]| run(command(CC, dir).args(arguments));
    cc(&["-c", "one/f.c", "-o", "one/f.o"]);
    cc(&["-c", "two/f.c", "-o", "two/f.o"]);
    run(command(llvm("llvm-ar"), dir).args(["qc", "lib.a", "one/f.o", "two/f.o"]));
    cc(&["main.c", "lib.a", "-o", "prog"]);
    assert_eq!(
        modules(&dir.join("prog.p3")),
        ["lib.a/f.o", "lib.a/f.o-2", "main.c"]
    );
    run(&mut command(dir.join("prog"), dir));
    // One of two cannot be told from the other: it stays as it is, and that is said.
    std::fs::write(
        dir.join("main.c"),
        "int a(int);\nint main(int n, char **v) { return a(n) - 1; }\n",
    )
    .unwrap();
    cc(&["main.c", "lib.a", "-o", "prog"]);
    assert_eq!(modules(&dir.join("prog.p3")), ["main.c"]);
    let left = &json(&dir.join("prog.p3/record.json"))["not_profiled"]["lib.a(f.o)"];
    assert_eq!(
        left,
        "its archive has several members of this name, and not all of them were linked"
    );
    run(&mut command(dir.join("prog"), dir));
}

#[test]
fn compiled_and_linked_at_once() {
    let dir = folder(&[
        (
            "lib.c",
            "#include \"lib.h\"\nint a(int n) { return n; }\nint b(int n) { return 2; }\n",
        ),
        ("lib.h", "int a(int);\n"),
        ("main.txt", MAIN),
    ]);
    let dir = dir.path();
    let arguments = [
        "-O1", "-MD", "-x", "c", "main.txt", "-x", "none", "lib.c", "-o", "prog",
    ];
    run(command(CC, dir).args(arguments).env("P3_COPIES", "4"));
    assert_eq!(modules(&dir.join("prog.p3")), ["lib.c", "main.txt"]);
    let rules = std::fs::read_to_string(dir.join("prog.d")).unwrap();
    assert!(
        rules.starts_with("prog: lib.c") && rules.contains("lib.h"),
        "{rules}"
    );
    run(&mut command(dir.join("prog"), dir));
    let raw = raw_profiles(&dir.join("prog.p3"));
    assert_eq!(raw, 1, "beside the program, wherever it runs");
    // The copies are a folder of p3-rewrite's like any other; what is linked there is not linked anew.
    let bin = dir.join("prog.p3/bin/copy-3");
    let before = std::fs::metadata(&bin).unwrap().modified().unwrap();
    run(command("make", dir).args(["-s", "-C", "prog.p3", "run", &format!("P3_PROF={PROF}")]));
    assert_eq!(std::fs::metadata(&bin).unwrap().modified().unwrap(), before);
    run(Command::new(PROF)
        .args(["verify", "--strict"])
        .arg(dir.join("prog.p3/profile.p3prof")));
}

/// A program that takes other ways by its process id and by the time.
#[test]
fn rounds_with_the_same_ids_and_clock() {
    let source = "#include <time.h>\n#include <unistd.h>\n
        __attribute__((noinline)) static int f(int i) { return i % 3 == 0 ? i : 1; }
        int main() {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            volatile int sum = 0;
            for (int i = 0; i < getpid() % 1000 + now.tv_nsec % 100000; i++)
                sum += f(i);
            return 0;
        }\n";
    let dir = folder(&[("main.c", source)]);
    let dir = dir.path();
    rewrite(
        dir,
        &[
            "build", "-k", "2", "--scheme", "pbl", "-o", "out", "--", "cc", "-O1", "main.c", "-o",
            "prog",
        ],
    );
    let program = ["suite", "-o", "out", "--", "./prog"];
    let same = [&["suite", "--same-pids", "--fixed-time"], &program[1..]].concat();
    let profile = dir.join("out/prog.p3/profile.p3prof");
    let other = [&["suite", "--no-same-pids"], &program[1..]].concat();
    let said = stderr(&rewrite(dir, &other));
    let helps = "rounds differ: --same-pids gives each the same process ids, --fixed-time the same time and random \
                 numbers";
    assert!(said.contains(helps), "{said}");
    let differ = Command::new(PROF)
        .args(["verify", "--strict"])
        .arg(&profile)
        .output()
        .unwrap();
    assert_eq!(differ.status.code(), Some(1), "{}", stderr(&differ));
    let said = stderr(&rewrite(dir, &same));
    assert!(!said.contains("rounds differ"), "{said}");
    run(Command::new(PROF)
        .args(["verify", "--strict"])
        .arg(&profile));
}

/// Processes that could not write what they counted: children of which no parent has a word, and, where that can be
/// tried, those of another user.
#[test]
fn suite_tells_of_processes_without_counts() {
    let source = "#include <sys/resource.h>\n#include <sys/wait.h>\n#include <unistd.h>\n
        __attribute__((noinline)) static int f(int i) { return i % 3 == 0 ? i : 1; }
        int main(int argc, char **argv) {
            struct rlimit none = {3, 3};
            volatile int sum = f(argc);
            if (argc > 1) return 0;
            setrlimit(RLIMIT_NOFILE, &none);
            if (fork() == 0) { sum = f(3); return 0; }
            wait(0);
            return 0;
        }\n";
    let dir = folder(&[("main.c", source)]);
    let dir = dir.path();
    let everybodys = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(dir, everybodys).unwrap();
    let build = ["build", "-k", "2", "--scheme", "pbl", "-o", "out", "--"];
    let cc = ["cc", "-O1", "main.c", "-o", "prog"];
    rewrite(dir, &[&build[..], &cc].concat());
    let root = std::fs::metadata(dir).unwrap().uid() == 0;
    let other = "setpriv --reuid=65534 --regid=65534 --clear-groups ./prog other";
    let script = format!("./prog; {}", if root { other } else { "true" });
    let said = stderr(&rewrite(
        dir,
        &["suite", "-o", "out", "--", "sh", "-c", &script],
    ));
    let absent = |n: u32| {
        format!(
            "could not write what they counted (rights, limits, or the disk: stderr said why): {n} of copies 0, 1"
        )
    };
    let n = if root { 2 } else { 1 };
    assert!(said.contains(&absent(n)), "{said}");
    let remedy = "find out -type d -name raw -exec chmod 1777 {} +";
    assert!(said.contains(remedy), "{said}");
    // With the right to write, what the other user's processes count is merged, in this suite and in later ones.
    let raw = dir.join("out/prog.p3/raw");
    std::fs::set_permissions(&raw, std::fs::Permissions::from_mode(0o1777)).unwrap();
    for _ in 0..2 {
        let suite = ["suite", "-o", "out", "--", "sh", "-c", &script];
        let said = stderr(&rewrite(dir, &suite));
        assert!(said.contains(&absent(1)), "{said}");
        let mode = std::fs::metadata(&raw).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o1777);
    }
    // The folder may as well be the other user's.
    if root {
        std::os::unix::fs::chown(&raw, Some(65534), None).unwrap();
        std::fs::set_permissions(&raw, std::fs::Permissions::from_mode(0o755)).unwrap();
        let suite = ["suite", "-o", "out", "--", "sh", "-c", &script];
        let said = stderr(&rewrite(dir, &suite));
        assert!(said.contains(&absent(1)), "{said}");
    }
}

/// As ccache and distcc do, a program by the compiler's name runs the next one in `PATH` that has it.
#[test]
fn compilers_behind_others_of_their_name() {
    let dir = folder(&[("main.c", "int main() { return 0; }")]);
    let dir = dir.path();
    let before = dir.join("before");
    std::fs::create_dir(&before).unwrap();
    let script = "#!/bin/bash
        echo >> \"$0.log\"
        [ $(wc -l < \"$0.log\") -lt 99 ] || exit 9
        for p in $(type -ap \"${0##*/}\"); do [ \"$p\" = \"$0\" ] || exec \"$p\" \"$@\"; done\n";
    std::fs::write(before.join(clang()), script).unwrap();
    run(command("chmod", dir).args(["+x".into(), format!("before/{}", clang())]));
    let path = format!("{}:/usr/bin:/bin", before.display());
    let build = [
        "build", "-o", "out", "--", "cc", "-O1", "main.c", "-o", "prog",
    ];
    run(command(REWRITE, dir).args(build).env("PATH", path));
    run(&mut command(dir.join("prog"), dir));
}

#[test]
fn folders_of_any_name() {
    let above = crate::support::folder();
    let dir = above.path().join("a \"b\" %p $c \u{e9}'");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("main.c"), "int main() { return 0; }").unwrap();
    run(command(CC, &dir).args(["main.c", "-o", "prog"]));
    run(&mut command(dir.join("prog"), above.path()));
    assert_eq!(raw_profiles(&dir.join("prog.p3")), 1);
}

#[test]
fn errors_of_the_compiler_are_its_own() {
    let dir = folder(&[("bad.c", "int main() { return x; }"), ("main.c", MAIN)]);
    let dir = dir.path();
    for arguments in [
        &["bad.c", "-o", "prog"][..],
        &["main.c", "-o", "prog"],
        &["-c", "bad.c"],
        &["none.o"],
    ] {
        let ours = command(CC, dir)
            .args(arguments)
            .env("P3_CC", llvm("clang"))
            .output()
            .unwrap();
        let theirs = command(llvm("clang"), dir)
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(ours.status.code(), theirs.status.code(), "{arguments:?}");
        let first = |output: &Output| {
            let said = stderr(output);
            let error = said.lines().find(|l| l.contains("error: "));
            error.unwrap().to_string()
        };
        assert_eq!(first(&ours), first(&theirs), "{arguments:?}");
    }
    let mut left: Vec<_> = dir
        .read_dir()
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["bad.c", "main.c"]);
}

#[test]
fn a_program_without_copies_is_the_compilers() {
    let dir = folder(&[("main.c", "int main() { return 0; }"), ("prog.p3/mine", "")]);
    let dir = dir.path();
    let cc = command(CC, dir)
        .args(["main.c", "-o", "prog"])
        .output()
        .unwrap();
    assert!(cc.status.success());
    let said = stderr(&cc);
    assert!(
        said.starts_with("p3-cc: warning: prog: not profiled: ") && said.contains("-o"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1);
    run(&mut command(dir.join("prog"), dir));
    assert!(!dir.join("prog.p3/raw").exists());
}

#[test]
fn questions_to_the_compiler_get_its_answers() {
    let source = [
        ("conftest.c", "int main() { return 0; }"),
        ("main.c", "int main() { return 0; }"),
    ];
    let dir = folder(&source);
    let dir = dir.path();
    let probe = dir.join("CMakeFiles/CMakeTmp");
    std::fs::create_dir_all(&probe).unwrap();
    run(command(CC, dir).args(["conftest.c", "-o", "conftest"]));
    run(command(CC, &probe).args(["../../main.c", "-o", "probe"]));
    run(command(CC, dir).args(["main.c", "-o", "/dev/null"]));
    run(command(CC, dir)
        .args(["main.c", "-o", "off"])
        .env("P3_OFF", "1"));
    let folders = WalkDir::new(dir)
        .into_iter()
        .map(|e| e.unwrap().into_path());
    let folders: Vec<_> = folders
        .filter(|p| p.extension().is_some_and(|e| e == "p3"))
        .collect();
    assert_eq!(folders, Vec::<PathBuf>::new());
    let version = run(command(CXX, dir).arg("--version")).stdout;
    assert_eq!(
        version,
        run(command(llvm("clang++"), dir).arg("--version")).stdout
    );
}

/// `/dev/shm` is where `folder` is, if it has room: a program there is a program, and no device.
#[test]
fn program_below_dev_has_copies() {
    let dir = folder(&[("main.c", "int main() { return 0; }")]);
    let dir = dir.path();
    let program = dir.join("prog");
    run(command(CC, dir).args(["main.c", "-o"]).arg(&program));
    assert!(dir.join("prog.p3/manifest.json").exists());
}

/// A copy of an output folder is newer than it, and a folder that was moved is not where its processes write.
#[test]
fn suite_takes_no_folder_that_its_programs_do_not_write_to() {
    let dir = folder(&[("main.c", "int main(void) { return 0; }")]);
    let dir = dir.path();
    let build = [
        "build",
        "-q",
        "-o",
        "p3",
        "--",
        "sh",
        "-c",
        "$CC main.c -o prog",
    ];
    rewrite(dir, &build);
    run(Command::new("cp")
        .args(["-r", "p3", "copy"])
        .current_dir(dir));
    let suite = ["suite", "-q", "--", "./prog"];
    rewrite(dir, &suite);
    assert!(dir.join("p3/prog.p3/profile.p3prof").exists());
    std::fs::remove_dir_all(dir.join("copy")).unwrap();
    std::fs::rename(dir.join("p3"), dir.join("moved")).unwrap();
    let output = command(REWRITE, dir).args(suite).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert_line(
        &in_dir(&said, dir),
        "error: ./moved/prog.p3: it is not where the program was linked, and its \
        processes write to DIR/p3/prog.p3; move it back, or build the program again",
    );
    assert!(dir.join("moved/prog.p3/profile.p3prof").exists());
}

/// What runs the tests: a target of the makefile, if it has one; else the program itself.
#[test]
fn next_command_is_one_that_there_is() {
    let dir = folder(&[("main.c", "int main(void) { return 0; }")]);
    let dir = dir.path();
    let next = |makefile: &str| {
        std::fs::write(dir.join("Makefile"), makefile).unwrap();
        let build = [
            "build",
            "-k2",
            "-o",
            "p3",
            "--",
            "sh",
            "-c",
            "$CC main.c -o 'a prog'",
        ];
        let said = stderr(&rewrite(dir, &build));
        let next = said
            .lines()
            .find_map(|l| l.strip_prefix("p3: next: p3-rewrite suite -o p3 -- "));
        next.unwrap_or_else(|| panic!("{said}")).to_string()
    };
    assert_eq!(next("all:\n\t@true\n"), "'./a prog'");
    let none = "# check: by hand\ntest := none\ncheck = a:b\ncheck: CFLAGS = -O1\n\
                all:\n\t@echo check: no\n";
    assert_eq!(next(none), "'./a prog'");
    assert_eq!(
        next("test := none\nall check: all\n\t@true\n"),
        "make check"
    );
    assert_eq!(
        next(".PHONY: check\ntest: all\n\t./'a prog'\n"),
        "make test"
    );
    // The one that looks for mistakes in the source, as git's does, is not meant.
    assert_eq!(next("check:\n\tsparse\ntest: all\n"), "make test");
}

/// Programs that a suite did not run are named, the first of many.
#[test]
fn suite_names_programs_that_did_not_run() {
    let source = "int main(void) { return 0; }";
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let files = names.map(|name| format!("{name}.c"));
    let dir = folder(&files.each_ref().map(|file| (file.as_str(), source)));
    let dir = dir.path();
    for (name, file) in names.iter().zip(&files) {
        run(command(CC, dir).args([file, "-o", name]));
    }
    let suite = |tests: &str| {
        let arguments = ["suite", "--", "sh", "-c", tests];
        let output = command(REWRITE, dir).args(arguments).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    let (status, said) = suite("./a && ./b && ./c && ./d && ./e && ./f");
    assert!(status == Some(0), "{said}");
    assert_line(&said, "p3: 1 of 7 programs did not run: g");
    let (status, said) = suite("true");
    let none = "warning: no program of this build ran (a, b, c, d, e and 2 more): the command has to run them \
                where they were built; profiles of earlier runs are kept\n";
    assert!(status == Some(2) && said.contains(none), "{said}");
    // That was the wrong command: earlier profiles stay. Where others run, they do not.
    let profiled = || names.map(|name| dir.join(format!("{name}.p3/profile.p3prof")).exists());
    assert_eq!(profiled(), names.map(|name| name != "g"));
    suite("./b");
    assert_eq!(profiled(), names.map(|name| name == "b"));
}

/// Where a program was built twice, what was built last is in its place.
#[test]
fn suite_takes_the_newest_of_several_builds() {
    let dir = folder(&[("main.c", "int main(void) { return 0; }")]);
    let dir = dir.path();
    let profiled = |out: &str| dir.join(out).join("prog.p3/profile.p3prof").exists();
    for [out, other] in [["a", "b"], ["b", "a"], ["a", "b"]] {
        let build = [
            "build",
            "-q",
            "-o",
            out,
            "--",
            "sh",
            "-c",
            "$CC main.c -o prog",
        ];
        rewrite(dir, &build);
        assert!(
            rewrite(dir, &["suite", "-q", "--", "./prog"])
                .status
                .success()
        );
        assert!(profiled(out), "{out}");
        let merged = dir.join(out).join("prog.p3/profile.p3prof");
        let _ = std::fs::remove_file(merged);
        assert!(!profiled(other), "{other}");
    }
}

#[test]
fn a_suite_without_programs_says_what_to_do() {
    let dir = crate::support::folder();
    let output = command(REWRITE, dir.path())
        .args(["suite", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = "error: .: no program below this folder has copies; build them by p3-rewrite build -- make, and \
                    name that -o\n";
    assert_eq!(stderr(&output), expected);
}

/// What works is shown by `make test-rust`.
#[test]
fn a_rustc_of_a_newer_llvm_is_told() {
    let dir = folder(&[(
        "rustc",
        "#!/bin/sh\nprintf 'host: x86_64-unknown-linux-gnu\\nLLVM version: 99.1.2\\n'\n",
    )]);
    let dir = dir.path();
    let rustc = dir.join("rustc");
    std::fs::set_permissions(&rustc, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = command(CARGO_P3, dir)
        .args(["p3", "run"])
        .env("RUSTC", &rustc)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    let said = stderr(&run);
    assert!(
        said.starts_with("error: rustc has LLVM 99, and engines here are for LLVM "),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn a_machine_for_each_copy() {
    let dir = example();
    let dir = dir.path();
    let whole = build_and_check(dir, "whole", &["-k", "2"], &[]);
    for (copy, out) in [("0", "shard-0"), ("1", "shard-1")] {
        run(command("make", dir).args(["-s", "clean"]));
        let build = [
            "build", "-k", "2", "--only", copy, "-o", out, "--", "make", "-s",
        ];
        rewrite(dir, &build);
        run(command("make", dir)
            .args(["-s", "check"])
            .env("CC", CC)
            .env("CXX", CXX));
    }
    let other = command(REWRITE, dir)
        .args(["use", "1", "-o", "shard-0"])
        .output()
        .unwrap();
    assert_eq!(other.status.code(), Some(2));
    assert!(
        stderr(&other).contains("copy-1: this copy was not built; "),
        "{}",
        stderr(&other)
    );
    let merge = [
        "merge", "-m", "shard-0", "shard-0", "shard-1", "-o", "merged", "--strict",
    ];
    run(command(PROF, dir).args(merge));
    for profile in whole {
        let program = profile.parent().unwrap().file_stem().unwrap();
        let merged = dir
            .join("merged")
            .join(program)
            .with_added_extension("p3prof");
        run(Command::new(PROF).arg("compare").arg(&profile).arg(&merged));
    }
}

/// By `make test-builds`: these tools are large.
#[test]
#[ignore = "needs cmake, meson and ninja"]
fn projects_of_cmake_and_meson() {
    for (tool, build, check) in [
        (
            "cmake",
            "cmake -S . -B b && cmake --build b",
            "cd b && ctest",
        ),
        (
            "ninja",
            "cmake -G Ninja -S . -B b && cmake --build b",
            "cd b && ctest",
        ),
        (
            "meson",
            "meson setup b && meson compile -C b",
            "meson test -C b",
        ),
    ] {
        let dir = example();
        let dir = dir.path();
        rewrite(
            dir,
            &["build", "-k", "2", "-o", "out", "--", "sh", "-c", build],
        );
        rewrite(dir, &["suite", "-o", "out", "--", "sh", "-c", check]);
        assert_eq!(profiles(&dir.join("out")).len(), 4, "{tool}");
        assert_eq!(modules(&dir.join("out/b/count.p3")).len(), 4, "{tool}");
    }
}

#[test]
#[ignore = "needs namespaces of mounts and overlays"]
fn rounds_at_the_same_time() {
    let dir = example();
    let dir = dir.path();
    let in_turn = build_and_check(dir, "p3", &["-k", "3"], &[]);
    let kept = dir.join("kept.p3prof");
    std::fs::copy(&in_turn[0], &kept).unwrap();
    // Each sees its own copy at the program's place, and no other's files.
    let script = "test ! -e left; make -s check; cp build/count left; pwd";
    let suite = [
        "suite", "-j", "3", "-o", "p3", "--", "sh", "-e", "-c", script,
    ];
    let output = rewrite(dir, &suite);
    let here = dir.canonicalize().unwrap();
    let folders = String::from_utf8(output.stdout).unwrap();
    assert_eq!(folders, format!("{}\n", here.display()).repeat(3));
    assert!(!dir.join("left").exists(), "what a round writes is gone");
    let at_once = profiles(&dir.join("p3"));
    assert_eq!(at_once, in_turn);
    run(Command::new(PROF)
        .arg("compare")
        .arg(&kept)
        .arg(&at_once[0]));
    // A round that fails says so, by its status and what it printed.
    let suite = [
        "suite",
        "-j",
        "2",
        "-o",
        "p3",
        "--",
        "sh",
        "-c",
        "echo oh >&2; exit 4",
    ];
    let failed = command(REWRITE, dir).args(suite).output().unwrap();
    assert_eq!(failed.status.code(), Some(4));
    assert_eq!(
        stderr(&failed).matches("oh\n").count(),
        3,
        "{}",
        stderr(&failed)
    );
    // Programs elsewhere cannot be in several places at once.
    let suite = ["suite", "-j", "2", "-o", "../p3", "--", "true"];
    let outside = command(REWRITE, &dir.join("tests"))
        .args(suite)
        .output()
        .unwrap();
    assert_eq!(outside.status.code(), Some(2));
    assert!(
        stderr(&outside).contains("not below the working folder"),
        "{}",
        stderr(&outside)
    );
}

/// Also where the folder's name has to be quoted.
#[test]
#[ignore = "needs cmake, meson, ninja and pkg-config"]
fn files_for_build_systems() {
    let kit = "it's a kit";
    for (system, build, suite) in [
        (
            "CMake",
            "cmake -S . -B b -DCMAKE_TOOLCHAIN_FILE=\"$KIT/p3-toolchain.cmake\" -DP3_COPIES=2 && cmake --build b",
            "cmake --build b --target profile",
        ),
        (
            "Meson",
            "meson setup b --native-file \"$KIT/p3-meson.ini\" && P3_COPIES=2 meson compile -C b",
            "\"$REWRITE\" suite -o b -- meson test -C b",
        ),
    ] {
        let dir = example();
        let dir = dir.path();
        rewrite(dir, &["integrate", "-o", kit]);
        for script in [build, suite] {
            let mut shell = command("sh", dir);
            shell.args(["-e", "-c", script]);
            run(shell.env("KIT", dir.join(kit)).env("REWRITE", REWRITE));
        }
        assert_eq!(profiles(&dir.join("b")).len(), 4, "{system}");
        let record = json(&dir.join("b/count.p3/record.json"));
        assert_eq!(record["copies"], 2, "{system}");
    }
    let dir = folder(&[(
        "main.c",
        "#include <p3_profile.h>\nint main() { return p3_profile_dump ? p3_profile_dump() : 3; }\n",
    )]);
    let dir = dir.path();
    rewrite(dir, &["integrate", "-o", kit]);
    let flags = run(command("pkg-config", dir)
        .args(["--cflags", "p3"])
        .env("PKG_CONFIG_PATH", dir.join(kit)));
    let flags = String::from_utf8(flags.stdout).unwrap();
    for (compiler, status) in [(llvm("clang"), 3), (PathBuf::from(CC), 0)] {
        let script = format!("\"$0\" {} main.c -o prog", flags.trim());
        run(command("sh", dir).args(["-e", "-c", &script]).arg(compiler));
        let prog = command(dir.join("prog"), dir).status().unwrap();
        assert_eq!(prog.code(), Some(status));
    }
}

/// What the loader says of a library that is none, since the one that is here cannot be taken away. `p3-rewrite` itself
/// says what the loader says.
#[test]
fn missing_library_of_llvm_is_reported() {
    let dir = folder(&[("main.c", "int main() { return 0; }\n")]);
    let dir = dir.path();
    rewrite(dir, &["build", "-k", "1", "-o", "p3", "--", "cc", "main.c"]);
    run(command("make", dir)
        .args(["-s", "-C", "p3/a.out.p3", "run"])
        .env("P3_PROF", PROF));
    let engine = Path::new(REWRITE).with_file_name(engine_name(LINKED));
    let needed = run(command("ldd", dir).arg(engine));
    let needed = String::from_utf8(needed.stdout).unwrap();
    let library = needed.split_whitespace().find(|w| w.starts_with("libLLVM"));
    // In LLVM's static builds there is none to miss.
    let Some(library) = library else { return };
    std::fs::create_dir(dir.join("lib")).unwrap();
    std::fs::write(dir.join("lib").join(library), "").unwrap();
    let mut link = command(CC, dir);
    // Clang has the same library.
    let clang = "#!/bin/sh\nunset LD_LIBRARY_PATH\nexec \"$CLANG\" \"$@\"\n";
    std::fs::write(dir.join("cc"), clang).unwrap();
    run(command("chmod", dir).args(["+x", "cc"]));
    link.env("P3_CC", dir.join("cc"))
        .env("CLANG", llvm("clang"));
    let file = dir.join("lib").join(library);
    let why = format!(
        "p3-rewrite cannot start: {}: file too short; install LLVM ",
        file.display()
    );
    let linked = run(link.arg("main.c").env("LD_LIBRARY_PATH", dir.join("lib")));
    assert!(stderr(&linked).contains(&why), "{}", stderr(&linked));
    let mut export = command(PROF, dir);
    export.args([
        "export",
        "p3/a.out.p3/profile.p3prof",
        "--format",
        "proftext",
    ]);
    export.args(["--modules", "p3/a.out.p3/native"]);
    let output = export
        .env("LD_LIBRARY_PATH", dir.join("lib"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(&why), "{}", stderr(&output));
    let mut doctor = command(PROF, dir);
    let found = run(doctor.args(["doctor", "--width", "200"]));
    let found = String::from_utf8(found.stdout).unwrap();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&found).starts_with("ok LLVM "), "{found}");
    let lost = doctor
        .env("LD_LIBRARY_PATH", dir.join("lib"))
        .output()
        .unwrap();
    let said = words(&String::from_utf8(lost.stdout).unwrap());
    assert_eq!(lost.status.code(), Some(1), "{said}");
    assert!(said.starts_with("MISSING LLVM "), "{said}");
    assert!(said.contains("install LLVM "), "{said}");
}

/// One command compiles and links, with sources named in every way: they stay as they are.
#[test]
fn sources_by_any_path_are_read_only() {
    let dir = crate::support::folder();
    let (here, beside) = (dir.path().join("here"), dir.path().join("beside"));
    for folder in [&here, &beside] {
        std::fs::create_dir(folder).unwrap();
    }
    let main = "int f(int); int g(int); int main(int n, char **v) { return f(n) + g(n) - 3; }";
    let f = "int f(int n) { return n > 1 ? 7 : 1; }";
    let g = "int g(int n) { return n > 1 ? 7 : 2; }";
    let sources = [
        (here.join("main.c"), main),
        (beside.join("f.c"), f),
        (beside.join("g.c"), g),
        (here.join("h.s"), ".globl h\n.text\nh: ret\n"),
    ];
    for (file, text) in &sources {
        std::fs::write(file, text).unwrap();
    }
    let absolute = beside.join("f.c");
    let absolute = absolute.to_str().unwrap();
    rewrite(
        &here,
        &[
            "build",
            "-k",
            "2",
            "--scheme",
            "p3",
            "-o",
            "out",
            "--",
            "cc",
            "main.c",
            absolute,
            "../beside/g.c",
            "h.s",
            "-o",
            "prog",
        ],
    );
    let record = json(&here.join("out/prog.p3/record.json"));
    let left = serde_json::json!({"h.s": "machine code, not compiled by p3-cc"});
    assert_eq!(record["not_profiled"], left);
    for (file, text) in &sources {
        assert_eq!(std::fs::read_to_string(file).unwrap(), *text);
    }
    rewrite(&here, &["suite", "-o", "out", "--", "./prog"]);
    assert_eq!(profiles(&here.join("out")).len(), 1);
    let manifest = json(&here.join("out/prog.p3/manifest.json"));
    assert_eq!(manifest["functions"].as_array().unwrap().len(), 3);
}
