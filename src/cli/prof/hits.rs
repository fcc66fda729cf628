//! `p3-prof hits`.

use super::Outcome;
use super::format::Format;
use crate::base::error::Result;
use crate::read::analysis::hits::hits;
use crate::read::report::hits;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct HitsArgs {
    /// The manifest.json of the copies
    #[arg(short, long, value_name = "FILE")]
    manifest: PathBuf,
    /// Raw profiles, or folders that are searched for *.p3raw
    #[arg(required = true, value_name = "RAW")]
    files: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &HitsArgs) -> Result<Outcome> {
    let row = hits(&args.manifest, &args.files)?;
    let printed = match args.format {
        Format::Text => hits::text(&row),
        Format::Json => hits::json(&row),
        Format::Csv => hits::csv(&row),
    };
    Ok(Outcome::print(printed))
}
