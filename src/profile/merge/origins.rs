//! Which runs took a path: by their test, where the environment named one (`P3_TEST`), and by their arguments.
//!
//! A raw profile of one process, or of processes that were all started alike, says exactly which arguments its counts
//! are of. In a file of a pool the counts of all its processes are one sum: then the arguments are one of several. A
//! test has files of its own, whose names have the name of the test.

use super::arguments::{comparable_form, shell_words};
use super::gather::{each_file, read};
use crate::base::error::Result;
use crate::base::index::{FuncId, PathId};
use crate::profile::Profile;
use crate::profile::decode::decode_paths;
use crate::profile::raw::Raw;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// What ran a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Origin {
    /// The test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The arguments, as a shell takes them, which may be none at all; several: those of processes that share a file,
    /// of which at least one took the path; none: not known.
    pub arguments: Vec<String>,
}

/// The runs that took each path of a program, in order.
pub type Origins = BTreeMap<(FuncId, PathId), BTreeSet<Origin>>;

/// The runs that took the `wanted` paths of `profile`, as far as `files` tell: raw profiles that it was merged from,
/// and folders of these. Others are left out, as are files that cannot be read. O(size of the files + length of the
/// paths of functions with wanted ones).
///
/// # Errors
/// A damaged profile; a folder that cannot be read.
pub fn find_origins(
    profile: &Profile,
    files: &[PathBuf],
    wanted: &BTreeSet<(FuncId, PathId)>,
) -> Result<Origins> {
    if wanted.is_empty() {
        return Ok(Origins::new());
    }
    let functions: BTreeSet<FuncId> = wanted.iter().map(|(f, _)| *f).collect();
    let mut shares = BTreeMap::new();
    for f in functions {
        let structure = profile.structure(f)?;
        let share = profile.entry(f).share(&structure.cfg, &structure.paths);
        let share = share.map_err(|problem| profile.damage_error(problem))?;
        shares.insert(f, (structure, share));
    }
    let sources: HashSet<&[u8; 16]> = profile.sources.iter().collect();
    // Temporary names differ between the rounds of a suite; the first stands for all.
    let mut examples = BTreeMap::new();
    let mut origins = Origins::new();
    each_file(files, |file| {
        let Ok(raw) = read(file) else { return Ok(()) };
        if !sources.contains(&raw.unique) {
            return Ok(());
        }
        let origin = Origin {
            test: test_of(file, &raw),
            arguments: arguments_of(&raw, &mut examples),
        };
        for (f, (structure, share)) in &shares {
            let Some(counted) = raw.functions.get(f) else {
                continue;
            };
            // A merge refuses what is no path of the copy's.
            let decoded = decode_paths(structure, share, raw.copy, &counted.counts);
            for id in decoded.unwrap_or_default().into_keys() {
                if wanted.contains(&(*f, id)) {
                    origins.entry((*f, id)).or_default().insert(origin.clone());
                }
            }
        }
        Ok(())
    })?;
    Ok(origins)
}

/// The arguments of the processes that counted in a file; nothing if not all are known.
fn arguments_of(raw: &Raw, examples: &mut BTreeMap<Vec<Vec<u8>>, String>) -> Vec<String> {
    let runs: u64 = raw.started.iter().map(|s| s.runs).sum();
    let is_known = |s: &super::super::raw::Started| !s.cut && !s.arguments.is_empty();
    if runs < raw.runs.max(1) || !raw.started.iter().all(is_known) {
        return Vec::new();
    }
    let mut all: Vec<String> = Vec::new();
    for started in &raw.started {
        let arguments = started.arguments[1..].to_vec();
        let example = examples
            .entry(comparable_form(&arguments))
            .or_insert_with(|| {
                if arguments.is_empty() {
                    String::new()
                } else {
                    shell_words(&arguments)
                }
            });
        if !all.contains(example) {
            all.push(example.clone());
        }
    }
    all.sort();
    all
}

/// The test whose processes a file is of: `@TEST@` before the program's id in its name, as `runtime-c/core/p3_name.c`
/// writes it.
fn test_of(file: &Path, raw: &Raw) -> Option<String> {
    use std::fmt::Write;
    let mut program = String::from("@");
    for byte in raw.program {
        let _ = write!(program, "{byte:02x}");
    }
    let name = file.file_name()?.to_str()?;
    let (before, _) = name.split_once(&program)?;
    let (_, encoded) = before.rsplit_once('@')?;
    let mut bytes = Vec::new();
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let hex = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?
            }
            plain => plain,
        });
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::raw::Started;

    fn start_record(words: &[&str], runs: u64) -> Started {
        Started {
            arguments: words.iter().map(|w| w.as_bytes().to_vec()).collect(),
            runs,
            ..Started::default()
        }
    }

    #[test]
    fn test_of_a_file_is_in_its_name() {
        let raw = Raw {
            program: [0xab; 16],
            ..Raw::default()
        };
        let id = "ab".repeat(16);
        let test = |name: String| test_of(Path::new(&name), &raw);
        assert_eq!(test(format!("raw/0-{id}.p3raw")), None);
        assert_eq!(
            test(format!("raw/0-@parse-1@{id}-2.p3raw")),
            Some("parse-1".into())
        );
        assert_eq!(
            test(format!("@a%2fb%40c%20~@{id}.p3raw")),
            Some("a/b@c ~".into())
        );
        assert_eq!(test(format!("@a%2@{id}.p3raw")), None);
        assert_eq!(test("@a@00.p3raw".into()), None);
    }

    #[test]
    fn arguments_are_told_where_those_of_all_processes_are_known() {
        let mut raw = Raw {
            runs: 3,
            started: vec![start_record(&["p", "b"], 2), start_record(&["p", "a"], 1)],
            ..Raw::default()
        };
        let told = |raw: &Raw| arguments_of(raw, &mut BTreeMap::new());
        assert_eq!(told(&raw), ["a", "b"]);
        raw.started.pop();
        assert_eq!(told(&raw), Vec::<String>::new());
        raw.runs = 2;
        assert_eq!(told(&raw), ["b"]);
        raw.started[0].cut = true;
        assert_eq!(told(&raw), Vec::<String>::new());
    }
}
