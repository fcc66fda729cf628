//! Time beside instructions, where samples of a profiler are given.

use super::figures::{By, NARROWEST_NAME, WIDE, function_place, function_table, option_for_all};
use super::steps::Steps;
use super::{Line, Report};
use crate::base::index::FuncId;
use crate::base::names::escape_unprintable;
use crate::base::style::DIM;
use crate::base::table::{Columns, Layout, display_width, group_all_digits, number_of, percent};
use crate::read::analysis::samples::Amount;
use crate::read::analysis::samples::time::Time;
use std::cmp::Reverse;

impl Report<'_> {
    /// The share of all time that is expected of a path: the samples of its function, spread over the function's paths
    /// by executions times instructions. `None` without samples.
    pub fn expected_time(&self, line: &Line) -> Option<f64> {
        let time = self.time.as_ref()?;
        let all = self
            .by_function
            .get(&line.func)
            .map_or(0, |t| t.instructions);
        let own = line.count as f64 * line.instructions as f64;
        Some(time.share(time.amount_in(line.func)) * own / all.max(1) as f64)
    }
}

/// The time expected of each path, for its headline; empty without samples.
pub(super) fn expected_times(report: &Report, layout: Layout) -> Vec<String> {
    let unit = if layout.width < WIDE { "" } else { " of time" };
    let text = |line: &Line| {
        let share = report.expected_time(line);
        share.map_or(String::new(), |share| {
            format!("  {:>7}{unit}", format!("~{}", percent(share)))
        })
    };
    report.lines.iter().map(text).collect()
}

/// The columns that a headline takes at least, with the function's name shortened.
pub(super) fn least_width(numbers: &str, steps: &Steps, line: &Line) -> usize {
    let name = display_width(&steps.name(line.func)).min(NARROWEST_NAME);
    let id = format!("#{}", line.id);
    let rest = [numbers, &steps.start(line), &id];
    rest.map(display_width).iter().sum::<usize>() + name + 1
}

/// Functions by time, with instructions beside it, then code outside: shares of time add up to all of it.
pub(super) fn functions(
    report: &Report,
    time: &Time,
    steps: &Steps,
    top: usize,
    by: By,
    layout: Layout,
) -> String {
    let weight = |f: &FuncId| time.amount_in(*f).weight;
    let instructions = |f: &FuncId| report.by_function.get(f).map_or(0, |t| t.instructions);
    let shown = |f: &&FuncId| report.by_function.contains_key(f) || weight(f) > 0;
    let mut functions: Vec<FuncId> = report.functions.iter().filter(shown).copied().collect();
    functions.sort_by_key(|f| (Reverse(weight(f)), Reverse(instructions(f)), *f));
    // Possible paths are the widest column and the least of use here.
    let kept = if layout.width < WIDE { 3 } else { 5 };
    let columns = function_table(report, kept);
    let mut table = columns.begin_columns("function");
    for &f in functions.iter().take(top) {
        table.add_named_row(columns.cells(&f), steps.name(f), function_place(report, f));
    }
    let row = |table: &mut Columns, amount: Amount, name: String| {
        let mut cells = vec![String::new(); kept];
        cells[1] = percent(time.share(amount));
        table.add_named_row(cells, name, String::new());
    };
    if functions.len() > top {
        let rest = &functions[top..];
        let more = number_of(rest.len() as u64, "more function");
        let name = format!("… {more} ({})", option_for_all(by, functions.len()));
        row(
            &mut table,
            sum(rest.iter().map(|f| time.amount_in(*f))),
            name,
        );
    }
    let others = time.functions.iter();
    let others = others.filter(|(f, _)| report.functions.binary_search(f).is_err());
    let others = sum(others.map(|(_, amount)| *amount));
    if others.samples > 0 {
        row(&mut table, others, "… functions not selected".into());
    }
    let outside = &time.outside[..time.outside.len().min(top)];
    for (name, amount) in outside {
        let name = format!("outside: {}", escape_unprintable(name));
        row(&mut table, *amount, name);
    }
    let rest = &time.outside[outside.len()..];
    if !rest.is_empty() {
        let name = format!("outside: … {} more", group_all_digits(rest.len() as u64));
        row(&mut table, sum(rest.iter().map(|(_, a)| *a)), name);
    }
    let event = if time.event.is_empty() {
        String::new()
    } else {
        format!(" of {}", escape_unprintable(&time.event))
    };
    let samples = number_of(time.total.samples, "sample");
    let note = format!("time: {samples}{event}; outside: code that is not in the profile");
    table.add_text(0, DIM, note);
    format!("\n{}", table.render(layout))
}

fn sum(amounts: impl Iterator<Item = Amount>) -> Amount {
    amounts.fold(Amount::default(), |mut sum, amount| {
        sum.add(amount);
        sum
    })
}
