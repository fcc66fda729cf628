//! A build without the feature `estimates`: schemes that estimate are refused before
//! ([`crate::copies::strategy::Scheme::must_be_built`]).

use super::analysis::{Analysis, Measured};
use crate::base::table::Columns;
use crate::copies::plan::CopyPlan;
use crate::estimates::data::Settings;
use crate::write::emit::work::CopyWork;
use crate::write::options::ViewOptions;

pub(super) fn shadow_work(_: CopyPlan) -> Box<dyn CopyWork> {
    unreachable!("there are no shadows")
}

pub(super) fn sample_work<'a>(_: Measured<'a>, _: Option<&Settings>) -> Box<dyn CopyWork + 'a> {
    unreachable!("nothing is sampled")
}

pub(super) fn take_sample(_: &mut Analysis, _: Option<&Settings>) -> Box<dyn CopyWork> {
    unreachable!("nothing is sampled")
}

pub(super) fn dump_sampled(_: &ViewOptions, _: Measured, settings: &Settings) -> String {
    match *settings {}
}

pub(super) fn sampled_table(_: Measured, settings: &Settings, _: impl Fn(&str) -> bool) -> Columns {
    match *settings {}
}
