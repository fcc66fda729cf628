//! Modules of any size: functions of loops around chains of diamonds.

use crate::build::{llvm, run};
use anyhow::Result;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Writes a module of `blocks` blocks, in functions of about `each`.
pub(crate) fn write(file: &Path, blocks: usize, each: usize) -> Result<()> {
    let mut text = String::from("declare i32 @get()\n");
    for f in 0..blocks.div_ceil(each) {
        function(&mut text, f, each.min(blocks - f * each))?;
    }
    assemble(file, &text)
}

/// Writes a module of `functions` functions of ten blocks without loops, every other one of which calls the next.
pub(crate) fn write_small(file: &Path, functions: usize) -> Result<()> {
    let mut text = String::new();
    for f in 0..functions {
        let calls = f % 2 == 0 && f + 1 < functions;
        small_function(&mut text, f, calls)?;
    }
    assemble(file, &text)
}

fn assemble(file: &Path, text: &str) -> Result<()> {
    let source = file.with_extension("ll");
    std::fs::write(&source, text)?;
    run(Command::new(llvm("llvm-as"))
        .arg(&source)
        .arg("-o")
        .arg(file))?;
    std::fs::remove_file(source)?;
    Ok(())
}

/// Diamonds of three blocks; every tenth closes a loop over the last nine.
fn function(text: &mut String, f: usize, blocks: usize) -> Result<()> {
    writeln!(text, "define void @f{f}() {{\n  br label %a0")?;
    let diamonds = blocks.saturating_sub(2).max(3) / 3;
    for d in 0..diamonds {
        let next = d + 1;
        let back = match d % 10 {
            9 => format!("br i1 %d{d}, label %a{}, label %a{next}", d - 9 + 1),
            _ => format!("br label %a{next}"),
        };
        writeln!(
            text,
            "a{d}:\n  %x{d} = call i32 @get()\n  %c{d} = icmp slt i32 %x{d}, {d}\n  \
             br i1 %c{d}, label %b{d}, label %e{d}\n\
             b{d}:\n  %y{d} = call i32 @get()\n  br label %e{d}\n\
             e{d}:\n  %p{d} = phi i32 [ %x{d}, %a{d} ], [ %y{d}, %b{d} ]\n  \
             %d{d} = icmp eq i32 %p{d}, 7\n  {back}"
        )?;
    }
    writeln!(text, "a{diamonds}:\n  ret void\n}}")?;
    Ok(())
}

/// Three diamonds of three blocks, the second of which may call the next function.
fn small_function(text: &mut String, f: usize, calls: bool) -> Result<()> {
    writeln!(text, "define i32 @f{f}(i32 %n) {{\n  br label %a0")?;
    let mut before = "%n".to_string();
    for d in 0..3 {
        let other = match calls && d == 1 {
            true => format!("call i32 @f{}(i32 %x{d})", f + 1),
            false => format!("add i32 %x{d}, {}", f % 97),
        };
        let end = match d {
            2 => format!("ret i32 %p{d}"),
            _ => format!("br label %a{}", d + 1),
        };
        writeln!(
            text,
            "a{d}:\n  %x{d} = mul i32 {before}, {}\n  %c{d} = icmp slt i32 %x{d}, {}\n  \
             br i1 %c{d}, label %b{d}, label %e{d}\n\
             b{d}:\n  %y{d} = {other}\n  br label %e{d}\n\
             e{d}:\n  %p{d} = phi i32 [ %x{d}, %a{d} ], [ %y{d}, %b{d} ]\n  {end}",
            3 + d,
            100 + d
        )?;
        before = format!("%p{d}");
    }
    writeln!(text, "}}")?;
    Ok(())
}
