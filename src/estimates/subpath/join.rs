//! Longer subpaths, put together from sampled ones that overlap (slide 54 of the authors' talk).
//!
//! Nothing says that a joined subpath ran as a whole as often as its parts did: its count is at most that of each part.

use super::profile::SampledProfile;
use crate::estimates::data::Estimate;
use crate::estimates::data::subpaths::{Points, Subpath};
use std::collections::{HashMap, HashSet};

/// A subpath put together.
pub(crate) struct Joined {
    /// Its blocks.
    pub blocks: Vec<u32>,
    /// The fewest points of a part.
    pub points: Points,
    /// Of how many parts.
    pub parts: usize,
    /// The smallest estimate of a part.
    pub estimate: Estimate,
}

/// No joined subpath has more blocks.
const LONGEST: usize = 1 << 12;
/// A part is joined where its count is at least so much of that of what it is joined to: else another way is as likely.
const LEAST: f64 = 0.5;

/// The sampled subpaths, each extended as far as others follow that overlap it by half of their blocks; parts of others
/// are not shown by themselves. O(total length · log n).
pub(crate) fn join_overlapping(profile: SampledProfile) -> Vec<Joined> {
    let estimate = |s: &Subpath, n: Points| profile.estimate(s.len(), n);
    let seen = profile.sample.points_by_subpath();
    // Beginnings of others are parts of these.
    let own = profile.sample.points.keys();
    let mut order: Vec<(&Subpath, Points)> = own.map(|s| (s, seen[s])).collect();
    order.sort_by(|a, b| {
        let weight = |(s, n): &(&Subpath, Points)| estimate(s, *n).count * s.len() as f64;
        weight(b).total_cmp(&weight(a)).then_with(|| a.0.cmp(b.0))
    });
    // By their first halves: the hottest.
    let mut by_start: HashMap<&[u32], Vec<(&Subpath, Points)>> = HashMap::new();
    for &(s, n) in &order {
        if s.len() >= 2 {
            by_start.entry(&s[..s.len() / 2]).or_default().push((s, n));
        }
    }
    let mut used: HashSet<&Subpath> = HashSet::new();
    let mut joined = Vec::new();
    for (first, n) in order {
        if used.insert(first) {
            joined.push(extend(profile, (first, n), &by_start, &mut used));
        }
    }
    joined
}

fn extend<'a>(
    profile: SampledProfile,
    (first, n): (&'a Subpath, Points),
    by_start: &HashMap<&'a [u32], Vec<(&'a Subpath, Points)>>,
    used: &mut HashSet<&'a Subpath>,
) -> Joined {
    let mut joined = Joined {
        blocks: first.clone(),
        points: n,
        parts: 1,
        estimate: profile.estimate(first.len(), n),
    };
    let mut lengths: Vec<usize> = by_start.keys().map(|k| k.len()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    while joined.blocks.len() < LONGEST {
        // The longest overlap says most.
        let follows = lengths.iter().rev().find_map(|&half| {
            let end = joined.blocks.len().checked_sub(half)?;
            let candidates = by_start.get(&joined.blocks[end..])?;
            candidates.iter().find(|(s, n)| {
                let count = profile.estimate(s.len(), *n).count;
                !used.contains(s) && count >= joined.estimate.count * LEAST
            })
        });
        let Some(&(next, n)) = follows else { break };
        used.insert(next);
        joined.blocks.extend(&next[next.len() / 2..]);
        joined.parts += 1;
        joined.points = least_points(joined.points, n);
        let estimate = profile.estimate(next.len(), n);
        if estimate.count < joined.estimate.count {
            joined.estimate = estimate;
        }
    }
    joined
}

fn least_points(a: Points, b: Points) -> Points {
    if b.counted < a.counted { b } else { a }
}
