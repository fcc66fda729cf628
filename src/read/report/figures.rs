//! What tables of functions have in common: their figures, and how many columns there is room for.

use super::Report;
use super::positions::join_positions;
use crate::base::index::FuncId;
use crate::base::table::{Layout, grouped, percent, roughly};

/// The name in a headline is not made narrower.
pub(super) const NARROWEST_NAME: usize = 8;
/// Narrower tables have a column less, and still narrower ones two.
pub(super) const WIDE: usize = 80;
const NARROW: usize = 56;

/// What the report is made up of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Functions, then paths.
    #[default]
    Both,
    /// Functions alone.
    Function,
    /// Source files.
    File,
    /// Loops.
    Loop,
    /// Paths alone.
    Path,
}

/// How many of `all` columns of numbers there is room for.
pub(super) fn columns_for(layout: Layout, all: usize) -> usize {
    match layout.width {
        0..NARROW => all - 2,
        NARROW..WIDE => all - 1,
        _ => all,
    }
}

/// The option that lists all `number` functions.
pub(super) fn option_for_all(by: By, number: usize) -> String {
    match by {
        By::Function => format!("--top {number}"),
        _ => "--by function".into(),
    }
}

/// What a row of the table has of function `f`: its share of instructions, calls, paths, possible paths.
pub(super) fn function_figures(report: &Report, f: FuncId) -> [String; 4] {
    let totals = report.by_function.get(&f).copied().unwrap_or_default();
    let at_least = if totals.is_partial { "≥" } else { "" };
    [
        percent(totals.instructions as f64 / report.total_instructions.max(1) as f64),
        format!("{at_least}{}", grouped(totals.calls)),
        grouped(totals.distinct as u64),
        roughly(totals.possible),
    ]
}

/// Where a function begins.
pub(super) fn function_place(report: &Report, f: FuncId) -> String {
    let place = report.profile.entry(f).begins();
    let place = place.map(|loc| {
        format!(
            "  {}",
            join_positions(&report.profile.manifest.files, &[loc])
        )
    });
    place.unwrap_or_default()
}
