//! Samples of several processes → one. Concise samples are raised to the largest threshold, then added (Gibbons &
//! Matias, *New Sampling-Based Summary Statistics for Improving Approximate Query Answers*, SIGMOD 1998). Of counting
//! samples, whose points were all drawn with one period, the estimates are added, and their variances: nothing is lost
//! by that.

use super::{HotList, Subpaths};

/// A sample, and what is unique to what it was taken from: thinning it is random, and must not depend on the order of
/// files.
pub struct SamplePart {
    /// Of the raw profile, or of a merged one a digest of them.
    pub unique: [u8; 16],
    /// The sample.
    pub sample: Subpaths,
}

/// Samples that were taken in different ways say nothing together.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was sampled with another period, other lengths or another kind of list")]
pub struct SampledOtherwise;

/// The union of `parts`, which must have been taken in one way. O(points).
///
/// # Errors
/// Samples that were taken in different ways.
pub fn union(mut parts: Vec<SamplePart>) -> Result<Subpaths, SampledOtherwise> {
    parts.retain(|p| p.sample.sampling.is_some());
    parts.sort_by_key(|p| p.unique);
    let mut all = Subpaths {
        doublings: parts.iter().map(|p| p.sample.doublings).max().unwrap_or(0),
        ..Subpaths::default()
    };
    for part in parts {
        let sampling = all.sampling.take().or_else(|| part.sample.sampling.clone());
        all.sampling = sampling.filter(|s| part.sample.sampling.as_ref() == Some(s));
        if all.sampling.is_none() {
            return Err(SampledOtherwise);
        }
        let raised = raise_threshold(part, all.doublings);
        all.blocks = all.blocks.saturating_add(raised.blocks);
        all.crowded = all.crowded.saturating_add(raised.crowded);
        all.too_long = all.too_long.saturating_add(raised.too_long);
        for (subpath, n) in raised.points {
            all.points.entry(subpath).or_default().add(n);
        }
    }
    Ok(all)
}

/// A sample at a threshold that is doubled so often: each point of a concise one stays with the probability by which
/// that makes points rarer.
fn raise_threshold(part: SamplePart, doublings: u32) -> Subpaths {
    let SamplePart { unique, mut sample } = part;
    let list = sample.sampling.as_ref().map(|s| s.list);
    if list == Some(HotList::Counting) {
        return sample;
    }
    let mut coins = Coins::new(unique);
    for _ in sample.doublings..doublings {
        sample.points.retain(|_, n| {
            n.counted = coins.heads(n.counted);
            n.counted > 0
        });
    }
    sample.doublings = doublings;
    sample
}

/// Tossed coins: bits of a keyed hash.
struct Coins(blake3::OutputReader);

impl Coins {
    fn new(seed: [u8; 16]) -> Coins {
        let mut hash = blake3::Hasher::new();
        hash.update(b"p3 subpaths: thinning");
        Coins(hash.update(&seed).finalize_xof())
    }

    /// How many of `n` coins show heads. O(n / 64).
    fn heads(&mut self, n: u64) -> u64 {
        let (mut left, mut heads) = (n, 0);
        while left > 0 {
            let mut word = [0; 8];
            self.0.fill(&mut word);
            let used = left.min(64);
            let mask = u64::MAX >> (64 - used);
            heads += u64::from((u64::from_le_bytes(word) & mask).count_ones());
            left -= used;
        }
        heads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimates::data::subpaths::{Length, Points, Sampling, Subpath};
    use std::collections::BTreeMap;

    fn part_of_points(unique: u8, doublings: u32, points: &[(&[u32], u64)]) -> SamplePart {
        part_of(HotList::Concise, unique, doublings, points)
    }

    fn part_of(list: HotList, unique: u8, doublings: u32, points: &[(&[u32], u64)]) -> SamplePart {
        let length = Length {
            blocks: 2,
            chance: 1 << 32,
        };
        let sampling = Sampling {
            period: 10,
            lengths: vec![length],
            within_functions: false,
            list,
        };
        let listed = |(s, n): &(&[u32], u64)| (s.to_vec(), Points::from_list(list, *n, doublings));
        SamplePart {
            unique: [unique; 16],
            sample: Subpaths {
                sampling: Some(sampling),
                doublings,
                blocks: 1000,
                crowded: 10,
                too_long: 0,
                points: points.iter().map(listed).collect(),
            },
        }
    }

    fn count_subpaths(all: &Subpaths) -> BTreeMap<Subpath, u64> {
        let points = all.points.iter();
        points.map(|(s, n)| (s.clone(), n.counted)).collect()
    }

    /// Nothing of counting samples is thinned: each stands for what it missed at its own threshold.
    #[test]
    fn counting_samples_add_up() {
        let part =
            |unique, doublings, points| part_of(HotList::Counting, unique, doublings, points);
        let parts = |last| {
            vec![
                part(1, 1, &[(&[0, 1], 5), (&[3, 4], 1)]),
                part(2, 3, &[(&[0, 1], 70)]),
                part(last, 0, &[(&[0, 1], 1)]),
            ]
        };
        let all = union(parts(0)).unwrap();
        let both = Points {
            counted: 76,
            missed: 1 + 7,
            variance: 2 + 56,
        };
        assert_eq!(all.points[&vec![0, 1]], both);
        assert_eq!(all.points[&vec![3, 4]].missed, 1);
        assert_eq!(all.doublings, 3);
        assert_eq!(all, union(parts(9)).unwrap());
        let concise = part_of(HotList::Concise, 4, 0, &[]);
        assert!(union(vec![part(1, 0, &[]), concise]).is_err());
    }

    #[test]
    fn equal_thresholds_add_up() {
        let a = part_of_points(1, 3, &[(&[0, 1], 5), (&[1, 2], 1)]);
        let b = part_of_points(2, 3, &[(&[0, 1], 2)]);
        let all = union(vec![a, b]).unwrap();
        let points = BTreeMap::from([(vec![0, 1], 7), (vec![1, 2], 1)]);
        assert_eq!(
            (count_subpaths(&all), all.doublings, all.blocks),
            (points, 3, 2000)
        );
    }

    /// Estimates stay those of both: a threshold that was doubled three times leaves an eighth of the points.
    #[test]
    fn the_lower_threshold_is_raised() {
        let (a, b) = (
            part_of_points(1, 0, &[(&[0, 1], 80_000)]),
            part_of_points(2, 3, &[(&[0, 1], 7)]),
        );
        let all = union(vec![a, b]).unwrap();
        let n = all.points[&vec![0, 1]].counted - 7;
        // 10,000 ± 4 standard deviations.
        assert!(n.abs_diff(10_000) < 4 * 94, "{n}");
        assert_eq!(all.doublings, 3);
    }

    #[test]
    fn the_order_is_no_matter() {
        let parts = || {
            vec![
                part_of_points(1, 0, &[(&[0, 1], 1000), (&[3, 4], 3)]),
                part_of_points(2, 5, &[(&[0, 1], 9)]),
                part_of_points(3, 2, &[(&[3, 4], 200)]),
            ]
        };
        let mut turned = parts();
        turned.reverse();
        assert_eq!(union(parts()), union(turned));
    }

    #[test]
    fn samples_of_other_kinds_are_refused() {
        let mut b = part_of_points(2, 0, &[]);
        b.sample.sampling.as_mut().unwrap().period = 11;
        assert!(union(vec![part_of_points(1, 0, &[]), b]).is_err());
        assert_eq!(union(Vec::new()), Ok(Subpaths::default()));
    }
}
