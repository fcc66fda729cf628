//! `p3-prof accuracy` as text, JSON and CSV.

use crate::base::names::printed_name;
use crate::base::rows::{Cell, Table};
use crate::base::table::Layout;
use crate::read::analysis::accuracy::{Accuracy, FunctionAccuracy};

/// Of each function or of all: flow as text has it, the other figures as shares of it.
fn table<'a>() -> Table<'a, Accuracy> {
    let share = |part: u64, all: &Accuracy| {
        Cell::Figure(format!(
            "{:.1}%",
            part as f64 / all.flow.max(1) as f64 * 100.0
        ))
    };
    Table::new()
        .text_and_csv("flow", "paths", |a: &Accuracy| a.flow)
        .csv("right", |a| a.right)
        .text("right", move |a| share(a.right, a))
        .csv("overlap", |a| a.overlap)
        .text("overlap", move |a| share(a.overlap, a))
        .csv("definite", |a| a.definite)
        .text("definite", move |a| share(a.definite, a))
}

/// For programs.
pub fn json(rows: &[FunctionAccuracy], sum: &Accuracy) -> String {
    serde_json::json!({ "functions": rows, "program": sum }).to_string() + "\n"
}

/// One record for each function.
pub fn csv(rows: &[FunctionAccuracy]) -> String {
    Table::new()
        .csv("module", |r: &FunctionAccuracy| r.module.clone())
        .csv("function", |r| r.name.clone())
        .add_columns(table(), |r| r.accuracy)
        .to_csv(rows)
}

/// For people.
pub fn text(rows: &[FunctionAccuracy], sum: &Accuracy, layout: Layout) -> String {
    let table = table();
    let mut text = table.begin_columns("function");
    for r in rows {
        text.add_named_row(
            table.cells(&r.accuracy),
            printed_name(&r.name),
            String::new(),
        );
    }
    text.add_named_row(table.cells(sum), "all".into(), String::new());
    text.render(layout)
}
