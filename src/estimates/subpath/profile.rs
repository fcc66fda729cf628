//! Profiles of sampled subpaths ([`crate::estimates::data::subpaths`]): what the points of a subpath say of how often
//! it ran.

use crate::base::error::Result;
use crate::estimates::data::subpaths::{Points, Subpaths};
use crate::estimates::data::{Estimate, Estimated};
use crate::profile::Profile;
use crate::profile::measurement::Measurement;

/// A profile of sampled subpaths. Made by [`Profile::as_sampled`].
#[derive(Clone, Copy)]
pub struct SampledProfile<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Its sample.
    pub sample: &'a Subpaths,
}

impl Profile {
    /// The profile as one of sampled subpaths.
    ///
    /// # Errors
    /// A profile of exact counts.
    pub fn as_sampled(&self) -> Result<SampledProfile<'_>> {
        match &self.measured {
            Measurement::Estimated(Estimated::Sampled(sample)) => Ok(SampledProfile {
                profile: self,
                sample,
            }),
            Measurement::Exact(_) | Measurement::Estimated(Estimated::Bursts(_)) => {
                Err(self.no_sample())
            }
        }
    }
}

impl SampledProfile<'_> {
    /// How often the average run of a copy was sampled: copies run alike, so each execution of a subpath could become a
    /// point in each of them.
    pub fn replicas(self) -> f64 {
        let processes = self.profile.processes.iter();
        // What was sampled after a reset begins in the middle, in all copies.
        let begun = processes.clone().any(|p| p.runs > 0);
        let runs = processes.map(|p| if begun { p.runs } else { p.children });
        let most = runs.clone().max().unwrap_or(0);
        if most == 0 {
            1.0
        } else {
            runs.map(f64::from).sum::<f64>() / f64::from(most)
        }
    }

    /// How often a subpath of so many blocks of which so many points were [seen](Subpaths::points_by_subpath) ran, in
    /// the runs of one copy.
    pub fn estimate(self, blocks: usize, points: Points) -> Estimate {
        let all = points.counted.saturating_add(points.missed);
        let one = Estimate::of_uncertain(all, points.variance as f64, self.probability(blocks));
        let replicas = self.replicas();
        Estimate {
            count: one.count / replicas,
            half_width: one.half_width / replicas,
        }
    }

    /// The probability with which an execution of a subpath of so many blocks became a point in a copy; 1 where no such
    /// length is sampled.
    fn probability(self, blocks: usize) -> f64 {
        let mean = self.sample.period() as f64;
        let of_length = self.sample.probability(blocks);
        of_length.map_or(1.0, |p| p / mean * self.recordable_share())
    }

    /// The share of the samples begun that could be recorded.
    fn recordable_share(self) -> f64 {
        let Subpaths {
            blocks, crowded, ..
        } = *self.sample;
        if crowded < blocks {
            (blocks - crowded) as f64 / blocks as f64
        } else {
            1.0
        }
    }

    /// Blocks executed in the runs of one copy, estimated.
    pub fn blocks(self) -> f64 {
        self.sample.blocks as f64 / self.replicas()
    }

    /// Blocks executed in the runs of one copy, with the error of the estimate. Each block execution began a sample
    /// with probability 1/period, and what a sample adds is its period: the variance is the sum of squares of these.
    /// Where the period grew they are not known one by one; the last one is the largest.
    pub fn estimate_executed(self) -> Estimate {
        let period = self.sample.period() as f64;
        let one = Estimate::of_points(self.begun_samples().round() as u64, 1.0 / period.max(1.0));
        Estimate {
            count: self.blocks(),
            half_width: one.half_width / self.replicas(),
        }
    }

    /// Samples that were begun, had all been drawn with the present period.
    pub(crate) fn begun_samples(self) -> f64 {
        self.sample.blocks as f64 / (self.sample.period() as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimates::data::subpaths::tests::sample;

    /// Each of eleven samples stands for ten blocks: as many are Poisson's, but for the tenth of blocks that began one.
    #[test]
    fn executed_blocks_have_an_error() {
        let mut profile = crate::profile::tests::views::profile();
        profile.measured = Measurement::Estimated(Estimated::Sampled(sample()));
        let executed = profile.as_sampled().unwrap().estimate_executed();
        let replicas = profile.as_sampled().unwrap().replicas();
        let one = Estimate::of_points(11, 0.1);
        assert_eq!(executed.count * replicas, 110.0);
        assert_eq!(executed.half_width * replicas, one.half_width);
    }
}
