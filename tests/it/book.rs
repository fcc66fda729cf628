//! The tutorial's commands, run in order, each with the lines that the page shows under it; and the book's list of pages.

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

#[test]
fn tutorial() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::os::unix::fs::symlink(project(""), dir.join("p3-rewrite")).unwrap();
    let beside = Path::new(PROF).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", beside.display());
    let page = std::fs::read_to_string(project("docs/TUTORIAL.md")).unwrap();
    let commands = commands(&page);
    assert!(commands.len() > 10);
    for (command, shown) in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{command} 2>&1")]);
        for name in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"] {
            shell.env_remove(name);
        }
        let output = shell.current_dir(dir).env("PATH", &path).output().unwrap();
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
