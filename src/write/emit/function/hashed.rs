//! Counts in hash tables: by keys, in the slot that the table's cache names, or by the runtime.

use super::llvm;
use super::register::Held;
use super::{Emitter, How, place};
use crate::base::index::BlockId;
use crate::copies::plan::{Op, Update};
use crate::runtime::abi;
use crate::runtime::format::Slot;
use inkwell::AtomicOrdering;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::types::IntType;
use inkwell::values::{BasicValue, FunctionValue, IntValue, PointerValue};
use std::mem::offset_of;
use zerocopy::LE;

const POSITIONED: &str = "positioned";

impl<'ctx> Emitter<'_, 'ctx> {
    /// The type of the table's keys.
    pub(super) fn key_type(&self) -> IntType<'ctx> {
        match self.keys.bits {
            32 => self.context.i32_type(),
            _ => self.i64,
        }
    }

    /// The key of the id that `op` counts.
    pub(super) fn key(&self, op: Op, register: Option<Held<'ctx>>) -> IntValue<'ctx> {
        let c = match op {
            Op::CountConst(id) => return self.key_type().const_int(self.keys.key(id), false),
            Op::Count(c) | Op::CountInWindow(c) => c,
            Op::Set(_) | Op::Add(_) => unreachable!("{op} counts nothing"),
        };
        match register.expect("the plan sets the register before it reads it") {
            Held::Id(id) => self.key_of(id, c),
            key @ Held::Key(_) => self.register_sum(key, c).value().into_int_value(),
        }
    }

    /// Counts a key; in code with branches others may follow.
    pub(super) fn count_key(&mut self, key: IntValue<'ctx>, how: How<'ctx>, is_last: bool) {
        match how {
            How::Flag(edge) => drop(self.hashed.insert(edge, key)),
            How::Here => self.count_by_call(key),
            How::Branch(rest) if is_last => self.count_cached(key, rest),
            How::Branch(rest) => {
                let next = self.context.prepend_basic_block(rest, "p3.count");
                self.count_cached(key, next);
            }
        }
    }

    /// Counts a key in the slot that the table's cache names, if it is the slot of that key, or else by the
    /// runtime. Goes on in `rest`.
    fn count_cached(&self, key: IntValue<'ctx>, rest: BasicBlock<'ctx>) {
        let b = &self.builder;
        let miss = self.context.prepend_basic_block(rest, "p3.miss");
        let hit = self.context.prepend_basic_block(miss, "p3.hit");
        let slot = self.cached_slot(key);
        let low =
            b.build_int_truncate_or_bit_cast(self.load_pointer(slot), self.key_type(), "p3.n");
        let is_it = b.build_int_compare(IntPredicate::EQ, low.expect(POSITIONED), key, "p3.hit");
        let branch = b.build_conditional_branch(is_it.expect(POSITIONED), hit, miss);
        let branch = branch.expect(POSITIONED);
        llvm::set_branch_weights(self.context, branch, &[1 << 20, 1]); // it is found, mostly
        b.position_at_end(hit);
        let count = self.constant(offset_of!(Slot<LE>, count) as i64);
        // The slot is the thread's own already.
        self.data.add_to(
            b,
            llvm::field_address(b, slot, count),
            self.constant(1),
            true,
        );
        b.build_unconditional_branch(rest).expect(POSITIONED);
        b.position_at_end(miss);
        self.count_missed(key);
        b.build_unconditional_branch(rest).expect(POSITIONED);
        match rest.get_first_instruction() {
            Some(next) => llvm::position_before(b, next),
            None => b.position_at_end(rest),
        }
    }

    /// The slot in the cache of the function's table for a key; a slot without key where there is none.
    fn cached_slot(&self, key: IntValue<'ctx>) -> PointerValue<'ctx> {
        let b = &self.builder;
        let shift = u64::from(self.keys.bits - abi::CACHE_BITS);
        let shift = key.get_type().const_int(shift, false);
        let at = b.build_right_shift(key, shift, false, "p3.h");
        let at = self.widen_key(at.expect(POSITIONED));
        let cache = self.data.cache(self.table_number());
        let first = llvm::const_address(cache, self.constant(8));
        let distance = self.load_pointer(self.own.address(b, llvm::element_address(b, first, at)));
        // The slot is no part of the cache: what LLVM knows of pointers into that does not hold for it.
        let base = b.build_ptr_to_int(cache, self.i64, "p3.t");
        let address = b.build_int_add(base.expect(POSITIONED), distance, "p3.s");
        let slot = b.build_int_to_ptr(address.expect(POSITIONED), cache.get_type(), "p3.s");
        slot.expect(POSITIONED)
    }

    /// A key as the runtime takes it.
    fn widen_key(&self, key: IntValue<'ctx>) -> IntValue<'ctx> {
        let wide = self
            .builder
            .build_int_z_extend_or_bit_cast(key, self.i64, "p3.h");
        wide.expect(POSITIONED)
    }

    fn load_pointer(&self, from: PointerValue<'ctx>) -> IntValue<'ctx> {
        let value = self.builder.build_load(self.i64, from, "p3.n");
        let value = value.expect(POSITIONED).into_int_value();
        self.data.hide_from_sanitizers(value.as_instruction());
        if self.data.update == Update::Atomic {
            let load = value.as_instruction().expect("a load");
            // Without a data layout, LLVM takes i64 for aligned to four bytes, and this load for a call.
            load.set_alignment(8).expect("a load has an alignment");
            load.set_atomic_ordering(AtomicOrdering::Monotonic)
                .expect("a load can be atomic");
        }
        value
    }

    fn count_by_call(&self, key: IntValue<'ctx>) {
        let count = self.data.count_function();
        self.call_count(count, key);
    }

    /// Counts `key` by a call that saves all registers, so that the code around it keeps its own.
    fn count_missed(&self, key: IntValue<'ctx>) {
        let count = self.data.missed_function();
        self.call_count(count, key);
    }

    fn call_count(&self, count: FunctionValue<'ctx>, key: IntValue<'ctx>) {
        let table = self.data.hash_table(self.table_number());
        let arguments = [table.into(), self.widen_key(key).into()];
        let call = self.builder.build_call(count, &arguments, "");
        call.expect(POSITIONED)
            .set_call_convention(count.get_call_conventions());
    }

    /// The number of the hash table.
    fn table_number(&self) -> u64 {
        self.storage.table.expect("an id of a hash table")
    }

    /// Counts, in the target of edges that cannot be split, the keys that they bring; 0 counts nothing.
    pub(super) fn count_flagged_hash(&self, to: BlockId) {
        let ty = self.key_type();
        let phi = llvm::phi_at_start(&self.builder, self.blocks[to], ty, "p3.id");
        let none = ty.const_zero();
        for &e in &self.places.ins[to] {
            let key = self.hashed.get(&self.cfg.taken_edge(e)).copied();
            let key = key.unwrap_or(none);
            phi.add_incoming(&[(&key as &dyn BasicValue, self.arrival(e))]);
        }
        llvm::position_before(&self.builder, place::start_of_block(self.blocks[to]));
        self.count_by_call(phi.as_basic_value().into_int_value());
    }
}
