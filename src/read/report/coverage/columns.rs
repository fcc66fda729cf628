//! The columns of coverage: what each format has of a function, of a file, and of everything in scope.

use super::headline::{SourceSums, share_text};
use super::{Coverage, FunctionCoverage, Mcdc, Paths};
use crate::base::rows::{Cell, Table};

/// The numbers of a row.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    pub paths: Paths,
    pub pairs: Paths,
    /// Lines and branches, where they are known.
    source: Option<[Paths; 2]>,
    /// Conditions that are shown, where decisions are asked for.
    pub mcdc: Option<Paths>,
}

impl Sums {
    pub(super) fn new(paths: &Paths, pairs: &Paths, own: Option<&SourceSums>) -> Sums {
        Sums {
            paths: *paths,
            pairs: *pairs,
            source: own.map(|own| [own.lines, own.branches]),
            mcdc: None,
        }
    }

    fn lines(&self) -> Paths {
        self.source.unwrap_or_default()[0]
    }

    fn branches(&self) -> Paths {
        self.source.unwrap_or_default()[1]
    }
}

impl Coverage<'_> {
    /// Those of a function.
    pub(super) fn sums(&self, row: &FunctionCoverage) -> Sums {
        let mcdc = self.mcdc.as_ref();
        Sums {
            mcdc: mcdc.map(|m| m.sums_of_function(row.f).into()),
            ..Sums::new(&row.paths, &row.pairs, self.lines.functions.get(&row.f))
        }
    }

    /// Those of everything in scope.
    pub(super) fn sums_in_all(&self) -> Sums {
        Sums {
            paths: self.total,
            pairs: self.total_pairs,
            source: Some([self.lines.lines(), self.lines.branches()]),
            mcdc: self.mcdc.as_ref().map(Mcdc::conditions),
        }
    }

    /// Those of a source file.
    pub(super) fn sums_of_file(&self, file: &str, (paths, pairs): &(Paths, Paths)) -> Sums {
        let mcdc = self.mcdc.as_ref();
        Sums {
            mcdc: mcdc.map(|m| m.sums_of_file(file).into()),
            ..Sums::new(paths, pairs, self.lines.files.get(file))
        }
    }

    /// The columns of all formats: that of decisions where these are asked for.
    pub(super) fn columns<'a>(&self) -> Table<'a, Sums> {
        let share = |s: &Sums| s.mcdc.map(|m| Cell::Figure(share_text(&m)));
        let both = |m: Paths| Cell::Both([m.executed as u64, m.feasible as u64]);
        let table = columns();
        if self.mcdc.is_none() {
            return table;
        }
        table
            .text("mcdc", share)
            .csv("shown_conditions", |s| s.mcdc.map(|m| m.executed))
            .csv("conditions", |s| s.mcdc.map(|m| m.feasible))
            .json("mcdc", move |s| s.mcdc.map(both))
    }
}

fn columns<'a>() -> Table<'a, Sums> {
    let share = |numbers: &Paths| Cell::Figure(share_text(numbers));
    let both = |n: Paths| Cell::Both([n.executed as u64, n.feasible as u64]);
    Table::new()
        .text("lines", move |s: &Sums| share(&s.lines()))
        .text("branches", move |s| share(&s.branches()))
        .text("pairs", move |s| share(&s.pairs))
        .text("paths", |s| s.paths.executed)
        .text("of", |s| Cell::Possible(s.paths.feasible))
        .csv_and_json("executed", |s| s.paths.executed)
        .csv_and_json("feasible", |s| Cell::Possible(s.paths.feasible))
        .csv_and_json("executed_pairs", |s| s.pairs.executed)
        .csv_and_json("pairs", |s| Cell::Possible(s.pairs.feasible))
        .csv("executed_lines", |s| s.lines().executed)
        .csv("lines", |s| s.lines().feasible)
        .csv("taken_branches", |s| s.branches().executed)
        .csv("branches", |s| s.branches().feasible)
        .json("lines", move |s| s.source.map(|[lines, _]| both(lines)))
        .json("branches", move |s| {
            s.source.map(|[_, branches]| both(branches))
        })
}
