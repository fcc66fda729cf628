//! A word of a command line.

/// A word of the command line, with its value where that is the next word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Something that is compiled.
    Source {
        /// The file.
        file: String,
        /// What `-x` said it is.
        language: Option<String>,
    },
    /// Something that is linked.
    Input(String),
    /// `-o`, and the name.
    Output(String),
    /// `-x`, and the language.
    Language(String),
    /// Any other option.
    Option(Vec<String>),
}
