//! What is browsed, without a terminal: functions, then their paths or the sampled subpaths through them, then source
//! text with one lit. Paths are decoded when they are in sight.

use super::items::{Cells, Items, Sort, share};
use super::paths::{Paths, Shares};
use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::base::names::Filter;
use crate::base::table::{group_all_digits, group_digits, number_of};
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::measurement::PathProfile;
use crate::read::report::steps::Steps;
use crate::read::report::{Report, Totals};
use crate::read::source::Sources;
use regex::Regex;
use std::cmp::Reverse;
use std::rc::Rc;

/// A function that ran.
pub(super) struct BrowsedFunction {
    pub(super) f: FuncId,
    /// Its short name.
    pub(super) name: String,
    /// Executed paths; of subpaths, samples that begin in it.
    pub(super) count: u128,
    /// Executed instructions; of subpaths, the samples that are expected.
    pub(super) weight: u128,
    /// How many paths ran, or subpaths go through it.
    pub(super) distinct: usize,
}

/// What functions are told by: the paths that ran, unless it says otherwise.
pub(super) trait Evidence<'a> {
    /// The functions that ran, and how much of each, in a line: `functions`, which is their number, executed `total` of
    /// what is counted, of which so many are `distinct`.
    fn title(&self, functions: &str, total: u128, distinct: &str) -> String;

    /// What functions can be sorted by.
    fn sort_orders(&self) -> &'static [Sort] {
        &[Sort::Instructions, Sort::Count, Sort::Size, Sort::Name]
    }

    /// What functions have: the word for it.
    fn item_noun(&self) -> &'static str {
        "paths"
    }

    fn count_distinct(&self, functions: &[BrowsedFunction]) -> usize {
        functions.iter().map(|f| f.distinct).sum()
    }

    /// The names of the columns, and which of them stays where room is scarce.
    fn heading(&self) -> (Vec<&'static str>, usize) {
        (
            vec!["paths", "of paths", "share", "distinct", "function"],
            2,
        )
    }

    /// The numbers of a function, where all have `total` of what is counted and `weight`.
    fn numbers(&self, f: &BrowsedFunction, total: u128, weight: u128) -> Vec<String> {
        vec![
            group_digits(f.count),
            share(f.count, total),
            share(f.weight, weight),
            group_all_digits(f.distinct as u64),
        ]
    }

    /// The paths of a function that ran, and how often.
    fn counts(&self, f: FuncId) -> Vec<(PathId, u64)>;

    /// Where shares of paths are estimates, these.
    fn shares(&self) -> Option<Shares<'a>> {
        None
    }

    /// What a function has.
    ///
    /// # Errors
    /// A profile that is damaged.
    fn items(&self, tour: &Tour<'a>, f: FuncId) -> Result<Box<dyn Items + 'a>> {
        Ok(Box::new(tour.paths(f)?))
    }
}

/// A profile, as it is browsed.
pub(super) struct Tour<'a> {
    profile: &'a Profile,
    evidence: Box<dyn Evidence<'a> + 'a>,
    pub(super) sources: &'a Sources,
    pub(super) steps: Rc<Steps<'a>>,
    functions: Vec<BrowsedFunction>,
    /// Those in the list, in order.
    shown: Vec<usize>,
    sort: Sort,
    filter: Option<Filter>,
    /// Of the program.
    total: u128,
    total_weight: u128,
}

impl<'a> Tour<'a> {
    /// A tour of `functions`, which `evidence` tells of.
    pub(super) fn new(
        profile: &'a Profile,
        sources: &'a Sources,
        steps: Steps<'a>,
        (evidence, functions): Told<'a>,
    ) -> Tour<'a> {
        let mut tour = Tour {
            profile,
            steps: Rc::new(steps),
            total: functions.iter().map(|f| f.count).sum(),
            total_weight: functions.iter().map(|f| f.weight).sum(),
            sort: evidence.sort_orders()[0],
            evidence,
            functions,
            sources,
            shown: Vec::new(),
            filter: None,
        };
        tour.arrange();
        tour
    }

    /// The functions in the list.
    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    /// A function of the list.
    pub(super) fn function(&self, i: usize) -> Option<&BrowsedFunction> {
        self.shown.get(i).map(|&i| &self.functions[i])
    }

    pub(super) fn sort(&self) -> Sort {
        self.sort
    }

    /// What functions can be sorted by.
    pub(super) fn sort_orders(&self) -> &'static [Sort] {
        self.evidence.sort_orders()
    }

    pub(super) fn sort_by(&mut self, sort: Sort) {
        self.sort = sort;
        self.arrange();
    }

    /// What functions have: the word for it.
    pub(super) fn item_noun(&self) -> &'static str {
        self.evidence.item_noun()
    }

    /// What was measured, in a line.
    pub(super) fn title(&self) -> String {
        let shown = if self.len() < self.functions.len() {
            format!("; {} shown", group_all_digits(self.len() as u64))
        } else {
            String::new()
        };
        let functions = number_of(self.functions.len() as u64, "function");
        let distinct = group_all_digits(self.evidence.count_distinct(&self.functions) as u64);
        self.evidence.title(&functions, self.total, &distinct) + &shown
    }

    /// The names of the columns, and which of them stays where room is scarce.
    pub(super) fn heading(&self) -> (Vec<&'static str>, usize) {
        self.evidence.heading()
    }

    /// The numbers of a function of the list.
    pub(super) fn cells(&self, i: usize) -> Cells {
        let f = self.function(i).expect("it is in the list");
        let numbers = self.evidence.numbers(f, self.total, self.total_weight);
        (numbers, f.name.clone())
    }

    /// Shows functions whose symbol or readable name matches alone; whether this is an expression.
    pub(super) fn filter(&mut self, expression: &str) -> bool {
        let filter = match Regex::new(expression) {
            Ok(_) if expression.is_empty() => None,
            Ok(regex) => Filter::new("/", vec![regex]),
            Err(_) => return false,
        };
        self.filter = filter;
        self.arrange();
        true
    }

    fn arrange(&mut self) {
        let (functions, profile) = (&self.functions, self.profile);
        let admitted = |i: &usize| {
            let symbol = &profile.entry(functions[*i].f).name;
            self.filter.as_ref().is_none_or(|f| f.admits(symbol))
        };
        let mut shown: Vec<usize> = (0..functions.len()).filter(admitted).collect();
        let of = |i: &usize| &functions[*i];
        match self.sort {
            Sort::Instructions | Sort::Share => shown.sort_by_key(|i| Reverse(of(i).weight)),
            Sort::Count => shown.sort_by_key(|i| Reverse(of(i).count)),
            Sort::Size => shown.sort_by_key(|i| Reverse(of(i).distinct)),
            Sort::Name => shown.sort_by(|a, b| of(a).name.cmp(&of(b).name)),
        }
        self.shown = shown;
    }

    /// What a function has.
    ///
    /// # Errors
    /// A profile that is damaged.
    pub(super) fn items(&self, f: FuncId) -> Result<Box<dyn Items + 'a>> {
        self.evidence.items(self, f)
    }

    /// The paths of a function that ran; none in a sample of subpaths.
    ///
    /// # Errors
    /// A profile that is damaged.
    pub(super) fn paths(&self, f: FuncId) -> Result<Paths<'a>> {
        Paths::new(
            self.sources,
            self.steps.clone(),
            f,
            self.evidence.counts(f),
            self.evidence.shares(),
            self.total_weight,
        )
    }
}

/// What tells of functions, and what it tells of.
pub(super) type Told<'a> = (Box<dyn Evidence<'a> + 'a>, Vec<BrowsedFunction>);

impl<'a> Evidence<'a> for PathProfile<'a> {
    fn title(&self, functions: &str, total: u128, distinct: &str) -> String {
        let selected = if self.is_partial() {
            "; not all paths are counted"
        } else {
            ""
        };
        let total = number_of(total as u64, "path");
        format!("{functions} ran, {total}, {distinct} distinct{selected}")
    }

    fn counts(&self, f: FuncId) -> Vec<(PathId, u64)> {
        PathProfile::counts(*self, f).to_vec()
    }
}

/// The functions that ran. O(total path length), of which nothing is kept.
///
/// # Errors
/// A profile that is damaged.
pub(super) fn tell_paths<'a>(paths: PathProfile<'a>, steps: &Steps) -> Result<Told<'a>> {
    let none = Selection {
        top: Some(0),
        ..Selection::default()
    };
    let report = Report::new(paths, &none)?;
    let function = |(&f, totals): (&FuncId, &Totals)| BrowsedFunction {
        f,
        name: steps.name(f),
        count: totals.paths,
        weight: totals.instructions,
        distinct: paths.counts(f).len(),
    };
    let mut functions: Vec<BrowsedFunction> = report.by_function.iter().map(function).collect();
    functions.sort_by_key(|f| f.f);
    Ok((Box::new(paths), functions))
}
