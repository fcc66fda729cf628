//! Paths of a function in ranges of canonical ids: what copies profile under p3-hot.
//!
//! All paths that begin alike, up to some vertex, have consecutive Ball–Larus ids. So any tree of prefixes whose
//! leaves go to copies is a list of ranges, and any list of ranges is such a tree: it cannot contradict itself, every
//! path has one copy, and starts, prefixes and single paths are all the same.

use crate::base::index::{CopyId, EdgeId, PathId};
use serde::{Deserialize, Serialize};

/// Who profiles which paths of a function, and which of them cost a single increment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ranges {
    /// The first canonical id of each range and the copy of its paths, ascending; 4294967295 where no copy counts them.
    /// The first id is 0; neighbours have different copies.
    pub owners: Vec<(PathId, CopyId)>,
    /// The paths that have versions of their blocks to themselves, so that their ids are constants; ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hot: Vec<PathId>,
    /// Edges of the function's DAG, ascending. Paths that take no others have versions of their blocks in common, where
    /// ids are dense.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm: Vec<EdgeId>,
}

/// In the place of a copy in [`Ranges::owners`]: no copy counts these paths. Earlier profiles know them.
pub const NOBODY: CopyId = CopyId(u32::MAX);

/// How much of a range of ids is a copy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing.
    Nothing,
    /// Some of it.
    Some,
    /// All of it.
    All,
}

impl Ranges {
    /// From first ids and copies in any order, one of them 0. O(n log n).
    pub fn new(mut owners: Vec<(PathId, CopyId)>, mut hot: Vec<PathId>) -> Ranges {
        owners.sort_unstable();
        owners.dedup_by_key(|&mut (_, copy)| copy);
        hot.sort_unstable();
        hot.dedup();
        Ranges {
            owners,
            hot,
            warm: Vec::new(),
        }
    }

    /// With these warm edges, in any order. O(n log n).
    pub fn with_warm(self, mut warm: Vec<EdgeId>) -> Ranges {
        warm.sort_unstable();
        warm.dedup();
        Ranges { warm, ..self }
    }

    /// Whether edge `e` is warm. O(log n).
    pub fn is_warm(&self, e: EdgeId) -> bool {
        self.warm.binary_search(&e).is_ok()
    }

    /// Whether they are as [`Ranges::new`] makes them, of copies below `copies`.
    pub fn are_sound(&self, copies: u32) -> bool {
        let same = |pair: &[(PathId, CopyId)]| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1;
        self.owners.first().is_some_and(|&(id, _)| id == PathId(0))
            && self.owners.windows(2).all(same)
            && self
                .owners
                .iter()
                .all(|(_, c)| c.0 < copies || *c == NOBODY)
            && self.owners.iter().any(|(_, c)| *c != NOBODY)
            && self.hot.windows(2).all(|pair| pair[0] < pair[1])
            && self.warm.windows(2).all(|pair| pair[0] < pair[1])
    }

    /// The largest id that is named.
    pub fn largest_id(&self) -> PathId {
        let first = self.owners.last().map(|&(id, _)| id);
        let hot = self.hot.last().copied();
        first.max(hot).unwrap_or_default()
    }

    /// Those of one copy that counts all paths but these, which ascend. O(n).
    pub fn all_but(known: &[PathId], total: u64, copy: CopyId) -> Ranges {
        let mut owners: Vec<(PathId, CopyId)> = Vec::new();
        let mut next = PathId(0);
        for &id in known {
            if next < id {
                owners.push((next, copy));
            }
            if next < id || owners.is_empty() {
                owners.push((id, NOBODY));
            }
            next = id.plus(1);
        }
        if next.0 < total {
            owners.push((next, copy));
        }
        Ranges {
            owners,
            hot: Vec::new(),
            warm: Vec::new(),
        }
    }

    /// The ranges with all that any copy counts on `copy`. O(n).
    pub fn on_one_copy(&self, copy: CopyId) -> Ranges {
        let mut joined = self.clone();
        let owned = joined.owners.iter_mut().filter(|(_, c)| *c != NOBODY);
        owned.for_each(|(_, c)| *c = copy);
        joined.owners.dedup_by_key(|(_, c)| *c);
        joined
    }

    /// Whether some copy counts every path.
    pub fn count_all(&self) -> bool {
        self.owners.iter().all(|(_, copy)| *copy != NOBODY)
    }

    /// How many of `total` paths are `copy`'s. O(n).
    pub fn number(&self, copy: CopyId, total: u64) -> u64 {
        let ends = self.owners.iter().skip(1).map(|(first, _)| first.0);
        let ranges = self.owners.iter().zip(ends.chain([total]));
        let own = ranges.filter(|((_, owner), _)| *owner == copy);
        own.map(|((first, _), end)| end - first.0).sum()
    }

    /// The copy that profiles path `id`, or [`NOBODY`]. O(log n).
    pub fn owner(&self, id: PathId) -> CopyId {
        self.owners[self.range_of(id)].1
    }

    /// The copies that profile some path, ascending.
    pub fn copies(&self) -> Vec<CopyId> {
        let owners = self.owners.iter().map(|&(_, c)| c);
        let mut copies: Vec<CopyId> = owners.filter(|c| *c != NOBODY).collect();
        copies.sort_unstable();
        copies.dedup();
        copies
    }

    /// How much of the ids `from .. to` is `copy`'s; `from < to`. O(log n).
    pub fn ownership(&self, copy: CopyId, from: PathId, to: PathId) -> Held {
        let within = &self.owners[self.range_of(from)..=self.range_of(PathId(to.0 - 1))];
        // Neighbours differ: only a single range is of one copy alone.
        match within {
            [(_, only)] if *only == copy => Held::All,
            _ if within.iter().any(|&(_, c)| c == copy) => Held::Some,
            _ => Held::Nothing,
        }
    }

    /// Whether one of the ids `from .. to` is that of a hot path. O(log n).
    pub fn has_hot(&self, from: PathId, to: PathId) -> bool {
        let next = self.hot.partition_point(|&id| id < from);
        self.hot.get(next).is_some_and(|&id| id < to)
    }

    fn range_of(&self, id: PathId) -> usize {
        self.owners.partition_point(|&(first, _)| first <= id) - 1
    }
}
