//! Lines and branches by source file, and the headline of a report: lines, branches, pairs of edges, and paths near
//! those that ran.
//!
//! The share of all paths that control flow allows is no headline: where decisions are many, it is 0.00 % whatever
//! tests do.

use super::unasked::{Candidates, Unasked};
use super::{Coverage, Paths, Scope};
use crate::base::error::Result;
use crate::base::index::FuncId;
use crate::base::table::{Layout, group_digits, number_of, percent, wrap_words};
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::read::analysis::counted::CountedFunction;
use crate::read::analysis::lines::{SourceFile, UnusedBodies, by_function, by_line};
use std::collections::BTreeMap;

/// Lines and branches by source file, and by function.
#[derive(Default)]
pub struct LineSums {
    /// By file.
    pub files: BTreeMap<String, SourceSums>,
    /// By function: those of its own code, inlined or not.
    pub functions: BTreeMap<FuncId, SourceSums>,
    /// What may be conditions that were never evaluated on lines that ran.
    pub unasked: Candidates,
    /// Checks of overflow and bounds by Rust's compiler, which are no branches: those that ran, and those of them that
    /// failed.
    pub checks: [usize; 2],
    /// The functions that were never entered, and whose code ran nowhere else, ascending.
    never_entered: Vec<FuncId>,
}

/// Lines and branches of one file or function.
#[derive(Default)]
pub struct SourceSums {
    /// Lines with code, and those of them that ran.
    pub lines: Paths,
    /// Ways out of branches, and those of them that were taken.
    pub branches: Paths,
    /// The lines with code, ascending.
    pub known: Vec<u32>,
    /// Those of them that did not run.
    pub missing: Vec<u32>,
    /// Other lines with code, ascending: those of which it is not known whether they ran.
    pub unknown: Vec<u32>,
    /// Other ways out of branches: how many there are of which it is not known whether they were taken.
    pub unknown_ways: u64,
    /// The lines with a branch not all ways of which were taken, ascending.
    pub missing_branches: Vec<u32>,
}

impl LineSums {
    /// Of these functions, in the files that `scope` admits.
    ///
    /// # Errors
    /// A damaged profile.
    pub(super) fn new(profile: &Profile, functions: &[FuncId], scope: &Scope) -> Result<LineSums> {
        let counted = CountedFunction::find_selected(profile, &Selection::default())?;
        let wanted = |f: &CountedFunction| functions.binary_search(&f.f).is_ok();
        let counted: Vec<_> = counted.into_iter().filter(wanted).collect();
        let files = by_line(profile, &counted, &scope.markers).into_iter();
        let files = files.filter(|(name, _)| scope.admits_file(name));
        let files = files.map(|(name, mut file)| {
            if let Some(touched) = &scope.touched {
                file.retain_lines(&touched.lines_of_file(profile, name));
            }
            (name, file)
        });
        let files: BTreeMap<&str, SourceFile> = files.collect();
        let unused = UnusedBodies::find(profile, &counted);
        let by_function = by_function(profile, &counted, &unused, &scope.markers).into_iter();
        let by_function = by_function.map(|(f, mut own)| {
            if let Some(touched) = &scope.touched {
                own.retain_lines(&touched.lines_of_file(profile, &super::file(profile, f)));
            }
            (f, own)
        });
        let is_told = scope.tells_unknown(profile);
        let sums_of = |file: &SourceFile| {
            let mut sums = SourceSums::sum_file(file);
            if !is_told {
                sums.unknown.clear();
                sums.unknown_ways = 0;
            }
            sums
        };
        let never_entered = counted.iter().filter(|f| f.is_never_entered());
        let never_entered = never_entered.filter(|f| !unused.contains_function(f.f));
        Ok(LineSums {
            unasked: Candidates::find(profile, &counted, &files, scope),
            checks: count_checks(profile, &counted, scope),
            never_entered: never_entered.map(|f| f.f).collect(),
            files: files
                .iter()
                .map(|(name, file)| (name.to_string(), sums_of(file)))
                .collect(),
            functions: by_function.map(|(f, own)| (f, sums_of(&own))).collect(),
        })
    }

    /// Whether function `f` was never entered, and none of its own lines ran inlined elsewhere.
    pub(super) fn never_ran(&self, f: FuncId) -> bool {
        let own = self.functions.get(&f);
        self.never_entered.binary_search(&f).is_ok()
            && own.is_none_or(|own| own.lines.executed == 0)
    }

    /// The lines of all files.
    pub fn lines(&self) -> Paths {
        sum(self.files.values().map(|f| &f.lines))
    }

    /// How many more lines of all files may have run.
    pub fn count_unknown(&self) -> u64 {
        self.files.values().map(|f| f.unknown.len() as u64).sum()
    }

    /// How many more ways out of branches of all files may have been taken.
    pub fn count_unknown_ways(&self) -> u64 {
        self.files.values().map(|f| f.unknown_ways).sum()
    }

    /// The ways out of branches of all files.
    pub fn branches(&self) -> Paths {
        sum(self.files.values().map(|f| &f.branches))
    }
}

/// The checks of a compiler in files that `scope` admits: those that ran, and those that failed. O(edges).
fn count_checks(profile: &Profile, counted: &[CountedFunction], scope: &Scope) -> [usize; 2] {
    let mut found = [0, 0];
    for f in counted {
        for (block, ways) in f.checks() {
            let span = f.structure.cfg.block(block).lines.last();
            let name = span.map(|s| profile.manifest.files[s.loc.file as usize].as_str());
            let is_admitted = name.is_some_and(|name| scope.admits_file(name));
            let fails = profile.manifest.failing_check(f.f, block);
            let taken: Vec<u32> = ways
                .iter()
                .filter(|(way, _)| way.count > 0)
                .map(|(way, _)| way.edge.succ)
                .collect();
            let failed = fails.is_some_and(|succ| taken.contains(&succ));
            found[0] += usize::from(is_admitted && !taken.is_empty());
            found[1] += usize::from(is_admitted && failed);
        }
    }
    found
}

impl SourceSums {
    pub(super) fn sum_file(file: &SourceFile) -> SourceSums {
        let ways = file.branches.values().flatten().flatten();
        let taken = |n: &Option<u64>| n.is_some_and(|n| n > 0);
        let missed = |ways: &Vec<Vec<Option<u64>>>| !ways.iter().flatten().all(taken);
        let branches = file.branches.iter();
        SourceSums {
            lines: share(file.lines().map(|(_, n)| n > 0)),
            branches: share(ways.map(taken)),
            known: file.lines().map(|(line, _)| line).collect(),
            missing: file
                .lines()
                .filter(|(_, n)| *n == 0)
                .map(|(line, _)| line)
                .collect(),
            unknown: file.unknown_lines().collect(),
            unknown_ways: file.count_unknown_ways(),
            missing_branches: branches
                .filter(|(_, w)| missed(w))
                .map(|(line, _)| *line)
                .collect(),
        }
    }

    /// The lines that did not run, then the other lines with branches that were not taken all ways, and those with
    /// conditions that were never evaluated, which are `unasked`, and the lines that may have run: `: 12-14,20;
    /// branches 31; never evaluated 31; may have run 40`. Empty if nothing is missing.
    pub fn missing_text<'u>(&self, unasked: impl Iterator<Item = &'u Unasked>) -> String {
        let ran = |line: &u32| self.missing.binary_search(line).is_err();
        let branches = self.missing_branches.iter().copied();
        let branches: Vec<u32> = branches.filter(ran).collect();
        let mut unasked: Vec<u32> = unasked.map(|condition| condition.line).collect();
        unasked.dedup();
        let lists = [
            ("", &self.missing),
            ("branches ", &branches),
            ("never evaluated ", &unasked),
            ("may have run ", &self.unknown),
        ];
        let lists = lists.iter().filter(|(_, lines)| !lines.is_empty());
        let lists = lists.map(|(what, lines)| what.to_string() + &ranges(lines));
        let lists: Vec<String> = lists.collect();
        if lists.is_empty() {
            String::new()
        } else {
            format!(": {}", lists.join("; "))
        }
    }
}

/// Ascending lines as ranges: `12-14,20`.
fn ranges(lines: &[u32]) -> String {
    let ranges = lines.chunk_by(|a, b| *b == a + 1);
    let range = |r: &[u32]| match r {
        [only] => only.to_string(),
        _ => format!("{}-{}", r[0], r[r.len() - 1]),
    };
    ranges.map(range).collect::<Vec<_>>().join(",")
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

/// What share ran: `–` of nothing. What ran in part is neither `0.00%` nor `100.00%`.
pub(super) fn share_text(numbers: &Paths) -> String {
    let (ran, all) = (numbers.executed, numbers.feasible);
    match percent(numbers.share()) {
        _ if all == 0 => "–".into(),
        text if ran > 0 && text == "0.00%" => "<0.01%".into(),
        text if ran < all && text == "100.00%" => "99.99%".into(),
        text => text,
    }
}

/// One measure: `lines 12 of 16 (75.00%)`.
pub fn headline_of(what: &str, numbers: &Paths) -> String {
    let (ran, all) = (
        group_digits(numbers.executed),
        group_digits(numbers.feasible),
    );
    let share = match numbers.executed {
        0 if numbers.feasible > 0 => "nothing ran".into(),
        _ => share_text(numbers),
    };
    format!("{what} {ran} of {all} ({share})")
}

fn name_checks(number: usize) -> String {
    format!(
        "{} of overflow and bounds",
        number_of(number as u64, "check")
    )
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
    let nothing = coverage.near.executed == 0 && known.clone().all(|(_, n)| n.executed == 0);
    let shown: Vec<String> = known
        .map(|(what, numbers)| {
            if nothing {
                format!("0 of {} {what}", group_digits(numbers.feasible))
            } else {
                headline_of(what, numbers)
            }
        })
        .collect();
    let checks = match coverage.lines.checks {
        [0, _] => String::new(),
        [ran, 0] => format!("{} held, counted apart\n", name_checks(ran)),
        [ran, failed] => format!("{} ran, {failed} failed, counted apart\n", name_checks(ran)),
    };
    match (&shown[..], nothing) {
        ([], _) => String::new(),
        (all, true) => format!("nothing ran: {}\n", all.join(", ")),
        (all, false) => all.join(", ") + "\n" + &checks,
    }
}

/// That functions are optimised, and what that means for what is printed of them; empty if none is.
pub(super) fn optimised_note(profile: &Profile, functions: impl Iterator<Item = FuncId>) -> String {
    let (mut all, mut optimised) = (0u64, 0u64);
    for f in functions {
        all += 1;
        optimised += u64::from(profile.entry(f).optimised.is_optimised());
    }
    let (which, their) = match optimised {
        0 => return String::new(),
        n if n == all => ("optimised code".into(), "some"),
        n => {
            let all = number_of(all, "function");
            let which = format!("{} of {all} are optimised code", group_digits(n));
            (which, "some of their")
        }
    };
    format!(
        "{which}: {their} conditions have no branch or no outcome here, and an outcome is called never only \
         where that is certain; -O0 shows all\n"
    )
}

/// That the verdict on a profile is not `ok`, and why; empty if it is.
pub(super) fn verdict_note(profile: &Profile) -> String {
    let verdict = &profile.verdict;
    if verdict.is_ok() {
        return String::new();
    }
    let reasons: Vec<&str> = verdict.reasons_incomplete().map(String::as_str).collect();
    let reasons = match reasons[..] {
        [] => "p3-prof verify names them".into(),
        _ => reasons.join("; "),
    };
    format!("{}: {reasons}\n", verdict.status())
}

/// A note in lines of the width, with an empty one behind; empty if there is none.
pub(super) fn wrapped_note(note: &str, layout: Layout) -> String {
    match note.trim_end() {
        "" => String::new(),
        note => wrap_words(note, layout.width, 0) + "\n\n",
    }
}
