//! The section of the report, and its plot.

use crate::markdown::Table;
use crate::plot::{Series, bars};
use crate::results::{Edges, Results};
use crate::section::Section;
use crate::statistics::{average, percent, with_average};
use anyhow::Result;
use std::fmt::{Display, Write};
use std::path::Path;

/// The section of edge profiling and of rebuilt programs.
pub(crate) const EDGE_PROFILES: Section = Section {
    marker: "edges",
    text: section,
    draw_plots: plot,
};

fn plot(results: &Results, folder: &Path) -> Result<()> {
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
    bars(&folder.join("plots/edges.svg"), title, &names, &series)
}

/// The run time of one variant over that of another; 0.1 is 10 %.
fn over(edges: &Edges, variant: &str, base: &str) -> f64 {
    let wall = |name: &str| edges.runs.get(name).map_or(f64::NAN, |r| r.wall);
    wall(variant) / wall(base) - 1.0
}

/// What stands before, and a cell for each of these.
fn named<T: Display>(first: &[&str], cells: impl IntoIterator<Item = T>) -> Vec<String> {
    let first = first.iter().map(|c| c.to_string());
    let cells = cells.into_iter().map(|c| c.to_string());
    first.chain(cells).collect()
}

/// Edge profiling, what it tells of paths, and what programs gain from profiles.
fn section(results: &Results) -> String {
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
