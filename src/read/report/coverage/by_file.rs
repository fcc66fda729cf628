//! The rows of coverage by file.

use super::columns::Sums;
use super::headline::SourceSums;
use super::unasked::Unasked;
use super::{Coverage, Paths};
use crate::base::names::escape_unprintable;
use crate::base::table::{Layout, group_all_digits, number_of};
use crate::read::source::root::Root;
use std::cmp::Reverse;
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

/// So many files have a row, unless all are wanted.
const SHOWN: usize = 10;

/// What is missing of a file of which something ran, those with most first: lines and branches, pairs of edges, paths.
/// Behind them, files of which nothing ran.
fn order_of_missing(
    (paths, pairs): &(Paths, Paths),
    own: Option<&SourceSums>,
) -> (bool, Reverse<[u128; 3]>) {
    let missing = |p: &Paths| p.feasible - p.executed.min(p.feasible);
    let own = own.map(|own| {
        (
            own.lines.executed > 0,
            missing(&own.lines) + missing(&own.branches),
        )
    });
    let (ran, lines) = own.unwrap_or((paths.executed > 0, 0));
    (!ran, Reverse([lines, missing(pairs), missing(paths)]))
}

/// A row for each file, those of which most is missing first: lines, branches and pairs that ran, paths, and which
/// lines did not run. Unless all are wanted, of the first ten, and how many there are besides.
pub(super) fn by_file(
    coverage: &Coverage,
    unasked: &BTreeMap<String, Vec<Unasked>>,
    layout: Layout,
) -> String {
    let columns = coverage.columns();
    let mut table = columns.begin_columns("file: missing");
    let is_known = !coverage.lines.files.is_empty();
    let root = Root(&coverage.root);
    let mut lineless = Lineless::default();
    let own = |file: &String| coverage.lines.files.get(file);
    let mut files: Vec<_> = coverage.files.iter().collect();
    files.sort_by_cached_key(|(file, sums)| order_of_missing(sums, own(file)));
    let (mut shown, mut more, mut unused) = (0, 0u64, 0u64);
    for (file, sums) in files {
        let (paths, pairs) = sums;
        let own = own(file);
        if is_known && !coverage.profile.manifest.files.contains(file) {
            lineless.add(paths, pairs);
            continue;
        }
        if shown >= SHOWN && !layout.full {
            more += 1;
            unused += u64::from(order_of_missing(sums, own).0);
            continue;
        }
        shown += 1;
        let unasked = unasked.get(file).into_iter().flatten();
        let missing = own.map(|own| own.missing_text(unasked));
        let missing = missing.unwrap_or_default();
        let name = escape_unprintable(root.name(file)).into_owned();
        let cells = columns.cells(&coverage.sums_of_file(file, sums));
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
    let more = match (more, unused) {
        (0, _) => String::new(),
        (more, 0) => format!("… and {} (--full)\n", number_of(more, "more file")),
        (more, unused) => format!(
            "… and {}, {} of which never ran (--full)\n",
            number_of(more, "more file"),
            group_all_digits(unused)
        ),
    };
    folder + &table.render(layout) + &more
}
