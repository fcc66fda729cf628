//! Where LLVM's own instrumentation counts: `pgo-instr-gen` run on a copy of a module, and read off it.
//!
//! The choice of counters depends on LLVM's estimates of frequencies, so nothing short of LLVM can say it.

use super::llvm;
use super::{Names, Source, parse_module};
use crate::base::error::{Error, Result};
use crate::base::index::{BlockId, CfgEdge, CopyId};
use crate::input::load::Input;
use crate::write::emit::llvm::inst::Inst;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, InstructionValue};
use std::collections::HashMap;

/// What the intrinsics are called that count.
const PREFIX: &str = "llvm.instrprof.";

/// What one counter counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Executions of a block.
    Block(BlockId),
    /// Executions of a control-flow edge, or of parallel ones together.
    Edges(Vec<CfgEdge>),
    /// How often a `select` in this block chose its first operand: no control flow.
    Select(BlockId),
}

/// A function as LLVM instruments it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instrumented {
    /// The ordinal of its definition in the module.
    pub ordinal: u32,
    /// Its name in profiles.
    pub name: String,
    /// The hash of its control flow.
    pub hash: u64,
    /// The counters, in order.
    pub counters: Vec<Counter>,
    /// The number of places whose values are profiled, by kind.
    pub value_sites: Vec<u32>,
}

/// The functions of `input` that LLVM would instrument, by ascending ordinal. What LLVM passes over (functions
/// with `noprofile`, naked ones, bodies for inlining only) is not among them.
///
/// # Errors
/// A module that LLVM has instrumented.
pub fn find_instrumented(input: &Input) -> Result<Vec<Instrumented>> {
    let parsed = parse_module(&Source::new(input, CopyId(0)), Names::Kept)?;
    let (_, module) = parsed.context_and_module();
    let instruments = |f: &FunctionValue| {
        let name = f.get_name().to_bytes();
        name.starts_with(PREFIX.as_bytes())
    };
    if module.get_functions().any(|f| instruments(&f)) {
        let problem = "LLVM has instrumented it";
        let remedy = "give the module without -fprofile-generate and its like";
        return Err(Error::load(&input.path, problem, remedy));
    }
    let functions: Vec<_> = llvm::definitions(&module)
        .map(|f| (f, Before::new(f)))
        .collect();
    llvm::run_passes(&module, "pgo-instr-gen", None).map_err(|problem| {
        let remedy = "this is a bug of p3-rewrite";
        Error::load(&input.path, problem, remedy)
    })?;
    let functions = (0..).zip(&functions);
    let instrumented =
        functions.filter_map(|(ordinal, (f, before))| read_counters(ordinal, *f, before));
    Ok(instrumented.collect())
}

/// A function as it was. LLVM splits edges, and blocks that `indirectbr` and other terminators lead to; every
/// terminator stays the terminator of what was its block.
struct Before<'ctx> {
    block_of: HashMap<InstructionValue<'ctx>, BlockId>,
}

impl<'ctx> Before<'ctx> {
    fn new(f: FunctionValue<'ctx>) -> Self {
        let ends = f.get_basic_blocks().into_iter().map(llvm::terminator);
        let numbered = ends.enumerate().map(|(i, end)| (end, BlockId::new(i)));
        Before {
            block_of: numbered.collect(),
        }
    }

    /// What executions of each block of the function as it is now are executions of.
    fn counters(&self, f: FunctionValue<'ctx>) -> HashMap<BasicBlock<'ctx>, Counter> {
        let mut entering = Entering::default();
        let blocks = f.get_basic_blocks();
        for &block in &blocks {
            let end = llvm::terminator(block);
            for succ in 0..llvm::successor_count(end) {
                let to = llvm::successor(end, succ);
                match self.block_of.get(&end) {
                    Some(&block) => entering
                        .edges
                        .entry(to)
                        .or_default()
                        .push(CfgEdge { block, succ }),
                    None => entering.own.entry(to).or_default().push(block),
                }
            }
        }
        let counter = |block| match self.block_of.get(&llvm::terminator(block)) {
            Some(&b) => Counter::Block(b),
            None => Counter::Edges(entering.entering_edges(block)),
        };
        blocks.into_iter().map(|b| (b, counter(b))).collect()
    }
}

/// What leads to each block: edges of the function as it was, and jumps from blocks that LLVM added.
#[derive(Default)]
struct Entering<'ctx> {
    edges: HashMap<BasicBlock<'ctx>, Vec<CfgEdge>>,
    own: HashMap<BasicBlock<'ctx>, Vec<BasicBlock<'ctx>>>,
}

impl<'ctx> Entering<'ctx> {
    /// The edges that lead to a block, through added ones too, which are in no cycle of their own.
    fn entering_edges(&self, block: BasicBlock<'ctx>) -> Vec<CfgEdge> {
        let mut edges = Vec::new();
        let mut stack = vec![block];
        while let Some(block) = stack.pop() {
            edges.extend(self.edges.get(&block).into_iter().flatten());
            // The first is next: edges in the order of the blocks.
            stack.extend(self.own.get(&block).into_iter().flatten().rev());
        }
        edges
    }
}

/// Reads the calls that were inserted into function `f`.
fn read_counters<'ctx>(
    ordinal: u32,
    f: FunctionValue<'ctx>,
    before: &Before<'ctx>,
) -> Option<Instrumented> {
    let counters = before.counters(f);
    let mut result: Option<Instrumented> = None;
    let mut found: Vec<(usize, Counter)> = Vec::new();
    for block in f.get_basic_blocks() {
        for call in block.get_instructions() {
            let Some(what) = intrinsic(call) else {
                continue;
            };
            let number = |i| llvm::constant_operand(call, i);
            // All of these begin with the name and the hash of the function.
            let result = result.get_or_insert_with(|| Instrumented {
                ordinal,
                name: llvm::string_operand(call, 0),
                hash: number(1),
                counters: Vec::new(),
                value_sites: Vec::new(),
            });
            match (what.as_str(), &counters[&block]) {
                ("increment", counter) => found.push((number(3) as usize, counter.clone())),
                ("increment.step", Counter::Block(b)) => {
                    found.push((number(3) as usize, Counter::Select(*b)));
                }
                ("value.profile", _) => {
                    let (kind, site) = (number(3) as usize, number(4) as u32);
                    let sites = &mut result.value_sites;
                    sites.resize(sites.len().max(kind + 1), 0);
                    sites[kind] = sites[kind].max(site + 1);
                }
                _ => unreachable!("{PREFIX}{what} is not what pgo-instr-gen inserts"),
            }
        }
    }
    let mut result = result?;
    found.sort_by_key(|f| f.0);
    assert!(
        found.iter().enumerate().all(|(i, f)| i == f.0),
        "LLVM counts everything once"
    );
    result.counters.extend(found.into_iter().map(|f| f.1));
    Some(result)
}

/// What follows [`PREFIX`] in the name of what an instruction calls.
fn intrinsic(i: InstructionValue) -> Option<String> {
    if !Inst::from_inkwell(i).is_call() {
        return None;
    }
    let name = llvm::callee_name(i)?;
    Some(name.strip_prefix(PREFIX)?.to_string())
}
