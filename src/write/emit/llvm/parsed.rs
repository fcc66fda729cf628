//! Modules that LLVM has read, which one thread may hand to another.
#![allow(unsafe_code)]

use super::super::{Names, attributes};
use super::inst::Inst;
use super::session;
use crate::input::load::Kind;
use inkwell::context::Context;
use inkwell::llvm_sys::core::LLVMDisposeModule;
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::cell::OnceCell;
use std::mem::ManuallyDrop;

/// A module, and the context that it alone is in.
pub struct Parsed {
    /// Owned.
    module: LLVMModuleRef,
    /// Goes after the module.
    context: Context,
    /// [`Parsed::calls_that_claim`], once that was asked for.
    claiming: OnceCell<Vec<Inst>>,
}

// SAFETY: LLVM's contexts and what is in them belong to no thread: they are not to be used by two at once. This one
// owns both, and lends them to its own borrowers alone.
unsafe impl Send for Parsed {}

impl Parsed {
    /// Reads a module, `name` being what LLVM calls it in what it says. Linear.
    ///
    /// # Errors
    /// What LLVM says of input that it cannot read.
    pub(crate) fn read(
        bytes: &[u8],
        name: &str,
        kind: Kind,
        names: Names,
    ) -> Result<Parsed, String> {
        let context = match (names, kind) {
            (Names::Dropped, Kind::Bitcode) => session::nameless_context(),
            _ => session::context(),
        };
        let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, name);
        let module = context
            .create_module_from_ir(buffer)
            .map_err(|e| e.to_string())?;
        let module = ManuallyDrop::new(module).as_mut_ptr();
        Ok(Parsed {
            module,
            context,
            claiming: OnceCell::new(),
        })
    }

    /// The module, which is not to be dropped, and its context.
    pub(crate) fn context_and_module(&self) -> (&Context, ManuallyDrop<Module<'_>>) {
        // SAFETY: the module is live, and in a context that lives as long as what is borrowed. It is dropped by `self`
        // alone.
        let module = unsafe { Module::new(self.module) };
        (&self.context, ManuallyDrop::new(module))
    }

    /// Call sites whose attributes may become false ([`attributes::find_calls_that_claim`]), as they were when this was
    /// first asked for. O(instructions) that time.
    pub(crate) fn calls_that_claim(&self) -> &[Inst] {
        let find = || attributes::find_calls_that_claim(&self.context_and_module().1);
        self.claiming.get_or_init(find)
    }
}

impl Drop for Parsed {
    fn drop(&mut self) {
        // SAFETY: it is owned, and nothing borrows it any more.
        unsafe { LLVMDisposeModule(self.module) };
    }
}
