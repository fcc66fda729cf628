//! What each thread counted, in programs of one copy whose threads have counters of their own.
//!
//! The first threads of all processes are one row, which is not stored: it has what no other row has. Other threads are
//! known by the name that they took, or by the number of the shift at which they counted
//! (`runtime-c/core/p3_shift.c`). What has one name or number in several processes is one row.

use super::decode::{CountProblem, decode_edges, decode_paths};
use super::measurement::{Exact, ExactCounts, Measurement};
use super::raw::{Raw, RawFunction, ThreadName};
use super::{Profile, Structure};
use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, EdgeId, FuncId, PathId};
use crate::base::names::{escape_unprintable, first_names};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A note names so many threads.
const NAMED: usize = 4;

/// Which threads a row is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// Those that took this name; of several with it at once, each has a number, from 1 on.
    Named(String, u32),
    /// Those that took none, by the number of their shift.
    Numbered(u32),
}

/// By function: canonical ids and counts.
pub type CanonicalCounts = BTreeMap<FuncId, Vec<(u64, u64)>>;

/// What some threads counted: those that were one after the other, in whatever process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// Which they are.
    pub who: Who,
    /// How many they are.
    pub threads: u64,
    /// Whether some of them had another name, or none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_others: bool,
    /// Canonical ids, of paths or of counted edges, ascending, and counts, none of them zero; no function is empty.
    pub counts: CanonicalCounts,
    /// How often functions were entered that count it.
    pub entries: BTreeMap<FuncId, u64>,
}

/// What one copy counted for a row, under its own ids.
#[derive(Default)]
pub(super) struct Counted {
    threads: u64,
    has_others: bool,
    counts: BTreeMap<FuncId, BTreeMap<u64, u64>>,
    entries: BTreeMap<FuncId, u64>,
}

/// By row.
pub(super) type CountedByThread = BTreeMap<Who, Counted>;

/// Moves what threads but the first counted out of `raw`, and adds it to `rows`. Threads that counted nothing are in no
/// row. `None`: a count overflows.
pub(super) fn take_counts(raw: &mut Raw, rows: &mut CountedByThread) -> Option<()> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for (shift, functions) in std::mem::take(&mut raw.shifts) {
        let name = raw.names.get(&shift);
        // In the file of a pool, others may have counted where the first thread of a forked child did.
        let is_first = match name {
            Some(name) => name.is_first && (name.threads == 0 || shift == 0),
            None => shift == 0,
        };
        if is_first {
            continue;
        }
        let who = find_who(shift, name, &mut seen);
        if functions.values().all(counts_nothing) {
            continue;
        }
        let row = rows.entry(who).or_default();
        row.threads += name.map_or(1, |n| u64::from(n.threads.max(1)));
        row.has_others |= name.is_some_and(|n| n.has_others || n.is_first);
        for (f, counted) in functions {
            row.add(f, counted)?;
        }
    }
    Some(())
}

fn counts_nothing(counted: &RawFunction) -> bool {
    counted.counts.is_empty() && counted.entries.is_none_or(|n| n == 0)
}

fn find_who(shift: u32, name: Option<&ThreadName>, seen: &mut BTreeMap<String, u32>) -> Who {
    let text = name.map(|n| String::from_utf8_lossy(&n.name).into_owned());
    match text.filter(|t| !t.is_empty()) {
        None => Who::Numbered(shift),
        Some(text) => {
            let number = seen.entry(text.clone()).or_default();
            *number += 1;
            Who::Named(text, *number)
        }
    }
}

impl Counted {
    fn add(&mut self, f: FuncId, counted: RawFunction) -> Option<()> {
        if !counted.counts.is_empty() {
            let to = self.counts.entry(f).or_default();
            for (id, n) in counted.counts {
                add_to(to.entry(id).or_default(), n)?;
            }
        }
        if let Some(n) = counted.entries.filter(|n| *n > 0) {
            add_to(self.entries.entry(f).or_default(), n)?;
        }
        Some(())
    }
}

fn add_to(to: &mut u64, n: u64) -> Option<()> {
    *to = to.checked_add(n)?;
    Some(())
}

/// The rows of the only copy of `profile`, whose measurement is known. O(total path length).
///
/// # Errors
/// Ids that belong to no path or edge.
pub(super) fn decode(profile: &Profile, rows: CountedByThread) -> Result<Vec<Thread>> {
    let mut functions: Vec<FuncId> = rows
        .values()
        .flat_map(|r| r.counts.keys().copied())
        .collect();
    functions.sort_unstable();
    functions.dedup();
    let decoded = functions.into_par_iter().map(|f| {
        let of_f = rows
            .iter()
            .filter_map(|(who, row)| Some((who, row.counts.get(&f)?)));
        let decoded = decode_function(profile, f, of_f.collect());
        let decoded = decoded.map_err(|problem| {
            let problem = format!("{}: {problem}", profile.name(f));
            Error::profile(&profile.path, problem, "run the program again")
        });
        decoded.map(|decoded| (f, decoded))
    });
    let decoded: Vec<_> = decoded.collect::<Result<_>>()?;
    let mut counts: BTreeMap<&Who, CanonicalCounts> = BTreeMap::new();
    for (f, rows) in decoded {
        for (who, of_f) in rows {
            if !of_f.is_empty() {
                counts.entry(who).or_default().insert(f, of_f);
            }
        }
    }
    let thread = |(who, row): (&Who, &Counted)| Thread {
        who: who.clone(),
        threads: row.threads,
        has_others: row.has_others,
        counts: counts.remove(who).unwrap_or_default(),
        entries: row.entries.clone(),
    };
    Ok(rows.iter().map(thread).collect())
}

/// What a row counted of one function, by canonical ids.
type Decoded<'a> = Vec<(&'a Who, Vec<(u64, u64)>)>;

fn decode_function<'a>(
    profile: &Profile,
    f: FuncId,
    rows: Vec<(&'a Who, &BTreeMap<u64, u64>)>,
) -> Result<Decoded<'a>, CountProblem> {
    let entry = profile.entry(f);
    let structure = Structure::new(entry)?;
    let share = entry.share(&structure.cfg, &structure.paths)?;
    let copy = CopyId(0);
    let edges = match profile.measured {
        Measurement::Exact(Exact::Edges(_)) => {
            Some(entry.counted_edges(structure.paths.dag.edges().len())?)
        }
        _ => None,
    };
    let decode = |ids: &BTreeMap<u64, u64>| -> Result<Vec<(u64, u64)>, CountProblem> {
        if let Some(counted) = &edges {
            let edges = decode_edges(counted, &share, copy, ids)?;
            return Ok(edges
                .into_iter()
                .map(|(e, n)| (u64::from(e.0), n))
                .collect());
        }
        let paths = decode_paths(&structure, &share, copy, ids)?;
        Ok(paths.into_iter().map(|(id, n)| (id.0, n)).collect())
    };
    let rows = rows.into_iter().map(|(who, ids)| Ok((who, decode(ids)?)));
    rows.collect()
}

/// Adds rows of another profile of the same program. `None`: a count overflows.
pub(super) fn add_rows(sum: &mut Vec<Thread>, part: &[Thread]) -> Option<()> {
    for from in part {
        let Some(to) = sum.iter_mut().find(|t| t.who == from.who) else {
            sum.push(from.clone());
            continue;
        };
        to.threads = to.threads.checked_add(from.threads)?;
        to.has_others |= from.has_others;
        for (f, ids) in &from.counts {
            let of_f = to.counts.entry(*f).or_default();
            let mut all: BTreeMap<u64, u64> = of_f.iter().copied().collect();
            for (id, n) in ids {
                add_to(all.entry(*id).or_default(), *n)?;
            }
            *of_f = all.into_iter().collect();
        }
        for (f, n) in &from.entries {
            add_to(to.entries.entry(*f).or_default(), *n)?;
        }
    }
    sum.sort_by(|a, b| a.who.cmp(&b.who));
    Some(())
}

/// A row for reports: the first threads of all processes, or other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Row {
    /// The first threads.
    First,
    /// Those at this place of [`Profile::threads`].
    Other(usize),
}

impl Profile {
    /// The rows, the first threads' first; empty where threads are not told apart.
    pub fn thread_rows(&self) -> Vec<Row> {
        let others = (0..self.threads.len()).map(Row::Other);
        let first = (!self.threads.is_empty()).then_some(Row::First);
        first.into_iter().chain(others).collect()
    }

    /// How many threads the row is of.
    pub fn count_threads(&self, row: Row) -> u64 {
        match row {
            Row::First => self.processes.iter().map(|p| u64::from(p.total())).sum(),
            Row::Other(i) => self.threads[i].threads,
        }
    }

    /// What the threads of the row are called: `main`, their name, with a number where several had it at once, or
    /// `thread` and a number.
    pub fn thread_name(&self, row: Row) -> String {
        let Row::Other(i) = row else {
            return "main".into();
        };
        match &self.threads[i].who {
            Who::Numbered(n) => format!("thread {n}"),
            Who::Named(name, number) => {
                let named = |t: &&Thread| matches!(&t.who, Who::Named(n, _) if n == name);
                let is_only = name != "main" && self.threads.iter().filter(named).count() == 1;
                let number = if is_only {
                    String::new()
                } else {
                    format!(" #{number}")
                };
                format!("{}{number}", escape_unprintable(name))
            }
        }
    }

    /// The rows that `name` names: one as it is printed, or all threads of a name.
    ///
    /// # Errors
    /// A profile that does not tell threads apart, and one without such threads.
    pub fn find_threads(&self, name: &str) -> Result<Vec<Row>> {
        let rows = self.thread_rows();
        if rows.is_empty() {
            return Err(self.no_threads());
        }
        let is_exact = |row: &&Row| self.thread_name(**row) == name;
        if let Some(row) = rows.iter().find(is_exact) {
            return Ok(vec![*row]);
        }
        let is_named = |row: &Row| match row {
            Row::First => false,
            Row::Other(i) => matches!(&self.threads[*i].who, Who::Named(n, _) if n == name),
        };
        let named: Vec<Row> = rows.iter().copied().filter(is_named).collect();
        if named.is_empty() {
            let problem = format!("no thread of it is called {}", escape_unprintable(name));
            let remedy = "p3-prof show --by thread lists them";
            return Err(Error::profile(&self.path, problem, remedy));
        }
        Ok(named)
    }

    /// The error for a profile that does not tell threads apart.
    pub fn no_threads(&self) -> Error {
        let (problem, remedy) = if self.manifest.copies > 1 {
            let problem = "threads are told apart where one copy counts everything";
            (problem, "rewrite with -k 1, run and merge again")
        } else {
            let problem = "it has counts of one thread, or of threads that count in one place";
            let remedy = "threads have counters of their own by --update thread (docs/THREADS.md)";
            (problem, remedy)
        };
        Error::profile(&self.path, problem, remedy)
    }

    /// What threads of these rows counted, as a profile: everything else is as in this one.
    pub fn keep_threads(&self, rows: &[Row]) -> Profile {
        let has_first = rows.contains(&Row::First);
        // Of the first threads it is known what others did not count.
        let is_counted = |i: usize| rows.contains(&Row::Other(i)) != has_first;
        let counted = self.threads.iter().enumerate();
        let counted: Vec<&Thread> = counted
            .filter(|(i, _)| is_counted(*i))
            .map(|c| c.1)
            .collect();
        let mut view = Profile {
            threads: Vec::new(),
            ..self.clone()
        };
        let names = rows.iter().map(|row| self.thread_name(*row));
        let note = format!("counts are those of {} alone", first_names(NAMED, names));
        view.verdict.notes.insert(0, note);
        match &mut view.measured {
            Measurement::Exact(Exact::Paths(all)) => {
                keep_counts(all, &counted, has_first, PathId);
            }
            Measurement::Exact(Exact::Edges(all)) => keep_counts(all, &counted, has_first, |id| {
                EdgeId(u32::try_from(id).expect("checked when it was read"))
            }),
            Measurement::Estimated(_) => {}
        }
        for (f, all) in view.entries.iter_mut_enumerated() {
            if let Some(all) = all {
                let sum = counted
                    .iter()
                    .filter_map(|t| t.entries.get(&f))
                    .sum::<u64>();
                *all = if has_first {
                    all.saturating_sub(sum)
                } else {
                    sum
                };
            }
        }
        view
    }
}

/// Leaves in `all` what `threads` counted, or all but that.
fn keep_counts<Id: Copy + Ord>(
    all: &mut ExactCounts<Id>,
    threads: &[&Thread],
    all_but: bool,
    id: impl Fn(u64) -> Id,
) {
    for (f, of_f) in all.iter_mut_enumerated() {
        let mut sums: BTreeMap<Id, u64> = BTreeMap::new();
        for (n, count) in threads.iter().filter_map(|t| t.counts.get(&f)).flatten() {
            let sum = sums.entry(id(*n)).or_default();
            *sum = sum.saturating_add(*count);
        }
        if all_but {
            for (id, n) in of_f.iter_mut() {
                *n = n.saturating_sub(sums.get(id).copied().unwrap_or(0));
            }
            of_f.retain(|(_, n)| *n > 0);
        } else {
            *of_f = sums.into_iter().collect();
        }
    }
}

/// Whether the rows can be of a profile: no thread counted what was not counted. O(counts).
pub(super) fn are_possible(profile: &Profile) -> bool {
    let mut left: BTreeMap<(FuncId, u64), u64> = BTreeMap::new();
    let mut give = |f: FuncId, id: u64, n: u64| {
        left.insert((f, id), n);
    };
    if profile.threads.is_empty() {
        return true;
    }
    match &profile.measured {
        Measurement::Exact(Exact::Paths(counts)) => {
            for (f, of_f) in counts.iter_enumerated() {
                of_f.iter().for_each(|(id, n)| give(f, id.0, *n));
            }
        }
        Measurement::Exact(Exact::Edges(counts)) => {
            for (f, of_f) in counts.iter_enumerated() {
                of_f.iter().for_each(|(id, n)| give(f, u64::from(id.0), *n));
            }
        }
        Measurement::Estimated(_) => return false,
    }
    let mut is_possible = |f: FuncId, id: u64, n: u64| {
        let rest = left.get_mut(&(f, id));
        rest.is_some_and(|rest| rest.checked_sub(n).map(|less| *rest = less).is_some())
    };
    let counts = profile.threads.iter().flat_map(|t| &t.counts);
    let mut counts = counts.flat_map(|(f, ids)| ids.iter().map(|(id, n)| (*f, *id, *n)));
    let are_counted = counts.all(|(f, id, n)| n > 0 && is_possible(f, id, n));
    let is_function = |f: &FuncId| f.index() < profile.manifest.functions.len();
    are_counted
        && profile
            .threads
            .iter()
            .all(|t| t.entries.keys().all(is_function))
}
