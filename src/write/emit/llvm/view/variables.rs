//! What debug information says of variables and types.

use super::{Node, Value};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;
#[cfg(feature = "llvm19")]
use std::marker::PhantomData;

/// The operands that LLVM keeps the name and the type of a variable in.
const NAME: usize = 1;
const TYPE: usize = 3;
/// The operand of a type that has its name, that which it is made of, and that with its fields.
const TYPE_NAME: usize = 2;
const BASE: usize = if cfg!(feature = "llvm19") { 3 } else { 5 };
const ELEMENTS: usize = BASE + 1;

/// A variable of the source, and a value that it has or is at.
pub(crate) struct Variable<'m> {
    /// The variable.
    pub(crate) node: Node<'m>,
    /// The value.
    pub(crate) value: Value<'m>,
    /// Whether the value is its address.
    pub(crate) is_address: bool,
}

/// Makes records of debug information instructions, where the C API reads only these.
pub(crate) fn prepare_variables(module: &Module) {
    #[cfg(feature = "llvm19")]
    // SAFETY: the module is live, and nobody has looked at its instructions yet.
    unsafe {
        LLVMSetIsNewDbgInfoFormat(module.as_mut_ptr(), 0);
    }
    #[cfg(not(feature = "llvm19"))]
    let _ = module;
}

impl<'m> Value<'m> {
    /// Whether an instruction only says what debug information says of a variable.
    pub(crate) fn is_debug_instruction(self) -> bool {
        self.is_call()
            && self
                .called_function()
                .is_some_and(|f| f.name().starts_with(b"llvm.dbg."))
    }

    /// The variables that are said to have a value from before an instruction on.
    #[cfg(feature = "llvm19")]
    pub(crate) fn variables(self, module: &'m Module) -> Vec<Variable<'m>> {
        if !self.is_debug_instruction() {
            return Vec::new();
        }
        let name = self.called_function().expect("asked above").name().to_vec();
        let is_address = name == b"llvm.dbg.declare";
        if !is_address && name != b"llvm.dbg.value" {
            return Vec::new();
        }
        let operands: Vec<Value<'m>> = self.operands().take(3).collect();
        let [location, variable, expression] = operands[..] else {
            return Vec::new();
        };
        let node = |v: Value<'m>| Node(unsafe_metadata(v), PhantomData);
        if !node(expression).is_empty_expression(module) {
            return Vec::new();
        }
        let found = node(location)
            .find_held_value(module)
            .map(|value| Variable {
                node: node(variable),
                value,
                is_address,
            });
        found.into_iter().collect()
    }

    /// The variables that are said to have a value from before an instruction on.
    #[cfg(not(feature = "llvm19"))]
    pub(crate) fn variables(self, module: &'m Module) -> Vec<Variable<'m>> {
        use inkwell::llvm_sys::LLVMDbgRecordKind::*;
        let mut found = Vec::new();
        // SAFETY: it is an instruction; records are a list, and those of these kinds have a variable, an expression and
        // a value, or null.
        unsafe {
            let mut record = LLVMGetFirstDbgRecord(self.as_raw());
            while !record.is_null() {
                let kind = LLVMDbgRecordGetKind(record);
                let is_address = matches!(kind, LLVMDbgRecordDeclare);
                if is_address || matches!(kind, LLVMDbgRecordValue) {
                    let expression = Node::from_raw(LLVMDbgVariableRecordGetExpression(record));
                    let is_whole = expression.is_some_and(|e| e.is_empty_expression(module));
                    let node = Node::from_raw(LLVMDbgVariableRecordGetVariable(record));
                    if let (true, Some(node)) = (is_whole, node)
                        && let Some(value) =
                            Value::from_raw(LLVMDbgVariableRecordGetValue(record, 0))
                    {
                        found.push(Variable {
                            node,
                            value,
                            is_address,
                        });
                    }
                }
                record = LLVMGetNextDbgRecord(record);
            }
        }
        found
    }

    /// The variable of the source that a global one is.
    pub(crate) fn global_variable_node(self, module: &'m Module) -> Option<Node<'m>> {
        assert!(self.is_shared_variable());
        // SAFETY: it is a variable of the module; the list of what hangs on it is freed, its nodes are the context's.
        unsafe {
            let mut count = 0;
            let entries = LLVMGlobalCopyAllMetadata(self.as_raw(), &mut count);
            let nodes: Vec<LLVMMetadataRef> = (0..count as u32)
                .map(|i| LLVMValueMetadataEntriesGetMetadata(entries, i))
                .collect();
            LLVMDisposeValueMetadataEntries(entries);
            let mut nodes = nodes.into_iter().filter_map(Node::from_raw);
            let is_expression = |n: &Node| {
                matches!(
                    n.kind(),
                    LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind
                )
            };
            nodes.find(is_expression)?.operand(0, module)
        }
    }
}

#[cfg(feature = "llvm19")]
fn unsafe_metadata(value: Value) -> LLVMMetadataRef {
    // SAFETY: callers pass operands of a debug instruction, which are metadata as values.
    unsafe { LLVMValueAsMetadata(value.as_raw()) }
}

impl<'m> Node<'m> {
    fn is_empty_expression(self, module: &'m Module) -> bool {
        matches!(self.kind(), LLVMMetadataKind::LLVMDIExpressionMetadataKind)
            && self.print_node(module).contains("DIExpression()")
    }

    /// The value that a node consists of.
    #[cfg(feature = "llvm19")]
    fn find_held_value(self, module: &'m Module) -> Option<Value<'m>> {
        use LLVMMetadataKind::*;
        if !matches!(
            self.kind(),
            LLVMLocalAsMetadataMetadataKind | LLVMConstantAsMetadataMetadataKind
        ) {
            return None;
        }
        // SAFETY: it is a value as metadata, whose only operand LLVM says is that value.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let mut operand = std::ptr::null_mut();
            LLVMGetMDNodeOperands(LLVMMetadataAsValue(context, self.0), &mut operand);
            Value::from_raw(operand)
        }
    }

    /// The name and the type of a variable.
    pub(crate) fn variable_name_and_type(
        self,
        module: &'m Module,
    ) -> Option<(String, Option<Node<'m>>)> {
        use LLVMMetadataKind::*;
        let is_variable = matches!(
            self.kind(),
            LLVMDILocalVariableMetadataKind | LLVMDIGlobalVariableMetadataKind
        );
        if !is_variable {
            return None;
        }
        let name = self.operand(NAME, module)?.text(module)?;
        Some((name, self.operand(TYPE, module)))
    }

    /// The name of a type, or of a field.
    pub(crate) fn type_name(self, module: &'m Module) -> Option<String> {
        self.operand(TYPE_NAME, module)?.text(module)
    }

    /// What a type is made of: what a pointer points to, of what an array is, what has another name.
    pub(crate) fn base_type(self, module: &'m Module) -> Option<Node<'m>> {
        self.operand(BASE, module)
    }

    /// The fields, enumerators or the like of a type.
    pub(crate) fn type_elements(self, module: &'m Module) -> Vec<Node<'m>> {
        let Some(list) = self.operand(ELEMENTS, module) else {
            return Vec::new();
        };
        if !matches!(list.kind(), LLVMMetadataKind::LLVMMDTupleMetadataKind) {
            return Vec::new();
        }
        let all = (0..list.count_operands(module)).filter_map(|i| list.operand(i, module));
        all.collect()
    }

    /// The node as text, but for what its operands are.
    pub(crate) fn type_text(self, module: &'m Module) -> String {
        self.print_node(module)
    }

    /// Whether it is a type made of others, a basic one, or one with fields.
    pub(crate) fn is_type(self) -> bool {
        use LLVMMetadataKind::*;
        matches!(
            self.kind(),
            LLVMDIBasicTypeMetadataKind
                | LLVMDIDerivedTypeMetadataKind
                | LLVMDICompositeTypeMetadataKind
        )
    }

    fn count_operands(self, module: &'m Module) -> usize {
        // SAFETY: node and context are live.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            LLVMGetMDNodeNumOperands(LLVMMetadataAsValue(context, self.0)) as usize
        }
    }
}
