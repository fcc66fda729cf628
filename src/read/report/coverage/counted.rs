//! The paths of a function that a profile counted: what coverage is of. Of others nothing is known, so they are
//! neither covered nor uncovered.

use super::Paths;
use super::through::Through;
use crate::base::error::Result;
use crate::base::index::{EdgeId, FuncId, IdSet, PathId};
use crate::copies::selection::CountedPaths;
use crate::paths::dag::Dag;
use crate::paths::function::Measuring;
use crate::profile::measurement::PathProfile;
use crate::profile::{Ran, Structure};
use std::collections::HashSet;

/// What was counted of a function.
pub(super) struct Counted {
    paths: CountedPaths,
    /// The paths of earlier profiles that were not counted, with their edges: all that were not, where the counted
    /// set is what lies outside of known paths.
    unselected: Vec<(PathId, Vec<EdgeId>)>,
    certain: Option<IdSet<EdgeId>>,
}

impl Counted {
    /// O(V + E), and the length of known paths.
    pub(super) fn new(profile: PathProfile, f: FuncId, structure: &Structure) -> Result<Counted> {
        let paths = profile.counted_paths(f, structure)?;
        let mut unselected = Vec::new();
        if let CountedPaths::Outside(_) = paths {
            for id in &profile.entry(f).known {
                let edges = profile.decode(f, structure, *id)?;
                if !paths.contain_path(&edges) {
                    unselected.push((*id, edges));
                }
            }
        }
        let certain = (!paths.are_all()).then(|| paths.certain_edges(&structure.paths));
        Ok(Counted {
            paths,
            unselected,
            certain,
        })
    }

    /// Whether all paths are counted.
    pub(super) fn are_all(&self) -> bool {
        self.paths.are_all()
    }

    /// The edges that all counted paths stay inside, if that is what says which are counted.
    pub(super) fn edges_inside(&self, dag: &Dag) -> Option<IdSet<EdgeId>> {
        match &self.paths {
            CountedPaths::Nothing => Some(dag.edge_set()),
            CountedPaths::Inside(set) => Some(set.clone()),
            _ => None,
        }
    }

    /// Where not all paths are counted: the edges of which all are.
    pub(super) fn certain_edges(&self) -> Option<&IdSet<EdgeId>> {
        self.certain.as_ref()
    }

    /// Whether a path is counted.
    pub(super) fn contain_path(&self, paths: &Measuring, id: PathId) -> bool {
        self.paths.are_all() || self.paths.contain_id(paths, id)
    }

    /// `numbers` of paths without those that were not counted and are not known to have run.
    pub(super) fn without_unselected(
        &self,
        numbers: Paths,
        executed: &[Ran],
        through: &Through,
    ) -> Paths {
        let ran: HashSet<PathId> = executed.iter().map(|r| r.id).collect();
        let is_left_out =
            |(id, edges): &&(PathId, Vec<EdgeId>)| !ran.contains(id) && through.admits_path(edges);
        let left_out = self.unselected.iter().filter(is_left_out).count() as u128;
        Paths {
            feasible: numbers.feasible - left_out,
            ..numbers
        }
    }
}
