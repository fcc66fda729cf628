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
pub(crate) struct Counted;

impl Section for Counted {
    fn text(&self, results: &Results) -> String {
        section(results)
    }

    fn draw_plots(&self, results: &Results, docs: &Path) -> Result<()> {
        plot(results, docs)
    }
}

/// Executed instructions over native, in millions and percent.
fn section(results: &Results) -> String {
    let variants = columns(results);
    if variants.is_empty() {
        return String::new();
    }
    let text = format!(
        "## Instructions\n\nMade by {}. Executed by `main` and all that it calls over native, on the smaller input, by the slowest of all copies (callgrind; start-up and what is \
         written at the end are left out, LLVM's too). They do not vary from run to run, and the alignment of code does not move them. `trained`: weights by the profile of \
         the other, larger input (`--profile`). Copies are linked by `make` in the output folder, which optimises what it links, and native went through the same passes, but for the options that keep counts short \
         (`P3_PASSES`; with them native takes as many instructions); with LLVM's edge counts \
         (`edge`: `opt -passes=pgo-instr-gen,instrprof`, as `-fprofile-generate` does, which counts values as well: targets of calls, sizes of copies; `edge alone`: with `-disable-vp`, edges only) both sides are translated to machine code alone, since its counters keep no optimiser from anything; by those of these options that concern code generation edges alone would take about a point less (gzip +17.0 → +15.8 %).\n\n\
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
    text + &format!("{table}\n{}", goals(results))
}

/// What is told of the averages: over the programs in which the variant was counted.
fn goals(results: &Results) -> String {
    let counted = |variant: &str| -> Vec<&Program> {
        let programs = results.programs.of.values();
        programs.filter(|p| !over(p, variant).is_nan()).collect()
    };
    let times = |variant: &str| {
        let programs = counted(variant);
        let of = |v: &str| average(&programs.iter().map(|p| over(p, v)).collect::<Vec<_>>());
        let [with, alone] = ["edge", "edge alone"].map(|edges| of(variant) / of(edges));
        format!("{with:.2} × ({alone:.2} ×)")
    };
    let mut text = format!(
        "On average one copy that counts all paths (`sbl`) costs {} what LLVM's instrumentation costs (what its edges alone cost), trained (`p3-hot 1 trained`) {}; the slowest of two copies {}, of four {}, trained {}",
        times("sbl"),
        times("p3-hot 1 trained"),
        times("p3-hot 2"),
        times("p3-hot 4"),
        times("p3-hot 4 trained"),
    );
    let eight = counted("p3-hot 8 trained").len();
    if eight > 0 {
        let times = times("p3-hot 8 trained");
        text +=
            &format!(", of eight, trained, {times} in the {eight} programs where it was counted");
    }
    text + ".\n\n"
}

/// Draws some of the columns.
fn plot(results: &Results, docs: &Path) -> Result<()> {
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
    bars(&docs.join("plots/instructions.svg"), title, &names, &series)
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
