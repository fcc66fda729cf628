//! Arguments of `p3-rewrite build`, `suite` and `use`, and what they print.

mod keep;

use super::interrupt::{OnSignal, end_if_interrupted, watch};
use super::selection::{
    SelectionArgs, find_outdated, refuse_unknown, report_files_of_no_program, report_outdated,
    report_selection, report_threads, report_warnings,
};
use super::{ForceArgs, path_from_here, say, warn};
use crate::base::error::{Error, Result};
use crate::base::names::{NAMED_PROGRAMS, first_names, is_shared_library, quote_for_shell};
use crate::base::table::number_of;
use crate::copies::strategy::Scheme;
use crate::profile::locate::MERGED;
use crate::profile::manifest::Manifest;
use crate::profile::measurement::Measurement;
use crate::profile::merge::{Merged, summary};
use crate::profile::verdict::Trust;
use crate::project::integrate::integrate;
use crate::project::record::{self, Failure, Record};
use crate::project::suite::{self, Build, Built, Gathered, Progress, SamePids, Suite};
use crate::project::unlinked::Unlinked;
use crate::write::output::check_folder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How programs are put into copies.
#[derive(Debug, clap::Args)]
pub struct CopiesArgs {
    /// Number of copies, up to 1024 [default: 4; 1 for sbl, shadow, subpath]
    #[arg(short = 'k', long, value_name = "K", value_parser = super::values::copies())]
    copies: Option<u32>,

    /// What is counted, and by which copy: p3-rewrite --help lists the schemes
    #[arg(long, value_name = "NAME", value_enum, default_value = "p3-hot")]
    scheme: Scheme,

    /// How counters are updated: atomic is exact with threads [default: single]
    #[arg(long, value_name = "HOW", value_parser = ["single", "atomic"])]
    pub(super) update: Option<String>,

    /// Use this earlier profile to place counters in programs whose functions it knows
    #[arg(long, value_name = "FILE|OUTDIR")]
    profile: Option<PathBuf>,

    /// Count only in functions whose name matches (may be repeated)
    ///
    /// By symbol or readable name.
    #[arg(long, value_name = "RE")]
    include: Vec<String>,

    /// Do not count in functions whose name matches (may be repeated)
    ///
    /// By symbol or readable name.
    #[arg(long, value_name = "RE")]
    exclude: Vec<String>,

    #[command(flatten)]
    selection: SelectionArgs,
}

impl CopiesArgs {
    /// How many copies: as many as are of use to the scheme. A warning says if more are asked for.
    pub(super) fn number(&self) -> u32 {
        number_of_copies(self.scheme, self.copies)
    }

    /// Whether some paths only are asked for.
    pub(super) fn is_selective(&self) -> bool {
        self.selection.is_given()
    }

    /// The same as options of `p3-rewrite`, but for the number of copies.
    ///
    /// # Errors
    /// A selection or profile that cannot be read, a profile of estimates, or a scheme that takes no selection.
    pub(super) fn flags(self) -> Result<Vec<String>> {
        if let Some(profile) = &self.profile {
            // Every link reads it; what is wrong with it is reported before anything runs.
            let profile = Trust::default().read(profile)?;
            if matches!(profile.measured, Measurement::Estimated(_)) {
                return Err(profile.only_estimates());
            }
        }
        // Links run in folders of their own.
        let profile = self.profile.map(|p| std::path::absolute(&p).unwrap_or(p));
        let profile = profile.map(|p| p.to_string_lossy().into_owned());
        let selection = self.selection.flags()?;
        if !selection.is_empty() && !self.scheme.takes_selections() {
            return Err(cannot_select(self.scheme));
        }
        let options = [
            ("--profile", profile.into_iter().collect()),
            ("--scheme", vec![self.scheme.name().to_string()]),
            ("--update", self.update.into_iter().collect()),
            ("--include", self.include),
            ("--exclude", self.exclude),
        ];
        let words = options
            .into_iter()
            .flat_map(|(name, values)| values.into_iter().flat_map(move |v| [name.to_string(), v]));
        Ok(words.chain(selection).collect())
    }
}

/// How many copies `scheme` makes where the user asks for `wanted`. A warning says if these are fewer.
pub(super) fn number_of_copies(scheme: Scheme, wanted: Option<u32>) -> u32 {
    let strategy = scheme.strategy();
    let made = strategy.copies(wanted.unwrap_or(strategy.usual_copies));
    if let Some(wanted) = wanted.filter(|n| *n > made) {
        let made = number_of(made, "copy");
        warn(&format!("-k {wanted}: --scheme {scheme} makes only {made}"));
    }
    made
}

/// The error for a selection of paths where none are counted.
pub(super) fn cannot_select(scheme: Scheme) -> Error {
    let schemes = Scheme::ALL.iter().filter(|s| s.takes_selections());
    let names: Vec<&str> = schemes.map(|s| s.name()).collect();
    let names = names.join(", ");
    Error::Usage(format!(
        "--scheme {scheme} cannot count selected paths; choose one of {names}"
    ))
}

/// The arguments of `build`.
#[derive(Debug, clap::Args)]
pub struct BuildArgs {
    #[command(flatten)]
    copies: CopiesArgs,

    /// Build only this copy: for a machine per copy (docs/RUNNER.md)
    #[arg(long, value_name = "COPY")]
    only: Option<u32>,

    /// Where to write the copies: a folder for each program [default: PROGRAM.p3 beside the program]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print only what the command prints
    #[arg(short, long)]
    quiet: bool,

    /// The command that builds the programs, after --
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The arguments of `suite`.
#[derive(Debug, clap::Args)]
pub struct SuiteArgs {
    /// Where to look for the programs: the folder of `build -o`, or of the build
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: Vec<PathBuf>,

    /// Run N rounds at once, each in an overlay of the working folder that is deleted afterwards
    #[arg(short, long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: u32,

    /// Stop if the kernel refuses the namespace that gives all rounds the same process ids [default: go
    /// on without]
    #[arg(long)]
    same_pids: bool,

    /// Do not make process ids the same in all rounds
    #[arg(long, conflicts_with = "same_pids")]
    no_same_pids: bool,

    /// Make clocks and random numbers the same in all rounds, for everything that the command runs
    #[arg(long)]
    fixed_time: bool,

    /// Do not repeat rounds that ran other processes than the rest
    #[arg(long)]
    no_repeat: bool,

    /// Also store each program's profile as DIR/PROGRAM/NNNN.p3prof, for --paths new:DIR
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Print only warnings, and what the command prints
    #[arg(short, long)]
    quiet: bool,

    /// The command that runs the programs, after --; it runs once for every copy
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// The arguments of `use`.
#[derive(Debug, clap::Args)]
pub struct UseArgs {
    /// Number of the copy, from 0
    #[arg(value_name = "COPY", value_parser = super::values::copy_number)]
    copy: u32,

    /// Where to look for the programs: the folder of `build -o`, or of the build
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

/// Builds; the exit status is the command's, or 2 where it made programs and none of them has copies.
///
/// # Errors
/// See [`Build::run`].
pub fn build(args: BuildArgs) -> Result<ExitCode> {
    let is_selective = args.copies.is_selective();
    let diffs = args.copies.selection.diffs()?;
    let build = Build {
        copies: args.copies.number(),
        out: args.out,
        only: args.only,
        flags: args.copies.flags()?,
        environment: Vec::new(),
    };
    if let Some(copy) = build.only.filter(|c| *c >= build.copies) {
        let message = format!(
            "--only {copy}: copies are 0 to {}; name one of them",
            build.copies - 1
        );
        return Err(Error::Usage(message));
    }
    if let Some(out) = &build.out {
        check_folder(out)?;
    }
    watch(OnSignal::PutInOrder);
    let built = build.run(&args.command);
    end_if_interrupted();
    let built = built?;
    report_failures(&built.failures);
    if is_selective && built.status == 0 {
        refuse_unknown(&built.programs)?;
    }
    if is_selective && !args.quiet {
        report_selection(&built.programs);
    }
    report_outdated(&find_outdated(&built.earlier, &build.flags));
    if built.status == 0 {
        let folders = Vec::from_iter(build.out.clone());
        if let Err(e) = suite::check_places(&folders, &built.earlier) {
            warn(&e.to_string());
        }
    }
    if !args.quiet {
        built.programs.iter().for_each(|p| say(&described(p)));
        report_warnings(&built.programs);
        report_threads(&built.programs);
        if let Some(diffs) = &diffs {
            let programs = built.programs.iter().chain(&built.earlier);
            report_files_of_no_program(diffs, programs)?;
        }
        if built.lines_added && !built.programs.is_empty() {
            say(
                "compiled without -g: copies were given line numbers (-gline-tables-only); native programs are as they were",
            );
        }
        report_unlinked(&built.unlinked);
        if built.status == 0 {
            let next = build.only.map(|c| format!("make check runs copy {c}"));
            say_what_is_next(&built, build.out.as_deref(), next);
        } else {
            say(&format!("the build ended with status {}", built.status));
        }
    }
    finish(&built)
}

/// Tells of sources that no link took.
fn report_unlinked(unlinked: &Unlinked) {
    if let [problem, more @ ..] = &unlinked.problems[..] {
        let more = match more.len() {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        warn(&format!(
            "coverage leaves out a source that was never linked: {problem}{more}"
        ));
    }
    let number = unlinked.sources.len() as u64;
    if number > 0 {
        let verb = if number == 1 { "was" } else { "were" };
        let number = number_of(number, "source");
        say(&format!(
            "{number} {verb} compiled but never linked: p3-prof coverage reports uncovered code there"
        ));
    }
}

/// What a build that succeeded left, and what to do next.
fn say_what_is_next(built: &Built, out: Option<&Path>, next: Option<String>) {
    let programs = match (&built.programs[..], &built.earlier[..]) {
        ([], []) => return,
        ([], earlier) => {
            let n = number_of(earlier.len() as u64, "program");
            say(&format!(
                "no program was linked: {n} of an earlier build can be used"
            ));
            earlier
        }
        (new, _) => new,
    };
    let suite = || {
        let out = out.map_or(String::new(), |o| format!("-o {} ", quoted(o)));
        format!("p3-rewrite suite {out}-- {}", test_command(programs))
    };
    say(&format!("next: {}", next.unwrap_or_else(suite)));
}

/// What is wrong with a build whose programs were all linked without copies.
pub(super) const NONE_HAS_COPIES: &str =
    "no program that was linked has copies; the warnings say why";

/// The exit status of a build: the command's; an error where that succeeded, and nothing is in copies.
fn finish(built: &Built) -> Result<ExitCode> {
    let has_programs = !(built.programs.is_empty() && built.earlier.is_empty());
    if built.status != 0 || has_programs {
        return Ok(code(built.status));
    }
    let message = match (&built.foreign, &built.failures[..]) {
        (Some(file), _) => format!(
            "{}: made by another compiler than p3-cc and p3-cxx; {}",
            path_from_here(file),
            remedy_for_compiler_of(file)
        ),
        (None, [_, ..]) => NONE_HAS_COPIES.into(),
        (None, []) if built.was_called => {
            let remedy = "the command after -- has to link one, too (sh -c './configure && make')";
            format!("no program was linked, so there are no copies; {remedy}")
        }
        (None, []) => {
            "nothing was built, and no program has copies; clean what is up to date first (make clean)".into()
        }
    };
    Err(Error::Usage(message))
}

/// A build system whose configured folders are known by a file.
struct BuildSystem {
    /// The file.
    mark: &'static str,
    /// What runs the tests of a folder that is named behind it.
    tests: &'static str,
    /// What to do about a folder that was configured with another compiler.
    remedy: &'static str,
}

const BUILD_SYSTEMS: [BuildSystem; 2] = [
    BuildSystem {
        mark: "CMakeCache.txt",
        tests: "ctest --test-dir",
        remedy: "CMake keeps the compiler that a folder was configured with: configure a new one (cmake -B build-p3)",
    },
    BuildSystem {
        mark: "meson-info",
        tests: "meson test -C",
        remedy: "Meson keeps the compiler that a folder was configured with: configure a new one (meson setup build-p3)",
    },
];

impl BuildSystem {
    /// The one that configured `folder`.
    fn find(folder: &Path) -> Option<&'static BuildSystem> {
        BUILD_SYSTEMS.iter().find(|s| folder.join(s.mark).exists())
    }
}

/// How the build of an object gets to use p3-cc and p3-cxx.
fn remedy_for_compiler_of(object: &Path) -> &'static str {
    let object = std::path::absolute(object).unwrap_or_else(|_| object.to_path_buf());
    let found = object.ancestors().skip(1).find_map(BuildSystem::find);
    let remedy = found.map(|system| system.remedy);
    remedy.unwrap_or("let the build take those that CC and CXX name (make CC=p3-cc CXX=p3-cxx)")
}

/// Prints why programs have no copies.
pub(super) fn report_failures(failures: &[Failure]) {
    for failure in failures {
        warn(&format!(
            "{}: not profiled: {}",
            path_from_here(&failure.program),
            failure.reason
        ));
    }
}

/// What runs the tests of these programs, by the build system that made the folder that they are in.
fn test_command(programs: &[Record]) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let folders = programs.iter().flat_map(|p| p.program.ancestors().skip(1));
    let mut below = folders.filter(|f| f.starts_with(&here));
    let of_folder = |folder: &Path| {
        let command = BuildSystem::find(folder)?.tests;
        let folder = folder.strip_prefix(&here).unwrap_or(folder);
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        Some(format!("{command} {}", quoted(folder)))
    };
    let of_build_system = below.find_map(of_folder);
    let of_makefile = || {
        let targets = ["check", "test"];
        let found = targets.into_iter().find(|t| makefile_has(&here, t))?;
        Some(format!("make {found}"))
    };
    let is_library = |p: &Record| {
        let name = p.program.file_name().unwrap_or_default();
        is_shared_library(&name.to_string_lossy())
    };
    let itself = || {
        let program = &programs.iter().find(|p| !is_library(p))?.program;
        Some(match program.strip_prefix(&here) {
            Ok(below) => quoted(&Path::new(".").join(below)),
            Err(_) => quoted(program),
        })
    };
    let found = of_build_system.or_else(of_makefile).or_else(itself);
    found.unwrap_or("COMMAND".into())
}

/// Whether the makefile in `folder` has a rule for `target`, as far as can be seen without running make.
fn makefile_has(folder: &Path, target: &str) -> bool {
    // One may include another.
    let names = ["GNUmakefile", "makefile", "Makefile"];
    let texts = names.map(|name| std::fs::read_to_string(folder.join(name)));
    let texts: String = texts.into_iter().flatten().collect();
    let lines = texts.lines().filter(|line| !line.starts_with(['#', '\t']));
    let split = lines.filter_map(|line| line.split_once(':'));
    // Of others an `=` makes a variable: `x = a:b`, `x := y`, `target: x = y`.
    let rules = split.filter(|(targets, rest)| !targets.contains('=') && !rest.contains('='));
    let mut targets = rules.flat_map(|(targets, _)| targets.split_whitespace());
    targets.any(|t| t == target)
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    quote_for_shell(path_from_here(path))
}

/// Runs a suite; the exit status is 0 if that of each round was 0, else the first that was not.
///
/// # Errors
/// See [`Suite::run`].
pub fn suite(args: SuiteArgs) -> Result<ExitCode> {
    let suite = Suite {
        folders: args.out,
        command: args.command,
        same_pids: SamePids::from_options(args.same_pids, args.no_same_pids),
        fixed_time: args.fixed_time,
        jobs: args.jobs,
        no_repeat: args.no_repeat,
        environment: Vec::new(),
    };
    if !args.quiet {
        report_threads(&record::find(&suite.folders)?);
    }
    watch(OnSignal::PutInOrder);
    let gathered = suite.run(|progress| {
        if !args.quiet || matches!(progress, Progress::OtherBuild(_)) {
            report_progress(progress);
        }
    });
    end_if_interrupted();
    let gathered = gathered?;
    if let Some(folder) = &args.keep {
        let kept = keep::keep_profiles(folder, &gathered)?;
        let profiles = number_of(kept, "profile");
        if !args.quiet {
            say(&format!("{}: {profiles} added", path_from_here(folder)));
        }
    }
    Ok(code(ended(&suite, &gathered, args.quiet)))
}

/// Prints that a round is over, or repeated.
pub(super) fn report_progress(progress: Progress) {
    match progress {
        Progress::Ended(round) => {
            let (copy, status) = (round.copy, round.status);
            let seconds = round.time.as_secs_f64();
            say(&format!("copy {copy}: status {status}, {seconds:.1} s"));
        }
        Progress::RepeatsAll => say(
            "rounds ran the same processes and counted differently: they run again, each with the same random numbers",
        ),
        Progress::Repeats { copy, why } => say(&format!(
            "copy {copy} runs again, since its round was unlike the others ({why})"
        )),
        Progress::OtherBuild(programs) => {
            let names = first_names(
                NAMED_PROGRAMS,
                programs.iter().map(|p| path_from_here(&p.program)),
            );
            warn(&format!(
                "{names}: last linked by another build than the one that is run now; \
                 build again if sources changed in between"
            ));
        }
    }
}

/// Tells of what was merged after a suite (unless `quiet`), of what is wrong with it, and what may help. The status of
/// the rounds.
pub(super) fn ended(suite: &Suite, gathered: &Gathered, quiet: bool) -> i32 {
    let say = |line: &str| {
        if !quiet {
            say(line);
        }
    };
    let (mut idle, mut unselected) = (Vec::new(), 0);
    for (program, merged) in &gathered.programs {
        let Some(merged) = merged else {
            let manifest = Manifest::read(&program.manifest());
            if manifest.is_ok_and(|m| m.lacks_selected_paths()) {
                unselected += 1;
            } else {
                idle.push(path_from_here(&program.program));
            }
            continue;
        };
        merged.warnings.iter().for_each(|w| warn(w));
        let profile = program.folder.join(MERGED);
        let summary = summary(&merged.profile, &path_from_here(&profile));
        summary.lines().for_each(say);
        if let Some(said) = merged.profile.said() {
            warn(&format!("{}: {said}", path_from_here(&profile)));
        }
    }
    report_failures(&gathered.failures);
    let all = number_of(gathered.programs.len() as u64, "program");
    let none_ran = !idle.is_empty() && gathered.programs.iter().all(|(_, m)| m.is_none());
    let number = idle.len();
    let names = first_names(NAMED_PROGRAMS, idle.into_iter());
    if none_ran {
        let has_profile = |(program, _): &(Record, _)| program.folder.join(MERGED).exists();
        let kept = if gathered.programs.iter().any(has_profile) {
            "; profiles of earlier runs are kept"
        } else {
            ""
        };
        warn(&format!(
            "no program of this build ran ({names}): the command has to run them where they were built{kept}"
        ));
    } else if number > 0 {
        say(&format!("{number} of {all} did not run: {names}"));
    }
    if unselected > 0 {
        let verb = if unselected == 1 { "has" } else { "have" };
        say(&format!("{unselected} of {all} {verb} no selected path"));
    }
    if gathered.lost > 0 {
        let verb = if gathered.lost == 1 { "is" } else { "are" };
        let lost = number_of(gathered.lost as u64, "program");
        warn(&format!(
            "{lost} that the command itself linked {verb} not profiled: build before the tests run, or leave -j out"
        ));
    }
    let untried = suite.list_untried_options(gathered.lost_by_threads());
    if gathered.rounds_differ() && !untried.is_empty() {
        warn(&format!("rounds differ: {}", untried.join(", ")));
    }
    let last: BTreeMap<u32, i32> = gathered.rounds.iter().map(|r| (r.copy, r.status)).collect();
    if last.values().any(|s| *s != last[&0]) {
        warn("the rounds ended with different statuses: the copies did not run alike");
    }
    // Tests that failed in a round that was repeated failed nevertheless.
    let Some(failed) = gathered.rounds.iter().find(|r| r.status != 0) else {
        if let Some(next) = command_for_profiles(suite, gathered) {
            say(&format!("next: {next}"));
        }
        return if none_ran { NOTHING_RAN } else { 0 };
    };
    let (copy, status) = (failed.copy, failed.status);
    let left_out = if gathered.stopped {
        "the other rounds are left out, and "
    } else {
        ""
    };
    warn(&format!(
        "your command ended with status {status} in the round of copy {copy}; {left_out}this status is passed on"
    ));
    status
}

/// The command that shows what a suite merged: of one program or without counts of paths, `show`; of several programs,
/// `coverage`, which adds them up.
fn command_for_profiles(suite: &Suite, gathered: &Gathered) -> Option<String> {
    let merged = |(program, merged): &(Record, Option<Merged>)| {
        let profile = &merged.as_ref()?.profile;
        Some((program.folder.clone(), profile.paths().is_ok()))
    };
    let merged: Vec<(PathBuf, bool)> = gathered.programs.iter().filter_map(merged).collect();
    let (first, _) = merged.first()?;
    if merged.len() == 1 || !merged.iter().all(|(_, has_paths)| *has_paths) {
        return Some(format!("p3-prof show {}", quoted(first)));
    }
    let folders = suite.folders.iter().map(|folder| quoted(folder));
    Some(format!(
        "p3-prof coverage {}",
        folders.collect::<Vec<_>>().join(" ")
    ))
}

/// The exit status of a suite whose command succeeded and ran none of the programs.
const NOTHING_RAN: i32 = 2;

/// Puts copies in their places.
///
/// # Errors
/// There are no programs; one cannot be written.
pub fn use_copy(args: &UseArgs) -> Result<ExitCode> {
    let programs = record::find(&args.out)?;
    let Some(most) = programs.iter().map(|p| p.copies).max() else {
        let remedy = "name the folder that p3-rewrite build wrote by -o";
        return Err(Error::load(
            &args.out[0],
            "no program below this folder has copies",
            remedy,
        ));
    };
    if args.copy >= most {
        let message = format!(
            "use {}: the {} here have {} at most; give a number from 0 to {}",
            args.copy,
            number_of(programs.len() as u64, "program"),
            number_of(most, "copy"),
            most.saturating_sub(1)
        );
        return Err(Error::Usage(message));
    }
    suite::place_all(&programs, args.copy)?;
    for program in &programs {
        let what = match args.copy {
            copy if copy < program.copies => format!("copy {copy}"),
            _ => "native, it has fewer copies".into(),
        };
        say(&format!("{}: {what}", path_from_here(&program.program)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the files of build systems.
///
/// # Errors
/// See [`integrate`].
pub fn write_files(args: &IntegrateArgs) -> Result<ExitCode> {
    let names = integrate(&args.out, args.force.force)?;
    say(&format!(
        "{}: {}",
        path_from_here(&args.out),
        names.join(", ")
    ));
    Ok(ExitCode::SUCCESS)
}

/// What was built of a program, in a line.
pub(super) fn described(program: &Record) -> String {
    let why = || format!("{}/record.json says why", path_from_here(&program.folder));
    let left = match program.left.len() {
        0 => String::new(),
        1 => format!("; 1 object is not profiled: {}", why()),
        n => format!("; {n} objects are not profiled: {}", why()),
    };
    let copies = number_of(program.copies, "copy");
    format!("{}: {copies}{left}", path_from_here(&program.program))
}

/// An exit status.
pub(super) fn code(status: i32) -> ExitCode {
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
