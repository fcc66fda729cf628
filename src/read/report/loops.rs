//! Loops, as their paths tell of them.

use super::Report;
use super::figures::{WIDE, columns_for};
use super::steps::Steps;
use crate::base::error::Result;
use crate::base::index::{BlockId, CfgEdge, FuncId, TiSlice, TiVec};
use crate::base::rows::{Cell, Record, Table};
use crate::base::style::DIM;
use crate::base::table::{Layout, group_all_digits, number_of, percent};
use crate::input::ir::{Cfg, Loc, Site};
use crate::paths::dag::{Path, PathEnd, PathStart};
use crate::profile::Structure;
use crate::profile::measurement::PathProfile;
use anstyle::Style;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// In a narrow table, a longer place is on a line of its own.
const WIDEST_PLACE: usize = 16;

/// What ran of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRow {
    /// The function.
    pub func: FuncId,
    /// The block that back edges lead to.
    pub header: BlockId,
    /// How often the header ran.
    pub iterations: u64,
    /// How often it was entered from outside: by paths that do not begin at the header.
    pub entries: u64,
    /// Instructions of the paths that begin at the header: of all iterations but the first of each entry.
    pub instructions: u128,
    /// How many different paths begin there.
    pub paths: usize,
    /// How often the loop's test failed before the header, so that it was not entered: an optimiser put a copy of the
    /// test there and made a `do` of a `while`. 0 where the header is the test, or no copy is known.
    pub not_entered: u64,
    /// How many entries had one iteration, two, and more. `None` where a call returns twice: such a path has one
    /// beginning and several ends.
    pub trips: Option<Trips>,
}

/// Entries of a loop by their iterations. Paths end at back edges, and which iteration followed which is not recorded,
/// so these are the least and the most that agree with the counts of all paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trips {
    /// Entries with exactly one iteration.
    pub once: RangeInclusive<u64>,
    /// Entries with exactly two.
    pub twice: RangeInclusive<u64>,
    /// Entries with three or more.
    pub more: RangeInclusive<u64>,
}

/// Paths that enter a loop, by what ends them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entering {
    /// The loop is left: there is no second iteration.
    leave: u64,
    /// The second iteration begins.
    repeat: u64,
    /// A loop inside goes round: what ends the first iteration is another path.
    within: u64,
}

impl Entering {
    fn count_all(self) -> u64 {
        self.leave + self.repeat + self.within
    }

    /// What agrees with `back` executions of the back edges to the header. An entry with n iterations takes n − 1 of
    /// them: if `on` entries have a second iteration, `back - on` more are left for a third or later one.
    fn trips(self, back: u64) -> Option<Trips> {
        let least = self.repeat.max(u64::from(back > 0));
        let most = (self.repeat + self.within).min(back);
        if least > most {
            return None;
        }
        // More entries have a third iteration if neither entries nor back edges are short.
        let even = (back / 2).clamp(least, most);
        let least_more = u64::from(back > most);
        Some(Trips {
            once: self.count_all() - most..=self.count_all() - least,
            twice: (2 * least).saturating_sub(back)..=most - least_more,
            more: least_more..=even.min(back - even),
        })
    }
}

/// The loops of `functions` that went round, those with most instructions first. O(total path length).
pub fn collect(paths: PathProfile, functions: &[FuncId]) -> Result<Vec<LoopRow>> {
    let of = functions.par_iter().map(|&f| of_function(paths, f));
    let mut rows = of.collect::<Result<Vec<_>>>()?.concat();
    rows.sort_by_key(|r| (Reverse(r.instructions), r.func, r.header));
    Ok(rows)
}

fn of_function(paths: PathProfile, f: FuncId) -> Result<Vec<LoopRow>> {
    let profile = paths.profile();
    let counts = paths.counts(f);
    if counts.is_empty() {
        return Ok(Vec::new());
    }
    let structure = profile.structure(f)?;
    let mut decoded: Vec<(Path, u64)> = Vec::new();
    for &(id, count) in counts {
        let edges = profile.decode(f, &structure, id)?;
        decoded.push((structure.paths.dag.path(&edges), count));
    }
    let predecessors = structure.cfg.predecessors();
    let rows = headers(&structure, &decoded).into_iter();
    Ok(rows
        .map(|(header, back)| row(f, &structure, &predecessors, &decoded, header, back))
        .collect())
}

/// The headers that back edges led to, and how often; cut edges end paths, too, but lead to no loop.
fn headers(structure: &Structure, paths: &[(Path, u64)]) -> BTreeMap<BlockId, u64> {
    let mut back: BTreeMap<BlockId, u64> = BTreeMap::new();
    for (path, count) in paths {
        if let PathEnd::Back(edge, to) = path.end
            && structure.paths.cuts.binary_search(&edge).is_err()
        {
            *back.entry(to).or_default() += count;
        }
    }
    back
}

fn row(
    func: FuncId,
    structure: &Structure,
    predecessors: &TiSlice<BlockId, Vec<BlockId>>,
    paths: &[(Path, u64)],
    header: BlockId,
    back: u64,
) -> LoopRow {
    let cfg = &structure.cfg;
    let body = body(structure, predecessors, header);
    let failing = failing_tests_before(cfg, predecessors, header, &body);
    let mut not_entered = 0;
    let mut entering = Entering::default();
    let (mut instructions, mut distinct) = (0, 0);
    for (path, count) in paths {
        if !failing.is_empty() && edges_of(path).any(|edge| failing.contains(&edge)) {
            not_entered += count;
        }
        if path.start == PathStart::Loop && path.blocks[0] == header {
            let length = path
                .blocks
                .iter()
                .map(|b| u64::from(cfg.block(*b).instructions));
            instructions += u128::from(length.sum::<u64>()) * u128::from(*count);
            distinct += 1;
        } else if path.blocks.contains(&header) {
            *match path.end {
                PathEnd::Back(_, to) if to == header => &mut entering.repeat,
                PathEnd::Back(_, to) if body[to] => &mut entering.within,
                _ => &mut entering.leave,
            } += count;
        }
    }
    let returns_twice = cfg.blocks.iter().any(|b| b.returns_twice);
    LoopRow {
        func,
        header,
        iterations: entering.count_all() + back,
        entries: entering.count_all(),
        instructions,
        paths: distinct,
        not_entered,
        trips: entering.trips(back).filter(|_| !returns_twice),
    }
}

/// The control-flow edges of a path.
fn edges_of(path: &Path) -> impl Iterator<Item = CfgEdge> + '_ {
    let last = match path.end {
        PathEnd::Back(edge, _) => Some(edge.succ),
        PathEnd::Exit => None,
    };
    let succs = path.succs.iter().copied().chain(last);
    let edge = |(&block, succ)| CfgEdge { block, succ };
    path.blocks.iter().zip(succs).map(edge)
}

/// The ways past a loop out of copies of its test that stand before it: a test that control comes to on the way to the
/// header, at the place of one by which the loop is left, comparing at the same place. None where an iteration may have
/// been taken out of the loop, since the test behind that is a copy, too, or where all is at one place, as what a macro
/// stands for. O(edges).
fn failing_tests_before(
    cfg: &Cfg,
    predecessors: &TiSlice<BlockId, Vec<BlockId>>,
    header: BlockId,
    body: &TiVec<BlockId, bool>,
) -> BTreeSet<CfgEdge> {
    let test = |b: BlockId| -> Option<(Site, [u32; 2])> {
        let choice = cfg.block(b).choice.as_ref()?;
        let (site, at) = (choice.site?, choice.by.test.as_ref()?.at?);
        (at != [site.loc.line, site.column]).then_some((site, at))
    };
    let leaves = |b: &BlockId| body[*b] && cfg.block(*b).succs.iter().any(|s| !body[*s]);
    let tests: Vec<_> = cfg.ids().filter(leaves).filter_map(test).collect();
    if tests.is_empty() {
        return BTreeSet::new();
    }
    let lines = |inside: bool| {
        let blocks = cfg.ids().filter(move |b| body[*b] == inside);
        let spans = blocks.flat_map(|b| &cfg.block(b).lines);
        spans.map(|s| (s.loc, s.inlined)).collect::<BTreeSet<_>>()
    };
    let of_tests: BTreeSet<_> = tests.iter().map(|(s, _)| (s.loc, s.inlined)).collect();
    let mut of_iterations = lines(true);
    of_iterations.retain(|line| !of_tests.contains(line));
    if of_iterations.is_empty() || !of_iterations.is_disjoint(&lines(false)) {
        return BTreeSet::new();
    }
    // Blocks from which control comes to the header, unless a copy of the test fails on the way.
    let mut entering = BTreeSet::from([header]);
    let mut open = vec![header];
    while let Some(b) = open.pop() {
        for &before in predecessors[b].iter().filter(|before| !body[**before]) {
            let is_straight = cfg.block(before).succs.iter().all(|s| *s == b);
            let is_copy = || test(before).is_some_and(|t| tests.contains(&t));
            if (is_straight || is_copy()) && entering.insert(before) {
                open.push(before);
            }
        }
    }
    let edges = entering.iter().filter(|b| !body[**b]).flat_map(|&block| {
        let succs = cfg.block(block).succs.iter().zip(0..);
        succs.map(move |(to, succ)| (CfgEdge { block, succ }, *to))
    });
    let failing = edges.filter(|(_, to)| !entering.contains(to));
    failing.map(|(edge, _)| edge).collect()
}

/// By block: whether control may go from it back to `header` by a back edge without coming through the header before.
/// O(edges).
pub(super) fn body(
    structure: &Structure,
    before: &TiSlice<BlockId, Vec<BlockId>>,
    header: BlockId,
) -> TiVec<BlockId, bool> {
    let Structure { cfg, paths } = structure;
    let mut inside = cfg.by_block(false);
    inside[header] = true;
    let back = paths.shape.order.back_edges(cfg);
    let back = back.filter(|(_, to)| *to == header);
    let mut open: Vec<BlockId> = back.map(|(edge, _)| edge.block).collect();
    while let Some(b) = open.pop() {
        if !std::mem::replace(&mut inside[b], true) {
            open.extend(&before[b]);
        }
    }
    inside
}

/// The columns of loops.
fn table<'a>(report: &'a Report, steps: &'a Steps) -> Table<'a, LoopRow> {
    let profile = report.profile;
    let all = report.total_instructions.max(1) as f64;
    let share = move |r: &LoopRow| Cell::Share(r.instructions as f64 / all);
    let position = |l: Loc| Cell::Both([l.file.into(), l.line.into()]);
    let both = |range: &RangeInclusive<u64>| Cell::Both([*range.start(), *range.end()]);
    let trips = move |trips: &Trips| {
        let bounds = [
            ("once", &trips.once),
            ("twice", &trips.twice),
            ("more", &trips.more),
        ];
        Cell::Object(Record(bounds.map(|(key, range)| (key, both(range))).into()))
    };
    Table::new()
        .json("module", |r: &LoopRow| profile.module(r.func).to_string())
        .json("function", |r| profile.entry(r.func).name.clone())
        // No other loop of the function has this name.
        .json("name", |r| steps.loop_at(r.func, r.header))
        .json("header", |r| r.header.0)
        .json("position", move |r| {
            steps.loop_loc(r.func, r.header).map(position)
        })
        .text("share", share)
        .text_and_json("iterations", "iterations", |r| r.iterations)
        .text_and_json("entries", "entered", |r| r.entries)
        .text("mean", |r| {
            let mean = r.iterations as f64 / r.entries.max(1) as f64;
            Cell::Figure(format!("{mean:.1}"))
        })
        .json("instructions", |r| r.instructions)
        .json("instruction_share", share)
        .text_and_json("paths", "paths", |r| r.paths)
        .json("not_entered", |r| {
            (r.not_entered > 0).then_some(r.not_entered)
        })
        .json("trips", move |r| r.trips.as_ref().map(trips))
}

/// For programs: each loop.
pub(super) fn records(report: &Report) -> Vec<Record> {
    let steps = Steps::new(report.profile, &report.sources, true);
    let table = table(report, &steps);
    report.loops.iter().map(|row| table.record(row)).collect()
}

/// Loops by the instructions of the paths that begin at their headers: their iterations.
pub(super) fn text(report: &Report, steps: &Steps, top: usize, layout: Layout) -> String {
    let columns = table(report, steps).keep_text(columns_for(layout, 5));
    let mut table = columns.begin_columns("loop");
    for row in report.loops.iter().take(top) {
        let place = steps.place_of(row.func, row.header);
        // What is cut out of a place tells loops apart.
        let below = layout.width < WIDE && place.len() > WIDEST_PLACE;
        let beside = match layout.width {
            _ if below => String::new(),
            0..WIDE => format!("  {place}"),
            _ => format!(" · {}", steps.loop_at(row.func, row.header)),
        };
        table.add_named_row(columns.cells(row), steps.name(row.func), beside);
        if below {
            table.add_text(1, Style::new(), format!("loop at {place}"));
        }
        if let Some(trips) = trips(row) {
            table.add_text(1, DIM, trips);
        }
        if row.not_entered > 0 {
            let n = number_of(row.not_entered, "time");
            let told = format!("not entered {n}: its test failed before the first iteration");
            table.add_text(1, DIM, told);
        }
    }
    if report.loops.len() > top {
        let more = group_all_digits((report.loops.len() - top) as u64);
        table.add_text(
            0,
            DIM,
            format!("… and {more} more (--top {})", report.loops.len()),
        );
    }
    format!("\n{}", table.render(layout))
}

/// How many entries of a loop had how many iterations, as far as paths prove more than the other columns say.
fn trips(row: &LoopRow) -> Option<String> {
    let trips = row.trips.as_ref().filter(|_| row.entries > 1)?;
    let share = |n: u64| percent(n as f64 / row.entries as f64);
    let is_exact = |range: &RangeInclusive<u64>| range.start() == range.end();
    let shown = |range: &RangeInclusive<u64>| {
        Some(match (*range.start(), *range.end()) {
            (_, 0) => return None,
            (least, most) if least == most => format!("{} of entries", share(least)),
            (0, most) => format!("at most {}", share(most)),
            (least, most) => format!("{} to {}", share(least), share(most)),
        })
    };
    let several = row.entries - trips.once.start();
    let known = [
        ("1", &trips.once, *trips.once.end() < row.entries),
        ("2", &trips.twice, *trips.twice.start() > 0),
        ("3 or more", &trips.more, *trips.more.end() < several),
    ];
    let known = known
        .into_iter()
        .filter(|(_, range, says_more)| is_exact(range) || *says_more);
    let known = known.filter_map(|(n, range, _)| Some(format!("{n} in {}", shown(range)?)));
    let mut parts: Vec<String> = known.collect();
    if is_exact(&trips.once) && *trips.once.start() > 0 && several > 0 {
        let mean = (row.iterations - trips.once.start()) as f64 / several as f64;
        parts.push(format!("{mean:.1} on average in the others"));
    }
    (!parts.is_empty()).then(|| format!("iterations: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to give `back` back edges to entries agree with the bounds, and each bound is met by one.
    #[test]
    fn trips_are_tight_bounds() {
        fn ways(left: &[RangeInclusive<u64>], back: u64, seen: &mut Vec<[u64; 3]>, now: [u64; 3]) {
            let Some((first, rest)) = left.split_first() else {
                if back == 0 {
                    seen.push(now);
                }
                return;
            };
            for n in first.clone().filter(|n| *n <= back) {
                let mut next = now;
                next[n.min(2) as usize] += 1;
                ways(rest, back - n, seen, next);
            }
        }
        for (leave, repeat, within, back) in numbers(4, 7) {
            let entering = Entering {
                leave,
                repeat,
                within,
            };
            let entries = [(leave, 0..=0), (repeat, 1..=back), (within, 0..=back)];
            let entries = entries.into_iter();
            let entries = entries.flat_map(|(n, range)| vec![range; n as usize]);
            let mut seen = Vec::new();
            ways(&entries.collect::<Vec<_>>(), back, &mut seen, [0; 3]);
            let range = |i: usize| {
                let n = || seen.iter().map(|s| s[i]);
                n().min().unwrap()..=n().max().unwrap()
            };
            let expected = (!seen.is_empty()).then(|| Trips {
                once: range(0),
                twice: range(1),
                more: range(2),
            });
            assert_eq!(entering.trips(back), expected, "{entering:?}, {back}");
        }
    }

    /// Numbers of entries below `n` of each kind, and of back edges below `back`.
    fn numbers(n: u64, back: u64) -> impl Iterator<Item = (u64, u64, u64, u64)> {
        let all = (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)));
        let all = all.flat_map(move |(a, b)| (0..n).map(move |c| (a, b, c)));
        all.flat_map(move |(a, b, c)| (0..back).map(move |d| (a, b, c, d)))
    }
}
