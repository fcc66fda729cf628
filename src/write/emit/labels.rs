//! Jumps to addresses of blocks (`indirectbr`) that are all known: constants, or elements of tables that nobody writes.
//!
//! An interpreter jumps by `goto *labels[operation]`. If a block that ends so exists several times, each of its
//! versions needs a table of its own ([`super::versions`]), so everything between the tables and the jump must be
//! understood.

use super::llvm::view::{Block, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Tables, and constant addresses in them, may nest this deep. Interpreters have arrays of labels, or of structures
/// with a label each; this keeps recursion over constants bounded.
const DEEPEST: u32 = 8;

/// The operands, of an instruction with `count` of them, that its result is one of, or comes from: an address of a
/// block, or of an element of a table. `None` of instructions that do something else.
pub(super) fn source_operands(opcode: LLVMOpcode, count: usize) -> Option<Range<usize>> {
    use LLVMOpcode::*;
    match opcode {
        LLVMLoad | LLVMGetElementPtr | LLVMFreeze => Some(0..1),
        LLVMSelect => Some(1..3),
        LLVMPHI => Some(0..count),
        _ => None,
    }
}

/// What a value on the way to a jump is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Role {
    /// The address of a block.
    Label,
    /// The address of an element of a table.
    Element,
}

/// The jumps of one function.
#[derive(Default)]
struct Jumps<'m> {
    /// What is on the way to a jump.
    seen: HashSet<(Value<'m>, Role)>,
    /// Whether a variable is a table whose labels are known.
    tables: HashMap<Value<'m>, bool>,
}

/// The blocks of `function` that end in an `indirectbr`, by number, if all of their addresses are known and used for
/// nothing else; otherwise none.
///
/// An address is known if it comes, through φs, `select` and `freeze`, from constants and from loads out of constant
/// tables. It must be used for jumps alone: LLVM gives up an address that it sees no jump to, although somebody may
/// still compare it. O(instructions on the way + uses of labels and tables + size of tables).
pub(super) fn jumps_to_known_labels(function: Value) -> Vec<usize> {
    let blocks: Vec<Block> = function.blocks().collect();
    let ends = blocks.iter().map(|b| b.terminator()).enumerate();
    let ends = ends.filter(|(_, end)| end.opcode() == LLVMOpcode::LLVMIndirectBr);
    let ends: Vec<(usize, Value)> = ends.collect();
    if ends.is_empty() {
        return Vec::new();
    }
    let mut jumps = Jumps::default();
    let are_known = ends.iter().all(|&(_, end)| jumps.add(end))
        && jumps.all_uses_are_known()
        && blocks.iter().all(|b| jumps.is_label_for_jumps_alone(*b));
    if !are_known {
        return Vec::new();
    }
    ends.into_iter().map(|(n, _)| n).collect()
}

impl<'m> Jumps<'m> {
    /// Follows the address of an `indirectbr` back; whether it is known.
    fn add(&mut self, end: Value<'m>) -> bool {
        let address = end.operands().next().expect("it has an address");
        let mut open = vec![(address, Role::Label)];
        while let Some((value, role)) = open.pop() {
            if !self.seen.insert((value, role)) {
                continue;
            }
            if !value.is_instruction() {
                if !self.is_known_constant(value, role) {
                    return false;
                }
                continue;
            }
            let operands: Vec<Value> = value.operands().collect();
            let from = source_operands(value.opcode(), operands.len());
            let Some(from) = from.filter(|_| value.is_address()) else {
                return false;
            };
            let role = match (value.opcode(), role) {
                (LLVMOpcode::LLVMLoad, Role::Label) if value.is_plain_load() => Role::Element,
                (LLVMOpcode::LLVMGetElementPtr, Role::Element) => Role::Element,
                (LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMGetElementPtr, _) => return false,
                _ => role,
            };
            open.extend(operands[from].iter().map(|o| (*o, role)));
        }
        true
    }

    /// Whether what is on the way to a jump, and tables, have no other uses.
    fn all_uses_are_known(&self) -> bool {
        let instructions = self.seen.iter().map(|s| s.0).filter(|v| v.is_instruction());
        let mut all = instructions.chain(self.tables.keys().copied());
        all.all(|v| v.users().all(|u| self.is_known_use(v, u)))
    }

    /// Whether the address of a block is used for jumps alone.
    fn is_label_for_jumps_alone(&self, block: Block<'m>) -> bool {
        let mut labels = block.users().filter(|u| u.is_block_address());
        labels.all(|label| label.users().all(|u| self.is_known_use(label, u)))
    }

    /// Whether `user` is on the way from `value` to a jump, or compares it with null.
    fn is_known_use(&self, value: Value<'m>, user: Value<'m>) -> bool {
        let mut open = vec![(value, user)];
        while let Some((value, user)) = open.pop() {
            let is_known = if user.is_instruction() {
                let is_seen = |role| self.seen.contains(&(user, role));
                match user.opcode() {
                    LLVMOpcode::LLVMIndirectBr => true,
                    LLVMOpcode::LLVMICmp => user.operands().any(|o| o != value && o.is_null()),
                    _ => is_seen(Role::Label) || is_seen(Role::Element),
                }
            } else {
                // Of constants: tables, what is inside them, and addresses of their elements.
                let leads_on = user.is_aggregate() || user.is_constant_element_address();
                if leads_on {
                    open.extend(user.users().map(|u| (user, u)));
                }
                leads_on || self.tables.get(&user) == Some(&true)
            };
            if !is_known {
                return false;
            }
        }
        true
    }

    fn is_known_constant(&mut self, value: Value<'m>, role: Role) -> bool {
        if !value.is_constant() {
            return false;
        }
        // Neither null nor what is undefined is jumped to.
        if value.is_null() || value.is_undefined() {
            return true;
        }
        match role {
            Role::Label => value.is_block_address(),
            Role::Element => self.is_element(value),
        }
    }

    /// Whether a constant is the address of a table, or of an element of one.
    fn is_element(&mut self, mut value: Value<'m>) -> bool {
        for _ in 0..DEEPEST {
            if !value.is_constant_element_address() {
                break;
            }
            value = value.operands().next().expect("an address has a base");
        }
        *self.tables.entry(value).or_insert_with(|| is_table(value))
    }
}

/// Whether a value is a variable that nobody writes, whose value is known here and can be made again with other labels.
fn is_table(value: Value) -> bool {
    let initializer = value.initializer().filter(|_| value.is_local_constant());
    let Some(initializer) = initializer else {
        return false;
    };
    let mut seen = HashSet::new();
    let mut open = vec![(initializer, 0)];
    while let Some((value, depth)) = open.pop() {
        if value.is_block_address() || value.is_global() || !seen.insert(value) {
            continue;
        }
        let is_known = if value.is_aggregate() {
            depth < DEEPEST
        } else {
            // An expression must not compute anything from a label.
            !holds_label(value)
        };
        if !is_known {
            return false;
        }
        if value.is_aggregate() {
            open.extend(value.operands().map(|o| (o, depth + 1)));
        }
    }
    true
}

/// Whether a constant that is no aggregate refers to a label.
fn holds_label(value: Value) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if value.is_block_address() {
            return true;
        }
        if !value.is_global() && seen.insert(value) && value.has_operands() {
            open.extend(value.operands());
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::emit::llvm::view;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    const TABLE: &str =
        "internal constant [2 x ptr] [ptr blockaddress(@f, %a), ptr blockaddress(@f, %b)]";

    /// The numbers of the known jumps of `f` in a module with these globals, whose block 0 begins with `code` and
    /// jumps to `to`, and whose block `a` begins with `more`.
    fn known_in(globals: &str, code: &str, to: &str, more: &str) -> Vec<usize> {
        let text = format!(
            "{globals}\ndeclare void @use(ptr)\n\
             define i32 @f(i64 %i, i1 %c, ptr %p) {{\nstart:\n{code}\n  indirectbr ptr {to}, [label %a, label %b]\n\
             a:\n{more}\n  ret i32 1\nb:\n  ret i32 2\n}}\n\
             define i32 @g() {{\n  br label %x\nx:\n  ret i32 1\n}}\n"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "m");
        let module = context.create_module_from_ir(buffer).unwrap();
        module.verify().unwrap();
        let f = view::functions(&module).find(|f| f.name() == "f").unwrap();
        jumps_to_known_labels(f)
    }

    const LOAD: &str =
        "  %e = getelementptr [2 x ptr], ptr @t, i64 0, i64 %i\n  %l = load ptr, ptr %e";

    fn loaded_from(table: &str) -> Vec<usize> {
        known_in(&format!("@t = {table}"), LOAD, "%l", "")
    }

    #[test]
    fn labels_of_constant_tables_are_known() {
        for table in [
            TABLE,
            "private unnamed_addr constant [3 x ptr] [ptr blockaddress(@f, %a), ptr null, ptr poison]",
            "internal constant { i32, [2 x ptr] } { i32 1, [2 x ptr] [ptr null, ptr blockaddress(@f, %a)] }",
            "internal constant [2 x ptr] [ptr blockaddress(@f, %a), ptr @g]",
        ] {
            assert_eq!(loaded_from(table), [0], "{table}");
        }
        let table = format!("@t = {TABLE}");
        let other = "  %e = getelementptr i8, ptr getelementptr (i8, ptr @t, i64 8), i64 %i\n\
                       %n = load ptr, ptr %e\n  %m = freeze ptr %n\n  %z = icmp eq ptr %m, null\n\
                       %l = select i1 %c, ptr %m, ptr blockaddress(@f, %b)";
        assert_eq!(known_in(&table, other, "%l", ""), [0]);
        assert_eq!(known_in("", "", "blockaddress(@f, %a)", ""), [0]);
    }

    #[test]
    fn labels_of_other_tables_are_unknown() {
        for table in [
            TABLE.replace("constant", "global"),
            TABLE.replace("internal ", ""),
            TABLE.replace("internal", "linkonce_odr"),
            TABLE.replace("internal", "internal thread_local"),
            TABLE.replace("internal", "internal externally_initialized"),
            TABLE.replace(
                "ptr blockaddress(@f, %b)",
                "ptr getelementptr (i8, ptr blockaddress(@f, %b), i64 1)",
            ),
        ] {
            assert!(loaded_from(&table).is_empty(), "{table}");
        }
        // The labels of the other function are in use elsewhere, but those of this one are not.
        let shared = "@u = internal constant [2 x ptr] [ptr blockaddress(@f, %a), ptr blockaddress(@g, %x)]\n";
        assert!(known_in(&format!("{shared}@t = {TABLE}"), LOAD, "%l", "").is_empty());
    }

    #[test]
    fn labels_are_unknown_if_something_else_uses_them() {
        let table = format!("@t = {TABLE}");
        for use_of in [
            "  call void @use(ptr @t)",
            "  call void @use(ptr blockaddress(@f, %b))",
            "  call void @use(ptr %l)",
            "  call void @use(ptr %e)",
            "  %v = load i64, ptr %e",
            "  %v = icmp eq ptr %l, blockaddress(@f, %b)",
            "  store ptr %l, ptr %p",
        ] {
            assert!(known_in(&table, LOAD, "%l", use_of).is_empty(), "{use_of}");
        }
        assert_eq!(
            known_in(&table, LOAD, "%l", "  %v = icmp eq ptr %l, null"),
            [0]
        );
    }

    #[test]
    fn addresses_that_are_computed_otherwise_are_unknown() {
        let table = format!("@t = {TABLE}");
        for code in [
            "  %l = load ptr, ptr %p",
            "  %l = load volatile ptr, ptr @t",
            "  %l = load atomic ptr, ptr @t monotonic, align 8",
            "  %m = load ptr, ptr @t\n  %l = getelementptr i8, ptr %m, i64 %i",
            "  %n = load i64, ptr @t\n  %l = inttoptr i64 %n to ptr",
            "  %q = select i1 %c, ptr @t, ptr %p\n  %l = load ptr, ptr %q",
            "  %m = load ptr, ptr @t\n  %l = load ptr, ptr %m",
        ] {
            assert!(known_in(&table, code, "%l", "").is_empty(), "{code}");
        }
    }
}
