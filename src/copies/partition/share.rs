//! What every copy profiles of every function.

use super::{Ranges, Side};
use crate::base::index::{CopyId, EdgeId, FuncId, IdSet, TiVec};
use crate::paths::dag::Dag;
use crate::paths::function::FunctionInput;

/// Something that one copy will profile.
#[derive(Clone, Debug)]
pub struct Task {
    /// The function, or the first of several that must stay together.
    pub unit: FuncId,
    /// The edges of its paths; `None` is the whole unit.
    pub edges: Option<IdSet<EdgeId>>,
    /// What profiling it costs, in a unit that the scheme chooses.
    pub cost: u64,
}

/// What the copies profile of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// It is skipped, or no path of it is selected.
    Nothing,
    /// One copy profiles all paths, under Ball–Larus ids.
    Whole(CopyId),
    /// Each of these copies (ascending) profiles the paths inside its edge set, under the ids of
    /// PSPP, or of Ball–Larus when the set holds all edges.
    Split(Vec<(CopyId, IdSet<EdgeId>)>),
    /// Copies profile these paths, under ids of their versions of the function ([`super::Local`]).
    Ranges(Ranges),
    /// Each of these copies (ascending) profiles the paths inside its edge set, under ids of versions of the function
    /// in which all other paths run no statement.
    Inside(Vec<(CopyId, IdSet<EdgeId>)>),
    /// One copy profiles all paths but those inside this set of edges of [`super::Iterations`], in such versions.
    Outside(CopyId, IdSet<EdgeId>),
}

/// What one copy profiles of a function.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// All paths.
    All,
    /// The paths inside these edges.
    Edges(&'a IdSet<EdgeId>),
    /// The paths in the ranges of this copy.
    Ranges(&'a Ranges, CopyId),
    /// The paths on one side of a set of edges, in versions.
    Side(Side<'a>),
}

impl<'a> Part<'a> {
    /// The paths inside `edges`.
    pub fn of_edges(edges: &'a IdSet<EdgeId>) -> Part<'a> {
        if edges.is_full() {
            Part::All
        } else {
            Part::Edges(edges)
        }
    }
}

impl Share {
    /// The copies that profile some of it, ascending, and what.
    pub fn parts(&self) -> Vec<(CopyId, Part<'_>)> {
        match self {
            Share::Nothing => Vec::new(),
            Share::Whole(copy) => vec![(*copy, Part::All)],
            Share::Split(sets) => sets
                .iter()
                .map(|(c, set)| (*c, Part::of_edges(set)))
                .collect(),
            Share::Ranges(ranges) => {
                let copies = ranges.copies().into_iter();
                copies.map(|c| (c, Part::Ranges(ranges, c))).collect()
            }
            Share::Inside(sets) => {
                let part = |set| Part::Side(Side::Inside(set));
                sets.iter().map(|(c, set)| (*c, part(set))).collect()
            }
            Share::Outside(c, set) => vec![(*c, Part::Side(Side::Outside(set)))],
        }
    }

    /// Whether all paths are counted, by some copy each. O(edges · copies).
    pub fn counts_all(&self, dag: &Dag) -> bool {
        match self {
            Share::Nothing | Share::Outside(..) => false,
            Share::Whole(_) => true,
            Share::Ranges(ranges) => ranges.count_all(),
            Share::Split(sets) | Share::Inside(sets) => {
                let mut all = dag.edge_set();
                sets.iter().for_each(|(_, set)| all.union_with(set));
                all.is_full()
            }
        }
    }

    /// What `copy` profiles of it.
    pub fn part_of_copy(&self, copy: CopyId) -> Option<Part<'_>> {
        let mut parts = self.parts().into_iter();
        parts.find(|&(c, _)| c == copy).map(|(_, part)| part)
    }

    /// The lowest copy that profiles some of it.
    pub fn first_copy(&self) -> Option<CopyId> {
        self.parts().first().map(|&(copy, _)| copy)
    }
}

/// The outcome of partitioning and distribution.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// By function.
    pub shares: Vec<Share>,
    /// Cost of what each copy was given.
    pub load: TiVec<CopyId, u64>,
    /// By function: the number of tasks; two or more: profitable.
    pub tasks: Vec<u32>,
}

/// What the copies profile of `f`, given its unit's tasks and their copies.
pub(super) fn share(f: &FunctionInput, tasks: &[(CopyId, &Task)]) -> Share {
    if f.skip.is_some() {
        return Share::Nothing;
    }
    let mut sets: Vec<(CopyId, IdSet<EdgeId>)> = Vec::new();
    for (copy, task) in tasks {
        let Some(edges) = &task.edges else {
            return Share::Whole(*copy);
        };
        match sets.iter_mut().find(|(c, _)| c == copy) {
            Some((_, set)) => set.union_with(edges),
            None => sets.push((*copy, edges.clone())),
        }
    }
    sets.sort_by_key(|&(c, _)| c);
    match sets.as_slice() {
        [(copy, _)] => Share::Whole(*copy),
        _ => Share::Split(sets),
    }
}
