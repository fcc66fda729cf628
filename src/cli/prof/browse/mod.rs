//! `p3-prof browse`: functions, their paths or the sampled subpaths through them, and the source text with one lit, on
//! a screen.

mod data;
#[cfg_attr(not(feature = "estimates"), path = "no_estimates.rs")]
mod estimates;
mod items;
mod lit;
mod paths;
mod view;

use super::Outcome;
use super::sources::SourceArgs;
use crate::base::error::Result;
use crate::cli::screen::{Input, KeyOutcome, Screen};
use crate::profile::Profile;
use crate::profile::measurement::Measurement;
use crate::profile::verdict::Trust;
use crate::read::report::steps::Steps;
use crate::read::source::Sources;
use clap::Args;
use data::Tour;
use std::path::PathBuf;
use std::time::Duration;
use view::Browser;

#[derive(Debug, Args)]
pub(super) struct BrowseArgs {
    /// A merged profile, or an output folder with one
    #[arg(value_name = "FILE|OUTDIR")]
    file: PathBuf,
    #[command(flatten)]
    sources: SourceArgs,
}

pub(super) fn run(args: &BrowseArgs, trust: Trust) -> Result<Outcome> {
    let profile = trust.read(&args.file)?;
    let sources = args.sources.find(&profile);
    let mut browser = Browser::new(plan_tour(&profile, &sources)?);
    let mut screen = Screen::open("p3-prof show prints what is in it")?;
    let mut changed = true;
    loop {
        if changed {
            let mut drawn = Ok(());
            screen.draw(|frame| drawn = browser.draw(frame))?;
            drawn?;
        }
        let input = screen.input(Duration::from_secs(1))?;
        changed = !matches!(input, Input::None);
        match input {
            Input::Key(key) if browser.key(key)? == KeyOutcome::End => break,
            _ => {}
        }
    }
    drop(screen);
    Ok(Outcome::default()
        .with_verdicts(&[&profile])
        .with_source_remarks(&sources))
}

/// What is to be seen of `profile`.
///
/// # Errors
/// A profile of edges, or one that is damaged.
fn plan_tour<'a>(profile: &'a Profile, sources: &'a Sources) -> Result<Tour<'a>> {
    let steps = Steps::new(profile, sources, false);
    let told = match &profile.measured {
        Measurement::Exact(_) => data::tell_paths(profile.paths()?, &steps)?,
        Measurement::Estimated(estimated) => estimates::list_functions(profile, estimated, &steps)?,
    };
    Ok(Tour::new(profile, sources, steps, told))
}

#[cfg(test)]
mod tests;
