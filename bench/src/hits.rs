//! The tables and plots of label and probe hits.

use crate::build::{SHARING, variant_name};
use crate::markdown::Table;
use crate::plot::{Series, bars};
use crate::results::{Hits, Program, Results};
use crate::section::Section;
use crate::statistics::{means, names, percent, with_average};
use anyhow::Result;
use std::fmt::Write;
use std::path::Path;

const KS: [u32; 3] = [2, 4, 8];

/// The end of the names of variants that were planned by a profile.
const TRAINED: &str = " trained";

/// The sections of executed labels and probes.
pub(crate) const LABEL_AND_PROBE_HITS: Section = Section {
    marker: "measure: hits",
    text: section,
    draw_plots: plots,
};

/// Label hits and probe hits.
fn section(results: &Results) -> String {
    if columns(results).is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "### Label hits\n\nExecuted edges with a non-zero label (the P3 paper's measure), slowest copy over sbl, smaller \
         input (`p3-prof simulate`), by scheme and number of copies; `weighted` and `hot` are `p3-weighted` and \
         `p3-hot`. The paper has for p3 -23 %, -43 % and -56 % at k = 2, 4, 8 on 13 programs of SPEC CPU2006.\n\n",
    );
    for k in KS {
        writeln!(text, "![k = {k}](plots/hits-{k}.svg)").expect("a string");
    }
    text.push('\n');
    text += &tables(results, |h| &h.labels);
    text += "### Probe hits\n\nExecuted inserted statements (`r = c`, `r += c`, `count[r + c]++`), slowest copy over sbl.\n\n";
    text + &tables(results, |h| &h.probes)
}

/// Two tables, since one is too wide for a terminal: without a profile, and with one.
fn tables(results: &Results, of: fn(&Hits) -> &Vec<u64>) -> String {
    let columns = columns(results);
    let (trained, plain): (Vec<_>, Vec<_>) =
        columns.into_iter().partition(|v| v.ends_with(TRAINED));
    let mut text = table(results, &plain, of);
    if !trained.is_empty() {
        text += "With `--profile` of the larger input:\n\n";
        text += &table(results, &trained, of);
    }
    text
}

fn table(results: &Results, columns: &[String], of: fn(&Hits) -> &Vec<u64>) -> String {
    let names = columns.iter().map(|v| {
        let name = v.trim_end_matches(TRAINED);
        name.strip_prefix("p3-").unwrap_or(name)
    });
    let mut table = Table::new(["program"].into_iter().chain(names));
    for (name, p) in &results.programs.of {
        let hits = columns.iter().map(|v| percent(relative(p, v, of)));
        table.row([name.clone()].into_iter().chain(hits));
    }
    let mean = means(results, columns, |p, v| relative(p, v, of)).map(percent);
    table.row(["average".to_string()].into_iter().chain(mean));
    format!("{table}\n")
}

/// Draws label hits by number of copies.
fn plots(results: &Results, folder: &Path) -> Result<()> {
    let columns = columns(results);
    for k in KS {
        let of_k = columns
            .iter()
            .filter(|v| v.split(' ').nth(1) == Some(&k.to_string()));
        let series: Vec<Series> = of_k.map(|v| bars_of(results, v)).collect();
        if series.is_empty() {
            continue;
        }
        let title = format!("Label hits of the slowest copy relative to sbl, k = {k}");
        let file = folder.join(format!("plots/hits-{k}.svg"));
        bars(&file, &title, &names(results.programs.of.keys()), &series)?;
    }
    Ok(())
}

fn bars_of(results: &Results, variant: &str) -> Series {
    let share = |p| (1.0 + relative(p, variant, |h| &h.labels)) * 100.0;
    Series {
        values: with_average(results.programs.of.values().map(share).collect()),
        name: variant.into(),
    }
}

/// The variants of several copies whose hits are known.
fn columns(results: &Results) -> Vec<String> {
    let known = |v: &String| {
        let mut programs = results.programs.of.values();
        programs.any(|p| p.hits.contains_key(v))
    };
    let mut all = Vec::new();
    for scheme in SHARING {
        for trained in [false, true] {
            all.extend(KS.map(|k| variant_name(scheme, k, trained)));
        }
    }
    all.retain(known);
    all
}

/// The hits of the slowest copy relative to sbl; -0.3 is 30 % less.
fn relative(program: &Program, name: &str, of: fn(&Hits) -> &Vec<u64>) -> f64 {
    let max = |name: &str| {
        let hits = program.hits.get(name)?;
        of(hits).iter().copied().max()
    };
    match (max(name), max("sbl")) {
        (Some(hits), Some(sbl)) if sbl > 0 => hits as f64 / sbl as f64 - 1.0,
        _ => f64::NAN,
    }
}
