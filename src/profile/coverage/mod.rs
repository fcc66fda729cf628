//! `p3-prof coverage`: of the paths that control flow allows, how many ran; and the nearest that did not.
//!
//! Functions of every status are in the denominator. Those that were skipped ran no path that is known.

mod nearest;
mod pairs;
mod render;
mod scope;
#[cfg(test)]
mod tests;

pub use render::{csv, github, json, markdown, text};
pub use scope::{Scope, Sort};

use super::measurement::PathProfile;
use super::report::{Decision, Line, Selection, line};
use super::{Profile, Structure};
use crate::error::Result;
use crate::index::{FuncId, PathId};
use crate::manifest::{FunctionEntry, Status};
use crate::paths::FunctionPaths;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Numbers of paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Different paths that ran.
    pub executed: u128,
    /// Paths that the control flow allows.
    pub feasible: u128,
}

impl Paths {
    fn add(&mut self, more: &Paths) {
        self.executed += more.executed;
        self.feasible += more.feasible;
    }
}

/// A path that did not run, next to one that did.
pub struct Uncovered {
    /// The path.
    pub path: Line,
    /// The executed path that it shares most with, how often that ran, and where they part: the number of blocks
    /// that they have in common from their start; 0 where they start at different places.
    pub near: Option<Near>,
    /// How many of its edges never ran: 0 where only the combination is new.
    pub new_edges: u32,
}

/// An executed path next to one that did not run.
pub struct Near {
    /// Its id.
    pub id: PathId,
    /// How often it ran.
    pub count: u64,
    /// Their common blocks from the start.
    pub common: usize,
    /// The way that it takes where they part.
    pub parts: Option<Decision>,
}

/// The coverage of one function.
pub struct FunctionCoverage {
    /// The function.
    pub f: FuncId,
    /// The numbers.
    pub paths: Paths,
    /// Pairs of edges in turn: those that ran, and all.
    pub pairs: Paths,
    /// Whether a path of it ran.
    pub ran: bool,
    /// The nearest paths that did not run.
    pub uncovered: Vec<Uncovered>,
}

/// The coverage of a program.
pub struct Coverage<'a> {
    profile: &'a Profile,
    /// The selected functions, the worst first: those with most paths that did not run.
    pub rows: Vec<FunctionCoverage>,
    /// How many functions were selected.
    pub functions: usize,
    /// Those whose paths are not all told: cut or skipped.
    pub incomplete: Vec<FuncId>,
    /// By source file (by module, without debug information): paths and pairs.
    pub files: BTreeMap<String, (Paths, Paths)>,
    /// All of them.
    pub total: Paths,
    /// Their pairs of edges.
    pub total_pairs: Paths,
    /// How many of the functions that the selection admits are out of scope.
    pub out_of_scope: usize,
}

/// The coverage of the selected functions, with at most `nearest` uncovered paths for each. Near-linear in the
/// executed paths' length; the search for uncovered ones is bounded.
///
/// # Errors
/// A damaged profile.
pub fn coverage<'a>(
    paths: PathProfile<'a>,
    selection: &Selection,
    scope: &Scope,
    sort: Sort,
    nearest: usize,
) -> Result<Coverage<'a>> {
    let profile = paths.profile();
    let mut wanted = selection.functions(profile);
    let selected = wanted.len();
    wanted.retain(|f| scope.admits(profile, *f));
    let out_of_scope = selected - wanted.len();
    let rows = wanted.into_par_iter().map(|f| row(paths, f, nearest));
    let mut rows: Vec<FunctionCoverage> = rows.collect::<Result<_>>()?;
    let mut files: BTreeMap<String, (Paths, Paths)> = BTreeMap::new();
    let (mut total, mut total_pairs) = (Paths::default(), Paths::default());
    for row in &rows {
        let of_file = files.entry(file(profile, row.f)).or_default();
        of_file.0.add(&row.paths);
        of_file.1.add(&row.pairs);
        total.add(&row.paths);
        total_pairs.add(&row.pairs);
    }
    let exact = |f: &FuncId| profile.entry(*f).status == Status::Exact;
    let incomplete = rows.iter().map(|r| r.f).filter(|f| !exact(f)).collect();
    sort.sort(profile, &mut rows);
    let functions = rows.len();
    rows.truncate(selection.top.unwrap_or(usize::MAX));
    Ok(Coverage {
        profile,
        functions,
        incomplete,
        rows,
        files,
        total,
        total_pairs,
        out_of_scope,
    })
}

/// The file that a function begins in, or its module.
fn file(profile: &Profile, f: FuncId) -> String {
    match profile.entry(f).loc {
        Some(loc) => profile.manifest.files[loc.file as usize].clone(),
        None => profile.module(f).to_string(),
    }
}

fn row(profile: PathProfile, f: FuncId, nearest: usize) -> Result<FunctionCoverage> {
    let entry = profile.entry(f);
    if entry.status.is_skipped() {
        let (paths, pairs) = skipped(entry);
        return Ok(FunctionCoverage {
            f,
            paths,
            pairs,
            ran: false,
            uncovered: Vec::new(),
        });
    }
    let structure = profile.structure(f)?;
    let executed = profile.counts(f).len();
    let paths = Paths {
        executed: executed as u128,
        feasible: u128::from(structure.paths.numbering.total()),
    };
    let uncovered = match nearest {
        0 => Vec::new(),
        n => uncovered(profile, f, &structure, n)?,
    };
    let pairs = pairs::pairs(&structure.paths.dag, &profile.ran(f, &structure)?);
    Ok(FunctionCoverage {
        f,
        paths,
        pairs,
        ran: executed > 0,
        uncovered,
    })
}

/// The paths and pairs of a function that is not profiled, as far as its control flow is known: none of them ran.
fn skipped(entry: &FunctionEntry) -> (Paths, Paths) {
    let paths = FunctionPaths::new(&entry.cfg());
    let all = Paths {
        executed: 0,
        feasible: u128::from(paths.numbering.total()),
    };
    (all, pairs::pairs(&paths.dag, &[]))
}

fn uncovered(
    profile: PathProfile,
    f: FuncId,
    structure: &Structure,
    most: usize,
) -> Result<Vec<Uncovered>> {
    let executed = profile.ran(f, structure)?;
    let found = nearest::nearest(&structure.paths, &executed, most);
    let described = found.into_iter().map(|found| {
        Ok(Uncovered {
            path: line(&profile, structure, (f, found.id, 0))?,
            near: found
                .near
                .map(|n| near(profile, f, structure, n))
                .transpose()?,
            new_edges: found.new_edges,
        })
    });
    described.collect()
}

/// An executed path that was found, described.
fn near(profile: PathProfile, f: FuncId, structure: &Structure, n: nearest::Near) -> Result<Near> {
    let path = line(&profile, structure, (f, n.id, n.count))?;
    let last = n.common.checked_sub(1).map(|i| path.path.blocks[i]);
    let parts = path.decisions.into_iter().find(|d| Some(d.block) == last);
    Ok(Near {
        id: n.id,
        count: n.count,
        common: n.common,
        parts,
    })
}
