//! The section of the report, and its plots.

use super::data::{Accuracy, SEEDS, Sampled, Subpaths, VARIANTS, WATCHED};
use crate::markdown::Table;
use crate::plot::{Series, bars, lines};
use crate::results::Results;
use crate::section::Section;
use crate::statistics::{average, median, with_average};
use anyhow::Result;
use std::path::Path;

/// The talk's figures: program, overhead in all and of it sampling (%), bytes of the profiler.
const TALK: [(&str, u32, u32, u32); 6] = [
    ("JLex", 93, 47, 43_304),
    ("FFT", 36, 16, 39_742),
    ("HeapSort", 204, 56, 48_960),
    ("MolDyn", 241, 32, 40_864),
    ("RayTrace", 361, 41, 65_800),
    ("javac", 79, 7, 0),
];

/// The section of sampled subpaths.
pub(crate) const SAMPLED_SUBPATHS: Section = Section {
    marker: "subpaths",
    text: section,
    draw_plots: plots,
};

/// The section of the report.
fn section(results: &Results) -> String {
    let Some(subpaths) = &results.subpaths else {
        return String::new();
    };
    let mut text = format!(
        "### Subpaths\n\n`p3-bench subpaths`, {}, {}. `--scheme subpath` by default; programs of `testdata/subpaths` in place of the \
         talk's six, the others with `run-train.sh`.\n\n",
        subpaths.date, subpaths.machine
    );
    text += &overhead(subpaths);
    text += &times(subpaths);
    text += &accuracy(subpaths);
    text += &lists(subpaths);
    text
}

fn over(p: &Sampled, variant: &str) -> f64 {
    let of = |name: &str| p.instructions.get(name).map_or(f64::NAN, |&n| n as f64);
    of(variant) / of("native") * 100.0 - 100.0
}

fn overhead(subpaths: &Subpaths) -> String {
    let mut text =
        "Instructions over native, of skipping alone (a period of 2^30 blocks) and in all:\n\n\
                    ![Instructions over native](plots/subpaths-overhead.svg)\n\n"
            .to_string();
    let percents = |p: &Sampled| VARIANTS.map(|(v, ..)| over(p, v));
    let rows = subpaths.programs.iter().map(|(n, p)| (n, percents(p)));
    text += &format!("{}\n", table_of(rows));
    text += "The talk's prototype by run time, and its memory (ours takes the 65,536 bytes that it is given):\n\n";
    let mut table = Table::new(["program", "in all", "of it sampling", "bytes"]);
    for (name, all, sampling, bytes) in TALK {
        let bytes = if bytes == 0 {
            String::new()
        } else {
            bytes.to_string()
        };
        let percents = [all, sampling].map(|n| format!("{n} %"));
        let [all, sampling] = percents;
        table.row([name.to_string(), all, sampling, bytes]);
    }
    text + &format!("{table}\n")
}

/// Percents by variant, of programs and on average.
fn table_of<'a>(rows: impl Iterator<Item = (&'a String, [f64; VARIANTS.len()])>) -> Table {
    let heads = VARIANTS.map(|(name, ..)| name);
    let mut table = Table::new(["program"].into_iter().chain(heads));
    let cells = |percents: [f64; VARIANTS.len()]| percents.map(|n| format!("{n:+.1} %"));
    let mut all: [Vec<f64>; VARIANTS.len()] = Default::default();
    for (name, percents) in rows {
        table.row([name.clone()].into_iter().chain(cells(percents)));
        for (all, n) in all.iter_mut().zip(percents) {
            all.push(n);
        }
    }
    let means = cells(all.map(|all| average(&all)));
    table.row(["mean".to_string()].into_iter().chain(means));
    table
}

/// Processor time over native, of the programs that were timed.
fn times(subpaths: &Subpaths) -> String {
    let timed = subpaths.programs.iter();
    let mut timed = timed.filter(|(_, p)| !p.times.is_empty()).peekable();
    let Some((_, first)) = timed.peek() else {
        return String::new();
    };
    let rounds = first.times.len();
    let rows = timed.map(|(name, p)| {
        let over = |v: usize| median(p.times.iter().map(|t| t[v + 1] / t[0]).collect());
        let percents = std::array::from_fn(|v| over(v) * 100.0 - 100.0);
        (name, percents)
    });
    format!(
        "Processor time of runs of seconds (`run.sh`; our own programs with larger arguments) over native, medians of {} \
         rounds in turn:\n\n{}\n",
        rounds,
        table_of(rows)
    )
}

fn accuracy(subpaths: &Subpaths) -> String {
    let mut text = format!(
        "The first ten subpaths (by count less its error) against a log of all blocks. `true ranks`: in one sample, among all subpaths of all \
         eight lengths; `right or tied`: in {} samples, subpaths whose rank is right, or whose interval holds the \
         count of the right one; errors are relative to the true count; `in the interval`: subpaths of five points or \
         more whose 95 % interval holds the true count.\n\n",
        SEEDS.len()
    );
    let mut table = Table::new([
        "program",
        "million blocks",
        "points",
        "doubled",
        "true ranks",
        "right or tied",
        "mean error",
        "largest",
        "in the interval",
    ]);
    for (name, p) in subpaths
        .programs
        .iter()
        .filter(|(_, p)| !p.samples.is_empty())
    {
        let a = &p.samples[0];
        let sum = |of: fn(&Accuracy) -> usize| p.samples.iter().map(of).sum::<usize>();
        let errors = || p.samples.iter().flat_map(|a| a.errors.iter().copied());
        let ranks: Vec<String> = a.ranks.iter().map(u64::to_string).collect();
        table.row([
            name.clone(),
            format!("{:.0}", p.executed),
            a.points.to_string(),
            a.doublings.to_string(),
            ranks.join(" "),
            format!("{} of {}", sum(|a| a.tied), sum(|a| a.ranks.len())),
            format!("{:.1} %", average(&errors().collect::<Vec<_>>()) * 100.0),
            format!("{:.1} %", errors().fold(0.0, f64::max) * 100.0),
            format!("{} of {}", sum(|a| a.held[0]), sum(|a| a.held[1])),
        ]);
    }
    text += &table.to_string();
    text += "\nThe talk's FFT: ranks 1 2 3 4 6 11 12, errors of 0.94, 0.11, 1.00, 0.76, 29.27, 3.04 and 0.76 %.\n\n";
    text + &format!(
        "True ranks of the first five while {WATCHED} runs:\n\n![True ranks while it runs](plots/subpaths-incremental.svg)\n\n"
    )
}

fn lists(subpaths: &Subpaths) -> String {
    let text = "Concise and counting samples if memory is full (`--period 100 --memory 8192`): mean error of the first ten, and \
         how often the threshold doubled. A counting sample draws 200 times as many samples as by default for ever; a \
         concise one draws fewer with each doubling.\n\n"
        .to_string();
    let mut table = Table::new(["program", "concise", "doubled", "counting", "doubled"]);
    for (name, p) in &subpaths.programs {
        let [concise, counting] = &p.full;
        table.row([
            name.clone(),
            format!("{:.1} %", average(&concise.errors) * 100.0),
            concise.doublings.to_string(),
            format!("{:.1} %", average(&counting.errors) * 100.0),
            counting.doublings.to_string(),
        ]);
    }
    text + &table.to_string()
}

/// Draws overheads, and true ranks while a program runs.
fn plots(results: &Results, folder: &Path) -> Result<()> {
    let Some(subpaths) = &results.subpaths else {
        return Ok(());
    };
    let names = subpaths.programs.keys().cloned();
    let names: Vec<String> = names.chain(["average".to_string()]).collect();
    let series = VARIANTS.map(|(v, ..)| Series {
        name: v.into(),
        values: with_average(subpaths.programs.values().map(|p| over(p, v)).collect()),
    });
    let title = "Instructions over native: sampled subpaths";
    bars(
        &folder.join("plots/subpaths-overhead.svg"),
        title,
        &names,
        &series,
    )?;
    let place = |i: usize| {
        let points = subpaths.incremental.iter();
        let points = points.filter_map(|l| Some((l.blocks, *l.ranks.get(i)? as f64)));
        (format!("place {}", i + 1), points.collect())
    };
    let title = format!("True rank of the first five, {WATCHED}");
    let axes = ["million blocks executed", "true rank"];
    lines(
        &folder.join("plots/subpaths-incremental.svg"),
        &title,
        axes,
        &[0, 1, 2, 3, 4].map(place),
    )
}
