//! Lines and branches by source file, and the headline of a report: lines, branches, pairs of edges, and paths near those that ran.
//!
//! The share of all paths that control flow allows is no headline: where decisions are many, it is 0.00 % whatever tests do.

use super::{Coverage, Paths, Scope};
use crate::error::Result;
use crate::index::FuncId;
use crate::profile::Profile;
use crate::profile::counted::CountedFunction;
use crate::profile::lines::{SourceFile, by_line};
use crate::profile::report::Selection;
use crate::table::{grouped, percent};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines and branches by source file.
#[derive(Default)]
pub struct LineSums {
    /// By file.
    pub files: BTreeMap<String, FileSums>,
}

/// Lines and branches of one file.
pub struct FileSums {
    /// Lines with code, and those of them that ran.
    pub lines: Paths,
    /// Ways out of branches, and those of them that were taken.
    pub branches: Paths,
    /// The lines that did not run, ascending.
    pub missing: Vec<u32>,
}

impl LineSums {
    /// Of these functions, in the files that `scope` admits.
    ///
    /// # Errors
    /// A damaged profile.
    pub(super) fn new(profile: &Profile, functions: &[FuncId], scope: &Scope) -> Result<LineSums> {
        let counted = CountedFunction::of(profile, &Selection::default())?;
        let wanted = |f: &CountedFunction| functions.binary_search(&f.f).is_ok();
        let counted: Vec<_> = counted.into_iter().filter(wanted).collect();
        let files = by_line(profile, &counted, &scope.markers).into_iter();
        let files = files.filter(|(name, _)| scope.admits_file(name));
        Ok(LineSums {
            files: files
                .map(|(name, file)| (name.to_string(), FileSums::of(&file)))
                .collect(),
        })
    }

    /// The lines of all files.
    pub fn lines(&self) -> Paths {
        sum(self.files.values().map(|f| &f.lines))
    }

    /// The ways out of branches of all files.
    pub fn branches(&self) -> Paths {
        sum(self.files.values().map(|f| &f.branches))
    }
}

impl FileSums {
    fn of(file: &SourceFile) -> FileSums {
        let ways = file.branches.values().flatten().flatten();
        FileSums {
            lines: share(file.lines().map(|(_, n)| n > 0)),
            branches: share(ways.map(|n| n.is_some_and(|n| n > 0))),
            missing: file
                .lines()
                .filter(|(_, n)| *n == 0)
                .map(|(line, _)| line)
                .collect(),
        }
    }

    /// The lines that did not run as ranges: `12-14,20`.
    pub fn missing_ranges(&self) -> String {
        let ranges = self.missing.chunk_by(|a, b| *b == a + 1);
        let range = |r: &[u32]| match r {
            [only] => only.to_string(),
            _ => format!("{}-{}", r[0], r[r.len() - 1]),
        };
        ranges.map(range).collect::<Vec<_>>().join(",")
    }
}

fn sum<'a>(all: impl Iterator<Item = &'a Paths>) -> Paths {
    all.fold(Paths::default(), |mut sum, more| {
        sum.add(more);
        sum
    })
}

fn share(ran: impl Iterator<Item = bool>) -> Paths {
    ran.fold(Paths::default(), |sum, ran| Paths {
        executed: sum.executed + u128::from(ran),
        feasible: sum.feasible + 1,
    })
}

/// One measure: `lines 12 of 16 (75.00%)`.
pub fn headline_of(what: &str, numbers: &Paths) -> String {
    let (ran, all) = (grouped(numbers.executed), grouped(numbers.feasible));
    format!("{what} {ran} of {all} ({})", percent(numbers.share()))
}

/// All of them, those that there are any of.
pub(super) fn headline(coverage: &Coverage) -> String {
    let measures = [
        ("lines", coverage.lines.lines()),
        ("branches", coverage.lines.branches()),
        ("pairs of edges", coverage.total_pairs),
        ("paths near those that ran", coverage.near),
    ];
    let known = measures.iter().filter(|(_, numbers)| numbers.feasible > 0);
    let shown: Vec<String> = known
        .map(|(what, numbers)| headline_of(what, numbers))
        .collect();
    let mut out = String::new();
    if !shown.is_empty() {
        let _ = writeln!(out, "{}", shown.join(", "));
    }
    out
}
