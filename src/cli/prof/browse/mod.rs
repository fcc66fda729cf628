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
use super::threads::ThreadArgs;
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
    threads: ThreadArgs,
    #[command(flatten)]
    sources: SourceArgs,
}

pub(super) fn run(args: &BrowseArgs, trust: Trust) -> Result<Outcome> {
    let profile = args.threads.select(trust.read(&args.file)?)?;
    let sources = args.sources.find(&profile);
    // All threads, then each by itself.
    let mut views = vec![None];
    views.extend(profile.thread_rows().into_iter().map(Some));
    let mut screen = None;
    for chosen in views.iter().cycle() {
        let view = chosen.map(|row| profile.keep_threads(&[row]));
        let mut browser = Browser::new(plan_tour(view.as_ref().unwrap_or(&profile), &sources)?);
        if views.len() > 1 {
            browser.tell_threads(chosen.map(|row| profile.thread_name(row)));
        }
        if screen.is_none() {
            screen = Some(Screen::open("p3-prof show prints what is in it")?);
        }
        if browse(screen.as_mut().expect("it is open"), &mut browser)? == KeyOutcome::End {
            break;
        }
    }
    drop(screen);
    Ok(Outcome::default()
        .with_verdicts(&[&profile])
        .with_source_remarks(&sources))
}

/// Draws, and does what keys say: [`KeyOutcome::End`], or [`KeyOutcome::Next`] to see what the next thread ran.
fn browse(screen: &mut Screen, browser: &mut Browser) -> Result<KeyOutcome> {
    let mut changed = true;
    loop {
        if changed {
            let mut drawn = Ok(());
            screen.draw(|frame| drawn = browser.draw(frame))?;
            drawn?;
        }
        let input = screen.input(Duration::from_secs(1))?;
        changed = !matches!(input, Input::None);
        if let Input::Key(key) = input {
            match browser.key(key)? {
                KeyOutcome::On => {}
                end => return Ok(end),
            }
        }
    }
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
