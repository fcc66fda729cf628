//! Where the code of an edge goes, and splitting of critical edges.

use super::sites;
use super::sys;
use crate::index::{BlockId, CfgEdge};
use crate::ir::Cfg;
use crate::plan::{FunctionPlan, Op, Site};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::InstructionValue;
use std::collections::{BTreeMap, HashMap};

/// Where the code of an edge goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot<'ctx> {
    /// To the end of the source block, before the terminator: computations without effect, or
    /// the only way out.
    Source,
    /// To the start of the target: this is the only way in.
    Target,
    /// To a block of its own on the edge.
    Own(BasicBlock<'ctx>),
    /// The edge cannot be split: the target counts behind a flag that a φ brings.
    Flagged,
}

/// The spots of all edges of one function that have code.
pub(super) struct Spots<'ctx> {
    /// By edge.
    pub spots: BTreeMap<CfgEdge, Spot<'ctx>>,
    /// The in-edges of each block, those from unreachable blocks included.
    pub ins: Vec<Vec<CfgEdge>>,
}

/// Decides on the spots and splits what must be split. Code that `branches` gets blocks of its own wherever an edge
/// can be split. O(V + E + entries of φs in targets).
pub(super) fn split<'ctx>(
    context: &'ctx Context,
    blocks: &[BasicBlock<'ctx>],
    cfg: &Cfg,
    plan: &FunctionPlan,
    branches: impl Fn(&[Op]) -> bool,
) -> Spots<'ctx> {
    let ins = in_edges(cfg);
    let mut spots = BTreeMap::new();
    let mut own: BTreeMap<BlockId, Vec<(CfgEdge, BasicBlock<'ctx>)>> = BTreeMap::new();
    let mut parallel = Parallel::default();
    for code in &plan.probes {
        let Site::Edge(edge) = code.site else {
            continue;
        };
        let to = cfg.block(edge.block).succs[edge.succ as usize];
        let counts = Op::any_counts(&code.ops);
        let can_split = cfg.block(edge.block).terminator.can_split(edge.succ);
        let choice = if branches(&code.ops) && can_split {
            Choice::Own
        } else {
            choose(cfg, edge, &ins[to.index()], counts, &mut parallel)
        };
        let spot = match choice {
            Choice::Source => Spot::Source,
            Choice::Target => Spot::Target,
            Choice::Flagged => Spot::Flagged,
            Choice::Own => {
                let block = context.insert_basic_block_after(blocks[edge.block.index()], "p3.edge");
                own.entry(to).or_default().push((edge, block));
                Spot::Own(block)
            }
        };
        spots.insert(edge, spot);
    }
    for (to, edges) in own {
        insert(context, blocks, blocks[to.index()], &edges);
    }
    Spots { spots, ins }
}

fn in_edges(cfg: &Cfg) -> Vec<Vec<CfgEdge>> {
    let mut ins = vec![Vec::new(); cfg.len()];
    for b in cfg.ids() {
        for (i, to) in cfg.block(b).succs.iter().enumerate() {
            ins[to.index()].push(CfgEdge {
                block: b,
                succ: i as u32,
            });
        }
    }
    ins
}

/// By block: where its in-edges come from, one entry an edge.
pub(super) fn in_blocks(cfg: &Cfg) -> Vec<Vec<BlockId>> {
    let edges = in_edges(cfg).into_iter();
    edges
        .map(|ins| ins.iter().map(|e| e.block).collect())
        .collect()
}

enum Choice {
    Source,
    Target,
    Own,
    Flagged,
}

/// How many edges lead from one block to another, counted once per source block.
#[derive(Default)]
struct Parallel {
    of: Option<BlockId>,
    targets: HashMap<BlockId, u32>,
}

impl Parallel {
    fn count(&mut self, cfg: &Cfg, from: BlockId, to: BlockId) -> u32 {
        if self.of != Some(from) {
            self.of = Some(from);
            self.targets.clear();
            for &s in &cfg.block(from).succs {
                *self.targets.entry(s).or_default() += 1;
            }
        }
        self.targets[&to]
    }
}

fn choose(
    cfg: &Cfg,
    edge: CfgEdge,
    ins: &[CfgEdge],
    counts: bool,
    parallel: &mut Parallel,
) -> Choice {
    let block = cfg.block(edge.block);
    let to = block.succs[edge.succ as usize];
    if block.succs.len() == 1 {
        Choice::Source
    } else if ins.len() == 1 {
        Choice::Target
    } else if !block.terminator.can_split(edge.succ) {
        if counts {
            Choice::Flagged
        } else {
            Choice::Source
        }
    } else if counts || parallel.count(cfg, edge.block, to) > 1 {
        Choice::Own
    } else {
        Choice::Source
    }
}

/// Puts the new blocks on their edges into `target`, and mends its φs: each new block takes over
/// one entry of its source.
fn insert<'ctx>(
    context: &'ctx Context,
    blocks: &[BasicBlock<'ctx>],
    target: BasicBlock<'ctx>,
    edges: &[(CfgEdge, BasicBlock<'ctx>)],
) {
    let builder = context.create_builder();
    let mut taken: HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>> = HashMap::new();
    for &(edge, new) in edges {
        let source = blocks[edge.block.index()];
        // The branch is where the source's terminator is.
        sys::position_before(&builder, sites::terminator(source));
        builder.position_at_end(new);
        builder
            .build_unconditional_branch(target)
            .expect("positioned");
        sys::set_successor(sites::terminator(source), edge.succ, new);
        taken.entry(source).or_default().push(new);
    }
    mend_phis(&builder, target, &taken);
}

fn mend_phis<'ctx>(
    builder: &Builder<'ctx>,
    target: BasicBlock<'ctx>,
    taken: &HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>,
) {
    let is_phi = |i: &InstructionValue<'ctx>| sys::opcode(*i) == LLVMOpcode::LLVMPHI;
    let mut next = target.get_first_instruction().filter(is_phi);
    while let Some(phi) = next {
        next = phi.get_next_instruction().filter(is_phi);
        let mut used: HashMap<BasicBlock<'ctx>, usize> = HashMap::new();
        sys::rebuild_phi(builder, phi, |from| {
            let at = used.entry(from).or_default();
            let new = taken.get(&from).and_then(|blocks| blocks.get(*at)).copied();
            *at += 1;
            new.unwrap_or(from)
        });
    }
}
