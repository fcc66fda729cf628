//! The bitcode of what was linked, optimised as it was compiled; and machine code of what was rewritten.
//!
//! Objects keep bitcode as it was before clang optimised it, and the options of `clang -cc1`. The same options optimise
//! it again, to what the object's code was made of, and make code of what was rewritten: without passes, so that a copy
//! is the program and its probes, and nothing is optimised that was not before.

use super::staged::OPTIMISED;
use super::trace::Linked;
use crate::base::error::{Error, Result};
use crate::copies::strategy::Scheme;
use crate::input::load::container::{self, Embedded, Without};
use crate::input::load::writer::{Producer, writer};
use crate::project::cc::clang::{Compiler, Compilers};
use crate::project::cc::linker;
use crate::project::cc::word::Word;
use crate::project::rust;
use crate::project::tools::complaint;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

/// A module of a program.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// Where it was linked from.
    pub(crate) from: Linked,
    /// Its name in the manifest: where its object is, or what it was compiled from.
    pub(crate) name: String,
    /// Bitcode and options.
    pub(crate) embedded: Embedded,
}

impl Module {
    /// The version of LLVM that wrote its bitcode, if that says so.
    fn writer(&self) -> Option<u32> {
        version_of(&self.embedded.bitcode)
    }

    /// The options of its compilation that say what code is made and how.
    pub(crate) fn code_flags(&self) -> Vec<String> {
        code_flags(&self.embedded.flags)
    }

    /// Whether its bitcode was optimised when its object was made, or never is.
    fn is_optimised(&self) -> bool {
        self.embedded.flags.iter().any(|f| f == OPTIMISED)
    }
}

/// The version of LLVM that wrote bitcode, if that says so.
fn version_of(bitcode: &[u8]) -> Option<u32> {
    match writer(bitcode) {
        Some(Producer::Llvm(version)) => Some(version),
        _ => None,
    }
}

/// What was linked, told apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkedModules {
    /// What can be rewritten.
    pub(crate) modules: Vec<Module>,
    /// Machine code that stays as it is, and why.
    pub(crate) left: BTreeMap<Linked, &'static str>,
    /// The members of the archives of which some are modules, whole and in order.
    pub(crate) archives: HashMap<String, Vec<container::Member>>,
}

/// Why a member of an archive is left as it is, if a linker's report does not tell which of several was linked.
pub(crate) const AMBIGUOUS: &str =
    "its archive has several members of this name, and not all of them were linked";
/// Why the output of `ld -r` is.
pub(crate) const SEVERAL: &str = "several objects were linked into it";

/// What something that was linked is.
enum Is {
    Module(Embedded),
    /// Machine code that stays as it is, and why.
    Left(&'static str),
    NoObject,
}

impl LinkedModules {
    /// Reads what was linked. `names` are the names of objects that are only of this link: those of their sources.
    /// `rust` is the target of Rust's code, if there is some.
    pub(crate) fn new(
        linked: &[Linked],
        names: &HashMap<String, String>,
        rust: Option<&str>,
    ) -> Result<LinkedModules> {
        let mut found = LinkedModules::default();
        let mut taken = HashSet::new();
        let linked = found.with_thin_archives(linked)?;
        let times = count_members(&linked);
        for from in &linked {
            match found.classify(from, &times, rust)? {
                Is::Module(embedded) => {
                    let name = names.get(&from.to_string()).cloned();
                    let name = name.or_else(|| rust::name(from));
                    let name = make_unique(name.unwrap_or_else(|| relative_name(from)), &mut taken);
                    let from = from.clone();
                    found.modules.push(Module {
                        from,
                        name,
                        embedded,
                    });
                }
                Is::Left(why) => {
                    found.left.insert(from.clone(), why);
                }
                Is::NoObject => {}
            }
        }
        found.archives.retain(|archive, _| {
            let of =
                |m: &Module| matches!(&m.from, Linked::Member { archive: a, .. } if a == archive);
            found.modules.iter().any(of)
        });
        Ok(found)
    }

    /// The object of a module, as the program was linked from it.
    pub(crate) fn read_object(&self, from: &Linked) -> Result<Vec<u8>> {
        let archive = match from {
            Linked::File(path) => return std::fs::read(path).map_err(|e| Error::read(path, e)),
            Linked::Member { archive, .. } => archive,
        };
        let mut members = number_members(archive, &self.archives[archive]);
        let found = members.find_map(|(of, member)| (of == *from).then_some(&member.bytes));
        Ok(found
            .cloned()
            .and_then(Result::ok)
            .expect("its bitcode was read"))
    }

    /// Members of thin archives are named by linkers as files, after their archives. Files that are members become
    /// that.
    fn with_thin_archives(&mut self, linked: &[Linked]) -> Result<Vec<Linked>> {
        let mut members = HashMap::new();
        for from in linked {
            let Linked::File(archive) = from else {
                continue;
            };
            if !container::is_thin(&read_beginning(archive)?) {
                continue;
            }
            for (of, member) in number_members(archive, self.members(archive)) {
                members.extend(member.path.clone().map(|path| (path, of)));
            }
        }
        let member = |from: &Linked| match from {
            Linked::File(path) => members.get(Path::new(path)).cloned(),
            Linked::Member { .. } => None,
        };
        let all = linked.iter();
        Ok(all
            .map(|l| member(l).unwrap_or_else(|| l.clone()))
            .collect())
    }

    /// The members of an archive: none, if it cannot be read.
    fn members(&mut self, archive: &str) -> &[container::Member] {
        self.archives.entry(archive.to_string()).or_insert_with(|| {
            let bytes = std::fs::read(archive).unwrap_or_default();
            container::members(Path::new(archive), &bytes).unwrap_or_default()
        })
    }

    /// What something is: Rust's code has its bitcode elsewhere.
    fn classify(&mut self, from: &Linked, times: &Times, rust: Option<&str>) -> Result<Is> {
        let Some(target) = rust else {
            return self.inspect_embedded(from, times);
        };
        if rust::is_std(from) {
            return Ok(Is::Left(rust::STD));
        }
        let rusts =
            rust::extract_embedded(from, target).map_err(|e| Error::read(from.to_string(), e))?;
        match rusts {
            Some(embedded) => {
                if let Linked::Member { archive, .. } = from {
                    self.members(archive);
                }
                Ok(Is::Module(embedded))
            }
            None => self.inspect_embedded(from, times),
        }
    }

    fn inspect_embedded(&mut self, from: &Linked, times: &Times) -> Result<Is> {
        let bytes = match from {
            Linked::File(path) if !is_object(path)? => return Ok(Is::NoObject),
            Linked::File(path) => Ok(std::fs::read(path).map_err(|e| Error::read(path, e))?),
            Linked::Member {
                archive,
                member,
                nth,
            } => {
                let times = times[&(archive.as_str(), member.as_str())];
                self.member(archive, member, *nth, times)
            }
        };
        let embedded = bytes.map(|bytes| container::extract_embedded(&bytes));
        Ok(match embedded {
            Err(why) => Is::Left(why),
            Ok(Ok(embedded)) if embedded.flags.is_empty() => {
                Is::Left("its bitcode was not written by p3-cc")
            }
            Ok(Ok(embedded)) => Is::Module(embedded),
            Ok(Err(Without::Bitcode)) => Is::Left("machine code, not compiled by p3-cc"),
            Ok(Err(Without::OneModule)) => Is::Left(SEVERAL),
        })
    }

    /// The bytes of the `nth` member of a name, of which `times` were linked: all of them, for a linker tells no more
    /// than the name.
    fn member(
        &mut self,
        archive: &str,
        member: &str,
        nth: usize,
        times: usize,
    ) -> std::result::Result<Vec<u8>, &'static str> {
        let members = self.members(archive);
        let named: Vec<_> = members.iter().filter(|m| m.name == member).collect();
        match named.get(nth) {
            Some(_) if named.len() > times => Err(AMBIGUOUS),
            Some(one) => one
                .bytes
                .clone()
                .map_err(|_| "it cannot be read in the archive"),
            None => Err("it cannot be found in the archive"),
        }
    }
}

/// How many members of an archive that have one name were linked.
type Times<'a> = HashMap<(&'a str, &'a str), usize>;

fn count_members(linked: &[Linked]) -> Times<'_> {
    let mut times = Times::new();
    for from in linked {
        if let Linked::Member {
            archive, member, ..
        } = from
        {
            *times.entry((archive, member)).or_default() += 1;
        }
    }
    times
}

/// The members of an archive as the linker would name them.
pub(crate) fn number_members<'a>(
    archive: &'a str,
    members: &'a [container::Member],
) -> impl Iterator<Item = (Linked, &'a container::Member)> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    members.iter().map(move |member| {
        let before = times.entry(&member.name).or_default();
        let nth = *before;
        *before += 1;
        let of = Linked::Member {
            archive: archive.to_string(),
            member: member.name.clone(),
            nth,
        };
        (of, member)
    })
}

/// Whether a file is an ELF object: what else is linked is shared libraries, scripts, and archives, whose members are
/// named too.
fn is_object(path: &str) -> Result<bool> {
    const E_TYPE: usize = 16;
    const ET_REL: u8 = 1;
    let header = read_beginning(path)?;
    let kind = header.get(E_TYPE..E_TYPE + 2);
    Ok(header.starts_with(b"\x7fELF") && kind.is_some_and(|k| k.contains(&ET_REL)))
}

/// The first bytes of a file.
fn read_beginning(path: &str) -> Result<Vec<u8>> {
    const ENOUGH: u64 = 64;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| Error::read(path, e))?;
    let read = file.take(ENOUGH).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|e| Error::read(path, e))
}

/// A relative name for what was linked, without `..`: that of the file, from here if it is below.
fn relative_name(from: &Linked) -> String {
    match from {
        Linked::File(file) => without_parents(file),
        Linked::Member {
            archive, member, ..
        } => {
            let member = printable_name(&member.replace('/', "_"));
            format!("{}/{member}", without_parents(archive))
        }
    }
}

/// A file's name from here if it is below, without `..` and a `/` at its beginning: what is written under that name
/// below a folder stays there.
pub(crate) fn without_parents(file: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let file = Path::new(file);
    let file = file.strip_prefix(&here).unwrap_or(file);
    let parts = file.components().filter_map(|c| match c {
        Component::Normal(part) => Some(PathBuf::from(part)),
        _ => None,
    });
    printable_name(&parts.collect::<PathBuf>().to_string_lossy())
}

fn printable_name(name: &str) -> String {
    let printable = |c: char| if c.is_control() { '_' } else { c };
    name.chars().map(printable).collect()
}

fn make_unique(name: String, taken: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let free = std::iter::once(name.clone())
        .chain(numbered)
        .find(|n| !taken.contains(n));
    let free = free.expect("numbers do not end");
    taken.insert(free.clone());
    free
}

/// Writes the modules, optimised, to files of their names below `folder`.
pub(crate) fn optimise(
    modules: &[Module],
    compiler: &Compiler,
    folder: &Path,
    scratch: &Path,
) -> Result<()> {
    let compilers = Compilers::new(compiler);
    let one = |(i, module): (usize, &Module)| {
        let bitcode = scratch.join(format!("embedded-{i}.bc"));
        let inside = |c: Component| matches!(c, Component::Normal(_));
        assert!(
            Path::new(&module.name).components().all(inside),
            "{}: leads out of the folder",
            module.name
        );
        let optimised = folder.join(&module.name);
        std::fs::create_dir_all(optimised.parent().unwrap_or(folder))
            .map_err(|e| Error::write(folder, e))?;
        if module.is_optimised() {
            return std::fs::write(&optimised, &module.embedded.bitcode)
                .map_err(|e| Error::write(&optimised, e));
        }
        let compiler = compilers.choose(module.writer(), None)?;
        std::fs::write(&bitcode, &module.embedded.bitcode)
            .map_err(|e| Error::write(&bitcode, e))?;
        let mut flags = module.code_flags();
        flags.push("-emit-llvm-bc".into());
        cc1(&compiler, &flags, &bitcode, &optimised, &module.name)
    };
    modules.par_iter().enumerate().try_for_each(one)
}

/// Makes an object of a rewritten module; the engine that wrote it may be newer than the module's compiler.
pub(crate) fn generate(
    module: &Module,
    compilers: &Compilers,
    scheme: Scheme,
    bitcode: &Path,
    object: &Path,
) -> Result<()> {
    let rewritten = version_of(&read_beginning(&bitcode.to_string_lossy())?);
    let compiler = compilers.choose(module.writer(), rewritten)?;
    let mut flags = module.code_flags();
    flags.extend(["-emit-obj", OPTIMISED].map(String::from));
    let options = scheme.code_options().flat_map(|option| ["-mllvm", option]);
    flags.extend(options.map(String::from));
    cc1(&compiler, &flags, bitcode, object, &module.name)
}

fn cc1(
    compiler: &Compiler,
    flags: &[String],
    input: &Path,
    output: &Path,
    name: &str,
) -> Result<()> {
    let mut flags = flags.to_vec();
    loop {
        let mut clang = compiler.front_end();
        clang.args(&flags).args(["-w", "-x", "ir"]);
        clang.arg(input).arg("-o").arg(output);
        let run = clang.stdin(Stdio::null()).output();
        let run = run.map_err(|e| compiler.run_error(&e))?;
        if run.status.success() {
            return Ok(());
        }
        // Options of another version's driver.
        let known = without_unknown(&flags, &String::from_utf8_lossy(&run.stderr));
        if known.len() == flags.len() {
            let said = complaint(&run);
            return Err(Error::Usage(format!(
                "{name}: {said}; compile it by {}, or with P3_OFF=1",
                compiler.path.display()
            )));
        }
        flags = known;
    }
}

/// Options without those that a compiler said it does not know.
fn without_unknown(flags: &[String], said: &str) -> Vec<String> {
    let unknown = |line: &str| {
        let (_, name) = line.split_once("unknown argument")?;
        Some(name.split('\'').nth(1)?.to_string())
    };
    let unknown: Vec<String> = said.lines().filter_map(unknown).collect();
    flags
        .iter()
        .filter(|f| !unknown.contains(f))
        .cloned()
        .collect()
}

/// The options of a compilation that say what code is made and how: not those that name other files to read or write.
fn code_flags(flags: &[String]) -> Vec<String> {
    const WITH_VALUE: [&str; 26] = [
        "-D",
        "-I",
        "-MQ",
        "-MT",
        "-U",
        "-coverage-data-file",
        "-coverage-notes-file",
        "-dependency-dot",
        "-dependency-file",
        "-diagnostic-log-file",
        "-header-include-file",
        "-idirafter",
        "-imacros",
        "-include",
        "-include-pch",
        "-internal-externc-isystem",
        "-internal-isystem",
        "-iquote",
        "-isystem",
        "-module-dependency-dir",
        "-opt-record-file",
        "-serialize-diagnostic-file",
        "-split-dwarf-file",
        "-split-dwarf-output",
        "-stack-usage-file",
        "-stats-file",
    ];
    const ALONE: [&str; 8] = [
        "-MG",
        "-MP",
        "-MV",
        "-Werror",
        "-emit-obj",
        "-fembed-bitcode=all",
        "-sys-header-deps",
        "-S",
    ];
    let mut kept = Vec::new();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        if WITH_VALUE.contains(&flag.as_str()) {
            rest.next();
        } else if !ALONE.contains(&flag.as_str()) {
            kept.push(flag.clone());
        }
    }
    kept
}

/// The value of an option of `-cc1`.
pub(crate) fn value<'a>(flags: &'a [String], option: &str) -> Option<&'a str> {
    let at = flags.iter().position(|f| f == option)?;
    flags.get(at + 1).map(String::as_str)
}

/// The words of a link with files in the places of others: of those that the linker names so, alone or inside `-Wl,`.
pub(crate) fn replace_files(words: &[Word], by: &HashMap<String, PathBuf>) -> Vec<String> {
    let one = |file: &str| match by.get(file) {
        Some(path) => path.to_string_lossy().into_owned(),
        None => file.to_string(),
    };
    let is_kept = |w: &&Word| match w {
        Word::Output(_) => false,
        Word::Option(words) => words[0] != "--",
        _ => true,
    };
    let kept = linker::without_outputs(words);
    // Without the `--` before them, names of files are no options.
    let arguments = kept.iter().filter(is_kept).flat_map(|w| match w {
        Word::Input(file) if file.starts_with('-') => vec![format!("./{file}")],
        other => other.arguments(),
    });
    let inside = |a: String| match a.strip_prefix("-Wl,") {
        Some(list) => {
            let parts: Vec<String> = list.split(',').map(one).collect();
            format!("-Wl,{}", parts.join(","))
        }
        None => one(&a),
    };
    arguments.map(inside).collect()
}

#[cfg(test)]
mod tests;
