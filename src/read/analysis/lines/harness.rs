//! Functions that rustc adds to run tests: a closure around each `#[test]` function, at the lines of that function, and
//! the `main` of the test program, at line 1 of the crate. They are no code of the source.

use crate::base::index::FuncId;
use crate::profile::Profile;
use std::collections::HashSet;

/// The functions of the library `test` that only such functions call, as any kind of symbol has them.
const CALLED: [&str; 3] = [
    "4test18assert_test_result",
    "4test16test_main_static",
    "4test22test_main_static_abort",
];

/// The functions of a program that rustc added to run tests.
pub struct Harness<'a> {
    profile: &'a Profile,
    symbols: HashSet<&'a str>,
}

impl<'a> Harness<'a> {
    /// Finds them by whom they call, inlined or not. O(calls), and O(positions × depth of inlining) where there are
    /// any.
    pub fn find(profile: &'a Profile) -> Harness<'a> {
        let manifest = &profile.manifest;
        let is_called = |symbol: &str| CALLED.iter().any(|called| symbol.contains(called));
        let mut harness = Harness {
            profile,
            symbols: HashSet::new(),
        };
        let calls = manifest.inlined.iter().filter(|c| is_called(&c.function));
        let around = calls.filter_map(|call| call.within);
        let around = around.map(|n| manifest.inlined[n as usize].function.as_str());
        harness.symbols.extend(around);
        let has_outermost = manifest.inlined.iter();
        let has_outermost = has_outermost
            .filter(|c| c.within.is_none())
            .any(|c| is_called(&c.function));
        for (f, entry) in manifest.functions.iter_enumerated() {
            let mut outside = manifest.outside_calls(entry);
            if outside.any(|(_, name)| is_called(name)) {
                harness.symbols.insert(&entry.name);
            }
            for (block, calls) in &entry.calls {
                let wanted = |(to, _): &&(FuncId, u32)| is_called(&manifest.functions[*to].name);
                for (_, span) in calls.iter().filter(wanted) {
                    let span = entry.spans(*block).nth(*span as usize);
                    let caller = harness.symbol_at(f, span.and_then(|s| s.inlined));
                    harness.symbols.insert(caller);
                }
            }
            let spans = entry.succs.keys().flat_map(|b| entry.spans(b));
            let mut outermost = spans.filter_map(|s| manifest.calls_around(s.inlined).last());
            if has_outermost && outermost.any(|n| is_called(&manifest.inlined[n as usize].function))
            {
                harness.symbols.insert(&entry.name);
            }
        }
        harness
    }

    /// Whether rustc added function `f`.
    pub fn contains_function(&self, f: FuncId) -> bool {
        self.has_code_at(f, None)
    }

    /// Whether rustc added the function of a symbol.
    pub(super) fn has_symbol(&self, symbol: &str) -> bool {
        self.symbols.contains(symbol)
    }

    /// Whether code of function `f` in the inlined call `inlined`, or in the function itself, is of a function that
    /// rustc added.
    pub(super) fn has_code_at(&self, f: FuncId, inlined: Option<u32>) -> bool {
        !self.symbols.is_empty() && self.has_symbol(self.symbol_at(f, inlined))
    }

    fn symbol_at(&self, f: FuncId, inlined: Option<u32>) -> &'a str {
        let manifest = &self.profile.manifest;
        match inlined {
            Some(n) => &manifest.inlined[n as usize].function,
            None => &manifest.functions[f].name,
        }
    }
}
