//! `p3-prof union` and `diff` of several programs.

use crate::paths::{json, prof};
use crate::support::text::{assert_lines, in_dir};
use crate::support::{module, rewrite, run_and_profile};
use std::path::{Path, PathBuf};

/// A program whose `shared` and `main` are of a source that all have; other functions have this name.
fn source(name: &str) -> String {
    let pairs = [("own", "own"), ("more", "more"), ("last", "last")];
    let more = pairs.map(|(f, _)| format!("int {name}_{f}(int n) {{ return n * 2; }}\n"));
    let main = format!(
        "#line 1 \"/p/shared.h\"\nint shared(int n) {{\n  if (n > 3)\n    return 1;\n  return n;\n}}\n\
         int main(int n, char **v) {{ return {name}_own(shared(n)) == 99; }}\n"
    );
    more.concat() + &main
}

/// The output folder of a program that ran once.
fn build(dir: &Path, name: &str, options: &[&str]) -> PathBuf {
    let dir = dir.join(name);
    let file = format!("{name}.c");
    let modules = [module(&file, &source(name), &["-O0", "-g"], &dir)];
    let merged = run_and_profile(&modules, options, 2, &[], &dir);
    let out = dir.join("out");
    std::fs::rename(merged, out.join("profile.p3prof")).unwrap();
    out
}

/// The folder of a program that never ran adds its functions; if none ran, nothing is united, and raw profiles that
/// are not merged are no reason to call a program idle.
#[test]
fn program_that_never_ran_adds_functions_and_is_named() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let ran = [
        build(dir, "one", &["--scheme", "p3-hot"]),
        build(dir, "two", &["--scheme", "pbl"]),
    ];
    let idle = dir.join("idle/out");
    let modules = [module(
        "idle.c",
        &source("idle"),
        &["-O0", "-g"],
        &dir.join("idle"),
    )];
    rewrite(&modules, &["-k", "2"], &idle);
    let all = dir.join("all.p3prof");
    let union = ["union", "-o", all.to_str().unwrap()];
    let (status, said) = prof(&union, &[&idle, &ran[0], &ran[1]]);
    assert_eq!(status, Some(0), "{said}");
    let expected = "DIR/all.p3prof: joined 2 profiles: 11 functions, 2 of several; 4 ran\n\
                    warning: DIR/idle/out: it never ran, so it adds functions but no counts\n";
    assert_eq!(in_dir(&said, dir), expected);
    // The schemes are those of the profiles, and each count is of the programs that ran.
    let (_, shown) = prof(&["show", "--function", "shared"], &[&all]);
    let first =
        "2 paths executed, 1 distinct, in 1 of 1 function, all exact (union of p3-hot, pbl)\n";
    assert!(shown.starts_with(first), "{shown}");
    let found = json(&["show"], &[&all]);
    let expected = serde_json::json!(["pbl", "p3-hot"]);
    let mut united = found["program"]["united"].as_array().unwrap().clone();
    united.sort_by_key(|s| s.as_str().unwrap().len());
    assert_eq!(serde_json::Value::from(united), expected);
    let names = found["functions"].as_array().unwrap().iter();
    assert!(names.map(|f| &f["name"]).any(|name| name == "idle_own"));
    // A single path is one.
    let (_, shown) = prof(&["show", "--function", "one_own"], &[&all]);
    assert!(
        shown.starts_with("1 path executed, 1 distinct, "),
        "{shown}"
    );

    let (status, said) = prof(&union, &[&idle, &idle]);
    let expected = "error: DIR/idle/out: no merged profile yet: the copies have not run; run `make -C DIR/idle/out \
                    run ARGS='…'` first\n";
    assert_eq!((status, &*in_dir(&said, dir)), (Some(2), expected));
    std::fs::create_dir_all(idle.join("run/raw")).unwrap();
    std::fs::write(idle.join("run/raw/copy-0.p3raw"), "").unwrap();
    let (status, said) = prof(&union, &[&idle, &ran[0]]);
    let expected = "error: DIR/idle/out: no merged profile yet: raw profiles are there, and are not merged; run \
                    `make -C DIR/idle/out merge` first\n";
    assert_eq!((status, &*in_dir(&said, dir)), (Some(2), expected));
}

/// Programs with hardly a function in common are called different ones, and compared all the same.
#[test]
fn diff_of_different_programs_says_so() {
    let dir = crate::support::folder();
    let [one, two] = ["one", "two"].map(|name| build(dir.path(), name, &[]));
    let said = "warning: these are profiles of different programs: 2 of 8 functions are in both";
    let (status, shown) = prof(&["diff"], &[&one, &two]);
    assert_eq!(status, Some(1), "{shown}");
    // `shared` and `main` are two of five.
    assert_eq!(shown.lines().last(), Some(said), "{shown}");
    let later = [
        "3 functions only in the later profile",
        "  two_own",
        "  two_more",
        "  two_last",
    ];
    assert_lines(&shown, &later);
    // Functions that are chosen say nothing of the programs.
    for (options, files) in [
        (&["diff", "--function", "^one_own$"][..], [&one, &two]),
        (&["diff"], [&one, &one]),
    ] {
        let (_, shown) = prof(options, &files.map(PathBuf::as_path));
        assert!(!shown.contains("different programs"), "{shown}");
    }
}
