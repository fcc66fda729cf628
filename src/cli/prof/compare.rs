//! `p3-prof compare`.

use super::Outcome;
use crate::base::error::Result;
use crate::base::names::escape_unprintable;
use crate::profile::verdict::Trust;
use crate::read::analysis::compare::{Finding, compare};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// A merged profile
    a: PathBuf,
    /// The other merged profile
    b: PathBuf,
    /// How many differences to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    max: usize,
}

pub(super) fn run(args: &CompareArgs, trust: Trust) -> Result<Outcome> {
    let (a, b) = (trust.read(&args.a)?, trust.read(&args.b)?);
    let (mut differences, mut explained) = (Vec::new(), Vec::new());
    for finding in compare(&a, &b)? {
        match finding {
            Finding::Differs(line) => differences.push(line),
            Finding::Explained(line) => explained.push(line),
        }
    }
    let found = !differences.is_empty();
    let mut text = list_first(&differences, args.max, "more differences");
    text += &list_first(&explained, args.max, "more functions like these");
    Ok(Outcome {
        text,
        found,
        ..Outcome::default()
    }
    .with_verdicts(&[&a, &b]))
}

/// At most `max` lines, and how many more there are.
fn list_first(lines: &[String], max: usize, more: &str) -> String {
    let shown = lines
        .iter()
        .take(max)
        .map(|line| format!("{}\n", escape_unprintable(line)));
    let mut text: String = shown.collect();
    if lines.len() > max {
        text += &format!("… and {} {more}\n", lines.len() - max);
    }
    text
}
