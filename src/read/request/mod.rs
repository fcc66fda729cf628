//! What `--paths` and `--patch` ask for: parsed, and resolved against the functions of a program or of a profile.
//!
//! ```text
//! spec      the grammar
//! target    the functions of a program, from a rewriting or from a profile
//! resolve   specifications → a selection of each function
//! places    … by lines, functions, diffs
//! ranking   … by the instructions that paths executed
//! earlier   the profiles that specifications name
//! asked     all that a command line asks for, read
//! list      the selected paths, for p3-prof paths
//! ```

mod asked;
mod earlier;
mod list;
mod places;
mod ranking;
mod resolve;
mod resolved;
mod spec;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use asked::{Empty, Request};
pub(crate) use asked::{NOTHING, PATCH};
pub(crate) use earlier::Earlier;
pub(crate) use list::{csv, json, list, text};
pub(crate) use places::is_about_files_elsewhere;
pub(crate) use resolve::Seen;
pub(crate) use spec::Spec;
pub(crate) use target::Target;
