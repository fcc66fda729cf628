//! A look as text.

use super::{RowKind, View, WatchRow};
use crate::base::names::escape_unprintable;
use crate::base::style::{BOLD, DIM, WARN};
use crate::base::table::{
    Align, Columns, Layout, group_all_digits, group_digits, percent, wrap_words,
};
use std::fmt::Write;

/// The names of the columns.
pub(crate) fn heading(kind: RowKind) -> Vec<&'static str> {
    match kind {
        RowKind::Paths => vec![
            "count",
            "a second",
            "share",
            "blocks",
            "function, start and id",
        ],
        RowKind::Subpaths => vec!["count", "±", "a second", "share", "blocks", "subpath"],
        RowKind::Bursts => vec![
            "in bursts",
            "a second",
            "share",
            "±",
            "blocks",
            "function, start and id",
        ],
    }
}

/// What a row has in all columns but the last.
pub(crate) fn cells(kind: RowKind, row: &WatchRow) -> Vec<String> {
    let number = |n: f64| group_digits(n.round().max(0.0) as u128);
    let rate = row.rate.map_or_else(|| "–".into(), number);
    let (count, blocks) = (number(row.count), group_all_digits(row.blocks as u64));
    let share = percent(row.share);
    let error = row.error.unwrap_or(0.0);
    match kind {
        RowKind::Paths => vec![count, rate, share, blocks],
        RowKind::Subpaths => vec![
            count,
            group_digits(error.ceil() as u128),
            rate,
            share,
            blocks,
        ],
        RowKind::Bursts => vec![count, rate, share, percent(error), blocks],
    }
}

/// The view for people, as reports are printed.
pub(crate) fn text(view: &View, layout: Layout) -> String {
    let mut out = format!(
        "{BOLD}{}{BOLD:#}\n{}\n",
        escape_unprintable(&view.title),
        view.totals
    );
    if view.kind == RowKind::Subpaths {
        let _ = writeln!(
            out,
            "{DIM}counts are estimates: ± half of the 95 % interval{DIM:#}"
        );
    }
    for note in &view.notes {
        for line in wrap_words(&escape_unprintable(note), layout.width, 0).lines() {
            let _ = writeln!(out, "{WARN}{line}{WARN:#}");
        }
    }
    if !view.rows.is_empty() {
        let _ = write!(out, "\n{}", table(view).render(layout));
    }
    let more = view.distinct - view.rows.len();
    if more > 0 {
        let _ = writeln!(
            out,
            "{DIM}… and {} more{DIM:#}",
            group_all_digits(more as u64)
        );
    }
    out
}

fn table(view: &View) -> Columns {
    let heading = heading(view.kind);
    let mut aligns = vec![Align::Right; heading.len() - 1];
    aligns.push(Align::Left);
    let mut table = Columns::new(aligns);
    table.heading(BOLD, &heading);
    for row in &view.rows {
        table.add_named_row(cells(view.kind, row), row.name.clone(), row.rest.clone());
        for detail in &row.details {
            table.add_text(1, DIM, detail.clone());
        }
    }
    table
}
