//! `--paths` and `--patch`: the options by which commands ask for some paths only.

use super::print_message;
use super::warn;
use crate::base::error::{Error, Result};
use crate::base::names::{NAMED_PROGRAMS, first_names};
use crate::base::table::number_of;
use crate::profile::locate::profiles_below;
use crate::profile::manifest::Manifest;
use crate::profile::verdict::Trust;
use crate::project::path_from_here;
use crate::project::record::Record;
use crate::read::request::{Empty, NOTHING, PATCH, Request, Spec, is_about_files_elsewhere};
use crate::write::options::{THREADS_WARNING, UNLIKE_WARNING};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Which paths to count.
#[derive(Debug, clap::Args)]
pub(super) struct SelectionArgs {
    /// Count only these paths: through=FILE:LINE, top=N:FILE, …
    ///
    /// through=FILE:LINE[-LINE], through=FUNCTION, top=N:PROFILE, share=90%:PROFILE, cold:PROFILE,
    /// new:PROFILE[,PROFILE…], ids=FUNCTION#ID,… or patch=DIFF. May be repeated:
    /// the union is counted (docs/SELECTED.md).
    #[arg(long, value_name = "SPEC")]
    paths: Vec<String>,

    /// Count only paths through lines that this diff adds or changes
    #[arg(long, value_name = "DIFF")]
    patch: Option<PathBuf>,
}

impl SelectionArgs {
    /// What is asked for, if not all paths are.
    ///
    /// # Errors
    /// A selection or patch that cannot be read ([`Request::read`]).
    pub(super) fn read(&self, trust: Trust, empty: Empty) -> Result<Option<Request>> {
        Request::read(&self.paths, self.patch.as_deref(), trust, empty)
    }

    /// Whether some paths only are asked for.
    pub(super) fn is_given(&self) -> bool {
        !self.paths.is_empty() || self.patch.is_some()
    }

    /// The diffs alone of what is asked for.
    ///
    /// # Errors
    /// A selection or patch that cannot be read ([`SelectionArgs::read`]).
    pub(super) fn diffs(&self) -> Result<Option<Request>> {
        let diffs = self.paths.iter().filter(|text| text.starts_with(PATCH));
        let diffs: Vec<String> = diffs.cloned().collect();
        Request::read(
            &diffs,
            self.patch.as_deref(),
            Trust::default(),
            Empty::Allowed,
        )
    }

    /// What is asked for as options of `p3-rewrite`, which hold in any folder. They are read once, so that what is
    /// wrong is reported before anything runs.
    ///
    /// # Errors
    /// A selection or patch that cannot be read ([`SelectionArgs::read`]).
    pub(super) fn flags(&self) -> Result<Vec<String>> {
        self.read(Trust::default(), Empty::Allowed)?;
        let mut flags = Vec::new();
        let mut patches = Vec::from_iter(&self.patch);
        let diffs: Vec<PathBuf> = self
            .paths
            .iter()
            .filter_map(|text| text.strip_prefix(PATCH).map(PathBuf::from))
            .collect();
        patches.extend(&diffs);
        for text in self.paths.iter().filter(|text| !text.starts_with(PATCH)) {
            let spec = Spec::parse(text)?.with_absolute_names();
            flags.extend(["--paths".to_string(), spec.to_string()]);
        }
        for patch in patches {
            let patch = std::path::absolute(patch).unwrap_or_else(|_| patch.clone());
            flags.extend(["--paths".to_string(), format!("{PATCH}{}", patch.display())]);
        }
        Ok(flags)
    }
}

/// Those of `programs`, of earlier builds, that were linked to count other paths than these options of `p3-rewrite` ask
/// for: by other specifications, or before a profile or diff that these name was written.
pub(super) fn find_outdated<'a>(programs: &'a [Record], flags: &[String]) -> Vec<&'a Record> {
    let pairs = flags.iter().zip(flags.iter().skip(1));
    let asked = pairs.filter(|(name, _)| *name == "--paths");
    let asked: Vec<&String> = asked.map(|(_, spec)| spec).collect();
    let newest = asked.iter().flat_map(|spec| files_of(spec));
    let newest = newest.filter_map(|file| written_at(&file)).max();
    let is_outdated = |program: &&Record| {
        let file = program.manifest();
        let Ok(manifest) = Manifest::read(&file) else {
            return false;
        };
        let is_before = || newest.is_some_and(|newest| written_at(&file) < Some(newest));
        !manifest.paths.iter().eq(asked.iter().copied()) || is_before()
    };
    programs.iter().filter(is_outdated).collect()
}

/// Refuses lines, functions and ids that none of the programs of a build has. (What one of several has is enough, and
/// that all paths are known or that a diff touches no code is no error.)
///
/// # Errors
/// The reason of one of the programs, one that names the nearest if there is such.
pub(super) fn refuse_unknown(programs: &[Record]) -> Result<()> {
    let reason = |program: &Record| {
        let mut warnings = program.warnings.iter();
        let reason = warnings.find_map(|w| w.strip_prefix(NOTHING));
        reason
            .filter(|r| r.starts_with("--paths "))
            .map(String::from)
    };
    let reasons: Option<Vec<String>> = programs.iter().map(reason).collect();
    let reasons = reasons.unwrap_or_default();
    let nearest = reasons.iter().find(|r| r.contains("nearest"));
    match nearest.or(reasons.first()) {
        Some(reason) => Err(Error::Usage(reason.clone())),
        None => Ok(()),
    }
}

/// The files that a specification names.
fn files_of(spec: &str) -> Vec<PathBuf> {
    if let Some(diff) = spec.strip_prefix(PATCH) {
        return vec![diff.into()];
    }
    let spec = Spec::parse(spec);
    let named = spec.iter().flat_map(Spec::profiles);
    let files = named.flat_map(|name| {
        if name.is_dir() {
            // What is wrong with it has been reported when the profiles were read.
            profiles_below(name).unwrap_or_default()
        } else {
            vec![name.clone()]
        }
    });
    files.collect()
}

/// When a file, or the symbolic link to it, was written.
fn written_at(file: &Path) -> Option<SystemTime> {
    let times = [std::fs::metadata(file), std::fs::symlink_metadata(file)];
    let times = times.into_iter().flatten();
    times.filter_map(|m| m.modified().ok()).max()
}

/// Prints in how many of the programs paths are selected.
pub(super) fn report_selection(programs: &[Record]) {
    let selects = |p: &&Record| {
        let manifest = Manifest::read(&p.manifest());
        manifest.is_ok_and(|m| !m.counts_nothing())
    };
    match (programs.iter().filter(selects).count(), programs.len()) {
        (_, 0) => {}
        (0, _) => warn(
            "no path is selected in any program, so nothing is instrumented; p3-prof paths SPEC FOLDER prints the \
             reason",
        ),
        (n, all) => print_message(&format!(
            "paths are selected in {n} of {}",
            number_of(all as u64, "program")
        )),
    }
}

/// Prints what `p3-rewrite` warned of these programs. That one of several has no selected path, or no file of a
/// diff, is reported by [`report_selection`] and [`report_files_of_no_program`]; if all have none, each reason is
/// printed once.
pub(super) fn report_warnings(programs: &[Record]) {
    let is_nothing = |w: &&String| w.starts_with(NOTHING);
    let nothing = programs
        .iter()
        .filter(|p| p.warnings.iter().any(|w| is_nothing(&w)));
    if nothing.count() == programs.len() {
        let warnings = programs.iter().flat_map(|p| &p.warnings);
        let reasons: BTreeSet<&String> = warnings.filter(is_nothing).collect();
        reasons.into_iter().for_each(|reason| warn(reason));
    }
    for program in programs {
        let warnings = program.warnings.iter();
        let warnings = warnings
            .filter(|w| !is_nothing(w) && !is_about_files_elsewhere(w) && !is_about_threads(w));
        warnings.for_each(|w| warn(&format!("{}: {w}", path_from_here(&program.program))));
    }
}

/// What a rewriting warns of threads, by how the warning begins, and what to do about it in a build.
const ABOUT_THREADS: [(&str, &str); 2] = [
    (
        THREADS_WARNING,
        "build without --update single to count exactly",
    ),
    (
        UNLIKE_WARNING,
        "build with -k 1, which is exact with threads",
    ),
];

fn is_about_threads(warning: &str) -> bool {
    ABOUT_THREADS
        .iter()
        .any(|(begin, _)| warning.starts_with(begin))
}

/// Prints, in one line each, which programs may lose counts by threads, and of which programs with threads there are
/// several copies.
pub(super) fn report_threads(programs: &[Record]) {
    for (begin, remedy) in ABOUT_THREADS {
        let has = |p: &&Record| p.warnings.iter().any(|w| w.starts_with(begin));
        let names = programs.iter().filter(has);
        let names: Vec<String> = names.map(|p| path_from_here(&p.program)).collect();
        if !names.is_empty() {
            let names = first_names(NAMED_PROGRAMS, names.into_iter());
            warn(&format!("{begin} of {names}: {remedy}"));
        }
    }
}

/// Warns of files of a diff from which no program of a build was compiled.
///
/// # Errors
/// A manifest cannot be read, or those of [`Request::files_of_no_program`].
pub(super) fn report_files_of_no_program<'a>(
    diffs: &Request,
    programs: impl Iterator<Item = &'a Record>,
) -> Result<()> {
    let files = programs.map(|p| Ok(Manifest::read(&p.manifest())?.files));
    let files: Vec<Vec<String>> = files.collect::<Result<_>>()?;
    let lines = diffs.files_of_no_program(files.iter().map(Vec::as_slice))?;
    lines.iter().for_each(|line| warn(line));
    Ok(())
}

/// Warns of programs that the build found up to date, and that count other paths than it asks for.
pub(super) fn report_outdated(programs: &[&Record]) {
    let [first, more @ ..] = programs else { return };
    let and = match more.len() {
        0 => String::new(),
        n => format!(" and {}", number_of(n as u64, "more program")),
    };
    warn(&format!(
        "{}{and}: not linked again, so the selection of this build is not in them: they count what was asked for when \
         they were linked; remove and build again",
        path_from_here(&first.program)
    ));
}
