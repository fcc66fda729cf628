//! Modules read by llvm-ir; what it does not show LLVM has shown when they were admitted. llvm-ir supports no LLVM
//! after 19.

use crate::base::error::Result;
use crate::input::ir::FORBIDDING_ATTRIBUTES;
use crate::input::ir::SkipReason;
use crate::input::ir::lower::{LoadOptions, Lowered, by_llvm_ir};
use crate::input::load::positions::Positions;
use crate::input::load::{Admitted, Input};

/// Whether llvm-ir can represent a module.
///
/// # Errors
/// Input that LLVM cannot read.
pub fn llvm_ir_suffices(input: &Input) -> Result<bool> {
    Ok(by_llvm_ir(input, &Positions::default(), &[], &LoadOptions::default())?.is_some())
}

/// A module, lowered; `None` where llvm-ir cannot represent it.
pub(super) fn lower_module(input: &Admitted, options: &LoadOptions) -> Result<Option<Lowered>> {
    let why = |name: &str| {
        FORBIDDING_ATTRIBUTES
            .iter()
            .find(|(n, _)| *n == name)
            .map(|a| a.1)
    };
    let forbidden = input.forbidden.iter();
    let skip: Vec<Option<SkipReason>> = forbidden.map(|name| why((*name)?)).collect();
    by_llvm_ir(input, &input.positions, &skip, options)
}
