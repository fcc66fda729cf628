//! What tables of functions have in common: their columns, and how many columns there is room for.

use super::Report;
use super::positions::join_positions;
use crate::base::index::FuncId;
use crate::base::rows::{Cell, Table};
use crate::base::table::{Layout, group_digits};

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
    /// Threads, then paths.
    Thread,
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

/// The columns of functions, of which text has the first `kept`.
pub(super) fn function_table<'a>(report: &'a Report, kept: usize) -> Table<'a, FuncId> {
    let totals = |f: &FuncId| report.by_function.get(f).copied().unwrap_or_default();
    let share = move |f: &FuncId| {
        let all = report.total_instructions.max(1) as f64;
        Cell::Share(totals(f).instructions as f64 / all)
    };
    let calls = move |f: &FuncId| {
        let at_least = if totals(f).is_partial { "≥" } else { "" };
        Cell::Figure(format!("{at_least}{}", group_digits(totals(f).calls)))
    };
    let mut table = Table::new()
        .json("executed_paths", move |f: &FuncId| totals(f).paths)
        .json("executed_instructions", move |f| totals(f).instructions);
    table = match &report.time {
        None => table.text("share", share),
        Some(time) => table
            .text("instrs", share)
            .text("time", |f| Cell::Share(time.share(time.amount_in(*f)))),
    };
    table
        .text("calls", calls)
        .text_and_json("distinct", "paths", move |f| totals(f).distinct)
        .text("possible", move |f| {
            Cell::Possible(totals(f).possible.into())
        })
        .keep_text(kept)
}

/// Where a function begins.
pub(super) fn function_place(report: &Report, f: FuncId) -> String {
    let place = report.profile.entry(f).find_start();
    let place = place.map(|loc| {
        format!(
            "  {}",
            join_positions(&report.profile.manifest.files, &[loc])
        )
    });
    place.unwrap_or_default()
}
