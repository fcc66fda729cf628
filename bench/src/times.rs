//! The tables of run times, memory and code.

use crate::markdown::Table;
use crate::results::{Program, Results, Run};
use crate::section::Section;
use crate::statistics::{means, native_of, percent};
use std::fmt::Write;

/// Shown beside native. `edge` is LLVM's instrumentation as its users have it, with values.
const SHOWN: [&str; 6] = [
    "edge",
    "edge alone",
    "sbl",
    "p3-hot 1",
    "p3-hot 4",
    "p3-hot 4 trained",
];

/// The section of run times.
pub(crate) const RUN_TIMES: Section = Section {
    marker: "measure: times",
    text: section,
    draw_plots: |_, _| Ok(()),
};

/// The section of what is executed and how large it is.
pub(crate) const SIZES: Section = Section {
    marker: "measure: sizes",
    text: sizes,
    draw_plots: |_, _| Ok(()),
};

/// Run times over native, each program with its code at several positions.
fn section(results: &Results) -> String {
    let timed = || {
        let programs = results.programs.of.iter();
        programs.filter(|(_, p)| p.times.runs.contains_key("native"))
    };
    let Some(rounds) = timed().map(|(_, p)| p.times.rounds).min() else {
        return String::new();
    };
    let mut text = format!(
        "### Run time\n\nWall time over native, medians of {rounds} rounds of all variants in turn: the middle \
         overhead of three positions of the code, {POSITIONS}, and in brackets all three. `native moves`: by how \
         much the position alone changes native.\n\n"
    );
    let head = ["program", "native s", "native moves"].into_iter();
    let mut table = Table::new(head.chain(SHOWN));
    for (name, p) in timed() {
        let native: Vec<f64> = p.times.runs["native"].iter().map(|r| r.wall).collect();
        let least = native.iter().copied().fold(f64::MAX, f64::min);
        let most = native.iter().copied().fold(0.0, f64::max);
        let about = [
            name.clone(),
            format!("{least:.2}"),
            format!("{:.1} %", (most / least - 1.0) * 100.0),
        ];
        let cells = SHOWN.map(|v| spread(&overheads(p, v, |r| r.wall)));
        table.row(about.into_iter().chain(cells));
    }
    for (what, of) in [
        ("average", (|r| r.wall) as fn(&Run) -> f64),
        ("average, CPU time", |r| r.cpu),
    ] {
        let about = [what.to_string(), String::new(), String::new()];
        let middle = |p: &Program, v: &str| middle(&overheads(p, v, of));
        let means = means(results, &SHOWN, middle).map(percent);
        table.row(about.into_iter().chain(means));
    }
    writeln!(text, "{table}").expect("a string");
    for (name, p) in timed() {
        let what = match p.times.differing.len() {
            0 => continue,
            n if n + 1 == p.times.runs.values().map(Vec::len).sum::<usize>() => {
                "varies from run to run".to_string()
            }
            _ => format!(
                "differs from the original's in {}",
                p.times.differing.join(", ")
            ),
        };
        writeln!(text, "{name}: its output {what}.\n").expect("a string");
    }
    text
}

/// As [`crate::measure`] has them.
const POSITIONS: &str = "moved by 0, 16 and 32 bytes";

/// By position: the time of a variant over that of native at the same one.
fn overheads(program: &Program, variant: &str, of: fn(&Run) -> f64) -> Vec<f64> {
    let native = native_of(variant);
    let runs = |v: &str| program.times.runs.get(v).into_iter().flatten().map(of);
    let pairs = runs(variant).zip(runs(native));
    pairs.map(|(run, native)| run / native - 1.0).collect()
}

fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The middle one, and all.
fn spread(values: &[f64]) -> String {
    let all: Vec<String> = values.iter().map(|v| format!("{:.0}", v * 100.0)).collect();
    match values {
        [] => String::new(),
        _ => format!("{} ({})", percent(middle(values)), all.join(", ")),
    }
}

/// Memory and code of what was timed.
fn sizes(results: &Results) -> String {
    let mut programs = results.programs.of.values();
    if programs.all(|p| p.times.runs.is_empty()) {
        return String::new();
    }
    let text = String::from(
        "### Memory and code\n\nPeak resident memory, and code with constants, of the programs that were timed.\n\n",
    );
    let mut table = Table::new([
        "program",
        "functions",
        "paths executed",
        "memory MB: native",
        "edge",
        "sbl",
        "p3-hot 4",
        "code kB: native",
        "edge",
        "sbl",
        "p3-hot 4",
    ]);
    const OF: [&str; 4] = ["native", "edge", "sbl", "p3-hot 4"];
    for (name, p) in &results.programs.of {
        let most = |variant: &str, of: fn(&Run) -> u64| {
            let runs = p.times.runs.get(variant).into_iter().flatten();
            runs.map(of).max()
        };
        let memory = OF.map(|v| most(v, |r| r.memory).map(|n| n >> 20));
        let code = OF.map(|v| most(v, |r| r.text).map(|n| n >> 10));
        let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        let numbers = memory.into_iter().chain(code).map(number);
        let paths = p.paths.replace(" paths executed", "");
        let about = [name.clone(), p.functions.clone(), paths];
        table.row(about.into_iter().chain(numbers));
    }
    format!("{text}{table}\n")
}
