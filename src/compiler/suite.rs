//! A build by our compilers, and a command once for every copy.
//!
//! What a round runs are the programs themselves, at their own paths: each copy takes the program's place in turn. A copy that
//! were started in place of another would have another `/proc/self/exe` and `$ORIGIN`, lose its rights as a
//! set-user-id program, and could not be a library.

use super::apart::Rounds;
use super::link::succeeded;
use super::record::{self, Record};
use super::{Compiler, Language, exit_code, our_program};
use crate::error::{Error, Result};
use crate::output::{Destination, FIXED_TIME};
use crate::profile::file;
use crate::profile::merge::{FailureMode, Merged, merge};
use rayon::prelude::*;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How programs are to be built.
#[derive(Clone, Debug)]
pub struct Build {
    /// The number of copies.
    pub copies: u32,
    /// Where programs' folders go; beside the programs if not given.
    pub out: Option<PathBuf>,
    /// The one copy that is wanted, if not all are: what one of several machines runs.
    pub only: Option<u32>,
    /// More options of `p3-rewrite`.
    pub flags: Vec<String>,
    /// What else the build's environment holds.
    pub environment: Variables,
}

/// Variables of the environment, and their values.
pub type Variables = Vec<(String, OsString)>;

/// A round of a suite.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The copy whose turn it was.
    pub copy: u32,
    /// The command's exit status, as the shell has it.
    pub status: i32,
    /// How long it took.
    pub time: Duration,
}

/// What a suite left.
pub struct Gathered {
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// The programs, and what was merged; nothing for those that did not run.
    pub programs: Vec<(Record, Option<Merged>)>,
    /// How many programs a round linked whose folders are gone: rounds that run at once keep nothing else.
    pub lost: usize,
}

/// Names by which build systems call compilers.
const NAMES: [(&str, Language); 9] = [
    ("cc", Language::C),
    ("gcc", Language::C),
    ("clang", Language::C),
    ("clang-19", Language::C),
    ("c99", Language::C),
    ("c++", Language::Cxx),
    ("g++", Language::Cxx),
    ("clang++", Language::Cxx),
    ("clang++-19", Language::Cxx),
];

impl Build {
    /// Runs a build's command with our compilers in the places of those that it would find: by `CC` and `CXX`, and by
    /// their usual names in `PATH`. Its exit status, and the programs that it linked.
    ///
    /// # Errors
    /// It cannot be run; our compilers are not there.
    pub fn run(&self, command: &[String]) -> Result<(i32, Vec<Record>)> {
        let began = std::time::SystemTime::now();
        let tools = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
        let here = std::env::current_dir().unwrap_or_default();
        let mut build = started(command);
        build.envs(environment(&tools)?);
        build.env("P3_COPIES", self.copies.to_string());
        build.env("P3_FLAGS", quoted(&self.flags)?);
        if let Some(copy) = self.only {
            build.env("P3_COPY", copy.to_string()).env("P3_ONLY", "1");
        }
        if let Some(out) = &self.out {
            let out = std::path::absolute(out).map_err(|e| Error::write(out, e))?;
            std::fs::create_dir_all(&out).map_err(|e| Error::write(&out, e))?;
            build.env("P3_OUT", out).env("P3_ROOT", &here);
        }
        build.envs(self.environment.iter().map(|(n, v)| (n, v)));
        let status = status(&mut build, command)?;
        let programs = record::find(&[self.out.clone().unwrap_or(here)])?;
        let is_new = |r: &Record| {
            let written = std::fs::metadata(r.folder.join(record::NAME)).and_then(|m| m.modified());
            written.is_ok_and(|at| at >= began)
        };
        // A configure script removes what it built to find something out.
        let programs = programs
            .into_iter()
            .filter(|r| is_new(r) && r.program.is_file());
        Ok((status, programs.collect()))
    }
}

/// A command that is run once for every copy.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// Where the programs' folders are.
    pub folders: Vec<PathBuf>,
    /// What runs them.
    pub command: Vec<String>,
    /// Every round has the same process ids: a namespace of its own.
    pub same_pids: bool,
    /// Every round has the same clocks, which advance by calls, and the same random numbers.
    pub fixed_time: bool,
    /// So many rounds run at once, each in a working folder of its own if that is more than one.
    pub jobs: u32,
    /// What else the command's environment holds.
    pub environment: Variables,
}

impl Gathered {
    /// Whether copies counted what copies of one run cannot, or were started otherwise than each other.
    pub fn rounds_differ(&self) -> bool {
        let mut merged = self.programs.iter().filter_map(|(_, m)| m.as_ref());
        merged.any(|m| m.profile.verdict.found())
    }
}

impl Suite {
    /// The options that make rounds more alike and were not given, each with what it does.
    pub fn untried(&self) -> Vec<&'static str> {
        let ids = (!self.same_pids).then_some("--same-pids gives each the same process ids");
        let clock = (!self.fixed_time).then_some("--fixed-time the same time and random numbers");
        ids.into_iter().chain(clock).collect()
    }

    /// Runs the command once for every copy, and merges what the programs counted: `profile.p3prof` in the folder of
    /// each. What earlier runs left there goes. `told` hears of each round when it is over.
    ///
    /// # Errors
    /// There are no programs; the command cannot be run; a profile cannot be written.
    pub fn run(&self, told: impl Fn(&Round) + Sync) -> Result<Gathered> {
        let folders = &self.folders;
        let programs = record::find(folders)?;
        let copies = programs.iter().map(|r| r.copies).max();
        let Some(copies) = copies else {
            let folder = folders.first().map_or(Path::new("."), |f| f);
            let remedy = "build them by p3-rewrite build -- make, and name that -o";
            return Err(Error::load(
                folder,
                "no programs in copies below it",
                remedy,
            ));
        };
        let wrapped = wrapped(&self.command, self.same_pids)?;
        let clock = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
        let preload = if self.fixed_time {
            Some(fixed_time(clock.path())?)
        } else {
            None
        };
        for program in &programs {
            clear(program)?;
        }
        let (rounds, lost) = if self.jobs > 1 {
            self.at_once(&wrapped, preload.as_deref(), &programs, copies, &told)?
        } else {
            (
                self.in_turn(&wrapped, preload.as_deref(), copies, &told)?,
                0,
            )
        };
        let programs = record::find(folders)?;
        let merged = |program: Record| {
            let merged = gather(&program)?;
            Ok((program, merged))
        };
        let programs = programs.into_iter().map(merged).collect::<Result<_>>()?;
        Ok(Gathered {
            rounds,
            programs,
            lost,
        })
    }

    /// Round after round, with each copy in the programs' places in turn.
    fn in_turn(
        &self,
        command: &[String],
        preload: Option<&Path>,
        copies: u32,
        told: &impl Fn(&Round),
    ) -> Result<Vec<Round>> {
        let round = |copy| {
            take_turns(&self.folders, copy)?;
            let round = self.round(started(command), preload, copy)?;
            told(&round);
            Ok(round)
        };
        let ran: Result<Vec<Round>> = (0..copies).map(round).collect();
        // Whatever happened, the programs are what they were.
        take_turns(&self.folders, 0)?;
        ran
    }

    /// Rounds at the same time; and how many programs they linked, which are lost.
    fn at_once(
        &self,
        command: &[String],
        preload: Option<&Path>,
        programs: &[Record],
        copies: u32,
        told: &(impl Fn(&Round) + Sync),
    ) -> Result<(Vec<Round>, usize)> {
        let rounds = Rounds::new(programs)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs as usize);
        let pool = pool.build().expect("threads can be started");
        let one = |copy| {
            let (run, apart) = rounds.round(command, &self.folders, copy)?;
            let round = self.round(run, preload, copy)?;
            apart.ended()?;
            told(&round);
            Ok((round, apart.linked()))
        };
        let ran = pool.install(|| {
            (0..copies)
                .into_par_iter()
                .map(one)
                .collect::<Result<Vec<_>>>()
        })?;
        let (rounds, linked): (Vec<Round>, Vec<usize>) = ran.into_iter().unzip();
        Ok((rounds, linked.into_iter().max().unwrap_or(0)))
    }

    fn round(&self, mut run: Command, preload: Option<&Path>, copy: u32) -> Result<Round> {
        let tools = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
        let begin = Instant::now();
        // What the suite itself builds is built in copies, and this one put in its place.
        run.envs(environment(&tools)?)
            .env("P3_COPY", copy.to_string())
            .envs(self.environment.iter().map(|(n, v)| (n, v)));
        run.env_remove("P3_PROFILE_FILE");
        if let Some(library) = preload {
            run.env("LD_PRELOAD", library);
        }
        let status = status(&mut run, &self.command)?;
        let time = begin.elapsed();
        Ok(Round { copy, status, time })
    }
}

/// Puts a copy of each program below `folders` in its place, and wherever below the working folder the program was copied to. Those
/// that were built since the last round are among them; those that a build system removed are not. The programs.
///
/// # Errors
/// One cannot be written.
pub fn take_turns(folders: &[PathBuf], copy: u32) -> Result<Vec<Record>> {
    let programs = record::find(folders)?;
    let here = std::env::current_dir().map_err(|e| Error::read(".", e))?;
    let found = record::elsewhere(&here, &programs)?;
    let linked = programs
        .iter()
        .enumerate()
        .map(|(i, p)| (i, p.program.clone()));
    let mut placed = HashSet::new();
    for (i, path) in linked.chain(found).filter(|(_, path)| path.is_file()) {
        if placed.insert(path.clone()) {
            programs[i].place(&path, copy)?;
        }
    }
    Ok(programs)
}

/// The library that replaces clocks and random numbers, compiled into `folder`.
fn fixed_time(folder: &Path) -> Result<PathBuf> {
    let (source, library) = (folder.join("fixed_time.c"), folder.join("fixed_time.so"));
    std::fs::write(&source, FIXED_TIME).map_err(|e| Error::write(&source, e))?;
    let compiler = Compiler::find(Language::C)?;
    let mut clang = compiler.command();
    clang
        .args(["-std=c11", "-O2", "-fPIC", "-shared"])
        .arg(&source)
        .arg("-o")
        .arg(&library);
    let run = clang.output().map_err(|e| compiler.failed(&e))?;
    succeeded(&run, "--fixed-time: the library cannot be compiled")?;
    Ok(library)
}

/// The command as each round runs it.
fn wrapped(command: &[String], same_pids: bool) -> Result<Vec<String>> {
    let mut words: Vec<&str> = Vec::new();
    if same_pids {
        let problem = "--same-pids: no namespace for processes is to be had (unshare --pid fails)";
        words.extend(namespace(
            &[],
            &["--pid", "--fork", "--mount-proc"],
            problem,
        )?);
    }
    // As make run in an output folder does it.
    if works(&["setarch", "-R"]) {
        words.extend(["setarch", "-R"]);
    }
    let words = words.into_iter().map(String::from);
    Ok(words.chain(command.iter().cloned()).collect())
}

/// The words before a command that is to run in namespaces of its own, which `unshare` makes by `options`; with `as_user`, and a namespace
/// of users, where the caller is not root.
///
/// # Errors
/// That works neither way: `problem`.
pub(super) fn namespace(
    as_user: &[&'static str],
    options: &[&'static str],
    problem: &str,
) -> Result<Vec<&'static str>> {
    let as_root = [&["unshare"][..], options].concat();
    let as_user = [
        &["unshare", "--user", "--map-current-user"][..],
        as_user,
        options,
    ]
    .concat();
    let way = [as_root, as_user].into_iter().find(|w| works(w));
    way.ok_or_else(|| Error::Usage(format!("{problem}; leave it out, or run as root")))
}

/// Whether a command that runs others runs `true`.
fn works(wrapper: &[&str]) -> bool {
    let mut run = Command::new(wrapper[0]);
    run.args(&wrapper[1..]).arg("true");
    run.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    run.status().is_ok_and(|s| s.success())
}

fn started(command: &[String]) -> Command {
    let (program, arguments) = command
        .split_first()
        .expect("the command line requires one");
    let mut run = Command::new(program);
    run.args(arguments);
    run
}

fn status(run: &mut Command, command: &[String]) -> Result<i32> {
    let status: ExitStatus = run.status().map_err(|e| {
        let name = &command[0];
        Error::Usage(format!("{name}: {e}; name a command after --"))
    })?;
    Ok(exit_code(status))
}

/// `CC`, `CXX` and a `PATH` in which usual names of compilers are ours; `tools` is where these are, for as long as it is.
fn environment(tools: &TempDir) -> Result<Vec<(&'static str, OsString)>> {
    let (cc, cxx) = (our_program("p3-cc")?, our_program("p3-cxx")?);
    for (name, language) in NAMES {
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
    Ok(vec![("CC", cc.into()), ("CXX", cxx.into()), ("PATH", path)])
}

fn quoted(words: &[String]) -> Result<String> {
    shlex::try_join(words.iter().map(String::as_str))
        .map_err(|e| Error::Usage(format!("an option cannot be passed on: {e}; leave it out")))
}

/// Removes what earlier runs counted.
fn clear(program: &Record) -> Result<()> {
    let raw = program.raw();
    let removed = match std::fs::remove_dir_all(&raw) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    };
    removed.map_err(|e| Error::write(raw, e))?;
    program.make_raw_folder()
}

/// Whether anything but folders is in it or below.
fn has_files(folder: &Path) -> bool {
    let entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    entries.into_iter().any(|e| !e.file_type().is_dir())
}

/// Merges what a program's copies counted; `None` if none did.
fn gather(program: &Record) -> Result<Option<Merged>> {
    let raw = program.raw();
    if !has_files(&raw) {
        return Ok(None);
    }
    let merged = merge(
        &program.folder.join("manifest.json"),
        &[raw],
        FailureMode::All,
    )?;
    let profile = program.folder.join("profile.p3prof");
    let at = Destination::new(&profile, file::CONTENT, false);
    at.write(&merged.profile.to_bytes())?;
    Ok(Some(merged))
}
