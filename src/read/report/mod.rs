//! The paths of a profile for people and programs: one file for each format.

pub mod accuracy;
pub mod coverage;
pub mod csv;
pub mod diff;
pub mod edges;
pub mod export;
pub mod figures;
pub mod hits;
pub mod html;
pub mod json;
pub mod loops;
mod outside;
pub(crate) mod positions;
pub mod programs;
pub mod simulated;
pub mod steps;
pub mod text;
pub mod threads;
mod time;
mod truth;
pub mod words;

use crate::base::error::Result;
use crate::base::index::{BlockId, CfgEdge, FuncId, PathId};
use crate::base::rows::Table;
use crate::input::ir::{Cfg, Loc};
use crate::paths::dag::{Path, PathEnd};
use crate::profile::filter::{Order, Selection};
use crate::profile::flow::flow;
use crate::profile::left::Executed;
use crate::profile::measurement::PathProfile;
use crate::profile::{Profile, Structure};
use crate::read::analysis::contradiction::{Contradictions, count_all_but};
use crate::read::analysis::samples::time::Time;
use crate::read::source::Sources;
use rayon::prelude::*;
use std::collections::HashMap;
use words::Words;

/// Whether a number is left out of JSON that has it only where it says something.
fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

/// The first columns of CSV with a row for each function, path or edge: the `function` of a row, in its profile.
pub(crate) fn function_columns<'a, R: 'a>(
    function: impl Fn(&R) -> (&'a Profile, FuncId) + Copy + 'a,
) -> Table<'a, R> {
    let entry = move |row: &R| {
        let (profile, f) = function(row);
        (profile.module(f).to_string(), profile.entry(f).name.clone())
    };
    Table::new()
        .csv("module", move |row| entry(row).0)
        .csv("function", move |row| entry(row).1)
}

/// A path that ran, ready to be shown.
pub struct Line {
    /// The function.
    pub func: FuncId,
    /// Its canonical id.
    pub id: PathId,
    /// How often it ran.
    pub count: u64,
    /// Where it runs.
    pub path: Path,
    /// Instructions in its blocks.
    pub instructions: u64,
    /// Source positions along it, repeats folded.
    pub locs: Vec<Loc>,
    /// The inlined call that each of these is in: an index into [`crate::profile::manifest::Manifest::inlined`].
    pub inlined: Vec<Option<u32>>,
    /// At each of its blocks with several ways out: where it is, and the way taken.
    pub decisions: Vec<Decision>,
}

/// A way taken.
pub struct Decision {
    /// The blocks before on the path, the last one first, up to one from which control may also go elsewhere.
    pub before: Vec<BlockId>,
    /// The block.
    pub block: BlockId,
    /// The successor's ordinal.
    pub succ: u32,
    /// Where control goes.
    pub to: To,
    /// What the edge is called.
    pub taken: String,
}

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// The next block of the path that debug information places somewhere; the next one, if there is none.
    Block(BlockId),
    /// Back to a loop's header, if no other block comes before that.
    Back(BlockId),
}

/// A block of a path.
pub struct BlockStep<'a> {
    /// The block.
    pub block: BlockId,
    /// Its last source position.
    pub loc: Option<Loc>,
    /// What the edge taken from it is called, where there is a choice.
    pub taken: Option<&'a str>,
}

impl Line {
    /// The blocks along the path, in `profile`.
    pub fn steps<'a>(&'a self, profile: &'a Profile) -> impl Iterator<Item = BlockStep<'a>> {
        let entry = profile.entry(self.func);
        let mut decisions = self.decisions.iter().peekable();
        self.path.blocks.iter().map(move |&block| BlockStep {
            block,
            loc: entry.spans(block).next_back().map(|s| s.loc),
            taken: decisions
                .next_if(|d| d.block == block)
                .map(|d| d.taken.as_str()),
        })
    }
}

/// What a report shows, and the sums that shares refer to.
pub struct Report<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The functions that were selected, in the manifest's order.
    pub functions: Vec<FuncId>,
    /// Whether these functions were asked for, be they all.
    pub are_asked_for: bool,
    /// The paths that were selected, hottest first.
    pub lines: Vec<Line>,
    /// How many paths of the selected functions ran.
    pub distinct: usize,
    /// How many paths of the whole profile ran.
    pub total_distinct: usize,
    /// Executed paths of the whole profile.
    pub total_paths: u128,
    /// Executed instructions of the whole profile, as far as paths were completed.
    pub total_instructions: u128,
    /// Of the selected functions, in order, those with activations that were left before their end, and how many.
    pub left: Vec<(FuncId, u64)>,
    /// What was executed of each function that ran.
    pub by_function: HashMap<FuncId, Totals>,
    /// The calls of code that was not profiled by function, where they are known.
    calls: HashMap<FuncId, outside::Calls>,
    /// The loops of the selected functions, if they were asked for.
    pub loops: Vec<loops::LoopRow>,
    /// The threads of the program, where they are told apart, if they were asked for.
    pub threads: Vec<threads::ThreadRow>,
    /// The source files that decisions are told by.
    pub sources: Sources,
    /// Where time went, if a profiler's samples are given.
    pub time: Option<Time>,
}

impl<'a> Report<'a> {
    /// Collects what `selection` admits. O(total path length).
    pub fn new(paths: PathProfile<'a>, selection: &Selection) -> Result<Report<'a>> {
        let profile = paths.profile();
        let functions = selection.functions(profile);
        let ran: Vec<FuncId> = profile.executed_functions().collect();
        let totals = ran.par_iter().map(|&f| totals(paths, f));
        let totals: Vec<(Totals, Option<outside::Calls>)> = totals.collect::<Result<_>>()?;
        let (totals, calls): (Vec<Totals>, Vec<_>) = totals.into_iter().unzip();
        let calls = ran
            .iter()
            .zip(calls)
            .filter_map(|(f, calls)| Some((*f, calls?)));
        let mut hottest = match selection.order {
            Order::Count => rank_paths(paths, &functions),
            Order::Instructions => {
                let ranked = rank_by_instructions(paths, &functions)?;
                ranked.into_iter().map(|(path, _)| path).collect()
            }
        };
        let distinct = hottest.len();
        hottest.truncate(selection.top.unwrap_or(usize::MAX));
        let lines = lines(profile, &hottest)?;
        Ok(Report {
            lines,
            left: count_abandoned(profile, &functions)?,
            by_function: ran.iter().copied().zip(totals.iter().copied()).collect(),
            calls: calls.collect(),
            loops: Vec::new(),
            threads: Vec::new(),
            sources: Sources::without_files(),
            time: None,
            profile,
            functions,
            are_asked_for: selection.function.is_some(),
            distinct,
            total_distinct: paths.all_counts().count(),
            total_paths: totals.iter().map(|t| t.paths).sum(),
            total_instructions: totals.iter().map(|t| t.instructions).sum(),
        })
    }

    /// This report, with the loops of the selected functions.
    pub fn with_loops(self, paths: PathProfile) -> Result<Report<'a>> {
        let loops = loops::collect(paths, &self.functions)?;
        Ok(Report { loops, ..self })
    }

    /// Adds the threads of the program. O(total path length).
    ///
    /// # Errors
    /// A damaged profile.
    pub fn with_threads(self, paths: PathProfile) -> Result<Report<'a>> {
        let threads = threads::collect(paths)?;
        Ok(Report { threads, ..self })
    }

    /// This report, with decisions in the words of `sources`.
    pub fn with_sources(self, sources: Sources) -> Report<'a> {
        Report { sources, ..self }
    }

    /// This report, with the time that samples show beside instructions.
    pub fn with_time(self, time: Option<Time>) -> Report<'a> {
        Report { time, ..self }
    }

    /// The words for its decisions.
    pub fn words(&self) -> Words<'_> {
        Words::new(self.profile, &self.sources)
    }

    /// Executed paths and instructions of the selected functions.
    pub fn sum_selected(&self) -> (u128, u128) {
        let ran = self
            .functions
            .iter()
            .filter_map(|f| self.by_function.get(f));
        ran.fold((0, 0), |sum, of| {
            (sum.0 + of.paths, sum.1 + of.instructions)
        })
    }

    /// A line's share of all executed paths.
    pub fn path_share(&self, line: &Line) -> f64 {
        line.count as f64 / self.total_paths.max(1) as f64
    }

    /// A line's share of all executed instructions.
    pub fn instruction_share(&self, line: &Line) -> f64 {
        let own = line.count as f64 * line.instructions as f64;
        own / self.total_instructions.max(1) as f64
    }
}

/// Function, id and count of the paths of `functions`, by descending count, then order.
fn rank_paths(paths: PathProfile, functions: &[FuncId]) -> Vec<(FuncId, PathId, u64)> {
    let of = |&f: &FuncId| paths.counts(f).iter().map(move |&(id, n)| (f, id, n));
    let mut hottest: Vec<_> = functions.iter().flat_map(of).collect();
    hottest.sort_by_key(|&(f, id, n)| (std::cmp::Reverse(n), f, id));
    hottest
}

/// A path of a function and its count.
pub(crate) type CountedPath = (FuncId, PathId, u64);

/// The paths of `functions` and the instructions executed on each, most first; of equal ones those that ran more often,
/// then in order. O(total path length).
///
/// # Errors
/// A damaged profile.
pub(crate) fn rank_by_instructions(
    paths: PathProfile,
    functions: &[FuncId],
) -> Result<Vec<(CountedPath, u128)>> {
    let hottest = rank_paths(paths, functions);
    let work = work(&paths, &hottest)?;
    let mut ranked: Vec<_> = hottest.into_iter().zip(work).collect();
    ranked.sort_by_key(|&(_, work)| std::cmp::Reverse(work));
    Ok(ranked)
}

/// The functions with activations that were left before their end, and how many.
fn count_abandoned(profile: &Profile, functions: &[FuncId]) -> Result<Vec<(FuncId, u64)>> {
    let entered = |f: &&FuncId| profile.entries[**f].is_some_and(|n| n > 0);
    let entered: Vec<FuncId> = functions.iter().filter(entered).copied().collect();
    let left = entered.par_iter().map(|&f| {
        let structure = profile.structure(f)?;
        let flow = flow(profile, f, &structure)?;
        Ok((f, Executed::new(profile, f, &structure, &flow).left))
    });
    let mut left: Vec<(FuncId, u64)> = left.collect::<Result<_>>()?;
    left.retain(|l| l.1 > 0);
    Ok(left)
}

/// What was executed of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Paths.
    pub paths: u128,
    /// Instructions, as far as paths were completed.
    pub instructions: u128,
    /// How often it was entered; at least, where `is_partial`.
    pub calls: u64,
    /// Whether some of its paths are not selected, and may have run besides.
    pub is_partial: bool,
    /// Whether `setjmp` may have returned again, so that what ran before it may be counted twice.
    pub again: bool,
    /// Different paths.
    pub distinct: usize,
    /// The paths that control flow allows, without those that are known to contradict themselves.
    pub possible: u64,
}

fn totals(profile: PathProfile, f: FuncId) -> Result<(Totals, Option<outside::Calls>)> {
    let structure = profile.structure(f)?;
    let flow = flow(&profile, f, &structure)?;
    let counts = profile.counts(f);
    let blocks = flow.blocks.iter().zip(&structure.cfg.blocks);
    let instructions = blocks.map(|(&n, b)| u128::from(n) * u128::from(b.instructions));
    let did_not_run = count_all_but(counts.iter().map(|(id, _)| *id));
    let contradictions = Contradictions::new(profile.entry(f));
    let contradictory = contradictions.count(&structure.paths, did_not_run).all;
    let executed = Executed::new(&profile, f, &structure, &flow);
    let totals = Totals {
        paths: counts.iter().map(|&(_, n)| u128::from(n)).sum(),
        instructions: instructions.sum(),
        calls: flow.entry,
        is_partial: executed.is_partial,
        again: executed.again,
        distinct: counts.len(),
        possible: structure.paths.numbering.total() - contradictory,
    };
    Ok((totals, outside::Calls::new(&profile, f, &flow.blocks)))
}

/// The instructions that were executed on each of `paths`. O(total path length).
fn work(profile: &Profile, paths: &[(FuncId, PathId, u64)]) -> Result<Vec<u128>> {
    let groups = group_by_function(paths);
    let groups = groups.par_iter().map(|group| {
        let structure = profile.structure(paths[group[0]].0)?;
        let work = |&i: &usize| {
            let (f, id, count) = paths[i];
            let edges = profile.decode(f, &structure, id)?;
            let blocks = structure.paths.dag.path(&edges).blocks.into_iter();
            let length: u64 = blocks
                .map(|b| u64::from(structure.cfg.block(b).instructions))
                .sum();
            Ok((i, u128::from(length) * u128::from(count)))
        };
        group.iter().map(work).collect::<Result<Vec<_>>>()
    });
    let mut all = vec![0; paths.len()];
    for (i, work) in groups.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        all[i] = work;
    }
    Ok(all)
}

/// Positions of paths, those of one function together.
fn group_by_function(paths: &[(FuncId, PathId, u64)]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..paths.len()).collect();
    order.sort_by_key(|&i| paths[i].0);
    let groups = order.chunk_by(|&a, &b| paths[a].0 == paths[b].0);
    groups.map(<[usize]>::to_vec).collect()
}

/// The lines of `paths`; a function's structure is built once.
pub(crate) fn lines(profile: &Profile, paths: &[(FuncId, PathId, u64)]) -> Result<Vec<Line>> {
    let groups = group_by_function(paths);
    let groups = groups.par_iter().map(|group| {
        let structure = profile.structure(paths[group[0]].0)?;
        let line = |&i: &usize| Ok((i, line(profile, &structure, paths[i])?));
        group.iter().map(line).collect::<Result<Vec<_>>>()
    });
    let mut lines: Vec<(usize, Line)> = groups
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    lines.sort_by_key(|l| l.0);
    Ok(lines.into_iter().map(|l| l.1).collect())
}

pub(crate) fn line(
    profile: &Profile,
    structure: &Structure,
    (func, id, count): (FuncId, PathId, u64),
) -> Result<Line> {
    let edges = profile.decode(func, structure, id)?;
    let path = structure.paths.dag.path(&edges);
    let cfg = &structure.cfg;
    let blocks = || path.blocks.iter().map(|&b| cfg.block(b));
    let spans = blocks().flat_map(|b| b.lines.iter().map(|s| (s.loc, s.inlined)));
    let mut places: Vec<(Loc, Option<u32>)> = spans.collect();
    places.dedup();
    let (locs, inlined) = places.into_iter().unzip();
    Ok(Line {
        func,
        id,
        count,
        instructions: blocks().map(|b| u64::from(b.instructions)).sum(),
        locs,
        inlined,
        decisions: decisions(cfg, &path),
        path,
    })
}

fn decisions(cfg: &Cfg, path: &Path) -> Vec<Decision> {
    let last = match path.end {
        PathEnd::Back(c, _) => Some(c.succ),
        PathEnd::Exit => None,
    };
    let succs = path.succs.iter().copied().chain(last);
    let ways = path.blocks.iter().zip(succs).enumerate();
    // What is asked behind the default of a `switch` for cases of many values is its answer.
    let asks_on = |b: BlockId, succ: u32| {
        let next = cfg.target(CfgEdge { block: b, succ });
        let by = cfg.block(next).choice.as_ref().map(|choice| &choice.by);
        by.is_some_and(|by| by.range.is_some())
    };
    let choice = |(_, (b, succ)): &(usize, (&BlockId, u32))| {
        cfg.block(**b).succs.len() > 1 && !asks_on(**b, *succ)
    };
    let debug = cfg.blocks.iter().any(|b| !b.lines.is_empty());
    let is_placed = |b: &BlockId| !debug || !cfg.block(*b).lines.is_empty();
    ways.filter(choice)
        .map(|(i, (&block, succ))| Decision {
            before: take_up_to_choice(path.blocks[..i].iter().rev().copied(), |b| {
                cfg.block(b).succs.len()
            }),
            block,
            succ,
            to: find_target(path, i, is_placed),
            taken: cfg.block(block).terminator.edge_name(succ),
        })
        .collect()
}

/// The first of `blocks`, up to one with several `ways` on.
pub(crate) fn take_up_to_choice(
    blocks: impl Iterator<Item = BlockId>,
    ways: impl Fn(BlockId) -> usize,
) -> Vec<BlockId> {
    let mut is_last = false;
    let nearest = blocks.take_while(|b| {
        let goes_on = !is_last;
        is_last = ways(*b) > 1;
        goes_on
    });
    nearest.collect()
}

/// Where control goes after block number `i` of a path.
fn find_target(path: &Path, i: usize, is_placed: impl Fn(&BlockId) -> bool) -> To {
    let mut behind = path.blocks[i + 1..].iter();
    let placed = behind.find(|b| is_placed(b));
    match (placed, path.end, path.blocks.get(i + 1)) {
        (Some(&block), _, _) => To::Block(block),
        (None, PathEnd::Back(_, header), _) => To::Back(header),
        (None, PathEnd::Exit, next) => To::Block(next.copied().unwrap_or(path.blocks[i])),
    }
}
