//! Profiles of estimates: commands that show or compare them.

use super::Outcome;
use super::estimate_request::EstimateRequest;
use super::format::Format;
use crate::base::error::Result;
use crate::estimates::data::Estimated;
use crate::estimates::shadow::profile::BurstProfile;
use crate::estimates::shadow::{against, report as shadow};
use crate::estimates::subpath::export;
use crate::estimates::subpath::profile::SampledProfile;
use crate::estimates::subpath::report::{Report, csv, json, text};
use crate::profile::Profile;
use crate::profile::filter::{Order, Selection};
use crate::read::report::export::{Exporter, Written};
use crate::read::source::Sources;

/// `p3-prof show` of a profile, which is estimated.
pub(super) fn show(
    request: &EstimateRequest,
    (profile, estimated): (&Profile, &Estimated),
    mut selection: Selection,
) -> Result<Outcome> {
    let is_sample = matches!(estimated, Estimated::Sampled(_));
    if is_sample && request.bursts {
        return Err(profile.no_bursts());
    }
    if !is_sample && request.longest {
        return Err(profile.no_sample());
    }
    if request.edges {
        return Err(profile.only_estimates());
    }
    if request.format == Format::Text {
        selection.top = selection.top.or(Some(20));
        if is_sample {
            selection.order = Order::Instructions;
        }
    }
    match estimated {
        Estimated::Bursts(_) => show_bursts(request, profile.bursts()?, &selection),
        Estimated::Sampled(_) => show_sampled(request, profile.as_sampled()?, &selection),
    }
}

fn show_sampled(
    request: &EstimateRequest,
    profile: SampledProfile,
    selection: &Selection,
) -> Result<Outcome> {
    let report = if request.longest {
        Report::from_joined(profile, selection)
    } else {
        Report::new(profile, selection)
    };
    let report = report.with_sources(request.sources.find(profile.profile));
    let printed = match request.format {
        Format::Text => text(&report, request.layout),
        Format::Json => json(&report),
        Format::Csv => csv(&report),
    };
    let printed = Outcome::print(printed);
    let outcome = printed.with_verdict_unless_summarised(request.format, profile.profile);
    Ok(outcome.with_source_remarks(&report.sources))
}

fn show_bursts(
    request: &EstimateRequest,
    bursts: BurstProfile,
    selection: &Selection,
) -> Result<Outcome> {
    let (profile, layout) = (bursts.profile, request.layout);
    let printed = match request.format {
        Format::Text if request.bursts => Ok(shadow::bursts_text(bursts, layout)),
        Format::Text => shadow::text(bursts, selection, request.sources.find(profile), layout),
        Format::Json => shadow::json(bursts, selection),
        Format::Csv => shadow::csv(bursts, selection),
    };
    let printed = Outcome::print(printed?);
    Ok(printed.with_verdict_unless_summarised(request.format, profile))
}

/// Whether formats of a profile are written by [`export`], and not as those of exact profiles.
pub(super) fn has_own_exports(estimated: &Estimated) -> bool {
    matches!(estimated, Estimated::Sampled(_))
}

/// `p3-prof export` of a profile of which [`has_own_exports`] holds.
pub(super) fn export(
    exporter: &Exporter,
    profile: &Profile,
    selection: &Selection,
    sources: Sources,
) -> Result<Written> {
    export::write(exporter, profile, selection, sources)
}

/// How near the estimates of `profile` are to the counts of `exact`.
pub(super) fn compare_with_exact(
    format: Format,
    profile: &Profile,
    exact: &Profile,
) -> Result<Outcome> {
    let figures = against::compare_with_exact(profile.bursts()?, exact.paths()?)?;
    let printed = match format {
        Format::Text => against::text(&figures),
        Format::Json => against::json(&figures),
        Format::Csv => against::csv(&figures),
    };
    Ok(Outcome::print(printed).with_verdicts(&[profile, exact]))
}
