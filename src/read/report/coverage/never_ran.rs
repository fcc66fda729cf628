//! The list of functions that never ran.

use super::{Coverage, file};
use crate::base::style::BOLD;
use crate::base::table::{Align, Columns, Layout, group_digits, number_of};
use crate::read::report::positions::base_name;
use crate::read::report::steps::Steps;

/// For people: how many they are, and each with its lines, its paths and where it begins.
pub(super) fn list_never_ran(coverage: &Coverage, steps: &Steps, layout: Layout) -> String {
    use Align::{Left, Right};
    let all = number_of(coverage.in_scope as u64, "function");
    let mut out = match coverage.never_ran {
        0 => return format!("0 of {all} never ran\n"),
        n => format!("{} of {all} never ran\n\n", group_digits(n as u64)),
    };
    let mut table = Columns::new([Right, Right, Left]);
    table.heading(BOLD, &["lines", "paths", "function"]);
    for row in &coverage.rows {
        let own = coverage.lines.functions.get(&row.f);
        let lines = own.map_or("–".into(), |own| group_digits(own.lines.feasible));
        let place = match coverage.profile.entry(row.f).find_start() {
            Some(loc) => format!(
                "  {}:{}",
                base_name(&file(coverage.profile, row.f)),
                loc.line
            ),
            None => format!("  {}", base_name(&file(coverage.profile, row.f))),
        };
        let cells = [lines, group_digits(row.paths.feasible)];
        table.add_named_row(cells, steps.name(row.f), place);
    }
    out += &table.render(layout);
    out
}
