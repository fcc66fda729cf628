//! A function with the executions of everything in it: what reports of lines, branches and calls are made of.

use crate::error::Result;
use crate::index::{BlockId, CfgEdge, FuncId};
use crate::ir::Terminator;
use crate::manifest::FunctionEntry;
use crate::profile::filter::Selection;
use crate::profile::flow::{EdgeCount, Flow, flow};
use crate::profile::left::{Executed, Range};
use crate::profile::{Profile, Structure};
use rayon::prelude::*;
use std::collections::HashMap;

/// A function and the executions of everything in it.
pub struct CountedFunction<'a> {
    /// The function.
    pub f: FuncId,
    /// What the manifest has of it.
    pub entry: &'a FunctionEntry,
    /// Its control flow and its paths.
    pub structure: Structure,
    /// What completed paths add up to.
    pub flow: Flow,
    /// The same with what was left before its end.
    pub executed: Executed,
    /// The edges of `executed`.
    pub edges: Vec<(EdgeCount, Range)>,
}

impl<'a> CountedFunction<'a> {
    fn new(profile: &'a Profile, f: FuncId) -> Result<Self> {
        let structure = profile.structure(f)?;
        let flow = flow(profile, f, &structure)?;
        let executed = Executed::new(profile, f, &structure, &flow);
        Ok(CountedFunction {
            f,
            entry: profile.entry(f),
            edges: executed.edges(&structure),
            structure,
            flow,
            executed,
        })
    }

    /// The ways out of each block that has several, in the order of blocks, each with the executions in which the block asked
    /// something: without those whose way followed from where control came from ([`FunctionEntry::implied`]). An edge to a
    /// block that is nothing but `unreachable`, like the one on which a `throw` would return, is no way. O(edges).
    pub fn decisions(&self) -> impl Iterator<Item = (BlockId, Vec<(EdgeCount, Range)>)> + '_ {
        let mut implied: HashMap<CfgEdge, u64> = HashMap::new();
        for (e, _) in &self.edges {
            if let Some(succ) = self.entry.implied(e.dst, e.edge.block) {
                let block = e.dst;
                let sum = implied.entry(CfgEdge { block, succ }).or_default();
                *sum = sum.saturating_add(e.count);
            }
        }
        let is_possible = |(e, _): &&(EdgeCount, Range)| {
            let to = self.structure.cfg.block(e.dst);
            e.count > 0 || to.terminator != Terminator::Unreachable || to.instructions > 1
        };
        let blocks = self
            .edges
            .chunk_by(|(a, _), (b, _)| a.edge.block == b.edge.block);
        let asked = move |&(e, range): &(EdgeCount, Range)| {
            let less = implied.get(&e.edge).copied().unwrap_or(0);
            let count = e.count.saturating_sub(less);
            (EdgeCount { count, ..e }, range)
        };
        let ways = blocks.map(move |ways| {
            let possible = ways.iter().filter(is_possible).map(&asked);
            (ways[0].0.edge.block, possible.collect::<Vec<_>>())
        });
        ways.filter(|(_, ways)| ways.len() > 1)
    }

    /// The selected functions that are profiled, those that never ran too. Near-linear in the total length of the paths.
    ///
    /// # Errors
    /// A damaged profile, or one of estimates.
    pub fn find_selected(
        profile: &'a Profile,
        selection: &Selection,
    ) -> Result<Vec<CountedFunction<'a>>> {
        let wanted = selection.profiled(profile).into_par_iter();
        wanted.map(|f| CountedFunction::new(profile, f)).collect()
    }
}
