//! Sampled subpaths: a uniform sample of the subpaths of chosen lengths that a program ran (`docs/SUBPATHS.md`).
//!
//! A subpath is any sequence of blocks that were executed one after the other. Every block execution became the
//! beginning of a sampled one with the same probability, so the number of points of a subpath estimates how often it
//! ran.

pub mod merge;
pub(crate) mod raw;
pub(crate) mod saved;
mod settings;

pub use settings::{HotList, Length, Sampling, Settings};

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A subpath: its blocks, numbered over all functions in the manifest's order.
pub type Subpath = Vec<u32>;

/// What a sample has of a subpath.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// The points that were counted (never zero).
    pub counted: u64,
    /// In counting samples, how many came before the first that was counted: what is expected.
    pub missed: u64,
    /// And the variance of their number.
    pub variance: u64,
}

impl Points {
    /// What is known of an entry of a list whose threshold was doubled so often. O(1).
    ///
    /// In a counting sample with threshold τ the first point that counts is the one by which the subpath came to be
    /// listed, as each did with probability 1/τ. Where nothing stands for what is not listed, τ − 1 for the points
    /// before makes the sum unbiased: by induction, E(n) = (n − 1 + τ)/τ + (1 − 1/τ) E(n − 1) = n. (Gibbons & Matias
    /// add 0.418 τ − 1, which is right on average over those that are listed, so that sums over subpaths are too low.)
    /// The variance of what is added is τ (τ − 1) · P(listed), so τ (τ − 1) where it is listed is its unbiased
    /// estimate.
    pub fn from_list(list: HotList, counted: u64, doublings: u32) -> Points {
        let threshold = match list {
            HotList::Concise => 1,
            HotList::Counting => 1u64 << doublings.min(31),
        };
        Points {
            counted,
            missed: threshold - 1,
            variance: threshold * (threshold - 1),
        }
    }

    /// Points of two samples together.
    pub fn add(&mut self, other: Points) {
        self.counted = self.counted.saturating_add(other.counted);
        self.missed = self.missed.saturating_add(other.missed);
        self.variance = self.variance.saturating_add(other.variance);
    }
}

/// The sample: points by subpath.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subpaths {
    /// How it was taken; `None` as long as nothing was sampled.
    pub sampling: Option<Sampling>,
    /// How often the threshold of the list was doubled, and with it the period of a concise sample; of a counting
    /// sample that was merged, at most.
    pub doublings: u32,
    /// Executed blocks, estimated from all samples that were begun, over all processes.
    pub blocks: u64,
    /// The part of them that samples stood for which could not be recorded.
    pub crowded: u64,
    /// Samples that took more bytes than the list has for one, and are in no count.
    pub too_long: u64,
    /// By subpath: its own sample points, of its length.
    pub points: BTreeMap<Subpath, Points>,
}

impl Subpaths {
    /// Blocks from one sample to the next on average, now; 0 as long as nothing was sampled.
    pub fn period(&self) -> u128 {
        let Some(sampling) = &self.sampling else {
            return 0;
        };
        match sampling.list {
            HotList::Concise => u128::from(sampling.period) << self.doublings.min(63),
            HotList::Counting => sampling.period.into(),
        }
    }

    /// Whether a sample of a subpath is also one of each shorter length that is sampled, of the blocks that it begins
    /// with.
    ///
    /// Its beginning was drawn before its length was, so it is, if whether it came to be listed does not depend on what
    /// follows those blocks: within functions a recording is lost where the activation ends, and a subpath can be too
    /// long for the list. What a counting sample expects before the first point that counts is for each entry by
    /// itself, and its variance would add up over all that begin alike.
    fn has_beginnings(&self) -> bool {
        let sampling = self.sampling.as_ref();
        let whole = |s: &Sampling| s.list == HotList::Concise && !s.within_functions;
        self.too_long == 0 && sampling.is_some_and(whole)
    }

    /// By subpath: the points that tell how often it ran. Those of all subpaths of its length, and of longer ones that
    /// begin with it, if these are such points: not within functions, nor where one was too long, nor of a counting
    /// sample. O(total length · lengths · log subpaths).
    pub fn points_by_subpath(&self) -> Cow<'_, BTreeMap<Subpath, Points>> {
        let Some(sampling) = self.sampling.as_ref().filter(|_| self.has_beginnings()) else {
            return Cow::Borrowed(&self.points);
        };
        let mut seen = self.points.clone();
        for (subpath, &points) in &self.points {
            let lengths = sampling.lengths.iter().map(|l| l.blocks as usize);
            for length in lengths.take_while(|l| *l < subpath.len()) {
                let beginning = subpath[..length].to_vec();
                seen.entry(beginning).or_default().add(points);
            }
        }
        Cow::Owned(seen)
    }

    /// The probability that a sample is one of a subpath of so many blocks; `None` where no such length is sampled.
    pub(crate) fn probability(&self, blocks: usize) -> Option<f64> {
        let lengths = &self.sampling.as_ref()?.lengths;
        let at = lengths.iter().position(|l| l.blocks as usize == blocks)?;
        let own = lengths[at].probability();
        let longer = lengths[at + 1..].iter().map(|l| l.probability());
        Some(if self.has_beginnings() {
            own + longer.sum::<f64>()
        } else {
            own
        })
    }

    /// All points that were counted.
    pub fn count_points(&self) -> u64 {
        self.points.values().map(|n| n.counted).sum()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn sample() -> Subpaths {
        let length = |blocks, chance| Length { blocks, chance };
        let quarter = 1 << 30;
        let one = |counted| Points::from_list(HotList::Concise, counted, 0);
        let points: [(&[u32], u64); 4] = [
            (&[1, 2], 5),
            (&[1, 2, 3, 4], 2),
            (&[1, 2, 3, 4, 5, 6], 1),
            (&[7, 8, 9, 9], 3),
        ];
        Subpaths {
            sampling: Some(Sampling {
                period: 10,
                lengths: vec![
                    length(2, 2 * quarter),
                    length(4, quarter),
                    length(6, quarter),
                ],
                within_functions: false,
                list: HotList::Concise,
            }),
            blocks: 110,
            points: points.map(|(s, n)| (s.to_vec(), one(n))).into(),
            ..Subpaths::default()
        }
    }

    fn of_length(sample: &Subpaths, length: usize) -> Vec<(u32, u64)> {
        let seen = sample.points_by_subpath();
        let of_length = seen.iter().filter(|(s, _)| s.len() == length);
        of_length.map(|(s, n)| (s[0], n.counted)).collect()
    }

    #[test]
    fn samples_are_of_what_they_begin_with() {
        let sample = sample();
        assert_eq!(of_length(&sample, 2), [(1, 8), (7, 3)]);
        assert_eq!(of_length(&sample, 4), [(1, 3), (7, 3)]);
        assert_eq!(of_length(&sample, 6), [(1, 1)]);
        let chances = [2, 4, 6, 5].map(|l| sample.probability(l));
        assert_eq!(chances, [Some(1.0), Some(0.5), Some(0.25), None]);
    }

    #[test]
    fn unless_some_were_lost() {
        let mut within = sample();
        within.sampling.as_mut().unwrap().within_functions = true;
        let mut counting = sample();
        counting.sampling.as_mut().unwrap().list = HotList::Counting;
        let too_long = Subpaths {
            too_long: 1,
            ..sample()
        };
        for sample in [within, counting, too_long] {
            assert_eq!(*sample.points_by_subpath(), sample.points);
            assert_eq!(sample.probability(4), Some(0.25));
        }
    }
}
