//! Labels on DAG edges → the fewest statements that have their effect (Ball & Larus 1996, §3.3–3.5;
//! `docs/ALGORITHMS.md` §3).
//!
//! Which edges get increments is up to a spanning tree: [`Ends::costs_of_increments`] says where they cost nothing.
//! Along every path the increments sum to its id and the last edge counts it. From that:
//! - counts move up over blocks with one way out, into the edges where the last increments are;
//! - what is known of `r` as a constant is not computed: `r` is set where constants meet, and a
//!   count whose id is known does not read it;
//! - nothing is left on edges from which no count is reached any more.

mod ends;
mod statements;

pub(crate) use ends::Ends;
pub(crate) use statements::Increments;

use super::{HASH_INSTRUCTIONS, Op, Site, SiteCode};
use crate::base::index::{BlockId, CfgEdge, EdgeId, TiSlice, TiVec};
use crate::paths::dag::{Dag, EdgeKind};
use crate::paths::numbering::Numbering;
use std::collections::BTreeMap;

/// What counts cost, before it is known where they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountCosts<'a> {
    numbering: &'a Numbering,
    /// Whether a hash table counts ids outside the window: `c` of `count[r + c]++` takes an addition there, unless it
    /// is 0.
    hashes: bool,
    /// Whether `c` may be too large to be a part of an instruction's address.
    has_large_constants: bool,
}

/// The largest `c` of `8 * c(…)` in an instruction of x86-64, about; other targets have less.
const LARGEST_DISPLACEMENT: u64 = (1 << 28) - 1;

impl<'a> CountCosts<'a> {
    /// Of a function with so many `ids` by `numbering`, where an array counts `slots` of them at most.
    pub(crate) fn new(numbering: &'a Numbering, ids: u64, slots: u64) -> Self {
        CountCosts {
            numbering,
            hashes: ids > slots,
            has_large_constants: ids > LARGEST_DISPLACEMENT,
        }
    }

    /// Whether `c` costs nothing, whatever it is, if paths are counted on `e`.
    fn are_constants_free(&self, e: EdgeId) -> bool {
        !self.hashes || !self.has_large_constants && self.numbering.window_up_to(e).is_some()
    }

    /// What a statement takes, about; a constant id nothing more than a statement, wherever it is counted.
    fn instructions(&self, op: Op) -> f64 {
        match op {
            Op::Count(c) if self.hashes => HASH_INSTRUCTIONS as f64 + f64::from(u8::from(c != 0)),
            Op::CountInWindow(c) if c.unsigned_abs() > LARGEST_DISPLACEMENT => 2.0,
            _ => 1.0,
        }
    }
}

/// The statement on each DAG edge, if any: at most one is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// By edge.
    pub code: TiVec<EdgeId, Option<Op>>,
}

impl Placement {
    /// The statements that run along the path `edges`.
    #[cfg(test)]
    pub(crate) fn hits(&self, edges: &[EdgeId]) -> u64 {
        edges.iter().filter(|e| self.code[**e].is_some()).count() as u64
    }

    /// Expected instructions of all statements under `weights`, by what counts cost.
    pub(crate) fn cost(&self, weights: &TiSlice<EdgeId, f64>, counts: &CountCosts) -> f64 {
        let statements = self.code.iter().zip(weights);
        let costs =
            statements.filter_map(|(op, weight)| Some(weight * counts.instructions((*op)?)));
        costs.sum()
    }

    /// The number of statements.
    #[cfg(test)]
    pub(crate) fn probes(&self) -> usize {
        self.code.iter().flatten().count()
    }

    /// The code by site. The phony pair of a back edge becomes one piece of code: what ends the
    /// old path, then what starts the new one. `foreign_ends` end paths outside `dag`, and lead to where others begin.
    pub(crate) fn sites(&self, dag: &Dag, foreign_ends: &[(CfgEdge, BlockId)]) -> Vec<SiteCode> {
        let code = |e: EdgeId| self.code[e];
        let start = |to: BlockId| dag.loop_start(to).and_then(code);
        let mut sites: BTreeMap<Site, Vec<Op>> = BTreeMap::new();
        for &(end, to) in foreign_ends {
            let then = start(to).map(|op| (Site::Edge(end), vec![op]));
            sites.extend(then);
        }
        for e in dag.edge_ids() {
            let (site, then) = match dag.edge(e).kind {
                EdgeKind::Enter => (Site::Entry, None),
                EdgeKind::LoopStart => continue,
                EdgeKind::Real(c) => (Site::Edge(c), None),
                EdgeKind::Leave => (Site::Exit(dag.block(dag.edge(e).src).expect("block")), None),
                // Where the next path is foreign, it begins outside the DAG.
                EdgeKind::BackEdge(c) => (Site::Edge(c), start(dag.back_target(e))),
            };
            let ops: Vec<Op> = code(e).into_iter().chain(then).collect();
            if !ops.is_empty() {
                sites.insert(site, ops);
            }
        }
        sites
            .into_iter()
            .map(|(site, ops)| SiteCode { site, ops })
            .collect()
    }
}
