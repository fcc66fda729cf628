//! What the page shows, as compact JSON with named keys. Texts of decisions are made here, by [`Steps`], so that the
//! page words paths like every other report; a function's distinct rows are sent once, and its paths refer to them.

use super::files::{FileData, Files};
use super::layout::picture;
use super::paths::{PathData, RowData, Teller, UncoveredData};
use crate::base::error::Result;
use crate::base::index::{BlockId, FuncId, PathId};
use crate::base::names::readable_name;
use crate::profile::filter::Selection;
use crate::profile::flow::flow;
use crate::profile::left::{Executed, Range};
use crate::profile::matching::{Build, Index, Known, Match};
use crate::profile::measurement::PathProfile;
use crate::profile::{Profile, Structure};
use crate::read::report::coverage::{Coverage, FunctionCoverage, Paths, SourceSums};
use crate::read::report::is_zero;
use crate::read::report::json::{About, profile_json};
use crate::read::report::steps::Steps;
use crate::read::report::threads::{self, ThreadRow};
use crate::read::report::{Decision, Report, To, Totals, line};
use crate::read::source::{Sources, is_of_the_system};
use rayon::prelude::*;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::io::Write;

/// So many functions are in memory at once.
const AT_ONCE: usize = 256;

/// What the page shows of the whole program: the first part of the object that is its data.
#[derive(Serialize)]
struct ProgramData<'a> {
    about: About<'a>,
    /// By copy: processes whose counts were merged.
    runs: Vec<u32>,
    baseline: Option<BaselineData>,
    /// Which paths alone were counted, where that is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<String>,
    /// Where threads are told apart: those with most instructions first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    threads: Vec<ThreadData>,
}

#[derive(Serialize)]
struct ThreadData {
    name: String,
    threads: u64,
    /// Whether some of them had another name, or none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    others: bool,
    paths: u128,
    instructions: u128,
    /// The function in which they began, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    began: Option<String>,
}

/// What the page shows of its sources: the last part of the object.
#[derive(Serialize)]
struct SourceData {
    files: Vec<FileData>,
    /// Files that have changed since they were compiled.
    changed: Vec<String>,
}

/// The profile to compare with.
#[derive(Serialize)]
struct BaselineData {
    file: String,
    /// Executed paths and instructions of the whole program, by which shares are normalised.
    paths: u128,
    instructions: u128,
}

/// A place in the source.
#[derive(Clone, Copy, Serialize)]
pub(super) struct PlaceData {
    /// An index into [`SourceData::files`].
    pub(super) file: u32,
    pub(super) line: u32,
}

#[derive(Serialize)]
struct FunctionData {
    /// Its short name.
    name: String,
    /// The readable name with parameters.
    full: String,
    symbol: String,
    module: String,
    status: String,
    begins: Option<PlaceData>,
    /// Whether it is code of the system or of a toolchain, which reports of coverage leave out.
    system: bool,
    entered: u64,
    /// Whether it may have been entered oftener, since not all of its paths are selected.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    open: bool,
    /// Whether none is, so that nothing is known of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unselected: bool,
    left: u64,
    /// Paths and pairs of edges: those that control flow allows, and of the pairs those that ran. They may exceed what
    /// numbers of JavaScript hold.
    feasible: String,
    pairs: String,
    ran_pairs: String,
    /// Paths that cannot run, as far as that is known: of all, and of those near paths that ran.
    #[serde(skip_serializing_if = "is_zero")]
    contradictory: u64,
    #[serde(skip_serializing_if = "is_zero")]
    contradictory_near: u64,
    /// Of the paths that would have been shown, those that cannot run as their code shows, and those that abort.
    #[serde(skip_serializing_if = "is_zero")]
    refuted: u64,
    #[serde(skip_serializing_if = "is_zero")]
    aborting: u64,
    /// Of the paths that control flow allows, those that ran; not those that markers leave out.
    covered: u64,
    /// Lines and ways out of branches of its own code, inlined or not: those that ran, and all but those that markers
    /// leave out.
    lines: [u64; 2],
    branches: [u64; 2],
    /// What the baseline has of it.
    before: Before,
    blocks: Vec<BlockData>,
    /// The distinct rows of its paths.
    rows: Vec<RowData>,
    paths: Vec<PathData>,
    uncovered: Vec<UncoveredData>,
    /// Lines with conditions that have no branch.
    branchless: Vec<u32>,
}

/// What a baseline has of a function.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Before {
    /// There is no baseline.
    None,
    /// It has the function with this control flow.
    Same { paths: u128, instructions: u128 },
    /// It has the function with other control flow.
    Changed,
    /// It has no such function.
    New,
}

#[derive(Serialize)]
struct BlockData {
    /// Executions.
    count: u64,
    /// Whether there may have been more, on paths that are not selected.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    open: bool,
    /// Instructions.
    size: u32,
    /// The middle of it in the picture.
    at: Option<(i32, i32)>,
    spans: Vec<SpanData>,
    /// What it asks, in the words of the source.
    #[serde(skip_serializing_if = "String::is_empty")]
    asks: String,
    edges: Vec<EdgeData>,
}

#[derive(Serialize)]
struct SpanData {
    #[serde(flatten)]
    place: PlaceData,
    /// Whether this is code of an inlined function.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    inlined: bool,
}

#[derive(Serialize)]
struct EdgeData {
    to: BlockId,
    /// Executions.
    count: u64,
    /// Whether there may have been more, on paths that are not selected.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    open: bool,
    /// `true`, `false`, `case X`, or where control goes; empty where nothing is decided.
    #[serde(skip_serializing_if = "String::is_empty")]
    outcome: String,
    /// Its bends in the picture.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bends: Vec<(i32, i32)>,
}

/// Writes everything that the page shows as one JSON object: what is known of the program, `functions`, then the
/// sources. Of many functions only some are in memory at once.
///
/// # Errors
/// A damaged profile, or one of edges.
pub(super) fn write_data(
    paths: PathProfile,
    coverage: &Coverage,
    sources: &Sources,
    baseline: Option<&Profile>,
    out: &mut impl Write,
) -> Result<()> {
    let profile = paths.profile();
    let mut rows: Vec<&FunctionCoverage> = coverage.rows.iter().collect();
    rows.sort_by_key(|r| r.f);
    let maker = Maker {
        paths,
        steps: Steps::new(profile, sources, false),
        files: Files::new(&profile.manifest.files),
        baseline: baseline.map(|b| Baseline::new(b, profile)).transpose()?,
        threads: threads::collect(paths)?,
    };
    let program = ProgramData {
        about: profile_json(profile),
        runs: profile.processes.iter().map(|p| p.total()).collect(),
        baseline: maker.baseline.as_ref().map(Baseline::data),
        selection: profile.said_selection(),
        threads: maker.threads.iter().map(|row| maker.thread(row)).collect(),
    };
    // The object is closed at the end.
    write(out, json(&program).strip_suffix(b"}").expect("an object"));
    write(out, b",\"functions\":[");
    let mut used: BTreeSet<u32> = BTreeSet::new();
    for (n, part) in rows.chunks(AT_ONCE).enumerate() {
        let functions = part.par_iter().map(|row| {
            let own = coverage.lines.functions.get(&row.f);
            let function = maker.function(row, own)?;
            Ok((json(&function), function.files()))
        });
        let functions: Vec<(Vec<u8>, BTreeSet<u32>)> = functions.collect::<Result<_>>()?;
        for (i, (function, files)) in functions.into_iter().enumerate() {
            write(out, if n + i > 0 { b"," } else { b"" });
            write(out, &function);
            used.extend(files);
        }
    }
    let sources = SourceData {
        files: maker.files.data(&used, sources, &coverage.lines),
        changed: sources.list_changed(),
    };
    write(out, b"],");
    write(out, json(&sources).strip_prefix(b"{").expect("an object"));
    Ok(())
}

fn json(data: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(data).expect("a report serialises")
}

fn write(out: &mut impl Write, bytes: &[u8]) {
    out.write_all(bytes).expect("memory takes everything");
}

impl FunctionData {
    /// The files that it begins in or has code of.
    fn files(&self) -> BTreeSet<u32> {
        let spans = self.blocks.iter().flat_map(|b| &b.spans);
        let files = spans.map(|s| s.place.file);
        files.chain(self.begins.map(|p| p.file)).collect()
    }
}

/// What ran, and all.
pub(super) fn ran_and_all(numbers: Option<Paths>) -> [u64; 2] {
    numbers.map_or([0, 0], |n| [n.executed as u64, n.feasible as u64])
}

/// A profile to compare with.
struct Baseline<'a> {
    profile: &'a Profile,
    index: Index<'a>,
    report: Report<'a>,
}

impl<'a> Baseline<'a> {
    /// To compare functions of `page` with.
    fn new(profile: &'a Profile, page: &Profile) -> Result<Baseline<'a>> {
        let sums = Selection {
            top: Some(0),
            ..Selection::default()
        };
        Ok(Baseline {
            profile,
            index: Index::of_same_program(profile, &Build::of_manifest(&page.manifest)),
            report: Report::new(profile.paths()?, &sums)?,
        })
    }

    fn data(&self) -> BaselineData {
        BaselineData {
            file: self.profile.path.display().to_string(),
            paths: self.report.total_paths,
            instructions: self.report.total_instructions,
        }
    }
}

/// The paths of a function in the baseline that has the same control flow.
struct Earlier {
    structure: Structure,
    counts: HashMap<PathId, u64>,
    /// Of all of its paths; nothing ran if there are none.
    totals: Option<Totals>,
}

struct Maker<'a> {
    paths: PathProfile<'a>,
    steps: Steps<'a>,
    files: Files,
    baseline: Option<Baseline<'a>>,
    threads: Vec<ThreadRow>,
}

impl Maker<'_> {
    fn thread(&self, row: &ThreadRow) -> ThreadData {
        ThreadData {
            name: row.name.clone(),
            threads: row.threads,
            others: row.has_others,
            paths: row.paths,
            instructions: row.instructions,
            began: row.began_in.map(|f| self.steps.name(f)),
        }
    }

    fn function(&self, row: &FunctionCoverage, own: Option<&SourceSums>) -> Result<FunctionData> {
        let (profile, f) = (self.paths.profile(), row.f);
        let entry = profile.entry(f);
        let begins = entry.find_start();
        let branchless: BTreeSet<u32> = entry.branchless_sites().map(|s| s.loc.line).collect();
        let mut data = FunctionData {
            name: self.steps.name(f),
            full: readable_name(&entry.name).into_owned(),
            symbol: entry.name.clone(),
            module: profile.module(f).to_string(),
            status: entry.status.to_string(),
            begins: begins.map(|l| self.files.place(l)),
            system: is_of_the_system(&self.steps.home_file(f)),
            entered: 0,
            open: false,
            unselected: false,
            left: 0,
            feasible: row.paths.feasible.to_string(),
            pairs: row.pairs.feasible.to_string(),
            ran_pairs: row.pairs.executed.to_string(),
            contradictory: row.contradictory,
            contradictory_near: row.contradictory_near,
            refuted: row.refuted as u64,
            aborting: row.aborting as u64,
            before: Before::None,
            covered: row.paths.executed as u64,
            lines: ran_and_all(own.map(|s| s.lines)),
            branches: ran_and_all(own.map(|s| s.branches)),
            blocks: Vec::new(),
            rows: Vec::new(),
            paths: Vec::new(),
            uncovered: Vec::new(),
            branchless: branchless.into_iter().collect(),
        };
        if entry.status.is_skipped() {
            return Ok(data);
        }
        let structure = profile.structure(f)?;
        let flow = flow(profile, f, &structure)?;
        let executed = Executed::new(profile, f, &structure, &flow);
        (data.entered, data.left) = (flow.entry, executed.left);
        data.open = !executed.entry_range(&structure, &flow).is_exact();
        let has_none = || profile.counted_paths(f, &structure).map(|c| c.are_none());
        data.unselected = profile.is_selective() && self.paths.counts(f).is_empty() && has_none()?;
        data.blocks = self.blocks(f, &structure, &executed);
        let (before, earlier) = self.paths_before(f, &structure)?;
        data.before = before;
        let mut teller = Teller::new(&self.steps, &self.files);
        data.paths = self.executed_paths(f, &structure, earlier, &mut teller)?;
        data.uncovered = row
            .uncovered
            .iter()
            .map(|u| teller.describe_uncovered(u))
            .collect();
        data.rows = teller.rows();
        Ok(data)
    }

    /// The paths that ran, here or before, the hottest first.
    fn executed_paths(
        &self,
        f: FuncId,
        structure: &Structure,
        earlier: Option<Earlier>,
        teller: &mut Teller,
    ) -> Result<Vec<PathData>> {
        let mut ids: Vec<(PathId, u64)> = self.paths.counts(f).to_vec();
        if let Some(earlier) = &earlier {
            let ran: BTreeSet<PathId> = ids.iter().map(|p| p.0).collect();
            let gone = earlier.counts.keys().filter(|id| !ran.contains(id));
            ids.extend(gone.map(|id| (*id, 0)));
        }
        ids.sort_by_key(|&(id, n)| (Reverse(n), id));
        let path = |&(id, n): &(PathId, u64)| {
            let line = line(self.paths.profile(), structure, (f, id, n))?;
            let mut data = teller.path(&line);
            data.open = self.paths.runs_at_least(f, id);
            data.known = self.paths.is_known(f, id);
            data.threads = threads::split_path(self.paths, &self.threads, f, (id, n));
            data.before = earlier.as_ref().map(|earlier| {
                let count = earlier.counts.get(&id).copied().unwrap_or(0);
                let size = |b: &BlockId| u64::from(earlier.structure.cfg.block(*b).instructions);
                let size: u64 = line.path.blocks.iter().map(size).sum();
                super::paths::BeforeData {
                    count,
                    instructions: u128::from(count) * u128::from(size),
                }
            });
            Ok(data)
        };
        ids.iter().map(path).collect()
    }

    /// What the baseline has of a function, and its paths there, if it has the same control flow.
    fn paths_before(&self, f: FuncId, structure: &Structure) -> Result<(Before, Option<Earlier>)> {
        let Some(baseline) = &self.baseline else {
            return Ok((Before::None, None));
        };
        let known = Known::new(&self.paths.manifest, f, &structure.cfg);
        let (other, profile) = match baseline.index.find(&known) {
            Match::Same(other) => (other, baseline.profile),
            Match::Changed => return Ok((Before::Changed, None)),
            Match::Unknown => return Ok((Before::New, None)),
        };
        // Cut edges give ids another meaning.
        if profile.entry(other).cuts != self.paths.entry(f).cuts {
            return Ok((Before::Changed, None));
        }
        let earlier = Earlier {
            structure: profile.structure(other)?,
            counts: profile.paths()?.counts(other).iter().copied().collect(),
            totals: baseline.report.by_function.get(&other).copied(),
        };
        let same = Before::Same {
            paths: earlier.totals.map_or(0, |t| t.paths),
            instructions: earlier.totals.map_or(0, |t| t.instructions),
        };
        Ok((same, Some(earlier)))
    }

    fn blocks(&self, f: FuncId, structure: &Structure, executed: &Executed) -> Vec<BlockData> {
        let picture = picture(&structure.cfg);
        let mut counts: HashMap<(BlockId, u32), Range> = HashMap::new();
        for (e, range) in executed.edges(structure) {
            counts.insert((e.edge.block, e.edge.succ), range);
        }
        let is_open = |range: Range| executed.is_bound(range);
        let own = self.steps.home_file(f);
        let block = |b: BlockId| {
            let block = structure.cfg.block(b);
            let spans = block.lines.iter().map(|s| SpanData {
                place: self.files.place(s.loc),
                inlined: s.inlined.is_some(),
            });
            let mut asks = String::new();
            let ways = (0u32..).zip(&block.succs).map(|(succ, &to)| {
                let mut outcome = String::new();
                if block.succs.len() > 1 {
                    let decision = Decision {
                        before: Vec::new(),
                        block: b,
                        succ,
                        to: To::Block(to),
                        taken: block.terminator.edge_name(succ),
                    };
                    let said = self.steps.words().describe_decision(f, &decision);
                    let step = self.steps.step(&said, &own);
                    (asks, outcome) = (step.text, step.outcome);
                }
                let range = counts.get(&(b, succ)).copied().unwrap_or_default();
                EdgeData {
                    to,
                    count: range.count,
                    open: is_open(range),
                    outcome,
                    bends: picture.bends[b][succ as usize].clone(),
                }
            });
            let edges = ways.collect();
            BlockData {
                count: executed.blocks[b].count,
                open: is_open(executed.blocks[b]),
                size: block.instructions,
                at: picture.blocks[b],
                spans: spans.collect(),
                asks,
                edges,
            }
        };
        structure.cfg.ids().map(block).collect()
    }
}
