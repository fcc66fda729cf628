//! What was new to programs that were built against earlier profiles (`new:`).

use crate::base::index::PathId;
use crate::profile::manifest::Manifest;
use std::collections::BTreeSet;

/// What a union of residual runs and of others has been built by, besides.
pub(super) const OTHER_RUNS: &str = "other runs";

/// Whether a program was built against earlier profiles, so that it says which paths were known; or a union is of such
/// programs alone.
pub fn is_residual(manifest: &Manifest) -> bool {
    let mut specs = manifest.paths.iter();
    specs.any(|spec| spec.starts_with("new:")) && !manifest.paths.iter().any(|s| s == OTHER_RUNS)
}

/// What such programs know of a function.
#[derive(Default)]
pub(super) struct News {
    /// Paths that some of them knew.
    known: BTreeSet<PathId>,
    /// Paths that ran in one that did not know them, whatever others knew.
    first: BTreeSet<PathId>,
}

impl News {
    pub(super) fn add(&mut self, known: &[PathId], counts: &[(PathId, u64)]) {
        let ran = counts.iter().map(|(id, _)| *id);
        let is_first = |id: &PathId| known.binary_search(id).is_err();
        self.first.extend(ran.filter(is_first));
        self.known.extend(known);
    }

    /// What is known of all of them together: a path that is new to one that ran it is new.
    pub(super) fn paths_known_everywhere(&self) -> Vec<PathId> {
        self.known.difference(&self.first).copied().collect()
    }
}
