//! `p3-prof paths`: what a selection is, without rewriting anything.

use super::Outcome;
use super::format::Format;
use super::sources::SourceArgs;
use crate::base::error::Result;
use crate::base::table::Layout;
use crate::profile::several::{self, Several};
use crate::profile::verdict::Trust;
use crate::read::request::{self, Empty, Request, Target};
use clap::Args;
use std::path::PathBuf;

/// How many paths of each function a text shows.
const SHOWN: usize = 5;

#[derive(Debug, Args)]
pub(super) struct PathsArgs {
    /// The selection, like that of p3-rewrite --paths; patch=DIFF is --patch
    #[arg(value_name = "SPEC")]
    spec: String,
    /// Merged profiles, or folders of programs, which need not have run
    #[arg(required = true, value_name = "PROFILE|FOLDER")]
    profiles: Vec<PathBuf>,
    /// Another selection (may be repeated); the union is listed
    #[arg(long, value_name = "SPEC")]
    paths: Vec<String>,
    /// Show at most this many paths of each function [default: 5 as text, otherwise 1000]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    #[command(flatten)]
    sources: SourceArgs,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &PathsArgs, trust: Trust, layout: Layout) -> Result<Outcome> {
    let specs = std::iter::once(&args.spec).chain(&args.paths).cloned();
    let asked = Request::read(&Vec::from_iter(specs), None, trust, Empty::Refused)?;
    let asked = asked.expect("clap requires a specification");
    let Several { profile, notes, .. } = several::read(&args.profiles, trust)?;
    let sources = args.sources.find(&profile);
    let target = Target::of_profile(&profile)?;
    let (asked, lines) = asked.resolve(&target, &sources)?;
    let is_text = args.format == Format::Text;
    let top = args.top.unwrap_or(if is_text { SHOWN } else { 1000 });
    let listed = request::list(profile.paths()?, &target, &asked, top)?;
    let printed = match args.format {
        Format::Text => request::text(&listed, &sources, layout),
        Format::Json => request::json(&listed),
        Format::Csv => request::csv(&listed),
    };
    let mut outcome = Outcome::print(printed);
    outcome.warnings.extend(lines);
    outcome.warnings.extend(notes);
    Ok(outcome
        .with_verdicts(&[&profile])
        .with_source_remarks(&sources))
}
