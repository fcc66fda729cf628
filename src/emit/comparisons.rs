//! What branches compare exactly: which value with which other, or with which constant. By this, paths are found whose conditions
//! contradict each other (`analysis::contradiction`).
//!
//! A value has one number wherever it is the same on an acyclic path. That holds of what LLVM computes once (SSA), and of a local
//! variable in memory between stores, if its address is used by loads and stores alone.

use super::read::sys::{Block, Value};
use crate::load::positions::{BlockPositions, Compared, Operand, Predicate, Variable};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// A variable that is stored in more blocks is not followed, so that manifests stay small.
const MOST_STORES: usize = 16;
/// A variable with more uses is not looked at.
const MOST_USES: usize = 1 << 12;

/// A value, with the conversion that it went through.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'m> {
    value: Value<'m>,
    conversion: Option<Conversion>,
    bits: u32,
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

/// Notes at the choices of a function what they compare, where the same value is asked for elsewhere. O(instructions).
pub(super) fn note<'m>(function: Value<'m>, found: &mut [BlockPositions]) {
    let mut finder = Finder {
        numbers: function.blocks().zip(0..).collect(),
        slots: HashMap::new(),
        known: HashMap::new(),
    };
    let mut compared: Vec<Option<Compared>> = Vec::new();
    for (block, positions) in function.blocks().zip(found.iter()) {
        let chooses = positions
            .choice
            .as_ref()
            .is_some_and(|c| c.catches.is_none());
        compared.push(chooses.then(|| finder.compared(block)).flatten());
    }
    // What is asked for once contradicts nothing.
    let mut asked: HashMap<u32, u32> = HashMap::new();
    for variable in compared.iter().flatten().flat_map(variables) {
        *asked.entry(variable.number).or_default() += 1;
    }
    let again = |c: &Compared| variables(c).any(|v| asked[&v.number] > 1);
    for (positions, compared) in found.iter_mut().zip(compared) {
        if let (Some(choice), Some(compared)) = (&mut positions.choice, compared.filter(again)) {
            choice.compared = Some(compared);
        }
    }
}

fn variables(compared: &Compared) -> impl Iterator<Item = &Variable> {
    let right = match &compared.right {
        Some(Operand::Variable(v)) => Some(v),
        _ => None,
    };
    std::iter::once(&compared.left).chain(right)
}

struct Finder<'m> {
    numbers: HashMap<Block<'m>, u32>,
    /// By local variable: the blocks that store to it; `None` if it may not be followed.
    slots: HashMap<Value<'m>, Option<Vec<u32>>>,
    known: HashMap<Key<'m>, Known>,
}

impl<'m> Finder<'m> {
    /// What the terminator of a block compares.
    fn compared(&mut self, block: Block<'m>) -> Option<Compared> {
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
        if !condition.is_instruction() || condition.opcode() != LLVMOpcode::LLVMICmp {
            let (left, bits) = self.variable(condition, block)?;
            return Some(Compared {
                left,
                predicate: Some(Predicate::Ne),
                right: Some(Operand::Constant("0".into())),
                bits,
            });
        }
        let mut operands = condition.operands();
        let (left, right) = (operands.next()?, operands.next()?);
        let (left, bits) = self.variable(left, block)?;
        let right = match right.number() {
            Some(number) => Operand::Constant(number),
            None if right.is_null() => Operand::Constant("0".into()),
            None => Operand::Variable(self.variable(right, block)?.0),
        };
        Some(Compared {
            left,
            predicate: Some(condition.predicate()),
            right: Some(right),
            bits,
        })
    }

    /// The number of a value at the end of `block`, and its bits; `None` of constants, and of what is no integer or pointer.
    fn variable(&mut self, value: Value<'m>, block: Block<'m>) -> Option<(Variable, u32)> {
        use LLVMOpcode::*;
        if value.is_constant() || value.is_global() {
            return None;
        }
        let bits = value.bits()?;
        let converts = |v: Value| match v.is_instruction().then(|| v.opcode())? {
            LLVMZExt => Some(Conversion::Zero),
            LLVMSExt => Some(Conversion::Sign),
            LLVMTrunc => Some(Conversion::Truncate),
            _ => None,
        };
        let conversion = converts(value);
        let inner = match conversion {
            Some(_) => value.operands().next()?,
            None => value,
        };
        let loads = inner.is_instruction() && inner.opcode() == LLVMLoad;
        let slot = loads.then(|| inner.operands().next()).flatten();
        let stores = slot.and_then(|slot| self.stores(slot));
        let in_memory = slot.zip(stores);
        let Some((slot, stores)) = in_memory.filter(|(slot, _)| is_last(inner, *slot, block))
        else {
            // It is computed once.
            let key = Key {
                value,
                conversion: None,
                bits,
            };
            return Some((self.known(key, Vec::new()), bits));
        };
        let width = inner.bits()?;
        let conversion = conversion.map(|c| (c, width));
        let key = Key {
            value: slot,
            conversion: conversion.map(|c| c.0),
            // Both widths tell conversions apart.
            bits: bits << 16 | conversion.map_or(0, |c| c.1),
        };
        Some((self.known(key, stores), bits))
    }

    fn known(&mut self, key: Key<'m>, stores: Vec<u32>) -> Variable {
        let next = self.known.len() as u32;
        let known = self.known.entry(key).or_insert(Known {
            number: next,
            stores,
        });
        Variable {
            number: known.number,
            stores: known.stores.clone(),
        }
    }

    /// The blocks that store to a local variable, ascending, if its address is used by loads and stores alone.
    fn stores(&mut self, slot: Value<'m>) -> Option<Vec<u32>> {
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

/// Whether a load in `block` finds what is in memory at the end of the block.
fn is_last(load: Value, slot: Value, block: Block) -> bool {
    let mut after = block.instructions().skip_while(|i| *i != load).peekable();
    let is_there = after.peek().is_some();
    let stores =
        |i: Value| i.opcode() == LLVMOpcode::LLVMStore && i.operands().nth(1) == Some(slot);
    is_there && !after.any(stores)
}
