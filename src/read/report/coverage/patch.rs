//! The lines of a program that a patch touches: its files, found among those that were compiled.

use super::{FunctionCoverage, LineSums};
use crate::base::error::{Error, Result};
use crate::base::index::{BlockId, FuncId, IdSet};
use crate::input::ir::Loc;
use crate::profile::Profile;
use crate::profile::manifest::FunctionEntry;
use crate::read::report::is_zero;
use crate::read::report::positions::base_name;
use crate::read::source::Sources;
use crate::read::source::markers::Markers;
use crate::read::source::patch::{Patch, PatchedFile};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

/// Lines of a profile's files that a patch touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// By file of the manifest.
    lines: BTreeMap<u32, BTreeSet<u32>>,
    /// Of these files, the first with the same name: one that several modules were compiled from is listed as often.
    first: BTreeMap<u32, u32>,
    /// Files of the patch that are none of the program's.
    pub elsewhere: Vec<String>,
    /// Hunks that only remove lines, and so touch no line that is left.
    pub removals: usize,
}

impl Touched {
    /// Finds the files of `patch`, which was read from `path`, among the `compiled` ones: a name of the patch is the
    /// end of the name that a file was compiled by; of several the one in the outermost folder. Where the text of a
    /// file is known, it must be what the patch makes it. O(files of both).
    ///
    /// # Errors
    /// The program was compiled from other lines than the patch makes.
    pub fn find(
        patch: &Patch,
        path: &Path,
        compiled: &[String],
        sources: &Sources,
    ) -> Result<Self> {
        let mut touched = Touched {
            removals: patch.removals,
            ..Touched::default()
        };
        for file in &patch.files {
            let found = candidates(file, compiled);
            // What the diff makes is there, but something else was profiled: which line is which is not known.
            let changed = || {
                found
                    .iter()
                    .find_map(|f| Some((*f, sources.changed_file(*f)?)))
            };
            let is_there = found.iter().any(|f| sources.text(*f).is_some());
            if let Some((f, changed)) = changed().filter(|_| !is_there && !file.added.is_empty()) {
                let name = &compiled[f as usize];
                let here = changed.display().to_string();
                let what = if here == *name { "it" } else { name };
                let problem = format!(
                    "{here} has changed since {what} was compiled, so the lines of the diff cannot be matched"
                );
                let remedy = "build and run the program again, or name a folder with the sources as they were by \
                    --source-dir";
                return Err(Error::profile(path, problem, remedy));
            }
            let mut other = None;
            let fitting = found
                .into_iter()
                .filter(|&f| match find_unlike_line(file, f, sources) {
                    None => true,
                    Some(line) => {
                        other.get_or_insert((f, line));
                        false
                    }
                });
            let fitting: Vec<u32> = fitting.collect();
            match (&fitting[..], other) {
                ([], None) => touched.elsewhere.push(file.names[0].clone()),
                ([], Some((f, line))) => {
                    let name = &compiled[f as usize];
                    let problem =
                        format!("it does not make line {line} of {name} what was compiled");
                    let remedy = "profile the program that the patch makes, or take the patch against that one";
                    return Err(Error::profile(path, problem, remedy));
                }
                (files, _) => {
                    for f in files {
                        let lines = touched.lines.entry(*f).or_default();
                        lines.extend(file.added.keys());
                        let is_same = |g: &&u32| compiled[**g as usize] == compiled[*f as usize];
                        let first = files.iter().find(is_same).expect("itself");
                        touched.first.insert(*f, *first);
                    }
                }
            }
        }
        Ok(touched)
    }

    /// Whether block `b` of a function ends with a decision that the source has on a touched line.
    pub(super) fn contains_decision(&self, entry: &FunctionEntry, b: BlockId) -> bool {
        let site = entry.decision_site(b);
        entry.succs[b].len() > 1
            && !entry.is_generated(b)
            && site.is_some_and(|site| self.contains_line(site.loc))
    }

    /// The lines of a file that are touched, by its name.
    pub(super) fn lines_of_file(&self, profile: &Profile, name: &str) -> BTreeSet<u32> {
        let files = self.lines.iter();
        let files = files.filter(|(f, _)| profile.manifest.files[**f as usize] == name);
        files.flat_map(|(_, lines)| lines).copied().collect()
    }

    /// A touched line: a file of its name, the same one always, and its number.
    pub(super) fn place(&self, loc: Loc) -> (u32, u32) {
        (self.first[&loc.file], loc.line)
    }

    /// Whether a line is touched.
    pub fn contains_line(&self, loc: Loc) -> bool {
        let lines = self.lines.get(&loc.file);
        lines.is_some_and(|lines| lines.contains(&loc.line))
    }

    /// The blocks of function `f` with code that says that touched lines ran ([`Markers::says_it_ran`]). O(positions).
    pub(super) fn blocks(&self, profile: &Profile, f: FuncId, markers: &Markers) -> IdSet<BlockId> {
        let n = profile.entry(f).succs.len();
        let touched = |b: &BlockId| {
            let mut spans = profile.entry(f).spans(*b);
            spans.any(|span| self.contains_line(span.loc) && markers.says_it_ran(&span))
        };
        let mut blocks = IdSet::with_capacity(n);
        blocks.extend((0..n).map(BlockId::new).filter(touched));
        blocks
    }

    /// Lines that the patch adds to files of the program, with code or without.
    pub(super) fn number(&self) -> usize {
        let lines = self.lines.iter();
        let once = lines.filter(|(f, _)| self.first[f] == **f);
        once.map(|(_, lines)| lines.len()).sum()
    }
}

/// The files that may be the patched one: those in the outermost folder, which the same file has several numbers in if
/// modules disagree about its hash.
fn candidates(file: &PatchedFile, files: &[String]) -> Vec<u32> {
    let numbers = |name: &String| -> Vec<u32> {
        let before = |f: &String| folder_before(f, name);
        let all = files.iter().enumerate();
        let mut found: Vec<(usize, u32)> = all
            .filter_map(|(i, f)| Some((before(f)?, i as u32)))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, i)| i).collect()
    };
    let found = file.names.iter().map(numbers).find(|n| !n.is_empty());
    let found = found.unwrap_or_default();
    let outermost = found.first().map(|&i| files[i as usize].clone());
    let same = |i: &u32| Some(&files[*i as usize]) == outermost.as_ref();
    found.iter().copied().filter(same).collect()
}

/// How long the folder is that `compiled` has before `name`, if it ends with it.
fn folder_before(compiled: &str, name: &str) -> Option<usize> {
    let compiled = compiled.trim_start_matches("./");
    let folder = compiled.strip_suffix(name)?;
    (folder.is_empty() || folder.ends_with('/')).then_some(folder.len())
}

/// The first line of the patch that the text of file `f`, if it is known, has otherwise.
fn find_unlike_line(file: &PatchedFile, f: u32, sources: &Sources) -> Option<u32> {
    let text = sources.text(f)?;
    let differs = |(line, added): &(&u32, &String)| {
        text.line(**line).map(|l| l.trim_end_matches('\r')) != Some(added.as_str())
    };
    file.added.iter().find(differs).map(|(line, _)| *line)
}

/// The lines that a patch touched.
#[derive(Serialize)]
pub struct PatchLines {
    /// Those in files of the program.
    pub lines: usize,
    /// Those of them with code, in scope.
    pub code: usize,
    /// Those of them that ran.
    pub ran: usize,
    /// Those of them of which it is not known whether they ran.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown: usize,
    /// Files of the patch that are none of the program's.
    #[serde(rename = "other_files")]
    pub elsewhere: Vec<String>,
    /// Hunks that only remove lines.
    pub removals: usize,
    /// Where conditions on these lines have no branch, as `file:line`: no path tells their outcome.
    pub branchless: Vec<String>,
}

/// What became of the lines of a patch in all functions, those too of functions that were skipped.
impl PatchLines {
    pub(super) fn new(
        profile: &Profile,
        touched: &Touched,
        rows: &[FunctionCoverage],
        lines: &LineSums,
    ) -> PatchLines {
        let name = |file: u32| profile.manifest.files[file as usize].as_str();
        let known = lines.files.iter().flat_map(|(file, sums)| {
            let all = sums.known.iter().chain(&sums.unknown);
            all.map(move |line| (file.as_str(), *line))
        });
        let mut code: BTreeSet<(&str, u32)> = known.collect();
        let ran = lines.lines().executed as usize;
        for row in rows {
            let entry = profile.entry(row.f);
            if entry.status.is_skipped() {
                let spans = entry.succs.keys().flat_map(|b| entry.spans(b));
                let touched = spans.filter(|span| touched.contains_line(span.loc));
                code.extend(touched.map(|span| (name(span.loc.file), span.loc.line)));
            }
        }
        PatchLines {
            lines: touched.number(),
            code: code.len(),
            ran,
            unknown: lines.count_unknown() as usize,
            elsewhere: touched.elsewhere.clone(),
            removals: touched.removals,
            branchless: branchless_places(profile, touched, rows),
        }
    }
}

/// Where functions choose without a branch on touched lines: each line once, ascending.
fn branchless_places(
    profile: &Profile,
    touched: &Touched,
    rows: &[FunctionCoverage],
) -> Vec<String> {
    let sites = |row: &FunctionCoverage| profile.entry(row.f).branchless_sites();
    let locs = rows.iter().flat_map(sites).map(|site| site.loc);
    let on_touched = locs.filter(|loc| touched.contains_line(*loc));
    let lines: BTreeSet<(u32, u32)> = on_touched.map(|loc| touched.place(loc)).collect();
    let name = |file: u32| base_name(&profile.manifest.files[file as usize]);
    let place = |(file, line): (u32, u32)| format!("{}:{line}", name(file));
    lines.into_iter().map(place).collect()
}

impl super::Coverage<'_> {
    /// The files of a patch that may be sources of the program by their extension, if the profile has no file of the
    /// patch. A patch of other files, like pages, has none. O(files).
    pub fn missed_sources(&self) -> Vec<&str> {
        let Some(patch) = self.patch.as_ref().filter(|patch| patch.lines == 0) else {
            return Vec::new();
        };
        let extension = |file: &str| Path::new(file).extension().map(|e| e.to_owned());
        let files = self.profile.manifest.files.iter();
        let known: HashSet<_> = files.filter_map(|f| extension(f)).collect();
        let elsewhere = patch.elsewhere.iter().map(String::as_str);
        let may_be_source = |f: &&str| extension(f).is_some_and(|e| known.contains(&e));
        elsewhere.filter(may_be_source).collect()
    }
}
