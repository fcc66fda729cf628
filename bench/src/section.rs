//! Sections of the report.

use crate::results::Results;
use anyhow::Result;
use std::path::Path;

/// A section of `bench/FIGURES.md`.
pub(crate) struct Section {
    /// What marks its place on the page.
    pub marker: &'static str,
    /// Makes its text; empty where nothing of it was measured.
    pub text: fn(&Results) -> String,
    /// Draws its plots below the folder of pages, if it has any.
    pub draw_plots: fn(&Results, &Path) -> Result<()>,
}
