//! Calls: what they may write, and callees that are executed in place.

use super::trace::Origin;
use super::{Run, Stop, Value};
use crate::possible::calls;
use crate::possible::code::{Callee, End, Operand};
use crate::possible::memory::Memory;
use crate::possible::taint::is_harmless;

/// Functions are executed in place so deep.
const DEEPEST_CALL: usize = 3;

impl Run<'_> {
    pub(super) fn call(
        &mut self,
        callee: &Callee,
        arguments: &[Operand],
        writes_nothing: bool,
        bits: u32,
    ) -> Result<Value, Stop> {
        match callee {
            Callee::Body(function) if self.can_be_executed(*function, arguments) => {
                let given = self.convert_arguments(*function, arguments);
                if self.code.functions[*function].blocks.len() == 1 {
                    return self.execute_in_place(*function, given, bits);
                }
                if let Some(value) = self.merge_paths(*function, &given, bits)? {
                    return Ok(value);
                }
            }
            Callee::Declared(name) if name.starts_with("llvm.") => {
                return Ok(self.intrinsic(name, arguments, writes_nothing, bits));
            }
            Callee::Declared(name) => {
                let is_own = self.question.own_names.iter().any(|own| own == name);
                let may_write = !writes_nothing && (is_own || !calls::writes_nothing(name));
                if may_write {
                    self.memory.forget_shared(self.terms);
                }
                if name == "__errno_location" {
                    // What it points to is written by many.
                    return Ok(Value::Loose);
                }
                let value = self.returned(Some(name), may_write, bits);
                if let Value::Term(t) = value
                    && calls::allocates(name)
                    && !self.is_plain()
                {
                    self.fresh.insert(t);
                }
                return Ok(value);
            }
            _ => {}
        }
        if !writes_nothing {
            self.memory.forget_shared(self.terms);
        }
        let name = match callee {
            Callee::Body(function) => Some(self.code.functions[*function].name.as_str()),
            Callee::Defined(name) | Callee::Declared(name) => Some(name.as_str()),
            Callee::Unknown => None,
        };
        Ok(self.returned(name, !writes_nothing, bits))
    }

    /// What a call returns: anything.
    fn returned(&mut self, name: Option<&str>, may_write: bool, bits: u32) -> Value {
        let call = self.record_call(name, may_write);
        let value = self.free(bits);
        if let Value::Term(t) = value {
            self.record_origin(t, Origin::Returned(call), false);
        }
        value
    }

    /// Whether a function can be executed here.
    fn can_be_executed(&self, function: usize, arguments: &[Operand]) -> bool {
        let callee = &self.code.functions[function];
        callee.is_final
            && !callee.is_opaque
            && (callee.blocks.len() > 1 || matches!(callee.blocks[0].end, End::Return(_)))
            && callee.parameters as usize == arguments.len()
            && self.guard.is_none()
            && self.frames.len() <= DEEPEST_CALL
    }

    /// What a function gets as its parameters.
    fn convert_arguments(&mut self, function: usize, arguments: &[Operand]) -> Vec<Value> {
        let kinds = &self.code.functions[function].kinds;
        let given = arguments.iter().zip(kinds).map(|(argument, kind)| {
            let value = self.operand(argument);
            match value {
                Value::Term(t) | Value::Address(t) if self.terms.bits(t) != kind.bits => {
                    Value::Loose
                }
                value => value,
            }
        });
        given.collect()
    }

    fn execute_in_place(
        &mut self,
        function: usize,
        given: Vec<Value>,
        bits: u32,
    ) -> Result<Value, Stop> {
        self.step += 1;
        self.enter(function, Some(given));
        self.block(0, None)?;
        let End::Return(returned) = &self.code.functions[function].blocks[0].end else {
            unreachable!("it was looked at");
        };
        let value = returned.as_ref().map_or(Value::Loose, |o| self.operand(o));
        self.frames.pop();
        Ok(match value {
            Value::Term(t) | Value::Address(t) if self.terms.bits(t) != bits => Value::Loose,
            value => value,
        })
    }

    fn intrinsic(
        &mut self,
        name: &str,
        arguments: &[Operand],
        writes_nothing: bool,
        bits: u32,
    ) -> Value {
        let is = |beginning: &str| name.starts_with(beginning);
        if is("llvm.lifetime.") {
            for argument in arguments {
                if let Some(address) = self.address(argument)
                    && let Some(number) = Memory::room(self.terms, address)
                {
                    self.memory.empty(self.terms, number);
                }
            }
            return Value::Loose;
        }
        if is_harmless(name) || is("llvm.stacksave") || is("llvm.stackrestore") {
            return Value::Loose;
        }
        if is("llvm.expect.") || is("llvm.launder.invariant") || is("llvm.strip.invariant") {
            return arguments.first().map_or(Value::Loose, |a| self.operand(a));
        }
        if is("llvm.memcpy.") || is("llvm.memmove.") || is("llvm.memset.") {
            let size = arguments.get(2).and_then(|n| self.exact(n));
            let size = size.and_then(|n| self.terms.value(n));
            self.record_call(None, true);
            match self.address(&arguments[0]) {
                Some(to) => self.memory.forget(self.terms, to, size),
                None => self.memory.forget_shared(self.terms),
            }
            return Value::Loose;
        }
        let pair = match arguments {
            [a, b] => self.exact(a).zip(self.exact(b)),
            _ => None,
        };
        if let Some((a, b)) = pair.filter(|(a, _)| self.terms.bits(*a) == bits) {
            let less = match () {
                () if is("llvm.smax.") => Some((self.terms.less(a, b), b, a)),
                () if is("llvm.smin.") => Some((self.terms.less(a, b), a, b)),
                () if is("llvm.umax.") => Some((self.terms.below(a, b), b, a)),
                () if is("llvm.umin.") => Some((self.terms.below(a, b), a, b)),
                () => None,
            };
            if let Some((c, x, y)) = less {
                return Value::Term(self.terms.choice(c, x, y));
            }
        }
        if !writes_nothing {
            self.record_call(None, true);
            self.memory.forget_shared(self.terms);
        }
        Value::Loose
    }
}
