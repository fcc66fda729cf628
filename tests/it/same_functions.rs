//! Programs of one folder, and builds one after the other: which functions are one, by sources that leave no doubt. The
//! right numbers are counted by hand; gcov has the same.

use crate::build::{command, rewrite, stderr};
use crate::support::text::assert_line;
use crate::support::{PROF, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Two programs of a suite.
const MAINS: [(&str, &str); 2] = [
    ("t1.c", "int main(void) { return 0; }\n"),
    (
        "t2.c",
        "int g;\nint main(void) {\n  g = 1;\n  g++;\n  return g - 2;\n}\n",
    ),
];

/// The third line of the second one.
const PATCH: &str = "--- a/t2.c\n+++ b/t2.c\n@@ -3 +3 @@\n-  g = 0;\n+  g = 1;\n";

fn write(dir: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        std::fs::write(dir.join(name), text).unwrap();
    }
}

/// Builds by a command of a shell, and runs another one as the suite; what both printed.
#[track_caller]
fn build_and_run(dir: &Path, options: &[&str], build: &str, suite: &str) -> String {
    let words = ["build", "-k", "1", "-o", "p3"];
    let built = rewrite(dir, &[&words, options, &["--", "sh", "-c", build]].concat());
    let ran = rewrite(dir, &["suite", "-o", "p3", "--", "sh", "-c", suite]);
    stderr(&built) + &stderr(&ran)
}

/// Status and all that `p3-prof` prints.
fn prof(dir: &Path, words: &[&str]) -> (Option<i32>, String) {
    let output = command(PROF, dir).args(words).output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(all).unwrap())
}

/// The records of a tracefile by file, without the folder: lines and functions with their counts.
#[track_caller]
fn lcov(dir: &Path) -> BTreeMap<String, Vec<String>> {
    let words = ["export", "--format", "lcov-1", "p3"];
    let output = run(command(PROF, dir).args(words));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("SF:") {
            name = file.rsplit('/').next().unwrap().to_string();
        } else if line.starts_with("DA:") || line.starts_with("FNDA:") {
            files
                .entry(name.clone())
                .or_default()
                .push(line.to_string());
        }
    }
    files.values_mut().for_each(|lines| lines.sort());
    files
}

#[test]
fn main_that_never_ran_is_uncovered_beside_one_that_ran() {
    let dir = crate::support::folder();
    let dir = dir.path();
    write(dir, &MAINS);
    write(dir, &[("ch.diff", PATCH)]);
    build_and_run(
        dir,
        &[],
        "$CC -O0 -g t1.c -o t1 && $CC -O0 -g t2.c -o t2",
        "./t1",
    );
    let cover = |words: &[&str]| prof(dir, &[&["coverage", "p3"], words].concat());
    let (status, said) = cover(&["--measure", "lines", "--fail-under", "90"]);
    assert_eq!(status, Some(1), "{said}");
    let headline = "lines 1 of 5 (20.00%), pairs of edges 1 of 2 (50.00%), paths near those that ran 1 of 1 (100.00%)";
    assert_eq!(said.lines().next(), Some(headline), "{said}");
    assert_line(&said, "  0.00%         –    0.00%      0   1  t2.c: 2-5");
    let (_, paths) = cover(&["--measure", "paths"]);
    assert!(paths.starts_with("paths 1 of 2 (50.00%)\n"), "{paths}");
    let (status, said) = cover(&["--patch", "ch.diff", "--fail-under", "1"]);
    assert_eq!(status, Some(1), "{said}");
    let patch = "the patch adds or changes 1 line: 1 with code, of which 0 ran; other paths are left out here";
    assert_line(&said, patch);
    let found = lcov(dir);
    assert_eq!(found["t1.c"], ["DA:1,1", "FNDA:1,main"]);
    let second = ["DA:2,0", "DA:3,0", "DA:4,0", "DA:5,0", "FNDA:0,main"];
    assert_eq!(found["t2.c"], second);
    // Each in a page of both, and in a profile of both.
    let both = ["p3/t1.p3", "p3/t2.p3"];
    let (status, said) = prof(dir, &["union", "-o", "all.p3prof", both[0], both[1]]);
    assert_eq!(status, Some(0), "{said}");
    let joined = "all.p3prof: joined 1 profile: 2 functions, 0 of several; 1 ran\n\
                  warning: p3/t2.p3: it never ran, so it adds functions but no counts\n";
    assert_eq!(said, joined);
    let page = ["html", "--single", "-o", "page.html", "all.p3prof"];
    assert_eq!(prof(dir, &page).0, Some(0));
    let (_, shown) = prof(dir, &["show", "--format", "json", "all.p3prof"]);
    let shown: Value = serde_json::from_str(shown.lines().next().unwrap()).unwrap();
    assert_eq!(shown["functions"].as_array().unwrap().len(), 2, "{shown}");
}

/// What three programs share is one function, with the counts of all; what they do not share is not.
#[test]
fn functions_of_three_programs_are_those_of_their_sources() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let header = "static inline int check(int v) {\n  return v > 3;\n}\n\
                  struct Shared { int f(int v) {\n  return check(v); } };\n";
    let program = |name: &str, line: &str| {
        format!(
            "#include \"{name}\"\n{line}struct S {{ int f(int v) {{ return v; }} }};\n\
             namespace {{ int hidden(int v) {{ return v; }} }}\n\
             int main() {{ return S().f(hidden(Shared().f(1))); }}\n"
        )
    };
    // The header has another name from a folder below.
    std::fs::create_dir(dir.join("sub")).unwrap();
    write(
        dir,
        &[
            ("h.h", header),
            ("one.cpp", &program("h.h", "")),
            ("two.cpp", &program("h.h", "\n")),
            ("sub/three.cpp", &program("../h.h", "")),
        ],
    );
    build_and_run(
        dir,
        &[],
        "$CXX -O0 -g one.cpp -o one && $CXX -O0 -g two.cpp -o two && cd sub && $CXX -O0 -g three.cpp -o three",
        "./one && ./two && ./two && sub/three",
    );
    let found = lcov(dir);
    let of_header = &found["h.h"];
    for function in ["_ZN6Shared1fEi", "_ZL5checki"] {
        let counted = format!("FNDA:4,{function}");
        assert!(of_header.contains(&counted), "{of_header:?}");
    }
    for (file, n, line) in [("one.cpp", 1, 2), ("two.cpp", 2, 3), ("three.cpp", 1, 2)] {
        let lines = &found[file];
        for function in ["main", "_ZN1S1fEi", "_ZN12_GLOBAL__N_16hiddenEi"] {
            let counted = format!("FNDA:{n},{function}");
            assert!(lines.contains(&counted), "{file}: {lines:?}");
        }
        for line in line..=line + 2 {
            assert!(lines.contains(&format!("DA:{line},{n}")), "{lines:?}");
        }
    }
    let (_, said) = prof(dir, &["coverage", "p3", "--format", "json"]);
    let said: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    // Two of the header, three of each source.
    assert_eq!(said["functions"].as_array().unwrap().len(), 11, "{said}");
}

/// One source that two programs are compiled from by other macros: the lines of the one that never ran did not run.
/// The `}` has code only where there are two returns.
#[test]
fn lines_of_a_variant_that_never_ran_are_uncovered() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = "int main(int n, char **v) {\n#ifdef TWO\n  if (n > 1)\n    return 0;\n#else\n  n += 1;\n#endif\n  \
                  return n == 0;\n}\n";
    write(dir, &[("t.c", source)]);
    let build = "$CC -O0 -g t.c -o one && $CC -O0 -g -DTWO t.c -o two";
    build_and_run(dir, &[], build, "./one");
    let ran = [
        "DA:1,1",
        "DA:3,0",
        "DA:4,0",
        "DA:6,1",
        "DA:8,1",
        "DA:9,0",
        "FNDA:1,main",
    ];
    assert_eq!(lcov(dir)["t.c"], ran);
    build_and_run(dir, &[], "true", "./one && ./two && ./two x");
    let ran = [
        "DA:1,3",
        "DA:3,2",
        "DA:4,1",
        "DA:6,1",
        "DA:8,2",
        "DA:9,2",
        "FNDA:3,main",
    ];
    assert_eq!(lcov(dir)["t.c"], ran);
}

/// Other macros may leave the control flow as it is: the lines are still those of each program.
#[test]
fn lines_of_variants_of_equal_control_flow_stay_apart() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let source = "int main(int n, char **v) {\n#ifdef TWO\n  n += 2;\n#else\n  n += 1;\n#endif\n  return n == 0;\n}\n";
    write(dir, &[("t.c", source)]);
    let build = "$CC -O0 -g t.c -o one && $CC -O0 -g -DTWO t.c -o two";
    build_and_run(dir, &[], build, "./one");
    let lines = lcov(dir)["t.c"].clone();
    for line in ["DA:3,0", "DA:5,1", "DA:7,1"] {
        assert!(lines.contains(&line.to_string()), "{line}: {lines:?}");
    }
}

/// The paths of a program are not known since another one of the same shape ran; those of the same source are, wherever
/// in it they are now.
#[test]
fn known_paths_are_those_of_the_same_source() {
    let dir = crate::support::folder();
    let dir = dir.path();
    let shared = "static int shared(int n) {\n  return n > 2 ? n : 0;\n}\n";
    let t1 = "#include \"s.h\"\nint main(void) { return shared(1); }\n";
    let t2 = "#include \"s.h\"\nint main(void) {\n  return shared(2); }\n";
    write(dir, &[("s.h", shared), ("t1.c", t1), ("t2.c", t2)]);
    let options = ["--paths", "new:runs/"];
    let new = |program: &str| {
        let build = format!("rm -f {program}; $CC -O0 -g {program}.c -o {program}");
        rewrite(
            dir,
            &[
                &["build", "-k", "1", "-o", "p3"],
                &options[..],
                &["--", "sh", "-c", &build],
            ]
            .concat(),
        );
        let suite = format!("./{program}");
        rewrite(
            dir,
            &[
                "suite", "-o", "p3", "--keep", "runs/", "--", "sh", "-c", &suite,
            ],
        );
        let folder = format!("p3/{program}.p3");
        let (_, said) = prof(dir, &["coverage", "--new", "--format", "json", &folder]);
        let said: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        let paths = said["new"].as_array().unwrap().iter();
        let names = paths.map(|p| p["name"].as_str().unwrap().to_string());
        names.collect::<Vec<_>>()
    };
    let mut first = new("t1");
    first.sort();
    assert_eq!(first, ["main", "shared"]);
    // Of the header's function the same path; of a `main` that looks like the other one.
    assert_eq!(new("t2"), ["main"]);
    assert!(new("t1").is_empty() && new("t2").is_empty());
    write(
        dir,
        &[
            ("s.h", &format!("\n\n{shared}")),
            ("t2.c", &format!("// above\n{t2}")),
        ],
    );
    assert!(new("t1").is_empty() && new("t2").is_empty());
    // Against kept profiles as well.
    let earlier = Command::new(PROF)
        .current_dir(dir)
        .args(["coverage", "p3", "--new=runs/", "--fail-on-new"])
        .output()
        .unwrap();
    assert_eq!(earlier.status.code(), Some(0), "{}", stderr(&earlier));
}

/// A folder of programs is shown like a profile of them all, and they are listed.
#[test]
fn show_of_a_folder_lists_its_programs() {
    let dir = crate::support::folder();
    let dir = dir.path();
    write(dir, &MAINS);
    write(dir, &[("t3.c", MAINS[0].1)]);
    let build = "for t in t1 t2 t3; do $CC -O0 -g $t.c -o $t; done";
    build_and_run(dir, &[], build, "./t1; ./t2; ./t2");
    let (status, shown) = prof(dir, &["show", "p3/"]);
    assert_eq!(status, Some(0), "{shown}");
    assert!(
        shown.starts_with("3 paths executed, 2 distinct, in 2 of 3 functions"),
        "{shown}"
    );
    let list: Vec<Vec<&str>> = shown
        .lines()
        .skip_while(|l| !l.trim_start().starts_with("paths  program"))
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(list[1], ["2", "p3/t2.p3"], "{shown}");
    assert_eq!(list[2], ["1", "p3/t1.p3"], "{shown}");
    assert_eq!(list[3], ["none", "ran", "p3/t3.p3"], "{shown}");
    let (_, json) = prof(dir, &["show", "--format", "json", "p3"]);
    let json: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!(json["functions"].as_array().unwrap().len(), 3, "{json}");
}

/// A record that somebody edited names a file outside, one by a link, and one of another name: nothing is written.
#[test]
fn edited_record_does_not_place_copies_elsewhere() {
    let dir = crate::support::folder();
    let dir = &dir.path().join("project");
    let outside = dir.parent().unwrap().join("outside");
    std::fs::create_dir_all(dir.join("sub")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    write(dir, &MAINS[..1]);
    let build = "$CC -O0 -g t1.c -o sub/t1";
    rewrite(
        dir,
        &["build", "-k", "2", "-o", "p3", "--", "sh", "-c", build],
    );
    let record = dir.join("p3/sub/t1.p3/record.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::os::unix::fs::symlink(&outside, dir.join("link")).unwrap();
    std::fs::create_dir_all(outside.join("sub")).unwrap();
    let own = dir.join("sub/t1");
    let place = |words: &[&str]| {
        command(crate::support::REWRITE, dir)
            .args(words)
            .output()
            .unwrap()
    };
    for other in [
        "outside/sub/t1",
        "project/link/sub/t1",
        "project/sub/../../outside/sub/t1",
        "project/other",
    ] {
        let file = dir.parent().unwrap().join(other);
        std::fs::write(&file, "mine").unwrap();
        let edited = text.replace(own.to_str().unwrap(), file.to_str().unwrap());
        assert_ne!(edited, text);
        std::fs::write(&record, edited).unwrap();
        let folder = other.contains("link").then(|| {
            // As if the record were that of the link's program.
            std::fs::create_dir_all(dir.join("p3/link/sub")).unwrap();
            std::fs::rename(dir.join("p3/sub/t1.p3"), dir.join("p3/link/sub/t1.p3")).unwrap();
        });
        let output = place(&["use", "1", "-o", "p3"]);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{other}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains("nothing is written there"),
            "{}",
            stderr(&output)
        );
        assert_eq!(std::fs::read(&file).unwrap(), b"mine", "{other}");
        if folder.is_some() {
            std::fs::rename(dir.join("p3/link/sub/t1.p3"), dir.join("p3/sub/t1.p3")).unwrap();
        }
    }
    std::fs::write(&record, &text).unwrap();
    let native = std::fs::read(&own).unwrap();
    assert!(place(&["use", "1", "-o", "p3"]).status.success());
    assert_ne!(std::fs::read(&own).unwrap(), native);
    // From elsewhere as well, and where the folder of programs is a link.
    let sub = dir.join("sub");
    let output = command(crate::support::REWRITE, &sub)
        .args(["use", "0", "-o", "../p3"])
        .output();
    assert!(output.unwrap().status.success());
    std::fs::rename(&sub, outside.join("moved")).unwrap();
    std::os::unix::fs::symlink(outside.join("moved"), &sub).unwrap();
    let output = place(&["use", "1", "-o", "p3"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Two programs that are linked from one module are told apart by their sources in `diff`, too.
#[test]
fn diff_compares_functions_of_the_same_source() {
    let dir = crate::support::folder();
    let dir = dir.path();
    write(dir, &MAINS);
    let build = "$CC -O0 -g t1.c -o t1 && $CC -O0 -g t2.c -o t2";
    build_and_run(dir, &[], build, "./t1 && ./t2");
    let both = ["p3/t1.p3", "p3/t2.p3"];
    let (_, said) = prof(dir, &["union", "-o", "all.p3prof", both[0], both[1]]);
    let joined = "all.p3prof: joined 2 profiles: 2 functions, 0 of several; 2 ran\n";
    assert_eq!(said, joined);
    let (status, said) = prof(dir, &["diff", "all.p3prof", "all.p3prof"]);
    assert_eq!(status, Some(0), "{said}");
    let (_, said) = prof(dir, &["diff", "all.p3prof", both[1]]);
    let expected = "2 paths before, 1 after; shares are of these\n\
                    1 function only in the earlier profile\n  main\n\
                    1 path steady\n";
    assert_eq!(said, expected);
}
