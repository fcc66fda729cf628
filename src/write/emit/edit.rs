//! The module that is edited.

use inkwell::context::Context;
use inkwell::module::Module;

/// A module that is edited, with the context that its types and constants are of.
#[derive(Clone, Copy)]
pub(crate) struct Edit<'a, 'ctx> {
    pub context: &'ctx Context,
    pub module: &'a Module<'ctx>,
}
