//! Differences as text, JSON and CSV.

use super::{Change, Diff, Frequency};
use crate::base::index::{BlockId, FuncId};
use crate::base::names::readable_name;
use crate::base::rows::{Cell, Table};
use crate::base::table::{Layout, group_all_digits, group_digits, number_of};
use crate::profile::Profile;
use crate::read::report::function_columns;
use crate::read::report::steps::Steps;
use crate::read::report::text::{headline_and_steps, name_lines, section};
use crate::read::source::Sources;
use serde::Serialize;
use std::fmt::Write;

impl Diff<'_> {
    /// What may have become of paths, those of which it did, and the profile that they are described by.
    fn kinds(&self) -> [(&'static str, &[Change], &Profile); 3] {
        [
            ("appeared", &self.appeared, self.after),
            ("vanished", &self.vanished, self.before),
            ("changed", &self.changed, self.after),
        ]
    }
}

/// For people; of each kind of change at most `top`. Decisions are told by the texts of the later program's and the
/// earlier one's sources.
pub fn text(diff: &Diff, top: usize, sources: [&Sources; 2], layout: Layout) -> String {
    let [before, after] = diff.totals.map(group_digits);
    let mut out = format!("{before} paths before, {after} after; shares are of these\n");
    for (what, changes, profile) in diff.kinds() {
        if changes.is_empty() {
            continue;
        }
        let of = sources[usize::from(std::ptr::eq(profile, diff.before))];
        let steps = Steps::new(profile, of, layout.full);
        let lines = changes.iter().take(top);
        let lines = lines.map(|c| headline_and_steps(&numbers(c), &steps, &c.line, layout));
        let lines: String = lines.collect();
        out += &section((changes.len(), "path"), what, top, "", &lines);
    }
    let functions = [
        (
            "with other control flow now, not compared",
            &diff.incomparable,
        ),
        ("only in the earlier profile", &diff.only_before),
        ("only in the later profile", &diff.only_after),
    ];
    for (what, names) in functions.iter().filter(|(_, n)| !n.is_empty()) {
        let lines = name_lines(names, top, layout);
        out += &section((names.len(), "function"), what, top, "", &lines);
    }
    if diff.unselected > 0 {
        let paths = number_of(diff.unselected as u64, "path");
        let _ = writeln!(out, "{paths} not selected in one of them, not compared");
    }
    if diff.bounded > 0 {
        let paths = number_of(diff.bounded as u64, "path");
        let _ = writeln!(
            out,
            "{paths} with a least count in one of them, not compared"
        );
    }
    let steady = number_of(diff.steady as u64, "path");
    let near = match diff.near {
        0 => String::new(),
        n => format!(
            ", {} of them with other counts (shares changed by less than {}%)",
            group_all_digits(n as u64),
            diff.least * 100.0
        ),
    };
    let _ = writeln!(out, "{steady} steady{near}");
    out
}

/// How often a path ran before and after.
fn numbers(change: &Change) -> String {
    let side = |f: Option<Frequency>| match f {
        Some(f) => format!("{} ({:.2}%)", group_digits(f.count), f.share * 100.0),
        None => "0".into(),
    };
    format!("  {} → {}  ", side(change.before), side(change.after))
}

#[derive(Serialize)]
struct DiffJson<'a> {
    /// How many paths shares are of.
    totals: DiffTotals,
    appeared: Vec<DiffPathJson<'a>>,
    vanished: Vec<DiffPathJson<'a>>,
    changed: Vec<DiffPathJson<'a>>,
    steady: usize,
    /// Paths that were not selected in one of the two: present where a profile counts some paths only.
    #[serde(skip_serializing_if = "Option::is_none")]
    unselected: Option<usize>,
    /// Paths that ran in both, of which one has a least count: likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounded: Option<usize>,
    incomparable: &'a [String],
    only_before: &'a [String],
    only_after: &'a [String],
}

#[derive(Serialize)]
struct DiffTotals {
    before: u128,
    after: u128,
}

#[derive(Serialize)]
struct DiffPathJson<'a> {
    module: &'a str,
    name: &'a str,
    readable: String,
    cfg: String,
    id: String,
    blocks: &'a [BlockId],
    before: Option<Frequency>,
    after: Option<Frequency>,
}

/// For other programs.
pub fn json(diff: &Diff) -> String {
    let [before, after] = diff.totals;
    let json = DiffJson {
        totals: DiffTotals { before, after },
        appeared: paths(diff.after, &diff.appeared),
        vanished: paths(diff.before, &diff.vanished),
        changed: paths(diff.after, &diff.changed),
        steady: diff.steady,
        unselected: (diff.before.is_selective() || diff.after.is_selective())
            .then_some(diff.unselected),
        bounded: (diff.before.is_selective() || diff.after.is_selective()).then_some(diff.bounded),
        incomparable: &diff.incomparable,
        only_before: &diff.only_before,
        only_after: &diff.only_after,
    };
    serde_json::to_string(&json).expect("a report serialises") + "\n"
}

fn paths<'a>(profile: &'a Profile, changes: &'a [Change]) -> Vec<DiffPathJson<'a>> {
    changes.iter().map(|c| path(profile, c)).collect()
}

fn path<'a>(profile: &'a Profile, c: &'a Change) -> DiffPathJson<'a> {
    DiffPathJson {
        module: profile.module(c.line.func),
        name: &profile.entry(c.line.func).name,
        readable: readable_name(&profile.entry(c.line.func).name).into_owned(),
        cfg: profile.entry(c.line.func).cfg_hash(),
        id: c.line.id.to_string(),
        blocks: &c.line.path.blocks,
        before: c.before,
        after: c.after,
    }
}

/// One record for each path that appeared, vanished or changed, after a heading.
pub fn csv(diff: &Diff) -> String {
    let changes = diff.kinds().into_iter();
    let changes = changes.flat_map(|(what, changes, p)| changes.iter().map(move |c| (what, p, c)));
    let count = |f: Option<Frequency>| f.map_or(0, |f| f.count);
    let share = |f: Option<Frequency>| Cell::Share(f.map_or(0.0, |f| f.share));
    type Row<'d> = (&'d str, &'d Profile, &'d Change);
    fn function<'d>(row: &Row<'d>) -> (&'d Profile, FuncId) {
        (row.1, row.2.line.func)
    }
    Table::new()
        .csv("change", |r: &Row| r.0)
        .add_columns(function_columns(function), |r| *r)
        .csv("id", |r| r.2.line.id.to_string())
        .csv("before", |r| count(r.2.before))
        .csv("after", |r| count(r.2.after))
        .csv("share_before", |r| share(r.2.before))
        .csv("share_after", |r| share(r.2.after))
        .to_csv(changes)
}
