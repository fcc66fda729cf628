//! `p3-prof simulate`.

use super::Outcome;
use super::format::Format;
use crate::base::error::{Error, Result};
use crate::base::table::Layout;
use crate::copies::strategy::Scheme;
use crate::profile::manifest::Manifest;
use crate::profile::verdict::Trust;
use crate::read::analysis::simulate;
use crate::read::report::simulated;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// The manifest of the same input [default: the profile's own]
    #[arg(short, long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// A merged profile, or an output folder with one
    #[arg(value_name = "FILE|OUTDIR")]
    file: PathBuf,
    /// Use weights of this earlier profile, like p3-rewrite --profile [default: static weights]
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Numbers of copies to compute
    #[arg(short = 'k', long, value_name = "K,…", value_delimiter = ',', default_value = "2,4,8",
          value_parser = crate::cli::values::copies())]
    copies: Vec<u32>,
    /// Schemes to compute
    #[arg(
        long,
        value_name = "NAME,…",
        value_enum,
        value_delimiter = ',',
        default_value = "sbl,pbl,p3,p3-hot"
    )]
    scheme: Vec<Scheme>,
    /// Print each function of each copy instead, for one scheme and number of copies
    #[arg(long)]
    functions: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(super) fn run(args: &SimulateArgs, trust: Trust, layout: Layout) -> Result<Outcome> {
    if let Some(s) = args
        .scheme
        .iter()
        .find(|s| !s.strategy().measure.is_exact())
    {
        let message = format!("--scheme {s}: what it costs does not follow from paths; measure it");
        return Err(Error::Usage(message));
    }
    let profile = trust.read(&args.file)?;
    let own = || Ok::<_, Error>(profile.manifest.clone());
    let manifest = args.manifest.as_deref().map_or_else(own, Manifest::read)?;
    let weights = args.profile.as_deref();
    let weights = weights.map(|file| trust.read(file)).transpose()?;
    let (schemes, copies) = (&args.scheme, &args.copies);
    let profiles = Vec::from_iter([&profile].into_iter().chain(&weights));
    if args.functions {
        let (&[scheme], &[copies]) = (&schemes[..], &copies[..]) else {
            let message = "--functions is for one scheme: add --scheme NAME -k K";
            return Err(Error::Usage(message.into()));
        };
        let rows = simulate::functions(&manifest, &profile, weights.as_ref(), scheme, copies)?;
        let printed = match args.format {
            Format::Text => simulated::functions_text(&rows, layout),
            Format::Json => simulated::functions_json(&rows),
            Format::Csv => simulated::functions_csv(&rows),
        };
        return Ok(Outcome::print(printed).with_verdicts(&profiles));
    }
    let rows = simulate::simulate(&manifest, &profile, weights.as_ref(), schemes, copies)?;
    let printed = match args.format {
        Format::Text => simulated::text(&rows),
        Format::Json => simulated::json(&rows),
        Format::Csv => simulated::csv(&rows),
    };
    Ok(Outcome::print(printed).with_verdicts(&profiles))
}
