//! Which file a name on the command line means where a merged profile is wanted: folders that we made stand for the
//! profile in them, and where there is none yet, the error says what makes it.

use crate::base::error::{Error, Result};
use crate::base::names::{escape_unprintable, quote_for_shell};
use crate::write::output::WEIGHTS;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// What the runner and `p3-rewrite suite` call the merged profile in an output folder.
pub const MERGED: &str = "profile.p3prof";
/// What an output folder holds.
const MANIFEST: &str = "manifest.json";
/// What only the folder of a program that `p3-rewrite build` made holds besides.
const RECORD: &str = "record.json";
/// Folders of programs are not deeper below what `build -o` names.
const DEPTH: usize = 6;
/// So many files and folders are searched for a name that is near.
const MOST_ENTRIES: usize = 20_000;
/// Of several profiles, so many are named.
const NAMED: usize = 3;

/// The merged profile that `path` means: a file, or the only one in a folder.
///
/// # Errors
/// A folder with several or none; a file that `make run` or a suite would have written.
pub fn find_merged_profile(path: &Path) -> Result<PathBuf> {
    if path.is_dir() {
        return in_folder(path);
    }
    if !path.exists() && path.file_name().is_some_and(|n| n == MERGED) {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if folder.join(MANIFEST).is_file() {
            return Err(not_there_yet(path, folder));
        }
    }
    let is_merged = path.file_name().is_some_and(|n| n == MERGED);
    let named = if is_merged { path.parent() } else { Some(path) };
    match named.filter(|_| !path.exists()).and_then(find_nearest) {
        Some(near) => {
            let remedy = format!("the nearest is {}", display_name(&near));
            Err(Error::profile(
                path,
                "there is no such file or folder",
                remedy,
            ))
        }
        None => Ok(path.to_path_buf()),
    }
}

/// The profile or folder of a program by the name of `path`, or much like it, in the folders below the one that it
/// would be in, or below the one around that: libtool links programs in `.libs`. What cannot be read, and what is
/// behind links, is not searched.
fn find_nearest(path: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_string_lossy().to_lowercase();
    let mut around = path.ancestors().skip(1).take(2);
    let parent = around.find(|p| p.is_dir() || p.as_os_str().is_empty())?;
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    let entries = WalkDir::new(parent).max_depth(DEPTH).sort_by_file_name();
    let entries = entries.into_iter().take(MOST_ENTRIES).flatten();
    let found = entries
        .map(DirEntry::into_path)
        .filter(|p| is_profile(p) || p.ends_with(MANIFEST));
    // A folder is named in place of its manifest.
    let mut named = found.filter_map(|p| {
        if p.ends_with(MANIFEST) {
            return p.parent().map(Path::to_path_buf);
        }
        (!p.ends_with(MERGED)).then_some(p)
    });
    let likeness = |p: &PathBuf| {
        let name = p.file_name().unwrap_or_default().to_string_lossy();
        strsim::jaro_winkler(&wanted, &name.to_lowercase())
    };
    let near = named
        .by_ref()
        .map(|p| (likeness(&p), p))
        .filter(|(l, _)| *l > 0.85);
    let (_, near) = near.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
    Some(
        near.strip_prefix(".")
            .map_or(near.clone(), Path::to_path_buf),
    )
}

/// Whether `folder` is the output folder of a program of which no copy has left a profile.
pub fn has_never_run(folder: &Path) -> bool {
    let is_output = folder.join(MANIFEST).is_file();
    // A link that leads nowhere is a profile that is elsewhere.
    let is_merged = std::fs::symlink_metadata(folder.join(MERGED)).is_ok();
    is_output && !is_merged && !has_raw_profiles(folder)
}

fn has_raw_profiles(folder: &Path) -> bool {
    let is_raw = |p: &Path| p.extension().is_some_and(|e| e == "p3raw");
    // What cannot be read may be one.
    find_below(folder, DEPTH, is_raw).map_or(true, |raw| !raw.is_empty())
}

fn in_folder(folder: &Path) -> Result<PathBuf> {
    let own = folder.join(MERGED);
    if own.is_file() {
        return Ok(own);
    }
    if folder.join(MANIFEST).is_file() {
        return Err(not_there_yet(folder, folder));
    }
    let mut found = find_below(folder, DEPTH, is_profile)?;
    match found.len() {
        0 => Err(none_below(folder)),
        1 => Ok(found.swap_remove(0)),
        n => {
            let named: Vec<String> = found.iter().take(NAMED).map(|p| display_name(p)).collect();
            let more = if n > NAMED { ", …" } else { "" };
            let name = if found.iter().all(|p| p.ends_with(MERGED)) {
                MERGED
            } else {
                "'*.p3prof'"
            };
            let remedy = format!(
                "name one ({}{more}), or join them first (p3-prof union $(find {} -name {name}) -o all.p3prof)",
                named.join(", "),
                quote_for_shell(display_name(folder)),
            );
            let problem = format!("the folder holds {n} merged profiles");
            Err(Error::profile(folder, problem, remedy))
        }
    }
}

fn none_below(folder: &Path) -> Error {
    let is_record = |p: &Path| p.ends_with(RECORD);
    let built = find_below(folder, DEPTH, is_record).unwrap_or_default();
    if built.is_empty() {
        let problem = "there is no merged profile in this folder";
        let remedy = "name a file that p3-prof merge wrote, or an output folder of p3-rewrite";
        return Error::profile(folder, problem, remedy);
    }
    let problem = "no merged profile in it: its programs have not run under p3-rewrite suite";
    Error::profile(folder, problem, remedy_of_suite(folder))
}

/// The merged profiles in a folder and in all folders below it, in the order of their names.
/// Symbolic links are followed.
///
/// # Errors
/// A link by the name of a profile that leads nowhere; a folder that cannot be read.
pub fn profiles_below(folder: &Path) -> Result<Vec<PathBuf>> {
    find_below(folder, usize::MAX, is_profile)
}

/// Not what an output folder was made with: that is of an earlier run.
fn is_profile(path: &Path) -> bool {
    let is_input = path.ends_with(WEIGHTS) && path.with_file_name(MANIFEST).exists();
    path.extension().is_some_and(|e| e == "p3prof") && !is_input
}

/// The files that are wanted, at most `depth` levels below a folder, in order.
fn find_below(folder: &Path, depth: usize, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let all = WalkDir::new(folder).max_depth(depth).follow_links(true);
    let mut files = Vec::new();
    for entry in all.sort_by_file_name() {
        let problem = match entry {
            Ok(entry) => {
                let is_wanted = entry.file_type().is_file() && wanted(entry.path());
                files.extend(is_wanted.then(|| entry.into_path()));
                continue;
            }
            Err(problem) => problem,
        };
        let path = problem.path().unwrap_or(folder).to_path_buf();
        if path.is_symlink() {
            // What is behind a link back to a folder on the way is found without it.
            let leads_nowhere = problem.loop_ancestor().is_none();
            if leads_nowhere && wanted(&path) {
                let remedy = "remove it, or let it lead to a profile";
                return Err(Error::profile(
                    path,
                    "the symbolic link leads nowhere",
                    remedy,
                ));
            }
        } else if let Some(io) = problem.into_io_error() {
            return Err(Error::read(path, io));
        }
    }
    Ok(files)
}

/// That the output folder `folder` has no merged profile, and how it gets one.
fn not_there_yet(path: &Path, folder: &Path) -> Error {
    if folder.join(RECORD).is_file() {
        let problem = if has_raw_profiles(folder) {
            "no merged profile yet: the program has run, and p3-rewrite suite has not merged what it counted"
        } else {
            "no merged profile yet: the program has not run under p3-rewrite suite"
        };
        return Error::profile(path, problem, remedy_of_suite(folder));
    }
    let make = if folder == Path::new(".") {
        "make".to_string()
    } else {
        format!("make -C {}", display_name(folder))
    };
    if has_raw_profiles(folder) {
        let problem = "no merged profile yet: raw profiles are there, and are not merged";
        Error::profile(path, problem, format!("run `{make} merge` first"))
    } else {
        let problem = "no merged profile yet: the copies have not run";
        Error::profile(path, problem, format!("run `{make} run ARGS='…'` first"))
    }
}

fn remedy_of_suite(folder: &Path) -> String {
    let folder = display_name(folder);
    format!("run `p3-rewrite suite -o {folder} -- make check`, or what else runs its tests, first")
}

fn display_name(path: &Path) -> String {
    escape_unprintable(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    fn error_of(path: &Path) -> String {
        find_merged_profile(path).unwrap_err().to_string()
    }

    #[test]
    fn folder_without_a_run_says_what_to_run() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        create_dir_all(out.join("run/copy-0/raw")).unwrap();
        let nothing = error_of(&out);
        assert!(
            nothing.contains("there is no merged profile in this folder"),
            "{nothing}"
        );
        write(out.join(MANIFEST), "{}").unwrap();
        let make = format!("make -C {}", out.display());
        for name in [out.clone(), out.join(MERGED)] {
            assert!(error_of(&name).ends_with(&format!("run `{make} run ARGS='…'` first")));
        }
        write(out.join("run/copy-0/raw/0.p3raw"), "").unwrap();
        assert!(error_of(&out).ends_with(&format!("run `{make} merge` first")));
        write(out.join(RECORD), "{}").unwrap();
        assert!(error_of(&out).contains("p3-rewrite suite -o"));
        std::fs::remove_file(out.join(MANIFEST)).unwrap();
        assert!(error_of(dir.path()).contains("p3-rewrite suite -o"));
        // Any other missing file is missing.
        let other = out.join("x.p3prof");
        assert_eq!(find_merged_profile(&other).unwrap(), other);
    }

    #[test]
    fn folder_stands_for_its_only_profile() {
        let dir = tempfile::tempdir().unwrap();
        let profile = |name: &str| {
            let folder = dir.path().join(name);
            create_dir_all(&folder).unwrap();
            write(folder.join(MERGED), "").unwrap();
            folder.join(MERGED)
        };
        let a = profile("a.p3");
        assert_eq!(find_merged_profile(&a).unwrap(), a);
        assert_eq!(find_merged_profile(&dir.path().join("a.p3")).unwrap(), a);
        assert_eq!(find_merged_profile(dir.path()).unwrap(), a);
        let b = profile("b.p3");
        let named = format!(
            "holds 2 merged profiles; name one ({}, {}), or join them first \
             (p3-prof union $(find {} -name profile.p3prof) -o all.p3prof)",
            a.display(),
            b.display(),
            dir.path().display()
        );
        assert!(error_of(dir.path()).ends_with(&named));
        for more in ["c.p3", "d.p3"] {
            profile(more);
        }
        assert!(error_of(dir.path()).contains(", …), or join"));
    }

    /// libtool links `prog` as `.libs/prog`, and its folder is there.
    #[test]
    fn missing_name_is_answered_with_the_nearest() {
        let dir = tempfile::tempdir().unwrap();
        let there = dir.path().join("src/.libs/jq.p3");
        create_dir_all(&there).unwrap();
        write(there.join(MANIFEST), "{}").unwrap();
        write(there.join(MERGED), "").unwrap();
        write(dir.path().join("src/other.p3prof"), "").unwrap();
        for name in [
            "src/jq.p3",
            "jq.p3",
            "src/jp.p3",
            "src/jq.p3/profile.p3prof",
            "src/JQ.p3",
        ] {
            let end = format!("; the nearest is {}", there.display());
            let said = error_of(&dir.path().join(name));
            assert!(said.ends_with(&end), "{said}");
        }
        let far = dir.path().join("src/zebra.p3prof");
        assert_eq!(find_merged_profile(&far).unwrap(), far);
    }

    /// Profiles may be links, in folders that are links and however deep; links back to a folder on
    /// the way do no harm.
    #[test]
    fn linked_profile_is_found_and_link_to_nothing_is_refused() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (dir, elsewhere) = (dir.path(), elsewhere.path());
        let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, dir.join(name)).unwrap();
        write(elsewhere.join("one.p3prof"), "").unwrap();
        write(elsewhere.join("two"), "").unwrap();
        let deep = "1/2/3/4/5/6/7/8";
        create_dir_all(dir.join(deep)).unwrap();
        write(dir.join(deep).join("deep.p3prof"), "").unwrap();
        link(&elsewhere.join("two"), "linked.p3prof");
        link(elsewhere, "folder");
        link(dir, "folder-itself");
        link(Path::new("nothing"), "latest");
        let expected = [
            format!("{deep}/deep.p3prof"),
            "folder/one.p3prof".into(),
            "linked.p3prof".into(),
        ];
        let expected = expected.map(|name| dir.join(name));
        assert_eq!(profiles_below(dir).unwrap(), expected);
        link(Path::new("nothing"), "lost.p3prof");
        let said = profiles_below(dir).unwrap_err().to_string();
        let lost = dir.join("lost.p3prof");
        let expected = "the symbolic link leads nowhere; remove it, or let it lead to a profile";
        assert_eq!(said, format!("{}: {expected}", lost.display()));
    }
}
