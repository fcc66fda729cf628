//! `p3-prof diff`: what changed from one profile to another, of another run or another build.
//!
//! A path is the same in both when its function has the same name and control flow, and it the same blocks. Where
//! control flow changed nothing can be compared, and the function is named.

use super::Profile;
use super::matching::{Index, Known, Match};
use super::report::text::{decisions, grouped, lines as place_lines, place};
use super::report::{Line, Selection, lines};
use crate::error::Result;
use crate::index::{BlockId, FuncId, PathId};
use crate::ir::Linkage;
use crate::manifest::Status;
use anstyle::Style;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

const BOLD: Style = Style::new().bold();

/// How often a path ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Frequency {
    /// How often.
    pub count: u64,
    /// Its share of all executed paths of its profile.
    pub share: f64,
}

/// A path of one or both profiles.
pub struct Change {
    /// It, as it is in the later profile, or in the earlier one if it vanished.
    pub line: Line,
    /// In the earlier profile; nothing if it appeared.
    pub before: Option<Frequency>,
    /// In the later profile; nothing if it vanished.
    pub after: Option<Frequency>,
}

impl Change {
    /// By how much its share changed.
    fn change(&self) -> f64 {
        let share = |f: Option<Frequency>| f.map_or(0.0, |f| f.share);
        share(self.after) - share(self.before)
    }
}

/// What changed.
pub struct Diff<'a> {
    before: &'a Profile,
    after: &'a Profile,
    /// Paths that ran only later, by descending share.
    pub appeared: Vec<Change>,
    /// Paths that ran only earlier, likewise.
    pub vanished: Vec<Change>,
    /// Paths of both whose share changed by at least what was asked for, the largest changes first.
    pub changed: Vec<Change>,
    /// How many paths of both did not.
    pub steady: usize,
    /// Functions whose paths cannot be compared: of other control flow, or skipped in one of the profiles.
    pub incomparable: Vec<String>,
    /// Profiled functions that only the earlier profile has.
    pub only_before: Vec<String>,
    /// Profiled functions that only the later profile has.
    pub only_after: Vec<String>,
}

impl Diff<'_> {
    /// Whether there is anything to tell.
    pub fn found(&self) -> bool {
        let paths = self.appeared.len() + self.vanished.len() + self.changed.len();
        let functions = self.incomparable.len() + self.only_before.len() + self.only_after.len();
        paths + functions > 0
    }
}

/// What changed from `before` to `after` in the selected functions; of paths that both have, only changes of the
/// share by at least `least` (1 is everything). O(functions + paths).
///
/// # Errors
/// Profiles of edges, or damaged ones.
pub fn diff<'a>(
    before: &'a Profile,
    after: &'a Profile,
    selection: &Selection,
    least: f64,
) -> Result<Diff<'a>> {
    before.must_count_paths()?;
    after.must_count_paths()?;
    let mut diff = Diff {
        before,
        after,
        appeared: Vec::new(),
        vanished: Vec::new(),
        changed: Vec::new(),
        steady: 0,
        incomparable: Vec::new(),
        only_before: Vec::new(),
        only_after: Vec::new(),
    };
    let pairs = pairs(&mut diff, selection);
    let totals = [total(before), total(after)];
    let frequency = |side: usize, count: u64| Frequency {
        count,
        share: count as f64 / totals[side],
    };
    type Found = (FuncId, PathId, Option<Frequency>, Option<Frequency>);
    let (mut old, mut new): (Vec<Found>, Vec<Found>) = (Vec::new(), Vec::new());
    for (f, g) in pairs {
        let earlier: BTreeMap<PathId, u64> = before.counts[f.index()].iter().copied().collect();
        for &(id, n) in &after.counts[g.index()] {
            let was = earlier.get(&id).map(|&n| frequency(0, n));
            let is = frequency(1, n);
            let change = was.map(|was| (is.share - was.share).abs());
            match change {
                Some(change) if change < least || change == 0.0 => diff.steady += 1,
                _ => new.push((g, id, was, Some(is))),
            }
        }
        let later: HashSet<PathId> = after.counts[g.index()].iter().map(|c| c.0).collect();
        let gone = earlier.iter().filter(|(id, _)| !later.contains(id));
        old.extend(gone.map(|(&id, &n)| (f, id, Some(frequency(0, n)), None)));
    }
    for (profile, found) in [(before, old), (after, new)] {
        let count =
            |was: Option<Frequency>, is: Option<Frequency>| is.or(was).map_or(0, |x| x.count);
        let wanted = found
            .iter()
            .map(|&(f, id, was, is)| (f, id, count(was, is)));
        let described = lines(profile, &wanted.collect::<Vec<_>>())?;
        for (line, (_, _, before, after)) in described.into_iter().zip(found) {
            let change = Change {
                line,
                before,
                after,
            };
            match (before, after) {
                (None, _) => diff.appeared.push(change),
                (_, None) => diff.vanished.push(change),
                _ => diff.changed.push(change),
            }
        }
    }
    for changes in [&mut diff.appeared, &mut diff.vanished, &mut diff.changed] {
        changes.sort_by(|a, b| b.change().abs().total_cmp(&a.change().abs()));
    }
    Ok(diff)
}

fn total(profile: &Profile) -> f64 {
    let counts = profile.counts.iter().flatten().map(|c| u128::from(c.1));
    counts.sum::<u128>().max(1) as f64
}

/// The functions that can be compared; the others are noted in `diff`.
fn pairs(diff: &mut Diff, selection: &Selection) -> Vec<(FuncId, FuncId)> {
    let (before, after) = (diff.before, diff.after);
    let index = Index::new(before);
    let mut known = HashSet::new();
    let mut pairs = Vec::new();
    for g in profiled(after, selection) {
        let entry = after.entry(g);
        let cfg = entry.cfg();
        let found = index.find(&Known {
            module: after.module(g),
            name: &entry.name,
            local: entry.linkage == Linkage::Local,
            cfg: &cfg,
        });
        match found {
            Match::Same(f) if before.entry(f).cuts == entry.cuts => {
                known.insert(f);
                pairs.push((f, g));
            }
            Match::Same(_) | Match::Changed => diff.incomparable.push(after.name(g)),
            Match::Unknown => diff.only_after.push(after.name(g)),
        }
    }
    let later = Index::new(after);
    for f in profiled(before, selection).filter(|f| !known.contains(f)) {
        let entry = before.entry(f);
        let cfg = entry.cfg();
        let found = later.find(&Known {
            module: before.module(f),
            name: &entry.name,
            local: entry.linkage == Linkage::Local,
            cfg: &cfg,
        });
        if found == Match::Unknown {
            diff.only_before.push(before.name(f));
        }
    }
    pairs
}

fn profiled<'a>(
    profile: &'a Profile,
    selection: &'a Selection,
) -> impl Iterator<Item = FuncId> + 'a {
    let all = (0..profile.manifest.functions.len()).map(FuncId::new);
    all.filter(|f| {
        let skipped = matches!(profile.entry(*f).status, Status::Skipped(_));
        !skipped && selection.admits(profile, *f)
    })
}

/// For people; of each kind of change at most `top`.
pub fn text(diff: &Diff, top: usize) -> String {
    let mut out = String::new();
    let kinds = [
        ("appeared", &diff.appeared, diff.after),
        ("vanished", &diff.vanished, diff.before),
        ("changed", &diff.changed, diff.after),
    ];
    for (what, changes, profile) in kinds {
        if changes.is_empty() {
            continue;
        }
        let n = grouped(changes.len() as u64);
        let _ = writeln!(out, "{BOLD}{n} paths {what}{BOLD:#}");
        for change in changes.iter().take(top) {
            let _ = writeln!(out, "{}", described(profile, change));
        }
        if changes.len() > top {
            let _ = writeln!(out, "  … and {} more", changes.len() - top);
        }
    }
    let functions = [
        (
            "control flow changed, paths not compared",
            &diff.incomparable,
        ),
        ("only in the earlier profile", &diff.only_before),
        ("only in the later profile", &diff.only_after),
    ];
    for (what, names) in functions.iter().filter(|(_, n)| !n.is_empty()) {
        let _ = writeln!(out, "{BOLD}{} functions {what}{BOLD:#}", names.len());
        for name in names.iter().take(top) {
            let _ = writeln!(out, "  {name}");
        }
        if names.len() > top {
            let _ = writeln!(out, "  … and {} more", names.len() - top);
        }
    }
    let _ = writeln!(out, "{} paths steady", grouped(diff.steady as u64));
    out
}

fn described(profile: &Profile, change: &Change) -> String {
    let line = &change.line;
    let side = |f: Option<Frequency>| match f {
        Some(f) => format!("{} ({:.2}%)", grouped(f.count), f.share * 100.0),
        None => "0".into(),
    };
    let where_ = match line.locs.is_empty() {
        true => {
            let blocks: Vec<String> = line.path.blocks.iter().map(|b| format!("b{b}")).collect();
            blocks.join("→")
        }
        false => place_lines(&profile.manifest.files, &line.locs),
    };
    let mut text = format!(
        "  {} → {}  {} #{}  {where_}",
        side(change.before),
        side(change.after),
        profile.name(line.func),
        line.id,
    );
    if !line.decisions.is_empty() {
        let _ = write!(text, "  {}", decisions(line, place));
    }
    text
}

#[derive(Serialize)]
struct Json<'a> {
    appeared: Vec<JsonPath<'a>>,
    vanished: Vec<JsonPath<'a>>,
    changed: Vec<JsonPath<'a>>,
    steady: usize,
    incomparable: &'a [String],
    only_before: &'a [String],
    only_after: &'a [String],
}

#[derive(Serialize)]
struct JsonPath<'a> {
    module: &'a str,
    name: &'a str,
    cfg: String,
    id: String,
    blocks: &'a [BlockId],
    before: Option<Frequency>,
    after: Option<Frequency>,
}

/// For other programs.
pub fn json(diff: &Diff) -> String {
    fn paths<'a>(profile: &'a Profile, changes: &'a [Change]) -> Vec<JsonPath<'a>> {
        let path = |c: &'a Change| JsonPath {
            module: profile.module(c.line.func),
            name: &profile.entry(c.line.func).name,
            cfg: profile.entry(c.line.func).cfg_hash(),
            id: c.line.id.to_string(),
            blocks: &c.line.path.blocks,
            before: c.before,
            after: c.after,
        };
        changes.iter().map(path).collect()
    }
    let json = Json {
        appeared: paths(diff.after, &diff.appeared),
        vanished: paths(diff.before, &diff.vanished),
        changed: paths(diff.after, &diff.changed),
        steady: diff.steady,
        incomparable: &diff.incomparable,
        only_before: &diff.only_before,
        only_after: &diff.only_after,
    };
    serde_json::to_string(&json).expect("a report serialises") + "\n"
}

/// One record for each path that appeared, vanished or changed, after a heading.
pub fn csv(diff: &Diff) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let heading = [
        "change",
        "module",
        "function",
        "id",
        "before",
        "after",
        "share_before",
        "share_after",
    ];
    out.write_record(heading).expect("memory takes everything");
    let kinds = [
        ("appeared", &diff.appeared, diff.after),
        ("vanished", &diff.vanished, diff.before),
        ("changed", &diff.changed, diff.after),
    ];
    for (what, changes, profile) in kinds {
        for c in changes {
            let count = |f: Option<Frequency>| f.map_or(0, |f| f.count).to_string();
            let share = |f: Option<Frequency>| format!("{:.6}", f.map_or(0.0, |f| f.share));
            let record = [
                what.to_string(),
                profile.module(c.line.func).to_string(),
                profile.entry(c.line.func).name.clone(),
                c.line.id.to_string(),
                count(c.before),
                count(c.after),
                share(c.before),
                share(c.after),
            ];
            out.write_record(record).expect("memory takes everything");
        }
    }
    let bytes = out.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("all fields are text")
}
