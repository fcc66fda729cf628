//! Estimates: what a sample says of a count, and how sure that is.

use serde::{Deserialize, Serialize};

/// The quantile of the normal distribution for intervals that hold the truth in 95 % of all cases.
pub const Z95: f64 = 1.959_963_984_540_054;

/// A count that was estimated, with its error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// What the count is expected to be; not negative.
    pub count: f64,
    /// Half of the interval around it that holds the true count in 95 % of all cases.
    pub half_width: f64,
}

impl Estimate {
    /// From the number of sample points where each occurrence became one with this probability (above 0, up to 1),
    /// independently of all others.
    ///
    /// Points are binomial; the half width is that of Wilson's score interval (*Probable Inference*, JASA 1927), which
    /// holds its level where few points are known, around the unbiased estimate.
    pub fn of_points(points: u64, probability: f64) -> Estimate {
        Estimate::of_uncertain(points, 0.0, probability)
    }

    /// From a number of sample points that is an estimate itself, of this variance, independent of which occurrences
    /// became points. Their probability is as in [`Estimate::of_points`].
    pub fn of_uncertain(points: u64, variance: f64, probability: f64) -> Estimate {
        let (n, rest) = (points as f64, 1.0 - probability);
        let variance = n * rest + Z95 * Z95 / 4.0 * rest * rest + variance;
        Estimate {
            count: n / probability,
            half_width: Z95 * variance.sqrt() / probability,
        }
    }

    /// A share, from 0 to 1, from the number of sample points that have a property, among so many that are independent
    /// of each other, where the former is itself known with this variance (0: it was counted). The interval holds
    /// Wilson's, whose middle is another; without points its half is 1.
    pub fn of_share(points: u64, all: u64, variance: f64) -> Estimate {
        if all == 0 {
            return Estimate {
                count: 0.0,
                half_width: 1.0,
            };
        }
        let (n, all) = (points as f64, all as f64);
        let (share, square) = (n / all, Z95 * Z95);
        let middle = (n + square / 2.0) / (all + square);
        let spread = n * (1.0 - share) + variance + square / 4.0;
        let half = Z95 * spread.sqrt() / (all + square);
        Estimate {
            count: share,
            half_width: ((middle - share).abs() + half).min(1.0),
        }
    }

    /// Half of the interval over the count: how far off it may be, relatively.
    pub fn relative_error(self) -> f64 {
        self.half_width / self.count
    }

    /// Whether its interval holds a count.
    pub fn contains(self, count: f64) -> bool {
        (self.count - count).abs() <= self.half_width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_is_known_where_all_are_sampled() {
        let all = Estimate::of_points(17, 1.0);
        assert_eq!((all.count, all.half_width), (17.0, 0.0));
        assert!(all.contains(17.0) && !all.contains(16.0));
    }

    /// Wilson's score test accepts no share outside of the interval.
    #[test]
    fn shares() {
        for (n, all) in [(0, 20), (3, 20), (500, 1000), (1000, 1000)] {
            let e = Estimate::of_share(n, all, 0.0);
            let deviates = |p: f64| {
                let error = (p * (1.0 - p) / all as f64).sqrt();
                (e.count - p).abs() > Z95 * error
            };
            for i in 1..1000 {
                let p = f64::from(i) / 1000.0;
                assert!(e.contains(p) || deviates(p), "{n} of {all}: {p} {e:?}");
            }
        }
        assert!((Estimate::of_share(500, 1000, 0.0).half_width - 0.031).abs() < 1e-3);
        assert_eq!(Estimate::of_share(0, 0, 0.0).half_width, 1.0);
    }

    #[test]
    fn many_points() {
        let e = Estimate::of_points(10_000, 0.01);
        assert_eq!(e.count, 1e6);
        // 1.96 · √(10,000 · 0.99) points.
        assert!((e.half_width / 19_500.0 - 1.0).abs() < 0.001, "{e:?}");
        assert!((e.relative_error() - 0.0195).abs() < 1e-4);
    }

    /// Of all binomial outcomes, those whose interval holds the truth have a probability of about 95 %, whatever is
    /// expected, as long as that is not next to nothing.
    #[test]
    fn intervals_hold_their_level() {
        let n = 100_000u64;
        for p in [5e-5f64, 1e-4, 2e-4, 5e-4, 1e-3] {
            let (mut density, mut held) = ((1.0 - p).powf(n as f64), 0.0);
            for points in 0..3000u64 {
                if Estimate::of_points(points, p).contains(n as f64) {
                    held += density;
                }
                density *= (n - points) as f64 / (points + 1) as f64 * p / (1.0 - p);
            }
            assert!((0.92..=0.98).contains(&held), "{p}: {held}");
        }
    }

    /// The intervals of counting samples hold 95 %: of n points those count that come after as many as a geometric
    /// distribution says, and the estimate is unbiased. (Where a subpath is expected to be listed: five thresholds of
    /// points.)
    #[test]
    fn intervals_of_counting_samples_hold_their_level() {
        for (points, threshold) in [(20, 4), (40, 8), (200, 8), (500, 64), (320, 64)] {
            let (p, all) = (1e-4f64, points * 10_000u64);
            let (mut density, mut held, mut mean) = ((1.0 - p).powf(all as f64), 0.0, 0.0);
            for n in 0..3 * points {
                let mut first = 1.0 / threshold as f64;
                let mut listed = 0.0;
                for before in 0..n {
                    let estimate = Estimate::of_uncertain(
                        n - before + threshold - 1,
                        (threshold * (threshold - 1)) as f64,
                        p,
                    );
                    held += density * first * f64::from(u8::from(estimate.contains(all as f64)));
                    mean += density * first * estimate.count;
                    listed += first;
                    first *= 1.0 - 1.0 / threshold as f64;
                }
                assert!(listed <= 1.0 + 1e-9);
                density *= (all - n) as f64 / (n + 1) as f64 * p / (1.0 - p);
            }
            let bias = (mean / all as f64 - 1.0).abs();
            assert!(bias < 1e-3, "{points} {threshold}: {bias}");
            assert!(
                (0.92..=0.98).contains(&held),
                "{points} {threshold}: {held}"
            );
        }
    }
}
