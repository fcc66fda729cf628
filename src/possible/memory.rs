//! What is in memory on a path: the values of cells, by the terms of their addresses.
//!
//! A load of a cell that is known gives its value. Every store makes those cells unknown that it may write, every call
//! that may write memory all but those of local variables that only the function itself uses.

use super::code::{BinaryOperator as Binary, Symbol};
use super::run::Value;
use super::term::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// More cells are not kept: the oldest are forgotten.
const MOST_CELLS: usize = 256;

/// Longer tables are not looked into at an index that is not known.
const LONGEST_TABLE: usize = 256;

/// What an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Object {
    Room(u64),
    Symbol(u32),
    Unknown,
}

/// A local variable on the path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// Whether only loads and stores of the function see its address.
    pub(super) is_private: bool,
    /// Whether a call may have written it.
    pub(super) was_given_away: bool,
    /// Whether something was stored in it on the path, or before it.
    pub(super) was_written: bool,
}

/// Bytes of memory whose value is known.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) address: Term,
    /// In bytes.
    pub(super) size: u64,
    /// Of the value.
    pub(super) bits: u32,
    value: Value,
}

impl Cell {
    /// The value, if it is the same whoever reads it.
    pub(super) fn term(&self) -> Option<Term> {
        match self.value {
            Value::Term(t) => Some(t),
            Value::Address(_) | Value::Loose => None,
        }
    }
}

/// The memory of a path.
pub(super) struct Memory<'a> {
    symbols: &'a [Symbol],
    cells: Vec<Cell>,
    pub(super) rooms: FxHashMap<u64, Room>,
    /// Whether only this thread writes memory that others know.
    pub(super) is_alone: bool,
}

impl<'a> Memory<'a> {
    /// Memory of which nothing is known.
    pub(super) fn new(symbols: &'a [Symbol], is_alone: bool) -> Memory<'a> {
        Memory {
            symbols,
            cells: Vec::new(),
            rooms: FxHashMap::default(),
            is_alone,
        }
    }

    fn object(terms: &Terms, address: Term) -> Object {
        let (items, _) = terms.summands(address);
        let mut found = Object::Unknown;
        for (t, factor) in items {
            let object = match terms.node(t) {
                Node::Room(number) => Object::Room(*number),
                Node::Symbol(symbol) => Object::Symbol(*symbol),
                _ => continue,
            };
            if factor != 1 || found != Object::Unknown {
                return Object::Unknown;
            }
            found = object;
        }
        found
    }

    /// The number of the local variable that an address points into.
    pub(super) fn room(terms: &Terms, address: Term) -> Option<u64> {
        match Memory::object(terms, address) {
            Object::Room(number) => Some(number),
            _ => None,
        }
    }

    fn is_private(&self, object: Object) -> bool {
        match object {
            Object::Room(number) => self.rooms.get(&number).is_some_and(|r| r.is_private),
            _ => false,
        }
    }

    /// Whether two objects surely share no byte.
    fn are_apart(&self, a: Object, b: Object) -> bool {
        match (a, b) {
            _ if a == b => false,
            _ if self.is_private(a) || self.is_private(b) => true,
            (Object::Symbol(a), Object::Symbol(b)) => {
                self.symbols[a as usize].is_apart && self.symbols[b as usize].is_apart
            }
            (Object::Room(_), Object::Room(_)) => true,
            (Object::Room(_), Object::Symbol(_)) | (Object::Symbol(_), Object::Room(_)) => true,
            _ => false,
        }
    }

    /// Whether an address is that of a variable.
    pub(super) fn is_object(terms: &Terms, address: Term) -> bool {
        matches!(terms.node(address), Node::Room(_) | Node::Symbol(_))
    }

    /// Whether an address points into a local variable that only its function uses.
    pub(super) fn is_private_address(&self, terms: &Terms, address: Term) -> bool {
        self.is_private(Memory::object(terms, address))
    }

    /// The cells that bytes from an address on may share bytes with; none where others may have written since.
    /// O(cells).
    pub(super) fn cells_that_may_overlap(
        &self,
        terms: &mut Terms,
        address: Term,
        size: u64,
    ) -> Vec<Cell> {
        if !self.is_alone && !self.is_private_address(terms, address) {
            return Vec::new();
        }
        let cells = self.cells.iter();
        let found =
            cells.filter(|c| self.may_overlap(terms, (c.address, c.size), (address, Some(size))));
        found.cloned().collect()
    }

    pub(super) fn may_overlap(
        &self,
        terms: &mut Terms,
        (a, a_size): (Term, u64),
        (b, b_size): (Term, Option<u64>),
    ) -> bool {
        if let Some(difference) = terms.difference(a, b)
            && let Some(distance) = terms.value(difference)
        {
            // `a` is so many bytes behind `b`, or `b` behind `a`.
            let behind = distance < b_size.unwrap_or(u64::MAX / 2);
            return behind || distance.wrapping_neg() < a_size;
        }
        !self.are_apart(Memory::object(terms, a), Memory::object(terms, b))
    }

    /// The value of a cell, if it is known.
    pub(super) fn load(
        &self,
        terms: &mut Terms,
        address: Term,
        size: u64,
        bits: u32,
    ) -> Option<Value> {
        let object = Memory::object(terms, address);
        if !self.is_alone && !self.is_private(object) {
            return None;
        }
        let wanted = |c: &&Cell| (c.address, c.size, c.bits) == (address, size, bits);
        let whole = self.cells.iter().find(wanted).map(|c| c.value);
        whole.or_else(|| self.load_part(terms, address, size, bits))
    }

    /// The value of bytes that are a part of a cell.
    fn load_part(&self, terms: &mut Terms, address: Term, size: u64, bits: u32) -> Option<Value> {
        let is_whole_bytes = |bits: u32, size: u64| u64::from(bits) == 8 * size;
        if !is_whole_bytes(bits, size) {
            return None;
        }
        let larger = self.cells.iter().rev();
        let larger = larger.filter(|c| c.size > size && is_whole_bytes(c.bits, c.size));
        for cell in larger {
            let distance = terms.difference(address, cell.address);
            let distance = distance.and_then(|d| terms.value(d));
            let Some(behind) = distance.filter(|d| *d <= cell.size - size) else {
                continue;
            };
            return Some(match cell.value {
                Value::Term(t) => {
                    let by = terms.constant(cell.bits, 8 * behind);
                    let low = terms.binary(Binary::Lshr, t, by);
                    Value::Term(terms.truncate(low, bits))
                }
                Value::Address(_) | Value::Loose => Value::Loose,
            });
        }
        None
    }

    /// The number that a variable which never changes has at an address.
    pub(super) fn constant(&self, terms: &Terms, address: Term, bits: u32) -> Option<u64> {
        let (items, offset) = terms.summands(address);
        let [(t, 1)] = items[..] else {
            return None;
        };
        let Node::Symbol(symbol) = *terms.node(t) else {
            return None;
        };
        let bytes = self.symbols[symbol as usize].bytes.as_ref()?;
        let from = usize::try_from(offset).ok()?;
        if !bits.is_multiple_of(8) {
            return None;
        }
        little_endian(bytes.get(from..from.checked_add(bits as usize / 8)?)?)
    }

    /// Of an address in a table that never changes, the index that it is computed from, and the number that the table
    /// has at each index, ascending. O(elements).
    pub(super) fn table_element(
        &self,
        terms: &Terms,
        address: Term,
        bits: u32,
    ) -> Option<(Term, Vec<(u64, u64)>)> {
        let (items, offset) = terms.summands(address);
        let [(a, a_factor), (b, b_factor)] = items[..] else {
            return None;
        };
        let (symbol, index, step) = match (terms.node(a), terms.node(b)) {
            (Node::Symbol(symbol), _) if a_factor == 1 => (*symbol, b, b_factor),
            (_, Node::Symbol(symbol)) if b_factor == 1 => (*symbol, a, a_factor),
            _ => return None,
        };
        let bytes = self.symbols[symbol as usize].bytes.as_ref()?;
        let size = u64::from(bits / 8);
        if !bits.is_multiple_of(8) || step == 0 || step > bytes.len() as u64 {
            return None;
        }
        let offset = offset.cast_signed();
        // The first index whose element lies in the table.
        let first = offset.min(0).unsigned_abs().div_ceil(step);
        let start = |n: u64| {
            let distance = i64::try_from(n.checked_mul(step)?).ok()?;
            u64::try_from(offset.checked_add(distance)?).ok()
        };
        let mut table = Vec::new();
        for n in first.. {
            let Some(from) = start(n).filter(|from| from + size <= bytes.len() as u64) else {
                break;
            };
            if table.len() >= LONGEST_TABLE {
                return None;
            }
            let read = &bytes[from as usize..(from + size) as usize];
            table.push((n, little_endian(read)?));
        }
        Some((index, table))
    }

    /// Keeps what was read, which no other read of it changes.
    pub(super) fn keep(&mut self, address: Term, size: u64, bits: u32, value: Value) {
        if self.cells.len() >= MOST_CELLS {
            self.cells.remove(0);
        }
        self.cells
            .retain(|c| (c.address, c.size, c.bits) != (address, size, bits));
        self.cells.push(Cell {
            address,
            size,
            bits,
            value,
        });
    }

    /// Forgets what a store of so many bytes (`None`: any number) may write. O(cells).
    pub(super) fn forget(&mut self, terms: &mut Terms, address: Term, size: Option<u64>) {
        let cells = std::mem::take(&mut self.cells);
        let kept = cells
            .into_iter()
            .filter(|c| !self.may_overlap(terms, (c.address, c.size), (address, size)));
        let kept: Vec<Cell> = kept.collect();
        self.cells = kept;
        if let Object::Room(number) = Memory::object(terms, address) {
            self.rooms.entry(number).or_default().was_written = true;
        }
    }

    /// Forgets all but local variables that only the function uses. O(cells).
    pub(super) fn forget_shared(&mut self, terms: &Terms) {
        let cells = std::mem::take(&mut self.cells);
        let kept = cells
            .into_iter()
            .filter(|c| self.is_private(Memory::object(terms, c.address)));
        self.cells = kept.collect();
        for room in self.rooms.values_mut().filter(|r| !r.is_private) {
            room.was_given_away = true;
        }
    }

    /// Forgets what a local variable holds: it begins anew.
    pub(super) fn empty(&mut self, terms: &Terms, number: u64) {
        let is_of = |c: &Cell| Memory::object(terms, c.address) == Object::Room(number);
        self.cells.retain(|c| !is_of(c));
        if let Some(room) = self.rooms.get_mut(&number) {
            room.was_written = false;
            room.was_given_away = false;
        }
    }
}

/// The number that bytes are, the low one first, if all are known.
fn little_endian(bytes: &[Option<u8>]) -> Option<u64> {
    let number = |so_far: u64, byte: &Option<u8>| Some(so_far << 8 | u64::from((*byte)?));
    bytes.iter().rev().try_fold(0, number)
}
