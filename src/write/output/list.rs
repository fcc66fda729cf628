//! `.p3-files`: which files of an output folder are ours.
//!
//! Nothing else in the folder is ever deleted, by a later rewriting or by `make clean`. A name stands in the list
//! before the file is there, so that what an aborted rewriting left is known too. Names are relative, one a line;
//! one that ends in `/` is a folder that is ours with all that is in it.

use crate::base::error::{Error, Result};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::{Component, Path};

/// The list's name in the folder.
pub(super) const NAME: &str = ".p3-files";
/// Its first line.
const HEADER: &str =
    "# p3-files 1: made by p3-rewrite or by make here; nothing else is ever deleted";
/// What a file is called until it is whole.
pub(super) const PART: &str = ".part";

/// The list of a folder that is being written: a journal that is sorted in the end.
pub(super) struct List {
    file: File,
    names: BTreeSet<String>,
}

impl List {
    /// Starts a list with `names`, in place of an old one.
    pub(super) fn begin(folder: &Path, names: impl Iterator<Item = String>) -> Result<List> {
        let names: BTreeSet<String> = names.collect();
        let path = folder.join(NAME);
        super::write_whole(&path, render_names(&names).as_bytes())?;
        let file = File::options().append(true).open(&path);
        let file = file.map_err(|e| Error::write(path, e))?;
        Ok(List { file, names })
    }

    /// Whether a name is in it.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Adds a name.
    pub(super) fn add(&mut self, name: &str) -> std::io::Result<()> {
        if self.names.insert(name.to_string()) {
            self.file.write_all(format!("{name}\n").as_bytes())?;
        }
        Ok(())
    }

    /// All of it, sorted: the same for every order in which the names came.
    pub(super) fn text(&self) -> String {
        render_names(&self.names)
    }
}

fn render_names(names: &BTreeSet<String>) -> String {
    let lines = names.iter().map(|name| format!("{name}\n"));
    std::iter::once(format!("{HEADER}\n"))
        .chain(lines)
        .collect()
}

/// The names in the list of `folder`; `None` when there is no list of ours.
pub(super) fn read_names(folder: &Path) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(folder.join(NAME)).ok()?;
    let names = text.strip_prefix(HEADER)?.lines().skip(1);
    Some(names.map(str::to_string).collect())
}

/// Deletes the named files, what is left of them half-written, and folders that are then empty. Passes over names
/// that lead out of `folder`, by `..` or by a symbolic link on the way. O(names).
pub(super) fn delete_files(folder: &Path, names: &[String]) -> Result<()> {
    let mut parents = BTreeSet::new();
    for name in names.iter().filter(|n| is_inside(n)) {
        if link_on_the_way(folder, name).is_some() {
            continue;
        }
        let path = folder.join(name);
        let done = match name.strip_suffix('/') {
            Some(tree) => remove_tree(&folder.join(tree)),
            None => {
                remove_path(&path).and_then(|()| remove_path(&folder.join(format!("{name}{PART}"))))
            }
        };
        done.map_err(|e| Error::write(path, e))?;
        let above = Path::new(name).ancestors().skip(1);
        parents.extend(above.filter(|p| !p.as_os_str().is_empty()));
    }
    // What is below sorts after what is above it. One that holds a file of the user's stays.
    for parent in parents.iter().rev() {
        let _ = std::fs::remove_dir(folder.join(parent));
    }
    Ok(())
}

fn remove_path(path: &Path) -> std::io::Result<()> {
    missing_is_fine(std::fs::remove_file(path))
}

/// Where a link stands in place of the folder, the link is deleted, not what it leads to.
fn remove_tree(path: &Path) -> std::io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(m) if m.is_dir() => missing_is_fine(std::fs::remove_dir_all(path)),
        _ => remove_path(path),
    }
}

fn missing_is_fine(done: std::io::Result<()>) -> std::io::Result<()> {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    match done {
        // A folder in place of a file is the user's.
        Err(e) if [NotFound, NotADirectory, IsADirectory].contains(&e.kind()) => Ok(()),
        other => other,
    }
}

/// Whether `name` is relative and names something below.
pub(crate) fn is_inside(name: &str) -> bool {
    let mut components = Path::new(name).components();
    !name.is_empty() && components.all(|c| matches!(c, Component::Normal(_)))
}

/// The first symbolic link among the folders that lead from `folder` to `name`.
pub(super) fn link_on_the_way<'a>(folder: &Path, name: &'a str) -> Option<&'a Path> {
    let above: Vec<&Path> = Path::new(name).ancestors().skip(1).collect();
    let is_link =
        |p: &Path| std::fs::symlink_metadata(folder.join(p)).is_ok_and(|m| m.is_symlink());
    let below = above
        .into_iter()
        .rev()
        .filter(|p| !p.as_os_str().is_empty());
    below.into_iter().find(|p| is_link(p))
}
