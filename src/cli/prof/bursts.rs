//! What `p3-prof` says of bursts.

use super::{AccuracyArgs, Format, Outcome, ShowArgs};
use crate::analysis::against;
use crate::error::Result;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::report::shadow;
use crate::table::Layout;

pub(super) fn show(
    args: &ShowArgs,
    profile: &Profile,
    mut selection: Selection,
    layout: Layout,
) -> Result<Outcome> {
    let bursts = profile.bursts()?;
    if args.edges {
        return Err(profile.only_estimates());
    }
    if args.format == Format::Text {
        selection.top = selection.top.or(Some(20));
    }
    Ok(match args.format {
        Format::Text if args.bursts => Outcome::print(shadow::bursts_text(bursts)),
        // Its summary says the verdict.
        Format::Text => {
            let sources = args.sources.of(profile);
            Outcome::print(shadow::text(bursts, &selection, sources, layout)?)
        }
        Format::Json => Outcome::print(shadow::json(bursts, &selection)?).about(&[profile]),
        Format::Csv => Outcome::print(shadow::csv(bursts, &selection)?).about(&[profile]),
    })
}

pub(super) fn accuracy(args: &AccuracyArgs, profile: &Profile, exact: &Profile) -> Result<Outcome> {
    let figures = against::against(profile.bursts()?, exact.paths()?)?;
    Ok(Outcome::print(match args.format {
        Format::Text => against::text(&figures),
        Format::Json => against::json(&figures),
        Format::Csv => against::csv(&figures),
    })
    .about(&[profile, exact]))
}
