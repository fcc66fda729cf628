//! Arguments of `p3-rewrite build`, `suite` and `use`, and what they print.

use super::{ForceArgs, one_line, warn};
use crate::compiler::integrate::integrate;
use crate::compiler::record::Record;
use crate::compiler::suite::{self, Build, Gathered, Round, Suite};
use crate::error::{Error, Result};
use crate::names::printable;
use crate::profile::merge::summary;
use crate::strategy::Scheme;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How programs are put into copies.
#[derive(Debug, clap::Args)]
pub struct CopiesArgs {
    /// Number of copies, 1 to 1024 [default: 4, of subpath 1]
    #[arg(short = 'k', long, value_name = "K",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    copies: Option<u32>,

    /// How the work is spread over the copies
    #[arg(long, value_name = "NAME", value_enum, default_value = "p3-hot")]
    scheme: Scheme,

    /// `atomic` stays exact with threads
    #[arg(long, value_name = "HOW", value_parser = ["single", "atomic"])]
    pub(super) update: Option<String>,

    /// Instrument only functions whose symbol or readable name matches (may be repeated)
    #[arg(long, value_name = "RE")]
    include: Vec<String>,

    /// Do not instrument functions whose symbol or readable name matches (may be repeated)
    #[arg(long, value_name = "RE")]
    exclude: Vec<String>,
}

impl CopiesArgs {
    /// How many copies: as many as are of use to the scheme.
    pub(super) fn number(&self) -> u32 {
        let strategy = self.scheme.strategy();
        strategy.copies(self.copies.unwrap_or(strategy.usual_copies))
    }

    /// The same as options of `p3-rewrite`, but for the number of copies.
    pub(super) fn flags(self) -> Vec<String> {
        let options = [
            ("--scheme", vec![self.scheme.name().to_string()]),
            ("--update", self.update.into_iter().collect()),
            ("--include", self.include),
            ("--exclude", self.exclude),
        ];
        let words = options
            .into_iter()
            .flat_map(|(name, values)| values.into_iter().flat_map(move |v| [name.to_string(), v]));
        words.collect()
    }
}

/// The arguments of `build`.
#[derive(Debug, clap::Args)]
pub struct BuildArgs {
    #[command(flatten)]
    copies: CopiesArgs,

    /// Compile and link this copy alone, and put it in the programs' places: a machine for each copy
    #[arg(long, value_name = "COPY")]
    only: Option<u32>,

    /// Where the copies go, each program's in a folder of its own [default: beside the programs, as PROGRAM.p3]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print nothing of our own
    #[arg(short, long)]
    quiet: bool,

    /// What builds the programs, after --
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The arguments of `suite`.
#[derive(Debug, clap::Args)]
pub struct SuiteArgs {
    /// Where the programs' folders are: what `build -o` named, or the folder of the build
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: Vec<PathBuf>,

    /// Run so many rounds at once, each in a working folder of its own: what they write there is gone afterwards
    #[arg(short, long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: u32,

    /// Give processes the same ids in every round, by a namespace: for tests whose files are named by them
    #[arg(long)]
    same_pids: bool,

    /// Clocks that advance by calls, and the same random numbers, for programs that read them: in all that the command runs
    #[arg(long)]
    fixed_time: bool,

    /// What runs the programs, after --; once for every copy
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The arguments of `use`.
#[derive(Debug, clap::Args)]
pub struct UseArgs {
    /// The copy that every program is to be
    #[arg(value_name = "COPY")]
    copy: u32,

    /// Where the programs' folders are: what `build -o` named, or the folder of the build
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: Vec<PathBuf>,
}

/// The arguments of `integrate`.
#[derive(Debug, clap::Args)]
pub struct IntegrateArgs {
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    force: ForceArgs,
}

/// Builds; the exit status is the command's.
///
/// # Errors
/// See [`Build::run`].
pub fn build(args: BuildArgs) -> Result<ExitCode> {
    let build = Build {
        copies: args.copies.number(),
        out: args.out,
        only: args.only,
        flags: args.copies.flags(),
        environment: Vec::new(),
    };
    if let Some(copy) = build.only.filter(|c| *c >= build.copies) {
        let message = format!(
            "--only {copy}: copies are 0 to {}; name one of them",
            build.copies - 1
        );
        return Err(Error::Usage(message));
    }
    let (status, programs) = build.run(&args.command)?;
    if !args.quiet {
        for program in &programs {
            say(&built(program));
        }
        if programs.is_empty() {
            let hint = "if this was more than configuring, the build system takes another compiler than CC says";
            say(&format!("no program was linked; {hint}"));
        } else {
            let next = build
                .only
                .map(|c| format!("next: make check runs copy {c}"));
            let out = build
                .out
                .map_or(String::new(), |o| format!("-o {} ", shown(&o)));
            say(&next.unwrap_or(format!("next: p3-rewrite suite {out}-- make check")));
        }
    }
    Ok(code(status))
}

/// Runs a suite; the exit status is 0 if that of each round was 0, else the first that was not.
///
/// # Errors
/// See [`Suite::run`].
pub fn suite(args: SuiteArgs) -> Result<ExitCode> {
    let suite = Suite {
        folders: args.out,
        command: args.command,
        same_pids: args.same_pids,
        fixed_time: args.fixed_time,
        jobs: args.jobs,
        environment: Vec::new(),
    };
    let gathered = suite.run(tell)?;
    Ok(code(ended(&suite, &gathered)))
}

/// Tells of a round.
pub(super) fn tell(round: &Round) {
    let Round { copy, status, time } = round;
    let seconds = time.as_secs_f64();
    say(&format!("copy {copy}: status {status}, {seconds:.1} s"));
}

/// Tells of what was merged after a suite, of what is wrong with it, and what may help. The status of the rounds.
pub(super) fn ended(suite: &Suite, gathered: &Gathered) -> i32 {
    let mut idle = 0;
    for (program, merged) in &gathered.programs {
        let Some(merged) = merged else {
            idle += 1;
            continue;
        };
        merged.warnings.iter().for_each(|w| warn(w));
        let profile = program.folder.join("profile.p3prof");
        let summary = summary(&merged.profile, &shown(&profile));
        summary.lines().for_each(say);
        if let Some(said) = merged.profile.said() {
            warn(&format!("{}: {said}", shown(&profile)));
        }
    }
    if idle > 0 {
        let all = gathered.programs.len();
        say(&format!("{idle} of {all} programs did not run"));
    }
    if gathered.lost > 0 {
        let n = gathered.lost;
        warn(&format!(
            "{n} programs that the command itself linked are not profiled; build them before, or leave -j out"
        ));
    }
    let untried = suite.untried();
    if gathered.rounds_differ() && !untried.is_empty() {
        warn(&format!("rounds differ: {}", untried.join(", ")));
    }
    let statuses: Vec<i32> = gathered.rounds.iter().map(|r| r.status).collect();
    if statuses.iter().any(|s| *s != statuses[0]) {
        warn("the rounds ended with different statuses: the copies did not run alike");
    }
    statuses.into_iter().find(|s| *s != 0).unwrap_or(0)
}

/// Puts copies in their places.
///
/// # Errors
/// There are no programs; one cannot be written.
pub fn use_copy(args: &UseArgs) -> Result<ExitCode> {
    let programs = suite::take_turns(&args.out, args.copy)?;
    if programs.is_empty() {
        let remedy = "name the folder that p3-rewrite build wrote by -o";
        return Err(Error::load(
            &args.out[0],
            "no programs in copies below it",
            remedy,
        ));
    }
    for program in &programs {
        let copy = args.copy % program.copies.max(1);
        say(&format!("{}: copy {copy}", shown(&program.program)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the files of build systems.
///
/// # Errors
/// See [`integrate`].
pub fn write_files(args: &IntegrateArgs) -> Result<ExitCode> {
    let names = integrate(&args.out, args.force.force)?;
    say(&format!("{}: {}", shown(&args.out), names.join(", ")));
    Ok(ExitCode::SUCCESS)
}

/// What was built of a program, in a line.
pub(super) fn built(program: &Record) -> String {
    let why = || format!("{}/record.json says why", shown(&program.folder));
    let left = match program.left.len() {
        0 => String::new(),
        1 => format!("; 1 object is not profiled: {}", why()),
        n => format!("; {n} objects are not profiled: {}", why()),
    };
    let copies = match program.copies {
        1 => "1 copy".to_string(),
        n => format!("{n} copies"),
    };
    format!("{}: {copies}{left}", shown(&program.program))
}

/// A path, from here if it is below.
pub(super) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(&here).unwrap_or(path);
    printable(&path.to_string_lossy()).into_owned()
}

/// Prints a line of ours on standard error.
pub(super) fn say(line: &str) {
    anstream::eprintln!("p3: {}", one_line(line));
}

/// An exit status.
pub(super) fn code(status: i32) -> ExitCode {
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
