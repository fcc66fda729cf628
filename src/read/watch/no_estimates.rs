//! A build without the feature `estimates`: only paths are looked at.

use super::counts::{Counted, Counts};
use crate::base::error::Result;
use crate::base::index::{BlockId, FuncId};
use crate::estimates::data::Estimated;
use crate::profile::Profile;
use crate::read::report::steps::Steps;
use crate::read::source::Sources;

pub(super) fn count<'a>(_: &Profile, estimated: &'a Estimated) -> Result<Counted<'a>> {
    match *estimated {}
}

pub(super) fn totals(estimated: &Estimated, _: &Counts, _: &str) -> String {
    match *estimated {}
}

pub(super) fn words(_: &Steps, _: &Sources, _: &[(FuncId, BlockId)]) -> (String, Vec<String>) {
    unreachable!("no row is a subpath")
}
