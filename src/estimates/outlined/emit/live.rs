//! Which values are still needed at the headers of loops.

use crate::base::index::{BlockId, TiSlice, TiVec};
use crate::input::ir::Cfg;
use crate::paths::dag::Order;
use crate::write::emit::llvm;
use crate::write::emit::llvm::inst::{self, Inst};
use crate::write::emit::llvm::value::Value;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A value that is needed at the start of a loop's header and not defined there.
pub(crate) struct Live {
    pub value: Value,
    /// The block that defines it; `None`: a parameter, or the place of a variable in the frame.
    pub home: Option<BlockId>,
    /// The numbers of these headers, as they were given. Most values are needed at few of them: a
    /// table of all values by all headers would be quadratic.
    pub at: BTreeSet<u32>,
    pub how: How,
}

/// How a value comes to be in the other function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It is handed over, in so many bytes.
    Handed(u64),
    /// It is computed from values before it.
    Computed,
    /// It is computed from values before it, again wherever it is used.
    Folded,
    /// `of` is handed over, which is this value and the constant `by`.
    SumLess { of: Inst, by: Value },
}

/// Which values need not be handed over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saving {
    /// Those that are computed from others.
    Computed,
    /// Those that others are computed from by adding constants, as well. Whoever asks for this takes the flags of the
    /// sums away ([`How::SumLess`]): a sum that overflowed would be nothing that an operand can be computed from.
    Operands,
}

/// The values that are needed at the start of any of the `headers`, each behind those that it is computed from; `None`
/// when one of them cannot be kept in memory. O(values · blocks) at worst: as many steps as there are blocks at whose
/// start each value is needed.
pub(crate) fn values_at(
    function: FunctionValue,
    cfg: &Cfg,
    order: &Order,
    headers: &[BlockId],
    target: &TargetData,
    saving: Saving,
) -> Option<Vec<Live>> {
    let blocks = llvm::blocks(function);
    let mut search = LiveSearch {
        ins: cfg.predecessors(),
        number: blocks.iter().copied().zip(cfg.ids()).collect(),
        headers: cfg.by_block(Vec::new()),
        taken: taken_by_phis(&blocks),
        seen: cfg.by_block(0),
        searches: 0,
    };
    for (n, header) in (0..).zip(headers) {
        search.headers[*header].push(n);
    }
    let parameters = inst::parameters(function).into_iter();
    let mut all: Vec<Definition> = parameters.map(|p| Definition::new(p, None)).collect();
    for &b in &order.rpo {
        for i in inst::instructions(blocks[b]) {
            if !i.is_void() {
                let is_of_the_frame = b == BlockId(0) && is_place(i);
                let by = (!is_of_the_frame).then_some((b, i));
                all.push(Definition::new(i.value(), by));
            }
        }
    }
    for definition in &mut all {
        let home = definition.by.map(|(b, _)| b);
        definition.at = search.headers_needing(definition.value, home);
    }
    match saving {
        Saving::Computed => compute_some(&mut all),
        Saving::Operands => compute_from_sums(&mut all),
    }
    let mut live = Vec::new();
    for of in all.into_iter().filter(|of| !of.at.is_empty()) {
        let size = of.value.size(target)?;
        let how = match of.by {
            _ if let Some(how) = of.sum => how,
            Some((_, inst)) if of.computed && is_folded(inst) => How::Folded,
            _ if of.computed => How::Computed,
            _ => How::Handed(size),
        };
        live.push(Live {
            value: of.value,
            home: of.by.map(|(b, _)| b),
            at: of.at,
            how,
        });
    }
    Some(live)
}

/// What defines a value, and where that is needed.
#[derive(Clone)]
struct Definition {
    value: Value,
    /// The block and the instruction; `None`: a parameter, or a place.
    by: Option<(BlockId, Inst)>,
    at: BTreeSet<u32>,
    computed: bool,
    /// The sum that it is computed from.
    sum: Option<How>,
    /// Whether its operand is computed from it.
    is_sum: bool,
}

impl Definition {
    fn new(value: Value, by: Option<(BlockId, Inst)>) -> Self {
        Definition {
            value,
            by,
            at: BTreeSet::new(),
            computed: false,
            sum: None,
            is_sum: false,
        }
    }
}

/// Finds the values that need not be handed over, since what they are computed from is. Behind a place where a value is
/// live its operands are those that it was computed from, or an operand's block would lead there past the value's,
/// which dominates the place.
///
/// A code generator does not keep such values either: an address is part of the instruction that uses it, a comparison
/// part of the branch. Handed over, they would take registers that the function has other uses for. O(n log n) for n
/// pairs of an operand and a header where the result is needed.
fn compute_some(all: &mut [Definition]) {
    let number: FxHashMap<Value, usize> = (0..).zip(&*all).map(|(n, of)| (of.value, n)).collect();
    for n in (0..all.len()).rev() {
        let Some((_, inst)) = all[n].by else { continue };
        if all[n].at.is_empty() || !is_plain(inst) || all[n].sum.is_some() || all[n].is_sum {
            continue;
        }
        let operands = inst.operands().into_iter();
        let operands: Option<Vec<usize>> = operands
            .filter(|v| !v.is_constant())
            .map(|v| number.get(&v).copied())
            .collect();
        let Some(operands) = operands else { continue };
        let at = all[n].at.clone();
        let is_there = |o: &usize| at.is_subset(&all[*o].at);
        if !(is_folded(inst) || operands.iter().all(is_there)) {
            continue;
        }
        all[n].computed = true;
        for o in operands {
            all[o].at.extend(&at);
        }
    }
}

/// [`compute_some`], where some operands are computed from the sums that they are part of, if others are computed from
/// them in turn. A function of `row` and `n` may need no more than `row + 1` and `n` in its loop, where `n + row` is
/// the start of a variable: that is `(row + 1) - 1 + n`, and handing it over would keep it in a register. A value is
/// nowhere live behind which it is computed so, and what it was is known there for the reason that holds for operands.
fn compute_from_sums(all: &mut Vec<Definition>) {
    let mut sums = sums(all);
    // A second round only for what the first one asks for at more headers than the sum is known at, or not at all.
    for _ in 0..2 {
        let mut trial = all.clone();
        for &(operand, sum, by) in &sums {
            let (_, of) = all[sum].by.expect("a sum is an instruction");
            trial[operand].at = all[sum].at.clone();
            trial[operand].sum = Some(How::SumLess { of, by });
            trial[sum].is_sum = true;
        }
        compute_some(&mut trial);
        let computed = trial.iter().filter(|d| d.computed && !d.at.is_empty());
        let computed = computed.filter_map(|d| d.by);
        let used: FxHashSet<Value> = computed.flat_map(|(_, i)| i.operands()).collect();
        let kept: Vec<_> = sums
            .iter()
            .copied()
            .filter(|&(operand, sum, _)| trial[operand].at == all[sum].at)
            .filter(|&(operand, ..)| used.contains(&trial[operand].value))
            .collect();
        if kept.len() == sums.len() {
            *all = trial;
            return;
        }
        sums = kept;
    }
    compute_some(all);
}

/// Values that are nowhere live, each with a sum of it and a constant that is, as numbers of definitions, and that
/// constant. No variable's next value is such a sum: what its flags promise is what optimisers know of the variable.
fn sums(all: &[Definition]) -> Vec<(usize, usize, Value)> {
    let number: FxHashMap<Value, usize> = (0..).zip(all).map(|(n, of)| (of.value, n)).collect();
    let mut found: FxHashMap<usize, (usize, Value)> = FxHashMap::default();
    for (n, of) in all.iter().enumerate() {
        let Some((_, inst)) = of.by else { continue };
        if of.at.is_empty() || inst.users().iter().any(|u| u.is_phi()) {
            continue;
        }
        let Some((operand, by)) = sum_with_constant(inst) else {
            continue;
        };
        let Some(&operand) = number.get(&operand) else {
            continue;
        };
        if all[operand].at.is_empty() {
            found.entry(operand).or_insert((n, by));
        }
    }
    let mut found: Vec<_> = found.into_iter().map(|(o, (n, by))| (o, n, by)).collect();
    found.sort_by_key(|(operand, ..)| *operand);
    found
}

/// The value and the constant that an instruction adds.
pub(super) fn sum_with_constant(i: Inst) -> Option<(Value, Value)> {
    if i.opcode() != LLVMOpcode::LLVMAdd {
        return None;
    }
    let operands = i.operands();
    let (value, by) = (operands[0], operands[1]);
    // Of vectors, inkwell names no constant of one type.
    (!value.is_constant() && by.is_constant_int()).then_some((value, by))
}

/// Whether it has no effect, whatever its operands are, and is the same again.
fn is_plain(i: Inst) -> bool {
    use LLVMOpcode::*;
    matches!(
        i.opcode(),
        LLVMGetElementPtr
            | LLVMTrunc
            | LLVMZExt
            | LLVMSExt
            | LLVMPtrToInt
            | LLVMIntToPtr
            | LLVMBitCast
            | LLVMICmp
            | LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMShl
            | LLVMLShr
            | LLVMAShr
            | LLVMSelect
    )
}

/// Whether an instruction makes a place for a variable, which has to be in the entry: the frame has it from the
/// beginning to the end.
pub(crate) fn is_place(i: Inst) -> bool {
    i.opcode() == LLVMOpcode::LLVMAlloca && i.operands().iter().all(|v| v.is_constant())
}

/// Whether code generators compute it anew in each block that uses it: comparisons, what is no instruction at all, and
/// addresses at a fixed distance.
fn is_folded(i: Inst) -> bool {
    use LLVMOpcode::*;
    match i.opcode() {
        LLVMICmp | LLVMTrunc | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast => true,
        LLVMGetElementPtr => i.operands()[1..].iter().all(|v| v.is_constant()),
        _ => false,
    }
}

struct LiveSearch<'ctx> {
    ins: TiVec<BlockId, Vec<BlockId>>,
    number: FxHashMap<BasicBlock<'ctx>, BlockId>,
    /// By block: the numbers that it has among the headers, ascending.
    headers: TiVec<BlockId, Vec<u32>>,
    /// By value: the blocks at whose end φs take it, one an entry. Asked for by value, a φ with one
    /// entry for each of many values would be read as often as that.
    taken: FxHashMap<Value, Vec<BasicBlock<'ctx>>>,
    /// By block: the last search that came by.
    seen: TiVec<BlockId, u32>,
    /// The number of the search.
    searches: u32,
}

impl LiveSearch<'_> {
    /// The headers at whose start `value` is needed. O(blocks where it is + uses).
    fn headers_needing(&mut self, value: Value, home: Option<BlockId>) -> BTreeSet<u32> {
        self.searches += 1;
        let mut at = BTreeSet::new();
        let mut work = self.blocks_of_uses(value);
        while let Some(b) = work.pop() {
            if Some(b) != home && self.seen[b] != self.searches {
                self.seen[b] = self.searches;
                at.extend(&self.headers[b]);
                work.extend(&self.ins[b]);
            }
        }
        at
    }

    /// The blocks at whose start or, of φs, at whose end the value is used.
    fn blocks_of_uses(&self, value: Value) -> Vec<BlockId> {
        let users = value.users().into_iter().filter(|user| !user.is_phi());
        let taken = self.taken.get(&value).into_iter().flatten().copied();
        let blocks = users.map(|user| user.block()).chain(taken);
        blocks.map(|block| self.number[&block]).collect()
    }
}

/// [`LiveSearch::taken`] of these blocks. O(instructions + entries of φs).
fn taken_by_phis<'ctx>(
    blocks: &TiSlice<BlockId, BasicBlock<'ctx>>,
) -> FxHashMap<Value, Vec<BasicBlock<'ctx>>> {
    let mut taken: FxHashMap<Value, Vec<BasicBlock>> = FxHashMap::default();
    for phi in blocks.iter().flat_map(|b| inst::phis(*b)) {
        for (value, from) in phi.incoming() {
            if !value.is_constant() {
                taken.entry(value).or_default().push(from);
            }
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::ir::{Block, Terminator};
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;
    use std::fmt::Write;

    /// Each block has a value for the next one and for one behind all of them. A table of values by
    /// headers would take gigabytes, and reading that block's φ for each value minutes.
    #[test]
    fn values_of_many_blocks_are_live_at_next_header() {
        const BLOCKS: u32 = 50_000;
        let mut text = String::from("declare i32 @get(i32)\ndefine i32 @f(i32 %p) {\n");
        text.push_str("b0:\n  %v0 = call i32 @get(i32 0)\n  br label %b1\n");
        let mut entries = Vec::new();
        for b in 1..=BLOCKS {
            let (before, next) = (b - 1, b + 1);
            let next = if b < BLOCKS { next } else { b };
            writeln!(
                text,
                "b{b}:\n  %v{b} = call i32 @get(i32 %v{before})\n  \
                 %c{b} = icmp eq i32 %v{b}, %p\n  \
                 br i1 %c{b}, label %out, label %b{next}"
            )
            .unwrap();
            entries.push(format!("[ %v{b}, %b{b} ]"));
        }
        let entries = entries.join(", ");
        writeln!(text, "out:\n  %o = phi i32 {entries}\n  ret i32 %o\n}}").unwrap();
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "m");
        let module = context.create_module_from_ir(buffer).unwrap();
        let block = |b: u32| match b {
            0 => Block::with_terminator(Terminator::Jump, vec![BlockId(1)]),
            _ if b > BLOCKS => Block::with_terminator(Terminator::Return, vec![]),
            _ => {
                let next = if b < BLOCKS { b + 1 } else { b };
                Block::with_terminator(Terminator::Branch, vec![BlockId(BLOCKS + 1), BlockId(next)])
            }
        };
        let cfg = Cfg {
            blocks: (0..=BLOCKS + 1).map(block).collect(),
        };
        let headers: Vec<BlockId> = (1..=BLOCKS).map(BlockId).collect();
        let function = module.get_function("f").unwrap();
        let (order, target) = (Order::new(&cfg), llvm::target_of(&module));
        let saving = Saving::Computed;
        let live = values_at(function, &cfg, &order, &headers, &target, saving).unwrap();
        let (parameter, others) = live.split_first().unwrap();
        assert!(parameter.at.iter().copied().eq(0..BLOCKS));
        assert_eq!(others.len(), BLOCKS as usize);
        for (number, value) in (0..).zip(others) {
            assert_eq!(value.home, Some(BlockId(number)));
            assert!(value.at.iter().eq([&number]), "{number}");
        }
    }
}
