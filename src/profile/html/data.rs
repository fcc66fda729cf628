//! What the page shows, as compact JSON: rows are arrays, of which `page.js` knows the order.

use super::layout::picture;
use crate::dag::{PathEnd, PathStart};
use crate::error::Result;
use crate::index::{BlockId, FuncId, PathId};
use crate::names::readable;
use crate::profile::coverage::{Coverage, FunctionCoverage, Uncovered};
use crate::profile::flow::flow;
use crate::profile::left::Executed;
use crate::profile::matching::{Index, Known, Match};
use crate::profile::measurement::PathProfile;
use crate::profile::report::json::{About, about};
use crate::profile::report::words::{Said, Words};
use crate::profile::report::{Decision, Line, To, line};
use crate::profile::{Profile, Structure};
use crate::source::Sources;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

/// Everything.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    program: About<'a>,
    /// By copy: processes whose counts were merged.
    runs: Vec<u32>,
    files: &'a [String],
    /// The text of each file, where it is there.
    sources: Vec<Option<String>>,
    functions: Vec<FunctionData>,
    /// Calls that were inlined: the function called, and the one that the call is in.
    inlined: Vec<(String, Option<u32>)>,
    /// The file of the profile to compare with.
    baseline: Option<String>,
    /// Files that have changed since they were compiled.
    changed: Vec<String>,
}

#[derive(Serialize)]
struct FunctionData {
    /// Readable name and symbol.
    name: String,
    symbol: String,
    module: String,
    status: String,
    begins: Option<(u32, u32)>,
    entered: u64,
    left: u64,
    feasible: String,
    /// Of these, those that ran; not those that markers leave out.
    covered: u64,
    /// Its paths before, if there is a baseline that has it with this control flow.
    compared: bool,
    blocks: Vec<BlockData>,
    paths: Vec<PathData>,
    uncovered: Vec<UncoveredData>,
    branchless: Vec<(u32, u32)>,
}

#[derive(Serialize)]
struct BlockData(
    /// Executions.
    u64,
    /// Instructions.
    u32,
    /// The middle of it in the picture.
    Option<(i32, i32)>,
    /// File, line, column and index of the chain of inlined functions plus 1, in turn.
    Vec<u32>,
    /// Where it decides, and what is asked.
    Option<(String, Option<String>)>,
    Vec<EdgeData>,
);

#[derive(Serialize)]
struct EdgeData(
    /// The target.
    BlockId,
    /// Executions.
    u64,
    /// What the way is called.
    Option<String>,
    /// Bends in the picture.
    Vec<(i32, i32)>,
);

#[derive(Serialize)]
struct PathData(
    /// The id; too large for a number of JavaScript's.
    String,
    /// Executions.
    u64,
    /// 0: from the entry, 1: from a loop's header.
    u8,
    /// The header that it goes back to.
    Option<BlockId>,
    Vec<BlockId>,
    /// The successor taken out of each of these but the last, which has one if the path goes back.
    Vec<u32>,
    /// Executions before.
    Option<u64>,
);

#[derive(Serialize)]
struct UncoveredData {
    path: PathData,
    /// Id and count of the nearest executed path, and how many blocks they have in common from the start.
    near: Option<(String, u64, usize)>,
    new_edges: u32,
}

impl<'a> Data<'a> {
    pub(super) fn new(
        paths: PathProfile<'a>,
        coverage: &Coverage,
        sources: &Sources,
        baseline: Option<&'a Profile>,
    ) -> Result<Data<'a>> {
        let profile = paths.profile();
        let index = baseline.map(|b| (b, Index::new(b)));
        let mut rows: Vec<&FunctionCoverage> = coverage.rows.iter().collect();
        rows.sort_by_key(|r| r.f);
        let maker = Maker {
            paths,
            sources,
            index,
        };
        let functions = rows.par_iter().map(|row| maker.function(row));
        let functions: Vec<FunctionData> = functions.collect::<Result<_>>()?;
        let inlined = profile.manifest.inlined.iter();
        let inlined = inlined.map(|c| (readable(&c.function).into_owned(), c.within));
        Ok(Data {
            program: about(profile),
            runs: profile.processes.iter().map(|p| p.total()).collect(),
            files: &profile.manifest.files,
            sources: texts(&functions, profile, sources),
            functions,
            inlined: inlined.collect(),
            baseline: baseline.map(|b| b.path.display().to_string()),
            changed: sources.changed(),
        })
    }
}

/// The texts of the files that some block is in.
fn texts(functions: &[FunctionData], profile: &Profile, sources: &Sources) -> Vec<Option<String>> {
    let blocks = functions.iter().flat_map(|f| &f.blocks);
    let used: BTreeSet<u32> = blocks.flat_map(|b| b.3.chunks(4).map(|s| s[0])).collect();
    let text = |i: usize| {
        let file = u32::try_from(i).ok().filter(|i| used.contains(i))?;
        sources.text(file).map(|t| t.whole().to_string())
    };
    (0..profile.manifest.files.len()).map(text).collect()
}

struct Maker<'a> {
    paths: PathProfile<'a>,
    sources: &'a Sources,
    index: Option<(&'a Profile, Index<'a>)>,
}

impl Maker<'_> {
    fn function(&self, row: &FunctionCoverage) -> Result<FunctionData> {
        let (profile, f) = (self.paths.profile(), row.f);
        let entry = profile.entry(f);
        let mut data = FunctionData {
            name: readable(&entry.name).into_owned(),
            symbol: entry.name.clone(),
            module: profile.module(f).to_string(),
            status: entry.status.to_string(),
            begins: entry.loc.map(|l| (l.file, l.line)),
            entered: 0,
            left: 0,
            feasible: row.paths.feasible.to_string(),
            covered: row.paths.executed as u64,
            compared: false,
            blocks: Vec::new(),
            paths: Vec::new(),
            uncovered: row.uncovered.iter().map(uncovered).collect(),
            branchless: entry
                .branchless_sites()
                .map(|s| (s.loc.file, s.loc.line))
                .collect(),
        };
        if entry.status.is_skipped() {
            return Ok(data);
        }
        let structure = profile.structure(f)?;
        let flow = flow(profile, f, &structure)?;
        let executed = Executed::new(profile, f, &structure, &flow);
        (data.entered, data.left) = (flow.entry, executed.left);
        data.blocks = self.blocks(f, &structure, &executed);
        let before = self.before(f, &structure)?;
        data.compared = before.is_some();
        data.paths = self.ran(f, &structure, before)?;
        Ok(data)
    }

    /// The paths that ran, here or before, the hottest first.
    fn ran(
        &self,
        f: FuncId,
        structure: &Structure,
        before: Option<HashMap<PathId, u64>>,
    ) -> Result<Vec<PathData>> {
        let mut ids: Vec<(PathId, u64)> = self.paths.counts(f).to_vec();
        if let Some(before) = &before {
            let ran: BTreeSet<PathId> = ids.iter().map(|p| p.0).collect();
            let mut gone: Vec<PathId> = before
                .keys()
                .filter(|id| !ran.contains(id))
                .copied()
                .collect();
            gone.sort_unstable();
            ids.extend(gone.into_iter().map(|id| (id, 0)));
        }
        ids.sort_by_key(|&(id, n)| (std::cmp::Reverse(n), id));
        let path = |&(id, n): &(PathId, u64)| {
            let was = before.as_ref().map(|b| b.get(&id).copied().unwrap_or(0));
            Ok(path(
                &line(self.paths.profile(), structure, (f, id, n))?,
                was,
            ))
        };
        ids.iter().map(path).collect()
    }

    /// The counts of a function's paths in the baseline, if that has it with the same control flow.
    fn before(&self, f: FuncId, structure: &Structure) -> Result<Option<HashMap<PathId, u64>>> {
        let Some((baseline, index)) = &self.index else {
            return Ok(None);
        };
        let known = Known::of(&self.paths.manifest, f, &structure.cfg);
        Ok(match index.find(&known) {
            // Cut edges give ids another meaning.
            Match::Same(other) if baseline.entry(other).cuts == self.paths.entry(f).cuts => {
                Some(baseline.paths()?.counts(other).iter().copied().collect())
            }
            _ => None,
        })
    }

    fn blocks(&self, f: FuncId, structure: &Structure, executed: &Executed) -> Vec<BlockData> {
        let words = Words::new(self.paths.profile(), self.sources);
        let picture = picture(&structure.cfg);
        let mut edges: HashMap<(BlockId, u32), u64> = HashMap::new();
        for (e, range) in executed.edges(structure) {
            edges.insert((e.edge.block, e.edge.succ), range.count);
        }
        let blocks = structure.cfg.ids();
        let block = |b: BlockId| {
            let block = structure.cfg.block(b);
            let spans = block.lines.iter();
            let spans = spans.flat_map(|s| {
                [
                    s.loc.file,
                    s.loc.line,
                    s.column,
                    s.inlined.map_or(0, |n| n + 1),
                ]
            });
            let several = block.succs.len() > 1;
            let said = |succ: u32| {
                let to = To::Block(block.succs[succ as usize]);
                let taken = block.terminator.edge_name(succ);
                let decision = Decision {
                    before: None,
                    block: b,
                    succ,
                    to,
                    taken,
                };
                words.said(f, &decision)
            };
            let said: Vec<Said> = if several {
                (0..block.succs.len() as u32).map(said).collect()
            } else {
                Vec::new()
            };
            let choice = said.first().map(|s| {
                let at = match (s.line, s.column) {
                    (Some(line), Some(column)) => format!("{line}:{column}"),
                    (Some(line), None) => line.to_string(),
                    _ => format!("b{b}"),
                };
                (at, s.condition.clone())
            });
            let edge = |(i, &to): (usize, &BlockId)| {
                let way = said.get(i);
                let way = way.map(|s| s.way.as_ref().unwrap_or(&s.taken).clone());
                let count = edges.get(&(b, i as u32)).copied().unwrap_or(0);
                EdgeData(to, count, way, picture.bends[b][i].clone())
            };
            BlockData(
                executed.blocks[b].count,
                block.instructions,
                picture.blocks[b],
                spans.collect(),
                choice,
                block.succs.iter().enumerate().map(edge).collect(),
            )
        };
        blocks.map(block).collect()
    }
}

fn uncovered(uncovered: &Uncovered) -> UncoveredData {
    let near = uncovered.near.as_ref();
    UncoveredData {
        path: path(&uncovered.path, None),
        near: near.map(|n| (n.id.to_string(), n.count, n.common)),
        new_edges: uncovered.new_edges,
    }
}

fn path(line: &Line, before: Option<u64>) -> PathData {
    let mut succs = line.path.succs.clone();
    let back = match line.path.end {
        PathEnd::Back(edge, to) => {
            succs.push(edge.succ);
            Some(to)
        }
        PathEnd::Exit => None,
    };
    PathData(
        line.id.to_string(),
        line.count,
        u8::from(line.path.start == PathStart::Loop),
        back,
        line.path.blocks.clone(),
        succs,
        before,
    )
}
