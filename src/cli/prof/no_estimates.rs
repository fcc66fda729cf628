//! A build without the feature `estimates`: no profile is estimated.

use super::Outcome;
use super::estimate_request::EstimateRequest;
use super::format::Format;
use crate::base::error::Result;
use crate::estimates::data::Estimated;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::read::report::export::{Exporter, Written};
use crate::read::source::Sources;

pub(super) fn show(
    _: &EstimateRequest,
    (_, estimated): (&Profile, &Estimated),
    _: Selection,
) -> Result<Outcome> {
    match *estimated {}
}

pub(super) fn has_own_exports(estimated: &Estimated) -> bool {
    match *estimated {}
}

pub(super) fn export(
    _: &Exporter,
    profile: &Profile,
    _: &Selection,
    _: Sources,
) -> Result<Written> {
    Err(profile.no_bursts())
}

/// Estimates are needed, and there are none.
pub(super) fn compare_with_exact(_: Format, profile: &Profile, _: &Profile) -> Result<Outcome> {
    Err(profile.no_bursts())
}
