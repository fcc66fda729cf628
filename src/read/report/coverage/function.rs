//! The coverage of one function.

use super::counted::Counted;
use super::nearest::{self, NotRun};
use super::never;
use super::pairs::pairs;
use super::steered::{self, Possible};
use super::through::Through;
use super::{FunctionCoverage, Near, Paths, Scope, Touched, Uncovered};
use crate::base::error::Result;
use crate::base::index::{BlockId, EdgeId, FuncId, IdSet, PathId, TiSlice};
use crate::paths::dag::Dag;
use crate::paths::function::Measuring;
use crate::possible::example::Example;
use crate::profile::manifest::FunctionEntry;
use crate::profile::measurement::PathProfile;
use crate::profile::{Ran, Structure};
use crate::read::analysis::contradiction::{Contradictions, Impossible, count_all_but};
use crate::read::possible::Judge;
use crate::read::report::line;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// So many suggested paths of a function are judged, and as many more as are asked for.
const MOST_JUDGED: usize = 512;
/// So many paths are looked at where none next to executed ones can run.
const MOST_FARTHER: usize = 4096;
/// So many are judged at once, at least.
const BATCH: usize = 8;

/// A function, and which of its paths count.
struct CoveredFunction<'a> {
    profile: PathProfile<'a>,
    f: FuncId,
    entry: &'a FunctionEntry,
    structure: &'a Structure,
    executed: Vec<Ran>,
    /// The paths that the profile counted.
    counted: Counted,
    /// Those through lines of a patch, and not through what markers leave out.
    through: Through<'a>,
    /// Whether both are all paths.
    is_everything: bool,
    contradictions: Contradictions<'a>,
    /// The patch that coverage is of.
    touched: Option<&'a Touched>,
    /// The blocks that markers leave out.
    excluded: &'a IdSet<BlockId>,
    /// Who says which paths cannot run.
    judge: Option<&'a dyn Judge>,
}

/// Paths that did not run, to be suggested.
#[derive(Default)]
struct Suggested {
    uncovered: Vec<Uncovered>,
    /// How many more there are.
    more: usize,
    /// How many were left out, since they cannot run.
    refuted: usize,
    /// How many were left out, since they end the program by `abort` or the like.
    aborting: usize,
}

/// What was found of paths that were judged.
#[derive(Default)]
struct Judged {
    refuted: usize,
    aborting: usize,
    /// Values with which others run.
    examples: HashMap<PathId, Example>,
}

/// The coverage of function `f`, with at most `nearest` paths that did not run, none of which `judge` refutes.
/// Near-linear in the length of executed paths; the search for others is bounded.
///
/// # Errors
/// A damaged profile.
pub(super) fn cover(
    profile: PathProfile,
    f: FuncId,
    scope: &Scope,
    nearest: usize,
    judge: Option<&dyn Judge>,
) -> Result<FunctionCoverage> {
    let touched = scope.touched.as_ref();
    let blocks = touched.map(|t| t.blocks(&profile, f, &scope.markers));
    let blocks = blocks.as_ref();
    let excluded = &scope.excluded_blocks(&profile, f);
    let entry = profile.entry(f);
    let is_generated = |b| entry.is_generated(b);
    if entry.status.is_skipped() {
        let dag = &crate::paths::function::Paths::new(&entry.cfg()).dag;
        // Nothing was counted, but all its paths are possible: a function that is left out must not raise the rate.
        let through = Through::new(dag, blocks, excluded);
        return Ok(FunctionCoverage {
            f,
            paths: through.paths(&[]),
            pairs: pairs(dag, is_generated, &[], &through, None),
            excluded: count_excluded(dag, blocks, excluded),
            ..FunctionCoverage::default()
        });
    }
    let structure = &profile.structure(f)?;
    let dag = &structure.paths.dag;
    let counted = Counted::new(profile, f, structure)?;
    let is_everything = blocks.is_none() && excluded.iter().next().is_none() && counted.are_all();
    let function = CoveredFunction {
        profile,
        f,
        entry,
        structure,
        executed: profile.executed_paths(f, structure)?,
        through: Through::paths_inside(dag, blocks, excluded, counted.edges_inside(dag)),
        counted,
        is_everything,
        contradictions: Contradictions::new(entry),
        touched,
        excluded,
        judge,
    };
    let (executed, through) = (&function.executed, &function.through);
    let (paths, impossible) = function.count_paths();
    let Possible {
        near,
        contradictory: contradictory_near,
    } = function.find_near();
    // Where nothing ran, nothing is one decision away.
    let next = if paths.executed == 0 { 0 } else { near.len() };
    let suggested = function.explain(near, nearest)?;
    Ok(FunctionCoverage {
        f,
        paths,
        pairs: pairs(
            dag,
            is_generated,
            executed,
            through,
            function.counted.certain_edges(),
        ),
        near: Paths {
            executed: paths.executed,
            feasible: paths.executed + next as u128,
        },
        excluded: count_excluded(dag, blocks, excluded),
        contradictory: impossible.by_source,
        contradictory_near,
        ran: paths.executed > 0,
        uncovered: suggested.uncovered,
        more_uncovered: suggested.more,
        refuted: suggested.refuted,
        aborting: suggested.aborting,
        never_ran: false,
    })
}

/// How many paths markers leave out.
fn count_excluded(dag: &Dag, blocks: Option<&IdSet<BlockId>>, excluded: &IdSet<BlockId>) -> u128 {
    let all = Through::new(dag, blocks, &IdSet::with_capacity(0));
    all.number() - Through::new(dag, blocks, excluded).number()
}

impl CoveredFunction<'_> {
    fn paths(&self) -> &Measuring {
        &self.structure.paths
    }

    fn is_counted(&self, id: PathId) -> bool {
        self.counted.contain_path(self.paths(), id)
    }

    fn is_possible(&self, id: PathId) -> bool {
        self.is_counted(id) && self.contradictions.allow_path(self.paths(), id)
    }

    fn admits_path(&self, id: PathId) -> bool {
        let edges = self.paths().decode(id);
        self.is_counted(id) && edges.is_some_and(|edges| self.through.admits_path(&edges))
    }

    /// The paths that count and are one decision away from an executed one, those first that have fewest new edges.
    fn find_near(&self) -> Possible {
        // Looking at each edge of each is dear, and nothing is left out where all paths are asked for.
        let mut near = if self.is_everything {
            nearest::find_nearest(self.paths(), &self.executed, usize::MAX)
        } else {
            nearest::find_admitted(self.paths(), &self.executed, &self.through)
        };
        near.retain(|path| self.is_counted(path.id));
        let function = (self.paths(), self.entry);
        let admits = |id| self.admits_path(id);
        steered::divide_possible(near, function, &self.contradictions, &self.executed, admits)
    }

    /// How many paths ran and how many there are, without those that cannot run; and how many these are.
    fn count_paths(&self) -> (Paths, Impossible) {
        let executed = &self.executed;
        let all = self.through.paths(executed);
        let mut paths = self
            .counted
            .without_unselected(all, executed, &self.through);
        let ids: HashSet<PathId> = executed.iter().map(|e| e.id).collect();
        let is_missing = |id| !ids.contains(&id) && self.admits_path(id);
        let all_missing = count_all_but(ids.iter().copied());
        let count_missing = |range: Range<u64>| {
            if self.is_everything {
                all_missing(range)
            } else {
                range.filter(|id| is_missing(PathId(*id))).count() as u64
            }
        };
        let impossible = self.contradictions.count(self.paths(), count_missing);
        paths.feasible -= u128::from(impossible.all);
        (paths, impossible)
    }

    /// The first `most` of the paths that did not run, of which `near` are next to executed ones; and how many more
    /// there are. Of a patch, those come first on which one of its decisions has an outcome that never came up.
    fn explain(&self, mut near: Vec<NotRun>, most: usize) -> Result<Suggested> {
        if most == 0 {
            return Ok(Suggested::default());
        }
        let dag = &self.paths().dag;
        let is_possible = |id| self.is_possible(id);
        let decisions = never::decisions(dag, self.entry, &self.executed);
        let mut never_taken = Vec::new();
        if let Some(touched) = self.touched {
            let is_touched = |b| touched.contains_decision(self.entry, b);
            never_taken = never::never_taken(dag, &decisions, is_touched);
            let search = never::Search {
                entry: self.entry,
                paths: self.paths(),
                executed: &self.executed,
                excluded: self.excluded,
                inside: self.counted.edges_inside(dag),
            };
            near = search.put_first(&never_taken, near, is_possible);
        }
        if near.is_empty() && !self.is_everything {
            let (executed, through) = (&self.executed, &self.through);
            let first = nearest::first_not_run(self.paths(), executed, through, is_possible);
            near.extend(first);
        }
        let mut judged = Judged::default();
        let known: HashSet<PathId> = near.iter().map(|found| found.id).collect();
        self.leave_out_refuted(&mut near, most, &mut judged);
        if near.is_empty() && !known.is_empty() {
            near = self.find_farther(&known);
            self.leave_out_refuted(&mut near, most, &mut judged);
            near.truncate(most);
        }
        let more = near.len().saturating_sub(most);
        let described = near.into_iter().take(most);
        let described = described.map(|found| {
            let example = judged.examples.remove(&found.id);
            self.describe(found, example, &never_taken, &decisions)
        });
        Ok(Suggested {
            uncovered: described.collect::<Result<_>>()?,
            more,
            refuted: judged.refuted,
            aborting: judged.aborting,
        })
    }

    /// Some paths that did not run and are none of `known`, for where none of these can run: those first that have
    /// fewest edges that never ran. O(paths that are looked at · length).
    fn find_farther(&self, known: &HashSet<PathId>) -> Vec<NotRun> {
        let ran: HashSet<PathId> = self.executed.iter().map(|e| e.id).collect();
        let edges: HashSet<EdgeId> = self.executed.iter().flat_map(|e| e.edges.clone()).collect();
        let others = self.paths().ids().take(MOST_FARTHER);
        let others = others.filter(|id| {
            !ran.contains(id)
                && !known.contains(id)
                && self.is_possible(*id)
                && self.admits_path(*id)
        });
        let mut found: Vec<NotRun> = others
            .map(|id| NotRun {
                id,
                near: None,
                new_edges: self.paths().decode(id).map_or(0, |path| {
                    path.iter().filter(|e| !edges.contains(e)).count() as u32
                }),
            })
            .collect();
        nearest::sort(&mut found);
        found
    }

    /// Leaves out paths that cannot run or abort, until the first `most` are none of these. Those behind them are not
    /// judged, nor are more than a limit.
    fn leave_out_refuted(&self, near: &mut Vec<NotRun>, most: usize, judged: &mut Judged) {
        let Some(judge) = self.judge else { return };
        let dag = &self.paths().dag;
        let limit = MOST_JUDGED.saturating_add(most);
        let (mut kept, mut asked) = (Vec::new(), 0);
        let mut open = std::mem::take(near).into_iter();
        while kept.len() < most && asked < limit {
            let wanted = (most - kept.len()).max(BATCH).min(limit - asked);
            let batch: Vec<NotRun> = open.by_ref().take(wanted).collect();
            if batch.is_empty() {
                break;
            }
            asked += batch.len();
            let paths = batch.iter().map(|found| {
                let edges = self
                    .paths()
                    .decode(found.id)
                    .expect("a path of the function");
                dag.path(&edges)
            });
            let verdicts = judge.judge(self.f, &paths.collect::<Vec<_>>());
            for (found, verdict) in batch.into_iter().zip(verdicts) {
                if verdict.is_refuted {
                    judged.refuted += 1;
                } else if verdict.aborts {
                    judged.aborting += 1;
                } else {
                    kept.push(found);
                    if let Some(example) = verdict.example {
                        judged.examples.insert(found.id, example);
                    }
                }
            }
        }
        kept.extend(open);
        *near = kept;
    }

    /// A path that did not run. `decisions` are the executions of edges where the source asks.
    fn describe(
        &self,
        found: NotRun,
        example: Option<Example>,
        never_taken: &[EdgeId],
        decisions: &TiSlice<EdgeId, u64>,
    ) -> Result<Uncovered> {
        let dag = &self.paths().dag;
        let path = line(&self.profile, self.structure, (self.f, found.id, 0))?;
        let edges = self.profile.decode(self.f, self.structure, found.id)?;
        let never = edges.iter().find(|e| never_taken.contains(e));
        let new =
            never::edges_with_questions(dag, self.entry, &edges).filter(|e| decisions[*e] == 0);
        let new_edges = found.new_edges.max(new.count() as u32);
        let parts = found.near.and_then(|n| n.common.checked_sub(1));
        let near = found
            .near
            .map(|n| describe_near(self.profile, self.f, self.structure, n));
        Ok(Uncovered {
            shown: never
                .and_then(|e| dag.block(dag.edge(*e).src))
                .or(parts.map(|i| path.path.blocks[i])),
            path,
            near: near.transpose()?,
            new_edges,
            example,
        })
    }
}

/// An executed path that was found, described.
pub(super) fn describe_near(
    profile: PathProfile,
    f: FuncId,
    structure: &Structure,
    found: nearest::Near,
) -> Result<Near> {
    let path = line(&profile, structure, (f, found.id, found.count))?;
    let last = found.common.checked_sub(1).map(|i| path.path.blocks[i]);
    let parts = path.decisions.into_iter().find(|d| Some(d.block) == last);
    Ok(Near {
        id: found.id,
        count: found.count,
        common: found.common,
        parts,
    })
}
