//! Jumps by tables of labels, in versions.
//!
//! Each version of a block that ends in `indirectbr` jumps to versions of its own, whose addresses the program has in
//! no table. So a version gets copies of the tables with other labels, and whatever computes the address from the
//! program's tables is there once more, on the copies. [`crate::write::emit::labels`] says which jumps can be led so.
//! The first version of a block keeps the addresses that the program knows.

use super::super::labels::source_operands;
use super::super::llvm::inst::{self, Inst};
use super::super::llvm::value::Value;
use super::super::llvm::{self, Blocks};
use crate::base::index::BlockId;
use crate::input::ir::{Cfg, Terminator};
use crate::paths::versions::Versions;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::values::FunctionValue;
use std::collections::{HashMap, HashSet};

/// What the tables of a module are called that are made here.
const NAME: &str = "__p3_labels";

/// Leads the jumps of all versions to theirs. `blocks` are those of `versions`, whose edges they have, and values are
/// in SSA form. O(versions of jumps · (targets + instructions that compute the address + tables)); versions of several
/// jumps that lead to the same blocks share tables.
pub(super) fn lead_jumps<'ctx>(
    builder: &Builder<'ctx>,
    function: FunctionValue<'ctx>,
    blocks: &Blocks<'ctx>,
    versions: &Versions,
) {
    let mut leads: HashMap<Vec<(BlockId, BlockId)>, Lead> = HashMap::new();
    let mut replaced = Vec::new();
    for (b, targets) in other_targets(&versions.cfg, versions) {
        let jump = Inst::from_inkwell(llvm::terminator(blocks[b]));
        if jump.opcode() != LLVMOpcode::LLVMIndirectBr {
            continue; // beside another function, a switch takes its place, which goes where its edges lead
        }
        let lead = leads.entry(targets).or_insert_with_key(|targets| {
            let block = |(own, version): &(BlockId, BlockId)| (blocks[*own], blocks[*version]);
            Lead {
                builder,
                function,
                targets: targets.iter().map(block).collect(),
                made: HashMap::new(),
            }
        });
        let address = jump.operands()[0];
        replaced.extend(lead.copy_computation(address));
        let address = lead.translate_value(address);
        jump.set_operand(0, address);
    }
    erase_unused(replaced);
}

/// The versions of blocks that jump to other blocks than those whose addresses the program knows, ascending, each with
/// the function's block and the version of it that it jumps to, ascending.
fn other_targets<'a>(
    cfg: &'a Cfg,
    versions: &'a Versions,
) -> impl Iterator<Item = (BlockId, Vec<(BlockId, BlockId)>)> + 'a {
    versions.order.rpo.iter().filter_map(|&b| {
        let block = cfg.block(b);
        if block.terminator != Terminator::IndirectBr {
            return None;
        }
        let own = |to: &BlockId| (versions.origin[*to], *to);
        let mut targets: Vec<_> = block.succs.iter().map(own).collect();
        targets.sort_unstable();
        targets.dedup();
        let twice = targets.windows(2).any(|t| t[0].0 == t[1].0);
        assert!(!twice, "one label leads to one version");
        let is_other = targets.iter().any(|(own, to)| own != to);
        is_other.then_some((b, targets))
    })
}

/// Tables, and what reads them, with the addresses of other blocks.
struct Lead<'a, 'ctx> {
    builder: &'a Builder<'ctx>,
    function: FunctionValue<'ctx>,
    /// The block to jump to instead of one of the program's.
    targets: HashMap<BasicBlock<'ctx>, BasicBlock<'ctx>>,
    /// What takes the place of a value.
    made: HashMap<Value, Value>,
}

impl Lead<'_, '_> {
    /// Copies what computes `address`, each instruction beside the one that it is a copy of; returns those that had no
    /// copy yet, users first where there is no cycle.
    fn copy_computation(&mut self, address: Value) -> Vec<Inst> {
        let mut copied = Vec::new();
        let mut open = vec![address];
        while let Some(value) = open.pop() {
            let Some(own) = value.instruction() else {
                continue;
            };
            if self.made.contains_key(&value) {
                continue;
            }
            let copy = if own.is_phi() {
                let copy = inst::phi_before(self.builder, own);
                copy.drop_location();
                copy
            } else {
                inst::stand_before(self.builder, own);
                own.copy_here(self.builder)
            };
            self.made.insert(value, copy.value());
            copied.push((own, copy));
            let operands = own.operands();
            let from = source_operands(own.opcode(), operands.len());
            open.extend(&operands[from.expect(KNOWN)]);
        }
        for &(own, copy) in &copied {
            if own.is_phi() {
                for (value, block) in own.incoming() {
                    copy.add_incoming(self.translate_value(value), block);
                }
                continue;
            }
            let operands = own.operands();
            for i in source_operands(own.opcode(), operands.len()).expect(KNOWN) {
                copy.set_operand(i, self.translate_value(operands[i]));
            }
        }
        copied.into_iter().map(|(own, _)| own).collect()
    }

    /// What takes the place of a value: the copy of an instruction, or a constant with other labels.
    fn translate_value(&mut self, value: Value) -> Value {
        if let Some(&made) = self.made.get(&value) {
            return made;
        }
        let made = self.translate_constant(value);
        self.made.insert(value, made);
        made
    }

    /// A constant with other labels: of a block, of a table, or of an element of one.
    fn translate_constant(&mut self, own: Value) -> Value {
        assert!(own.is_constant(), "{KNOWN}");
        if let Some(initializer) = own.initializer() {
            return own.variable_like(NAME, self.relabel_constant(initializer));
        }
        match own.element_address_base() {
            Some(base) => own.element_address_like(self.translate_value(base)),
            None => self.relabel_constant(own),
        }
    }

    /// A label, or what a table holds, with other labels. Recursion is as deep as [`crate::write::emit::labels`]
    /// allows.
    fn relabel_constant(&self, own: Value) -> Value {
        if let Some(label) = own.labelled_block() {
            return match self.targets.get(&label) {
                Some(block) => Value::from_inkwell(&llvm::block_address(self.function, *block)),
                None => own, // no jump leads there
            };
        }
        if !own.is_aggregate() {
            return own;
        }
        let elements = own.elements();
        let elements: Vec<Value> = elements
            .into_iter()
            .map(|e| self.relabel_constant(e))
            .collect();
        own.aggregate_like(&elements)
    }
}

/// What must hold where blocks were copied.
const KNOWN: &str = "the addresses of a jump that has versions are known";

/// Erases those of `replaced` that nothing uses any more.
fn erase_unused(replaced: Vec<Inst>) {
    let mut there: HashSet<Inst> = replaced.iter().copied().collect();
    let mut open = replaced;
    while let Some(i) = open.pop() {
        if !there.contains(&i) || !i.users().is_empty() {
            continue;
        }
        let operands = i.operands().into_iter();
        open.extend(operands.filter_map(Value::instruction));
        there.remove(&i);
        i.erase();
    }
}
