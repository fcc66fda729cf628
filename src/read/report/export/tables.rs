//! All paths in the formats of `p3-prof show`.

use super::{Asked, Export};
use crate::base::error::Result;
use crate::read::report::{Report, csv, json};

pub(super) struct Csv;

impl Export for Csv {
    const NAME: &'static str = "csv";
    const ABOUT: &'static str = "A table of all paths, as show --format csv";
    type View<'a> = Report<'a>;

    fn write(report: &Report, _: Asked) -> Result<Vec<u8>> {
        Ok(csv::render(report).into())
    }

    const UNFIT: Option<&'static str> = None;
}

pub(super) struct JsonTables;

impl Export for JsonTables {
    const NAME: &'static str = "json";
    const ABOUT: &'static str = "All paths, as show --format json";
    type View<'a> = Report<'a>;

    fn write(report: &Report, _: Asked) -> Result<Vec<u8>> {
        Ok(json::render(report).into())
    }

    const UNFIT: Option<&'static str> = None;
}
