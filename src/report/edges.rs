//! `show --edges`: edge, block and call counts that follow from the paths.

use super::is_zero;
use super::json::{About, about};
use crate::error::Result;
use crate::index::{BlockId, FuncId, TiVec};
use crate::names::shown;
use crate::profile::filter::Selection;
use crate::profile::flow::{EdgeCount, Flow, flow};
use crate::profile::left::{Executed, Range};
use crate::profile::{Profile, Structure};
use crate::table::{self, grouped};
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write;

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
    #[serde(skip)]
    ranges: TiVec<BlockId, Range>,
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
    let profiled = selection.profiled(profile).into_par_iter();
    profiled.map(|f| function(profile, f)).collect()
}

fn function(profile: &Profile, f: FuncId) -> Result<FunctionEdges> {
    let structure = profile.structure(f)?;
    let flow = flow(profile, f, &structure)?;
    let executed = Executed::new(profile, f, &structure, &flow);
    let edges = executed.edges(&structure);
    let entry = profile.entry(f);
    Ok(FunctionEdges {
        module: profile.module(f).to_string(),
        name: entry.name.clone(),
        entry: flow.entry,
        left: executed.left,
        again: executed.again,
        uncertain: flow.uncertain,
        calls: calls(profile, f, &flow),
        names: edges.iter().map(|(e, _)| name(&structure, e)).collect(),
        edges: edges.iter().map(|(e, range)| edge(e, *range)).collect(),
        blocks: executed.blocks.iter().map(|r| r.count).collect(),
        entered: executed.entered(&structure, &flow),
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

fn edge(e: &EdgeCount, range: Range) -> Edge {
    let open = !range.is_exact();
    Edge {
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
    let program = about(profile);
    serde_json::to_string(&Shown { program, functions }).expect("a report serialises") + "\n"
}

/// One record for each edge.
pub fn csv(functions: &[FunctionEdges]) -> String {
    let edges = functions
        .iter()
        .flat_map(|f| f.edges.iter().map(move |e| (f, e)));
    let heading = [
        "module", "function", "src", "succ", "dst", "count", "least", "most",
    ];
    table::csv(&heading, edges.map(|(f, e)| record(f, e)))
}

fn record(f: &FunctionEdges, e: &Edge) -> [String; 8] {
    [
        f.module.clone(),
        f.name.clone(),
        e.src.to_string(),
        e.succ.to_string(),
        e.dst.to_string(),
        e.count.to_string(),
        e.least.map_or(String::new(), |n| n.to_string()),
        e.most.map_or(String::new(), |n| n.to_string()),
    ]
}

/// A count, or between which numbers it is.
fn between(range: Range) -> String {
    if range.is_exact() {
        grouped(range.count)
    } else if range.most == u64::MAX {
        format!("{}?", grouped(range.count))
    } else {
        format!("{} to {}", grouped(range.least), grouped(range.most))
    }
}

/// For people: the functions that ran, block by block.
pub fn text(functions: &[FunctionEdges]) -> String {
    let mut out = String::new();
    for f in functions.iter().filter(|f| f.blocks.iter().any(|&n| n > 0)) {
        let _ = write!(out, "{}: entered {}", shown(&f.name), between(f.entered));
        if f.left > 0 {
            let _ = write!(out, ", left before its end: {}", grouped(f.left));
        }
        if f.again {
            out += "; setjmp may return to it again: counts are not certain";
        }
        out.push('\n');
        // Calls and edges are in the order of their blocks.
        let mut calls = f.calls.iter().peekable();
        let mut edges = f.edges.iter().zip(&f.names).peekable();
        for (b, &range) in f.ranges.iter_enumerated() {
            let _ = writeln!(out, "  b{b}: {}", between(range));
            while let Some(c) = calls.next_if(|c| c.block == b) {
                let _ = writeln!(out, "    calls {}: {}", shown(&c.callee), grouped(c.count));
            }
            while let Some((e, name)) = edges.next_if(|(e, _)| e.src == b) {
                let name = if name.is_empty() {
                    String::new()
                } else {
                    format!(" ({name})")
                };
                let _ = writeln!(out, "    → b{}{name}: {}", e.dst, between(e.range));
            }
        }
    }
    out
}
