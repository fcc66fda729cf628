//! A copy's counts → counts of canonical paths, or of edges.

use super::Structure;
use crate::edges::by_counter;
use crate::index::{CopyId, CounterId, EdgeId, IdSet, LocalId, PathId};
use crate::partition::{Part, Share};
use crate::plan::build::ids;
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
        match code.canonical(paths, LocalId(id)) {
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
    counted: &IdSet<EdgeId>,
    share: &Share,
    copy: CopyId,
    counts: &BTreeMap<u64, u64>,
) -> Result<BTreeMap<EdgeId, u64>, String> {
    if *share != Share::Whole(copy) {
        return Err(foreign(copy));
    }
    let edges = by_counter(counted);
    let edge = |(&id, &n): (&u64, &u64)| {
        let counter = u32::try_from(id).ok().map(CounterId);
        let edge = counter.and_then(|c| edges.get(c));
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
