//! The command lines: help, what bad input gives (one line that names file and remedy, exit 2,
//! nothing half-written), reports.

use crate::support::{
    PROF, REWRITE, compile, execute, llvm, original, profile, project, rewrite, run,
};
use p3_rewrite::llvm::LINKED;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a command printed and its exit status, with the names of `dir` taken out.
fn transcript(command: &mut Command, dir: &Path) -> String {
    let output = command.env("PATH", "").current_dir(dir).output().unwrap();
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(dir.to_str().unwrap(), "DIR");
        text.replace(env!("CARGO_MANIFEST_DIR"), "PROJECT")
    };
    let code = output.status.code().expect("it was not killed");
    format!(
        "{}{}exit {code}\n",
        text(&output.stdout),
        text(&output.stderr)
    )
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(project("snapshots/cli"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"version \d+\.\d+\.\d+", "version X");
    // Sizes depend on the names of folders, and so does where half of a file ends.
    settings.add_filter(r"column \d+", "column N");
    settings.add_filter(
        r"(half.bc: LLVM \d+ cannot read it: error:) [^;]*",
        "$1 WHY",
    );
    settings.add_filter(r"EOF while parsing an? \w+", "EOF while parsing a value");
    settings.add_filter(
        r"\d+ bytes (of payload|long) instead of \d+",
        "N bytes $1 instead of M",
    );
    settings.add_filter(r"Reader: 'LLVM [^']*'", "Reader: 'LLVM'");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[track_caller]
fn one_line_error(text: &str) {
    assert!(text.ends_with("exit 2\n"), "{text}");
    assert_eq!(text.lines().count(), 2, "more than one line: {text}");
    assert!(text.starts_with("error: "), "{text}");
}

#[test]
fn help() {
    let dir = crate::support::folder();
    let cargo = env!("CARGO_BIN_EXE_cargo-p3");
    let mut pages = String::new();
    for program in [REWRITE, PROF] {
        pages += &transcript(Command::new(program).arg("--help"), dir.path());
    }
    pages += "--- cargo p3\n";
    pages += &transcript(Command::new(cargo).args(["p3", "--help-all"]), dir.path());
    for command in ["build", "suite", "use", "integrate", "annotate", "proftext"] {
        pages += &format!("--- p3-rewrite {command}\n");
        let mut help = Command::new(REWRITE);
        pages += &transcript(help.args([command, "--help-all"]), dir.path());
    }
    for command in [
        "show", "coverage", "html", "browse", "top", "diff", "verify", "merge", "export", "union",
        "paths", "compare", "simulate", "accuracy", "hits",
    ] {
        pages += &format!("--- p3-prof {command}\n");
        let mut help = Command::new(PROF);
        pages += &transcript(help.args([command, "--help-all"]), dir.path());
    }
    pages += "--- p3-rewrite --help-all\n";
    pages += &transcript(Command::new(REWRITE).arg("--help-all"), dir.path());
    snapshot("help", &pages);
}

/// What people see first fits a screen: 50 lines of 100 columns.
#[test]
fn help_fits_one_screen() {
    for program in [REWRITE, PROF] {
        let text = run(Command::new(program).arg("--help")).stdout;
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().count() <= 50, "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
    }
}

/// Bitcode of the demo program.
fn bitcode(dir: &Path) -> Vec<u8> {
    std::fs::read(&compile("demo", &["-O1"], dir)[0]).unwrap()
}

#[test]
fn bad_inputs() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let bitcode = bitcode(&dir.join("input"));
    let file = |name: &str, bytes: &[u8]| std::fs::write(dir.join(name), bytes).unwrap();
    file("text.txt", b"hello\n");
    file("empty.bc", b"");
    file("elf.o", b"\x7fELF\x02\x01\x01");
    file("archive.a", b"!<arch>\n");
    file("half.bc", &bitcode[..bitcode.len() / 2]);
    file("start.bc", &bitcode[..40]);
    file("syntax.ll", b"define i32 @f() {\n  ret i33 0\n}\n");
    file("twice.ll", b"define void @main() {\n  ret void\n}\n");
    file("again.ll", b"define void @main() {\n  ret void\n}\n");
    file("line\nbreak.ll", b"define void @main() {\n  ret void\n}\n");
    file("a file", b"");
    std::fs::create_dir(dir.join("folder")).unwrap();
    std::fs::write(dir.join("folder/Makefile"), "mine").unwrap();
    std::fs::write(dir.join("folder/readme"), "no IR").unwrap();
    let cases: &[&[&str]] = &[
        &["missing.bc"],
        &["text.txt"],
        &["empty.bc"],
        &["elf.o"],
        &["archive.a"],
        &["half.bc"],
        &["start.bc"],
        &["syntax.ll"],
        &["twice.ll", "again.ll"],
        &["twice.ll", "twice.ll"],
        &["line\nbreak.ll"],
        &["folder"],
        &["twice.ll", "--include", "("],
        &["twice.ll", "--profile", "text.txt"],
        &["twice.ll", "--out", "a file"],
        &["twice.ll", "--out", "a file/below"],
        &["twice.ll", "--out", "folder"],
    ];
    let mut all = String::new();
    for case in cases {
        let mut command = Command::new(REWRITE);
        command.args(*case);
        if !case.contains(&"--out") {
            command.args(["-o", "out"]);
        }
        let text = transcript(&mut command, dir);
        one_line_error(&text);
        all += &format!("$ p3-rewrite {}\n{text}", case.join(" ").escape_debug());
        assert!(!dir.join("out/manifest.json").exists() && !dir.join("out/copy-0").exists());
    }
    for copies in ["0", "1025", "-3", "many"] {
        let mut command = Command::new(REWRITE);
        let text = transcript(command.args(["twice.ll", "-o", "out", "-k", copies]), dir);
        one_line_error(&text);
        all += &format!("$ p3-rewrite twice.ll -k {copies}\n{text}");
    }
    for arguments in [
        &[][..],
        &["twice.ll"],
        &["twice.ll", "-o", "out", "--scheme", "best"],
    ] {
        let text = transcript(Command::new(REWRITE).args(arguments), dir);
        one_line_error(&text);
        all += &format!("$ p3-rewrite {}\n{text}", arguments.join(" "));
    }
    snapshot("bad_inputs", &all);
}

/// Inputs that can be read once only, and names that are no text: what is made is the same.
#[test]
fn pipes_and_names() {
    use std::os::unix::ffi::OsStrExt;
    let dir = crate::support::folder();
    let dir = dir.path();
    let bytes = bitcode(&dir.join("input"));
    let text = run(Command::new(llvm("llvm-dis"))
        .args(["-o", "-"])
        .arg(dir.join("input/demo.bc")));
    std::fs::write(dir.join("demo.bc"), &bytes).unwrap();
    std::fs::write(dir.join("demo.ll"), &text.stdout).unwrap();
    let name = |extension: &[u8]| dir.join(std::ffi::OsStr::from_bytes(extension));
    std::fs::write(name(b"caf\xe9.bc"), &bytes).unwrap();
    std::fs::create_dir(name(b"d\xe9")).unwrap();
    std::fs::write(name(b"d\xe9/\xff.ll"), &text.stdout).unwrap();
    let hash = |file: &str| blake3::hash(&std::fs::read(dir.join(file)).unwrap()).to_hex();
    for (arguments, of) in [
        ("demo.bc", "demo.bc"),
        ("<(/bin/cat demo.bc)", "demo.bc"),
        ("<(/bin/cat demo.ll)", "demo.ll"),
        ("/dev/stdin < <(/bin/cat demo.bc)", "demo.bc"),
        ("/dev/stdin < demo.bc", "demo.bc"),
        ("$'caf\\xe9.bc'", "demo.bc"),
        ("$'d\\xe9'", "demo.ll"),
    ] {
        let script = format!("{REWRITE} -o out -k 2 {arguments}");
        let text = transcript(Command::new("/bin/bash").args(["-c", &script]), dir);
        let made = "out: 2 copies (p3-hot); functions: 1 exact, 0 cut, 0 skipped";
        assert!(
            text.starts_with(made) && text.ends_with("\nexit 0\n"),
            "{arguments}: {text}"
        );
        let manifest = std::fs::read_to_string(dir.join("out/manifest.json")).unwrap();
        assert!(manifest.contains(hash(of).as_str()), "{arguments}");
        std::fs::remove_dir_all(dir.join("out")).unwrap();
    }
    let mut all = String::new();
    run(Command::new("mkfifo").arg(dir.join("fifo")));
    for arguments in [
        "fifo fifo",
        "/dev/stdin < /dev/null",
        "<(:)",
        "<(echo no IR)",
    ] {
        let script = format!("{REWRITE} -o out {arguments}");
        let text = transcript(Command::new("/bin/bash").args(["-c", &script]), dir);
        one_line_error(&text);
        assert!(!dir.join("out").exists());
        all += &format!("$ p3-rewrite {arguments}\n{text}");
    }
    snapshot("pipes", &all);
}

/// Modules that LLVM reads and that still cannot be rewritten: one line each, nothing of LLVM's own, and
/// nothing is made.
#[test]
fn rejected_modules() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let debug = "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!2}\n\
                 !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)\n\
                 !1 = !DIFile(filename: \"a.c\", directory: \"/\")\n\
                 !2 = !{i32 2, !\"Debug Info Version\", i32 3}\n";
    let invalid = "define i32 @f(i1 %c) {\nentry:\n  br i1 %c, label %a, label %b\na:\n  br label %b\nb:\n  \
                   %v = phi i32 [ 0, %entry ]\n  ret i32 %v\n}\n";
    let cases = [
        ("phi.ll", invalid.to_string()),
        ("phi_debug.ll", format!("{invalid}{debug}")),
        ("declares.ll", "declare void @__p3_register(i32)\n".into()),
        (
            "defines.ll",
            "define void @__p3_count_atomic() {\n  ret void\n}\n".into(),
        ),
        ("variable.ll", "@__p3_count = global i32 0\n".into()),
        (
            "alias.ll",
            "@v = global i32 0\n@__p3_add = weak alias i32, ptr @v\n".into(),
        ),
        (
            "ctors.ll",
            "@llvm.global_ctors = external global i32\n".into(),
        ),
        (
            "fields.ll",
            "@llvm.global_ctors = appending global [1 x { i32, i32 }] zeroinitializer\n".into(),
        ),
    ];
    let mut all = String::new();
    for (name, text) in &cases {
        let main = "define i32 @main() {\n  ret i32 0\n}\n";
        std::fs::write(dir.join(name), format!("{main}{text}")).unwrap();
        let text = transcript(Command::new(REWRITE).args([name, "-o", "out"]), dir);
        one_line_error(&text);
        all += &format!("$ p3-rewrite {name}\n{text}");
        assert!(!dir.join("out").exists(), "{name}");
    }
    snapshot("rejected_modules", &all);
}

/// A module with debug information of no compile unit that only a record or the metadata of a loop refers to.
fn debug_in(record: &str, metadata: &str) -> String {
    let flags = if record.is_empty() {
        "!llvm.module.flags = !{!0}\n"
    } else {
        ""
    };
    format!(
        "define i32 @main() {{\n  {record}\n  ret i32 0{metadata}\n}}\n{flags}\
         !0 = !{{i32 2, !\"Debug Info Version\", i32 3}}\n\
         !1 = !DIFile(filename: \"a.c\", directory: \"/\")\n\
         !2 = !DILocation(line: 2, scope: !3)\n\
         !3 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1, unit: !8, spFlags: DISPFlagDefinition)\n\
         !4 = !DILocalVariable(name: \"x\", scope: !3)\n\
         !5 = distinct !{{!5, !6}}\n!6 = !{{!\"followup\", !7}}\n!7 = distinct !{{!7, !2}}\n\
         !8 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1)\n"
    )
}

/// Debug information that LLVM rejects, or of a version that it does not read, is left out of the copies with
/// one line that says so.
#[test]
fn bad_debug_information() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let module = |version: u32, line: &str| {
        format!(
            "define i32 @main() !dbg !3 {{\n  ret i32 0, !dbg !5\n}}\n\
             !llvm.dbg.cu = !{{!0}}\n!llvm.module.flags = !{{!2}}\n\
             !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)\n\
             !1 = !DIFile(filename: \"a.c\", directory: \"/\")\n\
             !2 = !{{i32 2, !\"Debug Info Version\", i32 {version}}}\n\
             !3 = distinct !DISubprogram(name: \"main\", file: !1, line: 1, type: !4, unit: !0, \
             spFlags: DISPFlagDefinition)\n!4 = !DISubroutineType(types: !{{}})\n{line}\n"
        )
    };
    let good = "!5 = !DILocation(line: 2, scope: !3)";
    let elsewhere = "!5 = !DILocation(line: 2, scope: !6)\n\
                     !6 = distinct !DISubprogram(name: \"g\", file: !1, line: 1, type: !4, unit: !0, \
                     spFlags: DISPFlagDefinition)";
    let cases = [
        ("good.ll", module(3, good), true),
        ("version.ll", module(2, good), false),
        ("invalid.ll", module(3, elsewhere), false),
        (
            "record.ll",
            debug_in("#dbg_value(i32 0, !4, !DIExpression(), !2)", ""),
            false,
        ),
        ("loop.ll", debug_in("", ", !llvm.loop !5"), false),
    ];
    let mut all = String::new();
    for (name, text, kept) in &cases {
        std::fs::write(dir.join(name), text).unwrap();
        let options = ["-k", "1", "--emit", "ll", "-o", "out"];
        let text = transcript(Command::new(REWRITE).arg(name).args(options), dir);
        all += &format!("$ p3-rewrite {name}\n{text}");
        let mut copies = dir.join("out/copy-0").read_dir().unwrap();
        let copy = copies.next().unwrap().unwrap().path();
        let copy = std::fs::read_to_string(copy).unwrap();
        assert_eq!(copy.contains("!DILocation"), *kept, "{name}");
        let manifest = std::fs::read_to_string(dir.join("out/manifest.json")).unwrap();
        assert_eq!(manifest.contains("a.c"), *kept, "{name}: lines");
        std::fs::remove_dir_all(dir.join("out")).unwrap();
    }
    snapshot("bad_debug_information", &all);
}

/// Every file below a folder, links not followed.
fn tree(dir: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter();
    let files = walk.map(Result::unwrap).filter(|e| !e.file_type().is_dir());
    files.map(walkdir::DirEntry::into_path).collect()
}

/// Only what p3-rewrite and the runner wrote goes, and neither way out of the folder is taken.
#[test]
fn folders_keep_what_is_not_ours() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let module = [dir.join("x.ll")];
    std::fs::write(&module[0], "define void @main() {\n  ret void\n}\n").unwrap();
    let write = |name: &str| {
        std::fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
        std::fs::write(dir.join(name), "mine").unwrap();
    };
    let refused = |what: &str| {
        let mut command = Command::new(REWRITE);
        let text = transcript(command.args(["x.ll", "-o", "out"]), dir);
        one_line_error(&text);
        assert!(text.contains(what), "{text}");
    };
    // A folder of the user's, the names in it as in ours.
    for name in [
        "out/Makefile",
        "out/run/data",
        "out/bin/tool",
        "out/manifest.json",
    ] {
        write(name);
    }
    let before = tree(&dir.join("out"));
    refused("is not empty, and p3-rewrite did not make it");
    assert_eq!(tree(&dir.join("out")), before);
    assert!(before.iter().all(|f| std::fs::read(f).unwrap() == b"mine"));
    std::fs::remove_dir_all(dir.join("out")).unwrap();

    // One of ours, with files of the user's in every folder, and a list that someone has added to.
    rewrite(&module, &["-k", "3", "--dump", "plan"], &dir.join("out"));
    let mine = [
        "out/notes",
        "out/copy-2/notes",
        "out/native/notes",
        "out/run/copy-0/notes",
        "out/obj/x/notes",
        "out/bin/notes",
        "out/runtime/notes",
        "out/dump/notes",
        "outside/notes",
    ];
    mine.iter().for_each(|name| write(name));
    let list = dir.join("out/.p3-files");
    let text = std::fs::read_to_string(&list).unwrap();
    assert!(text.contains("\ncopy-2/m0.bc\n") && text.contains("\ndump/copy-2.plan.txt\n"));
    let outside = dir.join("outside/notes");
    let added = format!(
        "{text}../outside/notes\n{}\n../outside/\n",
        outside.display()
    );
    std::fs::write(&list, added).unwrap();
    rewrite(&module, &["-k", "1"], &dir.join("out"));
    assert!(!dir.join("out/copy-1").exists() && !dir.join("out/copy-2/m0.bc").exists());
    assert!(!dir.join("out/dump/copy-0.plan.txt").exists());
    assert!(
        mine.iter()
            .all(|f| std::fs::read(dir.join(f)).unwrap() == b"mine")
    );

    // Links in the place of our folders.
    write("outside/m0.bc");
    std::fs::remove_dir_all(dir.join("out/copy-0")).unwrap();
    std::os::unix::fs::symlink(dir.join("outside"), dir.join("out/copy-0")).unwrap();
    refused("out/copy-0: is a symbolic link");
    assert_eq!(std::fs::read(dir.join("outside/m0.bc")).unwrap(), b"mine");
    // What was half made is ours all the same.
    std::fs::remove_file(dir.join("out/copy-0")).unwrap();
    assert!(!dir.join("out/manifest.json").exists());
    let text = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, text + "native/m0.ll\n").unwrap();
    std::fs::write(dir.join("out/native/m0.ll.part"), "half").unwrap();
    rewrite(&module, &["-k", "1"], &dir.join("out"));
    assert!(!dir.join("out/native/m0.ll.part").exists());
}

/// No name of a file reaches make or a shell as anything but a word.
#[test]
fn names_are_only_names() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let odd = [
        "`touch hit`.bc",
        "$(touch hit).bc",
        "a b;touch hit;.bc",
        "it's \"&|<>()=#:%*?[.bc",
    ];
    let program = compile("modules", &["-O1", "-g"], &dir.join("built"));
    std::fs::create_dir(dir.join("in")).unwrap();
    for (module, name) in program.iter().zip(odd) {
        std::fs::copy(module, dir.join("in").join(name)).unwrap();
    }
    for out in [
        "plain",
        "it's $(touch hit) \"`touch hit`\" #1: 100%p",
        "-C ~x",
    ] {
        let mut command = Command::new(REWRITE);
        command.arg("in").args(["-k", "2", &format!("-o{out}")]);
        let text = transcript(&mut command, dir);
        // What it says to type next works as it stands.
        let (_, next) = text.split_once("; next: ").expect(&text);
        let next = next.lines().next().unwrap();
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(format!("{next} P3_PROF=\"$0\" FIXED_TIME=1"))
            .arg(PROF);
        let output = shell.current_dir(dir).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let out = dir.join(out);
        let merged = out.join("profile.p3prof");
        crate::support::run(Command::new(PROF).arg("verify").arg(&merged));
        let shown = crate::support::paths(&merged);
        assert!(
            shown
                .keys()
                .all(|(module, ..)| odd.contains(&module.as_str()))
        );
        let mut export = Command::new(PROF);
        export.args(["export", "--format", "proftext"]).arg(&merged);
        assert!(crate::support::run(&mut export).stdout.len() > 100);
    }
    let hit = walkdir::WalkDir::new(dir)
        .into_iter()
        .any(|e| e.unwrap().file_name() == "hit");
    assert!(!hit);
}

/// An already instrumented module is refused; so is a damaged one, wherever the damage is.
#[test]
fn damaged_bitcode_never_crashes() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let good = bitcode(&dir.join("input"));
    let mut outcomes = [0; 3];
    for i in 0..60usize {
        let mut bytes = good.clone();
        if i % 3 == 0 {
            bytes.truncate(good.len() * i / 60);
        } else {
            bytes[(i * 7919) % good.len()] ^= 1 << (i % 8);
        }
        std::fs::write(dir.join("x.bc"), bytes).unwrap();
        // Of one of them LLVM's reader takes as much memory as there is.
        let mut command = Command::new("prlimit");
        let output = command
            .args(["--as=4000000000", REWRITE])
            .args(["-q", "x.bc", "-k", "2", "-o", "out"])
            .current_dir(dir)
            .output();
        let output = output.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => outcomes[0] += 1,
            Some(2) => {
                assert_eq!(stderr.lines().count(), 1, "{stderr}");
                outcomes[1] += 1;
            }
            // LLVM's reader itself dies of some inputs; nothing that looks finished may be left.
            _ => {
                assert!(!dir.join("out/manifest.json").exists());
                outcomes[2] += 1;
            }
        }
        let _ = std::fs::remove_dir_all(dir.join("out"));
    }
    assert!(outcomes[1] > 30, "{outcomes:?}");
    assert!(outcomes[2] < 3, "{outcomes:?}");
}

/// Bitcode whose producer is newer than every engine is said to be that; an engine that is named tries to read it.
#[test]
fn newer_bitcode() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let newer = with_producer(&bitcode(&dir.join("input")));
    std::fs::write(dir.join("newer.bc"), &newer).unwrap();
    let rewrite = |options: &[&str]| {
        let mut command = Command::new(REWRITE);
        command.args(["newer.bc", "-o", "out"]).args(options);
        transcript(&mut command, dir)
    };
    let text = rewrite(&[]);
    one_line_error(&text);
    assert!(
        text.contains("newer.bc: written by LLVM 29, which no engine"),
        "{text}"
    );
    let engine = LINKED.to_string();
    for i in 0..2000 {
        let mut bytes = newer.clone();
        bytes[300 + i * 3] ^= 0x55;
        std::fs::write(dir.join("newer.bc"), bytes).unwrap();
        let text = rewrite(&["--llvm", &engine]);
        if text.contains(&format!("newer than LLVM {LINKED}")) {
            one_line_error(&text);
            return;
        }
    }
    panic!("no damage made LLVM name the producer");
}

/// Changes the producer to one of LLVM 29: 6-bit characters at any bit offset.
fn with_producer(bytes: &[u8]) -> Vec<u8> {
    let bit = |bytes: &[u8], i: usize| bytes[i / 8] >> (i % 8) & 1;
    let char6 = |c: u8| match c {
        b'a'..=b'z' => c - b'a',
        b'A'..=b'Z' => c - b'A' + 26,
        _ => c - b'0' + 52,
    };
    let pattern: Vec<u8> = format!("LLVM{LINKED}").bytes().map(char6).collect();
    let pattern = |i: usize| pattern[i / 6] >> (i % 6) & 1;
    let at = (0..4000).find(|at| (0..36).all(|i| bit(bytes, at + i) == pattern(i)));
    let digit = at.expect("the producer is in the identification block") + 24;
    let mut bytes = bytes.to_vec();
    for i in 0..6 {
        let wanted = char6(b'2') >> i & 1;
        let (byte, shift) = ((digit + i) / 8, (digit + i) % 8);
        bytes[byte] = bytes[byte] & !(1 << shift) | wanted << shift;
    }
    bytes
}

#[test]
fn instrumented_input_is_refused() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = compile("demo", &["-O1"], &dir.join("input"));
    rewrite(&modules, &["-k", "1"], &dir.join("out"));
    let again = dir.join("out/copy-0/m0.bc");
    let text = transcript(Command::new(REWRITE).arg(again).args(["-o", "twice"]), dir);
    one_line_error(&text);
    assert!(text.contains("instrumented already"), "{text}");
}

/// A merged profile of the `loops` program and the folder of its copies.
fn profiled(dir: &Path) -> (PathBuf, PathBuf) {
    let flags = ["-O1", "-g", "-fno-inline"];
    let (modules, expected) = original("loops", &flags, &["-O1"], dir);
    let out = dir.join("out");
    (
        profile(&modules, &["--scheme", "p3"], 3, &["-O1"], &expected, &out),
        out,
    )
}

#[test]
fn reports() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (merged, _) = profiled(dir);
    let commands: &[&[&str]] = &[
        &["show", "--top", "6"],
        &["show", "--function", "^gcd$"],
        &["show", "--format", "csv", "--top", "4"],
        &["show", "--format", "json", "--function", "^find$"],
        &["show", "--edges", "--function", "^gcd$"],
        &["show", "--edges", "--format", "json", "--function", "^gcd$"],
        &["show", "--edges", "--format", "csv", "--function", "^gcd$"],
        &["simulate", "-k", "2,4"],
        &["simulate", "-k", "3", "--format", "json"],
        &["verify"],
        &["accuracy", "--top", "3"],
        &["coverage", "--top", "4"],
        &["coverage", "--function", "^(find|nest)$"],
        &["coverage", "--function", "^find$", "--format", "json"],
        &["coverage", "--format", "csv"],
        &["coverage", "--sort", "name", "--top", "2"],
        &[
            "coverage",
            "--fail-under",
            "90",
            "--measure",
            "pairs",
            "--top",
            "1",
        ],
        &["coverage", "--fail-under", "1", "--format", "markdown"],
        &["coverage", "--format", "github", "--function", "^find$"],
        &["coverage", "--file", "loops.c", "--exclude", "loops"],
        &["coverage", "--file", "nowhere.c"],
        &["export", "--format", "folded", "--function", "^gcd$"],
        &["export", "--format", "lcov", "--function", "^gcd$"],
        &["export", "--format", "dot", "--function", "^gcd$"],
        &["export", "--format", "callgrind"],
        &["export", "--format", "speedscope", "--function", "^gcd$"],
        &["show", "--color", "always", "--top", "1"],
    ];
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(project("snapshots/report"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"p3-prof \d+\.\d+\.\d+", "p3-prof X");
    let mut all = String::new();
    for arguments in commands {
        let text = transcript(Command::new(PROF).args(*arguments).arg(&merged), dir);
        all += &format!("$ p3-prof {}\n{text}", arguments.join(" "));
    }
    settings.bind(|| insta::assert_snapshot!("loops", all));
}

/// What cannot be exported, annotated or compared: one line, exit 2, nothing written.
#[test]
fn bad_exports() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (merged, _) = profiled(dir);
    std::fs::copy(&merged, dir.join("loops.p3prof")).unwrap();
    std::fs::copy(dir.join("input/loops.bc"), dir.join("loops.bc")).unwrap();
    let other = compile("demo", &["-O1"], &dir.join("other"));
    std::fs::copy(&other[0], dir.join("demo.bc")).unwrap();
    std::fs::write(dir.join("text.txt"), "hello").unwrap();
    let mut all = String::new();
    let mut check = |program: &str, arguments: &[&str]| {
        let name = program.rsplit('/').next().unwrap();
        let text = transcript(Command::new(program).args(arguments), dir);
        one_line_error(&text);
        all += &format!("$ {name} {}\n{text}", arguments.join(" "));
        assert!(!dir.join("x").exists());
    };
    let proftext = ["export", "--format", "proftext", "-o", "x", "loops.p3prof"];
    std::fs::create_dir(dir.join("alone")).unwrap();
    std::fs::copy(&merged, dir.join("alone/loops.p3prof")).unwrap();
    let alone = [&proftext[..5], &["alone/loops.p3prof"]].concat();
    check(PROF, &alone);
    check(PROF, &[&proftext[..], &["--modules", "demo.bc"]].concat());
    check(PROF, &[&proftext[..], &["--modules", "text.txt"]].concat());
    check(PROF, &[&proftext[..], &["--function", "gcd"]].concat());
    check(PROF, &["export", "--format", "lcov", "-o", "x", "text.txt"]);
    check(PROF, &["export", "--format", "gcov", "loops.p3prof"]);
    let weighed = ["export", "--format", "lcov", "--weigh", "paths"];
    check(PROF, &[&weighed[..], &["loops.p3prof"]].concat());
    check(
        PROF,
        &[
            "export",
            "--format",
            "dot",
            "-o",
            "text.txt/x",
            "loops.p3prof",
        ],
    );
    check(PROF, &["coverage", "text.txt"]);
    check(
        PROF,
        &["diff", "--least", "200", "loops.p3prof", "loops.p3prof"],
    );
    check(PROF, &["diff", "loops.p3prof", "missing.p3prof"]);
    let annotate = ["annotate", "-o", "x", "--profile"];
    check(
        REWRITE,
        &[&annotate[..], &["loops.p3prof", "demo.bc"]].concat(),
    );
    check(
        REWRITE,
        &[&annotate[..], &["text.txt", "loops.bc"]].concat(),
    );
    check(
        REWRITE,
        &[&annotate[..], &["loops.p3prof", "missing.bc"]].concat(),
    );
    check(REWRITE, &["annotate", "loops.bc"]);
    let file = [
        "annotate",
        "-o",
        "text.txt",
        "--profile",
        "loops.p3prof",
        "input",
    ];
    check(REWRITE, &file);
    snapshot("bad_exports", &all);

    // Other control flow under the same names is told, and what is left is done.
    let changed = compile("loops", &["-O2", "-fno-inline"], &dir.join("changed"));
    let mut command = Command::new(REWRITE);
    command.args(["annotate", "-o", "x.bc", "--profile", "loops.p3prof"]);
    let text = transcript(command.arg(&changed[0]), dir);
    assert!(
        text.contains("warning: ") && text.contains("other control flow"),
        "{text}"
    );
    assert!(
        text.ends_with("exit 0\n") && dir.join("x.bc").exists(),
        "{text}"
    );
    // Nothing differs from itself, and nothing of another build is compared.
    let diff = |a: &str, b: &Path| transcript(Command::new(PROF).args(["diff", a]).arg(b), dir);
    assert!(diff("loops.p3prof", &merged).ends_with(" paths steady\nexit 0\n"));
    let (modules, expected) = original("loops", &["-O2", "-fno-inline"], &["-O1"], &dir.join("2"));
    let later = profile(&modules, &[], 1, &["-O1"], &expected, &dir.join("2/out"));
    let text = diff("loops.p3prof", &later);
    assert!(
        text.contains("control flow changed, paths not compared"),
        "{text}"
    );
    assert!(text.ends_with("exit 1\n"), "{text}");
}

#[test]
fn bad_profiles() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (merged, out) = profiled(dir);
    let raw = |k: u32| {
        let mut files = out
            .join("raw")
            .read_dir()
            .unwrap()
            .map(|e| e.unwrap().path());
        let is = |f: &PathBuf| {
            f.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(&format!("{k}-"))
        };
        files.find(is).unwrap()
    };
    // Raw files by copy, damaged in every way.
    let mut good = Vec::new();
    for k in 0..3 {
        good.push(std::fs::read(raw(k)).unwrap());
        std::fs::write(dir.join(format!("{k}.p3raw")), &good[k as usize]).unwrap();
    }
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.join(name), bytes).unwrap();
    write("half.p3raw", &good[1][..good[1].len() / 2]);
    let mut flipped = good[1].clone();
    flipped[4096 + 70] ^= 4;
    write("flipped.p3raw", &flipped);
    flipped = good[1].clone();
    flipped[8] = 10;
    write("version.p3raw", &flipped);
    flipped[8] = 5;
    write("old.p3raw", &flipped);
    write("text.p3raw", b"hello");
    let shown = std::fs::read(&merged).unwrap();
    write("half.p3prof", &shown[..shown.len() / 2]);
    let mut flipped = shown.clone();
    flipped[100] ^= 1;
    write("flipped.p3prof", &flipped);
    flipped[7] = 1;
    write("old.p3prof", &flipped);
    // Another rewriting, and another program.
    let input = dir.join("input/loops.bc");
    rewrite(&[input], &["-k", "2"], &dir.join("other"));
    std::fs::copy(out.join("manifest.json"), dir.join("manifest.json")).unwrap();
    let manifest = std::fs::read_to_string(dir.join("manifest.json")).unwrap();
    let current = format!("\"version\":{},", p3_rewrite::manifest::VERSION);
    write("half.json", &manifest.as_bytes()[..manifest.len() / 2]);
    write(
        "old.json",
        manifest.replace(&current, "\"version\":0,").as_bytes(),
    );
    assert!(manifest.contains(&current));
    write(
        "wrong.json",
        manifest.replace("\"unit\":1", "\"unit\":99").as_bytes(),
    );

    let merge = |arguments: &[&str]| {
        let mut command = Command::new(PROF);
        command.args(["merge", "-o", "x.p3prof"]).args(arguments);
        transcript(&mut command, dir)
    };
    let mut all = String::new();
    for case in [
        &["-m", "manifest.json", "0.p3raw", "1.p3raw"][..],
        &["-m", "manifest.json", "0.p3raw", "half.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "flipped.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "version.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "old.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "text.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "0.p3raw", "missing.p3raw", "2.p3raw"],
        &["-m", "manifest.json", "other"],
        &["-m", "other/manifest.json", "0.p3raw", "1.p3raw", "2.p3raw"],
        &["-m", "half.json", "0.p3raw"],
        &["-m", "old.json", "0.p3raw"],
        &["-m", "wrong.json", "0.p3raw"],
        &["-m", "0.p3raw", "0.p3raw"],
    ] {
        let text = merge(case);
        one_line_error(&text);
        all += &format!("$ p3-prof merge {}\n{text}", case.join(" "));
        assert!(!dir.join("x.p3prof").exists());
    }
    for case in [
        &[
            "-m",
            "manifest.json",
            "--failure-mode",
            "warn",
            "0.p3raw",
            "half.p3raw",
        ][..],
        &["-m", "manifest.json", "--failure-mode", "all", "text.p3raw"],
    ] {
        all += &format!("$ p3-prof merge {}\n{}", case.join(" "), merge(case));
    }
    let incomplete = transcript(
        Command::new(PROF).args(["show", "x.p3prof", "--top", "1"]),
        dir,
    );
    assert!(
        incomplete.contains("incomplete: nothing of copies 1, 2 was merged"),
        "{incomplete}"
    );
    for file in [
        "half.p3prof",
        "flipped.p3prof",
        "old.p3prof",
        "manifest.json",
        "missing.p3prof",
    ] {
        for command in ["show", "verify", "simulate"] {
            let text = transcript(Command::new(PROF).args([command, file]), dir);
            one_line_error(&text);
            all += &format!("$ p3-prof {command} {file}\n{text}");
        }
    }
    snapshot("bad_profiles", &all);

    // The same runs again: no difference. Once more beside them: twice the counts, and a difference.
    let good = ["-m", "manifest.json", "0.p3raw", "1.p3raw", "2.p3raw"];
    let text = merge(&good);
    assert!(text.ends_with(" ran\nexit 0\n"), "{text}");
    let compare = |a: &Path, b: &str| {
        transcript(
            Command::new(PROF)
                .arg("compare")
                .arg(a)
                .arg(b)
                .args(["--max", "2"]),
            dir,
        )
    };
    assert_eq!(compare(&merged, "x.p3prof"), "exit 0\n");
    for k in 0..3 {
        let exe = out.join(format!("copy-{k}.exe"));
        execute(&exe, &dir.join("again"));
    }
    let text = merge(&[&good[..], &["again/raw"]].concat());
    assert!(text.contains("  runs          2 of each copy\n"), "{text}");
    let text = compare(&merged, "x.p3prof");
    assert!(text.ends_with("more differences\nexit 1\n"), "{text}");
}

/// Placing probes by a measured profile changes their cost, not the counts.
#[test]
fn measured_weights_keep_the_counts() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (merged, _) = profiled(dir);
    let modules = [dir.join("input/loops.bc")];
    let expected = execute(&dir.join("native.exe"), &dir.join("native"));
    let options = ["--scheme", "sbl", "--profile", merged.to_str().unwrap()];
    let again = profile(
        &modules,
        &options,
        1,
        &["-O1"],
        &expected,
        &dir.join("again"),
    );
    crate::support::run(Command::new(PROF).arg("compare").arg(&merged).arg(&again));
    let plan = |options: &[&str], out: &str| {
        rewrite(
            &modules,
            &[options, &["--dump", "plan"]].concat(),
            &dir.join(out),
        );
        std::fs::read_to_string(dir.join(out).join("dump/copy-0.plan.txt")).unwrap()
    };
    assert_ne!(
        plan(&options, "measured"),
        plan(&["--scheme", "sbl"], "static")
    );
}

/// A full disk: the old profile stays, nothing half-written appears.
#[test]
fn merge_on_a_full_disk() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let (_, out) = profiled(dir);
    let script = r#"
        mkdir full && mount -t tmpfs -o size=16k none full || exit 77
        printf 'p3prof\377old\n' > full/profile; cat /dev/zero > full/filler 2>/dev/null
        "$1" merge -m "$2/manifest.json" -o full/profile "$2/raw"; echo "exit $?"
        cat full/profile; ls -A full"#;
    let mut unshare = Command::new("unshare");
    unshare.args([
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
        PROF,
    ]);
    let output = unshare.arg(&out).current_dir(dir).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(
        stdout, "exit 2\np3prof\u{fffd}old\nfiller\nprofile\n",
        "{stderr}"
    );
    assert_eq!(
        stderr,
        "error: full/profile: cannot write: No space left on device (os error 28); make room, or name another place\n"
    );
}

/// An expression that matches no function is an error that says why, in every command, before anything is written.
#[test]
fn nothing_chosen() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let module = dir.join("names.ll");
    let naked = "define void @bare() naked {\n  unreachable\n}\n";
    let others = "declare void @outside()\n\
        define void @_ZN4Tree6insertEi() {\n  call void @outside()\n  ret void\n}\n\
        define i32 @main() {\n  call void @_ZN4Tree6insertEi()\n  ret i32 0\n}\n";
    std::fs::write(&module, format!("{naked}{others}")).unwrap();
    let mut all = String::new();
    for case in [
        &["--include", "^mian$"][..],
        &["--include", "main", "--include", "Tree::inset"],
        &["--include", "bare"],
        &["--include", "xylophone"],
        &["--include", "outside"],
        &["--stats", "--function", "tree::"],
        &["--dump", "cfg", "--function", "^insert$"],
    ] {
        let mut command = Command::new(REWRITE);
        let text = transcript(command.args(["names.ll", "-o", "out"]).args(case), dir);
        one_line_error(&text);
        all += &format!("$ p3-rewrite {}\n{text}", case.join(" "));
        assert!(!dir.join("out").exists(), "{case:?}");
    }
    // Readable names choose as symbols do.
    let options = [
        "--include",
        r"^Tree::insert\(int\)$",
        "--exclude",
        "^main$",
        "--stats",
        "--function",
        "Tree::",
    ];
    let mut command = Command::new(REWRITE);
    let text = transcript(
        command
            .args(["names.ll", "-k", "2", "-o", "out"])
            .args(options),
        dir,
    );
    assert!(text.contains("1 exact, 0 cut, 2 skipped"), "{text}");
    assert!(
        text.lines()
            .any(|l| l.starts_with("Tree::insert(int)  exact")),
        "{text}"
    );

    let (profile, _) = profiled(&dir.join("loops"));
    let profile = profile.to_str().unwrap();
    for command in [
        &["show", profile][..],
        &["show", profile, "--edges"],
        &["accuracy", profile],
        &["coverage", profile],
        &["diff", profile, profile],
        &["export", profile, "--format", "json"],
    ] {
        let mut prof = Command::new(PROF);
        let text = transcript(prof.args(command).args(["--function", "^mian$"]), dir);
        one_line_error(&text);
        assert!(text.contains("nearest: main"), "{text}");
    }
    snapshot("nothing_chosen", &all);
}

/// Where debug information remembers them, functions that were inlined everywhere are told with where they went:
/// through functions that are gone themselves, by symbol and by readable name.
#[test]
fn nothing_chosen_but_inlined() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let c = "extern int in(void);\n\
        static int inner(int x) { if (x) { int y = in(); return y * x; } return 7; }\n\
        static int middle(int x) { return inner(x) + in(); }\n\
        int a(void) { return middle(in()); }\nint b(void) { return inner(in()); }\n\
        int c(void) { return inner(in()); }\nint d(void) { return inner(in()); }\n";
    let cxx = "extern int in();\nnamespace N { static int gone(int x) { return in() * x; } }\n\
        int kept(int x) { return N::gone(x); }\n";
    for (compiler, name, source) in [("clang", "c.c", c), ("clang++", "cxx.cpp", cxx)] {
        std::fs::write(dir.join(name), source).unwrap();
        for (debug, folder) in [("-g", "with"), ("-g0", "without")] {
            std::fs::create_dir_all(dir.join(folder)).unwrap();
            let out = dir.join(folder).join(name).with_extension("bc");
            let mut command = Command::new(llvm(compiler));
            command.args(["-O2", debug, "-emit-llvm", "-c", "-o"]);
            run(command.arg(out).arg(dir.join(name)));
        }
    }
    for (folder, pattern, remedy) in [
        (
            "with",
            "^middle$",
            "middle was inlined into a (-fno-inline keeps it)",
        ),
        (
            "with",
            "^inner$",
            "inner was inlined into a, b, c, 1 more (-fno-inline keeps it)",
        ),
        (
            "with",
            "^N::gone",
            "N::gone(int) was inlined into kept(int) (-fno-inline keeps it)",
        ),
        (
            "with",
            "^_ZN1NL4goneEi$",
            "N::gone(int) was inlined into kept(int) (-fno-inline keeps it)",
        ),
        ("with", "^in$", "in is called, but no input defines it"),
        (
            "without",
            "^middle$",
            "functions that were inlined everywhere are gone (-fno-inline keeps them)",
        ),
    ] {
        for option in ["--include", "--function"] {
            let mut command = Command::new(REWRITE);
            let text = transcript(command.args([folder, "-o", "out", option, pattern]), dir);
            one_line_error(&text);
            let start = format!("error: {option} '{pattern}' matches no function; ");
            assert_eq!(text, format!("{start}{remedy}\nexit 2\n"));
        }
    }
}

/// What was nearly typed is told, in the one line of the error.
#[test]
fn nearly_typed() {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        said(PROF, &["shwo", "x"]),
        "error: unrecognized subcommand 'shwo'; tip: a similar subcommand exists: 'show'; see --help\n"
    );
    assert_eq!(
        said(REWRITE, &["x.bc", "-o", "y", "--sheme", "p3"]),
        "error: unexpected argument '--sheme' found; tip: a similar argument exists: '--scheme'; see --help\n"
    );
    assert_eq!(
        said(REWRITE, &["suit", "--", "make", "check"]),
        "error: suit: no such file or command; a similar command exists: suite\n"
    );
}

/// A page for every program and command, that refer to nothing else, and completions that shells can read.
#[test]
fn manual() {
    let dir = crate::support::folder();
    for program in [REWRITE, PROF] {
        let folder = dir.path().join(Path::new(program).file_name().unwrap());
        run(Command::new(program).args(["manual", "-o"]).arg(&folder));
        let pages = tree(&folder.join("man/man1"));
        let name = |p: &PathBuf| p.file_name().unwrap().to_str().unwrap().to_string();
        let names: Vec<String> = pages.iter().map(name).collect();
        let mut expected = vec!["p3-prof.1".to_string()];
        let help = run(Command::new(PROF).arg("--help")).stdout;
        let help = String::from_utf8(help).unwrap();
        let commands = help.split("\nOptions:\n").next().unwrap().lines();
        let words = commands.filter_map(|l| l.strip_prefix("  ")?.split_once(' '));
        let words = words
            .map(|(word, _)| word)
            .filter(|w| !w.is_empty() && *w != "help");
        expected.extend(words.map(|w| format!("p3-prof-{w}.1")));
        for page in expected {
            assert!(names.contains(&page), "{page}: {names:?}");
        }
        // Of options that `--help` leaves out as well.
        let own = Path::new(program).file_name().unwrap().to_str().unwrap();
        let own = folder.join(format!("man/man1/{own}.1"));
        let options = std::fs::read_to_string(own).unwrap();
        let colour = options.split("\\-color\\fR \\fI").nth(1).unwrap();
        assert!(colour.contains("When to colour"), "{options}");
        for page in pages {
            let text = std::fs::read_to_string(&page).unwrap();
            let mark = ".\\\" Written by p3-rewrite: manual\n";
            assert!(text.contains(mark), "{}", page.display());
            let text = text.strip_prefix(mark).unwrap_or(&text);
            let sound = text.starts_with(".ie ")
                || text.starts_with(".TH ")
                || text.starts_with(".so man1/p3-cc.1");
            assert!(sound, "{}", page.display());
        }
        let bash = folder.join("bash-completion/completions/p3-prof");
        run(Command::new("bash").arg("-n").arg(bash));
    }
}

/// What is there is told with its place; without anything in `PATH` it is said what is missing.
#[test]
fn doctor() {
    let output = Command::new(REWRITE).arg("doctor").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    for what in [
        "LLVM",
        "clang++",
        "p3-prof",
        "CPU timer",
        "seccomp",
        "setarch -R",
        "make",
    ] {
        assert!(said.contains(&format!("  {what}  ")), "{what}: {said}");
    }
    let nothing = Command::new(REWRITE)
        .arg("doctor")
        .env("PATH", "")
        .output()
        .unwrap();
    assert_eq!(nothing.status.code(), Some(1));
    let said = String::from_utf8(nothing.stdout).unwrap();
    let missing: Vec<&str> = said.lines().filter(|l| l.starts_with("MISSING")).collect();
    assert_eq!(missing.len(), 4, "{said}");
    assert!(said.ends_with("4 missing, of what is needed\n"), "{said}");
}
