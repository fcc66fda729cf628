//! What people and programs read.
//!
//! In: a merged profile ([`crate::profile::Profile`]) and source files. `source` finds and quotes conditions,
//! [`decisions`] counts how often combinations of their values ran,
//! [`analysis`] computes what the counts imply, [`possible`] asks which paths cannot run, [`report`] makes rows,
//! pages and exports of both, `request` resolves what `--paths` asks for, and `watch` shows programs that still run.
//!
//! Out: text, CSV, JSON, HTML and the formats of other tools. Nothing here writes a module.

pub mod analysis;
pub mod decisions;
pub mod possible;
pub mod report;
pub(crate) mod request;
pub(crate) mod source;
pub(crate) mod watch;
