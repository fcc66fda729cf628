//! Sections of the report.

use crate::results::Results;
use anyhow::Result;
use std::path::Path;

/// A section of `docs/RESULTS.md`.
pub(crate) trait Section {
    /// What marks its place on the page.
    fn marker(&self) -> &'static str;

    /// Its text; empty where nothing of it was measured.
    fn text(&self, results: &Results) -> String;

    /// Draws its plots below `docs`, if it has any.
    fn draw_plots(&self, _results: &Results, _docs: &Path) -> Result<()> {
        Ok(())
    }
}
