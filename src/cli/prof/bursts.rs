//! What `p3-prof` says of bursts.

use super::Outcome;
use super::accuracy::AccuracyArgs;
use super::format::{Format, Render};
use super::show::ShowArgs;
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
    let render = Render {
        text: || {
            if args.bursts {
                return Ok(shadow::bursts_text(bursts));
            }
            let sources = args.sources.of(profile);
            shadow::text(bursts, &selection, sources, layout)
        },
        json: || shadow::json(bursts, &selection),
        csv: || shadow::csv(bursts, &selection),
    };
    let printed = Outcome::print(render.render(args.format)?);
    Ok(printed.about_unless_summarised(args.format, profile))
}

pub(super) fn accuracy(args: &AccuracyArgs, profile: &Profile, exact: &Profile) -> Result<Outcome> {
    let figures = against::against(profile.bursts()?, exact.paths()?)?;
    let render = Render {
        text: || against::text(&figures),
        json: || against::json(&figures),
        csv: || against::csv(&figures),
    };
    Ok(Outcome::print(render.render(args.format)).about(&[profile, exact]))
}
