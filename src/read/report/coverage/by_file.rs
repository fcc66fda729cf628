//! The rows of coverage by file.

use super::columns::{Sums, columns};
use super::unasked::Unasked;
use super::{Coverage, Paths};
use crate::base::names::escape_unprintable;
use crate::base::table::Layout;
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
    let columns = columns();
    let mut table = columns.begin_columns("file: missing");
    let is_known = !coverage.lines.files.is_empty();
    let root = Root(&coverage.root);
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
        let name = escape_unprintable(root.name(file)).into_owned();
        let cells = columns.cells(&Sums::new(paths, pairs, own));
        table.file_list(cells, name, missing);
    }
    if lineless.modules > 0 {
        let sums = Sums::new(&lineless.paths, &lineless.pairs, None);
        table.add_named_row(
            columns.cells(&sums),
            "code without lines".into(),
            String::new(),
        );
    }
    if coverage.files.len() > 1 {
        let cells = columns.cells(&coverage.sums_in_all());
        table.add_named_row(cells, "in all".into(), String::new());
    }
    let folder = match root.0 {
        "" | "." | "/" => String::new(),
        folder => format!("files in {}\n", escape_unprintable(folder)),
    };
    folder + &table.render(layout)
}
