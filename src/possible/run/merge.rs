//! Small callees with branches and without loops, which write no memory but their own: each of their paths is executed,
//! and what they return is a choice between what these return.

use super::trace::Mode;
use super::{Run, Stop, Value};
use crate::possible::calls;
use crate::possible::code::{
    Action, BinaryOperator as Binary, Callee, End, Function, Instruction, Operand,
};
use crate::possible::taint::{Analysis, is_harmless};
use crate::possible::term::Term;

/// Larger callees are not executed.
const MOST_BLOCKS: usize = 16;
const MOST_INSTRUCTIONS: usize = 100;
/// Callees with more paths are not executed.
const MOST_PATHS: usize = 16;
/// Each path has so many steps for itself: what follows has the same numbers whether all of them are executed or not.
const STEPS: u64 = 2 * MOST_INSTRUCTIONS as u64;

/// Whether a function is so small that it may be executed where it is called.
pub fn is_small(blocks: usize, instructions: usize) -> bool {
    blocks <= MOST_BLOCKS && instructions <= MOST_INSTRUCTIONS
}

/// A path of a callee: its blocks, and the successors taken.
struct CalleePath {
    blocks: Vec<usize>,
    succs: Vec<usize>,
}

impl Run<'_> {
    /// What a callee returns that can be executed by all of its paths; `None` if it cannot.
    pub(super) fn merge_paths(
        &mut self,
        function: usize,
        given: &[Value],
        bits: u32,
    ) -> Result<Option<Value>, Stop> {
        let callee = &self.code.functions[function];
        let Some(paths) = paths_of(callee) else {
            return Ok(None);
        };
        if !self.writes_only_its_own(function) {
            return Ok(None);
        }
        let start = self.step + 1;
        let merged = self.merge(function, given, &paths, bits);
        self.step = start + STEPS * (paths.len() as u64 + 1);
        self.guard = None;
        merged
    }

    fn merge(
        &mut self,
        function: usize,
        given: &[Value],
        paths: &[CalleePath],
        bits: u32,
    ) -> Result<Option<Value>, Stop> {
        let start = self.step + 1;
        let mut returned: Vec<(Term, Value)> = Vec::new();
        for (n, path) in paths.iter().enumerate() {
            let assumed = self.trace.assumptions.len();
            self.guard = Some(self.terms.truth(true));
            self.step = start + STEPS * n as u64;
            self.enter(function, Some(given.to_vec()));
            let value = self.execute_callee_path(path);
            self.frames.pop();
            let guard = self.guard.take().expect("set above");
            let Some(value) = value? else {
                self.trace.assumptions.truncate(assumed);
                return Ok(None);
            };
            self.guard_assumptions(assumed, guard);
            match value {
                // It does not return.
                None => self.exclude(guard)?,
                Some(value) if self.terms.value(guard) != Some(0) => returned.push((guard, value)),
                Some(_) => {}
            }
        }
        Ok(self.choose(returned, bits))
    }

    /// What a path returns: `None` if a decision on it is not known, `Some(None)` if it does not return.
    fn execute_callee_path(&mut self, path: &CalleePath) -> Result<Option<Option<Value>>, Stop> {
        let mut before = None;
        for (i, &block) in path.blocks.iter().enumerate() {
            self.block(block, before)?;
            if let Some(&succ) = path.succs.get(i)
                && !self.guard_by(block, succ)
            {
                return Ok(None);
            }
            before = Some(block as u32);
        }
        let last = path.blocks.last().expect("it has a block");
        Ok(Some(match &self.function().blocks[*last].end {
            End::Return(returned) => {
                Some(returned.as_ref().map_or(Value::Loose, |o| self.operand(o)))
            }
            _ => None,
        }))
    }

    /// Adds what makes control leave a block by a successor to the condition of the callee's path; whether it is known.
    fn guard_by(&mut self, block: usize, succ: usize) -> bool {
        let block = &self.function().blocks[block];
        let to = block.succs[succ];
        if block.succs.iter().all(|s| *s == to) {
            return true;
        }
        let taken = match &block.end {
            End::Branch(condition) => self.exact(condition).map(|condition| {
                if succ == 0 {
                    condition
                } else {
                    self.terms.not(condition)
                }
            }),
            End::Switch(on, cases) => self.exact(on).map(|on| {
                let is_default = block.succs[0] == to;
                let cases = cases.iter().zip(&block.succs[1..]);
                let values = cases.filter(|(_, s)| (**s == to) != is_default);
                let values: Vec<u64> = values.map(|(case, _)| *case).collect();
                let any = self.is_one_of(on, &values);
                if is_default { self.terms.not(any) } else { any }
            }),
            _ => None,
        };
        let (Some(taken), Some(guard)) = (taken, self.guard) else {
            return false;
        };
        self.guard = Some(self.terms.binary(Binary::And, guard, taken));
        true
    }

    /// What was assumed on a callee's path holds where it is taken.
    fn guard_assumptions(&mut self, from: usize, guard: Term) {
        let other = self.terms.not(guard);
        for n in from..self.trace.assumptions.len() {
            let assumed = self.trace.assumptions[n];
            self.trace.assumptions[n] = self.terms.binary(Binary::Or, other, assumed);
        }
    }

    /// A callee's path was not taken, since control came back.
    fn exclude(&mut self, guard: Term) -> Result<(), Stop> {
        if self.terms.value(guard).is_some() {
            return Ok(());
        }
        if self.mode != Mode::Show {
            self.facts.require(self.terms, guard, false, self.at)?;
        }
        self.record_condition(guard, false);
        Ok(())
    }

    fn choose(&mut self, returned: Vec<(Term, Value)>, bits: u32) -> Option<Value> {
        let mut all = returned.into_iter().rev();
        let (_, mut chosen) = all.next()?;
        for (guard, value) in all {
            chosen = match (value, chosen) {
                (Value::Term(a), Value::Term(b)) if self.terms.bits(a) == self.terms.bits(b) => {
                    Value::Term(self.terms.choice(guard, a, b))
                }
                _ => Value::Loose,
            };
        }
        Some(match chosen {
            Value::Term(t) | Value::Address(t) if self.terms.bits(t) != bits => Value::Loose,
            value => value,
        })
    }

    /// Whether a function writes no memory but its own local variables, and calls nothing that does.
    fn writes_only_its_own(&mut self, function: usize) -> bool {
        let code = self.code;
        let callee = &code.functions[function];
        let analysis = self.analysis(function);
        let mut all = callee.blocks.iter().flat_map(|b| &b.instructions);
        all.all(|instruction| self.is_quiet(callee, &analysis, instruction))
    }

    fn is_quiet(&self, callee: &Function, analysis: &Analysis, instruction: &Instruction) -> bool {
        let is_own = |operand: &Operand| match operand {
            Operand::Local(local) => {
                let root = analysis.roots[*local as usize];
                root.is_some_and(|root| analysis.is_private.get(&root) == Some(&true))
            }
            _ => false,
        };
        match &instruction.action {
            Action::Store { address, .. } => is_own(address),
            Action::Load {
                address, is_plain, ..
            } => *is_plain || is_own(address),
            Action::Call {
                callee: Callee::Declared(name),
                writes_nothing,
                ..
            } => {
                let is_own = self.question.own_names.iter().any(|own| own == name);
                is_harmless(name) || *writes_nothing || !is_own && calls::writes_nothing(name)
            }
            Action::Call { writes_nothing, .. } => *writes_nothing && !callee.is_opaque,
            _ => true,
        }
    }
}

/// The paths of a function that has no loop and few paths.
fn paths_of(function: &Function) -> Option<Vec<CalleePath>> {
    let count = function.blocks.iter().map(|b| b.instructions.len()).sum();
    if !is_small(function.blocks.len(), count) {
        return None;
    }
    let mut found = Vec::new();
    let mut open = vec![CalleePath {
        blocks: vec![0],
        succs: Vec::new(),
    }];
    while let Some(path) = open.pop() {
        let last = *path.blocks.last().expect("it has a block");
        let block = &function.blocks[last];
        if block.succs.is_empty() {
            found.push(path);
            if found.len() > MOST_PATHS {
                return None;
            }
            continue;
        }
        for (succ, &to) in block.succs.iter().enumerate() {
            let to = to as usize;
            if path.blocks.contains(&to) {
                return None;
            }
            // Parallel edges are one way.
            if block.succs[..succ].contains(&(to as u32)) {
                continue;
            }
            let mut blocks = path.blocks.clone();
            let mut succs = path.succs.clone();
            blocks.push(to);
            succs.push(succ);
            open.push(CalleePath { blocks, succs });
        }
    }
    Some(found)
}
