//! The styles of printed text: one meaning, one look. Streams drop them where they are not wanted.

use anstyle::{AnsiColor, Style};

/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// What stands beside what is asked for.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Names of functions.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
/// What the reader should know before believing the rest.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// Code that did not run.
pub(crate) const MISSING: Style = AnsiColor::Red.on_default();
