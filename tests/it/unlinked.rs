//! Sources that a build compiled and that no link took: coverage counts them as uncovered.

use crate::build::{rewrite, stderr};
use crate::support::text::{assert_line, assert_lines};
use crate::support::{PROF, run};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What `build` says of sources that no program has.
fn never_linked(sources: &str) -> String {
    format!(
        "p3: {sources} compiled but never linked: p3-prof coverage reports uncovered code there"
    )
}

/// A library with a source that no program uses, and one with data alone. Like libtool, it compiles sources twice.
const FILES: [(&str, &str); 6] = [
    (
        "shared.h",
        "static inline int clamp(int n) { return n > 9 ? 9 : n; }\n",
    ),
    (
        "used.c",
        "#include \"shared.h\"\nint used(int n) { return n > 2 ? clamp(n) : 1; }\n",
    ),
    (
        "never.c",
        "#include \"shared.h\"\nint never(int n) {\n  if (n > 2)\n    return clamp(n);\n  return 1;\n}\n",
    ),
    ("data.c", "int table[3] = {1, 2, 3};\n"),
    (
        "main.c",
        "int used(int n);\nint never(int n);\nint main(int argc, char **argv) {\n#ifdef ALL\n  return never(argc) - \
        1;\n#else\n  \
         return used(argc) - 1;\n#endif\n}\n",
    ),
    (
        "Makefile",
        "CFLAGS = -g -O0\n\
         t: main.o libl.a\n\t$(CC) main.o libl.a -o $@\n\
         libl.a: used.o never.o data.o pic/used.o pic/never.o\n\tar rc $@ used.o never.o data.o\n\
         %.o: %.c\n\t$(CC) $(CFLAGS) -c $< -o $@\n\
         pic/%.o: %.c\n\tmkdir -p pic\n\t$(CC) $(CFLAGS) -fPIC -c $< -o $@\n",
    ),
];

/// Builds into `p3` by a shell's command; what was printed.
#[track_caller]
fn build(dir: &Path, command: &str) -> String {
    let words = ["build", "-k", "1", "-o", "p3", "--", "sh", "-c", command];
    stderr(&rewrite(dir, &words))
}

/// The names of functions in the coverage of the folder, in order, with the number of their paths that ran; and what
/// was printed.
#[track_caller]
fn functions(dir: &Path) -> (Vec<(String, u64)>, String) {
    let mut coverage = Command::new(PROF);
    coverage.args(["coverage", "--format", "json", "p3"]);
    let output = run(coverage.current_dir(dir));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["functions"].as_array().unwrap();
    let row = |f: &Value| {
        let name = f["name"].as_str().unwrap().to_string();
        (name, f["executed"].as_u64().unwrap())
    };
    let mut all: Vec<_> = rows.iter().map(row).collect();
    all.sort();
    (all, stderr(&output))
}

fn expected(of: &[(&str, u64)]) -> Vec<(String, u64)> {
    of.iter().map(|(f, n)| (f.to_string(), *n)).collect()
}

#[test]
fn source_that_no_link_took_is_uncovered_until_it_is_linked() {
    let dir = crate::support::folder();
    let dir = dir.path();
    for (name, text) in FILES {
        std::fs::write(dir.join(name), text).unwrap();
    }
    let said = build(
        dir,
        "make -s && printf 'int extra;int f(void){return 1;}' >extra.c && $CC -c extra.c",
    );
    assert_line(&said, &never_linked("2 sources were"));
    rewrite(dir, &["suite", "-o", "p3", "--", "./t"]);
    // What both have of a header counts once; a source of which one of two objects was linked is no other source.
    let (found, said) = functions(dir);
    let of_build = [
        ("clamp", 0),
        ("f", 0),
        ("main", 1),
        ("never", 0),
        ("used", 1),
    ];
    assert_eq!(found, expected(&of_build));
    let told = "p3: 2 sources were compiled but never linked, and so uncovered: extra.c, never.c";
    assert!(said.contains(told), "{said}");
    let mut export = Command::new(PROF);
    export.args(["export", "--format", "lcov", "p3"]);
    let lcov = run(export.current_dir(dir)).stdout;
    let lcov = String::from_utf8(lcov).unwrap();
    let never = lcov.split("end_of_record").find(|r| r.contains("/never.c"));
    let never = never.unwrap_or_else(|| panic!("{lcov}"));
    assert_line(never, "FNDA:0,never");
    assert_lines(
        never,
        &[2, 3, 4, 5, 6]
            .map(|line| format!("DA:{line},0"))
            .each_ref()
            .map(|l| &**l),
    );
    assert_line(&lcov, "FNDA:1,used");

    // An earlier profile does not know such sources.
    let again = [
        "build",
        "-k",
        "1",
        "-o",
        "p3",
        "--profile",
        "p3/t.p3",
        "--",
        "make",
        "-s",
        "-B",
        "CFLAGS=-g -O0",
    ];
    let said = stderr(&rewrite(dir, &again));
    let next = "p3: next: p3-rewrite suite -o p3 -- ./t";
    let expected = ["p3: t: 1 copy", &never_linked("2 sources were"), next];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);

    // An object that is gone takes its source with it.
    let said = build(dir, "rm extra.o && make -s");
    assert_line(&said, &never_linked("1 source was"));
    // Now the other one of the two is what nobody needs.
    build(dir, "touch main.c && make -s CFLAGS='-g -DALL'");
    let (found, said) = functions(dir);
    let used: Vec<&str> = found.iter().map(|(f, _)| f.as_str()).collect();
    assert_eq!(used, ["clamp", "main", "never", "used"], "{said}");
    let never = "warning: p3: 1 source was compiled but never linked, and so uncovered: used.c";
    assert_line(&said, never);
}

/// Objects inside what `ld -r` makes, and members of one name, are not profiled, and run nevertheless.
#[test]
fn source_of_linked_object_without_copies_is_not_unlinked() {
    let dir = crate::support::folder();
    let dir = dir.path();
    for (name, text) in FILES {
        std::fs::write(dir.join(name), text).unwrap();
    }
    let command =
        "mkdir a b && $CC -g -c main.c && $CC -g -c used.c -o a/x.o && $CC -g -c never.c -o b/x.o";
    let archive = format!("{command} && ar qc l.a a/x.o b/x.o && $CC main.o l.a -o t");
    let said = build(dir, &archive);
    let expected = "p3: t: 1 copy; 1 object is not profiled: p3/t.p3/record.json says why\n\
                    p3: next: p3-rewrite suite -o p3 -- ./t\n";
    assert_eq!(said, expected);
    let partly = "$CC -r a/x.o b/x.o -o both.o && $CC main.o both.o -o t && rm l.a";
    let said = build(dir, partly);
    assert_eq!(said, expected);
    // Alone, the second one is not needed.
    let said = build(dir, "$CC main.o a/x.o -o t");
    assert_line(&said, &never_linked("1 source was"));
}
