//! The engine with LLVM 22, which `p3-rewrite` becomes.

use std::process::ExitCode;

/// Loader and LLVM allocate millions of small objects on several threads: this allocator, which
/// takes the place of malloc in the whole process, is faster at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    p3_rewrite::cli::engine::main()
}
