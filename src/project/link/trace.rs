//! What a linker says that it linked (`--trace`, twice: members of archives too).
//!
//! GNU ld, gold and lld print one file a line, and a member of an archive as `lib.a(member.o)`; older GNU ld as
//! `(lib.a)member.o`. Everything else that a linker prints is passed on.

use std::collections::HashMap;
use std::fmt;

/// The options that make a linker tell.
pub(crate) const OPTION: &str = "-Wl,-t,-t";

/// Something that was linked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Linked {
    /// A file: an object, a shared library, a linker script.
    File(String),
    /// A member of an archive.
    Member {
        /// The archive, by the name under which it was found.
        archive: String,
        /// The member's name.
        member: String,
        /// How many of that name were linked before it: names are not unique.
        nth: usize,
    },
}

impl fmt::Display for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Linked::File(file) => write!(f, "{file}"),
            Linked::Member {
                archive, member, ..
            } => write!(f, "{archive}({member})"),
        }
    }
}

/// Splits a linker's output into what it linked, in order, and lines that say something else.
pub(crate) fn parse(output: &str) -> (Vec<Linked>, Vec<&str>) {
    let mut linked = Vec::new();
    let mut times = HashMap::new();
    let mut other = Vec::new();
    for line in output.lines() {
        let Some(mut found) = file(line) else {
            other.push(line);
            continue;
        };
        let before: &mut usize = times.entry(found.clone()).or_default();
        let again = *before > 0;
        match &mut found {
            // A library is named as often as it is looked at.
            Linked::File(_) if again => {}
            Linked::File(_) => linked.push(found),
            Linked::Member { nth, .. } => {
                *nth = *before;
                linked.push(found);
            }
        }
        *before += 1;
    }
    (linked, other)
}

fn file(line: &str) -> Option<Linked> {
    let in_front = line.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let behind = line
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once('('));
    if let Some((archive, member)) = in_front.or(behind) {
        // Of a thin archive the whole path is told.
        let member = member.rsplit('/').next().unwrap_or(member).to_string();
        let archive = archive.to_string();
        let nth = 0;
        return Some(Linked::Member {
            archive,
            member,
            nth,
        });
    }
    let exists = std::fs::metadata(line).is_ok_and(|m| m.is_file());
    exists.then(|| Linked::File(line.to_string()))
}

#[cfg(test)]
mod tests;
