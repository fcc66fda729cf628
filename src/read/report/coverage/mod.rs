//! `p3-prof coverage`: of the paths that control flow allows, how many ran; and the nearest that did not.
//!
//! Functions of every status are in the denominator. Those that were skipped ran no path that is known.

mod annotate;
mod by_file;
mod certain;
mod ci;
mod columns;
mod counted;
mod details;
pub mod fresh;
mod function;
mod headline;
mod json_path;
mod mcdc;
mod nearest;
mod never;
mod never_ran;
mod pairs;
mod patch;
mod render;
mod scope;
mod steered;
#[cfg(test)]
mod tests;
mod through;
mod unasked;
mod vectors;
pub mod versus;

pub use annotate::{Annotate, annotate_sources};
pub use ci::{github, markdown};
pub use details::Details;
pub use headline::{LineSums, SourceSums, headline_of};
pub(crate) use mcdc::LineRecords;
pub use mcdc::Mcdc;
pub use patch::{PatchLines, Touched};
pub use render::{csv, json, text};
use scope::LeftOut;
pub use scope::{Scope, Sort, common_folder};

use crate::base::error::Result;
use crate::base::index::{BlockId, FuncId, PathId};
use crate::possible::example::Example;
use crate::possible::solver::Program;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::manifest::Status;
use crate::profile::measurement::PathProfile;
use crate::read::possible::Judge;
use crate::read::report::{Decision, Line};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};

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
    /// The block whose decision would have to go another way than it did: of a patch one on its lines, or else the last
    /// that the path next to it has.
    pub shown: Option<BlockId>,
    /// Values with which it runs, as far as its function is concerned; `None`: not known.
    pub example: Option<Example>,
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
#[derive(Default)]
pub struct FunctionCoverage {
    /// The function.
    pub f: FuncId,
    /// The numbers.
    pub paths: Paths,
    /// Pairs of edges in turn: those that ran, and all.
    pub pairs: Paths,
    /// Those that ran, and all that are at most one decision away from one of them.
    pub near: Paths,
    /// How many paths are left out, since markers in the source say so.
    pub excluded: u128,
    /// How many paths cannot run, since their conditions contradict each other, as far as that is known. They are no
    /// part of `paths`, and neither are those on which a choice that the compiler added contradicts what comes before.
    pub contradictory: u64,
    /// How many of them are near those that ran. In functions with many paths only these are found.
    pub contradictory_near: u64,
    /// Whether one of these paths ran.
    pub ran: bool,
    /// The nearest paths that did not run.
    pub uncovered: Vec<Uncovered>,
    /// How many more were found near those that ran, where some are asked for.
    pub more_uncovered: usize,
    /// How many would have come before some of these, but cannot run, as their code shows ([`Judge`]).
    pub refuted: usize,
    /// How many would have come before some of these, but end the program by `abort`, a failed assertion or the like.
    pub aborting: usize,
    /// Whether it was never entered, and none of its own lines ran inlined elsewhere.
    pub never_ran: bool,
}

/// The coverage of a program.
pub struct Coverage<'a> {
    profile: &'a Profile,
    /// The selected functions, the worst first: those with most paths that did not run.
    pub rows: Vec<FunctionCoverage>,
    /// How many functions were selected.
    pub functions: usize,
    /// How many of them are optimised, and what that means; empty if none is.
    optimised: String,
    /// How many functions are in scope, those too that [`Scope::never_ran`] leaves out.
    pub in_scope: usize,
    /// How many of those never ran.
    pub never_ran: usize,
    /// Whether `rows` are these alone.
    pub lists_never_ran: bool,
    /// Those whose paths are not all told: cut or skipped.
    pub incomplete: Vec<FuncId>,
    /// By source file (by module, without debug information): paths and pairs.
    pub files: BTreeMap<String, (Paths, Paths)>,
    /// All of them.
    pub total: Paths,
    /// Their pairs of edges.
    pub total_pairs: Paths,
    /// Of the functions in which something ran: the paths that ran, and all that are at most one decision away from one
    /// of them. What tests can reach next, where all paths are beyond any test.
    pub near: Paths,
    /// By source file: lines and branches. Without debug information there are none.
    pub lines: LineSums,
    /// The folder that files are named from.
    root: String,
    /// How many paths are left out, since markers in the sources say so.
    pub excluded: u128,
    /// How many of the functions that the selection admits are out of scope.
    out_of_scope: LeftOut,
    /// How many of these functions have no selected path: nothing is known of them.
    pub unselected: usize,
    /// What was asked for, where that is not all paths.
    pub selection: &'a [String],
    /// What is known of a patch, if coverage is that of its lines.
    pub patch: Option<PatchLines>,
    /// The solver that paths which did not run were judged by, if one was.
    pub solver: Option<Program>,
    /// Decisions, if these are asked for.
    pub mcdc: Option<Mcdc>,
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
    judged_coverage(paths, selection, scope, sort, nearest, None)
}

/// Like [`coverage`], but without uncovered paths that `judge` refutes: of the functions that are left after all, so
/// that nothing is judged but what will be printed.
///
/// # Errors
/// A damaged profile.
pub fn judged_coverage<'a>(
    paths: PathProfile<'a>,
    selection: &Selection,
    scope: &Scope,
    sort: Sort,
    nearest: usize,
    judge: Option<&dyn Judge>,
) -> Result<Coverage<'a>> {
    let profile = paths.profile();
    let selected = selection.functions(profile);
    let mut wanted = selected.clone();
    scope.retain_admitted(profile, &mut wanted);
    let out_of_scope = scope.count_left_out(profile, &selected);
    let without_paths: HashSet<FuncId> = profile.unselected_functions().collect();
    let unselected = wanted.iter().filter(|f| without_paths.contains(f)).count();
    wanted.retain(|f| !without_paths.contains(f) || scope.keeps_left_out);
    let touched = scope.touched.as_ref();
    // Code of a file in scope may stand in functions of other files, where it was inlined.
    let counted = touched.map_or(selected, |_| wanted.clone());
    let at_first = if judge.is_some() { 0 } else { nearest };
    let rows = wanted
        .into_par_iter()
        .map(|f| function::cover(paths, f, scope, at_first, None));
    let mut rows: Vec<FunctionCoverage> = rows.collect::<Result<_>>()?;
    let lines = LineSums::new(profile, &counted, scope)?;
    let patch = touched.map(|t| PatchLines::new(profile, t, &rows, &lines));
    // Before rows are left out: paths near executed ones are of all functions in scope.
    let mut near = Paths::default();
    rows.iter().for_each(|r| near.add(&r.near));
    let mut files: BTreeMap<String, (Paths, Paths)> = BTreeMap::new();
    let (mut total, mut total_pairs) = (Paths::default(), Paths::default());
    let excluded = rows.iter().map(|r| r.excluded).sum();
    rows.retain(|r| scope.keeps_left_out || !r.is_left_out());
    for row in &mut rows {
        row.never_ran = lines.never_ran(row.f);
    }
    let in_scope = rows.len();
    let never_ran = rows.iter().filter(|r| r.never_ran).count();
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
    rows.retain(|r| r.never_ran || !scope.never_ran);
    // Sums above are of all rows; from here on rows are left out of the list only.
    let functions = rows.len();
    let optimised = headline::optimised_note(profile, rows.iter().map(|r| r.f));
    rows.truncate(selection.top.unwrap_or(usize::MAX));
    if judge.is_some() && nearest > 0 {
        for row in &mut rows {
            let again = function::cover(paths, row.f, scope, nearest, judge)?;
            row.uncovered = again.uncovered;
            row.more_uncovered = again.more_uncovered;
            row.refuted = again.refuted;
            row.aborting = again.aborting;
        }
    }
    Ok(Coverage {
        profile,
        functions,
        optimised,
        in_scope,
        never_ran,
        lists_never_ran: scope.never_ran,
        incomplete,
        rows,
        files,
        total,
        total_pairs,
        near,
        lines,
        root: scope.root.clone(),
        excluded,
        out_of_scope,
        unselected,
        selection: &profile.manifest.paths,
        patch,
        solver: judge.and_then(Judge::solver).cloned(),
        mcdc: None,
    })
}

/// The file that a function begins in, or its module.
fn file(profile: &Profile, f: FuncId) -> String {
    match profile.entry(f).find_start() {
        Some(loc) => profile.manifest.files[loc.file as usize].clone(),
        None => profile.module(f).to_string(),
    }
}

impl FunctionCoverage {
    /// Whether markers leave out all of it.
    pub fn is_left_out(&self) -> bool {
        self.paths.feasible == 0 && self.excluded > 0
    }
}
