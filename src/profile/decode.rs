//! A copy's counts → counts of canonical paths, or of edges.

use super::{Structure, TooManyPaths};
use crate::base::index::{CopyId, CounterId, EdgeId, IdSet, LocalId, PathId};
use crate::copies::partition::{Part, Share};
use crate::copies::plan::ids::choose_ids;
use crate::paths::edges::edges_by_counter;
use crate::profile::manifest::ShareProblem;
use std::collections::BTreeMap;

/// Why counts do not fit the function that they are of.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountProblem {
    /// The manifest's entry is damaged.
    #[error(transparent)]
    Structure(#[from] TooManyPaths),
    /// The manifest's share is damaged.
    #[error(transparent)]
    Share(#[from] ShareProblem),
    /// A copy counted a function that others profile.
    #[error("copy {0} counted it, but has no share of this function")]
    NoPart(CopyId),
    /// A copy counted under an id that no path or edge has there.
    #[error("copy {copy} counted id {id}, which no path or edge has")]
    UnknownId {
        /// The copy.
        copy: CopyId,
        /// The id.
        id: u64,
    },
    /// A canonical id that the function does not have.
    #[error("an id that no path has")]
    NoSuchPath,
    /// A path that is in no copy's share.
    #[error("a path that no copy owns")]
    NoOwner,
}

/// Translates the ids that `copy` counted, which has a part in `share`, to canonical ones. Ids of
/// paths outside the copy's share are dropped: PSPP lets them collide; ranges count no others. O(total path length).
///
/// # Errors
/// Counts of a copy that has no part in the function, and ids that it cannot have counted.
pub fn decode_paths(
    structure: &Structure,
    share: &Share,
    copy: CopyId,
    counts: &BTreeMap<u64, u64>,
) -> Result<BTreeMap<PathId, u64>, CountProblem> {
    let part = share.part_of_copy(copy).ok_or(CountProblem::NoPart(copy))?;
    let paths = &structure.paths;
    let code = choose_ids(&structure.cfg, paths, part);
    let mut canonical = BTreeMap::new();
    for (&id, &count) in counts {
        match code.canonical_id(paths, LocalId(id)) {
            Some(path) => drop(canonical.insert(path, count)),
            None if matches!(part, Part::Edges(_)) && id < code.numbering().total() => {}
            None => return Err(CountProblem::UnknownId { copy, id }),
        }
    }
    Ok(canonical)
}

/// Translates the numbers of counters of `copy` to the edges that they count, `counted`. Counts of edges are of whole
/// functions. O(E).
///
/// # Errors
/// As of [`decode_paths`].
pub fn decode_edges(
    counted: &IdSet<EdgeId>,
    share: &Share,
    copy: CopyId,
    counts: &BTreeMap<u64, u64>,
) -> Result<BTreeMap<EdgeId, u64>, CountProblem> {
    if *share != Share::Whole(copy) {
        return Err(CountProblem::NoPart(copy));
    }
    let edges = edges_by_counter(counted);
    let edge = |(&id, &n): (&u64, &u64)| {
        let counter = u32::try_from(id).ok().map(CounterId);
        let edge = counter.and_then(|c| edges.get(c));
        Ok((*edge.ok_or(CountProblem::UnknownId { copy, id })?, n))
    };
    counts.iter().map(edge).collect()
}

#[cfg(test)]
mod tests;
