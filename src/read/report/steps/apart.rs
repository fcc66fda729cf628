//! Rows of paths that are shown one below the other, so that no two are alike.

use super::{Line, StepRow, Steps, fold_middle, join_steps};
use crate::base::index::{BlockId, FuncId};
use std::collections::{HashMap, HashSet};

impl Steps<'_> {
    /// The rows of each of several paths ([`Steps::rows_with`]). The conditions by which a path differs from those of
    /// its function that are listed before and after it are among them. Where paths of one function still differ in
    /// nothing but decisions that are left out, each has one more row: the first of these that tells it from the
    /// others. O(total length of those alike, squared in their number).
    pub fn rows_of_each<'l>(
        &self,
        lines: impl Iterator<Item = (&'l Line, Option<BlockId>)>,
    ) -> Vec<Vec<StepRow>> {
        let lines: Vec<_> = lines.collect();
        let all: Vec<(Vec<StepRow>, Option<usize>)> = lines
            .iter()
            .map(|(line, shown)| self.rows_and_shown(line, *shown))
            .collect();
        if self.full {
            return all.into_iter().map(|(rows, _)| rows).collect();
        }
        let mut kept: Vec<HashSet<usize>> = all.iter().map(|a| a.1.into_iter().collect()).collect();
        let mut last: HashMap<(FuncId, String), usize> = HashMap::new();
        for (i, (line, _)) in lines.iter().enumerate() {
            let Some(before) = last.insert((line.func, self.start(line)), i) else {
                continue;
            };
            kept[i].extend(deciding_rows(&all[i].0, &all[before].0));
            kept[before].extend(deciding_rows(&all[before].0, &all[i].0));
        }
        let rows = all.iter().zip(&kept);
        let mut rows: Vec<Vec<StepRow>> = rows
            .map(|((rows, _), kept)| fold_middle(rows, |i| kept.contains(&i)))
            .collect();
        let mut alike: HashMap<_, Vec<usize>> = HashMap::new();
        for (i, (line, _)) in lines.iter().enumerate() {
            let key = (line.func, self.start(line), rows[i].clone());
            alike.entry(key).or_default().push(i);
        }
        for group in alike.into_values().filter(|group| group.len() > 1) {
            let full: Vec<Vec<StepRow>> =
                group.iter().map(|i| self.full_rows(lines[*i].0)).collect();
            for (n, i) in group.iter().enumerate() {
                let others = full.iter().enumerate().filter(|(other, _)| *other != n);
                let common = others.map(|(_, other)| {
                    let both = full[n].iter().zip(other);
                    both.take_while(|(a, b)| a == b).count()
                });
                let differs = common.max().unwrap_or(0);
                let row = full[n].get(differs).or(full[n].last());
                let told = row.map(|row| join_steps(std::slice::from_ref(row)));
                rows[*i].push(StepRow::Differs(told.unwrap_or_default()));
            }
        }
        rows
    }

    /// The rows of a path with every decision.
    fn full_rows(&self, line: &Line) -> Vec<StepRow> {
        let said = self.words.decisions(line);
        self.add_end(line, self.fold_rows(line.func, &said, true))
    }
}

/// Which rows tell a path from a neighbour: the first that differs, and each condition that has another outcome there.
pub(super) fn deciding_rows(rows: &[StepRow], neighbour: &[StepRow]) -> Vec<usize> {
    let common = rows.iter().zip(neighbour).take_while(|(a, b)| a == b);
    let first = Some(common.count()).filter(|i| *i < rows.len());
    let outcomes: HashSet<_> = neighbour
        .iter()
        .filter_map(find_condition_and_outcome)
        .collect();
    let asked: HashSet<_> = outcomes.iter().map(|(asked, _)| *asked).collect();
    let differs = |row: &StepRow| {
        find_condition_and_outcome(row)
            .is_some_and(|told| asked.contains(&told.0) && !outcomes.contains(&told))
    };
    let others = (0..rows.len()).filter(|i| differs(&rows[*i]));
    first.into_iter().chain(others).collect()
}

/// A condition, by its place and text, and its outcome.
fn find_condition_and_outcome(row: &StepRow) -> Option<([&str; 3], &str)> {
    match row {
        StepRow::Step(step) => {
            let within = step.within.as_deref().unwrap_or_default();
            Some(([&step.place, within, &step.text], &step.outcome))
        }
        _ => None,
    }
}
