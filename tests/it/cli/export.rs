//! What `export`, `annotate` and `diff` refuse.

use super::{one_line_error, profiled, snapshot, transcript};
use crate::support::{PROF, REWRITE, compile, original, profile};
use std::path::Path;
use std::process::Command;

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
        text.contains("with other control flow now, not compared"),
        "{text}"
    );
    assert!(text.ends_with("exit 1\n"), "{text}");
}

/// A page for which there is no room: one line, and no folder.
#[test]
fn page_without_room_leaves_no_folder() {
    let dir = crate::support::folder();
    let (merged, _) = profiled(dir.path());
    let page = |limit: &str| {
        // Where files may not grow, writing fails as on a full disk.
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$@\"");
        let mut html = Command::new("sh");
        html.args(["-c", &script, "sh", PROF, "html"]).arg(&merged);
        html.args(["-o", "page"]).current_dir(dir.path());
        html.output().unwrap()
    };
    let failed = page("8");
    let said = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(2), "{said}");
    assert!(
        said.starts_with("error: page/") && said.lines().count() == 1,
        "{said}"
    );
    assert!(!dir.path().join("page").exists(), "{said}");
    assert!(page("unlimited").status.success());
    assert!(dir.path().join("page/index.html").exists());
}
