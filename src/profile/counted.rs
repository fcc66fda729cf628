//! A function with the executions of everything in it: what reports of lines, branches and calls are made of.

use super::flow::{EdgeCount, Flow, flow};
use super::left::{Executed, Range};
use super::report::Selection;
use super::{Profile, Structure};
use crate::error::Result;
use crate::index::FuncId;
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

    /// The selected functions that are profiled, those that never ran too. Near-linear in the total length of the paths.
    ///
    /// # Errors
    /// A damaged profile, or one of estimates.
    pub fn of(profile: &'a Profile, selection: &Selection) -> Result<Vec<CountedFunction<'a>>> {
        let wanted = selection.profiled(profile).into_par_iter();
        wanted.map(|f| CountedFunction::new(profile, f)).collect()
    }
}
