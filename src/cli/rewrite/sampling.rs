//! Options of `--scheme subpath`.

use crate::base::error::{Error, Result};
use crate::copies::strategy::Scheme;
use crate::estimates::data::{SamplingRequest, Settings};
use crate::runtime::abi::MOST_LENGTHS;
use clap::{Args, ValueEnum};

/// The mean number of blocks between two samples, at first.
const PERIOD: u64 = 20_000;
/// The lengths of subpaths.
const LENGTHS: [u32; 8] = [2, 4, 8, 16, 32, 64, 128, 256];
/// The hot list's bytes.
const MEMORY: u64 = 64 << 10;
/// More blocks than this are in no subpath.
const LONGEST: u32 = 1 << 16;
/// Larger periods are beyond what the runtime draws numbers for.
const LARGEST_PERIOD: u64 = 1 << 30;

/// How subpaths are sampled.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sampling of subpaths (--scheme subpath)")]
pub(super) struct SamplingArgs {
    /// Mean number of executed blocks from one sample to the next; it grows when memory is full
    /// [default: 20000]
    #[arg(long, hide_short_help = true, value_name = "BLOCKS",
          value_parser = clap::value_parser!(u64).range(2..=LARGEST_PERIOD))]
    period: Option<u64>,

    /// Lengths of subpaths in blocks, ascending [default: 2,4,8,…,256]
    #[arg(long, hide_short_help = true, value_name = "N,…", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=i64::from(LONGEST)))]
    lengths: Vec<u32>,

    /// How much rarer long subpaths are sampled: with a chance in proportion to 1/length^BIAS [default: 1]
    #[arg(
        long,
        hide_short_help = true,
        value_name = "BIAS",
        allow_negative_numbers = true
    )]
    bias: Option<f64>,

    /// Keep each subpath within one activation of a function [default: across calls and returns]
    #[arg(long, hide_short_help = true, value_enum, value_name = "WHAT")]
    within: Option<Within>,

    /// Size of the list of hot subpaths in bytes, at least 1024 [default: 65536]
    #[arg(long, hide_short_help = true, value_name = "BYTES",
          value_parser = clap::value_parser!(u64).range(1024..=1 << 30))]
    memory: Option<u64>,

    /// What happens to samples when memory is full
    #[arg(long, hide_short_help = true, value_enum, value_name = "KIND")]
    hot_list: Option<KindOfList>,

    /// Use this seed, so that every run samples the same blocks [default: a new seed for each run]
    #[arg(long, hide_short_help = true, value_name = "N")]
    seed: Option<u64>,
}

/// What subpaths stay in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Within {
    /// One activation of a function
    Functions,
}

/// What the list of hot subpaths is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindOfList {
    /// Samples become rarer, and cost the less, whenever it is full [default]
    Concise,
    /// Samples stay as frequent, and all count of subpaths that are listed: more accurate
    Counting,
}

impl SamplingArgs {
    /// What they ask for, where `scheme` samples.
    ///
    /// # Errors
    /// Options for another scheme, lengths out of order, a bias by which some length would never be chosen.
    pub(super) fn resolve(self, scheme: Scheme) -> Result<Option<Settings>> {
        if scheme != Scheme::Subpath {
            return match self.find_first_given() {
                Some(option) => Err(Error::Usage(format!(
                    "{option}: only --scheme subpath has this option; choose that scheme, or leave {option} out"
                ))),
                None => Ok(None),
            };
        }
        let lengths = if self.lengths.is_empty() {
            LENGTHS.to_vec()
        } else {
            self.lengths
        };
        check(&lengths)?;
        let bias = self.bias.unwrap_or(1.0);
        let settings = Settings::new(SamplingRequest {
            period: self.period.unwrap_or(PERIOD),
            lengths: &lengths,
            bias,
            within_functions: self.within == Some(Within::Functions),
            counting: self.hot_list == Some(KindOfList::Counting),
            memory: self.memory.unwrap_or(MEMORY),
            seed: self.seed,
        });
        let settings = settings.ok_or_else(|| {
            Error::Usage(format!(
                "--bias {bias}: some length would never be chosen; give a number nearer to 0"
            ))
        })?;
        Ok(Some(settings))
    }

    /// The first option that was given.
    fn find_first_given(&self) -> Option<&'static str> {
        let given = [
            ("--period", self.period.is_some()),
            ("--lengths", !self.lengths.is_empty()),
            ("--bias", self.bias.is_some()),
            ("--within", self.within.is_some()),
            ("--memory", self.memory.is_some()),
            ("--hot-list", self.hot_list.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        given
            .iter()
            .find(|(_, given)| *given)
            .map(|(name, _)| *name)
    }
}

fn check(lengths: &[u32]) -> Result<()> {
    let usage = |problem: String| Err(Error::Usage(format!("--lengths: {problem}")));
    if lengths.len() > MOST_LENGTHS as usize {
        return usage(format!(
            "{} lengths; give {MOST_LENGTHS} at most",
            lengths.len()
        ));
    }
    match lengths.windows(2).find(|w| w[0] >= w[1]) {
        Some(w) => usage(format!(
            "{} comes before {}; give the lengths in ascending order",
            w[0], w[1]
        )),
        None => Ok(()),
    }
}
