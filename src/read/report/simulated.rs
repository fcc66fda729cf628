//! `p3-prof simulate` as text, JSON and CSV.

use crate::base::index::{CopyId, TiSlice};
use crate::base::names::printed_name;
use crate::base::rows::{Cell, Table};
use crate::base::table::Layout;
use crate::copies::strategy::Scheme;
use crate::read::analysis::simulate::{FunctionHits, SchemeHits};

/// For programs.
pub fn json(rows: &[SchemeHits]) -> String {
    serde_json::json!({ "rows": rows }).to_string() + "\n"
}

/// One record for each scheme, number of copies and copy.
pub fn csv(rows: &[SchemeHits]) -> String {
    let rows = rows.iter();
    let copies = rows.flat_map(|r| r.probe_hits.keys().map(move |copy| (r, copy)));
    Table::new()
        .csv("scheme", |r: &(&SchemeHits, CopyId)| r.0.scheme.to_string())
        .csv("k", |r| r.0.k)
        .csv("copy", |r| r.1.0)
        .csv("probe_hits", |r| r.0.probe_hits[r.1])
        .csv("label_hits", |r| r.0.label_hits[r.1])
        .csv("instructions", |r| r.0.instructions[r.1])
        .to_csv(copies)
}

/// For people: the slowest copy of each, and what it saves over the first sequential row.
pub fn text(rows: &[SchemeHits]) -> String {
    let base = rows.iter().find(|r| r.scheme == Scheme::Sbl);
    let change = |hits: u64, base: Option<u64>| {
        // By how much `hits` are more, if that is known.
        let base = base.filter(|n| *n > 0);
        let more = base.map(|n| format!("{:+.1}%", (hits as f64 / n as f64 - 1.0) * 100.0));
        Cell::Figure(more.unwrap_or_default())
    };
    let probes = |r: &SchemeHits| slowest(&r.probe_hits);
    let labels = |r: &SchemeHits| slowest(&r.label_hits);
    let table = Table::new()
        .text("scheme", |r: &SchemeHits| r.scheme.to_string())
        .text("k", |r| r.k)
        .text("probe hits", probes)
        .text("to sbl", |r| change(probes(r), base.map(probes)))
        .text("label hits", labels)
        .text("to sbl", |r| change(labels(r), base.map(labels)));
    format!("of the slowest copy, beside sbl's\n{}", table.columns(rows))
}

fn slowest(hits: &TiSlice<CopyId, u64>) -> u64 {
    hits.iter().copied().max().unwrap_or(0)
}

/// What each function takes in each copy.
fn functions<'a>() -> Table<'a, FunctionHits> {
    Table::new()
        .csv("function", |r: &FunctionHits| r.function.clone())
        .text_and_csv("copy", "copy", |r| r.copy.to_string())
        .text_and_csv("versions", "versions", |r| r.versions.name())
        .text_and_csv("paths", "paths", |r| r.paths)
        .text_and_csv("hashed", "hashed", |r| r.hashed)
        .text_and_csv("statements", "statements", |r| r.statements)
        .text_and_csv("instructions", "instructions", |r| {
            r.instructions.round() as u64
        })
}

/// For programs.
pub fn functions_json(rows: &[FunctionHits]) -> String {
    serde_json::json!({ "functions": rows }).to_string() + "\n"
}

/// One record for each function and copy.
pub fn functions_csv(rows: &[FunctionHits]) -> String {
    functions().to_csv(rows)
}

/// For people: those first that take most.
pub fn functions_text(rows: &[FunctionHits], layout: Layout) -> String {
    let mut rows: Vec<&FunctionHits> = rows.iter().collect();
    rows.sort_by(|a, b| b.instructions.total_cmp(&a.instructions));
    let name = |r: &FunctionHits| printed_name(&r.function);
    let text = functions().columns_and_names(&rows, ("function", name));
    text.render(layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_for_people_and_programs() {
        let row = |scheme, probes: &[u64], labels: &[u64], instructions: &[u64]| SchemeHits {
            scheme,
            k: probes.len() as u32,
            probe_hits: probes.to_vec().into(),
            label_hits: labels.to_vec().into(),
            instructions: instructions.to_vec().into(),
        };
        let rows = [
            row(Scheme::Sbl, &[40], &[0], &[53]),
            row(Scheme::P3, &[10, 30], &[5, 2], &[23, 30]),
        ];
        let lines: Vec<String> = text(&rows).lines().skip(2).map(str::to_string).collect();
        let words = |l: &String| l.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        assert_eq!(words(&lines[0]), ["sbl", "1", "40", "+0.0%", "0"]);
        assert_eq!(words(&lines[1]), ["p3", "2", "30", "-25.0%", "5"]);
        let expected = "scheme,k,copy,probe_hits,label_hits,instructions\n\
                        sbl,1,0,40,0,53\np3,2,0,10,5,23\np3,2,1,30,2,30\n";
        assert_eq!(csv(&rows), expected);
        let json: serde_json::Value = serde_json::from_str(&json(&rows)).unwrap();
        assert_eq!(json["rows"][1]["probe_hits"], serde_json::json!([10, 30]));
    }
}
