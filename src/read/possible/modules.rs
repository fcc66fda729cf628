//! Where the modules of a profile are: in the folder `native` of the output folder, or wherever a file there has the
//! hash that the manifest says.

use crate::base::index::ModuleId;
use crate::input::load::hash_module;
use crate::profile::Profile;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Output folders are not deeper below the folder of a build.
const DEPTH: usize = 6;
/// So many files are looked at.
const MOST_FILES: usize = 20_000;

/// The modules that were found.
pub(super) struct Modules {
    /// The folders of the profiles that were named.
    parents: Vec<PathBuf>,
    /// Folders that were named themselves: of programs, or of a build.
    folders: Vec<PathBuf>,
    /// What the modules are called.
    names: Vec<String>,
    /// By hash, where it is; `None`: nowhere.
    found: HashMap<String, Option<PathBuf>>,
    /// All modules in these folders by hash, once one was not where it is expected.
    others: Option<HashMap<String, PathBuf>>,
}

impl Modules {
    /// Those of a profile; nothing is looked for yet.
    pub(super) fn new(profile: &Profile, folders: &[PathBuf]) -> Modules {
        let files = folders.iter().filter(|path| !path.is_dir());
        let parents = std::iter::once(&profile.path)
            .chain(files)
            .filter_map(|f| f.parent());
        let parents = parents.map(Path::to_path_buf).collect();
        Modules {
            parents,
            folders: folders
                .iter()
                .filter(|path| path.is_dir())
                .cloned()
                .collect(),
            names: profile
                .manifest
                .modules
                .iter()
                .map(|m| m.name.clone())
                .collect(),
            found: HashMap::new(),
            others: None,
        }
    }

    /// The file of a module.
    ///
    /// # Errors
    /// It is gone.
    pub(super) fn find(&mut self, module: ModuleId, hash: &str) -> Result<PathBuf, String> {
        if !self.found.contains_key(hash) {
            let found = self.look_for(module, hash);
            self.found.insert(hash.into(), found);
        }
        self.found[hash].clone().ok_or_else(|| {
            let name = &self.names[module.0 as usize];
            format!(
                "{name}, as it was profiled, is not beside the profile: name the output folder, with the profile in it"
            )
        })
    }

    fn look_for(&mut self, module: ModuleId, hash: &str) -> Option<PathBuf> {
        let all = self.parents.iter().chain(&self.folders);
        let expected = all.flat_map(|folder| {
            let file = |kind| folder.join(format!("native/m{}.{kind}", module.0));
            ["bc", "ll"].map(file)
        });
        let mut expected = expected.filter(|file| hash_of(file).as_deref() == Some(hash));
        if let Some(file) = expected.next() {
            return Some(file);
        }
        let (parents, folders) = (&self.parents, &self.folders);
        let others = self
            .others
            .get_or_insert_with(|| find_all(parents, folders));
        others.get(hash).cloned()
    }
}

fn hash_of(file: &Path) -> Option<String> {
    let bytes = std::fs::read(file).ok()?;
    Some(hash_module(&bytes))
}

/// All untouched modules in the output folders `parents`, and in those below `folders`, by hash. O(their bytes).
fn find_all(parents: &[PathBuf], folders: &[PathBuf]) -> HashMap<String, PathBuf> {
    let native = parents
        .iter()
        .map(|folder| WalkDir::new(folder.join("native")).max_depth(1));
    let deep = folders
        .iter()
        .map(|folder| WalkDir::new(folder).max_depth(DEPTH));
    let below = native.chain(deep);
    let below = below.flat_map(|walk| walk.sort_by_file_name().into_iter().flatten());
    let is_native = |file: &Path| {
        let folder = file.parent().and_then(Path::file_name);
        let is_module = file.extension().is_some_and(|e| e == "bc" || e == "ll");
        is_module && folder.is_some_and(|f| f == "native")
    };
    let files = below.take(MOST_FILES).map(walkdir::DirEntry::into_path);
    let files = files.filter(|file| is_native(file));
    files
        .filter_map(|file| Some((hash_of(&file)?, file)))
        .collect()
}
