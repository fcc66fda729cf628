//! What copying blocks takes where functions are large.

use super::*;
use crate::base::index::CfgEdge;
use crate::input::ir::{Block, Terminator};
use crate::paths::dag::Order;
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
        0 => Block::with_terminator(Terminator::Branch, vec![BlockId(1), BlockId(2)]),
        1 => Block::with_terminator(Terminator::Jump, vec![BlockId(3)]),
        _ if b == BLOCKS => Block::with_terminator(Terminator::Return, vec![]),
        _ => Block::with_terminator(Terminator::Jump, vec![BlockId(b + 1)]),
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
    let uses = defined.map(|b| inst::instructions(blocks[b])[0].users().len());
    assert_eq!(uses.collect::<Vec<_>>(), [BLOCKS as usize - 3; 2]);
    module.verify().unwrap();
}

/// Each version of a jump gets tables with its own blocks; the program's tables stay.
#[test]
fn versions_of_jump_have_tables_of_their_own() {
    let text = "@t = internal constant { i32, [3 x ptr] } { i32 7, \
        [3 x ptr] [ptr blockaddress(@f, %a), ptr null, ptr blockaddress(@f, %out)] }\n\
        define i64 @f(ptr %p) {\n\
        start:\n  br label %jump\n\
        jump:\n  %l = phi ptr [ blockaddress(@f, %a), %start ], [ %m, %a ]\n  \
        indirectbr ptr %l, [label %a, label %out, label %a]\n\
        a:\n  %i = load i64, ptr %p\n  %e = getelementptr ptr, ptr getelementptr (i8, ptr @t, i64 8), i64 %i\n  \
        %m = load ptr, ptr %e\n  br label %jump\n\
        out:\n  ret i64 1\n}\n";
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "m");
    let module = context.create_module_from_ir(buffer).unwrap();
    let function = module.get_function("f").unwrap();
    let mut blocks = vec![
        Block::with_terminator(Terminator::Jump, vec![BlockId(1)]),
        Block::with_terminator(Terminator::IndirectBr, [2, 3, 2].map(BlockId).to_vec()),
        Block::with_terminator(Terminator::Jump, vec![BlockId(1)]),
        Block::with_terminator(Terminator::Return, vec![]),
    ];
    blocks[1].known_labels = true;
    let cfg = Cfg {
        blocks: blocks.into(),
    };
    // Behind the first operation, control is in the second version.
    let next = |state: u32, e: CfgEdge| match e.block {
        BlockId(2) => 1,
        _ => state,
    };
    let versions = Versions::product(&cfg, &Order::new(&cfg), 0, next).versions;
    copy_blocks(&context, function, &cfg, &versions);
    module.verify().unwrap();
    let text = module.print_to_string().to_string();
    let tables: Vec<&str> = text
        .lines()
        .filter(|l| l.contains("constant { i32"))
        .collect();
    let [own, copy] = tables[..] else {
        panic!("{text}")
    };
    assert!(
        own.starts_with("@t = internal constant { i32, [3 x ptr] } { i32 7"),
        "{own}"
    );
    assert!(
        copy.contains("private unnamed_addr constant { i32, [3 x ptr] } { i32 7"),
        "{copy}"
    );
    assert_ne!(
        own.split("blockaddress").nth(1),
        copy.split("blockaddress").nth(1)
    );
    // Only the copy is read: the first jump has a constant address.
    let reads = |table: &str| text.matches(table).count();
    assert_eq!(
        (reads("ptr @t,"), reads("ptr @__p3_labels,")),
        (0, 2),
        "{text}"
    );
}
