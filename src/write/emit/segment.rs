//! Whether segment gs is free in a module for x86-64.

use super::llvm::view::{self, Value};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;

/// The address space in which the base of segment gs is added to addresses, on x86-64.
pub(crate) const GS: u16 = 256;

/// Functions that set the base of a segment, or may.
const SETTERS: [&str; 3] = ["arch_prctl", "llvm.x86.wrgsbase.32", "llvm.x86.wrgsbase.64"];

/// What in `module`, which is for x86-64, uses the segment; `None`: nothing does. Code that the module does not show,
/// as in objects of assembler code, is not known. O(instructions).
pub(super) fn find_use(module: &Module) -> Option<String> {
    let is_named = names_segment(&view::assembly_of(module));
    let mut by = is_named.then(|| "assembler code".to_string());
    for f in view::functions(module) {
        if SETTERS.contains(&f.name().as_ref()) && f.users().next().is_some() {
            by = by.or_else(|| Some(f.name().into_owned()));
        }
        let mut instructions = f.blocks().flat_map(view::Block::instructions);
        if by.is_none() && instructions.any(uses_segment) {
            by = Some(f.name().into_owned());
        }
    }
    by
}

fn uses_segment(i: Value) -> bool {
    match i.opcode() {
        LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore => {
            let mut operands = i.operands();
            operands.any(|o| o.address_space() == Some(GS.into()))
        }
        _ if i.is_call() && i.callee().is_assembly() => names_segment(&i.callee().assembly()),
        _ => i.is_call() && i.callee().name() == "syscall" && calls_setter(i),
    }
}

/// Whether a call of `syscall` is one of `arch_prctl`.
fn calls_setter(call: Value) -> bool {
    const ARCH_PRCTL: u64 = 158;
    let number = call.operands().next();
    number.and_then(Value::constant_int) == Some(ARCH_PRCTL)
}

/// Whether assembler code names segment gs, or an instruction that sets its base.
fn names_segment(assembly: &str) -> bool {
    let text = assembly.to_ascii_lowercase();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = text.split(|c: char| !is_word(c));
    words.any(|w| ["gs", "wrgsbase", "swapgs"].contains(&w))
}

#[cfg(test)]
mod tests {
    use super::names_segment;

    #[test]
    fn segment_in_assembler_code() {
        for text in [
            "movq %gs:0, $0",
            "mov eax, dword ptr gs:[0]",
            "WRGSBASE $0",
            "mov %eax, %gs",
        ] {
            assert!(names_segment(text), "{text}");
        }
        for text in [
            "",
            "movq %fs:0, $0",
            "call flags",
            "gs_count: nop",
            "jmp msgs",
        ] {
            assert!(!names_segment(text), "{text}");
        }
    }
}
