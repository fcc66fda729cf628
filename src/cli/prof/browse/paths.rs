//! The paths of one function that ran, exactly counted or in bursts.

use super::items::{Described, Items, Sort, share};
use super::lit::{Lit, files};
use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::base::table::{group_all_digits, group_digits, number_of, percent};
use crate::profile::{Profile, Structure};
use crate::read::report::positions::base_name;
use crate::read::report::steps::Steps;
use crate::read::report::words::Said;
use crate::read::report::{Line, line};
use crate::read::source::Sources;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

/// So many rows above and below one are searched for a path that begins where it begins.
const NEIGHBOURS: usize = 40;

/// The estimated share of a path, and half of its interval.
pub(super) type Shares<'a> = Rc<dyn Fn(FuncId, PathId) -> [f64; 2] + 'a>;

/// The paths of one function that ran.
pub(super) struct Paths<'a> {
    profile: &'a Profile,
    sources: &'a Sources,
    steps: Rc<Steps<'a>>,
    f: FuncId,
    /// Where shares are estimates, these.
    shares: Option<Shares<'a>>,
    /// Executed instructions of the program.
    total: u128,
    structure: Structure,
    ids: Vec<(PathId, u64)>,
    sort: Sort,
    /// Of those that were in sight.
    lines: HashMap<PathId, Line>,
    /// Of all, once they are asked for.
    sizes: Option<HashMap<PathId, u64>>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(
        sources: &'a Sources,
        steps: Rc<Steps<'a>>,
        f: FuncId,
        ids: Vec<(PathId, u64)>,
        shares: Option<Shares<'a>>,
        total: u128,
    ) -> Result<Paths<'a>> {
        let profile = steps.words().profile();
        let mut paths = Paths {
            structure: profile.structure(f)?,
            ids,
            profile,
            sources,
            steps,
            f,
            shares,
            total,
            sort: Sort::Count,
            lines: HashMap::new(),
            sizes: None,
        };
        paths.sort_by(Sort::Count)?;
        Ok(paths)
    }

    fn line_of(&self, id: PathId, count: u64) -> Result<Line> {
        line(self.profile, &self.structure, (self.f, id, count))
    }

    /// A path of the list.
    pub(super) fn line(&mut self, i: usize) -> Result<&Line> {
        let (id, count) = self.ids[i];
        if !self.lines.contains_key(&id) {
            let line = self.line_of(id, count)?;
            self.lines.insert(id, line);
        }
        Ok(&self.lines[&id])
    }

    /// The number of decisions that a path shares from its start with the one in the next row above that starts at the
    /// same place; with one below, if there is none above. Rows further away than [`NEIGHBOURS`] are not decoded for
    /// this.
    fn count_shared_decisions(&mut self, i: usize) -> Result<usize> {
        let above = (i.saturating_sub(NEIGHBOURS)..i).rev();
        let below = i + 1..self.ids.len().min(i + 1 + NEIGHBOURS);
        for other in above.chain(below) {
            self.line(other)?;
            let (own, other) = (self.line(i)?.path.clone(), &self.lines[&self.ids[other].0]);
            if own.start != other.path.start || own.blocks[0] != other.path.blocks[0] {
                continue;
            }
            let own = &self.lines[&self.ids[i].0].decisions;
            let pairs = own.iter().zip(&other.decisions);
            let same = pairs.take_while(|(a, b)| (a.block, a.succ) == (b.block, b.succ));
            return Ok(same.count());
        }
        Ok(0)
    }

    /// A path from where it parts from its neighbour in the list. Of where it starts, the file is not told if it is the
    /// function's.
    fn difference(&mut self, i: usize) -> Result<Described> {
        let shared = self.count_shared_decisions(i)?;
        self.line(i)?;
        let line = &self.lines[&self.ids[i].0];
        let said: Vec<Said> = self.steps.words().decisions(line);
        let (before, behind) = said.split_at(shared.min(said.len()));
        let steps = self.steps.all_rows(line, behind);
        let is_shortened = !self.steps.decision_rows(self.f, before).is_empty();
        let start = self.steps.start(line);
        let home = format!("{}:", base_name(&self.steps.home_file(self.f)));
        let start = start.trim_start_matches(" · ").replace(&home, "");
        let id = format!("#{}", line.id);
        let skips = if is_shortened { "⋯" } else { "" };
        let joined = |parts: &[&str]| {
            let parts: Vec<&str> = parts.iter().copied().filter(|p| !p.is_empty()).collect();
            parts.join("  ")
        };
        let names = vec![
            joined(&[&id, &start, skips]),
            joined(&[&id, skips]),
            id.clone(),
            String::new(),
        ];
        Ok(Described::Path { names, steps })
    }
}

impl Items for Paths<'_> {
    fn title(&self) -> String {
        let paths = number_of(self.ids.len() as u64, "path");
        format!("{} · {paths} ran", self.steps.name(self.f))
    }

    fn heading(&self) -> (Vec<&'static str>, usize) {
        match self.shares {
            None => (
                vec!["count", "share", "instrs", "blocks", "where it differs"],
                1,
            ),
            Some(_) => (
                vec![
                    "count",
                    "share",
                    "±",
                    "instrs",
                    "blocks",
                    "where it differs",
                ],
                1,
            ),
        }
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn sort(&self) -> Sort {
        self.sort
    }

    fn sort_orders(&self) -> &'static [Sort] {
        &[Sort::Instructions, Sort::Count, Sort::Size, Sort::Name]
    }

    /// Sorts them; by what their lengths say in O(total path length) once.
    fn sort_by(&mut self, sort: Sort) -> Result<()> {
        self.sort = sort;
        if matches!(sort, Sort::Instructions | Sort::Size) && self.sizes.is_none() {
            let size = |&(id, n): &(PathId, u64)| Ok((id, self.line_of(id, n)?.instructions));
            self.sizes = Some(self.ids.iter().map(size).collect::<Result<_>>()?);
        }
        let sizes = self.sizes.as_ref();
        let size = |id: PathId| sizes.map_or(0, |s| s[&id]);
        match sort {
            Sort::Instructions => self
                .ids
                .sort_by_key(|&(id, n)| (Reverse(u128::from(n) * u128::from(size(id))), id)),
            Sort::Count | Sort::Share => self.ids.sort_by_key(|&(id, n)| (Reverse(n), id)),
            Sort::Size => self.ids.sort_by_key(|&(id, _)| (Reverse(size(id)), id)),
            Sort::Name => self.ids.sort_by_key(|p| p.0),
        }
        Ok(())
    }

    fn row(&mut self, i: usize) -> Result<(Vec<String>, Described)> {
        let (f, total) = (self.f, self.total);
        let shares = self.shares.clone();
        let difference = self.difference(i)?;
        let is_least = self.profile.runs_at_least(f, self.ids[i].0);
        let least = if is_least { "≥ " } else { "" };
        let line = self.line(i)?;
        let executed = u128::from(line.count) * u128::from(line.instructions);
        let mut numbers = vec![format!("{least}{}", group_digits(line.count))];
        match shares {
            None => numbers.push(share(executed, total)),
            Some(shares) => numbers.extend(shares(f, line.id).map(percent)),
        }
        numbers.push(group_all_digits(line.instructions));
        numbers.push(group_all_digits(line.path.blocks.len() as u64));
        Ok((numbers, difference))
    }

    fn name(&mut self, i: usize) -> Result<String> {
        self.line(i)?;
        let line = &self.lines[&self.ids[i].0];
        let (name, start) = (self.steps.name(self.f), self.steps.start(line));
        let is_known = self.profile.is_known(self.f, line.id);
        let known = if is_known { "known " } else { "" };
        Ok(format!(
            "{name} {known}#{}{start} {}",
            line.id,
            self.steps.end(line)
        ))
    }

    fn find_source_text(&mut self, i: usize) -> Result<Lit> {
        let (profile, sources) = (self.profile, self.sources);
        self.line(i)?;
        let line = &self.lines[&self.ids[i].0];
        let said = self.steps.words().decisions(line);
        Ok(Lit {
            files: files(profile, sources, &line.locs, &said),
            steps: self.steps.all_rows(line, &said),
            blocks: line.path.blocks.iter().map(|b| format!("b{b}")).collect(),
        })
    }
}
