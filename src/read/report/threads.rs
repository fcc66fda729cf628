//! `show --by thread`: which threads ran what, and how evenly they shared it.

use super::figures::columns_for;
use super::steps::Steps;
use super::{Line, Report};
use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::base::rows::{Cell, Record, Table};
use crate::base::style::DIM;
use crate::base::table::{Layout, group_all_digits, number_of, percent};
use crate::paths::dag::PathStart;
use crate::profile::by_thread::{Row, Thread};
use crate::profile::measurement::PathProfile;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::HashMap;

/// A path's threads are named one by one up to this number.
const NAMED: usize = 4;

/// What the threads of a row ran.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadRow {
    /// Which they are.
    pub row: Row,
    /// What they are called.
    pub name: String,
    /// How many they are, one after the other.
    pub threads: u64,
    /// Whether some of them had another name, or none.
    pub has_others: bool,
    /// Executed paths.
    pub paths: u128,
    /// Executed instructions, as far as paths were completed.
    pub instructions: u128,
    /// Different paths.
    pub distinct: usize,
    /// The function in which they began: it was entered once for each of them more often than functions of the program
    /// called it. `None` where there is no such function, or more than one.
    pub began_in: Option<FuncId>,
}

/// What a path has that rows are added up from.
struct Weight {
    instructions: u64,
    begins: bool,
    /// Whom it calls, as often as it does.
    calls: Vec<FuncId>,
}

/// What a row ran, while it is added up.
#[derive(Default)]
struct Sum {
    paths: u128,
    instructions: u128,
    distinct: usize,
    /// By function: how often it was entered, and how often it was called by functions of the program.
    entered: HashMap<FuncId, u64>,
    called: HashMap<FuncId, u64>,
}

impl Sum {
    fn add(&mut self, f: FuncId, weight: &Weight, n: u64) {
        self.paths += u128::from(n);
        self.instructions += u128::from(n) * u128::from(weight.instructions);
        self.distinct += 1;
        if weight.begins {
            *self.entered.entry(f).or_default() += n;
        }
        for callee in &weight.calls {
            *self.called.entry(*callee).or_default() += n;
        }
    }

    fn join(mut self, other: Sum) -> Sum {
        self.paths += other.paths;
        self.instructions += other.instructions;
        self.distinct += other.distinct;
        for (f, n) in other.entered {
            *self.entered.entry(f).or_default() += n;
        }
        for (f, n) in other.called {
            *self.called.entry(f).or_default() += n;
        }
        self
    }

    /// The function in which so many threads began.
    fn began_in(&self, threads: u64) -> Option<FuncId> {
        let is_root = |(f, n): &(&FuncId, &u64)| {
            let called = self.called.get(f).copied().unwrap_or(0);
            n.checked_sub(called) == Some(threads)
        };
        let mut roots = self.entered.iter().filter(is_root).map(|(f, _)| *f);
        roots.next().filter(|_| roots.next().is_none())
    }
}

/// The rows of the profile, those with most instructions first; none where threads are not told apart.
/// O(total path length + counts of all rows).
///
/// # Errors
/// A damaged profile.
pub fn collect(paths: PathProfile) -> Result<Vec<ThreadRow>> {
    let profile = paths.profile();
    let rows = profile.thread_rows();
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let executed: Vec<FuncId> = profile.executed_functions().collect();
    let empty = || rows.iter().map(|_| Sum::default()).collect::<Vec<_>>();
    let of_each = executed
        .par_iter()
        .map(|f| split_function(paths, *f, rows.len()));
    let join = |a: Vec<Sum>, b: Vec<Sum>| a.into_iter().zip(b).map(|(a, b)| a.join(b)).collect();
    let mut sums: Vec<Sum> = of_each.try_reduce(empty, |a, b| Ok(join(a, b)))?;
    for (sum, thread) in sums[1..].iter_mut().zip(&profile.threads) {
        sum.entered.extend(&thread.entries);
    }
    let mut rows: Vec<ThreadRow> = rows
        .into_iter()
        .zip(sums)
        .map(|(row, sum)| ThreadRow {
            row,
            name: profile.thread_name(row),
            threads: profile.count_threads(row),
            has_others: matches!(row, Row::Other(i) if profile.threads[i].has_others),
            paths: sum.paths,
            instructions: sum.instructions,
            distinct: sum.distinct,
            began_in: sum.began_in(profile.count_threads(row)),
        })
        .collect();
    rows.sort_by_key(|row| (Reverse(row.instructions), row.row));
    Ok(rows)
}

/// What each row ran of function `f`.
fn split_function(paths: PathProfile, f: FuncId, rows: usize) -> Result<Vec<Sum>> {
    let profile = paths.profile();
    let structure = profile.structure(f)?;
    let mut sums: Vec<Sum> = (0..rows).map(|_| Sum::default()).collect();
    for &(id, count) in paths.counts(f) {
        let edges = profile.decode(f, &structure, id)?;
        let path = structure.paths.dag.path(&edges);
        let blocks = path.blocks.iter();
        let calls = |b| {
            let calls = profile.entry(f).calls.binary_search_by_key(b, |c| c.0);
            calls.map_or(&[][..], |i| &profile.entry(f).calls[i].1)
        };
        let weight = Weight {
            instructions: blocks
                .clone()
                .map(|b| u64::from(structure.cfg.block(*b).instructions))
                .sum(),
            begins: path.start == PathStart::Entry,
            calls: blocks.flat_map(calls).map(|(callee, _)| *callee).collect(),
        };
        let shares = split(paths, f, id, count);
        for (row, n) in shares {
            let sum = match row {
                Row::First => &mut sums[0],
                Row::Other(i) => &mut sums[i + 1],
            };
            sum.add(f, &weight, n);
        }
    }
    Ok(sums)
}

/// How often the threads of each row ran a path that ran `count` times: rows that did, the first threads' first.
fn split(paths: PathProfile, f: FuncId, id: PathId, count: u64) -> Vec<(Row, u64)> {
    let of_row = |(i, thread): (usize, &Thread)| {
        let counts = thread.counts.get(&f)?;
        let at = counts.binary_search_by_key(&id.0, |c| c.0).ok()?;
        Some((Row::Other(i), counts[at].1))
    };
    let others: Vec<_> = paths
        .threads
        .iter()
        .enumerate()
        .filter_map(of_row)
        .collect();
    let first = count - others.iter().map(|o| o.1).sum::<u64>();
    let first = (first > 0).then_some((Row::First, first));
    first.into_iter().chain(others).collect()
}

/// The columns of rows, of which text has the first `kept`.
fn table<'a>(report: &'a Report, kept: usize) -> Table<'a, ThreadRow> {
    let profile = report.profile;
    let all: u128 = report.threads.iter().map(|t| t.instructions).sum();
    let share = move |row: &ThreadRow| Cell::Share(row.instructions as f64 / all.max(1) as f64);
    Table::new()
        .csv_and_json("thread", |row: &ThreadRow| row.name.clone())
        .csv_and_json("threads", |row| row.threads)
        .csv_and_json("began_in", move |row| {
            row.began_in.map(|f| profile.entry(f).name.clone())
        })
        .csv_and_json("executed_paths", |row| row.paths)
        .csv_and_json("distinct_paths", |row| row.distinct)
        .csv_and_json("executed_instructions", |row| row.instructions)
        .csv_and_json("instruction_share", share)
        .text("share", share)
        .text("paths", |row| row.paths)
        .text("distinct", |row| row.distinct)
        .text("threads", |row| row.threads)
        .keep_text(kept)
}

/// The rows for people.
pub(super) fn text(report: &Report, steps: &Steps, layout: Layout) -> String {
    let columns = table(report, columns_for(layout, 4));
    let mut out = columns.begin_columns("thread");
    for row in &report.threads {
        let others = if row.has_others { " and others" } else { "" };
        let began = row
            .began_in
            .map(|f| format!("  began in {}", steps.name(f)));
        let name = format!("{}{others}", row.name);
        out.add_named_row(columns.cells(row), name, began.unwrap_or_default());
    }
    format!("\n{}", out.render(layout))
}

/// The rows for programs: empty where threads are not told apart.
pub(super) fn records(report: &Report) -> Vec<Record> {
    let table = table(report, 0);
    report.threads.iter().map(|row| table.record(row)).collect()
}

/// The rows as CSV.
pub fn csv(report: &Report) -> String {
    table(report, 0).to_csv(&report.threads)
}

/// Which of `rows` ran a path of function `f` that ran `count` times, by their places, and how often. O(rows).
pub(super) fn split_path(
    paths: PathProfile,
    rows: &[ThreadRow],
    f: FuncId,
    (id, count): (PathId, u64),
) -> Vec<(usize, u64)> {
    if rows.is_empty() {
        return Vec::new();
    }
    let shares: HashMap<Row, u64> = split(paths, f, id, count).into_iter().collect();
    let rows = rows.iter().enumerate();
    rows.filter_map(|(i, row)| Some((i, *shares.get(&row.row)?)))
        .collect()
}

/// Which threads ran the path of a line, by their places in [`records`], and how often.
pub(super) fn split_of_path(report: &Report, line: &Line) -> Vec<(usize, u64)> {
    let paths = report.profile.paths().expect("a report is of paths");
    split_path(paths, &report.threads, line.func, (line.id, line.count))
}

/// The sentence for people about that, without indent; empty where threads are not told apart.
fn describe_split(report: &Report, line: &Line) -> String {
    let mut shares = split_of_path(report, line);
    shares.sort_by_key(|&(i, n)| (Reverse(n), i));
    let share = |&(_, n): &(usize, u64)| percent(n as f64 / line.count.max(1) as f64);
    let name = |&(i, _): &(usize, u64)| report.threads[i].name.as_str();
    let (Some(most), Some(least)) = (shares.first(), shares.last()) else {
        return String::new();
    };
    if shares.len() == 1 {
        return format!("in {} alone", name(most));
    }
    if shares.len() <= NAMED {
        let each = shares.iter().map(|s| format!("{} {}", name(s), share(s)));
        return each.collect::<Vec<_>>().join(", ");
    }
    let (ran, all) = (
        group_all_digits(shares.len() as u64),
        number_of(report.threads.len() as u64, "thread"),
    );
    format!(
        "in {ran} of {all}: {} {} to {} {}",
        name(most),
        share(most),
        name(least),
        share(least)
    )
}

/// [`describe_split`] as a line below the headline of a path.
pub(super) fn line_below(report: &Report, line: &Line, indent: usize) -> String {
    let split = describe_split(report, line);
    if split.is_empty() {
        return split;
    }
    format!("{:indent$}{DIM}{split}{DIM:#}\n", "")
}
