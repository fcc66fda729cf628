//! What branches compare exactly: which value with which other, or with which constant. By this, paths are found whose
//! conditions contradict each other (`analysis::contradiction`).
//!
//! A value has one number wherever it is the same on an acyclic path. That holds of what LLVM computes once (SSA), and
//! of a local variable in memory between stores, if its address is used by loads and stores alone. It becomes a
//! constant where one is stored, and where control comes from a block of which a φ has a constant.

use super::conditions;
use super::llvm::view::{Block, Value};
use crate::input::load::positions::{
    BecomesConstant, BlockPositions, Compared, Operand, Predicate, Variable,
};
use inkwell::llvm_sys::LLVMOpcode;
use rustc_hash::{FxHashMap, FxHashSet};

/// A variable that is stored in more blocks is not followed, so that manifests stay small.
const MOST_STORES: usize = 16;
/// A variable with more uses is not looked at.
const MOST_USES: usize = 1 << 12;
/// Constants are followed through so many conversions: a module may nest them without end.
const DEEPEST: usize = 8;
/// Wider integers are not looked at.
const WIDEST: u32 = 64;

/// A value, or what a local variable has in memory, with the conversion that it went through.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'m> {
    value: Value<'m>,
    conversion: Option<Conversion>,
    bits: u32,
    /// Of a local variable: the bits that are loaded.
    loaded: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Conversion {
    Zero,
    Sign,
    Truncate,
}

/// A number in a function, and the blocks that store another value there.
#[derive(Clone)]
struct Known {
    number: u32,
    stores: Vec<u32>,
}

/// A constant as a number without a sign, and the block from which a φ of another block has it, if it is one of
/// several.
#[derive(Clone, Copy)]
struct Constant<'m> {
    number: u64,
    bits: u32,
    of_phi: Option<(Block<'m>, Block<'m>)>,
}

/// Notes at the choices of a function what they compare, where the same value is asked for elsewhere or becomes a
/// constant. O(instructions).
pub(super) fn note_comparisons<'m>(function: Value<'m>, found: &mut [BlockPositions]) {
    let mut finder = Finder {
        numbers: function.blocks().zip(0..).collect(),
        slots: FxHashMap::default(),
        known: FxHashMap::default(),
    };
    let mut compared: Vec<Option<Compared>> = Vec::new();
    for (block, positions) in function.blocks().zip(found.iter()) {
        let chooses = positions
            .choice
            .as_ref()
            .is_some_and(|c| c.catches.is_none());
        compared.push(chooses.then(|| finder.find_comparison(block)).flatten());
    }
    // What is asked for once contradicts nothing, unless it is a constant.
    let mut asked: FxHashMap<u32, u32> = FxHashMap::default();
    for variable in compared.iter().flatten().flat_map(Compared::variables) {
        *asked.entry(variable.number).or_default() += 1;
    }
    let mut constants = finder.find_constants(function);
    let known: FxHashSet<u32> = constants.keys().copied().collect();
    let is_of_use = |c: &Compared| {
        c.variables()
            .any(|v| asked[&v.number] > 1 || known.contains(&v.number))
    };
    for (positions, compared) in found.iter_mut().zip(compared) {
        if let (Some(choice), Some(mut compared)) =
            (&mut positions.choice, compared.filter(is_of_use))
        {
            for variable in variables_mut(&mut compared) {
                variable.constants = constants.remove(&variable.number).unwrap_or_default();
            }
            choice.compared = Some(compared);
        }
    }
}

fn variables_mut(compared: &mut Compared) -> impl Iterator<Item = &mut Variable> {
    let right = match &mut compared.right {
        Some(Operand::Variable(v)) => Some(v),
        _ => None,
    };
    std::iter::once(&mut compared.left).chain(right)
}

struct Finder<'m> {
    numbers: FxHashMap<Block<'m>, u32>,
    /// By local variable: the blocks that store to it; `None` if it may not be followed.
    slots: FxHashMap<Value<'m>, Option<Vec<u32>>>,
    known: FxHashMap<Key<'m>, Known>,
}

impl<'m> Finder<'m> {
    /// What the terminator of a block compares.
    fn find_comparison(&mut self, block: Block<'m>) -> Option<Compared> {
        let end = block.instructions().last()?;
        let condition = end.operands().next()?;
        if end.opcode() == LLVMOpcode::LLVMSwitch {
            let (left, bits) = self.variable(condition, block)?;
            return Some(Compared {
                left,
                predicate: None,
                right: None,
                bits,
            });
        }
        if end.opcode() != LLVMOpcode::LLVMBr || !condition.is_condition() {
            return None;
        }
        let plain = conditions::strip_equal(condition);
        let asked = |predicate: Predicate| {
            if plain.negated {
                predicate.inverse()
            } else {
                predicate
            }
        };
        let condition = plain.value;
        if !condition.is_instruction() || condition.opcode() != LLVMOpcode::LLVMICmp {
            let (left, bits) = self.variable(condition, block)?;
            return Some(Compared {
                left,
                predicate: Some(asked(Predicate::Ne)),
                right: Some(Operand::Constant("0".into())),
                bits,
            });
        }
        let mut operands = condition.operands();
        let (left, right) = (operands.next()?, operands.next()?);
        let (left, bits) = self.variable(left, block)?;
        let right = match right.decimal_constant() {
            Some(number) => Operand::Constant(number),
            None if right.is_null() => Operand::Constant("0".into()),
            None => Operand::Variable(self.variable(right, block)?.0),
        };
        Some(Compared {
            left,
            predicate: Some(asked(condition.predicate())),
            right: Some(right),
            bits,
        })
    }

    /// The number of a value at the end of `block`, and its bits; `None` of constants, and of what is no integer or
    /// pointer.
    fn variable(&mut self, value: Value<'m>, block: Block<'m>) -> Option<(Variable, u32)> {
        if value.is_constant() || value.is_global() {
            return None;
        }
        let bits = value.bits()?;
        let conversion = conversion(value);
        let inner = match conversion {
            Some(_) => value.operands().next()?,
            None => value,
        };
        let loads = inner.is_instruction() && inner.opcode() == LLVMOpcode::LLVMLoad;
        let slot = loads.then(|| inner.operands().next()).flatten();
        let stores = slot.and_then(|slot| self.storing_blocks(slot));
        let in_memory = slot.zip(stores);
        let Some((slot, stores)) = in_memory.filter(|(slot, _)| is_last(inner, *slot, block))
        else {
            // It is computed once.
            let key = Key {
                value,
                conversion: None,
                bits,
                loaded: None,
            };
            return Some((self.number_variable(key, Vec::new()), bits));
        };
        let key = Key {
            value: slot,
            conversion,
            bits,
            loaded: Some(inner.bits()?),
        };
        Some((self.number_variable(key, stores), bits))
    }

    fn number_variable(&mut self, key: Key<'m>, stores: Vec<u32>) -> Variable {
        let next = self.known.len() as u32;
        let known = self.known.entry(key).or_insert(Known {
            number: next,
            stores,
        });
        Variable {
            number: known.number,
            stores: known.stores.clone(),
            constants: Vec::new(),
        }
    }

    /// The blocks that store to a local variable, ascending, if its address is used by loads and stores alone.
    fn storing_blocks(&mut self, slot: Value<'m>) -> Option<Vec<u32>> {
        if let Some(known) = self.slots.get(&slot) {
            return known.clone();
        }
        let stores = self.find_stores(slot);
        self.slots.insert(slot, stores.clone());
        stores
    }

    fn find_stores(&self, slot: Value<'m>) -> Option<Vec<u32>> {
        if !slot.is_instruction() || slot.opcode() != LLVMOpcode::LLVMAlloca {
            return None;
        }
        let mut stores = Vec::new();
        for (n, user) in slot.users().enumerate() {
            if n == MOST_USES || !user.is_instruction() {
                return None;
            }
            match user.opcode() {
                LLVMOpcode::LLVMLoad if !user.is_volatile() => {}
                // Not one that stores the address.
                LLVMOpcode::LLVMStore
                    if !user.is_volatile() && user.operands().next() != Some(slot) =>
                {
                    stores.push(*self.numbers.get(&user.block())?);
                }
                _ => return None,
            }
        }
        stores.sort_unstable();
        stores.dedup();
        (stores.len() <= MOST_STORES).then_some(stores)
    }
}

impl<'m> Finder<'m> {
    /// By number: where each value that is compared becomes a constant, ascending. O(instructions).
    fn find_constants(&self, function: Value<'m>) -> FxHashMap<u32, Vec<BecomesConstant>> {
        let mut in_memory: FxHashMap<Value, Vec<(Key, u32)>> = FxHashMap::default();
        let mut found: FxHashMap<u32, Vec<BecomesConstant>> = FxHashMap::default();
        for (key, known) in &self.known {
            if key.loaded.is_some() {
                let keys = in_memory.entry(key.value).or_default();
                keys.push((*key, known.number));
                continue;
            }
            for constant in constants_of(key.value, DEEPEST) {
                // A constant by itself is none of the values that are followed.
                let Some((from, block)) = constant.of_phi else {
                    continue;
                };
                let at = self.describe_constant(block, Some(from), constant.number);
                found.entry(known.number).or_default().push(at);
            }
        }
        for block in function.blocks() {
            for (slot, stored) in last_stores(block, &in_memory) {
                for (key, number) in &in_memory[&slot] {
                    let constants = constants_of(stored, DEEPEST).into_iter();
                    let loaded = constants.filter(|c| key.loaded == Some(c.bits));
                    let at = loaded.filter_map(|c| self.find_stored_constant(block, *key, c));
                    found.entry(*number).or_default().extend(at);
                }
            }
        }
        found.retain(|_, at| !at.is_empty());
        for at in found.values_mut() {
            at.sort_unstable();
            at.dedup();
        }
        found
    }

    /// Where a local variable becomes a constant that `block` stores; of constants of a φ, only if the φ is in the
    /// block too.
    fn find_stored_constant(
        &self,
        block: Block<'m>,
        key: Key<'m>,
        c: Constant<'m>,
    ) -> Option<BecomesConstant> {
        let from = match c.of_phi {
            None => None,
            Some((from, of)) if of == block => Some(from),
            Some(_) => return None,
        };
        let number = match key.conversion {
            Some(conversion) => convert_number(c.number, c.bits, conversion, key.bits),
            None => c.number,
        };
        Some(self.describe_constant(block, from, number))
    }

    fn describe_constant(
        &self,
        block: Block<'m>,
        from: Option<Block<'m>>,
        number: u64,
    ) -> BecomesConstant {
        BecomesConstant {
            block: self.numbers[&block],
            from: from.map(|from| self.numbers[&from]),
            constant: number.to_string(),
        }
    }
}

fn conversion(value: Value) -> Option<Conversion> {
    match value.is_instruction().then(|| value.opcode())? {
        LLVMOpcode::LLVMZExt => Some(Conversion::Zero),
        LLVMOpcode::LLVMSExt => Some(Conversion::Sign),
        LLVMOpcode::LLVMTrunc => Some(Conversion::Truncate),
        _ => None,
    }
}

/// What a block has stored at its end to some local variables.
fn last_stores<'m, T>(
    block: Block<'m>,
    slots: &FxHashMap<Value<'m>, T>,
) -> FxHashMap<Value<'m>, Value<'m>> {
    let stores = block
        .instructions()
        .filter(|i| i.opcode() == LLVMOpcode::LLVMStore);
    let stored = stores.filter_map(|store| {
        let mut operands = store.operands();
        let (value, slot) = (operands.next()?, operands.next()?);
        slots.contains_key(&slot).then_some((slot, value))
    });
    stored.collect()
}

/// The constants that a value is: itself, or those that come into a φ, through conversions and negations.
fn constants_of(value: Value, depth: usize) -> Vec<Constant> {
    use LLVMOpcode::*;
    let Some(bits) = value.bits().filter(|bits| (1..=WIDEST).contains(bits)) else {
        return Vec::new();
    };
    let constant = |value: Value, of_phi| {
        let number = match value.decimal_constant() {
            Some(text) => text.parse::<i128>().ok()?,
            None if value.is_null() => 0,
            None => return None,
        };
        let number = number as u64 & mask(bits);
        Some(Constant {
            number,
            bits,
            of_phi,
        })
    };
    if value.is_constant() {
        return constant(value, None).into_iter().collect();
    }
    if depth == 0 || !value.is_instruction() {
        return Vec::new();
    }
    let inner = || {
        let operand = value.operands().next();
        operand.map_or(Vec::new(), |v| constants_of(v, depth - 1))
    };
    let flips = || value.operands().nth(1).is_some_and(conditions::is_true);
    let change = |c: Constant| match value.opcode() {
        LLVMXor => c.number ^ 1,
        LLVMFreeze => c.number,
        _ => conversion(value).map_or(c.number, |by| convert_number(c.number, c.bits, by, bits)),
    };
    match value.opcode() {
        LLVMPHI => {
            let block = value.block();
            let incoming = value.incoming();
            let constants = incoming.filter_map(|(v, from)| constant(v, Some((from, block))));
            constants.collect()
        }
        LLVMXor if !flips() => Vec::new(),
        LLVMXor | LLVMFreeze | LLVMZExt | LLVMSExt | LLVMTrunc => {
            let changed = inner().into_iter().map(|c| Constant {
                number: change(c),
                bits,
                ..c
            });
            changed.collect()
        }
        _ => Vec::new(),
    }
}

/// A number of `from` bits in `to` bits.
fn convert_number(number: u64, from: u32, by: Conversion, to: u32) -> u64 {
    let unused = u64::BITS - from;
    match by {
        Conversion::Zero => number,
        Conversion::Sign => ((number << unused) as i64 >> unused) as u64 & mask(to),
        Conversion::Truncate => number & mask(to),
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (u64::BITS - bits)
}

/// Whether a load in `block` finds what is in memory at the end of the block.
fn is_last(load: Value, slot: Value, block: Block) -> bool {
    let mut after = block.instructions().skip_while(|i| *i != load).peekable();
    let is_there = after.peek().is_some();
    let stores =
        |i: Value| i.opcode() == LLVMOpcode::LLVMStore && i.operands().nth(1) == Some(slot);
    is_there && !after.any(stores)
}
