//! A build without the feature `estimates`: schemes that estimate are refused before
//! ([`crate::strategy::Scheme::must_be_built`]).

use crate::emit::work::CopyWork;
use crate::estimate::Settings;
use crate::index::{FuncId, TiVec};
use crate::ir::{Cfg, Program};
use crate::manifest::Manifest;
use crate::options::Options;
use crate::paths::Measuring;
use crate::plan::CopyPlan;
use crate::table::Columns;

pub(super) fn can_be_sampled(_: &Cfg) -> bool {
    unreachable!("nothing is sampled")
}

#[derive(Clone, Copy)]
pub(super) struct Measured<'a> {
    pub(super) program: &'a Program,
    pub(super) manifest: &'a Manifest,
    pub(super) paths: &'a TiVec<FuncId, Option<Measuring>>,
}

pub(super) fn shadow(_: CopyPlan) -> Box<dyn CopyWork> {
    unreachable!("there are no shadows")
}

pub(super) fn sample<'a>(_: Measured<'a>, _: Option<&Settings>) -> Box<dyn CopyWork + 'a> {
    unreachable!("nothing is sampled")
}

pub(super) fn dump(_: &Options, _: Measured, settings: &Settings) -> String {
    match *settings {}
}

pub(super) fn table(_: Measured, settings: &Settings, _: impl Fn(&str) -> bool) -> Columns {
    match *settings {}
}
