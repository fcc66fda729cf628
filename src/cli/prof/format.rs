//! The formats of results.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// For tables
    Csv,
}

/// What makes a result in each format. Only the one that is asked for is called.
pub(super) struct Render<T, J, C> {
    pub text: T,
    pub json: J,
    pub csv: C,
}

impl<T, J, C> Render<T, J, C> {
    pub(super) fn render<R>(self, format: Format) -> R
    where
        T: FnOnce() -> R,
        J: FnOnce() -> R,
        C: FnOnce() -> R,
    {
        match format {
            Format::Text => (self.text)(),
            Format::Json => (self.json)(),
            Format::Csv => (self.csv)(),
        }
    }
}
