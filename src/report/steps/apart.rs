//! Rows of paths that are shown one below the other, so that no two are alike.

use super::{Line, Row, Steps, in_a_line};
use crate::index::BlockId;
use std::collections::HashMap;

impl Steps<'_> {
    /// The rows of each of several paths ([`Steps::rows_with`]). Where paths of one function differ in nothing but decisions that
    /// are left out, each has one more row: the first of these that tells it from the others. O(total length of those alike,
    /// squared in their number).
    pub fn rows_of_each<'l>(
        &self,
        lines: impl Iterator<Item = (&'l Line, Option<BlockId>)>,
    ) -> Vec<Vec<Row>> {
        let lines: Vec<_> = lines.collect();
        let rows = lines
            .iter()
            .map(|(line, shown)| self.rows_with(line, *shown));
        let mut rows: Vec<Vec<Row>> = rows.collect();
        if self.full {
            return rows;
        }
        let mut alike: HashMap<_, Vec<usize>> = HashMap::new();
        for (i, (line, _)) in lines.iter().enumerate() {
            let key = (line.func, self.start(line), rows[i].clone());
            alike.entry(key).or_default().push(i);
        }
        for group in alike.into_values().filter(|group| group.len() > 1) {
            let full: Vec<Vec<Row>> = group.iter().map(|i| self.full_rows(lines[*i].0)).collect();
            for (n, i) in group.iter().enumerate() {
                let others = full.iter().enumerate().filter(|(other, _)| *other != n);
                let common = others.map(|(_, other)| {
                    let both = full[n].iter().zip(other);
                    both.take_while(|(a, b)| a == b).count()
                });
                let differs = common.max().unwrap_or(0);
                let row = full[n].get(differs).or(full[n].last());
                let told = row.map(|row| in_a_line(std::slice::from_ref(row)));
                rows[*i].push(Row::Differs(told.unwrap_or_default()));
            }
        }
        rows
    }

    /// The rows of a path with every decision.
    fn full_rows(&self, line: &Line) -> Vec<Row> {
        let said = self.words.decisions(line);
        self.ended(line, self.told_rows(line.func, &said, true))
    }
}
