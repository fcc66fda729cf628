//! Bitcode read without the bodies of its functions.
#![allow(unsafe_code)]

use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// Parses bitcode without the bodies of its functions, which stay to be read. `None` when LLVM
/// cannot read it.
pub(in crate::emit) fn parse_lazily<'ctx>(
    context: &'ctx Context,
    bytes: &[u8],
) -> Option<Module<'ctx>> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, "");
    let mut module = std::ptr::null_mut();
    // SAFETY: the buffer is live. It becomes the module's where that succeeds, and stays ours where
    // it does not. Errors go to the context's handler: the default one ends the process.
    unsafe {
        let (raw, memory) = (context.as_ctx_ref(), buffer.as_mut_ptr());
        if LLVMGetBitcodeModuleInContext2(raw, memory, &mut module) != 0 {
            return None;
        }
        std::mem::forget(buffer);
        Some(Module::new(module))
    }
}
