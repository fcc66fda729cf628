//! The kinds of estimates: the only place that names all of them.

use super::bursts::{self, Burst, Bursts, ShadowsOfProcess};
use super::interface::{EstimatedProgram, Kind, Overflow, Place, Refused, Size};
use super::subpaths::merge::{SamplePart, union};
use super::subpaths::{self, Subpaths};
use crate::base::error::Error;
use crate::base::index::{CopyId, FuncId};
use crate::base::table::group_all_digits;
use crate::runtime::format;
use crate::runtime::problem::Problem;
use crate::runtime::window::Window;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zerocopy::byteorder::ByteOrder;

pub use super::bursts::Bursts as SavedBursts;
pub use super::subpaths::Settings;
pub use super::subpaths::saved::SavedSample;

/// The estimates of a profile.
#[derive(Clone, Debug, PartialEq)]
pub enum Estimated {
    /// A sample of subpaths.
    Sampled(Subpaths),
    /// Paths in bursts, a sample as well.
    Bursts(Bursts),
}

impl Estimated {
    /// Of so many functions, before anything has run.
    pub(crate) fn empty(kind: Kind, functions: usize) -> Estimated {
        match kind {
            Kind::Subpaths => Estimated::Sampled(Subpaths::default()),
            Kind::Bursts => Estimated::Bursts(Bursts::empty(functions)),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Estimated::Sampled(_) => Kind::Subpaths,
            Estimated::Bursts(_) => Kind::Bursts,
        }
    }

    /// Of how many paths of function `f` it is known that they ran; subpaths are of no one function.
    pub(crate) fn count_distinct(&self, f: FuncId) -> usize {
        match self {
            Estimated::Sampled(_) => 0,
            Estimated::Bursts(bursts) => bursts.counts[f].len(),
        }
    }

    /// What there is, and how much of it.
    pub(crate) fn describe_amount(&self) -> (&'static str, String) {
        match self {
            Estimated::Sampled(sample) => {
                let sampled = group_all_digits(sample.count_points());
                ("subpaths", format!("{sampled} sampled"))
            }
            Estimated::Bursts(bursts) => ("bursts", group_all_digits(bursts.number())),
        }
    }

    /// As it is in a file.
    pub(crate) fn to_saved(&self) -> Saved {
        match self {
            Estimated::Sampled(sample) => Saved {
                sample: Some(SavedSample::new(sample)),
                bursts: None,
            },
            Estimated::Bursts(bursts) => Saved {
                sample: None,
                bursts: Some(bursts.clone()),
            },
        }
    }

    /// What was in a file, of a program of this size.
    ///
    /// # Errors
    /// The part of it that contradicts the rest.
    pub(crate) fn read(kind: Kind, saved: Saved, size: Size) -> Result<Estimated, &'static str> {
        match kind {
            Kind::Subpaths => {
                let sample = saved.sample.ok_or("no sample")?.check_ranges(size.blocks);
                Ok(Estimated::Sampled(sample.ok_or("the sample")?))
            }
            Kind::Bursts => {
                let bursts = saved.bursts.ok_or("no bursts")?;
                let sound = bursts.is_sound(size.functions);
                let bursts = sound.then_some(bursts).ok_or("the bursts")?;
                Ok(Estimated::Bursts(bursts))
            }
        }
    }
}

/// Estimates in the payload of a profile's file: of one kind at most.
#[derive(Default)]
pub(crate) struct Saved {
    pub sample: Option<SavedSample>,
    pub bursts: Option<SavedBursts>,
}

/// What one raw profile has of estimates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InRaw {
    /// Sampled subpaths, where the program samples.
    pub sample: Option<Subpaths>,
    /// What shadows counted.
    pub bursts: Vec<Burst>,
    /// What became of shadows: of one process, or none.
    pub shadows: Vec<ShadowsOfProcess>,
}

impl InRaw {
    /// Reads a block of this kind.
    pub(crate) fn read<O: ByteOrder>(
        &mut self,
        kind: u32,
        window: &mut Window<O>,
        place: Place,
    ) -> Result<(), Problem> {
        match kind {
            format::SAMPLE => self.sample = Some(subpaths::raw::read(window, place)?),
            format::BURST => self.bursts.push(bursts::raw::read(window, place)?),
            format::SHADOWS => {
                let numbers = bursts::raw::numbers(window, place.inside);
                self.shadows.push(numbers?);
            }
            _ => unreachable!("it is checked before"),
        }
        Ok(())
    }

    /// The functions that are named.
    pub(crate) fn functions(&self) -> impl Iterator<Item = FuncId> {
        self.bursts.iter().flat_map(|b| &b.paths).map(|p| p.0)
    }
}

/// What files hold of one program.
#[derive(Default)]
pub(crate) struct Gathered {
    samples: Vec<SamplePart>,
    bursts: BTreeMap<CopyId, bursts::merge::GatheredBursts>,
    /// Those of merged profiles, with the files.
    merged: Vec<(PathBuf, Bursts)>,
}

impl Gathered {
    /// Adds what a raw profile of `copy` holds.
    ///
    /// # Errors
    /// Counts that overflow.
    pub(crate) fn add(
        &mut self,
        copy: CopyId,
        unique: [u8; 16],
        raw: InRaw,
    ) -> Result<(), Overflow> {
        let bursts = self.bursts.entry(copy).or_default();
        bursts.add(&raw.bursts, &raw.shadows)?;
        let sample = raw.sample.map(|sample| SamplePart { unique, sample });
        self.samples.extend(sample);
        Ok(())
    }

    /// Adds the estimates of a merged profile, which is of the same rewriting. `unique` is a digest of all that is in
    /// it.
    pub(crate) fn add_merged(&mut self, file: &Path, unique: [u8; 16], estimated: &mut Estimated) {
        match estimated {
            Estimated::Sampled(sample) => self.samples.push(SamplePart {
                unique,
                sample: std::mem::take(sample),
            }),
            Estimated::Bursts(bursts) => {
                let bursts = std::mem::take(bursts);
                self.merged.push((file.to_path_buf(), bursts));
            }
        }
    }

    /// What all of it says. Samples are raised at once.
    ///
    /// # Errors
    /// What is of another program, was taken in another way, or overflows.
    pub(crate) fn finish(self, program: &EstimatedProgram) -> Result<Estimated, Refused> {
        match program.kind {
            Kind::Subpaths => {
                let sample = union(self.samples).map_err(|e| Refused::Foreign(e.to_string()))?;
                check_blocks(&sample, program.size.blocks)?;
                Ok(Estimated::Sampled(sample))
            }
            Kind::Bursts => Ok(Estimated::Bursts(self.finish_bursts(program)?)),
        }
    }

    fn finish_bursts(self, program: &EstimatedProgram) -> Result<Bursts, Refused> {
        let functions = program.size.functions;
        let mut all = Bursts::empty(functions);
        let mut add = |more: &Bursts, file: &Path| {
            let overflow = || Error::profile(file, "a count overflows", "merge fewer runs");
            let added = all.add(more).then_some(());
            added.ok_or_else(|| Refused::Told(overflow()))
        };
        for (copy, mut of_copy) in self.bursts {
            let damaged = |e: Overflow| Error::profile(program.path, e, "run the program again");
            let counted = of_copy.count_untimed();
            counted.map_err(|e| Refused::Told(damaged(e)))?;
            let canonical = |f, counts: &_| (program.canonical)(copy, f, counts);
            let more = of_copy
                .finish(functions, canonical)
                .map_err(Refused::Told)?;
            add(&more, program.path)?;
        }
        for (file, more) in &self.merged {
            add(more, file)?;
        }
        Ok(all)
    }
}

/// Every block of the sample is one of the program.
fn check_blocks(sample: &Subpaths, blocks: usize) -> Result<(), Refused> {
    let largest = sample.points.keys().flatten().max();
    match largest.filter(|&&b| b as usize >= blocks) {
        Some(b) => Err(Refused::Foreign(format!("the manifest has no block {b}"))),
        None => Ok(()),
    }
}
