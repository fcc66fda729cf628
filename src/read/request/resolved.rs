//! What was asked for of a program, and why it cannot be had.

use super::spec::Spec;
use super::target::{Target, TargetFunction};
use crate::base::error::Error;
use crate::base::index::{FuncId, TiVec, ti_vec};
use crate::base::names::{TypedNames, escape_unprintable, nearest_names};
use crate::copies::selection::{Selection, Selections};

/// What was asked for of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    /// By function; nothing where one is skipped.
    pub selections: Selections,
    /// What the user should know, a line each: functions that changed since a profile, files of a diff that are
    /// elsewhere.
    pub notes: Vec<String>,
    /// Why a specification selects nothing, a line each.
    pub empty: Vec<String>,
}

impl Resolved {
    /// A selection of nothing, of so many functions.
    pub(crate) fn empty(functions: usize) -> Resolved {
        Resolved {
            selections: ti_vec![Selection::Nothing; functions],
            notes: Vec::new(),
            empty: Vec::new(),
        }
    }

    /// How many paths of each function are selected. O(V + E).
    pub(crate) fn numbers(&self, target: &Target) -> TiVec<FuncId, u64> {
        let number = |(selection, f): (&Selection, &TargetFunction)| {
            let paths = f.paths.as_deref();
            paths.map_or(0, |paths| selection.number(paths))
        };
        self.selections
            .iter()
            .zip(&target.functions)
            .map(number)
            .collect()
    }

    /// Whether no function has a selected path.
    pub(crate) fn is_empty(&self, target: &Target) -> bool {
        self.numbers(target).iter().all(|n| *n == 0)
    }

    /// Selects more of a function that is not skipped.
    pub(super) fn add(&mut self, target: &Target, f: FuncId, more: Selection) {
        let Some(paths) = target.functions[f].paths.as_deref() else {
            return;
        };
        let before = std::mem::replace(&mut self.selections[f], Selection::Nothing);
        self.selections[f] = before.union(more, paths);
    }
}

/// Why no function of this name can be selected, and what to do.
pub(super) fn no_function(target: &Target, names: &TypedNames, name: &str) -> String {
    let is_meant = |symbol: &str| names.find_naming(name, symbol).is_some();
    let mut functions = target.functions.iter();
    let skipped = functions.find_map(|f| f.skip.filter(|_| is_meant(f.name)));
    let mut inlined = target.inlined.iter();
    let is_inlined = inlined.any(|call| is_meant(&call.function));
    let plain = name.split('(').next().unwrap_or(name);
    let name = escape_unprintable(name);
    if let Some(reason) = skipped {
        return format!("{name} is skipped: {reason}; no path of it can be selected");
    }
    if is_inlined {
        return format!("{name} was inlined everywhere; -fno-inline keeps it, or give its lines");
    }
    let symbols: Vec<&str> = target.functions.iter().map(|f| f.name).collect();
    // C functions have no parameters in their names.
    let mut nearest = nearest_names(&name, &symbols);
    if nearest.is_empty() {
        nearest = nearest_names(plain, &symbols);
    }
    if nearest.is_empty() {
        return format!("the program has no function {name}; p3-prof show lists functions");
    }
    format!(
        "the program has no function {name}; nearest: {}",
        nearest.join(", ")
    )
}

/// The error for a specification that cannot be met.
pub(super) fn refusal(spec: &Spec, problem: &str) -> Error {
    Error::Usage(format!("--paths {spec}: {problem}"))
}
