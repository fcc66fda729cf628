//! A command once for every copy; and, below, a build by our compilers.
//!
//! What a round runs are the programs themselves, at their own paths: each copy takes the program's place in turn. A
//! copy that were started in place of another would have another `/proc/self/exe` and `$ORIGIN`, lose its rights as a
//! set-user-id program, and could not be a library.

mod apart;
mod build;
mod namespaces;
mod rounds;

pub use build::{Build, Built};

use super::cc::Language;
use super::cc::clang::Compiler;
use super::interrupt::is_ending;
use super::record::{self, Failure, InPlace, Record};
use super::tools::{exit_code, require_success};
use crate::base::error::{Error, Result};
use crate::base::index::CopyId;
use crate::base::names::{NAMED_PROGRAMS, first_names};
use crate::profile::file;
use crate::profile::locate::MERGED;
use crate::profile::manifest::Manifest;
use crate::profile::merge::{FailureMode, Merged, merge};
use crate::profile::verdict::idle;
use crate::write::output::{Destination, FIXED_TIME};
use apart::Rounds;
use build::{environment, names};
use namespaces::{can_run_others, find_pid_namespace};
use rayon::prelude::*;
use rounds::find_odd_rounds;
use rustix::fs::{Access, access};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

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

/// What a suite reports while it runs.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// A round is over.
    Ended(&'a Round),
    /// A copy's round ran other processes than most did, of which this is an example, and is repeated.
    Repeats {
        /// The copy.
        copy: u32,
        /// A program, and how it ran otherwise.
        why: &'a str,
    },
    /// All copies' rounds ran the same processes and counted differently, and are repeated with the same random
    /// numbers.
    RepeatsAll,
    /// Copies of another build were in the places of these programs: of the same sources, or of others.
    OtherBuild(&'a [&'a Record]),
}

/// What a suite left.
pub struct Gathered {
    /// The rounds, in order, those too that were repeated.
    pub rounds: Vec<Round>,
    /// The programs, and what was merged; nothing for those that did not run.
    pub programs: Vec<(Record, Option<Merged>)>,
    /// Why other programs have no copies.
    pub failures: Vec<Failure>,
    /// Whether the other rounds were left out, since the first one failed before any program ran.
    pub stopped: bool,
    /// How many programs a round linked whose folders are gone: rounds that run at once keep nothing else.
    pub lost: usize,
}

/// Whether rounds of a suite give processes the same ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamePids {
    /// Where the kernel allows a namespace for processes.
    #[default]
    IfAllowed,
    /// Always; a namespace that is refused is an error.
    Required,
    /// Never.
    Off,
}

impl SamePids {
    /// What `--same-pids` and `--no-same-pids` stand for; clap accepts one of the two.
    pub fn from_options(required: bool, off: bool) -> SamePids {
        match (required, off) {
            (true, _) => SamePids::Required,
            (false, true) => SamePids::Off,
            (false, false) => SamePids::IfAllowed,
        }
    }
}

/// A command that is run once for every copy.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// Where the programs' folders are.
    pub folders: Vec<PathBuf>,
    /// What runs them.
    pub command: Vec<String>,
    /// Whether every round has the same process ids: a namespace of its own.
    pub same_pids: SamePids,
    /// Every round has the same clocks, which advance by calls, and the same random numbers.
    pub fixed_time: bool,
    /// So many rounds run at once, each in a working folder of its own if that is more than one.
    pub jobs: u32,
    /// Rounds that ran other processes than most did stay as they are.
    pub no_repeat: bool,
    /// What else the command's environment holds.
    pub environment: Variables,
}

impl Gathered {
    /// Whether copies that were started alike counted what copies of one run cannot.
    fn counts_differ(&self) -> bool {
        let mut merged = self.programs.iter().filter_map(|(_, m)| m.as_ref());
        merged.any(|m| {
            let verdict = &m.profile.verdict;
            let is_alike = verdict.unlike.is_empty() && verdict.gaps.is_empty();
            // By threads, copies of one run do.
            !verdict.violations.is_empty() && is_alike && verdict.threads.is_empty()
        })
    }

    /// Whether threads may have lost counts.
    pub fn lost_by_threads(&self) -> bool {
        let mut merged = self.programs.iter().filter_map(|(_, m)| m.as_ref());
        merged.any(|m| !m.profile.verdict.threads.is_empty())
    }

    /// Whether copies counted what copies of one run cannot, or were started otherwise than each other.
    pub fn rounds_differ(&self) -> bool {
        let mut merged = self.programs.iter().filter_map(|(_, m)| m.as_ref());
        merged.any(|m| m.profile.verdict.found())
    }
}

impl Suite {
    /// The options that make rounds more alike and were not given, each with what it does; first what helps if threads
    /// may have lost counts.
    pub fn list_untried_options(&self, lost_by_threads: bool) -> Vec<&'static str> {
        let has_same_ids = match self.same_pids {
            SamePids::Required => true,
            SamePids::IfAllowed => find_pid_namespace().is_ok(),
            SamePids::Off => false,
        };
        let ids = (!has_same_ids).then_some("--same-pids gives each the same process ids");
        let clock = (!self.fixed_time).then_some("--fixed-time the same time and random numbers");
        let atomic = "p3-rewrite build --update atomic loses no counts by threads";
        let atomic = lost_by_threads.then_some(atomic);
        let one = if lost_by_threads {
            "p3-rewrite build --scheme sbl --update atomic has one copy count everything"
        } else {
            "p3-rewrite build --scheme sbl has one copy count everything"
        };
        let options = atomic.into_iter().chain(ids).chain(clock);
        options.chain([one]).collect()
    }

    /// Runs the command once for every copy, and merges what the programs counted: `profile.p3prof` in the folder of
    /// each. What earlier runs left there goes, unless none of them ran. `progress` hears of each round. A round that
    /// ran other processes than most did is repeated, once; and if all ran the same processes and counted differently,
    /// all are repeated with the same random numbers.
    ///
    /// # Errors
    /// There are no programs; the command cannot be run; a profile cannot be written.
    pub fn run(&self, progress: impl Fn(Progress) + Sync) -> Result<Gathered> {
        let folders = &self.folders;
        let programs = record::find(folders)?;
        let copies = programs.iter().map(|r| r.copies).max();
        let Some(copies) = copies else {
            let folder = folders.first().map_or(Path::new("."), |f| f);
            let problem = "no program below this folder has copies";
            if let Some((failure, _)) = record::find_failures(folders).into_iter().next() {
                let problem = format!("{problem}: {}", failure.program.display());
                return Err(Error::load(folder, problem, failure.reason));
            }
            let remedy = "build them by p3-rewrite build -- make, and name that -o";
            return Err(Error::load(folder, problem, remedy));
        };
        for program in &programs {
            if let Some(from) = program.moved_from() {
                let problem = format!(
                    "it is not where the program was linked, and its processes write to {}",
                    from.display()
                );
                let remedy = "move it back, or build the program again";
                return Err(Error::load(&program.folder, problem, remedy));
            }
        }
        find_command(&self.command[0])?;
        let other_build = check_places(folders, &programs)?;
        if !other_build.is_empty() {
            progress(Progress::OtherBuild(&other_build));
        }
        let wrapped = wrap_command(&self.command, self.same_pids)?;
        let clock = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
        let preload = self
            .fixed_time
            .then(|| preload(clock.path(), Fixed::RandomAndTime));
        let mut runner = Runner {
            suite: self,
            command: wrapped,
            preload: preload.transpose()?,
            progress: &progress,
        };
        let gathered = runner.run(copies)?;
        if self.no_repeat || self.fixed_time || copies < 2 || !gathered.counts_differ() {
            return Ok(gathered);
        }
        // Tests that take input from /dev/urandom, such as gzip's and jq's.
        progress(Progress::RepeatsAll);
        runner.preload = Some(self::preload(clock.path(), Fixed::Random)?);
        let again = runner.run(copies)?;
        Ok(Gathered {
            rounds: [gathered.rounds, again.rounds].concat(),
            lost: gathered.lost.max(again.lost),
            ..again
        })
    }
}

/// Holds that no program was linked again since it was built below `folders`: its copies would count what it was then.
/// The programs in whose places copies of another build are.
///
/// # Errors
/// A program was, or cannot be read.
pub fn check_places<'a>(folders: &[PathBuf], programs: &'a [Record]) -> Result<Vec<&'a Record>> {
    let (mut newer, mut other_build) = (Vec::new(), Vec::new());
    for program in programs.iter().filter(|p| p.program.is_file()) {
        match program.inspect_place()? {
            InPlace::Ours => {}
            InPlace::Newer => newer.push(program),
            InPlace::OtherBuild => other_build.push(program),
        }
    }
    if newer.is_empty() {
        return Ok(other_build);
    }
    let here = std::env::current_dir().unwrap_or_default();
    let shown = |p: &&Record| {
        let program = p.program.strip_prefix(&here).unwrap_or(&p.program);
        program.display().to_string()
    };
    let folders: Vec<String> = folders
        .iter()
        .map(|f| format!(" -o {}", f.display()))
        .collect();
    Err(Error::Usage(format!(
        "{}: linked again after p3-rewrite build, so the copies are outdated; build again from scratch (make clean), \
         or put the outdated copies back (p3-rewrite use 0{})",
        first_names(NAMED_PROGRAMS, newer.iter().map(shown)),
        folders.concat()
    )))
}

/// What every round of a suite is run with.
struct Runner<'a, P> {
    suite: &'a Suite,
    /// The command, in what makes rounds alike.
    command: Vec<String>,
    /// The library that replaces random numbers, or these and clocks.
    preload: Option<PathBuf>,
    progress: &'a P,
}

impl<P: Fn(Progress) + Sync> Runner<'_, P> {
    /// Runs a round for each copy, repeats odd ones, and merges.
    fn run(&self, copies: u32) -> Result<Gathered> {
        let folders = &self.suite.folders;
        record::find(folders)?.iter().try_for_each(clear)?;
        let (mut rounds, mut lost) = self.rounds(&Vec::from_iter(0..copies))?;
        let stopped = rounds.len() < copies as usize;
        if !self.suite.no_repeat && !stopped {
            lost = lost.max(self.repeat_odd_rounds(&mut rounds)?);
        }
        let merged = |program: Record| {
            let merged = gather(&program)?;
            Ok((program, merged))
        };
        let programs = record::find(folders)?.into_iter().map(merged);
        let failures = record::find_failures(folders);
        Ok(Gathered {
            rounds,
            programs: programs.collect::<Result<_>>()?,
            failures: failures.into_iter().map(|(f, _)| f).collect(),
            stopped,
            lost,
        })
    }

    /// Removes profiles of earlier suites once there are counts of this one. A command that ran nothing was not the one
    /// that was meant.
    fn remove_outdated(&self) -> Result<()> {
        let programs = record::find(&self.suite.folders)?;
        if programs.iter().any(|p| has_files(&p.raw())) {
            programs.iter().try_for_each(remove_profile)?;
        }
        Ok(())
    }

    /// A round for each of these copies; and how many programs they linked that are lost.
    fn rounds(&self, copies: &[u32]) -> Result<(Vec<Round>, usize)> {
        if self.suite.jobs > 1 {
            self.run_at_once(copies)
        } else {
            Ok((self.run_in_turn(copies)?, 0))
        }
    }

    /// Repeats rounds that ran other processes than the rest, each once; how many programs these linked that are lost.
    fn repeat_odd_rounds(&self, rounds: &mut Vec<Round>) -> Result<usize> {
        let (mut lost, mut repeated) = (0, HashSet::new());
        loop {
            let programs = record::find(&self.suite.folders)?;
            let order: Vec<u32> = rounds.iter().map(|r| r.copy).collect();
            let odd: BTreeMap<u32, String> = find_odd_rounds(&programs, &order)?;
            // One that differs again does so by chance.
            if odd.is_empty() || odd.keys().any(|c| repeated.contains(c)) {
                return Ok(lost);
            }
            for (copy, why) in &odd {
                (self.progress)(Progress::Repeats { copy: *copy, why });
                programs.iter().try_for_each(|p| clear_copy(p, *copy))?;
            }
            repeated.extend(odd.keys().copied());
            let (more, of_more) = self.rounds(&Vec::from_iter(odd.into_keys()))?;
            rounds.extend(more);
            lost = lost.max(of_more);
        }
    }

    /// Round after round, with each copy in the programs' places in turn; only the first one, if that failed before any
    /// program ran: the command was not the one that was meant.
    fn run_in_turn(&self, copies: &[u32]) -> Result<Vec<Round>> {
        let folders = &self.suite.folders;
        let run_all = || -> Result<Vec<Round>> {
            let mut rounds = Vec::new();
            for copy in copies {
                // With those that were built since the last round, and without those that were removed.
                place_all(&record::find(folders)?, *copy)?;
                let round = self.round(started(&self.command), *copy)?;
                (self.progress)(Progress::Ended(&round));
                rounds.push(round);
                // The command itself may have linked a program again, of sources that changed.
                let programs = record::find(folders)?;
                check_places(folders, &programs)?;
                if rounds.len() == 1 && round.status != 0 && are_without_counts(&programs, *copy)? {
                    break;
                }
            }
            Ok(rounds)
        };
        let ran = run_all();
        // Whatever happened, the programs are what they were, or what they are by now.
        let mut programs = record::find(folders)?;
        programs.retain(|p| !p.is_outdated());
        place_all(&programs, 0)?;
        ran
    }

    /// Rounds at the same time; and how many programs they linked, which are lost.
    fn run_at_once(&self, copies: &[u32]) -> Result<(Vec<Round>, usize)> {
        let folders = &self.suite.folders;
        let rounds = Rounds::new(&record::find(folders)?)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.suite.jobs as usize);
        let pool = pool.build().expect("threads can be started");
        let one = |copy: &u32| {
            let (run, apart) = rounds.round(&self.command, folders, *copy)?;
            let round = self.round(run, *copy)?;
            apart.ended()?;
            (self.progress)(Progress::Ended(&round));
            Ok((round, apart.linked()))
        };
        let ran = pool.install(|| copies.par_iter().map(one).collect::<Result<Vec<_>>>())?;
        let (rounds, linked): (Vec<Round>, Vec<usize>) = ran.into_iter().unzip();
        Ok((rounds, linked.into_iter().max().unwrap_or(0)))
    }

    fn round(&self, mut run: Command, copy: u32) -> Result<Round> {
        let tools = tempfile::tempdir().map_err(|e| Error::write(std::env::temp_dir(), e))?;
        let begin = Instant::now();
        let environment_of_suite = self.suite.environment.iter();
        // What the suite itself builds is built in copies, and this one put in its place.
        run.envs(environment(&tools)?)
            .env("P3_COPY", copy.to_string())
            .envs(environment_of_suite.map(|(n, v)| (n, v)));
        run.env_remove("P3_PROFILE_FILE");
        if let Some(library) = &self.preload {
            run.env("LD_PRELOAD", library);
        }
        let status = status(&mut run, &self.suite.command);
        let time = begin.elapsed();
        // A round that was interrupted has counted, too.
        self.remove_outdated()?;
        let status = status?;
        Ok(Round { copy, status, time })
    }
}

/// Puts a copy of each of `programs` in its place, and wherever below the working folder the program was copied to.
///
/// # Errors
/// One cannot be written, or is not where its record may be of ([`Record::check_place`]): then none is.
pub fn place_all(programs: &[Record], copy: u32) -> Result<()> {
    programs.iter().try_for_each(Record::check_place)?;
    let here = std::env::current_dir().map_err(|e| Error::read(".", e))?;
    let found = record::elsewhere(&here, programs)?;
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
    Ok(())
}

/// What a library replaces that is preloaded into all processes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fixed {
    Random,
    RandomAndTime,
}

/// The library that replaces this, compiled into `folder`.
fn preload(folder: &Path, what: Fixed) -> Result<PathBuf> {
    let (source, library) = (folder.join("fixed_time.c"), folder.join("fixed_time.so"));
    std::fs::write(&source, FIXED_TIME).map_err(|e| Error::write(&source, e))?;
    let compiler = Compiler::find(Language::C)?;
    let mut clang = compiler.command();
    clang
        .args(["-std=c11", "-O2", "-fPIC", "-shared"])
        .args((what == Fixed::Random).then_some("-DP3_KEEP_TIME"))
        .arg(&source)
        .arg("-o")
        .arg(&library);
    let run = clang.output().map_err(|e| compiler.failed(&e))?;
    require_success(
        &run,
        "the library that replaces random numbers cannot be compiled",
    )?;
    Ok(library)
}

/// The command as each round runs it.
fn wrap_command(command: &[String], same_pids: SamePids) -> Result<Vec<String>> {
    let mut words = match same_pids {
        SamePids::Required => find_pid_namespace()?,
        SamePids::IfAllowed => find_pid_namespace().unwrap_or_default(),
        SamePids::Off => Vec::new(),
    };
    // As make run in an output folder does it.
    if can_run_others(&["setarch", "-R"]) {
        words.extend(["setarch", "-R"]);
    }
    let words = words.into_iter().map(String::from);
    Ok(words.chain(command.iter().cloned()).collect())
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
    let interrupted = || Err(Error::Usage("interrupted; run it again".into()));
    if is_ending() {
        return interrupted();
    }
    let status: ExitStatus = run
        .status()
        .map_err(|e| cannot_run(&command[0], e.kind()))?;
    if is_ending() {
        return interrupted();
    }
    Ok(exit_code(status))
}

/// Why the command that starts with this word cannot be run.
fn cannot_run(name: &str, problem: ErrorKind) -> Error {
    let (problem, remedy) = match problem {
        ErrorKind::NotFound if name.contains(char::is_whitespace) => (
            "there is no such command".to_string(),
            "leave out the quotes around it, or use sh -c",
        ),
        ErrorKind::NotFound => ("there is no such command".into(), "name one after --"),
        ErrorKind::PermissionDenied => (
            "this file cannot be executed".into(),
            "name a program or script after --, or use chmod +x",
        ),
        other => (other.to_string(), "name a command after --"),
    };
    Error::Usage(format!("{name}: {problem}; {remedy}"))
}

/// Holds that a command is there: it is started by others, whose messages name others.
fn find_command(name: &str) -> Result<()> {
    let is_program = |path: &Path| access(path, Access::EXEC_OK).is_ok() && path.is_file();
    let problem = if name.contains('/') {
        match std::fs::metadata(name) {
            Err(e) => e.kind(),
            Ok(_) if is_program(Path::new(name)) => return Ok(()),
            Ok(_) => ErrorKind::PermissionDenied,
        }
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let usual = names().into_iter().any(|(compiler, _)| compiler == name);
        if usual || std::env::split_paths(&path).any(|dir| is_program(&dir.join(name))) {
            return Ok(());
        }
        ErrorKind::NotFound
    };
    Err(cannot_run(name, problem))
}

/// Whether none of `programs` left counts, although some have functions that this copy counts.
fn are_without_counts(programs: &[Record], copy: u32) -> Result<bool> {
    if programs.iter().any(|p| has_files(&p.raw())) {
        return Ok(false);
    }
    for program in programs {
        if !idle(&Manifest::read(&program.manifest())?).contains(&CopyId(copy)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes what earlier runs counted. What was merged of it stays until there is something else.
fn clear(program: &Record) -> Result<()> {
    let raw = program.raw();
    removed(std::fs::remove_dir_all(&raw), &raw)?;
    program.make_raw_folder()
}

/// Removes what an earlier suite merged.
fn remove_profile(program: &Record) -> Result<()> {
    let merged = program.folder.join(MERGED);
    removed(std::fs::remove_file(&merged), &merged)
}

/// What is not there need not be removed.
fn removed(result: std::io::Result<()>, path: &Path) -> Result<()> {
    match result {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::write(path, e)),
        _ => Ok(()),
    }
}

/// Whether anything but folders is in it or below.
fn has_files(folder: &Path) -> bool {
    let entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    entries.into_iter().any(|e| !e.file_type().is_dir())
}

/// Removes what one copy counted: names of raw profiles begin with its number.
fn clear_copy(program: &Record, copy: u32) -> Result<()> {
    let raw = program.raw();
    let prefix = format!("{copy}-");
    for entry in std::fs::read_dir(&raw).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let path = entry.path();
            std::fs::remove_file(&path).map_err(|e| Error::write(path, e))?;
        }
    }
    Ok(())
}

/// Merges what a program's copies counted; `None` if none did.
fn gather(program: &Record) -> Result<Option<Merged>> {
    let raw = program.raw();
    if !has_files(&raw) {
        return Ok(None);
    }
    let merged = merge(&program.manifest(), &[raw], FailureMode::All)?;
    let profile = program.folder.join(MERGED);
    let at = Destination::new(&profile, file::CONTENT, false);
    at.write(&merged.profile.to_bytes())?;
    Ok(Some(merged))
}
