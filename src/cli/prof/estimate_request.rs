//! What `p3-prof show` asks of a profile that is estimated.
#![cfg_attr(
    not(feature = "estimates"),
    allow(dead_code, reason = "only estimates use all of it")
)]

use super::format::Format;
use super::sources::SourceArgs;
use crate::base::table::Layout;

/// What is to be shown of a profile that is estimated.
pub(super) struct EstimateRequest<'a> {
    pub(super) format: Format,
    pub(super) edges: bool,
    pub(super) bursts: bool,
    pub(super) longest: bool,
    pub(super) sources: &'a SourceArgs,
    pub(super) layout: Layout,
}
