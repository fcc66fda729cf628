//! Loops, as their paths tell of them.

use crate::dag::{Path, PathEnd, PathStart};
use crate::error::Result;
use crate::index::{BlockId, FuncId};
use crate::profile::measurement::PathProfile;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What ran of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRow {
    /// The function.
    pub func: FuncId,
    /// The block that back edges lead to.
    pub header: BlockId,
    /// How often the header ran.
    pub iterations: u64,
    /// How often it was entered from outside: iterations without those that a back edge began.
    pub entries: u64,
    /// Instructions of the paths that begin at the header: of all iterations but the first of each entry.
    pub instructions: u128,
    /// How many different paths begin there.
    pub paths: usize,
}

/// The loops of `functions` that went round, those with most instructions first. O(total path length).
pub fn collect(paths: PathProfile, functions: &[FuncId]) -> Result<Vec<LoopRow>> {
    let of = functions.par_iter().map(|&f| of_function(paths, f));
    let mut rows = of.collect::<Result<Vec<_>>>()?.concat();
    rows.sort_by_key(|r| (Reverse(r.instructions), r.func, r.header));
    Ok(rows)
}

fn of_function(paths: PathProfile, f: FuncId) -> Result<Vec<LoopRow>> {
    let profile = paths.profile();
    let counts = paths.counts(f);
    if counts.is_empty() {
        return Ok(Vec::new());
    }
    let structure = profile.structure(f)?;
    let mut rows: BTreeMap<BlockId, LoopRow> = BTreeMap::new();
    let mut decoded: Vec<(Path, u64)> = Vec::new();
    for &(id, count) in counts.iter() {
        let edges = profile.decode(f, &structure, id)?;
        decoded.push((structure.paths.dag.path(&edges), count));
    }
    let mut back: BTreeMap<BlockId, u64> = BTreeMap::new();
    for (path, count) in &decoded {
        if let PathEnd::Back(_, to) = path.end {
            *back.entry(to).or_default() += count;
            rows.entry(to).or_insert(LoopRow {
                func: f,
                header: to,
                iterations: 0,
                entries: 0,
                instructions: 0,
                paths: 0,
            });
        }
    }
    for (path, count) in &decoded {
        for b in &path.blocks {
            if let Some(row) = rows.get_mut(b) {
                row.iterations += count;
            }
        }
        let begins = (path.start == PathStart::Loop).then(|| path.blocks[0]);
        if let Some(row) = begins.and_then(|b| rows.get_mut(&b)) {
            let length = |b: &BlockId| u64::from(structure.cfg.block(*b).instructions);
            let length: u64 = path.blocks.iter().map(length).sum();
            row.instructions += u128::from(length) * u128::from(*count);
            row.paths += 1;
        }
    }
    for (header, row) in &mut rows {
        row.entries = row.iterations.saturating_sub(back[header]);
    }
    Ok(rows.into_values().collect())
}
