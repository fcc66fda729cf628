//! Sampled subpaths, by the functions that they go through.

use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::base::table::{group_all_digits, group_digits, number_of, percent};
use crate::cli::prof::browse::data::{BrowsedFunction, Evidence, Told, Tour};
use crate::cli::prof::browse::items::{Described, Items, Sort};
use crate::cli::prof::browse::lit::{Lit, files};
use crate::estimates::data::Estimate;
use crate::estimates::data::subpaths::Points;
use crate::estimates::subpath::profile::SampledProfile;
use crate::estimates::subpath::report::{Numbers, Report, SubpathRow, Texts, find_decisions, locs};
use crate::profile::filter::Selection;
use crate::read::report::steps::Steps;
use crate::read::source::Sources;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

struct Sample<'a> {
    profile: SampledProfile<'a>,
    /// All subpaths, those first that cover most for sure.
    rows: Vec<SubpathRow>,
    functions: BTreeMap<FuncId, Through>,
    /// Of all of them.
    all: Points,
}

/// What a sample has of a function.
#[derive(Default)]
struct Through {
    /// The subpaths that go through it, in the sample's order.
    rows: Vec<usize>,
    /// The samples that begin in it.
    begun: Points,
}

impl<'a> Sample<'a> {
    /// O(total length).
    fn new(profile: SampledProfile<'a>) -> Sample<'a> {
        let report = Report::new(profile, &Selection::default());
        let mut functions: BTreeMap<FuncId, Through> = BTreeMap::new();
        let mut all = Points::default();
        for (i, row) in report.rows.iter().enumerate() {
            for place in &row.places {
                let rows = &mut functions.entry(place.func).or_default().rows;
                if rows.last() != Some(&i) {
                    rows.push(i);
                }
            }
        }
        let numbers = Numbers::new(profile.profile);
        for (subpath, points) in &profile.sample.points {
            all.add(*points);
            let first = numbers.place(subpath[0]).func;
            functions.entry(first).or_default().begun.add(*points);
        }
        Sample {
            profile,
            rows: report.rows,
            functions,
            all,
        }
    }

    /// The share of the samples that begin in a function, which is that of the function's blocks among all that were
    /// executed: each was as likely to begin a sample.
    ///
    /// Where points before the first that was counted are what is expected, so is the sum over all functions: the
    /// variance is that of a ratio of the two, to the first order.
    fn estimate_begun(&self, f: FuncId) -> Estimate {
        let (own, all) = (self.functions[&f].begun, self.all);
        let number = |p: Points| p.counted.saturating_add(p.missed);
        let share = number(own) as f64 / (number(all) as f64).max(1.0);
        let (here, elsewhere) = (own.variance as f64, (all.variance - own.variance) as f64);
        let variance = here * (1.0 - share).powi(2) + elsewhere * share.powi(2);
        Estimate::of_share(number(own), number(all), variance)
    }
}

impl<'a> Evidence<'a> for Rc<Sample<'a>> {
    fn title(&self, functions: &str, total: u128, distinct: &str) -> String {
        format!(
            "{functions} in {} of about {} blocks, {distinct} subpaths; ± half of the 95 % interval",
            number_of(total as u64, "sample"),
            group_digits(self.profile.blocks().round() as u64)
        )
    }

    fn sort_orders(&self) -> &'static [Sort] {
        &[Sort::Share, Sort::Size, Sort::Name]
    }

    fn item_noun(&self) -> &'static str {
        "subpaths"
    }

    fn count_distinct(&self, _: &[BrowsedFunction]) -> usize {
        self.rows.len()
    }

    fn heading(&self) -> (Vec<&'static str>, usize) {
        (vec!["begin", "blocks", "±", "subpaths", "function"], 1)
    }

    fn numbers(&self, f: &BrowsedFunction, _: u128, _: u128) -> Vec<String> {
        let share = self.estimate_begun(f.f);
        vec![
            group_digits(f.count),
            percent(share.count),
            percent(share.half_width),
            group_all_digits(f.distinct as u64),
        ]
    }

    fn counts(&self, _: FuncId) -> Vec<(PathId, u64)> {
        Vec::new()
    }

    fn items(&self, tour: &Tour<'a>, f: FuncId) -> Result<Box<dyn Items + 'a>> {
        let (sample, steps) = (self.clone(), tour.steps.clone());
        Ok(Box::new(Subpaths::new(sample, tour.sources, steps, f)))
    }
}

/// The functions that sampled subpaths go through.
pub(super) fn list_functions<'a>(profile: SampledProfile<'a>, steps: &Steps) -> Told<'a> {
    let sample = Sample::new(profile);
    let function = |(&f, through): (&FuncId, &Through)| BrowsedFunction {
        f,
        name: steps.name(f),
        count: through.begun.counted.into(),
        weight: u128::from(through.begun.counted) + u128::from(through.begun.missed),
        distinct: through.rows.len(),
    };
    let functions = sample.functions.iter().map(function).collect();
    (Box::new(Rc::new(sample)), functions)
}

/// The subpaths that go through one function.
struct Subpaths<'a> {
    sample: Rc<Sample<'a>>,
    sources: &'a Sources,
    steps: Rc<Steps<'a>>,
    f: FuncId,
    shown: Vec<usize>,
    sort: Sort,
}

impl<'a> Subpaths<'a> {
    fn new(
        sample: Rc<Sample<'a>>,
        sources: &'a Sources,
        steps: Rc<Steps<'a>>,
        f: FuncId,
    ) -> Subpaths<'a> {
        Subpaths {
            steps,
            shown: sample.functions[&f].rows.clone(),
            sample,
            sources,
            f,
            sort: Sort::Share,
        }
    }

    /// One of the list.
    fn subpath(&self, i: usize) -> &SubpathRow {
        &self.sample.rows[self.shown[i]]
    }

    /// Its blocks by function, its lines, and its decisions.
    fn texts(&self, i: usize) -> Texts {
        Texts::new(&self.steps, self.sources, &self.subpath(i).places)
    }
}

impl Items for Subpaths<'_> {
    fn title(&self) -> String {
        let name = self.sample.profile.profile.name(self.f);
        let n = group_all_digits(self.shown.len() as u64);
        format!("{name} · {n} sampled subpaths go through it")
    }

    fn heading(&self) -> (Vec<&'static str>, usize) {
        (vec!["count", "±", "share", "blocks", "subpath"], 2)
    }

    fn len(&self) -> usize {
        self.shown.len()
    }

    fn sort(&self) -> Sort {
        self.sort
    }

    fn sort_orders(&self) -> &'static [Sort] {
        &[Sort::Share, Sort::Count, Sort::Size, Sort::Name]
    }

    fn sort_by(&mut self, sort: Sort) -> Result<()> {
        self.sort = sort;
        let rows = &self.sample.rows;
        // What is equal stays in the order of reports, which is that of shares.
        self.shown.sort_unstable();
        match sort {
            Sort::Instructions | Sort::Share => {}
            Sort::Count => {
                let count = |i: usize| rows[i].estimate.count;
                self.shown.sort_by(|a, b| count(*b).total_cmp(&count(*a)));
            }
            Sort::Size => self.shown.sort_by_key(|i| Reverse(rows[*i].places.len())),
            Sort::Name => self
                .shown
                .sort_by(|a, b| rows[*a].places.cmp(&rows[*b].places)),
        }
        Ok(())
    }

    fn row(&mut self, i: usize) -> Result<(Vec<String>, Described)> {
        let texts = self.texts(i);
        let row = self.subpath(i);
        let numbers = vec![
            group_digits(row.estimate.count.round() as u64),
            group_digits(row.estimate.half_width.ceil() as u64),
            percent(row.share),
            group_all_digits(row.places.len() as u64),
        ];
        let subpath = if texts.decisions.is_empty() {
            format!("{}  {}", texts.blocks, texts.lines)
        } else {
            format!("{}  {}", texts.decisions, texts.blocks)
        };
        Ok((numbers, Described::Text(subpath)))
    }

    fn name(&mut self, i: usize) -> Result<String> {
        Ok(self.texts(i).blocks)
    }

    fn find_source_text(&mut self, i: usize) -> Result<Lit> {
        let (profile, sources) = (self.sample.profile.profile, self.sources);
        let places = &self.subpath(i).places;
        let (said, steps) = find_decisions(&self.steps, sources, places);
        Ok(Lit {
            files: files(profile, sources, &locs(profile, places), &said),
            steps,
            blocks: vec![self.texts(i).blocks],
        })
    }
}
