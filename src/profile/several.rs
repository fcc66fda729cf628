//! Several programs as one: merged profiles, and folders of programs that `p3-rewrite` made, of which some never ran.

use super::Profile;
use super::locate::{MERGED, has_never_run, profiles_below};
use super::manifest::Manifest;
use super::merge::empty_profile;
use super::union::{Builds, union_with_baseline};
use super::verdict::Trust;
use crate::base::error::{Error, Result};
use crate::base::index::{FuncId, TiVec};
use crate::base::names::{NAMED_PROGRAMS, escape_unprintable, first_names};
use crate::base::table::number_of;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Several profiles as one, and what is to be told of that.
pub struct Several {
    /// That of the only program, or the union.
    pub profile: Profile,
    /// What there is to say of programs that never ran and of sources that were never linked.
    pub notes: Vec<String>,
    /// The profiles by themselves, where there are several that ran.
    pub parts: Vec<Part>,
}

/// A profile that was joined with others.
pub struct Part {
    /// The profile by itself.
    pub profile: Profile,
    /// By its functions: those of the joined profile.
    pub places: TiVec<FuncId, FuncId>,
}

impl Several {
    /// A profile by itself.
    pub fn from_one(profile: Profile) -> Several {
        Several {
            profile,
            notes: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// The files that it was read from.
    pub fn files(&self) -> Vec<PathBuf> {
        let parts = self.parts.iter().map(|part| &part.profile.path);
        let all = parts.chain(std::iter::once(&self.profile.path));
        all.flat_map(|path| files_of(path)).collect()
    }
}

/// The files that the profile at `path` was read from, and the manifest beside it: that of a program that never ran, in
/// the folder `path`.
pub fn files_of(path: &Path) -> [PathBuf; 2] {
    const MANIFEST: &str = "manifest.json";
    if path.is_dir() {
        [path.join(MANIFEST), path.join(MERGED)]
    } else {
        [path.to_path_buf(), path.with_file_name(MANIFEST)]
    }
}

/// Reads `files`: merged profiles, and folders with programs in them, of which those that never ran
/// count as what did not run.
///
/// # Errors
/// What cannot be read, a folder without programs, profiles that cannot be joined.
pub fn read(files: &[PathBuf], trust: Trust) -> Result<Several> {
    let (mut profiles, mut notes) = (Vec::new(), Vec::new());
    let (mut baseline, mut idle) = (Vec::new(), Vec::new());
    for file in files {
        // A single program is asked for because it ran: without a profile the reader says what to
        // run first.
        let is_program = Manifest::is_one(&file.join("manifest.json"));
        if !file.is_dir() || is_program {
            profiles.push(trust.read(file)?);
            continue;
        }
        let programs = find_programs(file);
        if programs.is_empty() && !profiles_below(file)?.is_empty() {
            let problem = "there are merged profiles in this folder, but no program of p3-rewrite";
            let remedy = format!(
                "name the profiles themselves: {}/*.p3prof",
                shown_folder(file)
            );
            return Err(Error::profile(file, problem, remedy));
        }
        if programs.is_empty() {
            let problem = "no program of p3-rewrite is in this folder";
            let remedy = "name what `p3-rewrite build -o` was given, or a merged profile; a build that failed leaves \
                no program, and its output says why";
            return Err(Error::profile(file, problem, remedy));
        }
        let (unlinked, programs): (Vec<_>, Vec<_>) =
            programs.into_iter().partition(|p| is_baseline(p));
        let mut unlinked: Vec<Profile> = unlinked
            .iter()
            .map(|p| read_without_profile(p))
            .collect::<Result<_>>()?;
        // Sources of data alone.
        unlinked.retain(|p| !p.manifest.functions.is_empty());

        notes.extend(describe_unlinked(file, &unlinked));
        baseline.extend(unlinked);
        for program in programs {
            // Where raw profiles are not merged yet, the reader says how to.
            if !has_never_run(&program) {
                profiles.push(trust.read(&program)?);
                continue;
            }
            let never_ran = read_without_profile(&program)?;
            if !never_ran.manifest.lacks_selected_paths() {
                let shown = program.display().to_string();
                idle.push(escape_unprintable(&shown).into_owned());
            }
            profiles.push(never_ran);
        }
    }
    notes.extend(describe_idle(&idle));
    if profiles.len() == 1 && baseline.is_empty() {
        let profile = profiles.remove(0);
        return Ok(Several {
            notes,
            ..Several::from_one(profile)
        });
    }
    let builds = if files.len() == 1 {
        Builds::One
    } else {
        Builds::Several
    };
    let union = union_with_baseline(&profiles, &baseline, builds)?;
    let mut profile = union.profile;
    profile.path.clone_from(&files[0]);
    let parts = profiles.into_iter().zip(union.places);
    let parts = parts.map(|(profile, places)| Part { profile, places });
    Ok(Several {
        profile,
        notes,
        parts: parts.collect(),
    })
}

/// Reads what one name means to a command of one profile: a merged profile, the folder of a program, or a folder of
/// several programs of which one has run.
///
/// # Errors
/// As of [`read`], and of [`Trust::read`].
pub fn read_one(file: &PathBuf, trust: Trust) -> Result<Several> {
    let is_one = !file.is_dir()
        || Manifest::is_one(&file.join("manifest.json"))
        || file.join(MERGED).exists();
    if !is_one {
        let programs = find_programs(file);
        let linked: Vec<&PathBuf> = programs.iter().filter(|p| !is_baseline(p)).collect();
        if linked.len() > 1 && linked.iter().any(|p| !has_never_run(p)) {
            return read(std::slice::from_ref(file), trust);
        }
    }
    Ok(Several::from_one(trust.read(file)?))
}

/// The profile of a program's folder without one: nothing of it ran.
///
/// # Errors
/// A manifest that cannot be read.
pub fn read_without_profile(program: &Path) -> Result<Profile> {
    let manifest = Manifest::read(&program.join("manifest.json"))?;
    Ok(empty_profile(program, manifest))
}

/// A folder's name without the slash at its end.
fn shown_folder(folder: &Path) -> String {
    let folder = folder
        .components()
        .collect::<PathBuf>()
        .display()
        .to_string();
    escape_unprintable(&folder).into_owned()
}

/// How many sources a note names.
const NAMED: usize = 3;

/// The line about sources of a build that no link took.
fn describe_unlinked(folder: &Path, unlinked: &[Profile]) -> Option<String> {
    let modules = unlinked.iter().flat_map(|p| &p.manifest.modules);
    let mut names: Vec<&str> = modules.map(|m| m.name.as_str()).collect();
    names.sort_unstable();
    let number = number_of(names.len() as u64, "source");
    let verb = if names.len() == 1 { "was" } else { "were" };
    let more = if names.len() > NAMED { ", …" } else { "" };
    names.truncate(NAMED);
    let shown = folder.display().to_string();
    let note = format!(
        "{}: {number} {verb} compiled but never linked, and so uncovered: {}{more}",
        escape_unprintable(&shown),
        escape_unprintable(&names.join(", ")),
    );
    (!names.is_empty()).then_some(note)
}

/// The line about shared libraries that were built in the folder of the program: their code is in profiles of
/// their own, and so not in a `report` of this one.
pub fn libraries_left_out(profile: &Profile, report: &str) -> Option<String> {
    let own = profile.path.parent()?;
    let is_build = own.join("record.json").is_file();
    let beside = own.parent().filter(|_| is_build)?;
    let is_library = |p: &PathBuf| {
        let name = p.file_name().unwrap_or_default().to_string_lossy();
        name.contains(".so.") && *p != own && p.join(MERGED).is_file()
    };
    let mut libraries: Vec<PathBuf> = beside
        .read_dir()
        .ok()?
        .flatten()
        .map(|e| e.path())
        .collect();
    libraries.retain(is_library);
    libraries.sort();
    let first = libraries.first()?.join(MERGED);
    let more = match libraries.len() {
        1 => String::new(),
        n => format!(" and {}", number_of(n as u64 - 1, "more library")),
    };
    let shown = |p: &Path| escape_unprintable(&p.display().to_string()).into_owned();
    Some(format!(
        "{}: shared libraries are not in {report}: {}{more}; p3-prof union joins profiles",
        shown(&profile.path),
        shown(&first),
    ))
}

/// That the programs `idle` never ran.
fn describe_idle(idle: &[String]) -> Option<String> {
    match idle {
        [] => None,
        [one] => Some(format!("{one}: it never ran, so all of it is uncovered")),
        all => Some(format!(
            "{} programs never ran, so all of their code is uncovered: {}",
            all.len(),
            first_names(NAMED_PROGRAMS, all.iter().cloned())
        )),
    }
}

/// The folder, inside one of programs, of sources that were compiled and never linked: each is a program there that no
/// test could run.
pub const UNLINKED: &str = ".p3-unlinked";

/// Whether a program's folder is inside [`UNLINKED`].
pub fn is_baseline(folder: &Path) -> bool {
    let mut names = folder.components().map(|c| c.as_os_str());
    names.any(|n| n == OsStr::new(UNLINKED))
}

/// The folders below `folder` that p3-rewrite made, by name.
fn find_programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut walk = WalkDir::new(folder).sort_by_file_name().into_iter();
    while let Some(entry) = walk.next() {
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_dir() && Manifest::is_one(&entry.path().join("manifest.json")) {
            // What is inside it are its copies.
            found.push(entry.path().to_path_buf());
            walk.skip_current_dir();
        }
    }
    found
}
