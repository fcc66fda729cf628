//! Selections by `cargo p3`: of the project in `testdata/rust`, which has a library, a program,
//! unit tests and a test that runs the program. rustc's LLVM needs an engine, so `make
//! test-engines` runs these.

use crate::build::{CARGO_P3, command, stderr};
use crate::selected::compare;
use crate::support::{PROF, copy_project, json, llvm, parsed, run};
use p3_rewrite::profile::Profile;
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use walkdir::WalkDir;

/// Says that what short words are counted by is new.
const LIBRARY: &str = "--- a/words/src/lib.rs
+++ b/words/src/lib.rs
@@ -15,6 +15,6 @@
     for word in words {
         match word.len() {
             0 => panic!(\"an empty word\"),
-            n if n < limit => found.short += 1,
+            n if n <= limit => found.short += 1,
             _ => found.long += 1,
         }
";

/// A line of the program.
const PROGRAM: &str = "--- a/src/main.rs
+++ b/src/main.rs
@@ -26,3 +26,3 @@
         match thread.join() {
-            Ok(counted) => println!(\"{}\", Report(counted).line()),
+            Ok(counted) => println!(\"{}\", Report(counted).line()),
             Err(_) => println!(\"an empty word\"),
";

/// Appends its last call for the crate `words` to a file.
const WRAPPER: &str = "#!/bin/sh
case \" $* \" in *\" --crate-name words \"*\" --crate-type lib \"*) printf '%s\\n' \"$@\" >words.rustc ;; esac
exec \"$@\"
";

/// The project, in a folder of its own.
fn workspace() -> tempfile::TempDir {
    let dir = copy_project("testdata/rust/project");
    std::fs::write(dir.path().join("library.diff"), LIBRARY).unwrap();
    std::fs::write(dir.path().join("program.diff"), PROGRAM).unwrap();
    dir
}

/// What `cargo p3` with these words says.
#[track_caller]
fn cargo_p3(dir: &Path, words: &[&str]) -> String {
    let mut cargo = command(CARGO_P3, dir);
    cargo.arg("p3").args(words).env_remove("CARGO_TARGET_DIR");
    cargo
        .env("RUST_TEST_THREADS", "1")
        .env("RUST_BACKTRACE", "0");
    cargo.env("RUSTC_WRAPPER", dir.join("wrapper.sh"));
    stderr(&run(&mut cargo))
}

/// The folders of programs whose names begin with `crate_` and that ran.
fn programs(dir: &Path, crate_: &str) -> Vec<PathBuf> {
    let all = WalkDir::new(dir.join("target/p3/copies")).sort_by_file_name();
    let all = all.into_iter().map(|e| e.unwrap().into_path());
    let folders = all.filter(|p| p.join("profile.p3prof").is_file());
    let is_wanted = |p: &PathBuf| {
        let name = p.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(&format!("{crate_}-"))
    };
    folders.filter(is_wanted).collect()
}

fn read(folder: &Path) -> Profile {
    Profile::read(&folder.join("profile.p3prof")).unwrap()
}

/// Every program of the tests counts the paths through the changed lines as a whole profile does,
/// and no others.
#[test]
#[ignore = "needs an engine for rustc's LLVM: make test-engines"]
fn patch_of_a_library_selects_its_paths_in_programs_and_tests() {
    let dir = workspace();
    let dir = dir.path();
    wrapper(dir);
    let test = ["test", "-q", "--workspace"];
    cargo_p3(dir, &[&["--scheme", "sbl", "-k", "1"], &test[..]].concat());
    let folders = [programs(dir, "count"), programs(dir, "words")].concat();
    let whole: Vec<Profile> = folders.iter().map(|f| read(f)).collect();
    let options = ["-k", "2", "--patch", "library.diff"];
    let said = cargo_p3(dir, &[&options[..], &test].concat());
    assert!(said.contains("paths are selected in "), "{said}");
    let mut some = BTreeSet::new();
    for (folder, whole) in folders.iter().zip(&whole) {
        // A program without a selected path has no profile.
        if !folder.join("profile.p3prof").is_file() {
            continue;
        }
        let selective = read(folder);
        compare(whole, &selective, &Value::Null);
        let counts = selective.paths().unwrap();
        let mut functions = selective.functions();
        while let Some(f) = functions.find(|f| !counts.counts(*f).is_empty()) {
            let name = &selective.entry(f).name;
            assert!(name.contains("lengths"), "{name}");
            some.insert(folder.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    // In the program, which has the function's instance, and in the library's own tests.
    let begins_with = |name: &str| some.iter().any(|program| program.starts_with(name));
    assert!(begins_with("count-") && begins_with("words-"), "{some:?}");
}

/// The code of `words` is what rustc alone makes of it, by the options that BUILD.md names, and its
/// module in a copy is that of the native program. (Where rustc leaves bitcode it gives names to
/// constants that have none otherwise, so sections differ in names.)
#[test]
#[ignore = "needs an engine for rustc's LLVM: make test-engines"]
fn code_of_an_untouched_crate_is_rustcs() {
    let dir = workspace();
    let dir = dir.path();
    wrapper(dir);
    // The rest of the library is generic, so its object would not be linked.
    append(
        &dir.join("words/src/lib.rs"),
        "pub fn doubled(n: usize) -> usize { if n > 3 { n * 2 } else { n } }\n",
    );
    append(
        &dir.join("src/main.rs"),
        "#[used]\nstatic DOUBLED: fn(usize) -> usize = words::doubled;\n",
    );
    let options = ["-k", "1", "--patch", "program.diff", "build", "-q"];
    let said = cargo_p3(dir, &options);
    assert!(
        said.contains("paths are selected in 1 of 1 program"),
        "{said}"
    );
    let words = std::fs::read_to_string(dir.join("words.rustc")).unwrap();
    let is_ours = |word: &&str| *word == "--emit=llvm-bc" || word.starts_with("-Clinker=");
    let words: Vec<&str> = words.lines().filter(|w| !is_ours(w)).collect();
    let at = words.iter().position(|w| *w == "--out-dir").unwrap() + 1;
    let mut alone: Vec<&str> = words.clone();
    alone[at] = "alone";
    std::fs::create_dir(dir.join("alone")).unwrap();
    run(command(alone[0], dir).args(&alone[1..]));
    let code = |folder: &Path| {
        let files = folder.read_dir().unwrap().map(|e| e.unwrap().path());
        let library = |f: &PathBuf| {
            let name = f.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libwords-") && name.ends_with(".rlib")
        };
        let library = files.into_iter().find(library).unwrap();
        let listed = run(Command::new(llvm("llvm-ar")).arg("t").arg(&library)).stdout;
        let listed = String::from_utf8(listed).unwrap();
        let member = listed.lines().find(|l| l.ends_with(".o")).unwrap();
        let mut print = Command::new(llvm("llvm-ar"));
        let object = run(print.arg("p").arg(&library).arg(member)).stdout;
        std::fs::write(dir.join("object.o"), object).unwrap();
        let mut code = Command::new(llvm("llvm-objdump"));
        let code = run(code.args(["-d", "object.o"]).current_dir(dir)).stdout;
        String::from_utf8(code).unwrap()
    };
    let alone = code(&dir.join("alone"));
    assert!(alone.contains("ret"), "{alone}");
    assert_eq!(code(&dir.join(words[at])), alone);
    let copies = WalkDir::new(dir.join("target/p3/copies"));
    let mut copies = copies.into_iter().map(|e| e.unwrap().into_path());
    let program = copies.find(|p| p.join("manifest.json").is_file()).unwrap();
    let manifest = json(&program.join("manifest.json"));
    let modules = manifest["modules"].as_array().unwrap();
    let is_words = |m: &Value| m["name"].as_str().unwrap().starts_with("words-");
    let at = modules.iter().position(is_words).unwrap();
    let bitcode = |copy: &str| std::fs::read(program.join(format!("{copy}/m{at}.bc"))).unwrap();
    assert!(bitcode("copy-0") == bitcode("native"), "m{at}.bc");
}

/// A run after another finds what the other has not seen: the path of an empty word. cargo links
/// the program again by itself.
#[test]
#[ignore = "needs an engine for rustc's LLVM: make test-engines"]
fn residual_run_of_a_program_finds_its_new_paths() {
    let dir = workspace();
    let dir = dir.path();
    wrapper(dir);
    let arguments = |text: &'static str| ["run", "-q", "--", text];
    let whole = ["--scheme", "sbl", "-k", "1"];
    let run_whole = |text| {
        cargo_p3(dir, &[&whole[..], &arguments(text)].concat());
        read(&programs(dir, "count")[0])
    };
    let second = run_whole("one  two");
    let first = run_whole("one two");
    std::fs::create_dir(dir.join("runs")).unwrap();
    std::fs::copy(&first.path, dir.join("runs/0001.p3prof")).unwrap();
    let residual = ["-k", "2", "--paths", "new:runs/"];
    let said = cargo_p3(dir, &[&residual[..], &arguments("one  two")].concat());
    assert!(
        said.contains("paths are selected in 1 of 1 program"),
        "{said}"
    );
    let folder = &programs(dir, "count")[0];
    let mut coverage = Command::new(PROF);
    let words = [
        "coverage",
        "--new",
        "--all",
        "--format",
        "json",
        "--function",
        "lengths",
    ];
    let new = parsed(&run(coverage.args(words).arg(folder)).stdout);
    let found: BTreeSet<u64> = new["new"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path["id"].as_str().unwrap().parse().unwrap())
        .collect();
    let ran = |profile: &Profile| -> BTreeSet<u64> {
        let mut functions = profile.functions();
        let f = functions
            .find(|f| profile.entry(*f).name.contains("lengths"))
            .unwrap();
        profile
            .paths()
            .unwrap()
            .counts(f)
            .iter()
            .map(|(id, _)| id.0)
            .collect()
    };
    let expected: BTreeSet<u64> = ran(&second).difference(&ran(&first)).copied().collect();
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
}

/// A diff of other sources than these: cargo succeeds, and the command does not.
#[test]
#[ignore = "needs an engine for rustc's LLVM: make test-engines"]
fn patch_of_other_sources_ends_with_status_2() {
    let dir = workspace();
    let dir = dir.path();
    std::fs::write(dir.join("other.diff"), PROGRAM.replace("26,3", "20,3")).unwrap();
    let mut build = command(CARGO_P3, dir);
    build.env_remove("CARGO_TARGET_DIR");
    build.args(["p3", "--patch", "other.diff", "build", "-q"]);
    let build = build.output().unwrap();
    let said = stderr(&build);
    assert_eq!(build.status.code(), Some(2), "{said}");
    assert!(said.contains("does not make line "), "{said}");
    let last = "error: no program that was linked has copies; the warnings say why";
    assert_eq!(said.lines().last(), Some(last), "{said}");
}

fn append(file: &Path, text: &str) {
    let before = std::fs::read_to_string(file).unwrap();
    std::fs::write(file, before + text).unwrap();
}

fn wrapper(dir: &Path) {
    let file = dir.join("wrapper.sh");
    std::fs::write(&file, WRAPPER).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
}
