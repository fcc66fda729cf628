//! A copy's counts → counts of canonical paths.

use super::Structure;
use crate::index::{CopyId, PathId};
use crate::numbering::pspp;
use crate::partition::Share;
use std::collections::BTreeMap;

/// Translates the ids that `copy` counted, which has a part in `share`, to canonical ones. Ids of
/// paths outside the copy's share are dropped: PSPP lets them collide. Under the scheme edge the ids are
/// numbers of counted edges, and become edges. O(total path length).
pub fn decode(
    structure: &Structure,
    share: &Share,
    copy: CopyId,
    counts: &BTreeMap<u64, u64>,
) -> Result<BTreeMap<PathId, u64>, String> {
    let foreign = || format!("copy {copy} counted it, but has no part in it");
    let set = match share {
        Share::Whole(c) if *c == copy => None,
        Share::Split(sets) => {
            let (_, set) = sets.iter().find(|(c, _)| *c == copy).ok_or_else(foreign)?;
            Some(set).filter(|s| !s.is_full())
        }
        _ => return Err(foreign()),
    };
    if let Some(counted) = &structure.paths.counted {
        let edges: Vec<u64> = counted.ones().map(|e| e as u64).collect();
        let edge = |(&id, &n)| Some((*edges.get(id as usize)?, n));
        return Ok(counts.iter().filter_map(edge).collect());
    }
    let Some(set) = set else {
        return Ok(counts.clone());
    };
    let (dag, canonical) = (&structure.paths.dag, &structure.paths.numbering);
    let local = pspp(dag, set);
    let translate = |(&id, &count)| Some((canonical.id(&local.decode(dag, id)?), count));
    Ok(counts.iter().filter_map(translate).collect())
}

#[cfg(test)]
mod tests;
