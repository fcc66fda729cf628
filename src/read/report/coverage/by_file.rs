//! The rows of coverage by file.

use super::headline::{SourceSums, share_text};
use super::unasked::Unasked;
use super::{Coverage, Paths};
use crate::base::names::printable;
use crate::base::style::BOLD;
use crate::base::table::{Align, Columns, Layout, grouped, roughly};
use crate::read::source::root::Root;
use std::collections::BTreeMap;

/// Functions that compilers make, of modules: no file has them.
#[derive(Default)]
struct Lineless {
    modules: usize,
    paths: Paths,
    pairs: Paths,
}

impl Lineless {
    fn add(&mut self, paths: &Paths, pairs: &Paths) {
        self.modules += 1;
        self.paths.add(paths);
        self.pairs.add(pairs);
    }
}

/// A row for each file: lines, branches and pairs that ran, paths, and which lines did not run.
pub(super) fn by_file(
    coverage: &Coverage,
    unasked: &BTreeMap<String, Vec<Unasked>>,
    layout: Layout,
) -> String {
    use Align::{Left, Right};
    let mut table = Columns::new([Right, Right, Right, Right, Right, Left]);
    let is_known = !coverage.lines.files.is_empty();
    let root = Root(&coverage.root);
    table.heading(BOLD, &heads("file: missing"));
    let mut lineless = Lineless::default();
    for (file, (paths, pairs)) in &coverage.files {
        let own = coverage.lines.files.get(file);
        if is_known && !coverage.profile.manifest.files.contains(file) {
            lineless.add(paths, pairs);
            continue;
        }
        let unasked = unasked.get(file).into_iter().flatten();
        let missing = own.map(|own| own.missing_text(unasked));
        let missing = missing.unwrap_or_default();
        let name = printable(root.name(file)).into_owned();
        table.file_list(shares(own, paths, pairs), name, missing);
    }
    if lineless.modules > 0 {
        let row = shares(None, &lineless.paths, &lineless.pairs);
        table.named(row, "code without lines".into(), String::new());
    }
    if coverage.files.len() > 1 {
        table.named(in_all(coverage), "in all".into(), String::new());
    }
    let folder = match root.0 {
        "" | "." | "/" => String::new(),
        folder => format!("files in {}\n", printable(folder)),
    };
    folder + &table.render(layout)
}

/// The shares of everything in scope.
pub(super) fn in_all(coverage: &Coverage) -> [String; 5] {
    let sums = SourceSums {
        lines: coverage.lines.lines(),
        branches: coverage.lines.branches(),
        ..SourceSums::default()
    };
    shares(Some(&sums), &coverage.total, &coverage.total_pairs)
}

/// The heading over [`shares`] and `what` has them.
pub(super) fn heads(what: &str) -> [&str; 6] {
    ["lines", "branches", "pairs", "paths", "of", what]
}

/// Shares of lines, branches and pairs; how many paths ran, and of how many.
pub(super) fn shares(own: Option<&SourceSums>, paths: &Paths, pairs: &Paths) -> [String; 5] {
    let none = Paths::default();
    let (lines, branches) = own.map_or((none, none), |s| (s.lines, s.branches));
    [
        share_text(&lines),
        share_text(&branches),
        share_text(pairs),
        grouped(paths.executed),
        roughly(paths.feasible),
    ]
}
