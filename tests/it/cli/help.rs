//! What arguments say of themselves: help, man pages, near misses; `doctor`.

use super::tree;
use crate::support::{PROF, REWRITE, project, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What comes before the help of commands in `docs/COMMANDS.md`.
const INTRODUCTION: &str = "\
# Commands

For people who look up an option: the help of every command. `p3-rewrite manual -o ~/.local/share`
writes it as man pages. (This page is generated and checked by a test:
`UPDATE_COMMANDS=1 cargo test --test it cli::help::commands` writes it.)
";

/// What a program prints of its arguments, as wide as without a terminal.
fn help_of(program: &str, arguments: &[&str]) -> String {
    let mut help = Command::new(program);
    let text = run(help.args(arguments).env("PATH", "").env_remove("COLUMNS")).stdout;
    String::from_utf8(text).unwrap().trim_end().to_string()
}

/// A help text in parts, which make the text when joined: each option with all that belongs to it, and what is before
/// the first one. O(length).
fn split_at_options(help: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in help.lines() {
        let text = line.trim_start();
        // Options stand at column 2 or 6, what belongs to them further right.
        if text.starts_with('-') && line.len() - text.len() <= 6 {
            parts.push(String::new());
        }
        let part = parts.last_mut().unwrap();
        part.push_str(line);
        part.push('\n');
    }
    parts
}

/// The options that all of these help texts have, in the order of the first, without empty lines at their ends.
fn find_common_options(helps: &[String]) -> Vec<String> {
    let trimmed = |help: &String| -> Vec<String> {
        let parts = split_at_options(help).into_iter().skip(1);
        parts.map(|p| p.trim_end().to_string()).collect()
    };
    let all: Vec<Vec<String>> = helps.iter().map(trimmed).collect();
    let (first, others) = all.split_first().unwrap();
    let is_common = |option: &&String| others.iter().all(|options| options.contains(option));
    first.iter().filter(is_common).cloned().collect()
}

/// A help text without these options.
fn without_options(help: &str, options: &[String]) -> String {
    let parts = split_at_options(help);
    let kept = parts
        .iter()
        .filter(|p| !options.contains(&p.trim_end().to_string()));
    let text: String = kept.map(String::as_str).collect();
    text.trim_end().to_string()
}

/// The page with what each command prints. Options that all commands of `p3-prof` have are there once.
fn commands_page() -> String {
    let mut page = INTRODUCTION.to_string();
    let mut add = |heading: &str, text: &str| {
        page += &format!("\n## {heading}\n\n```text\n{text}\n```\n");
    };
    add("p3-rewrite", &help_of(REWRITE, &["--help-all"]));
    for command in [
        "build",
        "suite",
        "doctor",
        "use",
        "integrate",
        "annotate",
        "proftext",
        "manual",
    ] {
        let text = help_of(REWRITE, &[command, "--help-all"]);
        add(&format!("p3-rewrite {command}"), &text);
    }
    add("p3-prof", &help_of(PROF, &["--help"]));
    let commands = [
        "show", "coverage", "html", "browse", "top", "diff", "verify", "merge", "export", "union",
        "paths", "compare", "simulate", "accuracy", "hits",
    ];
    let helps = commands.map(|command| help_of(PROF, &[command, "--help-all"]));
    let common = find_common_options(&helps);
    assert!(common.len() >= 4, "{common:?}");
    add("Options of every command of p3-prof", &common.join("\n\n"));
    for (command, help) in commands.iter().zip(&helps) {
        add(
            &format!("p3-prof {command}"),
            &without_options(help, &common),
        );
    }
    let cargo = env!("CARGO_BIN_EXE_cargo-p3");
    add("cargo p3", &help_of(cargo, &["p3", "--help-all"]));
    page
}

/// The page is read on GitHub and in the package, where nothing is included from other files.
#[test]
fn commands_are_on_their_page_word_for_word() {
    let page = commands_page();
    let path = project("docs/COMMANDS.md");
    if std::env::var_os("UPDATE_COMMANDS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let published = std::fs::read_to_string(path).unwrap();
    assert!(
        published == page,
        "run UPDATE_COMMANDS=1 cargo test --test it cli::help::commands, and read the difference"
    );
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

/// On a terminal of 80 columns no line is wider, but for usage lines, which are not wrapped.
#[test]
fn help_fits_80_columns() {
    let commands = |program: &'static str, names: &'static [&'static str]| {
        let names = names.iter().map(Some).chain([None]);
        names.map(move |name| (program, name))
    };
    let of_prof = &[
        "show", "coverage", "html", "browse", "top", "diff", "verify", "merge", "export", "union",
        "paths", "compare", "simulate", "accuracy", "hits",
    ];
    let of_rewrite = &[
        "build",
        "suite",
        "use",
        "integrate",
        "annotate",
        "proftext",
        "doctor",
    ];
    for (program, name) in commands(PROF, of_prof).chain(commands(REWRITE, of_rewrite)) {
        let mut help = Command::new(program);
        let text = run(help.args(name).arg("--help").env("COLUMNS", "80")).stdout;
        let text = String::from_utf8(text).unwrap();
        let fits = |l: &str| l.chars().count() <= 80 || l.starts_with("Usage: ");
        assert!(text.lines().all(fits), "{name:?}: {text}");
    }
}

/// A compiler that cannot print its version fails, as clang does.
#[test]
fn version_of_compiler_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut version = Command::new(env!("CARGO_BIN_EXE_p3-cc"));
    let status = version.arg("--version").stdout(full.unwrap()).output();
    assert!(!status.unwrap().status.success());
}

/// Each scheme has one line of 80 columns in the help, which says when to choose it.
#[test]
fn schemes_have_one_line_of_80_columns() {
    let text = run(Command::new(REWRITE).arg("--help")).stdout;
    let text = String::from_utf8(text).unwrap();
    let schemes = text.split("Schemes:\n").nth(1).unwrap();
    let lines: Vec<&str> = schemes.lines().take_while(|l| !l.is_empty()).collect();
    assert_eq!(lines.len(), 8, "{text}");
    let is_one = |l: &&str| l.starts_with("  ") && l.chars().count() <= 80;
    assert!(lines.iter().all(is_one), "{text}");
}

/// Help is output like any other: if it cannot be written, the command fails.
#[test]
fn help_that_cannot_be_written_is_an_error() {
    for (program, option) in [
        (REWRITE, "--help-all"),
        (PROF, "--help"),
        (PROF, "--version"),
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = Command::new(program)
            .arg(option)
            .stdout(full)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.starts_with("error: standard output: cannot write"),
            "{said}"
        );
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
