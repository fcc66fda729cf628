//! A request as it was typed, read in full before any program is: the specifications, their profiles, the diff.

use super::places::{add_patch, not_part_of};
use super::resolve::add_spec;
use super::resolved::Resolved;
use super::{Earlier, Spec, Target};
use crate::base::error::{Error, Result};
use crate::copies::selection::Asked;
use crate::profile::verdict::Trust;
use crate::read::report::coverage::Touched;
use crate::read::source::Sources;
use crate::read::source::patch::Patch;
use std::path::{Path, PathBuf};

/// What to do where a program has nothing of what is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Empty {
    /// An error.
    #[default]
    Refused,
    /// Nothing: it is one of several programs of a build.
    Allowed,
}

/// Which paths are asked for.
#[derive(Default)]
pub(crate) struct Request {
    specs: Vec<Spec>,
    earlier: Earlier,
    /// Diffs, and where they were read from.
    patches: Vec<(PathBuf, Patch)>,
    empty: Empty,
}

/// What a line begins with where nothing of a program is selected; the reasons follow.
pub(crate) const NOTHING: &str = "no path is selected, and nothing is instrumented: ";

/// What a diff is called among specifications.
pub(crate) const PATCH: &str = "patch=";

impl Request {
    /// Reads what `--paths` (several) and `--patch` name; `None` where neither is given.
    ///
    /// # Errors
    /// Bad grammar, profiles or a diff that cannot be read.
    pub(crate) fn read(
        specs: &[String],
        patch: Option<&Path>,
        trust: Trust,
        empty: Empty,
    ) -> Result<Option<Request>> {
        if specs.is_empty() && patch.is_none() {
            return Ok(None);
        }
        let (diffs, specs): (Vec<&String>, Vec<&String>) =
            specs.iter().partition(|text| text.starts_with(PATCH));
        let specs: Vec<Spec> = specs
            .into_iter()
            .map(|text| Spec::parse(text))
            .collect::<Result<_>>()?;
        if let Some(text) = diffs.iter().find(|text| text.len() == PATCH.len()) {
            let message = format!("--paths {text}: nothing is named; give patch=DIFF");
            return Err(Error::Usage(message));
        }
        let read = |path: &Path| {
            let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
            Ok::<_, Error>((path.to_path_buf(), Patch::parse(&bytes, path)?))
        };
        let diffs = diffs
            .into_iter()
            .map(|text| Path::new(&text[PATCH.len()..]));
        Ok(Some(Request {
            earlier: Earlier::read(&specs, trust)?,
            patches: diffs.chain(patch).map(read).collect::<Result<_>>()?,
            specs,
            empty,
        }))
    }

    /// The selection of `target`, whose files are those of `sources`, and lines for the user.
    ///
    /// # Errors
    /// What the program does not have; nothing is selected. (A diff alone may select nothing, which is a line.)
    pub(crate) fn resolve(
        &self,
        target: &Target,
        sources: &Sources,
    ) -> Result<(Asked, Vec<String>)> {
        let mut resolved = Resolved::empty(target.functions.len());
        for spec in &self.specs {
            match add_spec(&mut resolved, spec, target, &self.earlier) {
                // Another program may have what is named; a profile that cannot be used is of no use to any.
                Err(Error::Usage(why)) if self.empty == Empty::Allowed => resolved.empty.push(why),
                other => other?,
            }
        }
        for (path, patch) in &self.patches {
            let touched = Touched::find(patch, path, &target.files, sources)?;
            let name = path.display().to_string();
            add_patch(&mut resolved, target, &name, &touched);
        }
        let mut lines = std::mem::take(&mut resolved.notes);
        if resolved.is_empty(target) {
            // Nothing is wrong with a change of comments.
            let is_allowed = self.specs.is_empty() || self.empty == Empty::Allowed;
            if !is_allowed {
                return Err(no_path(&resolved.empty, &lines));
            }
            if resolved.empty.is_empty() {
                std::mem::swap(&mut resolved.empty, &mut lines);
            }
            lines.push(format!("{NOTHING}{}", resolved.empty.join("; ")));
        }
        let asked = Asked {
            specs: self.texts(),
            selections: resolved.selections,
        };
        Ok((asked, lines))
    }

    /// The files of each diff that are part of none of several programs, whose files these are: a line for each
    /// diff that has some.
    ///
    /// # Errors
    /// Those of [`Touched::find`].
    pub(crate) fn files_of_no_program<'a>(
        &self,
        programs: impl Iterator<Item = &'a [String]> + Clone,
    ) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for (path, patch) in &self.patches {
            let mut missing: Option<Vec<String>> = None;
            for files in programs.clone() {
                let here = Touched::find(patch, path, files, &Sources::without_files())?.elsewhere;
                match &mut missing {
                    None => missing = Some(here),
                    Some(missing) => missing.retain(|file| here.contains(file)),
                }
            }
            let missing = missing.filter(|missing| !missing.is_empty());
            let path = path.display().to_string();
            lines.extend(missing.map(|files| not_part_of(&path, &files, "any program")));
        }
        Ok(lines)
    }

    /// What was asked for, as it was typed.
    fn texts(&self) -> Vec<String> {
        let specs = self.specs.iter().map(Spec::to_string);
        let patch = self
            .patches
            .iter()
            .map(|(path, _)| format!("{PATCH}{}", path.display()));
        specs.chain(patch).collect()
    }
}

/// The error where a program has nothing of what is asked for: what is `empty`, and `notes`, which tell of functions
/// that changed.
fn no_path(empty: &[String], notes: &[String]) -> Error {
    let remedy = if empty.is_empty() {
        "name a profile of this program as it is now"
    } else {
        "select something else"
    };
    let why: Vec<&str> = empty.iter().chain(notes).map(String::as_str).collect();
    Error::Usage(format!("no path is selected: {}; {remedy}", why.join("; ")))
}
