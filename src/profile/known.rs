//! Of which paths of a function it is known how often they ran.

use super::{Profile, Structure};
use crate::error::Result;
use crate::index::{FuncId, PathId};
use crate::selection::CountedPaths;

/// The paths of a function that were counted.
pub(crate) struct KnownPaths {
    /// `None` where that is all of them.
    counted: Option<(CountedPaths, Structure)>,
}

impl KnownPaths {
    /// Those of `f`. Linear where a profile counts some paths only.
    ///
    /// # Errors
    /// A damaged profile.
    pub(crate) fn new(profile: &Profile, f: FuncId) -> Result<KnownPaths> {
        if !profile.is_selective() || profile.entry(f).status.is_skipped() {
            return Ok(KnownPaths { counted: None });
        }
        let structure = profile.structure(f)?;
        let counted = profile.counted_paths(f, &structure)?;
        Ok(KnownPaths {
            counted: (!counted.are_all()).then_some((counted, structure)),
        })
    }

    /// Whether a path that has no count is known not to have run.
    pub(crate) fn contains(&self, id: PathId) -> bool {
        let counted = self.counted.as_ref();
        counted.is_none_or(|(counted, s)| counted.contain_id(&s.paths, id))
    }
}
