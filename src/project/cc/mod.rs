//! What compilers are asked, and which clang does it.
//!
//! ```text
//! arguments   a compiler's command line: what it is asked for, which words are files
//! word        one of its words
//! linker      what of it is for the linker
//! settings    what the environment says of a build
//! clang       the compilers that do the work: which of those that are here
//! ```

pub(crate) mod arguments;
pub(crate) mod clang;
pub(crate) mod linker;
pub(crate) mod settings;
pub(crate) mod word;

use arguments::CommandLine;

/// Which compiler stands in the place of yours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `p3-cc`, for clang.
    C,
    /// `p3-cxx`, for clang++.
    Cxx,
}

/// A command line as it is to be run, and read.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// The words for clang: those that were given, response files as files, unless one of them is left out.
    pub(crate) words: Vec<String>,
    /// These words, read.
    pub(crate) line: CommandLine,
}
