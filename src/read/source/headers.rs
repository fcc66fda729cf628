//! Headers that files include by names in quotes, each read once.

use super::condition::Range;
use super::constants::find_enums;
use super::is_of_the_system;
use super::macros::Macros;
use super::text::Text;
use crate::base::names::normalise_path;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// So many headers are looked through for what one file includes.
const MOST: usize = 256;

/// The headers of a program.
#[derive(Default)]
pub(super) struct Headers {
    /// The folders of the program's files.
    folders: Vec<PathBuf>,
    /// By name: what is there.
    known: Mutex<HashMap<String, Option<Arc<Header>>>>,
    /// By what stands between quotes: which of `folders` have it.
    elsewhere: Mutex<HashMap<String, Option<Arc<Header>>>>,
}

/// A header.
pub(super) struct Header {
    name: String,
    pub text: Text,
    pub macros: Macros,
    /// The enumerations that it defines: their names, and the tokens between their braces.
    pub enums: Vec<(Option<String>, Range)>,
}

impl Header {
    pub(super) fn new(name: String, text: Text) -> Header {
        let mut macros = Macros::default();
        macros.add(&text.as_scanned());
        Header {
            name,
            enums: find_enums(&text.as_scanned()),
            macros,
            text,
        }
    }
}

impl Headers {
    /// Those that are looked for in the folders of `files`, too.
    pub(super) fn for_files<'a>(files: impl Iterator<Item = &'a str>) -> Headers {
        let own = files.filter(|name| !is_of_the_system(name));
        let mut folders: Vec<PathBuf> = own.map(folder).collect();
        folders.sort();
        folders.dedup();
        Headers {
            folders,
            ..Headers::default()
        }
    }

    /// The headers that the file called `name` includes, also through others, as far as `read` finds them beside the
    /// file that includes them or in a folder of the program.
    pub(super) fn find_included(
        &self,
        name: &str,
        text: &Text,
        read: impl Fn(&str) -> Option<String>,
    ) -> Vec<Arc<Header>> {
        let mut open: Vec<(PathBuf, String)> =
            text.included_names().map(|n| (folder(name), n)).collect();
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        while let Some((beside, quoted)) = open.pop() {
            let header = self
                .find(&beside.join(&quoted), &read)
                .or_else(|| self.find_elsewhere(&quoted, &read));
            let Some(header) = header.filter(|h| seen.insert(h.name.clone())) else {
                continue;
            };
            let folder = folder(&header.name);
            open.extend(header.text.included_names().map(|n| (folder.clone(), n)));
            found.push(header);
            if found.len() == MOST {
                break;
            }
        }
        found
    }

    fn find(&self, path: &Path, read: impl Fn(&str) -> Option<String>) -> Option<Arc<Header>> {
        let name = normalise_path(&path.to_string_lossy()).into_owned();
        let known = || self.known.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(header) = known().get(&name) {
            return header.clone();
        }
        let header = read(&name).map(|text| Arc::new(Header::new(name.clone(), Text::new(text))));
        known().insert(name, header.clone());
        header
    }

    fn find_elsewhere(
        &self,
        quoted: &str,
        read: impl Fn(&str) -> Option<String>,
    ) -> Option<Arc<Header>> {
        let known = || self.elsewhere.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(header) = known().get(quoted) {
            return header.clone();
        }
        let mut folders = self.folders.iter();
        let header = folders.find_map(|folder| self.find(&folder.join(quoted), &read));
        known().insert(quoted.to_string(), header.clone());
        header
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(name)
        .parent()
        .unwrap_or(Path::new(""))
        .to_path_buf()
}
