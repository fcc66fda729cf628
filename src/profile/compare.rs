//! `p3-prof compare`: whether two profiles hold the same counts of the same paths.

use super::Profile;
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
    if old.status != new.status {
        return vec![format!("{name}: {:?} against {:?}", old.status, new.status)];
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
