//! Functions whose code is in others.

use super::Span;
use crate::base::names::is_closure;
use crate::input::load::positions::Inlined;
use std::collections::HashMap;

/// The functions that `inlined` calls are of, one for each call; closures, which have no name of their own, with their
/// first line among the positions of `code`, which is all code. O(code).
pub(crate) fn inlined_functions(
    inlined: &[Inlined],
    code: impl Iterator<Item = Span>,
) -> Vec<(&str, Option<u32>)> {
    let is_closure = |c: &Inlined| is_closure(&c.function);
    let closures: Vec<bool> = inlined.iter().map(is_closure).collect();
    let mut lines: HashMap<&str, u32> = HashMap::new();
    if closures.contains(&true) {
        for span in code.filter(|s| s.loc.line > 0) {
            if let Some(n) = span.inlined.filter(|n| closures[*n as usize]) {
                let function = inlined[n as usize].function.as_str();
                let first = lines.entry(function).or_insert(u32::MAX);
                *first = span.loc.line.min(*first);
            }
        }
    }
    let calls = inlined.iter().map(|call| call.function.as_str());
    calls
        .map(|function| (function, lines.get(function).copied()))
        .collect()
}
