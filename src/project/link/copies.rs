//! The copies of a program that was linked: rewritten, compiled, and linked by its command.

use super::modules::{self, LinkedModules, Module};
use super::reuse::SharedObjects;
use super::runtime::{CLibrary, Runtime, RuntimeTarget};
use super::trace::{self, Linked};
use crate::base::error::{Error, Result};
use crate::profile::manifest::Manifest;
use crate::project::cc::clang::{Compiler, Compilers};
use crate::project::cc::linker;
use crate::project::cc::settings::{Settings, selects_paths};
use crate::project::cc::word::Word;
use crate::project::record::Record;
use crate::project::tools::{not_loaded, our_program, require_success};
use crate::write::output;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a link is done with.
pub(super) struct Link<'a> {
    pub compiler: &'a Compiler,
    pub settings: &'a Settings,
    /// The words of the command; sources are objects by now.
    pub words: Vec<Word>,
    /// What the sources are called that were compiled for this link, by their objects.
    pub sources: &'a HashMap<String, String>,
    /// Where the program is to be.
    pub program: PathBuf,
    /// Its folder.
    pub folder: PathBuf,
    pub found: LinkedModules,
    /// Files of this link alone.
    pub work: &'a Path,
    pub shared: bool,
    /// The C library is a shared one.
    pub libc: CLibrary,
    /// The command names all libraries itself (`-nodefaultlibs`), as rustc does.
    pub names_libraries: bool,
}

/// The value of `--update` among flags of p3-rewrite, and the other flags.
fn take_update(flags: &[String]) -> (Option<&str>, Vec<&String>) {
    let (mut update, mut others) = (None, Vec::new());
    let mut words = flags.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--update") {
            Some("") => update = words.next().map(String::as_str),
            Some(value) if value.starts_with('=') => update = Some(&value[1..]),
            _ => others.push(word),
        }
    }
    (update, others)
}

impl Link<'_> {
    /// Makes the copies of what `command` linked, and puts one in its place.
    pub(super) fn make_copies(&self, command: &[String]) -> Result<()> {
        let inputs = self.make_scratch_folder("inputs")?;
        let scratch = self.make_scratch_folder("embedded")?;
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
        self.generate(&modules, &copies, &manifest)?;
        let runtime = self.target(&manifest).compile(self.work)?;
        let link = |copy| self.link_copy(copy, &modules, &runtime);
        copies.into_par_iter().try_for_each(link)?;
        copy_file(&self.program, &self.folder.join("bin/native"))?;
        let mut record = self.write_record(manifest.copies, command);
        record.warnings = warnings;
        record.make_raw_folder()?;
        record.write()?;
        record.place(&self.program, self.settings.copy)
    }

    /// What the runtime is compiled for.
    fn target(&self, manifest: &Manifest) -> RuntimeTarget<'_> {
        let mut modules = self.found.modules.iter();
        let out = self.settings.out.as_ref();
        RuntimeTarget {
            compiler: self.compiler,
            folder: &self.folder,
            scheme: manifest.scheme,
            shared: self.shared,
            libc: self.libc,
            sanitized: self.has_option("-fsanitize="),
            triple: modules.find_map(|m| modules::value(&m.embedded.flags, "-triple")),
            align: self.alignment(manifest),
            common: out.map(|out| out.join(".p3-runtime")),
        }
    }

    /// The record of the program, with what of it has no copies, by the names of its sources.
    fn write_record(&self, copies: u32, command: &[String]) -> Record {
        let left = self.found.left.iter();
        let left = left.filter(|(from, _)| self.is_named(from));
        let left = left.map(|(from, why)| {
            let from = from.to_string();
            let source = self.sources.get(&from).cloned();
            (source.unwrap_or(from), why.to_string())
        });
        let compiler = self.compiler.path.to_string_lossy().into_owned();
        let command = std::iter::once(compiler).chain(command.iter().cloned());
        Record::new(
            &self.folder,
            self.program.clone(),
            copies,
            left.collect(),
            command.collect(),
        )
    }

    /// What data is aligned to, if to anything. As `first/align.c` has it: the C library's code in a static program
    /// counts for the size of that.
    fn alignment(&self, manifest: &Manifest) -> Option<u64> {
        let align = output::alignment(manifest);
        let is_aligned = self.settings.aligned && align > 0;
        let least = if self.has_option("-static") {
            1 << 20
        } else {
            0
        };
        is_aligned.then_some(align.max(least))
    }

    /// Whether an option of the command begins like this.
    fn has_option(&self, begin: &str) -> bool {
        let begins = |w: &Word| matches!(w, Word::Option(words) if words[0].starts_with(begin));
        self.words.iter().any(begins)
    }

    /// A new folder of this link's.
    fn make_scratch_folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.work.join(name);
        std::fs::create_dir_all(&path).map_err(|e| Error::write(&path, e))?;
        Ok(path)
    }

    /// Makes the copies; what `p3-rewrite` warned of.
    fn rewrite(&self, inputs: &Path) -> Result<Vec<String>> {
        let (update, flags) = take_update(&self.settings.flags);
        let is_left_open = update.is_none_or(|u| u == "auto");
        let early = is_left_open && self.shared && linker::names_start_or_end(&self.words);
        let flags = if early {
            flags
        } else {
            self.settings.flags.iter().collect()
        };
        let mut rewrite = Command::new(our_program("p3-rewrite").unwrap_or("p3-rewrite".into()));
        rewrite.arg(inputs).arg("-o").arg(&self.folder);
        rewrite
            .args(["-k", &self.settings.copies.to_string()])
            .arg("--accept-unrelated-profile")
            .args(flags);
        if self.settings.out.is_some() {
            rewrite.arg("--numbers");
        }
        if early {
            rewrite.args(["--update", "atomic"]);
        }
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
        let early = early.then_some(
            "-init or -fini of the linker runs code when threads have no counters in the library, so counts are \
             updated atomically, which takes longer",
        );
        Ok(warnings.chain(early).map(String::from).collect())
    }

    fn object(&self, copy: u32, module: usize) -> PathBuf {
        self.folder.join(format!("obj/copy-{copy}/m{module}.bc.o"))
    }

    /// Objects for every module of every copy. A module that is the native one, since no path of it
    /// is selected, has the program's own object: to compile it again would give the same code.
    fn generate(&self, modules: &[&Module], copies: &[u32], manifest: &Manifest) -> Result<()> {
        for copy in copies {
            let folder = self.folder.join(format!("obj/copy-{copy}"));
            std::fs::create_dir_all(&folder).map_err(|e| Error::write(folder, e))?;
        }
        let all = copies
            .iter()
            .flat_map(|c| (0..modules.len()).map(move |m| (*c, m)));
        let all: Vec<(u32, usize)> = all.collect();
        let compilers = Compilers::new(self.compiler);
        let (scheme, program) = (manifest.scheme, manifest.program_bytes());
        let shared = self.settings.out.as_ref().map(|out| {
            SharedObjects::new(out, self.compiler, compilers.version(), scheme, program)
        });
        all.par_iter().try_for_each(|(copy, m)| {
            let name = output::module_name(*m, "bc");
            let [native, bitcode] = ["native".into(), format!("copy-{copy}")]
                .map(|folder| self.folder.join(folder).join(&name));
            let (module, object) = (modules[*m], self.object(*copy, *m));
            if have_same_bytes(&native, &bitcode)? {
                let own = self.found.read_object(&module.from)?;
                return output::write_whole(&object, &own);
            }
            let folder = self.folder.join(format!("copy-{copy}"));
            let shared = shared.as_ref();
            let shared = shared.and_then(|s| Some((s, s.find(&folder, *m, &module.code_flags())?)));
            let is_there = match &shared {
                Some((shared, wanted)) => shared.reuse(wanted, &object)?,
                None => false,
            };
            if !is_there {
                modules::generate(module, &compilers, scheme, &bitcode, &object)?;
            }
            if let Some((shared, wanted)) = &shared {
                shared.share(wanted, &object);
            }
            Ok(())
        })
    }

    fn link_copy(&self, copy: u32, modules: &[&Module], runtime: &Runtime) -> Result<()> {
        let objects: HashMap<&Linked, PathBuf> = modules
            .iter()
            .enumerate()
            .map(|(m, module)| (&module.from, self.object(copy, m)))
            .collect();
        let libraries = self.make_scratch_folder(&format!("libraries-{copy}"))?;
        let archives = self.write_archives(&objects, &libraries)?;
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
            .args(modules::replace_files(&self.words, &by))
            .args(&runtime.last);
        clang.args(self.libc.link_options());
        if self.names_libraries {
            // They come before the runtime, and GNU ld takes no member of an archive for what comes behind it
            // (`atexit`).
            clang.args(["-lpthread", "-ldl", "-lc"]);
        }
        let run = clang.arg("-o").arg(&part).arg(trace::OPTION).output();
        let run = run.map_err(|e| self.compiler.run_error(&e))?;
        require_success(&run, "linking a copy failed").map_err(explain_renamed_symbol)?;
        self.check_all_taken(&String::from_utf8_lossy(&run.stdout), &by, &objects)?;
        std::fs::rename(&part, &out).map_err(|e| Error::write(&out, e))
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
