//! A build without the feature `estimates`: nothing is estimated. Schemes that estimate are refused where they are
//! named ([`crate::copies::strategy::Scheme::is_built`]), in options and in manifests, so [`Estimated`] has no value.

use super::interface::{EstimatedProgram, Kind, Overflow, Place, Refused, SamplingRequest, Size};
use crate::base::index::{CopyId, FuncId};
use crate::runtime::problem::Problem;
use crate::runtime::window::Window;
use serde::{Deserialize, Serialize};
use std::path::Path;
use zerocopy::byteorder::ByteOrder;

/// There is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Estimated {}

/// How a program is sampled: it is not.
#[derive(Clone, Debug)]
pub enum Settings {}

impl Settings {
    pub(crate) fn new(_: SamplingRequest) -> Option<Settings> {
        None
    }

    pub(crate) fn identity(&self) -> String {
        match *self {}
    }
}

/// A sample in a file, of which nothing is read.
#[derive(Serialize, Deserialize)]
pub struct SavedSample {}

/// Bursts in a file, of which nothing is read.
#[derive(Serialize, Deserialize)]
pub struct SavedBursts {}

impl Estimated {
    pub(crate) fn empty(kind: Kind, _: usize) -> Estimated {
        unreachable!("{kind:?}: its manifest is refused")
    }

    pub(crate) fn kind(&self) -> Kind {
        match *self {}
    }

    pub(crate) fn count_distinct(&self, _: FuncId) -> usize {
        match *self {}
    }

    pub(crate) fn describe_amount(&self) -> (&'static str, String) {
        match *self {}
    }

    pub(crate) fn to_saved(&self) -> Saved {
        match *self {}
    }

    pub(crate) fn read(kind: Kind, _: Saved, _: Size) -> Result<Estimated, &'static str> {
        unreachable!("{kind:?}: its manifest is refused")
    }
}

/// Estimates in the payload of a profile's file: of one kind at most.
#[derive(Default)]
pub(crate) struct Saved {
    pub sample: Option<SavedSample>,
    pub bursts: Option<SavedBursts>,
}

/// What one raw profile has of estimates: nothing is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InRaw {}

impl InRaw {
    pub(crate) fn read<O: ByteOrder>(
        &mut self,
        _: u32,
        _: &mut Window<O>,
        _: Place,
    ) -> Result<(), Problem> {
        Ok(())
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = FuncId> {
        std::iter::empty()
    }
}

/// Nothing.
#[derive(Default)]
pub(crate) struct Gathered {}

impl Gathered {
    pub(crate) fn add(&mut self, _: CopyId, _: [u8; 16], _: InRaw) -> Result<(), Overflow> {
        Ok(())
    }

    pub(crate) fn add_merged(&mut self, _: &Path, _: [u8; 16], estimated: &mut Estimated) {
        match *estimated {}
    }

    pub(crate) fn finish(self, program: &EstimatedProgram) -> Result<Estimated, Refused> {
        unreachable!("{:?}: its manifest is refused", program.kind)
    }
}
