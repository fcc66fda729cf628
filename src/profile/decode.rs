//! A copy's counts → counts of canonical paths, or of edges.

use super::Structure;
use crate::index::{CopyId, EdgeId, PathId};
use crate::partition::{Part, Share};
use crate::plan::build::ids;
use fixedbitset::FixedBitSet;
use std::collections::BTreeMap;

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
) -> Result<BTreeMap<PathId, u64>, String> {
    let part = share.part(copy).ok_or_else(|| foreign(copy))?;
    let paths = &structure.paths;
    let code = ids(&structure.cfg, paths, part);
    let mut canonical = BTreeMap::new();
    for (&id, &count) in counts {
        match code.canonical(paths, id) {
            Some(path) => drop(canonical.insert(path, count)),
            None if matches!(part, Part::Edges(_)) && id < code.numbering().total() => {}
            None => return Err(unknown(copy, id)),
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
    counted: &FixedBitSet,
    share: &Share,
    copy: CopyId,
    counts: &BTreeMap<u64, u64>,
) -> Result<BTreeMap<EdgeId, u64>, String> {
    if *share != Share::Whole(copy) {
        return Err(foreign(copy));
    }
    let edges: Vec<EdgeId> = counted.ones().map(EdgeId::new).collect();
    let edge = |(&id, &n): (&u64, &u64)| {
        let edge = usize::try_from(id).ok().and_then(|i| edges.get(i));
        Ok((*edge.ok_or_else(|| unknown(copy, id))?, n))
    };
    counts.iter().map(edge).collect()
}

fn foreign(copy: CopyId) -> String {
    format!("copy {copy} counted it, but has no part in it")
}

fn unknown(copy: CopyId, id: u64) -> String {
    format!("copy {copy} counted id {id}, which nothing has")
}

#[cfg(test)]
mod tests;
