//! The output folder's Makefile: link, run, compare, merge, report.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{PROF, compile, project, rewrite};

/// Rewrites C source into `dir/out`.
fn rewritten(source: &str, copies: &str, dir: &Path) -> PathBuf {
    let file = dir.join("program.c");
    std::fs::write(&file, source).unwrap();
    let module = dir.join("program.bc");
    let mut clang = Command::new(support::llvm("clang"));
    clang
        .args(["-O1", "-g", "-w", "-emit-llvm", "-c"])
        .arg(file)
        .arg("-o")
        .arg(&module);
    support::run(&mut clang);
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
    let dir = tempfile::tempdir().unwrap();
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

/// What another version left is gone, what the user put there is not.
#[test]
fn an_old_folder_is_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let source = "int main(int argc, char **argv) { return argc > 5; }";
    let out = rewritten(source, "3", dir.path());
    let manifest = std::fs::read_to_string(out.join("manifest.json")).unwrap();
    let older = manifest.replacen("\"version\":", "\"version\":1", 1);
    assert_ne!(older, manifest);
    std::fs::write(out.join("manifest.json"), older).unwrap();
    std::fs::write(out.join("runtime/p3_old.c"), "#error old\n").unwrap();
    std::fs::write(out.join("notes.txt"), "mine\n").unwrap();
    assert_eq!(rewritten(source, "1", dir.path()), out);
    let (built, said) = make(dir.path(), &["all"]);
    assert!(built, "{said}");
    assert!(!out.join("copy-2").exists() && !out.join("runtime/p3_old.c").exists());
    assert!(out.join("notes.txt").exists());
}

#[test]
fn a_failing_program_fails_the_run() {
    let dir = tempfile::tempdir().unwrap();
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
    assert!(
        !ok && text.contains("copy 0 ended with status 7; its stderr ends:\nit broke"),
        "{text}"
    );
    let (ok, text) = make(dir.path(), &["run", "ALLOW_STATUS=7"]);
    assert!(ok, "{text}");
    let (ok, text) = make(dir.path(), &["run", "ARGS=x"]);
    assert!(!ok && text.contains("status 134 (signal 6)"), "{text}");
    let (ok, text) = make(dir.path(), &["run", "STDIN=nothing"]);
    assert!(!ok && text.contains("cannot read STDIN=nothing"), "{text}");
}

#[test]
fn copies_that_differ_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let source = r#"
        #include <stdio.h>
        #include <unistd.h>
        int main(void) { printf("process %d\n", getpid()); return 0; }"#;
    rewritten(source, "2", dir.path());
    let (ok, text) = make(dir.path(), &["run"]);
    assert!(
        !ok && text.contains("copies 0 and 1 differ in their stdout"),
        "{text}"
    );
    assert!(!dir.path().join("out/profile.p3prof").exists());
}

/// Several C++ modules in a folder, read as text, objects and wrapped bitcode.
#[test]
fn folders_of_modules_of_all_kinds() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let modules = compile("modules", &["-O1"], &dir.join("input/sub"));
    let text = dir.join("input/main.ll");
    support::run(
        Command::new(support::llvm("llvm-dis"))
            .arg(&modules[0])
            .arg("-o")
            .arg(&text),
    );
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
    assert!(ok && report.contains("other(int) #"), "{report}");
    assert!(dir.join("out/copy-1/sub/other.o").exists() && dir.join("out/copy-1/main.bc").exists());
    let inside = dir.join("input/out");
    rewrite(&[dir.join("input")], &["-k", "2"], &inside);
    rewrite(&[dir.join("input")], &["-k", "1"], &inside);
    assert!(!inside.join("copy-1").exists() && !inside.join("copy-0/out").exists());
}

/// What `make demo` does, with this build.
#[test]
fn the_demo_is_what_the_readme_shows() {
    let makefile = std::fs::read_to_string(project("Makefile")).unwrap();
    assert!(makefile.contains("testdata/programs/demo.c"));
    let dir = tempfile::tempdir().unwrap();
    let modules = compile("demo", &["-O1", "-g", "-fno-inline"], dir.path());
    rewrite(&modules, &["-k", "4"], &dir.path().join("out"));
    let (ok, text) = make(dir.path(), &["run", "ARGS=100000", "-j2"]);
    assert!(ok, "{text}");
    let (ok, report) = make(dir.path(), &["report", "TOP=5"]);
    assert!(ok, "{report}");
    let readme = std::fs::read_to_string(project("README.md")).unwrap();
    assert!(
        readme.contains(report.trim_end()),
        "README.md does not show:\n{report}"
    );
}
