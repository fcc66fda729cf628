//! `show --format json`: a contract with other programs.

use super::{Line, Report};
use crate::dag::{PathEnd, PathStart};
use crate::index::{BlockId, FuncId};
use serde::Serialize;
use std::collections::HashMap;

#[derive(Serialize)]
struct Functions<'a> {
    functions: Vec<Function<'a>>,
}

#[derive(Serialize)]
struct Function<'a> {
    module: &'a str,
    name: &'a str,
    status: String,
    /// Names the control flow that ids and blocks belong to, in other builds too.
    cfg: String,
    paths: Vec<Path>,
}

#[derive(Serialize)]
struct Path {
    /// Ids exceed what JSON numbers hold exactly in many readers.
    id: String,
    count: u64,
    blocks: Vec<BlockId>,
    starts: &'static str,
    ends: &'static str,
    back_to: Option<BlockId>,
}

/// The selected functions, each with its selected paths, hottest first.
pub fn render(report: &Report) -> String {
    let mut paths: HashMap<FuncId, Vec<Path>> = HashMap::new();
    for line in &report.lines {
        paths.entry(line.func).or_default().push(path(line));
    }
    let profile = report.profile;
    let function = |&f: &FuncId| Function {
        module: profile.module(f),
        name: &profile.entry(f).name,
        status: profile.entry(f).status.to_string(),
        cfg: profile.entry(f).cfg_hash(),
        paths: paths.remove(&f).unwrap_or_default(),
    };
    let functions = report.functions.iter().map(function).collect();
    serde_json::to_string(&Functions { functions }).expect("a report serialises") + "\n"
}

fn path(line: &Line) -> Path {
    let (ends, back_to) = match line.path.end {
        PathEnd::Exit => ("exit", None),
        PathEnd::Back(_, to) => ("back", Some(to)),
    };
    Path {
        id: line.id.to_string(),
        count: line.count,
        blocks: line.path.blocks.clone(),
        starts: match line.path.start {
            PathStart::Entry => "entry",
            PathStart::Loop => "loop",
        },
        ends,
        back_to,
    }
}
