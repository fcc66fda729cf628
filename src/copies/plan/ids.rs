//! The ids under which a copy counts a function's paths, and the control flow that they are about.
//!
//! Both what makes a plan ([`super::build`]) and what proves it ([`super::check`]) begin here; neither reads the other.

use crate::base::index::{BlockId, CfgEdge, EdgeId, IdSet, LocalId, PathId, VertexId};
use crate::copies::partition::{Local, Part};
use crate::input::ir::Cfg;
use crate::paths::dag::Dag;
use crate::paths::function::Measuring;
use crate::paths::numbering::{Numbering, pspp};
use crate::paths::versions::Versions;
use crate::paths::weights::Weights;
use std::borrow::Cow;

/// The control flow that ids are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    /// The function's own, or that of its versions.
    pub cfg: &'a Cfg,
    /// Its DAG.
    pub dag: &'a Dag,
    /// The edges of the paths of interest, if not all are.
    pub interesting: Option<&'a IdSet<EdgeId>>,
    /// The versions, if there are any.
    pub versions: Option<&'a Versions>,
    /// The vertices from which paths may go on outside the DAG, as foreign ones.
    pub open: Option<&'a IdSet<VertexId>>,
    /// The edges that end paths outside the DAG, and where the next one begins.
    pub foreign_ends: &'a [(CfgEdge, BlockId)],
}

/// The ids that a copy counts under.
#[derive(Clone, Debug)]
pub(crate) enum Ids<'a> {
    /// The canonical ones.
    Canonical(&'a Numbering),
    /// Others of the same paths: those of PSPP, or by ends.
    Own(Numbering),
    /// Those of the versions of its blocks.
    Local(Box<Local>),
}

impl Ids<'_> {
    /// What they are about, given what they are made from ([`choose_ids`]).
    pub(crate) fn ground_of_ids<'a>(
        &'a self,
        cfg: &'a Cfg,
        paths: &'a Measuring,
        part: Part<'a>,
    ) -> Ground<'a> {
        let own = Ground {
            cfg,
            dag: &paths.dag,
            interesting: None,
            versions: None,
            open: None,
            foreign_ends: &[],
        };
        match self {
            Ids::Canonical(_) => own,
            Ids::Own(_) => Ground {
                interesting: match part {
                    Part::Edges(set) => Some(set),
                    _ => None,
                },
                ..own
            },
            Ids::Local(local) => Ground {
                cfg: &local.versions.cfg,
                dag: &local.dag,
                interesting: local.interesting.as_ref(),
                versions: Some(&local.versions),
                open: Some(&local.open),
                foreign_ends: &local.foreign_ends,
            },
        }
    }

    /// Those of versions, if blocks have any.
    pub(super) fn version_ids(&self) -> Option<&Local> {
        match self {
            Ids::Local(local) => Some(local),
            _ => None,
        }
    }

    /// Expected executions of the edges that they are about.
    pub(crate) fn weights<'p>(&self, paths: &'p Measuring) -> Cow<'p, Weights> {
        match self {
            Ids::Local(local) => Cow::Owned(local.weights(paths)),
            _ => Cow::Borrowed(&paths.weights),
        }
    }

    /// The labels whose sums they are.
    pub(crate) fn numbering(&self) -> &Numbering {
        match self {
            Ids::Canonical(numbering) => numbering,
            Ids::Own(numbering) => numbering,
            Ids::Local(local) => &local.numbering,
        }
    }

    /// The id under which the path along `edges`, a path of interest, is counted; `None` where it is foreign and runs
    /// free.
    #[cfg(test)]
    pub(crate) fn local(&self, edges: &[EdgeId]) -> Option<LocalId> {
        let id = match self {
            Ids::Local(local) => local.numbering.id(&local.path(edges)?),
            _ => self.numbering().id(edges),
        };
        Some(LocalId(id))
    }

    /// The canonical id of the path of `paths` that is counted under `id`; `None` when no path of interest is.
    pub(crate) fn canonical_id(&self, paths: &Measuring, id: LocalId) -> Option<PathId> {
        match self {
            Ids::Canonical(numbering) => (id.0 < numbering.total()).then_some(PathId(id.0)),
            Ids::Own(numbering) => {
                let edges = numbering.decode(&paths.dag, id.0)?;
                Some(paths.id(&edges))
            }
            Ids::Local(local) => local.canonical_id(paths, id),
        }
    }
}

/// Chooses ids for the paths in `part`. O(E log E).
///
/// Those of versions ([`Local`]) where there are any. Else for all paths Ball–Larus ids, or ids by ends where an array
/// has no room for them (`docs/ALGORITHMS.md` §9), and PSPP's for a subset (§4).
pub(crate) fn choose_ids<'a>(cfg: &Cfg, paths: &'a Measuring, part: Part) -> Ids<'a> {
    match (Local::new(cfg, paths, part), part) {
        (Some(local), _) => Ids::Local(Box::new(local)),
        (None, Part::Edges(set)) => Ids::Own(pspp(&paths.dag, set)),
        (None, _) => match paths.number_by_ends(cfg) {
            Some(numbering) => Ids::Own(numbering),
            None => Ids::Canonical(&paths.numbering),
        },
    }
}
