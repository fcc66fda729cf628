//! `p3-prof accuracy`.

use super::format::Format;
use super::{Outcome, estimates};
use crate::base::error::Result;
use crate::base::names::parse_function_pattern;
use crate::base::table::Layout;
use crate::profile::filter::Selection;
use crate::profile::verdict::Trust;
use crate::read::analysis::accuracy::accuracy;
use crate::read::report::accuracy;
use clap::Args;
use regex::Regex;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct AccuracyArgs {
    /// A merged profile of paths
    file: PathBuf,
    /// Print how near the estimates of FILE (--scheme shadow) are to this exact profile of the same
    /// run
    #[arg(long, value_name = "EXACT", conflicts_with_all = ["top", "function"])]
    against: Option<PathBuf>,
    /// Show at most this many functions, those with most executed paths
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Only functions whose symbol or readable name matches, or a name as printed
    #[arg(long, value_name = "RE", value_parser = parse_function_pattern)]
    function: Option<Regex>,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &AccuracyArgs, trust: Trust, layout: Layout) -> Result<Outcome> {
    let profile = trust.read(&args.file)?;
    if let Some(exact) = &args.against {
        return estimates::compare_with_exact(args.format, &profile, &trust.read(exact)?);
    }
    profile.all_are_counted()?;
    let top = (args.format == Format::Text).then_some(args.top);
    let selection = Selection::new(args.function.as_ref(), top, &[&profile])?;
    let (rows, sum) = accuracy(profile.paths()?, &selection)?;
    let printed = match args.format {
        Format::Text => accuracy::text(&rows, &sum, layout),
        Format::Json => accuracy::json(&rows, &sum),
        Format::Csv => accuracy::csv(&rows),
    };
    Ok(Outcome::print(printed).with_verdicts(&[&profile]))
}
