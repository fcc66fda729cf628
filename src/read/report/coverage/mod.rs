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
mod headline;
mod json_path;
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
pub mod versus;

pub use annotate::{Annotate, annotated};
pub use ci::{github, markdown};
pub use details::Details;
pub use headline::{LineSums, SourceSums, headline_of};
pub use patch::Touched;
pub use render::{csv, json, text};
use scope::LeftOut;
pub use scope::{Scope, Sort, common_folder};

use crate::base::error::Result;
use crate::base::index::{BlockId, EdgeId, FuncId, IdSet, PathId, TiSlice};
use crate::paths::dag::Dag;
use crate::profile::filter::Selection;
use crate::profile::manifest::Status;
use crate::profile::measurement::PathProfile;
use crate::profile::{Profile, Structure};
use crate::read::analysis::contradiction::{Contradictions, count_all_but};
use crate::read::report::positions::base_name;
use crate::read::report::{Decision, Line, line};
use counted::Counted;
use rayon::prelude::*;
use serde::Serialize;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::path::Path;
use through::Through;

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
}

/// The lines that a patch touched.
#[derive(Serialize)]
pub struct PatchLines {
    /// Those in files of the program.
    pub lines: usize,
    /// Those of them with code, in scope.
    pub code: usize,
    /// Those of them that ran.
    pub ran: usize,
    /// Those of them of which it is not known whether they ran.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown: usize,
    /// Files of the patch that are none of the program's.
    #[serde(rename = "other_files")]
    pub elsewhere: Vec<String>,
    /// Hunks that only remove lines.
    pub removals: usize,
    /// Where conditions on these lines have no branch, as `file:line`: no path tells their outcome.
    pub branchless: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &usize) -> bool {
    *n == 0
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
    let selected = selection.functions(profile);
    let mut wanted = selected.clone();
    scope.retain_admitted(profile, &mut wanted);
    let out_of_scope = scope.count_left_out(profile, &selected);
    let without_paths: HashSet<FuncId> = profile.unselected().collect();
    let unselected = wanted.iter().filter(|f| without_paths.contains(f)).count();
    wanted.retain(|f| !without_paths.contains(f) || scope.keeps_left_out);
    let touched = scope.touched.as_ref();
    // Code of a file in scope may stand in functions of other files, where it was inlined.
    let counted = touched.map_or(selected, |_| wanted.clone());
    let rows = wanted
        .into_par_iter()
        .map(|f| row(paths, f, scope, nearest));
    let mut rows: Vec<FunctionCoverage> = rows.collect::<Result<_>>()?;
    let lines = LineSums::new(profile, &counted, scope)?;
    let patch = touched.map(|t| patch_lines(profile, t, &rows, &lines));
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
    let functions = rows.len();
    let optimised = headline::optimised_note(profile, rows.iter().map(|r| r.f));
    rows.truncate(selection.top.unwrap_or(usize::MAX));
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
    })
}

/// The file that a function begins in, or its module.
fn file(profile: &Profile, f: FuncId) -> String {
    match profile.entry(f).begins() {
        Some(loc) => profile.manifest.files[loc.file as usize].clone(),
        None => profile.module(f).to_string(),
    }
}

fn row(profile: PathProfile, f: FuncId, scope: &Scope, nearest: usize) -> Result<FunctionCoverage> {
    let touched = scope.touched.as_ref();
    let blocks = touched.map(|t| t.blocks(&profile, f, &scope.markers));
    let excluded = scope.excluded(&profile, f);
    let entry = profile.entry(f);
    if entry.status.is_skipped() {
        let paths = crate::paths::function::Paths::new(&entry.cfg());
        let through = Through::new(&paths.dag, blocks.as_ref(), &excluded);
        return Ok(FunctionCoverage {
            f,
            paths: through.paths(&[]),
            pairs: pairs::pairs(&paths.dag, |b| entry.is_generated(b), &[], &through, None),
            near: Paths::default(),
            excluded: left_out(&paths.dag, blocks.as_ref(), &excluded),
            contradictory: 0,
            contradictory_near: 0,
            ran: false,
            uncovered: Vec::new(),
            more_uncovered: 0,
            never_ran: false,
        });
    }
    let structure = profile.structure(f)?;
    let executed = profile.ran(f, &structure)?;
    let dag = &structure.paths.dag;
    let counted = Counted::new(profile, f, &structure)?;
    let through = Through::inside(dag, blocks.as_ref(), &excluded, counted.inside(dag));
    let is_everything = blocks.is_none() && excluded.iter().next().is_none() && counted.are_all();
    let contradictions = Contradictions::new(entry);
    let is_counted = |id| counted.contain(&structure.paths, id);
    let is_possible = |id| is_counted(id) && contradictions.allow(&structure.paths, id);
    // Looking at each edge of each is dear, and nothing is left out where all paths are asked for.
    let mut near = if is_everything {
        nearest::nearest(&structure.paths, &executed, usize::MAX)
    } else {
        nearest::admitted(&structure.paths, &executed, &through)
    };
    near.retain(|path| is_counted(path.id));
    let admits = |id| {
        let edges = structure.paths.decode(id);
        is_counted(id) && edges.is_some_and(|edges| through.admits(&edges))
    };
    let of_function = (&structure.paths, entry);
    let possible = steered::possible(near, of_function, &contradictions, &executed, admits);
    let (mut near, contradictory_near) = (possible.near, possible.contradictory);
    let next = near.len() as u128;
    let decisions = LazyCell::new(|| never::decisions(dag, entry, &executed));
    let never_taken =
        |touched: &Touched| never::never_taken(dag, &decisions, |b| touched.decides(entry, b));
    if let Some(touched) = touched.filter(|_| nearest > 0) {
        let search = never::Search {
            entry,
            paths: &structure.paths,
            executed: &executed,
            excluded: &excluded,
            inside: counted.inside(dag),
        };
        near = search.put_first(&never_taken(touched), near, is_possible);
    }
    let mut more_uncovered = 0;
    let uncovered = match nearest {
        0 => Vec::new(),
        n => {
            if near.is_empty() && !is_everything {
                near.extend(nearest::first_not_run(
                    &structure.paths,
                    &executed,
                    &through,
                    is_possible,
                ));
            }
            more_uncovered = near.len().saturating_sub(n);
            let never = touched.map_or(Vec::new(), never_taken);
            uncovered(
                profile,
                f,
                &structure,
                &never,
                &decisions,
                near.into_iter().take(n),
            )?
        }
    };
    let mut paths = counted.without_unselected(through.paths(&executed), &executed, &through);
    let ids: HashSet<PathId> = executed.iter().map(|e| e.id).collect();
    let is_missing = |id| !ids.contains(&id) && admits(id);
    let all_missing = count_all_but(ids.iter().copied());
    let count_missing = |range: Range<u64>| {
        if is_everything {
            all_missing(range)
        } else {
            range.filter(|id| is_missing(PathId(*id))).count() as u64
        }
    };
    let impossible = contradictions.count(&structure.paths, count_missing);
    paths.feasible -= u128::from(impossible.all);
    // Where nothing ran, nothing is one decision away.
    let next = if paths.executed == 0 { 0 } else { next };
    Ok(FunctionCoverage {
        f,
        contradictory: impossible.by_source,
        contradictory_near,
        paths,
        pairs: pairs::pairs(
            dag,
            |b| entry.is_generated(b),
            &executed,
            &through,
            counted.certain(),
        ),
        near: Paths {
            executed: paths.executed,
            feasible: paths.executed + next,
        },
        excluded: left_out(dag, blocks.as_ref(), &excluded),
        ran: paths.executed > 0,
        uncovered,
        more_uncovered,
        never_ran: false,
    })
}

/// How many paths markers leave out.
fn left_out(dag: &Dag, blocks: Option<&IdSet<BlockId>>, excluded: &IdSet<BlockId>) -> u128 {
    let all = Through::new(dag, blocks, &IdSet::with_capacity(0));
    all.number() - Through::new(dag, blocks, excluded).number()
}

impl Coverage<'_> {
    /// The files of a patch that may be sources of the program by their extension, if the profile has no file of the
    /// patch. A patch of other files, like pages, has none. O(files).
    pub fn missed_sources(&self) -> Vec<&str> {
        let Some(patch) = self.patch.as_ref().filter(|patch| patch.lines == 0) else {
            return Vec::new();
        };
        let extension = |file: &str| Path::new(file).extension().map(|e| e.to_owned());
        let files = self.profile.manifest.files.iter();
        let known: HashSet<_> = files.filter_map(|f| extension(f)).collect();
        let elsewhere = patch.elsewhere.iter().map(String::as_str);
        let may_be_source = |f: &&str| extension(f).is_some_and(|e| known.contains(&e));
        elsewhere.filter(may_be_source).collect()
    }
}

impl FunctionCoverage {
    /// Whether markers leave out all of it.
    pub fn is_left_out(&self) -> bool {
        self.paths.feasible == 0 && self.excluded > 0
    }
}

/// What became of the lines of a patch in all functions, those too of functions that were skipped.
fn patch_lines(
    profile: &Profile,
    touched: &Touched,
    rows: &[FunctionCoverage],
    lines: &LineSums,
) -> PatchLines {
    let name = |file: u32| profile.manifest.files[file as usize].as_str();
    let known = lines.files.iter().flat_map(|(file, sums)| {
        let all = sums.known.iter().chain(&sums.unknown);
        all.map(move |line| (file.as_str(), *line))
    });
    let mut code: BTreeSet<(&str, u32)> = known.collect();
    let ran = lines.lines().executed as usize;
    for row in rows {
        let entry = profile.entry(row.f);
        if entry.status.is_skipped() {
            let spans = entry.succs.keys().flat_map(|b| entry.spans(b));
            let touched = spans.filter(|span| touched.contains(span.loc));
            code.extend(touched.map(|span| (name(span.loc.file), span.loc.line)));
        }
    }
    PatchLines {
        lines: touched.number(),
        code: code.len(),
        ran,
        unknown: lines.count_unknown() as usize,
        elsewhere: touched.elsewhere.clone(),
        removals: touched.removals,
        branchless: branchless_places(profile, touched, rows),
    }
}

/// Where functions choose without a branch on touched lines: each line once, ascending.
fn branchless_places(
    profile: &Profile,
    touched: &Touched,
    rows: &[FunctionCoverage],
) -> Vec<String> {
    let sites = |row: &FunctionCoverage| profile.entry(row.f).branchless_sites();
    let locs = rows.iter().flat_map(sites).map(|site| site.loc);
    let on_touched = locs.filter(|loc| touched.contains(*loc));
    let lines: BTreeSet<(u32, u32)> = on_touched.map(|loc| touched.place(loc)).collect();
    let name = |file: u32| base_name(&profile.manifest.files[file as usize]);
    let place = |(file, line): (u32, u32)| format!("{}:{line}", name(file));
    lines.into_iter().map(place).collect()
}

fn uncovered(
    profile: PathProfile,
    f: FuncId,
    structure: &Structure,
    never_taken: &[EdgeId],
    decisions: &TiSlice<EdgeId, u64>,
    found: impl Iterator<Item = nearest::NotRun>,
) -> Result<Vec<Uncovered>> {
    let dag = &structure.paths.dag;
    let described = found.map(|found| {
        let path = line(&profile, structure, (f, found.id, 0))?;
        let edges = profile.decode(f, structure, found.id)?;
        let never = edges.iter().find(|e| never_taken.contains(e));
        let new = never::asked(dag, profile.entry(f), &edges).filter(|e| decisions[*e] == 0);
        let new_edges = found.new_edges.max(new.count() as u32);
        let parts = found.near.and_then(|n| n.common.checked_sub(1));
        Ok(Uncovered {
            shown: never
                .and_then(|e| dag.block(dag.edge(*e).src))
                .or(parts.map(|i| path.path.blocks[i])),
            path,
            near: found
                .near
                .map(|n| near(profile, f, structure, n))
                .transpose()?,
            new_edges,
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
