//! Copies in the places of their programs.

use crate::base::error::{Error, Result};
use crate::base::names::{NAMED_PROGRAMS, first_names};
use crate::project::record::{self, InPlace, Record};
use std::collections::HashSet;
use std::path::PathBuf;

/// Holds that no program was linked again since it was built below `folders`: its copies would count what it was then.
/// The programs in whose places copies of another build are.
///
/// # Errors
/// A program was, or cannot be read.
pub fn check_places<'a>(folders: &[PathBuf], programs: &'a [Record]) -> Result<Vec<&'a Record>> {
    let (mut newer, mut other_build) = (Vec::new(), Vec::new());
    for program in programs.iter().filter(|p| p.program.is_file()) {
        match program.inspect_place()? {
            InPlace::Ours => {}
            InPlace::Newer => newer.push(program),
            InPlace::OtherBuild => other_build.push(program),
        }
    }
    if newer.is_empty() {
        return Ok(other_build);
    }
    let here = std::env::current_dir().unwrap_or_default();
    let shown = |p: &&Record| {
        let program = p.program.strip_prefix(&here).unwrap_or(&p.program);
        program.display().to_string()
    };
    let folders: Vec<String> = folders
        .iter()
        .map(|f| format!(" -o {}", f.display()))
        .collect();
    Err(Error::Usage(format!(
        "{}: linked again after p3-rewrite build, so the copies are outdated; build again from scratch (make clean), \
         or put the outdated copies back (p3-rewrite use 0{})",
        first_names(NAMED_PROGRAMS, newer.iter().map(shown)),
        folders.concat()
    )))
}

/// Puts a copy of each of `programs` in its place, and wherever below the working folder the program was copied to.
///
/// # Errors
/// One cannot be written, or is not where its record may be of ([`Record::check_place`]): then none is.
pub fn place_all(programs: &[Record], copy: u32) -> Result<()> {
    programs.iter().try_for_each(Record::check_place)?;
    let here = std::env::current_dir().map_err(|e| Error::read(".", e))?;
    let found = record::find_elsewhere(&here, programs)?;
    let linked = programs
        .iter()
        .enumerate()
        .map(|(i, p)| (i, p.program.clone()));
    let mut placed = HashSet::new();
    for (i, path) in linked.chain(found).filter(|(_, path)| path.is_file()) {
        if placed.insert(path.clone()) {
            programs[i].place(&path, copy)?;
        }
    }
    Ok(())
}
