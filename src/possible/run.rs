//! Executes the straight line of code that a path is, with terms for values.

mod access;
mod call;
mod compute;
pub(super) mod merge;
pub(super) mod trace;

use super::Question;
use super::before::decisions_before;
use super::code::{
    Action, BinaryOperator as Binary, Code, End, Function, Instruction, Local, Operand,
};
use super::facts::{Clash, Facts, Place};
use super::memory::{Memory, Room};
use super::set::{Set, largest};
use super::taint::Analysis;
use super::term::{Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use trace::{Mode, Origin, Trace};

/// Values from before the path are looked into so deep.
const DEEPEST_VALUE: u32 = 24;
/// A judgement makes no more terms, and then proves nothing.
const MOST_TERMS: usize = 100_000;

/// A value on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// This term, at each use.
    Term(Term),
    /// An address that may be outside of what it was computed from: whoever uses it as an address may rely on it, and
    /// nobody else.
    Address(Term),
    /// Anything, another one at each use.
    Loose,
}

/// Why the path was not executed to its end.
pub(super) enum Stop {
    /// Its conditions contradict each other.
    Clash(Clash),
    /// There was too much of it.
    TooMuch,
}

impl From<Clash> for Stop {
    fn from(clash: Clash) -> Stop {
        Stop::Clash(clash)
    }
}

/// A function that is being executed.
struct Frame {
    function: usize,
    analysis: Rc<Analysis>,
    values: FxHashMap<Local, Value>,
    /// The terms of its parameters, in a function that is executed in place.
    arguments: Option<Vec<Value>>,
    /// The number of the first local variable of this activation.
    first_room: u64,
}

/// Executes a path.
pub(super) struct Run<'a> {
    code: &'a Code,
    question: &'a Question,
    mode: Mode,
    trace: Trace,
    /// In a callee of which each path is executed: whether this path is taken.
    guard: Option<Term>,
    terms: &'a mut Terms,
    /// What is known from an earlier execution of the same path.
    known: &'a Facts,
    facts: Facts,
    memory: Memory<'a>,
    frames: Vec<Frame>,
    /// Counts executed instructions: free terms are numbered by it, the same in each execution.
    step: u64,
    /// The number of the first free term of what is computed now.
    naming: u64,
    /// Memory that was allocated on the path and may hold nothing yet.
    fresh: FxHashSet<Term>,
    at: Place,
    analyses: &'a mut FxHashMap<usize, Rc<Analysis>>,
}

impl<'a> Run<'a> {
    /// Executes the path of a question once more, with what is known of it. What is found is true whenever the path
    /// runs.
    pub(super) fn execute(
        code: &'a Code,
        question: &'a Question,
        terms: &'a mut Terms,
        known: &'a Facts,
        analyses: &'a mut FxHashMap<usize, Rc<Analysis>>,
    ) -> Result<Facts, Stop> {
        let mut run = Run::new(code, question, terms, known, analyses);
        run.path()?;
        run.facts.check_orders(run.terms)?;
        Ok(run.facts)
    }

    /// Executes the path of a question for a solver. What is `known` of it must be true whenever the path runs.
    pub(super) fn record(
        mode: Mode,
        code: &'a Code,
        question: &'a Question,
        terms: &'a mut Terms,
        known: &'a Facts,
        analyses: &'a mut FxHashMap<usize, Rc<Analysis>>,
    ) -> Result<Trace, Stop> {
        let mut run = Run::new(code, question, terms, known, analyses);
        run.mode = mode;
        run.memory.is_alone |= mode == Mode::Show;
        run.path()?;
        Ok(run.trace)
    }

    fn new(
        code: &'a Code,
        question: &'a Question,
        terms: &'a mut Terms,
        known: &'a Facts,
        analyses: &'a mut FxHashMap<usize, Rc<Analysis>>,
    ) -> Run<'a> {
        let mut run = Run {
            code,
            question,
            mode: Mode::Fold,
            trace: Trace::default(),
            guard: None,
            terms,
            known,
            facts: Facts::default(),
            memory: Memory::new(&code.symbols, question.is_alone),
            frames: Vec::new(),
            step: 1,
            naming: 0,
            fresh: FxHashSet::default(),
            at: 0,
            analyses,
        };
        run.enter(question.function, None);
        run
    }

    fn path(&mut self) -> Result<(), Stop> {
        let question = self.question;
        if question.starts_in_loop {
            self.begin_in_loop(question.blocks[0] as usize)?;
        }
        let mut before = None;
        for (i, &block) in question.blocks.iter().enumerate() {
            self.at = i as Place;
            self.block(block as usize, before)?;
            if let Some(&succ) = question.succs.get(i) {
                self.leave(block as usize, succ as usize)?;
            }
            before = Some(block);
        }
        Ok(())
    }

    /// Takes into account the decisions that led to the loop's header where the path begins.
    fn begin_in_loop(&mut self, header: usize) -> Result<(), Stop> {
        let function = self.function();
        let analysis = self.frame().analysis.clone();
        let known = analysis.decisions.borrow().get(&header).cloned();
        let decisions = known.unwrap_or_else(|| {
            let found: Rc<[_]> = decisions_before(function, header).into();
            analysis
                .decisions
                .borrow_mut()
                .insert(header, found.clone());
            found
        });
        for &(block, succ) in decisions.iter() {
            let End::Branch(Operand::Local(condition)) = function.blocks[block].end else {
                continue;
            };
            let succs = &function.blocks[block].succs;
            if succs[0] == succs[1] {
                continue;
            }
            let Value::Term(condition) = self.value_from_before(condition, DEEPEST_VALUE) else {
                continue;
            };
            let wanted = succ == 0;
            if self.mode != Mode::Show {
                self.facts.require(self.terms, condition, wanted, 0)?;
            }
            self.assume_condition(condition, wanted);
        }
        Ok(())
    }

    fn enter(&mut self, function: usize, arguments: Option<Vec<Value>>) {
        let analysis = self.analysis(function);
        self.frames.push(Frame {
            function,
            analysis,
            values: FxHashMap::default(),
            arguments,
            first_room: self.step << 24,
        });
    }

    fn analysis(&mut self, function: usize) -> Rc<Analysis> {
        let code = self.code;
        let analysis = self.analyses.entry(function);
        let analysis =
            analysis.or_insert_with(|| Rc::new(Analysis::new(&code.functions[function])));
        analysis.clone()
    }

    fn frame(&self) -> &Frame {
        self.frames.last().expect("something is executed")
    }

    fn function(&self) -> &'a Function {
        &self.code.functions[self.frame().function]
    }

    fn is_plain(&self) -> bool {
        self.function().is_plain
    }

    /// Whether the path's own function is executed, and nothing is known of what ran before in this activation.
    fn is_in_loop(&self) -> bool {
        self.question.starts_in_loop && self.frames.len() == 1
    }

    fn block(&mut self, block: usize, before: Option<u32>) -> Result<(), Stop> {
        let function = self.function();
        let instructions = &function.blocks[block].instructions;
        let is_phi = |i: &&Instruction| matches!(i.action, Action::Phi(_));
        let phis: Vec<_> = instructions.iter().take_while(is_phi).collect();
        if let Some(from) = before {
            // All at once: one may be an operand of another.
            let values = phis.iter().map(|phi| match &phi.action {
                Action::Phi(entries) => {
                    let entry = entries.iter().find(|(b, _)| *b == from);
                    entry.map_or(Value::Loose, |(_, operand)| self.operand(operand))
                }
                _ => Value::Loose,
            });
            let values: Vec<Value> = values.collect();
            for (phi, value) in phis.iter().zip(values) {
                self.give(phi.result, value);
            }
        }
        for instruction in &instructions[phis.len()..] {
            if self.terms.len() > MOST_TERMS {
                return Err(Stop::TooMuch);
            }
            self.step += 1;
            self.naming = self.step << 8;
            let value = self.instruction(instruction)?;
            self.give(instruction.result, value);
        }
        Ok(())
    }

    fn give(&mut self, result: Option<Local>, value: Value) {
        let Some(result) = result else { return };
        let frame = self.frames.last_mut().expect("something is executed");
        frame.values.insert(result, value);
    }

    /// Any value of so many bits, which is the same one whenever it is used.
    fn free(&mut self, bits: u32) -> Value {
        self.free_numbered(bits, self.naming)
    }

    fn free_numbered(&mut self, bits: u32, number: u64) -> Value {
        if bits == 0 {
            return Value::Loose;
        }
        let t = self.terms.free(bits, number);
        Value::Term(self.settle(t))
    }

    /// A term, or its only value where that is known.
    fn settle(&mut self, t: Term) -> Term {
        match self.known.only_value(t).filter(|_| self.mode == Mode::Fold) {
            Some(value) => self.terms.constant(self.terms.bits(t), value),
            None => t,
        }
    }

    fn operand(&mut self, operand: &Operand) -> Value {
        match *operand {
            Operand::Integer(bits, value) => Value::Term(self.terms.constant(bits, value)),
            Operand::Symbol(symbol, offset) => {
                let base = self.terms.symbol(symbol);
                let offset = self.terms.constant(64, offset.cast_unsigned());
                Value::Term(self.terms.binary(Binary::Add, base, offset))
            }
            Operand::Unknown => Value::Loose,
            Operand::Local(local) => match self.frame().values.get(&local) {
                Some(value) => *value,
                None => {
                    let value = self.value_from_before(local, DEEPEST_VALUE);
                    self.give(Some(local), value);
                    value
                }
            },
        }
    }

    /// The term of an operand that is one, whoever uses it.
    fn exact(&mut self, operand: &Operand) -> Option<Term> {
        match self.operand(operand) {
            Value::Term(t) => Some(t),
            Value::Address(t) if self.mode == Mode::Show => Some(t),
            _ => None,
        }
    }

    /// A value that was computed before the path began: by the function's caller, or in blocks that the path has not.
    fn value_from_before(&mut self, local: Local, deep: u32) -> Value {
        let frame = self.frame();
        if let Some(value) = frame.values.get(&local) {
            return *value;
        }
        let function = self.function();
        let kind = function.kinds[local as usize];
        let first_room = frame.first_room;
        if local < function.parameters {
            let given = frame.arguments.as_ref().map(|a| a[local as usize]);
            return given.unwrap_or_else(|| self.free_from_before(local));
        }
        let analysis = frame.analysis.clone();
        let place = analysis.places[local as usize];
        let action = place.map(|(b, i)| &function.blocks[b].instructions[i].action);
        if let Some(Action::Allocate) = action {
            return self.room_address(local, first_room);
        }
        let taint = analysis.taints[local as usize];
        let may_look = deep > 0 && self.frames.len() == 1;
        let found = match action {
            Some(action) if may_look => {
                let now = std::mem::replace(&mut self.naming, 1 << 62 | u64::from(local) << 8);
                let found = match self.load_stored_once(action, kind.bits) {
                    Some(found) => Some(found),
                    None => self.compute_before(action, kind.bits, deep - 1),
                };
                self.naming = now;
                found
            }
            _ => None,
        };
        if let Some(found) = found {
            return found;
        }
        let any = self.free_from_before(local);
        match any {
            _ if taint.undefined => Value::Loose,
            any if self.mode == Mode::Show => any,
            Value::Term(t) if taint.overflowed && kind.is_address => Value::Address(t),
            _ if taint.overflowed => Value::Loose,
            any => any,
        }
    }

    /// Any value from before the path.
    fn free_from_before(&mut self, local: Local) -> Value {
        let kind = self.function().kinds[local as usize];
        let any = self.free_numbered(kind.bits, before_path(local));
        if let Value::Term(t) = any
            && self.frames.len() == 1
        {
            self.record_origin(t, Origin::Value(local), kind.is_address);
        }
        any
    }

    /// The value of an action that depends on its operands alone, all of which were computed before the path.
    fn compute_before(&mut self, action: &Action, bits: u32, deep: u32) -> Option<Value> {
        let computes = matches!(
            action,
            Action::Binary(..)
                | Action::Compare(..)
                | Action::Cast(..)
                | Action::Element(..)
                | Action::Select(..)
        );
        if !computes {
            return None;
        }
        for operand in action.operands() {
            if let Operand::Local(l) = *operand {
                let value = self.value_from_before(l, deep);
                self.give(Some(l), value);
            }
        }
        self.compute(action, bits)
    }

    /// What an action loads from a local variable that was stored once.
    fn load_stored_once(&mut self, action: &Action, bits: u32) -> Option<Value> {
        let Action::Load {
            address: Operand::Local(root),
            is_plain: true,
            ..
        } = action
        else {
            return None;
        };
        let analysis = self.frame().analysis.clone();
        let value = self.operand(analysis.stored_once.get(root)?);
        match value {
            Value::Term(t) | Value::Address(t) if self.terms.bits(t) == bits => Some(value),
            _ => None,
        }
    }

    /// The address of a local variable, which is one of this activation.
    fn room_address(&mut self, local: Local, first_room: u64) -> Value {
        let number = first_room + u64::from(local);
        let is_private = self.frame().analysis.is_private.get(&local) == Some(&true);
        let starts_in_loop = self.is_in_loop();
        self.memory.rooms.entry(number).or_insert(Room {
            is_private,
            was_given_away: false,
            // It may have been written before the path.
            was_written: starts_in_loop,
        });
        Value::Term(self.terms.room(number))
    }

    fn instruction(&mut self, instruction: &'a Instruction) -> Result<Value, Stop> {
        let kinds = &self.function().kinds;
        let bits = instruction.result.map_or(0, |r| kinds[r as usize].bits);
        Ok(match &instruction.action {
            Action::Allocate => {
                let first_room = self.frame().first_room;
                let local = instruction.result.expect("its address");
                self.room_address(local, first_room)
            }
            Action::Load {
                address,
                size,
                is_plain,
            } => {
                let is_address = instruction
                    .result
                    .is_some_and(|r| kinds[r as usize].is_address);
                self.load(address, (*size, bits), *is_plain, is_address)
            }
            Action::Store {
                address,
                value,
                size,
                is_plain,
            } => {
                self.store(address, value, *size, *is_plain);
                Value::Loose
            }
            Action::Phi(_) => self.first_phi(instruction.result),
            Action::Call {
                callee,
                arguments,
                writes_nothing,
            } => {
                let value = self.call(callee, arguments, *writes_nothing, bits)?;
                if let Value::Term(t) = value
                    && instruction
                        .result
                        .is_some_and(|r| kinds[r as usize].is_address)
                    && self.trace.origins.contains_key(&t)
                {
                    self.trace.addresses.push(t);
                }
                value
            }
            Action::Freeze(operand) => match self.operand(operand) {
                Value::Term(t) => Value::Term(t),
                _ => self.free(bits),
            },
            Action::Unknown | Action::Opaque(_) => Value::Loose,
            action => self.compute(action, bits).unwrap_or(Value::Loose),
        })
    }

    /// A φ of the block where the path begins.
    fn first_phi(&mut self, result: Option<Local>) -> Value {
        result.map_or(Value::Loose, |local| self.value_from_before(local, 0))
    }

    /// Takes into account that control leaves a block by a successor.
    fn leave(&mut self, block: usize, succ: usize) -> Result<(), Stop> {
        let block = &self.function().blocks[block];
        let to = block.succs[succ];
        let is_there = |i: &usize| block.succs[*i] == to;
        match &block.end {
            End::Branch(condition) => {
                // Both successors may be one block.
                if block.succs.iter().filter(|s| **s == to).count() > 1 {
                    return Ok(());
                }
                let Some(condition) = self.exact(condition) else {
                    self.record_unknown_decision();
                    return Ok(());
                };
                if self.mode != Mode::Show {
                    self.facts
                        .require(self.terms, condition, succ == 0, self.at)?;
                }
                self.record_condition(condition, succ == 0);
            }
            End::Switch(on, cases) => {
                let Some(on) = self.exact(on) else {
                    self.record_unknown_decision();
                    return Ok(());
                };
                let bits = self.terms.bits(on);
                let all = || 0..block.succs.len();
                let case = |i: usize| cases[i - 1] & largest(bits);
                let is_default = is_there(&0);
                let values = all().skip(1).filter(|i| is_there(i) != is_default);
                let values: Vec<u64> = values.map(case).collect();
                if self.mode != Mode::Show {
                    let set = Set::of(bits, values.iter().copied());
                    let set = if is_default { set.complement() } else { set };
                    self.facts.require_in(self.terms, on, set, self.at)?;
                }
                self.record_choice(on, &values, !is_default);
            }
            // An `invoke` that returns.
            End::Unknown if succ == 0 && block.ends_with_call() => {}
            End::Unknown => {
                if block.succs.len() > 1 {
                    self.record_unknown_decision();
                }
            }
            End::Return(_) | End::Abort => {}
        }
        Ok(())
    }
}

/// The number of a value from before the path.
fn before_path(local: Local) -> u64 {
    1 << 63 | u64::from(local)
}
