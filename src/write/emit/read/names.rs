//! Names and types of the source: debug information → [`Types`] and [`Named`].

use super::super::llvm::view::{Block, Node, Value};
use crate::possible::code::Local;
use crate::possible::types::{Field, Named, Type, TypeId, Types};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use rustc_hash::FxHashMap;

/// Types are not looked into more deeply.
const DEEPEST: u32 = 16;
/// Names of types of one byte that are no characters.
const NUMBERS: [&str; 4] = ["int8", "u8", "byte", "Byte"];

/// Reads names and types.
pub(super) struct NameReader<'m, 'p> {
    module: &'m Module<'p>,
    known: FxHashMap<Node<'m>, TypeId>,
}

impl<'m, 'p> NameReader<'m, 'p> {
    pub(super) fn new(module: &'m Module<'p>) -> NameReader<'m, 'p> {
        NameReader {
            module,
            known: FxHashMap::default(),
        }
    }

    /// What a global variable is called.
    pub(super) fn global(&mut self, types: &mut Types, variable: Value<'m>) -> Option<Named> {
        let node = variable.global_variable_node(self.module)?;
        self.find_name(types, node, true)
    }

    /// What values of a function are called: those that variables have, local variables, and parameters that are stored
    /// in one at first. O(instructions).
    pub(super) fn locals(
        &mut self,
        types: &mut Types,
        blocks: &[Block<'m>],
        locals: &FxHashMap<Value<'m>, Local>,
        target: &TargetData,
    ) -> FxHashMap<Local, Named> {
        let mut found = FxHashMap::default();
        let mut done = FxHashMap::default();
        for instruction in blocks.iter().flat_map(|b| b.instructions()) {
            for variable in instruction.variables(self.module) {
                let Some(local) = locals.get(&variable.value) else {
                    continue;
                };
                let named = done
                    .entry(variable.node)
                    .or_insert_with(|| self.find_name(types, variable.node, variable.is_address));
                if let Some(named) = named.clone() {
                    let is_address = variable.is_address;
                    found.entry(*local).or_insert(Named {
                        is_address,
                        ..named
                    });
                }
            }
        }
        let stores = blocks[0].instructions();
        let stores = stores.filter(|i| i.opcode() == LLVMOpcode::LLVMStore);
        for store in stores {
            let operands: Vec<Value<'m>> = store.operands().collect();
            let (mut value, mut address, mut offset) = (operands[0], operands[1], 0);
            let is_computed = |v: Value<'m>, opcode| {
                locals.contains_key(&v) && v.is_instruction() && v.opcode() == opcode
            };
            if is_computed(value, LLVMOpcode::LLVMZExt) {
                value = value.operands().next().expect("what is extended");
            }
            if is_computed(address, LLVMOpcode::LLVMGetElementPtr)
                && let Some(parts) = address.element_address(target)
                && parts.indices.is_empty()
            {
                (address, offset) = (parts.base, parts.offset);
            }
            let (Some(value), Some(place)) = (locals.get(&value), locals.get(&address)) else {
                continue;
            };
            if let Some(named) = found.get(place).filter(|n| n.is_address).cloned() {
                found.entry(*value).or_insert(Named {
                    offset: offset.cast_unsigned(),
                    is_address: false,
                    ..named
                });
            }
        }
        found
    }

    fn find_name(&mut self, types: &mut Types, node: Node<'m>, is_address: bool) -> Option<Named> {
        let (name, ty) = node.variable_name_and_type(self.module)?;
        Some(Named {
            name,
            ty: ty.map_or(0, |ty| self.ty(types, ty, DEEPEST)),
            offset: 0,
            is_address,
        })
    }

    fn ty(&mut self, types: &mut Types, node: Node<'m>, deep: u32) -> TypeId {
        if deep == 0 || !node.is_type() {
            return 0;
        }
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let text = node.type_text(self.module);
        let base = |reader: &mut Self, types: &mut Types| {
            let base = node.base_type(reader.module);
            base.map_or(0, |base| reader.ty(types, base, deep - 1))
        };
        let id = types.add(Type::Unknown);
        // A struct may point to its own type.
        self.known.insert(node, id);
        let bytes = number_in(&text, "size: ").unwrap_or(0).cast_unsigned() / 8;
        let tag = word_in(&text, "tag: DW_TAG_");
        let ty = match tag {
            "" | "base_type" => basic(&text, bytes),
            "pointer_type" | "reference_type" | "rvalue_reference_type" => {
                Type::Pointer(base(self, types))
            }
            "enumeration_type" => Type::Enumeration {
                bytes,
                names: self.enumerators(node),
            },
            "structure_type" | "class_type" | "union_type" => Type::Record {
                bytes,
                fields: self.fields(types, node, deep),
            },
            "array_type" => Type::Array {
                bytes,
                element: base(self, types),
            },
            "typedef" | "const_type" | "volatile_type" | "restrict_type" | "atomic_type" => {
                let inner = base(self, types);
                let name = node.type_name(self.module).unwrap_or_default();
                match types.get(inner).clone() {
                    Type::Character { is_signed } if NUMBERS.iter().any(|n| name.contains(n)) => {
                        Type::Integer {
                            bytes: 1,
                            is_signed,
                        }
                    }
                    ty => ty,
                }
            }
            _ => Type::Unknown,
        };
        types.set(id, ty);
        id
    }

    fn fields(&mut self, types: &mut Types, node: Node<'m>, deep: u32) -> Vec<Field> {
        let mut fields = Vec::new();
        for element in node.type_elements(self.module) {
            if !element.is_type() {
                continue;
            }
            let text = element.type_text(self.module);
            let is_field = matches!(word_in(&text, "tag: DW_TAG_"), "member" | "inheritance");
            if !is_field || text.contains("BitField") || text.contains("StaticMember") {
                continue;
            }
            let ty = element.base_type(self.module);
            fields.push(Field {
                name: element.type_name(self.module).unwrap_or_default(),
                offset: number_in(&text, "offset: ").unwrap_or(0).cast_unsigned() / 8,
                ty: ty.map_or(0, |ty| self.ty(types, ty, deep - 1)),
            });
        }
        fields
    }

    fn enumerators(&self, node: Node<'m>) -> Vec<(String, i64)> {
        let elements = node.type_elements(self.module).into_iter();
        let named = elements.filter_map(|element| {
            let text = element.type_text(self.module);
            let name = text.split("name: \"").nth(1)?.split('"').next()?;
            Some((name.to_string(), number_in(&text, "value: ")?))
        });
        named.collect()
    }
}

fn basic(text: &str, bytes: u64) -> Type {
    match word_in(text, "encoding: DW_ATE_") {
        "boolean" if bytes == 1 => Type::Truth,
        "signed_char" | "unsigned_char" if bytes == 1 => Type::Character {
            is_signed: text.contains("DW_ATE_signed_char"),
        },
        encoding
        @ ("signed" | "unsigned" | "boolean" | "UTF" | "signed_char" | "unsigned_char") => {
            Type::Integer {
                bytes,
                is_signed: encoding.starts_with("signed"),
            }
        }
        _ => Type::Unknown,
    }
}

/// The word behind another in the text of a node.
fn word_in<'t>(text: &'t str, before: &str) -> &'t str {
    let behind = text.split(before).nth(1).unwrap_or_default();
    let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &behind[..end.unwrap_or(behind.len())]
}

/// The number behind a word in the text of a node.
fn number_in(text: &str, before: &str) -> Option<i64> {
    let behind = text.split(before).nth(1)?;
    let behind = behind.strip_prefix("i64 ").unwrap_or(behind);
    let end = behind.find(|c: char| !c.is_ascii_digit() && c != '-');
    let digits = &behind[..end.unwrap_or(behind.len())];
    digits.parse::<i128>().ok().map(|n| n as i64)
}
