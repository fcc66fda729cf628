//! What functions compute: LLVM's instructions → [`Code`].

use super::super::llvm::view::{self, Block, Value};
use super::super::{Parsed, llvm};
use super::names::NameReader;
use crate::possible::code::{
    Action, BinaryOperator, Callee, CastOperator, Code, End, Function, Instruction, Kind, Local,
    Operand, Symbol,
};
use crate::possible::{aborts, is_small, returns_twice};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::targets::{ByteOrdering, TargetData};
use rustc_hash::FxHashMap;

/// Larger tables of constants are not looked into.
const MOST_BYTES: u64 = 1 << 14;

/// So much of a callee is looked at to see that it is too large to be executed where it is called.
const MOST_CALLEE_BLOCKS: usize = 1000;
const MOST_CALLEE_INSTRUCTIONS: usize = 1000;

/// Makes the code of the functions of a module, each when it is asked for.
pub struct CodeReader<'m, 'p> {
    names: NameReader<'m, 'p>,
    definitions: Vec<Value<'m>>,
    target: TargetData,
    attributes: Attributes,
    code: Code,
    symbols: FxHashMap<Value<'m>, u32>,
    functions: FxHashMap<Value<'m>, usize>,
}

/// Attributes by their numbers.
struct Attributes {
    memory: u32,
    plain: u32,
    returns_twice: u32,
    coroutine: u32,
}

/// The code of functions of a module that LLVM has read. `None` where addresses do not have 64 bits, or numbers begin
/// with their high bytes: that is not modelled.
pub fn code_reader(parsed: &Parsed) -> Option<ModuleCode<'_>> {
    let module = parsed.context_and_module().1;
    let target = llvm::target_of(&module);
    let fits = target.get_pointer_byte_size(None) == 8
        && target.get_byte_ordering() == ByteOrdering::LittleEndian;
    fits.then(|| {
        view::prepare_variables(&module);
        ModuleCode { module, target }
    })
}

/// A module, of whose functions code can be made.
pub struct ModuleCode<'p> {
    module: std::mem::ManuallyDrop<Module<'p>>,
    target: TargetData,
}

impl<'p> ModuleCode<'p> {
    /// What makes it, as long as the module is not changed.
    pub fn reader(&self) -> CodeReader<'_, 'p> {
        let functions = view::functions(&self.module);
        CodeReader {
            names: NameReader::new(&self.module),
            definitions: functions.filter(|f| f.is_definition()).collect(),
            target: TargetData::create(&self.target.get_data_layout().as_str().to_string_lossy()),
            attributes: Attributes {
                memory: view::attribute("memory"),
                plain: view::attribute("optnone"),
                returns_twice: view::attribute("returns_twice"),
                coroutine: view::attribute("presplitcoroutine"),
            },
            code: Code::default(),
            symbols: FxHashMap::default(),
            functions: FxHashMap::default(),
        }
    }
}

impl<'m, 'p> CodeReader<'m, 'p> {
    /// The number in [`CodeReader::code`] of the definition with this ordinal; `None`: there is none. O(instructions)
    /// the first time.
    pub fn function(&mut self, ordinal: usize) -> Option<usize> {
        let function = *self.definitions.get(ordinal)?;
        Some(self.lower_function(function))
    }

    /// All that was asked for, and what it calls that can be executed in place.
    pub fn code(&self) -> &Code {
        &self.code
    }

    fn lower_function(&mut self, function: Value<'m>) -> usize {
        if let Some(known) = self.functions.get(&function) {
            return *known;
        }
        let number = self.code.functions.len();
        self.functions.insert(function, number);
        self.code.functions.push(Function::default());
        let mut locals = FxHashMap::default();
        let mut kinds = Vec::new();
        for parameter in function.parameters() {
            locals.insert(parameter, kinds.len() as Local);
            kinds.push(kind(parameter));
        }
        let parameters = kinds.len() as u32;
        let blocks: Vec<Block> = function.blocks().collect();
        let numbers: FxHashMap<Block, u32> = blocks.iter().copied().zip(0..).collect();
        for instruction in blocks.iter().flat_map(|b| b.instructions()) {
            if !instruction.is_nothing() {
                locals.insert(instruction, kinds.len() as Local);
                kinds.push(kind(instruction));
            }
        }
        let names = self
            .names
            .locals(&mut self.code.types, &blocks, &locals, &self.target);
        let is_opaque = function.has_attribute(self.attributes.coroutine)
            || blocks
                .iter()
                .flat_map(|b| b.instructions())
                .any(|i| self.may_run_twice(i));
        let mut body = Body {
            reader: self,
            locals: &locals,
            numbers: &numbers,
        };
        let blocks: Vec<_> = (0..)
            .zip(&blocks)
            .map(|(n, block)| body.lower_block(n, *block))
            .collect();
        self.code.functions[number] = Function {
            name: function.name().into_owned(),
            names,
            parameters,
            kinds,
            blocks,
            is_plain: function.has_attribute(self.attributes.plain),
            is_opaque,
            is_final: function.is_final() && !function.is_variadic(),
        };
        number
    }

    /// Whether an instruction may make a part of its function run twice, or on another stack.
    fn may_run_twice(&self, instruction: Value<'m>) -> bool {
        if !instruction.is_call() {
            return false;
        }
        if instruction.has_call_attribute(self.attributes.returns_twice) {
            return true;
        }
        instruction.called_function().is_some_and(|f| {
            let name = String::from_utf8_lossy(&f.name()).into_owned();
            f.has_attribute(self.attributes.returns_twice)
                || returns_twice(&name)
                || name.starts_with("llvm.coro.")
                || name.starts_with("llvm.eh.sjlj.")
        })
    }

    fn number_symbol(&mut self, value: Value<'m>) -> u32 {
        if let Some(known) = self.symbols.get(&value) {
            return *known;
        }
        let number = self.code.symbols.len() as u32;
        let is_variable = value.is_shared_variable();
        let name = if is_variable {
            self.names.global(&mut self.code.types, value)
        } else {
            None
        };
        let size = || value.variable_size(&self.target).unwrap_or(0);
        self.code.symbols.push(Symbol {
            is_apart: is_variable && value.is_final() && size() > 0,
            bytes: if is_variable {
                value.constant_bytes(&self.target, MOST_BYTES)
            } else {
                None
            },
            name,
        });
        self.symbols.insert(value, number);
        number
    }
}

fn kind(value: Value) -> Kind {
    let is_address = value.is_usual_address();
    let bits = match value.bits() {
        Some(bits) if bits <= 64 && (is_address || value.is_integer()) => bits,
        _ => 0,
    };
    Kind { bits, is_address }
}

/// A function that is being read.
struct Body<'r, 'm, 'p> {
    reader: &'r mut CodeReader<'m, 'p>,
    locals: &'r FxHashMap<Value<'m>, Local>,
    numbers: &'r FxHashMap<Block<'m>, u32>,
}

impl<'m> Body<'_, 'm, '_> {
    fn lower_block(&mut self, number: u32, block: Block<'m>) -> crate::possible::code::Block {
        let mut instructions = Vec::new();
        for instruction in block.instructions() {
            let is_end = instruction == block.terminator();
            if is_end && !instruction.is_call() || instruction.is_debug_instruction() {
                continue;
            }
            instructions.push(Instruction {
                result: self.locals.get(&instruction).copied(),
                action: self.lower_action(instruction, number == 0),
            });
        }
        let last = block.terminator();
        crate::possible::code::Block {
            instructions,
            succs: last.successors().map(|to| self.numbers[&to]).collect(),
            end: self.lower_end(block, last),
        }
    }

    fn lower_end(&mut self, block: Block<'m>, last: Value<'m>) -> End {
        use LLVMOpcode::*;
        match last.opcode() {
            LLVMUnreachable => {
                let calls = block.instructions().filter(|i| i.is_call());
                let calls = calls.filter(|i| !i.is_debug_instruction());
                let callee = calls.last().and_then(|call| call.called_function());
                let aborts = callee.is_some_and(|f| aborts(&String::from_utf8_lossy(&f.name())));
                if aborts { End::Abort } else { End::Unknown }
            }
            LLVMBr if last.successors().count() == 2 => {
                let condition = last.operands().next();
                condition.map_or(End::Unknown, |c| End::Branch(self.lower_operand(c)))
            }
            LLVMSwitch => {
                let cases: Option<Vec<u64>> = last.cases().map(Value::constant_int).collect();
                match (last.operands().next(), cases) {
                    (Some(on), Some(cases)) => End::Switch(self.lower_operand(on), cases),
                    _ => End::Unknown,
                }
            }
            LLVMRet => End::Return(
                last.operands()
                    .next()
                    .map(|value| self.lower_operand(value)),
            ),
            _ => End::Unknown,
        }
    }

    fn lower_operand(&mut self, value: Value<'m>) -> Operand {
        if let Some(local) = self.locals.get(&value) {
            return Operand::Local(*local);
        }
        let Kind { bits, is_address } = kind(value);
        if bits == 0 || value.is_undefined() {
            return Operand::Unknown;
        }
        if let Some(number) = value.constant_int() {
            return Operand::Integer(bits, number);
        }
        if is_address && value.is_null() {
            return Operand::Integer(64, 0);
        }
        self.lower_address(value, 0).unwrap_or(Operand::Unknown)
    }

    /// A constant address, `offset` bytes behind a constant.
    fn lower_address(&mut self, value: Value<'m>, offset: i64) -> Option<Operand> {
        if value.is_constant_element() {
            let parts = value.element_address(&self.reader.target)?;
            if !parts.indices.is_empty() {
                return None;
            }
            return self.lower_address(parts.base, offset.wrapping_add(parts.offset));
        }
        let is_known = value.is_global() && (value.is_function() || value.is_shared_variable());
        is_known.then(|| Operand::Symbol(self.reader.number_symbol(value), offset))
    }

    fn lower_action(&mut self, i: Value<'m>, is_entry: bool) -> Action {
        use LLVMOpcode::*;
        // A φ can have thousands of operands, which `incoming` lists with their blocks.
        let operands: Vec<Value<'m>> = match i.opcode() {
            LLVMPHI => Vec::new(),
            _ => i.operands().collect(),
        };
        let is_scalar = kind(i).bits > 0;
        if let Some(operator) = binary_operator(i.opcode()) {
            if !is_scalar {
                return Action::Unknown;
            }
            let (a, b) = (
                self.lower_operand(operands[0]),
                self.lower_operand(operands[1]),
            );
            return Action::Binary(operator, a, b, i.flags());
        }
        match i.opcode() {
            LLVMAlloca if is_entry && i.is_usual_address() && i.allocates_fixed_size() => {
                Action::Allocate
            }
            LLVMLoad => match i.bytes(&self.reader.target) {
                Some(size) => Action::Load {
                    address: self.lower_operand(operands[0]),
                    size,
                    is_plain: i.is_plain_load(),
                },
                None => Action::Unknown,
            },
            LLVMStore => match operands[0].bytes(&self.reader.target) {
                Some(size) => Action::Store {
                    value: self.lower_operand(operands[0]),
                    address: self.lower_operand(operands[1]),
                    size,
                    is_plain: i.is_plain_store(),
                },
                // Of unknown size: it may overwrite anything, so no memory that it may reach keeps its value.
                None => self.clobbering_action(&operands),
            },
            LLVMICmp if is_scalar && kind(operands[0]).bits > 0 => {
                let (a, b) = (
                    self.lower_operand(operands[0]),
                    self.lower_operand(operands[1]),
                );
                Action::Compare(i.predicate(), a, b, i.compares_one_sign())
            }
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast
                if is_scalar && kind(operands[0]).bits > 0 =>
            {
                let operator = match i.opcode() {
                    LLVMTrunc => CastOperator::Truncate,
                    LLVMZExt => CastOperator::ZeroExtend,
                    LLVMSExt => CastOperator::SignExtend,
                    _ => CastOperator::Keep,
                };
                Action::Cast(operator, self.lower_operand(operands[0]), i.flags())
            }
            LLVMGetElementPtr => match i.element_address(&self.reader.target) {
                Some(parts) => {
                    let base = self.lower_operand(parts.base);
                    let indices = parts
                        .indices
                        .iter()
                        .map(|(i, step)| (self.lower_operand(*i), *step));
                    let indices = indices.collect();
                    Action::Element(base, parts.offset, indices, parts.is_promised)
                }
                None => self.unknown_action(&operands),
            },
            LLVMSelect if is_scalar && kind(operands[0]).bits == 1 => {
                let [c, a, b] = [0, 1, 2].map(|n| self.lower_operand(operands[n]));
                Action::Select(c, a, b)
            }
            LLVMPHI => {
                let entries = i
                    .incoming()
                    .map(|(value, from)| (self.numbers[&from], self.lower_operand(value)));
                Action::Phi(entries.collect())
            }
            LLVMCall | LLVMInvoke | LLVMCallBr => self.lower_call(i),
            LLVMFreeze if is_scalar => Action::Freeze(self.lower_operand(operands[0])),
            LLVMFence | LLVMAtomicCmpXchg | LLVMAtomicRMW | LLVMVAArg => {
                self.clobbering_action(&operands)
            }
            // None of the rest writes memory: to know nothing of the result refutes no path that can run.
            _ => self.unknown_action(&operands),
        }
    }

    /// An action of which nothing is known but that it writes memory through what it gets.
    fn clobbering_action(&mut self, operands: &[Value<'m>]) -> Action {
        let arguments = operands.iter().map(|o| self.lower_operand(*o)).collect();
        Action::Call {
            callee: Callee::Unknown,
            arguments,
            writes_nothing: false,
        }
    }

    /// An action of which nothing is known but that it writes no memory; addresses may come out of it again.
    fn unknown_action(&mut self, operands: &[Value<'m>]) -> Action {
        let addresses = operands.iter().filter(|o| o.is_address());
        let addresses: Vec<Operand> = addresses.map(|o| self.lower_operand(*o)).collect();
        if addresses.is_empty() {
            return Action::Unknown;
        }
        Action::Opaque(addresses)
    }

    fn lower_call(&mut self, call: Value<'m>) -> Action {
        let count = call.argument_count();
        let arguments: Vec<Value<'m>> = call.operands().take(count).collect();
        let callee = match call.called_function() {
            _ if call.calls_assembly() => Callee::Unknown,
            None => Callee::Unknown,
            Some(_) => self.callee(call.callee()),
        };
        // Metadata and labels are no values.
        let arguments = arguments
            .into_iter()
            .map(|a| self.lower_operand(a))
            .collect();
        Action::Call {
            callee,
            arguments,
            writes_nothing: call.call_writes_nothing(self.reader.attributes.memory),
        }
    }

    fn callee(&mut self, function: Value<'m>) -> Callee {
        if !function.is_definition() {
            return Callee::Declared(function.name().into_owned());
        }
        let is_short = || {
            let blocks = function.blocks().take(MOST_CALLEE_BLOCKS).count();
            let instructions = function.blocks().take(MOST_CALLEE_BLOCKS);
            let instructions = instructions.flat_map(|b| b.instructions());
            is_small(blocks, instructions.take(MOST_CALLEE_INSTRUCTIONS).count())
        };
        if !function.is_final() || !is_short() {
            return Callee::Defined(function.name().into_owned());
        }
        Callee::Body(self.reader.lower_function(function))
    }
}

fn binary_operator(opcode: LLVMOpcode) -> Option<BinaryOperator> {
    use LLVMOpcode::*;
    Some(match opcode {
        LLVMAdd => BinaryOperator::Add,
        LLVMSub => BinaryOperator::Sub,
        LLVMMul => BinaryOperator::Mul,
        LLVMUDiv => BinaryOperator::Udiv,
        LLVMSDiv => BinaryOperator::Sdiv,
        LLVMURem => BinaryOperator::Urem,
        LLVMSRem => BinaryOperator::Srem,
        LLVMShl => BinaryOperator::Shl,
        LLVMLShr => BinaryOperator::Lshr,
        LLVMAShr => BinaryOperator::Ashr,
        LLVMAnd => BinaryOperator::And,
        LLVMOr => BinaryOperator::Or,
        LLVMXor => BinaryOperator::Xor,
        _ => return None,
    })
}
