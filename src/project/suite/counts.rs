//! What rounds leave in the folders of programs: raw profiles, and what is merged of them.

use crate::base::error::{Error, Result};
use crate::base::index::CopyId;
use crate::profile::file;
use crate::profile::locate::MERGED;
use crate::profile::manifest::Manifest;
use crate::profile::merge::{FailureMode, Merged, merge};
use crate::profile::verdict::idle_copies;
use crate::project::record::Record;
use crate::write::output::Destination;
use std::io::ErrorKind;
use std::path::Path;

/// Whether none of `programs` left counts, although some have functions that this copy counts.
pub(super) fn lacks_counts(programs: &[Record], copy: u32) -> Result<bool> {
    if programs.iter().any(|p| has_files(&p.raw())) {
        return Ok(false);
    }
    for program in programs {
        if !idle_copies(&Manifest::read(&program.manifest())?).contains(&CopyId(copy)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes what earlier runs counted. What was merged of it stays until there is something else, and so does the
/// folder, with its owner and rights: tests may run as another user, to whom somebody gave it.
pub(super) fn clear(program: &Record) -> Result<()> {
    let raw = program.raw();
    match std::fs::symlink_metadata(&raw) {
        Ok(there) if there.is_dir() => clear_folder(&raw)?,
        // What a link leads to is not ours.
        _ => ignore_absence(std::fs::remove_file(&raw), &raw)?,
    }
    program.make_raw_folder()
}

/// Removes everything in a folder.
fn clear_folder(folder: &Path) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::read(folder, e))?;
    for entry in entries {
        let entry = entry.map_err(|e| Error::read(folder, e))?;
        let path = entry.path();
        let removed = match entry.file_type() {
            Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(&path),
            _ => std::fs::remove_file(&path),
        };
        ignore_absence(removed, &path)?;
    }
    Ok(())
}

/// Removes what an earlier suite merged.
pub(super) fn remove_profile(program: &Record) -> Result<()> {
    let merged = program.folder.join(MERGED);
    ignore_absence(std::fs::remove_file(&merged), &merged)
}

/// What is not there need not be removed.
fn ignore_absence(result: std::io::Result<()>, path: &Path) -> Result<()> {
    match result {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::write(path, e)),
        _ => Ok(()),
    }
}

/// Whether anything but folders is in it or below.
pub(super) fn has_files(folder: &Path) -> bool {
    let entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    entries.into_iter().any(|e| !e.file_type().is_dir())
}

/// Removes what one copy counted: names of raw profiles begin with its number.
pub(super) fn clear_copy(program: &Record, copy: u32) -> Result<()> {
    let raw = program.raw();
    let prefix = format!("{copy}-");
    for entry in std::fs::read_dir(&raw).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let path = entry.path();
            std::fs::remove_file(&path).map_err(|e| Error::write(path, e))?;
        }
    }
    Ok(())
}

/// Merges what a program's copies counted; `None` if none did.
pub(super) fn merge_program(program: &Record) -> Result<Option<Merged>> {
    let raw = program.raw();
    if !has_files(&raw) {
        return Ok(None);
    }
    let merged = merge(&program.manifest(), &[raw], FailureMode::All)?;
    let profile = program.folder.join(MERGED);
    let at = Destination::new(&profile, file::CONTENT, false);
    at.write(&merged.profile.to_bytes())?;
    Ok(Some(merged))
}
