//! What can go wrong for a user's reason. What only this project could cause is an assertion.

use std::cmp::Ordering;
use std::fmt::Display;
use std::path::PathBuf;

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One variant per phase. Every message is one line that names the file and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An input or profile could not be read.
    #[error("{path}: cannot read: {source}; check its name and permissions", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something could not be written.
    #[error(
        "{path}: cannot write: {source}; {remedy} name another place",
        path = path.display(),
        remedy = remedy_for(source)
    )]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The arguments do not make sense.
    #[error("{0}")]
    Usage(String),
    /// The input is not LLVM IR, or not of a version that can be read.
    #[error("{path}: {problem}; {remedy}", path = path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// The input is LLVM IR, and this engine's LLVM cannot read it: a newer one may.
    #[error("{path}: {problem}; {remedy}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What LLVM said.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A module could not be rewritten.
    #[error("{module}: copy {copy}: {problem}; {remedy}")]
    Emit {
        /// The input module.
        module: String,
        /// The copy.
        copy: u32,
        /// What LLVM said.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A manifest, raw or merged profile is not usable.
    #[error("{path}: {problem}; {remedy}", path = path.display())]
    Profile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A merged profile whose counts cannot be relied on, where only others are wanted: exit status 1.
    #[error("{path}: {verdict}", path = path.display())]
    Verdict {
        /// The file.
        path: PathBuf,
        /// What the merge found.
        verdict: String,
    },
}

/// What to do about a file of version `is` of a format of which this build takes `should`: what helps against damage,
/// where they are the same, or against one that is `older`.
pub fn remedy(is: u32, should: u32, damage: &'static str, older: &'static str) -> &'static str {
    match is.cmp(&should) {
        Ordering::Equal => damage,
        Ordering::Less => older,
        Ordering::Greater => "use the p3-prof that came with the p3-rewrite that made the copies",
    }
}

/// What besides another place helps where something cannot be written.
fn remedy_for(problem: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{
        FileTooLarge, NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    match problem.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => "make room, or",
        PermissionDenied | ReadOnlyFilesystem => "give the right to write, or",
        NotFound => "make the folder, or",
        _ => "look at it, or",
    }
}

impl Error {
    /// The exit status it ends a command with: 1 when a profile was looked at and something was found, otherwise 2.
    pub fn status(&self) -> u8 {
        if matches!(self, Error::Verdict { .. }) {
            1
        } else {
            2
        }
    }

    /// A failed read of `path`.
    pub fn read(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Read {
            path: path.into(),
            source,
        }
    }

    /// A failed walk through the files below `root`.
    pub fn walk(root: impl Into<PathBuf>, problem: walkdir::Error) -> Self {
        let path = problem.path().map_or_else(|| root.into(), PathBuf::from);
        let source = problem.into_io_error();
        let circle = || std::io::Error::other("links lead round in a circle");
        Error::read(path, source.unwrap_or_else(circle))
    }

    /// A failed write of `path`.
    pub fn write(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Write {
            path: path.into(),
            source,
        }
    }

    /// A profile file that cannot be used.
    pub fn profile(
        path: impl Into<PathBuf>,
        problem: impl Display,
        remedy: impl Into<String>,
    ) -> Self {
        Error::Profile {
            path: path.into(),
            problem: problem.to_string(),
            remedy: remedy.into(),
        }
    }

    /// An input that this LLVM cannot read.
    pub fn unreadable_input(
        path: impl Into<PathBuf>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Error::Unreadable {
            path: path.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// An input that cannot be loaded.
    pub fn load(
        path: impl Into<PathBuf>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Error::Load {
            path: path.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn remedy_fits_what_cannot_be_written() {
        for (kind, remedy) in [
            (
                ErrorKind::PermissionDenied,
                "give the right to write, or name another place",
            ),
            (ErrorKind::StorageFull, "make room, or name another place"),
            (
                ErrorKind::NotFound,
                "make the folder, or name another place",
            ),
            (
                ErrorKind::NotADirectory,
                "look at it, or name another place",
            ),
        ] {
            let text = Error::write("x", kind.into()).to_string();
            assert!(text.ends_with(&format!("; {remedy}")), "{text}");
        }
    }
}
