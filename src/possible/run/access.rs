//! Loads and stores.

use super::trace::Mode;
use super::{Run, Value};
use crate::possible::code::{BinaryOperator as Binary, Local, Operand};
use crate::possible::memory::Memory;
use crate::possible::term::{Node, Term};

impl Run<'_> {
    /// The term of an address that is used as one.
    pub(super) fn address(&mut self, operand: &Operand) -> Option<Term> {
        match self.operand(operand) {
            Value::Term(t) | Value::Address(t) => (self.terms.bits(t) == 64).then_some(t),
            Value::Loose => None,
        }
    }

    pub(super) fn load(
        &mut self,
        address: &Operand,
        (size, bits): (u64, u32),
        is_plain: bool,
        is_address: bool,
    ) -> Value {
        if bits == 0 {
            return Value::Loose;
        }
        let Some(address) = self.address(address).filter(|_| is_plain) else {
            return self.free(bits);
        };
        self.assume_usable(address);
        if let Some(value) = self.memory.constant(self.terms, address, bits) {
            return Value::Term(self.terms.constant(bits, value));
        }
        if let Some(value) = self.element_of_table(address, bits) {
            return value;
        }
        if let Some(value) = self.memory.load(self.terms, address, size, bits) {
            return value;
        }
        if let Some(value) = self.load_before_loop(address, bits) {
            self.memory.keep(address, size, bits, value);
            return value;
        }
        if self.may_hold_nothing(address) {
            return Value::Loose;
        }
        let any = self.free(bits);
        let value = if self.is_in_loop() && !self.is_plain() {
            self.taint_by_earlier_iterations(address, bits, any)
        } else {
            any
        };
        if let Value::Term(t) = value {
            self.record_load(address, (size, bits), t, is_address);
        }
        self.memory.keep(address, size, bits, value);
        value
    }

    /// What a local variable of the path's own function holds that was stored once, before the loop.
    fn load_before_loop(&mut self, address: Term, bits: u32) -> Option<Value> {
        if !self.question.starts_in_loop {
            return None;
        }
        let (items, 0) = self.terms.summands(address) else {
            return None;
        };
        let [(room, 1)] = items[..] else { return None };
        let Node::Room(number) = *self.terms.node(room) else {
            return None;
        };
        // The first activation is that of the path's own function.
        let own = self.frames.first().expect("something is executed");
        let local = number
            .checked_sub(own.first_room)
            .filter(|n| *n < 1 << 24)?;
        let stored = own.analysis.stored_once.get(&(local as Local)).cloned();
        if self.frames.len() > 1 {
            return None;
        }
        let value = self.operand(&stored?);
        match value {
            Value::Term(t) | Value::Address(t) if self.terms.bits(t) == bits => Some(value),
            _ => None,
        }
    }

    /// The value that a table which never changes has at an index that is not known: a choice over its elements.
    fn element_of_table(&mut self, address: Term, bits: u32) -> Option<Value> {
        let (index, table) = self.memory.table_element(self.terms, address, bits)?;
        let index_range = self.known.range(self.terms, index, false);
        let (first, last) = (table.first()?.0, table.last()?.0);
        let is_inside = i128::from(first) <= index_range.0 && index_range.1 <= i128::from(last);
        let chosen = table.iter().rev();
        let mut chosen = chosen
            .filter(|(at, _)| index_range.0 <= i128::from(*at) && i128::from(*at) <= index_range.1);
        let mut value = if is_inside || self.assume_index(index, first, last) {
            let (_, last) = chosen.next()?;
            self.terms.constant(bits, *last)
        } else {
            // Outside of the table, where anything may be read.
            let number = self.naming;
            self.terms.free(bits, number)
        };
        for (at, element) in chosen {
            let at = self.terms.constant(64, *at);
            let is_here = self.terms.equal(index, at);
            let element = self.terms.constant(bits, *element);
            value = self.terms.choice(is_here, element, value);
        }
        Some(Value::Term(value))
    }

    fn assume_index(&mut self, index: Term, first: u64, last: u64) -> bool {
        let first_index = self.terms.constant(64, first);
        let behind = self.terms.binary(Binary::Sub, index, first_index);
        let count = self.terms.constant(64, last - first + 1);
        let is_inside = self.terms.below(behind, count);
        self.assume(Some(is_inside))
    }

    /// Whether nothing may have been stored at an address yet, so that every load gives another value.
    fn may_hold_nothing(&self, address: Term) -> bool {
        if let Some(number) = Memory::room(self.terms, address) {
            let room = self.memory.rooms.get(&number).copied().unwrap_or_default();
            return !room.was_given_away && (!self.is_plain() || !room.was_written);
        }
        let (items, _) = self.terms.summands(address);
        items.iter().any(|(t, _)| self.fresh.contains(t))
    }

    /// What earlier iterations of a loop may have stored: sums that overflowed among it.
    fn taint_by_earlier_iterations(&self, address: Term, bits: u32, any: Value) -> Value {
        let analysis = &self.frame().analysis;
        let room = Memory::room(self.terms, address);
        let root = room.map(|number| (number & 0xff_ffff) as Local);
        let taint = analysis.taint_of_memory(root, bits);
        if taint.undefined || taint.overflowed && self.mode != Mode::Show {
            Value::Loose
        } else {
            any
        }
    }

    pub(super) fn store(&mut self, address: &Operand, value: &Operand, size: u64, is_plain: bool) {
        let value_of = self.operand(value);
        let bits = match value_of {
            Value::Term(t) | Value::Address(t) => self.terms.bits(t),
            Value::Loose => self.loose_bits(value, size),
        };
        let Some(address) = self.address(address) else {
            self.record_call(None, true);
            self.memory.forget_shared(self.terms);
            return;
        };
        self.assume_usable(address);
        self.record_store(address, size);
        self.memory.forget(self.terms, address, Some(size));
        if is_plain && bits > 0 {
            self.memory.keep(address, size, bits, value_of);
        }
    }

    /// The bits of an operand that may be anything, of which so many bytes are stored.
    fn loose_bits(&self, operand: &Operand, size: u64) -> u32 {
        match operand {
            Operand::Local(l) => self.function().kinds[*l as usize].bits,
            _ if size <= 8 => size as u32 * 8,
            _ => 0,
        }
    }
}
