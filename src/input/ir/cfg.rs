//! The control-flow graph of one function body.

use crate::base::index::{BlockId, CfgEdge, FuncId, TiVec, ti_vec};
use crate::input::load::positions::Choice;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The control-flow graph of a function with at least one block. Block 0 is the entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cfg {
    /// The blocks in the order of the input module's function.
    pub blocks: TiVec<BlockId, Block>,
}

/// A basic block as the analyses see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What ends the block.
    pub terminator: Terminator,
    /// Successors in the terminator's order (`br`: true, false; `switch`: default, then cases;
    /// `invoke`: normal, unwind). Parallel edges stay apart.
    pub succs: Vec<BlockId>,
    /// Instructions that do work: all but debug and other intrinsics that generate no code.
    pub instructions: u32,
    /// Direct, indirect and assembler calls of the block in order, the terminator's last.
    pub calls: Vec<Call>,
    /// Whether control may leave the block in its middle: it holds a call that may not return
    /// (by `exit`, `longjmp`, an exception), the call of an `invoke` included, one in tail position not: there, a path
    /// ends before the call.
    pub may_leave: bool,
    /// Whether it holds a call in tail position that may not return: a path ends in front of it.
    pub leaves_at_end: bool,
    /// Whether it holds a call that may return a second time, as `setjmp` does.
    pub returns_twice: bool,
    /// Whether it holds something of which no copy may be made: the block has one version.
    pub single: bool,
    /// Whether it ends in an `indirectbr` whose address comes from constants alone: addresses of blocks, as they are
    /// or in tables that nobody writes. The jump of a copy can then be led to other blocks.
    pub known_labels: bool,
    /// Its register pressure: by how many the integers and addresses that are live where it begins exceed the registers
    /// of the machine. 0 in large functions, of which it is not known.
    pub pressure: u32,
    /// The block's instructions by source position, in order; empty without debug information, else all
    /// of them. An instruction without a position belongs to the one before it.
    pub lines: Vec<Span>,
    /// What is chosen at its end, where there is a choice and debug information. Most blocks have none, and it is
    /// large.
    pub choice: Option<Box<Decided>>,
}

/// Names by which programs call the C library's `fork`.
pub const FORK: &[&str] = &["fork", "__fork", "__libc_fork"];

impl Block {
    /// Whether it calls `fork`.
    pub fn calls_fork(&self) -> bool {
        let is_fork = |call: &Call| matches!(&call.callee, Callee::External(name) if FORK.contains(&name.as_str()));
        self.calls.iter().any(is_fork)
    }

    /// A block that ends so, of which nothing else is known yet: no instructions, calls or lines.
    pub fn with_terminator(terminator: Terminator, succs: Vec<BlockId>) -> Block {
        Block {
            terminator,
            succs,
            instructions: 0,
            calls: Vec::new(),
            may_leave: false,
            leaves_at_end: false,
            returns_twice: false,
            single: false,
            known_labels: false,
            pressure: 0,
            lines: Vec::new(),
            choice: None,
        }
    }
}

/// The kind of a block's terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Terminator {
    /// `ret`
    Return,
    /// `br`, unconditional
    Jump,
    /// `br`, conditional: successor 0 is true, 1 is false
    Branch,
    /// `switch`: successor 0 is the default
    Switch,
    /// `indirectbr`: its edges cannot be split, repeats of one target cannot be told apart
    IndirectBr,
    /// `invoke`: successor 1 is the unwind edge, which cannot be split
    Invoke,
    /// `callbr`: successor 0 is where it falls through, the other edges cannot be split
    CallBr,
    /// `resume`
    Resume,
    /// `unreachable`
    Unreachable,
    /// `cleanupret`, `catchret`, `catchswitch`: Windows funclets
    Funclet,
}

/// A call site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Who is called.
    pub callee: Callee,
    /// Where in [`Block::lines`]; 0 without debug information.
    pub span: u32,
    /// Whether control may leave the block in it ([`Block::may_leave`]), as far as its module tells.
    pub may_leave: bool,
}

/// The target of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of the program, aliases resolved; of several that share a symbol, the first
    /// ([`crate::input::ir::ProgFunction::unit`]).
    Function(FuncId),
    /// A function that no input module defines, by symbol name.
    External(String),
    /// Through a pointer.
    Indirect,
    /// Inline assembly.
    Asm,
}

/// A source position; `file` is an index into [`crate::input::ir::Program::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Loc {
    /// Index into the program's file table.
    pub file: u32,
    /// The line, counted from 1.
    pub line: u32,
}

/// A source position to the column. Serialised as five numbers: file, line, column, inlined call plus 1 (0 if it is in
/// none) and discriminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "[u32; 5]", into = "[u32; 5]")]
pub struct Site {
    /// File and line.
    pub loc: Loc,
    /// The column in bytes, counted from 1; 0 if it is not known.
    pub column: u32,
    /// The inlined call that it is in: an index into [`crate::input::ir::Program::inlined`].
    pub inlined: Option<u32>,
    /// Tells blocks of one line apart, where the compiler was asked for that; else 0.
    pub discriminator: u32,
}

impl From<[u32; 5]> for Site {
    fn from([file, line, column, inlined, discriminator]: [u32; 5]) -> Site {
        Site {
            loc: Loc { file, line },
            column,
            inlined: inlined.checked_sub(1),
            discriminator,
        }
    }
}

impl From<Site> for [u32; 5] {
    fn from(site: Site) -> [u32; 5] {
        let inlined = site.inlined.map_or(0, |call| call + 1);
        let Loc { file, line } = site.loc;
        [file, line, site.column, inlined, site.discriminator]
    }
}

/// A choice of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Where, if that is known.
    pub site: Option<Site>,
    /// By what.
    pub by: Choice,
}

/// Consecutive instructions of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where.
    pub loc: Loc,
    /// The column of the first; 0 if it is not known.
    pub column: u32,
    /// The inlined call that they are in: an index into [`crate::input::ir::Program::inlined`].
    pub inlined: Option<u32>,
    /// How many, counted as [`Block::instructions`].
    pub instructions: u32,
}

impl Span {
    /// Whether it begins where a choice is, in the same inlined call.
    pub(crate) fn is_at(&self, site: Site) -> bool {
        (self.loc, self.column, self.inlined) == (site.loc, site.column, site.inlined)
    }
}

impl Terminator {
    /// How edge number `succ` is called in reports and dumps; empty where there is no choice.
    pub fn edge_name(self, succ: u32) -> String {
        match (self, succ) {
            (Terminator::Branch, 0) => "true".into(),
            (Terminator::Branch, _) => "false".into(),
            (Terminator::Switch, 0) => "default".into(),
            (Terminator::Switch, n) => format!("case #{n}"),
            (Terminator::Invoke, 0) => "normal".into(),
            (Terminator::Invoke, _) => "unwind".into(),
            (Terminator::CallBr, 0) => "falls through".into(),
            (Terminator::IndirectBr | Terminator::CallBr, n) => format!("goto #{n}"),
            _ => String::new(),
        }
    }

    /// Whether edge number `succ` of such a terminator can get a block of its own.
    pub fn can_split(self, succ: u32) -> bool {
        match self {
            Terminator::IndirectBr | Terminator::Funclet => false,
            Terminator::Invoke | Terminator::CallBr => succ == 0,
            _ => true,
        }
    }
}

impl Cfg {
    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there is no block (never true for a lowered function).
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The block with number `b`.
    pub fn block(&self, b: BlockId) -> &Block {
        &self.blocks[b]
    }

    /// Where edge `e` leads.
    pub fn target(&self, e: CfgEdge) -> BlockId {
        self.block(e.block).succs[e.succ as usize]
    }

    /// The edges out of a block and where they lead, in order, as they can be told apart: instead of an edge of an
    /// `indirectbr` that repeats a target, the first one to that target. O(successors).
    pub(crate) fn distinct_edges(
        &self,
        block: BlockId,
    ) -> impl Iterator<Item = (CfgEdge, BlockId)> + '_ {
        let Block {
            terminator, succs, ..
        } = self.block(block);
        let repeats = *terminator == Terminator::IndirectBr;
        let mut first = FxHashMap::default();
        (0..).zip(succs).map(move |(succ, &to)| {
            let succ = if repeats {
                *first.entry(to).or_insert(succ)
            } else {
                succ
            };
            (CfgEdge { block, succ }, to)
        })
    }

    /// Of these the edges that are ever taken: each that can be told apart once. O(successors).
    pub(crate) fn taken_edges(
        &self,
        block: BlockId,
    ) -> impl Iterator<Item = (CfgEdge, BlockId)> + '_ {
        let edges = (0..).zip(self.distinct_edges(block));
        edges.filter_map(|(succ, found)| (found.0.succ == succ).then_some(found))
    }

    /// The edge that is taken instead of `edge`: itself, or the first one of an `indirectbr` to the same target. O(1),
    /// O(successors) of an `indirectbr`.
    #[cfg_attr(
        not(feature = "llvm"),
        allow(dead_code, reason = "only engines use it")
    )]
    pub(crate) fn taken_edge(&self, edge: CfgEdge) -> CfgEdge {
        if self.block(edge.block).terminator != Terminator::IndirectBr {
            return edge;
        }
        let found = self.distinct_edges(edge.block).nth(edge.succ as usize);
        found.expect("it is an edge of the block").0
    }

    /// By block: the edges that lead to it, in order. O(V + E).
    pub(crate) fn incoming_edges(&self) -> TiVec<BlockId, Vec<CfgEdge>> {
        let mut ins = self.by_block(Vec::new());
        for block in self.ids() {
            for (to, succ) in self.block(block).succs.iter().zip(0..) {
                ins[*to].push(CfgEdge { block, succ });
            }
        }
        ins
    }

    /// By block: where these edges come from, one entry an edge. O(V + E).
    pub(crate) fn predecessors(&self) -> TiVec<BlockId, Vec<BlockId>> {
        let sources = |ins: Vec<CfgEdge>| ins.iter().map(|e| e.block).collect();
        self.incoming_edges().into_iter().map(sources).collect()
    }

    /// One of these for each block.
    pub fn by_block<T: Clone>(&self, value: T) -> TiVec<BlockId, T> {
        ti_vec![value; self.len()]
    }

    /// The blocks' numbers, in order.
    pub fn ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        self.blocks.keys()
    }
}
