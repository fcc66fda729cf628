//! The compilers that do the work: which of those that are here.

use super::Language;
use crate::base::error::{Error, Result};
use crate::base::llvm::{self, VERSIONS};
use crate::input::engine;
use crate::project::tools::{exit_code, find_in_path, is_ours, major};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Programs that are called with a compiler and its command line, which they read: they look compilations up, or have
/// them done on other hosts.
const LAUNCHERS: [&str; 6] = ["buildcache", "ccache", "distcc", "icecc", "pump", "sccache"];

fn is_launcher(word: &str) -> bool {
    let name = Path::new(word).file_name();
    LAUNCHERS.iter().any(|l| name == Some(OsStr::new(l)))
}

/// The compiler that does the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compiler {
    pub(crate) path: PathBuf,
    /// What is called with the compiler as its first argument, such as ccache, and its own arguments.
    launcher: Vec<String>,
    /// The compiler's own arguments, that come before all others.
    first: Vec<String>,
}

impl Language {
    /// The variables that name a compiler of the language: ours, and that of build systems.
    fn variables(self) -> [&'static str; 2] {
        match self {
            Language::C => ["P3_CC", "CC"],
            Language::Cxx => ["P3_CXX", "CXX"],
        }
    }

    /// clang's name, without a version.
    fn clang(self) -> &'static str {
        match self {
            Language::C => "clang",
            Language::Cxx => "clang++",
        }
    }

    pub(crate) fn all() -> [Language; 2] {
        [Language::C, Language::Cxx]
    }

    /// `P3_CC` with what `CC` has (or for C++), where only the latter names a compiler, and that is a clang.
    pub(in crate::project) fn find_named_clang(self) -> Option<(&'static str, OsString)> {
        let [ours, theirs] = self.variables();
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let value = set(theirs).filter(|_| set(ours).is_none())?;
        let compiler = Compiler::of_words(value.clone());
        clang_name(&compiler.path).map(|_| (ours, value))
    }

    fn other_language(self) -> Language {
        match self {
            Language::C => Language::Cxx,
            Language::Cxx => Language::C,
        }
    }
}

impl Compiler {
    /// `P3_CC` or `P3_CXX`; the version under whose name we were called; `CC` or `CXX`, if that is a clang; the clang
    /// of the engine that `P3_LLVM` names; else the newest clang with an engine of its version, and the newest that an
    /// engine reads; else `clang`. If no engine is installed, one of any version counts: it is the engine that must be
    /// reported then, not clang. Where only the other language's compiler is named, the one beside it.
    pub(crate) fn find(language: Language) -> Result<Compiler> {
        let [ours, theirs] = language.variables();
        if let Some(compiler) = Compiler::of_variable(language, ours) {
            compiler.must_be_clang(ours)?;
            return Ok(compiler);
        }
        let called = std::env::args_os().next().unwrap_or_default();
        let called = Path::new(&called).file_name().unwrap_or_default();
        let called = called.to_str().filter(|n| version_in_name(n).is_some());
        if let Some(path) = called.and_then(find_in_path) {
            return Ok(Compiler::new(path));
        }
        let is_clang = |c: &Compiler| clang_name(&c.path).is_some() && !is_ours(&c.path);
        if let Some(compiler) = Compiler::of_variable(language, theirs).filter(is_clang) {
            return Ok(compiler);
        }
        let engines = engine::find_installed();
        let mut with_engine: Vec<u32> = engines.iter().map(|e| e.llvm).collect();
        if with_engine.is_empty() {
            with_engine = VERSIONS.iter().map(|v| v.major).collect();
        }
        let newest = with_engine[with_engine.len() - 1];
        let read_by_engine = llvm::clangs().filter(|v| *v <= newest);
        let versions = engine::wanted_version()?
            .into_iter()
            .chain(with_engine.iter().rev().copied())
            .chain(read_by_engine);
        let named = versions.map(|v| llvm::tool(language.clang(), v));
        let mut names = named.chain([language.clang().to_string()]);
        match names.find_map(|n| find_in_path(&n)) {
            Some(path) => Ok(Compiler::new(path)),
            None => {
                let newest = engines.last().map_or(VERSIONS[0].major, |e| e.llvm);
                let name = llvm::tool(language.clang(), newest);
                Err(Error::Usage(format!(
                    "no {name} in PATH; install it, or name one by {ours}"
                )))
            }
        }
    }

    /// Refuses a gcc that `P3_CC` or `P3_CXX` names.
    ///
    /// # Errors
    /// One is a gcc.
    pub(crate) fn check_named() -> Result<()> {
        for language in Language::all() {
            let [ours, _] = language.variables();
            if std::env::var_os(ours).is_some_and(|v| !v.is_empty()) {
                Compiler::find(language)?;
            }
        }
        Ok(())
    }

    /// One with another name than clang's is asked: gcc would refuse our options without saying why they are there, and
    /// configure scripts hide what compilers say.
    fn must_be_clang(&self, variable: &str) -> Result<()> {
        if is_clang(&self.path) || !self.is_gcc() {
            return Ok(());
        }
        let engines = engine::find_installed();
        let newest = engines.last().map_or(VERSIONS[0].major, |e| e.llvm);
        let tool = if variable == "P3_CXX" {
            "clang++"
        } else {
            "clang"
        };
        let path = self.path.display();
        Err(Error::Usage(format!(
            "{variable}={path}: this is gcc; copies need clang, of the LLVM of an engine: set {variable}={}",
            llvm::tool(tool, newest)
        )))
    }

    /// Whether it says that it is gcc, under whatever name.
    fn is_gcc(&self) -> bool {
        let mut asked = self.command();
        let asked = asked.arg("--version").stdin(Stdio::null()).output();
        let said = asked.map(|run| String::from_utf8_lossy(&run.stdout).into_owned());
        said.is_ok_and(|text| text.contains("Free Software Foundation"))
    }

    /// The compiler that a variable names; that beside the other language's, where only that is named.
    fn of_variable(language: Language, variable: &str) -> Option<Compiler> {
        let value = |name: &str| {
            let value = std::env::var_os(name).filter(|v| !v.is_empty())?;
            Some(Compiler::of_words(value))
        };
        if let Some(compiler) = value(variable) {
            return Some(compiler);
        }
        let [ours, theirs] = language.other_language().variables();
        let other = value(if variable.starts_with("P3_") {
            ours
        } else {
            theirs
        })?;
        let name = clang_name(&other.path)?;
        let version = version_in_name(name)
            .map(|v| format!("-{v}"))
            .unwrap_or_default();
        let path = other
            .path
            .with_file_name(format!("{}{version}", language.clang()));
        let is_there = if path.components().count() == 1 {
            find_in_path(&path.to_string_lossy()).is_some()
        } else {
            path.is_file()
        };
        is_there.then_some(Compiler { path, ..other })
    }

    /// A file's name, or words as a shell reads them: `ccache clang -m32`.
    fn of_words(value: OsString) -> Compiler {
        let words = value.to_str().filter(|v| !Path::new(v).is_file());
        let words = words.and_then(shlex::split).unwrap_or_default();
        if words.len() < 2 {
            return Compiler::new(value.into());
        }
        let at = words
            .iter()
            .position(|w| clang_name(Path::new(w)).is_some());
        let at = at.unwrap_or(0);
        Compiler {
            launcher: words[..at].to_vec(),
            first: words[at + 1..].to_vec(),
            ..Compiler::new(words[at].clone().into())
        }
    }

    /// A name alone is looked for in `PATH`; what is a path has to be found from other folders, too.
    fn new(path: PathBuf) -> Compiler {
        let is_name = path.components().count() == 1;
        let path = match std::path::absolute(&path) {
            Ok(absolute) if !is_name => absolute,
            _ => path,
        };
        Compiler {
            path,
            launcher: Vec::new(),
            first: Vec::new(),
        }
    }

    /// Its version of LLVM, if it prints one (`clang --version`).
    pub(crate) fn version(&self) -> Option<String> {
        let mut asked = self.command();
        let said = asked.arg("--version").stdin(Stdio::null()).output().ok()?;
        find_llvm_version(&String::from_utf8_lossy(&said.stdout))
    }

    /// Whether it is called by a program such as ccache.
    pub(crate) fn has_launcher(&self) -> bool {
        self.launcher.iter().any(|word| is_launcher(word))
    }

    /// The compiler's driver, by its launcher.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.called_by(self.launcher.iter());
        command.args(&self.first);
        command
    }

    /// The compiler without its own arguments: those are for its driver, and `-cc1` has to come first. The options of
    /// `-cc1` that a module keeps follow from them. It is called directly: distcc adds options of the driver.
    pub(crate) fn front_end(&self) -> Command {
        let kept = self.launcher.iter().filter(|word| !is_launcher(word));
        self.called_by(kept)
    }

    /// Its `PATH` is without the folders of `p3-rewrite build`: what stands before a compiler under its name, as ccache
    /// does, looks for the next of that name, and would find us.
    fn called_by<'a>(&'a self, launcher: impl Iterator<Item = &'a String>) -> Command {
        let mut words = launcher.map(OsStr::new).chain([self.path.as_os_str()]);
        let mut command = Command::new(words.next().expect("the compiler is the last"));
        command.args(words);
        let name = self.path.file_name().unwrap_or_default();
        if let Some(path) = std::env::var_os("PATH") {
            let others = std::env::split_paths(&path).filter(|dir| !is_ours(&dir.join(name)));
            command.env(
                "PATH",
                std::env::join_paths(others).expect("they were joined"),
            );
        }
        command
    }

    /// The exit status of a run: a compiler that was killed has the shell's.
    pub(crate) fn status_of_run(&self, status: std::io::Result<ExitStatus>) -> Result<u8> {
        let status = status.map_err(|e| self.run_error(&e))?;
        Ok(u8::try_from(exit_code(status)).unwrap_or(1))
    }

    /// Becomes the compiler. Returns only on failure.
    pub(crate) fn become_it(&self, arguments: &[String]) -> Error {
        let e = self.command().args(arguments).exec();
        self.run_error(&e)
    }

    pub(crate) fn run_error(&self, e: &std::io::Error) -> Error {
        let path = self.path.display();
        Error::Usage(format!("{path}: {e}; name a clang by P3_CC and P3_CXX"))
    }
}

/// The compiler of a link, and those of other versions: what is linked may be of several.
pub(crate) struct Compilers<'a> {
    link: &'a Compiler,
    /// The version of that one, if it says so.
    version: Option<u32>,
}

impl<'a> Compilers<'a> {
    /// Asks the compiler of a link for its version.
    pub(crate) fn new(link: &'a Compiler) -> Compilers<'a> {
        let version = link.version().and_then(|v| major(&v));
        Compilers { link, version }
    }

    /// The version of the link's compiler; none if that does not say so.
    pub(crate) fn version(&self) -> Option<u32> {
        self.version
    }

    /// The compiler for a module that version `writer` wrote, with the options that one was called with: of the same
    /// version, if it is here, else a newer one. It has to read what version `needed` wrote as well: an engine may be
    /// newer.
    pub(crate) fn choose(&self, writer: Option<u32>, needed: Option<u32>) -> Result<Compiler> {
        let needed = writer.max(needed);
        let (Some(own), Some(needed)) = (self.version, needed) else {
            return Ok(self.link.clone());
        };
        let here = |version: u32| Some(Compiler::new(find_in_path(&llvm::tool("clang", version))?));
        if let Some(writer) = writer.filter(|w| *w == needed && *w != own)
            && let Some(clang) = here(writer)
        {
            return Ok(clang);
        }
        if own >= needed {
            return Ok(self.link.clone());
        }
        let newer: Vec<u32> = llvm::clangs().filter(|v| *v >= needed).collect();
        let found = newer.iter().rev().find_map(|v| here(*v));
        found.ok_or_else(|| {
            let (path, clang) = (self.link.path.display(), llvm::tool("clang", needed));
            Error::Usage(format!(
                "{path} is older than LLVM {needed}, whose bitcode is to be compiled; install {clang}"
            ))
        })
    }
}

/// LLVM's version in what `clang --version` prints. Distributions put their names around it. Apple numbers its own
/// releases, and other compilers theirs, which says nothing about LLVM.
fn find_llvm_version(printed: &str) -> Option<String> {
    let (vendor, version) = printed.lines().next()?.split_once("clang version ")?;
    let version = version.split_whitespace().next()?;
    (vendor.trim() != "Apple").then(|| version.to_string())
}

/// A file's name, if it is that of a clang: with a target before it, with a version behind it.
fn clang_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let at = name.rfind("clang")?;
    let begins = at == 0 || name[..at].ends_with('-');
    let rest = name[at + "clang".len()..].trim_start_matches("++");
    let is_version = |v: &str| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let ends = rest.is_empty() || rest.strip_prefix('-').is_some_and(is_version);
    (begins && ends).then_some(name)
}

/// Whether a file is a clang, by its name.
pub(crate) fn is_clang(path: &Path) -> bool {
    clang_name(path).is_some()
}

/// The version in the name of a clang that has one.
fn version_in_name(name: &str) -> Option<u32> {
    let name = clang_name(Path::new(name))?;
    let (_, version) = name.rsplit_once('-')?;
    major(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clangs_are_known_by_their_names() {
        for (name, version) in [
            ("clang", None),
            ("clang++", None),
            ("clang-15", Some(15)),
            ("clang++-22", Some(22)),
            ("x86_64-linux-gnu-clang-22", Some(22)),
            ("/opt/llvm/bin/clang-19.1", Some(19)),
        ] {
            let path = Path::new(name);
            assert!(clang_name(path).is_some(), "{name}");
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(version_in_name(name), version, "{name}");
        }
        for other in [
            "gcc",
            "p3-cc",
            "clang-tidy-19",
            "clang-format",
            "myclang",
            "clangd",
        ] {
            assert_eq!(clang_name(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn llvm_version_is_found_in_what_vendors_print() {
        for (printed, version) in [
            ("Debian clang version 19.1.7 (3~deb12u1)", Some("19.1.7")),
            (
                "Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64",
                Some("18.1.3"),
            ),
            (
                "clang version 17.0.6 (Fedora 17.0.6-2.fc39)",
                Some("17.0.6"),
            ),
            ("Homebrew clang version 20.1.8", Some("20.1.8")),
            (
                "Android (11349228, +pgo, +lto) clang version 17.0.2 (https://a)",
                Some("17.0.2"),
            ),
            (
                "clang version 23.0.0git (https://a 0123abc)",
                Some("23.0.0git"),
            ),
            ("Apple clang version 15.0.0 (clang-1500.3.9.4)", None),
            ("gcc (Debian 12.2.0-14) 12.2.0", None),
            (
                "Intel(R) oneAPI DPC++/C++ Compiler 2024.0.0 (2024.0.0.20231017)",
                None,
            ),
            ("", None),
        ] {
            assert_eq!(find_llvm_version(printed).as_deref(), version, "{printed}");
        }
    }

    #[test]
    fn compiler_in_words_keeps_its_launcher_and_arguments() {
        let of = |words: &str| Compiler::of_words(words.into());
        let ccache = of("ccache clang-22 -m32");
        assert_eq!(ccache.path, Path::new("clang-22"));
        assert_eq!(ccache.launcher, ["ccache"]);
        assert_eq!(ccache.first, ["-m32"]);
        let words = |command: Command| -> Vec<String> {
            let all = [command.get_program()]
                .into_iter()
                .chain(command.get_args());
            all.map(|w| w.to_str().unwrap().to_string()).collect()
        };
        assert_eq!(words(ccache.command()), ["ccache", "clang-22", "-m32"]);
        assert_eq!(words(ccache.front_end()), ["clang-22"]);
        let distributed = of("nice /usr/bin/ccache distcc clang-22");
        assert_eq!(words(distributed.front_end()), ["nice", "clang-22"]);
        let plain = of("clang-22");
        assert_eq!((plain.launcher.len(), plain.first.len()), (0, 0));
        assert_eq!(of("/opt/a/clang").path, Path::new("/opt/a/clang"));
    }
}
