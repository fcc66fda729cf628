//! Calls that left for code that was not profiled.

use super::Report;
use super::steps::Steps;
use crate::base::index::{BlockId, FuncId, TiSlice};
use crate::base::table::{group_all_digits, number_of};
use crate::profile::Profile;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// So many functions outside are named.
const NAMED: usize = 5;

/// How often one function called code that was not profiled, on paths that were completed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    /// By symbol.
    by_symbol: BTreeMap<String, u128>,
    /// Calls through pointers, which may lead anywhere.
    indirect: u128,
}

impl Calls {
    /// Those of function `f`, whose blocks ran so often. `None` where the manifest does not list calls of functions
    /// outside. O(calls in the function).
    pub(super) fn new(
        profile: &Profile,
        f: FuncId,
        blocks: &TiSlice<BlockId, u64>,
    ) -> Option<Calls> {
        let symbols = profile.manifest.outside.as_ref()?;
        let entry = profile.entry(f);
        let mut calls = Calls::default();
        let mut add = |symbol: &str, n: u64| {
            if n > 0 {
                *calls.by_symbol.entry(symbol.to_string()).or_default() += u128::from(n);
            }
        };
        for (b, callees) in &entry.outside {
            for &callee in callees.iter().filter(|c| **c > 0) {
                add(&symbols[callee as usize - 1], blocks[*b]);
            }
        }
        for (b, callees) in &entry.calls {
            let skipped = callees
                .iter()
                .filter(|(f, _)| profile.entry(*f).status.is_skipped());
            for (callee, _) in skipped {
                add(&profile.entry(*callee).name, blocks[*b]);
            }
        }
        let pointers = |(b, callees): &(BlockId, Vec<u32>)| {
            let n = callees.iter().filter(|c| **c == 0).count() as u128;
            n * u128::from(blocks[*b])
        };
        calls.indirect = entry.outside.iter().map(pointers).sum();
        Some(calls)
    }

    fn add(&mut self, other: &Calls) {
        for (symbol, n) in &other.by_symbol {
            *self.by_symbol.entry(symbol.clone()).or_default() += n;
        }
        self.indirect += other.indirect;
    }
}

/// A sentence on how many calls of the selected functions left, and to which functions most. `None` if none did, or if
/// nothing is known of them.
pub(super) fn sentence(report: &Report, steps: &Steps) -> Option<String> {
    let mut all = Calls::default();
    let (mut is_partial, mut again) = (false, false);
    for f in &report.functions {
        if let Some(calls) = report.calls.get(f) {
            all.add(calls);
            let totals = report.by_function.get(f);
            let totals = totals.filter(|_| !calls.by_symbol.is_empty());
            is_partial |= totals.is_some_and(|t| t.is_partial);
            again |= totals.is_some_and(|t| t.again);
        }
    }
    let bound = if is_partial && !again {
        "at least "
    } else {
        ""
    };
    let twice = if again {
        " (those before a setjmp that returned again may be counted twice)"
    } else {
        ""
    };
    let manifest = &report.profile.manifest;
    // Several programs in one profile: what is outside of one may be a function of another.
    let profiled = manifest.functions.iter().filter(|f| !f.status.is_skipped());
    let profiled: HashSet<&str> = profiled.map(|f| f.name.as_str()).collect();
    all.by_symbol
        .retain(|symbol, _| !profiled.contains(symbol.as_str()));
    let total: u128 = all.by_symbol.values().sum();
    let pointers = match all.indirect {
        0 => String::new(),
        1 => "; 1 more call went through a pointer".into(),
        n => format!("; {} more calls went through pointers", group_all_digits(n)),
    };
    if total == 0 {
        return None;
    }
    // Several symbols may have one short name.
    let mut by_name: BTreeMap<String, u128> = BTreeMap::new();
    for (symbol, n) in &all.by_symbol {
        *by_name.entry(steps.name_of(symbol)).or_default() += n;
    }
    let mut names: Vec<(String, u128)> = by_name.into_iter().collect();
    names.sort_by_key(|(_, n)| Reverse(*n));
    let named = names.iter().take(NAMED);
    let named = named.map(|(name, n)| format!("{name} {}", group_all_digits(*n)));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {}", number_of(n as u64, "more function")),
    };
    let s = if total == 1 { "" } else { "s" };
    let total = group_all_digits(total);
    Some(format!(
        "{bound}{total} call{s} left for code that was not profiled{twice}: {named}{more}{pointers}"
    ))
}
