//! `--train`: weights from a run of the program, before it is rewritten.
//!
//! One copy that counts edges is made in a temporary folder, and linked and run there by the same runner that output
//! folders get, so what works for `make run` works here. Counters are the profile's file, so a run that is ended from
//! outside has counted what it did.

use super::analysis::Analysis;
use super::{Clock, Measured, write_folder};
use crate::base::error::{Error, Result};
use crate::base::names::escape_unprintable;
use crate::base::table::number_of;
use crate::copies::copy_count::CopyCount;
use crate::copies::strategy::Scheme;
use crate::input::load::{Admitted, Optimize};
use crate::profile::Profile;
use crate::profile::merge::{FailureMode, merge};
use crate::write::emit::Counters;
use crate::write::options::{
    InputOptions, Options, OutputOptions, Training, ViewOptions, WeightOptions, WeightsFrom,
};
use crate::write::output::WEIGHTS;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What happened to the run.
#[derive(Clone, Copy)]
enum End {
    /// The program ended.
    Itself,
    /// Its time was up.
    Cut,
}

/// Makes, links (by `jobs` processes at most), runs; the counts are the weights.
///
/// # Errors
/// The program cannot be linked or run, or fails; the output folder has not been touched then.
pub(super) fn measure_by_run(
    training: &Training,
    options: &Options,
    inputs: &[Admitted],
    jobs: usize,
    clock: &mut Clock,
) -> Result<Measured> {
    let temporary = tempfile::tempdir();
    let temporary = temporary.map_err(|e| Error::write(std::env::temp_dir(), e))?;
    let run = Run {
        training,
        folder: temporary.path().join("out"),
    };
    print_line(options.verbosity, "linking a copy that counts edges");
    let (edges, pool) = (
        training_options(options, &run.folder),
        super::make_pool(options.jobs)?,
    );
    let analysis = pool.install(|| Analysis::new(&edges, inputs, None, None, clock))?;
    write_folder(&edges, inputs, analysis, None, None, pool, clock)?;
    run.link_program(jobs)?;
    let how_long = match training.limit {
        None => "running it to its end (--train-for ends it)".to_string(),
        Some(limit) => format!("running it for {limit:?} at most"),
    };
    print_line(options.verbosity, &how_long);
    let begin = Instant::now();
    let end = run.run_program()?;
    let seconds = begin.elapsed().as_secs_f64();
    let profile = run.profile(end)?;
    let ran = profile.executed_functions().count();
    let all = number_of(profile.manifest.functions.len() as u64, "function");
    let ended = match end {
        End::Itself => "it ended",
        End::Cut => "ended it",
    };
    let line = format!("{ended} after {seconds:.1} s; {ran} of {all} ran");
    print_line(options.verbosity, &line);
    options
        .weights
        .trust
        .check(&profile, Path::new("--train"))?;
    let warning = warning(&profile, end, &options.output.folder.join(WEIGHTS));
    Ok(Measured { profile, warning })
}

fn print_line(verbosity: i8, line: &str) {
    if verbosity >= 0 {
        anstream::eprintln!("train: {line}");
    }
}

/// The options of the copy that is run: what it counts, and how it is made where that shows.
fn training_options(options: &Options, folder: &Path) -> Options {
    Options {
        inputs: InputOptions {
            files: Vec::new(),
            // They are what they are: inputs were admitted before.
            optimize: Optimize::Never,
            mlir: None,
        },
        output: OutputOptions {
            folder: folder.to_path_buf(),
            bitcode: true,
            text: false,
            numbers: false,
        },
        weights: WeightOptions {
            from: WeightsFrom::Estimates,
            accept_unrelated: false,
            trust: options.weights.trust,
        },
        functions: options.functions.clone(),
        views: ViewOptions::default(),
        copies: CopyCount::Exactly(1),
        scheme: Scheme::Edge,
        paths: None,
        counters: Counters::Auto,
        update: options.update,
        sampling: None,
        count_hits: false,
        check: options.check,
        jobs: options.jobs,
        verbosity: -1,
    }
}

/// `weights` is where the profile will be.
fn warning(profile: &Profile, end: End, weights: &Path) -> Option<String> {
    match end {
        End::Cut => Some(format!(
            "the training run was ended early, so the next one may give other copies; \
             --profile {} gives these copies again",
            weights.display()
        )),
        End::Itself => profile.problem_line().map(|v| format!("--train: {v}")),
    }
}

/// A training run in `folder`.
struct Run<'a> {
    training: &'a Training,
    folder: PathBuf,
}

impl Run<'_> {
    fn make_command(&self, log: &Path) -> Result<Command> {
        let log = File::options().create(true).append(true).open(log);
        let log = log.and_then(|l| Ok((l.try_clone()?, l)));
        let (out, errors) = log.map_err(|e| Error::write(&self.folder, e))?;
        let mut make = Command::new("make");
        // Its variables come by the environment: there make takes a `$` as it is.
        for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"] {
            make.env_remove(name);
        }
        let settings = self.training.settings.iter();
        make.args(["-s", "--no-print-directory", "-C"])
            .arg(&self.folder)
            .env("ARGS", &self.training.arguments)
            .envs(settings.map(|s| (s.name, &s.value)));
        if let Ok(here) = std::env::current_dir() {
            make.env("P3_FROM", here);
        }
        make.stdin(Stdio::null()).stdout(out).stderr(errors);
        Ok(make)
    }

    fn link_program(&self, jobs: usize) -> Result<()> {
        let log = self.folder.join("link.log");
        let mut make = self.make_command(&log)?;
        let status = make.arg(format!("-j{jobs}")).status().map_err(no_make)?;
        if status.success() {
            return Ok(());
        }
        let said = read_log(&log);
        let told = said.lines().find(|l| is_complaint(l));
        let told = told.or(said.lines().last()).unwrap_or("make failed");
        let remedy = "give the settings that make -C DIR needs, like --train-with LDLIBS='-lz' (LDFLAGS, CC, CXX, \
            CFLAGS)";
        Err(training_error("the program cannot be linked", told, remedy))
    }

    fn run_program(&self) -> Result<End> {
        let mut make = self.make_command(&self.folder.join("run.log"))?;
        make.arg("p3-train")
            .stdin(Stdio::piped())
            // Ending it ends everything that it started.
            .process_group(0);
        let child = make.spawn().map_err(no_make)?;
        match wait_for_child(child, self.training.limit).map_err(no_make)? {
            (status, End::Cut) if status.signal().is_some() => Ok(End::Cut),
            (status, _) if status.success() => Ok(End::Itself),
            _ => Err(self.runner_error()),
        }
    }

    /// What the runner says of a run that failed.
    fn runner_error(&self) -> Error {
        let copy = self.folder.join("run/copy-0");
        let status = read_log(&copy.join("status"));
        let Some(status) = status.lines().next() else {
            let log = read_log(&self.folder.join("run.log"));
            let said = log.lines().find_map(|l| l.strip_prefix("p3: "));
            let said = said.unwrap_or("make failed");
            let remedy = "fix it with --train-with STDIN=file, FILES='…', …";
            return training_error("the program cannot be run", said, remedy);
        };
        let stderr = read_log(&copy.join("stderr"));
        let last = stderr.lines().rfind(|l| !l.trim().is_empty());
        let remedy = format!(
            "it runs in a folder of its own, so name files that it reads by --train-with FILES='…', its input by \
             --train-with STDIN=file; if that is how it ends, accept it by --train-with ALLOW_STATUS={status}"
        );
        let problem = format!("the program ended with status {status}");
        training_error(&problem, last.unwrap_or("(nothing on stderr)"), &remedy)
    }

    /// What was counted. Which process counted it is left out: equal runs give equal profiles.
    fn profile(&self, end: End) -> Result<Profile> {
        let manifest = self.folder.join("manifest.json");
        let merged = merge(&manifest, &[self.folder.join("run")], FailureMode::Any);
        let mut profile = match (merged, end) {
            (Ok(merged), _) => merged.profile,
            // It may be over before the first raw profile is there.
            (Err(_), End::Cut) => {
                let problem = "nothing was counted in that time";
                let message = format!("--train-for: {problem}; give the program more time");
                return Err(Error::Usage(message));
            }
            (Err(e), End::Itself) => return Err(e),
        };
        profile.sources.clear();
        Ok(profile)
    }
}

/// Waits for the child to end or the time to be up. When this returns, the child's standard input has ended.
fn wait_for_child(mut child: Child, limit: Option<Duration>) -> io::Result<(ExitStatus, End)> {
    let lifeline = child.stdin.take();
    let (ended, end) = channel();
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let end = wait_until(&end, limit);
            drop(lifeline);
            end
        });
        let status = child.wait();
        drop(ended);
        let end = watch.join().expect("it does not panic");
        Ok((status?, end))
    })
}

fn wait_until(ended: &Receiver<()>, limit: Option<Duration>) -> End {
    let Some(limit) = limit else {
        // Nothing is ever sent: this returns when the other side goes.
        let _ = ended.recv();
        return End::Itself;
    };
    match ended.recv_timeout(limit) {
        Err(RecvTimeoutError::Timeout) => End::Cut,
        _ => End::Itself,
    }
}

/// Whether a line of compilers and linkers says what is wrong.
fn is_complaint(line: &str) -> bool {
    let words = [
        "error:",
        "undefined",
        "cannot find",
        "unable to find",
        "not found",
        "there is no compiler",
    ];
    words.iter().any(|w| line.contains(w))
}

fn read_log(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn no_make(e: io::Error) -> Error {
    let remedy = "install make, or take a profile of an earlier run by --profile";
    Error::Usage(format!("--train: make: {e}; {remedy}"))
}

fn training_error(problem: &str, said: &str, remedy: &str) -> Error {
    let said = escape_unprintable(said.trim());
    Error::Usage(format!("--train: {problem}: {said}; {remedy}"))
}
