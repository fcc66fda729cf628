//! `show` for people.

mod summary;

use super::figures::{
    By, NARROWEST_NAME, columns_for, function_place, function_table, option_for_all,
};
use super::loops;
use super::outside;
use super::steps::{self, Steps};
use super::threads;
use super::time;
use super::{Line, Report};
use crate::base::index::FuncId;
use crate::base::names::{Beside, escape_unprintable, fitted_among};
use crate::base::style::{BOLD, DIM, NAME};
use crate::base::table::{
    Align, Columns, Layout, cut, display_width, group_all_digits, group_digits, number_of, percent,
    plural,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use summary::summarise;

/// Without other wishes, so many functions come before the paths.
const FUNCTIONS: usize = 5;
/// Where steps stand below the headline of a path.
const INDENT: usize = 8;
/// The report; styled, for a stream that drops styles where they are not wanted.
pub fn render(report: &Report, by: By, layout: Layout) -> String {
    let steps = Steps::new(report.profile, &report.sources, layout.full);
    let mut out = summarise(report, &steps, layout);
    let top = report.lines.len();
    match by {
        By::Both => {
            out += &functions(report, &steps, FUNCTIONS, by, layout);
            out += &paths(report, &steps, layout);
        }
        By::Thread => {
            out += &threads::text(report, &steps, layout);
            out += &paths(report, &steps, layout);
        }
        By::Function => out += &functions(report, &steps, top, by, layout),
        By::File => out += &files(report, top, layout),
        By::Loop => out += &loops::text(report, &steps, top, layout),
        By::Path => out += &paths(report, &steps, layout),
    }
    out
}

/// The hottest paths, each with its steps below.
fn paths(report: &Report, steps: &Steps, layout: Layout) -> String {
    if report.lines.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{BOLD}hottest paths, by share of instructions{BOLD:#}\n");
    let count = |l: &Line| display_width(&group_digits(l.count));
    let counts = report.lines.iter().map(count).max().unwrap_or(0);
    let length = |l: &Line| display_width(&group_digits(l.instructions));
    let lengths = report.lines.iter().map(length).max().unwrap_or(0);
    let runs_at_least = |l: &Line| report.profile.runs_at_least(l.func, l.id);
    let is_any_least = report.lines.iter().any(runs_at_least);
    let numbers = |i: usize, line: &Line, time: &str| {
        let least = match (is_any_least, runs_at_least(line)) {
            (false, _) => "",
            (true, false) => "  ",
            (true, true) => "≥ ",
        };
        format!(
            "{:>2} {:>7}{time}  {least}{:>counts$} ×  {:>lengths$} {:<6}  ",
            i + 1,
            percent(report.instruction_share(line)),
            group_digits(line.count),
            group_digits(line.instructions),
            plural(line.instructions, "instr"),
        )
    };
    let times = time::expected_times(report, layout);
    let fits = |(i, line): (usize, &Line)| {
        time::least_width(&numbers(i, line, &times[i]), steps, line) <= layout.width
    };
    let times_fit = report.lines.iter().enumerate().all(fits);
    let rows = steps.rows_of_each(report.lines.iter().map(|line| (line, None)));
    for (i, line) in report.lines.iter().enumerate() {
        let time = if times_fit { &times[i] } else { "" };
        out += &headline(&numbers(i, line, time), steps, line, layout);
        if !times_fit && !times[i].is_empty() {
            let share = times[i].trim().trim_end_matches(" of time");
            let _ = writeln!(out, "{:INDENT$}{share} of time", "");
        }
        out += &threads::line_below(report, line, INDENT);
        for step in steps::text(&rows[i], layout, INDENT) {
            let _ = writeln!(out, "{DIM}{step}{DIM:#}");
        }
    }
    if report.lines.len() < report.distinct {
        let rest = group_all_digits((report.distinct - report.lines.len()) as u64);
        let all = report.distinct;
        let _ = writeln!(out, "{DIM}… and {rest} more (--top {all}){DIM:#}");
    }
    out
}

/// Numbers, the function's name, where the path begins, and its id at the right margin. Where that is too much for a
/// line, the function stands on one of its own below.
pub fn headline(numbers: &str, steps: &Steps, line: &Line, layout: Layout) -> String {
    let profile = steps.words().profile();
    let is_known = profile.is_known(line.func, line.id);
    let known = if is_known { "known " } else { "" };
    let (name, id) = (steps.name(line.func), format!("{known}#{}", line.id));
    let starts = [steps.start(line), steps.start_in_short(line)];
    let width = |start: &str, name: usize| name + display_width(start) + display_width(&id) + 1;
    let least = display_width(&name).min(NARROWEST_NAME);
    let room = layout.width.saturating_sub(display_width(numbers));
    let whole = [display_width(&name), least];
    let fitting = |room: usize| {
        let all = whole
            .iter()
            .flat_map(|n| starts.iter().map(move |start| (n, start)));
        let mut all = all.filter(|(n, start)| width(start, **n) <= room);
        all.next().map(|(_, start)| start)
    };
    if layout.full {
        return render_in_a_row(numbers, &name, steps, &starts[0], &id, layout);
    }
    if let Some(start) = fitting(room) {
        return render_in_a_row(numbers, &name, steps, start, &id, layout);
    }
    let numbers = cut(numbers.trim_end(), layout.width);
    let room = layout.width.saturating_sub(INDENT);
    let shortest = cut(&starts[1], room.saturating_sub(width("", least)));
    let start = fitting(room).unwrap_or(&shortest);
    let below = render_in_a_row(&" ".repeat(INDENT), &name, steps, start, &id, layout);
    format!("{numbers}\n{below}")
}

/// [`headline`], and the steps of the path below it.
pub fn headline_and_steps(numbers: &str, steps: &Steps, line: &Line, layout: Layout) -> String {
    let below = steps.lines(line, layout, 4).into_iter();
    let below: String = below.map(|step| step + "\n").collect();
    headline(numbers, steps, line, layout) + &below
}

/// How many items there are and what they are, over `shown`, which has the first `top` of them; `how` to see the
/// others.
pub(super) fn section(
    (number, noun): (usize, &str),
    what: &str,
    top: usize,
    how: &str,
    shown: &str,
) -> String {
    let heading = number_of(number as u64, noun);
    let mut out = format!("{BOLD}{heading} {what}{BOLD:#}\n{shown}");
    if number > top {
        let more = group_all_digits((number - top) as u64);
        let _ = writeln!(out, "  … and {more} more{how}");
    }
    out
}

/// Names of functions, one a line, of which the first `top` are shown; none is wider than the layout.
pub fn name_lines(names: &[String], top: usize, layout: Layout) -> String {
    let room = layout.width.saturating_sub(2);
    let beside = Beside::new(names.to_vec());
    let line = |name: &String| {
        let fit = if layout.full {
            name.clone()
        } else {
            beside.fit_name(name, room)
        };
        format!("  {fit}\n")
    };
    names.iter().take(top).map(line).collect()
}

fn render_in_a_row(
    numbers: &str,
    name: &str,
    steps: &Steps,
    start: &str,
    id: &str,
    layout: Layout,
) -> String {
    let taken: usize = [numbers, start, id].into_iter().map(display_width).sum();
    let room = layout.width.saturating_sub(taken + 1);
    let name = if layout.full {
        name.to_string()
    } else {
        let others = steps.function_names();
        fitted_among(name, others.iter().map(String::as_str), room)
    };
    let gap = " ".repeat(room.saturating_sub(display_width(&name)) + 1);
    format!("{numbers}{NAME}{name}{NAME:#}{start}{gap}{DIM}{id}{DIM:#}\n")
}

/// Functions by the instructions that were executed in them.
fn functions(report: &Report, steps: &Steps, top: usize, by: By, layout: Layout) -> String {
    if let Some(time) = &report.time {
        return time::functions(report, time, steps, top, by, layout);
    }
    let ran = |f: &&FuncId| report.by_function.contains_key(f);
    let mut functions: Vec<FuncId> = report.functions.iter().filter(ran).copied().collect();
    functions.sort_by_key(|f| (Reverse(report.by_function[f].instructions), *f));
    if functions.is_empty() {
        return String::new();
    }
    let columns = function_table(report, columns_for(layout, 4));
    let mut table = columns.begin_columns("function");
    for &f in functions.iter().take(top) {
        table.add_named_row(columns.cells(&f), steps.name(f), function_place(report, f));
    }
    if functions.len() > top {
        let more = number_of((functions.len() - top) as u64, "more function");
        let how = option_for_all(by, functions.len());
        table.add_text(0, DIM, format!("… and {more} ({how})"));
    }
    if let Some(left) = outside::sentence(report, steps) {
        table.add_text(0, DIM, left);
    }
    format!("\n{}", table.render(layout))
}

/// Source files by the instructions that were executed in functions that begin there.
fn files(report: &Report, top: usize, layout: Layout) -> String {
    use Align::{Left, Right};
    let mut files: BTreeMap<&str, (u128, usize)> = BTreeMap::new();
    for (f, totals) in &report.by_function {
        if !report.functions.contains(f) {
            continue;
        }
        let begins = report.profile.entry(*f).find_start();
        let file = begins.map(|l| report.profile.manifest.files[l.file as usize].as_str());
        let of = files
            .entry(file.unwrap_or("(no line numbers)"))
            .or_default();
        *of = (of.0 + totals.instructions, of.1 + 1);
    }
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|&(name, (instructions, _))| (Reverse(instructions), name));
    let mut table = Columns::new([Right, Right, Left]);
    table.heading(BOLD, &["share", "functions", "file"]);
    for (name, (instructions, functions)) in files.iter().take(top) {
        let share = *instructions as f64 / report.total_instructions.max(1) as f64;
        let cells = [percent(share), group_all_digits(*functions as u64)];
        table.file_list(cells, escape_unprintable(name).into_owned(), String::new());
    }
    format!("\n{}", table.render(layout))
}
