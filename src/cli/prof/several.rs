//! Several programs in one report: merged profiles, and folders of programs that `p3-rewrite` made.

use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::names::printable;
use crate::profile::Profile;
use crate::profile::merge::empty;
use crate::profile::union::union;
use crate::profile::verdict::Trust;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The name of the merged profile in a program's folder.
const MERGED: &str = "profile.p3prof";

/// Several profiles as one, and what is to be told of that.
pub(super) struct Several {
    /// That of the only program, or the union.
    pub profile: Profile,
    /// One line for each program that never ran.
    pub notes: Vec<String>,
}

/// Reads `files`: merged profiles, and folders with programs in them, of which those that never ran count as what did not run.
///
/// # Errors
/// What cannot be read, a folder without programs, profiles that cannot be joined.
pub(super) fn read(files: &[PathBuf], trust: Trust) -> Result<Several> {
    let (mut profiles, mut notes) = (Vec::new(), Vec::new());
    for file in files {
        // A single program is asked for because it ran: without a profile the reader says what to run first.
        let is_program = Manifest::is_one(&file.join("manifest.json"));
        if !file.is_dir() || is_program {
            profiles.push(trust.read(file)?);
            continue;
        }
        let programs = programs(file);
        if programs.is_empty() {
            let problem = "no program of p3-rewrite is in this folder";
            let remedy = "name the folder of a build, or a merged profile";
            return Err(Error::profile(file, problem, remedy));
        }
        for program in programs {
            let merged = program.join(MERGED);
            if merged.exists() {
                profiles.push(trust.read(&merged)?);
                continue;
            }
            let manifest = Manifest::read(&program.join("manifest.json"))?;
            let shown = program.display().to_string();
            notes.push(format!(
                "{}: it never ran, so all of it is uncovered",
                printable(&shown)
            ));
            profiles.push(empty(&program, manifest));
        }
    }
    let profile = match <[Profile; 1]>::try_from(profiles) {
        Ok([only]) => only,
        Err(profiles) => {
            let mut joined = union(&profiles)?.profile;
            joined.path.clone_from(&files[0]);
            joined
        }
    };
    Ok(Several { profile, notes })
}

/// The folders below `folder` that p3-rewrite made, by name.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut walk = WalkDir::new(folder).sort_by_file_name().into_iter();
    while let Some(entry) = walk.next() {
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_dir() && Manifest::is_one(&entry.path().join("manifest.json")) {
            // What is inside it are its copies.
            found.push(entry.path().to_path_buf());
            walk.skip_current_dir();
        }
    }
    found
}
