//! `manifest.json`: enough to decode, merge, verify and simulate every copy's profile, without
//! LLVM and without the bitcode. `docs/manifest.schema.json`, its schema, is made from the types here.
//!
//! Labels are not stored: they follow from the control flow and the shares. Blocks are named by
//! ordinal, sets of DAG edges are bit sets in base64 (bit `i` of byte `i / 8`: edge `i`).

mod check;
mod checks;
mod from_program;
mod function;
mod positions;
mod problem;
mod schema;
mod share;

pub use from_program::Parts;
pub use positions::Spans;
pub use problem::{ManifestProblem, NotBuilt, OutOfRange, ShareProblem};
pub use schema::{ChoiceEntry, FunctionEntry, Manifest, ModuleEntry, ShareEntry, Status};
pub(crate) use share::encode_set;

use crate::base::error::{Error, Result};
use crate::base::names::normalise_path;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The value of [`Manifest::format`].
pub const FORMAT: &str = "p3-manifest";
/// The version that this build reads and writes. Copies of version 4 counted under other ids.
pub const VERSION: u32 = 5;

impl Manifest {
    fn identity(&self, options: &str) -> String {
        let mut hash = blake3::Hasher::new();
        let mut pieces = BufWriter::with_capacity(1 << 16, &mut hash);
        serde_json::to_writer(&mut pieces, self).expect("a manifest serialises");
        pieces.flush().expect("hashing does not fail");
        drop(pieces);
        hash.update(options.as_bytes());
        hash.finalize().to_hex()[..32].to_string()
    }

    /// The bytes of [`Manifest::program`].
    pub fn program_bytes(&self) -> [u8; 16] {
        let digits = self.program.as_bytes().chunks_exact(2);
        let byte = |d: &[u8]| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.map(byte).collect();
        bytes
            .and_then(|b| b.try_into().ok())
            .expect("checked when read")
    }

    /// Reads and checks `path`.
    pub fn read(path: &Path) -> Result<Manifest> {
        let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
        Self::parse(&bytes).map_err(|problem| {
            let remedy = match problem {
                ManifestProblem::NotBuilt(_) => NotBuilt::REMEDY,
                _ => remedy(&bytes),
            };
            Error::profile(path, problem, remedy)
        })
    }

    /// Whether `path` is a manifest, of whatever version.
    pub fn is_one(path: &Path) -> bool {
        let header = std::fs::read(path).ok();
        let header = header.and_then(|bytes| serde_json::from_slice::<Header>(&bytes).ok());
        header.is_some_and(|h| h.format == FORMAT)
    }

    /// Why nothing is profiled, if nothing is: the reasons for which functions were skipped, the most frequent first.
    /// The copies of such a program leave no raw profiles. O(functions).
    pub fn nothing_profiled(&self) -> Option<String> {
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for f in &self.functions {
            let Status::Skipped(reason) = f.status else {
                return None;
            };
            *reasons.entry(reason.to_string()).or_default() += 1;
        }
        let mut reasons = Vec::from_iter(reasons);
        reasons.sort_by_key(|(_, n)| Reverse(*n));
        let each = reasons.iter().map(|(reason, n)| format!("{n} ({reason})"));
        let each: Vec<String> = each.collect();
        Some(if each.is_empty() {
            "nothing is profiled: no function is defined".into()
        } else {
            format!(
                "nothing is profiled: every function is skipped: {}",
                each.join(", ")
            )
        })
    }

    /// Parses and checks: afterwards every index is in range and every function has an entry
    /// block, so that nothing that uses a manifest can panic on it.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, ManifestProblem> {
        let header: Header = serde_json::from_slice(bytes).map_err(ManifestProblem::NoHeader)?;
        if header.format != FORMAT {
            return Err(ManifestProblem::OtherFormat(header.format));
        }
        if header.version != VERSION {
            return Err(ManifestProblem::OtherVersion(header.version));
        }
        let manifest: Result<Manifest, _> = serde_json::from_slice(bytes);
        let mut manifest = manifest.map_err(ManifestProblem::NotOfSchema)?;
        NotBuilt::refuse_unbuilt(manifest.scheme)?;
        manifest.check()?;
        manifest.normalise_files();
        Ok(manifest)
    }

    /// Gives every source file the name that all reports have it by.
    pub(crate) fn normalise_files(&mut self) {
        for file in &mut self.files {
            *file = normalise_path(file).into_owned();
        }
    }
}

/// What to do about a manifest that is refused.
fn remedy(bytes: &[u8]) -> &'static str {
    let header = serde_json::from_slice::<Header>(bytes);
    let version = header.map_or(VERSION, |h| {
        if h.format == FORMAT {
            h.version
        } else {
            VERSION
        }
    });
    let damage = "name the manifest.json that p3-rewrite wrote";
    let older = "an older p3-rewrite wrote it: run p3-rewrite on the input again, then the copies";
    crate::base::error::remedy(version, VERSION, damage, older)
}

/// What every version of the format has.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

#[cfg(test)]
mod published;
