//! Sampled subpaths: a uniform sample of the subpaths of chosen lengths that a program ran (`docs/SUBPATHS.md`).
//!
//! A subpath is any sequence of blocks that were executed one after the other. Every block execution became the
//! beginning of a sampled one with the same probability, so the number of points of a subpath estimates how often it ran.

pub mod join;
pub mod merge;
pub mod report;

pub use crate::plan::subpaths::{Length, Sampling};

use super::Profile;
use super::estimate::Estimate;
use super::measurement::Measurement;
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// A subpath: its blocks, numbered over all functions in the manifest's order.
pub type Subpath = Vec<u32>;

/// The sample: points by subpath.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subpaths {
    /// How it was taken; `None` as long as nothing was sampled.
    pub sampling: Option<Sampling>,
    /// How often the period was doubled.
    pub doublings: u32,
    /// Executed blocks, estimated from all samples that were begun, over all processes.
    pub blocks: u64,
    /// The part of them that samples stood for which could not be recorded.
    pub crowded: u64,
    /// By subpath: its sample points (never zero).
    pub points: BTreeMap<Subpath, u64>,
}

/// A profile of sampled subpaths. Made by [`Profile::sampled`].
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
    pub fn sampled(&self) -> Result<SampledProfile<'_>> {
        match &self.measured {
            Measurement::Sampled(sample) => Ok(SampledProfile {
                profile: self,
                sample,
            }),
            Measurement::Paths(_) | Measurement::Edges(_) | Measurement::Bursts(_) => {
                Err(Error::profile(
                    &self.path,
                    "it holds exact counts, no sample",
                    "show it without --longest",
                ))
            }
        }
    }
}

impl SampledProfile<'_> {
    /// How often the average run of a copy was sampled: copies run alike, so each execution of a subpath could become a point
    /// in each of them.
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

    /// How often a subpath of so many blocks with so many points ran, in the runs of one copy.
    pub fn estimate(self, blocks: usize, points: u64) -> Estimate {
        let one = Estimate::of_points(points, self.probability(blocks));
        let replicas = self.replicas();
        Estimate {
            count: one.count / replicas,
            half_width: one.half_width / replicas,
        }
    }

    /// The probability with which an execution of a subpath of so many blocks became a point in a copy; 1 where no such length
    /// is sampled.
    fn probability(self, blocks: usize) -> f64 {
        let Some(sampling) = &self.sample.sampling else {
            return 1.0;
        };
        let mut lengths = sampling.lengths.iter();
        let length = lengths.find(|l| l.blocks as usize == blocks);
        let mean = sampling.period as f64 * 2f64.powi(self.sample.doublings as i32);
        length.map_or(1.0, |l| l.probability() / mean * self.recorded())
    }

    /// The share of the samples begun that could be recorded.
    fn recorded(self) -> f64 {
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
}
