//! What loaders do not show: attributes of functions, declared ones too, tokens, assembler code, tables of labels,
//! register pressure.
//! Found by LLVM in modules that are admitted, for whichever loader reads them.

use super::labels;
use super::llvm::view::{self, Block, Value};
use super::pressure;
use crate::input::ir::FORBIDDING_ATTRIBUTES;
use crate::input::load::Hidden;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;

/// Intrinsics that must not be copied, whether they make a token or take one.
const SINGLE: &[&str] = &[
    "llvm.coro.",
    "llvm.call.preallocated.",
    "llvm.experimental.convergence.",
    "llvm.experimental.gc.",
    "llvm.localescape",
    "llvm.swift.",
];

/// Directives that define what must be defined once.
const DEFINING: &[&str] = &[".macro", ".equiv", ".eqv", ".symver"];

/// The blocks of `module` that hide something from loaders, ascending. O(instructions) and what
/// [`pressure::find_pressure`] takes.
pub(super) fn find_hidden(module: &Module) -> Vec<Hidden> {
    let kinds = ["noduplicate", "returns_twice"].map(view::attribute);
    let registers = pressure::count_registers(&module.get_triple().as_str().to_string_lossy());
    let mut found = Vec::new();
    let definitions = view::functions(module).filter(|f| f.is_definition());
    for (body, f) in definitions.enumerate() {
        let known = labels::jumps_to_known_labels(f);
        let pressure = pressure::find_pressure(f, registers);
        for (number, block) in f.blocks().enumerate() {
            let mut hidden = find_in_block(block, number, kinds);
            hidden.known_labels = known.binary_search(&number).is_ok();
            hidden.pressure = pressure[number];
            hidden.body = body;
            if hidden != Hidden::without_hidden(body, number) {
                found.push(hidden);
            }
        }
    }
    found
}

/// By ordinal of the definition, the first of the [`FORBIDDING_ATTRIBUTES`] that it has. O(functions).
pub(super) fn forbidding_attributes(module: &Module) -> Vec<Option<&'static str>> {
    let kinds = FORBIDDING_ATTRIBUTES.map(|(name, _)| (name, view::attribute(name)));
    let definitions = view::functions(module).filter(|f| f.is_definition());
    let first = |f: Value| kinds.iter().find(|(_, kind)| f.has_attribute(*kind));
    definitions
        .map(|f| first(f).map(|&(name, _)| name))
        .collect()
}

/// The intrinsic of `module` that only link-time optimisation turns into code, if there is one: checks of types, as for
/// control-flow integrity. A test that is only assumed to hold needs no code. O(functions and uses of intrinsics).
pub(super) fn needs_link_time_code(module: &Module) -> Option<String> {
    let is_assumed = |test: Value| {
        let mut users = test.users();
        users.all(|u| u.is_call() && u.callee().name() == "llvm.assume")
    };
    let needs_code = |f: &Value| match f.name().as_ref() {
        "llvm.type.test" => !f.users().all(|test| test.is_call() && is_assumed(test)),
        name => {
            let is_loaded = name.starts_with("llvm.type.checked.load");
            (is_loaded || name == "llvm.icall.branch.funnel") && f.users().next().is_some()
        }
    };
    let found = view::functions(module).find(needs_code)?;
    Some(found.name().into_owned())
}

/// What block `number` of a function hides; which function is not known here.
fn find_in_block(block: Block, number: usize, [no_duplicate, returns_twice]: [u32; 2]) -> Hidden {
    let mut hidden = Hidden::without_hidden(0, number);
    for i in block.instructions() {
        // The entry is in no loop. (Most allocas stand there, and text takes time.)
        hidden.single |= i.is_token() || number > 0 && is_swift_error(i);
        if i.is_call() {
            let callee = i.callee();
            let has = |kind| {
                i.has_call_attribute(kind) || callee.is_function() && callee.has_attribute(kind)
            };
            hidden.single |= has(no_duplicate) || is_single(callee);
            hidden.returns_twice |= has(returns_twice);
        }
    }
    hidden
}

/// Whether an instruction makes a place for a `swifterror`, whose address must be known wherever it is used.
fn is_swift_error(i: Value) -> bool {
    i.opcode() == LLVMOpcode::LLVMAlloca && i.text().contains("= alloca swifterror ")
}

/// Whether a call of `callee` may stand in one place only.
fn is_single(callee: Value) -> bool {
    if callee.is_assembly() {
        return defines_symbol(&callee.assembly());
    }
    let name = callee.name();
    name.starts_with("llvm.") && SINGLE.iter().any(|s| name.starts_with(s))
}

/// Whether assembler code, in the form that LLVM keeps, defines a symbol: an assembler refuses a second definition.
/// Numbers may be defined any number of times, and a label with `${:uid}` in it is another one in each copy.
fn defines_symbol(assembly: &str) -> bool {
    // Variants for dialects are alternatives of statements.
    let text = assembly.replace("$(", "\n").replace("$|", "\n");
    text.replace("$)", "\n")
        .split(['\n', ';'])
        .any(statement_defines)
}

fn statement_defines(statement: &str) -> bool {
    let mut rest = statement.trim_start();
    loop {
        let end = symbol_end(rest);
        let (symbol, behind) = rest.split_at(end);
        let behind = behind.trim_start();
        match behind.strip_prefix(':') {
            Some(next) if !symbol.is_empty() => {
                let numeric = symbol.bytes().all(|b| b.is_ascii_digit());
                if !numeric && !symbol.contains("${:uid}") {
                    return true;
                }
                rest = next.trim_start();
            }
            _ => return DEFINING.contains(&symbol),
        }
    }
}

/// Where the symbol at the start of a text ends.
fn symbol_end(text: &str) -> usize {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        at += if text[at..].starts_with("${") {
            text[at..].find('}').map_or(1, |n| n + 1)
        } else if c.is_alphanumeric() || "_.$@?\"".contains(c) {
            c.len_utf8()
        } else {
            break;
        };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::defines_symbol;

    #[test]
    fn definitions_in_assembler_code() {
        for text in [
            "label: nop",
            "nop; .Llabel:",
            "nop\n\t\"quoted\" : nop",
            "1: again: nop",
            "$(nop$|label: nop$)",
            ".macro once\n.endm",
            "$$label: nop",
        ] {
            assert!(defines_symbol(text), "{text}");
        }
        for text in [
            "",
            "1: jmp 1b",
            ".Llabel${:uid}: jmp .Llabel${:uid}",
            "label_${:uid}_$0:\n1:",
            "movq %fs:0, $0",
            "jmp ${0:l}",
            "mov eax, dword ptr fs:[0]",
            "nop # fs: 0",
        ] {
            assert!(!defines_symbol(text), "{text}");
        }
    }
}
