//! Averages and medians of what was measured, and how they are printed.

use crate::results::{Program, Results};

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
