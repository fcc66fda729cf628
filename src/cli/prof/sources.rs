//! Options for source files.

use crate::profile::Profile;
use crate::read::source::{Search, Sources};
use clap::Args;
use std::path::PathBuf;

/// Where the sources are that conditions are quoted from.
#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// Look for source files in this folder; may be repeated
    #[arg(long, value_name = "DIR")]
    pub source_dir: Vec<PathBuf>,
    /// Replace the beginning A of source names by B, also in exports and coverage; may be repeated
    #[arg(long, value_name = "A=B", value_parser = renaming)]
    pub path_map: Vec<(String, String)>,
}

impl SourceArgs {
    pub(super) fn find(&self, profile: &Profile) -> Sources {
        profile.sources(self.search())
    }

    /// The sources of `profile` for coverage, of which markers leave lines out.
    pub(super) fn open_marked(&self, profile: &Profile, markers: &MarkerArgs) -> Sources {
        profile.sources(Search {
            markers: markers.exclude_marker.clone(),
            ..self.search()
        })
    }

    /// The sources of `profile`, whose files then have the names that others are to find them by: these may be no names
    /// of files here, so sources are looked for first by the names that they were compiled by.
    pub(super) fn mark_and_rename(&self, profile: &mut Profile, markers: &MarkerArgs) -> Sources {
        let sources = self.open_marked(profile, markers);
        self.rename(profile);
        sources
    }

    /// Names the files of another profile that is compared with one that was renamed.
    pub(super) fn rename(&self, profile: &mut Profile) {
        self.search().rename(&mut profile.manifest.files);
    }

    pub(super) fn search(&self) -> Search {
        Search {
            folders: self.source_dir.clone(),
            renamed: self.path_map.clone(),
            ..Search::default()
        }
    }
}

/// Which lines coverage leaves out.
#[derive(Debug, Args)]
pub(super) struct MarkerArgs {
    /// Leave out lines with this word in a comment, like LCOV_EXCL_LINE; may be repeated
    ///
    /// WORDNEXTLINE leaves out the next line, WORDBEGIN … WORDEND all lines from one to the other.
    #[arg(long, value_name = "WORD", value_parser = marker)]
    pub exclude_marker: Vec<String>,
}

/// A word.
fn marker(text: &str) -> Result<String, String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if text.is_empty() || !text.chars().all(word) {
        return Err("give a word of letters, digits and _, like NOLINT".into());
    }
    Ok(text.into())
}

/// `A=B`.
fn renaming(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() => Ok((from.into(), to.into())),
        _ => Err("give the old beginning of names and the new one, OLD=NEW".into()),
    }
}
