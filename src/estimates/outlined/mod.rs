//! Functions beside others, which go on with their activations: what samples and shadows have in common.

#[cfg(feature = "llvm")]
pub(crate) mod emit;
pub(crate) mod plan;
