//! Links between the pages, and from pages to sections.

use crate::support::project;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

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

#[test]
fn every_link_leads_to_a_file_and_a_section() {
    let mut known = HashMap::new();
    let mut broken = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let folder = page.parent().unwrap();
        for line in prose(&text) {
            let links = line.split("](").skip(1).filter_map(|l| l.split(')').next());
            for link in links.filter(|l| !l.contains("://")) {
                let (file, section) = link.split_once('#').unwrap_or((link, ""));
                let target = match file {
                    "" => page.clone(),
                    _ => folder.join(file),
                };
                let fine = target.exists()
                    && (section.is_empty()
                        || headings(&target, &mut known).iter().any(|h| h == section));
                if !fine {
                    broken.push(format!("{}: {link}", page.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
