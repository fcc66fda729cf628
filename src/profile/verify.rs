//! `p3-prof verify`: what must hold of the counts of a run.
//!
//! Within a function, every path is begun by an entry or a back edge and is completed, or abandoned
//! by `exit`, `longjmp` or an exception:
//!
//! ```text
//! entries + back edges taken = paths completed + paths abandoned
//! ```
//!
//! Entries are counted beside the paths where control may leave in the middle of a block; elsewhere
//! nothing is abandoned. Between functions, one that is only called directly was entered as often
//! as its callers call it: exactly where the callers' paths are all complete, within what their
//! abandoned paths can have called otherwise. Entries are counted by one copy and calls by others,
//! so copies that ran differently are detected.
//! (That copies agree about paths which several count is checked when they are merged.)
//!
//! What cannot be checked is no violation. A process that was killed counted some of what it did, and a forked
//! child ends what it did not begin, so the counts of copies compare only where all processes of all copies ran
//! from beginning to end, equally often; and a function that several copies profile is checked only where none of
//! them is missing or was cut short. How far calls and entries are apart there is told all the same
//! ([`UnexplainedEntries`]), and is a violation where it is more than activations under way can explain.

use super::flow::{Flow, flow};
use super::verdict::{Processes, Violation, copies_needed, number_of_functions};
use super::{Profile, Structure};
use crate::base::error::Result;
use crate::base::index::{FuncId, TiVec, ti_vec};
use crate::base::table::{group_digits, times};
use crate::input::ir::Linkage;
use crate::paths::dag::EdgeKind;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Most activations of one function that a process is taken to be in: with 16 bytes of stack each, they take a quarter
/// of a gibibyte.
const MOST_UNDER_WAY: u64 = 1 << 24;

/// What the checks found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What cannot have happened.
    pub violations: Vec<Violation>,
    /// By function: activations that did not reach an exit, and so abandoned a path, where there
    /// are any.
    pub abandoned: Vec<(FuncId, u64)>,
    /// Functions among these in which counts of edges may be off by as many.
    pub uncertain: usize,
    /// Functions whose counts were checked.
    pub functions: usize,
    /// Functions that could not be, since several copies profile them that are missing, were killed or did not
    /// run equally often.
    pub unchecked: usize,
    /// Functions that could not be, since their selected paths alone are counted, or none.
    pub in_part: usize,
    /// Those of which counts of several copies were compared and agree, in whatever others contradict each other.
    pub agreeing: usize,
    /// Whether calls could be compared with entries for all of them.
    pub calls_compared: bool,
    /// How far apart they are where that says little.
    pub apart: UnexplainedEntries,
}

/// Entries that calls do not explain in functions of processes that began or ended in the middle: few for each such
/// process, and as many as one likes where copies ran differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnexplainedEntries {
    /// Functions with any.
    pub functions: usize,
    /// The most in one function.
    pub most: u64,
}

impl Findings {
    fn add(&mut self, function: FuncId, off: u64, what: String) {
        self.violations.push(Violation {
            function,
            off,
            what,
        });
    }
}

impl UnexplainedEntries {
    /// In one line, if there are any.
    pub fn describe(&self) -> Option<String> {
        let n = number_of_functions(self.functions);
        let most = self.most;
        (self.functions > 0).then(|| {
            format!(
                "calls and entries differ in {n}, by {} at most: functions were under way when these processes began \
                 or ended, or copies ran differently",
                group_digits(most)
            )
        })
    }
}

/// One function with what its paths add up to.
struct Checked {
    structure: Structure,
    flow: Flow,
    /// Whether control may leave it other than by its exits.
    may_leave: bool,
    /// Whether `longjmp` may return to it.
    returns_twice: bool,
    /// Its copies' processes.
    processes: Processes,
}

/// Checks all functions. Linear in manifest and path lengths.
///
/// # Errors
/// A profile of estimates, which need not add up.
pub fn verify(profile: &Profile) -> Result<Findings> {
    profile.require_exact()?;
    let functions = profile.functions().collect::<Vec<_>>();
    let functions = functions.into_par_iter().map(|f| {
        let checkable = !profile.entry(f).status.is_skipped() && is_checkable(profile, f);
        match checkable.then(|| check_function(profile, f)).transpose()? {
            Some(c) if profile.counted_paths(f, &c.structure)?.are_all() => Ok((Some(c), false)),
            other => Ok((None, other.is_some())),
        }
    });
    let functions: Vec<(Option<Checked>, bool)> = functions.collect::<Result<_>>()?;
    let (functions, in_part): (Vec<Option<Checked>>, Vec<bool>) = functions.into_iter().unzip();
    let mut findings = Findings {
        calls_compared: profile.are_comparable(&[]),
        ..Findings::default()
    };
    for ((f, checked), in_part) in profile.functions().zip(&functions).zip(in_part) {
        match checked {
            None if in_part => findings.in_part += 1,
            Some(c) => {
                findings.functions += 1;
                findings.calls_compared &= !c.processes.in_flight();
                check_within(f, c, &mut findings);
            }
            None => findings.unchecked += usize::from(!profile.entry(f).status.is_skipped()),
        }
    }
    if profile.are_comparable(&[]) {
        check_between(profile, &functions, &mut findings);
        findings.agreeing = count_agreeing(profile, &functions, &findings.violations);
        find_unexplained_entries(profile, &functions, &mut findings);
    }
    Ok(findings)
}

/// Whether the counts of `f` are of the same processes, or of copies that can be compared.
pub fn is_checkable(profile: &Profile, f: FuncId) -> bool {
    match &profile.entry(f).share.copies()[..] {
        [copy] => profile.processes[*copy].total() > 0,
        copies => profile.are_comparable(copies),
    }
}

fn check_function(profile: &Profile, f: FuncId) -> Result<Checked> {
    let structure = profile.structure(f)?;
    let flow = flow(profile, f, &structure)?;
    let may_leave = structure.paths.may_be_left(&structure.cfg);
    let returns_twice = structure.cfg.blocks.iter().any(|b| b.returns_twice);
    Ok(Checked {
        structure,
        flow,
        may_leave,
        returns_twice,
        processes: profile.processes_of(f),
    })
}

/// Paths begun against paths completed: at every header, and in all.
fn check_within(f: FuncId, c: &Checked, findings: &mut Findings) {
    findings.uncertain += usize::from(c.flow.uncertain > 0);
    if c.count_abandoned() > 0 {
        findings.abandoned.push((f, c.count_abandoned()));
    }
    if c.returns_twice {
        return;
    }
    let dag = &c.structure.paths.dag;
    for (e, begun) in c.flow.paths_begun(dag) {
        let completed = c.flow.dag[e];
        if c.contradicts(begun, completed) {
            let block = dag.block(dag.edge(e).dst).expect("a header is a block");
            let what = match dag.edge(e).kind {
                EdgeKind::LoopStart => "back edges lead to",
                _ => "activations enter",
            };
            let what =
                format!("{begun} {what} block {block}, {completed} completed paths begin there");
            findings.add(f, begun.abs_diff(completed), what);
        }
    }
    let (entered, exits) = (c.flow.entry, c.flow.exits);
    if c.contradicts(entered, exits) {
        let what = format!("entered {}, left {}", times(entered), times(exits));
        findings.add(f, entered.abs_diff(exits), what);
    }
    // (A process that was killed left counters of edges at different moments.)
    if c.flow.impossible && !c.processes.in_flight() {
        let what = "counts of edges do not add up, although every activation reached an exit";
        findings.add(f, 0, what.into());
    }
}

impl Checked {
    /// Activations, each on one path, that never reached an exit.
    fn count_abandoned(&self) -> u64 {
        self.flow.entry.saturating_sub(self.flow.exits)
    }

    /// Whether this many paths (or activations) cannot have ended of those that were begun.
    fn contradicts(&self, begun: u64, ended: u64) -> bool {
        let few = ended < begun && !self.may_leave && !self.processes.in_flight();
        few || ended > begun && self.processes.children == 0
    }
}

/// What is known of the calls of one function.
#[derive(Clone, Copy, Default)]
struct CallCounts {
    /// By completed paths.
    made: u64,
    /// How many more abandoned paths can have made.
    possible: u64,
    /// From a function that is not profiled or was not checked, whose counts are uncertain, or to which
    /// `longjmp` may return: completed paths then repeat what ran once.
    unknown: bool,
}

fn check_between(profile: &Profile, functions: &[Option<Checked>], findings: &mut Findings) {
    let through = |c: &Checked| !c.processes.in_flight();
    for (f, entered, calls) in find_called(profile, functions, through) {
        let off = calls.count_unexplained(entered);
        if off > 0 {
            findings.add(f, off, calls.describe(entered));
        }
    }
}

/// The functions whose counts several copies agree on: one that several copies profile, or whose calls one copy counted
/// and whose entries another one. Where such numbers differ, nobody knows which are wrong, so all functions that they
/// are of are left out, and `violations` with them.
fn count_agreeing(
    profile: &Profile,
    functions: &[Option<Checked>],
    violations: &[Violation],
) -> usize {
    let stored = &profile.verdict.violations;
    let wrong: BTreeSet<FuncId> = violations
        .iter()
        .chain(stored)
        .map(|v| v.function)
        .collect();
    let copies = |f: FuncId| profile.entry(f).share.copies();
    let through = |c: &Checked| !c.processes.in_flight();
    let known = find_called(profile, functions, through);
    let known: BTreeMap<FuncId, CallCounts> = known.map(|(f, _, calls)| (f, calls)).collect();
    let mut agree: BTreeSet<FuncId> = profile
        .functions()
        .zip(functions)
        .filter(|(f, c)| c.is_some() && copies(*f).len() > 1)
        .map(|(f, _)| f)
        .collect();
    let mut doubtful = wrong.clone();
    for (caller, entry) in profile.functions().zip(&profile.manifest.functions) {
        for callee in entry
            .calls
            .iter()
            .flat_map(|(_, callees)| callees)
            .map(|(f, _)| *f)
        {
            if wrong.contains(&callee) {
                doubtful.insert(caller);
            }
            let exact = known.get(&callee).is_some_and(|calls| calls.possible == 0);
            if exact && copies(caller) != copies(callee) {
                agree.extend([caller, callee]);
            }
        }
    }
    agree.difference(&doubtful).count()
}

/// Between functions of all processes, those too that began or ended in the middle. Nothing where one copy counted
/// everything, or where there is no such process.
fn find_unexplained_entries(
    profile: &Profile,
    functions: &[Option<Checked>],
    findings: &mut Findings,
) {
    let in_flight: u64 = profile.processes.iter().map(|p| p.count_in_flight()).sum();
    if in_flight == 0 || copies_needed(&profile.manifest).len() < 2 {
        return;
    }
    for (f, entered, calls) in find_called(profile, functions, |_| true) {
        let off = calls.count_unexplained(entered);
        if off > MOST_UNDER_WAY.saturating_mul(in_flight) {
            let what = calls.describe(entered);
            findings.add(f, off, format!("{what}: copies ran differently"));
        } else if off > 0 {
            findings.apart.functions += 1;
            findings.apart.most = findings.apart.most.max(off);
        }
    }
}

/// The functions that all who call them are known of, with how often they were entered and called; of `comparable`
/// functions alone.
fn find_called<'a>(
    profile: &'a Profile,
    functions: &'a [Option<Checked>],
    comparable: impl Fn(&Checked) -> bool + 'a,
) -> impl Iterator<Item = (FuncId, u64, CallCounts)> + 'a {
    let calls = all_calls(profile, functions, &comparable);
    let members = unit_sizes(profile);
    profile
        .functions()
        .zip(functions)
        .filter_map(move |(f, c)| {
            let c = c.as_ref().filter(|c| comparable(c))?;
            let entry = profile.entry(f);
            // Of several bodies of one symbol the callers do not say which one they call.
            let only_direct = entry.linkage == Linkage::Local && !entry.address_taken;
            let known = only_direct && members[f] == 1 && !calls[f].unknown;
            known.then_some((f, c.flow.entry, calls[f]))
        })
}

impl CallCounts {
    /// How many of so many entries are too few or too many.
    fn count_unexplained(&self, entered: u64) -> u64 {
        let most = self.made.saturating_add(self.possible);
        entered.abs_diff(entered.clamp(self.made, most))
    }

    /// Beside how often the function was entered.
    fn describe(&self, entered: u64) -> String {
        format!(
            "called {} by completed paths (and at most {} by others), entered {}",
            times(self.made),
            self.possible,
            times(entered)
        )
    }
}

/// By function: how many share its unit, if it is the unit's first.
fn unit_sizes(profile: &Profile) -> TiVec<FuncId, u32> {
    let mut members = ti_vec![0; profile.manifest.functions.len()];
    for f in &profile.manifest.functions {
        members[f.unit] += 1;
    }
    members
}

fn all_calls(
    profile: &Profile,
    functions: &[Option<Checked>],
    comparable: &impl Fn(&Checked) -> bool,
) -> TiVec<FuncId, CallCounts> {
    let mut calls = ti_vec![CallCounts::default(); functions.len()];
    for (entry, checked) in profile.manifest.functions.iter().zip(functions) {
        for (block, callees) in &entry.calls {
            for (callee, _) in callees {
                let call = &mut calls[*callee];
                let certain =
                    |c: &&Checked| !c.returns_twice && c.flow.uncertain == 0 && comparable(c);
                let Some(c) = checked.as_ref().filter(certain) else {
                    call.unknown = true;
                    continue;
                };
                call.made = call.made.saturating_add(c.flow.blocks[*block]);
                // An abandoned path runs through a block once at most, but longjmp may come back.
                call.possible = call.possible.saturating_add(c.count_abandoned());
            }
        }
    }
    calls
}

#[cfg(test)]
mod tests;
