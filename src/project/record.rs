//! What was built where: a file in the folder of every program.

use crate::base::error::{Error, Result};
use crate::profile::manifest::Manifest;
use crate::profile::raw::absent;
use crate::write::output::write_whole;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, FileTimes, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use walkdir::{DirEntry, WalkDir};

/// The record's name.
pub const NAME: &str = "record.json";

/// A program that was built in copies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Always `p3-record 1`.
    format: String,
    /// Where it is: a path that every copy takes in turn.
    pub program: PathBuf,
    /// The number of copies.
    pub copies: u32,
    /// Objects in it that are not profiled, and why.
    #[serde(rename = "not_profiled", alias = "left")]
    pub left: BTreeMap<String, String>,
    /// What the rewriting warned of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The command that linked it, and where.
    pub command: Vec<String>,
    /// The folder in which that ran.
    pub directory: PathBuf,
    /// The folder of the record when the program was linked: its processes write below it. None in records of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    linked: Option<PathBuf>,
    /// The folder of the record.
    #[serde(skip)]
    pub folder: PathBuf,
}

const FORMAT: &str = "p3-record 1";

/// What is in a program's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPlace {
    /// What the build put there, or a copy that a suite or `p3-rewrite use` did, whatever was stripped of it; or the
    /// same program, linked again.
    Ours,
    /// A copy of another build, of the same sources or of others.
    OtherBuild,
    /// A program that was linked later: without copies, or with copies beside it.
    Newer,
}

/// What every copy's runtime has in its data: the name of the variable that it reads.
const RUNTIME: &[u8] = b"P3_PROFILE_FILE\0";

impl Record {
    /// A record that is not written yet.
    pub fn new(
        folder: &Path,
        program: PathBuf,
        copies: u32,
        left: BTreeMap<String, String>,
        command: Vec<String>,
    ) -> Record {
        Record {
            format: FORMAT.into(),
            program,
            copies,
            left,
            warnings: Vec::new(),
            command,
            directory: std::env::current_dir().unwrap_or_default(),
            linked: std::path::absolute(folder).ok(),
            folder: folder.to_path_buf(),
        }
    }

    /// Where its processes write, if that is another folder: the record's was moved, or is a copy.
    pub fn moved_from(&self) -> Option<&Path> {
        let linked = self.linked.as_deref()?;
        let (there, here) = (linked.canonicalize(), self.folder.canonicalize());
        (there.ok() != here.ok()).then_some(linked)
    }

    /// Writes it into its folder.
    ///
    /// # Errors
    /// That is not possible.
    pub fn write(&self) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(self).expect("a record serialises");
        json.push(b'\n');
        write_whole(&self.folder.join(NAME), &json)
    }

    /// Reads `folder`'s.
    ///
    /// # Errors
    /// There is none, or none of this version.
    pub fn read(folder: &Path) -> Result<Record> {
        let path = folder.join(NAME);
        let bytes = std::fs::read(&path).map_err(|e| Error::read(&path, e))?;
        let record: Option<Record> = serde_json::from_slice(&bytes).ok();
        match record.filter(|r| r.format == FORMAT) {
            Some(record) => Ok(Record {
                folder: folder.to_path_buf(),
                ..record
            }),
            None => Err(Error::profile(
                path,
                "not a record of this version of p3-cc",
                "build the program again",
            )),
        }
    }

    /// The executable, or library, of a copy.
    pub fn copy(&self, copy: u32) -> PathBuf {
        self.folder.join(format!("bin/copy-{copy}"))
    }

    /// What is in the program's place, beside what the build put there. A program that was stripped, signed or given
    /// another search path still has its rewriting's id.
    ///
    /// # Errors
    /// The program, a copy or the manifest cannot be read.
    pub fn inspect_place(&self) -> Result<InPlace> {
        let read = |path: &Path| std::fs::read(path).map_err(|e| Error::read(path, e));
        let copies = (0..self.copies).map(|copy| self.copy(copy));
        let all = copies.chain([self.folder.join("bin/native")]);
        let built: Vec<PathBuf> = all.filter(|path| path.is_file()).collect();
        let program = read(&self.program)?;
        for file in &built {
            let has_its_size =
                std::fs::metadata(file).is_ok_and(|m| m.len() == program.len() as u64);
            if has_its_size && read(file)? == program {
                return Ok(InPlace::Ours);
            }
        }
        let manifest = Manifest::read(&self.manifest())?;
        let id = manifest.program_bytes();
        if memmem::find(&program, &id).is_some() {
            return Ok(InPlace::Ours);
        }
        if memmem::find(&program, RUNTIME).is_some() {
            let beside = self.compare_with_copy_beside(&manifest, &program);
            return Ok(beside.unwrap_or(InPlace::OtherBuild));
        }
        // A copy of which no path is counted has no id, nor has what was stripped of it.
        Ok(match built.first() {
            Some(first) if memmem::find(&read(first)?, &id).is_some() => InPlace::Newer,
            _ => InPlace::Ours,
        })
    }

    /// What `program` is, if it is a copy in the folder beside the program: a compiler linked it that knew no output
    /// folder, of a suite's command or of a build system that was configured with p3-cc. Of the same modules, it is the
    /// same program: some suites link programs again although no source changed.
    fn compare_with_copy_beside(&self, manifest: &Manifest, program: &[u8]) -> Option<InPlace> {
        let mut name = self.program.as_os_str().to_os_string();
        name.push(".p3");
        let linked_at =
            |r: &Record| std::fs::metadata(r.folder.join(NAME)).and_then(|m| m.modified());
        let beside = Record::read(Path::new(&name)).ok()?;
        let other = Manifest::read(&beside.manifest()).ok()?;
        if memmem::find(program, &other.program_bytes()).is_none() {
            None
        } else if other.modules == manifest.modules {
            Some(InPlace::Ours)
        } else {
            let is_newer = linked_at(&beside).ok()? > linked_at(self).ok()?;
            is_newer.then_some(InPlace::Newer)
        }
    }

    /// Holds that the program is where the folder of its record says: `build/a` below some folder, if that is
    /// `build/a.p3` below some other; and that the first of these is the working folder, one around it, or one around
    /// the record. Whoever edits a record cannot have other files replaced. A link may lead elsewhere if what is there
    /// is ours, byte for byte.
    ///
    /// # Errors
    /// The program is elsewhere.
    pub fn check_place(&self) -> Result<()> {
        let refused = || {
            let program = self.program.display();
            let problem = format!(
                "it names a program that is not of this folder, {program}; nothing is written there"
            );
            let remedy = "run this in the folder of the build, or build the program again";
            Error::profile(self.folder.join(NAME), problem, remedy)
        };
        let is_plain = |c: Component| matches!(c, Component::RootDir | Component::Normal(_));
        if !self.program.is_absolute() || !self.program.components().all(is_plain) {
            return Err(refused());
        }
        let here = std::env::current_dir().map_err(|e| Error::read(".", e))?;
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| here.join(&self.folder));
        let mut name = self.program.as_os_str().to_os_string();
        name.push(".p3");
        let name = PathBuf::from(name);
        let ends = name.components().rev().zip(folder.components().rev());
        // A folder beside its program is called like it up to the root.
        let most = self.program.ancestors().count() - 1;
        let equal = ends.take(most).take_while(|(a, b)| a == b).count();
        let Some(root) = self.program.ancestors().nth(equal).filter(|_| equal > 0) else {
            return Err(refused());
        };
        let whole = |path: &Path| path.canonicalize().ok();
        let is_around = |path: &Path| {
            path.starts_with(root)
                || whole(path)
                    .zip(whole(root))
                    .is_some_and(|(p, r)| p.starts_with(r))
        };
        if ![&here, &folder].into_iter().any(|path| is_around(path)) {
            return Err(refused());
        }
        let parent = self.program.parent().and_then(whole);
        let is_below = parent
            .zip(whole(root))
            .is_none_or(|(p, r)| p.starts_with(r));
        if is_below || self.is_in_place() {
            Ok(())
        } else {
            Err(refused())
        }
    }

    /// Whether the native program or one of its copies is in its place, byte for byte.
    fn is_in_place(&self) -> bool {
        let copies = (0..self.copies).map(|copy| self.copy(copy));
        let mut all = copies.chain([self.folder.join("bin/native")]);
        let program = std::fs::read(&self.program).ok();
        program.is_some_and(|there| all.any(|file| std::fs::read(file).is_ok_and(|b| b == there)))
    }

    /// Whether the copies are of an earlier program than the one in place, as far as can be said.
    pub fn is_outdated(&self) -> bool {
        matches!(self.inspect_place(), Ok(InPlace::Newer))
    }

    /// Its manifest.
    pub fn manifest(&self) -> PathBuf {
        self.folder.join("manifest.json")
    }

    /// The folder to which its processes write, unless the environment says otherwise.
    pub fn raw(&self) -> PathBuf {
        self.folder.join("raw")
    }

    /// Makes that, which the runtime would make, and tell the program's user where that is worth telling; and in it the
    /// folder where processes of other users, which cannot write what they count, may say so.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make_raw_folder(&self) -> Result<()> {
        let absent = self.raw().join(absent::FOLDER);
        let everybody = Permissions::from_mode(0o1777);
        let made = std::fs::create_dir_all(&absent)
            .and_then(|()| std::fs::set_permissions(&absent, everybody));
        made.map_err(|e| Error::write(absent, e))
    }

    /// Puts a copy in the place of `program`, with the time and the permissions of what was there: no build system sees
    /// a difference. A program with fewer copies is native in the rounds that it has none for: no run counts twice.
    ///
    /// # Errors
    /// The program, or the copy, is not there.
    pub fn place(&self, program: &Path, copy: u32) -> Result<()> {
        let from = if copy < self.copies {
            self.copy(copy)
        } else {
            self.folder.join("bin/native")
        };
        if !from.is_file() {
            let problem = "this copy was not built";
            return Err(Error::load(from, problem, "build it without --only"));
        }
        let there = std::fs::metadata(program).map_err(|e| Error::read(program, e))?;
        let folder = self.program.parent().unwrap_or(Path::new("/"));
        let mut bytes = File::open(&from).map_err(|e| Error::read(&from, e))?;
        let mut write = || -> std::io::Result<()> {
            let mut new = tempfile::Builder::new()
                .prefix(".p3-")
                .tempfile_in(folder)?;
            std::io::copy(&mut bytes, new.as_file_mut())?;
            let times = FileTimes::new().set_modified(there.modified()?);
            new.as_file()
                .set_times(times.set_accessed(there.accessed()?))?;
            new.as_file().set_permissions(there.permissions())?;
            new.persist(program).map(drop).map_err(|e| e.error)
        };
        write().map_err(|e| Error::write(program, e))
    }
}

/// The name of the file that says why a program has no copies.
const FAILURE: &str = "failure.json";

/// Why a program that was linked has no copies: build systems and rustc may swallow what a compiler prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The program.
    pub program: PathBuf,
    /// What is wrong, and the remedy.
    pub reason: String,
}

impl Failure {
    /// Writes it into the folder of the program's copies, where a record is no more.
    ///
    /// # Errors
    /// That is not possible.
    pub fn write(&self, folder: &Path) -> Result<()> {
        forget_copies(folder);
        std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
        let mut json = serde_json::to_vec_pretty(self).expect("a failure serialises");
        json.push(b'\n');
        write_whole(&folder.join(FAILURE), &json)
    }
}

/// Removes what says that a program has copies, or why not: it is linked anew.
pub fn forget_copies(folder: &Path) {
    for name in [NAME, FAILURE] {
        let _ = std::fs::remove_file(folder.join(name));
    }
}

/// Why programs below `folders` have no copies, by program, with the time at which they were linked.
pub fn find_failures(folders: &[PathBuf]) -> Vec<(Failure, SystemTime)> {
    let walks = folders
        .iter()
        .map(|f| WalkDir::new(f).into_iter().flatten());
    let files = walks.flatten().filter(|e| e.file_name() == FAILURE);
    let read = |e: DirEntry| -> Option<(Failure, SystemTime)> {
        let failure = serde_json::from_slice(&std::fs::read(e.path()).ok()?).ok()?;
        Some((failure, e.metadata().ok()?.modified().ok()?))
    };
    let mut found: Vec<_> = files.filter_map(read).collect();
    found.retain(|(f, _)| f.program.is_file());
    found.sort_by(|a, b| a.0.program.cmp(&b.0.program));
    found.dedup_by(|a, b| a.0.program == b.0.program);
    found
}

/// Where else below `root` files are, byte for byte, copies of programs: build systems copy and install what they
/// linked. Each with the position of its record. O(files), and a look at those of the same size.
///
/// # Errors
/// A copy of a program cannot be read.
pub fn find_elsewhere(root: &Path, programs: &[Record]) -> Result<Vec<(usize, PathBuf)>> {
    let mut by_size: HashMap<u64, Vec<(usize, PathBuf)>> = HashMap::new();
    for (i, program) in programs.iter().enumerate() {
        let copies = (0..program.copies).map(|c| program.copy(c));
        for copy in copies.filter(|c| c.is_file()) {
            let size = std::fs::metadata(&copy)
                .map_err(|e| Error::read(&copy, e))?
                .len();
            by_size.entry(size).or_default().push((i, copy));
        }
    }
    let mut found = Vec::new();
    let walk = WalkDir::new(root).sort_by_file_name().into_iter();
    let ours = |e: &DirEntry| e.file_type().is_dir() && e.path().join(NAME).is_file();
    // What cannot be looked at is no program that a suite runs.
    for entry in walk.filter_entry(|e| !ours(e)).flatten() {
        let size = entry
            .metadata()
            .ok()
            .filter(|m| m.is_file())
            .map(|m| m.len());
        let Some(copies) = size.and_then(|s| by_size.get(&s)) else {
            continue;
        };
        let Ok(bytes) = std::fs::read(entry.path()) else {
            continue;
        };
        for (program, copy) in copies {
            if std::fs::read(copy).map_err(|e| Error::read(copy, e))? == bytes {
                found.push((*program, entry.into_path()));
                break;
            }
        }
    }
    Ok(found)
}

/// The records below `folders`, by program; of several builds of one program the newest, of folders that were not
/// moved if there is one. Folders inside those of programs are not searched.
///
/// # Errors
/// A folder or a record cannot be read.
pub fn find(folders: &[PathBuf]) -> Result<Vec<Record>> {
    let mut found: Vec<((bool, SystemTime), Record)> = Vec::new();
    for root in folders {
        let mut walk = WalkDir::new(root).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let entry = entry.map_err(|e| Error::walk(root, e))?;
            let file = entry.path().join(NAME);
            if entry.file_type().is_dir() && file.is_file() {
                let metadata = file.metadata().and_then(|m| m.modified());
                let built = metadata.map_err(|e| Error::read(&file, e))?;
                let record = Record::read(entry.path())?;
                found.push(((record.moved_from().is_none(), built), record));
                walk.skip_current_dir();
            }
        }
    }
    found.sort_by(|(a, p), (b, q)| p.program.cmp(&q.program).then(b.cmp(a)));
    found.dedup_by(|(_, a), (_, b)| a.program == b.program);
    Ok(found.into_iter().map(|(_, record)| record).collect())
}
