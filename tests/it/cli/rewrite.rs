//! Inputs of `p3-rewrite`: what it refuses, and what it reads nevertheless.

use super::{bitcode, one_line_error, snapshot, transcript};
use crate::support::text::assert_line;
use crate::support::{PROF, REWRITE, compile, disassemble, rewrite, run};
use p3_rewrite::base::llvm::LINKED;
use std::process::Command;

/// Of more copies than usual, those without anything to count are named; by default nothing is said.
#[test]
fn copies_without_anything_to_count_are_named() {
    let dir = crate::support::folder();
    let dir = dir.path();
    std::fs::write(dir.join("a.ll"), "define i32 @main() {\n  ret i32 0\n}\n").unwrap();
    let said = |copies: &[&str]| {
        let mut command = Command::new(REWRITE);
        transcript(command.args(["a.ll", "-o", "out"]).args(copies), dir)
    };
    let warning = "warning: 999 of 1,000 copies have nothing to profile: use -k 1\n";
    assert!(
        said(&["-k", "1000"]).contains(warning),
        "{}",
        said(&["-k", "1000"])
    );
    assert!(!said(&[]).contains("nothing to profile"));
}

#[test]
fn scheme_of_one_copy_warns_of_more() {
    let dir = crate::support::folder();
    let dir = dir.path();
    std::fs::write(dir.join("a.ll"), "define i32 @main() {\n  ret i32 0\n}\n").unwrap();
    let said = |options: &[&str]| {
        let mut command = Command::new(REWRITE);
        let arguments = ["a.ll", "-o", "out", "--scheme", "sbl"];
        transcript(command.args(arguments).args(options), dir)
    };
    let warning = "warning: -k 4: --scheme sbl makes only 1 copy\n";
    let with_more = said(&["-k", "4"]);
    assert_eq!(with_more.matches(warning).count(), 1, "{with_more}");
    for usual in [&[][..], &["-k", "1"]] {
        let said = said(usual);
        assert!(!said.contains("warning: -k"), "{said}");
    }
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
        // Text that no engine parses is reported by the newest one that is here.
        command.args(*case).env("P3_LLVM", LINKED.to_string());
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

/// What is wrong with arguments of `build` and `suite` is reported before their command runs.
#[test]
fn bad_arguments_of_builds() {
    let dir = crate::support::folder();
    let dir = dir.path();
    std::fs::write(dir.join("text.txt"), "hello\n").unwrap();
    let mut all = String::new();
    for arguments in [
        &["suite", "-o", "p3", "make", "-j2", "check"][..],
        &["suite", "make"],
        &["suite", "suite"],
        &["suite", "-o", "make", "make", "check"],
        &["suite", "-o", "p3"],
        &["suite", "-j", "x", "--", "make"],
        &["suite", "--fixed", "make"],
        &["suite", "-o", "p3", "--", "make"],
        &["build", "-k2", "sh", "-c", "touch built"],
        &["build", "--profile", "none.p3prof", "--", "touch", "built"],
        &["build", "--profile", "text.txt", "--", "touch", "built"],
        &["build", "--", "no-such-command", "built"],
        &["build", "--", "touch built"],
        &["build", "--", "./text.txt"],
    ] {
        let text = transcript(Command::new(REWRITE).args(arguments), dir);
        one_line_error(&text);
        all += &format!("$ p3-rewrite {}\n{text}", arguments.join(" "));
        assert!(!dir.join("built").exists());
    }
    for arguments in [
        &["show", "x", "--top", "x"][..],
        &["show", "x", "--function", "a("],
        &["diff", "x", "y", "--least", "x"],
        &["merge", "-m", "none/", "x", "-o", "y"],
    ] {
        let text = transcript(Command::new(PROF).args(arguments), dir);
        one_line_error(&text);
        all += &format!("$ p3-prof {}\n{text}", arguments.join(" "));
    }
    snapshot("bad_arguments_of_builds", &all);
}

/// Inputs that can be read once only, and names that are no text: what is made is the same.
#[test]
fn pipes_and_names() {
    use std::os::unix::ffi::OsStrExt;
    let dir = crate::support::folder();
    let dir = dir.path();
    let bytes = bitcode(&dir.join("input"));
    let text = disassemble(&dir.join("input/demo.bc"));
    std::fs::write(dir.join("demo.bc"), &bytes).unwrap();
    std::fs::write(dir.join("demo.ll"), &text).unwrap();
    let name = |extension: &[u8]| dir.join(std::ffi::OsStr::from_bytes(extension));
    std::fs::write(name(b"caf\xe9.bc"), &bytes).unwrap();
    std::fs::create_dir(name(b"d\xe9")).unwrap();
    std::fs::write(name(b"d\xe9/\xff.ll"), &text).unwrap();
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
        let mut shell = Command::new("/bin/bash");
        shell.env("P3_LLVM", LINKED.to_string());
        let text = transcript(shell.args(["-c", &script]), dir);
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

/// LLVM's verifier does not check that the file of a lexical block is a file; llvm-ir has LLVM read its name, and LLVM
/// takes whatever is there for a text: it crashes, but for one in thousands of addresses.
#[test]
fn block_whose_file_is_another_node_ends_in_one_line() {
    let dir = crate::support::folder();
    let dir = dir.path();
    for node in ["!{i64 7}", "!DIEnumerator(name: \"a\", value: 1)"] {
        let text = format!(
            "define i32 @main() !dbg !3 {{\n  ret i32 0, !dbg !5\n}}\n\
             !llvm.dbg.cu = !{{!0}}\n!llvm.module.flags = !{{!2}}\n\
             !0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)\n\
             !1 = !DIFile(filename: \"a.c\", directory: \"/\")\n\
             !2 = !{{i32 2, !\"Debug Info Version\", i32 3}}\n\
             !3 = distinct !DISubprogram(name: \"main\", file: !1, line: 1, type: !4, unit: !0, \
             spFlags: DISPFlagDefinition)\n!4 = !DISubroutineType(types: !{{}})\n\
             !5 = !DILocation(line: 2, scope: !6)\n\
             !6 = distinct !DILexicalBlock(scope: !3, file: !7, line: 1)\n!7 = {node}\n"
        );
        std::fs::write(dir.join("block.ll"), text).unwrap();
        let mut rewrite = Command::new(REWRITE);
        let said = transcript(
            rewrite.args(["block.ll", "-q", "-k", "1", "-o", "out"]),
            dir,
        );
        if said != "exit 0\n" {
            one_line_error(&said);
            assert!(said.starts_with("error: block.ll: LLVM"), "{said}");
        }
    }
}

/// Damaged modules are refused by one line, wherever the damage is; LLVM's reader crashes on some of them.
#[test]
fn damaged_bitcode_ends_in_one_line() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let good = bitcode(&dir.join("input"));
    let mut outcomes = [0; 2];
    for i in 0..60usize {
        let mut bytes = good.clone();
        if i % 3 == 0 {
            bytes.truncate(good.len() * i / 60);
        } else {
            bytes[(i * 7919) % good.len()] ^= 1 << (i % 8);
        }
        std::fs::write(dir.join("x.bc"), bytes).unwrap();
        let mut rewrite = Command::new(REWRITE);
        rewrite.args(["-q", "x.bc", "-k", "2", "-o", "out"]);
        let text = transcript(&mut rewrite, dir);
        if text.ends_with("exit 0\n") {
            outcomes[0] += 1;
        } else {
            one_line_error(&text);
            assert!(!dir.join("out/manifest.json").exists());
            outcomes[1] += 1;
        }
        let _ = std::fs::remove_dir_all(dir.join("out"));
    }
    assert!(outcomes[1] > 30, "{outcomes:?}");
}

/// A vector that LLVM needs 5 GB and half a minute to read, alone and between others. Where the system gives no more
/// memory, LLVM would print lines of its own.
#[test]
fn input_that_fills_memory_ends_in_one_line() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let main = "define i32 @main() {\n ret i32 0\n}\n";
    let vector = "@v = global <300000000 x i64> splat (i64 1)\n";
    std::fs::write(dir.join("a.ll"), main).unwrap();
    std::fs::write(dir.join("large.ll"), vector).unwrap();
    for (limit, inputs, what) in [
        (
            "unlimited",
            &["large.ll"][..],
            "takes more than 1024 MB of memory to read",
        ),
        (
            "unlimited",
            &["a.ll", "large.ll"],
            "takes more than 1024 MB of memory to read",
        ),
        (
            "1000000000",
            &["large.ll"],
            "found no more memory while it read",
        ),
    ] {
        let mut rewrite = Command::new("/usr/bin/prlimit");
        rewrite.args([&format!("--as={limit}"), REWRITE]);
        let text = transcript(rewrite.args(inputs).args(["-o", "out"]), dir);
        one_line_error(&text);
        let expected = format!("error: large.ll: LLVM {LINKED} {what} the file: ");
        assert!(text.starts_with(&expected), "{text}");
        assert!(!dir.join("out").exists());
    }
}

/// What only link-time optimisation makes code of, clang's code generator cannot compile in copies.
#[test]
fn modules_that_need_link_time_code_are_refused() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let text = |body: &str| {
        format!(
            "declare i1 @llvm.type.test(ptr, metadata)\n\
             declare {{ptr, i1}} @llvm.type.checked.load(ptr, i32, metadata)\n\
             declare void @llvm.assume(i1)\n\
             define i1 @f(ptr %p) {{\n{body}}}\n"
        )
    };
    let test = "  %t = call i1 @llvm.type.test(ptr %p, metadata !\"T\")\n";
    let load = "  %t = call {ptr, i1} @llvm.type.checked.load(ptr %p, i32 0, metadata !\"T\")\n";
    for (name, body, intrinsic) in [
        (
            "cfi.ll",
            format!("{test}  ret i1 %t\n"),
            Some("llvm.type.test"),
        ),
        (
            "vfe.ll",
            format!("{load}  ret i1 true\n"),
            Some("llvm.type.checked.load"),
        ),
        // As -fwhole-program-vtables has it: clang drops it.
        (
            "assumed.ll",
            format!("{test}  call void @llvm.assume(i1 %t)\n  ret i1 true\n"),
            None,
        ),
        ("declared.ll", "  ret i1 true\n".into(), None),
    ] {
        std::fs::write(dir.join(name), text(&body)).unwrap();
        let mut rewrite = Command::new(REWRITE);
        let said = transcript(
            rewrite.args([name, "-q", "-k", "1", "-o", name.trim_end_matches(".ll")]),
            dir,
        );
        match intrinsic {
            None => assert_eq!(said, "exit 0\n"),
            Some(intrinsic) => {
                one_line_error(&said);
                let expected = format!("error: {name}: it calls {intrinsic}, which only link-time");
                assert!(said.starts_with(&expected), "{said}");
            }
        }
    }
}

/// Of 30,000 cases of a `switch`, each is a block, or ends in a call in tail position whose result the block behind all
/// of them returns. To look at all cases for each of them takes 10^9 steps, in several places: minutes.
#[test]
fn blocks_of_many_cases_are_looked_at_once() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let n = 30_000;
    for (name, body) in [
        ("jumps.ll", ""),
        ("tails.ll", "  %vN = tail call i32 @e(i32 N)\n"),
    ] {
        let of_each =
            |text: &str| -> String { (0..n).map(|i| text.replace('N', &i.to_string())).collect() };
        let value = if body.is_empty() { "N" } else { "%vN" };
        let text = format!(
            "declare i32 @e(i32)\ndefine i32 @main(i32 %c) {{\nentry:\n  switch i32 %c, label %end [{}]\n{}end:\n  \
             %p = phi i32 [-1, %entry]{}\n  ret i32 %p\n}}\n",
            of_each(" i32 N, label %bN"),
            of_each(&format!("bN:\n{body}  br label %end\n")),
            of_each(&format!(", [{value}, %bN]")),
        );
        std::fs::write(dir.join(name), text).unwrap();
        let mut rewrite = Command::new(REWRITE);
        let said = transcript(rewrite.args([name, "-q", "-k", "1", "-o", &name[..5]]), dir);
        assert_eq!(said, "exit 0\n", "{name}");
    }
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
    assert_line(
        &text,
        "error: DIR/out/copy-0/m0.bc: it is instrumented already; rewrite the module that it was made \
        from",
    );
}
