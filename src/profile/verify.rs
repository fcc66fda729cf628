//! `p3-prof verify`: what must hold of the counts of a run.
//!
//! Within a function every back edge that ends a path begins another one; what was begun and not
//! completed was abandoned, which only a block that control may leave can do. Between functions,
//! a function that is only called directly was entered as often as its callers' paths call it.
//! (That copies agree about paths which several count is checked when they are merged.)

use super::edges::{Flow, flow};
use super::{Profile, Structure};
use crate::dag::{EdgeKind, Order};
use crate::error::Result;
use crate::index::FuncId;
use crate::ir::{Linkage, Terminator};
use crate::manifest::Status;
use rayon::prelude::*;

/// What verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What cannot have happened, one line each.
    pub violations: Vec<String>,
    /// By function: paths begun at loop headers and not completed, where there are any.
    pub abandoned: Vec<(FuncId, u64)>,
    /// Functions whose counts were checked.
    pub functions: usize,
}

/// One function with what its paths add up to.
struct Checked {
    structure: Structure,
    flow: Flow,
    /// Whether control may leave it other than by its exits.
    may_leave: bool,
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
    let mut report = Report::default();
    for (i, checked) in functions.iter().enumerate() {
        if let Some(c) = checked {
            report.functions += 1;
            within(profile, FuncId::new(i), c, &mut report);
        }
    }
    if profile.missing.is_empty() {
        between(profile, &functions, &mut report);
    }
    Ok(report)
}

fn check(profile: &Profile, f: FuncId) -> Result<Checked> {
    let structure = profile.structure(f)?;
    let flow = flow(profile, f, &structure)?;
    let reachable = Order::new(&structure.cfg).rpo;
    let leaves = |b: &crate::index::BlockId| structure.cfg.block(*b).may_leave;
    let may_leave = reachable.iter().any(leaves);
    Ok(Checked {
        structure,
        flow,
        may_leave,
    })
}

/// Paths that end by back edges to a header against paths that begin there.
fn within(profile: &Profile, f: FuncId, c: &Checked, report: &mut Report) {
    let dag = &c.structure.paths.dag;
    let mut ended = vec![0u64; dag.vertices()];
    for e in dag.edge_ids() {
        if let EdgeKind::BackEdge(_) = dag.edge(e).kind {
            let header = dag
                .vertex(dag.back_target(e))
                .expect("targets are reachable");
            ended[header.index()] += c.flow.dag[e.index()];
        }
    }
    let mut abandoned = 0;
    for e in dag
        .outs(dag.entry())
        .filter(|&e| dag.edge(e).kind == EdgeKind::LoopStart)
    {
        let header = dag.edge(e).dst;
        let (begun, completed) = (ended[header.index()], c.flow.dag[e.index()]);
        let block = dag.block(header).expect("a header is a block");
        let name = &profile.entry(f).name;
        if completed > begun || completed < begun && !c.may_leave {
            report.violations.push(format!(
                "{name}: {begun} back edges lead to block {block}, {completed} paths begin there"
            ));
        }
        abandoned += begun.saturating_sub(completed);
    }
    if abandoned > 0 {
        report.abandoned.push((f, abandoned));
    }
}

/// What is known of the calls of one function.
#[derive(Clone, Copy, Default)]
struct Calls {
    /// By completed paths; those by `invoke` may not have returned and are not in it.
    returned: u64,
    invoked: u64,
    /// From a function whose paths may be abandoned, or that is not profiled.
    uncertain: bool,
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
        if !only_direct || members[i] != 1 {
            continue;
        }
        let (entered, calls) = (c.flow.entry, calls[i]);
        let few = !c.may_leave && entered < calls.returned;
        let many = !calls.uncertain && entered > calls.returned.saturating_add(calls.invoked);
        if few || many {
            let called = calls.returned.saturating_add(calls.invoked);
            let name = &entry.name;
            report.violations.push(format!(
                "{name}: called {called} times, entered {entered} times"
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
            let invoke = entry.terminators[block.index()] == Terminator::Invoke;
            for (i, callee) in callees.iter().enumerate() {
                let call = &mut calls[callee.index()];
                let Some(c) = checked else {
                    call.uncertain = true;
                    continue;
                };
                let n = c.flow.blocks[block.index()];
                let to = match invoke && i + 1 == callees.len() {
                    true => &mut call.invoked,
                    false => &mut call.returned,
                };
                *to = to.saturating_add(n);
                call.uncertain |= c.may_leave;
            }
        }
    }
    calls
}
