//! A link: the program as the compiler makes it, its copies, and one of them in its place.

pub(crate) mod compile;
mod modules;
mod runtime;
pub(crate) mod trace;
pub mod unlinked;

use super::cc::Given;
use super::cc::arguments::CommandLine;
use super::cc::clang::{Compiler, Compilers};
use super::cc::settings::{LINES_ADDED, Settings, selects_paths};
use super::cc::word::Word;
use super::interrupt::Scratch;
use super::record::{Failure, Record};
use super::tools::{not_loaded, our_program, require_success};
use crate::base::error::{Error, Result};
use crate::base::names::printable;
use crate::copies::strategy::Scheme;
use crate::input::load::container::Member;
use crate::profile::manifest::Manifest;
use crate::write::output;
use ar_archive_writer::{
    ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream,
};
use compile::StandardInput;
use modules::{Found, Module};
use rayon::prelude::*;
use runtime::{CLibrary, Runtime, Target};
use rustix::fs::{FlockOperation, flock};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use trace::Linked;

/// Whether a link has no C library, and so no place for the runtime. rustc names all libraries itself.
fn is_bare(line: &CommandLine) -> bool {
    let without_libraries = line.has("-nodefaultlibs") && !line.has("-lc");
    line.has("-nostdlib") || line.has("-nostartfiles") || without_libraries
}

/// What a link is done with.
struct Link<'a> {
    compiler: &'a Compiler,
    settings: &'a Settings,
    /// The words of the command; sources are objects by now.
    words: Vec<Word>,
    /// What the sources are called that were compiled for this link, by their objects.
    sources: &'a HashMap<String, String>,
    /// Where the program is to be.
    program: PathBuf,
    /// Its folder.
    folder: PathBuf,
    found: Found,
    /// Files of this link alone.
    work: &'a Path,
    shared: bool,
    /// The C library is a shared one.
    libc: CLibrary,
    /// The command names all libraries itself (`-nodefaultlibs`), as rustc does.
    names_libraries: bool,
}

/// Links; the exit status of the compiler.
pub(super) fn link(compiler: &Compiler, given: &Given, settings: &Settings) -> Result<u8> {
    let line = &given.line;
    let work = Scratch::new().map_err(|e| Error::write(std::env::temp_dir(), e))?;
    let input = StandardInput::capture(line.reads_stdin(), work.path())?;
    let has_sources = line.sources().next().is_some();
    if !has_sources && line.misses_input() {
        // The option by which the linker reports would be an input, and clang say less than it does.
        return Err(compiler.become_it(&given.words));
    }
    let (status, mut linked) = if has_sources {
        // First as it would have been: side files, messages and what is put into the program are clang's.
        let status = compiler
            .command()
            .args(&given.words)
            .stdin(input.open()?)
            .status();
        (compiler.ran(status)?, Vec::new())
    } else {
        link_with_trace(compiler, &given.words)?
    };
    let output = line.output().unwrap_or("a.out".into());
    // A device, as /dev/null, is no program. (Below /dev there are files as well: /dev/shm.)
    let is_device = std::fs::metadata(&output).is_ok_and(|m| !m.is_file());
    if status != 0 || is_device {
        return Ok(status);
    }
    let program = std::fs::canonicalize(&output).map_err(|e| Error::read(&output, e))?;
    unlinked::note_link(settings, &program, line, &linked);
    if is_bare(line) {
        return Ok(status);
    }
    let folder = settings.folder(&program);
    let mut copies = || -> Result<()> {
        let native = Identity::read(&program)?;
        let mut words = line.words.clone();
        let mut names = HashMap::new();
        if has_sources {
            (words, names) = compile_sources(compiler, given, settings, &input, work.path())?;
            linked = trace_objects(compiler, &words, work.path())?;
            unlinked::note_link(settings, &program, line, &linked);
        }
        let found = Found::new(&linked, &names, settings.rust.as_deref())?;
        if found.modules.is_empty() {
            super::record::forget(&folder);
            return Ok(());
        }
        let _lock = lock(&folder)?;
        if Identity::read(&program)? != native {
            // Another link of the same program came between: it makes the copies.
            return Ok(());
        }
        super::record::forget(&folder);
        let shared = line.has("-shared");
        let link = Link {
            compiler,
            settings,
            words,
            sources: &names,
            program: program.clone(),
            folder: folder.clone(),
            found,
            work: work.path(),
            shared,
            libc: c_library(&linked, shared),
            names_libraries: line.has("-nodefaultlibs"),
        };
        link.copies(&line.arguments())
    };
    if let Err(e) = copies() {
        leave_without_copies(&output, program, &folder, &e.to_string());
    }
    Ok(0)
}

/// Notes that what was linked, which the command calls `output`, is no copy, and says why.
fn leave_without_copies(output: &str, program: PathBuf, folder: &Path, reason: &str) {
    let reason = printable(reason).into_owned();
    anstream::eprintln!(
        "p3-cc: warning: {}: not profiled: {reason}",
        printable(output)
    );
    // Where the folder cannot be written, that is the reason.
    let _ = Failure { program, reason }.write(folder);
}

/// Links as clang does, what cannot have copies for this `reason`; the exit status of the compiler.
pub(super) fn link_without_copies(
    compiler: &Compiler,
    arguments: &[String],
    line: &CommandLine,
    settings: &Settings,
    reason: &str,
) -> Result<u8> {
    let status = compiler.ran(compiler.command().args(arguments).status())?;
    let output = line.output().unwrap_or("a.out".into());
    if status == 0
        && let Ok(program) = std::fs::canonicalize(&output)
        && program.is_file()
    {
        let folder = settings.folder(&program);
        leave_without_copies(&output, program, &folder, reason);
    }
    Ok(status)
}

/// Forgets copies of a program that is linked without.
pub(super) fn forget(line: &CommandLine, settings: &Settings) {
    let output = line.output().unwrap_or("a.out".into());
    if let Ok(program) = std::fs::canonicalize(output) {
        super::record::forget(&settings.folder(&program));
    }
}

/// Links objects as they are given; the exit status, and what the linker took.
fn link_with_trace(compiler: &Compiler, words: &[String]) -> Result<(u8, Vec<Linked>)> {
    let mut clang = compiler.command();
    // In front: behind a `--` it would be a file.
    clang
        .arg(trace::OPTION)
        .args(words)
        .stderr(Stdio::inherit());
    let native = clang.output().map_err(|e| compiler.failed(&e))?;
    let told = String::from_utf8_lossy(&native.stdout);
    let (linked, other) = trace::parse(&told);
    for line in other {
        anstream::println!("{line}");
    }
    Ok((compiler.ran(Ok(native.status))?, linked))
}

/// What the linker takes of these words, where sources became objects: the program goes to a scratch file.
fn trace_objects(compiler: &Compiler, words: &[Word], work: &Path) -> Result<Vec<Linked>> {
    let mut clang = compiler.command();
    clang.args([trace::OPTION, "-w"]);
    clang.args(modules::replaced(words, &HashMap::new()));
    clang.arg("-o").arg(work.join("traced"));
    let run = clang.output().map_err(|e| compiler.failed(&e))?;
    require_success(&run, "linking the program a second time failed")?;
    let told = String::from_utf8_lossy(&run.stdout);
    Ok(trace::parse(&told).0)
}

/// What tells a file from a later one of its name.
#[derive(PartialEq, Eq)]
struct Identity(u64, u64, i64, i64);

impl Identity {
    fn read(program: &Path) -> Result<Identity> {
        let m = std::fs::metadata(program).map_err(|e| Error::read(program, e))?;
        Ok(Identity(m.ino(), m.len(), m.mtime(), m.mtime_nsec()))
    }
}

/// Waits for other links of the same program: what is in a folder is of one of them.
fn lock(folder: &Path) -> Result<File> {
    let locked = || -> std::io::Result<File> {
        std::fs::create_dir_all(folder)?;
        let lock = File::open(folder)?;
        match flock(&lock, FlockOperation::LockExclusive) {
            // Not every file system has locks.
            Err(e) if e.kind() != std::io::ErrorKind::Unsupported => Err(e.into()),
            _ => Ok(lock),
        }
    };
    locked().map_err(|e| Error::write(folder, e))
}

type Compiled = (Vec<Word>, HashMap<String, String>);

/// Compiles the sources among the words of a link, one by one. The words with objects in their places, and the names of
/// these by those of the sources.
fn compile_sources(
    compiler: &Compiler,
    given: &Given,
    settings: &Settings,
    input: &StandardInput,
    work: &Path,
) -> Result<Compiled> {
    let mut names = HashMap::new();
    let mut words = Vec::new();
    for word in &given.line.words {
        match word {
            Word::Language(_) => {}
            Word::Source { file, .. } => {
                let object = work.join(format!("source-{}.o", names.len()));
                compile::compile_for_copies(compiler, given, word, input, &object)?;
                if compile::adds_lines(given, word) {
                    settings.note(LINES_ADDED);
                }
                let object = object.to_string_lossy().into_owned();
                names.insert(object.clone(), modules::without_parents(file));
                words.push(Word::Input(object));
            }
            other if other.writes_beside_link() => {}
            other => words.push(other.clone()),
        }
    }
    Ok((words, names))
}

impl Link<'_> {
    fn copies(&self, command: &[String]) -> Result<()> {
        let inputs = self.scratch("inputs")?;
        let scratch = self.scratch("embedded")?;
        modules::optimise(&self.found.modules, self.compiler, &inputs, &scratch)?;
        let warnings = self.rewrite(&inputs)?;
        let manifest = Manifest::read(&self.folder.join("manifest.json"))?;
        let by_name: HashMap<&str, &Module> = self
            .found
            .modules
            .iter()
            .map(|m| (m.name.as_str(), m))
            .collect();
        let modules: Vec<&Module> = manifest
            .modules
            .iter()
            .map(|m| by_name[m.name.as_str()])
            .collect();
        let copies: Vec<u32> = if self.settings.only {
            Vec::from_iter((self.settings.copy < manifest.copies).then_some(self.settings.copy))
        } else {
            (0..manifest.copies).collect()
        };
        self.generate(&modules, &copies, manifest.scheme)?;
        let mut modules_of = self.found.modules.iter();
        let target = Target {
            compiler: self.compiler,
            folder: &self.folder,
            scheme: manifest.scheme,
            shared: self.shared,
            libc: self.libc,
            sanitized: self.has_option("-fsanitize="),
            triple: modules_of.find_map(|m| modules::value(&m.embedded.flags, "-triple")),
            align: self.alignment(&manifest),
            common: self
                .settings
                .out
                .as_ref()
                .map(|out| out.join(".p3-runtime")),
        };
        let runtime = target.compile(self.work)?;
        let link = |copy| self.link_copy(copy, &modules, &runtime);
        copies.into_par_iter().try_for_each(link)?;
        copy_file(&self.program, &self.folder.join("bin/native"))?;
        let left = self
            .found
            .left
            .iter()
            .filter(|(from, _)| self.is_named(from));
        let left = left.map(|(from, why)| {
            let from = from.to_string();
            let source = self.sources.get(&from).cloned();
            (source.unwrap_or(from), why.to_string())
        });
        let command = std::iter::once(self.compiler.path.to_string_lossy().into_owned())
            .chain(command.iter().cloned());
        let mut record = Record::new(
            &self.folder,
            self.program.clone(),
            manifest.copies,
            left.collect(),
            command.collect(),
        );
        record.warnings = warnings;
        record.make_raw_folder()?;
        record.write()?;
        record.place(&self.program, self.settings.copy)
    }

    /// What data is aligned to, if to anything. As `first/align.c` has it: the C library's code in a static program
    /// counts for the size of that.
    fn alignment(&self, manifest: &Manifest) -> Option<u64> {
        let least = if self.has_option("-static") {
            1 << 20
        } else {
            0
        };
        let align = output::alignment(manifest).max(least);
        self.settings.aligned.then_some(align)
    }

    /// Whether an option of the command begins like this.
    fn has_option(&self, begin: &str) -> bool {
        let begins = |w: &Word| matches!(w, Word::Option(words) if words[0].starts_with(begin));
        self.words.iter().any(begins)
    }

    /// A new folder of this link's.
    fn scratch(&self, name: &str) -> Result<PathBuf> {
        let path = self.work.join(name);
        std::fs::create_dir_all(&path).map_err(|e| Error::write(&path, e))?;
        Ok(path)
    }

    /// Makes the copies; what `p3-rewrite` warned of.
    fn rewrite(&self, inputs: &Path) -> Result<Vec<String>> {
        let mut rewrite = Command::new(our_program("p3-rewrite").unwrap_or("p3-rewrite".into()));
        rewrite.arg(inputs).arg("-o").arg(&self.folder);
        rewrite
            .args(["-k", &self.settings.copies.to_string()])
            .arg("--accept-unrelated-profile")
            .args(&self.settings.flags);
        if self.settings.flags.iter().any(|f| selects_paths(f)) {
            rewrite.arg("--of-a-build");
        }
        let run = rewrite.stdin(Stdio::null()).output();
        let run =
            run.map_err(|e| Error::Usage(format!("p3-rewrite: {e}; install it beside p3-cc")))?;
        not_loaded(&run).map_or(Ok(()), |why| Err(Error::Usage(why)))?;
        require_success(&run, "p3-rewrite failed")?;
        let said = String::from_utf8_lossy(&run.stderr);
        let warnings = said.lines().filter_map(|l| l.strip_prefix("warning: "));
        Ok(warnings.map(String::from).collect())
    }

    fn object(&self, copy: u32, module: usize) -> PathBuf {
        self.folder.join(format!("obj/copy-{copy}/m{module}.bc.o"))
    }

    /// Objects for every module of every copy. A module that is the native one, since no path of it
    /// is selected, has the program's own object: to compile it again would give the same code.
    fn generate(&self, modules: &[&Module], copies: &[u32], scheme: Scheme) -> Result<()> {
        for copy in copies {
            let folder = self.folder.join(format!("obj/copy-{copy}"));
            std::fs::create_dir_all(&folder).map_err(|e| Error::write(folder, e))?;
        }
        let all = copies
            .iter()
            .flat_map(|c| (0..modules.len()).map(move |m| (*c, m)));
        let all: Vec<(u32, usize)> = all.collect();
        let compilers = Compilers::new(self.compiler);
        all.par_iter().try_for_each(|(copy, m)| {
            let name = output::module_name(*m, "bc");
            let [native, bitcode] = ["native".into(), format!("copy-{copy}")]
                .map(|folder| self.folder.join(folder).join(&name));
            let (module, object) = (modules[*m], self.object(*copy, *m));
            if have_same_bytes(&native, &bitcode)? {
                let own = self.found.read_object(&module.from)?;
                return std::fs::write(&object, own).map_err(|e| Error::write(&object, e));
            }
            modules::generate(module, &compilers, scheme, &bitcode, &object)
        })
    }

    fn link_copy(&self, copy: u32, modules: &[&Module], runtime: &Runtime) -> Result<()> {
        let objects: HashMap<&Linked, PathBuf> = modules
            .iter()
            .enumerate()
            .map(|(m, module)| (&module.from, self.object(copy, m)))
            .collect();
        let libraries = self.scratch(&format!("libraries-{copy}"))?;
        let archives = self.archives(&objects, &libraries)?;
        let files = objects.iter().filter_map(|(from, object)| match from {
            Linked::File(path) => Some((path.clone(), object.clone())),
            Linked::Member { .. } => None,
        });
        let by: HashMap<String, PathBuf> = files.chain(archives).collect();
        let out = self.folder.join("bin");
        std::fs::create_dir_all(&out).map_err(|e| Error::write(&out, e))?;
        let (out, part) = (
            out.join(format!("copy-{copy}")),
            out.join(format!("copy-{copy}.part")),
        );
        let mut clang = self.compiler.command();
        // What -l names is looked for in our folder first.
        clang.args(&runtime.first).arg("-L").arg(&libraries);
        clang
            .args(modules::replaced(&self.words, &by))
            .args(&runtime.last);
        clang.args(self.libc.link_options());
        if self.names_libraries {
            // They come before the runtime, and GNU ld takes no member of an archive for what comes behind it
            // (`atexit`).
            clang.args(["-lpthread", "-ldl", "-lc"]);
        }
        let run = clang.arg("-o").arg(&part).arg(trace::OPTION).output();
        let run = run.map_err(|e| self.compiler.failed(&e))?;
        require_success(&run, "linking a copy failed").map_err(explain_renamed_symbol)?;
        self.all_there(&String::from_utf8_lossy(&run.stdout), &by, &objects)?;
        std::fs::rename(&part, &out).map_err(|e| Error::write(&out, e))
    }

    /// Whether the command names what was linked: not the compiler's own, such as the C library's start.
    fn is_named(&self, from: &Linked) -> bool {
        let (Linked::File(file) | Linked::Member { archive: file, .. }) = from;
        let library = Path::new(file)
            .file_stem()
            .and_then(|f| f.to_str()?.strip_prefix("lib"));
        let is_option = |o: &str| o.strip_prefix("-l").is_some_and(|l| Some(l) == library);
        self.words.iter().any(|w| match w {
            Word::Option(words) if words.len() == 1 && is_option(&words[0]) => true,
            _ => names(w, file),
        })
    }

    /// The archives with objects of a copy in the places of their members, by the names under which the linker found
    /// them.
    fn archives(
        &self,
        objects: &HashMap<&Linked, PathBuf>,
        folder: &Path,
    ) -> Result<Vec<(String, PathBuf)>> {
        let mut written = Vec::new();
        for (i, (archive, members)) in self.found.archives.iter().enumerate() {
            let name = Path::new(archive).file_name().unwrap_or_default();
            let path = if self.words.iter().any(|w| names(w, archive)) {
                folder.join(format!("{i}")).join(name)
            } else {
                folder.join(name)
            };
            write_archive(archive, members, objects, &path)?;
            written.push((archive.clone(), path));
        }
        Ok(written)
    }

    /// Holds that the linker took what it was given for the program's objects: a linker script may name archives, too.
    fn all_there(
        &self,
        told: &str,
        by: &HashMap<String, PathBuf>,
        objects: &HashMap<&Linked, PathBuf>,
    ) -> Result<()> {
        let (linked, _) = trace::parse(told);
        let linked: HashSet<Linked> = linked.into_iter().collect();
        for from in objects.keys() {
            let there = match from {
                Linked::File(path) => Linked::File(by[path].to_string_lossy().into_owned()),
                Linked::Member {
                    archive,
                    member,
                    nth,
                } => Linked::Member {
                    archive: by[archive].to_string_lossy().into_owned(),
                    member: member.clone(),
                    nth: *nth,
                },
            };
            if !linked.contains(&there) {
                let (Linked::File(name) | Linked::Member { archive: name, .. }) = from;
                let problem = "the linker found this file in another way than by its command line, so no copy can replace it";
                return Err(Error::Usage(format!(
                    "{name}: {problem}; name the file on the command line"
                )));
            }
        }
        Ok(())
    }
}

/// The C library among what was linked, of a library if `is_library`: as a shared one by glibc's name (behind a
/// script's) or musl's.
fn c_library(linked: &[Linked], is_library: bool) -> CLibrary {
    let name = |of: &str| {
        Path::new(of)
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
    };
    let is_shared = |linked: &Linked| {
        matches!(linked, Linked::File(file) if name(file)
            .is_some_and(|n| n.starts_with("libc.so") || n.starts_with("ld-musl-")))
    };
    let is_static = |linked: &Linked| matches!(linked, Linked::Member { archive, .. } if name(archive).is_some_and(|n| n == "libc.a"));
    if linked.iter().any(is_shared) {
        CLibrary::Shared
    } else if !is_library && linked.iter().any(is_static) {
        CLibrary::Static
    } else {
        CLibrary::Unknown
    }
}

/// The program could be linked and its copy could not: where a symbol is missing, a tool may have renamed it in an
/// object, whose bitcode has the old name.
fn explain_renamed_symbol(error: Error) -> Error {
    match error {
        Error::Usage(problem) if problem.contains("undefined") => Error::Usage(format!(
            "{problem}; if objcopy renamed it, compile its object with P3_OFF=1: bitcode in objects keeps old names"
        )),
        other => other,
    }
}

/// Whether a word of a link names `file`.
fn names(word: &Word, file: &str) -> bool {
    word.arguments().iter().any(|a| {
        a == file
            || a.strip_prefix("-Wl,")
                .is_some_and(|l| l.split(',').any(|p| p == file))
    })
}

fn write_archive(
    archive: &str,
    members: &[Member],
    objects: &HashMap<&Linked, PathBuf>,
    path: &Path,
) -> Result<()> {
    let mut new = Vec::new();
    for (from, Member { name, bytes, .. }) in modules::number_members(archive, members) {
        let bytes = match (objects.get(&from), bytes) {
            (Some(object), _) => std::fs::read(object).map_err(|e| Error::read(object, e))?,
            (None, Ok(bytes)) => bytes.clone(),
            (None, Err(_)) => continue,
        };
        new.push(NewArchiveMember::new(
            bytes,
            &DEFAULT_OBJECT_READER,
            name.clone(),
        ));
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    let mut file = std::fs::File::create(path).map_err(|e| Error::write(path, e))?;
    write_archive_to_stream(&mut file, &new, ArchiveKind::Gnu, false, None)
        .map_err(|e| Error::write(path, e))
}

fn have_same_bytes(a: &Path, b: &Path) -> Result<bool> {
    let length = |path: &Path| std::fs::metadata(path).map(|m| m.len());
    let read = |path: &Path| std::fs::read(path).map_err(|e| Error::read(path, e));
    Ok(length(a).ok() == length(b).ok() && read(a)? == read(b)?)
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to)
        .map(drop)
        .map_err(|e| Error::write(to, e))
}
