//! The programs whose raw profiles are merged: their manifests, found by id.

use crate::base::error::{Error, Result};
use crate::profile::manifest::Manifest;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// What a manifest's folder is searched for.
const MANIFEST: &str = "manifest.json";

/// What is known of a program before its counts are.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its manifest.
    pub manifest: PathBuf,
    /// What a profile of it is called, unlike that of any other.
    pub name: String,
    /// [`Manifest::program_bytes`].
    pub(super) id: [u8; 16],
    pub(super) copies: u32,
    pub(super) functions: usize,
}

impl Program {
    fn new(manifest: &Manifest, path: PathBuf) -> Program {
        Program {
            name: folder_name(&path),
            manifest: path,
            id: manifest.program_bytes(),
            copies: manifest.copies,
            functions: manifest.functions.len(),
        }
    }
}

/// Programs, by the names of their manifests; each once.
#[derive(Clone, Debug)]
pub struct Programs(pub(super) Vec<Program>);

impl Programs {
    /// Reads the manifests that `arguments` name: files, or folders that are searched for `manifest.json`.
    ///
    /// # Errors
    /// Manifests that cannot be used, and folders without any.
    pub fn find(arguments: &[PathBuf]) -> Result<Programs> {
        let mut programs: Vec<Program> = Vec::new();
        for path in manifests(arguments)? {
            let manifest = Manifest::read(&path)?;
            let id = manifest.program_bytes();
            if programs.iter().all(|p| p.id != id) {
                programs.push(Program::new(&manifest, path));
            }
        }
        tell_apart(&mut programs);
        Ok(Programs(programs))
    }

    /// The program of this manifest alone, which is in `path`.
    pub(super) fn of_one(manifest: &Manifest, path: &Path) -> Programs {
        Programs(vec![Program::new(manifest, path.to_path_buf())])
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Program> {
        self.0.iter()
    }

    /// The program that the raw profile `file` with this program id is of.
    pub(crate) fn find_program(&self, id: [u8; 16], file: &Path) -> Result<&Program> {
        Ok(&self.0[self.find_index(id, file)?])
    }

    /// The program with this id, of which `file` is.
    pub(super) fn find_index(&self, id: [u8; 16], file: &Path) -> Result<usize> {
        let found = self.0.iter().position(|p| p.id == id);
        found.ok_or_else(|| match self.0.len() {
            1 => {
                let problem = "it is of another program, or of another rewriting of it";
                let remedy = "name the manifest.json of the copies that ran; for files of several programs, the \
                              folder of their build and one to write to: p3-prof merge -m BUILD RAW -o PROFILES/";
                Error::profile(file, problem, remedy)
            }
            n => refuse_foreign_file(
                file,
                format!("it is of none of the {n} programs that were named"),
            ),
        })
    }
}

/// The error about a file that is not of the copies at hand.
pub(super) fn refuse_foreign_file(file: &Path, problem: impl Display) -> Error {
    let remedy = "name the manifest.json of the copies that ran";
    Error::profile(file, problem, remedy)
}

fn manifests(arguments: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for argument in arguments {
        let before = found.len();
        if !argument.is_dir() {
            found.push(argument.clone());
            continue;
        }
        for entry in walkdir::WalkDir::new(argument).sort_by_file_name() {
            let entry = entry.map_err(|e| Error::walk(argument, e))?;
            if entry.file_name() == MANIFEST {
                found.push(entry.into_path());
            }
        }
        if found.len() == before {
            let problem = format!("there is no {MANIFEST} in it");
            let remedy = "name the folders that p3-rewrite wrote, or one above them";
            return Err(Error::profile(argument, problem, remedy));
        }
    }
    Ok(found)
}

/// The folder that the manifest is in: what p3-rewrite wrote one program to.
fn folder_name(manifest: &Path) -> String {
    let absolute = std::path::absolute(manifest);
    let folder = absolute.as_deref().unwrap_or(manifest).parent();
    let name = folder.and_then(Path::file_name).unwrap_or_default();
    let name = name.to_string_lossy();
    // As p3-cc names the folders of programs.
    name.strip_suffix(".p3").unwrap_or(&name).to_string()
}

/// Where several have one name, their ids are a part of it.
fn tell_apart(programs: &mut [Program]) {
    let mut named: BTreeMap<String, u32> = BTreeMap::new();
    for p in &*programs {
        *named.entry(p.name.clone()).or_default() += 1;
    }
    for p in programs {
        if p.name.is_empty() || named[&p.name] > 1 {
            let digits = p.id.iter().map(|b| format!("{b:02x}"));
            p.name = format!("{}-{}", p.name, digits.collect::<String>());
        }
    }
}

#[cfg(test)]
mod tests;
