//! The commands of README and of the pages that one follows, run in order, each with the lines that
//! the page shows under it; the book's list of pages, and links between pages.

mod links;
mod names;
mod readme;
mod tour;

use crate::support::{PROF, project};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands of a page's `console` blocks, each with the lines shown under it.
fn commands(page: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match line.strip_prefix("$ ") {
                Some(command) => commands.push((command.to_string(), Vec::new())),
                None => commands.last_mut().unwrap().1.push(line.to_string()),
            },
            _ => {}
        }
    }
    commands
}

/// Variables of whoever runs the tests that would change what commands do.
const ENVIRONMENT: [&str; 9] = [
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "P3_COPIES",
    "P3_COPY",
    "P3_FLAGS",
    "P3_OUT",
    "P3_PROFILE_FILE",
    // Pages name cargo's usual folder.
    "CARGO_TARGET_DIR",
];

/// Pages beside those on decisions, and words of all.
const MOST_PAGES: usize = 30;
const MOST_WORDS: usize = 50_000;

/// The variable that names the folder of other programs of ours to run: those built for LLVM 22.
const PROGRAMS: &str = "P3_TEST_PROGRAMS";

/// What a page runs in a folder of its own, and ends with it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let dir = crate::support::folder();
        std::os::unix::fs::symlink(project(""), dir.path().join("p3-rewrite")).unwrap();
        Folder(dir)
    }

    fn shell(&self, command: &str) -> Command {
        let beside = Path::new(PROF).parent().unwrap().to_path_buf();
        let beside = std::env::var_os(PROGRAMS).map_or(beside, Into::into);
        let path = format!("{}:{}", beside.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.0.path());
        for name in ENVIRONMENT {
            shell.env_remove(name);
        }
        shell.env("PATH", path);
        shell
    }

    /// Runs a command that has to succeed, and looks for lines in what it prints, which it returns.
    #[track_caller]
    fn run(&self, command: &str, shown: &[String]) -> String {
        let mut shell = self.shell(&format!("exec 2>&1; {command}"));
        let output = shell.output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{command}: {printed}");
        let mut lines = printed.lines();
        for line in shown {
            assert!(
                lines.any(|l| l == line),
                "{command}: {line:?} is not in\n{printed}"
            );
        }
        printed
    }
}

impl Drop for Folder {
    /// A server that a command has started goes with the folder, whatever became of the test.
    fn drop(&mut self) {
        let kill = "for f in *.pid; do [ ! -e \"$f\" ] || kill -9 $(cat \"$f\"); done 2>/dev/null";
        let _ = self.shell(kill).status();
    }
}

/// Runs what stands in a page behind `$`, and looks for the lines under it.
fn follow(page: &str) {
    let page = std::fs::read_to_string(project("docs").join(page)).unwrap();
    let commands = commands(&page);
    assert!(commands.len() > 5);
    let dir = Folder::new();
    for (command, shown) in commands {
        dir.run(&command, &shown);
    }
}

#[test]
fn tutorial() {
    follow("TUTORIAL.md");
}

/// libyaml from Debian's sources, built by CMake, run by valgrind.
#[test]
#[ignore = "make test-tutorial"]
fn outside() {
    follow("EXAMPLES.md");
}

/// Ten runs of a program of libyaml's, each against those before it.
#[test]
#[ignore = "make test-tutorial"]
fn outside_run_by_run() {
    follow("SELECTED.md");
}

#[test]
fn servers() {
    follow("SERVERS.md");
}

#[test]
fn threads() {
    follow("THREADS.md");
}

/// The pages of `docs/` and below that a page of it links to.
fn linked(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(project("docs").join(page)).unwrap();
    let links = text.split("](").skip(1).filter_map(|l| l.split(')').next());
    let pages = links.filter(|l| l.ends_with(".md") && !l.starts_with("../"));
    let mut pages: Vec<String> = pages.map(ToString::to_string).collect();
    pages.sort_unstable();
    pages
}

/// Every page of `docs/` is in the contents once, and every page of the contents is there. `make book` takes them for
/// the book's summary.
#[test]
fn contents_list_every_page_once() {
    let docs = project("docs");
    let files = links::pages_below(&docs);
    let name = |p: &PathBuf| p.strip_prefix(&docs).unwrap().to_str().unwrap().to_string();
    let mut pages: Vec<String> = files.iter().map(name).collect();
    pages.sort_unstable();
    assert_eq!(linked("INDEX.md"), pages);
}

/// People read what is short: pages beside those on decisions, and words of all pages, those of generated ones
/// included.
#[test]
fn pages_are_few_and_short() {
    let mut pages = links::pages_below(&project("docs"));
    let words = |p: &PathBuf| {
        let text = std::fs::read_to_string(p).unwrap();
        text.split_whitespace().count()
    };
    let all: usize = pages.iter().map(words).sum();
    assert!(all <= MOST_WORDS, "{all} words");
    pages.retain(|p| p.parent() == Some(&project("docs")));
    assert!(pages.len() <= MOST_PAGES, "{} pages", pages.len());
}
