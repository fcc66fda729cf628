//! Which values are still needed at the headers of loops.

use crate::dag::Order;
use crate::emit::split::in_blocks;
use crate::emit::sys;
use crate::emit::values::{self, Inst, Value};
use crate::index::{BlockId, TiVec};
use crate::ir::Cfg;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;
use std::collections::{HashMap, HashSet};

/// A value that is needed at the start of a loop's header and not defined there.
pub(in crate::emit) struct Live {
    pub value: Value,
    /// The block that defines it; `None`: a parameter, or the place of a variable in the frame.
    pub home: Option<BlockId>,
    /// By header, as they were given.
    pub at: Vec<bool>,
    pub how: How,
}

/// How a value comes to be in the other function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::emit) enum How {
    /// It is handed over, in so many bytes.
    Handed(u64),
    /// It is computed from values before it.
    Computed,
    /// The same, wherever it is used.
    Folded,
    /// `of` is handed over, which is this value and the constant `by`.
    SumLess { of: Inst, by: Value },
}

/// Which values need not be handed over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::emit) enum Saving {
    /// Those that are computed from others.
    Computed,
    /// Those that others are computed from by adding constants, as well. Whoever asks for this takes the flags of the sums away
    /// ([`How::SumLess`]): a sum that overflowed would be nothing that an operand can be computed from.
    Operands,
}

/// The values that are needed at the start of any of the `headers`, each behind those that it is computed from; `None` when
/// one of them cannot be kept in memory. O(uses · blocks) at worst, near-linear in practice.
pub(in crate::emit) fn values_at(
    function: FunctionValue,
    cfg: &Cfg,
    order: &Order,
    headers: &[BlockId],
    target: &TargetData,
    saving: Saving,
) -> Option<Vec<Live>> {
    let blocks = sys::blocks(function);
    let search = Search {
        ins: in_blocks(cfg),
        number: blocks.iter().copied().zip(cfg.ids()).collect(),
        headers,
    };
    let parameters = values::parameters(function).into_iter();
    let mut all: Vec<Definition> = parameters.map(|p| Definition::new(p, None)).collect();
    for &b in &order.rpo {
        for i in values::instructions(blocks[b]) {
            if !i.is_void() {
                let is_of_the_frame = b == BlockId(0) && is_place(i);
                let by = (!is_of_the_frame).then_some((b, i));
                all.push(Definition::new(i.value(), by));
            }
        }
    }
    for definition in &mut all {
        let home = definition.by.map(|(b, _)| b);
        definition.at = search.at(definition.value, home);
    }
    match saving {
        Saving::Computed => compute_some(&mut all),
        Saving::Operands => compute_from_sums(&mut all),
    }
    let mut live = Vec::new();
    for of in all.into_iter().filter(|of| of.at.contains(&true)) {
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
    at: Vec<bool>,
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
            at: Vec::new(),
            computed: false,
            sum: None,
            is_sum: false,
        }
    }
}

/// Finds the values that need not be handed over, since what they are computed from is. Behind a place where a value is live its operands are those
/// that it was computed from, or an operand's block would lead there past the value's, which dominates the place.
///
/// A code generator does not keep such values either: an address is part of the instruction that uses it, a comparison part of the
/// branch. Handed over, they would take registers that the function has other uses for. O(operands · headers).
fn compute_some(all: &mut [Definition]) {
    let number: HashMap<Value, usize> = (0..).zip(&*all).map(|(n, of)| (of.value, n)).collect();
    for n in (0..all.len()).rev() {
        let Some((_, inst)) = all[n].by else { continue };
        if !all[n].at.contains(&true) || !is_plain(inst) || all[n].sum.is_some() || all[n].is_sum {
            continue;
        }
        let operands = inst.operands().into_iter();
        let operands: Option<Vec<usize>> = operands
            .filter(|v| !v.is_constant())
            .map(|v| number.get(&v).copied())
            .collect();
        let Some(operands) = operands else { continue };
        let at = all[n].at.clone();
        let is_there = |o: &usize| all[*o].at.iter().zip(&at).all(|(o, v)| *o || !v);
        if !(is_folded(inst) || operands.iter().all(is_there)) {
            continue;
        }
        all[n].computed = true;
        for o in operands {
            for (o, v) in all[o].at.iter_mut().zip(&at) {
                *o |= v;
            }
        }
    }
}

/// [`compute_some`], where some operands are computed from the sums that they are part of, if others are computed from them in turn. A function of `row` and
/// `n` may need no more than `row + 1` and `n` in its loop, where `n + row` is the start of a variable: that is `(row + 1) - 1 + n`, and handing
/// it over would keep it in a register. A value is nowhere live behind which it is computed so, and what it was is known there for the reason
/// that holds for operands.
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
        let is_used = |value: Value| {
            let mut computed = trial.iter().filter(|d| d.computed && d.at.contains(&true));
            computed.any(|d| d.by.is_some_and(|(_, i)| i.operands().contains(&value)))
        };
        let kept: Vec<_> = sums
            .iter()
            .copied()
            .filter(|&(operand, sum, _)| trial[operand].at == all[sum].at)
            .filter(|&(operand, ..)| is_used(trial[operand].value))
            .collect();
        if kept.len() == sums.len() {
            *all = trial;
            return;
        }
        sums = kept;
    }
    compute_some(all);
}

/// Values that are nowhere live, each with a sum of it and a constant that is, as numbers of definitions, and that constant. No variable's next value is
/// such a sum: what its flags promise is what optimisers know of the variable.
fn sums(all: &[Definition]) -> Vec<(usize, usize, Value)> {
    let number: HashMap<Value, usize> = (0..).zip(all).map(|(n, of)| (of.value, n)).collect();
    let mut found: HashMap<usize, (usize, Value)> = HashMap::new();
    for (n, of) in all.iter().enumerate() {
        let Some((_, inst)) = of.by else { continue };
        if !of.at.contains(&true) || inst.users().iter().any(|u| u.is_phi()) {
            continue;
        }
        let Some((operand, by)) = sum_with_constant(inst) else {
            continue;
        };
        let Some(&operand) = number.get(&operand) else {
            continue;
        };
        if !all[operand].at.contains(&true) {
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

/// Whether an instruction makes a place for a variable, which has to be in the entry: the frame has it from the beginning to the end.
pub(in crate::emit) fn is_place(i: Inst) -> bool {
    i.opcode() == LLVMOpcode::LLVMAlloca && i.operands().iter().all(|v| v.is_constant())
}

/// Whether code generators compute it anew in each block that uses it: comparisons, what is no instruction at all, and addresses at a
/// fixed distance.
fn is_folded(i: Inst) -> bool {
    use LLVMOpcode::*;
    match i.opcode() {
        LLVMICmp | LLVMTrunc | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast => true,
        LLVMGetElementPtr => i.operands()[1..].iter().all(|v| v.is_constant()),
        _ => false,
    }
}

struct Search<'a, 'ctx> {
    ins: TiVec<BlockId, Vec<BlockId>>,
    number: HashMap<BasicBlock<'ctx>, BlockId>,
    headers: &'a [BlockId],
}

impl Search<'_, '_> {
    /// By header: whether `value` is needed at its start.
    fn at(&self, value: Value, home: Option<BlockId>) -> Vec<bool> {
        let mut live = HashSet::new();
        let mut work = self.blocks_of_uses(value);
        while let Some(b) = work.pop() {
            if Some(b) != home && live.insert(b) {
                work.extend(&self.ins[b]);
            }
        }
        self.headers.iter().map(|h| live.contains(h)).collect()
    }

    /// The blocks at whose start or, of φs, at whose end the value is used.
    fn blocks_of_uses(&self, value: Value) -> Vec<BlockId> {
        let mut blocks = Vec::new();
        for user in value.users() {
            if user.is_phi() {
                blocks.extend(self.sources(user, value));
            } else {
                blocks.push(self.number[&user.block()]);
            }
        }
        blocks
    }

    fn sources(&self, phi: Inst, value: Value) -> impl Iterator<Item = BlockId> {
        let entries = phi.incoming().into_iter();
        let of_value = entries.filter(move |(v, _)| *v == value);
        of_value.map(|(_, from)| self.number[&from])
    }
}
