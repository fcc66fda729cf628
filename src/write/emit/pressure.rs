//! Register pressure: how many values more are live where a block begins than there are registers. Versions of blocks
//! spill such values more often (`hot::costs`).

use super::llvm::view::{Block, Value};
use inkwell::llvm_sys::LLVMOpcode;
use rustc_hash::FxHashMap;

/// A function with more parameters and instructions has no second versions for hot paths, and a walk for each of its
/// values would take long.
const MOST_INSTRUCTIONS: usize = 1 << 13;

/// How many integers and addresses registers hold beside the stack pointer and the number of a path, on the machine of
/// a target triple.
pub(super) fn count_registers(triple: &str) -> usize {
    let machine = triple.split('-').next().unwrap_or_default();
    match machine {
        "x86_64" => 14,
        _ if machine.starts_with('i') => 6,
        // aarch64 and riscv64 have 31, of which some have other uses.
        _ => 26,
    }
}

/// For each block of `f` by how many the live integers and addresses exceed `registers`. None in a large function.
/// O(instructions + the blocks in which each value is live).
pub(super) fn find_pressure(f: Value, registers: usize) -> Vec<u32> {
    let blocks: Vec<Block> = f.blocks().collect();
    let mut pressure = vec![0; blocks.len()];
    if blocks.len() == 1 {
        return pressure;
    }
    let instructions = blocks.iter().flat_map(|b| b.instructions());
    let values = f.parameters().chain(instructions);
    let values: Vec<Value> = values.take(MOST_INSTRUCTIONS + 1).collect();
    if values.len() <= registers || values.len() > MOST_INSTRUCTIONS {
        return pressure;
    }
    let graph = Graph::new(&blocks);
    let mut walk = Walk {
        graph: &graph,
        reached: vec![usize::MAX; blocks.len()],
        left: Vec::new(),
    };
    let values = values.into_iter().filter(|v| takes_register(*v));
    for (number, value) in values.enumerate() {
        walk.visit_live_blocks(number, value, |b| pressure[b] += 1);
    }
    let registers = registers as u32;
    pressure
        .iter_mut()
        .for_each(|p| *p = p.saturating_sub(registers));
    pressure
}

/// Whether a value takes one of the registers that integers take. An `alloca` is a place in the frame.
fn takes_register(value: Value) -> bool {
    let is_number = value.is_integer() || value.is_address();
    is_number && !(value.is_instruction() && value.opcode() == LLVMOpcode::LLVMAlloca)
}

/// Blocks by number, and the ways into them.
struct Graph<'m> {
    numbers: FxHashMap<Block<'m>, usize>,
    ins: Vec<Vec<usize>>,
}

impl<'m> Graph<'m> {
    fn new(blocks: &[Block<'m>]) -> Self {
        let numbers: FxHashMap<_, _> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let mut ins = vec![Vec::new(); blocks.len()];
        for (from, block) in blocks.iter().enumerate() {
            for to in block.terminator().successors() {
                ins[numbers[&to]].push(from);
            }
        }
        Graph { numbers, ins }
    }
}

/// A search for the blocks at whose beginning a value is live.
struct Walk<'m, 'g> {
    graph: &'g Graph<'m>,
    /// By block, the last value that was found live there.
    reached: Vec<usize>,
    /// Where ways backwards were not followed yet.
    left: Vec<usize>,
}

impl<'m> Walk<'m, '_> {
    /// Calls `live` for each block at whose beginning value number `number` is live, once: the value is made elsewhere,
    /// or it is a φ of the block.
    fn visit_live_blocks(&mut self, number: usize, value: Value<'m>, mut live: impl FnMut(usize)) {
        let made_in = value.is_instruction().then(|| value.block());
        let numbers = &self.graph.numbers;
        // Most values are used where they are made: their blocks need no number.
        let elsewhere = |block: &Block<'m>| Some(*block) != made_in;
        for user in value.users().filter(|u| u.is_instruction()) {
            if user.opcode() == LLVMOpcode::LLVMPHI {
                let ways = user.incoming().filter(|(v, _)| *v == value);
                let ways = ways.map(|(_, b)| b).filter(elsewhere);
                self.left.extend(ways.map(|b| numbers[&b]));
            } else {
                let block = Some(user.block()).filter(elsewhere);
                self.left.extend(block.map(|b| numbers[&b]));
            }
        }
        let is_phi = made_in.is_some() && value.opcode() == LLVMOpcode::LLVMPHI;
        if self.left.is_empty() && !is_phi {
            return;
        }
        let made_in = made_in.map(|b| numbers[&b]);
        if let Some(block) = made_in.filter(|_| is_phi) {
            live(block);
        }
        while let Some(block) = self.left.pop() {
            if Some(block) == made_in || self.reached[block] == number {
                continue;
            }
            self.reached[block] = number;
            live(block);
            self.left.extend(&self.graph.ins[block]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::emit::llvm::view;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// By block, how many integers and addresses more are live where it begins than `registers`.
    fn pressure(text: &str, registers: usize) -> Vec<u32> {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "m");
        let module = context.create_module_from_ir(buffer).unwrap();
        module.verify().unwrap();
        let f = view::functions(&module)
            .find(|f| f.is_definition())
            .unwrap();
        find_pressure(f, registers)
    }

    const LOOP: &str = "
        define i64 @f(i64 %n, ptr %p, double %x, i64 %unused) {
        entry:
          %place = alloca i64
          %twice = shl i64 %n, 1
          br label %head
        head:
          %i = phi i64 [ 0, %entry ], [ %next, %latch ]
          %c = icmp ult i64 %i, %twice
          br i1 %c, label %body, label %exit
        body:
          %q = getelementptr i64, ptr %p, i64 %i
          store i64 %n, ptr %q
          store double %x, ptr %place
          br label %latch
        latch:
          %next = add i64 %i, 1
          br label %head
        exit:
          %r = load i64, ptr %p
          ret i64 %r
        }";

    /// A number that only a φ takes is live up to the end of the block that it comes from, and the φ itself counts.
    /// Places in the frame, floating-point numbers and what is never used do not.
    #[test]
    fn values_are_live_between_what_makes_and_what_uses_them() {
        // entry: n, p; head: n, p, twice, i; body and latch: the same; exit: p.
        assert_eq!(pressure(LOOP, 0), [2, 4, 4, 4, 1]);
    }

    #[test]
    fn registers_hold_some_values() {
        assert_eq!(pressure(LOOP, 3), [0, 1, 1, 1, 0]);
        assert_eq!(count_registers("x86_64-unknown-linux-gnu"), 14);
        assert!(
            count_registers("aarch64-linux-gnu") > 14 && count_registers("i686-linux-gnu") < 14
        );
    }

    #[test]
    fn large_functions_are_left_out() {
        let sums: String = (1..=MOST_INSTRUCTIONS)
            .map(|i| format!("  %v{i} = add i64 %v{}, 1\n", i - 1))
            .collect();
        let text = format!(
            "define i64 @f(i64 %v0) {{\n  br label %next\nnext:\n{sums}  ret i64 %v0\n}}\n"
        );
        assert_eq!(pressure(&text, 0), [0, 0]);
    }
}
