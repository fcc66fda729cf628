//! p3-cc against clang, over many command lines: exit status, messages, files, and the program that was linked.

use crate::build::{CC, command, folder, stderr};
use crate::support::text::assert_line;
use crate::support::{PROF, REWRITE, clang, llvm, project, run};
use rayon::prelude::*;
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use walkdir::WalkDir;

const FILES: [(&str, &str); 13] = [
    ("a.c", "int b(int);\nint main(void) { return b(1) - 1; }\n"),
    ("b.c", "int b(int x) { return x > 2 ? 2 * x : x; }\n"),
    ("-dash.c", "int d(void) { return 1; }\n"),
    ("h.h", "int h(int);\n"),
    ("h.c", "#include \"h.h\"\nint h(int n) { return n; }\n"),
    ("s.s", ".globl b\nb: lea 0(%rdi),%eax\n ret\n"),
    ("m.S", "#define B b\n.globl B\nB: lea 0(%rdi),%eax\n ret\n"),
    ("warn.c", "int main(void) { int unused; return 0; }\n"),
    ("bad.c", "int main(void) { return nothing; }\n"),
    ("dup.c", "int b(int x) { return x; }\n"),
    ("text", "int b(int);\nint main(void) { return b(1) - 1; }\n"),
    ("flags", "-O1 -c a.c\n"),
    ("link", "-O1 a.c b.c -o p\n"),
];

/// What a command line did.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    status: Option<i32>,
    stdout: String,
    stderr: String,
    /// What there is afterwards; the text of side files that are text.
    files: BTreeMap<String, Option<String>>,
    /// The exit status of the program, if one was linked.
    ran: Option<Option<i32>>,
}

impl Outcome {
    /// What is otherwise in `other`, without the text of files.
    fn describe_other(&self, other: &Outcome) -> String {
        let names = |o: &Outcome| o.files.keys().cloned().collect::<Vec<_>>().join(" ");
        let texts = self.files.iter().filter(|(name, text)| {
            let there = other.files.get(*name);
            there.is_some_and(|t| t != *text)
        });
        let texts: Vec<&String> = texts.map(|(name, _)| name).collect();
        let brief =
            |o: &Outcome| format!("{:?} {:?} {:?} {:?}", o.status, o.ran, o.stdout, o.stderr);
        format!(
            "\n  clang {}\n  p3-cc {}\n  clang left {}\n  p3-cc left {}\n  other text in {texts:?}",
            brief(self),
            brief(other),
            names(self),
            names(other)
        )
    }
}

/// Runs `compiler` in a folder of this name, which is as new.
fn run_line(compiler: &Path, dir: &Path, line: &str) -> Outcome {
    std::fs::create_dir_all(dir.join("out")).unwrap();
    for (name, text) in FILES {
        std::fs::write(dir.join(name), text).unwrap();
    }
    std::fs::write(dir.join("empty.c"), "").unwrap();
    let run = command(compiler, dir)
        .args(shlex::split(line).unwrap())
        .env("P3_COPIES", "1")
        .env("P3_ROOT", dir.parent().unwrap())
        // One for all: the runtime is compiled once.
        .env("P3_OUT", dir.with_file_name("copies"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let files = WalkDir::new(dir).sort_by_file_name().into_iter();
    let files = files
        .map(|e| e.unwrap())
        .filter(|e| e.file_type().is_file());
    let files = files.map(|e| {
        let name = e.path().strip_prefix(dir).unwrap();
        let name = temporary(&name.to_string_lossy());
        let ends = [".d", ".i", ".s", ".su", ".map", "deps", ".yaml", ".ll"];
        let is_text = ends.iter().any(|end| name.ends_with(end));
        let text = is_text.then(|| temporary(&std::fs::read_to_string(e.path()).unwrap()));
        (name, text)
    });
    let files = files.collect();
    let program = ["p", "p2", "a.out", "out/p"].map(|p| dir.join(p));
    let program = program.iter().find(|p| p.is_file());
    let ran = program.map(|p| {
        Command::new(p)
            .current_dir(dir)
            .output()
            .unwrap()
            .status
            .code()
    });
    Outcome {
        status: run.status.code(),
        stdout: temporary(&String::from_utf8_lossy(&run.stdout)),
        stderr: temporary(&String::from_utf8_lossy(&run.stderr)),
        files,
        ran,
    }
}

/// Text without the names of clang's temporary objects.
fn temporary(text: &str) -> String {
    let names = Regex::new(r"/tmp/[\w.-]+-[0-9a-f]{6}\.[os]").unwrap();
    names.replace_all(text, "TEMPORARY").into_owned()
}

/// How p3-cc differs from clang; the untouched program beside the copies is clang's own, byte for byte.
fn difference(root: &Path, i: usize, line: &str) -> Option<String> {
    // The same folder for both: names of folders are in debug information.
    let dir = root.join(format!("line-{i}"));
    let expected = run_line(Path::new(&clang()), &dir, line);
    let kept = root.join(format!("clang-{i}"));
    std::fs::rename(&dir, &kept).unwrap();
    let found = run_line(Path::new(CC), &dir, line);
    if found != expected {
        return Some(format!("{line}: {}", expected.describe_other(&found)));
    }
    let copies = root.join(format!("copies/line-{i}"));
    let natives = WalkDir::new(copies).into_iter().flatten();
    let natives = natives.filter(|e| e.path().ends_with("bin/native"));
    for native in natives {
        let folder = native.path().ancestors().nth(2).unwrap();
        let name = folder.file_stem().unwrap();
        let of_clang = ["", "out"].map(|sub| kept.join(sub).join(name));
        let of_clang = of_clang.iter().find(|p| p.is_file()).unwrap();
        if std::fs::read(native.path()).unwrap() != std::fs::read(of_clang).unwrap() {
            return Some(format!("{line}\n  the native program is not clang's"));
        }
    }
    None
}

/// The lines that are in the short list, or all.
fn lines(only_short: bool) -> Vec<String> {
    let text = std::fs::read_to_string(project("testdata/compilers/lines")).unwrap();
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    let lines = lines.filter(|l| !only_short || l.starts_with("! "));
    lines
        .map(|l| l.trim_start_matches("! ").to_string())
        .collect()
}

#[track_caller]
fn all_as_clang(lines: &[String]) {
    let root: TempDir = folder(&[]);
    let root: PathBuf = root.path().canonicalize().unwrap();
    let differences = lines.par_iter().enumerate();
    let differences: Vec<String> = differences
        .filter_map(|(i, l)| difference(&root, i, l))
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn command_lines_that_broke_do_what_clang_does() {
    all_as_clang(&lines(true));
}

#[test]
#[ignore = "a minute: links of 60 programs"]
fn command_lines_of_all_kinds_do_what_clang_does() {
    all_as_clang(&lines(false));
}

#[test]
fn copies_have_lines_where_the_program_has_none() {
    let dir = folder(&[FILES[0], FILES[1]]);
    let dir = dir.path();
    let cc = |compiler: &str, words: &[&str]| {
        let mut cc = command(compiler, dir);
        run(cc.args(words).env("P3_COPIES", "1"));
    };
    // By object, and at once; clang's program is the same.
    for objects in [&["-c", "a.c", "b.c"][..], &[]] {
        let words = if objects.is_empty() {
            ["a.c", "b.c"]
        } else {
            ["a.o", "b.o"]
        };
        let link = |output| [&words[..], &["-o", output]].concat();
        for (compiler, output) in [(clang().as_str(), "clang"), (CC, "p")] {
            if !objects.is_empty() {
                cc(compiler, objects);
            }
            cc(compiler, &link(output));
        }
        let native = std::fs::read(dir.join("p.p3/bin/native")).unwrap();
        assert!(
            native == std::fs::read(dir.join("clang")).unwrap(),
            "{words:?}"
        );
        run(&mut command(dir.join("p"), dir));
        run(command(PROF, dir).args(["merge", "-m", "p.p3/manifest.json", "p.p3/raw", "-o", "x"]));
        let shown = run(command(PROF, dir).args(["show", "x"]));
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert!(shown.contains("b.c:1"), "{words:?}: {shown}");
        std::fs::remove_dir_all(dir.join("p.p3")).unwrap();
    }
}

/// Objects have the code that clang makes, though it comes from bitcode, and linkers drop what is theirs alone.
#[test]
fn code_of_objects_is_the_compilers() {
    let dir = folder(&[FILES[0], FILES[1]]);
    let dir = dir.path();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/programs");
    let sources = [
        "demo.c",
        "loops.c",
        "switches.c",
        "vectors.c",
        "shapes.cpp",
        "exceptions.cpp",
    ];
    let text = |compiler: &Path, source: &str, options: &[&str]| {
        let mut cc = command(compiler, dir);
        run(cc
            .args(options)
            .arg("-c")
            .arg(programs.join(source))
            .args(["-o", "x.o"]));
        let mut copy = command(llvm("llvm-objcopy"), dir);
        run(copy.args(["-O", "binary", "--only-section=.text*", "x.o", "x.bin"]));
        std::fs::read(dir.join("x.bin")).unwrap()
    };
    let clangs = clang();
    for options in [&["-O0"][..], &["-O2"], &["-O3", "-g"]] {
        for source in sources {
            let expected = text(Path::new(&clangs), source, options);
            let found = text(Path::new(CC), source, options);
            assert!(found == expected, "{source} {options:?}");
        }
    }
    run(command(CC, dir).args(["-O2", "-c", "a.c", "-o", "a.o"]));
    run(command(CC, dir).args(["-O2", "-c", "b.c", "-o", "b.o"]));
    for linker in ["bfd", "lld"] {
        let mut link = command(&clangs, dir);
        link.args(["a.o", "b.o", "-o", "p"]);
        run(link.arg(format!("-fuse-ld={linker}")));
        let sections = run(command(llvm("llvm-readelf"), dir).args(["-SW", "p"]));
        let sections = String::from_utf8(sections.stdout).unwrap();
        let ours = sections
            .lines()
            .find(|l| l.contains(".debug") || l.contains(".p3"));
        assert_eq!(ours, None, "{linker}");
    }
}

#[test]
fn links_of_one_program_at_once_leave_one_with_copies() {
    let dir = folder(&[FILES[0], FILES[1]]);
    let dir = dir.path();
    run(command(CC, dir).args(["-c", "a.c", "b.c"]));
    let link = || {
        let mut link = command(CC, dir);
        link.args(["a.o", "b.o", "-o", "p"])
            .env("P3_COPIES", "1")
            .stderr(Stdio::piped());
        link.spawn().unwrap()
    };
    let links = [link(), link(), link()];
    for link in links {
        let ended = link.wait_with_output().unwrap();
        assert_eq!(
            (ended.status.code(), stderr(&ended)),
            (Some(0), String::new())
        );
    }
    let read = |file: &str| std::fs::read(dir.join(file)).unwrap();
    assert!(read("p") == read("p.p3/bin/copy-0"));
    run(&mut command(dir.join("p"), dir));
}

#[test]
fn interrupted_link_leaves_no_temporary_folder() {
    let dir = folder(&[
        FILES[0],
        FILES[1],
        ("bin/clang", "#!/bin/sh\ntouch started\nexec sleep 300\n"),
    ]);
    let dir = dir.path();
    let slow = dir.join("bin/clang");
    std::fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let scratch = dir.join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let mut link = command(CC, dir)
        .args(["a.c", "b.c", "-o", "p"])
        .env("P3_CC", &slow)
        .env("TMPDIR", &scratch)
        .spawn()
        .unwrap();
    while !dir.join("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 1);
    kill_process(Pid::from_child(&link), Signal::TERM).unwrap();
    assert_eq!(link.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
}

/// What `build` prints of a shell command, and its exit status.
fn build(dir: &Path, out: &str, script: &str) -> (Option<i32>, String) {
    let words = ["build", "-k", "1", "-o", out, "--", "sh", "-c", script];
    let ended = command(REWRITE, dir).args(words).output().unwrap();
    (ended.status.code(), stderr(&ended))
}

#[test]
fn build_says_what_happened() {
    let dir = folder(&FILES);
    let dir = dir.path();
    let (status, said) = build(dir, "p3", "true");
    assert_eq!(status, Some(2));
    let expected = "error: nothing was built, and no program has copies; clean what is up to date first (make clean)\n";
    assert_eq!(said, expected);

    let (status, said) = build(dir, "p3", &format!("{} -c a.c", llvm("clang").display()));
    assert_eq!(status, Some(2));
    assert!(
        said.starts_with("error: a.o: made by another compiler than p3-cc and p3-cxx; "),
        "{said}"
    );

    let configured = "mkdir b; touch b/CMakeCache.txt; CLANG -c a.c -o b/a.o";
    let clang = llvm("clang").display().to_string();
    let (status, said) = build(dir, "p3", &configured.replace("CLANG", &clang));
    assert_eq!(status, Some(2));
    assert_line(
        &said,
        "error: b/a.o: made by another compiler than p3-cc and p3-cxx; CMake keeps the compiler that a \
        folder was configured with: configure a new one (cmake -B build-p3)",
    );

    let (status, said) = build(dir, "p3", "$CC -c bad.c || exit 7");
    assert_eq!(status, Some(7));
    assert!(
        said.ends_with("p3: the build ended with status 7\n"),
        "{said}"
    );

    let (status, said) = build(dir, "p3", "$CC -c a.c");
    assert_eq!(status, Some(2));
    let unlinked = "p3: 1 source was compiled but never linked: p3-prof coverage reports uncovered code there\n";
    let nothing = "error: no program was linked, so there are no copies; the command after -- has to link one, too \
                   (sh -c './configure && make')\n";
    assert_eq!(said, format!("{unlinked}{nothing}"));

    // A name with blanks is quoted; CMake's folder is tested by ctest.
    let script = "mkdir -p b; touch b/CMakeCache.txt; $CC a.c b.c -o b/p";
    let (status, said) = build(dir, "my copies", script);
    assert_eq!(status, Some(0), "{said}");
    let lines = "p3: compiled without -g: copies were given line numbers (-gline-tables-only); native programs are as \
                 they were\n";
    let next = "p3: next: p3-rewrite suite -o 'my copies' -- ctest --test-dir b\n";
    assert_eq!(said, format!("p3: b/p: 1 copy\n{lines}{next}"));
    let script_of_meson = script
        .replace("b/CMakeCache.txt", "b/meson-info")
        .replace("b/", "m/");
    let script_of_meson = script_of_meson.replace("-p b", "-p m");
    let (_, said) = build(dir, "p3", &script_of_meson);
    let next_of_meson = "p3: next: p3-rewrite suite -o p3 -- meson test -C m\n";
    assert_eq!(said, format!("p3: m/p: 1 copy\n{lines}{next_of_meson}"));
    // Whoever asks for no debug information gets none.
    let (_, said) = build(dir, "my copies", &script.replace("$CC", "$CC -g0"));
    assert_eq!(said, format!("p3: b/p: 1 copy\n{next}"));
    let (status, said) = build(dir, "my copies", "true");
    assert_eq!(status, Some(0));
    let earlier = "p3: no program was linked: 1 program of an earlier build can be used\n";
    assert_eq!(said, format!("{earlier}{next}"));
}

/// A gcc, under whatever name, is refused before the build begins.
#[test]
fn gcc_is_refused_with_the_clang_to_set() {
    let dir = folder(&FILES);
    let dir = dir.path();
    let says =
        "#!/bin/sh\necho 'cc (Debian) 12.2'\necho 'Copyright (C) Free Software Foundation'\n";
    std::fs::write(dir.join("cc"), says).unwrap();
    run(command("chmod", dir).args(["+x", "cc"]));
    let mut build = command(REWRITE, dir);
    build.args(["build", "-o", "p3", "--", "touch", "begun"]);
    let ended = build.env("P3_CC", dir.join("cc")).output().unwrap();
    let said = stderr(&ended);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    let why = ": this is gcc; copies need clang, of the LLVM of an engine: set P3_CC=clang-";
    assert!(
        said.starts_with("error: P3_CC=") && said.contains(why),
        "{said}"
    );
    assert!(!dir.join("begun").exists());
}

/// A profile of one program, as weights of a build that makes two.
#[test]
fn build_uses_a_profile_for_the_programs_that_it_knows() {
    let dir = folder(&FILES);
    let dir = dir.path();
    build(dir, "p3", "$CC a.c b.c -o p");
    let suite = ["suite", "-o", "p3", "--", "./p"];
    assert!(
        command(REWRITE, dir)
            .args(suite)
            .status()
            .unwrap()
            .success()
    );
    let profile = "p3/p.p3/profile.p3prof";
    let words = [
        "build",
        "-k",
        "1",
        "--profile",
        profile,
        "-o",
        "q3",
        "--",
        "sh",
        "-c",
    ];
    let other = "int main(int n, char **v) { while (n > 3) n -= v[n] != 0; return 0; }\n";
    std::fs::write(dir.join("other.c"), other).unwrap();
    let script = "$CC a.c b.c -o p && mkdir d && cd d && $CC ../other.c -o other";
    let ended = command(REWRITE, dir)
        .args(words)
        .arg(script)
        .output()
        .unwrap();
    let said = stderr(&ended);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    let path = dir.join(profile);
    let warning = format!(
        "warning: d/other: {}: it knows none of the functions, as they are now: weights are estimated\n",
        path.display()
    );
    assert!(said.contains(&warning), "{said}");
    let copies = ["p3: d/other: 1 copy\n", "p3: p: 1 copy\n"];
    assert!(copies.iter().all(|line| said.contains(line)), "{said}");
    assert_eq!(said.matches("warning:").count(), 1, "{said}");
    // The environment's options are not lost beside those of the command.
    let ended = command(REWRITE, dir)
        .args(&words[..3])
        .args(&words[5..])
        .arg("$CC a.c b.c -o p")
        .env("P3_FLAGS", "--profile nowhere.p3prof")
        .output()
        .unwrap();
    let said = stderr(&ended);
    assert_line(
        &said,
        "p3-cc: warning: p: not profiled: p3-rewrite failed: nowhere.p3prof: cannot read: No such file \
        or directory (os error 2); check its name and permissions",
    );
    assert_line(
        &said,
        "warning: p: not profiled: p3-rewrite failed: nowhere.p3prof: cannot read: No such file or \
        directory (os error 2); check its name and permissions",
    );
}

/// For programs that tests start with little address space. One copy never has holes: no other has its addresses.
#[test]
fn copies_have_no_holes_if_asked_or_if_there_is_one() {
    let dir = folder(&FILES);
    let dir = dir.path();
    let align = dir.join("p3/p.p3/obj/align.o");
    let build = |copies: &str, aligned: &str| {
        let words = ["build", "-k", copies, "-o", "p3", "--", "sh", "-c"];
        let ended = command(REWRITE, dir)
            .args(words)
            .arg("$CC a.c b.c -o p")
            .env("P3_ALIGN", aligned)
            .output();
        assert!(ended.unwrap().status.success());
    };
    let least = |program: &str| {
        let starts = |kilobytes: &u32| {
            let script = format!("ulimit -v {kilobytes}; exec p3/p.p3/bin/{program}");
            let shell = Command::new("sh")
                .current_dir(dir)
                .args(["-c", &script])
                .output();
            shell.unwrap().status.success()
        };
        (1000..20_000).step_by(100).find(starts).unwrap()
    };
    build("2", "1");
    assert!(align.exists());
    for (copies, aligned) in [("2", "0"), ("1", "1")] {
        build(copies, aligned);
        assert!(!align.exists(), "{copies}");
        let (native, copy) = (least("native"), least("copy-0"));
        assert!(copy <= native + 400, "{copies}: {native} {copy}");
    }
}

/// The object of a library's member in one program is, with other numbers, that in another program: whichever was linked
/// first, the same.
#[test]
fn links_share_machine_code_of_a_library() {
    const LIBRARY: &str =
        "int c(int x) { return x > 2 ? x : 3; }\nint b(int x) { return x % 3 ? c(x) : x; }\n";
    const FIRST: &str = "int b(int);\nint main(int n, char **v) { return n > 9 ? b(n) : 0; }\n";
    const SECOND: &str = "int b(int);\nstatic int d(int x) { return x ? b(x) : 1; }\n\
                          int main(int n, char **v) { return d(n) > 9 ? d(n + 1) : 0; }\n";
    let dir = folder(&[
        ("library.c", LIBRARY),
        ("first.c", FIRST),
        ("second.c", SECOND),
    ]);
    let dir = dir.path();
    let object = |out: &str, program: &str| {
        let folder = dir.join(format!("{out}/{program}.p3"));
        let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        let modules = manifest["modules"].as_array().unwrap();
        let is_library = |m: &serde_json::Value| m["name"].as_str().unwrap().contains("library");
        let m = modules.iter().position(is_library).unwrap();
        std::fs::read(folder.join(format!("obj/copy-0/m{m}.bc.o"))).unwrap()
    };
    for (out, order) in [("p3", ["first", "second"]), ("q3", ["second", "first"])] {
        let links = order.map(|p| format!("$CC -O1 {p}.o library.a -o {p}"));
        let script = format!(
            "for s in library first second; do $CC -O1 -c $s.c; done; ar rcs library.a library.o; {}",
            links.join("; ")
        );
        let (status, said) = build(dir, out, &script);
        assert_eq!(status, Some(0), "{said}");
        // Of the library one, whose numbers differ by program, and one of each program.
        let shared = dir.join(out).join(".p3-objects").read_dir().unwrap();
        assert_eq!(shared.count(), 3);
        assert!(object(out, "first") != object(out, "second"));
    }
    for program in ["first", "second"] {
        assert!(object("p3", program) == object("q3", program), "{program}");
    }
    run(command(REWRITE, dir).args(["suite", "-o", "q3", "--", "sh", "-c", "./first && ./second"]));
    let shown = run(command(PROF, dir).args(["show", "q3/second.p3", "--by", "function"]));
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("library.c:2"), "{shown}");
}

/// rustc swallows what a linker prints that succeeds.
#[test]
fn reasons_are_printed_by_build_and_suite_where_the_caller_swallowed_them() {
    let dir = folder(&FILES);
    let dir = dir.path();
    // An archive that only a linker script names cannot be replaced.
    let script = "$CC -c a.c b.c && ar rc libb.a b.o && echo 'INPUT(libb.a)' >libc2.so && $CC a.o -L. -lc2 -o p \
                  2>/dev/null";
    let (status, said) = build(dir, "p3", script);
    assert_eq!(status, Some(2), "{said}");
    let reason = "./libb.a: the linker found this file in another way than by its command line, so no copy can replace \
                  it; name the file on the command line";
    assert!(
        said.contains(&format!("warning: p: not profiled: {reason}\n")),
        "{said}"
    );
    let suite = command(REWRITE, dir)
        .args(["suite", "-o", "p3", "--", "./p"])
        .output()
        .unwrap();
    assert_eq!(suite.status.code(), Some(2));
    assert!(stderr(&suite).contains(reason), "{}", stderr(&suite));
    // A link that succeeds takes it back.
    let (status, said) = build(dir, "p3", "$CC a.o libb.a -o p");
    assert!(
        status == Some(0) && !said.contains("not profiled"),
        "{said}"
    );
}
