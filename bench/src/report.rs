//! The sections of `docs/RESULTS.md` that come from the JSON, and its plots.

use crate::build::project;
use crate::markdown::Table;
use crate::plot::{Series, bars};
use crate::results::{Edges, Program, Results};
use crate::{counted, hits, times};
use anyhow::{Context, Result, ensure};
use std::fmt::{Display, Write};
use std::path::Path;

/// Writes the sections of the results in `out` into the page, and the JSON beside it.
pub(crate) fn write(out: &Path) -> Result<()> {
    let results = Results::load(out)?;
    ensure!(
        !results.programs.of.is_empty(),
        "nothing was measured: make bench"
    );
    let docs = project().join("docs");
    std::fs::create_dir_all(docs.join("plots"))?;
    std::fs::write(
        docs.join("results.json"),
        serde_json::to_string(&results)? + "\n",
    )?;
    let path = docs.join("RESULTS.md");
    let page = std::fs::read_to_string(&path)?;
    std::fs::write(&path, place_sections(&page, &results)?)?;
    counted::plot(&results, &docs)?;
    hits::plots(&results, &docs)?;
    crate::shadows::plots(&results, &docs)?;
    crate::subpaths::plots(&results, &docs)?;
    edge_plot(&results, &docs)
}

/// A section of the page, from what was measured; empty if nothing was.
type Section = fn(&Results) -> String;

/// The sections that are written from the JSON, by the name of their marker.
const SECTIONS: [(&str, Section); 8] = [
    ("measure: instructions", counted::section),
    ("measure: times", times::section),
    ("measure: hits", hits::section),
    ("edges", edges),
    ("measure: sizes", times::sizes),
    ("rewriting", crate::rewriting::section),
    ("shadows", crate::shadows::section),
    ("subpaths", crate::subpaths::section),
];

/// The page with each section between `<!-- p3-bench NAME -->` and the next `<!-- end -->`. Text outside of
/// markers is written by hand and stays.
fn place_sections(page: &str, results: &Results) -> Result<String> {
    let mut page = page.to_string();
    for (name, section) in SECTIONS {
        let begin = format!("<!-- p3-bench {name} -->\n");
        let text = section(results);
        let placed = page.split_once(&begin).and_then(|(before, rest)| {
            let (_, after) = rest.split_once("<!-- end -->\n")?;
            let text = wrap(text.trim());
            Some(format!("{before}{begin}\n{text}\n\n<!-- end -->\n{after}"))
        });
        page = placed.with_context(|| format!("docs/RESULTS.md has no {begin}"))?;
    }
    Ok(page)
}

/// Wraps prose; lines of tables and pictures stay whole.
fn wrap(text: &str) -> String {
    const COLUMNS: usize = 100;
    let mut wrapped = String::new();
    for line in text.lines() {
        let mut column = 0;
        for word in line.split(' ') {
            let length = word.chars().count();
            if column > 0 && !line.starts_with(['|', '!', '#']) && column + 1 + length > COLUMNS {
                wrapped.push('\n');
                column = 0;
            } else if column > 0 {
                wrapped.push(' ');
            }
            wrapped += word;
            column += length + 1;
        }
        wrapped.push('\n');
    }
    wrapped.truncate(wrapped.trim_end().len());
    wrapped
}

fn edge_plot(results: &Results, docs: &Path) -> Result<()> {
    let names = results.edges.of.keys().cloned();
    let names: Vec<String> = names.chain(["average".to_string()]).collect();
    let columns = [
        ("llvm", "LLVM edge counts"),
        ("edge", "edge"),
        ("sbl", "paths, sbl"),
    ];
    let series = columns.map(|(variant, name)| {
        let values = results.edges.of.values();
        let values = values.map(|e| over(e, variant, "native") * 100.0);
        Series {
            name: name.into(),
            values: with_average(values.collect()),
        }
    });
    let title = "Run time over native: edges and paths";
    bars(&docs.join("plots/edges.svg"), title, &names, &series)
}

/// The run time of one variant over that of another; 0.1 is 10 %.
fn over(edges: &Edges, variant: &str, base: &str) -> f64 {
    let wall = |name: &str| edges.runs.get(name).map_or(f64::NAN, |r| r.wall);
    wall(variant) / wall(base) - 1.0
}

/// Names, and the average behind them.
pub(crate) fn names<'a>(of: impl Iterator<Item = &'a String>) -> Vec<String> {
    of.cloned().chain(["average".to_string()]).collect()
}

/// What a variant is compared with: LLVM's edge counts went through no pass, and ours through those of the makefile.
pub(crate) fn native_of(variant: &str) -> &'static str {
    match variant {
        "edge" | "edge alone" => "native translated",
        _ => "native",
    }
}

/// The mean of each column over the programs that have a value in it.
pub(crate) fn means<V: AsRef<str>>(
    results: &Results,
    columns: &[V],
    of: impl Fn(&Program, &str) -> f64,
) -> impl Iterator<Item = f64> {
    columns.iter().map(move |column| {
        let known = results.programs.of.values().map(|p| of(p, column.as_ref()));
        average(&known.filter(|v| !v.is_nan()).collect::<Vec<_>>())
    })
}

pub(crate) fn with_average(mut values: Vec<f64>) -> Vec<f64> {
    values.push(average(&values));
    values
}

pub(crate) fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Of an even number the mean of the two in the middle.
pub(crate) fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    (of[(of.len() - 1) / 2] + of[of.len() / 2]) / 2.0
}

pub(crate) fn percent(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    format!("{:+.0} %", value * 100.0).replace("-0 %", "+0 %")
}

/// What stands before, and a cell for each of these.
fn named<T: Display>(first: &[&str], cells: impl IntoIterator<Item = T>) -> Vec<String> {
    let first = first.iter().map(|c| c.to_string());
    let cells = cells.into_iter().map(|c| c.to_string());
    first.chain(cells).collect()
}

/// Edge profiling, what it tells of paths, and what programs gain from profiles.
fn edges(results: &Results) -> String {
    if results.edges.of.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "### Edges\n\n{}. Wall time of one copy over native: LLVM's edge counts, `--scheme edge` and paths (`sbl`). \
         The last three columns say how accurately the edge counts alone predict the paths \
         (`p3-prof accuracy`): the share of flow for which the likeliest path is right, the overlap with \
         greedily chosen paths, and the definite flow.\n\n![Edges and paths](plots/edges.svg)\n\n",
        results.edges.made_by("edges")
    );
    let mut table = Table::new([
        "program",
        "native s",
        "LLVM edges",
        "edge",
        "sbl",
        "right",
        "overlap",
        "definite",
    ]);
    let cells = |values: [f64; 6]| {
        let exactly = |v: f64| format!("{:.1} %", v * 100.0);
        let [llvm, edge, sbl, right, overlap, definite] = values;
        let overheads = [llvm, edge, sbl].map(percent).into_iter();
        overheads.chain([right, overlap, definite].map(exactly))
    };
    let mut all = Vec::new();
    for (name, e) in &results.edges.of {
        let mut values = [f64::NAN; 6];
        for (to, variant) in values.iter_mut().zip(["llvm", "edge", "sbl"]) {
            *to = over(e, variant, "native");
        }
        for (to, share) in values[3..].iter_mut().zip(&e.accuracy) {
            *to = *share;
        }
        all.push(values);
        let native = format!("{:.2}", e.runs["native"].wall);
        table.row([name.clone(), native].into_iter().chain(cells(values)));
    }
    let means = std::array::from_fn(|i| average(&all.iter().map(|v| v[i]).collect::<Vec<_>>()));
    table.row(named(&["average", ""], cells(means)));
    text += &table.to_string();
    text += "\n#### Programs rebuilt with their profiles\n\nRun time over the same program optimised without a profile \
             (`opt -passes='default<O2>'` of the front end's output); less is faster. Profiles are of the training \
             input. `annotated`: by `p3-rewrite annotate`; `proftext`: exported; `LLVM`: by LLVM's own \
             instrumentation, values included.\n\n";
    let mut table = Table::new(["program", "plain s", "annotated", "proftext", "LLVM"]);
    let rebuilt = results.edges.of.iter();
    let rebuilt: Vec<_> = rebuilt
        .filter(|(_, e)| e.runs.contains_key("plain"))
        .collect();
    const WITH: [&str; 3] = ["annotated", "proftext", "pgo"];
    for (name, e) in &rebuilt {
        let plain = format!("{:.2}", e.runs["plain"].wall);
        let with = WITH.map(|v| format!("{:+.1} %", over(e, v, "plain") * 100.0));
        table.row([name.to_string(), plain].into_iter().chain(with));
    }
    let mean = |v| {
        let all = rebuilt.iter().map(|(_, e)| over(e, v, "plain"));
        format!("{:+.1} %", average(&all.collect::<Vec<_>>()) * 100.0)
    };
    table.row(named(&["average", ""], WITH.map(mean)));
    writeln!(text, "{table}").expect("a string");
    for (name, e) in results
        .edges
        .of
        .iter()
        .filter(|(_, e)| !e.differing.is_empty())
    {
        writeln!(
            text,
            "{name}: its output differs in {}.\n",
            e.differing.join(", ")
        )
        .expect("a string");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_agrees_with_stored_results() {
        let docs = project().join("docs");
        let page = std::fs::read_to_string(docs.join("RESULTS.md")).unwrap();
        let placed = place_sections(&page, &Results::load(&docs).unwrap()).unwrap();
        assert!(
            placed == page,
            "docs/RESULTS.md: `p3-bench report` writes it again"
        );
    }
}
