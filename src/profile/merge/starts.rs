//! How often each copy of a program was started, and with which arguments: whether rounds of a test suite ran alike.

use super::arguments::ArgumentCounts;
use super::gather::{Copy, add_raw, check_raw, each_file, read};
use super::programs::Programs;
use crate::base::error::Result;
use crate::base::index::CopyId;
use crate::base::table::number_of;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The starts of one copy, over all its processes.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    /// Runs: not forked children.
    pub runs: u32,
    /// Forked children.
    pub children: u32,
    /// `None` where the arguments of some run are not known.
    arguments: Option<ArgumentCounts>,
}

impl Starts {
    fn new(copy: Copy) -> Starts {
        Starts {
            runs: copy.processes.runs,
            children: copy.processes.children,
            arguments: copy.all_told.then_some(copy.arguments),
        }
    }

    /// Those of a copy of whose runs no more is known than their number.
    #[cfg(test)]
    pub(crate) fn of_runs(runs: u32) -> Starts {
        Starts {
            runs,
            ..Starts::default()
        }
    }

    /// Whether another copy was started as often, with equal arguments as far as they are known.
    pub fn is_like(&self, other: &Starts) -> bool {
        let known = self.arguments.as_ref().zip(other.arguments.as_ref());
        (self.runs, self.children) == (other.runs, other.children)
            && known.is_none_or(|(a, b)| a == b)
    }

    /// What is otherwise here than in `other`, for people.
    pub fn difference(&self, other: &Starts) -> String {
        if self.runs != other.runs {
            let there = number_of(other.runs, "run");
            return format!("{} instead of {there}", self.runs);
        }
        if self.children != other.children {
            let there = number_of(other.children, "fork");
            return format!("{} instead of {there}", self.children);
        }
        let known = self.arguments.as_ref().zip(other.arguments.as_ref());
        let arguments = known.and_then(|(a, b)| a.difference(b));
        arguments.map_or("other arguments".into(), |a| format!("arguments {a}"))
    }
}

/// The starts of the copies of the program of `manifest` whose raw profiles are below `raw`, and that can be used: a
/// merge reports others.
///
/// # Errors
/// The manifest cannot be read.
pub fn count_starts(manifest: &Path, raw: &Path) -> Result<BTreeMap<CopyId, Starts>> {
    let programs = Programs::find(&[manifest.to_path_buf()])?;
    let mut copies: BTreeMap<CopyId, Copy> = BTreeMap::new();
    each_file(&[PathBuf::from(raw)], |file| {
        let raw = read(file).and_then(|raw| {
            check_raw(&raw, programs.find_program(raw.program, file)?, file)?;
            Ok(raw)
        });
        raw.map_or(Ok(()), |raw| {
            add_raw(copies.entry(raw.copy).or_default(), raw, file)
        })
    })?;
    Ok(copies
        .into_iter()
        .map(|(c, copy)| (c, Starts::new(copy)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(runs: u32, children: u32, arguments: Option<&[&str]>) -> Starts {
        let counts = |words: &[&str]| {
            let mut counts = ArgumentCounts::default();
            for word in words {
                counts.add(&[word.as_bytes().to_vec()], 1);
            }
            counts
        };
        Starts {
            runs,
            children,
            arguments: arguments.map(counts),
        }
    }

    #[test]
    fn starts_that_differ_are_described() {
        let two = starts(2, 0, Some(&["a", "b"]));
        assert!(two.is_like(&starts(2, 0, Some(&["b", "a"]))));
        assert!(two.is_like(&starts(2, 0, None)), "not known: not other");
        for (other, expected) in [
            (starts(3, 0, Some(&["a", "b", "c"])), "2 instead of 3 runs"),
            (starts(2, 1, None), "0 instead of 1 fork"),
            (starts(2, 0, Some(&["a", "c"])), "arguments b instead of c"),
        ] {
            assert!(!two.is_like(&other), "{expected}");
            assert_eq!(two.difference(&other), expected);
        }
    }
}
