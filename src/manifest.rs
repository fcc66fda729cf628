//! `manifest.json`: enough to decode, merge, verify and simulate every copy's profile, without
//! LLVM and without the bitcode. `docs/manifest.schema.json`, its schema, is made from the types here.
//!
//! Labels are not stored: they follow from the control flow and the shares. Blocks are named by
//! ordinal, sets of DAG edges are bit sets in base64 (bit `i` of byte `i / 8`: edge `i`).

use crate::error::{Error, Result};
use crate::index::{BlockId, CfgEdge, CopyId, FuncId};
use crate::ir::{
    Block, Body, Call, Callee, Cfg, Linkage, Loc, Program, SkipReason, Span, Terminator,
};
use crate::partition::{Assignment, FunctionInput, FunctionPaths, Scheme, Share};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use fixedbitset::FixedBitSet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// The value of [`Manifest::format`].
pub const FORMAT: &str = "p3-manifest";
/// The version that this build reads and writes.
pub const VERSION: u32 = 2;

/// The manifest of one rewriting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always `p3-manifest`.
    #[cfg_attr(test, schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The version of the format.
    #[cfg_attr(test, schemars(extend("const" = VERSION)))]
    pub version: u32,
    /// Name and version of the tool that wrote it.
    pub tool: String,
    /// Identifies the rewriting: 32 hexadecimal digits, the hash of everything below. Raw
    /// profiles carry it.
    #[cfg_attr(test, schemars(regex(pattern = "^[0-9a-f]{32}$")))]
    pub program: String,
    /// The scheme.
    pub scheme: Scheme,
    /// The number of copies.
    #[cfg_attr(test, schemars(range(min = 1, max = 1024)))]
    pub copies: u32,
    /// Source files that positions refer to.
    pub files: Vec<String>,
    /// The input modules.
    pub modules: Vec<ModuleEntry>,
    /// The functions; a [`FuncId`] is a position here.
    pub functions: Vec<FunctionEntry>,
}

/// An input module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModuleEntry {
    /// Its name, relative to the input argument. In the output folder the module at position i is `native/mi.bc` (or
    /// `.ll`), and `copy-n/mi.bc`.
    pub name: String,
    /// blake3 of its bytes.
    #[cfg_attr(test, schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub hash: String,
}

/// Whether a function's profile is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every path of every activation is counted.
    Exact,
    /// Likewise, but paths also end and start at cut edges.
    Cut,
    /// It is not profiled.
    Skipped(SkipReason),
}

/// What the copies profile of a function: [`Share`] in serialised form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ShareEntry {
    /// It is skipped.
    Nothing,
    /// One copy profiles all paths.
    Whole(CopyId),
    /// These copies profile the paths inside these sets of DAG edges: in base64, bit i of byte i / 8 is edge i.
    Split(#[cfg_attr(test, schemars(length(min = 2)))] Vec<(CopyId, String)>),
}

impl ShareEntry {
    /// The copies that profile some of the function, ascending.
    pub fn copies(&self) -> Vec<CopyId> {
        match self {
            ShareEntry::Nothing => Vec::new(),
            ShareEntry::Whole(c) => vec![*c],
            ShareEntry::Split(sets) => sets.iter().map(|(c, _)| *c).collect(),
        }
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FunctionEntry {
    /// The symbol name.
    pub name: String,
    /// Where its bodies are; the first one stands for all.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub bodies: Vec<Body>,
    /// Linkage of the first body.
    pub linkage: Linkage,
    /// Whether some module takes its address.
    pub address_taken: bool,
    /// The first function of the same symbol: one copy profiles all of them ([`crate::ir::ProgFunction::unit`]).
    pub unit: FuncId,
    /// Its call sites in all modules, and one each if its address is taken and if it can be called from outside
    /// ([`crate::ir::ProgFunction::call_sites`]).
    pub call_sites: u32,
    /// Whether it may call itself, through others too ([`crate::ir::ProgFunction::recursive`]).
    pub recursive: bool,
    /// Whether its profile is complete.
    pub status: Status,
    /// Where it begins in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loc: Option<Loc>,
    /// The terminator of each block.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub terminators: Vec<Terminator>,
    /// The successors of each block, in the terminator's order.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub succs: Vec<Vec<BlockId>>,
    /// The instructions of each block.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub instructions: Vec<u32>,
    /// The blocks that control may leave in the middle ([`Block::may_leave`]).
    pub may_leave: Vec<BlockId>,
    /// The blocks with calls that may return twice ([`Block::returns_twice`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns_twice: Vec<BlockId>,
    /// The source positions of each block: file, line and number of instructions in turn; empty without
    /// debug info.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Vec<u32>>,
    /// The blocks with calls of functions of the program: whom they call, in order, and where in the
    /// block's `lines` (0 without).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(BlockId, Vec<(FuncId, u32)>)>,
    /// The edges that were cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<CfgEdge>,
    /// The headers of the loops whose iterations are apart where one copy profiles the whole function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<BlockId>,
    /// Under the scheme `edge`, the counted edges: a set of DAG edges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// Who profiles it.
    pub share: ShareEntry,
}

impl FunctionEntry {
    /// Its control flow, as far as the manifest keeps it: calls of functions outside the program
    /// and through pointers are not listed.
    pub fn cfg(&self) -> Cfg {
        let mut calls = vec![Vec::new(); self.succs.len()];
        for (b, callees) in &self.calls {
            let call = |&(f, span)| Call {
                callee: Callee::Function(f),
                span,
            };
            calls[b.index()] = callees.iter().map(call).collect();
        }
        let blocks = calls.into_iter().enumerate().map(|(i, calls)| Block {
            terminator: self.terminators[i],
            succs: self.succs[i].clone(),
            instructions: self.instructions[i],
            calls,
            may_leave: self.may_leave.binary_search(&BlockId::new(i)).is_ok(),
            returns_twice: self.returns_twice.contains(&BlockId::new(i)),
            single: false, // versions are chosen, see `apart`
            lines: self.spans(BlockId::new(i)).collect(),
        });
        Cfg {
            blocks: blocks.collect(),
        }
    }

    /// Names its control flow: equal hashes, equal blocks and edges, in another build too. 16 hexadecimal
    /// digits.
    pub fn cfg_hash(&self) -> String {
        let mut hash = blake3::Hasher::new();
        let shape = (&self.terminators, &self.succs);
        hash.update(&serde_json::to_vec(&shape).expect("control flow serialises"));
        hash.finalize().to_hex()[..16].to_string()
    }

    /// The source positions of block `b`, as [`Block::lines`].
    pub fn spans(&self, b: BlockId) -> impl DoubleEndedIterator<Item = Span> + '_ {
        let numbers = self.lines.get(b.index()).map_or(&[][..], |l| l);
        let span = |s: &[u32]| Span {
            loc: Loc {
                file: s[0],
                line: s[1],
            },
            instructions: s[2],
        };
        numbers.chunks_exact(3).map(span)
    }

    /// What the analyses take, with `cfg` from [`FunctionEntry::cfg`].
    pub fn input<'a>(&self, cfg: &'a Cfg) -> FunctionInput<'a> {
        let skip = match self.status {
            Status::Skipped(reason) => Some(reason),
            _ => None,
        };
        FunctionInput {
            cfg,
            unit: self.unit,
            call_sites: self.call_sites,
            skip,
        }
    }

    /// The counted edges, over a DAG of `edges` edges.
    pub fn counted(&self, edges: usize) -> Result<Option<FixedBitSet>, String> {
        let counted = self.counted.as_deref();
        counted.map(|text| decode_set(text, edges)).transpose()
    }

    /// Its share, with edge sets over a DAG of `edges` edges; an error when they do not fit.
    pub fn share(&self, edges: usize) -> Result<Share, String> {
        Ok(match &self.share {
            ShareEntry::Nothing => Share::Nothing,
            ShareEntry::Whole(c) => Share::Whole(*c),
            ShareEntry::Split(sets) => {
                let set = |(c, s): &(CopyId, String)| Ok((*c, decode_set(s, edges)?));
                Share::Split(sets.iter().map(set).collect::<Result<_, String>>()?)
            }
        })
    }
}

fn encode_set(set: &FixedBitSet) -> String {
    let mut bytes = vec![0u8; set.len().div_ceil(8)];
    for i in set.ones() {
        bytes[i / 8] |= 1 << (i % 8);
    }
    BASE64.encode(bytes)
}

fn decode_set(text: &str, edges: usize) -> Result<FixedBitSet, String> {
    let bytes = BASE64
        .decode(text)
        .map_err(|e| format!("edge set is not base64: {e}"))?;
    let mut set = FixedBitSet::with_capacity(edges);
    let ones = (0..bytes.len() * 8).filter(|i| bytes[i / 8] >> (i % 8) & 1 == 1);
    for i in ones {
        if i >= edges {
            return Err(format!("edge set names edge {i} of {edges}"));
        }
        set.insert(i);
    }
    Ok(set)
}

/// Everything that goes into a manifest.
pub struct Parts<'a> {
    /// The program.
    pub program: &'a Program,
    /// The path structure of its functions.
    pub paths: &'a [Option<FunctionPaths>],
    /// Who profiles what.
    pub assignment: &'a Assignment,
    /// The scheme.
    pub scheme: Scheme,
    /// The number of copies.
    pub copies: u32,
    /// Options that change what the copies do, in a stable text form: part of the identity.
    pub options: &'a str,
}

impl Manifest {
    /// The manifest of a rewriting.
    pub fn new(parts: &Parts) -> Manifest {
        let p = parts.program;
        let module = |m: &crate::ir::Module| ModuleEntry {
            name: m.name.clone(),
            hash: m.hash.clone(),
        };
        let functions = (0..p.functions.len()).map(|i| entry(parts, FuncId::new(i)));
        let mut manifest = Manifest {
            format: FORMAT.into(),
            version: VERSION,
            tool: concat!("p3-rewrite ", env!("CARGO_PKG_VERSION")).into(),
            program: String::new(),
            scheme: parts.scheme,
            copies: parts.copies,
            files: p.files.clone(),
            modules: p.modules.iter().map(module).collect(),
            functions: functions.collect(),
        };
        manifest.program = manifest.identity(parts.options);
        manifest
    }

    fn identity(&self, options: &str) -> String {
        let mut hash = blake3::Hasher::new();
        hash.update(&serde_json::to_vec(self).expect("a manifest serialises"));
        hash.update(options.as_bytes());
        hash.finalize().to_hex()[..32].to_string()
    }

    /// The bytes of [`Manifest::program`].
    pub fn program_bytes(&self) -> [u8; 16] {
        let digits = self.program.as_bytes().chunks_exact(2);
        let byte = |d: &[u8]| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.map(byte).collect();
        bytes
            .and_then(|b| b.try_into().ok())
            .expect("checked when read")
    }

    /// Reads and checks `path`.
    pub fn read(path: &Path) -> Result<Manifest> {
        let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
        Self::parse(&bytes).map_err(|problem| {
            Error::profile(
                path,
                problem,
                "name the manifest.json that p3-rewrite wrote",
            )
        })
    }

    /// Whether `path` is a manifest, of whatever version.
    pub fn is_one(path: &Path) -> bool {
        let header = std::fs::read(path).ok();
        let header = header.and_then(|bytes| serde_json::from_slice::<Header>(&bytes).ok());
        header.is_some_and(|h| h.format == FORMAT)
    }

    /// Parses and checks: afterwards every index is in range and every function has an entry
    /// block, so that nothing that uses a manifest can panic on it.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, String> {
        let header: Header =
            serde_json::from_slice(bytes).map_err(|e| format!("not a manifest: {e}"))?;
        if header.format != FORMAT {
            return Err(format!("not a manifest: format is {:?}", header.format));
        }
        if header.version != VERSION {
            return Err(format!(
                "manifest version {} (this build: {VERSION})",
                header.version
            ));
        }
        let manifest: Manifest =
            serde_json::from_slice(bytes).map_err(|e| format!("damaged manifest: {e}"))?;
        manifest
            .check()
            .map_err(|e| format!("damaged manifest: {e}"))?;
        Ok(manifest)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let hex = self.program.len() == 32 && self.program.bytes().all(|b| b.is_ascii_hexdigit());
        ensure(hex, "program id")?;
        ensure((1..=1024).contains(&self.copies), "number of copies")?;
        self.functions.iter().try_for_each(|f| {
            self.check_function(f)
                .map_err(|e| format!("{}: {e}", f.name))
        })
    }

    fn check_function(&self, f: &FunctionEntry) -> Result<(), String> {
        let blocks = f.succs.len();
        ensure(blocks > 0 && !f.bodies.is_empty(), "no body")?;
        ensure(
            f.bodies
                .iter()
                .all(|b| b.module.index() < self.modules.len()),
            "module",
        )?;
        ensure(f.unit.index() < self.functions.len(), "unit")?;
        let columns = f.terminators.len() == blocks && f.instructions.len() == blocks;
        ensure(
            columns && matches!(f.lines.len(), n if n == 0 || n == blocks),
            "columns",
        )?;
        let inside = |b: &BlockId| b.index() < blocks;
        ensure(f.succs.iter().flatten().all(inside), "successor")?;
        ensure(
            f.may_leave.iter().all(inside) && f.may_leave.is_sorted(),
            "may_leave",
        )?;
        ensure(f.calls.iter().all(|(b, _)| inside(b)), "call site")?;
        let known = |c: &FuncId| c.index() < self.functions.len();
        let sites = || {
            f.calls
                .iter()
                .flat_map(|(b, c)| c.iter().map(move |c| (b, c)))
        };
        ensure(sites().all(|(_, (c, _))| known(c)), "callee")?;
        let spans = |b: &BlockId| f.lines.get(b.index()).map_or(0, |l| l.len() / 3);
        let placed =
            |(b, (_, span)): (&BlockId, &(FuncId, u32))| *span == 0 || (*span as usize) < spans(b);
        ensure(sites().all(placed), "place of a call")?;
        let cut = |c: &CfgEdge| {
            f.succs
                .get(c.block.index())
                .is_some_and(|s| c.succ < s.len() as u32)
        };
        ensure(f.cuts.iter().all(cut) && f.cuts.is_sorted(), "cut edge")?;
        ensure(f.apart.iter().all(inside) && f.apart.is_sorted(), "header")?;
        let files = f
            .lines
            .iter()
            .flat_map(|l| l.iter().step_by(3))
            .chain(f.loc.iter().map(|l| &l.file));
        ensure(
            files.into_iter().all(|&i| (i as usize) < self.files.len()),
            "file",
        )?;
        ensure(f.lines.iter().all(|l| l.len() % 3 == 0), "lines")?;
        self.check_share(f)
    }

    fn check_share(&self, f: &FunctionEntry) -> Result<(), String> {
        let skipped = matches!(f.status, Status::Skipped(_));
        let counts_edges = self.scheme == Scheme::Edge && !skipped;
        ensure(f.counted.is_some() == counts_edges, "counted edges")?;
        let copy = |c: &CopyId| c.0 < self.copies;
        ensure(
            match &f.share {
                ShareEntry::Nothing => skipped,
                ShareEntry::Whole(c) => !skipped && copy(c),
                ShareEntry::Split(s) => !skipped && s.iter().all(|(c, _)| copy(c)),
            },
            "share",
        )
    }
}

/// What every version of the format has.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

fn ensure(ok: bool, what: &str) -> Result<(), String> {
    if ok {
        Ok(())
    } else {
        Err(format!("{what} out of range"))
    }
}

fn entry(parts: &Parts, id: FuncId) -> FunctionEntry {
    let f = &parts.program.functions[id.index()];
    let body = parts.program.body(id);
    let blocks = &body.cfg.blocks;
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
        status: status(body.skip, parts.paths[id.index()].as_ref()),
        loc: body.loc,
        terminators: blocks.iter().map(|b| b.terminator).collect(),
        succs: blocks.iter().map(|b| b.succs.clone()).collect(),
        instructions: blocks.iter().map(|b| b.instructions).collect(),
        may_leave: body
            .cfg
            .ids()
            .filter(|&b| body.cfg.block(b).may_leave)
            .collect(),
        returns_twice: body
            .cfg
            .ids()
            .filter(|&b| body.cfg.block(b).returns_twice)
            .collect(),
        lines: lines(blocks),
        calls: calls(&body.cfg),
        cuts: parts.paths[id.index()]
            .as_ref()
            .map_or(Vec::new(), |p| p.cuts.clone()),
        apart: parts.paths[id.index()]
            .as_ref()
            .map_or(Vec::new(), |p| p.apart.clone()),
        counted: parts.paths[id.index()]
            .as_ref()
            .and_then(|p| p.counted.as_ref().map(encode_set)),
        share: match &parts.assignment.shares[id.index()] {
            Share::Nothing => ShareEntry::Nothing,
            Share::Whole(c) => ShareEntry::Whole(*c),
            Share::Split(sets) => {
                ShareEntry::Split(sets.iter().map(|(c, s)| (*c, encode_set(s))).collect())
            }
        },
    }
}

fn status(skip: Option<SkipReason>, paths: Option<&FunctionPaths>) -> Status {
    match (skip, paths) {
        (Some(reason), _) => Status::Skipped(reason),
        // Cuts are of no consequence for counts of edges.
        (None, Some(p)) if !p.cuts.is_empty() && p.counted.is_none() => Status::Cut,
        _ => Status::Exact,
    }
}

fn lines(blocks: &[Block]) -> Vec<Vec<u32>> {
    if blocks.iter().all(|b| b.lines.is_empty()) {
        return Vec::new();
    }
    blocks
        .iter()
        .map(|b| {
            let spans = b.lines.iter();
            let numbers = |s: &Span| [s.loc.file, s.loc.line, s.instructions];
            spans.flat_map(numbers).collect()
        })
        .collect()
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

impl Status {
    /// Whether it is not profiled.
    pub fn is_skipped(self) -> bool {
        matches!(self, Status::Skipped(_))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Exact => f.write_str("exact"),
            Status::Cut => f.write_str("cut"),
            Status::Skipped(reason) => write!(f, "skipped({reason})"),
        }
    }
}

#[cfg(test)]
mod published;
