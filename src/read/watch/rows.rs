//! The rows of a look: paths, or subpaths, with shares and rates.

use super::counts::{Count, CountKey, Counted, Counts, count_noun};
use super::estimates;
use crate::base::error::{Error, Result};
use crate::base::index::{FuncId, PathId};
use crate::base::table::Layout;
use crate::base::table::group_all_digits;
use crate::estimates::data;
use crate::profile::Profile;
use crate::profile::measurement::{Exact, Measurement};
use crate::read::report::lines;
use crate::read::report::steps::Steps;
use crate::read::source::{Search, Sources};
use std::collections::HashMap;

/// What rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// Paths, counted.
    Paths,
    /// Sampled subpaths: counts are estimates.
    Subpaths,
    /// Paths in the bursts of shadows: shares are estimates.
    Bursts,
}

impl RowKind {
    /// What a profile has rows of.
    ///
    /// # Errors
    /// Counts of edges.
    pub(super) fn kind_of(profile: &Profile) -> Result<RowKind> {
        match &profile.measured {
            Measurement::Exact(Exact::Paths(_)) => Ok(RowKind::Paths),
            Measurement::Estimated(estimated) => Ok(match estimated.kind() {
                data::Kind::Subpaths => RowKind::Subpaths,
                data::Kind::Bursts => RowKind::Bursts,
            }),
            Measurement::Exact(Exact::Edges(_)) => Err(Error::profile(
                &profile.path,
                "its copies count edges, not paths",
                "use p3-prof merge, then p3-prof show --edges",
            )),
        }
    }
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowOrder {
    /// The largest share of what was executed.
    #[default]
    Share,
    /// What ran most often since rates began.
    Rate,
    /// What ran most often.
    Count,
    /// What has most blocks.
    Length,
}

impl RowOrder {
    /// The next one, around.
    pub(crate) fn next(self) -> RowOrder {
        match self {
            RowOrder::Share => RowOrder::Rate,
            RowOrder::Rate => RowOrder::Count,
            RowOrder::Count => RowOrder::Length,
            RowOrder::Length => RowOrder::Share,
        }
    }

    /// In a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            RowOrder::Share => "share",
            RowOrder::Rate => "rate",
            RowOrder::Count => "count",
            RowOrder::Length => "length",
        }
    }
}

/// A path or subpath.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WatchRow {
    /// How often it ran.
    pub count: f64,
    /// Half of the 95 % interval of the count (subpaths), or of the share (bursts).
    pub error: Option<f64>,
    /// How often in a second, since rates began.
    pub rate: Option<f64>,
    /// Its share of executed instructions (paths), blocks (subpaths, at most) or paths (bursts).
    pub share: f64,
    /// How many blocks it has.
    pub blocks: usize,
    /// The function; of a subpath all of it.
    pub name: String,
    /// What follows that.
    pub rest: String,
    /// Lines and decisions.
    pub details: Vec<String>,
}

/// What was counted, in one line.
pub(super) fn totals(profile: &Profile, counts: &Counts) -> String {
    let distinct = group_all_digits(counts.count_distinct() as u64);
    match &profile.measured {
        Measurement::Estimated(estimated) => estimates::totals(estimated, counts, &distinct),
        Measurement::Exact(_) => {
            let (total, rate) = (count_noun(counts.total, "path"), counts.rate_of("paths"));
            format!("{total} executed{rate}, {distinct} distinct")
        }
    }
}

/// What is known of paths from earlier looks.
#[derive(Default)]
pub(super) struct Rows {
    /// Instructions and blocks.
    sizes: HashMap<(FuncId, PathId), (u64, usize)>,
    texts: HashMap<CountKey, (String, String, Vec<String>)>,
    sources: Option<Sources>,
}

impl Rows {
    /// What `profile` counts. O(paths), and the length of those that were not seen before.
    pub(super) fn counts(&mut self, profile: &Profile) -> Result<Counts> {
        let expected;
        let (counts, shares) = match &profile.measured {
            Measurement::Exact(Exact::Paths(counts)) => (counts, None),
            Measurement::Exact(Exact::Edges(_)) => {
                return RowKind::kind_of(profile).map(|_| Counts::default());
            }
            Measurement::Estimated(estimated) => match estimates::count(profile, estimated)? {
                Counted::Subpaths(counts) => return Ok(counts),
                Counted::Paths(counts, shares) => {
                    expected = counts;
                    (&expected, Some(shares))
                }
            },
        };
        let all = (0..).zip(counts).flat_map(|(f, of)| {
            let f = FuncId(f);
            of.iter().map(move |(id, n)| (f, *id, *n))
        });
        let all: Vec<(FuncId, PathId, u64)> = all.collect();
        self.measure(profile, &all)?;
        let instructions =
            |&(f, id, n): &(FuncId, PathId, u64)| n as f64 * self.sizes[&(f, id)].0 as f64;
        let executed: f64 = all.iter().map(instructions).sum();
        let count = |path: &(FuncId, PathId, u64)| {
            let (f, id, n) = *path;
            let share = instructions(path) / executed.max(1.0);
            let mut count = Count {
                key: CountKey::Path(f, id),
                count: n as f64,
                error: None,
                share,
                sure: share,
                blocks: self.sizes[&(f, id)].1,
                rate: None,
            };
            if let Some(shares) = &shares {
                let [share, half_width] = shares(f, id);
                (count.share, count.error) = (share, Some(half_width));
                count.sure = share;
            }
            count
        };
        Ok(Counts {
            total: all.iter().map(|p| p.2 as f64).sum(),
            all: all.iter().map(count).collect(),
            rate: None,
        })
    }

    /// Finds out how long those paths are that were not seen before.
    fn measure(&mut self, profile: &Profile, all: &[(FuncId, PathId, u64)]) -> Result<()> {
        let new = all.iter().filter(|p| !self.sizes.contains_key(&(p.0, p.1)));
        let new: Vec<_> = new.copied().collect();
        for line in lines(profile, &new)? {
            let size = (line.instructions, line.path.blocks.len());
            self.sizes.insert((line.func, line.id), size);
        }
        Ok(())
    }

    /// The first rows.
    pub(super) fn first_rows(
        &mut self,
        profile: &Profile,
        counts: &Counts,
        order: RowOrder,
        top: usize,
    ) -> Result<Vec<WatchRow>> {
        let mut all: Vec<&Count> = counts.all.iter().collect();
        let value = |c: &Count| match order {
            RowOrder::Share => c.sure,
            RowOrder::Rate => c.rate.unwrap_or(0.0),
            RowOrder::Count => c.count,
            RowOrder::Length => c.blocks as f64,
        };
        // What is equal stays in the order of reports.
        all.sort_by(|a, b| {
            let by_value = value(b).total_cmp(&value(a));
            by_value.then_with(|| b.sure.total_cmp(&a.sure))
        });
        all.truncate(top);
        self.add_words(profile, &all)?;
        Ok(all.into_iter().map(|c| self.row(c)).collect())
    }

    fn row(&self, c: &Count) -> WatchRow {
        let (name, rest, details) = self.texts[&c.key].clone();
        WatchRow {
            count: c.count,
            error: c.error,
            rate: c.rate,
            share: c.share,
            blocks: c.blocks,
            name,
            rest,
            details,
        }
    }

    /// Finds the words for those that have none yet.
    fn add_words(&mut self, profile: &Profile, all: &[&Count]) -> Result<()> {
        let Rows { texts, sources, .. } = self;
        let sources = sources.get_or_insert_with(|| profile.sources(Search::default()));
        let steps = Steps::new(profile, sources, false);
        let mut new = Vec::new();
        for c in all {
            if texts.contains_key(&c.key) {
                continue;
            }
            match &c.key {
                CountKey::Path(f, id) => new.push((*f, *id, 0)),
                CountKey::Subpath(places) => {
                    let (blocks, details) = estimates::words(&steps, sources, places);
                    texts.insert(c.key.clone(), (blocks, String::new(), details));
                }
            }
        }
        for line in lines(profile, &new)? {
            let rest = format!("{} #{}", steps.start(&line), line.id);
            let details = steps.lines(&line, Layout::default(), 0);
            let text = (steps.name(line.func), rest, details);
            texts.insert(CountKey::Path(line.func, line.id), text);
        }
        Ok(())
    }
}
