//! The source files of a page: each once, however often modules name it.

use super::data::{PlaceData, ran_and_all};
use crate::input::ir::Loc;
use crate::read::report::coverage::LineSums;
use crate::read::source::{Sources, is_of_the_system};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// A source file.
#[derive(Serialize)]
pub(super) struct FileData {
    name: String,
    /// Its text, where it is there as it was compiled and some block is in it.
    text: Option<String>,
    /// Whether it belongs to the system or to a toolchain.
    system: bool,
    /// Lines with code and ways out of branches: those that ran, and all.
    lines: [u64; 2],
    branches: [u64; 2],
    /// Lines that markers leave out of coverage.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    excluded: BTreeSet<u32>,
}

/// The distinct files of a manifest.
pub(super) struct Files {
    names: Vec<String>,
    /// For each file of the manifest its index among the distinct ones.
    of: Vec<u32>,
    by_name: HashMap<String, u32>,
}

impl Files {
    pub(super) fn new(manifest: &[String]) -> Files {
        let mut files = Files {
            names: Vec::new(),
            of: Vec::new(),
            by_name: HashMap::new(),
        };
        let mut by_place: HashMap<String, u32> = HashMap::new();
        for name in manifest {
            let place = normalise_name(name);
            let next = files.names.len() as u32;
            let number = *by_place.entry(place).or_insert_with_key(|place| {
                files.names.push(place.clone());
                next
            });
            files.of.push(number);
            files.by_name.insert(name.clone(), number);
        }
        files
    }

    pub(super) fn place(&self, loc: Loc) -> PlaceData {
        PlaceData {
            file: self.of[loc.file as usize],
            line: loc.line,
        }
    }

    /// The number of the file that the manifest calls so.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// The files, those that are `used` with their texts.
    pub(super) fn data(
        &self,
        used: &BTreeSet<u32>,
        sources: &Sources,
        coverage: &LineSums,
    ) -> Vec<FileData> {
        let mut texts: HashMap<u32, String> = HashMap::new();
        let mut excluded: HashMap<u32, BTreeSet<u32>> = HashMap::new();
        let markers = sources.markers();
        for (file, number) in (0u32..).zip(&self.of) {
            excluded
                .entry(*number)
                .or_insert_with(|| markers.lines(file));
            if used.contains(number)
                && !texts.contains_key(number)
                && let Some(text) = sources.text(file)
            {
                texts.insert(*number, text.full_text().to_string());
            }
        }
        let file = |(number, name): (u32, &String)| {
            let sums = coverage.files.get(name);
            FileData {
                name: name.clone(),
                text: texts.remove(&number),
                system: is_of_the_system(name),
                lines: ran_and_all(sums.map(|s| s.lines)),
                branches: ran_and_all(sums.map(|s| s.branches)),
                excluded: excluded.remove(&number).unwrap_or_default(),
            }
        };
        (0u32..).zip(&self.names).map(file).collect()
    }
}

/// A name without `.` and without folders that `..` leaves again.
fn normalise_name(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for (i, part) in name.split('/').enumerate() {
        match part {
            "" if i > 0 => {}
            "." => {}
            ".." if parts.last().is_some_and(|p| !matches!(*p, "" | "..")) => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_several_modules_are_listed_once() {
        let names = [
            "/a/b/../c.h",
            "d.c",
            "/a/./c.h",
            "./d.c",
            "/a//c.h",
            "../d.c",
        ];
        let files = Files::new(&names.map(String::from));
        assert_eq!(files.names, ["/a/c.h", "d.c", "../d.c"]);
        assert_eq!(files.of, [0, 1, 0, 1, 0, 2]);
        assert_eq!(files.number("./d.c"), Some(1));
    }

    #[test]
    fn names_that_lead_above_the_root_stay() {
        assert_eq!(normalise_name("/../x"), "/../x");
        assert_eq!(normalise_name("a/b/../../../x"), "../x");
        assert_eq!(normalise_name("/"), "");
    }
}
