//! `p3-prof diff`.

use super::Outcome;
use super::format::Format;
use super::sources::SourceArgs;
use crate::base::error::{Error, Result};
use crate::base::names::parse_function_pattern;
use crate::base::table::{Layout, number_of};
use crate::profile::filter::Selection;
use crate::profile::verdict::Trust;
use crate::read::report::diff;
use clap::Args;
use regex::Regex;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// The earlier merged profile
    a: PathBuf,
    /// The later merged profile
    b: PathBuf,
    /// Ignore changes of a path's share below this many percent of all paths
    #[arg(long, value_name = "PERCENT", default_value_t = 0.1)]
    least: f64,
    /// Show at most this many paths and functions of each kind, as text
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Only functions whose symbol or readable name matches, or a name as printed
    #[arg(long, value_name = "RE", value_parser = parse_function_pattern)]
    function: Option<Regex>,
    #[command(flatten)]
    sources: SourceArgs,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &DiffArgs, trust: Trust, layout: Layout) -> Result<Outcome> {
    if !(0.0..=100.0).contains(&args.least) {
        let message = format!("--least {}: give a share from 0 to 100", args.least);
        return Err(Error::Usage(message));
    }
    let (a, b) = (trust.read(&args.a)?, trust.read(&args.b)?);
    let selection = Selection::new(args.function.as_ref(), None, &[&a, &b])?;
    let diff = diff::diff(a.paths()?, b.paths()?, &selection, args.least / 100.0)?;
    let (of_a, of_b) = (args.sources.find(&a), args.sources.find(&b));
    let printed = match args.format {
        Format::Text => diff::text(&diff, args.top, [&of_b, &of_a], layout),
        Format::Json => diff::json(&diff),
        Format::Csv => diff::csv(&diff),
    };
    let unrelated = diff.unrelated.map(|[both, all]| {
        let verb = if both == 1 { "is" } else { "are" };
        let all = number_of(all as u64, "function");
        format!("these are profiles of different programs: {both} of {all} {verb} in both")
    });
    Ok(Outcome {
        text: printed,
        found: diff.has_differences(),
        warnings: unrelated.into_iter().collect(),
        ..Outcome::default()
    }
    .with_verdicts(&[&a, &b])
    .with_source_remarks(&of_b))
}
