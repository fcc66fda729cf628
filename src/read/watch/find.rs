//! Raw profiles that are being written, by name, process or folder; and the manifest of their program.

use crate::base::error::{Error, Result};
use crate::profile::manifest::Manifest;
use crate::profile::merge::Programs;
use crate::runtime::format::{Header, MAGIC};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zerocopy::FromBytes;
use zerocopy::byteorder::LE;

/// What the folders above a profile are searched for.
const MANIFEST: &str = "manifest.json";

/// Where raw profiles are looked for, each time anew: programs start and end, and files are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchTarget {
    /// One file.
    File(PathBuf),
    /// All `*.p3raw` below a folder.
    Folder(PathBuf),
    /// Those that a process has mapped.
    Process(u64),
}

impl WatchTarget {
    /// What a name on the command line means: a file, a folder, or else the id of a process.
    ///
    /// # Errors
    /// What is none of them.
    pub(crate) fn parse(name: &Path) -> Result<WatchTarget> {
        if name.is_dir() {
            return Ok(WatchTarget::Folder(name.to_path_buf()));
        }
        let id = name.to_str().and_then(|n| n.parse::<u64>().ok());
        match id {
            Some(id) if !name.exists() => {
                let known = Path::new("/proc").join(id.to_string()).is_dir();
                let target = known.then_some(WatchTarget::Process(id));
                target.ok_or_else(|| {
                    Error::Usage(format!(
                        "{id}: no process and no file has this name; name a running program, a raw \
                        profile or an output folder"
                    ))
                })
            }
            _ => {
                fs::metadata(name).map_err(|e| Error::read(name, e))?;
                Ok(WatchTarget::File(name.to_path_buf()))
            }
        }
    }

    /// The names of the raw profiles that are there now. Of a process that is gone there are none.
    ///
    /// # Errors
    /// Folders and processes that cannot be read.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        match self {
            WatchTarget::File(file) => Ok(vec![file.clone()]),
            WatchTarget::Folder(folder) => Ok(find_raw_files(folder)),
            WatchTarget::Process(id) => match Maps::read(*id) {
                Ok(maps) => Ok(maps.profiles()),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
                Err(e) => Err(Error::read(maps_path(*id), e)),
            },
        }
    }
}

/// The `*.p3raw` files below a folder, in order. Files may vanish meanwhile.
fn find_raw_files(folder: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter();
    let files = all.flatten().filter(|e| e.file_type().is_file());
    let files = files.map(walkdir::DirEntry::into_path);
    files
        .filter(|f| f.extension().is_some_and(|e| e == "p3raw"))
        .collect()
}

fn maps_path(process: u64) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/maps"))
}

/// The files that a process has mapped: their numbers and names, as the kernel tells them.
struct Maps {
    process: u64,
    files: BTreeSet<(u64, Vec<u8>)>,
}

impl Maps {
    fn read(process: u64) -> std::io::Result<Maps> {
        let text = fs::read(maps_path(process))?;
        let files = text.split(|b| *b == b'\n').filter_map(parse_mapping);
        let files = files.collect();
        Ok(Maps { process, files })
    }

    /// Those that are raw profiles and can be opened: by their names, or as the process sees them.
    fn profiles(&self) -> Vec<PathBuf> {
        let root = Path::new("/proc")
            .join(self.process.to_string())
            .join("root");
        let found = self.files.iter().filter_map(|(inode, name)| {
            let name = Path::new(OsStr::from_bytes(published_name(name)));
            let inside = root.join(name.strip_prefix("/").ok()?);
            let mut places = [name.to_path_buf(), inside].into_iter();
            places.find(|p| self.is_profile(p, *inode))
        });
        let mut found: Vec<PathBuf> = found.collect();
        found.sort();
        found.dedup();
        found
    }

    /// Whether a file is the raw profile with this number. Stacked file systems (overlayfs) may tell another one: there
    /// it is the one that the process made.
    fn is_profile(&self, file: &Path, inode: u64) -> bool {
        let mut head = [0; size_of::<Header<LE>>()];
        let opened = File::open(file).and_then(|mut f| {
            f.read_exact(&mut head)?;
            f.metadata()
        });
        let Ok(found) = opened.map(|m| m.ino()) else {
            return false;
        };
        let header = Header::<LE>::read_from_bytes(&head).expect("of its size");
        let is_one = header.magic.get() >> 8 == MAGIC >> 8;
        is_one && (found == inode || header.pid.get() == self.process)
    }
}

/// The name that a profile got when it was whole: it has another one before, and the kernel keeps that.
fn published_name(name: &[u8]) -> &[u8] {
    let mut ends = (0..name.len()).rev();
    let before = ends.find(|i| name[*i..].starts_with(b".new"));
    let digits = |at: usize| name[at + 4..].iter().all(u8::is_ascii_hexdigit);
    before
        .filter(|at| digits(*at))
        .map_or(name, |at| &name[..at])
}

/// Number and name of the file in a line of `/proc/PID/maps`: `address perms offset device inode   name`.
fn parse_mapping(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let mut rest = line;
    let mut inode = 0;
    for field in 0..5 {
        let end = rest.iter().position(|b| *b == b' ')?;
        if field == 4 {
            inode = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
        }
        rest = rest[end..].trim_ascii_start();
    }
    let name = rest.strip_suffix(b" (deleted)").unwrap_or(rest);
    (inode != 0 && name.starts_with(b"/")).then(|| (inode, unescape_name(name)))
}

/// Line ends in names are written as `\012`.
fn unescape_name(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, behind)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(b"\\012") {
            out.push(b'\n');
            rest = behind;
        } else {
            out.push(*first);
            rest = behind;
        }
    }
    out
}

/// Whether a process has this file mapped; `None`: that is not known.
pub(super) fn has_mapped(process: u64, file: &Path) -> Option<bool> {
    let inode = fs::metadata(file).ok()?.ino();
    match Maps::read(process) {
        Ok(maps) => Some(
            maps.files.iter().any(|(i, _)| *i == inode)
                || maps.profiles().iter().any(|p| p.as_path() == file),
        ),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Some(false),
        Err(_) => None,
    }
}

/// The programs that raw profiles may be of: those of `manifests`, or, where none is named, of the manifest with the id
/// `program` in or above the folders of the profile, the targets, and the process's program and working folder.
///
/// # Errors
/// Manifests that cannot be used, of those that were found the nearest, and that there is none.
pub(crate) fn programs(
    manifests: &[PathBuf],
    targets: &[WatchTarget],
    program: [u8; 16],
    file: &Path,
) -> Result<Programs> {
    if !manifests.is_empty() {
        return Programs::find(manifests);
    }
    let mut places = vec![file.to_path_buf()];
    for target in targets {
        match target {
            WatchTarget::File(file) => places.push(file.clone()),
            WatchTarget::Folder(folder) => places.push(folder.join(MANIFEST)),
            WatchTarget::Process(id) => {
                let of = |what: &str| fs::read_link(format!("/proc/{id}/{what}"));
                places.extend(of("exe"));
                places.extend(of("cwd").map(|folder| folder.join(MANIFEST)));
            }
        }
    }
    let above = places.iter().flat_map(|p| manifests_above(p));
    let mut seen = BTreeSet::new();
    let mut unreadable = None;
    for candidate in above.filter(|p| seen.insert(p.clone())) {
        match Manifest::read(&candidate) {
            Ok(found) if found.program_bytes() == program => return Programs::find(&[candidate]),
            // It may be the program's, of another version or with a scheme that this build does not have.
            Err(e) if Manifest::is_one(&candidate) => unreadable = unreadable.or(Some(e)),
            _ => {}
        }
    }
    if let Some(e) = unreadable {
        return Err(e);
    }
    Err(Error::profile(
        file,
        "the manifest.json of its program is not in a folder above it",
        "name it, or a folder that holds it, with -m",
    ))
}

/// The manifests in the folders above a file, the nearest first.
fn manifests_above(file: &Path) -> Vec<PathBuf> {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    let folders = whole.ancestors().skip(1).map(|f| f.join(MANIFEST));
    folders.filter(|m| m.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_are_parsed() {
        let line = b"7f00-7f01 rw-s 00001000 fe:01 4711                       /a b/c\\012d.p3raw (deleted)";
        assert_eq!(
            parse_mapping(line),
            Some((4711, b"/a b/c\nd.p3raw".to_vec()))
        );
        for none in [
            &b"7f00-7f01 rw-p 00000000 00:00 0 "[..],
            b"7f00-7f01 rw-p 00000000 00:00 0          [heap]",
            b"",
            b"x",
            b"1 2 3 4 5",
        ] {
            assert_eq!(parse_mapping(none), None);
        }
    }

    #[test]
    fn names_of_files_that_were_made() {
        let published =
            |name: &str| String::from_utf8(published_name(name.as_bytes()).to_vec()).unwrap();
        assert_eq!(published("/a/0-7.p3raw.newe3d684ee"), "/a/0-7.p3raw");
        assert_eq!(published("/a.new/0-7.p3raw"), "/a.new/0-7.p3raw");
        assert_eq!(published("/a/0.newer"), "/a/0.newer");
    }

    #[test]
    fn targets() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("12");
        fs::write(&file, "").unwrap();
        let folder = dir.path().to_path_buf();
        assert_eq!(
            WatchTarget::parse(&folder).unwrap(),
            WatchTarget::Folder(folder)
        );
        assert_eq!(WatchTarget::parse(&file).unwrap(), WatchTarget::File(file));
        let own = u64::from(std::process::id());
        let process = WatchTarget::parse(Path::new(&own.to_string())).unwrap();
        assert_eq!(process, WatchTarget::Process(own));
        assert!(
            process.files().unwrap().is_empty(),
            "nothing of ours is mapped"
        );
        assert!(WatchTarget::parse(Path::new("nothing/there")).is_err());
        let none = WatchTarget::parse(Path::new("4000000000")).unwrap_err();
        assert!(
            none.to_string().contains("no process and no file"),
            "{none}"
        );
    }

    #[test]
    fn manifest_that_cannot_be_read_is_not_called_missing() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = dir.path().join(MANIFEST);
        let said = || {
            let file = dir.path().join("0.p3raw");
            let none = programs(&[], &[], [7; 16], &file);
            none.unwrap_err().to_string()
        };
        fs::write(&manifest, r#"{"name": "of something else"}"#).unwrap();
        assert!(said().contains("is not in a folder above it"), "{}", said());
        fs::write(&manifest, r#"{"format": "p3-manifest", "version": 1}"#).unwrap();
        assert!(
            said().starts_with(&format!("{}: ", manifest.display())),
            "{}",
            said()
        );
    }
}
