//! `show --edges`: edge, block and call counts that follow from the paths.

mod text;

pub use text::text;

use super::is_zero;
use super::json::{About, profile_json};
use super::words::site;
use crate::base::error::Result;
use crate::base::index::{BlockId, FuncId, TiVec};
use crate::base::rows::Table;
use crate::input::ir::Loc;
use crate::profile::filter::Selection;
use crate::profile::flow::{EdgeCount, Flow, flow};
use crate::profile::left::{Executed, Range};
use crate::profile::manifest::FunctionEntry;
use crate::profile::{Profile, Structure};
use rayon::prelude::*;
use serde::Serialize;

/// The counts of one function.
#[derive(Serialize)]
pub struct FunctionEdges {
    /// The module that names it.
    pub module: String,
    /// Its symbol.
    pub name: String,
    /// How often it was entered.
    pub entry: u64,
    /// Every edge.
    pub edges: Vec<Edge>,
    /// Executions of each block, at least.
    pub blocks: Vec<u64>,
    /// Executed calls of functions of the program.
    pub calls: Vec<CallCount>,
    /// Activations that were left before their end.
    #[serde(rename = "abandoned", skip_serializing_if = "is_zero")]
    pub left: u64,
    /// Whether `setjmp` may have returned again, so that counts of edges do not follow from paths.
    #[serde(rename = "returns_twice", skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// By how much counts that were derived may be off, if they may.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncertain: u64,
    #[serde(skip)]
    entered: Range,
    /// Executed instructions, as far as paths were completed.
    #[serde(skip)]
    instructions: u128,
    #[serde(skip)]
    begins: Option<Loc>,
    #[serde(skip)]
    ranges: TiVec<BlockId, Range>,
    /// By block: where its code begins, if debug information says that.
    #[serde(skip)]
    places: TiVec<BlockId, Option<Loc>>,
    #[serde(skip)]
    names: Vec<String>,
}

/// An edge.
#[derive(Serialize)]
pub struct Edge {
    /// Source block.
    pub src: BlockId,
    /// The successor's ordinal.
    pub succ: u32,
    /// Target block.
    pub dst: BlockId,
    /// How often it was taken.
    pub count: u64,
    /// Where that is not certain: at least so often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// Where that is not certain: at most so often, if anything is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
    /// The source file of what is decided before it, or of the end of its source block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The source file that its target block begins in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_file: Option<String>,
    /// The line there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_line: Option<u32>,
    #[serde(skip)]
    range: Range,
}

/// A call site.
#[derive(Serialize)]
pub struct CallCount {
    /// The block.
    pub block: BlockId,
    /// The function called.
    pub callee: String,
    /// How often, by activations that went on to their end.
    pub count: u64,
}

/// The counts of all profiled functions that the selection admits.
pub fn collect(profile: &Profile, selection: &Selection) -> Result<Vec<FunctionEdges>> {
    let profiled = selection.profiled_functions(profile).into_par_iter();
    profiled.map(|f| function(profile, f)).collect()
}

fn function(profile: &Profile, f: FuncId) -> Result<FunctionEdges> {
    let structure = profile.structure(f)?;
    let flow = flow(profile, f, &structure)?;
    let executed = Executed::new(profile, f, &structure, &flow);
    let edges = executed.edges(&structure);
    let entry = profile.entry(f);
    let work = flow.blocks.iter().zip(&structure.cfg.blocks);
    let work = work.map(|(&n, b)| u128::from(n) * u128::from(b.instructions));
    Ok(FunctionEdges {
        module: profile.module(f).to_string(),
        name: entry.name.clone(),
        entry: flow.entry,
        left: executed.left,
        again: executed.again,
        uncertain: flow.uncertain,
        calls: calls(profile, f, &flow),
        names: edges.iter().map(|(e, _)| name(&structure, e)).collect(),
        edges: edges
            .iter()
            .map(|(e, range)| edge(profile, entry, e, *range))
            .collect(),
        blocks: executed.blocks.iter().map(|r| r.count).collect(),
        entered: executed.entry_range(&structure, &flow),
        instructions: work.sum(),
        begins: entry.find_start(),
        places: entry
            .succs
            .keys()
            .map(|b| find_block_start(entry, b))
            .collect(),
        ranges: executed.blocks,
    })
}

/// The calls of functions of the program, in the order of their blocks.
fn calls(profile: &Profile, f: FuncId, flow: &Flow) -> Vec<CallCount> {
    let mut calls = Vec::new();
    for (block, callees) in &profile.entry(f).calls {
        for (callee, _) in callees {
            calls.push(CallCount {
                block: *block,
                callee: profile.entry(*callee).name.clone(),
                count: flow.blocks[*block],
            });
        }
    }
    calls
}

fn name(structure: &Structure, e: &EdgeCount) -> String {
    structure
        .cfg
        .block(e.edge.block)
        .terminator
        .edge_name(e.edge.succ)
}

/// Where a block's code begins.
fn find_block_start(entry: &FunctionEntry, block: BlockId) -> Option<Loc> {
    let mut positions = entry.spans(block).map(|span| span.loc);
    positions.find(|loc| loc.line > 0)
}

fn edge(profile: &Profile, entry: &FunctionEntry, e: &EdgeCount, range: Range) -> Edge {
    let open = !range.is_exact();
    let from = e.edge.block;
    let from = site(entry, from, entry.choice(from).as_ref()).map(|site| site.loc);
    let from = from.filter(|loc| loc.line > 0);
    let to = find_block_start(entry, e.dst);
    let file = |loc: Loc| profile.manifest.files[loc.file as usize].clone();
    Edge {
        file: from.map(file),
        line: from.map(|loc| loc.line),
        to_file: to.map(file),
        to_line: to.map(|loc| loc.line),
        src: e.edge.block,
        succ: e.edge.succ,
        dst: e.dst,
        count: e.count,
        least: open.then_some(range.least),
        most: open.then_some(range.most).filter(|&n| n < u64::MAX),
        range,
    }
}

/// For other programs.
pub fn json(profile: &Profile, functions: &[FunctionEdges]) -> String {
    #[derive(Serialize)]
    struct Shown<'a> {
        program: About<'a>,
        functions: &'a [FunctionEdges],
    }
    let program = profile_json(profile);
    serde_json::to_string(&Shown { program, functions }).expect("a report serialises") + "\n"
}

/// One record for each edge.
pub fn csv(functions: &[FunctionEdges]) -> String {
    let edges = functions
        .iter()
        .flat_map(|f| f.edges.iter().map(move |e| (f, e)));
    Table::new()
        .csv("module", |r: &(&FunctionEdges, &Edge)| r.0.module.clone())
        .csv("function", |r| r.0.name.clone())
        .csv("src", |r| r.1.src.to_string())
        .csv("succ", |r| r.1.succ)
        .csv("dst", |r| r.1.dst.to_string())
        .csv("count", |r| r.1.count)
        .csv("least", |r| r.1.least)
        .csv("most", |r| r.1.most)
        .csv("file", |r| r.1.file.clone())
        .csv("line", |r| r.1.line)
        .csv("to_file", |r| r.1.to_file.clone())
        .csv("to_line", |r| r.1.to_line)
        .to_csv(edges)
}
