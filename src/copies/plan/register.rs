//! The path register in SSA form, still without LLVM: where a φ is needed, and which value each
//! block gets.
//!
//! The register never flows over a retreating edge without being set to a constant on it (a back
//! edge ends a path and begins another), so one pass in topological order settles it.

use super::{FunctionPlan, Op, Site};
use crate::base::index::{BlockId, CfgEdge, TiVec};
use crate::input::ir::Cfg;
use crate::paths::dag::Order;

/// A value of the path register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Known.
    Const(i64),
    /// What the φ at the start of this block yields.
    Phi(BlockId),
    /// What was computed on this edge from the value before it.
    Sum(CfgEdge),
}

/// The register's value at the start of every block; `None` where it is not read any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    /// By block.
    pub at: TiVec<BlockId, Option<Value>>,
}

impl Registers {
    /// Settles the register of a function under `plan`; `cfg` and `order` are those of its versions, if it has any.
    /// O(V + E).
    ///
    /// # Panics
    /// When the plan reads the register where no path has set it.
    pub(crate) fn new(cfg: &Cfg, order: &Order, plan: &FunctionPlan) -> Registers {
        let live = live_blocks(cfg, order, plan);
        let ins = reachable_ins(cfg, order);
        let mut registers = Registers {
            at: cfg.by_block(None),
        };
        for &b in order.rpo.iter().filter(|b| live[**b]) {
            registers.at[b] = Some(registers.merge(b, &ins[b], order, cfg, plan));
        }
        registers
    }

    /// The value behind edge `e`, where it is read.
    pub(crate) fn value_after(&self, e: CfgEdge, plan: &FunctionPlan) -> Option<Value> {
        plan.ops(Site::Edge(e))
            .iter()
            .fold(self.at[e.block], |value, op| match *op {
                Op::Set(c) => Some(Value::Const(c)),
                Op::Add(c) => match value {
                    Some(Value::Const(before)) => Some(Value::Const(before.wrapping_add(c))),
                    _ => Some(Value::Sum(e)),
                },
                Op::Count(_) | Op::CountInWindow(_) | Op::CountConst(_) => value,
            })
    }

    fn merge(
        &self,
        b: BlockId,
        ins: &[CfgEdge],
        order: &Order,
        cfg: &Cfg,
        plan: &FunctionPlan,
    ) -> Value {
        let value = |e: &CfgEdge| {
            let back = order.is_retreating(e.block, cfg.target(*e));
            match self.value_after(*e, plan) {
                Some(Value::Const(c)) => Value::Const(c),
                Some(v) if !back => v,
                other => panic!("{e} brings {other:?} to block {b}, which reads the register"),
            }
        };
        let mut values = ins.iter().map(value);
        let first = values
            .next()
            .expect("a block that reads the register has an in-edge");
        if values.all(|v| v == first) {
            first
        } else {
            Value::Phi(b)
        }
    }
}

/// The blocks at whose start the register's value is still to be read.
fn live_blocks(cfg: &Cfg, order: &Order, plan: &FunctionPlan) -> TiVec<BlockId, bool> {
    let mut live = cfg.by_block(false);
    for &b in order.rpo.iter().rev() {
        let edge_reads = |(edge, to): (CfgEdge, BlockId)| {
            let site = Site::Edge(edge);
            // Over a retreating edge nothing flows: `live` of its target is not known yet, and
            // `merge` checks that a constant arrives.
            reads_first(plan.ops(site)).unwrap_or(live[to])
        };
        let exit = reads_first(plan.ops(Site::Exit(b))).unwrap_or(false);
        let edges = cfg.taken_edges(b);
        live[b] = exit | edges.map(edge_reads).fold(false, |a, b| a | b);
    }
    live
}

/// Whether `ops` read the register before they set it; `None` when they do neither.
fn reads_first(ops: &[Op]) -> Option<bool> {
    ops.iter().find_map(|op| match op {
        Op::Add(_) | Op::Count(_) | Op::CountInWindow(_) => Some(true),
        Op::Set(_) => Some(false),
        Op::CountConst(_) => None,
    })
}

fn reachable_ins(cfg: &Cfg, order: &Order) -> TiVec<BlockId, Vec<CfgEdge>> {
    let mut ins = cfg.by_block(Vec::new());
    for &b in &order.rpo {
        for (edge, to) in cfg.taken_edges(b) {
            ins[to].push(edge);
        }
    }
    ins
}
