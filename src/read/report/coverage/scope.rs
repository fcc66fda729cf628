//! Which functions a coverage report is about, and in which order.

use super::patch::Touched;
use super::{FunctionCoverage, file};
use crate::base::index::{BlockId, FuncId, IdSet};
use crate::base::names::may_print;
use crate::base::table::number_of;
use crate::input::ir::Loc;
use crate::profile::Profile;
use crate::read::analysis::lines::Harness;
use crate::read::report::positions::base_name;
use crate::read::source::markers::Markers;
use crate::read::source::root::Root;
use crate::read::source::{is_of_the_system, repository};
use regex::Regex;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The files whose functions are counted.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Only files that match.
    pub file: Option<Regex>,
    /// Not files that match.
    pub exclude: Option<Regex>,
    /// Files of the system and of toolchains, too.
    pub all: bool,
    /// The folder that reports name files from: patterns match these names, too.
    pub root: String,
    /// Only paths through lines that a patch touched.
    pub touched: Option<Touched>,
    /// Lines that markers leave out, with all paths through what is on them alone.
    pub markers: Markers,
    /// Only functions that never ran.
    pub never_ran: bool,
    /// Keep functions that markers leave out altogether, for reports that are not about coverage alone.
    pub keeps_left_out: bool,
}

/// How many functions a [`Scope`] leaves out, and why.
#[derive(Default)]
pub(super) struct LeftOut {
    /// By `--file` or `--exclude`.
    by_patterns: usize,
    /// The options that were given of these two.
    patterns: &'static str,
    /// Those that `--all` adds.
    of_the_system: usize,
}

impl LeftOut {
    /// A line for each reason.
    pub(super) fn describe(&self) -> String {
        let mut out = String::new();
        let are = |n: usize| {
            let verb = if n == 1 { "is" } else { "are" };
            (number_of(n as u64, "function"), verb)
        };
        if self.by_patterns > 0 {
            let (n, verb) = are(self.by_patterns);
            let _ = writeln!(
                out,
                "{n} of other files {verb} left out by {}",
                self.patterns
            );
        }
        if self.of_the_system > 0 {
            let (n, verb) = are(self.of_the_system);
            let _ = writeln!(out, "{n} of the system {verb} left out (--all adds them)");
        }
        out
    }
}

impl Scope {
    /// Whether a source file is one of those.
    pub fn admits_file(&self, name: &str) -> bool {
        (self.all || !is_of_the_system(name)) && self.patterns_admit(name)
    }

    /// Whether `--file` and `--exclude` admit a source file.
    fn patterns_admit(&self, name: &str) -> bool {
        let printed = [Root(&self.root).name(name), &base_name(name)];
        let matches = |re: &Regex| {
            let is_printed = |n: &&str| re.is_match(n) || may_print(re.as_str(), n);
            re.is_match(name) || printed.iter().any(is_printed)
        };
        self.file.as_ref().is_none_or(matches) && !self.exclude.as_ref().is_some_and(matches)
    }

    /// Whether it is said what may have run: of a selection of paths, what the others may have run is no question,
    /// unless a patch asks.
    pub(super) fn tells_unknown(&self, profile: &Profile) -> bool {
        self.touched.is_some() || !profile.is_selective()
    }

    /// The number of these functions that are left out, and why.
    pub(super) fn count_left_out(&self, profile: &Profile, functions: &[FuncId]) -> LeftOut {
        let is_of_tests = self.find_left_out_tests(profile);
        let files = functions.iter().map(|f| (*f, file(profile, *f)));
        let mut left_out = LeftOut {
            patterns: match (&self.file, &self.exclude) {
                (_, None) => "--file",
                (None, _) => "--exclude",
                _ => "--file and --exclude",
            },
            ..LeftOut::default()
        };
        for (f, name) in files {
            if !self.patterns_admit(&name) {
                left_out.by_patterns += 1;
            } else if !self.admits_file(&name) || is_of_tests(f) {
                left_out.of_the_system += 1;
            }
        }
        left_out
    }

    /// Tells the functions that rustc added to run tests; none with `all`.
    fn find_left_out_tests(&self, profile: &Profile) -> impl Fn(FuncId) -> bool {
        let harness = (!self.all).then(|| Harness::find(profile));
        move |f| {
            harness
                .as_ref()
                .is_some_and(|harness| harness.contains_function(f))
        }
    }

    /// Leaves those of `functions` that begin in one of the files and have code of a touched line; of those that rustc
    /// added to run tests, only with `all`. O(positions).
    pub fn retain_admitted(&self, profile: &Profile, functions: &mut Vec<FuncId>) {
        let is_of_tests = self.find_left_out_tests(profile);
        functions.retain(|&f| {
            self.admits_file(&file(profile, f))
                && !is_of_tests(f)
                && self
                    .touched
                    .as_ref()
                    .is_none_or(|t| !t.blocks(profile, f, &self.markers).is_empty())
        });
    }
}

/// The folder that all source files with code are in, those of the system only if `all` are asked for; or the
/// repository above it. It does not depend on `--file`, so that names in a report can be given to it. O(positions).
pub fn common_folder(profile: &Profile, all: bool) -> String {
    let files = &profile.manifest.files;
    let spans = profile.manifest.functions.iter().flat_map(|f| {
        let blocks = (0..f.succs.len()).map(BlockId::new);
        blocks.flat_map(|b| f.spans(b)).map(|span| span.loc)
    });
    let known = spans.filter(|loc| loc.line > 0).map(|loc| loc.file);
    let names: BTreeSet<&str> = known.map(|f| files[f as usize].as_str()).collect();
    let names = names.into_iter().filter(|f| all || !is_of_the_system(f));
    let names: Vec<&str> = names.collect();
    let repository = repository().map(|r| r.display().to_string());
    let root = Root::find(names.into_iter()).or_above(repository.as_deref());
    root.0.to_string()
}

impl Scope {
    /// The blocks of function `f` that markers leave out: those all positions of which are on lines left out, and all
    /// blocks, if the line that it begins at is one. O(positions).
    pub(super) fn excluded_blocks(&self, profile: &Profile, f: FuncId) -> IdSet<BlockId> {
        let entry = profile.entry(f);
        let n = entry.succs.len();
        let mut blocks = IdSet::with_capacity(n);
        if self.markers.is_empty() {
            return blocks;
        }
        let line = |loc: Loc| self.markers.line(loc.file, loc.line);
        let whole = entry.find_start().is_some_and(line);
        let out = |b: &BlockId| {
            let mut spans = entry.spans(*b).peekable();
            spans.peek().is_some() && spans.all(|s| line(s.loc))
        };
        blocks.extend((0..n).map(BlockId::new).filter(|b| whole || out(b)));
        blocks
    }
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Those with most paths that did not run
    #[default]
    Missing,
    /// Those of which the smallest share ran
    Share,
    /// By name
    Name,
    /// By the file that they begin in, and the line
    File,
}

impl Sort {
    /// Sorts rows; equal ones stay as they are.
    pub(super) fn sort(self, profile: &Profile, rows: &mut [FunctionCoverage]) {
        match self {
            Sort::Missing => {
                rows.sort_by_key(|r| Reverse(r.paths.feasible.saturating_sub(r.paths.executed)));
            }
            Sort::Share => rows.sort_by(|a, b| a.paths.share().total_cmp(&b.paths.share())),
            Sort::Name => rows.sort_by_cached_key(|r| profile.name(r.f)),
            Sort::File => rows.sort_by_cached_key(|r| {
                let line = profile.entry(r.f).loc.map(|l| l.line);
                (file(profile, r.f), line)
            }),
        }
    }
}
