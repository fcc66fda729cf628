//! `p3-prof compare`: whether two profiles hold the same counts of the same paths, or of the same edges
//! where one of them counts edges.

use super::Profile;
use super::edges::flow;
use crate::error::Result;
use crate::index::{FuncId, PathId};
use std::collections::{BTreeMap, BTreeSet};

/// What names a function in both profiles: module, name, ordinal in the module.
type Key<'a> = (&'a str, &'a str, u32);

/// The differences, one line each: functions that only one profile knows or whose control flow
/// differs, then paths. Scheme, number of copies and statistics do not matter. O(paths).
pub fn compare<'a>(a: &'a Profile, b: &'a Profile) -> impl Iterator<Item = String> + 'a {
    let (left, right) = (functions(a), functions(b));
    let keys: BTreeSet<Key> = left.keys().chain(right.keys()).copied().collect();
    keys.into_iter()
        .flat_map(move |key| match (left.get(&key), right.get(&key)) {
            (Some(&f), Some(&g)) => compare_function(a, f, b, g),
            (Some(_), None) => vec![format!("{}: only in {}", key.1, a.path.display())],
            _ => vec![format!("{}: only in {}", key.1, b.path.display())],
        })
}

fn functions(p: &Profile) -> BTreeMap<Key<'_>, FuncId> {
    let key = |f: FuncId| {
        (
            p.module(f),
            p.entry(f).name.as_str(),
            p.entry(f).bodies[0].ordinal,
        )
    };
    (0..p.manifest.functions.len())
        .map(FuncId::new)
        .map(|f| (key(f), f))
        .collect()
}

fn compare_function(a: &Profile, f: FuncId, b: &Profile, g: FuncId) -> Vec<String> {
    let (old, new) = (a.entry(f), b.entry(g));
    let name = &old.name;
    if old.succs != new.succs || old.terminators != new.terminators || old.cuts != new.cuts {
        return vec![format!("{name}: different control flow")];
    }
    let edges = a.counts_edges() || b.counts_edges();
    if old.status != new.status && !edges {
        return vec![format!("{name}: {:?} against {:?}", old.status, new.status)];
    }
    if edges {
        return compare_edges(a, f, b, g).unwrap_or_else(|e| vec![e.to_string()]);
    }
    let left: BTreeMap<PathId, u64> = a.counts[f.index()].iter().copied().collect();
    let right: BTreeMap<PathId, u64> = b.counts[g.index()].iter().copied().collect();
    let ids: BTreeSet<PathId> = left.keys().chain(right.keys()).copied().collect();
    let count = |side: &BTreeMap<PathId, u64>, id| side.get(&id).copied().unwrap_or(0);
    let both = ids
        .into_iter()
        .map(|id| (id, count(&left, id), count(&right, id)));
    both.filter(|(_, n, m)| n != m)
        .map(|(id, n, m)| format!("{name}, path {id}: {n} against {m}"))
        .collect()
}

/// Entries and edges, where one of the profiles counts edges.
fn compare_edges(a: &Profile, f: FuncId, b: &Profile, g: FuncId) -> Result<Vec<String>> {
    let skipped = |p: &Profile, f| p.entry(f).status.is_skipped();
    let name = &a.entry(f).name;
    match (skipped(a, f), skipped(b, g)) {
        (true, true) => return Ok(Vec::new()),
        (false, false) => {}
        _ => return Ok(vec![format!("{name}: skipped in one of them")]),
    }
    let (left, right) = (a.structure(f)?, b.structure(g)?);
    let (old, new) = (flow(a, f, &left)?, flow(b, g, &right)?);
    let mut differences = Vec::new();
    if old.entry != new.entry {
        let (n, m) = (old.entry, new.entry);
        differences.push(format!("{name}, entries: {n} against {m}"));
    }
    for (x, y) in old.edges(&left).iter().zip(new.edges(&right)) {
        if x.count != y.count {
            let (edge, n, m) = (x.edge, x.count, y.count);
            differences.push(format!("{name}, edge {edge}: {n} against {m}"));
        }
    }
    Ok(differences)
}
