//! Splitting of edges whose code needs a block of its own.

use super::function::tail::Tails;
use super::llvm;
use super::place::{self, Place};
use crate::base::index::{BlockId, CfgEdge, TiSlice, TiVec};
use crate::copies::plan::{FunctionPlan, Op};
use crate::input::ir::{Cfg, Terminator};
use crate::write::emit::llvm::inst::Inst;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::InstructionValue;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Where the code of one function's edges goes, when those are split that must be.
pub(crate) struct Places<'ctx> {
    /// By edge with code.
    pub of: BTreeMap<CfgEdge, Place>,
    /// The blocks of the edges that have one of their own.
    pub own: BTreeMap<CfgEdge, BasicBlock<'ctx>>,
    /// The in-edges of each block, those from unreachable blocks included.
    pub ins: TiVec<BlockId, Vec<CfgEdge>>,
}

impl<'ctx> Places<'ctx> {
    /// The block from which edge `e` arrives at its target.
    pub(crate) fn arrival(
        &self,
        blocks: &TiSlice<BlockId, BasicBlock<'ctx>>,
        e: CfgEdge,
    ) -> BasicBlock<'ctx> {
        self.own.get(&e).copied().unwrap_or(blocks[e.block])
    }
}

/// Finds the places ([`place::of_edges`]) and splits what must be split; the edges of `tails` are there no longer.
/// O(V + E + entries of φs in targets).
pub(crate) fn split_edges<'ctx>(
    context: &'ctx Context,
    blocks: &TiSlice<BlockId, BasicBlock<'ctx>>,
    cfg: &Cfg,
    plan: &FunctionPlan,
    tails: &Tails<'ctx>,
    branches: impl Fn(&[Op]) -> bool,
) -> Places<'ctx> {
    let mut ins = cfg.incoming_edges();
    let goes_on = |e: &CfgEdge| !tails.contains_key(&e.block);
    ins.iter_mut().for_each(|edges| edges.retain(goes_on));
    let mut of = place::of_edges(cfg, plan, &ins, branches);
    of.retain(|edge, _| goes_on(edge));
    let with_code = of.iter().filter(|(_, place)| **place == Place::Own);
    let mut edges: BTreeSet<CfgEdge> = with_code.map(|(edge, _)| *edge).collect();
    edges.extend(find_shared_invokes(cfg, &ins));
    let mut own = BTreeMap::new();
    let mut into: BTreeMap<BlockId, Vec<(CfgEdge, BasicBlock<'ctx>)>> = BTreeMap::new();
    for edge in edges {
        let block = context.insert_basic_block_after(blocks[edge.block], "p3.edge");
        own.insert(edge, block);
        let to = cfg.target(edge);
        into.entry(to).or_default().push((edge, block));
    }
    for (to, edges) in into {
        insert_blocks(context, blocks, blocks[to], &edges);
    }
    Places { of, own, ins }
}

/// One normal edge of those `invoke`s that share both of their targets, which have no other predecessors. LLVM takes a
/// φ of the landing pad that equals one of the normal target to be the same value, which at -O0 it sets behind the call
/// alone (LLVM 19 to 22): after an exception it is not set. A block on one of the edges keeps them apart. O(V + E).
fn find_shared_invokes(cfg: &Cfg, ins: &TiSlice<BlockId, Vec<CfgEdge>>) -> Vec<CfgEdge> {
    let shared = ins.iter().filter_map(|normal| {
        let first = *normal.first().filter(|_| normal.len() > 1)?;
        let is_normal =
            |e: &CfgEdge| cfg.block(e.block).terminator == Terminator::Invoke && e.succ == 0;
        let pad = |e: &CfgEdge| cfg.block(e.block).succs[1];
        let alike = normal.iter().all(is_normal)
            && normal.iter().all(|e| pad(e) == pad(&first))
            && ins[pad(&first)].len() == normal.len();
        alike.then_some(first)
    });
    shared.collect()
}

/// Puts the new blocks on their edges into `target`, and mends its φs: each new block takes over
/// one entry of its source.
fn insert_blocks<'ctx>(
    context: &'ctx Context,
    blocks: &TiSlice<BlockId, BasicBlock<'ctx>>,
    target: BasicBlock<'ctx>,
    edges: &[(CfgEdge, BasicBlock<'ctx>)],
) {
    let builder = context.create_builder();
    let mut taken: FxHashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>> = FxHashMap::default();
    for &(edge, new) in edges {
        let source = blocks[edge.block];
        // The branch is where the source's terminator is.
        llvm::position_before(&builder, llvm::terminator(source));
        builder.position_at_end(new);
        builder
            .build_unconditional_branch(target)
            .expect("positioned");
        llvm::set_successor(llvm::terminator(source), edge.succ, new);
        taken.entry(source).or_default().push(new);
    }
    mend_phis(&builder, target, &taken);
}

fn mend_phis<'ctx>(
    builder: &Builder<'ctx>,
    target: BasicBlock<'ctx>,
    taken: &FxHashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>,
) {
    let is_phi =
        |i: &InstructionValue<'ctx>| Inst::from_inkwell(*i).opcode() == LLVMOpcode::LLVMPHI;
    let mut next = target.get_first_instruction().filter(is_phi);
    while let Some(phi) = next {
        next = phi.get_next_instruction().filter(is_phi);
        let mut used: FxHashMap<BasicBlock<'ctx>, usize> = FxHashMap::default();
        llvm::rebuild_phi(builder, phi, |from| {
            let at = used.entry(from).or_default();
            let new = taken.get(&from).and_then(|blocks| blocks.get(*at)).copied();
            *at += 1;
            new.unwrap_or(from)
        });
    }
}
