//! A path or subpath in its sources.

use crate::base::names::escape_unprintable;
use crate::base::table::display_width;
use crate::input::ir::Loc;
use crate::profile::Profile;
use crate::read::report::positions::base_name;
use crate::read::report::steps::StepRow;
use crate::read::report::words::Said;
use crate::read::source::Sources;
use std::collections::BTreeSet;

/// The files of `locs`, each with its text, the lines in it, and those in which `said` is decided.
pub(super) fn files(
    profile: &Profile,
    sources: &Sources,
    locs: &[Loc],
    said: &[Said],
) -> Vec<LitFile> {
    let mut files: Vec<u32> = Vec::new();
    for loc in locs {
        if !files.contains(&loc.file) {
            files.push(loc.file);
        }
    }
    let of = |&file: &u32| {
        let locs = locs.iter().filter(|l| l.file == file);
        let name = &profile.manifest.files[file as usize];
        let decided = said.iter().filter(|s| s.file.as_ref() == Some(name));
        let text = sources.text(file);
        LitFile {
            name: base_name(name).into_owned(),
            text: text.map(|t| t.full_text().lines().map(remove_controls).collect()),
            lines: locs.map(|l| l.line).collect(),
            decided: decided.filter_map(|s| s.line).collect(),
        }
    };
    files.iter().map(of).collect()
}

/// A path in its sources.
pub(super) struct Lit {
    /// The files that it goes through, in the order in which it comes to them.
    pub(super) files: Vec<LitFile>,
    pub(super) steps: Vec<StepRow>,
    pub(super) blocks: Vec<String>,
}

pub(super) struct LitFile {
    pub(super) name: String,
    /// Its text, where it is there as it was compiled.
    pub(super) text: Option<Vec<String>>,
    /// The lines of the path.
    pub(super) lines: BTreeSet<u32>,
    /// Those in which it decides.
    pub(super) decided: BTreeSet<u32>,
}

/// A line of source text without control characters, tabs as blanks.
fn remove_controls(line: &str) -> String {
    const STOP: usize = 8;
    let mut out = String::new();
    for (i, part) in line.trim_end_matches('\r').split('\t').enumerate() {
        if i > 0 {
            let at = display_width(&out);
            out.extend(std::iter::repeat_n(' ', STOP - at % STOP));
        }
        out += &escape_unprintable(part);
    }
    out
}
