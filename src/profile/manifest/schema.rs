//! The types of a manifest, and what they mean.

use super::ShareProblem;
#[cfg(test)]
use super::{FORMAT, VERSION};
use crate::base::index::{
    BlockId, CfgEdge, CopyId, EdgeId, FuncId, IdSet, ModuleId, PathId, TiSlice, TiVec, ti_vec,
};
use crate::copies::partition::{Iterations, Ranges, Share};
use crate::copies::selection::CountedPaths;
use crate::copies::strategy::Scheme;
use crate::estimates::data::Size;
use crate::input::ir::processes::forks_unnoticed;
use crate::input::ir::threads::{Starter, starter};
use crate::input::ir::{
    Block, Body, Call, Callee, Cfg, Decided, Linkage, Loc, Site, SkipReason, Span, Terminator,
};
use crate::input::load::Level;
use crate::input::load::positions::{Choice, Inlined, Optimised};
use crate::paths::function::{FunctionInput, Measuring};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::sync::OnceLock;

/// Blocks between where a condition is known and the branch on it are followed so far.
const FARTHEST_IMPLIED: usize = 32;

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
    /// In a union, which is of one copy whatever was united: the schemes of its programs, each once. Else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub united: Vec<Scheme>,
    /// Source files that positions refer to.
    pub files: Vec<String>,
    /// The hash of each of these when it was compiled, in hexadecimal: MD5, SHA-1 or SHA-256 by its length; "" if there
    /// is none. Empty if there are none at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checksums: Vec<String>,
    /// Calls whose callees' code stands in place of them; one that is within another comes after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<Inlined>,
    /// The paths that were asked for, as on the command line; empty where all were. Of paths that no copy counts
    /// nothing is known. In a union, what any of its programs was asked for; `other runs` says that not all were built
    /// against earlier profiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The symbols of functions that are called and that no input module defines, each once. Absent where the tool that
    /// wrote the manifest did not record them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<Vec<String>>,
    /// The symbols of functions that start threads, or processes that count in their parents' files, and that an input
    /// module declares or defines, ascending: a program that counts by plain increments may lose counts by them. Absent
    /// where the tool that wrote the manifest did not record them, and in a union.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starters: Option<Vec<String>>,
    /// The input modules.
    #[cfg_attr(test, schemars(with = "Vec<ModuleEntry>"))]
    pub modules: TiVec<ModuleId, ModuleEntry>,
    /// The functions; a [`FuncId`] is a position here.
    #[cfg_attr(test, schemars(with = "Vec<FunctionEntry>"))]
    pub functions: TiVec<FuncId, FunctionEntry>,
}

/// An input module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModuleEntry {
    /// Its name, relative to the input argument. In the output folder the module at position i is `native/mi.bc` (or
    /// `.ll`), and `copy-n/mi.bc`.
    pub name: String,
    /// blake3 of its bytes, those of the optimised module if it was optimised.
    #[cfg_attr(test, schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub hash: String,
    /// LLVM's pipeline that optimised it before it was rewritten, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimized: Option<Level>,
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
    /// It is skipped, or no path of it is selected.
    Nothing,
    /// One copy profiles all paths.
    Whole(CopyId),
    /// These copies profile the paths inside these sets of DAG edges: in base64, bit i of byte i / 8 is edge i.
    Split(#[cfg_attr(test, schemars(length(min = 1)))] Vec<(CopyId, String)>),
    /// Copies profile ranges of paths.
    Ranges(Ranges),
    /// These copies profile the paths inside these sets of DAG edges, in versions of the function in which no other
    /// path runs a statement.
    Inside(#[cfg_attr(test, schemars(length(min = 1)))] Vec<(CopyId, String)>),
    /// This copy profiles all paths but those inside this set of edges of the DAG with iterations apart, in such
    /// versions.
    Outside(CopyId, String),
}

impl Manifest {
    /// Whether copies count nothing of the program: no path is selected, or all functions are skipped.
    pub fn counts_nothing(&self) -> bool {
        let mut shares = self.functions.iter().map(|f| &f.share);
        shares.all(|share| *share == ShareEntry::Nothing)
    }

    /// The functions through which the program can start threads, as far as its modules show; what is called, where
    /// nothing else was recorded.
    pub fn thread_starters(&self) -> impl Iterator<Item = (&str, Starter)> {
        let symbols = self.starters.as_ref().or(self.outside.as_ref());
        let symbols = symbols.into_iter().flatten();
        symbols.filter_map(|symbol| Some((symbol.as_str(), starter(symbol)?)))
    }

    /// The functions outside the program that start processes which count in their parents' files, as far as its modules
    /// show. O(functions) if there are any.
    pub fn unnoticed_forks(&self) -> Vec<&str> {
        let symbols = self.starters.iter().flatten();
        let found: Vec<&str> = symbols
            .map(String::as_str)
            .filter(|s| forks_unnoticed(s))
            .collect();
        let is_outside = |s: &&str| !self.functions.iter().any(|f| f.name == **s);
        found.into_iter().filter(is_outside).collect()
    }

    /// Whether only some paths were asked for, and the program has none of them: it leaves no profile when it runs.
    pub fn lacks_selected_paths(&self) -> bool {
        !self.paths.is_empty() && self.counts_nothing()
    }

    /// The inlined calls around code, the innermost first: indices into [`Manifest::inlined`].
    pub fn calls_around(&self, innermost: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(innermost, |&n| self.inlined[n as usize].within)
    }

    /// The number of each function's first block among the blocks of all functions, by which samples name them.
    pub fn first_blocks(&self) -> impl Iterator<Item = u32> + '_ {
        let sizes = self.functions.iter().map(|f| f.succs.len() as u32);
        sizes.scan(0, |next, n| Some(std::mem::replace(next, *next + n)))
    }

    /// The number of blocks of all functions.
    pub fn blocks(&self) -> usize {
        self.functions.iter().map(|f| f.succs.len()).sum()
    }

    /// The calls of functions outside the program in function `entry`, by block: the symbols.
    pub fn outside_calls<'a>(
        &'a self,
        entry: &'a FunctionEntry,
    ) -> impl Iterator<Item = (BlockId, &'a str)> {
        let names = self.outside.as_deref().unwrap_or_default();
        let name = |call: &u32| names.get((*call).checked_sub(1)? as usize);
        let calls = entry.outside.iter();
        calls.flat_map(move |(b, calls)| {
            let named = calls.iter().filter_map(name);
            named.map(|name| (*b, name.as_str()))
        })
    }

    /// How large the program is. O(functions).
    pub(crate) fn size(&self) -> Size {
        Size {
            functions: self.functions.len(),
            blocks: self.blocks(),
        }
    }
}

impl ShareEntry {
    /// The copies that profile some of the function, ascending.
    pub fn copies(&self) -> Vec<CopyId> {
        match self {
            ShareEntry::Nothing => Vec::new(),
            ShareEntry::Whole(c) => vec![*c],
            ShareEntry::Split(sets) | ShareEntry::Inside(sets) => {
                sets.iter().map(|(c, _)| *c).collect()
            }
            ShareEntry::Outside(c, _) => vec![*c],
            ShareEntry::Ranges(ranges) => ranges.copies(),
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
    /// The first function of the same symbol: one copy profiles all of them ([`crate::input::ir::ProgFunction::unit`]).
    pub unit: FuncId,
    /// Its call sites in all modules, and one each if its address is taken and if it can be called from outside
    /// ([`crate::input::ir::ProgFunction::call_sites`]).
    pub call_sites: u32,
    /// Whether it may call itself, through others too ([`crate::input::ir::ProgFunction::recursive`]).
    pub recursive: bool,
    /// Whether its profile is complete.
    pub status: Status,
    /// Where it begins in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loc: Option<Loc>,
    /// The terminator of each block.
    #[cfg_attr(test, schemars(length(min = 1), with = "Vec<Terminator>"))]
    pub terminators: TiVec<BlockId, Terminator>,
    /// The successors of each block, in the terminator's order.
    #[cfg_attr(test, schemars(length(min = 1), with = "Vec<Vec<BlockId>>"))]
    pub succs: TiVec<BlockId, Vec<BlockId>>,
    /// The instructions of each block.
    #[cfg_attr(test, schemars(length(min = 1), with = "Vec<u32>"))]
    pub instructions: TiVec<BlockId, u32>,
    /// The blocks that control may leave in the middle ([`Block::may_leave`]).
    pub may_leave: Vec<BlockId>,
    /// The blocks with calls in tail position that may not return, ascending ([`Block::leaves_at_end`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_at_end: Vec<BlockId>,
    /// The blocks with calls of functions that no input module defines, or through pointers, in which control may
    /// leave, ascending: the first and the last of these calls' positions. Missing where `may_leave` is empty, and
    /// where an earlier version wrote the manifest: then nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_outside: Option<Vec<(BlockId, [u32; 2])>>,
    /// The blocks with calls that may return twice ([`Block::returns_twice`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns_twice: Vec<BlockId>,
    /// The blocks of which no copy may be made ([`Block::single`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub single: Vec<BlockId>,
    /// The blocks whose `indirectbr` jumps to addresses that are all known ([`Block::known_labels`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_labels: Vec<BlockId>,
    /// The blocks with more live values than registers, ascending, and how many more ([`Block::pressure`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pressure: Vec<(BlockId, u32)>,
    /// The source positions of each block: file, line, column (0 if it is not known), the inlined call plus 1 (0 if it
    /// is in none) and number of instructions in turn; empty without debug info.
    #[serde(default, skip_serializing_if = "TiSlice::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<Vec<u32>>"))]
    pub lines: TiVec<BlockId, Vec<u32>>,
    /// What is chosen at the ends of blocks with several successors, ascending, as far as it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ChoiceEntry>,
    /// Places of conditions that have no branch: the compiler made them values. File, line, column, inlined call plus 1
    /// and discriminator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branchless: Vec<[u32; 5]>,
    /// The blocks that go back to the header of a loop, ascending, and where the source begins that loop, as far as the
    /// compiler says so: file, line, column, inlined call plus 1 and discriminator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<(BlockId, [u32; 5])>,
    /// The blocks that go back in loops of which the optimiser may have made several, or taken iterations out,
    /// ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split_loops: Vec<BlockId>,
    /// Whether the compiler optimised it.
    #[serde(default, skip_serializing_if = "Optimised::is_unknown")]
    pub optimised: Optimised,
    /// The blocks with calls of functions of the program: whom they call, in order, and where in the
    /// block's `lines` (0 without).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(BlockId, Vec<(FuncId, u32)>)>,
    /// The blocks with calls of functions that no input module defines, ascending: for each such call the position in
    /// the manifest's `outside` plus 1, or 0 for a call through a pointer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<(BlockId, Vec<u32>)>,
    /// The edges that were cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<CfgEdge>,
    /// The headers of the loops whose iterations are apart where one copy profiles the whole function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<BlockId>,
    /// Whether it counts in an array although it has more than 2^14 paths.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wide: bool,
    /// Under the scheme `edge`, the counted edges: a set of DAG edges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// Where paths were asked for that an earlier profile had not seen: the ids of those that it had, ascending. Copies
    /// may count some of them all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<PathId>,
    /// In a profile that was joined from several: the ids of paths that ran and that not every one of these counted,
    /// ascending. They ran at least as often as counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<PathId>,
    /// Who profiles it.
    pub share: ShareEntry,
    /// What is computed of it when it is asked for.
    #[serde(skip)]
    pub(crate) computed: Computed,
}

/// What is computed of a function once, when it is asked for: no part of what it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Computed {
    /// Blocks with the targets that several of their edges lead to.
    shared_targets: OnceLock<HashSet<(BlockId, BlockId)>>,
}

impl PartialEq for Computed {
    fn eq(&self, _: &Computed) -> bool {
        true
    }
}

/// What is chosen at the end of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChoiceEntry {
    /// The block.
    pub block: BlockId,
    /// Where: file, line, column (0 if it is not known), inlined call plus 1 (0 if it is in none), discriminator (0 if
    /// there is none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<[u32; 5]>,
    /// By what.
    #[serde(default, skip_serializing_if = "is_branch")]
    pub by: Choice,
}

/// Whether nothing is known of a choice but its terminator.
fn is_branch(choice: &Choice) -> bool {
    *choice == Choice::default()
}

/// The numbers of a [`Span`].
pub(super) const SPAN: usize = 5;

/// A place as numbers.
pub(super) fn numbers(site: Site) -> [u32; 5] {
    let inlined = site.inlined.map_or(0, |n| n + 1);
    let loc = site.loc;
    [loc.file, loc.line, site.column, inlined, site.discriminator]
}

/// The place that numbers stand for.
fn site(&[file, line, column, inlined, discriminator]: &[u32; 5]) -> Site {
    Site {
        loc: Loc { file, line },
        column,
        inlined: inlined.checked_sub(1),
        discriminator,
    }
}

impl FunctionEntry {
    /// Whether several edges out of `block` lead to `target`. O(edges) the first time, then O(1).
    pub(crate) fn shares_target(&self, block: BlockId, target: BlockId) -> bool {
        let shared = self.computed.shared_targets.get_or_init(|| {
            let mut seen = HashSet::new();
            let edges = self.succs.iter_enumerated();
            let edges = edges.flat_map(|(from, succs)| succs.iter().map(move |to| (from, *to)));
            edges.filter(|edge| !seen.insert(*edge)).collect()
        });
        shared.contains(&(block, target))
    }

    /// What is chosen at the end of block `b`, as far as it is known.
    pub fn choice(&self, b: BlockId) -> Option<Decided> {
        let entry = self.find_choice(b)?;
        Some(Decided {
            site: entry.site.as_ref().map(site),
            by: entry.by.clone(),
        })
    }

    /// The first and the last of [`FunctionEntry::spans`] of block `b` with a call in which control may have left, if
    /// there is one. `returned`: whether all calls of a function came back.
    pub fn find_leaving_calls(
        &self,
        b: BlockId,
        returned: impl Fn(FuncId) -> bool,
    ) -> Option<[u32; 2]> {
        let of_blocks = self.left_outside.as_ref()?;
        let outside = of_blocks.binary_search_by_key(&b, |l| l.0);
        let outside = outside.map(|i| of_blocks[i].1);
        let calls = self.calls.binary_search_by_key(&b, |c| c.0);
        let calls = calls.map_or(&[][..], |i| &self.calls[i].1);
        let own = calls.iter().filter(|(f, _)| !returned(*f)).map(|c| c.1);
        let all = || outside.iter().flatten().copied().chain(own.clone());
        Some([all().min()?, all().max()?])
    }

    /// Where the decision at the end of block `b` is: where its terminator is, or else, without a column, the block's
    /// last line.
    pub fn decision_site(&self, b: BlockId) -> Option<Site> {
        let decided = self.find_choice(b).and_then(|c| c.site.as_ref());
        let last = || {
            let span = self.spans(b).next_back()?;
            Some(Site {
                loc: span.loc,
                column: 0,
                inlined: span.inlined,
                discriminator: 0,
            })
        };
        decided.map(site).or_else(last)
    }

    /// Whether block `b` asks whether what a `switch` is over is one of many values of a case ([`Choice::range`]).
    pub fn tests_case(&self, b: BlockId) -> bool {
        self.find_choice(b).is_some_and(|c| c.by.range.is_some())
    }

    fn pressure(&self, b: BlockId) -> u32 {
        let found = self.pressure.binary_search_by_key(&b, |p| p.0);
        found.map_or(0, |i| self.pressure[i].1)
    }

    fn find_choice(&self, b: BlockId) -> Option<&ChoiceEntry> {
        let found = self.choices.binary_search_by_key(&b, |c| c.block).ok()?;
        Some(&self.choices[found])
    }

    /// The successor of block `b` that follows from where control came from, through the blocks `before` it, the last
    /// one first: the condition of the branch is a φ whose value is a constant on that way. Nothing is asked there.
    pub fn implied(&self, b: BlockId, before: impl IntoIterator<Item = BlockId>) -> Option<u32> {
        let test = self.find_choice(b)?.by.test.as_ref()?;
        test.implied_successor(b, before, |block| &self.succs[block])
    }

    /// Of an edge from which it follows which way control goes at a later branch: the block of that, and the successor.
    /// O(blocks between).
    pub fn implied_behind(&self, edge: CfgEdge) -> Option<(BlockId, u32)> {
        let mut passed = vec![edge.block];
        let mut at = self.succs[edge.block][edge.succ as usize];
        while passed.len() <= FARTHEST_IMPLIED {
            if let Some(succ) = self.implied(at, passed.iter().rev().copied()) {
                return Some((at, succ));
            }
            passed.push(at);
            let [next] = self.succs[at][..] else {
                return None;
            };
            at = next;
        }
        None
    }

    /// Whether the compiler added what is chosen at the end of block `b`, so that the source asks nothing there.
    pub fn is_generated(&self, b: BlockId) -> bool {
        self.find_choice(b)
            .is_some_and(|choice| choice.by.generated)
    }

    /// The places of conditions that have no branch.
    pub fn branchless_sites(&self) -> impl Iterator<Item = Site> + '_ {
        self.branchless.iter().map(site)
    }

    /// Where the source begins the loop in which block `b` goes back to the header.
    pub fn loop_start(&self, b: BlockId) -> Option<Site> {
        let found = self.loops.binary_search_by_key(&b, |l| l.0).ok()?;
        Some(site(&self.loops[found].1))
    }

    /// Its control flow, as far as the manifest keeps it: calls of functions outside the program
    /// and through pointers are not listed.
    pub fn cfg(&self) -> Cfg {
        let mut calls: TiVec<BlockId, Vec<Call>> = ti_vec![Vec::new(); self.succs.len()];
        for (b, callees) in &self.calls {
            let call = |&(f, span)| Call {
                callee: Callee::Function(f),
                span,
                may_leave: self.may_leave.binary_search(b).is_ok(),
            };
            calls[*b] = callees.iter().map(call).collect();
        }
        let blocks = calls.into_iter_enumerated().map(|(b, calls)| Block {
            terminator: self.terminators[b],
            succs: self.succs[b].clone(),
            instructions: self.instructions[b],
            calls,
            may_leave: self.may_leave.binary_search(&b).is_ok(),
            leaves_at_end: self.left_at_end.binary_search(&b).is_ok(),
            returns_twice: self.returns_twice.contains(&b),
            single: self.single.binary_search(&b).is_ok(),
            known_labels: self.known_labels.binary_search(&b).is_ok(),
            pressure: self.pressure(b),
            lines: self.spans(b).collect(),
            choice: self.choice(b).map(Box::new),
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

    /// Where it begins: what debug information says, or the first of its positions.
    pub fn begins(&self) -> Option<Loc> {
        self.find_beginning(|_| true)
    }

    /// The same, without code that was inlined: nothing for a function without a line of its own, like one that
    /// initialises the variables of a module.
    pub fn find_own_beginning(&self) -> Option<Loc> {
        self.find_beginning(|span| span.inlined.is_none())
    }

    fn find_beginning(&self, is_of_it: impl Fn(&Span) -> bool) -> Option<Loc> {
        let mut spans = self.succs.keys().flat_map(|b| self.spans(b));
        self.loc.or_else(|| Some(spans.find(is_of_it)?.loc))
    }

    /// The source positions of block `b`, as [`Block::lines`].
    pub fn spans(&self, b: BlockId) -> impl DoubleEndedIterator<Item = Span> + '_ {
        let numbers = self.lines.get(b).map_or(&[][..], |l| l);
        let span = |s: &[u32]| Span {
            loc: Loc {
                file: s[0],
                line: s[1],
            },
            column: s[2],
            inlined: s[3].checked_sub(1),
            instructions: s[4],
        };
        numbers.chunks_exact(SPAN).map(span)
    }

    /// Gives files new numbers, `to` by old ones, and inlined calls numbers higher by `inlined`.
    pub fn map_positions(&mut self, to: &[u32], inlined: u32) {
        let spans = self.lines.iter_mut().flat_map(|l| l.chunks_exact_mut(SPAN));
        let choices = self.choices.iter_mut().filter_map(|c| c.site.as_mut());
        let loops = self.loops.iter_mut().map(|(_, site)| site);
        let sites = choices.chain(&mut self.branchless).chain(loops);
        let sites = sites.map(|s| &mut s[..]);
        for place in spans.chain(sites) {
            place[0] = to[place[0] as usize];
            place[3] += if place[3] > 0 { inlined } else { 0 };
        }
        self.loc
            .iter_mut()
            .for_each(|l| l.file = to[l.file as usize]);
    }

    /// Gives the symbols of functions outside new numbers, `to` by old ones.
    pub fn map_outside(&mut self, to: &[u32]) {
        let calls = self.outside.iter_mut().flat_map(|(_, calls)| calls);
        for call in calls.filter(|c| **c > 0) {
            *call = to[*call as usize - 1] + 1;
        }
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

    /// The paths that copies count, given its control flow and its paths; an error when its share does not fit them.
    pub fn counted_paths(
        &self,
        cfg: &Cfg,
        paths: &Measuring,
    ) -> Result<CountedPaths, ShareProblem> {
        Ok(CountedPaths::new(cfg, paths, &self.share(cfg, paths)?))
    }

    /// The counted edges, over a DAG of `edges` edges, where edges are counted and it is profiled; an error elsewhere.
    pub fn counted(&self, edges: usize) -> Result<IdSet<EdgeId>, ShareProblem> {
        let nothing = || ShareProblem::NoCountedEdges(self.name.clone());
        let counted = self.counted.as_deref().ok_or_else(nothing)?;
        decode_set(counted, edges)
    }

    /// Its share, with sets of edges and ids of `paths`; an error when they do not fit.
    pub fn share(&self, cfg: &Cfg, paths: &Measuring) -> Result<Share, ShareProblem> {
        let edges = paths.dag.edges().len();
        let decoded = |sets: &[(CopyId, String)]| {
            let set = |(c, s): &(CopyId, String)| Ok((*c, decode_set(s, edges)?));
            sets.iter()
                .map(set)
                .collect::<Result<Vec<_>, ShareProblem>>()
        };
        Ok(match &self.share {
            ShareEntry::Nothing => Share::Nothing,
            ShareEntry::Whole(c) => Share::Whole(*c),
            ShareEntry::Split(sets) => Share::Split(decoded(sets)?),
            ShareEntry::Inside(sets) => Share::Inside(decoded(sets)?),
            ShareEntry::Outside(c, set) => {
                let iterations = Iterations::new(cfg, paths);
                let edges = iterations.dag(paths).edges().len();
                Share::Outside(*c, decode_set(set, edges)?)
            }
            ShareEntry::Ranges(ranges) => {
                if ranges.largest_id().0 >= paths.numbering.total() {
                    return Err(ShareProblem::NoSuchPath);
                }
                if ranges.warm.last().is_some_and(|e| e.index() >= edges) {
                    return Err(ShareProblem::NoSuchWarmEdge);
                }
                Share::Ranges(ranges.clone())
            }
        })
    }
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

pub(crate) fn encode_set(set: &IdSet<EdgeId>) -> String {
    let mut bytes = vec![0u8; set.capacity().div_ceil(8)];
    for i in set.iter().map(EdgeId::index) {
        bytes[i / 8] |= 1 << (i % 8);
    }
    BASE64.encode(bytes)
}

fn decode_set(text: &str, edges: usize) -> Result<IdSet<EdgeId>, ShareProblem> {
    let bytes = BASE64.decode(text).map_err(ShareProblem::NotBase64)?;
    let mut set = IdSet::with_capacity(edges);
    let ones = (0..bytes.len() * 8).filter(|i| bytes[i / 8] >> (i % 8) & 1 == 1);
    for i in ones {
        if i >= edges {
            return Err(ShareProblem::NoSuchEdge { edge: i, edges });
        }
        set.insert(EdgeId::new(i));
    }
    Ok(set)
}
