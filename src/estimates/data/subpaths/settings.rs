//! What is sampled, and how often.

use crate::estimates::data::interface::SamplingRequest;
use serde::{Deserialize, Serialize};

/// A length of subpaths, in blocks, and how often it is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// The number of blocks.
    pub blocks: u32,
    /// Of 2^32 samples, how many are expected to have it.
    pub chance: u64,
}

impl Length {
    /// The probability that a sample has it.
    pub fn probability(self) -> f64 {
        self.chance as f64 / (1u64 << 32) as f64
    }
}

/// How the list of hot subpaths is kept in its memory (Gibbons & Matias, SIGMOD 1998).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HotList {
    /// A concise sample: points are drawn the more rarely, the more often memory was full.
    #[default]
    Concise,
    /// A counting sample: points are drawn as often as at first, and those of a subpath all count
    /// from the one on by which it came to be listed.
    Counting,
}

impl HotList {
    fn is_concise(&self) -> bool {
        *self == HotList::Concise
    }
}

/// How subpaths were sampled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// The mean number of block executions between the beginnings of two samples, at first.
    pub period: u64,
    /// The lengths, ascending.
    pub lengths: Vec<Length>,
    /// Whether a subpath is one of an activation by itself, callees left out.
    pub within_functions: bool,
    /// How the list is kept.
    #[serde(default, skip_serializing_if = "HotList::is_concise")]
    pub list: HotList,
}

impl Sampling {
    /// Whether it can have been chosen: lengths ascending from 2 on, chances that add up.
    pub fn is_sound(&self) -> bool {
        let chances: u64 = self.lengths.iter().map(|l| l.chance.min(1 << 33)).sum();
        self.period > 0
            && self.lengths.iter().all(|l| l.blocks >= 1 && l.chance > 0)
            && self.lengths.windows(2).all(|w| w[0].blocks < w[1].blocks)
            && chances == 1 << 32
    }

    /// Lengths with chances in proportion to their number of blocks to the power of `-bias`. `None`
    /// where one would never be chosen.
    pub fn lengths_with_bias(lengths: &[u32], bias: f64) -> Option<Vec<Length>> {
        let weight = |&l: &u32| f64::from(l).powf(-bias);
        let sum: f64 = lengths.iter().map(weight).sum();
        let whole = (1u64 << 32) as f64;
        let chance = |l: &u32| Length {
            blocks: *l,
            chance: (weight(l) / sum * whole).round() as u64,
        };
        let mut lengths: Vec<Length> = lengths.iter().map(chance).collect();
        // What rounding left goes to the most frequent one.
        let rounded: u64 = lengths.iter().map(|l| l.chance).sum();
        let most = lengths.iter_mut().max_by_key(|l| l.chance)?;
        most.chance = (most.chance + (1 << 32)).checked_sub(rounded)?;
        let chosen = lengths.iter().all(|l| l.chance > 0);
        chosen.then_some(lengths)
    }
}

/// How a program is sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Period, lengths and kind of subpaths.
    pub sampling: Sampling,
    /// Bytes of the hot list, with what finds its entries.
    pub memory: u64,
    /// The seed, of this copy; `None`: each process draws one.
    pub seed: Option<u64>,
}

impl Settings {
    /// What is asked for; `None` where a length would never be chosen.
    pub(crate) fn new(asked: SamplingRequest) -> Option<Settings> {
        Some(Settings {
            sampling: Sampling {
                period: asked.period,
                lengths: Sampling::lengths_with_bias(asked.lengths, asked.bias)?,
                within_functions: asked.within_functions,
                list: if asked.counting {
                    HotList::Counting
                } else {
                    HotList::Concise
                },
            },
            memory: asked.memory,
            seed: asked.seed,
        })
    }

    /// All of it, as text that depends on no name in this code (see [`crate::write::options::Options::identity`]).
    pub(crate) fn identity(&self) -> String {
        let Sampling {
            period,
            lengths,
            within_functions,
            list,
        } = &self.sampling;
        let lengths = lengths.iter().map(|l| format!("{}:{}", l.blocks, l.chance));
        let lengths = lengths.collect::<Vec<_>>().join(",");
        let list = match list {
            HotList::Concise => "concise",
            HotList::Counting => "counting",
        };
        let seed = self.seed.map_or("drawn".into(), |seed| seed.to_string());
        format!(
            "period={period} lengths={lengths} within={within_functions} list={list} memory={} seed={seed}",
            self.memory
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_without_period_or_whole_chance_is_unsound() {
        let with = |blocks, chance| Sampling {
            period: 10,
            lengths: vec![Length { blocks, chance }],
            within_functions: false,
            list: HotList::Concise,
        };
        let good = with(2, 1 << 32);
        assert!(good.is_sound());
        assert!(!with(2, 1 << 31).is_sound() && !with(0, 1 << 32).is_sound());
        assert!(!Sampling { period: 0, ..good }.is_sound());
    }

    /// P(2^n) in proportion to 2^-n is the slides' choice.
    #[test]
    fn chance_follows_length_to_power_of_bias() {
        let chances = |lengths: &[u32], bias| {
            let lengths = Sampling::lengths_with_bias(lengths, bias)?;
            Some(lengths.iter().map(|l| l.probability()).collect::<Vec<_>>())
        };
        let third = 1.0 / 3.0;
        let close = |a: Vec<f64>, b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(close(chances(&[2, 4], 1.0).unwrap(), &[2.0 * third, third]));
        assert!(close(chances(&[3, 5, 9], 0.0).unwrap(), &[third; 3]));
        assert!(close(
            chances(&[2, 4], -1.0).unwrap(),
            &[third, 2.0 * third]
        ));
        assert_eq!(chances(&[2, 65536], 3.0), None);
        let lengths = Sampling::lengths_with_bias(&[2, 4, 8, 16, 32, 64, 128], 0.7).unwrap();
        assert_eq!(lengths.iter().map(|l| l.chance).sum::<u64>(), 1 << 32);
    }
}
