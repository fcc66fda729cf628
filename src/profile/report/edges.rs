//! `show --edges`: edge, block and call counts that follow from the paths.

use super::Selection;
use super::csv::table;
use super::json::{About, about};
use super::text::grouped;
use crate::error::Result;
use crate::index::{BlockId, FuncId};
use crate::names::shown;
use crate::profile::edges::{EdgeCount, flow};
use crate::profile::{Profile, Structure};
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
    /// Executions of each block.
    pub blocks: Vec<u64>,
    /// Executed calls of functions of the program.
    pub calls: Vec<CallCount>,
    /// By how much counts may be off, if they may.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncertain: u64,
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
}

/// A call site.
#[derive(Serialize)]
pub struct CallCount {
    /// The block.
    pub block: BlockId,
    /// The function called.
    pub callee: String,
    /// How often.
    pub count: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The counts of all profiled functions that the selection admits.
pub fn collect(profile: &Profile, selection: &Selection) -> Result<Vec<FunctionEdges>> {
    let profiled = selection.profiled(profile).into_par_iter();
    profiled.map(|f| function(profile, f)).collect()
}

fn function(profile: &Profile, f: FuncId) -> Result<FunctionEdges> {
    let structure = profile.structure(f)?;
    let flow = flow(profile, f, &structure)?;
    let edges = flow.edges(&structure);
    let entry = profile.entry(f);
    let called = |(block, callees): &(BlockId, Vec<(FuncId, u32)>)| {
        let (block, count) = (*block, flow.blocks[block.index()]);
        let name = |c: FuncId| profile.entry(c).name.clone();
        let call = move |&(c, _): &(FuncId, u32)| CallCount {
            block,
            callee: name(c),
            count,
        };
        callees.iter().map(call).collect::<Vec<_>>()
    };
    Ok(FunctionEdges {
        module: profile.module(f).to_string(),
        name: entry.name.clone(),
        entry: flow.entry,
        uncertain: flow.uncertain,
        calls: entry.calls.iter().flat_map(called).collect(),
        names: edges.iter().map(|e| name(&structure, e)).collect(),
        edges: edges.iter().map(edge).collect(),
        blocks: flow.blocks,
    })
}

fn name(structure: &Structure, e: &EdgeCount) -> String {
    structure
        .cfg
        .block(e.edge.block)
        .terminator
        .edge_name(e.edge.succ)
}

fn edge(e: &EdgeCount) -> Edge {
    Edge {
        src: e.edge.block,
        succ: e.edge.succ,
        dst: e.dst,
        count: e.count,
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
    let record = |(f, e): (&FunctionEdges, &Edge)| {
        [
            f.module.clone(),
            f.name.clone(),
            e.src.to_string(),
            e.succ.to_string(),
            e.dst.to_string(),
            e.count.to_string(),
        ]
    };
    let heading = ["module", "function", "src", "succ", "dst", "count"];
    table(&heading, edges.map(record))
}

/// For people: the functions that ran, block by block.
pub fn text(functions: &[FunctionEdges]) -> String {
    let mut out = String::new();
    for f in functions.iter().filter(|f| f.blocks.iter().any(|&n| n > 0)) {
        let _ = write!(out, "{}: entered {}", shown(&f.name), grouped(f.entry));
        let _ = match f.uncertain {
            0 => writeln!(out),
            n => writeln!(
                out,
                ", left {} times without an exit: counts may be off by as many",
                grouped(n)
            ),
        };
        // Calls and edges are in the order of their blocks.
        let mut calls = f.calls.iter().peekable();
        let mut edges = f.edges.iter().zip(&f.names).peekable();
        for (b, &n) in f.blocks.iter().enumerate() {
            let _ = writeln!(out, "  b{b}: {}", grouped(n));
            while let Some(c) = calls.next_if(|c| c.block.index() == b) {
                let _ = writeln!(out, "    calls {}: {}", shown(&c.callee), grouped(c.count));
            }
            while let Some((e, name)) = edges.next_if(|(e, _)| e.src.index() == b) {
                let name = if name.is_empty() {
                    String::new()
                } else {
                    format!(" ({name})")
                };
                let _ = writeln!(out, "    → b{}{name}: {}", e.dst, grouped(e.count));
            }
        }
    }
    out
}
