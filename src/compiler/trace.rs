//! What a linker says that it linked (`--trace`, twice: members of archives too).
//!
//! GNU ld, gold and lld print one file a line, and a member of an archive as `lib.a(member.o)`; older GNU ld as
//! `(lib.a)member.o`. Everything else that a linker prints is passed on.

use std::collections::HashSet;

/// The options that make a linker tell.
pub(super) const OPTION: &str = "-Wl,-t,-t";

/// Something that was linked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Linked {
    /// A file: an object, a shared library, a linker script.
    File(String),
    /// A member of an archive.
    Member {
        /// The archive, by the name under which it was found.
        archive: String,
        /// The member's name.
        member: String,
    },
}

/// Splits a linker's output into what it linked, each thing once and in order, and lines that say something else.
pub(super) fn parse(output: &str) -> (Vec<Linked>, Vec<&str>) {
    let mut linked = Vec::new();
    let mut seen = HashSet::new();
    let mut other = Vec::new();
    for line in output.lines() {
        match file(line) {
            None => other.push(line),
            Some(found) if seen.insert(found.clone()) => linked.push(found),
            Some(_) => {}
        }
    }
    (linked, other)
}

fn file(line: &str) -> Option<Linked> {
    let in_front = line.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let behind = line
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once('('));
    if let Some((archive, member)) = in_front.or(behind) {
        let member = member.to_string();
        let archive = archive.to_string();
        return Some(Linked::Member { archive, member });
    }
    let exists = std::fs::metadata(line).is_ok_and(|m| m.is_file());
    exists.then(|| Linked::File(line.to_string()))
}

#[cfg(test)]
mod tests;
