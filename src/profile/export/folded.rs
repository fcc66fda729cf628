//! Folded stacks: one line for each path, frames joined by semicolons, then its weight.

use super::Weigh;
use super::stacks::frames;
use crate::profile::report::Report;

/// Every path, by descending count.
pub(super) fn render(report: &Report, weigh: Weigh) -> String {
    let mut out = String::new();
    for line in &report.lines {
        let frames = frames(report, line);
        // A semicolon separates frames, the last blank the weight: names are of one line, with any blanks.
        let names = frames.iter().map(|f| f.name.replace(';', ","));
        let weight = match weigh {
            Weigh::Paths => u128::from(line.count),
            Weigh::Instructions => u128::from(line.count) * u128::from(line.instructions),
        };
        out += &names.collect::<Vec<_>>().join(";");
        out += &format!(" {weight}\n");
    }
    out
}
