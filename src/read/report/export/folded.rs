//! Folded stacks: one line for each path, frames joined by semicolons, then its weight.

use super::stacks::frames;
use super::{Asked, Export, Weigh};
use crate::base::error::Result;
use crate::read::report::Report;

/// Paths as folded stacks, for flame graphs.
pub(super) struct Folded;

impl Export for Folded {
    const NAME: &'static str = "folded";
    const ABOUT: &'static str = "flamegraph.pl, inferno: a path as a stack of its blocks";
    const WEIGHED: bool = true;
    const UNFIT: Option<&'static str> =
        Some("a stack has one number, and there is no place for errors");
    type View<'a> = Report<'a>;

    fn write(report: &Report, asked: Asked) -> Result<Vec<u8>> {
        Ok(render(report, asked.weigh).into())
    }
}

/// Every path, by descending count.
fn render(report: &Report, weigh: Weigh) -> String {
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
