//! All paths in the formats of `p3-prof show`.

use super::{Format, Weigh};
use crate::error::Result;
use crate::profile::report::{Report, csv, json};

pub(super) struct Csv;

impl Format for Csv {
    const NAME: &'static str = "csv";
    const ABOUT: &'static str = "A table of all paths, as show --format csv";
    type Source<'a> = Report<'a>;

    fn write(report: &Report, _: Weigh) -> Result<Vec<u8>> {
        Ok(csv::render(report).into())
    }
}

pub(super) struct Json;

impl Format for Json {
    const NAME: &'static str = "json";
    const ABOUT: &'static str = "All paths, as show --format json";
    type Source<'a> = Report<'a>;

    fn write(report: &Report, _: Weigh) -> Result<Vec<u8>> {
        Ok(json::render(report).into())
    }
}
