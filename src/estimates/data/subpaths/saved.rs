//! Sampled subpaths in a profile's file.

use super::{HotList, Points, Sampling, Subpath, Subpaths};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sampled subpaths in serialised form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSample {
    sampling: Option<Sampling>,
    doublings: u32,
    blocks: u64,
    crowded: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    too_long: u64,
    /// Blocks and points, by ascending blocks.
    points: Vec<(Subpath, u64)>,
    /// Of a counting sample, for each of these: how many points it missed, and the variance of that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missed: Vec<(u64, u64)>,
}

impl SavedSample {
    pub(crate) fn new(sample: &Subpaths) -> SavedSample {
        let list = sample.sampling.as_ref().map(|s| s.list);
        let missed = sample.points.values().map(|n| (n.missed, n.variance));
        let points = sample.points.iter();
        SavedSample {
            missed: missed.filter(|_| list == Some(HotList::Counting)).collect(),
            sampling: sample.sampling.clone(),
            doublings: sample.doublings,
            blocks: sample.blocks,
            crowded: sample.crowded,
            too_long: sample.too_long,
            points: points.map(|(s, n)| (s.clone(), n.counted)).collect(),
        }
    }

    /// What it says of a program with so many blocks; `None` where something in it is out of range.
    pub(crate) fn check_ranges(self, all: usize) -> Option<Subpaths> {
        let known = |s: &Subpath| s.iter().all(|&b| (b as usize) < all);
        let sampled = |s: &Subpath| {
            let mut lengths = self.sampling.iter().flat_map(|s| &s.lengths);
            lengths.any(|l| l.blocks as usize == s.len())
        };
        let sound = self.points.windows(2).all(|w| w[0].0 < w[1].0)
            && self.sampling.as_ref().is_none_or(Sampling::is_sound)
            && self.doublings < 64
            && [0, self.points.len()].contains(&self.missed.len());
        let mut points = self.points.iter();
        if !sound || !points.all(|(s, n)| known(s) && sampled(s) && *n > 0) {
            return None;
        }
        Some(Subpaths {
            sampling: self.sampling,
            doublings: self.doublings,
            blocks: self.blocks,
            crowded: self.crowded,
            too_long: self.too_long,
            points: points_of(self.points, self.missed),
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn points_of(counted: Vec<(Subpath, u64)>, missed: Vec<(u64, u64)>) -> BTreeMap<Subpath, Points> {
    let missed = missed.into_iter().chain(std::iter::repeat((0, 0)));
    let points = |((subpath, counted), (missed, variance))| {
        let points = Points {
            counted,
            missed,
            variance,
        };
        (subpath, points)
    };
    counted.into_iter().zip(missed).map(points).collect()
}
