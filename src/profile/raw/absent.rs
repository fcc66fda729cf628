//! Marks that processes leave which cannot write a raw profile (`runtime-c/core/p3_absent.c`): empty files, of which
//! the name says all.

use crate::base::error::{Error, Result};
use crate::base::index::CopyId;
use std::path::Path;

/// How names of marks end.
pub const EXTENSION: &str = "p3absent";
/// Beside raw profiles: where processes of other users may leave their marks, and nothing else is believed.
pub const FOLDER: &str = ".p3absent";

/// A process that counted, and whose counts are in no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent {
    /// [`crate::profile::manifest::Manifest::program_bytes`].
    pub program: [u8; 16],
    /// The copy that it ran.
    pub copy: CopyId,
    /// That of the raw profile that it may have written since.
    pub unique: [u8; 16],
}

impl Absent {
    /// What the name of a mark says.
    ///
    /// # Errors
    /// It is none.
    pub fn from_mark(mark: &Path) -> Result<Absent> {
        let name = mark.file_stem().and_then(|n| n.to_str());
        name.and_then(Absent::parse).ok_or_else(|| {
            let problem = "its name is not one that a process without a raw profile leaves";
            Error::profile(mark, problem, "remove it")
        })
    }

    fn parse(name: &str) -> Option<Absent> {
        let parts: Vec<&str> = name.split('-').collect();
        let [copy, program, unique] = parts[..] else {
            return None;
        };
        let plain = copy.bytes().all(|b| b.is_ascii_digit());
        Some(Absent {
            program: parse_hex(program)?,
            copy: CopyId(copy.parse().ok().filter(|_| plain)?),
            unique: parse_hex(unique)?,
        })
    }
}

/// 16 bytes in hexadecimal digits.
fn parse_hex(digits: &str) -> Option<[u8; 16]> {
    let plain = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let number = plain.then(|| u128::from_str_radix(digits, 16).ok());
    number.flatten().map(u128::to_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_marks_are_told_from_others() {
        let id = "0123456789abcdef0123456789abcdef";
        let mark = |name: String| Absent::from_mark(Path::new(&format!("raw/{name}.p3absent")));
        let absent = mark(format!("3-{id}-{id}")).unwrap();
        assert_eq!((absent.copy, absent.program[1]), (CopyId(3), 0x23));
        let (short, sign) = (&id[1..], format!("+{}", &id[1..]));
        for wrong in [
            "x".to_string(),
            format!("3-{id}"),
            format!("3-{id}-{id}-"),
            format!("3-{short}-{id}"),
            format!("3-{sign}-{id}"),
            format!("+3-{id}-{id}"),
            format!("-{id}-{id}"),
        ] {
            assert!(mark(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
