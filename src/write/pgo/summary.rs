//! `llvm::ProfileSummary` of counters (InstrProfSummaryBuilder), and what is hot and cold by it.

use crate::write::emit::annotate::Summary;
use std::collections::BTreeMap;

/// Shares of the total for which the summary says how many counters make them up, in millionths.
const CUTOFFS: [u32; 16] = [
    10_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000,
    950_000, 990_000, 999_000, 999_900, 999_990, 999_999,
];
/// What belongs to the hottest counters that make up this share is hot.
const HOT: u32 = 990_000;
/// What does not belong to those that make up this share is cold.
const COLD: u32 = 999_999;

/// The summary of the counters of all functions. O(n log n).
pub(super) fn summary<'a>(functions: impl Iterator<Item = &'a [u64]>) -> Summary {
    let mut summary = Summary::default();
    let mut frequencies: BTreeMap<u64, u32> = BTreeMap::new();
    for counters in functions {
        let Some((first, internal)) = counters.split_first() else {
            continue;
        };
        summary.functions += 1;
        summary.max_function = summary.max_function.max(*first);
        let largest = internal.iter().copied().max().unwrap_or(0);
        summary.max_internal = summary.max_internal.max(largest);
        for &n in counters {
            summary.total = summary.total.saturating_add(n);
            summary.max = summary.max.max(n);
            summary.counters += 1;
            *frequencies.entry(n).or_default() += 1;
        }
    }
    let mut descending = frequencies.into_iter().rev();
    let (mut sum, mut seen, mut least) = (0u128, 0u32, 0u64);
    for cutoff in CUTOFFS {
        let wanted = u128::from(summary.total) * u128::from(cutoff) / 1_000_000;
        while sum < wanted {
            let Some((count, times)) = descending.next() else {
                break;
            };
            least = count;
            sum += u128::from(count) * u128::from(times);
            seen += times;
        }
        summary.detailed.push((cutoff, least, seen));
    }
    summary
}

/// Counts from which on, and up to which, LLVM calls code hot and cold.
pub(super) struct Thresholds {
    hot: u64,
    cold: u64,
}

impl Thresholds {
    /// The thresholds by a program's summary.
    pub(super) fn new(summary: &Summary) -> Thresholds {
        let least = |share| {
            let entry = summary.detailed.iter().find(|d| d.0 >= share);
            entry.map_or(0, |d| d.1)
        };
        Thresholds {
            hot: least(HOT),
            cold: least(COLD),
        }
    }

    /// Whether code that ran so often is hot; nothing is in a program that did not run.
    pub(super) fn is_hot(&self, count: u64) -> bool {
        self.hot > 0 && count >= self.hot
    }

    /// Whether a function whose hottest block ran so often is cold.
    pub(super) fn is_cold(&self, count: u64) -> bool {
        self.hot > 0 && count <= self.cold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_of_one_loop_is_that_of_llvm() {
        let summary = summary([&[100, 1, 34][..]].into_iter());
        let numbers = (
            summary.total,
            summary.max,
            summary.max_internal,
            summary.max_function,
        );
        assert_eq!(numbers, (135, 100, 34, 100));
        assert_eq!((summary.counters, summary.functions), (3, 1));
        assert_eq!(summary.detailed[0], (10_000, 100, 1));
        assert_eq!(summary.detailed[8], (800_000, 34, 2));
        assert_eq!(summary.detailed[15], (999_999, 34, 2));
        let thresholds = Thresholds::new(&summary);
        assert!(thresholds.is_hot(34) && !thresholds.is_hot(33));
        assert!(thresholds.is_cold(34) && !thresholds.is_cold(35));
    }

    #[test]
    fn summary_of_no_counts_has_zeros() {
        let summary = summary([&[0, 0][..], &[]].into_iter());
        assert_eq!(
            (summary.total, summary.counters, summary.functions),
            (0, 2, 1)
        );
        let thresholds = Thresholds::new(&summary);
        assert!(!thresholds.is_hot(0) && !thresholds.is_cold(0));
    }
}
