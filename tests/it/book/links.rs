//! Links between the pages, and from pages to sections.

use crate::support::project;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// A heading as the end of an address, as GitHub and mdBook make it.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => c.to_lowercase().next(),
        _ => None,
    });
    kept.collect()
}

/// Lines outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// The pages in a folder and below it.
pub(super) fn pages_below(folder: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(folder).into_iter();
    let files = files.map(|e| e.unwrap().into_path());
    let is_page = |p: &PathBuf| p.extension().is_some_and(|e| e == "md");
    files.filter(is_page).collect()
}

pub(super) fn pages() -> Vec<PathBuf> {
    let mut pages = pages_below(&project("docs"));
    pages.extend(["bench/FIGURES.md", "bench/TRIED.md"].map(project));
    pages.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(project));
    pages.sort();
    pages
}

fn headings(page: &Path, known: &mut HashMap<PathBuf, Vec<String>>) -> Vec<String> {
    let found = known.entry(page.to_path_buf()).or_insert_with(|| {
        let text = std::fs::read_to_string(page).unwrap();
        let headings = prose(&text).filter(|l| l.starts_with('#'));
        headings
            .map(|l| slug(l.trim_start_matches('#').trim()))
            .collect()
    });
    found.clone()
}

/// The links of a page to other files, with the section behind `#`; not those to other hosts.
fn links(page: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(page).unwrap();
    let of_line = |line: &str| -> Vec<(String, String)> {
        let links = line.split("](").skip(1).filter_map(|l| l.split(')').next());
        let links = links.filter(|l| !l.contains("://"));
        let parts = |l: &str| {
            let (file, section) = l.split_once('#').unwrap_or((l, ""));
            (file.to_string(), section.to_string())
        };
        links.map(parts).collect()
    };
    prose(&text).flat_map(of_line).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_section() {
    let mut known = HashMap::new();
    let mut broken = Vec::new();
    for page in pages() {
        let folder = page.parent().unwrap();
        for (file, section) in links(&page) {
            let target = match file.as_str() {
                "" => page.clone(),
                file => folder.join(file),
            };
            let is_there = target.exists()
                && (section.is_empty() || headings(&target, &mut known).contains(&section));
            if !is_there {
                broken.push(format!("{}: {file}#{section}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The strings of a list in `Cargo.toml`, by line.
fn list_of_cargo_toml(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(project("Cargo.toml")).unwrap();
    let (_, list) = text.split_once(&format!("\n{name} = [\n")).unwrap();
    let (list, _) = list.split_once("\n]").unwrap();
    let strings = |line: &str| {
        let strings = line.split('"').skip(1).step_by(2);
        strings.map(str::to_string).collect()
    };
    list.lines().map(strings).collect()
}

/// The files that a pattern of `Cargo.toml` names: a file, `folder/*`, `folder/*.md` or `folder/**`.
fn files_of_pattern(pattern: &str) -> Vec<PathBuf> {
    let pattern = pattern.trim_start_matches('/');
    let Some((folder, ending)) = pattern.split_once('*') else {
        return vec![project(pattern)];
    };
    let depth = if ending.starts_with('*') {
        usize::MAX
    } else {
        1
    };
    let ending = ending.trim_start_matches('*');
    let files = walkdir::WalkDir::new(project(folder)).max_depth(depth);
    let files = files.into_iter().map(|e| e.unwrap().into_path());
    let is_named = |f: &PathBuf| f.is_file() && f.to_str().unwrap().ends_with(ending);
    files.filter(is_named).collect()
}

/// Links of packaged pages that lead to no packaged file. `files` are those of the project with their places in the
/// package.
fn dead_links(files: &[(PathBuf, PathBuf)]) -> Vec<String> {
    let places: HashSet<&Path> = files.iter().map(|(_, place)| place.as_path()).collect();
    let pages = files
        .iter()
        .filter(|(_, place)| place.extension().is_some_and(|e| e == "md"));
    let mut dead = Vec::new();
    let mut seen = 0;
    for (file, place) in pages {
        let links = links(file).into_iter().map(|(link, _)| link);
        for link in links.filter(|l| !l.is_empty()) {
            seen += 1;
            let mut target = place.parent().unwrap().to_path_buf();
            for part in Path::new(&link).components() {
                match part {
                    Component::ParentDir => {
                        assert!(target.pop(), "{link} leads out of the package");
                    }
                    part => target.push(part),
                }
            }
            if !places.contains(target.as_path()) {
                dead.push(format!("{}: {link}", place.display()));
            }
        }
    }
    assert!(seen > 100, "{seen} links");
    dead
}

#[test]
fn links_of_pages_lead_to_files_of_the_debian_package() {
    let mut files = Vec::new();
    for asset in list_of_cargo_toml("assets") {
        let [from, to, _] = &asset[..] else {
            panic!("{asset:?}");
        };
        if from.starts_with("target/") {
            continue;
        }
        let place = |file: PathBuf| {
            let name = file.file_name().unwrap().to_owned();
            (file, Path::new(to).join(name))
        };
        files.extend(files_of_pattern(from).into_iter().map(place));
    }
    let dead = dead_links(&files);
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn links_of_pages_lead_to_files_of_the_crate() {
    let patterns = list_of_cargo_toml("include").into_iter().flatten();
    let files: Vec<PathBuf> = patterns.flat_map(|p| files_of_pattern(&p)).collect();
    let root = project("");
    let place = |file: PathBuf| {
        let place = file.strip_prefix(&root).unwrap().to_path_buf();
        (file, place)
    };
    let dead = dead_links(&files.into_iter().map(place).collect::<Vec<_>>());
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}
