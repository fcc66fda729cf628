//! The manifest of a rewriting, from what was analysed.

use super::positions::Spans;
use super::schema::Computed;
use super::share::encode_set;
use super::{
    ChoiceEntry, FORMAT, FunctionEntry, Manifest, ModuleEntry, ShareEntry, Status, VERSION,
};
use crate::base::index::{BlockId, CopyId, EdgeId, FuncId, IdSet, PathId, TiSlice, TiVec};
use crate::copies::partition::{Assignment, Share};
use crate::copies::selection::{Asked, Selection};
use crate::copies::strategy::Scheme;
use crate::input::ir::{Block, Callee, Cfg, FunctionBody, ProgFunction, Program, SkipReason};
use crate::input::load::positions::{Choice, Optimised, SourceFile};
use crate::paths::function::{Counted, Measuring};
use std::collections::HashMap;

/// Everything that goes into a manifest.
pub struct Parts<'a> {
    /// The program.
    pub program: &'a Program,
    /// The path structure of its functions.
    pub paths: &'a TiSlice<FuncId, Option<Measuring>>,
    /// Who profiles what.
    pub assignment: &'a Assignment,
    /// The scheme.
    pub scheme: Scheme,
    /// The number of copies.
    pub copies: u32,
    /// What was asked for, if not all paths were.
    pub asked: Option<&'a Asked>,
    /// Options that change what the copies do, in a stable text form: part of the identity.
    pub options: &'a str,
}

impl Manifest {
    /// The manifest of a rewriting.
    pub fn new(parts: &Parts) -> Manifest {
        let p = parts.program;
        let module = |m: &crate::input::ir::Module| ModuleEntry {
            name: m.name.clone(),
            hash: m.hash.clone(),
            optimized: m.optimized,
        };
        let mut symbols = Symbols::default();
        let functions = p.functions.keys().map(|f| entry(parts, f, &mut symbols));
        let functions = functions.collect();
        let mut manifest = Manifest {
            format: FORMAT.into(),
            version: VERSION,
            tool: concat!("p3-rewrite ", env!("CARGO_PKG_VERSION")).into(),
            program: String::new(),
            scheme: parts.scheme,
            copies: parts.copies,
            united: Vec::new(),
            files: p.files.iter().map(|f| f.name.clone()).collect(),
            checksums: checksums(&p.files),
            inlined: p.inlined.clone(),
            paths: parts.asked.map_or(Vec::new(), |a| a.specs.clone()),
            modules: p.modules.iter().map(module).collect(),
            functions,
            outside: Some(symbols.names),
            starters: Some(p.starters.iter().cloned().collect()),
        };
        manifest.program = manifest.identity(parts.options);
        manifest
    }
}

/// The symbols that are called outside the program, in the order in which they were first seen.
#[derive(Default)]
struct Symbols {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Symbols {
    /// A symbol's position plus 1.
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&n) = self.numbers.get(name) {
            return n;
        }
        self.names.push(name.into());
        let n = self.names.len() as u32;
        self.numbers.insert(name.into(), n);
        n
    }

    /// [`FunctionEntry::outside`].
    fn list_outside_calls(&mut self, cfg: &Cfg) -> Vec<(BlockId, Vec<u32>)> {
        let mut all = Vec::new();
        for b in cfg.ids() {
            let calls = cfg.block(b).calls.iter().filter_map(|c| match &c.callee {
                Callee::External(name) if name.starts_with("llvm.") => None,
                Callee::External(name) => Some(self.number(name)),
                Callee::Indirect => Some(0),
                Callee::Function(_) | Callee::Asm => None,
            });
            let calls: Vec<u32> = calls.collect();
            if !calls.is_empty() {
                all.push((b, calls));
            }
        }
        all
    }
}

fn entry(parts: &Parts, id: FuncId, symbols: &mut Symbols) -> FunctionEntry {
    let f = &parts.program.functions[id];
    let body = parts.program.body(id);
    let blocks = &body.cfg.blocks;
    let paths = parts.paths[id].as_ref();
    let taken = f
        .bodies
        .iter()
        .any(|&b| parts.program.body_in(b).address_taken);
    FunctionEntry {
        name: f.name.clone(),
        bodies: f.bodies.clone(),
        linkage: body.linkage,
        address_taken: taken,
        unit: f.unit,
        call_sites: f.call_sites,
        recursive: f.recursive,
        status: status(body.skip, parts.paths[id].as_ref()),
        loc: body.loc,
        terminators: blocks.iter().map(|b| b.terminator).collect(),
        succs: blocks.iter().map(|b| b.succs.clone()).collect(),
        instructions: blocks.iter().map(|b| b.instructions).collect(),
        may_leave: select_blocks(&body.cfg, |b| b.may_leave),
        left_at_end: select_blocks(&body.cfg, |b| b.leaves_at_end),
        left_outside: find_left_outside(&body.cfg),
        returns_twice: select_blocks(&body.cfg, |b| b.returns_twice),
        single: select_blocks(&body.cfg, |b| b.single),
        known_labels: select_blocks(&body.cfg, |b| b.known_labels),
        pressure: block_pressures(&body.cfg),
        lines: block_spans(blocks),
        choices: choices(&body.cfg),
        branchless: body.branchless.clone(),
        loops: body.loops.clone(),
        split_loops: body.split_loops.clone(),
        optimised: optimised_by(parts.program, f, body),
        calls: calls(&body.cfg),
        outside: symbols.list_outside_calls(&body.cfg),
        cuts: paths.map_or(Vec::new(), |p| p.cuts.clone()),
        apart: paths.map_or(Vec::new(), |p| p.apart.clone()),
        wide: paths.is_some_and(|p| p.wide),
        counted: paths.and_then(|p| encode_counted(&p.counted)),
        known: parts
            .asked
            .map_or(Vec::new(), |a| find_known_ids(&a.selections[id])),
        at_least: Vec::new(),
        share: match &parts.assignment.shares[id.index()] {
            Share::Nothing => ShareEntry::Nothing,
            Share::Whole(c) => ShareEntry::Whole(*c),
            Share::Split(sets) => ShareEntry::Split(encode_sets(sets)),
            Share::Inside(sets) => ShareEntry::Inside(encode_sets(sets)),
            Share::Outside(c, set) => ShareEntry::Outside(*c, encode_set(set)),
            Share::Ranges(ranges) => ShareEntry::Ranges(ranges.clone()),
        },
        computed: Computed::default(),
    }
}

fn find_known_ids(selection: &Selection) -> Vec<PathId> {
    match selection {
        Selection::Known(known) => known.iter().map(|k| k.0).collect(),
        _ => Vec::new(),
    }
}

fn encode_sets(sets: &[(CopyId, IdSet<EdgeId>)]) -> Vec<(CopyId, String)> {
    sets.iter().map(|(c, set)| (*c, encode_set(set))).collect()
}

/// The set of counted edges, if edges are counted.
fn encode_counted(counted: &Counted) -> Option<String> {
    match counted {
        Counted::Paths => None,
        Counted::Edges(edges) => Some(encode_set(edges)),
    }
}

fn status(skip: Option<SkipReason>, paths: Option<&Measuring>) -> Status {
    match (skip, paths) {
        (Some(reason), _) => Status::Skipped(reason),
        // Cuts are of no consequence for counts of edges.
        (None, Some(p)) if !p.cuts.is_empty() && p.counted == Counted::Paths => Status::Cut,
        _ => Status::Exact,
    }
}

/// [`FunctionEntry::lines`]: empty if no block has a position.
fn block_spans(blocks: &TiSlice<BlockId, Block>) -> TiVec<BlockId, Spans> {
    if blocks.iter().all(|b| b.lines.is_empty()) {
        return TiVec::new();
    }
    blocks.iter().map(|b| Spans(b.lines.clone())).collect()
}

/// The blocks that are so, ascending.
fn select_blocks(cfg: &Cfg, is_so: impl Fn(&Block) -> bool) -> Vec<BlockId> {
    cfg.ids().filter(|&b| is_so(cfg.block(b))).collect()
}

/// [`FunctionEntry::left_outside`].
fn find_left_outside(cfg: &Cfg) -> Option<Vec<(BlockId, [u32; 2])>> {
    let left = |b: BlockId| {
        let block = cfg.block(b);
        let calls = block.calls.iter().filter(|c| c.may_leave);
        let mut outside = calls.filter(|c| !matches!(c.callee, Callee::Function(_)));
        let first = outside.next()?.span;
        let last = outside.next_back().map_or(first, |c| c.span);
        let has_lines = block.may_leave && !block.lines.is_empty();
        has_lines.then_some((b, [first, last]))
    };
    let may_leave = cfg.ids().any(|b| cfg.block(b).may_leave);
    may_leave.then(|| cfg.ids().filter_map(left).collect())
}

/// [`FunctionEntry::pressure`].
fn block_pressures(cfg: &Cfg) -> Vec<(BlockId, u32)> {
    let pressure = cfg.ids().map(|b| (b, cfg.block(b).pressure));
    pressure.filter(|(_, p)| *p > 0).collect()
}

/// [`FunctionEntry::choices`]: blocks of which nothing is known but their terminators are left out.
fn choices(cfg: &Cfg) -> Vec<ChoiceEntry> {
    let choice = |b: BlockId| {
        let decided = cfg.block(b).choice.as_ref()?;
        let known = decided.site.is_some() || decided.by != Choice::default();
        known.then(|| ChoiceEntry {
            block: b,
            site: decided.site,
            by: decided.by.clone(),
        })
    };
    cfg.ids().filter_map(choice).collect()
}

/// The hashes of files; none where no file has one.
fn checksums(files: &[SourceFile]) -> Vec<String> {
    if files.iter().all(|f| f.checksum.is_empty()) {
        return Vec::new();
    }
    files.iter().map(|f| f.checksum.clone()).collect()
}

/// Whether a function was optimised, by its compiler or before it was rewritten.
fn optimised_by(program: &Program, f: &ProgFunction, body: &FunctionBody) -> Optimised {
    let by_us = program.modules[f.bodies[0].module].optimized.is_some();
    match body.optimised {
        Optimised::No if by_us => Optimised::MayBeInlined,
        known => known,
    }
}

fn calls(cfg: &Cfg) -> Vec<(BlockId, Vec<(FuncId, u32)>)> {
    let callees = |b: BlockId| {
        let calls = cfg.block(b).calls.iter();
        calls.filter_map(|c| match c.callee {
            Callee::Function(f) => Some((f, c.span)),
            _ => None,
        })
    };
    let site = |b| (b, callees(b).collect::<Vec<_>>());
    cfg.ids().map(site).filter(|(_, c)| !c.is_empty()).collect()
}
