//! What a merge finds out about its profile and keeps in it: whether the counts can be relied on.
//!
//! A profile is `ok`; or `incomplete`, when counts are missing or begin or end in the middle of functions; or
//! it has `violations`: counts that cannot be of copies that ran alike. What cannot be checked is not a
//! violation.

use super::Profile;
use super::flow::flow;
use super::forks::find_unnoticed;
use super::left::Executed;
use super::measurement::{Exact, Measurement};
use super::raw::Threads;
use super::under_way::UnderWay;
use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, FuncId, TiSlice};
use crate::base::names::{NAMED_FUNCTIONS, first_names, printed_name};
use crate::base::table::{group_digits, number_of, percent};
use crate::input::ir::threads::Starter;
use crate::profile::manifest::Manifest;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Which profiles a command takes (`--strict`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Every one; the command repeats the verdict.
    #[default]
    Every,
    /// Only those whose verdict is ok.
    Sound,
}

impl Trust {
    /// What `--strict`, given or not, stands for.
    pub fn strict(given: bool) -> Trust {
        if given { Trust::Sound } else { Trust::Every }
    }

    /// Reads the profile `path`.
    ///
    /// # Errors
    /// Those of [`Profile::read`] and [`Trust::check`].
    pub fn read(self, path: &Path) -> Result<Profile> {
        let profile = Profile::read(path)?;
        self.check(&profile, path)?;
        Ok(profile)
    }

    /// Whether a command takes `profile`, which is (or is to be) `path`.
    ///
    /// # Errors
    /// [`Error::Verdict`], where it does not.
    pub fn check(self, profile: &Profile, path: &Path) -> Result<()> {
        match (self, profile.problem_line()) {
            (Trust::Sound, Some(verdict)) => Err(Error::Verdict {
                path: path.to_path_buf(),
                verdict,
            }),
            _ => Ok(()),
        }
    }
}

/// The processes of one copy whose raw profiles are in a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processes {
    /// Those that were started: one for each run of the copy.
    pub runs: u32,
    /// Forked children, which leave functions that they never entered.
    pub children: u32,
    /// How many of both did not end normally: complete up to that moment.
    pub cut_short: u32,
    /// Of those that are cut short, how many ended normally while threads of theirs were inside functions: all that
    /// these completed is counted.
    #[serde(default, skip_serializing_if = "is_none")]
    pub with_threads: u32,
    /// How many of the children did not.
    #[serde(default, skip_serializing_if = "is_none")]
    pub children_cut_short: u32,
    /// Others, of which nothing was merged: they could not write what they counted.
    #[serde(default, skip_serializing_if = "is_none")]
    pub absent: u32,
    /// Whether any of the first two may have lost counts by threads.
    #[serde(default, skip_serializing_if = "Threads::is_none")]
    pub threads: Threads,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(n: &u32) -> bool {
    *n == 0
}

impl Processes {
    /// Those of a raw profile, of which so many ended.
    pub fn new(runs: u64, children: u64, ended: u64, absent: u64) -> Processes {
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let all = runs.saturating_add(children);
        Processes {
            runs: number(runs),
            children: number(children),
            cut_short: number(all.saturating_sub(ended)),
            with_threads: 0,
            children_cut_short: 0,
            absent: number(absent),
            threads: Threads::None,
        }
    }

    /// The number of those whose counts were merged.
    pub fn total(self) -> u32 {
        self.runs.saturating_add(self.children)
    }

    /// How many began in the middle of functions, and how many ended there: one process may do both.
    pub(crate) fn count_in_flight(self) -> u64 {
        u64::from(self.children) + u64::from(self.cut_short)
    }

    /// Whether some of them began or ended in the middle of functions.
    pub fn in_flight(self) -> bool {
        self.count_in_flight() > 0
    }

    /// Those of two profiles.
    pub fn plus(self, other: Processes) -> Processes {
        Processes {
            runs: self.runs.saturating_add(other.runs),
            children: self.children.saturating_add(other.children),
            cut_short: self.cut_short.saturating_add(other.cut_short),
            children_cut_short: self
                .children_cut_short
                .saturating_add(other.children_cut_short),
            with_threads: self.with_threads.saturating_add(other.with_threads),
            absent: self.absent.saturating_add(other.absent),
            threads: self.threads.max(other.threads),
        }
    }
}

/// Counts of one function that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// The function.
    pub function: FuncId,
    /// By how many executions.
    pub off: u64,
    /// What contradicts what, without the function's name.
    pub what: String,
}

/// What a merge found. Empty: `ok`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Copies that were not run, or not as often as others.
    pub gaps: Vec<String>,
    /// Processes that were killed, or forked, or could not write what they counted.
    pub interrupted: Vec<String>,
    /// Processes with threads whose increments are not atomic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<String>,
    /// Copies that were run otherwise than others.
    pub unlike: Vec<String>,
    /// One for each function with any, those that are off by most first.
    pub violations: Vec<Violation>,
    /// What is known and worth knowing: that nothing is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Verdict {
    /// What the processes of a profile tell about it: gaps and interruptions. O(copies × functions).
    pub fn of_processes(manifest: &Manifest, processes: &TiSlice<CopyId, Processes>) -> Verdict {
        let needed = copies_needed(manifest);
        let of = |c: &CopyId| processes[*c];
        let (present, missing): (Vec<CopyId>, Vec<CopyId>) =
            needed.into_iter().partition(|c| of(c).total() > 0);
        let mut verdict = Verdict::default();
        if !missing.is_empty() {
            let gap = format!("nothing of {} was merged", copies_named(&missing));
            verdict.gaps.push(gap);
        }
        let runs = by_number(&present, |c| of(c).runs);
        let children = by_number(&present, |c| of(c).children);
        for (what, numbers) in [("runs", runs), ("forked children", children.clone())] {
            if numbers.len() > 1 {
                let gap = format!("unequal numbers of {what}: {}", listed_numbers(&numbers));
                verdict.gaps.push(gap);
            }
        }
        let cut_short = by_number(&present, |c| {
            of(c).cut_short.saturating_sub(of(c).with_threads)
        });
        let all: Vec<CopyId> = processes.keys().collect();
        let absent = by_number(&all, |c| of(c).absent);
        let named = [
            (
                "could not write what they counted (rights, limits, or the disk: stderr said why)",
                absent,
            ),
            (
                "did not end normally (killed, _exit, exec, or threads left behind)",
                cut_short,
            ),
            ("began in the middle, as forked children", children),
        ];
        for (what, mut numbers) in named {
            numbers.remove(&0);
            if !numbers.is_empty() {
                let line = format!("processes that {what}: {}", listed_numbers(&numbers));
                verdict.interrupted.push(line);
            }
        }
        verdict.threads = lost_by_threads(manifest, processes);
        let mut with_threads = by_number(&present, |c| of(c).with_threads);
        with_threads.remove(&0);
        if !with_threads.is_empty() {
            verdict.notes.push(format!(
                "threads were inside functions when their process ended: {}; the paths that they were on are not \
                 counted",
                listed_numbers(&with_threads)
            ));
        }
        verdict
    }

    /// What a profile whose counts and processes are known tells about it: as [`Verdict::of_processes`], but where one
    /// copy counts all paths, processes that did not end normally are no interruption: all paths that they completed
    /// are counted, and lines of those that they were on have bounds. Nor are children, where it is known where each
    /// was forked. Notes say so. Counters of edges do not tell what children ran. O(size of the functions that call
    /// `fork`).
    ///
    /// # Errors
    /// A damaged profile.
    pub fn of_profile(profile: &Profile, under_way: &UnderWay) -> Result<Verdict> {
        let are_known = profile.has_one_counter()
            && matches!(&profile.measured, Measurement::Exact(Exact::Paths(_)))
            && profile.count_unexplained_children() == 0
            && !may_have_had_threads(&profile.processes);
        if !are_known {
            let mut verdict = Verdict::of_processes(&profile.manifest, &profile.processes);
            verdict.interrupted.extend(describe_unnoticed(profile));
            return Ok(verdict);
        }
        let children = profile.count_children();
        let mut processes = profile.processes.clone();
        let (mut of_children, mut of_runs) = (0, 0);
        for p in &mut processes {
            of_children += p.children_cut_short;
            p.cut_short = p.cut_short.saturating_sub(p.children_cut_short);
            p.with_threads = p.with_threads.min(p.cut_short);
            of_runs += p.cut_short - p.with_threads;
            p.cut_short = p.with_threads;
            p.children = 0;
        }
        let mut verdict = Verdict::of_processes(&profile.manifest, &processes);
        if children > 0 {
            let note = profile.describe_children(children, of_children)?;
            verdict.notes.push(note);
        }
        if of_runs > 0 {
            let note = profile.describe_cut_short(of_runs, under_way);
            verdict.notes.push(note);
        }
        verdict.interrupted.extend(describe_unnoticed(profile));
        Ok(verdict)
    }

    /// `ok`, `incomplete` or `violations`.
    pub fn status(&self) -> &'static str {
        if self.has_contradictions() {
            "violations"
        } else if self.is_ok() {
            "ok"
        } else {
            "incomplete"
        }
    }

    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        !self.has_contradictions() && self.reasons_incomplete().next().is_none()
    }

    /// Whether the copies cannot have run alike.
    pub fn has_contradictions(&self) -> bool {
        !self.unlike.is_empty() || !self.violations.is_empty()
    }

    /// Everything that was found in `profile`, one after the other: `violation` or `incomplete`, and what is wrong.
    /// What threads may have done comes first: it explains the rest. `name` names functions.
    pub fn findings(
        &self,
        profile: &Profile,
        name: impl Fn(FuncId) -> String,
    ) -> Vec<(&'static str, String)> {
        let counts = self.violations.iter();
        let counts = counts.map(|v| {
            let share = profile.share_of_flow(std::slice::from_ref(v));
            let share = share.map_or(String::new(), |s| format!(" ({s})"));
            format!("{}: {}{share}", name(v.function), v.what)
        });
        let violations = counts.chain(self.unlike.iter().cloned());
        let violations = violations.map(|line| ("violation", line));
        let incomplete = |line: &String| ("incomplete", line.clone());
        let (threads, others) = (
            self.threads.iter(),
            self.reasons_incomplete().skip(self.threads.len()),
        );
        let others = violations.chain(others.map(incomplete));
        let notes = self.notes.iter().map(|line| ("note", line.clone()));
        threads.map(incomplete).chain(others).chain(notes).collect()
    }

    /// What makes a profile incomplete, [`Verdict::threads`] first.
    pub fn reasons_incomplete(&self) -> impl Iterator<Item = &String> {
        let threads = self.threads.iter();
        threads.chain(&self.gaps).chain(&self.interrupted)
    }

    /// Adds violations, and keeps one for each function, the one that is off by most. O(n log n).
    pub fn add_violations(&mut self, more: impl IntoIterator<Item = Violation>) {
        self.violations.extend(more);
        let all = &mut self.violations;
        all.sort_by_key(|v| (v.function, Reverse(v.off)));
        all.dedup_by_key(|v| v.function);
        all.sort_by_key(|v| (Reverse(v.off), v.function));
    }
}

/// That processes may count in their parents' files, by which functions, and what to do.
fn describe_unnoticed(profile: &Profile) -> Option<String> {
    let unnoticed = find_unnoticed(profile)?;
    let symbols = unnoticed.symbols.iter().map(|s| printed_name(s));
    Some(format!(
        "processes that may count in their parents' files, started by {}: use fork",
        first_names(NAMED_FUNCTIONS, symbols)
    ))
}

/// Whether a process that did not end normally may have had threads that nobody saw: it never said that it had none.
fn may_have_had_threads(processes: &TiSlice<CopyId, Processes>) -> bool {
    let mut processes = processes.iter();
    processes.any(|p| p.cut_short > 0 && p.threads == Threads::Unseen)
}

/// Which copies may have lost counts by threads, and what to do. Estimates lose none: recordings are each thread's own.
fn lost_by_threads(manifest: &Manifest, processes: &TiSlice<CopyId, Processes>) -> Vec<String> {
    if !manifest.scheme.strategy().measure.is_exact() {
        return Vec::new();
    }
    let starters: Vec<(&str, Starter)> = manifest.thread_starters().collect();
    let by = |threads: Threads| -> Vec<String> {
        let can = |of: Starter| threads == Threads::Unseen || of == Starter::Library;
        let starters = starters.iter().filter(|(_, of)| can(*of));
        starters.map(|(symbol, _)| printed_name(symbol)).collect()
    };
    let mut lines = Vec::new();
    for threads in [
        Threads::Shared,
        Threads::Started,
        Threads::Unseen,
        Threads::Inside,
    ] {
        let copies = processes.iter_enumerated();
        let copies = copies.filter(|(_, p)| p.threads == threads);
        let copies: Vec<CopyId> = copies.map(|(c, _)| c).collect();
        let (by, named) = (by(threads), copies_named(&copies));
        let what = match threads {
            Threads::Shared => format!(
                "threads without counters of their own ran in {named}: docs/THREADS.md says why, and \
                 --update atomic needs none"
            ),
            Threads::Started => format!(
                "threads ran in {named}, and increments are plain: rewrite without --update single, and run again"
            ),
            _ if by.is_empty() => continue,
            _ => {
                let by = first_names(NAMED_FUNCTIONS, by.into_iter());
                format!(
                    "threads may have run in {named}, by {by}, without counters of their own: rewrite with \
                     --update atomic, and run again"
                )
            }
        };
        if !copies.is_empty() {
            lines.push(format!("counts may be lost: {what}"));
        }
    }
    lines
}

/// The copies that profile something.
pub fn copies_needed(manifest: &Manifest) -> BTreeSet<CopyId> {
    if !manifest.scheme.strategy().measure.is_exact() {
        return BTreeSet::new(); // every copy samples everything
    }
    let shares = manifest.functions.iter().map(|f| f.share.copies());
    shares.flatten().collect()
}

/// The copies that profile nothing: they leave no file.
pub fn idle_copies(manifest: &Manifest) -> Vec<CopyId> {
    if !manifest.scheme.strategy().measure.is_exact() && manifest.nothing_profiled().is_none() {
        return Vec::new(); // every copy samples everything
    }
    let needed = copies_needed(manifest);
    let all = (0..manifest.copies).map(CopyId);
    all.filter(|c| !needed.contains(c)).collect()
}

fn by_number(among: &[CopyId], number: impl Fn(&CopyId) -> u32) -> BTreeMap<u32, Vec<CopyId>> {
    let mut groups: BTreeMap<u32, Vec<CopyId>> = BTreeMap::new();
    for c in among {
        groups.entry(number(c)).or_default().push(*c);
    }
    groups
}

/// `2 of copies 0, 2 each and 1 of copy 1`, the largest first.
fn listed_numbers(groups: &BTreeMap<u32, Vec<CopyId>>) -> String {
    let group = |(n, of): (&u32, &Vec<CopyId>)| {
        let each = if of.len() > 1 { " each" } else { "" };
        format!("{n} of {}{each}", copies_named(of))
    };
    let groups: Vec<String> = groups.iter().rev().map(group).collect();
    groups.join(" and ")
}

/// `copy 1`, `copies 0, 2`.
pub fn copies_named(of: &[CopyId]) -> String {
    let names: Vec<String> = of.iter().map(CopyId::to_string).collect();
    let word = if of.len() == 1 { "copy" } else { "copies" };
    format!("{word} {}", names.join(", "))
}

impl Profile {
    /// The verdict in one line, unless it is ok: what is wrong, and the first functions that show it.
    pub fn problem_line(&self) -> Option<String> {
        let v = &self.verdict;
        let mut items = [&v.threads[..], &v.unlike].concat();
        if !v.violations.is_empty() {
            items.push(self.list_differing(&v.violations));
        }
        items.extend(v.reasons_incomplete().skip(v.threads.len()).cloned());
        (!items.is_empty()).then(|| format!("{}: {}", v.status(), items.join("; ")))
    }

    /// A line about forked children, of which `left` ended otherwise than by `exit`, with the functions whose counts
    /// are bounds.
    fn describe_children(&self, children: u64, left: u32) -> Result<String> {
        let mut bounds = Vec::new();
        for f in self.forked.keys().chain(self.forks.keys()) {
            let structure = self.structure(*f)?;
            let executed = Executed::new(self, *f, &structure, &flow(self, *f, &structure)?);
            if executed.blocks.iter().any(|range| !range.is_exact()) {
                bounds.push(*f);
            }
        }
        bounds.sort_unstable();
        bounds.dedup();
        let mut line = format!("forked children: {}", group_digits(children));
        if left > 0 {
            line += &format!(
                ", of which {} did not end normally (exec, _exit, or killed)",
                group_digits(u64::from(left))
            );
        }
        line += &self.describe_bounds(&bounds);
        Ok(line)
    }

    /// A line about so many processes that were started and did not end normally, with the functions whose counts are
    /// bounds.
    fn describe_cut_short(&self, processes: u32, under_way: &UnderWay) -> String {
        let mut bounds = under_way.left.clone();
        bounds.extend(&under_way.silent);
        format!(
            "processes that did not end normally (killed, _exit, exec, threads left behind, or still running): {}; the \
             paths that they were on are not counted{}",
            group_digits(u64::from(processes)),
            self.describe_bounds(&bounds)
        )
    }

    /// That counts of lines are bounds in these functions, behind a `;`; nothing if there are none.
    fn describe_bounds(&self, bounds: &[FuncId]) -> String {
        if bounds.is_empty() {
            return String::new();
        }
        let names = self.printed_names(false);
        let named = bounds.iter().map(|f| names.name(&self.entry(*f).name));
        let named = first_names(NAMED_FUNCTIONS, named);
        let n = number_of_functions(bounds.len());
        format!("; some counts of lines are bounds in {n} ({named})")
    }

    fn list_differing(&self, violations: &[Violation]) -> String {
        let names = self.printed_names(false);
        let name = |v: &Violation| names.name(&self.entry(v.function).name);
        let named = first_names(NAMED_FUNCTIONS, violations.iter().map(name));
        let alike = if self.has_one_counter() || !self.verdict.threads.is_empty() {
            ""
        } else {
            "copies did not run alike: "
        };
        let share = self.share_of_flow(violations).map_or(String::new(), |s| {
            format!(", by {s}; more counts may be missing")
        });
        format!(
            "{alike}counts contradict each other in {} ({named}){share}; p3-prof verify says how, and what helps",
            number_of_functions(violations.len())
        )
    }

    /// By how much of all that was counted the contradictions are; `None` of a profile of estimates. Where increments
    /// of several threads are lost, most losses contradict nothing.
    fn share_of_flow(&self, violations: &[Violation]) -> Option<String> {
        let sum = |all: &mut dyn Iterator<Item = u64>| all.fold(0u64, u64::saturating_add);
        let (all, what) = match &self.measured {
            Measurement::Exact(Exact::Paths(counts)) => {
                (sum(&mut counts.iter().flatten().map(|(_, n)| *n)), "paths")
            }
            Measurement::Exact(Exact::Edges(counts)) => {
                (sum(&mut counts.iter().flatten().map(|(_, n)| *n)), "edges")
            }
            Measurement::Estimated(_) => return None,
        };
        let off = sum(&mut violations.iter().map(|v| v.off));
        if all == 0 {
            return None;
        }
        // Entries that are not paths may be more than all that was counted.
        let share = (off as f64 / all as f64).min(1.0);
        Some(match share {
            s if s < 0.0001 => format!("less than 0.01% of {what}"),
            s => format!("{} of {what}", percent(s)),
        })
    }

    /// Whether one copy counts everything, so that no difference between copies explains anything.
    pub fn has_one_counter(&self) -> bool {
        copies_needed(&self.manifest).len() < 2
    }

    /// Whether the counts of these copies are of the same runs, from their beginning to their end, so that what
    /// several of them count must agree.
    pub fn are_comparable(&self, copies: &[CopyId]) -> bool {
        let whole = |c: &CopyId| {
            let processes = self.processes[*c];
            processes.cut_short == 0 && processes.absent == 0
        };
        self.verdict.gaps.is_empty() && copies.iter().all(whole)
    }
}

/// `1 function`, `2 functions`.
pub fn number_of_functions(n: usize) -> String {
    number_of(n as u64, "function")
}

#[cfg(test)]
mod tests;
