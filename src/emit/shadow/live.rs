//! Which values are still needed at the headers of loops.

use crate::emit::split::in_blocks;
use crate::emit::values::{self, Inst, Value};
use crate::index::BlockId;
use crate::ir::Cfg;
use inkwell::basic_block::BasicBlock;
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;
use std::collections::{HashMap, HashSet};

/// A value that is needed at the start of a loop's header and not defined there.
pub(super) struct Live {
    pub value: Value,
    /// The block that defines it; `None`: a parameter.
    pub home: Option<BlockId>,
    /// By header, as they were given.
    pub at: Vec<bool>,
    /// In bytes.
    pub size: u64,
}

/// The values that are needed at the start of any of the `headers`; `None` when one of them cannot be kept in memory.
/// O(uses · blocks) at worst, near-linear in practice.
pub(super) fn values_at(
    function: FunctionValue,
    cfg: &Cfg,
    headers: &[BlockId],
    target: &TargetData,
) -> Option<Vec<Live>> {
    let blocks = function.get_basic_blocks();
    let search = Search {
        ins: in_blocks(cfg),
        number: blocks.iter().copied().zip(cfg.ids()).collect(),
        headers,
    };
    let mut all = Vec::new();
    for parameter in function.get_param_iter() {
        all.push((Value::of(&parameter), None));
    }
    for (b, block) in cfg.ids().zip(&blocks) {
        let results = values::instructions(*block)
            .into_iter()
            .filter(|i| !i.is_void());
        all.extend(results.map(|i| (i.value(), Some(b))));
    }
    let mut live = Vec::new();
    for (value, home) in all {
        let at = search.at(value, home);
        if at.contains(&true) {
            live.push(Live {
                value,
                home,
                at,
                size: value.size(target)?,
            });
        }
    }
    Some(live)
}

struct Search<'a, 'ctx> {
    ins: Vec<Vec<BlockId>>,
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
                work.extend(&self.ins[b.index()]);
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
