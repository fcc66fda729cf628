//! A function with the executions of everything in it: what reports of lines, branches and calls are made of.

use super::flow::{EdgeCount, Flow, flow};
use super::left::{Executed, Range};
use super::report::Selection;
use super::{Profile, Structure};
use crate::error::Result;
use crate::index::FuncId;
use crate::ir::Terminator;
use crate::manifest::FunctionEntry;
use rayon::prelude::*;

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

    /// The ways out of each block that has several, in the order of blocks. What cannot be taken is no way: an edge to a block that
    /// is nothing but `unreachable`, like the one on which a `throw` would return.
    pub fn branches(&self) -> impl Iterator<Item = Vec<&(EdgeCount, Range)>> {
        let is_possible = |(e, _): &&(EdgeCount, Range)| {
            let to = self.structure.cfg.block(e.dst);
            e.count > 0 || to.terminator != Terminator::Unreachable || to.instructions > 1
        };
        let blocks = self
            .edges
            .chunk_by(|(a, _), (b, _)| a.edge.block == b.edge.block);
        let ways = blocks.map(move |edges| edges.iter().filter(is_possible).collect::<Vec<_>>());
        ways.filter(|ways| ways.len() > 1)
    }

    /// The selected functions that are profiled, those that never ran too. Near-linear in the total length of the paths.
    ///
    /// # Errors
    /// A damaged profile, or one of estimates.
    pub fn of(profile: &'a Profile, selection: &Selection) -> Result<Vec<CountedFunction<'a>>> {
        let wanted = selection.profiled(profile).into_par_iter();
        wanted.map(|f| CountedFunction::new(profile, f)).collect()
    }
}
