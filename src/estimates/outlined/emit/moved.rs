//! Copies of blocks in which values that are live at headers are in memory.

use super::copied::Copied;
use super::handed::Handed;
use crate::base::index::BlockId;
use crate::write::emit::llvm;
use crate::write::emit::llvm::inst::{self, Inst, phis};
use crate::write::emit::llvm::value::Value;
use crate::write::emit::place;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::values::FunctionValue;
use rustc_hash::FxHashMap;

/// A live value in the copy.
pub(super) struct Kept {
    /// The block that defines it; `None`: none does.
    pub home: Option<BlockId>,
    /// Where it is read.
    pub from: Reading,
}

/// Where a live value is read in the copy.
#[derive(Clone, Copy)]
pub(super) enum Reading {
    /// It is this: no block defines it anew.
    Known(Value),
    /// Its place in memory.
    Slot(Value),
    /// It is computed where it is used.
    Computed,
}

/// A copy of a function's blocks, in which live values are in memory.
pub(super) struct Moved<'ctx> {
    pub copied: Copied<'ctx>,
    pub kept: FxHashMap<Value, Kept>,
    pub builder: Builder<'ctx>,
    pub of: FunctionValue<'ctx>,
}

impl<'ctx> Moved<'ctx> {
    pub(super) fn mend(&mut self) {
        let numbers: FxHashMap<BasicBlock, BlockId> = (0..)
            .map(BlockId)
            .zip(llvm::blocks(self.of))
            .map(|(n, block)| (block, n))
            .collect();
        let lost: FxHashMap<Value, Value> = inst::parameters(self.of)
            .into_iter()
            .map(|p| (p, inst::poison_like(p)))
            .collect();
        let instructions = self.copied.instructions.clone();
        // One for each block, which may lead to a φ several times.
        let mut at_ends: FxHashMap<(BasicBlock, Value), Value> = FxHashMap::default();
        for &(old, new) in &instructions {
            if old.is_phi() {
                for (v, from) in old.incoming() {
                    let to = self.copied.blocks[&from];
                    let end = || Inst::from_inkwell(llvm::terminator(to));
                    let read = || self.read(v, numbers[&from], end());
                    let value = *at_ends.entry((to, v)).or_insert_with(read);
                    let value = lost.get(&value).copied().unwrap_or(value);
                    new.add_incoming(value, to);
                }
            } else {
                let at = numbers[&old.block()];
                for (n, operand) in old.operands().into_iter().enumerate() {
                    let value = self.read(operand, at, new);
                    new.set_operand(n, lost.get(&value).copied().unwrap_or(value));
                }
            }
        }
        for &(old, new) in &instructions {
            match self.kept.get(&old.value()) {
                Some(Kept { home: None, .. }) => new.erase(),
                Some(Kept {
                    from: Reading::Slot(slot),
                    ..
                }) => self.keep_value(new, *slot),
                Some(Kept { .. }) | None => {}
            }
        }
    }

    /// `value` as it is used in block `at` of the original: as it is kept, unless it is defined in that block.
    fn read(&self, value: Value, at: BlockId, before: Inst) -> Value {
        match self.kept.get(&value) {
            Some(kept) if kept.home != Some(at) => match kept.from {
                Reading::Known(known) => known,
                Reading::Slot(slot) => {
                    inst::stand_before(&self.builder, before);
                    inst::load_value(&self.builder, value, slot)
                }
                Reading::Computed => self.compute(value, at, before),
            },
            _ => self.copied.value(value),
        }
    }

    /// Computes `value` once more: what it was computed from is still what it was then, or control would have come by
    /// its definition since, which dominates its uses.
    fn compute(&self, value: Value, at: BlockId, before: Inst) -> Value {
        let old = value.instruction().expect("a parameter has a place");
        let operands = old.operands().into_iter();
        let operands: Vec<Value> = operands.map(|o| self.read(o, at, before)).collect();
        inst::stand_before(&self.builder, before);
        let new = old.copy_here(&self.builder);
        new.drop_location();
        for (n, operand) in operands.into_iter().enumerate() {
            new.set_operand(n, operand);
        }
        new.value()
    }

    /// Writes what `new` defines to its place, as soon as it is there.
    fn keep_value(&self, new: Inst, slot: Value) {
        let behind = if new.is_phi() {
            Inst::from_inkwell(place::start_of_block(new.block()))
        } else if let Some(next) = new.next_in_block() {
            next
        } else {
            // The result of an `invoke`. Where others lead to the same block, only φs use it, and those take it from
            // the edge.
            let to = llvm::successor(llvm::terminator(new.block()), 0);
            if Value::of_block(to).users().len() > 1 {
                return;
            }
            Inst::from_inkwell(place::start_of_block(to))
        };
        inst::stand_before(&self.builder, behind);
        inst::store_value(&self.builder, new.value(), slot);
    }

    /// Leads from `entry` to the headers.
    pub(super) fn enter_headers(
        &mut self,
        entry: BasicBlock<'ctx>,
        function: FunctionValue<'ctx>,
        handed: &Handed,
        starts: Vec<Vec<Value>>,
    ) {
        let blocks = llvm::blocks(self.of);
        let copies: Vec<BasicBlock> = handed
            .headers
            .iter()
            .map(|h| self.copied.blocks[&blocks[*h]])
            .collect();
        for (header, values) in copies.iter().zip(starts) {
            for (phi, value) in phis(*header).zip(values) {
                phi.add_incoming(value, entry);
            }
        }
        let number = function.get_first_param().expect("it has one");
        let number = number.into_int_value();
        let case = |n: usize| number.get_type().const_int(n as u64, false);
        let cases: Vec<_> = (1..copies.len()).map(|n| (case(n), copies[n])).collect();
        self.builder.position_at_end(entry);
        self.builder
            .build_switch(number, copies[0], &cases)
            .expect("positioned");
    }
}
