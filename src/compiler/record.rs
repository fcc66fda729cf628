//! What was built where: a file in the folder of every program.

use crate::error::{Error, Result};
use crate::output::write_whole;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, FileTimes};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The record's name.
pub const NAME: &str = "record.json";

/// A program that was built in copies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Always `p3-record 1`.
    format: String,
    /// Where it is: a path that every copy takes in turn.
    pub program: PathBuf,
    /// The number of copies.
    pub copies: u32,
    /// Objects in it that are not profiled, and why.
    pub left: BTreeMap<String, String>,
    /// The command that linked it, and where.
    pub command: Vec<String>,
    /// The folder in which that ran.
    pub directory: PathBuf,
    /// The folder of the record.
    #[serde(skip)]
    pub folder: PathBuf,
}

const FORMAT: &str = "p3-record 1";

impl Record {
    /// A record that is not written yet.
    pub fn new(
        folder: &Path,
        program: PathBuf,
        copies: u32,
        left: BTreeMap<String, String>,
        command: Vec<String>,
    ) -> Record {
        Record {
            format: FORMAT.into(),
            program,
            copies,
            left,
            command,
            directory: std::env::current_dir().unwrap_or_default(),
            folder: folder.to_path_buf(),
        }
    }

    /// Writes it into its folder.
    ///
    /// # Errors
    /// That is not possible.
    pub fn write(&self) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(self).expect("a record serialises");
        json.push(b'\n');
        write_whole(&self.folder.join(NAME), &json)
    }

    /// Reads `folder`'s.
    ///
    /// # Errors
    /// There is none, or none of this version.
    pub fn read(folder: &Path) -> Result<Record> {
        let path = folder.join(NAME);
        let bytes = std::fs::read(&path).map_err(|e| Error::read(&path, e))?;
        let record: Option<Record> = serde_json::from_slice(&bytes).ok();
        match record.filter(|r| r.format == FORMAT) {
            Some(record) => Ok(Record {
                folder: folder.to_path_buf(),
                ..record
            }),
            None => Err(Error::profile(
                path,
                "not a record of this version of p3-cc",
                "build the program anew",
            )),
        }
    }

    /// The executable, or library, of a copy.
    pub fn copy(&self, copy: u32) -> PathBuf {
        self.folder.join(format!("bin/copy-{copy}"))
    }

    /// The folder to which its processes write, unless the environment says otherwise.
    pub fn raw(&self) -> PathBuf {
        self.folder.join("raw")
    }

    /// Puts a copy in the program's place, with the time and the permissions of what was there: no build system sees a
    /// difference. A program with fewer copies takes its turns.
    ///
    /// # Errors
    /// The program, or the copy, is not there.
    pub fn place(&self, copy: u32) -> Result<()> {
        let from = self.copy(copy % self.copies.max(1));
        if !from.is_file() {
            let problem = "this copy was not built";
            return Err(Error::load(from, problem, "build it without --only"));
        }
        let there = std::fs::metadata(&self.program).map_err(|e| Error::read(&self.program, e))?;
        let folder = self.program.parent().unwrap_or(Path::new("/"));
        let mut bytes = File::open(&from).map_err(|e| Error::read(&from, e))?;
        let mut write = || -> std::io::Result<()> {
            let mut new = tempfile::Builder::new()
                .prefix(".p3-")
                .tempfile_in(folder)?;
            std::io::copy(&mut bytes, new.as_file_mut())?;
            let times = FileTimes::new().set_modified(there.modified()?);
            new.as_file()
                .set_times(times.set_accessed(there.accessed()?))?;
            new.as_file().set_permissions(there.permissions())?;
            new.persist(&self.program).map(drop).map_err(|e| e.error)
        };
        write().map_err(|e| Error::write(&self.program, e))
    }
}

/// The records below `folders`, by program. Folders inside those of programs are not searched.
///
/// # Errors
/// A folder or a record cannot be read.
pub fn find(folders: &[PathBuf]) -> Result<Vec<Record>> {
    let mut found = Vec::new();
    for root in folders {
        let mut walk = WalkDir::new(root).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let entry = entry.map_err(|e| {
                let path = e.path().unwrap_or(root).to_path_buf();
                Error::read(path, e.into())
            })?;
            if entry.file_type().is_dir() && entry.path().join(NAME).is_file() {
                found.push(Record::read(entry.path())?);
                walk.skip_current_dir();
            }
        }
    }
    found.sort_by(|a, b| a.program.cmp(&b.program));
    found.dedup_by(|a, b| a.folder == b.folder);
    Ok(found)
}
