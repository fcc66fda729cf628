//! The table of executed instructions.

use crate::markdown::Table;
use crate::report::{average, columns, largest};
use crate::results::{Program, Results};

/// Executed instructions over native, in millions and percent.
pub(crate) fn table_of(results: &Results) -> String {
    let counted = |p: &&Program| p.variants["native"][0].instructions > 0;
    if !results.programs.values().any(|p| counted(&p)) {
        return String::new();
    }
    let variants = columns(results);
    let text = String::from(
        "## Instructions\n\nExecuted by `main` and all that it calls over native, of the slowest copy, on the training input (callgrind; start-up and what is \
         written at the end are left out, LLVM's too). They do not vary from run to run, and the alignment of code does not move them. \
         `trained` is by the profile of the same input here.\n\n",
    );
    let head = ["program", "native, millions"].into_iter();
    let mut table = Table::new(head.chain(variants.iter().map(String::as_str)));
    let of = |p: &Program, v: &String| largest(p, v, |r| r.instructions as f64);
    let programs = || results.programs.iter().filter(|(_, p)| counted(p));
    for (name, p) in programs() {
        let native = p.variants["native"][0].instructions as f64;
        let about = [name.clone(), format!("{:.0}", native / 1e6)];
        table.row(
            about
                .into_iter()
                .chain(variants.iter().map(|v| precise(of(p, v)))),
        );
    }
    let mean = |v| {
        let all = programs().map(|(_, p)| of(p, v));
        precise(average(&all.collect::<Vec<_>>()))
    };
    let means = variants.iter().map(mean);
    table.row(
        ["average".to_string(), String::new()]
            .into_iter()
            .chain(means),
    );
    text + &format!("{table}\n")
}

fn precise(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    format!("{:+.1} %", value * 100.0)
}
