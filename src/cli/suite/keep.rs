//! A folder of profiles that grows run by run.

use crate::base::error::{Error, Result};
use crate::project::suite::SuiteResult;
use crate::write::output::write_whole;
use std::path::{Path, PathBuf};

/// Adds the merged profiles to a folder that grows run by run, each below its program's name; how many there are.
pub(super) fn keep_profiles(folder: &Path, gathered: &SuiteResult) -> Result<u64> {
    let here = std::env::current_dir().unwrap_or_default();
    let mut kept = 0;
    for (program, merged) in &gathered.programs {
        if merged.is_none() {
            continue;
        }
        let name = program.program.strip_prefix(&here);
        let name = name.unwrap_or_else(|_| {
            program
                .program
                .file_name()
                .map_or(Path::new("program"), Path::new)
        });
        let own = folder.join(name);
        std::fs::create_dir_all(&own).map_err(|e| Error::write(&own, e))?;
        let from = program.folder.join("profile.p3prof");
        let bytes = std::fs::read(&from).map_err(|e| Error::read(&from, e))?;
        write_whole(&next_name(&own), &bytes)?;
        kept += 1;
    }
    Ok(kept)
}

/// The first name in a folder of profiles behind all that are there: `0001.p3prof` and so on.
fn next_name(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |e: std::fs::DirEntry| {
        let name = e.file_name().into_string().ok()?;
        name.strip_suffix(".p3prof")?.parse::<u64>().ok()
    };
    let last = entries.filter_map(number).max().unwrap_or(0);
    folder.join(format!("{:04}.p3prof", last.saturating_add(1)))
}
