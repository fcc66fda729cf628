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
}

/// The values that are needed at the start of any of the `headers`, each behind those that it is computed from; `None` when
/// one of them cannot be kept in memory. O(uses · blocks) at worst, near-linear in practice.
pub(in crate::emit) fn values_at(
    function: FunctionValue,
    cfg: &Cfg,
    order: &Order,
    headers: &[BlockId],
    target: &TargetData,
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
    compute_some(&mut all);
    let mut live = Vec::new();
    for of in all.into_iter().filter(|of| of.at.contains(&true)) {
        let size = of.value.size(target)?;
        let how = match of.by {
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
struct Definition {
    value: Value,
    /// The block and the instruction; `None`: a parameter, or a place.
    by: Option<(BlockId, Inst)>,
    at: Vec<bool>,
    computed: bool,
}

impl Definition {
    fn new(value: Value, by: Option<(BlockId, Inst)>) -> Self {
        Definition {
            value,
            by,
            at: Vec::new(),
            computed: false,
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
        if !all[n].at.contains(&true) || !is_plain(inst) {
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
