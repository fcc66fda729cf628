//! `p3-prof compare`: whether two profiles hold the same counts of the same paths, or of the same edges
//! where one of them counts edges.
//!
//! Counts of edges agree when the same number may be behind both (`profile::left`): where functions were left
//! before their end, paths tell a least and a most, and edges that were not counted may be off. That counts differ
//! within these bounds is said, and is no difference.

use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::base::table::{number_of, times};
use crate::profile::Profile;
use crate::profile::flow::flow;
use crate::profile::known::KnownPaths;
use crate::profile::left::{Executed, Range};
use crate::profile::measurement::{Exact, Measurement};
use std::collections::{BTreeMap, BTreeSet};

/// What names a function in both profiles: module, name, ordinal in the module.
type FunctionKey<'a> = (&'a str, &'a str, u32);

/// What comparing found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A difference.
    Differs(String),
    /// Counts that are not equal, and why that is no difference.
    Explained(String),
}

/// The findings, one line each: functions that only one profile knows or whose control flow
/// differs, then paths. Scheme, number of copies and statistics do not matter. O(paths).
///
/// # Errors
/// A profile of estimates, which need not be equal.
pub fn compare<'a>(a: &'a Profile, b: &'a Profile) -> Result<impl Iterator<Item = Finding> + 'a> {
    for profile in [a, b] {
        profile.require_exact()?;
    }
    let (left, right) = (functions(a), functions(b));
    let keys: BTreeSet<FunctionKey> = left.keys().chain(right.keys()).copied().collect();
    let findings = move |key: FunctionKey| match (left.get(&key), right.get(&key)) {
        (Some(&f), Some(&g)) => compare_function(a, f, b, g),
        (Some(_), None) => report_difference(format!("{}: only in {}", key.1, a.path.display())),
        _ => report_difference(format!("{}: only in {}", key.1, b.path.display())),
    };
    Ok(keys.into_iter().flat_map(findings))
}

fn functions(p: &Profile) -> BTreeMap<FunctionKey<'_>, FuncId> {
    p.functions().map(|f| (key(p, f), f)).collect()
}

fn key(p: &Profile, f: FuncId) -> FunctionKey<'_> {
    let entry = p.entry(f);
    (p.module(f), &entry.name, entry.bodies[0].ordinal)
}

fn report_difference(what: String) -> Vec<Finding> {
    vec![Finding::Differs(what)]
}

fn compare_function(a: &Profile, f: FuncId, b: &Profile, g: FuncId) -> Vec<Finding> {
    let (old, new) = (a.entry(f), b.entry(g));
    let name = &old.name;
    if old.succs != new.succs || old.terminators != new.terminators || old.cuts != new.cuts {
        return report_difference(format!("{name}: different control flow"));
    }
    match (&a.measured, &b.measured) {
        (Measurement::Exact(Exact::Paths(_)), Measurement::Exact(Exact::Paths(_)))
            if old.status != new.status =>
        {
            report_difference(format!("{name}: {} against {}", old.status, new.status))
        }
        (Measurement::Exact(Exact::Paths(x)), Measurement::Exact(Exact::Paths(y))) => {
            let known = KnownPaths::new(a, f).and_then(|k| Ok([k, KnownPaths::new(b, g)?]));
            match known {
                Ok(known) => compare_paths(name, &x[f], &y[g], &known),
                Err(e) => report_difference(e.to_string()),
            }
        }
        // Edges, on one side at least.
        (Measurement::Exact(_) | Measurement::Estimated(_), _) => {
            compare_edges(a, f, b, g).unwrap_or_else(|e| report_difference(e.to_string()))
        }
    }
}

/// Only what both counted can differ, or what one counted and the other saw less of than it knows of.
fn compare_paths(
    name: &str,
    a: &[(PathId, u64)],
    b: &[(PathId, u64)],
    known: &[KnownPaths<'_>; 2],
) -> Vec<Finding> {
    let left: BTreeMap<PathId, u64> = a.iter().copied().collect();
    let right: BTreeMap<PathId, u64> = b.iter().copied().collect();
    let ids: BTreeSet<PathId> = left.keys().chain(right.keys()).copied().collect();
    let count = |side: &BTreeMap<PathId, u64>, id| side.get(&id).copied().unwrap_or(0);
    let both = ids
        .into_iter()
        .map(|id| (id, count(&left, id), count(&right, id)));
    let (mut findings, mut unselected, mut within) = (Vec::new(), 0u64, 0u64);
    for (id, n, m) in both.filter(|(_, n, m)| n != m) {
        let ranges = [known[0].range(id, n), known[1].range(id, m)];
        let is_silent = |r: &Range| r.may_have_run();
        if !ranges[0].overlaps(ranges[1]) {
            let [n, m] = ranges.map(print_range);
            let line = format!("{name}, path {id}: {n} against {m}");
            findings.push(Finding::Differs(line));
        } else if ranges.iter().any(is_silent) {
            unselected += 1;
        } else {
            within += 1;
        }
    }
    if within > 0 {
        let line = explain_difference(name, within, "path", "not every run counted them");
        findings.push(Finding::Explained(line));
    }
    if unselected > 0 {
        let paths = number_of(unselected, "path");
        let line = format!("{name}: {paths} not selected in one of them");
        findings.push(Finding::Explained(line));
    }
    findings
}

/// `7`, or `≥ 7`.
fn print_range(range: Range) -> String {
    let bound = if range.is_exact() { "" } else { "≥ " };
    format!("{bound}{}", range.count)
}

/// Entries and edges, where one of the profiles counts edges.
fn compare_edges(a: &Profile, f: FuncId, b: &Profile, g: FuncId) -> Result<Vec<Finding>> {
    let skipped = |p: &Profile, f| p.entry(f).status.is_skipped();
    let name = &a.entry(f).name;
    match (skipped(a, f), skipped(b, g)) {
        (true, true) => return Ok(Vec::new()),
        (false, false) => {}
        _ => return Ok(report_difference(format!("{name}: skipped in one of them"))),
    }
    let (left, right) = (a.structure(f)?, b.structure(g)?);
    let (old, new) = (flow(a, f, &left)?, flow(b, g, &right)?);
    let mut findings = Vec::new();
    let (flow_of_old, flow_of_new) = (old, new);
    let old = Executed::new(a, f, &left, &flow_of_old);
    let new = Executed::new(b, g, &right, &flow_of_new);
    let entered = [
        old.entry_range(&left, &flow_of_old),
        new.entry_range(&right, &flow_of_new),
    ];
    if !entered[0].overlaps(entered[1]) {
        let [n, m] = entered.map(print_range);
        findings.extend(report_difference(format!(
            "{name}, entries: {n} against {m}"
        )));
    }
    let mut within = 0;
    for ((x, n), (_, m)) in old.edges(&left).iter().zip(new.edges(&right)) {
        if !n.overlaps(m) {
            let (edge, n, m) = (x.edge, n.count, m.count);
            findings.extend(report_difference(format!(
                "{name}, edge {edge}: {n} against {m}"
            )));
        } else if n.count != m.count {
            within += 1;
        }
    }
    if within > 0 {
        let line = explain_difference(name, within, "edge", &explain_uncertainty(&old, &new));
        findings.push(Finding::Explained(line));
    }
    Ok(findings)
}

/// That `n` of `noun` differ, though not by more than is uncertain, and why.
fn explain_difference(name: &str, n: u64, noun: &str, why: &str) -> String {
    let verb = if n == 1 { "differs" } else { "differ" };
    let counts = number_of(n, noun);
    format!("{name}: {counts} {verb} within bounds: {why}")
}

/// Why counts of edges are not certain.
fn explain_uncertainty(a: &Executed, b: &Executed) -> String {
    if a.again || b.again {
        return "setjmp may return to it again, and paths then hold twice what ran before it"
            .into();
    }
    if a.is_partial || b.is_partial {
        return "not all of its paths are counted".into();
    }
    let left = a.left.max(b.left);
    format!(
        "it was left before its end {}, and where is not counted",
        times(left)
    )
}

#[cfg(test)]
mod tests;
