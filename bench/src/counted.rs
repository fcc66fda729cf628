//! The table of executed instructions.

use crate::report::{average, columns, largest, table};
use crate::results::{Program, Results};
use std::fmt::Write;

/// Executed instructions over native, in millions and percent.
pub(crate) fn table_of(results: &Results) -> String {
    let counted = |p: &&Program| p.variants["native"][0].instructions > 0;
    if !results.programs.values().any(|p| counted(&p)) {
        return String::new();
    }
    let variants = columns(results);
    let mut text = String::from(
        "## Instructions\n\nExecuted by `main` and all that it calls over native, of the slowest copy, on the training input (callgrind; start-up and what is \
         written at the end are left out, LLVM's too). They do not vary from run to run, and the alignment of code does not move them. \
         `trained` is by the profile of the same input here.\n\n",
    );
    let mut head = vec!["program", "native, millions"];
    head.extend(variants.iter().map(String::as_str));
    text += &table(&head);
    let mut sums = vec![Vec::new(); variants.len()];
    for (name, p) in results.programs.iter().filter(|(_, p)| counted(p)) {
        let native = p.variants["native"][0].instructions as f64;
        write!(text, "| {name} | {:.0} |", native / 1e6).expect("a string");
        for (variant, sum) in variants.iter().zip(&mut sums) {
            let value = largest(p, variant, |r| r.instructions as f64);
            sum.push(value);
            write!(text, " {} |", precise(value)).expect("a string");
        }
        text.push('\n');
    }
    text += "| average | |";
    for sum in &sums {
        write!(text, " {} |", precise(average(sum))).expect("a string");
    }
    text + "\n\n"
}

fn precise(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    format!("{:+.1} %", value * 100.0)
}
