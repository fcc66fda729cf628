//! The output folder: self-contained, and never half-made in a way that looks finished.
//!
//! An old manifest is removed before anything else is touched, every file appears by rename, and
//! the new manifest comes last. A folder that is not ours is refused, and in one that is, only what its
//! list (`list`) names is deleted. Symbolic links inside are not followed.
#![cfg_attr(
    not(feature = "llvm"),
    allow(dead_code, reason = "only engines use all of it")
)]

mod destination;
mod list;

pub(crate) use destination::{Content, Destination, Mark, check_folder, write_files};
#[cfg(feature = "llvm")]
pub(crate) use list::is_inside;

use crate::base::error::{Error, Result};
use crate::base::llvm::LINKED;
use crate::copies::strategy::{Method, Scheme};
use crate::profile::manifest::Manifest;
use list::List;
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{BufWriter, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tempfile::NamedTempFile;

/// Files of the runtime: folder below `runtime-c`, name in the output folder, text.
macro_rules! runtime {
    ($($folder:literal $name:literal)*) => {
        &[$(($folder, $name, include_str!(concat!("../../runtime-c/", $folder, $name)))),*]
    };
}

/// The folder of what only programs of the scheme `shadow` need.
const SHADOW: &str = "shadow/";

/// The C runtime and the runner, as they are copied into the folder, in the order in which they are linked.
const RUNTIME: &[(&str, &str, &str)] = runtime! {
    "" "p3-launch.sh"
    "" "p3-run.sh"
    "core/" "p3_abi.h"
    "core/" "p3_absent.c"
    "core/" "p3_area.c"
    "core/" "p3_arena.c"
    "sampling/" "p3_chance.c"
    "core/" "p3_crc.c"
    "core/" "p3_create.c"
    "core/" "p3_encode.c"
    "core/" "p3_file.c"
    "core/" "p3_format.h"
    "sampling/" "p3_hot.c"
    "core/" "p3_internal.h"
    "core/" "p3_layout.c"
    "core/" "p3_live.c"
    "core/" "p3_name.c"
    "core/" "p3_owner.c"
    "core/" "p3_past.c"
    "core/" "p3_pool.c"
    "core/" "p3_process.c"
    "" "p3_profile.h"
    "core/" "p3_quiet.c"
    "core/" "p3_register.c"
    "core/" "p3_shift.c"
    "core/" "p3_signal.c"
    "core/" "p3_slot.c"
    "core/" "p3_started.c"
    "sampling/" "p3_subpath.c"
    "core/" "p3_table.c"
    "core/" "p3_thread_name.c"
    "core/" "p3_threads.c"
    "core/" "p3_touched.c"
    "sampling/" "p3_walker.c"
    "shadow/" "p3_budget.c"
    "shadow/" "p3_shadow.c"
    "shadow/" "p3_shadow.h"
    "shadow/" "p3_shadow_ask.c"
    "shadow/" "p3_shadow_calls.c"
    "shadow/" "p3_shadow_child.c"
    "shadow/" "p3_shadow_copies.c"
    "shadow/" "p3_shadow_files.c"
    "shadow/" "p3_shadow_jumps.c"
    "shadow/" "p3_shadow_kernel.h"
    "shadow/" "p3_shadow_cost.c"
    "shadow/" "p3_shadow_knobs.c"
    "shadow/" "p3_shadow_maps.c"
    "shadow/" "p3_shadow_memory.c"
    "shadow/" "p3_shadow_passes.c"
    "shadow/" "p3_shadow_patch.c"
    "shadow/" "p3_shadow_record.c"
    "shadow/" "p3_shadow_spare.c"
    "shadow/" "p3_shadow_system.c"
    "shadow/" "p3_shadow_twin.c"
    "shadow/" "p3_shadow_watch.c"
    "" "first/align.c"
    "" "preload/fixed_time.c"
};

/// What programs may ask of the runtime.
pub(crate) const PROFILE_H: &str = include_str!("../../runtime-c/p3_profile.h");

/// The source of the library that gives programs a clock that advances by calls, and random numbers that repeat.
pub(crate) const FIXED_TIME: &str = include_str!("../../runtime-c/preload/fixed_time.c");

/// The runner's rules; a header of variables comes before them.
const RUNNER: &str = include_str!("../../runtime-c/runner.mk");

/// The profile that weights were taken from, so that `--profile` repeats what `--train` did.
pub(crate) const WEIGHTS: &str = "weights.p3prof";

/// The ending of files that have the numbers of a module in the program: behind a digest of all else in the module, of
/// [`DIGEST`] bytes, the constant in which they are ([`crate::runtime::abi::BLOCK_SYMBOL`]). Nothing is in it if the
/// module was not changed.
pub(crate) const NUMBERS: &str = "numbers";
pub(crate) const DIGEST: usize = 32;

/// What makes a folder a finished one.
const MANIFEST: &str = "manifest.json";

/// The lock's file.
const LOCK: &str = ".p3-lock";

/// What a run writes in the folder of a copy. `work` is where the program runs.
const RUN: [&str; 11] = [
    ".lock",
    "args",
    "fixed_time.so",
    "host",
    "program",
    "raw/",
    "status",
    "stderr",
    "stdin",
    "stdout",
    "work/",
];

/// What the runner must know besides the manifest.
pub(crate) struct Linking {
    /// The names in every copy's folder of the modules that are linked.
    pub modules: Vec<String>,
    /// The names of the untouched inputs in `native/`.
    pub inputs: Vec<String>,
    /// Whether the program needs the C++ driver.
    pub cxx: bool,
}

/// The name inside the folder of the module at position `m` of the manifest. Names of inputs never become names
/// here: make and the shell see these.
pub(crate) fn module_name(m: usize, extension: &str) -> String {
    format!("m{m}.{extension}")
}

/// An output folder that is being written.
pub(crate) struct Folder {
    path: PathBuf,
    list: Mutex<List>,
    /// Held until this is dropped: the runner's commands take the same lock.
    _lock: File,
}

impl Folder {
    /// Whether `path` can become an output folder: it is missing, empty, or was one before.
    ///
    /// # Errors
    /// Something else is there.
    pub(crate) fn check_path(path: &Path) -> Result<()> {
        if let Some(file) = file_on_the_way(path) {
            let (path, file) = (path.display(), file.display());
            let message = format!("{path}: {file} is not a folder; name another folder with -o");
            return Err(Error::Usage(message));
        }
        if list::read_names(path).is_some() || Manifest::is_one(&path.join(MANIFEST)) {
            return Ok(());
        }
        let mut entries = match std::fs::read_dir(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(|e| Error::read(path, e))?,
        };
        if entries.all(|e| e.is_ok_and(|e| e.file_name() == LOCK)) {
            return Ok(());
        }
        let path = path.display();
        let problem = "is not empty, and p3-rewrite did not make it";
        let message = format!("{path}: {problem}; name a new or empty folder with -o");
        Err(Error::Usage(message))
    }

    /// Makes the folder, or takes over an old one: what its list names is deleted, the manifest first. `linking` and
    /// `copies` tell what make will write there.
    ///
    /// # Errors
    /// As [`Folder::check_path`]; another process is at work in the folder.
    pub(crate) fn begin(path: &Path, copies: u32, linking: &Linking) -> Result<Folder> {
        Self::check_path(path)?;
        std::fs::create_dir_all(path).map_err(|e| Error::write(path, e))?;
        let lock = lock_folder(path)?;
        // Meanwhile another process may have written here.
        Self::check_path(path)?;
        let old = list::read_names(path).unwrap_or_default();
        let old = [vec![MANIFEST.into()], old].concat();
        let ours: BTreeSet<&str> = old.iter().map(String::as_str).collect();
        let mut will_be = expected_names(copies, linking).into_iter();
        if let Some(other) = will_be.find(|n| !ours.contains(n.as_str()) && name_exists(path, n)) {
            return Err(not_ours(path, &other));
        }
        list::delete_files(path, &old[..1])?;
        list::delete_files(path, &old)?;
        Ok(Folder {
            path: path.to_path_buf(),
            list: Mutex::new(List::begin(
                path,
                names_by_make(copies, linking).into_iter(),
            )?),
            _lock: lock,
        })
    }

    /// Writes one file, given relative to the folder, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written; a symbolic link on the way might lead outside.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_with(name, |file| file.write_all(bytes))
    }

    /// Writes a file of the folder with all that is in another file.
    ///
    /// # Errors
    /// As [`Folder::write`], and if the other cannot be read.
    pub(crate) fn write_copy(&self, name: &str, mut of: &File) -> Result<()> {
        self.write_with(name, |file| {
            of.rewind()?;
            std::io::copy(&mut of, file).map(drop)
        })
    }

    fn write_with(
        &self,
        name: &str,
        fill: impl FnOnce(&mut File) -> std::io::Result<()>,
    ) -> Result<()> {
        write_by_rename(
            &self.add_to_list(name)?,
            fill,
            &mut name_listed_temporary(name),
        )
    }

    /// Enters a file that is going to be written in the list; its path.
    fn add_to_list(&self, name: &str) -> Result<PathBuf> {
        if let Some(link) = list::link_on_the_way(&self.path, name) {
            let link = self.path.join(link);
            let problem = "is a symbolic link, and may lead out of the output folder";
            let message = format!("{}: {problem}; remove it", link.display());
            return Err(Error::Usage(message));
        }
        let path = self.path.join(name);
        let mut list = self.list.lock().expect("nothing panics while it is held");
        // Whatever was ours has been deleted.
        if !list.has_name(name) && name_exists(&self.path, name) {
            return Err(not_ours(&self.path, name));
        }
        list.add(name).map_err(|e| Error::write(&path, e))?;
        Ok(path)
    }

    /// Writes the runtime, the runner, and the manifest under another name, so that nobody has to keep it until
    /// [`Folder::finish`].
    pub(crate) fn prepare(&self, manifest: &Manifest, linking: &Linking) -> Result<StagedManifest> {
        for (_, name, text) in RUNTIME {
            self.write(&format!("runtime/{name}"), text.as_bytes())?;
        }
        self.write("Makefile", render_runner(manifest, linking).as_bytes())?;
        let fill = |file: &mut File| {
            let mut file = BufWriter::new(file);
            serde_json::to_writer(&mut file, manifest)?;
            file.write_all(b"\n")?;
            file.flush()
        };
        let path = self.add_to_list(MANIFEST)?;
        stage_file(&path, fill, &mut name_listed_temporary(MANIFEST)).map(StagedManifest)
    }

    /// Writes the sorted list and, last of all, the manifest.
    pub(crate) fn finish(&self, StagedManifest(manifest): StagedManifest) -> Result<()> {
        let list = self.list.lock().expect("nothing panics while it is held");
        let text = list.text();
        drop(list);
        write_whole(&self.path.join(list::NAME), text.as_bytes())?;
        persist_file(manifest, &self.path.join(MANIFEST))
    }
}

/// A manifest that has everything but its name. It is gone when it is dropped.
pub(crate) struct StagedManifest(NamedTempFile);

/// Whether something has this name in the folder, a link that leads nowhere too.
fn name_exists(folder: &Path, name: &str) -> bool {
    std::fs::symlink_metadata(folder.join(name)).is_ok()
}

fn not_ours(folder: &Path, name: &str) -> Error {
    let path = folder.join(name);
    let problem = "is not p3-rewrite's, and would be replaced";
    let remedy = "move it away, or name another folder with -o";
    Error::Usage(format!("{}: {problem}; {remedy}", path.display()))
}

/// The files that will be written, as far as their names are known before.
fn expected_names(copies: u32, linking: &Linking) -> Vec<String> {
    let mut names: Vec<String> = vec!["Makefile".into()];
    names.extend(RUNTIME.iter().map(|(_, name, _)| format!("runtime/{name}")));
    names.extend(linking.inputs.iter().map(|m| format!("native/{m}")));
    let modules = |c| linking.modules.iter().map(move |m| format!("copy-{c}/{m}"));
    names.extend((0..copies).flat_map(modules));
    names
}

/// `path`, or the nearest of its parents that exists, if that is not a folder.
fn file_on_the_way(path: &Path) -> Option<&Path> {
    let found = path
        .ancestors()
        .find_map(|p| Some((p, std::fs::metadata(p).ok()?)));
    found.filter(|(_, m)| !m.is_dir()).map(|(p, _)| p)
}

/// The lock that whoever writes to the folder holds, by flock(2): it ends with the process. The file stays.
fn lock_folder(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    if std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink()) {
        list::delete_files(folder, &[LOCK.into()])?;
    }
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|e| Error::write(&path, e))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let folder = folder.display();
            let problem = "another p3-rewrite or make is running in this folder";
            let remedy = "wait for it, or name another folder with -o";
            Err(Error::Usage(format!("{folder}: {problem}; {remedy}")))
        }
        Err(TryLockError::Error(e)) if e.kind() != ErrorKind::Unsupported => {
            Err(Error::write(path, e))
        }
        _ => Ok(file),
    }
}

/// What make writes in the folder, in the terms of the list.
fn names_by_make(copies: u32, linking: &Linking) -> Vec<String> {
    let mut names: Vec<String> = [
        "profile.p3prof",
        "obj/.lock",
        "obj/align.o",
        "obj/fixed_time.so",
        // By p3-cc.
        "raw/",
        "record.json",
    ]
    .map(str::to_string)
    .into();
    names.extend(runtime_objects(Scheme::Shadow).map(|o| format!("obj/runtime/{o}.o")));
    names.extend(["run/raw/", "run/stdin"].map(str::to_string));
    let mut program = |name: &str, modules: &[String]| {
        names.push(format!("bin/{name}"));
        names.extend(modules.iter().map(|m| format!("obj/{name}/{m}.o")));
    };
    program("native", &linking.inputs);
    for c in 0..copies {
        program(&format!("copy-{c}"), &linking.modules);
    }
    // Names of equal length, as p3-run.sh makes them: a program may notice its folder's.
    let width = (copies - 1).to_string().len();
    let run = |c| RUN.map(|name| format!("run/copy-{c:0width$}/{name}"));
    names.extend((0..copies).flat_map(run));
    names
}

/// Writes a file by rename, making its folder; nothing is left behind on failure. A device or pipe
/// is written to as it is.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return std::fs::write(path, bytes).map_err(|e| Error::write(path, e));
    }
    let fill = |file: &mut File| file.write_all(bytes);
    write_by_rename(path, fill, &mut name_unlisted_temporary())
}

/// The temporary name of a file that is on no list.
fn name_unlisted_temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".p3-");
    builder
}

/// The temporary name of a file of the list, by which it is deleted after a crash.
fn name_listed_temporary(name: &str) -> tempfile::Builder<'_, 'static> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let mut builder = tempfile::Builder::new();
    builder.prefix(file).suffix(list::PART).rand_bytes(0);
    builder
}

fn write_by_rename(
    path: &Path,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
    temporary: &mut tempfile::Builder,
) -> Result<()> {
    let folder = folder_of(path);
    std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    persist_file(stage_file(path, fill, temporary)?, path)
}

/// Gives a staged file its name.
fn persist_file(file: NamedTempFile, path: &Path) -> Result<()> {
    let persisted = file.persist(path).map(drop);
    persisted.map_err(|e| Error::write(path, without_path(e.error)))
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Writes a file beside the place that it is for, in a folder that exists. It is gone when it is dropped, unless it is
/// persisted.
fn stage_file(
    path: &Path,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
    temporary: &mut tempfile::Builder,
) -> Result<NamedTempFile> {
    let folder = folder_of(path);
    let file = temporary
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(folder);
    let write = |mut file: NamedTempFile| fill(file.as_file_mut()).map(|()| file);
    file.and_then(write)
        .map_err(|e| Error::write(path, without_path(e)))
}

/// Takes the temporary file's name out of an error.
fn without_path(e: std::io::Error) -> std::io::Error {
    let text = e.to_string();
    match text.split_once(" at path ") {
        Some((bare, _)) => std::io::Error::new(e.kind(), bare.to_string()),
        None => e,
    }
}

/// The runtime's sources without their ending, as they are linked into a program. Those of shadows come first: of two
/// weak functions the linker takes the first, and shadows watch more of `prctl` than the core does.
pub(crate) fn runtime_objects(scheme: Scheme) -> impl Iterator<Item = &'static str> {
    let is_shadow = scheme.strategy().method == Method::Shadow;
    let linked = RUNTIME.iter().filter(|(_, name, _)| !name.contains('/'));
    let (of_shadows, others): (Vec<_>, Vec<_>) = linked.partition(|(folder, ..)| *folder == SHADOW);
    let linked = of_shadows.into_iter().filter(move |_| is_shadow);
    let linked = linked.chain(others);
    linked.filter_map(|(_, name, _)| name.strip_suffix(".c"))
}

/// The functions of the C library that the runtime replaces in programs that have it in themselves
/// (`runtime-c/core/p3_create.c`): those that start threads.
pub(crate) const WRAPPED: [&str; 2] = ["pthread_create", "thrd_create"];

/// The Makefile: variables, then the rules.
fn render_runner(manifest: &Manifest, linking: &Linking) -> String {
    let copies: Vec<String> = (0..manifest.copies).map(|c| c.to_string()).collect();
    let runtime: Vec<&str> = runtime_objects(manifest.scheme).collect();
    // LLVM optimises the modules once more: it would join counts at the ends of blocks that lead to one block, which
    // takes a register for the address and a move for each. And it would move values into blocks that are there for
    // a count.
    let passes = [
        "-simplifycfg-sink-common=false",
        "-instcombine-code-sinking=false",
    ];
    let passes = passes.into_iter().chain(manifest.scheme.code_options());
    let passes = passes.map(|option| format!(" -mllvm {option}"));
    format!(
        "# Written by p3-rewrite; `make help` lists the targets.\n\
         P3_COPIES := {}\nP3_MODULES := {}\nP3_INPUTS := {}\nP3_RUNTIME := {}\nP3_CXX := {}\n\
         P3_LLVM := {LINKED}\nP3_WRAPPED := {}\nP3_ALIGN ?= {}\n\
         # How counts stay what they are, one increment in memory each (docs/RUNNER.md)\nP3_PASSES ?={}\n\n{RUNNER}",
        copies.join(" "),
        linking.modules.join(" "),
        linking.inputs.join(" "),
        runtime.join(" "),
        u8::from(linking.cxx),
        WRAPPED.join(" "),
        alignment(manifest),
        passes.collect::<String>(),
    )
}

/// What parts of a program are aligned to, so that they begin at the same address in each copy however large its code
/// is: more than that code by far, as 16 bytes an instruction are, and the runtime's, unless a program is huge. No disk
/// space or memory is used for what lies between, but address space is, when a program is started even five times as
/// much: under a limit on that (`ulimit -v`) a small program starts in copies as it does without. 0 for one copy, whose
/// addresses are compared with no other's.
pub(crate) fn alignment(manifest: &Manifest) -> u64 {
    /// The runtime has 44 to 80 KiB.
    const RUNTIME: u64 = 1 << 17;
    const MOST: u64 = 1 << 26;
    if manifest.copies == 1 {
        return 0;
    }
    let blocks = manifest.functions.iter().flat_map(|f| &f.instructions);
    let instructions: u64 = blocks.map(|n| u64::from(*n)).sum();
    (instructions * 16 + RUNTIME).next_power_of_two().min(MOST)
}
