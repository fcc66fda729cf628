//! What an execution records for a solver: the conditions of the path, and where the values in them come from.

use super::Run;
use crate::possible::code::{BinaryOperator as Binary, Local};
use crate::possible::memory::Memory;
use crate::possible::term::Term;
use rustc_hash::FxHashMap;

/// What a path is executed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::possible) enum Mode {
    /// To find contradictions without a solver: terms of which one value is left are that value.
    Fold,
    /// To prove by a solver that no run takes it.
    Prove,
    /// To find values with which it runs: nothing happens that is not defined, and nobody else writes memory.
    Show,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::possible) enum Origin {
    /// From before the path: a parameter, or a value of the path's own function.
    Value(Local),
    /// From memory that nothing on the path wrote but the call named, if one is.
    Memory {
        address: Term,
        size: u64,
        after: Option<Call>,
    },
    /// A call returned it.
    Returned(Call),
}

/// A call on the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::possible) struct Call {
    /// Whom it calls; `None` where the code does not say so.
    pub(in crate::possible) name: Option<String>,
    /// Which of the calls of this name, from 1.
    pub(in crate::possible) number: usize,
}

/// What was recorded.
#[derive(Default)]
pub(in crate::possible) struct Trace {
    /// Truth values that decide where control goes, each true on the path.
    pub(in crate::possible) conditions: Vec<Term>,
    /// Truth values that are true too.
    pub(in crate::possible) assumptions: Vec<Term>,
    /// Where leaves come from that can be described.
    pub(in crate::possible) origins: FxHashMap<Term, Origin>,
    /// Leaves that are addresses.
    pub(in crate::possible) addresses: Vec<Term>,
    /// Whether something else decided where control went, too.
    pub(in crate::possible) has_unknown_decision: bool,
    calls: FxHashMap<Option<String>, usize>,
    /// The last call that may have written memory of others.
    last_writer: Option<Call>,
    /// What was stored since.
    stores: Vec<(Term, u64)>,
}

impl Run<'_> {
    /// Records that control depends on something that is not modelled.
    pub(super) fn record_unknown_decision(&mut self) {
        self.trace.has_unknown_decision = true;
    }

    /// Records that a condition is true, or false.
    pub(super) fn record_condition(&mut self, condition: Term, wanted: bool) {
        let recorded = self.choose_sense(condition, wanted);
        self.trace.conditions.extend(recorded);
    }

    /// Records that a condition held before the path began.
    pub(super) fn assume_condition(&mut self, condition: Term, wanted: bool) {
        let recorded = self.choose_sense(condition, wanted);
        self.trace.assumptions.extend(recorded);
    }

    /// What a solver is told of a condition that is true, or false. `None` where none is asked.
    fn choose_sense(&mut self, condition: Term, wanted: bool) -> Option<Term> {
        if self.mode == Mode::Fold {
            return None;
        }
        Some(if wanted {
            condition
        } else {
            self.terms.not(condition)
        })
    }

    /// Records that a term is one of some values, or none of them.
    pub(super) fn record_choice(&mut self, on: Term, values: &[u64], wanted: bool) {
        if self.mode == Mode::Fold {
            return;
        }
        let any = self.is_one_of(on, values);
        self.record_condition(any, wanted);
    }

    /// Whether a term is one of some values.
    pub(super) fn is_one_of(&mut self, on: Term, values: &[u64]) -> Term {
        let bits = self.terms.bits(on);
        let mut any = self.terms.truth(false);
        for value in values {
            let value = self.terms.constant(bits, *value);
            let equal = self.terms.equal(on, value);
            any = self.terms.binary(Binary::Or, any, equal);
        }
        any
    }

    /// Takes for true that something is defined, if the path is to be shown; whether it is.
    pub(super) fn assume(&mut self, condition: Option<Term>) -> bool {
        match condition {
            Some(condition) if self.mode == Mode::Show => {
                self.trace.assumptions.push(condition);
                true
            }
            _ => false,
        }
    }

    pub(super) fn record_origin(&mut self, leaf: Term, origin: Origin, is_address: bool) {
        if self.mode != Mode::Show || !self.terms.is_leaf(leaf) {
            return;
        }
        if is_address && !self.trace.addresses.contains(&leaf) {
            self.trace.addresses.push(leaf);
        }
        self.trace.origins.entry(leaf).or_insert(origin);
    }

    /// Records a call, which may have written memory that others know.
    pub(super) fn record_call(&mut self, name: Option<&str>, may_write: bool) -> Call {
        let name = name.map(String::from);
        let number = self.trace.calls.entry(name.clone()).or_default();
        *number += 1;
        let call = Call {
            name,
            number: *number,
        };
        if may_write {
            self.trace.last_writer = Some(call.clone());
            self.trace.stores.clear();
        }
        call
    }

    pub(super) fn record_store(&mut self, address: Term, size: u64) {
        if self.mode == Mode::Show {
            self.trace.stores.push((address, size));
        }
    }

    /// Records what was read from memory of which nothing was known: if it was read or written before by another
    /// address that turns out equal, it is the value from there.
    pub(super) fn record_load(
        &mut self,
        address: Term,
        (size, bits): (u64, u32),
        value: Term,
        is_address: bool,
    ) {
        if self.mode == Mode::Fold {
            return;
        }
        let cells = self
            .memory
            .cells_that_may_overlap(self.terms, address, size);
        for cell in &cells {
            if (cell.size, cell.bits) == (size, bits) {
                let Some(known) = cell.term() else { continue };
                let is_same = self.terms.equal(address, cell.address);
                let is_equal = self.terms.equal(value, known);
                let differs = self.terms.not(is_same);
                let follows = self.terms.binary(Binary::Or, differs, is_equal);
                self.trace.assumptions.push(follows);
            } else if self.mode == Mode::Show {
                self.assume_apart((address, size), (cell.address, cell.size));
            }
        }
        if self.mode != Mode::Show {
            return;
        }
        for store in self.trace.stores.clone() {
            let is_kept = cells.iter().any(|c| (c.address, c.size) == store);
            if !is_kept
                && self
                    .memory
                    .may_overlap(self.terms, (address, size), (store.0, Some(store.1)))
            {
                self.assume_apart((address, size), store);
            }
        }
        let is_shared = !self.memory.is_private_address(self.terms, address);
        let after = self.trace.last_writer.clone().filter(|_| is_shared);
        let origin = Origin::Memory {
            address,
            size,
            after,
        };
        self.record_origin(value, origin, is_address);
    }

    /// Assumes that two ranges of memory share no byte.
    fn assume_apart(&mut self, (a, a_size): (Term, u64), (b, b_size): (Term, u64)) {
        for (from, to, size) in [(a, b, b_size), (b, a, a_size)] {
            let distance = self.terms.binary(Binary::Sub, from, to);
            let size = self.terms.constant(64, size);
            let is_inside = self.terms.below(distance, size);
            let is_outside = self.terms.not(is_inside);
            self.trace.assumptions.push(is_outside);
        }
    }

    /// Assumes that an address that is used is that of memory.
    pub(super) fn assume_usable(&mut self, address: Term) {
        if self.mode != Mode::Show {
            return;
        }
        let first = self.terms.constant(64, FIRST_USABLE);
        let is_below = self.terms.below(address, first);
        let is_usable = self.terms.not(is_below);
        self.trace.assumptions.push(is_usable);
        let (items, _) = self.terms.summands(address);
        let mut bases = items.iter().filter(|(t, factor)| {
            *factor == 1 && (self.trace.addresses.contains(t) || Memory::is_object(self.terms, *t))
        });
        if let (Some((base, _)), None) = (bases.next(), bases.next())
            && *base != address
        {
            let inside = self.terms.binary(Binary::Sub, address, *base);
            let size = self.terms.constant(64, LARGEST_OBJECT);
            let is_inside = self.terms.below(inside, size);
            self.trace.assumptions.push(is_inside);
        }
    }
}

/// Lower addresses are those of no memory.
pub(in crate::possible) const FIRST_USABLE: u64 = 4096;
/// What an address points into has so many bytes at most.
pub(in crate::possible) const LARGEST_OBJECT: u64 = 4096;
