//! Judgements that are kept beside a profile: reports of the same paths ask no engine again.

use crate::possible::asked::AskedPath;
use crate::possible::solver::Program;
use crate::possible::{Judgement, VERSION};
use crate::write::output::write_whole;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// More are not kept.
const MOST: usize = 1 << 18;

/// Judgements by what they depend on.
pub(super) struct Kept {
    file: PathBuf,
    content: Content,
    is_changed: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct Content {
    /// [`VERSION`], and that of the program: another one may judge otherwise.
    version: (u32, String),
    /// By [`key`].
    judged: BTreeMap<String, Judgement>,
}

/// What a judgement depends on, as a hash: module, function, whether the program runs alone, solver, and path.
pub(super) fn key(
    hash: &str,
    ordinal: u32,
    is_alone: bool,
    solver: Option<&Program>,
    path: &AskedPath,
) -> String {
    let solver = solver.map(|s| (s.kind, &s.version));
    let all = serde_json::to_vec(&(hash, ordinal, is_alone, solver, path)).expect("plain data");
    blake3::hash(&all).to_hex()[..32].to_string()
}

fn version() -> (u32, String) {
    (VERSION, env!("CARGO_PKG_VERSION").into())
}

impl Kept {
    /// Those beside a profile; none where there are none that can be used.
    pub(super) fn read(profile: &Path) -> Kept {
        let file = profile.with_extension("p3judged");
        let content = std::fs::read(&file).ok();
        let content = content.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let content = content.filter(|c: &Content| c.version == version());
        let new = Content {
            version: version(),
            judged: BTreeMap::new(),
        };
        Kept {
            file,
            content: content.unwrap_or(new),
            is_changed: false,
        }
    }

    /// What is kept of a path.
    pub(super) fn get(&self, key: &str) -> Option<&Judgement> {
        self.content.judged.get(key)
    }

    /// Keeps what is known of a path.
    pub(super) fn add(&mut self, key: String, judgement: Judgement) {
        if self.content.judged.len() < MOST {
            self.content.judged.insert(key, judgement);
            self.is_changed = true;
        }
    }

    /// Writes them beside the profile, if there are new ones. That this fails is no error: they are asked for again.
    pub(super) fn write(&self) {
        if !self.is_changed {
            return;
        }
        let Ok(bytes) = serde_json::to_vec(&self.content) else {
            return;
        };
        // Of two reports at once one stays, whole.
        let _ = write_whole(&self.file, &bytes);
    }
}
