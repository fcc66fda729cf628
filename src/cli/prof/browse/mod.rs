//! `p3-prof browse`: functions, their paths or the sampled subpaths through them, and the source text with one lit, on a screen.

mod data;
mod lit;
mod paths;
mod subpaths;
mod view;

use super::Outcome;
use super::sources::SourceArgs;
use crate::cli::screen::{Flow, Input, Screen};
use crate::error::Result;
use crate::profile::verdict::Trust;
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
    let mut browser = Browser::new(Tour::new(&profile, &sources)?);
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
            Input::Key(key) if browser.key(key)? == Flow::End => break,
            _ => {}
        }
    }
    drop(screen);
    Ok(Outcome::default().about(&[&profile]).told_by(&sources))
}

#[cfg(test)]
mod tests;
