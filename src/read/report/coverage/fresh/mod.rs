//! `coverage --new`: the paths that a run reached first, with the pairs of edges and the lines that no known path
//! has, and the known path nearest to each.

mod render;
#[cfg(test)]
mod tests;

pub use render::{csv, github, json, markdown, text};

use super::function::describe_near;
use super::nearest::Near as Nearest;
use super::{Near, Scope};
use crate::base::error::Result;
use crate::base::index::{BlockId, EdgeId, FuncId, PathId, TiSlice};
use crate::profile::filter::Selection;
use crate::profile::measurement::PathProfile;
use crate::profile::merge::origins::Origin;
use crate::profile::{Profile, Structure};
use crate::read::report::{Line, line};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The paths that earlier runs have seen, by function, with counts where these are known.
pub type KnownPaths = TiSlice<FuncId, BTreeMap<PathId, u64>>;

/// A line of a source file, by the file's number.
type SourceLine = (u32, u32);

/// A path that ran and that no earlier run has seen.
pub struct NewPath {
    /// The path.
    pub path: Line,
    /// The known path that it has most blocks in common with from the start.
    pub near: Option<Near>,
    /// How many pairs of edges in turn are on it and on no known path of its function.
    pub pairs: usize,
    /// The lines that are on it and on no known path of the program, each with its file.
    pub lines: BTreeSet<SourceLine>,
    /// What took it; nothing until somebody finds out.
    pub reached_by: ReachedBy,
}

/// What took a new path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReachedBy {
    /// The profiles that have it, where there are several.
    pub programs: Vec<String>,
    /// The runs that took it, by test and arguments, as far as raw profiles tell.
    pub runs: Vec<Origin>,
}

/// What a run reached first.
pub struct Fresh<'a> {
    profile: &'a Profile,
    /// The new paths, the most executed first.
    pub paths: Vec<NewPath>,
    /// How many paths ran that are known.
    pub again: usize,
    /// Pairs of edges that no known path has.
    pub pairs: usize,
    /// Lines that no known path has.
    pub lines: BTreeSet<SourceLine>,
}

/// What ran in the functions that `selection` and `scope` admit and is not `known`.
/// O(length of executed and of known paths).
///
/// # Errors
/// A damaged profile.
pub fn find_new<'a>(
    profile: PathProfile<'a>,
    known: &KnownPaths,
    selection: &Selection,
    scope: &Scope,
) -> Result<Fresh<'a>> {
    let mut wanted = selection.profiled_functions(&profile);
    scope.retain_admitted(&profile, &mut wanted);
    let mut fresh = Fresh {
        profile: profile.profile(),
        paths: Vec::new(),
        again: 0,
        pairs: 0,
        lines: BTreeSet::new(),
    };
    let ran = |f: &FuncId| !profile.counts(*f).is_empty();
    let mut old_lines = BTreeSet::new();
    for f in profile.functions().filter(|f| !known[*f].is_empty()) {
        old_lines.extend(lines_of(&profile, f, known[f].keys())?);
    }
    for f in wanted.into_iter().filter(ran) {
        fresh.add(profile, f, &known[f], &old_lines)?;
    }
    let order = |p: &NewPath| (std::cmp::Reverse(p.path.count), p.path.func, p.path.id);
    fresh.paths.sort_by_key(order);
    Ok(fresh)
}

/// The lines of blocks on these paths of `f`.
fn lines_of<'i>(
    profile: &Profile,
    f: FuncId,
    ids: impl Iterator<Item = &'i PathId>,
) -> Result<BTreeSet<SourceLine>> {
    let structure = profile.structure(f)?;
    let dag = &structure.paths.dag;
    let mut blocks: BTreeSet<BlockId> = BTreeSet::new();
    for id in ids {
        let edges = profile.decode(f, &structure, *id)?;
        blocks.extend(edges.iter().filter_map(|e| dag.block(dag.edge(*e).dst)));
    }
    let spans = blocks.iter().flat_map(|b| profile.entry(f).spans(*b));
    Ok(spans.map(|s| (s.loc.file, s.loc.line)).collect())
}

impl Fresh<'_> {
    fn add(
        &mut self,
        profile: PathProfile,
        f: FuncId,
        known: &BTreeMap<PathId, u64>,
        old_lines: &BTreeSet<SourceLine>,
    ) -> Result<()> {
        let counts = profile.counts(f).iter();
        let (again, new): (Vec<_>, Vec<_>) = counts.partition(|(id, _)| known.contains_key(id));
        self.again += again.len();
        if new.is_empty() {
            return Ok(());
        }
        let structure = profile.structure(f)?;
        let mut old_pairs = HashSet::new();
        for id in known.keys() {
            old_pairs.extend(pairs(&profile.decode(f, &structure, *id)?));
        }
        let mut new_pairs = HashSet::new();
        for &(id, count) in new {
            let edges = profile.decode(f, &structure, id)?;
            let own: HashSet<_> = pairs(&edges).filter(|p| !old_pairs.contains(p)).collect();
            let path = line(&profile, &structure, (f, id, count))?;
            let lines = path.locs.iter().map(|l| (l.file, l.line));
            let lines: BTreeSet<_> = lines.filter(|l| !old_lines.contains(l)).collect();
            let nearest = find_nearest(&profile, f, &structure, (id, &edges), known)?;
            let near = nearest
                .map(|n| describe_near(profile, f, &structure, n))
                .transpose()?;
            self.lines.extend(&lines);
            self.paths.push(NewPath {
                path,
                near,
                pairs: own.len(),
                lines,
                reached_by: ReachedBy::default(),
            });
            new_pairs.extend(own);
        }
        self.pairs += new_pairs.len();
        Ok(())
    }
}

/// Edges in turn.
fn pairs(edges: &[EdgeId]) -> impl Iterator<Item = (EdgeId, EdgeId)> {
    edges.windows(2).map(|pair| (pair[0], pair[1]))
}

/// The known path with the longest beginning in common. Paths that begin alike have consecutive ids, so it is the
/// known path before or behind, by id; of equal ones the former.
fn find_nearest(
    profile: &Profile,
    f: FuncId,
    structure: &Structure,
    (id, edges): (PathId, &[EdgeId]),
    known: &BTreeMap<PathId, u64>,
) -> Result<Option<Nearest>> {
    let before = known.range(..id).next_back();
    let behind = known.range(id..).next();
    let mut best: Option<Nearest> = None;
    for (&id, &count) in before.into_iter().chain(behind) {
        let other = profile.decode(f, structure, id)?;
        let common = edges.iter().zip(&other).take_while(|(a, b)| a == b).count();
        if best.is_none_or(|b| b.common < common) {
            best = Some(Nearest { id, count, common });
        }
    }
    Ok(best)
}
