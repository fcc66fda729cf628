//! A copy's counts → counts of canonical paths.

use super::Structure;
use crate::index::{CopyId, PathId};
use crate::partition::Share;
use crate::plan::build::ids;
use std::collections::BTreeMap;

/// Translates the ids that `copy` counted, which has a part in `share`, to canonical ones. Ids of
/// paths outside the copy's share are dropped: PSPP lets them collide. Under the scheme edge the ids are
/// numbers of counted edges, and become edges. O(total path length).
///
/// # Errors
/// Counts of a copy that has no part in the function, and ids that it cannot have counted.
pub fn decode(
    structure: &Structure,
    share: &Share,
    copy: CopyId,
    counts: &BTreeMap<u64, u64>,
) -> Result<BTreeMap<PathId, u64>, String> {
    let foreign = || format!("copy {copy} counted it, but has no part in it");
    let set = share.part(copy).ok_or_else(foreign)?;
    let set = set.filter(|s| !s.is_full());
    let none = |id| format!("copy {copy} counted id {id}, which nothing has");
    if let Some(counted) = &structure.paths.counted {
        let edges: Vec<u64> = counted.ones().map(|e| e as u64).collect();
        let edge = |(&id, &n)| match edges.get(id as usize) {
            Some(&e) => Ok((e, n)),
            None => Err(none(id)),
        };
        return counts.iter().map(edge).collect();
    }
    let paths = &structure.paths;
    let code = ids(&structure.cfg, paths, set);
    let mut canonical = BTreeMap::new();
    for (&id, &count) in counts {
        match code.canonical(paths, id) {
            Some(path) => drop(canonical.insert(path, count)),
            None if set.is_some() && id < code.numbering().total() => {}
            None => return Err(none(id)),
        }
    }
    Ok(canonical)
}

#[cfg(test)]
mod tests;
