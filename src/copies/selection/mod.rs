//! Only the paths asked for: what a function's profile is to hold, and what it holds.
//!
//! Two sets of paths must not be confused:
//!
//! - a [`Selection`] is what somebody *asked for*: `--paths` and `--patch` resolve to one selection for each function;
//! - [`CountedPaths`] is what the copies *count*: every selected path, and possibly more, because copies count sets of
//!   paths that edges describe. Counts are exact for all of them. A path outside is *not selected*: nothing is known
//!   of it, and it must never be reported as a path that did not run.
//!
//! `CountedPaths` follows from the share of a function, so the manifest stores nothing twice.

mod assign;
mod counted;
mod known;
mod outside;
mod ranges;

#[cfg(test)]
mod tests;

#[cfg(feature = "llvm")]
pub(crate) use assign::{assign, weigh};
pub(crate) use counted::CountedPaths;

use crate::base::index::{EdgeId, FuncId, IdSet, PathId, TiVec};
use crate::paths::dag::{paths_inside, useful_edges};
use crate::paths::function::Paths;
use serde::{Deserialize, Serialize};

/// The selection of each function of a program.
pub(crate) type Selections = TiVec<FuncId, Selection>;

/// What was asked for, of a whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// As on the command line; not empty.
    pub specs: Vec<String>,
    /// What that is.
    pub selections: Selections,
}

/// A path that an earlier profile has seen, and how often it ran there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KnownPath(pub PathId, pub u64);

/// The paths of one function that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// No path.
    Nothing,
    /// All paths.
    All,
    /// The paths whose edges are all in this set of the function's DAG (the interesting paths of P3, §2.1).
    Edges(IdSet<EdgeId>),
    /// These paths alone; ascending.
    Paths(Vec<PathId>),
    /// All paths but these; ascending by id.
    Known(Vec<KnownPath>),
}

impl Selection {
    /// Whether the path with this id along `edges` was asked for. O(edges), or O(log n) of n listed paths.
    pub fn selects_path(&self, id: PathId, edges: &[EdgeId]) -> bool {
        match self {
            Selection::Nothing => false,
            Selection::All => true,
            Selection::Edges(set) => edges.iter().all(|e| set.contains(*e)),
            Selection::Paths(ids) => ids.binary_search(&id).is_ok(),
            Selection::Known(known) => known.binary_search_by_key(&id, |k| k.0).is_err(),
        }
    }

    /// The number of selected paths. O(V + E).
    pub fn number(&self, paths: &Paths) -> u64 {
        let total = paths.numbering.total();
        match self {
            Selection::Nothing => 0,
            Selection::All => total,
            Selection::Edges(set) => paths_inside(&paths.dag, set),
            Selection::Paths(ids) => ids.len() as u64,
            Selection::Known(known) => total - known.len() as u64,
        }
    }

    /// What one of the two selects. Where one is a set of edges and the other is not, the result may select more: the
    /// union of two sets of edges closes over paths that mix them.
    pub fn union(self, other: Selection, paths: &Paths) -> Selection {
        use Selection::{All, Edges, Known, Nothing, Paths};
        match (self, other) {
            (Nothing, one) | (one, Nothing) => one,
            (All, _) | (_, All) => All,
            (Edges(mut set), Edges(more)) => {
                set.union_with(&more);
                Edges(set)
            }
            (Paths(mut ids), Paths(more)) => {
                ids.extend(more);
                ids.sort_unstable();
                ids.dedup();
                Paths(ids)
            }
            (Known(known), other) | (other, Known(known)) => {
                let selected = |k: &KnownPath| {
                    let edges = paths.decode(k.0).unwrap_or_default();
                    other.selects_path(k.0, &edges)
                };
                let rest = known.into_iter().filter(|k| !selected(k));
                Known(rest.collect())
            }
            (Edges(mut set), Paths(ids)) | (Paths(ids), Edges(mut set)) => {
                set.extend(
                    ids.iter()
                        .flat_map(|id| paths.decode(*id).unwrap_or_default()),
                );
                Edges(set)
            }
        }
    }

    /// The selection in its simplest form: `Nothing` where no path is selected, `All` where all are, and a set of
    /// edges without those that lie on no selected path. O(V + E).
    pub fn simplify(self, paths: &Paths) -> Selection {
        match self.number(paths) {
            0 => Selection::Nothing,
            n if n == paths.numbering.total() => Selection::All,
            _ => match self {
                Selection::Edges(set) => Selection::Edges(useful_edges(&paths.dag, &set)),
                other => other,
            },
        }
    }
}
