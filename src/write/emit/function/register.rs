//! The path register of one function: an id, the address of an id's counter, or the key of an id.
//!
//! Where some counts of a function go to an array and others to a hash table ([`Table::Window`]), a block's register is
//! an id if most counts that follow are expected in the array, and else a key. An id becomes a key by one
//! multiplication on the way to such a block, instead of one at every count. A key stays one: of 32 bits, it has lost
//! the sign of what an id is before its last increment. A count in the array takes the id from it.

use super::Emitter;
use super::llvm;
use crate::base::index::{BlockId, CfgEdge, TiVec};
use crate::copies::plan::register::{Registers, Value};
use crate::copies::plan::{FunctionPlan, Op, Site, Table};
use crate::input::ir::Cfg;
use crate::paths::dag::Order;
use inkwell::basic_block::BasicBlock;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, IntValue};
use rustc_hash::FxHashMap;

/// A value of the path register.
#[derive(Clone, Copy)]
pub(super) enum Held<'ctx> {
    /// An id, or the address of its counter.
    Id(BasicValueEnum<'ctx>),
    /// The key of an id.
    Key(IntValue<'ctx>),
}

/// By block: whether its register is a key. What is one stays one. O(V + E).
pub(super) fn find_keys(
    cfg: &Cfg,
    order: &Order,
    plan: &FunctionPlan,
    registers: &Registers,
) -> TiVec<BlockId, bool> {
    let mut is_key = cfg.by_block(plan.table.hashes());
    if !matches!(plan.table, Table::Window { .. }) {
        return is_key;
    }
    let mut becomes_key = cfg.by_block(false);
    for &block in &order.rpo {
        is_key[block] = becomes_key[block] || !plan.mostly_in_window.contains(block);
        let comes_as_key = match registers.at[block] {
            Some(Value::Phi(b)) => is_key[b],
            Some(Value::Sum(e)) => is_key[cfg.target(e)],
            Some(Value::Const(_)) | None => false,
        };
        let edges = cfg.taken_edges(block).filter(|_| comes_as_key);
        for (edge, to) in edges {
            let sets = |op: &Op| matches!(op, Op::Set(_));
            becomes_key[to] |= !plan.ops(Site::Edge(edge)).iter().any(sets);
        }
    }
    is_key
}

impl<'ctx> Emitter<'_, 'ctx> {
    pub(super) fn make_phis(&mut self) {
        for b in self.cfg.ids() {
            // Blocks that led here may return themselves now.
            if self.registers.at[b] == Some(Value::Phi(b)) && !self.places.ins[b].is_empty() {
                let block = self.blocks[b];
                let ty = self.type_of(self.is_key[b]);
                let phi = llvm::phi_at_start(&self.builder, block, ty, "p3.r");
                self.phis.insert(b, phi);
            }
        }
    }

    /// The register at the start of block `b`, where it is read.
    pub(super) fn register_at(&self, b: BlockId) -> Option<Held<'ctx>> {
        self.registers.at[b].map(|value| match value {
            Value::Const(c) => self.register_value(c, self.is_key[b]),
            Value::Phi(p) => {
                let phi = self.phis[&p].as_basic_value();
                if self.is_key[p] {
                    Held::Key(phi.into_int_value())
                } else {
                    Held::Id(phi)
                }
            }
            Value::Sum(e) => self.after[&e],
        })
    }

    /// The register on an edge to block `b`, in which it is a key if `is_key`; a constant gets the form that `b`
    /// expects. `None` where the plan needs no register. (A function that is entered at its loops knows more constants
    /// than its plan, and adds to them.)
    pub(super) fn register_for(&self, b: BlockId, is_key: bool) -> Option<Held<'ctx>> {
        match self.registers.at[b] {
            Some(Value::Const(c)) => Some(self.register_value(c, is_key)),
            _ => self.register_at(b),
        }
    }

    /// The register when the sum of labels is `c`.
    pub(super) fn register_value(&self, c: i64, is_key: bool) -> Held<'ctx> {
        if is_key {
            let key = self.keys.key(c as u64);
            return Held::Key(self.key_type().const_int(key, false));
        }
        Held::Id(match self.register {
            BasicTypeEnum::IntType(_) => self.constant(c).into(),
            // Before a path's last increment it may be no address of a counter.
            _ => llvm::const_moved(self.counter(0), self.constant(c.wrapping_mul(8))).into(),
        })
    }

    /// The register when `c` is added to a sum of labels.
    pub(super) fn register_sum(&self, register: Held<'ctx>, c: i64) -> Held<'ctx> {
        match register {
            Held::Key(r) => {
                let by = r.get_type().const_int(self.keys.step(c), false);
                Held::Key(self.add_value(r, by))
            }
            Held::Id(BasicValueEnum::IntValue(r)) => {
                Held::Id(self.add_value(r, self.constant(c)).into())
            }
            _ if c == 0 => register,
            Held::Id(r) => {
                let by = self.constant(c.wrapping_mul(8));
                Held::Id(llvm::offset_address(&self.builder, r.into_pointer_value(), by).into())
            }
        }
    }

    /// The type of a register that is a key, or an id.
    fn type_of(&self, is_key: bool) -> BasicTypeEnum<'ctx> {
        if is_key {
            self.key_type().into()
        } else {
            self.register
        }
    }

    /// Completes what [`Emitter::make_phis`] made.
    pub(super) fn fill_phis(&self) {
        for (&b, phi) in &self.phis {
            let poison = match self.type_of(self.is_key[b]) {
                BasicTypeEnum::IntType(ty) => ty.get_poison().as_basic_value_enum(),
                other => other.into_pointer_type().get_poison().into(),
            };
            // φ entries of one block must be one value, also where several edges of it lead here.
            let mut values: FxHashMap<BasicBlock, BasicValueEnum> = FxHashMap::default();
            for &e in &self.places.ins[b] {
                // Edges from unreachable blocks, and repeats of an indirectbr target that are
                // never taken: any value will do, but repeats must agree.
                let (twin, from) = (self.cfg.taken_edge(e), self.arrival(e));
                let value = *values.entry(from).or_insert_with(|| {
                    let held = self.value_behind(twin, self.is_key[b]);
                    held.map_or(poison, Held::value)
                });
                phi.add_incoming(&[(&value as &dyn BasicValue, from)]);
            }
        }
    }

    /// The register behind edge `e`, whose target has a φ for it: a key if `is_key`.
    fn value_behind(&self, e: CfgEdge, is_key: bool) -> Option<Held<'ctx>> {
        let held = match self.after.get(&e) {
            Some(&after) => after,
            None => self.register_for(e.block, is_key)?,
        };
        let end = llvm::terminator(self.arrival(e));
        llvm::position_before(&self.builder, end);
        Some(self.convert_to_key(held, is_key))
    }

    /// `held` as a key where the builder stands, if `is_key`.
    pub(super) fn convert_to_key(&self, held: Held<'ctx>, is_key: bool) -> Held<'ctx> {
        match held {
            Held::Id(id) if is_key => Held::Key(self.key_of(id, 0)),
            Held::Key(_) if !is_key => unreachable!("a key stays one"),
            _ => held,
        }
    }

    /// The id that is `c` above the one with this key.
    pub(super) fn id_of(&self, key: IntValue<'ctx>, c: i64) -> IntValue<'ctx> {
        let (b, ty) = (&self.builder, key.get_type());
        let inverse = ty.const_int(self.keys.inverse_key(), false);
        let next = b.build_int_mul(key, inverse, "p3.r").expect("positioned");
        let id = self.add_value(next, ty.const_int(c.wrapping_sub(1) as u64, true));
        let id = b.build_int_z_extend_or_bit_cast(id, self.i64, "p3.r");
        id.expect("positioned")
    }

    /// The key of the id `c` above one that is not known.
    pub(super) fn key_of(&self, id: BasicValueEnum<'ctx>, c: i64) -> IntValue<'ctx> {
        let (b, ty) = (&self.builder, self.key_type());
        let id = b.build_int_truncate_or_bit_cast(id.into_int_value(), ty, "p3.r");
        let next = self.add_value(
            id.expect("positioned"),
            ty.const_int(c.wrapping_add(1) as u64, true),
        );
        let factor = ty.const_int(self.keys.factor(), false);
        b.build_int_mul(next, factor, "p3.h").expect("positioned")
    }
}

impl<'ctx> Held<'ctx> {
    /// What LLVM has for it.
    pub(super) fn value(self) -> BasicValueEnum<'ctx> {
        match self {
            Held::Id(value) => value,
            Held::Key(key) => key.into(),
        }
    }
}
