//! What the entry of a function says of its blocks, and what is computed of it.

use super::share::decode_set;
use super::{ChoiceEntry, FunctionEntry, ShareEntry, ShareProblem, Status};
use crate::base::index::{BlockId, CfgEdge, CopyId, EdgeId, FuncId, IdSet, TiVec, ti_vec};
use crate::copies::partition::{Iterations, Share};
use crate::copies::selection::CountedPaths;
use crate::input::ir::{Block, Call, Callee, Cfg, Decided, Loc, Site, Span};
use crate::paths::function::{FunctionInput, Measuring};
use std::collections::HashSet;

/// Blocks between where a condition is known and the branch on it are followed so far.
const FARTHEST_IMPLIED: usize = 32;

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
            site: entry.site,
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
        let decided = self.find_choice(b).and_then(|c| c.site);
        let last = || {
            let span = self.spans(b).next_back()?;
            Some(Site {
                loc: span.loc,
                column: 0,
                inlined: span.inlined,
                discriminator: 0,
            })
        };
        decided.or_else(last)
    }

    /// Whether block `b` asks whether what a `switch` is over is one of many values of a case
    /// ([`crate::input::load::positions::Choice::range`]).
    pub fn tests_case(&self, b: BlockId) -> bool {
        self.find_choice(b).is_some_and(|c| c.by.range.is_some())
    }

    fn pressure_of(&self, b: BlockId) -> u32 {
        let found = self.pressure.binary_search_by_key(&b, |p| p.0);
        found.map_or(0, |i| self.pressure[i].1)
    }

    fn find_choice(&self, b: BlockId) -> Option<&ChoiceEntry> {
        let found = self.choices.binary_search_by_key(&b, |c| c.block).ok()?;
        Some(&self.choices[found])
    }

    /// The successor of block `b` that follows from where control came from, through the blocks `before` it, the last
    /// one first: the condition of the branch is a φ whose value is a constant on that way. Nothing is asked there.
    pub fn implied_successor(
        &self,
        b: BlockId,
        before: impl IntoIterator<Item = BlockId>,
    ) -> Option<u32> {
        let test = self.find_choice(b)?.by.test.as_ref()?;
        test.implied_successor(b, before, |block| &self.succs[block])
    }

    /// Of an edge from which it follows which way control goes at a later branch: the block of that, and the successor.
    /// O(blocks between).
    pub fn implied_behind(&self, edge: CfgEdge) -> Option<(BlockId, u32)> {
        let mut passed = vec![edge.block];
        let mut at = self.succs[edge.block][edge.succ as usize];
        while passed.len() <= FARTHEST_IMPLIED {
            if let Some(succ) = self.implied_successor(at, passed.iter().rev().copied()) {
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
        self.branchless.iter().copied()
    }

    /// Where the source begins the loop in which block `b` goes back to the header.
    pub fn loop_start(&self, b: BlockId) -> Option<Site> {
        let found = self.loops.binary_search_by_key(&b, |l| l.0).ok()?;
        Some(self.loops[found].1)
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
            pressure: self.pressure_of(b),
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
    pub fn find_start(&self) -> Option<Loc> {
        self.find_beginning(|_| true)
    }

    /// Where its own code begins, without code that was inlined; `None` for a function without a line of its own, like
    /// one that initialises the variables of a module.
    pub fn find_own_beginning(&self) -> Option<Loc> {
        self.find_beginning(|span| span.inlined.is_none())
    }

    fn find_beginning(&self, is_of_it: impl Fn(&Span) -> bool) -> Option<Loc> {
        let mut spans = self.succs.keys().flat_map(|b| self.spans(b));
        self.loc.or_else(|| Some(spans.find(is_of_it)?.loc))
    }

    /// The source positions of block `b`, as [`Block::lines`].
    pub fn spans(&self, b: BlockId) -> impl DoubleEndedIterator<Item = Span> + '_ {
        let spans = self.lines.get(b).map_or(&[][..], |spans| &spans.0);
        spans.iter().copied()
    }

    /// Gives files new numbers, `to` by old ones, and inlined calls numbers higher by `inlined`.
    pub fn map_positions(&mut self, to: &[u32], inlined: u32) {
        let renumber = |loc: &mut Loc, within: &mut Option<u32>| {
            loc.file = to[loc.file as usize];
            *within = within.map(|call| call + inlined);
        };
        for span in self.lines.iter_mut().flat_map(|l| &mut l.0) {
            renumber(&mut span.loc, &mut span.inlined);
        }
        let choices = self.choices.iter_mut().filter_map(|c| c.site.as_mut());
        let loops = self.loops.iter_mut().map(|(_, site)| site);
        for site in choices.chain(&mut self.branchless).chain(loops) {
            renumber(&mut site.loc, &mut site.inlined);
        }
        if let Some(loc) = &mut self.loc {
            loc.file = to[loc.file as usize];
        }
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
    pub fn counted_edges(&self, edges: usize) -> Result<IdSet<EdgeId>, ShareProblem> {
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
