//! A link: the program as the compiler makes it, its copies, and one of them in its place.

use super::arguments::{CommandLine, Word};
use super::modules::{self, Found, Module};
use super::record::Record;
use super::runtime::{Runtime, Target};
use super::trace::{self, Linked};
use super::{Compiler, EMBED, Settings, claim, first_error, not_loaded, our_program};
use crate::error::{Error, Result};
use crate::load::container::Member;
use crate::manifest::Manifest;
use crate::names::printable;
use crate::output;
use ar_archive_writer::{
    ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream,
};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
}

/// Links `line`; the exit status of the compiler.
pub(super) fn link(compiler: &Compiler, line: &CommandLine, settings: &Settings) -> Result<u8> {
    let work = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
    let (words, names) = match compile_sources(compiler, line, work.path())? {
        Ok(compiled) => compiled,
        Err(status) => return Ok(status),
    };
    let arguments: Vec<String> = words.iter().flat_map(Word::arguments).collect();
    let mut clang = compiler.command();
    clang
        .args(&arguments)
        .arg(trace::OPTION)
        .stderr(Stdio::inherit());
    let native = clang.output().map_err(|e| compiler.failed(&e))?;
    let told = String::from_utf8_lossy(&native.stdout);
    let (linked, other) = trace::parse(&told);
    for line in other {
        anstream::println!("{line}");
    }
    let status = compiler.ran(Ok(native.status))?;
    let output = line.output().unwrap_or("a.out");
    if status != 0 || is_bare(line) || output.starts_with("/dev/") {
        return Ok(status);
    }
    let program = std::fs::canonicalize(output).map_err(|e| Error::read(output, e))?;
    let folder = settings.folder(&program);
    let copies = || -> Result<()> {
        let found = Found::new(&linked, &names, settings.rust.as_deref())?;
        if found.modules.is_empty() {
            return Ok(());
        }
        let shared = line.has("-shared");
        let link = Link {
            compiler,
            settings,
            words,
            sources: &names,
            program,
            folder: folder.clone(),
            found,
            work: work.path(),
            shared,
        };
        link.copies(&line.arguments())
    };
    if let Err(e) = copies() {
        // What is there now is no copy.
        let _ = std::fs::remove_file(folder.join(super::record::NAME));
        anstream::eprintln!(
            "p3-cc: warning: {}: not profiled: {}",
            printable(output),
            printable(&e.to_string())
        );
    }
    Ok(0)
}

impl Settings {
    /// The folder of a program: beside it, or at the same place below `P3_OUT`.
    fn folder(&self, program: &Path) -> PathBuf {
        let mut name = program.as_os_str().to_os_string();
        name.push(".p3");
        let Some(out) = &self.out else {
            return name.into();
        };
        let name = Path::new(&name);
        let below = name.strip_prefix(&self.root).or(name.strip_prefix("/"));
        out.join(below.unwrap_or(name))
    }
}

type Compiled = (Vec<Word>, HashMap<String, String>);

/// Compiles the sources among the words of a link, one by one. The words with objects in their places, and the names of these by
/// those of the sources; or the exit status of the compiler.
fn compile_sources(
    compiler: &Compiler,
    line: &CommandLine,
    work: &Path,
) -> Result<Result<Compiled, u8>> {
    let mut names = HashMap::new();
    let mut words = Vec::new();
    let options = line.words.iter().filter(|w| matches!(w, Word::Option(_)));
    let options: Vec<String> = options.flat_map(Word::arguments).collect();
    for word in &line.words {
        match word {
            Word::Language(_) => {}
            Word::Source { file, language } => {
                let object = work.join(format!("source-{}.o", names.len()));
                let mut clang = compiler.command();
                clang
                    .args(&options)
                    .args(dependencies(line))
                    .args(["-Wno-unused-command-line-argument", "-c"]);
                if let Some(language) = language {
                    clang.args(["-x", language]);
                }
                let status = clang.arg(file).arg("-o").arg(&object).args(EMBED).status();
                let status = compiler.ran(status)?;
                if status != 0 {
                    return Ok(Err(status));
                }
                claim(&object)?;
                let object = object.to_string_lossy().into_owned();
                names.insert(object.clone(), modules::relative(file));
                words.push(Word::Input(object));
            }
            other => words.push(other.clone()),
        }
    }
    Ok(Ok((words, names)))
}

/// Where rules of dependencies go and what they are for, when sources are compiled and linked at once.
fn dependencies(line: &CommandLine) -> Vec<String> {
    if !(line.has("-MD") || line.has("-MMD")) {
        return Vec::new();
    }
    let program = line.output().unwrap_or("a.out");
    let mut more = Vec::new();
    if !line.has("-MF") {
        let rules = Path::new(program).with_extension("d");
        more.extend(["-MF".to_string(), rules.to_string_lossy().into_owned()]);
    }
    if !line.has("-MT") && !line.has("-MQ") {
        more.extend(["-MT".to_string(), program.to_string()]);
    }
    more
}

impl Link<'_> {
    fn copies(&self, command: &[String]) -> Result<()> {
        let inputs = self.scratch("inputs")?;
        let scratch = self.scratch("embedded")?;
        modules::optimise(&self.found.modules, self.compiler, &inputs, &scratch)?;
        self.rewrite(&inputs)?;
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
            vec![self.settings.copy % manifest.copies]
        } else {
            (0..manifest.copies).collect()
        };
        self.generate(&modules, &copies)?;
        let mut modules_of = self.found.modules.iter();
        let target = Target {
            compiler: self.compiler,
            folder: &self.folder,
            scheme: manifest.scheme,
            shared: self.shared,
            triple: modules_of.find_map(|m| modules::value(&m.embedded.flags, "-triple")),
            align: output::alignment(&manifest).max(self.least_alignment()),
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
        let record = Record::new(
            &self.folder,
            self.program.clone(),
            manifest.copies,
            left.collect(),
            command.collect(),
        );
        record.make_raw_folder()?;
        record.write()?;
        record.place(&self.program, self.settings.copy)
    }

    /// As `first/align.c` has it: the C library's code in the program counts for the size of that.
    fn least_alignment(&self) -> u64 {
        let is_static =
            |w: &Word| matches!(w, Word::Option(words) if words[0].starts_with("-static"));
        if self.words.iter().any(is_static) {
            1 << 20
        } else {
            0
        }
    }

    /// A new folder of this link's.
    fn scratch(&self, name: &str) -> Result<PathBuf> {
        let path = self.work.join(name);
        std::fs::create_dir_all(&path).map_err(|e| Error::write(&path, e))?;
        Ok(path)
    }

    fn rewrite(&self, inputs: &Path) -> Result<()> {
        let mut rewrite = Command::new(our_program("p3-rewrite").unwrap_or("p3-rewrite".into()));
        rewrite.arg(inputs).arg("-o").arg(&self.folder);
        rewrite
            .args(["-q", "-k", &self.settings.copies.to_string()])
            .args(&self.settings.flags);
        let run = rewrite.stdin(Stdio::null()).output();
        let run =
            run.map_err(|e| Error::Usage(format!("p3-rewrite: {e}; install it beside p3-cc")))?;
        not_loaded(&run).map_or(Ok(()), |why| Err(Error::Usage(why)))?;
        succeeded(&run, "p3-rewrite failed")
    }

    fn object(&self, copy: u32, module: usize) -> PathBuf {
        self.folder.join(format!("obj/copy-{copy}/m{module}.bc.o"))
    }

    /// Code for every module of every copy.
    fn generate(&self, modules: &[&Module], copies: &[u32]) -> Result<()> {
        for copy in copies {
            let folder = self.folder.join(format!("obj/copy-{copy}"));
            std::fs::create_dir_all(&folder).map_err(|e| Error::write(folder, e))?;
        }
        let all = copies
            .iter()
            .flat_map(|c| (0..modules.len()).map(move |m| (*c, m)));
        let all: Vec<(u32, usize)> = all.collect();
        all.par_iter().try_for_each(|(copy, m)| {
            let bitcode = self
                .folder
                .join(format!("copy-{copy}"))
                .join(output::module_name(*m, "bc"));
            modules::generate(
                modules[*m],
                self.compiler,
                &bitcode,
                &self.object(*copy, *m),
            )
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
        let run = clang.arg("-o").arg(&part).arg(trace::OPTION).output();
        let run = run.map_err(|e| self.compiler.failed(&e))?;
        succeeded(&run, "a copy cannot be linked")?;
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

    /// The archives with objects of a copy in the places of their members, by the names under which the linker found them.
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
                let problem = "the linker found it otherwise than on its command line, and no copy can take its place";
                return Err(Error::Usage(format!("{name}: {problem}; name it there")));
            }
        }
        Ok(())
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
    for (from, Member { name, bytes, .. }) in modules::numbered(archive, members) {
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

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to)
        .map(drop)
        .map_err(|e| Error::write(to, e))
}

pub(super) fn succeeded(run: &Output, problem: &str) -> Result<()> {
    if run.status.success() {
        return Ok(());
    }
    let all = String::from_utf8_lossy(&run.stderr);
    let last = || all.lines().last().unwrap_or_default().to_string();
    let said = first_error(run).unwrap_or_else(last);
    let said = said.trim_start_matches("error: ");
    Err(Error::Usage(format!("{problem}: {said}")))
}
