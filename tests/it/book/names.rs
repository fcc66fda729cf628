//! Files and sections that pages and comments name.

use super::links::pages;
use crate::support::project;
use regex::Regex;
use std::path::{Path, PathBuf};

/// What a recipe tells its reader to make.
const TO_BE_MADE: [&str; 1] = ["src/bin/engine/llvm23.rs"];

/// The names that `{a,b}` stands for.
fn expand(name: &str) -> Vec<String> {
    let Some((head, (list, tail))) = name
        .split_once('{')
        .and_then(|(head, rest)| Some((head, rest.split_once('}')?)))
    else {
        return vec![name.into()];
    };
    let each = list.split(',').map(|one| format!("{head}{one}{tail}"));
    each.flat_map(|name| expand(&name)).collect()
}

/// Whether there is such a file or folder; of a pattern, whether its folder is there.
fn exists(name: &str) -> bool {
    let fixed = name.split_once('*').map_or(name, |(head, _)| {
        head.rsplit_once('/').map_or("", |(folder, _)| folder)
    });
    project(fixed).exists()
}

/// Sources of programs, of the benchmark and of the runtime.
fn sources() -> Vec<PathBuf> {
    let folders = ["src", "bench/src", "runtime-c"].map(project);
    let files = folders.iter().flat_map(walkdir::WalkDir::new);
    let files = files.map(|e| e.unwrap().into_path());
    let is_source = |p: &PathBuf| {
        let extension = p.extension().and_then(|e| e.to_str());
        extension.is_some_and(|e| ["rs", "c", "h"].contains(&e))
    };
    files.filter(is_source).collect()
}

/// The comment in a line of source; pages are prose as they are.
fn comment<'a>(file: &Path, line: &'a str) -> &'a str {
    if file.extension().is_some_and(|e| e == "md") {
        return line;
    }
    let start = ["//", "/*", " * "]
        .iter()
        .filter_map(|mark| line.find(mark));
    start.min().map_or("", |at| &line[at..])
}

fn broken(find: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let mut broken = Vec::new();
    for file in pages().into_iter().chain(sources()) {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let found = find(comment(&file, line)).into_iter();
            broken.extend(found.map(|name| format!("{}: {name}", file.display())));
        }
    }
    broken
}

#[test]
fn every_named_file_exists() {
    let folders = "src|tests|runtime-c|testdata|tools|docs|bench|snapshots|share";
    let name = format!("`((?:{folders})/[A-Za-z0-9_./{{}},*-]*)`");
    let name = Regex::new(&name).unwrap();
    let broken = broken(|line| {
        let named = name.captures_iter(line).flat_map(|c| expand(&c[1]));
        let is_missing = |n: &String| !exists(n) && !TO_BE_MADE.contains(&n.as_str());
        named.filter(is_missing).collect()
    });
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_named_section_exists() {
    let text = std::fs::read_to_string(project("docs/ALGORITHMS.md")).unwrap();
    let heading = Regex::new(r"(?m)^#+ (\d+)\.? ").unwrap();
    let sections: Vec<&str> = heading
        .captures_iter(&text)
        .map(|c| c.get(1).unwrap().as_str())
        .collect();
    assert!(sections.len() > 5, "{sections:?}");
    let named = Regex::new(r"ALGORITHMS(?:\.md)?`?,? §(\d+)").unwrap();
    let elsewhere = Regex::new(r"spec §\d").unwrap();
    let broken = broken(|line| {
        let ours = named.captures_iter(line).map(|c| c[1].to_string());
        let missing = ours.filter(|n| !sections.contains(&n.as_str()));
        let others = elsewhere.find_iter(line).map(|m| m.as_str().to_string());
        missing.chain(others).collect()
    });
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
