//! The commands of the pages that one follows, run in order, each with the lines that the page shows under it; and the book's list of pages.

use crate::support::{PROF, project};
use std::path::Path;
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

/// What a page runs in a folder of its own, and ends with it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let dir = crate::support::folder();
        std::os::unix::fs::symlink(project(""), dir.path().join("p3-rewrite")).unwrap();
        Folder(dir)
    }

    fn shell(&self, command: &str) -> Command {
        let beside = Path::new(PROF).parent().unwrap();
        let path = format!("{}:{}", beside.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.0.path());
        for name in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS", "P3_PROFILE_FILE"] {
            shell.env_remove(name);
        }
        shell.env("PATH", path);
        shell
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
    let dir = Folder::new();
    let page = std::fs::read_to_string(project("docs").join(page)).unwrap();
    let commands = commands(&page);
    assert!(commands.len() > 5);
    for (command, shown) in commands {
        let output = dir
            .shell(&format!("exec 2>&1; {command}"))
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{command}: {said}");
        let mut lines = said.lines();
        for line in shown {
            assert!(
                lines.any(|l| l == line),
                "{command}: {line:?} is not in\n{said}"
            );
        }
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
    follow("LIBYAML.md");
}

/// Ten runs of a program of libyaml's, each against those before it.
#[test]
#[ignore = "make test-tutorial"]
fn outside_run_by_run() {
    follow("NEWPATHS.md");
}

#[test]
fn servers() {
    follow("SERVERS.md");
}

#[test]
fn threads() {
    follow("THREADS.md");
}

/// Every page of `docs/` is in the book, and every page of the book is there.
#[test]
fn summary() {
    let summary = std::fs::read_to_string(project("docs/SUMMARY.md")).unwrap();
    let links = summary.split("](").skip(1);
    let mut listed: Vec<&str> = links.filter_map(|l| l.split(')').next()).collect();
    listed.sort_unstable();
    let pages = project("docs").read_dir().unwrap();
    let names = pages.map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = names
        .filter(|n| n.ends_with(".md") && n != "SUMMARY.md")
        .collect();
    pages.sort_unstable();
    assert_eq!(listed, pages);
}
