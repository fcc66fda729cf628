//! The paths of one function that ran, exactly counted or in bursts.

use super::data::{Cells, Items, Sort, share};
use super::lit::{Lit, files};
use crate::error::Result;
use crate::index::{FuncId, PathId};
use crate::profile::report::text::{phrases_of, trail, way};
use crate::profile::report::words::Words;
use crate::profile::report::{Line, line};
use crate::profile::shadow::Bursts;
use crate::profile::{Profile, Structure};
use crate::source::Sources;
use crate::table::{exactly, grouped, percent};
use std::cmp::Reverse;
use std::collections::HashMap;

/// The paths of one function that ran.
pub(super) struct Paths<'a> {
    profile: &'a Profile,
    sources: &'a Sources,
    f: FuncId,
    /// Where shares are estimates, by these.
    bursts: Option<&'a Bursts>,
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
        profile: &'a Profile,
        sources: &'a Sources,
        f: FuncId,
        ids: Vec<(PathId, u64)>,
        bursts: Option<&'a Bursts>,
        total: u128,
    ) -> Result<Paths<'a>> {
        let mut paths = Paths {
            structure: profile.structure(f)?,
            ids,
            profile,
            sources,
            f,
            bursts,
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

    /// Its id and way.
    fn way(&mut self, i: usize) -> Result<String> {
        let line = self.line(i)?;
        Ok(format!("#{} {}", line.id, way(line)))
    }
}

impl Items for Paths<'_> {
    fn title(&self) -> String {
        let (name, n) = (self.profile.name(self.f), exactly(self.ids.len() as u64));
        format!("{name} · {n} paths ran")
    }

    fn heading(&self) -> (Vec<&'static str>, usize) {
        match self.bursts {
            None => (vec!["count", "instrs", "length", "blocks", "id and way"], 1),
            Some(_) => (
                vec!["count", "share", "±", "length", "blocks", "id and way"],
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

    fn sorts(&self) -> &'static [Sort] {
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

    fn row(&mut self, i: usize) -> Result<Cells> {
        let (f, bursts, total) = (self.f, self.bursts, self.total);
        let way = self.way(i)?;
        let words = Words::new(self.profile, self.sources);
        let line = self.line(i)?;
        let executed = u128::from(line.count) * u128::from(line.instructions);
        let mut numbers = vec![grouped(line.count)];
        match bursts {
            None => numbers.push(share(executed, total)),
            Some(bursts) => {
                let share = bursts.share(bursts.of(f, line.id));
                numbers.extend([percent(share.count), percent(share.half_width)]);
            }
        }
        numbers.push(exactly(line.instructions));
        numbers.push(exactly(line.path.blocks.len() as u64));
        Ok((numbers, format!("{way}  {}", trail(words, line))))
    }

    fn name(&mut self, i: usize) -> Result<String> {
        Ok(format!("{} {}", self.profile.name(self.f), self.way(i)?))
    }

    fn lit(&mut self, i: usize) -> Result<Lit> {
        let (profile, sources) = (self.profile, self.sources);
        let line = self.line(i)?;
        let said = Words::new(profile, sources).of(line);
        Ok(Lit {
            files: files(profile, sources, &line.locs, &said),
            decisions: phrases_of(profile, line, &said),
            blocks: line.path.blocks.iter().map(|b| format!("b{b}")).collect(),
        })
    }
}
