//! What copying blocks takes where functions are large.

use super::*;
use crate::dag::Order;
use crate::index::CfgEdge;
use crate::ir::{Block, Terminator};
use inkwell::memory_buffer::MemoryBuffer;
use std::fmt::Write;

/// Walks from each use to the definition would take minutes.
#[test]
fn value_used_far_away_is_that_of_own_version() {
    const BLOCKS: u32 = 20_000;
    let mut text = String::from(
        "declare void @use(i32)\ndefine i32 @f(i1 %c, i32 %p) {\n\
         b0:\n  br i1 %c, label %b1, label %b2\n\
         b1:\n  br label %b3\nb2:\n  br label %b3\n\
         b3:\n  %v = add i32 %p, 1\n  br label %b4\n",
    );
    for b in 4..BLOCKS {
        let next = b + 1;
        writeln!(text, "b{b}:\n  call void @use(i32 %v)\n  br label %b{next}").unwrap();
    }
    writeln!(text, "b{BLOCKS}:\n  ret i32 %v\n}}").unwrap();
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "m");
    let module = context.create_module_from_ir(buffer).unwrap();
    let function = module.get_function("f").unwrap();
    let block = |b: u32| match b {
        0 => Block::ending(Terminator::Branch, vec![BlockId(1), BlockId(2)]),
        1 => Block::ending(Terminator::Jump, vec![BlockId(3)]),
        _ if b == BLOCKS => Block::ending(Terminator::Return, vec![]),
        _ => Block::ending(Terminator::Jump, vec![BlockId(b + 1)]),
    };
    let cfg = Cfg {
        blocks: (0..=BLOCKS).map(block).collect(),
    };
    let order = Order::new(&cfg);
    let next = |second, e: CfgEdge| second || e.block == BlockId(2);
    let versions = Versions::product(&cfg, &order, false, next).versions;
    let blocks = copy_blocks(&context, function, &cfg, &versions);
    let defined = versions
        .cfg
        .ids()
        .filter(|b| versions.origin[*b] == BlockId(3));
    let uses = defined.map(|b| values::instructions(blocks[b])[0].users().len());
    assert_eq!(uses.collect::<Vec<_>>(), [BLOCKS as usize - 3; 2]);
    module.verify().unwrap();
}
