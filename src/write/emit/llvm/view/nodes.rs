//! Nodes of debug information: locations, scopes, functions and files of the source.

use super::super::value;
use super::{Node, Value};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;
use std::borrow::Cow;
use std::marker::PhantomData;

/// The operands that LLVM 19 keeps the scope of a lexical block, and the names of a function, in.
const SCOPE: usize = 1;
const NAME: usize = 2;
const LINKAGE_NAME: usize = 3;
/// The operand that LLVM keeps the hash of a file in.
const CHECKSUM: usize = 2;

impl<'m> Node<'m> {
    pub(super) fn from_raw(node: LLVMMetadataRef) -> Option<Node<'m>> {
        (!node.is_null()).then_some(Node(node, PhantomData))
    }

    /// Line and column of a location.
    pub(crate) fn line_and_column(self) -> (u32, u32) {
        self.assert_location();
        // SAFETY: it is a location.
        unsafe {
            (
                LLVMDILocationGetLine(self.0),
                LLVMDILocationGetColumn(self.0),
            )
        }
    }

    /// The scope of a location.
    pub(crate) fn scope(self) -> Node<'m> {
        self.assert_location();
        // SAFETY: it is a location, which has a scope.
        unsafe { Node(LLVMDILocationGetScope(self.0), PhantomData) }
    }

    /// Whether it is a location.
    pub(crate) fn is_location(self) -> bool {
        matches!(self.kind(), LLVMMetadataKind::LLVMDILocationMetadataKind)
    }

    fn assert_location(self) {
        assert!(self.is_location());
    }

    /// The line at which a function of the source begins.
    pub(crate) fn first_line(self) -> u32 {
        assert!(matches!(
            self.kind(),
            LLVMMetadataKind::LLVMDISubprogramMetadataKind
        ));
        // SAFETY: it is a function of the source.
        unsafe { LLVMDISubprogramGetLine(self.0) }
    }

    /// Whether a scope is of a source file of Rust.
    pub(crate) fn is_of_rust(self) -> bool {
        self.file()
            .is_some_and(|file| file.file_name().ends_with(".rs"))
    }

    /// The file of a scope: a function of the source, or a block of one.
    pub(crate) fn file(self) -> Option<Node<'m>> {
        use LLVMMetadataKind::*;
        let is_scope = matches!(
            self.kind(),
            LLVMDISubprogramMetadataKind
                | LLVMDILexicalBlockMetadataKind
                | LLVMDILexicalBlockFileMetadataKind
        );
        // SAFETY: it is a scope; LLVM answers null for one without a file.
        let file = is_scope.then(|| unsafe { Node::from_raw(LLVMDIScopeGetFile(self.0)) })??;
        // LLVM's verifier does not look at the file of a lexical block: in damaged bitcode it is any node.
        let is_file = matches!(file.kind(), LLVMDIFileMetadataKind);
        is_file.then_some(file)
    }

    /// The name of a file.
    pub(crate) fn file_name(self) -> Cow<'m, str> {
        self.file_text(LLVMDIFileGetFilename)
    }

    /// The folder that a file's name is relative to.
    pub(crate) fn directory(self) -> Cow<'m, str> {
        self.file_text(LLVMDIFileGetDirectory)
    }

    fn file_text(
        self,
        get: unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const std::ffi::c_char,
    ) -> Cow<'m, str> {
        assert!(matches!(
            self.kind(),
            LLVMMetadataKind::LLVMDIFileMetadataKind
        ));
        let mut length = 0;
        // SAFETY: it is a file, and the callers pass one of two getters, which answer null or `length` bytes of a
        // metadata string: it lives as long as its context.
        unsafe {
            let text = get(self.0, &mut length);
            if text.is_null() {
                return Cow::from("");
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length as usize))
        }
    }

    /// The hash of a file's content, in lower case.
    pub(crate) fn checksum(self, module: &'m Module) -> Option<String> {
        let text = self.operand(CHECKSUM, module)?.text(module)?;
        let hexadecimal = text.bytes().all(|b| b.is_ascii_hexdigit());
        hexadecimal.then(|| text.to_ascii_lowercase())
    }

    /// Whether a function of the source was optimised.
    pub(crate) fn is_optimised(self, module: &'m Module) -> bool {
        assert!(matches!(
            self.kind(),
            LLVMMetadataKind::LLVMDISubprogramMetadataKind
        ));
        let text = self.print_node(module);
        let flags = text.rsplit("spFlags: ").next().unwrap_or_default();
        let flags = flags.split([',', ')']).next().unwrap_or_default();
        flags.contains("DISPFlagOptimized")
    }

    /// The name of a hint to an optimiser, of which the node consists.
    pub(crate) fn hint_name(self, module: &'m Module) -> Option<String> {
        let is_tuple = matches!(self.kind(), LLVMMetadataKind::LLVMMDTupleMetadataKind);
        is_tuple.then(|| self.operand(0, module)?.text(module))?
    }

    /// The text of a node without its module, which is short.
    pub(super) fn print_node(self, module: &'m Module) -> String {
        // SAFETY: the node and the module's context are live, and so is the value that holds the node in it.
        let value = unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            Value::new(value::Value(LLVMMetadataAsValue(context, self.0)))
        };
        value.print_value()
    }

    /// What tells blocks of one line apart, if a compiler did; else 0.
    pub(crate) fn discriminator(self, module: &'m Module) -> u32 {
        if !matches!(
            self.kind(),
            LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind
        ) {
            return 0;
        }
        self.printed_number("discriminator", module).unwrap_or(0)
    }

    /// The line and column at which the innermost block of the source begins that a location is in; `None` if it is in
    /// none, but in a function.
    pub(crate) fn block_start(self, module: &'m Module) -> Option<(u32, u32)> {
        use LLVMMetadataKind::*;
        let mut scope = self.scope();
        while matches!(scope.kind(), LLVMDILexicalBlockFileMetadataKind) {
            scope = scope.operand(SCOPE, module)?;
        }
        let is_block = matches!(scope.kind(), LLVMDILexicalBlockMetadataKind);
        let number = |name| scope.printed_number(name, module).filter(|_| is_block);
        Some((number("line")?, number("column")?))
    }

    /// A number of a node that no function of the C API tells.
    fn printed_number(self, name: &str, module: &'m Module) -> Option<u32> {
        let text = self.print_node(module);
        let behind = text.split(&format!("{name}: ")).nth(1)?;
        let digits = behind.split(|c: char| !c.is_ascii_digit()).next();
        digits?.parse().ok()
    }

    pub(super) fn kind(self) -> LLVMMetadataKind {
        // SAFETY: the node is live.
        unsafe { LLVMGetMetadataKind(self.0) }
    }

    /// Where the call is by which the code at a location was inlined.
    pub(crate) fn inlined_at(self) -> Option<Node<'m>> {
        assert!(matches!(
            self.kind(),
            LLVMMetadataKind::LLVMDILocationMetadataKind
        ));
        // SAFETY: it is a location; LLVM answers null for code that was not inlined.
        unsafe { Node::from_raw(LLVMDILocationGetInlinedAt(self.0)) }
    }

    /// The function in the source that a location lies in.
    pub(crate) fn subprogram(self, module: &'m Module) -> Option<Node<'m>> {
        use LLVMMetadataKind::*;
        assert!(matches!(self.kind(), LLVMDILocationMetadataKind));
        // SAFETY: it is a location, which has a scope.
        let mut scope = unsafe { Node::from_raw(LLVMDILocationGetScope(self.0)) };
        while let Some(block) = scope {
            match block.kind() {
                LLVMDISubprogramMetadataKind => break,
                LLVMDILexicalBlockMetadataKind | LLVMDILexicalBlockFileMetadataKind => {
                    scope = block.operand(SCOPE, module);
                }
                _ => return None,
            }
        }
        scope
    }

    /// The symbol of a function in the source: what it is called where it has no other.
    pub(crate) fn symbol(self, module: &'m Module) -> Option<String> {
        assert!(matches!(
            self.kind(),
            LLVMMetadataKind::LLVMDISubprogramMetadataKind
        ));
        let linkage = self
            .operand(LINKAGE_NAME, module)
            .and_then(|n| n.text(module));
        linkage.or_else(|| self.operand(NAME, module)?.text(module))
    }

    pub(super) fn operand(self, index: usize, module: &'m Module) -> Option<Node<'m>> {
        // SAFETY: node, module and context are live. As a value, a node has as many operands as LLVM says, which
        // it writes to room for as many; one that is absent is null, all others are metadata here, as values.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let value = LLVMMetadataAsValue(context, self.0);
            let count = LLVMGetMDNodeNumOperands(value) as usize;
            let mut operands = vec![std::ptr::null_mut(); count];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            let operand = *operands.get(index)?;
            (!operand.is_null()).then(|| Node(LLVMValueAsMetadata(operand), PhantomData))
        }
    }

    pub(super) fn text(self, module: &'m Module) -> Option<String> {
        let mut length = 0;
        // SAFETY: all are live; LLVM answers null for what is no string, and else `length` bytes, copied at once.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let text = LLVMGetMDString(LLVMMetadataAsValue(context, self.0), &mut length);
            (!text.is_null()).then(|| {
                let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
                String::from_utf8_lossy(bytes).into_owned()
            })
        }
    }
}
