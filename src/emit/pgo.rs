//! Where LLVM's own instrumentation counts: `pgo-instr-gen` run on a copy of a module, and read off it.
//!
//! The choice of counters depends on LLVM's estimates of frequencies, so nothing short of LLVM can say it.

use super::{Source, parse, sites, sys};
use crate::error::{Error, Result};
use crate::index::{BlockId, CfgEdge, CopyId};
use crate::load::Input;
use inkwell::basic_block::BasicBlock;
use inkwell::context::Context;
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
/// A module that LLVM cannot read or that is instrumented.
pub fn instrumented(input: &Input) -> Result<Vec<Instrumented>> {
    let context = Context::create();
    let module = parse(&context, &Source::new(input, CopyId(0)))?;
    let instruments = |f: &FunctionValue| {
        let name = f.get_name().to_bytes();
        name.starts_with(PREFIX.as_bytes())
    };
    if module.get_functions().any(|f| instruments(&f)) {
        let problem = "LLVM has instrumented it";
        let remedy = "give the module without -fprofile-generate and its like";
        return Err(Error::load(&input.path, problem, remedy));
    }
    let functions: Vec<_> = sys::definitions(&module)
        .map(|f| (f, f.get_basic_blocks()))
        .collect();
    sys::run_passes(&module, "pgo-instr-gen").map_err(|problem| {
        let remedy = "this is a bug of p3-rewrite";
        Error::load(&input.path, problem, remedy)
    })?;
    let functions = (0..).zip(&functions);
    let instrumented = functions.filter_map(|(ordinal, (f, blocks))| read(ordinal, *f, blocks));
    Ok(instrumented.collect())
}

/// Reads the calls that were inserted into function `f`, which had `blocks` before.
fn read<'ctx>(
    ordinal: u32,
    f: FunctionValue<'ctx>,
    blocks: &[BasicBlock<'ctx>],
) -> Option<Instrumented> {
    let numbers: HashMap<BasicBlock, BlockId> = blocks
        .iter()
        .enumerate()
        .map(|(i, b)| (*b, BlockId::new(i)))
        .collect();
    let split = split_edges(blocks, &numbers);
    let mut result: Option<Instrumented> = None;
    let mut found: Vec<(usize, Counter)> = Vec::new();
    for block in f.get_basic_blocks() {
        let counted = |select: bool| match numbers.get(&block) {
            Some(&b) if select => Counter::Select(b),
            Some(&b) => Counter::Block(b),
            None => Counter::Edges(split[&block].clone()),
        };
        for call in block.get_instructions() {
            let Some(what) = intrinsic(call) else {
                continue;
            };
            let number = |i| sys::constant_operand(call, i);
            // All of these begin with the name and the hash of the function.
            let result = result.get_or_insert_with(|| Instrumented {
                ordinal,
                name: sys::string_operand(call, 0),
                hash: number(1),
                counters: Vec::new(),
                value_sites: Vec::new(),
            });
            match what.as_str() {
                "increment" | "increment.step" => {
                    found.push((number(3) as usize, counted(what != "increment")));
                }
                "value.profile" => {
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

/// The edges behind blocks that LLVM put on them.
fn split_edges<'ctx>(
    blocks: &[BasicBlock<'ctx>],
    numbers: &HashMap<BasicBlock<'ctx>, BlockId>,
) -> HashMap<BasicBlock<'ctx>, Vec<CfgEdge>> {
    let mut split: HashMap<_, Vec<CfgEdge>> = HashMap::new();
    for (i, b) in blocks.iter().enumerate() {
        let end = sites::terminator(*b);
        for succ in 0..sys::successor_count(end) {
            let to = sys::successor(end, succ);
            if !numbers.contains_key(&to) {
                let block = BlockId::new(i);
                split.entry(to).or_default().push(CfgEdge { block, succ });
            }
        }
    }
    split
}

/// What follows [`PREFIX`] in the name of what an instruction calls.
fn intrinsic(i: InstructionValue) -> Option<String> {
    if !sys::is_call(i) {
        return None;
    }
    let name = sys::callee_name(i)?;
    Some(name.strip_prefix(PREFIX)?.to_string())
}
