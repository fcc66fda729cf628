//! The table of executed instructions.

use crate::markdown::Table;
use crate::plot::{Series, bars};
use crate::results::{Program, Results};
use crate::section::Section;
use crate::statistics::{average, means, native_of, with_average};
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// The section of executed instructions.
pub(crate) const INSTRUCTIONS: Section = Section {
    marker: "measure: instructions",
    text: section,
    draw_plots: plot,
};

/// Executed instructions over native, in millions and percent.
fn section(results: &Results) -> String {
    let variants = columns(results);
    if variants.is_empty() {
        return String::new();
    }
    let text = format!(
        "### Instructions\n\n{}. Slowest copy over native, smaller input. `edge`: LLVM's edges and values; \
         `edge alone`: LLVM's edges; `trained`: with `--profile` of the larger input.\n\n\
         ![Instructions over native](plots/instructions.svg)\n\n",
        results.programs.made_by("measure")
    );
    let head = ["program", "native, millions"].into_iter();
    let mut table = Table::new(head.chain(variants.iter().map(String::as_str)));
    for (name, p) in &results.programs.of {
        let native = slowest(p, "native");
        if native.is_nan() {
            continue;
        }
        let about = [name.clone(), format!("{:.0}", native / 1e6)];
        let cells = variants.iter().map(|v| precise(over(p, v)));
        table.row(about.into_iter().chain(cells));
    }
    let mean = means(results, &variants, over).map(precise);
    table.row(["average".into(), String::new()].into_iter().chain(mean));
    text + &format!("{table}\n{}", multiples_of_llvm(results))
}

/// Averages over those of LLVM's counts, of the programs in which the variant was counted.
fn multiples_of_llvm(results: &Results) -> String {
    let counted = |variant: &str| -> Vec<&Program> {
        let programs = results.programs.of.values();
        programs.filter(|p| !over(p, variant).is_nan()).collect()
    };
    let times = |variant: &str| {
        let programs = counted(variant);
        let of = |v: &str| average(&programs.iter().map(|p| over(p, v)).collect::<Vec<_>>());
        ["edge", "edge alone"].map(|edges| of(variant) / of(edges))
    };
    let rows = [
        ("one copy, `sbl`", "sbl"),
        ("one copy, `p3-hot`", "p3-hot 1"),
        ("one copy, `p3-hot`, trained", "p3-hot 1 trained"),
        ("slowest of two copies, `p3-hot`", "p3-hot 2"),
        ("slowest of four", "p3-hot 4"),
        ("slowest of four, trained", "p3-hot 4 trained"),
    ];
    let mut table = Table::new([
        "mean, as a multiple of LLVM's",
        "edges and values",
        "edges alone",
    ]);
    for (name, variant) in rows {
        if !counted(variant).is_empty() {
            let [with, alone] = times(variant).map(|times| format!("{times:.2} ×"));
            table.row([name.to_string(), with, alone]);
        }
    }
    format!("{table}\n")
}

/// Draws some of the columns.
fn plot(results: &Results, folder: &Path) -> Result<()> {
    if columns(results).is_empty() {
        return Ok(());
    }
    let series = [
        ("edge", "LLVM, edges and values"),
        ("edge alone", "LLVM, edges"),
        ("sbl", "sbl"),
        ("p3-hot 2", "p3-hot, k = 2"),
        ("p3-hot 4", "p3-hot, k = 4"),
        ("p3-hot 4 trained", "p3-hot, k = 4, trained"),
    ];
    let series = series.map(|(variant, name)| Series {
        name: name.into(),
        values: with_average(
            results
                .programs
                .of
                .values()
                .map(|p| over(p, variant) * 100.0)
                .collect(),
        ),
    });
    let names = crate::statistics::names(results.programs.of.keys());
    let title = "Instructions over native, slowest copy";
    bars(
        &folder.join("plots/instructions.svg"),
        title,
        &names,
        &series,
    )
}

/// The variants that were counted: LLVM's, one copy, several.
fn columns(results: &Results) -> Vec<String> {
    let counted = results
        .programs
        .of
        .values()
        .flat_map(|p| p.instructions.keys());
    let ours: BTreeSet<&String> = counted.filter(|v| !v.starts_with("native")).collect();
    let mut columns: Vec<String> = ours.into_iter().cloned().collect();
    columns.sort_by_key(|v| {
        let ours = !v.starts_with("edge");
        (v.ends_with("trained"), ours, v.contains(' '), v.clone())
    });
    columns
}

/// The instructions of a variant over native; 0.1 is 10 %.
fn over(program: &Program, variant: &str) -> f64 {
    let native = native_of(variant);
    slowest(program, variant) / slowest(program, native) - 1.0
}

/// The most that a copy executes.
fn slowest(program: &Program, variant: &str) -> f64 {
    let copies = program.instructions.get(variant).into_iter().flatten();
    copies.map(|&n| n as f64).fold(f64::NAN, f64::max)
}

fn precise(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    format!("{:+.1} %", value * 100.0)
}
