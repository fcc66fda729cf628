//! The types of a manifest, and what they mean.

use super::positions::Spans;
#[cfg(test)]
use super::{FORMAT, VERSION};
use crate::base::index::{BlockId, CfgEdge, CopyId, FuncId, ModuleId, PathId, TiSlice, TiVec};
use crate::copies::partition::Ranges;
use crate::copies::strategy::Scheme;
use crate::estimates::data::Size;
use crate::input::ir::processes::forks_unnoticed;
use crate::input::ir::threads::{Starter, starter};
use crate::input::ir::{Body, Linkage, Loc, Site, SkipReason, Terminator};
use crate::input::load::Level;
use crate::input::load::positions::{Choice, Inlined, Optimised};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::sync::OnceLock;

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
    /// Every path of every activation is counted, and paths also end and start at cut edges.
    Cut,
    /// It is not profiled.
    Skipped(SkipReason),
}

/// What the copies profile of a function: [`crate::copies::partition::Share`] in serialised form.
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

    /// Whether it has a `main`: nobody else calls its functions, but through pointers.
    pub(crate) fn is_executable(&self) -> bool {
        self.functions.iter().any(|f| f.name == "main")
    }

    /// The functions through which the program can start threads, as far as its modules show; what is called, where
    /// nothing else was recorded.
    pub fn thread_starters(&self) -> impl Iterator<Item = (&str, Starter)> {
        let symbols = self.starters.as_ref().or(self.outside.as_ref());
        let symbols = symbols.into_iter().flatten();
        symbols.filter_map(|symbol| Some((symbol.as_str(), starter(symbol)?)))
    }

    /// The functions outside the program that start processes which count in their parents' files, as far as its
    /// modules show. O(functions) if there are any.
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
    /// The blocks that control may leave in the middle ([`crate::input::ir::Block::may_leave`]).
    pub may_leave: Vec<BlockId>,
    /// The blocks with calls in tail position that may not return, ascending
    /// ([`crate::input::ir::Block::leaves_at_end`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_at_end: Vec<BlockId>,
    /// The blocks with calls of functions that no input module defines, or through pointers, in which control may
    /// leave, ascending: the first and the last of these calls' positions. Missing where `may_leave` is empty, and
    /// where an earlier version wrote the manifest: then nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_outside: Option<Vec<(BlockId, [u32; 2])>>,
    /// The blocks with calls that may return twice ([`crate::input::ir::Block::returns_twice`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns_twice: Vec<BlockId>,
    /// The blocks of which no copy may be made ([`crate::input::ir::Block::single`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub single: Vec<BlockId>,
    /// The blocks whose `indirectbr` jumps to addresses that are all known ([`crate::input::ir::Block::known_labels`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_labels: Vec<BlockId>,
    /// The blocks with more live values than registers, ascending, and how many more
    /// ([`crate::input::ir::Block::pressure`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pressure: Vec<(BlockId, u32)>,
    /// The source positions of each block: file, line, column (0 if it is not known), the inlined call plus 1 (0 if it
    /// is in none) and number of instructions in turn; empty without debug info.
    #[serde(default, skip_serializing_if = "TiSlice::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<Vec<u32>>"))]
    pub lines: TiVec<BlockId, Spans>,
    /// What is chosen at the ends of blocks with several successors, ascending, as far as it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ChoiceEntry>,
    /// Places of conditions that have no branch: the compiler made them values. File, line, column, inlined call plus 1
    /// and discriminator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<[u32; 5]>"))]
    pub branchless: Vec<Site>,
    /// The blocks that go back to the header of a loop, ascending, and where the source begins that loop, as far as the
    /// compiler says so: file, line, column, inlined call plus 1 and discriminator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<(BlockId, [u32; 5])>"))]
    pub loops: Vec<(BlockId, Site)>,
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
    pub(super) shared_targets: OnceLock<HashSet<(BlockId, BlockId)>>,
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
    #[cfg_attr(test, schemars(with = "Option<[u32; 5]>"))]
    pub site: Option<Site>,
    /// By what.
    #[serde(default, skip_serializing_if = "is_branch")]
    pub by: Choice,
}

/// Whether nothing is known of a choice but its terminator.
fn is_branch(choice: &Choice) -> bool {
    *choice == Choice::default()
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
