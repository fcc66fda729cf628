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
//! so copies that ran differently are found out.
//! (That copies agree about paths which several count is checked when they are merged.)

use super::edges::{Flow, flow};
use super::{Profile, Structure};
use crate::dag::EdgeKind;
use crate::error::Result;
use crate::index::FuncId;
use crate::ir::Linkage;
use crate::manifest::Status;
use rayon::prelude::*;

/// What verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What cannot have happened, one line each.
    pub violations: Vec<String>,
    /// By function: activations that did not reach an exit, and so abandoned a path, where there
    /// are any.
    pub abandoned: Vec<(FuncId, u64)>,
    /// Functions among these in which counts of edges may be off by as many.
    pub uncertain: usize,
    /// Whether processes were killed, or forked, in the middle of functions: calls then cannot be
    /// compared with entries.
    pub in_flight: bool,
    /// Functions whose counts were checked.
    pub functions: usize,
}

/// One function with what its paths add up to.
struct Checked {
    structure: Structure,
    flow: Flow,
    /// Whether control may leave it other than by its exits.
    may_leave: bool,
    /// Whether `longjmp` may return to it.
    returns_twice: bool,
}

/// Checks all functions. Linear in manifest and path lengths.
pub fn verify(profile: &Profile) -> Result<Report> {
    let functions = (0..profile.manifest.functions.len())
        .into_par_iter()
        .map(|i| {
            let f = FuncId::new(i);
            match profile.entry(f).status {
                Status::Skipped(_) => Ok(None),
                _ => check(profile, f).map(Some),
            }
        });
    let functions: Vec<Option<Checked>> = functions.collect::<Result<_>>()?;
    let mut report = Report {
        in_flight: profile.cut_short > 0 || profile.children > 0,
        ..Report::default()
    };
    for (i, checked) in functions.iter().enumerate() {
        if let Some(c) = checked {
            report.functions += 1;
            within(profile, FuncId::new(i), c, &mut report);
        }
    }
    if profile.missing.is_empty() && !report.in_flight {
        between(profile, &functions, &mut report);
    }
    Ok(report)
}

fn check(profile: &Profile, f: FuncId) -> Result<Checked> {
    let structure = profile.structure(f)?;
    let flow = flow(profile, f, &structure)?;
    let may_leave = structure.paths.may_be_left(&structure.cfg);
    let returns_twice = structure.cfg.blocks.iter().any(|b| b.returns_twice);
    Ok(Checked {
        structure,
        flow,
        may_leave,
        returns_twice,
    })
}

/// Paths begun against paths completed: at every header, and in all.
fn within(profile: &Profile, f: FuncId, c: &Checked, report: &mut Report) {
    let dag = &c.structure.paths.dag;
    let name = profile.name(f);
    let mut taken = vec![0u64; dag.vertices()];
    for e in dag.edge_ids() {
        if let EdgeKind::BackEdge(_) = dag.edge(e).kind {
            let header = dag
                .vertex(dag.back_target(e))
                .expect("targets are reachable");
            taken[header.index()] += c.flow.dag[e.index()];
        }
    }
    for e in dag.outs(dag.entry()) {
        let header = dag.edge(e).dst;
        let (begun, what) = match dag.edge(e).kind {
            EdgeKind::LoopStart => (taken[header.index()], "back edges lead to"),
            _ => (c.flow.entry, "activations enter"),
        };
        let completed = c.flow.dag[e.index()];
        if c.returns_twice {
            continue;
        }
        let few = completed < begun && !c.may_leave && !report.in_flight;
        let many = completed > begun && profile.children == 0;
        if few || many {
            let block = dag.block(header).expect("a header is a block");
            report.violations.push(format!(
                "{name}: {begun} {what} block {block}, {completed} completed paths begin there"
            ));
        }
    }
    let few = c.flow.exits < c.flow.entry && !c.may_leave && !report.in_flight;
    let many = c.flow.exits > c.flow.entry && profile.children == 0;
    if (few || many) && !c.returns_twice {
        let (entered, exits) = (c.flow.entry, c.flow.exits);
        report.violations.push(format!(
            "{name}: entered {entered} times, left {exits} times"
        ));
    }
    if c.flow.impossible {
        report.violations.push(format!(
            "{name}: counts of edges do not add up, although every activation reached an exit"
        ));
    }
    report.uncertain += usize::from(c.flow.uncertain > 0);
    if c.abandoned() > 0 {
        report.abandoned.push((f, c.abandoned()));
    }
}

impl Checked {
    /// Activations, each on one path, that never reached an exit.
    fn abandoned(&self) -> u64 {
        self.flow.entry.saturating_sub(self.flow.exits)
    }
}

/// What is known of the calls of one function.
#[derive(Clone, Copy, Default)]
struct Calls {
    /// By completed paths.
    made: u64,
    /// How many more abandoned paths can have made.
    possible: u64,
    /// From a function that is not profiled, whose counts are uncertain, or to which `longjmp` may
    /// return: completed paths then repeat what ran once.
    unknown: bool,
}

fn between(profile: &Profile, functions: &[Option<Checked>], report: &mut Report) {
    let calls = all_calls(profile, functions);
    let members = members(profile);
    for (i, c) in functions.iter().enumerate() {
        let (entry, Some(c)) = (&profile.manifest.functions[i], c) else {
            continue;
        };
        // Of several bodies of one symbol the callers do not say which one they call.
        let only_direct = entry.linkage == Linkage::Local && !entry.address_taken;
        if !only_direct || members[i] != 1 || calls[i].unknown {
            continue;
        }
        let (entered, calls) = (c.flow.entry, calls[i]);
        if entered < calls.made || entered > calls.made.saturating_add(calls.possible) {
            report.violations.push(format!(
                "{}: called {} times by completed paths (and at most {} by others), entered {entered} times",
                profile.name(FuncId::new(i)), calls.made, calls.possible
            ));
        }
    }
}

/// By function: how many share its unit, if it is the unit's first.
fn members(profile: &Profile) -> Vec<u32> {
    let mut members = vec![0; profile.manifest.functions.len()];
    for f in &profile.manifest.functions {
        members[f.unit.index()] += 1;
    }
    members
}

fn all_calls(profile: &Profile, functions: &[Option<Checked>]) -> Vec<Calls> {
    let mut calls = vec![Calls::default(); functions.len()];
    for (entry, checked) in profile.manifest.functions.iter().zip(functions) {
        for (block, callees) in &entry.calls {
            for (callee, _) in callees {
                let call = &mut calls[callee.index()];
                let certain = |c: &&Checked| !c.returns_twice && c.flow.uncertain == 0;
                let Some(c) = checked.as_ref().filter(certain) else {
                    call.unknown = true;
                    continue;
                };
                call.made = call.made.saturating_add(c.flow.blocks[block.index()]);
                // An abandoned path runs through a block once at most, but longjmp may come back.
                call.possible = call.possible.saturating_add(c.abandoned());
            }
        }
    }
    calls
}
