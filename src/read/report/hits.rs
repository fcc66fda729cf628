//! `p3-prof hits` as text, JSON and CSV.

use crate::base::rows::Table;
use crate::read::analysis::hits::Hits;

/// A copy and its hits.
fn table(hits: &Hits) -> Table<'_, (usize, u64)> {
    Table::new()
        .csv("scheme", |_| hits.scheme.to_string())
        .csv("k", |_| hits.k)
        .text_and_csv("copy", "copy", |r: &(usize, u64)| r.0)
        .text_and_csv("probe_hits", "probe hits", |r| r.1)
}

fn rows(hits: &Hits) -> Vec<(usize, u64)> {
    hits.probe_hits.iter().copied().enumerate().collect()
}

/// For programs: like the rows of `simulate --format json`.
pub fn json(hits: &Hits) -> String {
    serde_json::json!({ "rows": [hits] }).to_string() + "\n"
}

/// One record for each copy.
pub fn csv(hits: &Hits) -> String {
    table(hits).to_csv(rows(hits))
}

/// For people.
pub fn text(hits: &Hits) -> String {
    table(hits).columns(&rows(hits)).to_string()
}
