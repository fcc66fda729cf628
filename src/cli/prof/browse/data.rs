//! What is browsed, without a terminal: functions, then their paths or the sampled subpaths through them, then source text with one lit.
//! Paths are decoded when they are in sight.

use super::lit::Lit;
use super::paths::Paths;
use super::subpaths::{Sample, Subpaths, Through};
use crate::error::Result;
use crate::estimate::Estimated;
use crate::index::{FuncId, PathId, TiVec};
use crate::names::Filter;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::measurement::{Measurement, PathProfile};
use crate::report::steps::Steps;
use crate::report::{Report, Totals, lines};
use crate::shadow::profile::BurstProfile;
use crate::source::Sources;
use crate::table::{exactly, grouped, number_of, percent};
use regex::Regex;
use std::cmp::Reverse;
use std::rc::Rc;

/// What comes first in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// Executed instructions.
    #[default]
    Instructions,
    /// The share of executed paths or blocks, as far as it is sure.
    Share,
    /// Executed paths; of a subpath, how often it ran.
    Count,
    /// How many ran; of a path, its length.
    Size,
    /// Names; ids; the order of blocks.
    Name,
}

impl Sort {
    /// The next one, around.
    pub(super) fn next(self, among: &[Sort]) -> Sort {
        let at = among.iter().position(|s| *s == self).unwrap_or(0);
        among[(at + 1) % among.len()]
    }

    /// In a word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Sort::Instructions => "instructions",
            Sort::Share => "share",
            Sort::Count => "count",
            Sort::Size => "size",
            Sort::Name => "name",
        }
    }
}

/// A row: its numbers, and what stands behind them.
pub(super) type Cells = (Vec<String>, String);

/// The paths of a function, or subpaths.
pub(super) trait Items {
    /// What they are, and of what.
    fn title(&self) -> String;
    /// The names of the columns, and which of them stays where room is scarce.
    fn heading(&self) -> (Vec<&'static str>, usize);
    fn len(&self) -> usize;
    fn sort(&self) -> Sort;
    /// What they can be sorted by.
    fn sorts(&self) -> &'static [Sort];
    fn sort_by(&mut self, sort: Sort) -> Result<()>;
    /// What the list shows of one.
    fn row(&mut self, i: usize) -> Result<Cells>;
    /// One, in a line.
    fn name(&mut self, i: usize) -> Result<String>;
    /// The source text that it runs through.
    fn lit(&mut self, i: usize) -> Result<Lit>;
}

/// A function that ran.
pub(super) struct Function {
    pub(super) f: FuncId,
    /// Its short name.
    pub(super) name: String,
    /// Executed paths; of subpaths, samples that begin in it.
    count: u128,
    /// Executed instructions; of subpaths, the samples that are expected.
    weight: u128,
    /// How many paths ran, or subpaths go through it.
    distinct: usize,
}

/// What functions are told by.
enum Evidence<'a> {
    Paths(PathProfile<'a>),
    Bursts(BurstProfile<'a>, TiVec<FuncId, Vec<(PathId, u64)>>),
    Subpaths(Rc<Sample<'a>>),
}

/// A profile, as it is browsed.
pub(super) struct Tour<'a> {
    profile: &'a Profile,
    evidence: Evidence<'a>,
    sources: &'a Sources,
    steps: Rc<Steps<'a>>,
    functions: Vec<Function>,
    /// Those in the list, in order.
    shown: Vec<usize>,
    sort: Sort,
    filter: Option<Filter>,
    /// Of the program.
    total: u128,
    total_weight: u128,
    /// What the title adds where not all paths are counted.
    selected: &'static str,
}

impl<'a> Tour<'a> {
    /// The functions that ran. O(total path length), of which nothing is kept.
    ///
    /// # Errors
    /// A profile of edges, or one that is damaged.
    pub(super) fn new(profile: &'a Profile, sources: &'a Sources) -> Result<Tour<'a>> {
        let steps = Rc::new(Steps::new(profile, sources, false));
        let (evidence, functions) = match &profile.measured {
            Measurement::Exact(_) => of_paths(profile.paths()?, &steps)?,
            Measurement::Estimated(Estimated::Bursts(_)) => of_bursts(profile.bursts()?, &steps)?,
            Measurement::Estimated(Estimated::Sampled(_)) => {
                of_sample(Sample::new(profile.sampled()?), &steps)
            }
        };
        let mut tour = Tour {
            profile,
            steps,
            total: functions.iter().map(|f| f.count).sum(),
            total_weight: functions.iter().map(|f| f.weight).sum(),
            selected: if profile.is_partial() {
                "; not all paths are counted"
            } else {
                ""
            },
            evidence,
            functions,
            sources,
            shown: Vec::new(),
            sort: Sort::default(),
            filter: None,
        };
        tour.sort = tour.sorts()[0];
        tour.arrange();
        Ok(tour)
    }

    /// The functions in the list.
    pub(super) fn len(&self) -> usize {
        self.shown.len()
    }

    /// A function of the list.
    pub(super) fn function(&self, i: usize) -> Option<&Function> {
        self.shown.get(i).map(|&i| &self.functions[i])
    }

    pub(super) fn sort(&self) -> Sort {
        self.sort
    }

    /// What functions can be sorted by.
    pub(super) fn sorts(&self) -> &'static [Sort] {
        match self.evidence {
            Evidence::Paths(_) | Evidence::Bursts(..) => {
                &[Sort::Instructions, Sort::Count, Sort::Size, Sort::Name]
            }
            Evidence::Subpaths(_) => &[Sort::Share, Sort::Size, Sort::Name],
        }
    }

    pub(super) fn sort_by(&mut self, sort: Sort) {
        self.sort = sort;
        self.arrange();
    }

    /// What functions have: the word for it.
    pub(super) fn what(&self) -> &'static str {
        match self.evidence {
            Evidence::Paths(_) | Evidence::Bursts(..) => "paths",
            Evidence::Subpaths(_) => "subpaths",
        }
    }

    /// What was measured, in a line.
    pub(super) fn title(&self) -> String {
        let (all, distinct) = (self.functions.len() as u64, self.distinct());
        let of = if self.len() < self.functions.len() {
            format!("{} of ", exactly(self.len() as u64))
        } else {
            String::new()
        };
        let (all, distinct) = (number_of(all, "function"), exactly(distinct as u64));
        let total = self.total;
        match &self.evidence {
            Evidence::Paths(_) => {
                let selected = self.selected;
                let total = number_of(total as u64, "path");
                format!("{of}{all} ran, {total}, {distinct} distinct{selected}")
            }
            Evidence::Bursts(bursts, _) => format!(
                "{of}{all} ran in {}, {}, {distinct} distinct; shares are estimates",
                number_of(bursts.bursts.number(), "burst"),
                number_of(total as u64, "path")
            ),
            Evidence::Subpaths(sample) => format!(
                "{of}{all} in {} of about {} blocks, {distinct} subpaths; ± half of the 95 % interval",
                number_of(total as u64, "sample"),
                grouped(sample.profile.blocks().round() as u64)
            ),
        }
    }

    fn distinct(&self) -> usize {
        match &self.evidence {
            Evidence::Paths(_) | Evidence::Bursts(..) => {
                self.functions.iter().map(|f| f.distinct).sum()
            }
            Evidence::Subpaths(sample) => sample.rows.len(),
        }
    }

    /// The names of the columns, and which of them stays where room is scarce.
    pub(super) fn heading(&self) -> (Vec<&'static str>, usize) {
        match self.evidence {
            Evidence::Paths(_) | Evidence::Bursts(..) => {
                (vec!["paths", "paths", "instrs", "distinct", "function"], 2)
            }
            Evidence::Subpaths(_) => (vec!["begin", "blocks", "±", "subpaths", "function"], 1),
        }
    }

    /// The numbers of a function of the list.
    pub(super) fn cells(&self, i: usize) -> Cells {
        let f = self.function(i).expect("it is in the list");
        let numbers = match &self.evidence {
            Evidence::Paths(_) | Evidence::Bursts(..) => vec![
                grouped(f.count),
                share(f.count, self.total),
                share(f.weight, self.total_weight),
                exactly(f.distinct as u64),
            ],
            Evidence::Subpaths(sample) => {
                let share = sample.begun(f.f);
                vec![
                    grouped(f.count),
                    percent(share.count),
                    percent(share.half_width),
                    exactly(f.distinct as u64),
                ]
            }
        };
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
        Ok(match &self.evidence {
            Evidence::Paths(_) | Evidence::Bursts(..) => Box::new(self.paths(f)?),
            Evidence::Subpaths(sample) => {
                let (sample, steps) = (sample.clone(), self.steps.clone());
                Box::new(Subpaths::new(sample, self.sources, steps, f))
            }
        })
    }

    /// The paths of a function that ran; none in a sample of subpaths.
    ///
    /// # Errors
    /// A profile that is damaged.
    pub(super) fn paths(&self, f: FuncId) -> Result<Paths<'a>> {
        let (ids, bursts) = match &self.evidence {
            Evidence::Paths(paths) => (paths.counts(f).to_vec(), None),
            Evidence::Bursts(bursts, sums) => (sums[f].clone(), Some(bursts.bursts)),
            Evidence::Subpaths(_) => (Vec::new(), None),
        };
        Paths::new(
            self.sources,
            self.steps.clone(),
            f,
            ids,
            bursts,
            self.total_weight,
        )
    }
}

/// A part of all, in per cent.
pub(super) fn share(part: u128, all: u128) -> String {
    percent(part as f64 / all.max(1) as f64)
}

fn of_paths<'a>(paths: PathProfile<'a>, steps: &Steps) -> Result<(Evidence<'a>, Vec<Function>)> {
    let none = Selection {
        top: Some(0),
        ..Selection::default()
    };
    let report = Report::new(paths, &none)?;
    let function = |(&f, totals): (&FuncId, &Totals)| Function {
        f,
        name: steps.name(f),
        count: totals.paths,
        weight: totals.instructions,
        distinct: paths.counts(f).len(),
    };
    let mut functions: Vec<Function> = report.by_function.iter().map(function).collect();
    functions.sort_by_key(|f| f.f);
    Ok((Evidence::Paths(paths), functions))
}

fn of_bursts<'a>(bursts: BurstProfile<'a>, steps: &Steps) -> Result<(Evidence<'a>, Vec<Function>)> {
    let profile = bursts.profile;
    let sums = bursts.bursts.expected();
    let mut functions = Vec::new();
    for f in profile.executed() {
        let all: Vec<_> = sums[f].iter().map(|&(id, n)| (f, id, n)).collect();
        let weights = lines(profile, &all)?;
        functions.push(Function {
            f,
            name: steps.name(f),
            count: all.iter().map(|p| u128::from(p.2)).sum(),
            weight: weights
                .iter()
                .map(|l| u128::from(l.count) * u128::from(l.instructions))
                .sum(),
            distinct: all.len(),
        });
    }
    Ok((Evidence::Bursts(bursts, sums), functions))
}

fn of_sample<'a>(sample: Sample<'a>, steps: &Steps) -> (Evidence<'a>, Vec<Function>) {
    let function = |(&f, through): (&FuncId, &Through)| Function {
        f,
        name: steps.name(f),
        count: through.begun.counted.into(),
        weight: u128::from(through.begun.counted) + u128::from(through.begun.missed),
        distinct: through.rows.len(),
    };
    let functions = sample.functions.iter().map(function).collect();
    (Evidence::Subpaths(Rc::new(sample)), functions)
}
