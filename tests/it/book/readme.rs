//! The commands of README.md, each box in a copy of the folder that a comment above it names.

use super::{Folder, commands};
use crate::support::project;

/// The most that people read before they have tried something.
const MOST_WORDS: usize = 1_200;
const MOST_LINES: usize = 180;
const MOST_COMMANDS: usize = 4;

fn readme() -> String {
    std::fs::read_to_string(project("README.md")).unwrap()
}

/// What a comment above a box says, and the box's commands.
fn boxes() -> Vec<(String, Vec<String>)> {
    let text = readme();
    let parts = text.split("<!-- runs ").skip(1);
    let boxes = parts.map(|part| {
        let (place, rest) = part.split_once(" -->\n").unwrap();
        assert!(rest.starts_with("```console\n"), "{rest}");
        let end = rest.find("\n```\n").unwrap();
        let commands = commands(&rest[..end]);
        let commands = commands.into_iter().map(|(command, _)| command).collect();
        (place.to_string(), commands)
    });
    boxes.collect()
}

/// The box below a heading, and its place.
fn find_box(heading: &str) -> (String, Vec<String>) {
    let text = readme();
    let below = text.split(&format!("\n## {heading}\n")).nth(1).unwrap();
    let before = text.len() - below.len();
    let index = text[..before].matches("<!-- runs ").count();
    boxes().swap_remove(index)
}

/// Runs the box below a heading in a copy of its folder, made ready by `prepare`; the last command's output.
#[track_caller]
fn follow(heading: &str, prepare: &str) -> String {
    let (place, commands) = find_box(heading);
    let dir = Folder::new();
    let from = place.strip_prefix("in ").unwrap_or("testdata/rust/project");
    let from = project(from);
    dir.run(&format!("cp -r '{}'/. .; {prepare}", from.display()), &[]);
    let mut printed = String::new();
    for command in commands {
        // Tests name no solver; README's reader has one.
        printed = dir.run(&format!("export P3_SOLVER=z3; {command}"), &[]);
    }
    printed
}

#[test]
fn program_box_shows_hottest_paths() {
    let printed = follow("A program", "");
    assert!(
        printed.contains("hottest paths, by share of instructions"),
        "{printed}"
    );
}

#[test]
fn project_box_shows_paths_of_its_tests() {
    let printed = follow("A project with tests", "");
    assert!(
        printed.contains("text_words · loop at words.c:7"),
        "{printed}"
    );
}

#[test]
fn several_copies_box_merges_four() {
    let printed = follow("Less overhead: several copies", "");
    assert!(printed.contains("  copies        4 of 4\n"), "{printed}");
}

#[test]
fn patch_box_shows_path_that_no_test_ran() {
    let prepare = "git init -q . && git add src && \
        git -c user.name=n -c user.email=n@localhost commit -q -m before && \
        sed -i 's/if (plugin == NULL)/if (plugin == NULL || argc < 4)/' src/count.c";
    let printed = follow("A patch", prepare);
    let missing = printed.split(" not covered\n").skip(1);
    let mut untested = missing
        .flat_map(str::lines)
        .filter(|l| l.contains("19  argc < 4 "));
    assert!(untested.any(|l| l.contains(" true ")), "{printed}");
    let example = "e.g. argc = 2, strcmp() returns 0";
    assert!(
        readme().contains(&example[5..]) && printed.contains(example),
        "{printed}"
    );
}

/// By programs with an engine for rustc's LLVM: `P3_TEST_PROGRAMS` is their folder.
#[test]
#[ignore = "make test-engines"]
fn rust_box_shows_coverage_of_tests() {
    let printed = follow("Rust", "");
    assert!(printed.contains("lib.rs"), "{printed}");
}

/// The ways to install that need no other system, from a new clone. Each is a release build.
#[test]
#[ignore = "a quarter of an hour"]
fn programs_install_from_a_clone() {
    let dir = Folder::new();
    let clone = format!("git clone -q '{}' clone", project("").display());
    dir.run(&clone, &[]);
    let text = readme();
    let rows = text
        .lines()
        .filter(|l| l.starts_with("| ") && l.contains("`, then "));
    let rows = rows.filter(|l| {
        ["from source", "cargo"]
            .iter()
            .any(|n| l[2..].starts_with(n))
    });
    let mut ways = 0;
    for row in rows {
        let words = row.split('`').skip(1).step_by(2);
        let way: Vec<&str> = words.collect();
        let install = way.join(" && ");
        // What is installed must not replace what whoever runs the tests has.
        let command = format!(
            "cd clone && unset CARGO_TARGET_DIR && export CARGO_INSTALL_ROOT=\"$PWD/root\" \
             PATH=\"$PWD/root/bin:$PATH\" && {install} && \
             p3-rewrite --version && command -v p3-rewrite"
        );
        let printed = dir.run(&command, &[]);
        assert!(printed.trim_end().ends_with("/p3-rewrite"), "{printed}");
        assert!(printed.contains("clone/"), "{printed}");
        ways += 1;
    }
    assert_eq!(ways, 2);
}

#[test]
fn readme_is_short() {
    let text = readme();
    let (words, lines) = (text.split_whitespace().count(), text.lines().count());
    assert!(words <= MOST_WORDS, "{words} words");
    assert!(lines <= MOST_LINES, "{lines} lines");
    let boxes = boxes();
    assert_eq!(boxes.len(), text.matches("```console\n").count());
    assert_eq!(boxes.len(), 5);
    for (place, commands) in boxes {
        assert!(commands.len() <= MOST_COMMANDS, "{commands:?}");
        let runs = place == "by make test-engines" || project(&place["in ".len()..]).is_dir();
        assert!(runs, "{place}");
    }
}

/// Whatever README tells people to make is there to be made; CI's own command is among it.
#[test]
fn readme_names_targets_that_exist() {
    let makefile = std::fs::read_to_string(project("Makefile")).unwrap();
    let text = readme();
    let named = text.split("make ").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '-')?;
        let quoted = matches!(&rest[end..=end], "`") || rest[end..].starts_with("    #");
        (quoted && end > 0).then_some(&rest[..end])
    });
    let named: Vec<&str> = named.collect();
    for target in &named {
        let rule = format!("\n{target}:");
        assert!(makefile.contains(&rule), "make {target}");
    }
    for target in ["demo", "test", "build", "deb"] {
        assert!(named.contains(&target), "{target}: {named:?}");
    }
}
