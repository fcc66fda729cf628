//! Sampled subpaths for people and programs.

mod csv;
mod folded;
mod groups;
mod json;
mod text;

pub use csv::render as csv;
pub use folded::{Piece, fold};
pub use json::render as json;
pub use text::{Texts, find_decisions, render as text};

use crate::base::index::{BlockId, CfgEdge, FuncId};
use crate::estimates::data::Estimate;
use crate::estimates::data::subpaths::Points;
use crate::estimates::subpath::join;
use crate::estimates::subpath::profile::SampledProfile;
use crate::input::ir::Loc;
use crate::paths::dag::EdgeKind;
use crate::profile::filter::Selection;
use crate::profile::{Profile, Structure};
use crate::read::report::steps::{StepRow, Steps, join_steps};
use crate::read::report::words::{Said, Words};
use crate::read::report::{Decision, To, take_up_to_choice};
use crate::read::source::Sources;
use std::collections::BTreeMap;

/// A block of a subpath.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramBlock {
    /// The function.
    pub func: FuncId,
    /// The block.
    pub block: BlockId,
}

/// A subpath, ready to be shown.
pub struct SubpathRow {
    /// Its blocks.
    pub places: Vec<ProgramBlock>,
    /// How many points of the sample are of it; of a joined one the fewest of its parts.
    pub points: Points,
    /// How often it ran.
    pub estimate: Estimate,
    /// The share of all executed blocks that it covers, at most.
    pub share: f64,
    /// Half of the 95 % interval of that share, before it was cut off at 1.
    pub share_half_width: f64,
    /// The blocks on which it ran by all that were executed: both are estimates, so in a tiny sample this may be more
    /// than all.
    ratio: f64,
    /// Of how many subpaths it was joined; 1: it was sampled.
    pub joined: usize,
}

impl SubpathRow {
    /// The share that it covers for sure, if what is known of its error is: this comes first, since a long subpath with
    /// one point may be anything.
    pub fn sure_share(&self) -> f64 {
        (self.ratio * (1.0 - self.estimate.relative_error())).clamp(0.0, 1.0)
    }
}

/// What a report shows.
pub struct Report<'a> {
    /// The profile.
    pub profile: SampledProfile<'a>,
    /// The subpaths that were selected, those first on which most blocks were executed, at least.
    pub rows: Vec<SubpathRow>,
    /// All others, in the same order.
    pub rest: Vec<SubpathRow>,
    /// How many were to be shown.
    pub top: usize,
    /// How many subpaths of the selected functions are known, those included with which others begin.
    pub distinct: usize,
    /// Points of the whole sample.
    pub points: u64,
    /// The source files that decisions are told by.
    pub sources: Sources,
}

impl<'a> Report<'a> {
    /// The subpaths that go through a function which `selection` admits. O(total length).
    pub fn new(profile: SampledProfile<'a>, selection: &Selection) -> Report<'a> {
        let seen = profile.sample.points_by_subpath();
        let rows = seen.iter();
        let numbers = Numbers::new(profile.profile);
        let rows = rows.map(|(s, &n)| row(profile, &numbers, s, n, 1));
        Report::assemble(profile, selection, rows.collect())
    }

    /// The subpaths through functions that `selection` admits; those that overlap are joined ([`join`]).
    pub fn from_joined(profile: SampledProfile<'a>, selection: &Selection) -> Report<'a> {
        let numbers = Numbers::new(profile.profile);
        let joined = join::join_overlapping(profile).into_iter();
        let rows = joined.map(|j| {
            let mut joined = row(profile, &numbers, &j.blocks, j.points, j.parts);
            joined.estimate = j.estimate;
            joined.ratio = ratio(profile, j.estimate, &j.blocks);
            joined.share = joined.ratio.min(1.0);
            joined.share_half_width = share_half_width(profile, joined.points, joined.ratio);
            joined
        });
        Report::assemble(profile, selection, rows.collect())
    }

    fn assemble(
        profile: SampledProfile<'a>,
        selection: &Selection,
        mut rows: Vec<SubpathRow>,
    ) -> Report<'a> {
        let admitted = |p: &ProgramBlock| selection.admits(profile.profile, p.func);
        rows.retain(|r| r.places.iter().any(admitted));
        rows.sort_by(|a, b| {
            let by_share = b.sure_share().total_cmp(&a.sure_share());
            let by_points = by_share.then_with(|| b.points.counted.cmp(&a.points.counted));
            by_points.then_with(|| a.places.cmp(&b.places))
        });
        let distinct = rows.len();
        let top = selection.top.unwrap_or(usize::MAX);
        let rest = rows.split_off(top.min(distinct));
        Report {
            profile,
            rows,
            rest,
            top,
            distinct,
            points: profile.sample.count_points(),
            sources: Sources::without_files(),
        }
    }

    /// The report with decisions in the words of `sources`.
    pub fn with_sources(self, sources: Sources) -> Report<'a> {
        Report { sources, ..self }
    }
}

fn row(
    profile: SampledProfile,
    numbers: &Numbers,
    blocks: &[u32],
    points: Points,
    joined: usize,
) -> SubpathRow {
    let estimate = profile.estimate(blocks.len(), points);
    let ratio = ratio(profile, estimate, blocks);
    SubpathRow {
        places: blocks.iter().map(|&b| numbers.place(b)).collect(),
        points,
        estimate,
        share: ratio.min(1.0),
        share_half_width: share_half_width(profile, points, ratio),
        ratio,
        joined,
    }
}

/// Half of the interval of a share that a subpath with such points covers: points by all samples that were begun, which
/// are both estimates.
fn share_half_width(profile: SampledProfile, points: Points, ratio: f64) -> f64 {
    let all = profile.begun_samples().round() as u64;
    let seen = points.counted.saturating_add(points.missed);
    let of_samples = Estimate::of_share(seen.min(all), all, points.variance as f64);
    of_samples.relative_error() * ratio
}

/// By all executed blocks, those that executions of the subpath cover, at most: of two that overlap, the later one
/// begins no sooner than its first repetition.
fn ratio(profile: SampledProfile, estimate: Estimate, blocks: &[u32]) -> f64 {
    estimate.count * repeats_after(blocks) as f64 / profile.blocks().max(1.0)
}

/// The least distance by which a sequence can be shifted so that it fits itself: its length, if it does not repeat.
/// (Knuth, Morris & Pratt.) O(n).
fn repeats_after(blocks: &[u32]) -> usize {
    let mut border = vec![0; blocks.len()];
    for i in 1..blocks.len() {
        let mut n: usize = border[i - 1];
        while n > 0 && blocks[n] != blocks[i] {
            n = border[n - 1];
        }
        border[i] = n + usize::from(blocks[n] == blocks[i]);
    }
    blocks.len() - border.last().copied().unwrap_or(0)
}

/// Numbers of blocks over all functions.
pub struct Numbers {
    /// By function: that of its first block.
    first: Vec<u32>,
}

impl Numbers {
    /// Those of a profile's manifest. O(functions).
    pub fn new(profile: &Profile) -> Numbers {
        Numbers {
            first: profile.manifest.first_blocks().collect(),
        }
    }

    /// Where a block is that some function has. O(log functions).
    pub fn place(&self, number: u32) -> ProgramBlock {
        let i = self.first.partition_point(|&first| first <= number) - 1;
        ProgramBlock {
            func: FuncId::new(i),
            block: BlockId(number - self.first[i]),
        }
    }
}

/// The source positions along a subpath, each once for as long as control stays there.
pub fn locs(profile: &Profile, places: &[ProgramBlock]) -> Vec<Loc> {
    let spans = places
        .iter()
        .flat_map(|p| profile.entry(p.func).spans(p.block));
    let mut locs: Vec<Loc> = spans.map(|s| s.loc).collect();
    locs.dedup();
    locs
}

/// The ways taken between blocks that follow each other in one function, where there are several and these tell: the
/// function, and what is decided.
fn decisions(profile: &Profile, sources: &Sources, places: &[ProgramBlock]) -> Vec<(FuncId, Said)> {
    let words = Words::new(profile, sources);
    let mut known: BTreeMap<FuncId, Option<Structure>> = BTreeMap::new();
    let mut decisions = Vec::new();
    for (i, pair) in places.windows(2).enumerate() {
        let (from, to) = (pair[0], pair[1]);
        let known = known.entry(from.func);
        let Some(structure) = known.or_insert_with(|| profile.structure(from.func).ok()) else {
            continue; // what is skipped has no paths
        };
        let block = structure.cfg.block(from.block);
        let mut ways = (0..).zip(&block.succs).filter(|(_, s)| **s == to.block);
        if let (true, 2.., Some((succ, _)), None) = (
            from.func == to.func,
            block.succs.len(),
            ways.next(),
            ways.next(),
        ) {
            let before = places[..i].iter().rev();
            let before = before.map_while(|b| (b.func == from.func).then_some(b.block));
            let decision = Decision {
                before: take_up_to_choice(before, |b| structure.cfg.block(b).succs.len()),
                block: from.block,
                succ,
                to: find_target(structure, &places[i..], succ),
                taken: block.terminator.edge_name(succ),
            };
            decisions.push((from.func, words.describe_decision(from.func, &decision)));
        }
    }
    decisions
}

/// Where control goes from the first of `places` on: to the next one of its function with a source position, or back to
/// a loop's header.
fn find_target(structure: &Structure, places: &[ProgramBlock], succ: u32) -> To {
    let (from, next) = (places[0], places[1]);
    let edge = structure.paths.dag.edge_of(CfgEdge {
        block: from.block,
        succ,
    });
    let kind = edge.map(|e| structure.paths.dag.edge(e).kind);
    if matches!(kind, Some(EdgeKind::BackEdge(_))) {
        return To::Back(next.block);
    }
    let within = places[1..].iter().take_while(|p| p.func == from.func);
    let mut placed = within.filter(|p| !structure.cfg.block(p.block).lines.is_empty());
    To::Block(placed.next().map_or(next.block, |p| p.block))
}

/// Decisions as steps in a line, each by itself, so that repetitions are equal; with the function where there are
/// several.
fn phrase_decisions(
    steps: &Steps,
    places: &[ProgramBlock],
    decisions: &[(FuncId, Said)],
) -> Vec<String> {
    let several = places.iter().any(|p| p.func != places[0].func);
    let phrases = decisions.iter().map(|(f, said)| {
        let mut rows = steps.decision_rows(*f, std::slice::from_ref(said));
        for row in &mut rows {
            if let (true, StepRow::Step(step)) = (several, row) {
                step.within.get_or_insert_with(|| steps.name(*f));
            }
        }
        join_steps(&rows)
    });
    phrases.filter(|p| !p.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::repeats_after;

    #[test]
    fn repetitions() {
        assert_eq!(repeats_after(&[1, 2, 3]), 3);
        assert_eq!(repeats_after(&[1, 1, 1]), 1);
        assert_eq!(repeats_after(&[1, 2, 1, 2, 1]), 2);
        assert_eq!(repeats_after(&[1, 2, 3, 1, 2]), 3);
        assert_eq!(repeats_after(&[1, 1, 2, 1, 1, 2]), 3);
        assert_eq!(repeats_after(&[]), 0);
    }
}
