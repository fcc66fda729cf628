//! `p3-prof hits`: the probes that copies made with `--count-hits` executed (`docs/ALGORITHMS.md` §3). What
//! [`super::simulate`] computes without running them.

use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, TiVec, ti_vec};
use crate::copies::strategy::Scheme;
use crate::profile::manifest::Manifest;
use crate::profile::merge::Programs;
use crate::profile::merge::gather::{SeenSources, check_raw, each_file, read};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The executed probes of one rewriting, over all runs given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hits {
    /// The scheme.
    pub scheme: Scheme,
    /// The number of copies.
    pub k: u32,
    /// By copy.
    pub probe_hits: TiVec<CopyId, u64>,
}

/// Adds up what the raw files named by `files` (folders are searched for `*.p3raw`) hold.
///
/// # Errors
/// Files that are foreign, damaged, named twice or without hits.
pub fn hits(manifest_path: &Path, files: &[PathBuf]) -> Result<Hits> {
    let manifest = Manifest::read(manifest_path)?;
    let mut probe_hits = ti_vec![0u64; manifest.copies as usize];
    let mut seen = SeenSources::default();
    let programs = Programs::find(&[manifest_path.to_path_buf()])?;
    each_file(files, |file| {
        let raw = read(file)?;
        check_raw(&raw, programs.find_program(raw.program, file)?, file)?;
        seen.refuse_repeated(&[raw.unique], file, files)?;
        let sum = &mut probe_hits[raw.copy];
        for f in raw.functions.values() {
            let remedy = "rewrite with --count-hits, and run that";
            let n = f
                .hits
                .ok_or_else(|| Error::profile(file, "its copy did not count hits", remedy))?;
            *sum = sum.saturating_add(n);
        }
        Ok(())
    })?;
    Ok(Hits {
        scheme: manifest.scheme,
        k: manifest.copies,
        probe_hits,
    })
}
