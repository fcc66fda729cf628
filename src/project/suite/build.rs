//! A command that builds, with our compilers in the places of those that it would find.

use super::Variables;
use super::command::{execute, start};
use crate::base::error::{Error, Result};
use crate::base::llvm;
use crate::copies::copy_count::CopyCount;
use crate::project::cc::Language;
use crate::project::cc::clang::Compiler;
use crate::project::cc::settings::{CALLS, LINES_ADDED};
use crate::project::record::{self, Failure, Record};
use crate::project::remove_unused_objects;
use crate::project::tools::{find_in_path, our_program};
use crate::project::unlinked::{self, Unlinked};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;
use walkdir::WalkDir;

/// How programs are to be built.
#[derive(Clone, Debug)]
pub struct Build {
    /// How many copies of each program.
    pub copies: CopyCount,
    /// Where programs' folders go; beside the programs if not given.
    pub out: Option<PathBuf>,
    /// The one copy that is wanted, if not all are: what one of several machines runs.
    pub only: Option<u32>,
    /// More options of `p3-rewrite`.
    pub flags: Vec<String>,
    /// What else the build's environment holds.
    pub environment: Variables,
}

/// Names by which build systems call compilers: the usual ones; and those with a version or a target, if such a
/// compiler is here.
pub(crate) fn names() -> Vec<(String, Language)> {
    let usual = [
        ("cc", Language::C),
        ("gcc", Language::C),
        ("clang", Language::C),
        ("c99", Language::C),
        ("c++", Language::Cxx),
        ("g++", Language::Cxx),
        ("clang++", Language::Cxx),
    ];
    let target = |name: &str| format!("{}-linux-gnu-{name}", std::env::consts::ARCH);
    let of_target = usual.map(|(name, language)| (target(name), language));
    let clang = |v| {
        let names = [("clang", Language::C), ("clang++", Language::Cxx)];
        names.map(|(name, language)| (llvm::tool(name, v), language))
    };
    let rare = of_target.into_iter().chain(llvm::clangs().flat_map(clang));
    let there = rare.filter(|(name, _)| find_in_path(name).is_some());
    let usual = usual.map(|(name, language)| (name.to_string(), language));
    usual.into_iter().chain(there).collect()
}

impl Build {
    /// The options of `p3-rewrite`, those of the environment behind ours.
    fn all_flags(&self) -> Result<String> {
        let ours = shlex::try_join(self.flags.iter().map(String::as_str));
        let ours = ours.map_err(|e| {
            Error::Usage(format!("an option cannot be passed on: {e}; leave it out"))
        })?;
        let theirs = std::env::var("P3_FLAGS").unwrap_or_default();
        Ok([ours, theirs].join(" ").trim().to_string())
    }

    /// Runs a build's command with our compilers in the places of those that it would find: by `CC` and `CXX`, and by
    /// their usual names in `PATH`.
    ///
    /// # Errors
    /// It cannot be run; our compilers are not there.
    pub fn run(&self, command: &[String]) -> Result<Built> {
        Compiler::check_named()?;
        let began = SystemTime::now();
        let tools = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
        let here = std::env::current_dir().unwrap_or_default();
        let calls = tools.path().join("calls");
        let mut build = start(command);
        build.envs(environment(&tools)?);
        build.env(CALLS, &calls);
        build.env("P3_COPIES", self.copies.to_string());
        build.env("P3_FLAGS", self.all_flags()?);
        if let Some(copy) = self.only {
            build.env("P3_COPY", copy.to_string()).env("P3_ONLY", "1");
        }
        if let Some(out) = &self.out {
            let out = std::path::absolute(out).map_err(|e| Error::write(out, e))?;
            std::fs::create_dir_all(&out).map_err(|e| Error::write(&out, e))?;
            unlinked::prepare(&out)?;
            build.env("P3_OUT", out).env("P3_ROOT", &here);
        }
        build.envs(self.environment.iter().map(|(n, v)| (n, v)));
        let status = execute(&mut build, command)?;
        let folders = [self.out.clone().unwrap_or(here)];
        let is_new = |r: &Record| {
            let written = std::fs::metadata(r.folder.join(record::NAME)).and_then(|m| m.modified());
            written.is_ok_and(|at| at >= began)
        };
        // A configure script removes what it built to find something out.
        let there = record::find(&folders)?
            .into_iter()
            .filter(|r| r.program.is_file());
        let (programs, earlier) = there.partition(is_new);
        let mut failures = record::find_failures(&folders);
        failures.retain(|(_, at)| *at >= began);
        if let Some(out) = &self.out {
            remove_unused_objects(out)?;
        }
        let unlinked = match &self.out {
            Some(out) if status == 0 => {
                unlinked::update(out, &self.flags).unwrap_or_else(|e| Unlinked::from_problem(&e))
            }
            _ => Unlinked::default(),
        };
        let calls = std::fs::read(&calls).unwrap_or_default();
        let was_called = !calls.is_empty();
        let foreign = (!was_called).then(|| find_new_binary(began)).flatten();
        Ok(Built {
            status,
            programs,
            earlier,
            failures: failures.into_iter().map(|(f, _)| f).collect(),
            was_called,
            lines_added: calls.contains(&LINES_ADDED),
            foreign,
            unlinked,
        })
    }
}

/// What became of a build.
#[derive(Debug)]
pub struct Built {
    /// The command's exit status.
    pub status: i32,
    /// The programs that it linked in copies.
    pub programs: Vec<Record>,
    /// Those of earlier builds.
    pub earlier: Vec<Record>,
    /// Why others that it linked have no copies.
    pub failures: Vec<Failure>,
    /// Whether it called one of our compilers at all.
    pub was_called: bool,
    /// Whether what they compiled without debug information has lines in copies.
    pub lines_added: bool,
    /// Where it did not: a file of machine code that it made nevertheless.
    pub foreign: Option<PathBuf>,
    /// Sources that were compiled, and that no link took; none where the build named no output folder.
    pub unlinked: Unlinked,
}

/// A file of machine code below the working folder that is newer than `began`.
fn find_new_binary(began: SystemTime) -> Option<PathBuf> {
    let is_new = |path: &Path| {
        let mut magic = [0; 4];
        let written = std::fs::metadata(path).and_then(|m| m.modified());
        written.is_ok_and(|at| at >= began)
            && File::open(path).is_ok_and(|mut f| f.read_exact(&mut magic).is_ok())
            && magic == *b"\x7fELF"
    };
    let files = WalkDir::new(".").sort_by_file_name().into_iter().flatten();
    let mut files = files.filter(|e| e.file_type().is_file());
    files.find(|e| is_new(e.path())).map(|e| {
        let path = e.into_path();
        path.strip_prefix(".").map(PathBuf::from).unwrap_or(path)
    })
}

/// `CC`, `CXX` and a `PATH` in which usual names of compilers are ours; `tools` is where these are, for as long as it
/// is.
pub(crate) fn environment(tools: &TempDir) -> Result<Vec<(&'static str, OsString)>> {
    let (cc, cxx) = (our_program("p3-cc")?, our_program("p3-cxx")?);
    for (name, language) in names() {
        let link = tools.path().join(name);
        let compiler = match language {
            Language::C => &cc,
            Language::Cxx => &cxx,
        };
        symlink(compiler, &link).map_err(|e| Error::write(link, e))?;
    }
    let old = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(tools.path().to_path_buf()).chain(std::env::split_paths(&old));
    let path = std::env::join_paths(path);
    let path =
        path.map_err(|e| Error::Usage(format!("{}: {e}; set TMPDIR", tools.path().display())))?;
    let mut all = vec![("CC", cc.into()), ("CXX", cxx.into()), ("PATH", path)];
    // What these name is ours from here on: ours are to call what they named.
    all.extend(
        Language::all()
            .into_iter()
            .filter_map(Language::find_named_clang),
    );
    Ok(all)
}
